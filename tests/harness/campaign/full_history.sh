#!/bin/bash
# full_history.sh - 1,000 nights of 68 cells: the index is made, then read, analysed,
# printed and drawn in under 5 seconds, and the planted changes are found, as TAP. Takes some minutes
# and 1.7 GB in TMPDIR, most of it for making the store.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT
make_history=${BENCH_TEST_BUILD:-$PWD/build}/tests/harness/campaign/make_history
seed=${HISTORY_SEED:-7}

# Two processes, each a half of the nights; both know the whole truth.
"$make_history" "$store" 68 0 500 "$seed" >"$folder/half" &
"$make_history" "$store" 68 500 1000 "$seed" >"$folder/truth"
made=$?
wait $! || made=1
report "68,000 records are written" "$(
    [ $made -eq 0 ] || echo "make_history failed"
    [ "$(stored)" -eq 68000 ] || echo "$(stored) records"
    cmp -s "$folder/half" "$folder/truth" || echo "the halves differ in what is true"
)"

# timed ARGUMENT...: as run, and the seconds to $seconds.
timed() {
    local begin
    begin=$(date +%s%N)
    run "$@"
    seconds=$(awk -v ns=$(($(date +%s%N) - begin)) 'BEGIN { printf "%.2f", ns / 1e9 }')
}

timed history --store "$store" --format json --verbose
cp "$folder/out" "$folder/cold"
report "the index is made from the files ($seconds s)" "$(
    fault_of 0
    complaints | grep -q '68000 records, of which 68000 files were read' || echo "not all read"
)"

for format in text json; do
    timed history --store "$store" --format $format --verbose
    report "read by the index, analysed and printed as $format in under 5 s ($seconds s)" "$(
        fault_of 0
        complaints | grep -q '68000 records, of which 0 files were read' || echo "files were read"
        awk -v s="$seconds" 'BEGIN { exit !(s >= 5) }' && echo "$seconds s"
    )"
done

report "planted changes are found within two nights, false ones keep to the level" "$(
    cmp -s "$folder/out" "$folder/cold" || echo "another answer than from the files"
    "$python" tests/harness/campaign/judge_history.py "$folder/out" "$folder/truth" 2>"$folder/counts"
)"
sed 's/^/# /' "$folder/counts"

timed history --store "$store" --model model00 --mode lazy --phase infer \
    --output "$folder/series.svg"
report "a series of 1,000 nights is drawn with its changes in under 5 s ($seconds s)" "$(
    fault_of 0
    grep -q 'Change at point' "$folder/series.svg" || echo "no change in the picture"
    awk -v s="$seconds" 'BEGIN { exit !(s >= 5) }' && echo "$seconds s"
)"

echo "1..$count"
