"""The families of models. A file has

    plan(variant)                          its tensors, a layers.Plan
    forward(run, variant, batch)           logits of the batch
    loss(logits, labels)                   a scalar, float32

VARIANT is a row of common/front_catalog.py, `image` and `seq` as the request has them.
"""

from models import bert, gpt2, resnet, unit_qnli, vgg, vit

FAMILIES = {"bert": bert, "gpt2": gpt2, "resnet": resnet, "unit_qnli": unit_qnli, "vgg": vgg, "vit": vit}
