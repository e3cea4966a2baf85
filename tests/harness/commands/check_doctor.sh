#!/bin/bash
# check_doctor.sh - bench doctor, as TAP: planted problems are found and priced on the simulated
# device, whose costs are known, in all formats; what is mended saves what was said.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# A device of 4 ms an execution.
export PJRT_SIM=values=none,device_us=4000
measured=(--model resnet18 --variant small --phase train --runtime sim --processes 3 --steps 20
    --min-time 0 --warmup 8)

# The wall time of the row MODE GRAPHS of a store, ns.
wall_of() {
    "$bench" table --store "$1" --format json | "$python" -c '
import json, sys
for row in json.load(sys.stdin)["rows"]:
    if row["mode"] == sys.argv[1] and row["graphs"] == int(sys.argv[2]):
        print(row["wall_ns"])' "$2" "$3"
}

# ---- tracing: what capturing saves ---------------------------------------------------

plants_tracing() {
    rm -rf "$folder/trace"
    run "${measured[@]}" --mode lazy,capture --trace-cost-ns 20000 --store "$folder/trace"
    fault_of 0
    cp "$folder/err" "$folder/notes"
    run doctor --store "$folder/trace" --format json
    fault_of 0
    lazy=$(wall_of "$folder/trace" lazy 1) capture=$(wall_of "$folder/trace" capture 1) holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == "tracing"]
saved = float(os.environ["lazy"]) - float(os.environ["capture"])
assert c["mode"] == "lazy" and c["model"] == "resnet18", c
with open(folder + "/figures", "w") as f:
    print("# tracing: the doctor says %.3f ms a step, capturing saves %.3f" % (c["cost_ns"] / 1e6, saved / 1e6), file=f)
assert abs(c["cost_ns"] - saved) < 0.2 * saved, (c["cost_ns"], saved)
assert c["cost_low_ns"] <= c["cost_ns"] <= c["cost_high_ns"]
verdicts = {row["mode"]: row["verdict"] for row in records["goodput"]}
assert verdicts["lazy"] == "tracing-bound" and verdicts["capture"] != "unknown", verdicts
# Nothing of a trace has one line in the source.
assert c["where"] == "" and c["why"] is None, c'
}
export lazy capture one two five
live "tracing is priced by what capturing saves" plants_tracing busy_stores "$folder/trace"
made_by plants_tracing

# Tracing of some 2 ms hides behind the device's 4.
hides_tracing() {
    rm -rf "$folder/alone" "$folder/ahead"
    run "${measured[@]}" --mode lazy --trace-cost-ns 3000 --store "$folder/alone"
    fault_of 0
    run "${measured[@]}" --mode lazy --trace-cost-ns 3000 --in-flight 2 --store "$folder/ahead"
    fault_of 0
    run doctor --store "$folder/alone" --format json
    fault_of 0
    one=$(wall_of "$folder/alone" lazy 1) two=$(wall_of "$folder/ahead" lazy 1) holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == "tracing"]
saved = float(os.environ["one"]) - float(os.environ["two"])
assert saved > 0 and abs(c["hidden_ns"] - saved) < 0.2 * saved, (c["hidden_ns"], saved)'
}
live "steps in flight hide as much of tracing as was said" hides_tracing \
    busy_stores "$folder/alone" "$folder/ahead"

# ---- executions: what merging graphs saves ------------------------------------------------

plants_executions() {
    rm -rf "$folder/graphs"
    # The host takes 1 ms to call the plugin, and the device works for less meanwhile: its time is that
    # of the ops, however they are cut.
    PJRT_SIM=values=none,f32_gflops=100,vector_gflops=1000,memory_gbps=1000,execute_us=1000 run "${measured[@]}" --mode capture --graphs 1,5 --store "$folder/graphs"
    fault_of 0
    run doctor --store "$folder/graphs" --format json
    fault_of 0
    five=$(wall_of "$folder/graphs" capture 5) one=$(wall_of "$folder/graphs" capture 1) holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == "executions"]
