"""published_rows.py - CSV of bench estimate --check-published, looked at row by row:

    published_rows.py OUT SAID

OUT is that CSV. A line of each row goes to SAID, as a comment of TAP: how far off the estimate is. Fails where
there is no row, and where an estimate is above what a host measured, which holds more than the device works.
"""
import csv
import sys


def main(out, said):
    rows = list(csv.DictReader(open(out)))
    assert rows, "no published time is known"
    above = []
    with open(said, "w") as f:
        for r in rows:
            print("# %s on %s, graph %s: estimated %s ms, published %s ms (%s), %s" % tuple(
                r[name] for name in ("step", "topology", "graph", "estimated ms", "published ms", "measured on",
                                     "difference")), file=f)
            # Of a device it is "+0.4 %", of a host "below, 0.43 of it".
            by_device = r["measured on"] == "device" and r["difference"].endswith(" %")
            if not by_device and not r["difference"].startswith("below, "):
                above.append((r["step"], r["graph"], r["measured on"], r["difference"]))
    assert not above, above


main(*sys.argv[1:])
