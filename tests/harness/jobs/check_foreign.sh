#!/bin/bash
# check_foreign.sh - what others made, at the command line, as TAP: kept executables of other
# settings, pipes where files are asked for, stores that an archive gave old times, damaged records.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

tiny=(run --processes 1 --model resnet18 --variant small --phase infer --mode lazy --steps 3
    --warmup 8 --min-time 0 --device-time none --format json)
unset PJRT_SIM PJRT_SIM_CONFIG XLA_FLAGS LIBTPU_INIT_ARGS

# ---- kept executables ---------------------------------------------------------------------------

# from_disk WHAT WANTED ARGUMENT...: whether the step of a run came from disk.
from_disk() {
    local what=$1 wanted=$2
    shift 2
    run "${tiny[@]}" --store "$store" --cache-dir "$folder/cache" "$@"
    report "$what" "$(
        fault_of 0
        holds "assert [e['from_disk'] for e in records[0]['executions']] == [$wanted], records"
    )"
}
usual=(--runtime sim --runtime-option values=none --runtime-option device_us=200)
from_disk "the first run compiles" False "${usual[@]}"
from_disk "the same again is loaded" True "${usual[@]}"
from_disk "options in another order are the same" True --runtime sim \
    --runtime-option device_us=200 --runtime-option values=none
from_disk "another option compiles anew" False --runtime sim --runtime-option values=none \
    --runtime-option device_us=900
export PJRT_SIM=launch_us=1
from_disk "another environment compiles anew" False "${usual[@]}"
report "and the record has it" "$(
    holds "assert records[0]['provenance']['runtime']['environment']['PJRT_SIM'] == 'launch_us=1', records[0]['provenance']"
)"
unset PJRT_SIM
echo '{"device_us": 300}' >"$folder/sim.json"
export PJRT_SIM_CONFIG=$folder/sim.json
from_disk "a file of settings compiles anew" False "${usual[@]}"
echo '{"device_us": 301}' >"$folder/sim.json"
from_disk "so do its new contents" False "${usual[@]}"
unset PJRT_SIM_CONFIG
from_disk "the first ones are still there" True "${usual[@]}"
export MALLOC_ARENA_MAX=2 MALLOC_TRIM_THRESHOLD_=
from_disk "settings of malloc change no program" True "${usual[@]}"
report "but the record has them" "$(
    holds "
environment = records[0]['provenance']['runtime']['environment']
assert environment['MALLOC_ARENA_MAX'] == '2' and 'MALLOC_TRIM_THRESHOLD_' not in environment, environment"
)"
unset MALLOC_ARENA_MAX MALLOC_TRIM_THRESHOLD_
run table --store "$store" --format json
report "and tables pool no others with it" "$(
    fault_of 0
    holds "
row = [r for r in records['rows'] if r['settings'] == 'values=none device_us=200']
assert [r['left_out_other_conditions'] for r in row] == [3], row
assert any(': MALLOC_ variables)' in n for n in records['notes']), records['notes']"
)"
if "$bench" list runtimes 2>/dev/null | grep -q '^cpu .*yes'; then
    from_disk "XLA for CPU compiles" False --runtime cpu
    from_disk "XLA for CPU loads" True --runtime cpu
    export XLA_FLAGS=--xla_backend_optimization_level=0
    from_disk "with flags in the environment it compiles anew" False --runtime cpu
    report "and the record has them" "$(
        holds "assert records[0]['provenance']['runtime']['environment']['XLA_FLAGS'] == '--xla_backend_optimization_level=0'"
    )"
    unset XLA_FLAGS
else
    skip "flags of XLA in the environment" "there is no runtime cpu"
fi

# ---- pipes where files are asked for ---------------------------------------------------------------

mkfifo "$folder/pipe"
# waits WHAT TEXT ARGUMENT...: the command refuses the pipe, and does not wait for a writer.
waits() {
    local what=$1 text=$2
    shift 2
    timeout 20 "$bench" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    report "$what" "$(fault_of 2 "$text")"
}
waits "an import of a pipe" "$folder/pipe" import --from pytorch-xla "$folder/pipe" --store "$folder/imports"
waits "a program that is a pipe" "$folder/pipe" run --program "$folder/pipe" --runtime sim \
    --store "$folder/imports"

# ---- times that an archive set -----------------------------------------------------------------------

records=("$store"/*.h5)
touch -d 1980-01-01 "$store"/*.h5
run history --store "$store"
report "old times of files do not make dates wrong" "$(
    fault_of 0
    # Only of wrong dates it tells the minute (wrong_dates).
    ! grep -w UTC "$folder/out"
)"
ahead=$folder/ahead
mkdir "$ahead"
"$built/tests/harness/campaign/make_night" "$store" "$ahead" $((400 * 86400)) 1
run history --store "$ahead"
# wrong_dates NUMBER FILE: a fault unless FILE says of so many records the day of the last.
last=$(find "$ahead" -name '*.h5' | sort | tail -n 1)
day=$(basename "$last" | sed -nE 's/^(....)(..)(..)T.*/\1-\2-\3/p')
wrong_dates() {
    grep -qE "(^|[^0-9])$1 .* ${day:-no day} [0-9:]+ UTC" "$2" || echo "not the $1 records of $day"
}
report "where all dates are wrong, history says so" "$(
    fault_of 3 "$ahead"
    wrong_dates "${#records[@]}" "$folder/err"
)"
# What a table is made of is not of the future either.
cp "${records[-1]}" "$ahead"
run table --store "$ahead"
report "tables are not of records with wrong dates, and say so" "$(
    fault_of 0 "$day"
    wrong_dates "${#records[@]}" "$folder/err"
    wrong_dates "${#records[@]}" "$folder/out"
    [ "$(grep -c '^resnet18 ' "$folder/out")" = 1 ] || echo "not the one record"
)"

run table --store "$ahead" --format json
report "which has an identifier" "$(
    fault_of 0 "$day"
    holds 'assert "misdated" in {n["id"] for n in records["noted"]}, records["noted"]'
)"

run export --store "$ahead" --to xla --output "$folder/xla"
report "an export leaves them out, and says so" "$(
    fault_of 0 "$day"
    wrong_dates "${#records[@]}" "$folder/err"
    [ "$(grep -c 'resnet18' "$folder/xla/baseline.yml")" -ge 1 ] || echo "without the one record"
)"

# The latest of too many are paired, and one of the future would always be among them.
mkdir "$folder/one" "$folder/later"
cp "${records[0]}" "$folder/one"
"$built/tests/harness/campaign/make_night" "$folder/one" "$folder/later" $((400 * 86400)) 1
run compare --store "$folder/one" --store "$folder/later"
report "a comparison of stores leaves them out, and says so" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    wrong_dates 1 "$folder/err"
    [ ! -s "$folder/out" ] || echo "they were paired"
    # The one without its record, and that there is then no other.
    [ "$(complaints | grep -cF "$folder/later")" -eq 2 ] || echo "the store is not named"
)"

# ---- damaged records ---------------------------------------------------------------------------------

head -c 700 "${records[0]}" >"$store/bad.h5"
run table --store "$store"
report "a damaged record is tried" "$(
    fault_of 1 "bad.h5"
    grep -q -e '--reindex' "$folder/err" && echo "it was known"
)"
for command in table history; do
    run $command --store "$store"
    report "$command knows it the next time" "$(fault_of 1 "bad.h5" "--reindex")"
done
run history --store "$store" --reindex
report "--reindex tries it again" "$(
    fault_of 1 "bad.h5"
    grep -q -e '--reindex' "$folder/err" && echo "it was not tried"
)"

echo "1..$count"
