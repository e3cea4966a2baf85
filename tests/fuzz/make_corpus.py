#!/usr/bin/env python3
"""Writes the seeds in tests/fuzz/corpus: for each target a few inputs that are good,
and some that are wrong in a way of their own. What fuzzing found has names that begin
with found-, and is not made here.

    tests/fuzz/make_corpus.py [RECORD.h5 [INDEX]]    a record, for the store's seeds, and an
                                                     index.tsv, for the index's
"""
import hashlib
import json
import os
import struct
import sys

from corpus_put import HERE, put

# ---- options --------------------------------------------------------------------

for i, text in enumerate(["a=1", "threads=-12", "name=text", "on=true", "off=false", "x=1.5e3",
                          "x=99999999999999999999", "x=1e999", "x=", "=1", "none", "a=b=c",
                          "day=2024-01-01", "x=+-.e", "x=nan", "x=0x10"]):
    put("options", f"{i:02}", text)


# ---- entries of executables ---------------------------------------------------------

HEAD = b"bench-executable 2\nplugin a\nsettings b\nprogram c\n"


def entry(payload, head=HEAD):
    return head + b"payload " + hashlib.sha256(payload).hexdigest().encode() + b"\n" + payload


put("cache", "good", entry(b"machine code"))
put("cache", "other-program", entry(b"machine code", HEAD.replace(b"program c", b"program d")))
put("cache", "other-payload", entry(b"machine code")[:-1] + b"E")
put("cache", "empty", entry(b""))
put("cache", "cut", entry(b"machine code")[:80])
put("cache", "version-1", b"bench-executable 1\n" + b"0" * 64 + b"\ncode")

# ---- timelines: patches of a file that fuzz_timeline.c writes -------------------------------

def patches(*changes, cut=b""):
    return b"".join(at.to_bytes(3, "little") + bytes([value]) for at, value in changes) + cut


put("timeline", "whole", b"")
put("timeline", "magic", patches((0, 0)))
put("timeline", "spans", patches((56, 255)))
put("timeline", "title", patches((64, 0x1b), (65, 0xe2), (66, 0x80), (67, 0xae)))
put("timeline", "no-end", patches(*((64 + i, 0x61) for i in range(256))))
put("timeline", "steps", patches((751, 255), (759, 255)))
put("timeline", "cut", b"\x30")
put("timeline", "empty", b"\xff\xff")

# ---- the environment's list of runtimes ------------------------------------------------

put("names", "one", "mine:/a/b.so")
put("names", "several", "x:/1,mine:/2,y:/3")
put("names", "long", "mine:/" + "n" * 200)
put("names", "empty", "mine:,mine:/x")
put("names", "colons", "mine:a:b,:,,mine")
put("names", "hidden", "mine:/\u009b\u202e\u200b\u2066\u00ad\ufeff\U000e0021\n\t\x7f")
put("names", "not-utf8", b"mine:/\xff\xfe\xe2\x80\xae\x1b[31m")

# ---- npy ------------------------------------------------------------------------

def npy(header, data, version=1):
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def header(descr, shape, order="False"):
    return "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" % (descr, order, shape)


put("npy", "f4", npy(header("<f4", "(2, 3)"), struct.pack("<6f", *range(6))))
put("npy", "f8-v2", npy(header("<f8", "(2,)"), struct.pack("<2d", 1, float("nan")), 2))
put("npy", "bool-v3", npy(header("|b1", "()"), b"\1", 3))
put("npy", "empty", npy(header("<i8", "(0, 7)"), b""))
put("npy", "complex", npy(header("<c8", "(1,)"), struct.pack("<2f", 1, 2)))
put("npy", "half", npy(header("<f2", "(4,)"), b"\0\x3c\0\x7c\0\xfc\1\x7e"))
put("npy", "bf16", npy(header("|V2", "(2,)"), b"\x80\x3f\0\0"))
put("npy", "fortran", npy(header("<f4", "(2, 2)", "True"), bytes(16)))
put("npy", "big-endian", npy(header(">f4", "(1,)"), bytes(4)))
put("npy", "quotes", npy('{"shape": (3,), "descr": "|u1", "fortran_order": False}', b"abc"))
put("npy", "huge", npy(header("<f8", "(4611686018427387904, 4)"), b""))
put("npy", "many-dimensions", npy(header("|u1", "(" + "1, " * 40 + ")"), b"a"))
put("npy", "two-shapes", npy("{'shape': (1,), 'shape': (1,), 'descr': '|u1', 'fortran_order': False}",
                             b"a"))
