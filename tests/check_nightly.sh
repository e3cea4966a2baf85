#!/bin/bash
# check_nightly.sh - nights on the simulated runtime, as TAP: what is said of an equal and
# of a slower night, of a failed one, and what is left after an interruption.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. tests/cli.sh
trap 'rm -rf "$folder"' EXIT
cat >"$folder/suite.json" <<'END'
{"bench_suite": 1, "name": "tiny", "defaults": {"models": ["resnet18"], "variants": ["small"],
 "runtimes": ["sim"], "steps": 5, "warmup": 8, "min_time": 0},
 "matrix": [{"modes": ["lazy", "capture"], "repetitions": 6}]}
END
# A night is what ran within so many hours: seconds, here.
night() { # SETTINGS ARGUMENT...
    local settings=$1
    shift
    PJRT_SIM=values=none,$settings run nightly --suite "$folder/suite.json" --store "$store" \
        --report "$folder/page" --night-hours 0.01 "$@"
}
# The next night is that of other hours.
next_night() { sleep 37; }

night device_us=2000
report "the first night has nothing to be held against" "$(
    fault_of 0
    tail -n 1 "$folder/out" | grep -q '^nightly: 0 failed, 0 slower' || echo "no summary"
    [ -s "$folder/page/index.html" ] || echo "no page"
    [ ! -e "$store/tonight" ] || echo "the night's own folder is left"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 12 ] || echo "not 12 records"
)"
next_night
night device_us=2300
report "a slower night is slower, with its cause, and the exit code says so" "$(
    fault_of 2
    grep -q '^sim against its last good night: 2 of 2 slower .*device time' "$folder/out" ||
        echo "no verdict"
    grep -q 'resnet18' "$folder/page/index.html" || echo "no table on the page"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 24 ] || echo "not 24 records"
)"
night device_us=2300,faults='execute:3:fail' --filter capture
report "failed experiments are an error, and the night is kept" "$(
    fault_of 1
    tail -n 1 "$folder/out" | grep -qE '^nightly: [1-9][0-9]* failed' || echo "no failures told"
)"

PJRT_SIM=values=none,device_us=2000 timeout -s INT 2 "$bench" nightly --suite "$folder/suite.json" \
    --store "$folder/second" --report "$folder/page2" >"$folder/out" 2>"$folder/err" </dev/null
status=$?
report "interrupted, what is done waits in a folder of its own" "$(
    [ "$status" -eq 130 ] || [ "$status" -eq 124 ] || echo "exit status $status"
    [ -d "$folder/second/tonight" ] || echo "no folder of the night"
    ! ls "$folder/second"/*.h5 >/dev/null 2>&1 || echo "half a night is in the store"
)"
before=$(ls "$folder/second/tonight"/*.h5 2>/dev/null | wc -l)
PJRT_SIM=values=none,device_us=2000 run nightly --suite "$folder/suite.json" \
    --store "$folder/second" --report "$folder/page2"
report "the same command goes on where it stopped" "$(
    fault_of 0
    [ "$(ls "$folder/second"/*.h5 | wc -l)" -eq 12 ] || echo "not 12 records"
    grep -q "suite tiny: $((12 - before)) done, $before skipped" "$folder/err" ||
        echo "it did not go on from $before"
)"
refuses "an option that there is not is no slowdown" 1 "no option --bogus" -- nightly --bogus
refuses "no suite" 1 "bench nightly needs --suite FILE and --report DIR" -- nightly --store "$store"
refuses "a suite that is none" 1 "nothere" -- \
    nightly --suite nothere --report "$folder/page" --store "$folder/third"
echo "1..$count"
