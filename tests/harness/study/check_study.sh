#!/bin/bash
# check_study.sh - bench study from outside, as TAP. On the simulated device, whose costs are set: the
# lines that are fitted must have them as coefficients, within what is stated at each test.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

sim=(--runtime sim --variant small --runtime-option values=none --steps 5 --warmup 8 --min-time 0.2
    --store "$store" --format json)
small=(--model resnet18 "${sim[@]}")

# study NAME OPTIONS CODE: what is wrong with the study, of which CODE, Python, judges `line`, a
# function of what and mode, and `answers`. Times in ms.
study() {
    local name=$1 code=$2
    shift 2
    rm -rf "$store"
    run study "$name" "$@"
    fault_of 0
    holds '
answers = records["answers"]
def line(what, mode):
    return next(l for l in records["lines"] if l["what"] == what and l["mode"] == mode)
def about(name, value, low, high):
    assert low <= value <= high, (name, value, low, high)
'"$code"
}

# ---- refusals -------------------------------------------------------------------------------------

refuses "a study that there is none of" 2 "study|graphs" -- study graph --model resnet18
refuses "no study" 2 "study|trace-cost" -- study --model resnet18
refuses "two models" 2 "--batch|--model" -- study batch --model resnet18,resnet50
refuses "all models" 2 "--batch|--model" -- study batch --model all
refuses "one batch" 2 "--batch" -- study batch "${small[@]}" --batch 4
refuses "a batch twice" 2 "--batch|4" -- study batch "${small[@]}" --batch 4,8,4
refuses "steps in flight without one alone" 2 "1|--in-flight" -- \
    study in-flight "${small[@]}" --in-flight 2,4
refuses "graphs of inference" 2 "training" -- study graphs "${small[@]}" --phase infer
refuses "layers of a model without any to choose" 2 "resnet18|layers" -- study depth "${small[@]}"
refuses "no layers" 2 "--depth 0" -- study depth --model gpt2 "${sim[@]}" --depth 0,2
refuses "rows of no length" 2 "--seq 0" -- study buckets --model bert "${sim[@]}" --seq 0,16
refuses "rows of a model of images" 2 "resnet18|tokens" -- study buckets "${small[@]}" --seq 8,16
refuses "a picture of another format" 2 ".svg" -- \
    study batch "${small[@]}" --output "$folder/x.pdf"
refuses "modes, which a study chooses" 2 "--mode" -- study batch "${small[@]}" --mode eager
report "none of these left a store" "$([ ! -e "$store" ] || [ "$(stored)" -eq 0 ] || echo "records in it")"

run study --help
report "help has an example of each" "$(
    fault_of 0
    for one in graphs in-flight batch arguments buckets depth trace-cost; do
        grep -q "^  bench study $one --model" "$folder/out" || echo "no example of $one"
    done
)"

# ---- how it ends -----------------------------------------------------------------------------------

run study batch "${small[@]}" --phase infer --batch 1,2 --processes 1 --device-time none
report "of one process there are lines, but no intervals, and it says so" "$(
    fault_of 0
    holds '
assert records["processes"] == 1 and len(records["lines"]) == 2, records
for l in records["lines"]:
    assert l["slope"]["estimate"] is not None and l["slope"]["low"] is None, l
    assert l["law"] == "unknown", l
assert "no_intervals" in records["word_ids"] and len(records["word_ids"]) == len(records["words"]), records
assert records["simulated"] is True'
    [ "$(stored)" -eq 4 ] || echo "$(stored) records, not 4"
)"

run study batch --model resnet18 --runtime sim --variant small --phase infer --batch 1,2,4 --steps 3 \
    --min-time 0 --warmup 8 --processes 3 --device-time none --store "$folder/text" --output "$folder/lines.gp"
report "for people it is tables and sentences, and a picture" "$(
    fault_of 0
    for one in '^Study batch: resnet18 ' '  each item  ' '^lazy: .* [um]s '; do
        grep -q "$one" "$folder/out" || echo "no line like $one"
    done
    grep -q "series1 using 1:" "$folder/lines.gp" || echo "no second series in the picture"
)"

run study batch "${small[@]}" --phase infer --batch 1,2 --runtime-option 'faults=execute:*:fail'
report "nothing that went well is nothing to conclude" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    [ ! -s "$folder/out" ] || echo "something on standard output"
)"

rm -rf "$store"
"$bench" study batch "${small[@]}" --phase infer --batch 1,2 --processes 50 --device-time none \
    >"$folder/out" 2>"$folder/err" </dev/null &
program=$!
some_stored() { [ "$(stored)" -ge 5 ]; }
await 60 some_stored
kill -TERM "$program"
wait "$program"
status=$?
report "interrupted, it concludes from what is done" "$(
    [ "$status" -eq 130 ] || echo "exit status $status, not 130"
    complaints | grep -qF "$store" || echo "it does not say where the records are"
    holds 'assert 1 <= records["processes"] < 50, records["processes"]'
)"

