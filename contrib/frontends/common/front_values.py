"""Values in place of times: logits, the losses of three steps, norms of gradients and parameters.

They follow the rules of bench's golden files (tests/golden/README.md), with which `bench verify`
compares them. Sums are in double.
"""

import math

import numpy as np

from front_errors import wrong_values
from front_rule import probe
from front_timing import say

STEPS = 3
_ENDS = 16  # first and last elements that are written down


def _squares(tensor):
    flat = np.ravel(tensor).astype(np.float64)
    return float(np.dot(flat, flat))


def describe(name, tensor, seed):
    """The numbers of an output, rows along its last dimension."""
    flat = np.ravel(tensor).astype(np.float64)
    if not np.isfinite(flat).all():
        raise wrong_values(f"{name}: not all numbers are finite")
    return {
        "shape": list(tensor.shape),
        "first16": flat[:_ENDS].tolist(),
        "last16": flat[-_ENDS:].tolist(),
        "mean": float(flat.mean()),
        "std": float(flat.std()),
        "l2": math.sqrt(_squares(flat)),
        "absmax": float(np.abs(flat).max()),
        "probe": probe(name, flat, seed),
        "argmax": tensor.reshape(-1, tensor.shape[-1]).argmax(-1).tolist(),
    }


def _norms(tensors):
    """The norm of each of TENSORS, pairs of name and array, and that of all."""
    squares = {name: _squares(tensor) for name, tensor in tensors}
    return {name: math.sqrt(s) for name, s in squares.items()}, math.sqrt(sum(squares.values()))


def _evaluate(session, request):
    """Logits in evaluation mode with the initial weights, and the loss where there are labels."""
    logits, loss = session.evaluate()
    out = {"logits": describe("logits", logits, request.seed)}
    if loss is not None:
        out["evaluation_loss"] = loss
    return out


def _train_step(session, number, out):
    loss = session.step()
    session.wait()
    loss = session.read(loss)
    if not math.isfinite(loss):
        raise wrong_values(f"the loss of step {number} is not finite")
    out["losses"].append(loss)
    norms, together = _norms(session.gradients())
    out["gradient_l2"].append(together)
    if number == 0:
        out["gradient_norms"] = norms
        out["statistic_norms_after_step_1"] = _norms(session.statistics())[0]


def take(name, session, request, weights):
    """All values of SESSION, whose initial weights are the tensors of the file, WEIGHTS."""
    out = _evaluate(session, request)
    out["losses"] = []
    say(name, "logits are there")
    if not request.train:
        return out
    out["gradient_l2"] = []
    for number in range(STEPS):
        _train_step(session, number, out)
        say(name, f"step {number + 1}: loss {out['losses'][-1]:.9g}")
    values = dict(session.parameters())
    out["parameter_l2_after_step_3"] = _norms(values.items())[1]
    changes = ((k, v.astype(np.float64) - weights[k].astype(np.float64)) for k, v in values.items())
    out["parameter_change_l2_after_step_3"] = _norms(changes)[1]
    return out
