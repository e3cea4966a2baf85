#!/bin/bash
# full_frameworks.sh - bench record and bench steps with JAX and PyTorch/XLA themselves, as TAP. Each
# framework is that of the Python of BENCH_TEST_PYTHON, or else that of `make frontends`; without one it
# is skipped.
#
#   KILLS=50     times that a recorded program is killed
#
# Checked: results bit for bit with and without the recorder; the wall time of bench steps against
# the script's own clock, mean and median of the same recording (3 %), also with planted work and
# sleep; that the parts sum to it; 5 ms of planted work and of sleep (5 %), in JAX and in lazy
# PyTorch/XLA; the same of a step of JAX that runs on two devices.
#
# needs: JAX, PyTorch/XLA
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/commands/frameworks/recorded.sh
scripts=tests/harness/commands/frameworks
kills=${KILLS:-50}
for_recordings

has_child() {
    [ -n "$(children_of "$1")" ]
}

# jax_options DEVICES: the file by which JAX gives the plain plugin so many devices.
jax_options() {
    printf '{"library_path": "%s", "create_options": {"cpu_device_count": %d}}' "$(plugin_of cpu)" "$1" \
        >"$folder/plain$1.json"
}

# ---- JAX ------------------------------------------------------------------------------------

if ! python_with jax jax; then
    skip "JAX" "it is not installed: make frontends FRONTENDS=jax"
else
    jax=$scripts/train_jax.py
    jax_options 1
    plain="PJRT_NAMES_AND_LIBRARY_PATHS=cpu:$folder/plain1.json JAX_PLATFORMS=cpu"
    try_way jax-fused cpu "$plain" "$jax" --way fused
    try_way jax-two cpu "$plain" "$jax" --way two
    try_way jax-ops cpu "$plain" "$jax" --way ops
    try_way jax-async cpu "$plain" "$jax" --way fused --read-every 10 --steps 200
    try_planted JAX cpu "$jax" --way fused

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
    run diff "$folder/anew"
    report "what differs between two programs of one name, and in which line of the source" "$(
        [ "$status" -eq 1 ] || echo "exit status $status"
        grep -qE "anew_jax.py:15\): constant: dense<1.0+e-01> in A, dense<5.0+e-02> in B" "$folder/out" ||
            echo "no line says so"
    )"
fi

# ---- PyTorch/XLA -------------------------------------------------------------------------------

if ! python_with torch_xla pytorch-xla; then
    skip "PyTorch/XLA" "it is not installed: make frontends FRONTENDS=pytorch-xla"
else
    # Without the recorder's library these plugins refuse its Execute calls (docs/recording.md): their
    # structs are too short. So the run that is not recorded goes through the library, without a
    # folder, where it only forwards.
    torch=$scripts/train_torch.py
    for one in cpu:lazy cpu:dynamo cpu:dynamo-step cpu-xla:lazy cpu-xla:dynamo cpu-xla:dynamo-step; do
        runtime=${one%:*} way=${one#*:}
        plain="PJRT_DEVICE=LIBRARY PJRT_LIBRARY_PATH=$recorder BENCH_RECORD_CPU_DEVICES=1"
        plain+=" BENCH_RECORD_PLUGIN=$(plugin_of "$runtime")"
        try_way "torch-$way-$runtime" "$runtime" "$plain" "$torch" --way "$way"
    done
    try_planted PyTorch/XLA cpu "$torch" --way lazy
fi
echo "1..$count"
