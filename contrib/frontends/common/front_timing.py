"""Warm-up and measured steps: serial, each awaited before the next one starts.

A session is what a front end's `open_session` returns. Here it is used by `step()`, which submits a
step and returns its loss (None in inference) still on the device, and by `wait()`, which returns
when the device has done it.
"""

import sys
import time

LOSSES = 3  # the first ones are reported
_STEADY = 0.1  # warm: the last two steps within this share of the fastest


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def say(name, text):
    """A line of progress."""
    print(f"{name}: {text}", file=sys.stderr, flush=True)


class Losses:
    """The first losses, left on the device: reading one is no part of a step."""

    def __init__(self):
        self.handles = []

    def add(self, loss):
        if loss is not None and len(self.handles) < LOSSES:
            self.handles.append(loss)

    def read(self, session):
        return [session.read(loss) for loss in self.handles]


def _steady(walls):
    """Whether the last two of at least three steps are near the fastest."""
    return len(walls) >= 3 and max(walls[-2:]) <= min(walls) * (1 + _STEADY)


def warm_up(name, session, most, losses):
    """Runs steps until they are steady, MOST at most; returns their number."""
    walls = []
    while len(walls) < most and not _steady(walls):
        begin = now_ns()
        loss = session.step()
        session.wait()
        walls.append(now_ns() - begin)
        losses.add(loss)
        say(name, f"warm-up step {len(walls)}: {walls[-1] / 1e6:.3f} ms")
    return len(walls)


def measure(session, least, least_s, losses):
    """Runs at least LEAST steps and for at least LEAST_S seconds. Nothing is printed meanwhile."""
    walls = []
    first = end = now_ns()
    enough = first + int(least_s * 1e9)
    while len(walls) < least or end < enough:
        begin = now_ns()
        loss = session.step()
        session.wait()
        end = now_ns()
        if not walls:
            first = begin
        walls.append(end - begin)
        losses.add(loss)
    return {"first_start_ns": first, "last_end_ns": end, "wall_ns": walls}
