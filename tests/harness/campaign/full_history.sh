#!/bin/bash
# full_history.sh - a store of 100,000 records, 1,000 nights of 100 cells, as TAP: the index is made,
# what reads the store afterwards keeps to its limits of time and memory, and the planted changes
# are found. Times are seconds of the processor, of all processes of the command, so that a busy
# machine fails nothing. Takes a quarter of an hour and 2.7 GB in TMPDIR, most of it for making the
# store.
#
# needs: 2.7 GB in TMPDIR
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
make_history=$built/tests/harness/campaign/make_history
seed=${HISTORY_SEED:-7}
umask 022 # a store that others may write keeps no builds
export PJRT_SIM=values=none,device_us=200
tiny_suite '"lazy"' 1

# Four processes, each a quarter of the nights; all know the whole truth.
for quarter in 1 2 3; do
    "$make_history" "$store" 100 $((quarter * 250)) $((quarter * 250 + 250)) "$seed" \
        >"$folder/truth$quarter" &
done
"$make_history" "$store" 100 0 250 "$seed" >"$folder/truth"
made=$?
for quarter in 1 2 3; do
    wait -n || made=1
done
report "100,000 records are written" "$(
    [ $made -eq 0 ] || echo "make_history failed"
    [ "$(stored)" -eq 100000 ] || echo "$(stored) records"
    for quarter in 1 2 3; do
        cmp -s "$folder/truth$quarter" "$folder/truth" || echo "the quarters differ in what is true"
    done
)"

# spends ARGUMENT...: as run, with seconds of the processor to $seconds, and to $peak the MB that
# the largest of its processes took.
spends() {
    "$python" -c '
import resource, subprocess, sys
with open(sys.argv[1] + "/out", "w") as out, open(sys.argv[1] + "/err", "w") as err:
    status = subprocess.call(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f %.0f" % (used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
sys.exit(status)' "$folder" "$bench" "$@" >"$folder/spent"
    status=$?
    read -r seconds peak <"$folder/spent"
}

# within LIMIT: faults of a command that took longer than LIMIT seconds, or too much memory.
within() {
    awk -v s="$seconds" -v limit="$1" 'BEGIN { exit !(s > limit) }' && echo "$seconds s"
    [ "$peak" -le 256 ] || echo "$peak MB"
}

spends history --store "$store" --format json --verbose
cp "$folder/out" "$folder/cold"
report "the index is made from the files ($seconds s, $peak MB)" "$(
    fault_of 0
    complaints | grep -q '100000 records, of which 100000 files were read' || echo "not all read"
    within 600
)"

for format in text json; do
    spends history --store "$store" --format $format --verbose
    report "read by the index, analysed and printed as $format in 2 s ($seconds s, $peak MB)" "$(
        fault_of 0
        complaints | grep -q '100000 records, of which 0 files were read' || echo "files were read"
        within 2
    )"
done

report "planted changes are found within two nights, false ones keep to the level" "$(
    cmp -s "$folder/out" "$folder/cold" || echo "another answer than from the files"
    "$python" tests/harness/campaign/judge_history.py "$folder/out" "$folder/truth" 2>"$folder/counts"
)"
sed 's/^/# /' "$folder/counts"

spends history --store "$store" --model model00 --mode lazy --phase infer \
    --output "$folder/series.svg"
report "a series of 1,000 nights is drawn with its changes in 2 s ($seconds s, $peak MB)" "$(
    fault_of 0
    grep -q 'Change at point' "$folder/series.svg" || echo "no change in the picture"
    within 2
)"

spends table --store "$store"
report "the table of the latest builds takes 2 s ($seconds s, $peak MB)" "$(
    fault_of 0
    grep -q '^model16 ' "$folder/out" || echo "no table"
    within 2
)"

spends report --store "$store" --output "$folder/page.html"
report "the page of the store takes 10 s ($seconds s, $peak MB)" "$(
    fault_of 0
    [ "$(grep -c '<figure>' "$folder/page.html")" -gt 24 ] || echo "pictures are missing"
    within 10
)"

spends nightly --suite "$folder/suite.json" --store "$folder/empty" --report "$folder/night"
empty=$seconds
spends nightly --suite "$folder/suite.json" --store "$store" --report "$folder/night"
seconds=$(awk -v all="$seconds" -v empty="$empty" 'BEGIN { printf "%.2f", all - empty }')
report "a night takes 2 s more than in an empty store ($seconds s, $peak MB)" "$(
    fault_of 4
    grep -q 'inconclusive: this is the first good night' "$folder/night/index.html" || echo "no page"
    [ "$(stored)" -eq 100001 ] || echo "$(stored) records"
    within 2
)"

spends suite "$folder/suite.json" --store "$store"
report "a suite finds in 2 s what it has done ($seconds s, $peak MB)" "$(
    fault_of 0
    grep -q '^suite tiny: 0 done, 1 skipped as already done' "$folder/err" || echo "not skipped"
    within 2
)"

echo "1..$count"
