#!/bin/bash
# run.sh - runs tests, each as its own process, and counts what they say.
#
#   tests/run.sh BUILD TEST...     called by `make check`
#
# A test is a program or a script that speaks TAP on its standard output:
# "ok", "not ok", "ok ... # SKIP reason", "1..N". Each gets a temporary folder
# of its own (TMPDIR, removed afterwards) and a time limit. A test that dies,
# runs out of time, or falls short of its plan is a failure, whatever it
# printed before. The last line is always "N passed, N failed, N skipped".
#
# Three tests run at a time on two cores, since many wait for a simulated device; BENCH_TEST_JOBS says
# how many. Those that take longest begin. With BENCH_TEST_LIVE=yes, as in `make check-full`, what
# judges times is run, too (live in support/cli.sh, support/live.h): those tests come after the
# others, one by one.
#
# A full test says in a line "needs: WHAT, WHAT" of its head what it needs beyond `make setup`, or
# "nothing". This stands in its line of the results. The reasons of skipped tests follow.
#
# Environment for the tests: BENCH_TEST_BINARY, BENCH_TEST_FAKE,
# BENCH_TEST_NOTPLUGIN, BENCH_TEST_BUILD, BENCH_RUNTIMES (absolute paths), BENCH_TEST_PYTHON
# (the Python that has h5py), BENCH_TEST_SOURCE (root of the sources, also the
# working folder). BENCH_TEST_TIMEOUT, in seconds, may be set from outside.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

build=$(cd "$1" && pwd) || exit 1
shift
logs=$build/tests/logs
# Stale logs would pass for today's.
rm -rf "$logs" && mkdir -p "$logs" || exit 1

export BENCH_TEST_BUILD=$build BENCH_TEST_SOURCE=$PWD
export BENCH_TEST_BINARY=$build/bench
export BENCH_TEST_FAKE=$build/libpjrt_fake.so
export BENCH_TEST_NOTPLUGIN=$build/libnot_a_plugin.so
# Programs of tests lie deeper than those that look for runtimes next to themselves.
export BENCH_RUNTIMES=${BENCH_RUNTIMES:-$PWD/third_party/runtimes}
export BENCH_TEST_PYTHON=${BENCH_TEST_PYTHON:-$([ -x /usr/bin/python3 ] && echo /usr/bin/python3 || echo python3)}
at_once=$((($(nproc) * 3 + 1) / 2))
# Full tests need memory, and work on all cores.
[ "${BENCH_TEST_LIVE:-no}" != yes ] || at_once=$(nproc)
at_once=${BENCH_TEST_JOBS:-$at_once}
export CMOCKA_MESSAGE_OUTPUT=TAP
# Messages of the C library are compared in some tests.
export LC_ALL=C
# The quick tests judge values and texts, not times, and compiling is most of their work: XLA on CPU
# compiles in 60 % of the time without its optimizations. check-full has the same tests with them.
[ "${BENCH_TEST_LIVE:-no}" = yes ] || export XLA_FLAGS=${XLA_FLAGS---xla_backend_optimization_level=0}