# settings MEMBERS: of the device, from the next process on.
settings() {
    printf '{"device_us": 200%s}' "$1" >"$folder/new.json"
    mv "$folder/new.json" "$folder/settings.json"
}
rm -rf "$store" "$folder/err"
settings ''
"$bench" study batch "${small[@]}" --phase infer --batch 1,2 --processes 8 --device-time none \
    --runtime-option config="$folder/settings.json" >"$folder/out" 2>"$folder/err" </dev/null &
program=$!
first_turn() { [ "$(stored)" -ge 4 ]; }
await 60 first_turn
settings ', "faults": "execute:*:fail"'
await 60 grep -q '^bench: ' "$folder/err"
settings ''
wait "$program"
status=$?
report "an experiment that fails in a later turn is tried again in the next" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    holds 'assert 3 <= records["processes"] < 8 and len(records["lines"]) == 2, records["processes"]'
)"

# ---- what was set comes back --------------------------------------------------------------------------

# Each execution takes 2 ms on the device and 1 ms of overhead, and blocks: all of it is exposed. Of
# the host's own work there may be 0.2 ms more. Tracing costs 12 us a node.
graphs() {
    study graphs '
step, device = line("step", "capture"), line("device", "capture")
about("an execution", step["slope"]["estimate"] / 1e6, 2.95, 3.2)
about("of the device", device["slope"]["estimate"] / 1e6, 1.98, 2.02)
about("exposed", answers["exposed_share"]["estimate"], 0.9, 1.2)
truth = 1 + answers["nodes"] * 0.012 / 3
about("crossing", answers["crossing_executions"]["estimate"], 0.93 * truth - 0.1, 1.07 * truth + 0.4)
truth = 1 + answers["nodes"] * 0.012 / 2
about("queued", answers["crossing_queued"]["estimate"], 0.93 * truth - 0.1, 1.07 * truth + 0.6)
assert step["slope"]["low"] < step["slope"]["estimate"] < step["slope"]["high"], step
assert records["processes"] == 3 and len(step["points"]) == 4, step' \
        "${small[@]}" --processes 3 --trace-cost-ns 12000 --runtime-option device_us=2000 \
        --runtime-option launch_us=1000 --runtime-option blocking=true
    [ "$(stored)" -eq 15 ] || echo "$(stored) records, not 15"
}
live "graphs: cost of an execution, its device time, what is exposed, where lazy is faster" graphs \
    busy_stores "$store"

# The host works some 2 ms of a step, the device 1.5 ms: the longer one is what remains. (check_rounds has a device
# that takes longer.)
in_flight() {
    study in-flight '
step = line("step", "lazy")
host = answers["lazy_host"]["estimate"] / 1e6
serial, many = step["points"][0]["estimate"] / 1e6, step["base"]["estimate"] / 1e6
about("device", answers["lazy_device"]["estimate"] / 1e6, 1.48, 1.52)
about("serial", serial, 0.9 * (host + 1.5), 1.05 * (host + 1.5))
about("overlapped", many, 0.93 * max(host, 1.5), 1.1 * max(host, 1.5))
about("captured", line("step", "capture")["base"]["estimate"] / 1e6, 1.49, 1.7)
assert answers["lazy_enough"] == 2, answers["lazy_enough"]
assert answers["lazy_hidden"]["low"] > 0, answers' \
        "${small[@]}" --processes 4 --in-flight 1,2,4 --trace-cost-ns 4000 --runtime-option device_us=1500
}
live "in-flight: host and device one after the other, and side by side" in_flight busy_stores "$store"

# Only captured steps are cut. Lazy ones stay whole.
cut_steps() {
    study "$1" '
lazy, cut = line("step", "lazy"), line("step", "capture")
assert len(lazy["points"]) == len(cut["points"]) == 2, records["lines"]'"$3" \
        "${small[@]}" --processes 2 --device-time none --min-time 0 $2
    [ "$(stored)" -eq 8 ] || echo "$(stored) records, not 8"
    [ "$(grep -c ' 2 of 2: ok in ' "$folder/err")/$(grep -c ': ok in ' "$folder/err")" = 2/2 ] ||
        grep ': ok in ' "$folder/err"
    # Nothing was left out.
    grep 'left out' "$folder/err"
}
report "in-flight of a cut step has lazy, too" "$(cut_steps in-flight '--in-flight 1,2 --graphs 5' '
assert answers["lazy_over_capture_serial"]["estimate"] > 0, answers')"
report "trace-cost of a cut step, too" "$(cut_steps trace-cost '--trace-cost-ns 0,4000 --graphs 3' '')"

# A slow memory makes device time of bytes, which grow with the batch; 5 ms of launch are fixed.
batch() {
    study batch '
step, device = line("step", "capture"), line("device", "capture")
about("an item", step["slope"]["estimate"] / device["slope"]["estimate"], 0.95, 1.05)
about("fixed", (step["base"]["estimate"] - device["base"]["estimate"]) / 1e6, 4.8, 6)
truth = 9 * (device["base"]["estimate"] + 5e6) / device["slope"]["estimate"]
about("batch", answers["capture_batch"]["estimate"], 0.9 * truth, 1.15 * truth)' \
        "${small[@]}" --phase infer --processes 3 --batch 1,4,8 --runtime-option memory_gbps=0.6 \
        --runtime-option launch_us=5000
}
live "batch: what is fixed and what an item takes" batch busy_stores "$store"

