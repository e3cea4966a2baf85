#!/usr/bin/env python3
"""Compares front ends with PyTorch's golden values, on whatever runtime they find.

    check.py                                       all models, small, each front end's usual mode
    check.py --front-end jax --model bert,gpt2 --mode all --variant small,full
    check.py --front-end pytorch-xla --python pytorch-xla=third_party/frontends/pytorch-xla/bin/python \\
             --under 'pytorch-xla=build/bench record --runtime cpu --output {recording} --'

Weights and inputs are made by the counter rule, so bench is not needed. PyTorch/XLA runs CPU plugins
only with bench's recorder before them: --under gives the command. Prints TAP: a line for each front
end, model, variant and mode. Needs NumPy.
"""

import argparse
import ast
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "common"))

import front_rule  # noqa: E402
import front_tensors  # noqa: E402
from front_catalog import MODELS  # noqa: E402


def modes_of(script):
    """The keys of MODES in SCRIPT, the usual one first: to import it would take its framework."""
    for node in ast.parse(script.read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "MODES":
            return tuple(key.value for key in node.value.keys)
    raise SystemExit(f"{script} has no MODES")


MODES = {script.parent.name: modes_of(script) for script in sorted(HERE.glob("*/run.py"))}
LINE_LIMIT = 300


class Trial:
    """One run of a front end and what it is compared with."""

    def __init__(self, front_end, model, variant, mode, golden):
        self.front_end, self.model, self.variant, self.mode, self.golden = front_end, model, variant, mode, golden

    def __str__(self):
        return f"{self.front_end} {self.mode}: {self.model} {self.variant}"


def make_files(golden, folder, document):
    """Writes weights and inputs of a golden DOCUMENT into FOLDER, once."""
    weights, inputs = folder / "weights.safetensors", folder / "inputs.safetensors"
    if not inputs.exists():
        seed, tensors = document["seed"], {}
        for line in (golden / document["param_file"]).read_text().splitlines():
            name, kind, shape = line.split("\t")
            tensors[name] = front_rule.make(kind, name, seed, tuple(map(int, shape.split("x"))))
        front_tensors.write(weights, tensors)
        front_tensors.write(inputs, {e["name"]: front_rule.make_input(e, seed) for e in document["inputs"]})
    return weights, inputs


def request_of(trial, weights, inputs, report):
    """The request for the golden file's own sizes."""
    shape, optimizer = trial.golden["inputs"][0]["shape"], trial.golden["optimizer"]
    image = len(shape) == 4
    return {
        "model": trial.model, "variant": trial.variant, "phase": "train", "mode": trial.mode,
        "batch": shape[0], "image": shape[-1] if image else 0, "seq": 0 if image else shape[-1],
        "dtype": "f32", "optimizer": optimizer["name"].lower(), "learning_rate": optimizer["lr"],
        "seed": trial.golden["seed"], "values": True, "dropout": False,
        "weights": str(weights), "inputs": str(inputs), "report": str(report),
    }


def run(trial, arguments, folder, files):
    """Runs the front end; returns its report, or one that has only an error."""
    stem = f"{trial.front_end}.{trial.mode}"
    request, report = folder / f"{stem}.request.json", folder / f"{stem}.report.json"
    report.unlink(missing_ok=True)
    request.write_text(json.dumps(request_of(trial, *files, report)))
    under = arguments.under.get(trial.front_end, "").replace("{recording}", str(folder / f"{stem}.recording"))
    command = shlex.split(under) + [arguments.python.get(trial.front_end, sys.executable),
                                    str(HERE / trial.front_end / "run.py"), str(request)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              timeout=arguments.timeout, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"error": {"class": "runtime", "message": str(error)}}
    if report.exists():
        return json.loads(report.read_text())
    last = (done.stderr.strip() or "nothing was said").splitlines()[-1]
    return {"error": {"class": "runtime", "message": f"exit code {done.returncode}, no report: {last}"}}


# ---- comparing ---------------------------------------------------------------------------

class Comparison:
    """Collects what lies outside its tolerance."""

    def __init__(self):
        self.count, self.wrong, self.worst = 0, [], 0.0

    def near(self, name, ours, theirs, room):
        """OURS and THEIRS may differ by ROOM."""
        self.count += 1
        distance = abs(ours - theirs)
        self.worst = max(self.worst, distance / room if room else float(distance > 0))
        if not distance <= room:
            self.wrong.append(f"{name} is {ours:.9g}, golden {theirs:.9g}, may differ by {room:.2g}")

    def same(self, name, ours, theirs):
        self.count += 1
        if ours != theirs:
            self.wrong.append(f"{name} is {ours}, golden {theirs}")


def compare_logits(c, report, golden, tolerance):
    ours, theirs = report["logits"], golden["eval"]["logits"]
    c.same("shape of logits", ours["shape"], theirs["shape"])
    for end in ("first16", "last16"):
        for i, (y, r) in enumerate(zip(ours[end], theirs[end], strict=True)):
            c.near(f"logits {end}[{i}]", y, r, tolerance["logits"] * theirs["absmax"])
    scalars = tolerance["eval_scalars"]
    for name, scale in (("l2", "l2"), ("std", "std"), ("mean", "absmax"), ("absmax", "absmax"), ("probe", "l2")):
        c.near(f"logits {name}", ours[name], theirs[name], scalars * theirs[scale])
    c.same("argmax of logits", ours["argmax"], theirs["argmax"])
    c.near("loss in evaluation", report["evaluation_loss"], golden["eval"]["loss"],
           tolerance["loss"][0] * golden["eval"]["loss"])


def compare_training(c, report, train, tolerance):
    for name, key in (("losses", "loss"), ("gradient_l2", "grad_l2_global")):
        for i, (y, r, tol) in enumerate(zip(report[name], train[key], tolerance[key], strict=True)):
            c.near(f"{name}[{i}]", y, r, tol * abs(r))
    least = 1e-3 * train["grad_l2_global"][0]
    for name, entry in train["grads_step0"].items():
        c.near(f"gradient of {name}", report["gradient_norms"][name], entry["l2"],
               tolerance["grads_step0"] * max(entry["l2"], least))
    for name, entry in train.get("bn_after_step1", {}).items():
        for part in ("running_mean", "running_var"):
            if any(text.startswith(part + ":") for text in report.get("deviations", ())):
                continue  # the front end says that it computes another one
            c.near(f"{name}.{part}", report["statistic_norms_after_step_1"][f"{name}.{part}"],
                   entry[part + "_l2"], tolerance["bn"] * entry[part + "_l2"])
    for ours, theirs, key in (
            ("parameter_l2_after_step_3", "param_l2_after_step3", "param_l2"),
            ("parameter_change_l2_after_step_3", "param_change_l2_after_step3", "param_change_l2")):
        c.near(ours, report[ours], train[theirs], tolerance[key] * train[theirs])


def compare(report, document):
    c = Comparison()
    c.same("number of parameters", report["parameters"], document["param_count"])
    compare_logits(c, report, document["f64"], document["tolerance"])
    compare_training(c, report, document["f64"]["train"], document["tolerance"])
    return c


# ---- all of it ---------------------------------------------------------------------------

def _modes(front_end, asked):
    """The modes ASKED for that the front end has; by default its first."""
    known = MODES[front_end]
    if asked == ["all"]:
        return known
    return [mode for mode in asked if mode in known] if asked else known[:1]


def trials(arguments):
    """Trials in an order in which those of the same files follow one another."""
    for model in arguments.model or MODELS:
        for variant in arguments.variant:
            path = arguments.golden / f"{model}.{variant}.json"
            document = json.loads(path.read_text())
            for front_end in arguments.front_end or MODES:
                for mode in _modes(front_end, arguments.mode):
                    yield Trial(front_end, model, variant, mode, document)


def judge(trial, arguments, folder):
    """(passed, lines to say); passed is None where the front end does not have it."""
    folder = folder / f"{trial.model}.{trial.variant}"
    folder.mkdir(exist_ok=True)
    report = run(trial, arguments, folder, make_files(arguments.golden, folder, trial.golden))
    if "error" in report and report["error"]["class"] == "not_supported":
        return None, [report["error"]["message"]]
    if "error" in report:
        return False, [f"{report['error']['class']}: {report['error']['message']}"]
    try:
        c = compare(report, trial.golden)
    except (KeyError, TypeError, ValueError) as error:
        return False, [f"the report is not whole: {type(error).__name__} {error}"]
    if c.wrong:
        return False, [f"{len(c.wrong)} of {c.count} numbers differ"] + c.wrong[:10]
    return True, [f"{c.count} numbers, the farthest at {c.worst:.2g} of its tolerance"]


def _words(text):
    return [word for word in text.split(",") if word]


def _pairs(texts):
    pairs = dict(text.split("=", 1) for text in texts if "=" in text)
    if len(pairs) != len(texts):
        sys.exit("check.py: --python and --under want FRONT_END=TEXT, each front end once")
    return pairs


def parse(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--golden", type=Path, default=HERE.parents[1] / "tests" / "golden")
    parser.add_argument("--front-end", type=_words, default=[])
    parser.add_argument("--model", type=_words, default=[])
    parser.add_argument("--variant", type=_words, default=["small"])
    parser.add_argument("--mode", type=_words, default=[])
    parser.add_argument("--python", action="append", default=[], metavar="FRONT_END=PYTHON")
    parser.add_argument("--under", action="append", default=[], metavar="FRONT_END=COMMAND")
    parser.add_argument("--timeout", type=float, default=900, metavar="SECONDS")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave files and reports in DIR")
    arguments = parser.parse_args(argv)
    arguments.python, arguments.under = _pairs(arguments.python), _pairs(arguments.under)
    unknown = set(arguments.front_end) - set(MODES) or set(arguments.model) - set(MODELS)
    if unknown:
        parser.error(f"'{sorted(unknown)[0]}' is neither a front end nor a model")
    return arguments


def main(argv):
    arguments = parse(argv)
    failed = count = 0
    with tempfile.TemporaryDirectory(prefix="bench-front-ends-") as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for trial in trials(arguments):
            passed, lines = judge(trial, arguments, folder)
            count += 1
            if passed is None:
                print(f"ok {count} - {trial} # SKIP {lines.pop()[:LINE_LIMIT]}", flush=True)
                continue
            failed += not passed
            print(f"{'ok' if passed else 'not ok'} {count} - {trial}")
            for line in lines:
                print(f"# {line[:LINE_LIMIT]}", flush=True)
    print(f"1..{count}")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
