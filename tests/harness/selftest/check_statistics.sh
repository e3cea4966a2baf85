#!/bin/bash
# check_statistics.sh - bench selftest statistics from outside, as TAP: what it
# prints in each format and how it ends. What it fails is in test_statistics.c.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

refuses "a format that is none" 2 "xml|json" -- selftest statistics --quick --format xml
refuses "--quick of another command" 2 "--quick" -- run --quick
refuses "a seed that is none" 2 "--seed|'x'" -- selftest statistics --seed x

run selftest statistics --quick
cp "$folder/out" "$folder/text"
report "it passes and says so in its last line" "$(
    fault_of 0
    [ "$(tail -n 1 "$folder/out")" = "statistics: PASS" ] || echo "the last line is no verdict"
    for text in jitter drift outliers periodic wandering "two modes" quiet alarms MDE; do
        grep -qF -- "$text" "$folder/out" || echo "no $text"
    done
    grep -q '^\[21/21\] quiet, .*12 pairs: ok' "$folder/err" || echo "no progress"
)"

run selftest statistics --quick --format json
report "the same as JSON: the table is on standard output alone" "$(
    fault_of 0
    [ "$(tail -n 1 "$folder/err")" = "statistics: PASS" ] || echo "the last line is no verdict"
    holds '
text = open(folder + "/text").read()
assert len(records) == 21, len(records)
for r in records:
    a = r["false_alarms"]
    assert r["pass"] is True and r["faults"] == [] and r["families"] >= 500, r
    assert a["low"] <= a["share"] <= a["high"] and a["low"] <= 0.05, a
    shown = "%.1f [%.1f, %.1f]" % (100 * a["share"], 100 * a["low"], 100 * a["high"])
    assert any(l.startswith(r["scenario"]) and shown in l for l in text.splitlines()), shown
    found = [e["found"]["share"] for e in r["effects"]]
    assert [e["effect"] for e in r["effects"]] == [0.01, 0.02, 0.05]
    assert found == sorted(found), found
'
)"

run selftest statistics --quick --format csv --seed 2
report "another seed, as CSV: other figures" "$(
    head -n 1 "$folder/out" | grep -q '^scenario,pairs,' || echo "no heads"
    [ "$(wc -l <"$folder/out")" -eq 22 ] || echo "$(wc -l <"$folder/out") lines, not 22"
    ! grep -qF "$(grep '^wandering *10' "$folder/text" | grep -oE '[0-9.]+ \[[^]]*\]' | head -n 1)" \
        <(grep '^wandering,10' "$folder/out") || echo "the same figures"
)"

echo "1..$count"