# A call takes 0.5 ms and 50 us an argument; binding one of ours takes little in addition.
arguments() {
    study arguments '
about("an argument", answers["call_argument"]["estimate"] / 1e3, 49, 58)
about("the call", answers["call_fixed"]["estimate"] / 1e3, 480, 700)
about("of the overhead", answers["overhead_argument"]["estimate"] / 1e3, 48, 58)
about("exposed", answers["exposed"]["estimate"], 0.9, 1.1)
call, step = line("call", "capture"), line("step", "capture")
most = call["points"][-1]
assert most["x"] > 40 and call["law"] == "holds", call
share = call["slope"]["estimate"] * most["x"] / step["points"][-1]["estimate"]
about("share", answers["share"]["estimate"], 0.9 * share, 1.1 * share)' \
        --model gpt2 "${sim[@]}" --phase infer --processes 3 --depth 1,2,4 \
        --runtime-option argument_us=50 --runtime-option execute_us=500 \
        --runtime-option device_us=2000
}
live "arguments: what each adds to a call, and what a step waits for" arguments busy_stores "$store"

# A slow memory makes device time of bytes, which grow with the length; compiling takes 0.3 s. What is
# best is computed here once more, of the lines alone.
buckets() {
    study buckets '
import math
step, device = line("step", "capture"), line("device", "capture")
compiling = line("compilation", "lazy")
about("a token", step["slope"]["estimate"] / device["slope"]["estimate"], 0.9, 1.1)
about("compiling", compiling["base"]["estimate"] / 1e6, 290, 340)
most, rows = 64, answers["rows"]
assert rows == 2, rows
def below(tokens):
    if tokens >= most: return 1
    if tokens < 4: return 0
    return (0.5 * (1 + math.erf(math.log((tokens + 0.5) / (most / 2)) / 0.5 / math.sqrt(2)))) ** rows
def total(k, steps):
    ns, last = 0, 0
    for i in range(1, k + 1):
        bound = math.ceil(most * i / k)
        share, last = below(bound) - last, below(bound)
        ns += (1 - (1 - share) ** steps) * (compiling["base"]["estimate"] + compiling["slope"]["estimate"] * bound)
        ns += steps * share * (step["base"]["estimate"] + step["slope"]["estimate"] * bound)
    return ns
for run in answers["runs"]:
    best = min(range(1, 65), key=lambda k: total(k, run["steps"]))
    assert run["estimate"] == best, (run, best)
    assert abs(run["total_ns"] / total(best, run["steps"]) - 1) < 1e-6, run
    assert run["low"] <= best <= run["high"] and run["total_ns"] <= run["one_bucket_ns"], run
assert [r["steps"] for r in answers["runs"]] == [1000, 10000, 100000]
assert answers["runs"][0]["estimate"] < answers["runs"][2]["estimate"], answers["runs"]' \
        --model bert "${sim[@]}" --phase infer --batch 2 --processes 3 --seq 16,32,64 \
        --runtime-option memory_gbps=0.6 --runtime-option compile_us=300000
}
live "buckets: how many lengths pay, by the fitted costs" buckets busy_stores "$store"

# Tracing costs 3 us a node, and compiling 0.2 ms an op plus 10 ms.
depth() {
    study depth '
nodes = line("nodes", "lazy")
assert nodes["law"] == "holds" and abs(nodes["off"]) < 1e-9, nodes
tracing, compiling = line("tracing", "lazy"), line("compilation", "lazy")
each = nodes["slope"]["estimate"]
about("tracing a layer", tracing["slope"]["estimate"] / (3000 * each), 0.97, 1.4)
about("compiling a layer", compiling["slope"]["estimate"] / (2e5 * each), 0.7, 3)
about("compiling nothing", compiling["base"]["estimate"] / 1e6, 5, 200)
assert compiling["processes"] == 3, compiling["processes"]' \
        --model gpt2 "${sim[@]}" --phase infer --processes 3 --depth 1,2,4 --trace-cost-ns 3000 \
        --device-time none --runtime-option compile_us=10000 --runtime-option compile_op_us=200
}
live "depth: nodes, tracing and compilation of a layer" depth busy_stores "$store"

# Of serial steps all of the cost is exposed: the slope is the number of nodes. The device takes 5 ms.
trace_cost() {
    study trace-cost '
step, nodes = line("step", "lazy"), answers["nodes"]
about("nodes", step["slope"]["estimate"] / nodes, 0.97, 1.05)
captured = line("step", "capture")["base"]["estimate"]
truth = (1.1 * captured - step["base"]["estimate"]) / nodes
about("bound from", answers["bound_from_ns"]["estimate"], 0.9 * truth - 60, 1.1 * truth + 60)
assert step["law"] == "holds", step' \
        "${small[@]}" --processes 3 --trace-cost-ns 0,4000,16000 --device-time none \
        --runtime-option device_us=5000
}
live "trace-cost: nodes are the slope, and where lazy is bound by tracing" trace_cost busy_stores "$store"

echo "1..$count"
