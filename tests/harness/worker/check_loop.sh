#!/bin/bash
# check_loop.sh - --steps-per-execution: figures stay those of one step, on the simulated device, whose
# times are known; what is refused; batches and losses of each step, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# A step takes 1 ms of the device, an execution 3 ms around that, a node 20 us of tracing.
step=(--model resnet18 --variant small --phase train --runtime sim --processes 1 --steps 8 --min-time 0
    --warmup 8 --trace-cost-ns 20000)
measure() { # MODE STEPS
    PJRT_SIM="values=none,compile_us=0,compile_op_us=0,stated=bench_step:$((1000 * $2)):3000" \
        run "${step[@]}" --mode "$1" --steps-per-execution "$2" --store "$folder/$1"
    fault_of 0
}
for mode in lazy capture; do
    for steps in 1 4 16; do
        measure "$mode" "$steps"
    done
    run table --store "$folder/$mode" --format json
    report "$mode: figures are of one step" "$(
        fault_of 0
        holds '
rows = {r["steps_per_execution"]: r for r in records["rows"]}
assert sorted(rows) == [1, 4, 16], list(rows)
for k, row in rows.items():
    assert row["executions_per_step"] == 1 / k, row
    assert abs(row["device_per_step_ns"] - 1e6) < 1e3, (k, row["device_per_step_ns"])
    # Each node is traced once an execution, and costs its time.
    least = 1e6 + 3e6 / k + row["nodes_per_step"] * 20e3
    assert row["wall_ns"] >= 0.999 * least, (k, row["wall_ns"], least)
if rows[1]["mode"] == "lazy":
    nodes = {k: row["nodes_per_step"] for k, row in rows.items()}
    assert nodes[1] > 400 and abs(nodes[4] * 4 - nodes[16] * 16) < 1e-6 * nodes[1], nodes
    # Once for the loop: entries of variables outside and inside it, and the step.
    assert nodes[1] <= nodes[16] * 16 < 1.6 * nodes[1], nodes
else:
    assert all(row["nodes_per_step"] == 0 for row in rows.values())'
    )"
done
follows() {
    for mode in lazy capture; do
        rm -rf "${folder:?}/$mode"
        for steps in 1 4 16; do
            measure "$mode" "$steps"
        done
        run table --store "$folder/$mode" --format json
        holds '
for row in records["rows"]:
    k = row["steps_per_execution"]
    want = 1e6 + 3e6 / k + row["nodes_per_step"] * 20e3
    assert abs(row["wall_ns"] / want - 1) < 0.03, (row["mode"], k, row["wall_ns"], want)'
    done
}
live "a step takes trace / K + overhead / K + device" follows busy_stores "$folder/lazy" "$folder/capture"

# By the model of the device, which counts each iteration.
export PJRT_SIM=preset=tpu-v4,values=none
run "${step[@]}" --mode capture --steps-per-execution 1,4 --store "$folder/model"
run table --store "$folder/model" --format json
report "both stand in one table, and a loop costs its iterations" "$(
    fault_of 0
    holds '
rows = {r["steps_per_execution"]: r for r in records["rows"]}
assert sorted(rows) == [1, 4], list(rows)
ratio = rows[4]["device_per_step_ns"] / rows[1]["device_per_step_ns"]
assert 0.95 < ratio < 1.5, ratio'
)"
export PJRT_SIM=evaluate_limit=1e12

# ---- values ------------------------------------------------------------------------------------------

tiny=(--model llama --variant small --phase train --batch 1 --seq 8 --runtime sim --processes 1 --steps 2
    --min-time 0 --warmup 2)
for input in synthetic transfer prefetch; do
    run "${tiny[@]}" --input "$input" --mode lazy --steps-per-execution 1,4 --store "$folder/$input" --format json
    report "$input: the losses of four steps are there" "$(
        fault_of 0
        holds '
losses = [r["provenance"]["losses"] for r in records if r["experiment"]["steps_per_execution"] == 4]
assert len(losses) == 1 and len(losses[0]) == 4, losses
assert len(set(losses[0])) == 4, losses
[four] = [r for r in records if r["experiment"]["steps_per_execution"] == 4]
assert four["values"] == "computed", four["values"]
assert four["loss"] == losses[0][3]
assert all("losses" not in r["provenance"] for r in records if r is not four)
assert four["step_counters"]["steps"] == 4 * four["step_counters"]["executions"], four["step_counters"]'
    )"
done

run verify --model llama --variant small --runtime cpu --mode lazy --steps-per-execution 3 --format json
report "bench verify compares with single steps" "$(
    fault_of 0
    holds '
loop = [r for r in records if r["group"] == "loop"]
assert all(r["pass"] for r in records), [r for r in records if not r["pass"]]
assert len([r for r in loop if r["quantity"].startswith("loop.loss[")]) == 3, loop
assert len(loop) > 5 and any(r["quantity"] == "loop.param_l2" for r in loop), loop
assert any(r["group"] != "loop" for r in records)'
)"

unset PJRT_SIM

# ---- what is refused -----------------------------------------------------------------------------------

refuses "eager mode has a program for each op" 2 "each op is a program" -- \
    run "${tiny[@]}" --mode eager --steps-per-execution 4
refuses "a step of several graphs is no loop" 2 "graphs" -- \
    run "${tiny[@]}" --mode capture --graphs 3 --steps-per-execution 4
refuses "varying lengths do not stack" 2 "lengths" -- \
    run --model transformer_wmt_en_de --lengths varying --runtime sim --steps-per-execution 4
refuses "stacks on the host stay with one step" 2 "offload" -- \
    run "${tiny[@]}" --scan on --offload activations --steps-per-execution 4
refuses "the host reads within a step" 2 "steps per execution" -- \
    run --model example_branch --runtime sim --steps-per-execution 4
refuses "the host computes within a step" 2 "steps per execution" -- \
    run --model example_host_op --runtime sim --steps-per-execution 4
refuses "the host sets arguments" 2 "steps per execution" -- \
    run --model example_scalar --runtime sim --steps-per-execution 4
refuses "a number of steps is 1 at least" 2 "steps-per-execution" -- \
    run "${tiny[@]}" --steps-per-execution 0
refuses "frameworks run their own steps" 2 "steps-per-execution" -- \
    run --model resnet18 --front-end jax --mode capture --steps-per-execution 4
echo "1..$count"
