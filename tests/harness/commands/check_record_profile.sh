#!/bin/bash
# check_record_profile.sh - bench record --profile as TAP: a program of our own on the simulated
# device, whose profiler tells executions as a whole. Kernels of a GPU: test_profile_spans.c.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
export PJRT_SIM=device_us=700,seed=1

# steps_hold CODE: Python CODE on `steps`, what bench steps said of the recording $folder/r.
steps_hold() {
    run steps "$folder/r" --format json
    fault_of 0
    cp "$folder/out" "$folder/steps"
    "$python" - "$folder/steps" "$1" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
steps = json.load(open(sys.argv[1]))
exec(sys.argv[2])
PYTHON
}

# noted CODE: Python CODE on `one`, what recording.json says of the one process of $folder/r.
noted() {
    "$python" - "$folder/r/recording.json" "$1" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
[one] = json.load(open(sys.argv[1]))["processes"]
exec(sys.argv[2])
PYTHON
}

# ---- a profile ----------------------------------------------------------------------------

PJRT_LIBRARY_PATH=$sim "$program" --steps 200 --way two >"$folder/bare" 2>"$folder/err"
run record --runtime sim --profile 60 --output "$folder/r" -- "$program" --steps 200 --way two
report "the plugin's profiler sees as many executions as were asked for, and no bit changes" "$(
    fault_of 0
    noted 'assert one["noted"] == ["profiled"] and one["profiled"] == 60, one'
    grep -q " 60 " "$folder/err" || echo "it is not said how many"
    same_member checksum "$folder/bare" "$folder/out"
)"
report "the answer is made of its times, and steps while it ran are left out" "$(steps_hold '
profile, programs = steps["profile"], steps["programs"]
assert profile["executions"] == 60 and profile["why"] is None, profile
assert len(programs) == 2, programs
# The device takes 700 us for an execution, to the rounding of the profile.
for p in programs:
    assert abs(p["kernels_ns"] - 700e3) < 1e3, p
    assert abs(p["overhead_ns"] - max(0, p["device_ns"] - p["kernels_ns"])) < 1, p
assert abs(profile["kernels"]["ns"] - 1400e3) < 2e3, profile
assert steps["answer"]["no_host_gaps"] == profile["kernels"], steps["answer"]
# Steps that are queued ahead catch up with a delay before them: their mean may be below the kernels.
share = min(1, profile["kernels"]["ns"] / steps["wall"]["mean_ns"])
assert abs(steps["answer"]["busy_share"] - share) < 1e-6, (steps["answer"], steps["wall"])
# 30 steps of two executions, those in which it was started and stopped among them.
assert 30 <= steps["left_out"]["profiled"] <= 32, steps["left_out"]
assert profile["state"] == "taken" and " 60 " in steps["answer"]["words"], steps["answer"]
')"
run steps "$folder/r"
report "the table of programs has a column for it" "$(
    fault_of 0
    grep -qE '^program +times +kernels +overhead +device +call' "$folder/out" || echo "no column"
    grep -q ' profiled' "$folder/out" || echo "left out without a word"
)"
run steps "$folder/r" --trace "$folder/trace.json"
report "the timeline has the profiler's spans, within the executions" "$(
    fault_of 0
    "$python" - "$folder/trace.json" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
process = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
def slices(which):
    return sorted((e for e in events if e["ph"] == "X" and which(e)), key=lambda e: e["ts"])
spans = slices(lambda e: e["pid"] == process["devices, by the plugin's profiler"])
calls = slices(lambda e: e.get("cat") == "execute")
done = slices(lambda e: e["pid"] == process["devices"] and e["name"] != "gap")
assert len(spans) == 60 and len(calls) == len(done) == 400, (len(spans), len(calls), len(done))
assert all(abs(e["dur"] - 700) < 1 and e["args"]["busy_ns"] > 0 for e in spans), spans
# Those of successive executions: each after its call, and before its completion was seen.
def fits(e, call, x):
    return (e["name"] == call["name"] == x["name"] and call["ts"] <= e["ts"] + 1 and
            e["ts"] + e["dur"] <= x["ts"] + x["dur"] + 1)
assert any(all(fits(e, calls[k + i], done[k + i]) for i, e in enumerate(spans))
           for k in range(len(calls) - len(spans))), spans[:2]
