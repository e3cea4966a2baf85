"""Marks for recordings: a program that runs under bench record says where its steps and phases are.

    import bench_marks

    for batch in batches:
        with bench_marks.step():
            state = train_step(state, batch)
    with bench_marks.phase("eval"):
        evaluate(state)

bench record puts this module where Python finds it. A copy beside the program works as well: without
bench record all of it does nothing.
"""
import ctypes
import itertools
import numbers
import os

__all__ = ["step", "phase", "mark_jax"]

# Where bench record says that the recorder is.
LIBRARY = "BENCH_RECORD_LIBRARY"
STEP, PHASE = 0, 2  # the begin of each; the end is one more


class _Nothing:
    __slots__ = ()

    def __enter__(self):
        pass

    def __exit__(self, kind, value, trace):
        pass


_nothing = _Nothing()


def _find():
    """The recorder's function, or None."""
    path = os.environ.get(LIBRARY)
    try:
        mark = ctypes.CDLL(path).record_mark if path else None
    except (OSError, AttributeError):
        return None
    if mark:
        mark.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int64]
        mark.restype = ctypes.c_int
    return mark


_mark = _find()
_numbers = {}


def _put(what, name, number):
    _mark(what, name.encode(errors="replace"), number)


def _next(name):
    """The number of the next step that has none of its own."""
    return next(_numbers.setdefault(name, itertools.count()))


class _Marked:
    __slots__ = ("what", "name", "number")

    def __init__(self, what, name, number):
        self.what, self.name, self.number = what, name, number

    def __enter__(self):
        _put(self.what, self.name, self.number)

    def __exit__(self, *exception):
        _put(self.what + 1, self.name, self.number)


def step(number=None, name="step"):
    """A context that is one step. NUMBER is the program's own; None: counted from 0 for each NAME."""
    if _mark is None:
        return _nothing
    number = None if number is None else int(number)
    if number is None or not -1 << 63 <= number < 1 << 63:
        number = _next(name)
    return _Marked(STEP, str(name), number)


def phase(name):
    """A context that is one part of the run: "train", "eval", "checkpoint"."""
    if _mark is None:
        return _nothing
    return _Marked(PHASE, str(name), 0)


def mark_jax():
    """From here on each jax.profiler.StepTraceAnnotation is a step, with its name and step_num. The
    class stays the same one, for programs that have it already. A step_num that is no plain integer
    may be on a device: it is not read, as that would wait."""
    from jax.profiler import StepTraceAnnotation as annotation

    if _mark is None or hasattr(annotation, "_bench_step"):
        return
    init, enter, leave = annotation.__init__, annotation.__enter__, annotation.__exit__

    def __init__(self, name, **known):
        init(self, name, **known)
        number = known.get("step_num")
        self._bench_step = step(number if isinstance(number, numbers.Integral) else None, name)

    def __enter__(self):
        self._bench_step.__enter__()
        return enter(self)

    def __exit__(self, *exception):
        left = leave(self, *exception)
        self._bench_step.__exit__(*exception)
        return left

    annotation._bench_step = _nothing  # of those that were made before
    annotation.__init__, annotation.__enter__, annotation.__exit__ = __init__, __enter__, __exit__
