#!/bin/bash
# full_estimate.sh - bench estimate with the real compiler of TPUs, as TAP: it takes half an hour, and
# is skipped where libtpu was not fetched (make runtime-tpu). ResNet50 is compared with what was
# published, loops over layers with what libtpu said of JAX's (docs/scan.md).
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

run "${estimate[@]}" --model resnet50 --batch 32 --mode capture --graphs 1,5 --layouts default,auto \
    --timeout 3600
report "five graphs cost more, by copies that automatic layouts take away" "$(fault_of 0)$(holds '
def graphs(of, layouts):
    return [l for l in records if l["of"] == of and l["layouts"] == layouts]
def total(of, layouts, what):
    return sum(l["estimate"][what] for l in graphs(of, layouts))
one, five = total(1, "default", "cycles"), total(5, "default", "cycles")
assert five > 1.2 * one, five / one
copies = [c for l in graphs(5, "default") for c in l["estimate"]["copies"]]
assert copies and all(c["name"] and c["cycles"] is not None for c in copies)
assert total(5, "default", "copy_cycles") > 0.1 * five
share = total(5, "auto", "copy_cycles") / total(5, "auto", "cycles")
assert share < 0.02, share
')"
report "the forward graph in automatic layouts is within 10 % of the published time" "$(holds '
forward, = [l for l in records if l["of"] == 5 and l["layouts"] == "auto" and l["number"] == 2]
assert abs(forward["estimated_ms"] / 9.6 - 1) < 0.1, forward["estimated_ms"]
')"

# ---- layers as one loop

run "${estimate[@]}" --model llama --depth 4,8,32,64 --scan on --topology v5e:1x1
report "one loop is compiled as fast for 64 layers as for 4" "$(fault_of 0)$(holds '
line = {l["experiment"]["depth"]: l for l in records}
assert line[64]["text_bytes"] < 1.05 * line[8]["text_bytes"]
seconds = [line[d]["estimate"]["compile_cpu_s"] for d in (4, 64)]
assert seconds[1] < 1.3 * seconds[0], seconds
')"
report "one loop is estimated at no more than that of JAX" "$(holds '
cycles = {l["experiment"]["depth"]: l["estimate"]["cycles"] for l in records}
assert cycles[8] <= 1.614e6 and cycles[32] <= 8.999e6, cycles
loops = {l["experiment"]["depth"]: l["estimate"]["loops"] for l in records}
for depth, found in loops.items():
    assert sum(loop["times"] == depth for loop in found) >= 2, (depth, found)
')"

run "${estimate[@]}" --model llama --depth 8 --batch 16 --seq 512 --scan on --remat none,layer \
    --topology v5e:1x1
report "what is computed again needs no memory" "$(fault_of 0)$(holds '
temp = {l["experiment"]["remat"]: l["estimate"]["memory"]["temp"] for l in records}
assert temp["layer"] < 0.3 * temp["none"], temp
')"

run "${estimate[@]}" --model llama --depth 256 --batch 512 --seq 64 --scan on --remat layer \
    --offload none,activations --topology v5e:1x1
report "what is offloaded lies on the host, to the byte" "$(fault_of 0)$(holds '
line = {l["experiment"]["offload"]: l for l in records}
memory = {name: l["estimate"]["memory"] for name, l in line.items()}
assert memory["activations"]["host_temp"] == line["activations"]["offload_bytes"] > 1e9
assert memory["none"]["host_temp"] == 0
share = memory["activations"]["temp"] / memory["none"]["temp"]
assert share < 0.3, share
')"

rm -rf "$folder"
echo "1..$count"
