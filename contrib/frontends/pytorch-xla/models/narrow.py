"""torchvision's networks with fewer channels: the reduced variants of the golden data."""

from torch import nn

IMAGE_CHANNELS = 3


def narrow(network, divisor, classes):
    """Replaces the layers of NETWORK by such as have 1 / DIVISOR of the channels. Channels of the
    image and CLASSES stay. The layers' other settings stay too."""
    if divisor == 1:
        return network

    def fewer(channels):
        if channels in (IMAGE_CHANNELS, classes):
            return channels
        if channels % divisor:
            raise ValueError(f"{channels} channels do not divide by {divisor}")
        return channels // divisor

    for parent in list(network.modules()):
        for name, layer in list(parent.named_children()):
            smaller = _smaller(layer, fewer)
            if smaller is not None:
                setattr(parent, name, smaller)
    return network


def _smaller(layer, fewer):
    """LAYER with FEWER channels, or None where it has none of its own."""
    bias = getattr(layer, "bias", None) is not None
    if isinstance(layer, nn.Conv2d):
        assert layer.groups == 1 and layer.padding_mode == "zeros"
        return nn.Conv2d(fewer(layer.in_channels), fewer(layer.out_channels), layer.kernel_size,
                         stride=layer.stride, padding=layer.padding, dilation=layer.dilation, bias=bias)
    if isinstance(layer, nn.BatchNorm2d):
        return nn.BatchNorm2d(fewer(layer.num_features), eps=layer.eps, momentum=layer.momentum)
    if isinstance(layer, nn.Linear):
        return nn.Linear(fewer(layer.in_features), fewer(layer.out_features), bias=bias)
    return None
