"""The front end PyTorch/XLA: run.py REQUEST.json. ../README.md has the protocol.

The models are torchvision's, timm's and transformers' own definitions (models/).
"""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # the folder may not be ours to write to
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "common")]

import front_main  # noqa: E402  (found by the line above)

NAME = "pytorch-xla"
FRAMEWORK = "PyTorch/XLA"
PACKAGE = "torch_xla, or one of the libraries that its models come from,"

MODES = {
    "lazy": {
        "train": "each step is traced operation by operation, and torch_xla.sync() ends it",
        "infer": "each forward pass is traced operation by operation, and torch_xla.sync() ends it",
    },
    "capture": {
        "train": "torch_xla.compile of the whole step (forward, loss, backward, optimizer): "
                 "it is traced in each step and run as what the trace gave",
        "infer": "torch_xla.compile of the forward pass: it is traced in each step and run as what the trace gave",
    },
    "dynamo": {
        "train": "torch.compile(backend='openxla') of the model: forward and backward are captured; "
                 "loss and optimizer are traced in each step, and torch_xla.sync() ends it",
        "infer": "torch.compile(backend='openxla') of the model: the forward pass is captured",
    },
    "dynamo-step": {
        "train": "torch.compile(backend='openxla') of a function that has the whole step; "
                 "what dynamo cannot capture is traced, and torch_xla.sync() ends the step",
    },
}


def packages():
    return ("torch", "torch_xla", "torchvision", "timm", "transformers", "numpy")


def open_session(request, weights, inputs):
    from session import Session  # needs PyTorch/XLA
    return Session(request, weights, inputs)


if __name__ == "__main__":
    sys.exit(front_main.main(sys.modules["__main__"], sys.argv[1:]))
