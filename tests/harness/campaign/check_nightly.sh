#!/bin/bash
# check_nightly.sh - nights on the simulated runtime, as TAP: what is said of an equal and
# of a slower night, of a failed one, and what is left after an interruption.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
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
night device_us=10000
report "a slower night is slower, and the exit code says so" "$(
    fault_of 2
    grep -q '^sim against its last good night: [12] of 2 slower ' "$folder/out" ||
        echo "no verdict"
    grep -q 'resnet18' "$folder/page/index.html" || echo "no table on the page"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 24 ] || echo "not 24 records"
)"
night device_us=10000,faults='execute:3:fail' --filter capture
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

# ---- what a killed night leaves --------------------------------------------------------
cat >"$folder/brief.json" <<'END'
{"bench_suite": 1, "name": "brief", "defaults": {"models": ["resnet18"], "variants": ["small"],
 "runtimes": ["sim"], "steps": 3, "warmup": 8, "min_time": 0, "device_time": "none"},
 "matrix": [{"modes": ["lazy", "capture"], "repetitions": 2}]}
END
export PJRT_SIM=values=none,device_us=200
third=$folder/third
brief() { run nightly --suite "$folder/brief.json" --store "$third" --report "$folder/page3" "$@"; }
brief
mkdir "$third/tonight"
ln "$third"/*.h5 "$third/tonight"
rm "$(ls "$third"/*.h5 | head -n 1)" "$(ls "$third"/*.h5 | tail -n 1)"
brief
report "killed while the store got its records, nothing is lost or measured twice" "$(
    fault_of 0
    grep -q '^suite brief: 0 done, 4 skipped' "$folder/err" || echo "something was measured again"
    [ "$(ls "$third"/*.h5 | wc -l)" -eq 4 ] || echo "not 4 records"
    grep -q 'against its last good night' "$folder/out" && echo "compared with itself"
    [ ! -e "$third/tonight" ] || echo "the night's own folder is left"
)"
mkdir "$third/tonight.ended"
ln "$(ls "$third"/*.h5 | head -n 1)" "$third/tonight.ended"
brief
report "killed while its folder was removed, the next night is a new one" "$(
    fault_of 0
    grep -q '^suite brief: 4 done, 0 skipped' "$folder/err" || echo "not a whole night"
    [ "$(ls "$third"/*.h5 | wc -l)" -eq 8 ] || echo "not 8 records"
    [ ! -e "$third/tonight.ended" ] || echo "the old folder is left"
)"
mkdir "$third/tonight"
for file in $(ls "$third"/*.h5 | head -n 2); do
    mv "$file" "$third/tonight/20200101T000000.000000000Z-${file##*Z-}"
done
brief
report "what an earlier night left is no part of this one" "$(
    fault_of 0
    grep -q '^bench: 2 records of an earlier night' "$folder/err" || echo "not said"
    grep -q '^suite brief: 4 done, 0 skipped' "$folder/err" || echo "the night went on with them"
    [ "$(ls "$third"/*.h5 | wc -l)" -eq 12 ] || echo "not 12 records"
)"
"$bench" suite "$folder/suite.json" --filter capture --repetitions 3 --store "$third/tonight" \
    >/dev/null 2>&1
left=$(ls "$third/tonight"/*.h5 | wc -l)
PJRT_SIM=values=none,device_us=300 brief
report "neither is what another suite left, and no record of it is lost" "$(
    fault_of 0
    [ "$left" -eq 3 ] || echo "$left were there"
    grep -q "^suite brief: 4 done" "$folder/err" || echo "not a whole night"
    grep -q ': 4 records' "$folder/page3/index.html" || echo "not 4 records on the page"
    [ "$(ls "$third"/*.h5 | wc -l)" -eq 19 ] || echo "not 19 records"
)"
exec 9<"$third"
flock 9
brief
report "of two nights in one store the second does not begin" "$(
    fault_of 1 "another bench nightly is at work here"
)"
exec 9<&-

# ---- verdicts ----------------------------------------------------------------------------
sed "s|\"sim\"|\"sim\", \"$notplugin\"|; s/, \"repetitions\": 2//" "$folder/brief.json" \
    >"$folder/half.json"
run nightly --suite "$folder/half.json" --store "$folder/fourth" --report "$folder/page4"
report "a runtime that cannot be used is a failure of the night, which ends all the same" "$(
    fault_of 1
    tail -n 1 "$folder/out" | grep -q '^nightly: 2 failed' || echo "no failures told"
    [ ! -e "$folder/fourth/tonight" ] || echo "the night's own folder is left"
    [ "$(ls "$folder/fourth"/*.h5 | wc -l)" -eq 4 ] || echo "not 4 records"
)"
sed 's|"sim"|{"name": "sim", "options": {"jitter": 0.1}}, "sim"|' "$folder/brief.json" \
    >"$folder/both.json"
for _ in 1 2; do
    run nightly --suite "$folder/both.json" --store "$folder/fifth" --report "$folder/page5" \
        --night-hours 0.00001
done
report "a runtime with two settings is compared with each" "$(
    fault_of 0
    [ "$(grep -c '^sim with .*against its last good night' "$folder/out")" -eq 2 ] ||
        echo "not two comparisons"
    grep 'not compared' "$folder/out"
)"
# A plugin of another name: what the simulator is told is then no part of the experiment.
cp "${bench%/*}/libpjrt_sim.so" "$folder/device.so"
sed "s|\"sim\"|\"./device.so\"|; s/\"lazy\", \"capture\"/\"capture\"/; s/, \"repetitions\": 2//" \
    "$folder/brief.json" >"$folder/single.json"
sed 's/"capture"/"lazy"/' "$folder/single.json" >"$folder/other.json"
# nights COUNT MICROSECONDS SUITE: the exit codes go to $codes, changes to $folder/told.
nights() {
    codes=
    : >"$folder/told"
    for _ in $(seq "$1"); do
        PJRT_SIM=values=none,device_us=$2 run nightly --suite "$folder/$3.json" \
            --store "$folder/sixth" --report "$folder/page6" --night-hours 0.00001
        codes+="$status "
        grep '^history: .* changed by' "$folder/out" >>"$folder/told"
    done
}
nights 7 5000 single
nights 3 60000 single
# A change has three nights on each side; on a busy machine the last one before it may be such
# that two already tell.
report "a change is told on the night that shows it, once" "$(
    [[ $codes = "0 0 2 " || $codes = "0 2 0 " ]] || echo "exit codes $codes"
    [ "$(grep -c '^history: resnet18 train capture.* changed by +' "$folder/told")" -eq 1 ] ||
        echo "not said, or more than once"
)"
nights 1 60000 other
report "but not by a night that has nothing of it" "$(
    [ "$codes" = "0 " ] || echo "exit codes $codes"
    grep '^history' "$folder/out"
)"
nights 2 60000 single
report "and not again; nights of another suite between are no last good night" "$(
    [ "$codes" = "0 0 " ] || echo "exit codes $codes"
    grep 'changed by' "$folder/out"
    grep 'not compared' "$folder/out"
)"
unset PJRT_SIM
refuses "an option that there is not is no slowdown" 1 "no option --bogus" -- nightly --bogus
refuses "no suite" 1 "bench nightly needs --suite FILE and --report DIR" -- nightly --store "$store"
refuses "a suite that is none" 1 "nothere" -- \
    nightly --suite nothere --report "$folder/page" --store "$folder/none"
echo "1..$count"
