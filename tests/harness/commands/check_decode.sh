#!/bin/bash
# check_decode.sh - bench run --phase decode, from outside, as TAP: each model that decodes runs in each
# mode; records, tables, exports, suites, graphs and scopes say phase and context; what has no meaning is
# refused.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

brief=(--runtime sim --processes 1 --steps 6 --min-time 0 --warmup 8 --device-time none --store "$store")

# refused WHAT COMPLAINT ARGUMENT...: that run is wrong usage, with this one complaint.
refused() {
    local what=$1 text=$2
    shift 2
    refuses "$what" 2 "$text" -- --runtime sim --store "$store" --phase decode "$@"
}
refused "a model that does not decode" "resnet18" --model resnet18
refused "a model of language that does not" "bert" --model bert
refused "an optimizer" "--optimizer sgd" --model llama --optimizer sgd
refused "dropout" "--dropout off" --model llama --dropout off
refused "rematerialization" "--remat layer" --model llama --remat layer
refused "layers as one loop" "--scan on" --model llama --scan on
refused "batches that are sent" "--input transfer" --model llama --input transfer
refused "several graphs" "3 graphs" --model llama --mode capture --graphs 3
refused "a prompt that fills the context" "context" --model llama --seq 64
refused "more positions than there are" "context" --model gpt2 --context 1025
refuses "a context without decoding" 2 "--context 8" -- --model llama --phase infer --context 8 --store "$store"

run --model gpt2,llama --variant small --phase infer,decode --mode eager,lazy,capture --batch 2 "${brief[@]}" \
    --format json
report "prefill and decode run in every mode, and nothing is compiled or read after the first token" "$(
    fault_of 0
    holds '
assert len(records) == 12, len(records)
for r in records:
    e, decode = r["experiment"], r["experiment"]["phase"] == "decode"
    assert (e["seq"], e["context"]) == ((8, 16) if decode else (16, 0)), e
    assert sum(r["provenance"]["warmup"]["compiles"][1:]) == 0, r["provenance"]["warmup"]
    assert r["provenance"]["measured"]["compiles"] == [], r["provenance"]["measured"]
    assert r["counters"]["transfers_to_host"] == 0, r["counters"]
'
)"
run --model mixtral --phase decode --mode lazy,capture --context 20 --seq 4 "${brief[@]}" --format json
report "so does mixtral, with a context and a prompt" "$(
    fault_of 0
    holds '
assert [(r["experiment"]["seq"], r["experiment"]["context"]) for r in records] == [(4, 20)] * 2, records'
)"
run table --store "$store" --format csv
report "tables have both phases, and the context" "$(
    fault_of 0
    "$python" -c '
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["kind"] == "row"]
have = sorted({(r["model"], r["phase"], r["context"]) for r in rows})
assert have == [("gpt2", "decode", "16"), ("gpt2", "infer", "0"), ("llama", "decode", "16"),
                ("llama", "infer", "0"), ("mixtral", "decode", "20")], have' "$folder/out" 2>&1 | tail -n 1
)"
run export --to pytorch-xla --store "$store"
report "an export does not call it evaluation" "$(
    fault_of 0
    "$python" -c '
import collections, json, sys
tests = collections.Counter(json.loads(line)["experiment"]["test"] for line in open(sys.argv[1]))
assert tests == {"eval": 6, "decode": 8}, tests' "$folder/out" 2>&1 | tail -n 1
)"

run --model llama --variant small --phase decode --mode capture --graph-report "$folder/graphs" "${brief[@]}"
report "its graph donates the caches, the position and the token" "$(
    fault_of 0
    for file in "$folder"/graphs/*.mlir; do
        case $file in *.optimized.mlir) continue ;; esac
        [ "$(grep -o tf.aliasing_output "$file" | wc -l)" -eq 6 ] || echo "not six in $file"
    done
)"
run study scopes --model gpt2 --variant small --phase decode --runtime sim --format json
report "scopes have the choice of the token" "$(
    fault_of 0
    grep -q '"choice"' "$folder/out" || echo "no scope choice"
)"
cat >"$folder/decode.json" <<'JSON'
{"bench_suite": 1, "name": "decode", "defaults": {"variants": "small", "phases": "decode", "repetitions": 1},
 "matrix": [{"models": ["llama", "gpt2"], "modes": "lazy", "contexts": [0, 32]}]}
JSON
run suite "$folder/decode.json" --dry-run --store "$folder/none"
report "suites have contexts" "$(
    fault_of 0
    [ "$(grep -c '^run ' "$folder/out")" -eq 4 ] || echo "not four experiments"
    grep -q 'llama.small decode lazy.* context 32' "$folder/out" || echo "no llama of context 32"
)"
run list models --format json
report "the list says which models decode" "$(
    fault_of 0
    "$python" -c '
import json, sys
have = [m["model"] for m in json.load(open(sys.argv[1])) if "decode" in m["phases"].split(",")]
assert have == ["gpt2", "llama", "mixtral"], have' "$folder/out" 2>&1 | tail -n 1
)"

echo "1..$count"
