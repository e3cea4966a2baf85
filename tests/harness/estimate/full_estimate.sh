#!/bin/bash
# full_estimate.sh - bench estimate with the real compiler of TPUs, as TAP: it takes minutes, and is
# skipped where libtpu was not fetched (make runtime-tpu). ResNet50 is compared with what was published.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

if ! "$bench" list runtimes 2>/dev/null | grep -q 'libtpu.so'; then
    echo "1..1"
    echo "ok 1 - estimates of a TPU # SKIP libtpu is not here: make runtime-tpu"
    exit 0
fi
cache=$folder/cache
estimate=(estimate --cache-dir "$cache" --format json)

run "${estimate[@]}" --model resnet18 --variant small --phase infer \
    --topology v2:2x2,v3:2x2,v4:1x1x1,v4:1x1x1/megacore,v5e:1x1,v5p:1x1x1,v6e:1x1,tpu7x:1x1x1
report "each generation compiles" "$(fault_of 0)$(holds '
assert len(records) == 8
for line in records:
    e = line["estimate"]
    assert line["class"] == "ok" and e["cycles"] > 1000 and e["estimated"] > 3, line["topology"]
    assert e["memory"]["argument"] > 0 and e["topology"]["memory_bytes"] > 1e9
    assert e["flops"] > 0.5 * line["flops"] and e["serialized_bytes"] > 0
    assert len(e["layouts"]) > 0 and sum(e["results"].values()) > 0
v4, mega = records[2], records[3]
assert v4["estimate"]["topology"]["devices"] == 2 and mega["estimate"]["topology"]["devices"] == 1
assert mega["estimated_ms"] > 0 and records[5]["estimated_ms"] is None
')"

run "${estimate[@]}" --model llama --variant small --mode capture --graphs 1,3 --layouts default,auto \
    --topology v5e:1x1
report "automatic layouts are taken from graph to graph" "$(fault_of 0)$(holds '
plain = [l for l in records if l["of"] > 1 and l["layouts"] == "default"]
auto = [l for l in records if l["of"] > 1 and l["layouts"] == "auto"]
assert len(plain) == len(auto) == 3
copies = lambda lines: sum(l["estimate"]["layout_cycles"] for l in lines)
assert copies(auto) <= copies(plain), (copies(auto), copies(plain))
')"

run "${estimate[@]}" --model resnet50 --batch 4096 --topology v5e:1x1 --phase train --timeout 3600
report "what does not fit is told with the compiler's numbers" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
)$(holds '
line, = records
assert line["class"] == "out-of-device-memory", line["class"]
assert line["estimate"]["used_bytes"] > line["estimate"]["limit_bytes"] > 1e9
')"

run "${estimate[@]}" --model resnet50 --batch 32 --topology v4:1x1x1/megacore --timeout 3600
report "ResNet50 is within 10 % of the published time" "$(fault_of 0)$(holds '
line, = records
ms = line["estimated_ms"]
assert abs(ms / 17.85 - 1) < 0.1, ms
')"

rm -rf "$folder"
echo "1..$count"
