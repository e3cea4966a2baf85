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
'
)"
sed -i 's/"busy": true/"busy": false/' "$store/calibration/runs.json"
run "${calibrate[@]}" --runs 8
report "eight runs show a drift" "$(
    fault_of 0
    holds '
assert records["idle"]["runs"] == 8, records
assert 0.01 < records["idle"]["deviation"] < 0.2, records
'
)"

run run resnet18 --variant small --phase infer --processes 1 --steps 3 --warmup 8 --min-time 0 --device-time none \
    --runtime sim --store "$store" --format json
report "a record that is made afterwards says what they show" "$(
    fault_of 0
    holds '
for r in records:
    c = r["provenance"]["calibration"]
    assert c["idle"]["runs"] == 8 and 0.01 < c["idle"]["deviation"] < 0.2, c
    assert c["runtime"] == r["provenance"]["runtime"]["sha256"] and "busy" not in c, c
    assert c["machine"] == r["provenance"]["host"]["hostname"], c
'
)"
run table --store "$store" --format json
report "the runs' own records are in no table" "$(
    fault_of 0
    holds 'assert {r["model"] for r in records["rows"]} == {"resnet18"}, records["rows"]'
)"

echo "{}" >"$store/calibration/runs.json"
refuses "a file of runs that is none" 3 "runs.json" -- "${calibrate[@]}" --runs 8

echo "1..$count"
