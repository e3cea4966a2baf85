"""VGG-16 without batch normalisation: torchvision's definition."""

from torch import nn
from torch.nn import functional
from torchvision.models import vgg

from models.narrow import narrow

PREFIX = ""


def build(variant, dropout):
    sizes = variant.sizes
    network = vgg.VGG(vgg.make_layers(list(sizes["features"])), num_classes=variant.classes)
    if not dropout:
        _drop_dropout(network.classifier)
    return narrow(network, sizes["divisor"], variant.classes)


def _drop_dropout(layers):
    """Takes dropout out. Around one of probability 0, which is still an operation, gradients of PyTorch/XLA
    2.9.0's dynamo meet the wrong tensors."""
    for i, layer in enumerate(layers):
        if isinstance(layer, nn.Dropout):
            layers[i] = nn.Identity()


def loss(logits, labels):
    return functional.cross_entropy(logits, labels)
