#!/bin/bash
# full_recorder_cost.sh - what the recorder costs a step of JAX, as TAP: at most 1 us for a trivial
# jitted step, and 3 % for one that donates 300 arguments. JAX is that of the Python of BENCH_TEST_PYTHON,
# or else that of `make frontends`; without one all is skipped.
#
#   PROCESSES=5     of each, 3 to 11: processes differ, so intervals are over their medians
#
# Both sides are in one process: JAX has the plain plugin as one platform, and the recorder before the
# same plugin as another (frameworks/cost_jax.py).
#
# needs: JAX, an idle machine
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
processes=${PROCESSES:-5}

if ! python_with jax jax; then
    skip "the recorder's cost" "JAX is not installed: make frontends FRONTENDS=jax"
    echo "1..$count"
    exit 0
fi
plugin=$(plugin_of cpu)
for side in plain:$plugin recorded:$recorder; do
    printf '{"library_path": "%s", "create_options": {"cpu_device_count": 1}}' "${side#*:}" \
        >"$folder/${side%%:*}.json"
done

# one_process NUMBER: its line into $folder/costs. Says what went wrong.
one_process() {
    local recording=$folder/recording
    rm -rf "$recording"
    env PJRT_NAMES_AND_LIBRARY_PATHS="plain:$folder/plain.json,recorded:$folder/recorded.json" \
        JAX_PLATFORMS=plain,recorded BENCH_RECORD_DIR="$recording" BENCH_RECORD_PLUGIN="$plugin" \
        timeout 900 "$python" tests/harness/commands/frameworks/cost_jax.py plain recorded "$1" \
        >>"$folder/costs" 2>"$folder/err" || echo "process $1: exit status $?"
    # All was recorded that was to be: lost events and why it stopped are in the head of the file.
    "$python" - "$recording" 2>&1 <<'PYTHON' | tail -n 1
import glob, struct, sys
[path] = glob.glob(sys.argv[1] + "/*/events")
with open(path, "rb") as f:
    head = f.read(64)
lost, stop = struct.unpack_from("=QI", head, 40)
assert head.startswith(b"bnchrec") and (lost, stop) == (0, 0), f"{lost} events lost, stop {stop}"
PYTHON
}

# judge KIND MEMBER LIMIT UNIT SCALE: the mean over the processes of their medians, with Student's t, 95 %.
judge() {
    "$python" - "$folder/costs" "$@" 2>&1 <<'PYTHON'
import json, statistics, sys
kind, member, limit, unit, scale = sys.argv[2:]
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]  # of 1 to 10 degrees of freedom
lines = [json.loads(line)[kind] for line in open(sys.argv[1])]
costs = [(r[member] - (member == "ratio")) * float(scale) for r in lines]
mean, half = statistics.mean(costs), T[len(costs) - 2] * statistics.stdev(costs) / len(costs) ** 0.5
print(f"# {kind}: {statistics.median(r['plain_ns'] for r in lines) / 1e3:.2f} us a step plain; recorded "
      f"{mean:+.3f} {unit} [{mean - half:.3f}, {mean + half:.3f}], medians of {len(costs)} processes:",
      " ".join(f"{c:.3f}" for c in costs))
if mean > float(limit):
    print(f"the recorder costs {mean:.3f} {unit}, more than {limit}")
PYTHON
}

attempt() {
    local number faults
    : >"$folder/costs"
    faults=$(for ((number = 1; number <= processes; number++)); do one_process $number; done)
    if [ -z "$faults" ]; then
        judge trivial difference_ns 1 us 1e-3 >"$folder/said"
        judge donated ratio 3 % 100 >>"$folder/said"
        faults=$(grep -v '^#' "$folder/said")
    fi
    printf '%s' "$faults"
}

if [ "$processes" -lt 3 ] || [ "$processes" -gt 11 ]; then
    report "PROCESSES" "it is $processes, not 3 to 11"
else
    live "a trivial step costs 1 us more at most, one of 300 donated arguments 3 %" attempt busy_machine
    grep '^#' "$folder/said" 2>/dev/null
fi
echo "1..$count"
