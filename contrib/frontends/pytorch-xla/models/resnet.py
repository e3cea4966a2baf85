"""ResNet-18 and ResNet-50: torchvision's definition."""

from torch.nn import functional
from torchvision.models import resnet

from models.narrow import narrow

PREFIX = ""


def build(variant, dropout):
    del dropout  # there is none
    sizes = variant.sizes
    block = resnet.Bottleneck if sizes["bottleneck"] else resnet.BasicBlock
    network = resnet.ResNet(block, list(sizes["blocks"]), num_classes=variant.classes)
    return narrow(network, sizes["divisor"], variant.classes)


def loss(logits, labels):
    return functional.cross_entropy(logits, labels)
