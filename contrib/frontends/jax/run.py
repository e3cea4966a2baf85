"""The front end JAX: run.py REQUEST.json. ../README.md has the protocol.

The models are in plain JAX (models/): neither JAX nor Flax comes with definitions of them.
"""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder may not be ours to write to
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "common")]

import front_main  # noqa: E402  (found by the line above)

NAME = "jax"
FRAMEWORK = "JAX"
PACKAGE = "jax"

_EAGER = ("no jit: each operation of JAX is a program of its own, {}; "
          "functions of jax.numpy and jax.nn that JAX itself compiles are one program each")

MODES = {
    "capture": {
        "train": "jit of the whole step (forward, loss, gradients, update) with all state donated",
        "infer": "jit of the forward pass",
        "decode": "jit of the step of one token, with caches, position and token donated",
    },
    "parts": {
        "train": "two jits: loss and gradients, then the update, each with the state that it renews donated",
    },
    "eager": {
        "train": _EAGER.format("in forward, gradients and update"),
        "infer": _EAGER.format("in the forward pass"),
        "decode": _EAGER.format("in the step of one token"),
    },
}


def packages():
    return ("jax", "jaxlib", "numpy", "ml_dtypes")


def open_session(request, weights, inputs):
    from session import Session  # needs JAX
    return Session(request, weights, inputs)


if __name__ == "__main__":
    sys.exit(front_main.main(sys.modules["__main__"], sys.argv[1:]))
