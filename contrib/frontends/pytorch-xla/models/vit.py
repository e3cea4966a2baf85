"""Vision transformers: timm's definition."""

from timm.models.vision_transformer import VisionTransformer
from torch.nn import functional

PREFIX = ""


def build(variant, dropout):
    del dropout  # the published recipe's rates are 0 in timm
    sizes = variant.sizes
    return VisionTransformer(img_size=variant.image, patch_size=sizes["patch"], embed_dim=sizes["width"],
                             depth=sizes["depth"], num_heads=sizes["heads"], num_classes=variant.classes)


def loss(logits, labels):
    return functional.cross_entropy(logits, labels)
