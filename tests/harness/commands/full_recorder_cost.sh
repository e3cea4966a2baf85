#!/bin/bash
# full_recorder_cost.sh - what the recorder costs, as TAP: at most 1 us an execution and 40 ns for each
# argument and each result, for 1, 20 and 300 arguments, donated and not. First alone, before a plugin whose
# calls do nothing (tests/runtime/record/null_cost.c), then a step of JAX. JAX is that of the Python of
# BENCH_TEST_PYTHON, or else that of `make frontends`; without one that is skipped.
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

# judge: for each kind of step the mean over the processes of their medians, with Student's t, 95 %. An
# execution may cost 1 us and 40 ns for each argument and each result: what is surely more is a fault.
judge() {
    "$python" - "$folder/costs" 2>&1 <<'PYTHON'
import json, statistics, sys
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]  # of 1 to 10 degrees of freedom
processes = [json.loads(line) for line in open(sys.argv[1])]
for kind in processes[0]:
    lines = [process[kind] for process in processes]
    costs = [r["difference_ns"] / 1e3 for r in lines]
    mean, half = statistics.mean(costs), T[len(costs) - 2] * statistics.stdev(costs) / len(costs) ** 0.5
    allowed = 1 + 0.04 * 2 * lines[0]["arguments"]
    print(f"# {kind}: {statistics.median(r['plain_ns'] for r in lines) / 1e3:.2f} us a step plain; recorded "
          f"{mean:+.2f} us [{mean - half:.2f}, {mean + half:.2f}] of {allowed:.2f} allowed; medians of "
          f"{len(costs)} processes:", " ".join(f"{c:.2f}" for c in costs) + "; least CPU time",
          f"{min(r['least_cpu_ns'] for r in lines) / 1e3:+.2f}")
    if mean - half > allowed:
        print(f"{kind}: the recorder costs {mean:.2f} us, more than {allowed:.2f}")
PYTHON
}

attempt() {
    local number faults
    : >"$folder/costs"
    faults=$(for ((number = 1; number <= processes; number++)); do one_process $number; done)
    if [ -z "$faults" ]; then
        judge >"$folder/said"
        faults=$(grep -v '^#' "$folder/said")
        grep '^#' "$folder/said" >"$folder/figures"
    fi
    printf '%s' "$faults"
}

# The recorder's own work, before a plugin whose calls do nothing: here no program's noise hides it.
attempt_alone() {
    rm -rf "$folder/null"
    mkdir "$folder/null"
    BENCH_TEST_BUILD=$built BENCH_RECORD_DIR=$folder/null "$built/tests/runtime/record/null_cost" \
        >"$folder/alone" 2>&1 || echo "null_cost ends with $?"
    awk 'NF != 4 { print "it says: " $0; next }
         { allowed = 1000 + 40 * 2 * $1
           print "# alone: " $1 " arguments, " $2 ", ends " $3 ": " $4 " ns of " allowed " allowed" > said }
         $4 > allowed { print $1 " arguments, " $2 ": " $4 " ns, more than " allowed }' \
        said="$folder/figures" "$folder/alone"
}

live "the recorder alone takes 1 us an execution at most, and 40 ns an argument or result" attempt_alone busy_machine

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

if [ "$processes" -lt 3 ] || [ "$processes" -gt 11 ]; then
    report "PROCESSES" "it is $processes, not 3 to 11"
else
    live "a step of JAX costs 1 us more at most, and 40 ns for each argument and result" attempt busy_machine
fi
echo "1..$count"
