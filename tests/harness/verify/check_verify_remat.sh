#!/bin/bash
# check_verify_remat.sh - models that compute layers again (--remat), and ask what they save into the
# host's memory (--offload), against the golden values of training, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/harness/verify/verify.sh
. tests/harness/verify/verify.sh

# The rows of one start do not tell the ways apart, so each way is reported by itself.
entries=0
for how in "layer none" "dots none" "layer activations"; do
    read -r remat offload <<<"$how"
    start "$remat-$offload" lazy small llama,gpt2,bert --scan on --remat "$remat" --offload "$offload"
    report_entries "$remat-$offload" >"$folder/tap"
    grep -v '^1\.\.' "$folder/tap" | awk -v first="$entries" -v how="remat $remat, offload $offload" '
        /^(not )?ok / { sub(/[0-9]+ -/, (first + ++n) " - " how ":") } { print }'
    entries=$((entries + $(grep -cE '^(not )?ok ' "$folder/tap")))
done
echo "1..$entries"