SECONDS=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
stop() {
    # Each of them ends what it started.
    local running
    running=$(jobs -pr)
    [ -z "$running" ] || kill $running 2>/dev/null
    wait
    rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

# Passed, failed, skipped, planned of the TAP in LOG.
count_tap() {
    awk '/^1\.\.[0-9]+/ { planned += substr($1, 4) }
         /^(not )?ok/ { if (toupper($0) ~ /# *SKIP/) skipped++
                        else if ($1 == "not") failed++
                        else passed++ }
         END { print passed + 0, failed + 0, skipped + 0, planned + 0 }' "$1"
}

# The line "needs: ..." of the head of a full test's source, in brackets.
needs_of() { # TEST
    local source=$1
    [ "${1%.sh}" != "$1" ] || source=tests/${1##*/tests/}.c
    case $1 in */*full_*) sed -nE '2,30s/^ ?[#*] (needs: .*)/  [\1]/p' "$source" ;; esac
}

run_one() { # TEST
    local test=$1 name log limit status start end verdict temporary trouble=
    local ok not_ok skip planned tries
    name=$(basename "$test" .sh)
    log=$logs/$name.log
    # For tests that hang: a busy machine makes others several times as long.
    case $name in *full_*) limit=7200 ;; *) limit=1800 ;; esac
    limit=${BENCH_TEST_TIMEOUT:-$limit}
    temporary=$scratch/$name
    mkdir "$temporary" || exit 1

    start=$(date +%s%N)
    local -a command=("$test")
    [ "${test%.sh}" = "$test" ] || command=(bash "$test")
    for ((tries = 1; ; tries++)); do
        TMPDIR=$temporary timeout --kill-after=10 "$limit" "${command[@]}" >"$log" 2>&1 </dev/null &
        # It leads a group of its own, and takes that along.
        trap "kill $! 2>/dev/null" TERM
        # The braces take the shell's own remark on a crash; the verdict says it.
        { wait $!; } 2>/dev/null
        status=$?
        # The leak checker itself may crash over threads of a plugin that is built without it.
        [ $tries -lt 5 ] && [ $status -ne 0 ] &&
            grep -q 'LeakSanitizer has encountered a fatal error' "$log" || break
    done
    end=$(date +%s%N)
    rm -rf "$temporary"

    read -r ok not_ok skip planned < <(count_tap "$log")
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        trouble="stopped after the limit of $limit s"
    elif [ $status -gt 128 ]; then
        trouble="died by signal $((status - 128))"
    elif [ $status -ne 0 ] && [ "$not_ok" -eq 0 ]; then
        trouble="exit status $status"
    elif [ $((ok + not_ok + skip)) -lt "$planned" ]; then
        trouble="only $((ok + not_ok + skip)) of $planned tests reported"
    elif [ $((ok + not_ok + skip)) -eq 0 ]; then
        trouble="ran no test"
    fi
    # What went wrong outside a test counts as one more failure.
    [ -z "$trouble" ] || not_ok=$((not_ok + 1))
    echo "$ok $not_ok $skip" >"$scratch/$name.counts"

    verdict=ok
    [ "$not_ok" -eq 0 ] || verdict=FAILED
    printf '%-6s %-28s %4d passed %3d failed %3d skipped %8.1f s%s\n' $verdict "$name" \
        "$ok" "$not_ok" "$skip" "$(((end - start) / 1000000))e-3" "${trouble:+  ($trouble)}$(needs_of "$test")"
    sed -nE '/^ok/s/.*# *SKIP *(.*)/         skipped: \1/Ip' "$log" | sort -u | head -n 5
    if [ $verdict = FAILED ]; then
        echo "---- $log (last 200 lines)"
        tail -n 200 "$log" | sed 's/^/    | /'
    fi
}

# Whether TEST judges times (live in support/cli.sh, support/live.h), which concurrent tests would disturb.
runs_alone() { # TEST
    [ "${BENCH_TEST_LIVE:-no}" = yes ] || return
    case $1 in
    *.sh) grep -qE '^ *live "' "$1" ;;
    *) grep -qsF 'judges_times()' "tests/${1##*/tests/}.c" ;;
    esac
}

# Says at once what run_one says, so that two tests do not speak in turns.
run_whole() { # TEST
    local said=$scratch/said.$BASHPID
    run_one "$1" >"$said"
    cat "$said"
}

# ---- several at a time, then those that judge times --------------------------------------

# What is long and begins last holds up the end. These take half of the time, and begin in this order.
longest=(check_verify_small check_docs check_usage check_coverage check_compare_ends check_pages check_sim
    check_sim_faults check_cli check_verify test_alloc check_study test_training check_weights check_verify_scan
    check_verify_remat test_sim_models check_input test_want check_statistics)
# in_order TEST...: a line each, the longest first.
in_order() {
    local test name place
    for test in "$@"; do
        name=${test##*/}
        name=${name%.sh}
        for ((place = 0; place < ${#longest[@]}; place++)); do
            [ "${longest[place]}" != "$name" ] || break
        done
        echo "$place $test"
    done | sort -s -n -k 1,1 | cut -d ' ' -f 2-
}

together=() alone=() tests=()
[ $# -eq 0 ] || mapfile -t tests < <(in_order "$@")
for test in ${tests[@]+"${tests[@]}"}; do
    if runs_alone "$test"; then alone+=("$test"); else together+=("$test"); fi
done
for test in ${together[@]+"${together[@]}"}; do
    while [ "$(jobs -pr | wc -l)" -ge "$at_once" ]; do
        wait -n
    done
    run_whole "$test" &
done
wait
for test in ${alone[@]+"${alone[@]}"}; do
    run_whole "$test" &
    wait
done
read -r passed failed skipped < <(cat "$scratch"/*.counts 2>/dev/null |
    awk '{ passed += $1; failed += $2; skipped += $3 } END { print passed + 0, failed + 0, skipped + 0 }')
# A test that nobody counted, because its folder could not be made, say, has failed.
counted=$(find "$scratch" -maxdepth 1 -name '*.counts' | wc -l)
[ "$counted" -eq $# ] || echo "of $# tests $(($# - counted)) could not be run"
failed=$((failed + $# - counted))

[ $# -gt 0 ] || echo "there is no test to run"
printf '%d test%s in %d min %d s\n' $# "$([ $# -eq 1 ] || echo s)" $((SECONDS / 60)) $((SECONDS % 60))
printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ] && [ $passed -gt 0 ]
