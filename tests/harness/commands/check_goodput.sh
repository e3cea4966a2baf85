#!/bin/bash
# check_goodput.sh - bench table --table goodput, as TAP: on the simulated device, whose costs are
# known, each class has at least what was set, and productive what was set for the device; shares
# sum to all; modes of one process share it without being each other's losses.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# 10 ms of device time an execution, 3 ms around it, 50 ms a compilation, 100 ms for the client.
export PJRT_SIM=values=none,device_us=10000,launch_us=2000,completion_us=1000,compile_us=50000,start_us=100000
measured=(--model resnet18 --variant small --phase infer --mode lazy,capture --runtime sim
    --processes 3 --steps 10 --min-time 0 --warmup 12 --trace-cost-ns 20000)

# ---- what was set ---------------------------------------------------------------------------

# All comparisons are with the records' own counts; what the machine adds makes losses larger only.
measures() {
    rm -rf "$folder/set"
    run "${measured[@]}" --store "$folder/set" --format json
    cp "$folder/out" "$folder/records"
    run table --store "$folder/set" --table goodput --format json
    fault_of 0
    holds '
kept = json.load(open(folder + "/records"))
classes = ("productive initialization preparation compile warmup input tracing overhead idle "
           "measuring rest untold").split()
for row in records["rows"]:
    mine = [r for r in kept if r["experiment"]["mode"] == row["mode"]]
    steps = sum(r["steps"] for r in mine)
    nodes = sum(r["step_counters"]["nodes_traced"] for r in mine)
    assert row["told"] == len(mine) == 3 and row["untold_ns"] == 0, row
    assert abs(sum(row[c + "_share"] for c in classes) - 1) < 1e-9
    assert abs(sum(row[c + "_ns"] for c in classes) - row["wall_ns"]) < 100
    assert abs(row["productive_ns"] - steps * 1e7) < 0.1 * steps * 1e7, (row["productive_ns"], steps)
    low, high = row["productive_low_share"], row["productive_high_share"]
    assert 0 <= low <= row["productive_share"] <= high <= 1
    # Of what was set for the launch and the completion, slopes may tell a little less.
    assert row["overhead_ns"] > 0.8 * steps * 3e6, (row["overhead_ns"], steps)
    assert row["tracing_ns"] >= nodes * 2e4, (row["tracing_ns"], nodes)
    assert (nodes > 0) == (row["mode"] == "lazy")
    assert row["initialization_ns"] >= 3e8 and row["input_ns"] == 0, row
    # The first process compiles; each warm-up and each measuring has steps of 13 ms at least.
    assert row["compile_ns"] >= 5e7, row["compile_ns"]
    assert row["measuring_ns"] > 0 and row["warmup_ns"] >= 3 * 2 * 13e6, row'
}
live "each class has what was set" measures busy_stores "$folder/set"
made_by measures

# ---- side by side ------------------------------------------------------------------------------

side_by_side() {
    run table --store "$folder/set" --table goodput --format json
    holds '
lazy, capture = [next(r for r in records["rows"] if r["mode"] == m) for m in ("lazy", "capture")]
whole = [r["wall_ns"] + r["others_ns"] for r in (lazy, capture)]
assert abs(whole[0] - whole[1]) < 1, whole
# What was for both is in both: less than half of each is the other one'"'"'s.
shared = lazy["wall_ns"] + capture["wall_ns"] - whole[0]
both = lazy["initialization_ns"] + lazy["rest_ns"]
assert shared > 0 and abs(shared - both) < 0.2 * both, (shared, both)
assert abs(lazy["initialization_ns"] - capture["initialization_ns"]) < 1'
}
report "modes of one process are not each other's losses" "$(side_by_side)"

run --model resnet18 --variant small --phase infer --mode lazy --runtime sim --processes 1 --steps 3 \
    --min-time 0 --warmup 8 --device-time none --store "$folder/none"
run table --store "$folder/none" --table goodput --format json
report "without a device time, work and overhead are not separated" "$(holds '
[row] = records["rows"]
assert row["productive_share"] is None and row["overhead_share"] is None, row
assert row["GOODPUT_share"] is None and row["OTHER_share"] is None, row
assert row["untold_ns"] > 0 and row["productive_low_share"] is None')"

# ---- forms ----------------------------------------------------------------------------------

forms() {
    local format
    for format in text narrow md latex html csv; do
        run table --store "$folder/set" --table goodput --format "$format"
        fault_of 0
        grep -q "productive" "$folder/out" || echo "$format has no column productive"
        grep -q "capture" "$folder/out" || echo "$format has no row of capture"
    done
    run table --store "$folder/none" --table goodput
    grep -q "unknown" "$folder/out" || echo "the unknown share is not called so"
    # The shares that people read sum to 100, but for their rounding.
    run table --store "$folder/set" --table goodput
    awk '/%/ && /(lazy|capture)/ { sub(/\[.*\]/, ""); sum = 0; n++
             for (i = 2; i <= NF; i++) if ($i == "%") sum += $(i - 1)
             if (sum < 99.2 || sum > 100.8) print "a row sums to " sum " %" }
         END { if (n != 2) print n " rows" }' "$folder/out"
}
report "all forms of the table" "$(forms)"

echo "1..$count"
