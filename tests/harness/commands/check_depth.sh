#!/bin/bash
# check_depth.sh - layers of a decoder, from outside, as TAP: --depth in runs, suites, tables,
# selections, weights and verify.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

brief=(--processes 1 --phase infer --steps 3 --min-time 0 --warmup 8 --device-time none --store "$store")

refuses "a depth of a model without layers to choose" 2 "resnet18|--depth 3" -- \
    --model resnet18 --variant small --depth 3 --store "$store"
refuses "a depth that is none" 2 "--depth|'2000'" -- --model llama --depth 2000 --store "$store"

run --model llama,gpt2 --variant small --mode lazy --depth 0,2,4 "${brief[@]}" --format json
report "a deeper model has more nodes; its own depth is 0 in the record, whichever way it is said" "$(
    fault_of 0
    holds '
nodes = {}
for r in records:
    e = r["experiment"]
    nodes.setdefault((e["model"], e["depth"]), []).append(r["executions"][0]["nodes"])
assert sorted(nodes) == [("gpt2", 0), ("gpt2", 4), ("llama", 0), ("llama", 4)], sorted(nodes)
for model in "gpt2", "llama":
    own, deep = nodes[model, 0], nodes[model, 4]
    assert len(own) == 2 and own[0] == own[1], own # 0 and 2, the reduced models own number
    assert deep[0] > 1.5 * own[0], (own, deep)
'
)"

run table --store "$store"
report "the table tells depths apart" "$(
    fault_of 0
    grep -q '^gpt2 .*depth 4' "$folder/out" || echo "no row of depth 4"
)"
run table --store "$store" --format csv
report "and so does its CSV" "$(
    fault_of 0
    "$python" -c '
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["kind"] == "row"]
assert sorted((r["model"], r["depth"]) for r in rows) == [
    (m, d) for m in ("gpt2", "llama") for d in ("0", "4")], rows' "$folder/out" 2>&1 | tail -n 1
)"
run history --store "$store" --model llama --depth 4 --format json
report "history takes records by depth" "$(
    fault_of 0
    holds 'assert len(records) == 1, len(records)'
)"

cat >"$folder/depths.json" <<'JSON'
{"bench_suite": 1, "name": "depths", "defaults": {"variants": "small", "phases": "infer", "repetitions": 1},
 "matrix": [{"models": ["llama", "gpt2"], "modes": "lazy", "depths": [0, 3],
             "exclude": [{"models": "gpt2", "depths": 3}]}]}
JSON
run suite "$folder/depths.json" --dry-run --store "$folder/none"
report "suites have depths, and exclude by them" "$(
    fault_of 0
    [ "$(grep -c '^run ' "$folder/out")" -eq 3 ] || echo "not three experiments"
    grep -q 'llama.small infer lazy depth 3 f32' "$folder/out" || echo "no llama of depth 3"
)"

run export weights --model llama --variant small --depth 3 --output "$folder/three" --format json
report "weights of three layers" "$(
    fault_of 0
    holds 'assert records[0]["depth"] == 3, records'
    head -c 4000 "$folder/three" | grep -qF '"depth":"3"' || echo "the file does not say its depth"
)"
run list models --variant small --format json
report "the list of models says how many layers decoders have" "$(
    fault_of 0
    holds 'assert {r["model"]: r["depth"] for r in records if r["depth"]} == {
        "gpt2": 2, "llama": 2}, records'
    grep -qw mixtral "$folder/err" || echo "a model without the variant is not named"
)"
run --model llama --variant small --mode lazy --depth 3 --weights "$folder/three" "${brief[@]}"
report "start a model of three layers" "$(fault_of 0)"
refuses "and no other" 2 "--weights" -- \
    --model llama --variant small --mode lazy --depth 4 --weights "$folder/three" "${brief[@]}"

run verify --model llama --variant small --mode lazy --depth 3
report "verify refuses other depths than the golden one" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    grep -q 'llama.small: .*--depth 3' "$folder/err" || echo "not said why"
)"
run verify --all --depth 3 --mode lazy
report "so does verify of all, which is left with nothing" "$(
    [ "$status" -eq 3 ] || echo "exit status $status, not 3"
    grep -q 'resnet18.full: .*--depth 3' "$folder/err" ||
        echo "not said what was left out"
)"
run verify --model llama --variant small --mode lazy --depth 2
report "and takes the golden one" "$(fault_of 0)"

echo "1..$count"
