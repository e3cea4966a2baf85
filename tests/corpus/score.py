#!/usr/bin/env python3
"""score.py - how many of the programs of programs.json bench tells the steps of, each judged by its own clock.

    score.py --programs DIR --python-jax PYTHON --python-torch PYTHON     records each three times, and judges
    score.py --recordings DIR                                             judges recordings that were kept

README.md says what is right. Ends with 0 where all programs that are there are right, 1 where one is not; 2 usage.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from drive import HERE, path_of, program_list

ROOT = HERE.parent.parent
NEAR = 0.05
LONGEST_S = 600
# What a framework's Python must be able to import.
MODULES = {"jax": "jax", "torch-xla": "torch_xla"}


# ---- judging -------------------------------------------------------------------------------------


def clock_of(path):
    """What drive.py wrote, None where it came to no end. Raises ValueError where the file is something else."""
    if not path.is_file():
        return None
    try:
        clock = json.loads(path.read_text())
        lists = [clock["step_begins_ns"], clock["step_ends_ns"]]
        clock["exit"], clock["error"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no clock of drive.py: {error!r}")
    if not all(isinstance(t, int) for times in lists for t in times) or any(t != sorted(t) for t in lists):
        raise ValueError(f"{path}: its times are not in order")
    if len(lists[0]) != len(lists[1]):
        raise ValueError(f"{path}: not each step has an end")
    return clock


def sum_of(times, rows):
    """How long the steps [from, to) of ROWS took, and how many they are."""
    return sum(times[end] - times[begin] for begin, end in rows), sum(end - begin for begin, end in rows)


def done_time(clock, rows):
    """The mean time in ns of the steps of ROWS from one's end on the device to the next one's, None where too few are
    known. The first of a row begins when it was called, or when the step before was done, if that is later."""
    done, total, count = clock.get("step_done_ns") or [], 0, 0
    for begin, end in rows:
        known = [k for k in range(begin, end) if k < len(done) and done[k] and (k == 0 or done[k - 1])]
        if known:
            first, last = known[0], known[-1]
            total += done[last] - max(done[first - 1] if first else 0, clock["step_begins_ns"][first])
            count += last + 1 - first
    steps = sum(end - begin for begin, end in rows)
    return total / count if count and count >= 0.9 * steps else None


def own_time(program, clock, measured=None, ahead=False):
    """The mean time of a step in ns by the program's own clock: of all steps, or of those that bench measured, [from, to)
    in each row. AHEAD: the host runs ahead of the device, so it counts when steps are done; None where nobody knows."""
    # bench begins a step with its execution, and a call's end is never before that: what a step compiles lies before
    # its execution, as for bench.
    ends = clock["step_ends_ns"]
    last = len(ends) - 1
    rows = [(min(max(begin, 0), last), min(end, last)) for begin, end in measured or [(0, last)]]
    rows = [row for row in rows if row[0] < row[1]]
    if ahead and "awaited" not in program:
        return done_time(clock, rows)
    # Before these the program itself waits for the device.
    awaited = range(program["awaited"][0], last + 1, program["awaited"][1]) if ahead else []
    within = [k for k in awaited if rows and rows[0][0] <= k <= rows[-1][1]]
    total, count = sum_of(ends, [(within[0], within[-1])] if len(within) > 1 else rows)
    return total / count if count else None


def judge_one(program, clock, steps, doctor):
    """One recording: {"state": absent, silent or answered, "why", "own_steps", "own_ns", "bench_steps", "bench_ns",
    "ratio", "first", "faults": {KIND: TEXT}}. STEPS and DOCTOR are what bench said as JSON, None where it failed."""
    seen = {"state": "silent", "why": None, "own_steps": None, "own_ns": None, "bench_steps": None, "bench_ns": None,
            "ratio": None, "first": None, "faults": {}}
    if doctor:
        seen["first"] = next((c["rule"] for c in doctor.get("complaints", [])), None)
    if clock is None:
        seen["why"] = "the program came to no end"
        return seen
    seen["own_steps"], seen["own_ns"] = len(clock["step_begins_ns"]), own_time(program, clock)
    error = clock.get("error") or ""
    if error.startswith("ModuleNotFoundError"):
        seen["state"] = "absent"
    if clock["exit"] or error:
        seen["why"] = error or f"the program ended with {clock['exit']}"
        return seen
    if not steps or not steps.get("found") or not (steps.get("wall") or {}).get("mean_ns"):
        seen["why"] = "bench gives no steps"
        return seen
    if steps.get("unclear") is not None:
        seen["why"] = f"unclear: {steps['unclear']}"
        return seen
    seen["state"] = "answered"
    seen["bench_steps"] = steps["marks"] if steps.get("marks") is not None else steps["found"] + 1
    seen["bench_ns"] = steps["wall"]["mean_ns"]
    seen["own_ns"] = own_time(program, clock, steps.get("measured"), steps.get("by_completion", False))
    if seen["own_ns"]:
        seen["ratio"] = seen["bench_ns"] / seen["own_ns"]
    else:
        seen["faults"]["clock"] = "the program's own clock does not tell when its steps are done"
    if seen["bench_steps"] != seen["own_steps"]:
        seen["faults"]["count"] = f"{seen['bench_steps']} steps, not {seen['own_steps']}"
    executions = program.get("executions")
    if executions is not None and steps["executions_per_step"] != executions:
        seen["faults"]["executions"] = f"{steps['executions_per_step']} executions a step, not {executions}"
    busy = (steps.get("device_busy") or {}).get("mean_ns")
    # Both means are sums of whole ns over the same steps.
    if busy is not None and steps["wall"]["mean_ns"] < busy * (1 - 1e-6):
        seen["faults"]["busy"] = "a step takes less than the device works in it"
    return seen


def judge(program, recordings):
    """RECORDINGS of one program, each as of judge_one: the middle of its times, and what most of them say otherwise."""
    said = {"name": program["name"], "held": program["held"], "cause": program["cause"], "recordings": recordings,
            "faults": []}
    half = len(recordings) / 2
    answered = [r for r in recordings if r["state"] == "answered"]
    firsts = [r["first"] for r in recordings]
    said["first"] = max(firsts, key=firsts.count, default=None)
    timed = sorted((r for r in answered if r["ratio"] is not None), key=lambda r: r["ratio"])
    middle = timed[(len(timed) - 1) // 2] if timed else recordings[0] if recordings else {}
    for member in ("own_steps", "own_ns", "bench_steps", "bench_ns", "ratio"):
        said[member] = middle.get(member)
    if not recordings or any(r["state"] == "absent" for r in recordings):
        said["verdict"] = "absent"
        said["faults"] = [r["why"] for r in recordings if r["state"] == "absent"][:1] or ["it was not recorded"]
        return said
    if len(answered) <= half:
        said["verdict"] = "miss"
        said["faults"] = [next(r["why"] for r in recordings if r["state"] == "silent")]
        return said
    for kind in ("count", "executions", "busy", "clock"):
        texts = [r["faults"][kind] for r in answered if kind in r["faults"]]
        if len(texts) > len(answered) / 2 or kind == "busy" and texts:
            said["faults"].append(texts[0])
    ratio = statistics.median(r["ratio"] for r in timed) if timed else None
    said["ratio"] = ratio
    if ratio is None or abs(ratio - 1) > NEAR:
        said["faults"].append(f"{ratio:.3f} times the own time" if ratio else "no time of its own")
    if program["cause"] and said["first"] not in (program["cause"], None):
        said["faults"].append(f"the first finding is {said['first']}")
    said["verdict"] = "wrong" if said["faults"] else "right"
    if program["cause"] and said["first"] is None and not said["faults"]:
        said["verdict"], said["faults"] = "miss", ["nothing is found"]
    return said


def ask(bench, command, recording):
    """What `bench COMMAND RECORDING --format json` says, None where it ends with an error."""
    done = subprocess.run([bench, command, str(recording), "--format", "json"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        return None
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        return None


def kept(bench, program, folder):
    """What bench says of the recordings of PROGRAM in FOLDER, NAME.1 and so on."""
    seen = []
    for clock in sorted(folder.glob(program["name"] + ".[0-9]*.clock.json")):
        recording = clock.with_name(clock.name[:-len(".clock.json")])
        if not recording.name[len(program["name"]) + 1:].isdigit():
            continue
        steps, doctor = (ask(bench, command, recording) for command in ("steps", "doctor"))
        seen.append(judge_one(program, clock_of(clock), steps, doctor))
    return seen


# ---- recording -----------------------------------------------------------------------------------


@contextlib.contextmanager
def neighbours(busy):
    """The cores for a program: all, or with BUSY two of them, on each of which two other processes work meanwhile."""
    if not busy:
        yield None
        return
    cores = sorted(os.sched_getaffinity(0))[:2]
    loop = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nparent = os.getppid()\n" \
           "while os.getppid() == parent:\n    for _ in range(1000000): pass\n"
    # A session each: else the scheduler may give all of them together no more than the program.
    others = [subprocess.Popen([sys.executable, "-c", loop, str(core)], start_new_session=True)
              for core in cores for _ in range(2)]
    try:
        yield set(cores)
    finally:
        for other in others:
            other.kill()
            other.wait()


def record(options, program, python, folder, number):
    """Records PROGRAM as FOLDER/NAME.NUMBER, with its clock and what it printed beside it."""
    place = folder / f"{program['name']}.{number}"
    clock = place.with_name(place.name + ".clock.json")
    command = [options.bench, "record", "--quiet", "--output", str(place), "--", python, str(HERE / "drive.py"),
               "--clock", str(clock)]
    if options.programs:
        command += ["--programs", str(pathlib.Path(options.programs).resolve())]
    with neighbours(program.get("busy")) as cores, open(place.with_name(place.name + ".log"), "w") as log:
        pin = (lambda: os.sched_setaffinity(0, cores)) if cores else None
        running = subprocess.Popen([*command, program["name"]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   preexec_fn=pin, start_new_session=True)
        try:
            running.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, 9)
            running.wait()
    if not clock.exists():
        clock.write_text(json.dumps({"step_begins_ns": [], "step_ends_ns": [], "exit": 1, "error": "it did not end by itself"}) + "\n")


def has_module(python, module):
    code = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    return subprocess.run([python, "-c", code, module], stdin=subprocess.DEVNULL).returncode == 0


def environment(folder, framework, packages):
    """The Python of a virtual environment of PACKAGES, which is made in FOLDER where it is not there."""
    place = pathlib.Path(folder).resolve() / framework
    python = place / "bin" / "python"
    if not python.exists() or not has_module(str(python), MODULES[framework]):
        print(f"# {place}: installing {' '.join(packages)}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
                       check=True, stdin=subprocess.DEVNULL)
    return str(python)


def pythons_of(options, packages):
    """{FRAMEWORK: its Python}, of those that are there."""
    named = {"jax": options.python_jax, "torch-xla": options.python_torch}
    for framework, python in named.items():
        if python is None and options.venvs:
            named[framework] = environment(options.venvs, framework, packages[framework])
        elif python is not None and not has_module(python, MODULES[framework]):
            named[framework] = None
    return named


def missing(options, program, pythons):
    """Why PROGRAM cannot be recorded here, or None."""
    if path_of(program, options.programs) is None:
        return f"{program['origin']} is not in --programs"
    if pythons[program["framework"]] is None:
        return f"no Python has {program['framework']}"
    return None


# ---- what is printed -----------------------------------------------------------------------------


def ms(ns):
    return "-" if ns is None else f"{ns / 1e6:.4g}"


def table_of(judged):
    rows = [("program", "own steps", "own ms", "bench steps", "bench ms", "ratio", "first finding", "expected", "",
             "why")]
    for j in judged:
        rows.append((j["name"], str(j["own_steps"] or "-"), ms(j["own_ns"]), str(j["bench_steps"] or "-"), ms(j["bench_ns"]),
                     f"{j['ratio']:.3f}" if j["ratio"] else "-", j["first"] or "-", j["cause"] or "-", j["verdict"], "; ".join(j["faults"])))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bench", default=str(ROOT / "build" / "bench"), help="the program [build/bench]")
    parser.add_argument("--programs", metavar="DIR", help="programs of others: DIR/OWNER+REPOSITORY/PATH")
    parser.add_argument("--python-jax", metavar="PYTHON", help="a Python with the packages for JAX")
    parser.add_argument("--python-torch", metavar="PYTHON", help="a Python with those for PyTorch/XLA")
    parser.add_argument("--venvs", metavar="DIR", help="make the environments that are not named in DIR")
    parser.add_argument("--times", type=int, default=3, help="recordings of a program [3]")
    parser.add_argument("--only", metavar="NAME,...", help="these programs")
    parser.add_argument("--not-held", action="store_true", help="without those that rules must not be made by")
    parser.add_argument("--keep", metavar="DIR", help="keep the recordings; those that are in DIR stay")
    parser.add_argument("--recordings", metavar="DIR", help="record nothing: judge what --keep has kept")
    parser.add_argument("--json", metavar="FILE", help="all that is judged")
    options = parser.parse_args()
    described = program_list()
    chosen = described["programs"]
    if options.only:
        names = options.only.split(",")
        unknown = set(names) - {p["name"] for p in chosen}
        if unknown:
            parser.error(f"there is no program {', '.join(sorted(unknown))}")
        chosen = [p for p in chosen if p["name"] in names]
    chosen = [p for p in chosen if not (options.not_held and p["held"])]
    if options.times < 1:
        parser.error("--times is at least 1")

    judged = []
    with contextlib.ExitStack() as stack:
        if options.recordings:
            folder = pathlib.Path(options.recordings)
            if not folder.is_dir():
                parser.error(f"there is no folder {folder}")
        else:
            folder = pathlib.Path(options.keep or stack.enter_context(
                tempfile.TemporaryDirectory(prefix="bench-corpus."))).resolve()
            folder.mkdir(parents=True, exist_ok=True)
            pythons = pythons_of(options, described["packages"])
        for program in chosen:
            why = None if options.recordings else missing(options, program, pythons)
            for number in range(1, options.times + 1) if not options.recordings and not why else ():
                if not (folder / f"{program['name']}.{number}.clock.json").exists():
                    record(options, program, pythons[program["framework"]], folder, number)
            try:
                verdict = judge(program, [] if why else kept(options.bench, program, folder))
            except ValueError as error:
                parser.error(str(error))
            if why:
                verdict["faults"] = [why]
            judged.append(verdict)
            print(f"# {verdict['name']}: {verdict['verdict']}", file=sys.stderr, flush=True)

    counts = {v: sum(j["verdict"] == v for j in judged) for v in ("right", "miss", "wrong", "absent")}
    counts["misses"] = counts["miss"] + 2 * counts["wrong"]
    there = len(judged) - counts["absent"]
    print(table_of(judged))
    print(f"\n{counts['right']} of {there} right, {counts['wrong']} wrong, {counts['absent']} absent; "
          f"{counts['misses']} misses, of which a wrong answer makes two")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"counts": counts, "programs": judged}, indent=1) + "\n")
    return int(counts["right"] < there)


if __name__ == "__main__":
    sys.exit(main())
