"""The families of models. A file has

    build(variant, dropout)        the module: takes the batch's tensors by position, in the order
                                   of the catalog's `inputs`, and returns logits
    loss(logits, labels)           a scalar
    PREFIX                         of the parameters' names in the module, not in checkpoints

VARIANT is a row of common/front_catalog.py, `image` and `seq` as the request has them. DROPOUT
false: nothing is dropped out. Each file imports the library that it needs, and no other.
"""

from importlib import import_module


def family(name):
    return import_module("models." + name)
