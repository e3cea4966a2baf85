"""The counter rule of bench's probes (models/init.c, tests/golden/README.md).

Element i follows from a name, a seed and i, so anybody can make it again bit for bit.
"""

import numpy as np

_MASK = (1 << 64) - 1
_SEED_STEP = 0xD1B54A32D192ED03
_INDEX_STEP = np.uint64(0x9E3779B97F4A7C15)
_BLOCK = 1 << 21  # elements at a time


def _start(name, seed):
    """FNV-1a of the name, moved on by the seed."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = (state ^ byte) * 0x100000001B3 & _MASK
    return np.uint64((state + seed * _SEED_STEP) & _MASK)


def _mix(x):
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


def _blocks(name, seed, count):
    """u in [0, 1) of elements 0 to COUNT - 1, as pairs of the first element's index and an array."""
    start = _start(name, seed)
    with np.errstate(over="ignore"):
        for first in range(0, count, _BLOCK):
            number = np.arange(first + 1, min(first + _BLOCK, count) + 1, dtype=np.uint64)
            yield first, (_mix(start + number * _INDEX_STEP) >> np.uint64(40)) * 2.0 ** -24


def probe(name, tensor, seed):
    """The sum of TENSOR's elements, each times v under the name probe/NAME, in double."""
    flat, total = np.ravel(tensor), 0.0
    for first, u in _blocks("probe/" + name, seed, flat.size):
        total += float(np.dot(flat[first:first + len(u)].astype(np.float64), 2.0 * u - 1.0))
    return total
