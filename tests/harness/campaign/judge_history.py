#!/usr/bin/env python3
"""Holds what `bench history --format json` found against what make_history planted.

  judge_history.py HISTORY.json TRUTH.tsv

Prints one line a fault, and on standard error the counts. A change counts as found
within two nights. The series that have none may have false ones in as many as the level,
5 %, makes likely (mean and three standard deviations); so may intervals miss the ratio,
7 % of them.
"""
import calendar
import json
import math
import sys
import time

START = 1640995200  # night 0, its date
LEVEL = 0.05


def night_of(text):
    seconds = calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
    return (seconds - START) // 86400


def main():
    with open(sys.argv[1]) as f:
        history = json.load(f)
    truth = {}
    with open(sys.argv[2]) as f:
        for line in f:
            model, phase, mode, night, ratio, new_build = line.split("\t")
            truth[model, phase, mode] = (int(night), float(ratio), int(new_build))
    faults = []
    planted = found = exact = held = causes = false = quiet = 0
    if len(history) != len(truth):
        faults.append("%d series, not %d" % (len(history), len(truth)))
    for series in history:
        e = series["experiment"]
        name = " ".join((e["model"], e["phase"], e["mode"]))
        night, ratio, new_build = truth[e["model"], e["phase"], e["mode"]]
        changes = [(night_of(s["from"]), s["change"]) for s in series["stretches"][1:]]
        hits = [(at, c) for at, c in changes if night >= 0 and abs(at - night) <= 2]
        planted += night >= 0
        quiet += night < 0
        if night < 0:
            false += bool(changes)
        elif len(hits) != 1 or len(changes) > 1:
            faults.append("%s: changes at %s, planted at %d (%.3f)"
                          % (name, [at for at, _ in changes], night, ratio))
        for at, c in hits:
            found += 1
            exact += at == night
            held += c["low"] <= ratio <= c["high"]
            if at == night:
                causes += (c["cause"] == "other build") == bool(new_build)
                if c["after"]["label"] != "commit-%04d" % (night // 3):
                    faults.append("%s: %s at night %d" % (name, c["after"]["label"], night))
    expected = LEVEL * quiet
    if false > expected + 3 * math.sqrt(expected):
        faults.append("false changes in %d of %d series" % (false, quiet))
    # A failed night next to a change may hide that its build is the one before.
    if causes < exact - max(1, exact // 10):
        faults.append("%d of %d causes are right" % (causes, exact))
    if held < 0.93 * found - 3 * math.sqrt(0.93 * 0.07 * found):
        faults.append("%d of %d intervals hold the ratio" % (held, found))
    print("%d series, %d changes planted, %d found within two nights (%d to the night), %d "
          "intervals hold the ratio; false changes in %d of %d series without one"
          % (len(history), planted, found, exact, held, false, quiet), file=sys.stderr)
    print("\n".join(faults[:20]), end="\n" if faults else "")


if __name__ == "__main__":
    main()
