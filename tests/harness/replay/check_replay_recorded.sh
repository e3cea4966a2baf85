#!/bin/bash
# check_replay_recorded.sh - what the recorder wrote is replayed, as TAP: a program of our own
# (pjrt_program.c) is recorded on the default runtime, and its step runs again on that runtime and on
# the simulated one. Recordings by hand are check_replay.sh's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
short=(--processes 1 --steps 3 --min-time 0 --warmup 8 --store "$store")

# again WAY EXECUTIONS PROGRAMS: records it, and replays it on the default runtime.
again() {
    local way=$1
    run record --runtime cpu --output "$folder/$way" -- \
        "$program" --way "$way" --steps 60 --size 32 --feed --option cpu_device_count=1
    [ "$status" -eq 0 ] || echo "bench record: exit status $status"
    run replay "$folder/$way" "${short[@]}" --format json
    fault_of 0
    holds "
r = records
assert (r['name'], r['executions'], r['programs']) == ('$way', $2, $3), r
assert r['carried'] >= 1, r
[on] = r['runtimes']
assert min(on[way]['ns'] for way in ('back_to_back', 'one_by_one', 'paced')) > 0, on
assert sum(p['times'] for p in on['programs']) == $2, on
"
}
report "one execution a step" "$(again fused 1 1)"
report "two programs a step" "$(again two 2 2)"
report "a step op by op" "$(again ops 9 2)"

run replay "$folder/two" "${short[@]}" --runtime sim --runtime-option preset=tpu-v4 --format json
report "the same on the simulated device, which reads these programs" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
assert on["simulated"] is True and on["opaque"] is False, on
assert on["back_to_back"]["ns"] > 0, on
'
)"

echo "1..$count"
