"""The counter rule of bench's weights, inputs and probes (models/init.c, tests/golden/README.md).

Element i of a tensor follows from its name, a seed and i, so anybody can make it again bit for bit.
"""

import math

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


def blocks(name, seed, count):
    """u in [0, 1) of elements 0 to COUNT - 1, as pairs of the first element's index and an array."""
    start = _start(name, seed)
    with np.errstate(over="ignore"):
        for first in range(0, count, _BLOCK):
            number = np.arange(first + 1, min(first + _BLOCK, count) + 1, dtype=np.uint64)
            yield first, (_mix(start + number * _INDEX_STEP) >> np.uint64(40)) * 2.0 ** -24


def unit(name, seed, count):
    """u in [0, 1) of elements 0 to COUNT - 1, in double."""
    out = np.empty(count)
    for first, u in blocks(name, seed, count):
        out[first:first + len(u)] = u
    return out


def _fan(shape):
    return float(math.prod(shape[1:]))


# The kinds of a golden variant's list of tensors: a value in double of u, of v = 2 u - 1 and of the shape.
_KINDS = {
    "W6": lambda u, v, shape: v * math.sqrt(6.0 / _fan(shape)),
    "W3": lambda u, v, shape: v * math.sqrt(3.0 / _fan(shape)),
    "EMB": lambda u, v, shape: v * 0.05,
    "POS": lambda u, v, shape: v * 0.02,
    "NORM": lambda u, v, shape: 1.0 + 0.1 * v,
    "NORMR": lambda u, v, shape: 0.25 + 0.025 * v,
    "BIAS": lambda u, v, shape: 0.1 * v,
    "RMEAN": lambda u, v, shape: 0.1 * v,
    "RVAR": lambda u, v, shape: 1.0 + 0.5 * u,
    "V": lambda u, v, shape: v,
}


def make(kind, name, seed, shape):
    """The tensor NAME of a KIND, float32."""
    u = unit(name, seed, math.prod(shape))
    return _KINDS[kind](u, 2.0 * u - 1.0, shape).astype(np.float32).reshape(shape)


def probe(name, tensor, seed):
    """The sum of TENSOR's elements, each times v under the name probe/NAME, in double."""
    flat, total = np.ravel(tensor), 0.0
    for first, u in blocks("probe/" + name, seed, flat.size):
        total += float(np.dot(flat[first:first + len(u)].astype(np.float64), 2.0 * u - 1.0))
    return total


def make_input(entry, seed):
    """An input of a golden file from its description ENTRY; tokens are int32."""
    name, shape, rule = entry["name"], tuple(entry["shape"]), entry["rule"]
    if rule == "image":
        return make("V", name, seed, shape)
    columns = np.arange(shape[-1])
    if rule == "ids":
        low, high = entry["lo"], entry["hi"]
        value = low + np.floor(unit(name, seed, math.prod(shape)) * (high - low)).reshape(shape)
    elif rule == "half":
        value = np.broadcast_to(np.where(columns < shape[-1] // 2, entry["lo"], entry["hi"]), shape)
    elif rule in ("const", "lengths"):
        value = np.full(shape, entry.get("lo", 1))
    else:
        raise ValueError(f"{name}: rule '{rule}' is not known")
    value = np.array(value, np.int32)
    if "only_where" in entry:
        value = np.where(columns % 7 == 3, value, np.int32(entry["elsewhere"]))
    if "pad_value" in entry:
        for row, length in enumerate(entry["lengths"]):
            value[row, length:] = entry["pad_value"]
    return value