assert c["graphs"] == 5 and c["count"] == 5, c
saved = float(os.environ["five"]) - float(os.environ["one"])
with open(folder + "/figures", "w") as f:
    print("# executions: the doctor says %.3f ms a step, one saves %.3f" % (c["cost_ns"] / 1e6, saved / 1e6), file=f)
assert abs(c["cost_ns"] - saved) < 0.2 * saved, (c["cost_ns"], saved)'
}
live "the overhead of graphs is priced by what one saves" plants_executions busy_stores "$folder/graphs"

# ---- at the end of a run ------------------------------------------------------------------

# The notes of the last run of plants_tracing.
report "a run ends with its most costly complaint" "$(
    grep -Eq "^\[3/3\] doctor: resnet18 train lazy: tracing .* bench doctor $folder/trace" \
        "$folder/notes" || cat "$folder/notes"
)"
short=(--model resnet18 --variant small --phase infer --runtime sim --processes 1 --steps 5 --min-time 0
    --warmup 8 --mode lazy --trace-cost-ns 50000 --store "$folder/short")
run "${short[@]}" --quiet
report "--quiet leaves it out" "$(fault_of 0; cat "$folder/err")"
for format in json csv html; do
    run "${short[@]}" --format $format
    report "$format leaves it out" "$(fault_of 0; grep "] doctor: " "$folder/out" "$folder/err")"
done

# A device of 20 ms, of which all that the host does is little; and XLA for CPU, where batches of 8
# leave the host little. Three processes have intervals.
healthy() {
    local one model phase mode runtime processes
    rm -rf "$folder"/well-*
    for one in "resnet18 infer lazy sim 1" "resnet18 train capture sim 3" "bert infer capture sim 1" \
        "bert train lazy sim 3" "llama infer lazy sim 1" "gpt2 infer capture sim 1" \
        "mobilenet_v2 infer lazy sim 1" "squeezenet1_1 infer capture cpu 3" \
        "unit_qnli infer capture sim 1" "vgg16 infer lazy cpu 1"; do
        read -r model phase mode runtime processes <<<"$one"
        PJRT_SIM=values=none,device_us=20000 run --model "$model" --phase "$phase" --variant small \
            --batch 8 --mode "$mode" --runtime "$runtime" --processes "$processes" --steps 8 \
            --min-time 0 --warmup 8 --store "$folder/well-$model-$phase"
        fault_of 0
        grep '] doctor: ' "$folder/err"
        grep -q '] records: ' "$folder/err" || echo "$one: not run"
    done
}
well_busy() {
    busy_stores "$folder"/well-*
}
live "ten healthy runs draw no complaint" healthy well_busy

# ---- forms --------------------------------------------------------------------------------

run doctor --store "$folder/trace"
report "complaints are sentences with advice" "$(
    fault_of 0
    grep -qE '^[0-9]+\. resnet18 train lazy: tracing [0-9]+ .*--mode capture' \
        "$folder/out" || echo "no such sentence"
    grep -q '^tracing-bound: resnet18 train lazy' "$folder/out" || echo "nothing says what bounds the steps"
)"
for format in md csv html latex narrow; do
    run doctor --store "$folder/trace" --format $format
    report "complaints as $format" "$(
        fault_of 0
        grep -q -- "tracing" "$folder/out" || echo "no tracing in it"
    )"
done
is_healthy() {
    rm -rf "$folder/healthy"
    run "${measured[@]}" --mode capture --store "$folder/healthy"
    fault_of 0
    run doctor --store "$folder/healthy"
    fault_of 0
    grep -q '^1\. ' "$folder/out" && echo "it has findings"
    grep -qE ' [0-9]+ % ' "$folder/out" || echo "no share of the device"
}
live "a healthy run draws no complaint" is_healthy busy_stores "$folder/healthy"
run doctor "$folder/trace"
report "the folder may stand alone" "$(fault_of 0)"
refuses "a folder that is none" 3 "$folder/nowhere" -- doctor --store "$folder/nowhere"
refuses "a format that is none" 2 "'xml'" -- doctor --store "$folder/trace" --format xml
echo "1..$count"