put("npy", "cut", npy(header("<f4", "(2, 3)"), b"")[:40])


# ---- safetensors ---------------------------------------------------------------------

def safetensors(entries, data=b"", text=None):
    text = (json.dumps(entries) if text is None else text).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


put("safetensors", "two", safetensors(
    {"b": tensor("F32", [2, 2], 0, 16), "a": tensor("BF16", [3], 16, 22),
     "__metadata__": {"format": "pt"}}, bytes(range(22))))
put("safetensors", "none", safetensors({}))
put("safetensors", "scalar", safetensors({"s": tensor("I64", [], 0, 8)}, bytes(8)))
put("safetensors", "empty", safetensors({"e": tensor("F32", [0, 5], 0, 0)}))
put("safetensors", "bits", safetensors({"f": tensor("F4", [4], 0, 2)}, bytes(2)))
put("safetensors", "overlap", safetensors(
    {"a": tensor("U8", [4], 0, 4), "b": tensor("U8", [4], 2, 6)}, bytes(6)))
put("safetensors", "hole", safetensors({"a": tensor("U8", [4], 2, 6)}, bytes(6)))
put("safetensors", "outside", safetensors({"a": tensor("U8", [4], 0, 4)}, bytes(2)))
put("safetensors", "huge", safetensors({"a": tensor("F64", [1 << 61, 16], 0, 0)}))
put("safetensors", "names", safetensors({"": tensor("U8", [1], 0, 1), "\x1b\u00f6": tensor("U8", [1], 1, 2)},
                                        bytes(2)))
put("safetensors", "twice", safetensors({}, bytes(1), '{"a": {}, "a": {}}'))
put("safetensors", "metadata", safetensors({"__metadata__": {"a": 1}}))
put("safetensors", "deep", safetensors({}, b"", "{" + '"a":[' * 3000))
put("safetensors", "long-header", struct.pack("<Q", 1 << 40) + b"{}")
put("safetensors", "short", b"\2\0\0")


# ---- xspace ---------------------------------------------------------------------------

def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value & (1 << 64) - 1)


