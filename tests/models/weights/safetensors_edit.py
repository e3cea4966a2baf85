"""safetensors_edit.py - a reader and writer of safetensors files of its own, for
check_weights.sh: nothing but Python's own library, and none of our code.

  IN OUT drop NAME        without a tensor
  IN OUT shape NAME D,D   another shape, zeros
  IN OUT type NAME TYPE   another type, same values
  IN OUT types TYPE       all floating-point tensors in another type
  IN OUT rename OLD NEW
  IN OUT add NAME         an I64 scalar more, as PyTorch's num_batches_tracked
  IN OUT cut BYTES        without the last bytes
  IN OUT byte AT VALUE    one byte changed
  IN - list               prints name, type, shape and first value of each tensor
  IN OTHER differ         prints the names of tensors that differ in any byte
"""
import json
import struct
import sys

CODES = {"F64": "d", "F32": "f", "F16": "e", "I64": "q", "I32": "i"}
WIDTHS = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4}


def unpack(kind, data):
    if kind == "BF16":
        halves = struct.unpack("<%dH" % (len(data) // 2), data)
        return [struct.unpack("<f", struct.pack("<I", h << 16))[0] for h in halves]
    return list(struct.unpack("<%d%s" % (len(data) // WIDTHS[kind], CODES[kind]), data))


def pack(kind, values):
    if kind == "BF16":  # what stands above the cut; the tests do not judge rounding
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    if kind[0] == "I":
        values = [int(v) for v in values]
    return struct.pack("<%d%s" % (len(values), CODES[kind]), *values)


def read(path):
    with open(path, "rb") as f:
        blob = f.read()
    size = struct.unpack("<Q", blob[:8])[0]
    header = json.loads(blob[8 : 8 + size].decode("utf-8"))
    header.pop("__metadata__", None)
    tensors, end = {}, 0
    for name, t in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = t["data_offsets"]
        elements = 1
        for d in t["shape"]:
            elements *= d
        assert first == end and last - first == elements * WIDTHS[t["dtype"]], name
        assert first % WIDTHS[t["dtype"]] == 0, "%s is not aligned" % name
        tensors[name] = [t["dtype"], t["shape"], blob[8 + size + first : 8 + size + last]]
        end = last
    assert 8 + size + end == len(blob) and size % 8 == 0
    return tensors


def write(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (kind, shape, values) in tensors.items():
        header[name] = {
            "dtype": kind,
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(values)],
        }
        data += values
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def edit(tensors, what, words):
    if what == "drop":
        del tensors[words[0]]
    elif what == "shape":
        shape = [int(d) for d in words[1].split(",")]
        elements = 1
        for d in shape:
            elements *= d
        kind = tensors[words[0]][0]
        tensors[words[0]] = [kind, shape, bytes(elements * WIDTHS[kind])]
    elif what in ("type", "types"):
        for name in [words[0]] if what == "type" else list(tensors):
            kind, shape, data = tensors[name]
            tensors[name] = [words[-1], shape, pack(words[-1], unpack(kind, data))]
    elif what == "rename":
        tensors[words[1]] = tensors.pop(words[0])
    elif what == "add":
        tensors[words[0]] = ["I64", [], struct.pack("<q", 7)]
    else:
        sys.exit("no such edit: " + what)


def main(source, target, what, *words):
    if what in ("cut", "byte"):
        with open(source, "rb") as f:
            blob = bytearray(f.read())
        if what == "cut":
            del blob[-int(words[0]) :]
        else:
            blob[int(words[0])] = int(words[1])
        with open(target, "wb") as f:
            f.write(blob)
        return
    tensors = read(source)
    if what == "differ":
        other = read(target)
        for name in sorted(tensors.keys() | other.keys()):
            if tensors.get(name) != other.get(name):
                print(name)
        return
    if what == "list":
        for name, (kind, shape, data) in sorted(tensors.items()):
            print(name, kind, "x".join(map(str, shape)), repr(unpack(kind, data)[0]))
        return
    edit(tensors, what, words)
    write(target, tensors)


main(*sys.argv[1:])
