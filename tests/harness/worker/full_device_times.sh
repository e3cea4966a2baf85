#!/bin/bash
# full_device_times.sh - device times of records on the default CPU runtime, as TAP: none is above the
# time of a lone execution of the same rounds by more than its interval says. Half of the records are
# measured under load. Prints what the null tests say. Takes about four minutes.
#
#   PROCESSES=6   of each of five small models, lazy and captured, alone and again under LOOPS=4 busy loops
#
# needs: an idle machine
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
: "${PROCESSES:=6}" "${LOOPS:=4}"
trap 'end_loops 2>/dev/null; rm -rf "$folder"' EXIT

# judged LOAD: measures, and prints what is wrong; sums up on standard error.
judged() {
    run run --model bert,llama,gpt2,mobilenet_v2,resnet18 --variant small --mode lazy,capture \
        --phase infer --processes "$PROCESSES" --store "$store-$1" --format json
    [ "$status" -eq 0 ] || echo "exit status $status"
    holds '
load, processes = "'"$1"'", '"$PROCESSES"'
known = [(r, x) for r in records for x in r["executions"] if x["device_ns"] is not None]
refused = [x["device_note"] for r in records for x in r["executions"] if x["device_ns"] is None]
above = [(r, x) for r, x in known if x["device_low_ns"] > x["pjrt_ns"]]
for r, x in above:
    print("%s: device %.0f [%.0f, %.0f] ns, alone %.0f ns" % (
        r["id"], x["device_ns"], x["device_low_ns"], x["device_high_ns"], x["pjrt_ns"]))
nulls = sorted(100 * abs(x["null_share"]) for _, x in known)
middle = nulls[len(nulls) // 2]
with open(folder + "/" + load, "w") as f:
    print("# %s: %d records, %d device times known, %d refused, %d above the lone time; null tests "
          "off by %.2f %% (median), %.2f %% (the ninth of ten)" % (
              load, len(records), len(known), len(refused), len(above), middle,
              nulls[len(nulls) * 9 // 10]), file=f)
    for note in sorted(set(refused)):
        print("# refused, %d times: %s" % (refused.count(note), note), file=f)
if len(records) != 10 * processes:
    print("%d records, not %d" % (len(records), 10 * processes))
if len(known) < len(records) // 2:
    print("only %d of %d have a device time" % (len(known), len(records)))
if middle > 5:
    print("the null tests are off by %.1f %%" % middle)
'
    cat "$folder/$1" >&2
}

report "on an idle machine, no device time is above the lone time by more than its interval" "$(judged quiet)"
begin_loops "$LOOPS"
report "nor under load" "$(judged loaded)"
cat "$folder/quiet" "$folder/loaded"
echo "1..$count"
