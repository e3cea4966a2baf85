#!/usr/bin/env python3
"""The rule by which a golden file's tolerances follow from its spread.

make_golden.py runs PyTorch in float32 some times ("draws"), each with every element of
every parameter moved by -1, 0 or +1 unit in the last place, and keeps each draw's
distance from the double precision truth in the file, as "spread". A tolerance is

    FACTOR * the largest distance of the draws, never below FLOOR,

rounded up to 1, 2 or 5 times a power of ten. README.md says why this factor.

    tolerance.py FILE...            fails where a file's tolerances are not those of the rule
    tolerance.py --write FILE...    puts those of the rule into the files

No PyTorch is needed. Exit code 1: a file and the rule disagree.
"""
import json
import math
import re
import sys

FACTOR = 5

# Least tolerances, where draws agree: a float32 program may sum in any order, and
# XLA's exp, tanh and rsqrt are not PyTorch's.
FLOOR = dict(logits=1e-5, eval_scalars=1e-5, loss=1e-5, grad_l2_global=2e-5, grads_step0=1e-4, param_l2=1e-6,
             param_change_l2=1e-4, params=1e-5, bn=1e-5)


def rel(a, b):
    return abs(a - b) / max(abs(b), 1e-30)


def eval_distance(t, a, outputs):
    """Of the numbers of evaluation, outputs' elements left out."""
    scalars = [rel(a["stages"][n][1], stage[1]) for n, stage in t["stages"].items()]
    for k in outputs:
        scalars += [rel(a[k]["l2"], t[k]["l2"]), rel(a[k]["std"], t[k]["std"]),
                    rel(a[k]["absmax"], t[k]["absmax"]),
                    abs(a[k]["mean"] - t[k]["mean"]) / t[k]["absmax"],
                    abs(a[k]["probe"] - t[k]["probe"]) / t[k]["l2"]]
    return max(scalars)


def pairs_distance(t, a, scale):
    """Of l2 and probe of each tensor that has a scale."""
    return max(abs(a[n][k] - t[n][k]) / scale[n] for n in scale for k in ("l2", "probe"))


def distance(t, tflats, a, aflats):
    """Distances of the float32 run a from the truth t, by group, divided as bench verify
    divides (README.md); tflats and aflats are all elements of each output."""
    d = {"logits": max(float((aflats[k] - tflats[k]).abs().max() / tflats[k].abs().max()) for k in tflats),
         "eval_scalars": eval_distance(t["eval"], a["eval"], tflats),
         "argmax_flips": sum(x != y for k in tflats for x, y in zip(a["eval"][k]["argmax"], t["eval"][k]["argmax"]))}
    eval_loss = rel(a["eval"]["loss"], t["eval"]["loss"])
    t, a = t["train"], a["train"]
    d["loss"] = [rel(x, y) for x, y in zip(a["loss"], t["loss"])]
    d["loss"][0] = max(d["loss"][0], eval_loss)
    d["grad_l2_global"] = [rel(x, y) for x, y in zip(a["grad_l2_global"], t["grad_l2_global"])]
    grads, whole, params = t["grads_step0"], t["grad_l2_global"][0], t["params_after_step3"]
    d["grads_step0"] = pairs_distance(grads, a["grads_step0"], {n: max(g["l2"], 1e-3 * whole) for n, g in grads.items()})
    d["param_l2"] = rel(a["param_l2_after_step3"], t["param_l2_after_step3"])
    d["param_change_l2"] = rel(a["param_change_l2_after_step3"], t["param_change_l2_after_step3"])
    d["params"] = pairs_distance(params, a["params_after_step3"],
                                 {n: p["l2"] for n, p in params.items() if grads[n]["l2"] >= 1e-6 * whole})
    if "bn_after_step1" in t:
        d["bn"] = max(rel(a["bn_after_step1"][n][k], v) for n, kv in t["bn_after_step1"].items()
                      for k, v in kv.items())
    return d


def spread(distances, moved):
    """The member "spread" of a file: for each group the distances of all draws, by step
    where a group has steps."""
    short = lambda x: x if isinstance(x, int) else float(f"{x:.2g}")
    out = {"draws": len(distances), "moved": moved}
    for k, first in distances[0].items():
        if isinstance(first, list):
            out[k] = [[short(d[k][step]) for d in distances] for step in range(len(first))]
        else:
            out[k] = [short(d[k]) for d in distances]
    return out


def distances_of(spread):
    """The distances that a spread was made of, a draw each; they have two digits."""
    at = lambda values, draw: [step[draw] for step in values] if isinstance(values[0], list) else values[draw]
    return [{k: at(v, draw) for k, v in spread.items() if isinstance(v, list)} for draw in range(spread["draws"])]


def round_up(x):
    """The next 1, 2 or 5 times a power of ten."""
    e = 10.0 ** math.floor(math.log10(x))
    return next(float(f"{m * e:.0e}") for m in (1, 2, 5, 10) if m * e >= x * 0.999999)


def tolerance(spread, factor=FACTOR):
    tol = {}
    for k, least in FLOOR.items():
        if k in spread:
            steps = spread[k] if isinstance(spread[k][0], list) else [spread[k]]
            of = [round_up(max(least, factor * max(s))) for s in steps]
            tol[k] = of if isinstance(spread[k][0], list) else of[0]
    return tol


def with_tolerances(doc, tolerances, factor, spread=None):
    """DOC with these in their place; a new spread replaces what they came from before."""
    new = {"tolerance": tolerances, "factor": factor} | ({"spread": spread} if spread else {})
    at = list(doc).index("tolerance")
    kept = [(k, v) for k, v in doc.items() if k not in new]
    return dict(kept[:at] + list(new.items()) + kept[at:])


def dump(doc):
    """The text of a golden file: lists without brackets in them take one line."""
    text = json.dumps(doc, indent=1)
    return re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m[1]) + "]", text) + "\n"


def main(words):
    write = words[:1] == ["--write"]
    wrong = 0
    for path in words[write:]:
        with open(path) as f:
            doc = json.load(f)
        want = tolerance(doc["spread"])
        if doc["tolerance"] == want and doc.get("factor") == FACTOR:
            continue
        if write:
            doc = with_tolerances(doc, want, FACTOR)
            with open(path, "w") as f:
                f.write(dump(doc))
        else:
            wrong += 1
            print(f"{path}: tolerance is {doc['tolerance']}, by the rule {want}")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
