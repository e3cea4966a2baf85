"""scan_cost.py - what a loop over layers costs, of records that bench run --format json printed:

    scan_cost.py RECORDS MOST

RECORDS are of one step with --scan off and on, in several processes. Both ways differ in their set-up, so each
process has one of them; bench run starts them in turns, a process of each. The neighbours of a turn are a pair:
the machine was the same for both, so each pair has a ratio, and the interval is over the pairs (Student's t of
the logarithms, 95 %). Prints the ratio with a verdict: it "holds" where the whole interval is at most MOST, it
"fails" where all of it is above, else it is "inconclusive". Exit status 1 where it does not hold.
"""
import json
import math
import statistics
import sys

# Of 1 to 10 degrees of freedom; of more the last one is a little too wide.
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]


def walls(records):
    """ns of a step in each process, by its number, of both ways."""
    of = {"off": {}, "on": {}}
    for r in records:
        assert r["status"] == "ok", r["message"]
        of[r["experiment"]["scan"]][r["provenance"]["group"]["process"]] = r["ledger"]["wall"]["median_ns"]
    return of


def main(path, most):
    of, most = walls(json.load(open(path))), float(most)
    pairs = sorted(set(of["off"]) & set(of["on"]))
    assert len(pairs) >= 3, "%d pairs of processes tell nothing" % len(pairs)
    logs = [math.log(of["on"][p] / of["off"][p]) for p in pairs]
    mean = statistics.mean(logs)
    half = T[min(len(logs) - 1, len(T)) - 1] * statistics.stdev(logs) / len(logs) ** 0.5
    low, high = math.exp(mean - half), math.exp(mean + half)
    verdict = "holds" if high <= most else "fails" if low > most else "inconclusive: use more processes"
    off, on = (statistics.median(of[way].values()) / 1e6 for way in ("off", "on"))
    print("%.3f and %.3f ms, %.2f times [%.2f, %.2f] in %d pairs, at most %.2f: %s" % (
        off, on, math.exp(mean), low, high, len(pairs), most, verdict))
    return verdict != "holds"


sys.exit(main(*sys.argv[1:]))
