#!/bin/bash
# full_replay_busy.sh - bench replay resnet50 under load, as TAP: it reports that the machine was busy, in
# text and in JSON. For minutes of a machine that nobody else measures on.
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'end_loops; rm -rf "$folder"' EXIT

begin_loops $(($(nproc) * 2))
run replay resnet50 --store "$store" --format json
report "in JSON" "$(
    fault_of 0
    holds '
w = records["witness"]
assert w["busy"] is True and w["busiest"] in ("resnet50 lazy, 1 graph", "resnet50 capture, 5 graphs",
    "resnet50 capture, 3 graphs", "resnet50 capture, 1 graph"), w
assert w["others_share"] > 0.1 and w["sentence"], w
assert "machine-busy" in records["noted"], records["noted"]
cases = records["cases"]
assert ("cases-off" in records["noted"]) == any(c["off"] for c in cases), records
for c in cases:
    assert c["off"] or c["case"] == "the same, queued" or c["unexplained_ms"] > 0, c
    assert c["replayed"]["wall_low_ms"] <= c["replayed"]["wall_ms"] <= c["replayed"]["wall_high_ms"], c'
)"
run replay resnet50 --store "$store"
report "in text" "$(
    fault_of 0
    [ "$(grep -c '^Interference' "$folder/out")" -eq 1 ] || echo "no such sentence"
)"
end_loops
echo "1..$count"
