#!/bin/bash
# full_estimate.sh - bench estimate with the real compiler of TPUs, as TAP: it takes 13 minutes on a fast core,
# and an hour or two on slow or busy ones, so make check-full needs BENCH_TEST_TIMEOUT=14400. It is skipped where libtpu
# was not fetched (make runtime-tpu). Estimates are compared with what was published, and our loop over layers
# with that of JAX (jax_scan.py), which `make frontends` installs or BENCH_FRONTEND_PYTHON_JAX names; without
# it that part is skipped.
#
#   PROCESSES=7     that trace a loop of 8 and of 64 layers
#   PUBLISHED='vgg16:4 alexnet:128'   models and batches whose published inference is looked at
#
# needs: libtpu, JAX
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

if ! "$bench" list runtimes 2>/dev/null | grep -q 'libtpu.so'; then
    echo "1..1"
    echo "ok 1 - estimates of a TPU # SKIP libtpu is not here: make runtime-tpu"
    exit 0
fi
for_recordings
export PYTHONDONTWRITEBYTECODE=1
processes=${PROCESSES:-7}
published=${PUBLISHED:-resnet50:32 resnext50_32x4d:8 alexnet:128 mobilenet_v2:16 mnasnet1_0:32
    squeezenet1_1:16 vgg16:4 bert_pytorch:16}
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
v5p, v6e = records[5], records[6]
assert mega["estimated_ms"] > 0 and v6e["estimated_ms"] is None
assert abs(v5p["estimated_ms"] * 1.75e6 / v5p["estimate"]["cycles"] - 1) < 1e-9
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
report "a program that does not fit is reported with the compiler's numbers" "$(
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
line = {l["experiment"]["depth"] or 4: l for l in records} # 4 is the model'"'"'s own, which a record calls 0
assert line[64]["text_bytes"] < 1.05 * line[8]["text_bytes"]
seconds = [line[d]["estimate"]["compile_cpu_s"] for d in (4, 64)]
assert seconds[1] < 1.3 * seconds[0], seconds
')"
report "the rounds of its loops are counted" "$(holds '
loops = {l["experiment"]["depth"] or 4: l["estimate"]["loops"] for l in records}
for depth, found in loops.items():
    assert sum(loop["times"] == depth for loop in found) >= 2, (depth, found)
')"

# What was compiled is not compiled again, so these only trace, which includes hashing. Which of them
# comes first changes from process to process.
tracing() {
    local number depths
    : >"$folder/traced"
    for ((number = 1; number <= processes; number++)); do
        depths=8,64
        ((number % 2)) || depths=64,8
        run "${estimate[@]}" --model llama --depth $depths --scan on --topology v5e:1x1
        fault_of 0
        holds '
assert all(l["cached"] for l in records), "a loop was compiled again"
line = {l["experiment"]["depth"]: l["trace_ns"] for l in records}
with open(folder + "/traced", "a") as f:
    print(json.dumps([line[8], line[64]]), file=f)
'
    done
    "$python" - "$folder/traced" >"$folder/said" 2>&1 <<'PYTHON'
import json, statistics, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
few, many = (statistics.median(line[i] for line in lines) for i in range(2))
ratio = statistics.median(line[1] / line[0] for line in lines)
print(f"# a loop is traced and hashed in {few / 1e3:.1f} us with 8 layers, {many / 1e3:.1f} us with 64: "
      f"{ratio:.3f} times, medians of {len(lines)} processes")
if ratio > 1.05:
    print(f"tracing and hashing takes {ratio:.3f} times as long with 64 layers as with 8")
PYTHON
    grep -v '^#' "$folder/said"
}
live "one loop is traced and hashed as fast for 64 layers as for 8" tracing busy_machine
grep '^#' "$folder/said"

# ---- the same step in JAX

jax=$(python_of jax)

