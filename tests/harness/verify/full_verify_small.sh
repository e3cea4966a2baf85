#!/bin/bash
# full_verify_small.sh - every reduced entry of tests/golden whose model there is, in every mode, as TAP.
# Capture shares its executables with lazy mode. Eager mode shares none and runs separately. It compiles
# each op of a model by itself, so models whose ops others have are left to full_verify.sh there.
# Mixtral has no reduced entry; its full one is small enough.
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/harness/verify/verify.sh
. tests/harness/verify/verify.sh

variants=$(variants_of small)
# of VARIANT: the models that eager mode runs it of, as a list.
of() {
    find tests/golden -name "*.$1.json" -printf '%f\n' | sed 's/\..*//' |
        grep -vxE 'alexnet|bert_pytorch|mnasnet1_0|resnet50' | paste -sd,
}
{
    for variant in ${variants//,/ }; do
        start "eager_$variant" eager "$variant" "$(of "$variant")"
    done
    start mixtral_eager eager full mixtral
} &
start whole lazy,capture "$variants"
start mixtral lazy,capture full mixtral
wait $!
# shellcheck disable=SC2046 # a word a variant
report_entries $(printf 'eager_%s ' ${variants//,/ }) whole mixtral mixtral_eager