PYTHON
)"
run doctor "$folder/r"
report "the doctor says of what its costs are" "$(
    fault_of 0
    tr '\n' ' ' <"$folder/out" | grep -Eq "kernels .* 1\.4[0-9]* ms" || cat "$folder/out"
)"
cp -r "$folder/r" "$folder/slowed"
PJRT_SIM=device_us=3000,seed=1 run record --runtime sim --profile 20 --output "$folder/slower" -- \
    "$program" --steps 60 --way two
cp "$folder"/slower/*/profile "$folder"/slowed/*/profile
run steps "$folder/slowed" --format json
report "kernels that take longer than the step are not its device time" "$(
    fault_of 0
    holds 'assert records["profile"]["state"] == "too-long", records["profile"]'
)"
run import --store "$folder/store-slowed" --model two "$folder/slowed"
run table --store "$folder/store-slowed" --table executions --format json
report "nor are they in a record" "$(
    fault_of 0
    holds 'assert all(x["device_time_source"] == "event" for x in records["rows"]), records'
)"
run import --store "$folder/store" --model two "$folder/r"
run table --store "$folder/store" --table executions --format json
report "a record of the recording has its device times, so that overheads are known" "$(
    fault_of 0
    holds '
assert len(records["rows"]) == 2, records
for x in records["rows"]:
    assert x["device_time_source"] == "profiler" and abs(x["device_ns"] - 700e3) < 1e3, x
    assert x["overhead_ns"] is not None, x
'
)"

# ---- ops ----------------------------------------------------------------------------------

run record --quiet --runtime sim --profile 60 --output "$folder/ops" -- "$program" --steps 200 --size 64
run steps "$folder/ops" --by layer --format json
report "time by layer is measured where the profiler tells ops" "$(
    fault_of 0
    holds 'r = records
assert r["source"] == "measured" and abs(r["device_ns"] - 700e3) < 1e3, r
layers = {(p["name"], p["phase"]): p["share"] for p in r["places"]}
assert 0 < layers[("Dense_0", "forward")] < 1 and abs(sum(layers.values()) - 1) < 1e-9, layers
assert abs(sum(p["ns"] for p in r["places"]) - r["device_ns"]) < 1, r'
)"
run steps "$folder/ops" --by line --format json
report "and by line it is modelled" "$(
    fault_of 0
    holds 'assert records["source"] == "modelled" and records["places"][0]["name"] == "", records'
)"

# ---- none ---------------------------------------------------------------------------------

rm -rf "$folder/r"
run record --runtime sim --profile 60 --output "$folder/r" -- "$program" --steps 30
report "a program that ends before is said to have no profile" "$(
    fault_of 0
    noted 'assert one["noted"] == ["profile-never-begun"] and one["profiled"] == 0, one'
    grep -q " 64 " "$folder/err" || echo "it is not said when it begins"
    steps_hold 'assert steps["profile"] is None and steps["left_out"]["profiled"] == 0, steps'
)"
rm -rf "$folder/r"
run record --runtime sim --profile 60 --output "$folder/r" -- "$program" --steps 200 --anew-every 20
report "nor has one that compiles again and again" "$(
    fault_of 0
    noted 'assert one["noted"] == ["profile-never-begun"], one'
    grep -q " 64 " "$folder/err" || echo "it is not said when it begins"
)"
rm -rf "$folder/r"
run record --runtime sim --profile 1000 --output "$folder/r" -- "$program" --steps 150 --signal 9
report "one that is killed under the profiler leaves its recording" "$(
    fault_of 137
    noted 'assert one["noted"] == ["profile-failed"], one'
    # Some 64 steps ran before the profiler.
    steps_hold '
assert steps["profile"]["why"] and steps["profile"]["state"] == "none", steps["profile"]
assert 20 < steps["steps"] < 65 and steps["left_out"]["profiled"] > 80, steps'
)"
rm -rf "$folder/r"
run record --runtime sim --output "$folder/r" -- "$program" --steps 30
report "without --profile there is none, and nothing is said of it" "$(
    fault_of 0
    ! grep -q ' profile' "$folder/err" || echo "said"
    noted 'assert one["noted"] == [], one'
    [ -z "$(find "$folder/r" -name profile)" ] || echo "a file"
)"

# ---- what is foreign ------------------------------------------------------------------------

