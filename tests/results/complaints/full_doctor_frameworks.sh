#!/bin/bash
# full_doctor_frameworks.sh - bench doctor on recordings of JAX and PyTorch/XLA themselves, as TAP: a
# problem is planted in a training script, and what the doctor says that it costs is what the script
# saves without it, by the script's own clock and without a recorder where it runs without one. Prints
# both. Takes the Python of BENCH_TEST_PYTHON, which has jax or torch_xla installed, and skips what it
# lacks.
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

# judge CODE NAME...: Python CODE about recordings, of which the first has the problem and the second
# has not. Says what went wrong; what is measured goes to $folder/said.
judge() {
    rm -f "$folder/said"
    "$python" - "$folder" "$@" 2>&1 <<'PYTHON' | tail -n 1
import json, statistics, sys
folder, code, names = sys.argv[1], sys.argv[2], sys.argv[3:]
own = [json.load(open(f"{folder}/{n}.json")) for n in names]
doctor = [json.load(open(f"{folder}/{n}.doctor")) for n in names]
def rules(i):
    return {c["rule"]: c for c in doctor[i]["complaints"]}
def cost(i, rule):
    return rules(i)[rule]["cost_ns"] if rule in rules(i) else 0
def median(i):
    """The median step of the later half by the clock of script I."""
    ends = own[i]["ends_ns"][:-1]
    return statistics.median(b - a for a, b in zip(ends[len(ends) // 2:], ends[len(ends) // 2 + 1:]))
def mean(i):
    """The mean step of the later half, from one read to another: steps between them do not wait."""
    ends = own[i]["ends_ns"][::own[i]["read_every"]]
    ends = ends[len(ends) // 2:]
    return (ends[-1] - ends[0]) / (len(ends) - 1) / own[i]["read_every"]
def near(rule, saved, *besides):
    """Whether the cost of RULE is SAVED, to 20 %. Rules BESIDES complain of what goes with the problem:
    by how much they cost less without it counts, too."""
    assert rule in rules(0), f"no {rule}: {list(rules(0))}"
    costs = {rule: cost(0, rule), **{r: cost(0, r) - cost(1, r) for r in besides}}
    with open(folder + "/said", "a") as f:
        print("# the doctor says " + ", ".join(f"{r} {ns / 1e6:.3f} ms" for r, ns in costs.items()) +
              f" a step; mending it saves {saved / 1e6:.3f} ms", file=f)
    assert abs(sum(costs.values()) - saved) < 0.2 * saved, f"{costs} is not {saved}"
exec(code)
PYTHON
}

# What the last judgement measured.
figures() {
    cat "$folder/said" 2>/dev/null
    rm -f "$folder/said"
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
    figures
    live "$1: sleep costs what doing without saves" sleeps busy_machine
    figures
    live "$1: changing lengths cost what one length saves, and the argument is named" compiles busy_machine
    figures
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
    figures
    # An update op by op: in Python between its executions, too, the device has nothing to do, and each
    # sends its rate. The doctor calls that host and transfers.
    merged() {
        recorded slow train_jax.py --size 64 --layers 24 --sent early --way ops
        recorded mended train_jax.py --size 64 --layers 24 --sent early --way fused
        judge '
near("executions", median(0) - median(1), "host", "transfers")
c = rules(0)["executions"]
assert c["count"] >= 2 * 24 + 1 and "24 of them are jit_" in c["where"], c
assert "executions" not in rules(1), rules(1)' slow mended
    }
    live "JAX: an update op by op costs what one program for the step saves, and is named" merged busy_machine
    figures
    # The runtime orders columns that lie together within the call that sends them. What is sent as it
    # lies travels after the call, and an execution waits for it: no recording tells that from its work.
    sends() {
        recorded slow train_jax.py --size 64 --layers 1 --rows 65536 --sent turned
        recorded mended train_jax.py --size 64 --layers 1 --rows 65536 --sent early
        judge '
near("transfers", median(0) - median(1))
c = rules(0)["transfers"]
assert c["bytes"] >= 65536 * 64 * 4 and "f32[65536,64]" in c["where"], c
assert "transfers" not in rules(1), rules(1)' slow mended
    }
    live "JAX: sending a large batch in each step costs what a resident one saves, and is named" sends \
        busy_machine
    figures
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
    # Products of 1024 columns take long beside the tracing of their layers.
    large=(train_torch.py --size 1024 --rows 240 --layers 6 --steps 120)
    # It sleeps, since host work would take a core from the device once both overlap. Of 20 steps one
    # still waits, so nearly all of the cost is saved.
    reads() {
        recorded slow "${large[@]}" --sleep-ms 20
        recorded mended "${large[@]}" --sleep-ms 20 --read-every 20
        judge '
near("reads", mean(0) - mean(1))
assert "f32[]" in rules(0)["reads"]["where"], rules(0)["reads"]
assert "reads" not in rules(1), rules(1)' slow mended
    }
    live "PyTorch/XLA: reading the loss in each step costs what reading it now and then saves" reads \
        busy_machine
    figures
    healthy() {
        recorded healthy "${large[@]}" --read-every 10
        judge 'assert not rules(0), {r: (c["cost_ns"], c["share"]) for r, c in rules(0).items()}' healthy
    }
    live "PyTorch/XLA: a healthy loop draws no complaint" healthy busy_machine
fi
echo "1..$count"
