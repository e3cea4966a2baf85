#!/bin/bash
# check_remat.sh - what a loop of layers saves, from outside, as TAP: --remat and --offload in runs,
# tables, suites, estimates. Values are check_verify_remat.sh's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

brief=(--processes 1 --steps 3 --min-time 0 --warmup 8 --device-time none --store "$store")
model=(--model llama --variant small)

refuses "remat without a loop" 2 "--scan on|--remat layer" -- \
    "${model[@]}" --remat layer --store "$store"
refuses "remat in inference" 2 "--scan on|--remat dots" -- \
    "${model[@]}" --scan on --phase infer --remat dots --store "$store"
refuses "offloading between graphs" 2 "--offload activations|3 graphs" -- \
    "${model[@]}" --scan on --mode capture --graphs 3 --offload activations --store "$store"
refuses "a word that is none" 2 "--remat|'all'" -- "${model[@]}" --scan on --remat all --store "$store"

run "${model[@]}" --mode lazy,capture --scan on --remat none,dots,layer --runtime sim "${brief[@]}" --format json
report "a simulated step computes layers again, and takes less memory" "$(
    fault_of 0
    holds '
of = {}
for r in records:
    assert "offload" not in r, r["offload"]
    x = r["executions"][0]
    of[r["experiment"]["mode"], r["experiment"]["remat"]] = (x["temp_bytes"], x["flops"])
assert len(of) == 6, of
for mode in "lazy", "capture":
    none, dots, layer = (of[mode, remat] for remat in ("none", "dots", "layer"))
    assert none[0] > dots[0] > layer[0], of
    assert none[1] < dots[1] < layer[1], of
'
)"

run "${model[@]}" --mode lazy --scan on --remat layer --offload activations --runtime sim "${brief[@]}" --format json
report "a runtime that drops what is offloaded is said so in the record" "$(
    fault_of 0
    holds '
r, = records
x = r["executions"][0]
assert r["experiment"]["offload"] == "activations" and r["offload"] == "dropped", r["offload"]
assert x["offload_bytes"] == 2 * 1 * 16 * 64 * 4 and x["host_temp_bytes"] == 0, x
'
)"
run table --store "$store"
report "and in tables, which tell the ways apart" "$(
    fault_of 0
    grep -q 'remat dots' "$folder/out" || echo "no row of remat dots"
    grep -q 'offload activations' "$folder/out" || echo "no row of offload activations"
)"
run table --store "$store" --format json
report "and a note names what is not offloaded" "$(
    fault_of 0
    holds 'assert any("offload" in note for note in records["notes"]), records["notes"]'
)"

refused="a runtime that does not know the call fails, and the record says why"
if "$bench" list runtimes --format json | "$python" -c '
import json, sys
sys.exit(not any(r["runtime"] == "cpu-xla" and r["found"] for r in json.load(sys.stdin)))'; then
    run "${model[@]}" --mode lazy --scan on --remat layer --offload activations --runtime cpu-xla "${brief[@]}" \
        --store "$folder/refused" --format json
    report "$refused" "$(
        [ "$status" -eq 1 ] || echo "exit status $status"
        complaints | grep -q annotate_device_placement || echo "it is not said"
        holds '
r, = records
assert r["experiment"]["offload"] == "activations" and r["steps"] == 0, r["experiment"]
assert r["status"] in ("compile-error", "not-supported"), (r["status"], r["message"])
assert "annotate_device_placement" in r["message"], r["message"]
'
    )"
else
    skip "$refused" "cpu-xla is not set up"
fi

cat >"$folder/remat.json" <<'JSON'
{"bench_suite": 1, "name": "remat", "defaults": {"variants": "small", "phases": "train", "repetitions": 1},
 "matrix": [{"models": "llama", "modes": "lazy", "scans": "on", "remats": ["none", "layer"],
             "offloads": ["none", "activations"], "exclude": [{"remats": "none", "offloads": "activations"}]}]}
JSON
run suite "$folder/remat.json" --dry-run --store "$folder/none"
report "suites have both, and exclude by them" "$(
    fault_of 0
    [ "$(grep -c '^run ' "$folder/out")" -eq 3 ] || echo "not three experiments"
    grep -q 'scan on remat layer offload activations' "$folder/out" || echo "no offloading one"
)"

export FAKE_PJRT=hlo
estimate=(estimate --runtime "$fake" --topology fake:1 "${model[@]}" --cache-dir "")
run "${estimate[@]}" --scan off,on --remat none,layer --offload none,activations --format json
report "estimates are of each, and the compiler's host temporaries next to what was asked" "$(
    fault_of 0
    holds '
of = {(l["experiment"]["scan"], l["experiment"]["remat"], l["experiment"]["offload"]): l for l in records}
assert len(records) == len(of) == 5, sorted(of)
assert of["on", "layer", "activations"]["offload_bytes"] == 2 * 16 * 64 * 4
assert of["on", "none", "activations"]["offload_bytes"] > 4 * 2 * 16 * 64 * 4
assert of["on", "layer", "none"]["offload_bytes"] == 0
assert of["on", "layer", "none"]["flops"] > of["on", "none", "none"]["flops"]
assert all(l["estimate"]["loops"][0]["times"] == 8 for l in records)
'
)"
run "${estimate[@]}" --scan on --remat layer --offload activations
report "an estimate says whether the compiler takes it" "$(
    fault_of 0
    grep -q 'scan on, remat layer, offload activations' "$folder/out" || echo "the title does not say it"
    grep -q "8\.19 kB.* 600 B" "$folder/out" ||
        echo "no sentence of it"
)"
echo "1..$count"
