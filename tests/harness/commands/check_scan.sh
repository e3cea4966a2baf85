#!/bin/bash
# check_scan.sh - layers as one loop, from outside, as TAP: --scan in runs, tables, suites, weights.
# Values are check_verify_scan.sh's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

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

run export weights --model llama --variant small --output "$folder/weights"
report "weights are written by layer" "$(
    fault_of 0
    head -c 8000 "$folder/weights" | grep -qF 'model.layers.1.self_attn.q_proj.weight' || echo "no layer 1"
)"
run --model llama --variant small --mode lazy --scan on --weights "$folder/weights" --phase infer "${brief[@]}"
report "and start a model whose layers are stacked" "$(fault_of 0)"

# judged STATUS WORDS RATIO...: what is wrong with the verdict of full_scan_cost.sh on pairs of processes with
# these ratios. The machine gets slower from pair to pair, which tells nothing of the loop.
judged() {
    "$python" - "${@:3}" >"$folder/pairs.json" <<'PYTHON'
import json, sys
def record(scan, process, ns):
    return {"status": "ok", "message": "", "experiment": {"scan": scan}, "ledger": {"wall": {"median_ns": ns}},
            "provenance": {"group": {"process": process}}}
json.dump([record(scan, i, 1e6 * 1.5 ** i * (float(ratio) if scan == "on" else 1))
           for i, ratio in enumerate(sys.argv[1:], 1) for scan in ("on", "off")], sys.stdout)
PYTHON
    "$python" tests/harness/commands/scan_cost.py "$folder/pairs.json" 1.2 >"$folder/out" 2>&1
    status=$?
    [ "$status" -eq "$1" ] || echo "${*:3}: exit status $status, not $1"
    grep -qE -- "$2" "$folder/out" || echo "${*:3}: it does not say '$2'"
}
report "a loop that may cost 1.2 times as much does, or does not, or nobody can tell" "$(
    judged 0 '^.*, 1[.]10 times \[1[.]0[0-9]+, 1[.]1[0-9]+\] in 4 pairs, at most 1[.]20: holds$' 1.10 1.12 1.11 1.09
    judged 1 ', 1[.]30 times .*: fails$' 1.30 1.32 1.31 1.29
    judged 1 ', 1[.]19 times .*: inconclusive: use more processes$' 1.00 1.40 1.05 1.35
    judged 1 '2 pairs of processes tell nothing$' 1.00 1.01
)"
echo "1..$count"
