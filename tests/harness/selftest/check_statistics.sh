#!/bin/bash
# check_statistics.sh - bench selftest statistics from outside, as TAP: what it prints as JSON and how it
# ends. What it fails is in test_statistics.c, the other formats in full_statistics.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

refuses "a format that is none" 2 "xml|json" -- selftest statistics --quick --format xml
refuses "--quick of another command" 2 "--quick" -- run --quick
refuses "a seed that is none" 2 "--seed|'x'" -- selftest statistics --seed x

run selftest statistics --quick --format json
report "it passes and says so, and the table is on standard output alone" "$(
    fault_of 0
    [ "$(tail -n 1 "$folder/err")" = "statistics: PASS" ] || echo "the last line is no verdict"
    grep -q '^\[21/21\] quiet,.* 24 .*: ok' "$folder/err" || echo "no progress"
    holds '
nights = [r for r in records if r["part"] == "nights"]
tables = [r for r in records if r["part"] == "tables"]
verdicts = [r for r in records if r["part"] == "verdicts"]
records = [r for r in records if r["part"] == "comparisons"]
assert len(records) == 21 and len(verdicts) == 8, (len(records), len(verdicts))
assert len(tables) == 18, len(tables)
assert {(t["rows"], t["ratios"], t["processes"]) for t in tables} >= {("wide", 34, 4), ("ln", 1, 16)}
for t in tables:
    assert t["pass"] is True and t["faults"] == [] and t["judged"] and t["tables"] >= 200, t
    assert 0.9 < t["interval_holds"] <= 1 and t["wrong"]["low"] <= 0.06, t
    assert t["drift"] == 0 or t["calibration_runs"] == 12, t
for v in verdicts:
    assert v["pass"] is True and v["hidden"] == 0 and v["comparisons"] >= 500, v
    assert sum(v["verdicts"].values()) == v["comparisons"] * v["experiments"], v
    assert v["slow_b"] > v["slow_a"] or v["b_slow"] <= 0.04 * v["comparisons"], v
names = {r["scenario"] for r in records}
assert {"jitter", "drift", "outliers", "periodic", "wandering", "two modes", "quiet"} <= names, names
for r in records:
    a = r["false_alarms"]
    assert r["pass"] is True and r["faults"] == [] and r["families"] >= 500, r
    assert a["low"] <= a["share"] <= a["high"] and a["low"] <= 0.05, a
    found = [e["found"]["share"] for e in r["effects"]]
    assert [e["effect"] for e in r["effects"]] == [0.01, 0.02, 0.05]
    assert found == sorted(found), found
assert {n["figure"] for n in nights} == {"false-change", "found", "found-soon", "detectable", "alarms"}
for n in nights:
    share = n["share"]
    assert n["pass"] is True and share["low"] <= share["share"] <= share["high"], n
    if n["figure"] == "false-change" and n["judged"]:
        assert n["series"] >= 250 and share["low"] <= 0.05, n
    assert (n["alarms_a_year"] is not None) == (n["figure"] == "alarms"), n
wide = [n for n in nights if n["figure"] == "false-change" and n["nights"] == 365 and n["judged"]]
assert [n["rho"] for n in wide] == [0, 0.2, 0.4, 0.6], wide
'
)"

echo "1..$count"
