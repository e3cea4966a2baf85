"""The seeds of what is read of recordings, front ends, records as plain bytes and metrics reports;
make_corpus.py imports it."""
import json
import struct

from corpus_put import put

# ---- recordings --------------------------------------------------------------------------------

# Slots as runtime/record/format.h says: a head, and what does not fit in slots that follow.
TEXT, PLUGIN, DEVICE, COMPILE, EXECUTABLE, EXECUTE, COMPLETE, BUFFER, END, TO_HOST, WAIT = range(2, 13)
HEAD_SLOT = struct.pack("<8sIIIIQQQIIQ", b"bnchrec\0", 1, 64, 100, 1, 1000, 10**18, 0, 0, 100, 0)


def event(kind, time=0, fields=(), words=b"", flags=0, thread=100):
    pieces = [words[i:i + 56] for i in range(0, len(words), 56)]
    fields = [x % 2**64 for x in fields] + [0] * (6 - len(fields))
    slots = struct.pack("<BBHIQ6Q", kind, flags, len(pieces), thread, time, *fields)
    for i, piece in enumerate(pieces):
        slots += struct.pack("<BBHI56s", 1, 0, i + 1, len(piece), piece)
    return slots


def integers(*values):
    return b"".join(struct.pack("<Q", x % 2**64) for x in values)


# XXH3 of no bytes: the targets keep an empty file for code and options of that hash.
KEPT = (0x99aa06d3014798d8, 0x6001c324468d497f)


def compiled(handle, number, name, results=1, code=None, options=(2, 7)):
    types = integers(*[11, 2, 2, 3] * results)
    return (event(COMPILE, 2000, [3000, 1, 2, handle, 0, 0],
                  integers(*(code or (1, number)), *options, 99, 16) + b"mlir") +
            event(EXECUTABLE, 3000, [handle, results, 0, 0, 0, 0],
                  integers(1, 4096) + types + integers(len(name)) + name))


def executed(number, time, handle, arguments, made, thread=100):
    count = len(arguments) + (len(made) << 32)
    return (event(EXECUTE, time, [time + 50, 10 * number, 10 * number + 5, handle, number, count],
                  integers(1, 0, 0, 0 if thread == 100 else 7 * number, *arguments, *made),
                  thread=thread) +
            event(COMPLETE, time + 300, [number, 0]))


def looped(steps, thread=100, code=None, options=(2, 7)):
    tape = HEAD_SLOT + event(PLUGIN, 0, [0, 0, 81, 984], b"/p/cpu.so")
    tape += event(TEXT, 0, [0, 0], b"python") + event(TEXT, 0, [4, 0], b"jax 0.10.2")
    tape += event(DEVICE, 0, [4096, 0, 0, 16, 0], b"CpuDevice(id=0)")
    tape += compiled(0x900, 3, b"jit_step", 2, code, options)
    for i in range(steps):
        time = 10000 + 1000 * i
        tape += event(BUFFER, time - 90, [time - 80, 1, 2, 0x5000, 11 << 32, 4096],
                      integers(24, 0, 0, 2, 3))
        tape += executed(i + 1, time, 0x900, [0x1000 + 64 * (i % 2), 0x5000],
                         [0x1040 - 64 * (i % 2), 0x6000], thread)
        tape += event(END, time + 60, [0x1000 + 64 * (i % 2)], flags=2)
        tape += event(END, time + 61, [0x5000]) + event(TO_HOST, time + 70, [time + 80, 0, 0, 0x6000])
        tape += event(WAIT, time + 90, [time + 310, 0, 0]) + event(END, time + 320, [0x6000])
    return tape


HEAD_2 = HEAD_SLOT[:8] + b"\2" + HEAD_SLOT[9:]


