#!/bin/bash
# full_statistics.sh - bench selftest statistics --quick in its other formats, as TAP: the text has the
# figures of the JSON, and another seed has others. Some 40 seconds of a core for each format.
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

run selftest statistics --quick
cp "$folder/out" "$folder/text"
report "it passes and says so in its last line" "$(
    fault_of 0
    [ "$(tail -n 1 "$folder/out")" = "statistics: PASS" ] || echo "the last line is no verdict"
    for text in jitter drift outliers periodic wandering "two modes" quiet alarms MDE; do
        grep -qF -- "$text" "$folder/out" || echo "no $text"
    done
)"

run selftest statistics --quick --format json
report "the same as JSON: the table is on standard output alone" "$(
    fault_of 0
    holds '
text = open(folder + "/text").read()
for r in (r for r in records if r["part"] == "comparisons"):
    a = r["false_alarms"]
    shown = "%.1f [%.1f, %.1f]" % (100 * a["share"], 100 * a["low"], 100 * a["high"])
    assert any(l.startswith(r["scenario"]) and shown in l for l in text.splitlines()), shown
'
)"

run selftest statistics --quick --format csv --seed 2
report "another seed, as CSV: other figures" "$(
    head -n 1 "$folder/out" | grep -q '^scenario,pairs,' || echo "no heads"
    grep -q '^nights,noise,rho,' "$folder/out" || echo "no heads of nights"
    ! grep -qF "$(grep '^wandering *12' "$folder/text" | grep -oE '[0-9.]+ \[[^]]*\]' | head -n 1)" \
        <(grep '^wandering,12' "$folder/out") || echo "the same figures"
)"

echo "1..$count"
