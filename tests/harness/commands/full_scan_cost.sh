#!/bin/bash
# full_scan_cost.sh - what a loop over layers costs on the default CPU runtime, as TAP: a step with
# --scan on takes at most 1.2 times that of the unrolled one. A ratio whose interval holds 1.2 is a failure,
# too: it tells nothing. So this is worth something on a machine that does nothing else. Takes half an hour.
#
#   PROCESSES=6   pairs of processes of each step, at least 3; MOST=1.2, the ratio that is allowed
#
# needs: an idle machine
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
: "${PROCESSES:=6}" "${MOST:=1.2}"

# cost PHASE WORDS...: measures both ways of a model's step, side by side (scan_cost.py), adds a line to
# $folder/lines, and says what is wrong.
cost() {
    local phase=$1
    shift
    rm -rf "$store"
    run run --model "$@" --scan off,on --phase "$phase" --mode capture --processes "$PROCESSES" \
        --device-time none --store "$store" --quiet --format json
    fault_of 0
    "$python" tests/harness/commands/scan_cost.py "$folder/out" "$MOST" >"$folder/said" 2>&1 ||
        tail -n 1 "$folder/said"
    echo "# $* $phase: $(tail -n 1 "$folder/said")" | tee -a "$folder/lines" >&2
}

: >"$folder/lines"
for line in "bert --variant small" "bert" "gpt2 --variant small" "gpt2 --variant small --depth 16" \
    "gpt2 --seq 64" "llama --variant small" "llama --variant small --depth 16" "llama" \
    "vit_small_patch16_224 --variant small" "vit_small_patch16_224" "mixtral"; do
    read -ra words <<<"$line"
    for phase in train infer; do
        report "scan of $line, $phase" "$(cost $phase "${words[@]}")"
    done
done
cat "$folder/lines"
echo "1..$count"