# Version 2: every third execution was asked what it took, others are believed; ends in a row.
def believed(steps, code=None, options=(2, 7)):
    tape = HEAD_2 + compiled(0x900, 3, b"jit_step", 2, code, options)
    for i in range(steps):
        time, asked, kept = 10000 + 1000 * i, i % 3 == 0, [1] * (i % 2)
        handles = [0x1000 + 64 * (i % 2), 0x5000, 0x1040 - 64 * (i % 2), 0x6000]
        tape += event(EXECUTE, time, [time + 50, 0, 0, 0x900, i + 1, 2 + (2 << 32)],
                      integers(1 + (len(kept) << 32), 0, 0, 0, *kept, *handles, *[1] * asked),
                      flags=0x20 + 0x10 * asked)
        row = [0x5000, 0x6000] + [0x7000 + 64 * k for k in range(8)] + [0] * 3
        tape += event(END, time + 60, [handles[0]], flags=2 if i % 4 == 3 else 8)
        tape += event(END, time + 61, row[:6], integers(*row[6:]), flags=8)
    return tape


def sent(handle, time, kind=0, of=0, number=0, type_=11, dims=(2, 3), device=4096):
    return event(BUFFER, time, [time + 10, 1, 2, handle, kind | type_ << 32, device],
                 integers(24, of, number, *dims))


def devices(count):
    return b"".join(event(DEVICE, 0, [4096 + 64 * d, d, 0, 16, 1 << 30], b"CpuDevice(id=%d)" % d)
                    for d in range(count))


# An execution on COUNT devices that ended with its call; the second input is kept.
def spread(number, time, handle, arguments, made, count=2, asked=None):
    words = [count | 1 << 32, 0, 0, 0, 1] + [x + (d << 32) for d in range(count)
                                              for x in arguments + made]
    return event(EXECUTE, time, [time + 50, 0, 0, handle, number,
                                 len(arguments) + (len(made) << 32)],
                 integers(*words, *([] if asked is None else [asked])),
                 flags=0x20 + (0x10 if asked is not None else 0))


# Whatever else version 2 has: several devices, copies and views, ends of all kinds, failures.
def everything(steps):
    tape = HEAD_2 + event(PLUGIN, 0, [0, 0, 81, 984], b"/p/cpu.so") + devices(2)
    tape += compiled(0x900, 3, b"jit_step", 2)
    tape += event(COMPILE, 3100, [3200, 0, 0, 0xA00, 1, 0],
                  integers(1, 9, 0, 0, 50, 16) + b"executable")
    tape += event(COMPILE, 3300, [3400, 0, 0, 0, 0, 0], integers(0, 0, 0, 0, 50, 16) + b"hlo", 1)
    tape += event(TEXT, 0, [5, 0], b"no such op")
    for i in range(steps):
        time, two = 10000 + 1000 * i, 0x2000 + 64 * (i % 2)
        tape += sent(0x5000, time - 90) + b"".join(
            sent(0x5040 + 64 * k, time - 70 + 10 * k, k, 0x5000, i if k == 1 else 0)
            for k in range(1, 5))
        tape += spread(2 * i + 1, time, 0x900, [0x1000 + 64 * (i % 2), 0x5000],
                       [0x1040 - 64 * (i % 2), two], 2, 5 if i % 3 == 0 else None)
        tape += event(EXECUTE, time + 100, [time + 120, 0, 0, 0xA00, 2 * i + 2, 1],
                      integers(1, 4160, i, 0, 0x5000), flags=1)
        tape += event(END, time + 200, [0x5000], flags=4) + event(END, time + 201, [0x5000], flags=2)
        tape += event(END, time + 202, [0x5080, 0x50c0, 0x5100, 0x5140, 0x7777, two],
                      integers(two + (1 << 32), 0, 0x9999), flags=8)
        tape += event(TO_HOST, time + 300, [time + 320, 0, 0, two, 24, 1000 + i])
        tape += event(COMPLETE, time + 330, [1000 + i, 0])
        tape += event(WAIT, time + 340, [time + 350, 0, 0], flags=1)
    return tape + event(13, 99000, [0xA00]) + event(13, 99001, [0xA00])


