#!/bin/bash
# full_coverage.sh - bench selftest coverage with the budget of bench run, as TAP. Takes a minute.
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/selftest/coverage.sh

report "by the budget of bench run, half-widths of a small model are to be at most 3 %" "$(
    demands "assert [r['half_width_at_most'] for r in ratios] == [0.03, 0.03], ratios
assert of['wall, lazy']['half_width_at_most'] is None, of"
)"

echo "1..$count"
