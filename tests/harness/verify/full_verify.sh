#!/bin/bash
# full_verify.sh - every full entry of tests/golden whose model there is, in every mode,
# as TAP; one at a time, because the largest take several GiB (eager unit_qnli 11).
#
# needs: 12 GB of memory
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/harness/verify/verify.sh
. tests/harness/verify/verify.sh

start whole lazy,capture,eager "$(variants_of full)"
report_entries whole
