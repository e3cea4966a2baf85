#!/bin/bash
# check_scopes.sh - bench study scopes from outside, as TAP. On the simulated device, whose model gives each
# fused group its time, so that the times of all scopes must add up to those of the executions.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

small=(--model resnet18 --variant small)
sim=("${small[@]}" --runtime sim --runtime-option values=none --steps 2)

# ---- refusals -------------------------------------------------------------------------------------

refuses "two models" 2 "--model" -- study scopes --model resnet18,resnet50
refuses "two batches" 2 "scopes" -- study scopes "${small[@]}" --batch 4,8
refuses "a mode" 2 "--mode" -- study scopes "${small[@]}" --mode lazy
refuses "a figure that there is none of" 2 "--weight|trace, flops" -- study scopes "${small[@]}" --weight time
refuses "a file of another format" 2 "x.pdf|.folded, .svg" -- \
    study scopes "${small[@]}" --output "$folder/x.pdf"
refuses "a preset that there is none of" 2 "preset|tpu-v99|tpu-v4|ideal" -- study scopes "${small[@]}" --preset tpu-v99
refuses "a runtime that there is none of" 3 "no-such" -- study scopes "${small[@]}" --runtime no-such
report "none of these left a file" "$([ ! -e "$folder/x.pdf" ] || echo "x.pdf is there")"

run study scopes "${sim[@]}" --runtime-option 'faults=execute:*:fail' --output "$folder/none.folded"
report "a step that fails is reported, and nothing is written" "$(
    fault_of 1 "simulated fault"
    [ ! -s "$folder/out" ] || echo "something on standard output"
    [ ! -e "$folder/none.folded" ] || echo "stacks of it"
)"

# ---- figures --------------------------------------------------------------------------------------

sums='
lines = records["scopes"]
def sum_of(figure, scope="", phase=None):
    return sum(l[figure] for l in lines if (not scope or l["scope"] == scope or
               l["scope"].startswith(scope + ".")) and phase in (None, l["phase"]))
'
run study scopes "${sim[@]}" --format json --output "$folder/step.folded" --output "$folder/step.gp"
cp "$folder/out" "$folder/step.json"
report "scopes add up to the step" "$(
    fault_of 0
    holds "$sums"'
est = records["estimated"]
assert est["simulated"] and est["steps"] == 2 and records["measured"] is None
assert abs(sum_of("estimated_ns") / est["step_ns"] - 1) < 1e-3, (sum_of("estimated_ns"), est)
assert all(l["measured_ns"] is None for l in lines)
t = records["tracing"]
assert t["traces"] >= 10 and t["plain_ns"] > 0 and t["ratio_p10"] <= t["ratio"] <= t["ratio_p90"]
assert 0.5 < sum_of("trace_ns") / t["timed_ns"] < 1.5, (sum_of("trace_ns"), t)
conv = [sum_of("flops", "layer1.0.conv1", p) for p in ("forward", "backward")]
# Two convolutions, and a sum of gradients.
assert conv[0] > 0 and 2 <= conv[1] / conv[0] < 2.05, conv
assert sum_of("nodes", "sgd", "update") > 100 and sum_of("nodes", "sgd", "forward") == 0
assert sum_of("estimated_ns", "layer1") > 0 and sum_of("trace_ns", "layer1") > 0
assert len({(l["scope"], l["phase"]) for l in lines}) == len(lines)
')"

cheap() {
    run study scopes "${sim[@]}" --preset none --format json
    fault_of 0
    holds 'assert records["tracing"]["ratio"] < 1.2, records["tracing"]'
}
live "timing scopes adds less than a fifth to tracing" cheap busy_machine

run run "${quick[@]}" --mode lazy --runtime sim --runtime-option values=none --device-time none --format json
report "nodes are those that a run traces" "$(
    fault_of 0
    holds '
with open(folder + "/step.json") as f:
    own = sum(l["nodes"] for l in json.load(f)["scopes"])
c = records[0]["counters"]
assert own * c["steps"] == c["nodes_traced"], (own, c)
')"

report "stacks have all of it, and other tools can read them" "$(
    "$python" - "$folder" 2>&1 <<'PYTHON' | tail -n 3