def block(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def event(name, offset, duration, occurrences=0):
    tail = number(5, occurrences) if occurrences else b""
    return block(4, number(1, name) + number(2, offset) + number(3, duration) + tail)


def line(name, start, *events):
    return block(3, block(2, name) + number(3, start) + b"".join(events))


def plane(name, *parts):
    return block(1, block(2, name) + b"".join(parts))


def entry(key, name):
    return block(4, number(1, key) + block(2, number(1, key) + block(2, name)))


put("xspace", "device", plane(b"/device:TPU:0", line(b"XLA Modules", 5000, event(1, 9000, 7000),
                                                     event(2, 1000, 2000), event(9, 3, 4)),
                              line(b"XLA Ops", 5000, event(1, 1, 1)), entry(1, b"step"),
                              entry(2, b"n" * 300)))
put("xspace", "host", plane(b"/host:CPU", line(b"XLA Modules", 1, event(1, 1, 1))))
put("xspace", "two-planes", plane(b"/device:0", line(b"XLA Modules", 1, event(1, 1, 1))) +
    plane(b"/device:1", line(b"XLA Modules", 0, event(1, 1, 1))))
put("xspace", "sums", plane(b"/device:0", line(b"XLA Modules", 1, event(1, 1, 1, 3))))
put("xspace", "extremes", plane(b"/device:0", line(b"XLA Modules", (1 << 63) - 1,
                                                   event(1, (1 << 63) - 1, (1 << 63) - 1)),
                                line(b"XLA Modules", -1, event(-1, -1, -1))))
put("xspace", "no-names", plane(b"/device:0", block(3, b"") + block(4, b"") + block(4, number(1, 1))))
put("xspace", "control", plane(b"/device:0", line(b"XLA Modules", 1, event(1, 1, 1)), entry(1, b"\x1b\n")))


def stat(name, scope=None, ref=None):
    value = number(4, scope) if scope is not None else number(7, ref)
    return number(1, name) + value


def kernel(scope, offset, duration, ref=3):
    stats = block(4, stat(1, ref=ref)) + block(4, stat(2, scope=scope))
    return block(4, number(2, offset) + number(3, duration) + stats)


def words(*names):
    return b"".join(block(5, number(1, i + 1) + block(2, number(1, i + 1) + block(2, n)))
                    for i, n in enumerate(names))


KERNEL_WORDS = words(b"hlo_module", b"scope_range_id", b"jit_step")
put("xspace", "kernels", plane(b"/device:GPU:0", line(
    b"Stream #1(Compute)", 7, kernel(12, 1000, 5000), kernel(13, 4000, 9000), kernel(22, 90000, 1),
    kernel(0, 1, 1), kernel(13, 1, 1, 77)), KERNEL_WORDS) + plane(
        b"/host:__ScopeRangeCallStack__", block(6, stat(12, scope=11)), block(6, stat(13, scope=11)),
        block(6, stat(22, scope=21)), block(6, stat(21, scope=22))))
put("xspace", "kernel-extremes", plane(b"/device:GPU:0", line(
    b"s", (1 << 63) - 1, kernel((1 << 63) - 1, (1 << 63) - 1, (1 << 63) - 1), kernel(-1, -1, -1)),
    KERNEL_WORDS))
put("xspace", "empty", b"")
put("xspace", "cut", plane(b"/device:0", line(b"XLA Modules", 1, event(1, 1, 1)))[:20])
put("xspace", "unknown-fields", number(7, 1) + block(1, number(99, 5)))


# ---- compile options --------------------------------------------------------------------------

def assigned(*devices, computations=1):
    computation = block(3, block(1, b"".join(varint(d) for d in devices)))
    return block(9, number(1, len(devices)) + number(2, computations) + computation * computations)


def flag(name, value):
    return block(7, block(1, name) + block(2, block(1, value)))


for name, data in {
        "one": block(3, number(1, -1) + number(4, 1) + number(5, 1) + assigned(3)),
        "ordinal": block(3, number(1, 3) + number(4, 1) + number(5, 1)) + number(4, 1),
        "replicas": block(3, number(4, 8) + number(5, 1) + assigned(0, 1, 2)),
        "partitions": block(3, number(4, 1) + number(5, 4)),
        "no-device": block(3, number(4, 1) + number(5, 1) + assigned()),
        "computations": block(3, number(4, 1) + number(5, 1) + assigned(0, computations=2)),
        "flags": block(3, number(4, 1) + number(5, 1)) + flag(b"xla_a", b"x") + flag(b"ours", b"False"),
        "twice": block(3, assigned(1)) + block(3, assigned(2)),
        "below-zero": block(3, number(1, -5) + number(4, -3) + number(5, -1)),
        "unknown-fields": number(99, 1) + block(3, block(77, b"xyz")) + block(50, b""),
        "empty": b"", "cut": block(3, assigned(1, 2, 3))[:-4],
}.items():
    put("compile_options", name, data)


# ---- hlo: optimized programs ---------------------------------------------------------------

def step(number_, opcode, *rest, cycles=None, operands=(), called=()):
    """An instruction; REST is further fields."""
    config = b"" if cycles is None else block(
        43, b'{"window_config":{"estimated_cycles":"%d"}}' % cycles)
    return block(2, block(1, b"i%d" % number_) + block(2, opcode) + number(35, number_) +
                 b"".join(number(36, o) for o in operands) +
                 b"".join(number(38, c) for c in called) + b"".join(rest) + config)


def part(id_, root, *steps):
    return block(3, block(1, b"c%d" % id_) + b"".join(steps) + number(5, id_) + number(6, root))


def whole(value):
    return block(8, number(4, value))


BODY = part(2, 24, step(20, b"parameter"), step(21, b"get-tuple-element", operands=(20,)),
            step(22, b"constant", whole(1)), step(23, b"add", operands=(21, 22)),
            step(25, b"fusion", cycles=100), step(24, b"tuple", operands=(23,)))
CONDITION = part(3, 33, step(30, b"parameter"), step(31, b"get-tuple-element", operands=(30,)),
                 step(32, b"constant", whole(8)),
                 step(33, b"compare", block(63, b"LT"), operands=(31, 32)))
LOOP = part(1, 13, step(11, b"constant", whole(0)), step(12, b"tuple", operands=(11,)),
            step(13, b"while", operands=(12,), called=(2, 3)))
ENTRY = number(6, 1)
SHAPE = block(2, number(3, 4) + number(3, 5) + block(5, number(1, 0) + number(1, 1) +
                                                     block(6, number(1, 8) + number(1, 128))))
put("hlo", "loop", BODY + CONDITION + LOOP + ENTRY)
put("hlo", "loop-forever", BODY + CONDITION.replace(b"LT", b"GT") + LOOP + ENTRY)
put("hlo", "with-config", block(1, BODY + CONDITION + LOOP + ENTRY) + block(2, b"x"))
put("hlo", "copies", part(1, 11, step(10, b"parameter"), step(11, b"copy", block(3, SHAPE[2:]),
                                                             cycles=5, operands=(10,))) + ENTRY)
put("hlo", "layout", part(1, 10, step(10, b"parameter")) + block(4, SHAPE) + ENTRY)
put("hlo", "circle", part(1, 10, step(10, b"call", called=(2,))) +
    part(2, 20, step(20, b"call", called=(1,))) + ENTRY)
put("hlo", "self", part(1, 10, step(10, b"add", operands=(10, 10))) + ENTRY)
put("hlo", "conditional", part(1, 10, step(10, b"conditional", called=(2, 3))) + ENTRY +
    part(2, 20, step(20, b"fusion", cycles=1)) + part(3, 30, step(30, b"all-reduce")))
put("hlo", "huge", part(1, 10, step(10, b"fusion", cycles=9223372036854775807)) + ENTRY)
put("hlo", "empty", b"")
put("hlo", "cut", (BODY + CONDITION + LOOP + ENTRY)[:70])


# ---- signature ---------------------------------------------------------------------------

def program(arguments, before="", name="@main"):
    return f"{before}module @m {{\n  func.func public {name}({arguments}) -> tensor<f32> {{\n  }}\n}}\n"


for name, text in {
        "types": program("%arg0: tensor<2x3xf32>, %arg1: tensor<i1>, %arg2: tensor<4xcomplex<f64>>, "
                         "%arg3: tensor<1x2x3x4xbf16>"),
        "none": program(""),
        "donated": program("%a: tensor<2xf32> {tf.aliasing_output = 0 : i32}, "
                           "%b: tensor<f32> {jax.buffer_donor = true}"),
        "attributes": program('%a: tensor<f32> {mhlo.sharding = "{a\\"}", x = {y = [1, 2], '
                              'z = (f32) -> f32}, w = #t<"q">} loc("f.py":1:2)'),
        "alias": program("%a: !t, %b: !t", "!t = tensor<3xf32>\n"),
        "no-alias": program("%a: !t", "!u = tensor<3xf32>\n"),
        "comment": program("%a: // what\n tensor<2xf32>", "// func.func @main(\n"),
        "quoted": program("%a: tensor<f32>", name='@"main"'),
        "other": program("%a: tensor<f32>", name="@other") + program("%a: tensor<f16>"),
        "dynamic": program("%a: tensor<?x2xf32>"),
        "encoding": program("%a: tensor<2xf32, #e>"),
        "tuple": program("%a: tuple<tensor<f32>>"),
        "token": program("%a: !stablehlo.token"),
        "element": program("%a: tensor<2xf8E4M3FN>"),
        "huge": program("%a: tensor<999999999999999999999xf32>"),
        "large": program("%a: tensor<4294967296x4294967296x8xf64>"),
        "many-dimensions": program("%a: tensor<" + "1x" * 40 + "f32>"),
        "result": program("%a: tensor<f32> {tf.aliasing_output = 99999999999 : i32}"),
        "open-string": program('%a: tensor<f32> {x = "'),
        "open-brackets": program("%a: tensor<f32> {x = " + "[" * 200),
        "zero-byte": program("%a: tensor<f32> {x = \0}"),
        "control": program("%a: tensor<2x\x1b[2J\n>"),
        "cut": "func.func @main(%arg0",
}.items():
    put("signature", name, text)


# ---- JSON ------------------------------------------------------------------------------------

def small_golden(**changes):
    with open(os.path.join(HERE, "../golden/resnet18.small.json")) as f:
        golden = json.load(f)
    for path, value in changes.items():
        at, *rest = path.split("__")
        inner = golden
        while rest:
            inner, at = inner[at], rest.pop(0)
        inner[at] = value
    return json.dumps(golden)


WHAT = {"model": "resnet18", "variant": "small", "phase": "train", "mode": "lazy", "graphs": 1,
        "batch": 1, "image": 64, "seq": 0, "optimizer": "default", "dropout": "default",
        "input": "synthetic", "lengths": "fixed", "buckets": 0, "dtype": "f32", "layout": "nhwc",
        "runtime": "cpu", "in_flight": 1, "seed": 1}
REQUEST = {"what": WHAT, "label": "", "pin": "none", "cache_dir": "", "store": "s",
           "runtime_option": ["a=1"], "xla_flag": [], "steps": 3, "warmup": 8, "min_time": 0.5,
           "timeout": 10.0, "echo": {}}

put("json", "golden", small_golden())
put("json", "golden-bert", open(os.path.join(HERE, "../golden/bert.small_pad.json")).read())
put("json", "golden-model", small_golden(model="nobody"))
put("json", "golden-variant", small_golden(variant="medium"))
put("json", "golden-shape", small_golden(f64__eval__logits__shape=[1 << 62, 1 << 62, 4]))
put("json", "golden-batch", small_golden(dims__batch=1 << 40))
put("json", "experiment", json.dumps(WHAT))
put("json", "seed", json.dumps({**WHAT, "seed": "18446744073709551615"}))
put("json", "seed-text", json.dumps({**WHAT, "seed": "-1 bottle"}))
put("json", "request", json.dumps(REQUEST))
put("json", "request-lists", json.dumps({**REQUEST, "xla_flag": ["a"] * 50, "runtime_option": [1, "b"],
                                        "weights": None, "program": {}}))
put("json", "long-name", json.dumps({**WHAT, "model": "m" * 64}))
put("json", "deep", "[" * 3000)

SUITE = {"bench_suite": 1, "name": "s", "order_seed": 3, "comment": "c",
         "defaults": {"steps": 3, "modes": ["lazy", "capture"], "variants": "small"},
         "matrix": [{"models": ["resnet18", "bert"], "batches": [1, 8], "repetitions": 2,
                     "runtimes": ["cpu", {"name": "a/b.so", "label": "l", "options": {"a": 1.5},
                                          "xla_flags": {"b": True}}],
                     "exclude": [{"models": "bert", "batches": 8}],
                     "include": [{"modes": "capture", "phases": "train", "graphs": [3, 5]}]},
                    {"recording": "train", "modes": "replay", "step": "0123456789ab",
                     "include": [{"cost": "roofline"}]}]}
put("json", "suite", json.dumps(SUITE, indent=1))
put("json", "suite-model", json.dumps({**SUITE, "matrix": [{"models": "r\u00f6snet\n\"", "x/~": 1}]}))
put("json", "suite-fits", json.dumps({**SUITE, "matrix": [{"recording": "r", "batches": 1}]}))
put("json", "suite-nothing", json.dumps({**SUITE, "matrix": []}))

ITEM = {"name": "layer1.0.conv2/x", "what": "copy", "scope": "s", "cycles": 5.0, "times": 8,
        "why": "w"}
ESTIMATE = {"class": "ok", "message": "", "cycles": 1e6, "copy_cycles": 10, "layout_cycles": 5,
            "flops": 1e9, "serialized_bytes": None, "compile_cpu_s": 1.5,
            "memory": {"argument": 1, "temp": None, "peak": 7000},
            "topology": {"memory_bytes": 1 << 30},
            "plugin": {"sha256": "0123456789abcdef" * 4, "api": "0.81"},
            "layouts": [None, "{0,1}"], "branches": [ITEM], "loops": [ITEM, {**ITEM, "times": -1}],
            "copies": [ITEM] * 4, "collectives": [{**ITEM, "cycles": None}], "silent": [ITEM] * 9,
            "scopes": [ITEM, {**ITEM, "name": "update/a.b.c"}], "costly": [ITEM]}
put("json", "estimate", json.dumps(ESTIMATE))
put("json", "estimate-kinds", json.dumps({**ESTIMATE, "copies": [1, None, "x", {}], "scopes": [[]],
                                          "loops": [{"name": 3}], "cycles": 1e308, "memory": []}))
put("json", "estimate-memory", json.dumps({"class": "out-of-device-memory", "message": "m",
                                           "used_bytes": 1e300, "limit_bytes": -1}))
put("json", "control", '{"\\u001b[2J": 1, "model": "\x1b')
put("json", "list", "[1]")

# Edits as fuzz_json.c reads them: which value of the JSON after them, what comes in its place.
for i, (edits, text) in enumerate([
        (b"\1\0\0\1", small_golden()), (b"\1\4\0\5", small_golden()),
        (b"\2\5\0\5\6\0\1", small_golden()), (b"\1\x1a\0\5", small_golden()),
        (b"\1\5\0\0", json.dumps(REQUEST)),
        (b"\1\6\0\5", open(os.path.join(HERE, "../golden/bert.small_pad.json")).read()),
        (b"\2\x0b\0\5\x14\0\2", json.dumps(SUITE)),
        (b"\2\3\0\3\7\0\6", json.dumps(ESTIMATE))]):
    put("json", f"edit-{i}", b"@" + edits + text.encode())


# ---- noise --------------------------------------------------------------------------------------

# How the worker ended, how often it said the rest (from 250 on: until the ring is full).
for name, text in {
        "silent": b"\0\0", "error": b"\1\0starting\nE0101 Check failed: x\n*** SIGABRT\n@ 0x1 f\n",
        "blank": b"\2\0 \t\r\n\n  \n", "timeout": b"\x90\0working", "cancelled": b"\x08\0",
        "zeros": b"\1\0a\0\0error\0b\n", "long": b"\1\0error " + "\u00e4".encode() * 400,
        "cut": b"\1\0" + b"x" * 62 + "\u20ac\u20ac".encode(), "latin": b"\1\0fatal \xe4\xf6\n",
        "colour": b"\1\0\x1b[31merror\x1b[0m\x7f\n", "memory": b"\x41\0killed",
        "full": b"\1\xffline of text\n", "full-one-line": b"\1\xffno end ",
}.items():
    put("noise", name, text)


# ---- store -------------------------------------------------------------------------------------

# Edits as fuzz_store.c reads them: what, place, then what that needs.
for i, edits in enumerate([b"\0\0\1", b"\0\2\0", b"\1\0\0\0\1\1", b"\1\17\3\1\0\0\7", b"\2\0", b"\2\5",
                           b"\3\10\0\15\2\3", b"\3\10\0\15\2\377\1", b"\3\11\0\15\5\3\12",
                           b"\3\12\0\0\0\0\2{}", b"\3\12\0\0\0\0\5[1,2]", b"\4\2\1", b"\4\2\2",
                           b"\5\4\1", b"\1\3\0\0\15\0\377\377\377\377", b"\1\4\7\0\4\3",
                           b"\3\14\0\15\2\5\1", b"\3\10\0\3\2\3\0", b"\0\6\0\0\7\0", b"\1\11\0\0\0\2\12",
                           b"\1\11\0\0\0\2\27\4wait", b"\3\11\0\15\5\3\27", b"\3\11\0\15\5\3\2\0\0",
                           # In other files, in pieces, behind links out of the file.
                           b"\3\10\0\15\2\3\4", b"\3\10\0\15\2\3\6", b"\3\10\0\15\2\3\3",
                           b"\3\12\0\0\0\4", b"\5\10\0", b"\5\3\0", b"\5\12\1"]):
    put("store", f"edit-{i:02}", edits)
if len(sys.argv) > 1:
    with open(sys.argv[1], "rb") as f:
        record = f.read()
    put("store", "record", record)
    put("store", "cut", record[:900])
    put("store", "seal-only", record[:512])
    put("store", "seal-cut", record[:60])
    put("store", "version", record[:13] + b"2" + record[14:600])
    put("store", "size", record[:87] + b"9" * 30 + record[117:600])
    flipped = bytearray(record[:])
    flipped[700] ^= 1
    put("store", "flipped", bytes(flipped))
    # fuzz_foreign.c makes the seal anew.
    put("foreign", "record", record)
    put("foreign", "flipped", bytes(flipped))
    for i, at in enumerate((520, 560, 800, 1200, 2000)):
        harmed = bytearray(record)
        harmed[at:at + 4] = b"\xff\xff\xff\xff"
        put("foreign", f"harmed-{i}", bytes(harmed))
    put("foreign", "cut", record[:1500])


# ---- index -------------------------------------------------------------------------------------

# Lines of damaged files: a whole one, one that goes on behind its end, an empty one.
DAMAGED = b"""bad.h5\t700\t1795326006715003272\t!\tstore/bad.h5: cut off: 188 of 27176 bytes
a\t\t1
\t2\t!\t
b\t1\t2\t!\t
"""

# fuzz_listing.c has files of these names, sizes and times; what begins with "bench-index" is a whole
# index, all else the lines of one.
put("listing", "damaged", b"a.h5\t10\t1000000000\t!\tgone\nb.h5\t20\t2000000000\t!\talso gone\n")
put("listing", "order", b"b.h5\t20\t2000000000\t!\tx\na.h5\t10\t1000000000\t!\ty\n")
put("listing", "names", b"\n\t\na.h5\na.h5\t10\na.h5x\t10\t1000000000\t!\t\n\xff\t1\t2\t!\tz\n")
put("listing", "whole", b"bench-index 2 records 5 sha256 " + b"0" * 64 + b" 12\nfile\tsize\n\n\n")
put("listing", "first-line", b"bench-index 2 records 5 sha256 ")

if len(sys.argv) > 2:
    with open(sys.argv[2], "rb") as f:
        lines = f.read().splitlines(keepends=True)[:4]
    put("listing", "record", b"a.h5\t10\t1000000000\t" + lines[2].split(b"\t", 3)[3])
    put("index", "damaged", DAMAGED)
    put("index", "lines", b"".join(lines))
    put("index", "cut", lines[2][:120])
    put("index", "path", lines[2].replace(lines[2].split(b"\t")[3], b"../../etc/passwd"))
    def changed(column, text):
        cells = lines[2].split(b"\t")
        cells[column] = text
        return b"\t".join(cells)

    put("index", "escapes", changed(16, b"\\x\\t\\\\"))
    put("index", "numbers", changed(1, b"-1"))
    put("index", "device", changed(9, b"1e999"))
    for i, wall in enumerate((b"-5", b"0", b"1e308", b"nan")):
        put("index", f"wall-{i}", changed(7, wall))
    put("index", "sha256", changed(12, b"../../zz"))
    put("index", "label", changed(13, b"a\x1b[31m\xc2\x9b\xe2\x80\xae\xff\\n"))
    put("index", "host", changed(15, b"h\xe2\x80\x8b\xe2\x81\xa6"))

import make_corpus_recordings  # noqa: E402,F401  the rest of the seeds
