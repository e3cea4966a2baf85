#!/bin/bash
# check_verify_small.sh - every reduced entry of tests/golden whose model there is, in
# every mode, as TAP. Eager mode shares no executable with the others and runs beside
# them. Mixtral has no reduced entry; its full one is small enough.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/harness/verify/verify.sh
. tests/harness/verify/verify.sh

variants=$(variants_of small)
{
    start eager eager "$variants"
    start mixtral_eager eager full mixtral
} &
start whole lazy,capture "$variants"
start mixtral lazy,capture full mixtral
wait $!
report_entries eager whole mixtral mixtral_eager
