"""The request: a JSON object that says what to measure. Everything in it is checked here."""

import json
import math
from dataclasses import dataclass

from front_catalog import ALIASES, MODELS, USUAL_RATES, Model, Variant
from front_errors import FrontEndError, not_supported

MOST_IMAGE = 4096
MOST_TOKENS = 65536
MOST_STEPS = 10_000_000
MOST_BYTES = 1 << 20  # of the file

_REQUIRED = {"model", "variant", "phase", "mode", "weights", "inputs", "report"}
_OPTIONAL = {"batch", "image", "seq", "dtype", "optimizer", "learning_rate", "steps", "min_time",
             "warmup", "seed", "values", "dropout", "context"}


@dataclass(frozen=True)
class Request:
    """What to measure. `model` is the row of the catalog; `variant` is the name that was asked for,
    and `sizes` the variant of the catalog that it stands for."""

    model: Model
    variant: str
    sizes: Variant
    phase: str
    mode: str
    batch: int  # 0: as the inputs have it
    image: int
    seq: int  # of decode: tokens of the prompt
    context: int  # of decode: positions of the cache; else 0
    dtype: str
    optimizer: str  # sgd or adamw
    learning_rate: float
    steps: int
    min_time: float
    warmup: int
    seed: int
    values: bool
    dropout: bool
    weights: str
    inputs: str
    report: str

    @property
    def train(self):
        return self.phase == "train"

    @property
    def decode(self):
        return self.phase == "decode"


def _bad(message):
    return FrontEndError("runtime", f"request: {message}")


def _no_doubles(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _bad("a member is given twice")
    return members


def read_object(path):
    """The JSON object in the file at PATH."""
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise _bad(f"{path}: {error.strerror}") from None
    if len(text) > MOST_BYTES:
        raise _bad(f"{path}: more than {MOST_BYTES} bytes")
    try:
        members = json.loads(text, object_pairs_hook=_no_doubles)
    except ValueError as error:
        raise _bad(f"{path}: {error}") from None
    if not isinstance(members, dict):
        raise _bad(f"{path}: not an object")
    return members


def _text(members, name, usual=None):
    value = members.get(name, usual)
    if not isinstance(value, str) or not value:
        raise _bad(f"{name}: not a text")
    return value


def _whole(members, name, usual, least, most):
    value = members.get(name)
    if value is None:
        value = usual
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _bad(f"{name}: not a whole number in {least} to {most}")
    return value


def _number(members, name, usual):
    value = members.get(name)
    if value is None:
        value = usual
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _bad(f"{name}: not a number")
    if not math.isfinite(value) or value < 0:
        raise _bad(f"{name}: {value} is not 0 or more")
    return float(value)


def _truth(members, name):
    value = members.get(name, False)
    if not isinstance(value, bool):
        raise _bad(f"{name}: neither true nor false")
    return value


def _choice(members, name, choices, usual=None):
    value = _text(members, name, usual)
    if value not in choices:
        raise not_supported(f"{name} '{value}': known are {', '.join(choices)}")
    return value


def _find_model(members, front_end):
    name = _text(members, "model")
    known = {n: m for n, m in MODELS.items() if not m.front_ends or front_end in m.front_ends}
    row = known.get(ALIASES.get(name, name))
    if row is None:
        raise not_supported(f"{front_end} has no model '{name}'; known are {', '.join(known)}")
    return row


def _find_variant(members, row):
    """Padded variants have the sizes of the others: padding is in the batch's contents."""
    name = _text(members, "variant")
    base = name.removesuffix("_pad") if row.pads else name
    if base not in row.variants:
        raise not_supported(f"{row.name} has no variant '{name}'; known are {', '.join(row.variants)}")
    return name, row.variants[base]


def _optimizer(members, row, variant):
    name = _choice(members, "optimizer", ("default", "sgd", "adamw"), "default")
    own = name in ("default", row.optimizer)
    name = row.optimizer if own else name
    rate = _number(members, "learning_rate", 0.0)
    return name, rate or (variant.learning_rate if own else USUAL_RATES[name])


def _size(members, name, usual, most):
    """A dimension that the model has, or 0."""
    value = _whole(members, name, 0, 0, most)
    if value and not usual:
        raise not_supported(f"{name} {value}: the model has none")
    return value or usual


def _check_sizes(request):
    """What the model's own numbers forbid."""
    sizes = request.sizes.sizes
    last = max(request.seq, request.context)
    if last > sizes.get("positions", MOST_TOKENS):
        name = "context" if request.decode else "seq"
        raise not_supported(f"{name} {last}: {request.model.name} has {sizes['positions']} positions")
    if request.decode and not request.model.decodes:
        raise not_supported(f"phase 'decode': {request.model.name} does not decode here")
    if request.decode and request.values:
        raise not_supported("values with decode: they are of evaluation and training")
    if request.decode and not request.seq < request.context:
        raise not_supported(f"seq {request.seq}: no room in a context of {request.context}")
    if request.context and not request.decode:
        raise not_supported(f"context {request.context}: only decode has a cache")
    if request.image % sizes.get("patch", 1):
        raise not_supported(f"image {request.image}: not a multiple of the patch of {sizes['patch']}")
    return request


def parse(members, front_end):
    """Makes a Request of a JSON object's MEMBERS, or raises FrontEndError. FRONT_END is the name of the
    one that is asked."""
    unknown = sorted(set(members) - _REQUIRED - _OPTIONAL)
    if unknown:
        raise not_supported(f"the request asks for '{unknown[0]}', which no front end knows")
    missing = sorted(_REQUIRED - set(members))
    if missing:
        raise _bad(f"{missing[0]} is missing")
    row = _find_model(members, front_end)
    variant, sizes = _find_variant(members, row)
    optimizer, rate = _optimizer(members, row, sizes)
    values, dropout = _truth(members, "values"), _truth(members, "dropout")
    if values and dropout:
        raise not_supported("values with dropout: golden values have none")
    return _check_sizes(Request(
        model=row, variant=variant, sizes=sizes,
        phase=_choice(members, "phase", ("train", "infer", "decode")),
        mode=_text(members, "mode"),
        batch=_whole(members, "batch", 0, 0, 1 << 20),
        image=_size(members, "image", sizes.image, MOST_IMAGE),
        seq=_size(members, "seq", sizes.seq, MOST_TOKENS),
        context=_whole(members, "context", 0, 0, MOST_TOKENS),
        dtype=_choice(members, "dtype", ("f32", "bf16"), "f32"),
        optimizer=optimizer, learning_rate=rate,
        steps=_whole(members, "steps", 20, 1, MOST_STEPS),
        min_time=_number(members, "min_time", 0.0),
        warmup=_whole(members, "warmup", 10, 0, MOST_STEPS),
        seed=_whole(members, "seed", 1, 0, (1 << 63) - 1),
        values=values, dropout=dropout,
        weights=_text(members, "weights"), inputs=_text(members, "inputs"),
        report=_text(members, "report")))