# of_jax DEPTH SCAN: records the step of JAX; what it says goes to jax-DEPTH-SCAN.json in the folder, its
# estimate to jax-DEPTH-SCAN.estimate.
of_jax() {
    local name=jax-$1-$2
    run record --quiet --runtime cpu --output "$folder/$name" -- \
        "$jax" tests/harness/estimate/jax_scan.py --depth "$1" --scan "$2"
    fault_of 0
    cp "$folder/out" "$folder/$name.json"
    run "${estimate[@]}" --recording "$folder/$name" --topology v5e:1x1 --timeout 3600
    fault_of 0
    cp "$folder/out" "$folder/$name.estimate"
}

if ! "$jax" -c 'import jax' 2>/dev/null; then
    skip "our loop against that of JAX" "it is not installed: make frontends FRONTENDS=jax"
else
    depths=(8 32)
    report "llama in JAX is recorded and estimated" "$(
        for depth in "${depths[@]}"; do
            for scan in off on; do
                of_jax "$depth" $scan
            done
            "$bench" list models --depth "$depth" --format json >"$folder/models-$depth" 2>/dev/null ||
                echo "bench list models fails"
        done
    )"
    run "${estimate[@]}" --model llama --depth "$(IFS=, && echo "${depths[*]}")" --scan off,on --topology v5e:1x1 \
        --timeout 3600
    report "neither one loop nor the unrolled step is estimated at more than that of JAX" "$(
        fault_of 0
        rm -f "$folder/said"
        holds '
ours = {(l["experiment"]["depth"], l["experiment"]["scan"]): l["estimate"]["cycles"] for l in records}
faults = []
MOST = {8: 2.5, 32: 4.3} # times its unrolled step: what a loop of JAX took in an earlier trial
for depth in '"$(IFS=, && echo "${depths[*]}")"':
    theirs = {}
    [size] = [r["parameters"] for r in json.load(open("%s/models-%d" % (folder, depth))) if r["model"] == "llama"]
    for scan in "off", "on":
        name = "%s/jax-%d-%s" % (folder, depth, scan)
        said, lines = json.load(open(name + ".json")), json.load(open(name + ".estimate"))
        assert said["parameters"] == size, (name, said["parameters"], size)
        assert said["losses"][-1] < said["losses"][0], (name, said["losses"])
        assert all(l["class"] == "ok" for l in lines), (name, [l["class"] for l in lines])
        theirs[scan] = sum(l["estimate"]["cycles"] * l["times_a_step"] for l in lines)
        rounds = [loop["times"] for l in lines for loop in l["estimate"]["loops"]]
        assert scan == "off" or rounds.count(depth) >= 2, (name, rounds)
    own = {scan: ours[depth, scan] for scan in theirs}
    with open(folder + "/said", "a") as f:
        for who, cycles in ("bench", own), ("JAX", theirs):
            print("# llama of %d layers, %s: unrolled %.3f Mcycles, one loop %.3f, %.2f times" % (
                depth, who, cycles["off"] / 1e6, cycles["on"] / 1e6, cycles["on"] / cycles["off"]), file=f)
    if own["on"] > theirs["on"] or own["off"] > theirs["off"] or own["on"] / own["off"] > MOST[depth]:
        faults.append((depth, own, theirs))
assert not faults, faults
'
    )"
    cat "$folder/said" 2>/dev/null
fi

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

# ---- published times

# beside WHAT OPTION...: the step with its published time; says what went wrong, and how far off it is.
beside() {
    local own=(estimate --cache-dir "$cache" --check-published --timeout 3600 "${@:2}")
    rm -f "$folder/said"
    run "${own[@]}" --format json
    cp "$folder/out" "$folder/lines.json"
    run "${own[@]}" --format csv
    report "$1 against its published time" "$(
        fault_of 0
        "$python" tests/harness/estimate/published_rows.py "$folder/out" "$folder/lines.json" "$folder/said" 2>&1 |
            tail -n 1
    )"
    cat "$folder/said" 2>/dev/null
}

beside "ResNet50's training" --model resnet50 --batch 32 --mode capture --graphs 1,5 --layouts default
for one in $published; do
    beside "inference of ${one%:*}" --model "${one%:*}" --batch "${one#*:}" --phase infer
done
beside "training of vit_small" --model vit_small_patch16_224 --batch 128 --topology v3:2x2

echo "1..$count"
