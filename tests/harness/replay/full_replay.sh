#!/bin/bash
# full_replay.sh - training loops of JAX and PyTorch/XLA are recorded and replayed without them, as
# TAP: on the build that they were recorded on, on the other builds for CPU that are set up, and on a
# simulated TPU v4. Takes the Python of BENCH_TEST_PYTHON, which has jax or torch_xla installed, and
# skips what it lacks. Times are printed, not judged: made-up values are not the recorded ones.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT
scripts=tests/harness/commands/frameworks
unset PJRT_NAMES_AND_LIBRARY_PATHS JAX_PLATFORMS PJRT_DEVICE PJRT_LIBRARY_PATH XLA_FLAGS

# Other builds for CPU whose file is there, but $1.
others() {
    local name
    for name in cpu cpu-xla cpu-fastatomstruct; do
        [ "$name" != "$1" ] || continue
        "$bench" list runtimes --format json 2>/dev/null | "$python" -c '
import json, sys
sys.exit(not any(r["runtime"] == sys.argv[1] and r["found"] for r in json.load(sys.stdin)))' "$name" &&
            echo "$name"
    done
}

# replayed NAME OPTION...: the recording NAME with the options; says what went wrong, and prints what
# it came to.
replayed() {
    local name=$1
    shift
    rm -f "$folder/said"
    run replay "$folder/$name" --processes 1 --steps 20 --min-time 1 --store "$store" --format json "$@"
    fault_of 0
    holds '
[on] = records["runtimes"]
recorded = records["recorded"]
assert recorded["executions_per_step"] == records["executions"], records
assert on["back_to_back"]["ns"] > 0 and on["one_by_one"]["ns"] > 0, on
assert sum(p["times"] for p in on["programs"]) == records["executions"], on
assert records["carried"] > 0, records
ms = lambda ns: "%.3f" % (ns / 1e6) if ns else "-"
with open(folder + "/said", "w") as f:
    print("#", on["runtime"], records["executions"], "executions: recorded wall", ms(recorded["wall_ns"]),
          "device", ms(recorded["device_ns"]), "; back to back", ms(on["back_to_back"]["ns"]),
          "one by one", ms(on["one_by_one"]["ns"]), "device", ms(on["device"]["ns"]), "ms", file=f)
'
}

# try_way NAME RUNTIME SCRIPT ARGUMENT...: records it once and replays it everywhere.
try_way() {
    local name=$1 runtime=$2 other
    shift 2
    run record --runtime "$runtime" --output "$folder/$name" -- "$python" "$@"
    report "$name is recorded" "$(fault_of 0)"
    report "$name on the build that it was recorded on" "$(replayed "$name" --runtime "$runtime")"
    cat "$folder/said" 2>/dev/null
    for other in $(others "$runtime"); do
        report "$name on $other" "$(replayed "$name" --runtime "$other")"
        cat "$folder/said" 2>/dev/null
    done
    report "$name on a simulated TPU v4, opaque" "$(
        replayed "$name" --runtime sim --runtime-option preset=tpu-v4
        holds 'assert records["runtimes"][0]["opaque"] is True, records'
    )"
    cat "$folder/said" 2>/dev/null
}

if can_import jax; then
    for way in fused two ops; do
        try_way "jax-$way" cpu "$scripts/train_jax.py" --way $way --steps 120
    done
else
    skip "JAX" "$python has no jax"
fi
if can_import torch_xla; then
    for way in lazy dynamo dynamo-step; do
        try_way "torch-$way" cpu-xla "$scripts/train_torch.py" --way $way --steps 120
    done
else
    skip "PyTorch/XLA" "$python has no torch_xla"
fi
echo "1..$count"
