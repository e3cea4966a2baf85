#!/bin/bash
# full_doctor_frameworks.sh - bench doctor on recordings of JAX and PyTorch/XLA themselves, as TAP: a
# problem is planted in a training script, and what the doctor says that it costs is what the script
# saves without it, by the script's own clock and without a recorder where it runs without one. Takes
# the Python of BENCH_TEST_PYTHON, which has jax or torch_xla installed, and skips what it lacks.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT
scripts=tests/harness/commands/frameworks
unset PJRT_NAMES_AND_LIBRARY_PATHS JAX_PLATFORMS PJRT_DEVICE PJRT_LIBRARY_PATH XLA_FLAGS

# recorded NAME SCRIPT OPTION...: records it; its word goes to NAME.json, the doctor's to NAME.doctor.
recorded() {
    local name=$1
    shift
    rm -rf "${folder:?}/$name"
    run record --quiet --runtime cpu --output "$folder/$name" -- "$python" "$scripts/$1" --steps 60 "${@:2}"
    [ "$status" -eq 0 ] || echo "recording $name: exit status $status"
    cp "$folder/out" "$folder/$name.json"
    run doctor "$folder/$name" --format json
    [ "$status" -eq 0 ] || echo "doctor on $name: exit status $status"
    cp "$folder/out" "$folder/$name.doctor"
}

# judge CODE NAME...: Python CODE with `cost` of a rule of the first recording, and `step`, the median
# step of the later half by the clock of script I.
judge() {
    "$python" - "$folder" "$@" 2>&1 <<'PYTHON' | tail -n 1
import json, statistics, sys
folder, code, names = sys.argv[1], sys.argv[2], sys.argv[3:]
own = [json.load(open(f"{folder}/{n}.json")) for n in names]
doctor = [json.load(open(f"{folder}/{n}.doctor")) for n in names]
def rules(i):
    return {c["rule"]: c for c in doctor[i]["complaints"]}
def spans(i):
    ends = own[i]["ends_ns"][:-1]
    return [b - a for a, b in zip(ends[len(ends) // 2:], ends[len(ends) // 2 + 1:])]
def median(i):
    return statistics.median(spans(i))
def mean(i):
    return statistics.mean(spans(i))
def near(rule, saved):
    assert rule in rules(0), f"no {rule}: {list(rules(0))}"
    cost = rules(0)[rule]["cost_ns"]
    assert abs(cost - saved) < 0.2 * saved, f"{rule}: {cost} is not {saved}"
exec(code)
PYTHON
}

# planted FRAMEWORK SCRIPT: the problems that both frameworks' scripts know.
planted() {
    script=$2
    host() {
        recorded slow "$script" --host-ms 6
        recorded mended "$script"
        judge 'near("host", median(0) - median(1))' slow mended
    }
    sleeps() {
        recorded slow "$script" --sleep-ms 6
        recorded mended "$script"
        judge 'near("input", median(0) - median(1))' slow mended
    }
    compiles() {
        recorded slow "$script" --lengths 60
        recorded mended "$script"
        judge '
near("compiles", mean(0) - mean(1))
assert "type of an argument is another" in rules(0)["compiles"]["where"], rules(0)["compiles"]
assert "compiles" not in rules(1), rules(1)' slow mended
    }
    live "$1: host work costs what doing without saves" host busy_machine
    live "$1: sleep costs what doing without saves" sleeps busy_machine
    live "$1: changing lengths cost what one length saves, and the argument is named" compiles busy_machine
}

# ---- JAX ------------------------------------------------------------------------------------

if ! can_import jax; then
    skip "JAX" "$python has no jax"
else
    planted JAX train_jax.py
    reads() {
        recorded slow train_jax.py --size 384 --layers 12 --host-ms 3
        recorded mended train_jax.py --size 384 --layers 12 --host-ms 3 --read-every 10
        judge '
near("reads", mean(0) - mean(1))
assert "f32[]" in rules(0)["reads"]["where"], rules(0)["reads"]
assert "reads" not in rules(1), rules(1)' slow mended
    }
    live "JAX: reading the loss in each step costs what reading it now and then saves" reads busy_machine
    recorded kept train_jax.py --kept 1 --size 512
    report "JAX: missed donation is named, with its bytes" "$(judge '
c = rules(0)["donation"]
# Eight weights, and the batch, which JAX copies by a program of its own.
assert c["count"] in (8, 9) and c["bytes"] == c["count"] * 512 * 512 * 4, c
assert "f32[512,512]" in c["where"] and "donate_argnums" in c["advice"], c' kept)"
    # Twelve products of 384 rows take some ms, and the host little.
    healthy() {
        recorded healthy train_jax.py --size 384 --layers 12
        judge 'assert not rules(0), {r: (c["cost_ns"], c["share"]) for r, c in rules(0).items()}' healthy
    }
    live "JAX: a healthy loop draws no complaint" healthy busy_machine
fi

# ---- PyTorch/XLA -------------------------------------------------------------------------------

if ! can_import torch_xla; then
    skip "PyTorch/XLA" "$python has no torch_xla"
else
    planted PyTorch/XLA train_torch.py
fi
echo "1..$count"
