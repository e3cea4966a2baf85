"""The counter-based generator of weights, inputs and labels (models/init.c states its rule)."""
import math
from dataclasses import dataclass

import numpy as np
import torch

M64 = (1 << 64) - 1
SEED_STEP = 0xD1B54A32D192ED03
INDEX_STEP = 0x9E3779B97F4A7C15
CHUNK = 1 << 22


def fnv1a64(name):
    h = 0xCBF29CE484222325
    for b in name.encode():
        h = ((h ^ b) * 0x100000001B3) & M64
    return h


def uniform(name, seed, n):
    """u[0..n) as float64, each a multiple of 2^-24 in [0, 1)."""
    base = np.uint64((fnv1a64(name) + seed * SEED_STEP) & M64)
    out = np.empty(n, np.float64)
    with np.errstate(over="ignore"):
        for lo in range(0, n, CHUNK):
            hi = min(n, lo + CHUNK)
            x = base + np.arange(lo + 1, hi + 1, dtype=np.uint64) * np.uint64(INDEX_STEP)
            x ^= x >> np.uint64(30)
            x *= np.uint64(0xBF58476D1CE4E5B9)
            x ^= x >> np.uint64(27)
            x *= np.uint64(0x94D049BB133111EB)
            x ^= x >> np.uint64(31)
            out[lo:hi] = (x >> np.uint64(40)).astype(np.float64) * 2.0 ** -24
    return out


def fan_in(shape):
    return math.prod(shape[1:])


# kind -> value, in double, from u in [0,1), v = 2u-1 and the tensor's shape
KINDS = {
    "W6": lambda u, v, s: v * math.sqrt(6.0 / fan_in(s)),    # conv/linear weight, CNN families
    "W3": lambda u, v, s: v * math.sqrt(3.0 / fan_in(s)),    # linear/conv weight, transformer families
    "EMB": lambda u, v, s: v * 0.05,                         # embedding tables
    "POS": lambda u, v, s: v * 0.02,                         # cls_token, pos_embed
    "NORM": lambda u, v, s: 1.0 + 0.1 * v,                   # 1-D norm weights
    "NORMR": lambda u, v, s: 0.25 + 0.025 * v,               # weight of the last BatchNorm on a CNN residual branch
    "BIAS": lambda u, v, s: 0.1 * v,                         # all biases, norm biases included
    "RMEAN": lambda u, v, s: 0.1 * v,                        # BatchNorm running_mean
    "RVAR": lambda u, v, s: 1.0 + 0.5 * u,                   # BatchNorm running_var
    "V": lambda u, v, s: v,                                  # images, probes
}


def generate(kind, name, seed, shape):
    n = math.prod(shape)
    u = uniform(name, seed, n)
    return KINDS[kind](u, 2.0 * u - 1.0, shape).astype(np.float32).reshape(shape)


def num(x):
    return float(f"{x.item() if torch.is_tensor(x) else x:.12g}")


def num32(x):
    return float(f"{x:.9g}")


# --------------------------------------------------------------------------
# Inputs
# --------------------------------------------------------------------------
@dataclass
class Inp:
    """One input tensor.

    rule  image    V
          ids      lo + floor(u * (hi - lo)), floor taken in double
          half     lo for t < T/2, hi for t >= T/2
          const    lo
          lengths  1 (pad writes the zeros)
    keep7  only positions with t % 7 == 3 keep their value, the others get drop
    pad    value written at t >= length(b), None: no padding
    """
    name: str
    shape: tuple
    rule: str = "ids"
    lo: int = 0
    hi: int = 0
    keep7: bool = False
    drop: int = 0
    pad: object = None


def length(b, T):
    """Valid tokens of row b in padded variants."""
    return T - (b % 3) * (T // 4)


def make_input(i, seed):
    if i.rule == "image":
        return torch.from_numpy(generate("V", i.name, seed, i.shape))
    B = i.shape[0]
    if i.rule == "ids":
        u = uniform(i.name, seed, math.prod(i.shape)).reshape(i.shape)
        x = i.lo + np.floor(u * (i.hi - i.lo)).astype(np.int64)
    elif i.rule == "const":
        x = np.full(i.shape, i.lo, np.int64)
    elif i.rule == "half":
        t = np.arange(i.shape[1])
        x = np.broadcast_to(np.where(t < i.shape[1] // 2, i.lo, i.hi), i.shape).copy()
    elif i.rule == "lengths":
        x = np.ones(i.shape, np.int64)
    if i.keep7:
        t = np.arange(i.shape[1])
        x = np.where(t % 7 == 3, x, i.drop)
    if i.pad is not None:
        for b in range(B):
            x[b, length(b, i.shape[1]):] = i.pad
    return torch.from_numpy(np.ascontiguousarray(x))


def describe_input(i, x):
    d = {"name": i.name, "shape": list(i.shape), "rule": i.rule}
    if i.rule == "image":
        d["first4"] = [num32(v) for v in x.flatten()[:4].tolist()]
        return d
    if i.rule in ("ids", "half"):
        d.update(lo=i.lo, hi=i.hi)
    elif i.rule == "const":
        d["lo"] = i.lo
    if i.keep7:
        d["only_where"] = "t % 7 == 3"
        d["elsewhere"] = i.drop
    if i.pad is not None:
        d["pad_value"] = i.pad
        d["lengths"] = [length(b, i.shape[1]) for b in range(i.shape[0])]
    d["first8"] = x.flatten()[:8].tolist()
    d["sum"] = int(x.sum())
    return d
