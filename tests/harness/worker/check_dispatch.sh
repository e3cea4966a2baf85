#!/bin/bash
# check_dispatch.sh - --dispatch awaited, as TAP: each execution of a step is awaited before the next
# one, on the simulated device, whose times are known; and the published case in a plain run.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# An execution takes 1 ms of the device, 1 ms before that and 2 ms behind it.
export PJRT_SIM=values=none,device_us=1000,launch_us=1000,completion_us=2000,compile_us=0,compile_op_us=0
both=(--model resnet18 --variant small --phase train --runtime sim --dispatch queued,awaited --processes 1
    --steps 6 --min-time 0 --warmup 8 --device-time none)

# Waits have no upper bound on a busy machine, but a lower one.
run "${both[@]}" --mode capture --graphs 1,5 --store "$folder/graphs"
run table --store "$folder/graphs" --format json
report "each of five graphs is awaited" "$(
    fault_of 0
    holds '
rows = {(r["dispatch"], r["graphs"]): r for r in records["rows"]}
assert sorted(rows) == [("awaited", 1), ("awaited", 5), ("queued", 1), ("queued", 5)], list(rows)
for (dispatch, graphs), row in rows.items():
    assert row["executions_per_step"] == graphs, row
    least = graphs * 4e6 if dispatch == "awaited" else graphs * 1e6 + 3e6
    assert row["wall_ns"] >= 0.999 * least, (dispatch, graphs, row["wall_ns"])'
)"
hides() {
    rm -rf "$folder/hidden"
    run "${both[@]}" --mode capture --graphs 5 --store "$folder/hidden"
    run table --store "$folder/hidden" --format json
    fault_of 0
    holds '
wall = {r["dispatch"]: r["wall_ns"] / 1e6 for r in records["rows"]}
assert wall["queued"] < 10 and 20 <= wall["awaited"] < 23, wall'
}
live "queued graphs hide all overheads but one" hides busy_stores "$folder/hidden"
run "${both[@]}" --mode eager --phase infer --steps 2 --store "$folder/eager"
run table --store "$folder/eager" --format json
report "in eager mode each op is awaited" "$(
    fault_of 0
    holds '
[row] = [r for r in records["rows"] if r["dispatch"] == "awaited"]
assert row["executions_per_step"] > 20, row
assert row["wall_ns"] >= 0.999 * row["executions_per_step"] * 4e6, row'
)"

refuses "nothing is in flight" 2 "--in-flight" -- run "${both[@]}" --dispatch awaited --in-flight 2
refuses "dispatch is queued or awaited" 2 "queued, awaited" -- run "${both[@]}" --dispatch eagerly
run "${both[@]}" --mode lazy --in-flight 2 --store "$folder/flight"
run table --store "$folder/flight" --format json
report "queued steps stay, where awaited ones are refused" "$(
    fault_of 0
    holds 'assert [r["dispatch"] for r in records["rows"]] == ["queued"], records["rows"]'
)"

# ---- the published case -------------------------------------------------------------------------

# 17.85 ms of device time as one graph and 23.67 as five; overheads of 4 and 15.2 ms, 14 ms of tracing.
published() {
    rm -rf "$folder/published"
    PJRT_SIM="preset=tpu-v4-2023,values=none,compile_us=0,compile_op_us=0,stated=bench_step:17850:4000"
    PJRT_SIM="$PJRT_SIM;bench_input:83:1800;bench_forward:9600:4300;bench_statistics:600:2300"
    PJRT_SIM="$PJRT_SIM;bench_backward:13100:3600;bench_update:289:3200" \
        run --model resnet50 --batch 32 --mode lazy,capture --graphs 1,5 --dispatch queued,awaited --runtime sim \
        --trace-cost-ns 7043 --processes 3 --steps 5 --min-time 0 --warmup 8 --device-time none --store "$folder/published"
    fault_of 0
    run table --table published --store "$folder/published" --format json
    fault_of 0
    holds '
rows = {(r["mode"], r["dispatch"], r["graphs"]): r for r in records["rows"]}
assert sorted(rows) == [("capture", "awaited", 1), ("capture", "awaited", 5), ("capture", "queued", 1)], list(rows)
assert records["left_out_queued"] == 1
five = rows["capture", "awaited", 5]
assert 0.85 < five["speedup"] < 0.99, five["speedup"]
assert five["published_5_graphs"] == 0.758'
    run table --store "$folder/published" --format json
    holds '
ratio = {(r["dispatch"], r["graphs"]): r["speedup"] for r in records["rows"] if r["mode"] == "capture"}
assert ratio["queued", 5] > 1.15 and ratio["awaited", 5] < 1, ratio'
}
live "five awaited graphs are slower than a lazy step, five queued ones faster" published \
    busy_stores "$folder/published"
echo "1..$count"
