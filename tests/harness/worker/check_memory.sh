#!/bin/bash
# check_memory.sh - steps and probes on a simulated device with just so much memory as the steps take, as TAP:
# probes take no more, what does not fit is refused by its name, and what fits is printed, too.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# measure OPTION...: three steps of a small model on the simulated device, as JSON.
measure() {
    rm -rf "$store"
    run run --variant small --processes 1 --steps 3 --min-time 0 --warmup 2 --store "$store" --runtime sim \
        --runtime-option values=none --format json "$@"
}
peak() { "$python" -c '
import json, sys
print(json.load(open(sys.argv[1]))[0]["provenance"]["device_memory"]["peak_bytes"])' "$folder/out"; }

while read -r model phase mode graphs; do
    what=(--model "$model" --phase "$phase" --mode "$mode" --graphs "$graphs")
    measure "${what[@]}" --device-time none
    bytes=$(peak)
    measure "${what[@]}" --device-time slope --runtime-option memory_bytes="$bytes"
    report "$model $phase $mode: probes have room where steps have" "$(
        fault_of 0
        holds "
[r] = records
memory = r['provenance']['device_memory']
assert memory['peak_bytes'] == memory['limit_bytes'] == $bytes, memory
assert r['executions'], r"
    )"
    measure "${what[@]}" --device-time slope --runtime-option memory_bytes=$((bytes * 9 / 10))
    report "$model $phase $mode: what does not fit is refused" "$(
        fault_of 1 "out of device memory"
        holds 'assert [r["status"] for r in records] == ["out-of-memory"], records[0]["status"]'
    )"
done <<'ROWS'
resnet18 train capture 5
resnet18 infer lazy 1
vgg16 infer capture 1
bert train eager 1
squeezenet1_1 train capture 3
ROWS

measure --model resnet18 --phase infer --mode lazy --batch 2 --device-time none
measure --model resnet18 --phase infer --mode lazy --batch 2,512,1 --device-time slope \
    --runtime-option memory_bytes="$(peak)"
report "experiments that fit are printed with those that do not" "$(
    fault_of 1 "out of device memory" "batch 512"
    holds '
assert [(r["experiment"]["batch"], r["status"]) for r in records] == \
    [(2, "ok"), (512, "out-of-memory"), (1, "ok")], [(r["experiment"]["batch"], r["status"]) for r in records]'
    [ "$(stored)" -eq 3 ] || echo "$(stored) records, not 3"
)"
echo "1..$count"
