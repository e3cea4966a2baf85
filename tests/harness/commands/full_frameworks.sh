#!/bin/bash
# full_frameworks.sh - bench record and bench steps with JAX and PyTorch/XLA themselves, as TAP. Takes
# the Python of BENCH_TEST_PYTHON, which has jax or torch_xla installed, and skips what it lacks.
#
#   KILLS=50     times that a recorded program is killed
#
# Checked: results bit for bit with and without the recorder; the wall time of bench steps against
# the script's own clock, mean and median of the same recording (3 %), also with planted work and
# sleep; that the parts sum to it; 5 ms of planted work and of sleep (5 %), in JAX and in lazy
# PyTorch/XLA; the same of a step of JAX that runs on two devices.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT
scripts=tests/harness/commands/frameworks
kills=${KILLS:-50}
unset PJRT_NAMES_AND_LIBRARY_PATHS JAX_PLATFORMS PJRT_DEVICE PJRT_LIBRARY_PATH XLA_FLAGS BENCH_RECORD_DIR
unset JAX_NUM_CPU_DEVICES

# recorded NAME RUNTIME ARGUMENT...: the script with the recorder; its word goes to NAME.json, the
# steps of its recording to NAME.steps. Says what went wrong.
recorded() {
    local name=$1 runtime=$2
    shift 2
    rm -rf "${folder:?}/$name"
    run record --runtime "$runtime" --output "$folder/$name" -- "$python" "$@"
    [ "$status" -eq 0 ] || echo "recording: exit status $status"
    cp "$folder/out" "$folder/$name.json"
    run steps "$folder/$name" --format json
    [ "$status" -eq 0 ] || echo "steps: exit status $status"
    cp "$folder/out" "$folder/$name.steps"
}

has_child() {
    [ -n "$(children_of "$1")" ]
}

