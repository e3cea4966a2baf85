#!/bin/bash
# full_windows.sh - steps of fused mode on the simulated device, whose costs are known, as TAP: the wall
# time is that of the schedule window by window: traced, submitted, launched, worked on.
#
# needs: an idle machine
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
costs=(execute_us=30 launch_us=40 completion_us=10)

# schedule DEVICE_US: what is wrong of the records in $folder/out, for windows of so many us each.
schedule() {
    "$python" - "$folder/out" "$1" 2>&1 <<'PYTHON' | tail -n 1
import json, sys
records, device = json.load(open(sys.argv[1])), float(sys.argv[2]) * 1e3
execute, launch, completion = 30e3, 40e3, 10e3
for r in records:
    w, part = r["provenance"]["window"], {k: v["median_ns"] for k, v in r["ledger"].items()}
    ends = w["ends"]
    ran = [x for x in r["executions"] if x["graph"].startswith("window") and x["per_step"]]
    numbers = sorted(int(x["graph"].split()[1]) - 1 for x in ran)
    assert len(numbers) > 1 and len(numbers) == w["windows"], (numbers, w)
    # The host's own work besides tracing is spread over the windows.
    other = (part["hash"] + part["bind"] + part["lookup"]) / len(numbers)
    host = free = 0
    traced = 0
    for k in numbers:
        host += part["trace"] * (ends[k] - traced) / ends[-1] + other
        traced = ends[k]
        host += execute  # the call returns when the execution is submitted
        free = max(host + launch, free) + device
    predicted = free + completion
    wall = r["rounds"]["step"]["median_ns"]
    print("#", r["experiment"]["window"], "nodes,", len(numbers), "windows of", device / 1e3, "us:",
          f"{wall / 1e6:.3f} ms, predicted {predicted / 1e6:.3f} ({wall / predicted - 1:+.2%})",
          file=open(sys.argv[1] + ".figures", "a"))
    assert abs(wall / predicted - 1) < 0.03, f"{wall / 1e6:.3f} ms, predicted {predicted / 1e6:.3f}"
PYTHON
}

attempt() {
    : >"$folder/out.figures"
    for device in 200 1000 4000; do
        run run --model resnet18 --variant small --mode fused --window 64,128 --processes 1 \
            --steps 40 --runtime sim --runtime-option values=none --runtime-option device_us=$device \
            "${costs[@]/#/--runtime-option=}" --trace-cost-ns 7000 --store "$store" --format json
        [ "$status" -eq 0 ] || echo "exit status $status"
        schedule $device
    done
    cp "$folder/out.figures" "$folder/figures"
}
live "the wall of windows is that of their schedule" attempt busy_machine

echo "1..$count"
