#!/bin/bash
# full_verify.sh - every full entry of tests/golden whose model there is, lazily and
# captured, as TAP; one at a time, because the largest take several GiB. Eager mode keeps
# every value of a step until its end, of AdamW about 29 a parameter: models of up to
# 100 million parameters only, which stay under 12 GiB.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=tests/verify.sh
. tests/verify.sh

variants=$(variants_of full)
start whole lazy,capture "$variants"
modest=$("$bench" list models --format json | "$python" -c 'import json, sys
print(*(m["model"] for m in json.load(sys.stdin) if m["parameters"] <= 1e8), sep=",")')
start eager eager full "$modest"
report_entries whole eager
