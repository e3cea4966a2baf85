#!/bin/bash
# full_scan_cost.sh - what a loop over layers costs on the default CPU runtime, as TAP: a step with
# --scan on takes at most 1.2 times that of the unrolled one. Prints each ratio with its interval, and
# is worth something on a machine that does nothing else. Takes about ten minutes.
#
#   PROCESSES=6   of each experiment; MOST=1.2, the ratio that is allowed
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
: "${PROCESSES:=6}" "${MOST:=1.2}"
trap 'rm -rf "$folder"' EXIT

# cost MODEL WORDS...: measures both, unless a model has no such phase; prints a line, and what is wrong.
cost() {
    local model=$1
    shift
    rm -rf "$store"
    run run --model "$model" --scan off,on --phase train,infer --mode capture --processes "$PROCESSES" \
        --device-time none --store "$store" --quiet "$@"
    [ "$status" -eq 0 ] || echo "exit status $status"
    run table --store "$store" --format json
    holds '
import math
most, rows = '"$MOST"', {(r["phase"], r["scan"]): r for r in records["rows"]}
for phase in ("train", "infer"):
    off, on = rows[phase, "off"], rows[phase, "on"]
    half = math.hypot(*[math.log(r["wall_high_ns"] / r["wall_low_ns"]) / 2 for r in (off, on)])
    ratio = on["wall_ns"] / off["wall_ns"]
    low, high = ratio * math.exp(-half), ratio * math.exp(half)
    with open(folder + "/lines", "a") as f:
        print("# '"$model $*"' %s: %.3f and %.3f ms, %.2f [%.2f, %.2f]" % (
            phase, off["wall_ns"] / 1e6, on["wall_ns"] / 1e6, ratio, low, high), file=f)
    if low > most:
        print("%s: %.2f [%.2f, %.2f] times the unrolled step" % (phase, ratio, low, high))
'
    tail -n 2 "$folder/lines" >&2
}

for line in "bert --variant small" "bert" "gpt2 --variant small" "gpt2 --variant small --depth 16" \
    "gpt2 --seq 64" "llama --variant small" "llama --variant small --depth 16" "llama" \
    "vit_small_patch16_224 --variant small" "vit_small_patch16_224" "mixtral"; do
    read -ra words <<<"$line"
    report "scan of $line" "$(cost "${words[@]}")"
done
cat "$folder/lines"
echo "1..$count"
