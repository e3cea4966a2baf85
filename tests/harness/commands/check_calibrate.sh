#!/bin/bash
# check_calibrate.sh - bench calibrate on the simulated device, as TAP: runs that are kept, a second call that
# goes on, and records that say afterwards what the runs show.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=200

calibrate=(calibrate --runtime sim --store "$store" --every 0 --processes 3 --steps 3 --min-time 0 --warmup 8
    --format json)
refuses "two processes a run" 2 "--processes" -- calibrate --store "$store" --processes 2
refuses "several runtimes" 2 "--runtime" -- "${calibrate[@]}" --runtime sim,cpu
refuses "a format that calibrate has not, before it runs" 2 "--format|csv|json" -- "${calibrate[@]}" --format csv
report "nothing was made for a command that was refused" "$([ ! -e "$store" ] || echo "there is a store")"
refuses "a time between runs that is none" 2 "--every" -- calibrate --store "$store" --every soon

run "${calibrate[@]}" --runs 1
report "a run of three ratios is kept" "$(
    fault_of 0
    holds '
runs = json.load(open(folder + "/store/calibration/runs.json"))
assert len(runs) == 1, runs
assert len(runs[0]["ratios"]) == 3 and all(r["processes"] == 3 for r in runs[0]["ratios"]), runs
assert len(runs[0]["runtime"]) == 64 and runs[0]["busy"] in (True, False), runs
assert records["idle"]["runs"] + records["busy"]["runs"] == 1, records
assert records["idle"]["deviation"] is None and records["busy"]["deviation"] is None, records
assert records["noted"] == ["too-few-runs"], records
assert sorted([records["idle"]["next_runs"] or 0, records["busy"]["next_runs"] or 0]) == [0, 8], records
'
)"
cp "$store/calibration/runs.json" "$folder/first"
run "${calibrate[@]}" --runs 1
report "a second call with nothing left to do measures nothing" "$(
    fault_of 0
    cmp -s "$folder/first" "$store/calibration/runs.json" || echo "other runs"
)"

# Seven of the eight are copies, so that it takes no minute.
"$python" - "$store/calibration/runs.json" <<'PYTHON'
import copy, json, sys
runs = json.load(open(sys.argv[1]))
more = [copy.deepcopy(runs[0]) for _ in range(7)]
for i, one in enumerate(more):
    for ratio in one["ratios"]:
        ratio["log"] += 0.05 * (-1) ** i
    one["busy"] = False
runs[0]["busy"] = True
json.dump(runs + more, open(sys.argv[1], "w"))
PYTHON
run "${calibrate[@]}" --runs 7
report "runs of an idle machine are enough where they are as many as asked" "$(
    fault_of 0
    holds '
assert records["idle"]["runs"] == 7 and records["busy"]["runs"] == 1, records
assert records["idle"]["deviation"] is None, records
# The seven began at once. Seven further busy runs make eight of these; the next idle one makes eight.
assert records["idle"]["near"] == 6 and records["busy"]["near"] == 0, records
assert records["idle"]["next_runs"] == 8 and records["busy"]["next_runs"] == 14, records
assert records["noted"] == ["near-runs", "too-few-runs"], records
'
)"
sed -i 's/"busy": true/"busy": false/' "$store/calibration/runs.json"
run "${calibrate[@]}" --runs 8
report "eight runs show a drift" "$(
    fault_of 0
    holds '
assert records["idle"]["runs"] == 8, records
assert 0.01 < records["idle"]["deviation"] < 0.2, records
assert records["idle"]["near"] == 7 and records["noted"] == ["near-runs"], records
assert records["idle"]["next_runs"] is None and records["busy"]["next_runs"] is None, records
'
)"

# Ten minutes apart, they are not near.
"$python" - "$store/calibration/runs.json" <<'PYTHON'
import json, sys
runs = json.load(open(sys.argv[1]))
for i, run in enumerate(runs):
    run["began_s"] -= 600 * i
json.dump(runs, open(sys.argv[1], "w"))
PYTHON
run "${calibrate[@]}" --runs 8
report "runs ten minutes apart are as they should be" "$(
    fault_of 0
    holds 'assert records["idle"]["near"] == 0 and records["noted"] == [], records'
)"
# A busy machine's runs are the same ones, so that the table below is judged however busy this one is.
"$python" - "$store/calibration/runs.json" <<'PYTHON'
import copy, json, sys
runs = json.load(open(sys.argv[1]))
busy = copy.deepcopy(runs)
for run in busy:
    run["busy"] = True
    run["began_s"] += 1
json.dump(runs + busy, open(sys.argv[1], "w"))
PYTHON

run run resnet18 --variant small --phase infer --mode lazy,capture --processes 3 --steps 3 --warmup 8 --min-time 0 --device-time none \
    --runtime sim --store "$store" --format json
report "a record that is made afterwards says what they show" "$(
    fault_of 0
    holds '
for r in records:
    c = r["provenance"]["calibration"]
    assert c["idle"]["runs"] == 8 and 0.01 < c["idle"]["deviation"] < 0.2, c
    assert c["busy"] == c["idle"], c
    assert c["runtime"] == r["provenance"]["runtime"]["sha256"], c
    assert c["machine"] == r["provenance"]["host"]["hostname"], c
'
)"
run table --store "$store" --format json
report "the runs' own records are in no table" "$(
    fault_of 0
    holds 'assert {r["model"] for r in records["rows"]} == {"resnet18"}, records["rows"]'
)"
report "a table of a simulated device has what was calibrated" "$(
    fault_of 0
    holds '
r, = [r for r in records["rows"] if r["mode"] == "capture"]
assert r["calibrated"] is True and 0.01 < r["speedup_drift"] < 0.2, r
assert "drift" in [n["id"] for n in records["noted"]], records["noted"]
'
)"

echo "{}" >"$store/calibration/runs.json"
refuses "a file of runs that is none" 3 "runs.json" -- "${calibrate[@]}" --runs 8

echo "1..$count"
