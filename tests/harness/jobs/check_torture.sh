#!/bin/bash
# check_torture.sh - programs that share a store, are killed, or find the disk full during
# a run, as TAP: records are whole and kept, and nothing is left behind, neither
# processes nor files. tests/results/records/test_torture.c does the same to the store alone.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

. tests/support/alive.sh

# What a run left that is no record; grace for what the kernel has yet to end.
left_behind() {
    await 5 none_alive || ours_alive
    find "$TMPDIR" -mindepth 1 | sed 's/^/left behind: /'
    find "$store" -type f ! -name '*.h5' ! -name index.tsv | sed 's/^/left behind: /'
}

# The store reads without complaint and holds $1 records.
whole() {
    run table --store "$store" --format csv
    fault_of 0
    [ -z "$(complaints)" ] || echo "a complaint about the store"
    [ "$(stored)" -eq "$1" ] || echo "$(stored) records, not $1"
}

# ---- two at once ----------------------------------------------------------------------

# at_once WHAT RUNTIME PHASES COUNT: two programs, COUNT records of both together.
at_once() {
    local before first second codes
    before=$(stored)
    local -a same=("${quick[@]}" --mode "lazy,capture" --phase "$3" --runtime "$2")
    "$bench" "${same[@]}" --format json >"$folder/first" 2>"$folder/first.err" </dev/null &
    first=$!
    "$bench" "${same[@]}" --format json >"$folder/second" 2>"$folder/second.err" </dev/null &
    second=$!
    wait $first
    codes=$?
    wait $second
    codes="$codes $?"
    report "$1" "$(
        [ "$codes" = "0 0" ] || echo "exit statuses $codes" && cat "$folder"/{first,second}.err |
            grep -v '^\[' | head -n 4
        whole $((before + $4))
        "$python" - "$folder" "$store" "$4" 2>&1 <<'PYTHON' | tail -n 3
import json, os, sys
folder, store, count = sys.argv[1:]
ids = [r["id"] for name in ("first", "second") for r in json.load(open(f"{folder}/{name}"))]
assert len(set(ids)) == int(count), ids
files = os.listdir(store)
for i in ids:
    assert sum(f.startswith(i) for f in files) == 1, i
PYTHON
        left_behind
    )"
}
at_once "two programs write one store" "$fake" train,infer 8
if "$bench" list runtimes --format json | "$python" -c '
import json, sys
sys.exit(not any(r["runtime"] == "cpu" and r["found"] for r in json.load(sys.stdin)))'; then
    at_once "and so on the real runtime" cpu infer 4
else
    skip "and so on the real runtime" "the runtime cpu is not there"
fi

# ---- killed ---------------------------------------------------------------------------

# The program with its worker, at moments that differ from one to the next.
RANDOM=2024
faults='' killed=0
for round in {1..20}; do
    "$bench" "${quick[@]}" --mode lazy,capture,eager --runtime "$fake" \
        >/dev/null 2>&1 </dev/null &
    victim=$!
    sleep "0.$(printf '%03d' $((RANDOM % 400)))"
    kill -KILL $victim 2>/dev/null && killed=$((killed + 1))
    wait $victim 2>/dev/null
    await 5 none_alive || faults+="round $round: $(ours_alive)"$'\n'
    run table --store "$store" --format csv
    faults+=$(fault_of 0; complaints)
done
report "a program that is killed leaves a store that reads, and no process" "$(
    [ $killed -gt 0 ] || echo "every run had ended before it was killed"
    printf '%s' "$faults"
)"

# A temporary file as such a program leaves it. No process has this number.
gone=99999999
leftover=$store/.20250101T000000.000000000Z-$(hostname | tr -c 'A-Za-z0-9._\n' _ | cut -c 1-18)-$gone-0.$gone.tmp
: >"$leftover"
find "$store" -name '*.tmp' -exec touch -d '20 minutes ago' {} +
before=$(stored)
run "${quick[@]}" --runtime "$fake"
report "what it left is swept by the next run" "$(
    fault_of 0
    whole $((before + 1))
    left_behind
)"

mkdir -p "$folder/compared/control-b"
: >"$folder/compared/control-b/${leftover##*/}"
touch -d '5 minutes ago' "$folder/compared/control-b/${leftover##*/}"
# Without a control, which could alarm on a busy machine.
run compare --model resnet18 --variant small --phase infer --mode capture --steps 3 --warmup 8 --min-time 0 \
    --device-time none --control 0 --runtime "$fake" --runtime "$fake" --store "$folder/compared"
report "and by the next comparison in each of its stores" "$(
    [ "$status" -ne 1 ] && [ "$status" -ne 3 ] || echo "exit status $status"
    find "$folder/compared" -name '.*.tmp' | sed 's/^/left behind: /'
)"
rm -rf "$folder/compared"

# ---- failed -----------------------------------------------------------------------------

# However an experiment fails, nothing but its record stays.
while IFS='|' read -r orders wanted; do
    before=$(stored)
    FAKE_PJRT=$orders run "${quick[@]}" --runtime "$fake" --mode lazy,capture --timeout 1
    report "$orders leaves no process and no file" "$(
        fault_of "$wanted"
        whole $((before + 2))
        left_behind
    )"
done <<'TABLE'
abort|1
abort_at_end|1
hang|1
oom|1
compile_error|1
execute_error|1
never_ready|1
client_error|3
init_error|3
TABLE

# While it works on the second experiment there is no trace of the first's worker.
PJRT_NAMES_AND_LIBRARY_PATHS=good:$fake FAKE_PJRT=hang "$bench" "${quick[@]}" \
    --runtime "$fake" --mode lazy --batch 1,2,3 --timeout 1 --verbose >"$folder/out" 2>"$folder/err" </dev/null &
started=$!
await 20 grep -q '^\[3/3\].*compiling' "$folder/err"
children=$(children_of $started | wc -l)
alive=$(ours_alive | wc -l)
wait $started
report "a dead worker is not kept as a zombie" "$(
    [ "$children" -eq 1 ] || echo "$children children during the third experiment, not one"
    # The program, the worker, and who watches over it.
    [ "$alive" -eq 3 ] || echo "$alive processes of ours were seen meanwhile, not three"
    left_behind
)"

# ---- a disk that gets full ------------------------------------------------------------------

# Room for some of the records: those are kept, and the run ends with the first that is
# not. The disk is gone with its name space, so what is on it is copied.
mkdir "$folder/disk"
fill=(--processes 1 --model resnet18 --variant small --steps 3 --min-time 0 --warmup 8 --runtime "$fake"
    --mode "lazy,capture" --phase "train,infer" --batch "1,2,3,4")
if unshare -rm true 2>/dev/null; then
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare -rm bash -c '
        mount -t tmpfs -o size=200k none "$1" || exit 99
        disk=$1
        shift
        "$@" --store "$disk/store"
        status=$?
        cp -R "$disk/store" "$disk/../kept"
        exit $status' - "$folder/disk" "$bench" "${fill[@]}" \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    if [ $status -eq 99 ]; then
        skip "a disk that gets full" "no small file system can be mounted"
    else
        rm -rf "$store"
        mv "$folder/kept" "$store"
        report "a disk that gets full keeps the earlier records" "$(
            fault_of 3 "disk full"
            kept=$(stored)
            [ "$kept" -gt 1 ] && [ "$kept" -lt 16 ] || echo "$kept of 16 records kept"
            whole "$kept"
            left_behind
        )"
    fi
else
    skip "a disk that gets full" "no name space of our own"
fi

echo "1..$count"