# A loop of two programs, as make_recording writes one: w and x give a gradient, w and that the next w.
def trained(steps, order=(0, 1), arguments=(2, 2)):
    tape = HEAD_2 + event(PLUGIN, 0, [0, 0, 81, 984], b"/p/cpu.so") + devices(1)
    tape += compiled(0x900, 3, b"jit_grad", 1, KEPT, KEPT) + compiled(0xA00, 4, b"1 up!", 1, KEPT, (0, 0))
    tape += sent(0x1000, 5000) + sent(0x5000, 5100)
    for i in range(steps):
        time, w, new = 10000 + 1000 * i, 0x1000 + 64 * (i % 2), 0x1040 - 64 * (i % 2)
        runs = [executed(2 * i + 1, time, 0x900, [w, 0x5000][:arguments[0]], [0x6000]),
                executed(2 * i + 2, time + 400, 0xA00, [w, 0x6000][:arguments[1]], [new])]
        tape += b"".join(runs[k] for k in order)
        tape += event(END, time + 600, [w], flags=2) + event(END, time + 700, [0x6000])
    return tape


# In order of the slots, one run makes what the other takes; in order of time it comes too late.
def late(steps):
    tape = HEAD_2 + devices(1) + compiled(0x900, 3, b"early", 1, KEPT, KEPT)
    tape += compiled(0xA00, 4, b"late", 1, KEPT, (0, 0)) + sent(0x1000, 5000)
    for i in range(steps):
        time, made = 10000 + 1000 * i, 0x6000 + 64 * i
        tape += executed(2 * i + 2, time + 400, 0xA00, [0x1000], [made])
        tape += executed(2 * i + 1, time, 0x900, [0x1000, made], [0x20000 + 64 * i])
    return tape


# Two runs of one program that take other numbers of values.
def unlike(steps):
    tape = HEAD_2 + devices(1) + compiled(0x900, 3, b"a", 1, KEPT, KEPT)
    tape += compiled(0xA00, 4, b"b", 1, KEPT, (0, 0)) + sent(0x1000, 5000)
    for i in range(steps):
        time = 10000 + 1000 * i
        tape += executed(3 * i + 1, time, 0x900, [0x1000, 0x1000], [0x6000 + 64 * i])
        tape += executed(3 * i + 2, time + 100, 0x900, [0x1000], [0x20000 + 64 * i])
        tape += executed(3 * i + 3, time + 200, 0xA00, [0x1000], [0x30000 + 64 * i])
    return tape


# Files of bench record next to the events.
ABOUT = json.dumps({
    "runtime": {"name": "cpu", "path": "/p/cpu.so", "sha256": "0123456789abcdef" * 4},
    "plugins": {"/p/cpu.so": "fedcba9876543210" * 4}, "environment": {"PJRT_SIM": "a=1\n"},
    "host": {"hostname": "h\u202e", "cpu": 1, "cores": []}}).encode() + b"\0"

put("recording", "empty", b"")
put("recording", "everything", everything(8))
put("recording", "about", ABOUT + looped(8))
put("recording", "about-not-json", b"{\"runtime\": [\0" + HEAD_SLOT)
put("recording", "kept", believed(6, KEPT, KEPT))
for name, tape in {
        "loop": looped(10, 100, KEPT, KEPT), "believed": believed(9, KEPT, (0, 0)),
        "trained": trained(8), "late": late(8), "unlike": unlike(8), "everything": everything(8),
        "no-arguments": trained(8, (0, 1), (0, 1)), "not-kept": looped(8),
        "other-type": trained(8).replace(integers(11 << 32), integers(21 << 32)),
        "cut": trained(8)[:-200]}.items():
    put("step", name, tape)
put("recording", "head", HEAD_SLOT)
put("recording", "loop", looped(12))
put("recording", "pool", looped(10, 101))
put("recording", "believed", believed(9))
put("recording", "cut", looped(6)[:-37])
whole = looped(6)
put("recording", "unfinished", whole[:640] + bytes(64) + whole[704:1280] + bytes(8) + whole[1288:])
put("recording", "later-version", HEAD_SLOT[:8] + b"\3" + HEAD_SLOT[9:])
put("recording", "counts", HEAD_SLOT + compiled(0x900, 3, b"x") + b"".join(
    event(EXECUTE, 5000, [5001, 0, 0, 0x900, 1, operands], integers(devices, 0, 0, 0))
    for devices, operands in ((2**32 - 1, 0), (2**31, 2**33 - 1), (2**48, 0), (8, 0))))
