#!/bin/bash
# full_fuzz.sh - libFuzzer on each target of tests/fuzz, with the address and undefined
# behaviour sanitizers, as TAP. Starts from the corpora and leaves them alone. Runs as many targets at a
# time as there are cores.
#
#   FUZZ_SECONDS=30     for each target
#   FUZZ_JOBS=N         so many targets at a time
#   FUZZ_TARGETS='...'  only these, by name
#   FUZZ_FOLDER=...     where inputs that break a target are kept, and what was found
#                       on the way (default: fuzz in the build folder)
#
# A new input that breaks something: fix it, and put the input into the target's
# corpus as found-WHAT.
#
# needs: clang
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
seconds=${FUZZ_SECONDS:-30}
at_once=${FUZZ_JOBS:-$(nproc)}
build=$PWD/build-fuzz
folder=${FUZZ_FOLDER:-${BENCH_TEST_BUILD:-$PWD/build}/fuzz}
# shellcheck disable=SC2206,SC2207 # one word for each is meant
names=(${FUZZ_TARGETS:-$(basename -s .c tests/fuzz/fuzz_*.c tests/fuzz/*/fuzz_*.c | sed 's/^fuzz_//')})
count=0

fail() { # WHAT LOG
    echo "not ok $count - $1"
    tail -n 40 "$2" | sed 's/^/#   /'
}

if ! command -v clang >/dev/null; then
    count=1
    echo "not ok 1 - the fuzzers are built"
    echo "#   clang is missing: run setup/setup.sh clang, or install the package clang"
    echo "1..1"
    exit 1
fi
case $at_once in
'' | *[!0-9]* | 0*)
    echo "not ok 1 - FUZZ_JOBS is a number from 1 on: '$at_once'"
    echo "1..1"
    exit 1
    ;;
esac
mkdir -p "$folder" || exit 1

# A make of its own, without the flags of the one that runs us.
count=1
if env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -j"$(nproc)" VARIANT=fuzz BUILD="$build" \
    "${names[@]/#/$build/tests/fuzz/fuzz_}" >"$folder/build.log" 2>&1; then
    echo "ok 1 - the fuzzers are built"
else
    fail "the fuzzers are built" "$folder/build.log"
    echo "1..1"
    exit 1
fi

# Says how many inputs NAME was given, or what broke it and how to see that again; COUNT is its number.
fuzz() { # NAME
    local name=$1 log=$folder/$1.log crashes=$folder/crashes/$1 program=$build/tests/fuzz/fuzz_$1
    local executions crash
    mkdir -p "$folder/found/$name" "$crashes"
    if "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 \
        -artifact_prefix="$crashes/" "$folder/found/$name" "tests/fuzz/corpus/$name" \
        >"$log" 2>&1; then
        executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        echo "ok $count - $name survives ${executions:-no} inputs in $seconds s"
        return
    fi
    fail "$name survives" "$log"
    for crash in "$crashes"/*; do
        [ ! -f "$crash" ] || echo "#   again: $program $crash"
    done
}

# What each says is kept apart, and shown in the order of their names.
rm -rf "$folder/said" && mkdir "$folder/said" || exit 1
for name in "${names[@]}"; do
    while [ "$(jobs -pr | wc -l)" -ge "$at_once" ]; do
        wait -n
    done
    count=$((count + 1))
    fuzz "$name" >"$folder/said/$name" &
done
wait
for name in "${names[@]}"; do
    cat "$folder/said/$name"
done
echo "1..$count"
