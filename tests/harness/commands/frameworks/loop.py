"""What the training scripts share: their options, planted work, and their own clock."""
import argparse
import hashlib
import json
import time


def options(ways, most_devices=1, sent=("plain",)):
    """The options of a script that has these WAYS, MOST_DEVICES at most, and sends batches as SENT says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", choices=ways, default=ways[0])
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--layers", type=int, default=8)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--rows", type=int, default=0, help="of a batch; 0: as many as SIZE")
    parser.add_argument("--host-ms", type=float, default=0, help="busy time before each step")
    parser.add_argument("--sleep-ms", type=float, default=0)
    parser.add_argument("--read-every", type=int, default=1, help="steps from loss to loss")
    parser.add_argument("--lengths", type=int, default=1, help="numbers of rows that steps take in turns")
    parser.add_argument("--kept", type=int, default=0, help="1: nothing is donated")
    parser.add_argument("--devices", type=int, default=1, choices=range(1, most_devices + 1),
                        help="a batch is split between so many")
    parser.add_argument("--sent", choices=sent, default="plain",
                        help="plain: a batch each step; turned: the same, but columns lie together, and the "
                             "runtime puts them in order while it sends; pieces: the same in many tensors, "
                             "which a CPU's runtime copies while it sends; early: all before the first step")
    parser.add_argument("--say", help="file that appears once the tenth step is done")
    o = parser.parse_args()
    o.rows = o.rows or o.size
    return o


def rows_of(o, number):
    """How many rows of its batch step NUMBER takes: all, or less in turns."""
    return o.rows - number % o.lengths


def plant(o):
    """Host work is CPU time, so that others on the machine do not shorten it. Returns how long it slept."""
    end = time.thread_time() + o.host_ms / 1e3
    while o.host_ms > 0 and time.thread_time() < end:
        pass
    begin = time.perf_counter_ns()
    if o.sleep_ms > 0:
        time.sleep(o.sleep_ms / 1e3)
    return time.perf_counter_ns() - begin


def run(o, step, read, arrays):
    """Runs STEP(number), READs the loss that it returns now and then. Prints when each step ended, for how
    long of it this thread was on a CPU and slept, and a digest of all losses that were read and of
    ARRAYS() at the end."""
    digest, ends, on_cpu, slept = hashlib.sha256(), [time.perf_counter_ns()], [time.thread_time_ns()], []
    for number in range(o.steps):
        slept.append(plant(o))
        loss = step(number)
        if (number + 1) % o.read_every == 0:
            digest.update(read(loss))
        ends.append(time.perf_counter_ns())
        on_cpu.append(time.thread_time_ns())
        if o.say and number == 10:
            open(o.say, "w").close()
    for array in arrays():
        digest.update(array)
    print(json.dumps({"steps": o.steps, "read_every": o.read_every, "digest": digest.hexdigest(),
                      "ends_ns": [end - ends[0] for end in ends],
                      "cpu_ns": [b - a for a, b in zip(on_cpu, on_cpu[1:])], "slept_ns": slept}))
