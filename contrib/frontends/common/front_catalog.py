"""The models that front ends have, with the sizes of bench's own (models/*.c).

`sizes` are the numbers of a family; `image`, `seq` and `learning_rate` are what a request leaves
to the model. A front end's folder models/ has a file for each family of its models.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Variant:
    learning_rate: float
    image: int = 0  # pixels a side; 0: the model takes no images
    seq: int = 0  # tokens a row; 0: the model takes no tokens
    classes: int = 0  # that a row is one of; 0: each token has a label
    sizes: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Model:
    name: str
    family: str
    optimizer: str  # its own: sgd or adamw
    inputs: tuple  # names of the batch's tensors but the labels
    variants: dict
    pads: bool = False  # has variants whose rows end in padding
    front_ends: tuple = ()  # those that have it; (): all
    decodes: bool = False  # has the phase decode


IMAGES = ("input",)

# Learning rates of an optimizer that is not the model's own.
USUAL_RATES = {"sgd": 1e-3, "adamw": 1e-4}

_RESNET_18 = Model(
    "resnet18", "resnet", "sgd", IMAGES,
    {
        "full": Variant(0.01, image=224, classes=1000,
                        sizes={"bottleneck": False, "blocks": (2, 2, 2, 2), "divisor": 1}),
        "small": Variant(0.01, image=64, classes=10,
                         sizes={"bottleneck": False, "blocks": (1, 1, 1, 1), "divisor": 8}),
    })

_RESNET_50 = Model(
    "resnet50", "resnet", "sgd", IMAGES,
    {
        "full": Variant(0.001, image=224, classes=1000,
                        sizes={"bottleneck": True, "blocks": (3, 4, 6, 3), "divisor": 1}),
        "small": Variant(0.01, image=64, classes=10,
                         sizes={"bottleneck": True, "blocks": (1, 1, 1, 1), "divisor": 8}),
    })

POOL = "M"  # torchvision's word for a max pool between blocks

_VGG_16 = Model(
    "vgg16", "vgg", "sgd", IMAGES,
    {
        "full": Variant(0.0001, image=224, classes=1000,
                        sizes={"features": (64, 64, POOL, 128, 128, POOL, 256, 256, 256, POOL,
                                            512, 512, 512, POOL, 512, 512, 512, POOL),
                               "hidden": 4096, "divisor": 1}),
        "small": Variant(0.0001, image=64, classes=10,
                         sizes={"features": (64, POOL, 128, POOL, 256, POOL, 512, POOL, 512, POOL),
                                "hidden": 4096, "divisor": 8}),
    })

_VIT_SMALL = Model(
    "vit_small_patch16_224", "vit", "adamw", IMAGES,
    {
        "full": Variant(1e-4, image=224, classes=1000,
                        sizes={"patch": 16, "width": 384, "depth": 12, "heads": 6}),
        "small": Variant(1e-4, image=32, classes=10,
                         sizes={"patch": 8, "width": 64, "depth": 2, "heads": 4}),
    })

_BERT_INPUTS = ("input_ids", "token_type_ids", "attention_mask")
_BERT_BASE = {"vocabulary": 30522, "positions": 512, "width": 768, "layers": 12, "heads": 12, "hidden": 3072}
_BERT_SMALL = {"vocabulary": 512, "positions": 64, "width": 64, "layers": 2, "heads": 4, "hidden": 128}

_BERT = Model(
    "bert", "bert", "adamw", _BERT_INPUTS,
    {
        "full": Variant(1e-4, seq=128, sizes=_BERT_BASE),
        "small": Variant(1e-4, seq=16, sizes=_BERT_SMALL),
    }, pads=True)

# The decoder's numbers are next to those of the encoder.
_UNIT_QNLI = Model(
    "unit_qnli", "unit_qnli", "adamw", _BERT_INPUTS,
    {
        "full": Variant(1e-6, seq=128, classes=2,
                        sizes={**_BERT_BASE, "queries": 25, "decoder_layers": 6, "decoder_heads": 8,
                               "decoder_hidden": 2048}),
        "small": Variant(1e-4, seq=16, classes=2,
                         sizes={**_BERT_SMALL, "queries": 25, "decoder_layers": 2, "decoder_heads": 4,
                                "decoder_hidden": 128}),
    }, pads=True, front_ends=("jax",))

_GPT_2 = Model(
    "gpt2", "gpt2", "adamw", ("input_ids",),
    {
        "full": Variant(1e-4, seq=64,
                        sizes={"vocabulary": 50257, "positions": 1024, "width": 768, "layers": 12,
                               "heads": 12}),
        "small": Variant(1e-4, seq=16,
                         sizes={"vocabulary": 512, "positions": 64, "width": 64, "layers": 2,
                                "heads": 4}),
    }, decodes=True)

MODELS = {m.name: m for m in (_RESNET_18, _RESNET_50, _BERT, _VIT_SMALL, _VGG_16, _GPT_2, _UNIT_QNLI)}

# A short name that people use.
ALIASES = {"vit_small": "vit_small_patch16_224"}
