#!/bin/bash
# check_readers.sh - what we write, read by others, as TAP: a record with
# h5dump and h5py, tables with Python's csv and json.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
build=${BENCH_TEST_BUILD:-build}
python=${BENCH_TEST_PYTHON:-/usr/bin/python3}

if [ ! -x "$build/tests/results/records/test_records" ] || [ ! -x "$build/tests/results/tables/test_tables" ]; then
    echo "1..0 # SKIP test_records and test_tables are not built"
    echo "ok - readers # SKIP test_records and test_tables are not built"
    exit 0
fi
folder=$(mktemp -d "${TMPDIR:-/tmp}/check_readers.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT

record=$("$build/tests/results/records/test_records" --write-sample "$folder/store") || {
    echo "not ok 1 - a sample is written: $record"
    echo "1..1"
    exit 1
}
for format in csv json; do
    "$build/tests/results/tables/test_tables" --print speedup $format >"$folder/speedup.$format" || exit 1
done
"$build/tests/results/tables/test_tables" --print record csv >"$folder/record.csv" || exit 1

failed=0
# dump NAME WANTED ARGUMENT...: h5dump's output has the line WANTED.
count=0
dump() {
    local name=$1 wanted=$2
    shift 2
    count=$((count + 1))
    if ! command -v h5dump >/dev/null; then
        echo "ok $count - $name # SKIP there is no h5dump (Debian: hdf5-tools)"
    elif h5dump "$@" "$record" 2>&1 | grep -qF -- "$wanted"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        failed=1
    fi
}
dump "h5dump reads a name" '(0): "resnet50"' -a /experiment/model
dump "h5dump reads a truth value" '(0): TRUE' -a /warmup/stationary
dump "h5dump reads the parts' names" '"input", "trace", "hash"' -a /steps/part_ns/parts
dump "h5dump reads samples" '(0,0): 150000, 2900000' -d /steps/part_ns
dump "h5dump reads all" 'DATASET "pjrt_ns"'
echo "1..$count"

if ! "$python" -c 'import h5py' 2>/dev/null; then
    echo "ok - Python reads # SKIP $python has no h5py (Debian: python3-h5py)"
else
    "$python" tests/results/records/read_record.py "$record" "$folder/speedup.csv" "$folder/speedup.json" \
        "$folder/record.csv" >"$folder/log" 2>&1
    status=$?
    cat "$folder/log"
    [ $status -eq 0 ] && ! grep -q '^not ok' "$folder/log" || failed=1
fi
exit $failed
