#!/bin/bash
# check_fuzz_corpus.sh - what reads foreign bytes, on the corpora of tests/fuzz and on
# mutations of them (tests/fuzz/replay.c), 200 of each file or, in make check-full, 500, as TAP.
# tests/fuzz/full_fuzz.sh looks for more.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=${BENCH_TEST_BUILD:-$PWD/build}
mutations=200
[ "${BENCH_TEST_LIVE:-no}" != yes ] || mutations=500
mutations=${BENCH_FUZZ_MUTATIONS:-$mutations}
# The runner's folder for temporary files does not live long enough.
export BENCH_FUZZ_CRASHES=$build/tests/fuzz/crashes
rm -rf "$BENCH_FUZZ_CRASHES" && mkdir -p "$BENCH_FUZZ_CRASHES" || exit 1
count=0

for source in tests/fuzz/fuzz_*.c tests/fuzz/*/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    program=$build/tests/fuzz/replay_$name
    count=$((count + 1))
    each=$mutations
    # HDF5 takes a millisecond for a file, a child ten; listings are files and folders.
    case $name in store | foreign | listing) each=$((mutations / 10)) ;; esac
    if said=$("$program" "$each" "tests/fuzz/corpus/$name"/* 2>&1); then
        echo "ok $count - $name survives: ${said##*$'\n'}"
    else
        echo "not ok $count - $name survives"
        printf '%s\n' "$said" | tail -n 40 | sed 's/^/#   /'
        echo "#   again: $program 0 FILE, with the file named above"
    fi
done
echo "1..$count"
