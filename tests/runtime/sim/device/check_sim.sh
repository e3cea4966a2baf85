#!/bin/bash
# check_sim.sh - the simulated runtime from outside, as TAP: what bench says of a device
# whose truth is known, the published cases, emulation, and that the plugin's document
# names every setting. Faults are in check_sim_faults.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." || exit 1
. tests/support/cli.sh
ideal=(--runtime sim --runtime-option preset=ideal --runtime-option values=none)

# Whether a busy machine is all that kept the accuracy from a verdict: every cell that could be
# judged is right, but most could not be.
too_busy_to_judge() {
    local line
    line=$(cat "$folder/out" "$folder/err" | grep -oE 'accuracy: FAIL: .*not judged: the machine was too busy')
    [[ $line =~ FAIL:\ ([0-9]+)\ of\ 16\ .*\;\ ([0-9]+)\ not\ judged ]] &&
        [ $((BASH_REMATCH[1] + BASH_REMATCH[2])) -eq 16 ]
}

accuracy() {
    run selftest accuracy --quick
    fault_of 0
    tail -n 1 "$folder/out" | grep -qE '^accuracy: PASS: [0-9]+ of 16 cells within 1 % or 10 us' ||
        echo "the last line is no verdict"
    grep -q 'profiler' "$folder/out" || echo "no profiler"
    grep -q 'slope' "$folder/out" || echo "no slope"
    ls -d "${TMPDIR:-/tmp}"/bench-accuracy.* 2>/dev/null
}
live "what is reported of the simulated device is what was set, and nothing is left behind" accuracy too_busy_to_judge

accuracy_json() {
    run selftest accuracy --quick --format json
    fault_of 0
    holds '
assert records["pass"] is True
cells = records["cells"]
# A busy machine cannot simulate a device: such cells are said not to be judged.
assert len(cells) == 16 and all(c["pass"] or not c["judged"] for c in cells)
cells = [c for c in cells if c["judged"]]
seen = [c for c in cells if not c["refused"]]
assert len(cells) >= 8 and "profiler" in {c["source"] for c in seen}
for c in seen:
    assert abs(c["measured_device_us"] - c["device_us"]) <= max(10, 0.01 * c["device_us"]), c
# What the slope cannot see is said, and only where the host hides the device.
for c in cells:
    if c["refused"]:
        assert c["source"] == "slope" and c["note"] and c["device_us"] < 1000, c
'
}
live "the same as JSON" accuracy_json too_busy_to_judge

# A read breaks the step into graphs that all are called "bench_step". What the device takes for each is
# its PJRT time but for the half millisecond that a call takes.
namesakes() {
    rm -rf "$store"
    PJRT_SIM=f32_gflops=1,vector_gflops=1,memory_gbps=1,execute_us=500 run run --runtime sim --min-time 0 --steps 20 \
        --warmup 8 --processes 1 --model example_equal --mode lazy --phase train --store "$store" --format json
    fault_of 0
    holds '
[r] = records
runs = [x for x in r["executions"] if x["per_step"]]
timed = [x for x in runs if x["device_ns"] is not None]
assert len(runs) == 3 and len(timed) >= 2, [(x["device_ns"], x["device_note"]) for x in runs]
for x in timed:
    assert abs(x["device_ns"] + 5e5 - x["pjrt_ns"]) < 0.02 * x["pjrt_ns"], (x["device_ns"], x["pjrt_ns"])
    assert x["device_time_source"] == "slope", x["device_time_source"]
'
}
live "graphs of one name are separated, or reported as unknown" namesakes busy_stores "$store"
made_by namesakes
report "and not by the profiler, which does not tell them apart" "$(
    holds '
[r] = records
assert "profiler" not in {x["device_time_source"] for x in r["executions"]}, r["executions"]'
)"

# Where times are not judged, a few steps will do.
few=()
[ "${BENCH_TEST_LIVE:-no}" = yes ] || few=(--steps 2 --warmup 1)
replayed() {
    rm -rf "$store"
    run replay resnet50 ${few[@]+"${few[@]}"} --store "$store" --format json
    fault_of 0
    holds '
cases = records["cases"]
assert [c["replayed"]["executions"] for c in cases] == [1, 5, 5, 3, 1], cases
for c in cases:
    p, r = c["published"], c["replayed"]
    assert abs(r["device_ms"] - p["device_ms"]) < 0.02, c
    assert abs(r["overhead_ms"] - p["overhead_ms"]) < 0.3, c
    assert r["trace_ms"] >= 0.999 * p["trace_ms"], c
    # Awaited one by one, the parts add up to the wall.
    if c["case"] != "the same, queued":
        rest = r["wall_ms"] - r["trace_ms"] - r["device_ms"] - r["overhead_ms"]
        assert abs(rest) < 0.05 * r["wall_ms"], c
queued = cases[2]["replayed"]
assert queued["wall_ms"] < cases[1]["replayed"]["wall_ms"] - 5, cases
'
}
live "the published ResNet50 case is replayed to its parts" replayed busy_stores "$store"
made_by replayed
"$python" -c 'import json, sys
json.dump(json.load(sys.stdin)["witness"], open(sys.argv[1], "w"))' "$folder/witness" <"$folder/out"
run table --store "$store" --format json
report "it tells of the machine what the table of its records tells" "$(
    fault_of 0
    holds '
