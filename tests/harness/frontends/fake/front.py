"""A front end without a framework: it obeys the protocol of docs/frontends.md, and its steps are
those of pjrt_program. Tests give it faults and figures by the environment:

    FAKE_PROGRAM   pjrt_program
    FAKE_WAY       how that runs a step: fused, two, ops
    FAKE_WORK      milliseconds of the host before each step
    FAKE_VERSION   of the framework
    FAKE_FAULT     what it does wrong; see below
    FAKE_GOLDEN    file of golden values that it answers with, where values are asked for
    FAKE_KEEP      folder for a copy of the request
    FAKE_REPLACE   file in whose place another one is put, once the steps have run
"""

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time


def tensors(path):
    """{name: (dtype, shape, bytes)} of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        found[name] = (entry["dtype"], entry["shape"], data[8 + length + begin : 8 + length + end])
    return found


def floats(tensor):
    dtype, _, data = tensor
    code = {"F32": "f", "I32": "i"}[dtype]
    return struct.unpack(f"<{len(data) // 4}{code}", data)


def check_batch(request):
    """The batch is that of the golden values: their beginnings and sums are exact."""
    with open(os.environ["FAKE_GOLDEN"]) as file:
        golden = json.load(file)
    inputs = tensors(request["inputs"])
    assert sorted(inputs) == sorted(i["name"] for i in golden["inputs"]), sorted(inputs)
    for one in golden["inputs"]:
        values = floats(inputs[one["name"]])
        assert list(inputs[one["name"]][1]) == one["shape"], one["name"]
        for key in ("first4", "first8"):
            for got, want in zip(values, one.get(key, [])):
                assert abs(got - want) < 1e-7, (one["name"], got, want)
    weights = tensors(request["weights"])
    assert set(golden["f64"]["train"]["grads_step0"]) <= set(weights), "names of weights"
    return golden


def values(request, report):
    golden = check_batch(request)
    evaluation, train = golden["f64"]["eval"], golden["f64"]["train"]
    assert request["learning_rate"] == golden["optimizer"]["lr"], request["learning_rate"]
    report["logits"] = evaluation["logits"]
    report["evaluation_loss"] = evaluation["loss"]
    report["parameters"] = golden["param_count"]
    report["losses"] = list(train["loss"])
    report["gradient_l2"] = train["grad_l2_global"]
    report["gradient_norms"] = {k: v["l2"] for k, v in train["grads_step0"].items()}
    report["statistic_norms_after_step_1"] = {
        f"{module}.{key}": figures[key + "_l2"]
        for module, figures in train.get("bn_after_step1", {}).items()
        for key in ("running_mean", "running_var")
    }
    report["parameter_l2_after_step_3"] = train["param_l2_after_step3"]
    report["parameter_change_l2_after_step_3"] = train["param_change_l2_after_step3"]


def replace(path):
    """As a build does: a new file under the old name."""
    shutil.copy(path, path + ".new")
    with open(path + ".new", "ab") as file:
        file.write(b"another build")
    os.replace(path + ".new", path)


def times(request, report):
    steps = 2 * max(request["steps"], 12)
    words = [os.environ["FAKE_PROGRAM"], "--way", os.environ.get("FAKE_WAY", "two"),
             "--work", os.environ.get("FAKE_WORK", "0")]
    out = json.loads(subprocess.run(words + ["--steps", str(steps)], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout)
    if "FAKE_REPLACE" in os.environ:
        replace(os.environ["FAKE_REPLACE"])
    report["losses"] = [0.0, 0.0, 0.0]
    report["warmup_steps"] = 2
    report["measured"] = {k: out[k] for k in ("first_start_ns", "last_end_ns", "wall_ns")}
    traced = 0 if report["front_end"] == "jax" else 17.0
    report["nodes_per_step"] = traced if request["mode"] != "eager" else None
    report["nodes_once"] = 17
    report["nodes_of"] = "a number of the test's"
    report["trace_ns_per_step"] = None
    report["parameters"] = 4096


def flags(request):
    """What a script tells of its environment, where bench put its files included."""
    settings = {k: v for k, v in os.environ.items() if k.startswith(("BENCH_RECORD", "JAX_", "PJRT_"))}
    return {"PATH_OF_THIS_RUN": request["report"], **settings}


def head(name, request):
    return {
        "front_end": name, "framework": "Fake", "versions": {"fake": os.environ.get("FAKE_VERSION", "1.0")},
        "python": "3", "flags": flags(request),
        "model": request["model"], "variant": request["variant"], "phase": request["phase"],
        "mode": request["mode"], "dropout": request["dropout"], "what": "a program of the test's",
    }


ERRORS = {"not_installed": 3, "not_supported": 2, "values": 1, "runtime": 1}


def main(name):
    fault = os.environ.get("FAKE_FAULT", "")
    with open(sys.argv[1]) as file:
        request = json.load(file)
    if os.environ.get("FAKE_KEEP"):
        shutil.copyfile(sys.argv[1], os.path.join(os.environ["FAKE_KEEP"], f"{request['mode']}.json"))
    report = head(name, request)
    if fault == "crash":
        print("error: the fake front end crashes", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    if fault == "exit":
        print("ModuleNotFoundError: no module fake", file=sys.stderr, flush=True)
        return 1
    if fault == "hang":
        time.sleep(600)
    if fault == "silent":
        return 0
    if fault in ERRORS:
        report["error"] = {"class": fault, "message": "the test wants it so"}
    elif request["values"]:
        values(request, report)
    elif fault == "unrecorded":
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        report.update(losses=[0.0], warmup_steps=1,
                      measured={"first_start_ns": now, "last_end_ns": now + 10, "wall_ns": [5, 5]})
    else:
        times(request, report)
    if fault == "wrong_mode":
        report["mode"] = "another"
    if fault == "wrong_loss":
        report["losses"][1] *= 1.01
    if fault in ("deviates", "deviates_unsaid"):
        norms = report["statistic_norms_after_step_1"]
        norms.update({k: 0.9 * v for k, v in norms.items() if k.endswith(".running_var")})
    if fault == "deviates":
        report["deviations"] = ["running_var: the fake one takes less"]
    text = "{" if fault == "damaged" else json.dumps(report)
    with open(request["report"], "w") as file:
        file.write(text)
    return ERRORS.get(fault, 0)