rm -rf "$folder/r"
run record --runtime sim --profile 20 --output "$folder/r" -- "$program" --steps 120
file=$(echo "$folder"/r/*/profile)
cp "$file" "$folder/kept"
# in_store CODE: Python CODE on `rows`, the executions of the one record in $store.
in_store() {
    [ "$(stored)" -eq 1 ] || echo "$(stored) records"
    run table --store "$store" --table executions --format json
    fault_of 0
    holds "rows = records['rows']
$1"
}
store=$folder/taken
taking() { run import --store "$store" --model two "$folder/r"; }
# stays STATUS TEXT: faults of an import that ends so, says TEXT, and leaves the record as it was.
stays() {
    fault_of "$1" "$2"
    [ "$(stored)" -eq 1 ] || echo "$(stored) records"
    cmp "$folder/whole.h5" "$(echo "$store"/*.h5)"
}
taking
cp "$store"/*.h5 "$folder/whole.h5"
report "a recording with a profile becomes a record" "$(
    fault_of 0
    in_store 'assert rows and all(r["device_time_source"] == "profiler" for r in rows), rows'
)"
head -c 90 "$folder/kept" >"$file"
taking
report "a record with a profile stays where the profile cannot be read any more" "$(stays 1 "$store/")"
rm "$store"/*.h5
taking
report "else the record says that it has none, and why" "$(
    fault_of 0 "$folder/r: "
    in_store '
assert rows and all(r["device_time_source"] == "event" for r in rows), rows
assert all("; no profile: " in r["device_note"] for r in rows), rows'
)"
cp "$folder/kept" "$file"
taking
report "a record of the repaired recording takes its place" "$(
    fault_of 0
    in_store 'assert rows and all(r["device_time_source"] == "profiler" for r in rows), rows'
)"
first=$(stat -c '%n %i %Y' "$store"/*.h5)
taking
report "once" "$(
    fault_of 0
    [ "$(stat -c '%n %i %Y' "$store"/*.h5)" = "$first" ] || echo "it was written again"
)"
events=$(echo "$folder"/r/*/events)
cp "$store"/*.h5 "$folder/whole.h5"
cp "$events" "$folder/events"
"$python" - "$events" <<'PYTHON'
import sys
data = open(sys.argv[1], "rb").read().rstrip(b"\0")
open(sys.argv[1], "wb").write(data[:len(data) * 2 // 3 // 64 * 64])
PYTHON
taking
report "nor does one of fewer events take its place" "$(stays 1 "$store/")"
rm "$store"/*.h5
taking
steps_of() { run export --store "$store" --to csv && grep -c ',step,' "$folder/out"; }
few=$(steps_of)
cp "$folder/events" "$events"
taking
report "but one of more events does" "$(
    fault_of 0
    in_store ''
    [ "$few" -gt 0 ] && [ "$(steps_of)" -gt "$few" ] || echo "not more than $few steps"
)"
# What names the runtime is in recording.json: without it the record has another id.
rm "$store"/*.h5
mv "$folder/r/recording.json" "$folder/about.json"
taking
before=$(ls "$store")
mv "$folder/about.json" "$folder/r/recording.json"
taking
report "nor do both count where they are called otherwise" "$(
    fault_of 0
    [ "$(ls "$store"/*.h5)" != "$store/$before" ] || echo "it is called as before"
    in_store 'assert rows and all(r["runtime"] == "sim" for r in rows), rows'
)"

for fault in cut longer; do
    case $fault in
    cut) head -c 90 "$folder/kept" >"$file" ;;
    longer) { cat "$folder/kept" && echo; } >"$file" ;;
    esac
    report "a profile that is damaged ($fault) is said, and the rest is read" "$(
        steps_hold '
assert steps["profile"]["why"], steps["profile"]
assert steps["programs"][0]["kernels_ns"] is None and steps["steps"] > 20, steps
assert all(p["overhead_ns"] is None for p in steps["programs"]), steps["programs"]
assert steps["profile"]["state"] == "none" and steps["profile"]["why"] in steps["answer"]["words"], steps'
    )"
done
# Which steps the profiler slowed down is not known then.
for fault in empty link fifo folder; do
    rm -f "$file"
    case $fault in
    empty) : >"$file" ;;
    link) ln -s "$folder/kept" "$file" ;;
    fifo) mkfifo "$file" ;;
    folder) mkdir "$file" ;;
    esac
    for command in steps doctor "import --store $folder/refused"; do
        # shellcheck disable=SC2086
        refuses "$command of a profile that cannot be opened ($fault)" 3 "${file%/*}: profile: " -- \
            $command "$folder/r"
    done
done
report "leaves no record" "$(ls -d "$folder/refused" 2>/dev/null)"
refuses "a number that cannot be" 2 "--profile" -- record --profile -1 -- true
echo "1..$count"
