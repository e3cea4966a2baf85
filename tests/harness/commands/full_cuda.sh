#!/bin/bash
# full_cuda.sh - bench on an NVIDIA GPU, as TAP. It skips where there is no GPU or no CUDA plugin. Takes
# the Python of BENCH_TEST_PYTHON, and its jax where that has CUDA. An H100 takes some five minutes.
#
# Checked: both modes of a model, with device times by the plugin's profiler; values against the golden
# ones; scopes with measured times. Of JAX: results bit for bit with and without the recorder, the wall
# time of bench steps against the script's own clock (3 %), planted work and sleep (5 %), kernels on the
# timeline, the replay's device time against the recording's kernels (5 %); JAX and bench in one table.
#
# needs: an NVIDIA GPU, the CUDA plugin, JAX with CUDA
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/commands/frameworks/recorded.sh
for_recordings
jax=tests/harness/commands/frameworks/train_jax.py
on=(--runtime cuda)

has_gpu() {
    [ -e /dev/nvidiactl ] && "$bench" list runtimes --format json 2>/dev/null | "$python" -c '
import json, sys
sys.exit(not any(r["runtime"] == "cuda" and r["found"] for r in json.load(sys.stdin)))'
}

jax_has_gpu() {
    "$python" -c 'import jax; jax.devices("cuda")' 2>/dev/null
}

# ---- our models -------------------------------------------------------------------------------

try_models() {
    run run "${on[@]}" --model resnet18,bert --variant small --mode lazy,capture --phase train --processes 3 \
        --min-time 0.3 --store "$store" --cache-dir "$folder/cache" --quiet
    report "both modes of two models run" "$(fault_of 0)"

    run table --store "$store" --format json
    report "device times are the profiler's, and less than the step's" "$(
        fault_of 0
        holds '
rows = records["rows"]
assert sorted((r["model"], r["mode"]) for r in rows) == [(m, w) for m in ("bert", "resnet18")
                                                         for w in ("capture", "lazy")], rows
for r in rows:
    assert r["device_time_source"] == "profiler", (r["model"], r["mode"], r["device_time_source"])
    assert 0 < r["device_per_step_ns"] < r["wall_ns"], r
    assert r["mode"] == "lazy" or r["speedup_low"] < r["speedup"] < r["speedup_high"], r
')"

    run verify "${on[@]}" --model resnet18,bert,gpt2 --variant small --mode lazy,capture --quiet --format json
    report "values are the golden ones" "$(
        fault_of 0
        holds 'assert len(records) > 50 and all(r["pass"] for r in records), len(records)'
    )"

    run study scopes "${on[@]}" --model bert --variant small --phase infer --format json
    report "scopes have measured times, which add up to the step's" "$(
        fault_of 0
        holds '
of = records["measured"]
assert of and of["step_ns"] > 0, of
spans = [s["measured_ns"] for s in records["scopes"] if s["measured_ns"]]
assert len(spans) >= 5 and abs(sum(spans) / of["step_ns"] - 1) < 0.02, (spans, of)
')"
}

# ---- JAX --------------------------------------------------------------------------------------

try_bits() {
    # Else XLA tries kernels out, and each process takes others.
    export XLA_FLAGS="--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true"
    record_options=(--profile 100)
    for way in fused two ops; do
        try_way "$way" cuda JAX_PLATFORMS=cuda "$jax" --way "$way" --steps 600
    done
    unset XLA_FLAGS
    record_options=()
}

try_profile() {
    report "the profiler reports the kernels' time of a step, and gaps are known" "$(judge '
for s in steps:
    profile = s["profile"]
    assert profile["executions"] >= 90 and 0 < profile["kernels"]["ns"] < s["device_busy"]["median_ns"], profile
    assert any(p["gap_before_ns"] > 0 for p in s["programs"]), s["programs"]
    assert s["answer"]["busy_share"] < 0.9, s["answer"]
' fused two ops)"

    run steps "$folder/fused" --trace "$folder/trace.json"
    cp "$folder/trace.json" "$folder/out"
    report "the timeline has the kernels next to host and device" "$(
        fault_of 0
        holds '
kernels = [e for e in records["traceEvents"] if "kernels" in e.get("args", {})]
assert len(kernels) >= 50, len(kernels)
')"

    replayed() {
        run replay "$folder/fused" "${on[@]}" --min-time 0.5 --store "$folder/replays" --format json --quiet
        fault_of 0
        holds '
with open(folder + "/fused.steps") as f:
    recorded = json.load(f)["profile"]["kernels"]["ns"]
[on] = records["runtimes"]
assert abs(on["device"]["ns"] / recorded - 1) < 0.05, (on["device"], recorded)
'
    }
    # XLA chooses kernels anew, unless it has been told not to.
    export XLA_FLAGS="--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true"
    live "the replay takes the device time of the recording" replayed busy_machine
    unset XLA_FLAGS
}

try_front_end() {
    export BENCH_FRONTEND_PYTHON_JAX=$python
    run run "${on[@]}" --front-end bench,jax --model resnet18 --variant small --dropout off --mode capture \
        --phase train --processes 3 --min-time 0.3 --store "$folder/beside" --format json --quiet
    report "JAX and bench: one table" "$(
        fault_of 0
        holds '
assert len(records) == 6 and all(r["status"] == "ok" for r in records), [r["status"] for r in records]
')"
    run table --store "$folder/beside"
    sed 's/^/# /' "$folder/out" | head -n 12
}

if ! has_gpu; then
    skip "a GPU" "there is no /dev/nvidiactl, or no CUDA plugin: make runtime-cuda"
else
    try_models
    if jax_has_gpu; then
        try_bits
        try_profile
        try_planted JAX cuda "$jax" --way fused --steps 300
        try_front_end
    else
        skip "JAX on a GPU" "$python has no jax with CUDA"
    fi
fi
echo "1..$count"
