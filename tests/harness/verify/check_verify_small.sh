#!/bin/bash
# check_verify_small.sh - every reduced entry of tests/golden whose model there is, lazily; captured
# those of two transformers and of one whose rows end in padding, and a decoder in eager mode, as TAP.
# full_verify_small.sh has every mode, and check_verify.sh those of resnet18. Mixtral has no reduced entry;
# its full one is small enough.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/harness/verify/verify.sh
. tests/harness/verify/verify.sh

# but MODEL VARIANT: the other models that have an entry of VARIANT, as a list.
but() {
    find tests/golden -name "*.$2.json" -printf '%f\n' | sed 's/\..*//' | grep -vx "$1" | paste -sd,
}
names=
for variant in $(variants_of small | tr , ' '); do
    start "$variant" lazy "$variant" "$(but mobilenet_v2 "$variant")"
    names+=" $variant"
done
# Without the compiler's optimizations (tests/run.sh) it rounds a little farther than tolerances allow.
XLA_FLAGS='' start mobilenet lazy small mobilenet_v2
start mixtral lazy full mixtral
start captured capture small bert,llama
start padded capture small_pad unit_qnli
start eager eager small llama
# shellcheck disable=SC2086 # a word a variant
report_entries $names mobilenet mixtral captured padded eager