own, table = json.load(open(folder + "/witness")), records["witness"]
assert own["rounds"] == table["rounds"] > 0, own
for member in "stalled_share", "stolen_share", "others_share", "apart_share", "switches_per_s":
    assert own[member] == table[member] or abs(own[member] / table[member] - 1) < 1e-9, member
assert own["busy"] == table["busy"] and set(own) == set(table), (own, table)
assert (own["busiest"] is None) == (table["busiest"] is None), (own, table)
'
)"
report "its records say simulated, emulated, and no values" "$(
    fault_of 0
    holds '
rows = records["rows"]
assert len(rows) >= 4
for r in rows:
    assert r["simulated"] is True and r["values"] == "none" and r["trace_cost_ns"] > 0, r
    assert "preset=tpu-v4-2023" in r["settings"], r
'
)"
refuses "a case that nobody published" 3 "resnet51|resnet50|models" -- replay resnet51
run run "${quick[@]}" --runtime sim --runtime-option preset=nothing
report "a preset that is none" "$(fault_of 2 "there is no preset nothing; there are ideal, tpu-v4")"
run run "${quick[@]}" --runtime sim --runtime-option colour=red
report "a setting that is none" "$(fault_of 2 "there is no setting colour")"

run run "${quick[@]}" "${ideal[@]}" --mode lazy --trace-cost-ns 20000
report "a slower front end costs what it is said to, and is labelled" "$(
    fault_of 0
    grep -q 'emulated front end of 20000 ns a node' "$folder/out" || echo "no label"
    grep -q 'sim (simulated)' "$folder/out" || echo "not marked as simulated"
    grep -q 'values: none' "$folder/out" || echo "no word on values"
)"
run run "${quick[@]}" "${ideal[@]}" --mode lazy --trace-cost-ns 20000 --format json
report "each traced node waits" "$(
    fault_of 0
    holds '
r = records[0]
nodes = r["step_counters"]["nodes_traced"] / r["steps"]
assert r["experiment"]["trace_cost_ns"] == 20000
assert r["ledger"]["trace"]["p10_ns"] >= 20000 * nodes, (r["ledger"]["trace"], nodes)
assert r["loss"] is None and r["values"] == "none" and r["simulated"] is True
'
)"

# How many steps come before the loss depends on how long they take: of a short one, one more. The first step
# loads the program, and is long. So there are three others, of which the median is taken, and the CPU is asked
# for a step more or less until it took as many.
first=(--model unit_qnli --variant small --processes 1 --steps 1 --min-time 0 --device-time none --dropout off
    --cache-dir "$folder/kept" --store "$store" --format json)
as_many='[a], [b] = (json.load(open(f"{folder}/{name}")) for name in ("simulated", "out"))
assert a["counters"]["steps"] == b["counters"]["steps"], (a["counters"], b["counters"])
'
PJRT_SIM=evaluate_limit=1000000000 run run "${first[@]}" --runtime sim --warmup 4
report "values are computed: the loss is the CPU runtime's" "$(
    fault_of 0
    cp "$folder/out" "$folder/simulated"
    for warmup in 4 3 5 2 4 3 5 2; do
        run run "${first[@]}" --runtime cpu --warmup $warmup
        fault_of 0
        [ -n "$(holds "$as_many")" ] || break
    done
    holds "$as_many"'
assert a["simulated"] and not b["simulated"] and a["values"] == b["values"] == "computed"
assert abs(a["loss"] - b["loss"]) <= 1e-4 * abs(b["loss"]), (a["loss"], b["loss"])
'
)"

report "README.md of the plugin names every setting and every preset" "$(
    for name in $(grep -oE '^ *\{"[a-z0-9_]+", *(TEXT|WHOLE|REAL|FLAG|STATED|FAULTS|PRESET|FILE|TIME_AT|RATE_AT|SHARE_AT)' \
        runtime/sim/device/config.c | grep -oE '"[a-z0-9_]+"' | tr -d '"') \
        $(grep -oE '^ *\{"[a-z0-9-]+",$' runtime/sim/device/preset.c | grep -oE '"[a-z0-9-]+"' | tr -d '"'); do
        grep -qF "\`$name\`" runtime/sim/README.md || echo "no $name"
    done
    [ "$(grep -cE '^ *\{"[a-z0-9_]+", *[A-Z]' runtime/sim/device/config.c)" -ge 40 ] || echo "the settings were not found"
)"
echo "1..$count"
