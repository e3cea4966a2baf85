"""VGG-16 without batch normalisation as torchvision builds it (Simonyan and Zisserman, Very Deep
Convolutional Networks, 2015)."""

from front_catalog import POOL
from layers import Plan, adaptive_mean, flatten, max_pool, relu, row_loss

loss = row_loss

BINS = 7  # a side, before the classifier
DROPOUT = 0.5


def _features(sizes):
    """(index in torchvision's sequence, output channels or POOL). A convolution and its ReLU are
    two of the sequence."""
    index = 0
    for out in sizes["features"]:
        yield index, out if out == POOL else out // sizes["divisor"]
        index += 1 if out == POOL else 2


def plan(variant):
    sizes, p, inner = variant.sizes, Plan(), 3
    for index, out in _features(sizes):
        if out != POOL:
            p.conv(f"features.{index}", inner, out, 3, bias=True)
            inner = out
    hidden = sizes["hidden"] // sizes["divisor"]
    p.linear("classifier.0", inner * BINS * BINS, hidden)
    p.linear("classifier.3", hidden, hidden)
    p.linear("classifier.6", hidden, variant.classes)
    return p


def forward(run, variant, batch):
    x = batch["input"]  # (B, 224, 224, 3)
    for index, out in _features(variant.sizes):
        x = max_pool(x, 2, 2) if out == POOL else relu(run.conv(f"features.{index}", x, 1, 1))
    x = flatten(adaptive_mean(x, BINS))  # (B, 25088)
    for index in (0, 3):
        x = run.dropout(relu(run.linear(f"classifier.{index}", x)), DROPOUT)
    return run.linear("classifier.6", x)
