"""What all front ends do: request in, report out.

A front end is a module or object with

    NAME, FRAMEWORK   its name in reports, and the framework's
    PACKAGE           what pip calls the package without which nothing runs
    FOLDER            where its run.py and requirements.txt are
    MODES             {mode: {phase: what it does here, one sentence}}
    packages()        names of the packages whose versions a report has
    open_session(request, weights, inputs)
                      a session: step(), wait(), read(loss), begin_measuring(),
                      end_measuring(steps), describe(), count; for values evaluate(),
                      gradients(), statistics() and parameters(), the last three as pairs of
                      the framework's name and an array in its shape
"""

import json
import os
import platform
import sys
import tempfile
import traceback
from importlib import metadata

import front_request
import front_timing
from front_errors import FrontEndError, not_supported, wrong_values

# Variables that a record keeps: all that results/records/provenance.c compares, and what says where the plugin is.
_FLAGS = (
    "BENCH_RECORD", "DNNL_", "GOMP_", "JAX_", "KMP_", "MKL_", "NPROC", "OMP_", "ONEDNN_", "OPENBLAS_", "PJRT_",
    "PT_XLA_", "PTXLA_", "TF_CPP_", "TORCH", "TPU_", "XLA_",
)
_MOST_MESSAGE = 1000  # bytes: of a longer one bench takes nothing


def _versions(names):
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
    return found


def _head(front_end, request):
    """What a report has in any case; REQUEST may be None."""
    head = {
        "front_end": front_end.NAME,
        "framework": front_end.FRAMEWORK,
        "versions": _versions(front_end.packages()),
        "python": platform.python_version(),
        "flags": {k: v for k, v in sorted(os.environ.items()) if v and k.startswith(_FLAGS)},
    }
    if request is not None:
        head.update(
            model=request.model.name, variant=request.variant, phase=request.phase, mode=request.mode,
            dtype=request.dtype, dropout=request.dropout and request.train,
            optimizer=request.optimizer if request.train else None,
            learning_rate=request.learning_rate if request.train else None)
    return head


def write_report(path, report):
    """Writes REPORT as JSON to PATH: all of it or nothing. Bytes of the environment that are no
    UTF-8 become question marks: they must not cost the measurement."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=".report-", suffix=".tmp", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            json.dump(report, file, indent=1, allow_nan=False, ensure_ascii=False)
            file.write("\n")
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _what(front_end, request):
    """The sentence of the mode; refuses a mode that the phase does not have."""
    phases = front_end.MODES.get(request.mode)
    if phases is None:
        raise not_supported(f"{front_end.NAME} has no mode '{request.mode}'; known are {', '.join(front_end.MODES)}")
    if request.phase not in phases:
        raise not_supported(f"{front_end.NAME} has no mode '{request.mode}' for {request.phase}")
    return phases[request.phase]


def _time(front_end, session, request):
    losses = front_timing.Losses()
    warm = front_timing.warm_up(front_end.NAME, session, request.warmup, losses)
    front_timing.say(front_end.NAME, f"measuring at least {request.steps} steps")
    session.begin_measuring()
    measured = front_timing.measure(session, request.steps, request.min_time, losses)
    out = session.end_measuring(len(measured["wall_ns"]))
    front_timing.say(front_end.NAME, f"measured {len(measured['wall_ns'])} steps")
    out.update(losses=losses.read(session), warmup_steps=warm, measured=measured)
    for number, loss in enumerate(out["losses"]):
        if loss - loss != 0:
            raise wrong_values(f"the loss of step {number} is not finite")
    return out


def _run(front_end, request, report):
    report["what"] = _what(front_end, request)
    import front_tensors  # these two need NumPy, which is there where the framework is
    import front_values
    weights, inputs = front_tensors.read(request.weights), front_tensors.read(request.inputs)
    front_tensors.check_inputs(inputs, request)
    report["batch"] = int(inputs[request.model.inputs[0]].shape[0])
    session = front_end.open_session(request, weights, inputs)
    report["parameters"] = session.count
    report.update(session.describe())
    if request.values:
        report.update(front_values.take(front_end.NAME, session, request, weights))
    else:
        report.update(_time(front_end, session, request))


def _one_line(error):
    return " ".join(str(error).split())[:500] or type(error).__name__


def _fit(text):
    """TEXT as far as bench takes it, cut between characters."""
    return text.encode(errors="replace")[:_MOST_MESSAGE].decode(errors="ignore")


def _failed(front_end, error):
    """ERROR as one that the report names."""
    if isinstance(error, FrontEndError):
        return error
    if os.environ.get("FRONT_END_TRACEBACK"):
        traceback.print_exception(error)
    if isinstance(error, ImportError):
        hint = front_end.FOLDER / "requirements.txt"
        return FrontEndError(
            "not_installed", f"{front_end.PACKAGE} is not installed for {sys.executable} ({_one_line(error)}); "
            f"install it with: {sys.executable} -m pip install -r {hint}")
    kind = "not_supported" if isinstance(error, NotImplementedError) else "runtime"
    return FrontEndError(kind, f"{type(error).__name__}: {_one_line(error)}")


def _report_path(members):
    path = members.get("report") if isinstance(members, dict) else None
    return path if isinstance(path, str) and path else None


def main(front_end, arguments):
    """Runs the request in the file that ARGUMENTS name; returns the exit code."""
    if len(arguments) != 1:
        print("front end: usage: run.py REQUEST.json", file=sys.stderr)
        return 1
    members, request, report = None, None, {}
    try:
        members = front_request.read_object(arguments[0])
        request = front_request.parse(members, front_end.NAME)
        report = _head(front_end, request)
        _run(front_end, request, report)
        write_report(request.report, report)
        return 0
    except Exception as error:  # whatever it is, the report says it
        failure = _failed(front_end, error)
    print(f"front end: {failure}", file=sys.stderr, flush=True)
    report = _head(front_end, request)
    report["error"] = {"class": failure.kind, "message": _fit(str(failure))}
    try:
        if _report_path(members):
            write_report(_report_path(members), report)
    except (OSError, ValueError) as error:
        print(f"front end: the report cannot be written: {_one_line(error)}", file=sys.stderr)
    return failure.exit_code
