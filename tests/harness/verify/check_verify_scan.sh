#!/bin/bash
# check_verify_scan.sh - models whose layers run as one loop (--scan on) against the golden values,
# whose names and numbers are those of each layer, as TAP. Eager mode is the slowest: one model.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/harness/verify/verify.sh
. tests/harness/verify/verify.sh

start whole lazy,capture small llama,gpt2,bert,vit_small_patch16_224 --scan on
start padded lazy small_pad bert --scan on
start mixtral lazy,capture full mixtral --scan on
start eager eager small llama --scan on
report_entries whole padded mixtral eager
