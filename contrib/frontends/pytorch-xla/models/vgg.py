"""VGG-16 without batch normalisation: torchvision's definition."""

from torch.nn import functional
from torchvision.models import vgg

from models.narrow import narrow

PREFIX = ""


def build(variant, dropout):
    sizes = variant.sizes
    features = vgg.make_layers(list(sizes["features"]))
    network = vgg.VGG(features, num_classes=variant.classes, dropout=0.5 if dropout else 0.0)
    return narrow(network, sizes["divisor"], variant.classes)


def loss(logits, labels):
    return functional.cross_entropy(logits, labels)
