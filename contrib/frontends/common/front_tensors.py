"""Tensors of safetensors files, with nothing but NumPy.

A file is the length of its header (u64, little endian), the header (a JSON object: name to dtype,
shape and the two ends of the contents), and the contents. NumPy has no bfloat16: BF16 becomes
float32, which holds each of its values.
"""

import json
import math
import os

import numpy as np

from front_errors import wrong_values

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
           "U8": "u1", "BOOL": "?"}
_MOST_HEADER = 100_000_000


def _no_doubles(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a name is given twice")
    return members


def _header(path, data):
    """The tensors' descriptions, and where the contents begin."""
    if len(data) < 8:
        raise wrong_values(f"{path}: no safetensors file, {len(data)} bytes")
    length = int.from_bytes(bytes(data[:8]), "little")
    if length > min(_MOST_HEADER, len(data) - 8):
        raise wrong_values(f"{path}: no safetensors file, its header would have {length} bytes")
    try:
        header = json.loads(bytes(data[8:8 + length]), object_pairs_hook=_no_doubles)
    except ValueError as error:
        raise wrong_values(f"{path}: header: {error}") from None
    if not isinstance(header, dict):
        raise wrong_values(f"{path}: header: not an object")
    header.pop("__metadata__", None)
    return header, 8 + length


def _is_list(value, count=None):
    """Whether VALUE is a list of whole numbers from 0 on, COUNT of them if given."""
    return (isinstance(value, list) and (count is None or len(value) == count) and
            all(isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 1 << 48 for v in value))


def _view(path, name, entry, data):
    """The tensor that ENTRY describes, in the contents DATA."""
    if not isinstance(entry, dict) or str(entry.get("dtype")) not in _DTYPES:
        raise wrong_values(f"{path}: {name}: no dtype that is known")
    shape, ends = entry.get("shape"), entry.get("data_offsets")
    if not _is_list(shape) or not _is_list(ends, 2):
        raise wrong_values(f"{path}: {name}: shape or offsets are no whole numbers")
    dtype = np.dtype(_DTYPES[entry["dtype"]])
    bytes_ = math.prod(shape) * dtype.itemsize
    if ends[1] > len(data) or ends[1] - ends[0] != bytes_:
        raise wrong_values(f"{path}: {name}: offsets {ends} for {bytes_} bytes of {len(data)}")
    tensor = np.frombuffer(data, dtype=dtype, count=math.prod(shape), offset=ends[0]).reshape(shape)
    if entry["dtype"] == "BF16":
        tensor = (tensor.astype(np.uint32) << 16).view(np.float32)
    return tensor


def read(path):
    """All tensors of the file at PATH, by name. They are views of the mapped file but for BF16."""
    try:
        if os.path.getsize(path) == 0:
            raise wrong_values(f"{path}: the file is empty")
        data = np.memmap(path, dtype=np.uint8, mode="r")
    except OSError as error:
        raise wrong_values(f"{path}: {error.strerror or error}") from None
    header, begin = _header(path, data)
    contents = data[begin:]
    return {name: _view(path, name, entry, contents) for name, entry in header.items()}


def check_weights(tensors, wanted):
    """Compares the tensors of a file with those WANTED, shapes by name: none may be missing, be left
    over, have another shape or hold no floating-point numbers."""
    for name, shape in wanted.items():
        if name not in tensors:
            raise wrong_values(f"weights: {name} is missing")
        if tuple(tensors[name].shape) != tuple(shape):
            have, want = ("x".join(map(str, s)) for s in (tensors[name].shape, shape))
            raise wrong_values(f"weights: {name} is {have or 'a number'} in the file, the model wants {want}")
        if tensors[name].dtype.kind != "f":
            raise wrong_values(f"weights: {name} holds {tensors[name].dtype}")
    left = sorted(set(tensors) - set(wanted))
    if left:
        raise wrong_values(f"weights: {left[0]} is left over ({len(left)} tensors are): the model has no such tensor")


def check_inputs(tensors, request):
    """Checks the batch of a file against the request. Labels may be missing in inference."""
    row, wanted = request.model, list(request.model.inputs)
    if request.train or "labels" in tensors:
        wanted.append("labels")
    for name in wanted:
        if name not in tensors:
            raise wrong_values(f"inputs: {name} is missing")
    left = sorted(set(tensors) - set(wanted))
    if left:
        raise wrong_values(f"inputs: {left[0]} is left over: the model has no such input")
    batch = tensors[wanted[0]].shape[0] if tensors[wanted[0]].ndim else 0
    if batch < 1 or (request.batch and batch != request.batch):
        raise wrong_values(f"inputs: {wanted[0]} has {batch} rows, the request asks for {request.batch}")
    tokens = (batch, request.seq)
    shapes = {name: tokens for name in wanted}
    if request.sizes.image:
        shapes["input"] = (batch, 3, request.image, request.image)
    if request.sizes.classes:
        shapes["labels"] = (batch,)
    for name in wanted:
        if tuple(tensors[name].shape) != shapes[name]:
            raise wrong_values(f"inputs: {name} is {list(tensors[name].shape)}, not {list(shapes[name])}")
        if (tensors[name].dtype.kind == "f") != (name == "input"):
            raise wrong_values(f"inputs: {name} of {row.name} holds {tensors[name].dtype}")