# judge CODE NAME...: Python CODE with `own` and `steps`, what the script and bench said of each NAME.
judge() {
    "$python" - "$folder" "$@" 2>&1 <<'PYTHON' | tail -n 1
import json, sys
folder, code, names = sys.argv[1], sys.argv[2], sys.argv[3:]
own = [json.load(open(f"{folder}/{n}.json")) for n in names]
steps = [json.load(open(f"{folder}/{n}.steps")) for n in names]
def part(i, name, figure="median_ns"):
    return steps[i]["ledger"][name][figure]
def near(what, got, wanted, share):
    assert abs(got / wanted - 1) <= share, f"{what}: {got} is not {wanted}"
# The script's clock, over as many of its last steps as bench calls steady.
def mean_is_its_own(i):
    # The first step has compiles before its first execution, where bench begins it.
    ends, count = own[i]["ends_ns"][:-1], min(steps[i]["steps"], len(own[i]["ends_ns"]) - 3)
    near("mean wall", steps[i]["wall"]["mean_ns"], (ends[-1] - ends[-1 - count]) / count, 0.03)
def median_is_its_own(i):
    # The loss is read every so many steps: single ones between say little. A step may begin elsewhere
    # than where the script says, so single steps that others disturb are not the same ones.
    ends, every, count = own[i]["ends_ns"][:-1], own[i]["read_every"], steps[i]["steps"]
    ends = ends[-1::-every][:count // every + 1]
    spans = sorted((b - a) / every for a, b in zip(ends[1:], ends))
    near("median wall", steps[i]["wall"]["median_ns"], spans[len(spans) // 2], 0.03)
def parts_sum(i):
    sum_of = sum(part(i, p, "mean_ns") for p in steps[i]["ledger"])
    near("parts", sum_of, steps[i]["wall"]["mean_ns"], 0.001)
def wall_is_its_own(i):
    mean_is_its_own(i)
    median_is_its_own(i)
    parts_sum(i)
exec(code)
PYTHON
}

# same_bits FIRST SECOND: what the scripts said of their results.
same_bits() {
    "$python" - "$folder/$1.json" "$folder/$2.json" 2>&1 <<'PYTHON' | tail -n 1
import json, sys
first, second = (json.load(open(f))["digest"] for f in sys.argv[1:])
assert first == second, "the bits differ"
PYTHON
}

# Where the plugin RUNTIME is.
plugin_of() {
    "$bench" list runtimes --format json 2>/dev/null | "$python" -c '
import json, sys
print(next(r["where"] for r in json.load(sys.stdin) if r["runtime"] == sys.argv[1]))' "$1" 2>/dev/null
}

# try_way NAME RUNTIME BARE ARGUMENT...: one way to train. BARE is the environment of the run that is
# not recorded. Bits must not depend on times, times are tried again.
try_way() {
    local name=$1 runtime=$2 bare=$3
    shift 3
    timeout 900 env $bare "$python" "$@" >"$folder/bare.json" 2>"$folder/err" || true
    attempt_wall() {
        recorded "$name" "$runtime" "${arguments[@]}"
        judge 'wall_is_its_own(0)' "$name"
    }
    arguments=("$@")
    live "$name: mean and median wall time are the script's own, and the parts sum to it" attempt_wall \
        busy_machine
    # The last attempt's recording is also that of the bits.
    report "$name: the same bits with and without the recorder" "$(same_bits bare "$name")"
}

# try_planted WHAT SCRIPT WAY: work and sleep before each step.
try_planted() {
    local script=$2 way=$3
    planted() {
        recorded base cpu "$script" --way "$way"
        recorded host cpu "$script" --way "$way" --host-ms 5
        recorded sleep cpu "$script" --way "$way" --sleep-ms 5
        judge '
wall_is_its_own(1)
wall_is_its_own(2)
near("host work", part(1, "host_work") - part(0, "host_work"), 5e6, 0.05)
near("idle", part(2, "idle") - part(0, "idle"), 5e6, 0.05)
assert abs(part(1, "idle") - part(0, "idle")) < 0.25e6, "work is called idle"
assert abs(part(2, "host_work") - part(0, "host_work")) < 0.25e6, "sleep is called work"
' base host sleep
    }
    live "$1: 5 ms of host work and of sleep are told apart, and the wall is the script's own" planted \
        busy_machine
}

# jax_options DEVICES: the file by which JAX gives the plain plugin so many devices.
jax_options() {
    printf '{"library_path": "%s", "create_options": {"cpu_device_count": %d}}' "$(plugin_of cpu)" "$1" \
        >"$folder/plain$1.json"
}

# ---- JAX ------------------------------------------------------------------------------------

if ! can_import jax; then
    skip "JAX" "$python has no jax"
else
    jax=$scripts/train_jax.py
    jax_options 1
    plain="PJRT_NAMES_AND_LIBRARY_PATHS=cpu:$folder/plain1.json JAX_PLATFORMS=cpu"
    try_way jax-fused cpu "$plain" "$jax" --way fused
    try_way jax-two cpu "$plain" "$jax" --way two
    try_way jax-ops cpu "$plain" "$jax" --way ops
    try_way jax-async cpu "$plain" "$jax" --way fused --read-every 10 --steps 200
    try_planted JAX "$jax" fused

    # bench record asks for as many devices as JAX is told that a CPU has.
    devices=2
    jax_options $devices
    export JAX_NUM_CPU_DEVICES=$devices
    try_way jax-devices cpu "PJRT_NAMES_AND_LIBRARY_PATHS=cpu:$folder/plain$devices.json JAX_PLATFORMS=cpu" \
        "$jax" --way fused --devices $devices
    unset JAX_NUM_CPU_DEVICES
    report "jax-devices: the step ran on $devices devices at once" "$(judge "
most = max(steps[0]['programs'], key=lambda p: p['device_step_ns'])
assert most['devices'] == $devices, (most['name'], most['devices'])
" jax-devices)"

    # The program is killed at any moment: each second time counted from its start, when it may not
    # have come to a step, else from its first step. What was written can be read.
    for ((kill = 0; kill < kills; kill++)); do
        rm -rf "$folder/killed" "$folder/said"
        "$bench" record --runtime cpu --output "$folder/killed" -- "$python" "$jax" --way fused \
            --size 64 --steps 1000000 --say "$folder/said" >"$folder/out" 2>"$folder/err" </dev/null &
        job=$!
        await 60 has_child $job
        ((kill % 2)) || await 60 test -e "$folder/said"
        sleep "$((kill % 2 * RANDOM % 3)).$(printf %03d $((RANDOM % 1000)))"
        kill -9 $(children_of $job)
        wait $job
        status=$?
        faults=$(
            [ "$status" -eq 137 ] || echo "kill $kill: exit status $status"
            run steps "$folder/killed" --format json
            if [ "$status" -eq 0 ]; then
                holds 'assert records["steps"] >= 3, records["steps"]'
            elif ((kill % 2)) && [ "$status" -eq 3 ]; then
                fault_of 3 "$folder/killed"
            else
                echo "kill $kill: steps ended with $status"
            fi
        )
        [ -z "$faults" ] || break
    done
    report "after $kills kills the recordings can be read" "$faults"

    run record --quiet --output "$folder/anew" -- "$python" "$scripts/anew_jax.py"
    export BENCH_FRONTEND_PYTHON_JAX=$python
    run graph diff "$folder/anew"
    report "what differs between two programs of one name, and in which line of the source" "$(
        [ "$status" -eq 1 ] || echo "exit status $status"
        grep -qE "anew_jax.py:15\): constant: dense<1.0+e-01> in A, dense<5.0+e-02> in B" "$folder/out" ||
            echo "no line says so"
    )"
fi

# ---- PyTorch/XLA -------------------------------------------------------------------------------

if ! can_import torch_xla; then
    skip "PyTorch/XLA" "$python has no torch_xla"
else
    # Without the recorder's library these plugins refuse its Execute calls (docs/recording.md): their
    # structs are too short. So the run that is not recorded goes through the library, without a
    # folder, where it only forwards.
    torch=$scripts/train_torch.py
    recorder=${BENCH_TEST_BUILD:-$PWD/build}/libpjrt_record.so
    for one in cpu:lazy cpu:dynamo cpu:dynamo-step cpu-xla:lazy cpu-xla:dynamo cpu-xla:dynamo-step; do
        runtime=${one%:*} way=${one#*:}
        plain="PJRT_DEVICE=LIBRARY PJRT_LIBRARY_PATH=$recorder BENCH_RECORD_CPU_DEVICES=1"
        plain+=" BENCH_RECORD_PLUGIN=$(plugin_of "$runtime")"
        try_way "torch-$way-$runtime" "$runtime" "$plain" "$torch" --way "$way"
    done
    try_planted PyTorch/XLA "$torch" lazy
fi
echo "1..$count"