put("recording", "two-programs", HEAD_SLOT + compiled(0x900, 3, b"a") + compiled(0xA00, 4, b"b") +
    b"".join(executed(2 * i + k + 1, 10000 + 900 * i + 100 * k, 0x900 + 0x100 * k, [0x1000], [0x1000])
             for i in range(8) for k in range(2)))


# ---- reports of front ends -------------------------------------------------------------

def report(kind, **changes):
    whole = {"front_end": "jax", "framework": "JAX", "versions": {"jax": "0.1"}, "python": "3.11",
             "script_sha256": "0123456789abcdef" * 4, "flags": {}, "model": "resnet18",
             "phase": "train", "mode": "capture", "what": "one jit", "losses": [2.5, 2.4],
             "warmup_steps": 3, "nodes_per_step": None, "trace_ns_per_step": 12.5,
             "measured": {"first_start_ns": 1000, "last_end_ns": 2000, "wall_ns": [300, 310]}}
    return bytes([kind]) + json.dumps({**whole, **changes}).encode()


put("front_end", "times", report(0))
put("front_end", "values", report(1, measured=None))
put("front_end", "inference", report(2, phase="infer", losses=[]))
put("front_end", "dropout", report(4, dropout=True))
put("front_end", "error", report(0, error={"class": "not_installed", "message": "no jax\n\x1b[2J"}))
put("front_end", "huge", report(0, measured={"first_start_ns": 0, "last_end_ns": 1 << 60,
                                             "wall_ns": [(1 << 63) - 1, 1]}))


# ---- a record's plain bytes ------------------------------------------------------------

# Changes as fuzz_wire.c reads them: place (two bytes), how, value.
for name, changes in {
        "good": b"", "cut": b"\x10\1\2\0", "end": b"\xff\xff\2\0", "id": b"\0\0\0/",
        "texts": b"".join(bytes([i * 40 & 255, i * 40 >> 8, 0, 0x1b]) for i in range(16)),
        "ones": b"".join(bytes([i * 60 & 255, i * 60 >> 8, 1, 1]) for i in range(16)),
        "zeros": b"".join(bytes([i * 60 & 255, i * 60 >> 8, 1, 0]) for i in range(16)),
        "more": b"".join(bytes([i * 90 & 255, i * 90 >> 8, 3, 1]) for i in range(16)),
        "elsewhere": b"".join(bytes([i * 70 & 255, i * 70 >> 8, 4, 3 * i]) for i in range(16)),
}.items():
    put("wire", name, changes)
# ---- metrics reports -------------------------------------------------------------------

put("metrics", "ours", """# report: resnet18.small infer lazy on sim
# processes: 1; measured steps: 3
Metric: CompileTime
  TotalSamples: 1
  Accumulator: 045ms729.020us
  Percentiles: 1%=045ms729.020us; 99%=045ms729.020us
Metric: StepTime
  TotalSamples: 3
  Accumulator: 003ms000.000us
  ValueRate: 01s000ms000.000us / second
  Rate: 1000 / second
  Percentiles: 50%=001ms000.000us
Counter: MarkStep
  Value: 12
""")
put("metrics", "others", "loss 0.5\r\nMetric: InboundData\r\n  TotalSamples: 7\r\n  Accumulator: 1.50KB\r\n"
    "  Percentiles: 5%=2B; oops\r\nCounter: aten::nonzero\r\n  Value: 99999999999999999999\r\n"
    "# report: a\nCounter: x")
put("metrics", "json", '{"kind": "metrics", "reports": [{"title": "a", "metrics": {"m": {"unit": "ns", '
    '"samples": 2, "sum": 3.5, "sum_per_second": 1e300, "percentiles": {"50": -1, "99": "x"}}}, '
    '"counters": {"c": {"value": -3}, "d": 4}}, 7, {"metrics": []}]}')
put("metrics", "odd", "Metric: m\n  Accumulator: 1d2h3m4s5ms6us7ns\n  ValueRate: 0x1p3KB\n  Rate: 1e400\n"
    "  Percentiles: 1%=5s3; ")