import json, re, sys
folder = sys.argv[1]
total = sum(l["estimated_ns"] for l in json.load(open(folder + "/step.json"))["scopes"])
stacks = open(folder + "/step.folded").read().splitlines()
for s in stacks:
    assert re.fullmatch(r"resnet18(;[^; ]+| ?\(no scope\)|;\(no scope\))*;(input|forward|statistics|backward|update) [0-9]+", s), s
assert abs(sum(int(s.rsplit(" ", 1)[1]) for s in stacks) - total) <= len(stacks)
assert any(s.startswith("resnet18;layer1;0;conv1;backward ") for s in stacks), stacks[:5]
PYTHON
    grep -q '^\$kind3 << EOD' "$folder/step.gp" || echo "no frames of the backward phase"
    grep -q 'SIMULATED' "$folder/step.gp" || echo "the picture does not say that it is simulated"
)"

run study scopes "${sim[@]}" --format csv --weight trace --output "$folder/trace.folded"
report "CSV has a line for each scope and phase" "$(
    fault_of 0
    "$python" - "$folder" 2>&1 <<'PYTHON' | tail -n 3
import csv, json, sys
folder = sys.argv[1]
rows = list(csv.DictReader(open(folder + "/out")))
lines = json.load(open(folder + "/step.json"))["scopes"]
assert [(r["scope"], r["phase"], float(r["flops"])) for r in rows] == \
       [(l["scope"], l["phase"], l["flops"]) for l in lines]
assert all(r["measured_ns"] == "" and float(r["estimated_ns"]) >= 0 for r in rows)
PYTHON
    [ -s "$folder/trace.folded" ] || echo "no stacks of tracing"
)"

refuses_weight() {
    run study scopes "${sim[@]}" --weight measured --output "$folder/none.folded"
    report "a figure that is not there cannot be drawn" "$(
        fault_of 1 "--weight measured"
        [ ! -e "$folder/none.folded" ] || echo "stacks of it"
    )"
}
refuses_weight

# ---- the tree -------------------------------------------------------------------------------------

run study scopes "${sim[@]}" --levels 1 --least 5%
report "a tree of one level" "$(
    fault_of 0
    grep '^resnet18 train ' "$folder/out" | grep -qF '100.0 %' || echo "no row of the whole step"
    grep -q '^  layer1 ' "$folder/out" || echo "no row of layer1"
    grep -q '^    ' "$folder/out" && echo "a second level"
    grep -q 'smaller)' "$folder/out" || echo "small branches do not stand together"
    grep -qi 'estimated' "$folder/out" || echo "not called estimated"
    grep -qE 'percentile.*%' "$folder/out" || echo "the cost of timing is not there"
)"

run study scopes "${sim[@]}" --levels 0 --least 0
report "all of the tree" "$(
    fault_of 0
    grep -q '^      conv1 ' "$folder/out" || echo "no row of a convolution"
    grep -q 'smaller)' "$folder/out" && echo "branches are put together"
)"

run study scopes "${small[@]}" --preset tpu-v4 --format json
report "without a profile it says so, and estimates" "$(
    fault_of 0
    holds "$sums"'
assert records["measured"]["on"] == "cpu" and records["measured"]["why"], records["measured"]
assert records["estimated"]["on"] == "preset tpu-v4" and records["experiment"]["runtime"] == "cpu"
assert sum_of("estimated_ns") > 0 and lines[0]["measured_ns"] is None
')"

run study scopes --model llama --variant small --scan on --runtime sim --runtime-option values=none \
    --steps 1 --format json
report "a loop's time is that of the scopes in its round" "$(
    fault_of 0
    holds "$sums"'
inside = sum_of("estimated_ns", "model.layers")
assert inside > 0.2 * sum_of("estimated_ns"), (inside, sum_of("estimated_ns"))
assert any("self_attn" in l["scope"] and l["estimated_ns"] > 0 and l["trace_ns"] > 0 for l in lines)
')"

run study scopes --help
report "help has an example" "$(
    fault_of 0
    grep -q '^  bench study scopes --model' "$folder/out" || echo "no example"
)"

echo "1..$count"
