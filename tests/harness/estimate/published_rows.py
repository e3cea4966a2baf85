"""published_rows.py - CSV of bench estimate --check-published, looked at row by row:

    published_rows.py OUT LINES SAID

OUT is that CSV, and LINES the JSON of the same command. A line of each row goes to SAID, as a comment of TAP: how far
off the estimate is. Fails where there is no row, and where an estimate cannot be true:

- It is above what a host measured, which holds more than the device works.
- A step of one graph is more than 10 % off what a device measured. Cut steps, and each graph of theirs, may take at
  most twice that time: copies between graphs depend on the layouts, of which the publication says nothing.
- It is below what the compiler's FLOPs take at the device's peak rate. The FLOPs of one scope are not known, so this
  holds for whole graphs.
"""
import csv
import json
import sys

# TFLOPS that Google publishes of a chip (harness/estimate/estimate_facts.c); a device of v3 is half of one.
PEAK = {"v4:1x1x1/megacore": 275, "v3:2x2": 123 / 2}


def least_ms(row, lines):
    """Milliseconds of ROW's FLOPs, by the compiler, at the peak rate; 0 where they are not known."""
    if row["graph"].startswith("scope "):
        return 0
    own = [l for l in lines if l["topology"] == row["topology"] and row["graph"] in (l["graph"], "all") and
           "%s %d%s" % (l["experiment"]["mode"], l["experiment"]["graphs"],
                        " auto" if l["layouts"] == "auto" else "") == row["mode"]]
    assert own, ("no line is of", row)
    return sum(l["estimate"]["flops"] or 0 for l in own) / PEAK[row["topology"]] / 1e9


def is_fault(row):
    """Whether ROW is too far off what was measured."""
    share = float(row["estimated ms"]) / float(row["published ms"])
    if row["measured on"] != "device":
        return not row["difference"].startswith("below, ")
    if row["graph"] == "all" and row["mode"].split()[1] == "1":
        return abs(share - 1) > 0.1
    return share > 2


def main(out, lines, said):
    rows = list(csv.DictReader(open(out)))
    lines = json.load(open(lines))
    assert rows, "no published time is known"
    faults = []
    with open(said, "w") as f:
        for r in rows:
            print("# %s on %s, graph %s: estimated %s ms, published %s ms (%s), %s" % tuple(
                r[name] for name in ("step", "topology", "graph", "estimated ms", "published ms", "measured on",
                                     "difference")), file=f)
            least = least_ms(r, lines)
            if is_fault(r) or float(r["estimated ms"]) < least:
                faults.append((r["step"], r["graph"], r["measured on"], r["estimated ms"], r["difference"],
                               "at least %.4g ms" % least))
    assert not faults, faults


main(*sys.argv[1:])
