#!/bin/bash
# check_history.sh - bench history on a store of 100 nights whose changes are known, as
# TAP. The same with 1,000 nights is full_history.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
make_history=$built/tests/harness/campaign/make_history

"$make_history" "$store" 6 0 100 1 >"$folder/truth" || {
    report "a store is made" "$make_history failed"
    echo "1..$count"
    exit
}

# files_read RECORDS FILES: a fault unless --verbose counts so many records and so many files that were read.
files_read() {
    complaints | grep -qE "(^|[^0-9])$1 records\\b.*[^0-9]$2 files\\b" || echo "not $2 files for $1 records"
}

# judged: what judge_history.py says of the JSON in $folder/out.
judged() {
    "$python" tests/harness/campaign/judge_history.py "$folder/out" "$folder/truth" 2>"$folder/counts"
}

run history --store "$store" --format json --verbose
cp "$folder/out" "$folder/cold"
report "planted changes are found, with the builds, and no others" "$(
    fault_of 0
    judged
    files_read 600 600
)"
sed 's/^/# /' "$folder/counts"

run history --store "$store" --format json --verbose
report "the same from the index, which reads no record" "$(
    fault_of 0
    cmp -s "$folder/out" "$folder/cold" || echo "another answer"
    files_read 600 0
)"

run history --store "$store" --reindex --format json --verbose
report "--reindex reads them all again" "$(
    fault_of 0
    cmp -s "$folder/out" "$folder/cold" || echo "another answer"
    files_read 600 600
)"

run history --store "$store" --model model00 --mode lazy --phase infer
report "text: segments, the builds around a change, gaps, the latest night, totals" "$(
    fault_of 0
    for text in 'model00 infer lazy: full, batch 4' 'wall, 100 nights' '2022-03-18  2022-04-10' '3 nights ' \
        ', 2022-04-10: ' ': 1 up, 0 down'; do
        grep -qF -- "$text" "$folder/out" || echo "no '$text'"
    done
    grep -qE '^2022-03-18 .*\+5\.[0-9] % \[\+.* commit-0025 +commit-0025 ' "$folder/out" || echo "no ratio with interval"
)"

run history --store "$store" --format csv --metric device
report "CSV of another metric: a row a stretch" "$(
    fault_of 0
    head -n 1 "$folder/out" | grep -q '^series,metric,simulated,from,to,nights' || echo "no heads"
    [ "$(wc -l <"$folder/out")" -eq 11 ] || echo "$(wc -l <"$folder/out") lines, not 11"
    grep -q ',device,0,.*,other build,.*,commit-0021,cpu,.*,commit-0022,cpu,[0-9][-0-9.e]*$' "$folder/out" ||
        echo "no change with its labels"
)"

run history --store "$store" --metric compile --format md
report "Markdown; series without planted changes have none" "$(
    fault_of 0
    grep -q '^### model00 train eager' "$folder/out" || echo "no heading"
    grep -qE '^\| 2022-01-01 \| 2022-04-10 \|' "$folder/out" || echo "no row of all nights"
    grep -qE '^6 series, 0 ' "$folder/out" || echo "a change in compile times"
)"

run history --store "$store" --model model00 --mode lazy --phase infer --least-change 0.2
report "--least-change leaves small changes out" "$(
    fault_of 0
    grep -qE '^1 series, 0 ' "$folder/out" || echo "still there"
)"

damaged=$(find "$store" -name '*.h5' | sort | sed -n 5p)
printf damaged | dd of="$damaged" bs=1 seek=9000 conv=notrunc status=none
run history --store "$store"
report "a damaged record is named and ends with 1, the others are shown" "$(
    fault_of 1 "$damaged"
    grep -qF '6 series' "$folder/out" || echo "no series"
)"
run history --store "$store"
report "and so once more" "$(fault_of 1 "$damaged")"
rm "$damaged"
run history --store "$store" --verbose
report "a record that is gone drops out" "$(
    fault_of 0
    files_read 599 0
)"

# Its nanoseconds since 1970 do not fit 63 bits.
touch -d 2400-01-01 "$(find "$store" -name '*.h5' | sort | head -n 1)"
run history --store "$store" --reindex
run history --store "$store" --verbose
report "a file of a far future is known again, too" "$(
    fault_of 0
    files_read 599 0
)"

run history --store "$store" --format html
report "HTML is a page" "$(
    fault_of 0
    head -n 1 "$folder/out" | grep -q '^<!DOCTYPE html>' || echo "no page"
    grep -q '<p>.*wall, .* nights</p>' "$folder/out" || echo "no picture in a paragraph"
)"
run history --store "$store" --format latex
report "LaTeX has no signs that need a package" "$(
    fault_of 0
    grep -q '6 series' "$folder/out" || echo "no table"
    LC_ALL=C grep -n '[^ -~]' "$folder/out" | head -n 3
)"
refuses "a metric that is none" 2 "wall, device" -- history --store "$store" --metric speed
refuses "a level that is none" 2 "level|1" -- history --store "$store" --level 1
refuses "models that are not there" 3 " 599 records" -- history --store "$store" --model x
refuses "a store that is not there" 3 "$folder/nowhere" -- history --store "$folder/nowhere"
mkdir "$folder/empty"
refuses "an empty store" 3 "$folder/empty|--store" -- history --store "$folder/empty"
refuses "an option of another command" 2 "--metric" -- table --metric wall

# ---- pictures ---------------------------------------------------------------------------

one=(--model model00 --mode lazy --phase infer)
if command -v gnuplot >/dev/null; then
    run history --store "$store" "${one[@]}" --metric wall --output "$folder/series.svg"
    report "a series as a picture: its nights, its changes and the builds at them" "$(
        fault_of 0
        grep -qE '^1 series, 1 ' "$folder/out" || echo "no table"
        "$python" -c 'import sys, xml.dom.minidom as m
d = m.parse(sys.argv[1]).documentElement
words = d.getElementsByTagName("title")[0].firstChild.data
assert "96 nights" in words and " 75 " in words and "50.5 ms" in words, words
texts = " ".join(t.firstChild.data for t in d.getElementsByTagName("text") if t.firstChild)
assert " ms" in texts or "(ms)" in texts, texts' "$folder/series.svg" 2>&1 |
            tail -n 1
    )"
    run report --store "$store" "${one[@]}" --output "$folder/page.html"
    report "the page of a store of many nights shows them" "$(
        fault_of 0
        grep -q '<figcaption>.*model00 infer lazy: ' "$folder/page.html" || echo "it does not"
    )"
else
    skip "a series as a picture: its nights, its changes and the builds at them" "no gnuplot"
    skip "the page of a store of many nights shows them" "no gnuplot"
fi
refuses "a picture of several series" 2 "--output|6|--mode" -- \
    history --store "$store" --output "$folder/x.svg"
refuses "a picture of another kind" 2 ".svg, .png or .gp" -- \
    history --store "$store" "${one[@]}" --output "$folder/x.pdf"

echo "1..$count"
