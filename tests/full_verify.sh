#!/bin/bash
# full_verify.sh - every full entry of tests/golden whose model there is, in every
# mode, as TAP; one at a time, because the largest take several GiB.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=tests/verify.sh
. tests/verify.sh

variants=$(variants_of full)
start whole lazy,capture "$variants"
start eager eager "$variants"
report_entries '*.full*' whole eager
