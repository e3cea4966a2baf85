"""What the recorder costs a step of JAX: the same jitted steps on two platforms of one process, PLAIN
and RECORDED, in blocks whose order is drawn anew for each pair.

  cost_jax.py PLAIN RECORDED SEED

Prints, for each kind of step, medians over the pairs: of a step on each platform, of their difference,
and of their ratio; and how much the least wall and CPU time of a block differ, which others disturb less. The two platforms' clients are of the same plugin."""
import gc
import json
import random
import statistics
import sys
import time

import jax
import jax.numpy as jnp

# Name: arguments, whether they are donated, steps of a block, pairs of blocks. A block takes a
# millisecond or more, so that the clock and the wait at its end do not show; the shorter it is, the less
# others disturb a pair.
KINDS = {"kept-1": (1, False, 400, 300), "donated-1": (1, True, 400, 300),
         "kept-20": (20, False, 60, 300), "donated-20": (20, True, 60, 300),
         "kept-300": (300, False, 8, 200), "donated-300": (300, True, 8, 200)}
WARM_UP_BLOCKS = 20


def step_of(donated):
    return jax.jit(lambda state: [x + 1 for x in state], donate_argnums=0 if donated else ())


class Side:
    """The steps on one platform; each takes the results of the one before."""

    def __init__(self, platform, arguments, donated):
        device = jax.devices(platform)[0]
        self.step = step_of(donated)
        self.state = [jax.device_put(jnp.full(4, i, jnp.float32), device) for i in range(arguments)]

    def block(self, steps):
        """Nanoseconds of a step, the device's work included, and of the thread's CPU."""
        step, state = self.step, self.state
        begin, cpu = time.perf_counter_ns(), time.thread_time_ns()
        for _ in range(steps):
            state = step(state)
        jax.block_until_ready(state)
        end, cpu_end = time.perf_counter_ns(), time.thread_time_ns()
        self.state = state
        return (end - begin) / steps, (cpu_end - cpu) / steps


def measure(platforms, arguments, donated, steps, pairs, chance):
    sides = [Side(platform, arguments, donated) for platform in platforms]
    times, cpu = ([], []), ([], [])
    for number in range(WARM_UP_BLOCKS + pairs):
        for which in chance.sample((0, 1), 2):
            ns, cpu_ns = sides[which].block(steps)
            if number >= WARM_UP_BLOCKS:
                times[which].append(ns)
                cpu[which].append(cpu_ns)
        gc.collect(0)
    plain, recorded = times
    return {"arguments": arguments, "plain_ns": statistics.median(plain),
            "recorded_ns": statistics.median(recorded),
            "least_ns": min(recorded) - min(plain), "least_cpu_ns": min(cpu[1]) - min(cpu[0]),
            "difference_ns": statistics.median(b - a for a, b in zip(plain, recorded)),
            "ratio": statistics.median(b / a for a, b in zip(plain, recorded))}


def main():
    platforms, chance = sys.argv[1:3], random.Random(int(sys.argv[3]))
    gc.disable()
    print(json.dumps({kind: measure(platforms, *how, chance) for kind, how in KINDS.items()}))


main()
