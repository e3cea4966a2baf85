#!/bin/bash
# check_scan.sh - layers as one loop, from outside, as TAP: --scan in runs, tables, suites, weights.
# Values are check_verify_scan.sh's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT

brief=(--processes 1 --steps 3 --min-time 0 --warmup 8 --device-time none --store "$store")

refuses "a model without like layers" 2 "resnet18|--scan on" -- \
    --model resnet18 --variant small --scan on --store "$store"
refuses "a word that is none" 2 "--scan|'maybe'" -- --model llama --scan maybe --store "$store"

run --model llama --variant small --mode lazy --scan off,on --depth 3,6 --runtime sim "${brief[@]}" --format json
report "deeper models have more nodes, and as a loop they have not" "$(
    fault_of 0
    holds '
nodes = {}
for r in records:
    e = r["experiment"]
    traced = r["step_counters"]["nodes_traced"] / r["step_counters"]["steps"]
    nodes[e["scan"], e["depth"]] = (r["executions"][0]["nodes"], r["executions"][0]["text_bytes"], traced)
assert sorted(nodes) == [("off", 3), ("off", 6), ("on", 3), ("on", 6)], nodes
assert all(b > 1.4 * a for a, b in zip(nodes["off", 3], nodes["off", 6])), nodes
assert nodes["on", 3] == nodes["on", 6], nodes
flops = {(r["experiment"]["scan"], r["experiment"]["depth"]): r["executions"][0]["flops"] for r in records}
for depth in 3, 6:
    assert abs(flops["on", depth] / flops["off", depth] - 1) < 0.1, flops
'
)"
run table --store "$store"
report "the table tells the two ways apart" "$(
    fault_of 0
    grep -q '^llama .*scan on' "$folder/out" || echo "no row of scan on"
)"

cat >"$folder/scans.json" <<'JSON'
{"bench_suite": 1, "name": "scans", "defaults": {"variants": "small", "phases": "infer", "repetitions": 1},
 "matrix": [{"models": ["llama", "gpt2"], "modes": "lazy", "scans": ["off", "on"],
             "exclude": [{"models": "gpt2", "scans": "on"}]}]}
JSON
run suite "$folder/scans.json" --dry-run --store "$folder/none"
report "suites have scans, and exclude by them" "$(
    fault_of 0
    [ "$(grep -c '^run ' "$folder/out")" -eq 3 ] || echo "not three experiments"
    grep -q 'llama.small infer lazy scan on' "$folder/out" || echo "no llama as a loop"
)"

run export-weights --model llama --variant small --output "$folder/weights"
report "weights are written by layer" "$(
    fault_of 0
    head -c 8000 "$folder/weights" | grep -qF 'model.layers.1.self_attn.q_proj.weight' || echo "no layer 1"
)"
run --model llama --variant small --mode lazy --scan on --weights "$folder/weights" --phase infer "${brief[@]}"
report "and start a model whose layers are stacked" "$(fault_of 0)"
echo "1..$count"
