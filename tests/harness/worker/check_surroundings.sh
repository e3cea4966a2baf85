#!/bin/bash
# check_surroundings.sh - plugins that change what all code of their process shares, as TAP: locale,
# rounding, folder, signals and so on (tests/support/fake/fake_surroundings.c). The record is the one
# without it, and names what was changed; a program under the recorder leaves the same recording.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
umask 022
export FAKE_PJRT='' FAKE_LOCALE='' LOCPATH=$folder/locales

# A locale whose numbers have a comma. No package has to be there for it: of the categories that a
# definition leaves out localedef complains, and makes the others.
mkdir "$LOCPATH"
cat >"$folder/letters" <<'MAP'
<code_set_name> LETTERS
<comment_char> %
<escape_char> /
CHARMAP
<U0000> /x00 NULL
<U002C> /x2c COMMA
END CHARMAP
MAP
printf 'LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n' >"$folder/comma"
localedef -c -f "$folder/letters" -i "$folder/comma" "$LOCPATH/comma" >"$folder/out" 2>&1
why_not=$("$python" -c '
import locale
locale.setlocale(locale.LC_NUMERIC, "comma")
assert locale.localeconv()["decimal_point"] == ","' 2>&1) && FAKE_LOCALE=comma

# measure ORDERS ARGUMENT...: a run in a folder of its own, with relative paths, in $place.
place=$folder/place
measure() {
    local orders=$1
    shift
    rm -rf "$place"
    mkdir "$place"
    status=0
    (
        cd "$place" || exit
        ulimit -c 0
        FAKE_PJRT=delay_us=100,$orders exec timeout 100 "$bench" run --model resnet18 --variant small \
            --processes 1 --steps 3 --min-time 0 --warmup 8 --store records --runtime "$fake" \
            --mode lazy --phase train --format json "$@" >"$folder/out" 2>"$folder/err" </dev/null
    ) || status=$?
}

# What does not depend on times; prints the first difference from $folder/plain.
same='
def shared(r):
    p = r["provenance"]
    return {"experiment": r["experiment"], "status": r["status"], "loss": r["loss"], "values": r["values"],
            "texts": [x["fingerprint"] for x in r["executions"]],
            "flops": [x["flops"] for x in r["executions"]],
            "environment": {k: v for k, v in p["runtime"]["environment"].items()},
            "options": {k: v for k, v in p["options"].items()}, "pinning": p["pinning"]["pin"]}
plain = json.load(open(folder + "/plain"))
a, b = [shared(r) for r in plain], [shared(r) for r in records]
assert len(a) == len(b) == 1, len(b)
for key in a[0]:
    assert a[0][key] == b[0][key], (key, a[0][key], b[0][key])
changes = {c["what"]: c for c in records[0]["provenance"].get("surroundings", [])}
'

measure ''
cp "$folder/out" "$folder/plain"
report "a plugin that changes nothing is said to change nothing" "$(
    fault_of 0
    holds "$same"'assert not changes, changes'
)"
mode=$(stat -c %a "$place"/records/*.h5)

# What is changed, how the record names it, the detail, whether it stays changed.
while read -r what name detail left; do
    if [ "$what" = locale ] && [ -z "$FAKE_LOCALE" ]; then
        skip "$what" "no locale with a comma could be made: ${why_not##*$'\n'}"
        continue
    fi
    if [ "$what" = cores ] && [ "$(nproc)" = 1 ]; then
        skip "$what" "there is one core only"
        continue
    fi
    [ "$what" != rounding ] && [ "$what" != denormals ] || [ "$(uname -m)" = x86_64 ] || detail=rounding
    faults=''
    for moment in load client compile execute destroy; do
        measure "${what}_at_$moment"
        faults+=$(
            fault_of 0
            holds "$same
assert list(changes) == ['$name'], changes
c = changes['$name']
assert '$detail' == '-' or c['detail'] == '$detail'.replace('+', ', '), c
assert c['left'] == (not '$left'.startswith('put')), c"
            [ "$(stat -c %a "$place"/records/*.h5)" = "$mode" ] || echo "rights: $(ls -l "$place"/records)"
            [ "$(ls "$place")" = records ] || ls "$place"
        )
        [ -z "$faults" ] || break
    done
    report "$what, changed by the plugin at any moment, does not change the record, which names it" \
        "${faults:+$moment: $faults}"
done <<'TABLE'
locale locale comma left
rounding floating-point rounding put
denormals floating-point denormals put
folder working-folder - put
umask umask - put
environment environment HOME+XLA_FLAGS+TZ left
mask signal-mask - put
actions signal-actions TERM+PIPE+XFSZ+CHLD put
descriptors descriptors - put
limits limits FSIZE+NOFILE put
cores cores - put
TABLE

# Only root may raise a priority again, or a user with a limit for it.
measure priority_at_execute
report "another priority of the host thread is recorded" "$(
    fault_of 0
    holds "$same"'assert list(changes) == ["priority"], changes'
)"
measure output_at_execute
report "what a plugin prints is no answer of the worker" "$(
    fault_of 0
    holds "$same"'assert not changes, changes'
)"
measure rounding_at_load,umask_at_client,folder_at_compile,mask_at_execute,limits_at_destroy --pin host
report "several changes at several moments are recorded with their moments" "$(
    fault_of 0
    holds '
shared = [(c["what"], c["when"]) for c in records[0]["provenance"]["surroundings"]]
assert sorted(shared) == [("floating-point", "loading"), ("limits", "ending"), ("signal-mask", "executing"),
                        ("umask", "client"), ("working-folder", "compiling")], shared'
)"

# Limits that bench inherits. Compilers divide programs by the cores and threads that they see.
measure '' --runtime sim --pin all --processes 3
run table --store "$place/records" --format json
report "processes that are pinned alike are pooled, though their threads have other numbers" "$(
    fault_of 0
    holds 'assert [r["processes"] for r in records["rows"]] == [3], records["rows"]'
)"
core=$("$python" -c 'import os; print(min(os.sched_getaffinity(0)))')
hits=''
for before in '' '' 'NPROC=1' 'PJRT_NPROC=1' 'nice -n 19' "taskset -c $core"; do
    # shellcheck disable=SC2086 # words of a command
    env $before "$bench" run "${quick[@]}" --runtime sim --mode lazy --phase train --cache-dir "$folder/cache" \
        --format json >"$folder/out" 2>"$folder/err" </dev/null
    hits+=$("$python" -c 'import json, sys
r = json.load(sys.stdin)[0]
print(r["counters"]["disk_hits"], json.dumps(r["provenance"].get("process"), sort_keys=True), end=";")' <"$folder/out")
done
[ "$(nice)" != 0 ] || [ "$(nproc)" = 1 ] || [ "$(nproc)" != "$(nproc --all)" ] ||
    report "executables on disk are for the threads and cores that they were made for; records have the limits" "$(
        [ "$hits" = "0 null;1 null;0 null;0 null;1 {\"nice\": 19};0 {\"core_count\": 1, \"cores\": \"$core\"};" ] || echo "$hits"
    )"

# Without its descriptors a worker cannot answer, and the next file would get their numbers.
for moment in load compile execute destroy; do
    measure "all_descriptors_at_$moment"
    report "a plugin that closes all descriptors at $moment is a failure that says so" "$(
        fault_of 1 descriptor
        holds 'assert [r["status"] for r in records] == ["crash"], records'
    )"
    measure "end_at_$moment"
    report "a plugin that ends the process with 0 at $moment is a failure" "$(
        fault_of 1 "code 0"
        holds 'assert [r["status"] for r in records] == ["crash"], records'
    )"
done

# Ctrl-C while the plugin has all signals blocked and ignored: what is measured stays.
rm -rf "$place"
FAKE_PJRT=delay_us=20000,mask_at_execute,actions_at_execute "$bench" run --model resnet18 --variant small \
    --processes 20 --steps 3 --min-time 0 --warmup 8 --store "$place" --runtime "$fake" --mode lazy \
    >"$folder/out" 2>"$folder/err" </dev/null &
started=$!
has_record() {
    compgen -G "$place/*.h5" >/dev/null
}
await 60 has_record
kill -INT $started
wait $started
ended=$?
run table --store "$place" --format json
report "Ctrl-C reaches a run whose plugin blocks signals, and what is measured stays" "$(
    fault_of 0
    [ "$ended" = 130 ] || echo "it ended with $ended"
    [ "$(find "$place" -name '*.h5' | wc -l)" -ge 1 ] || echo "no record"
)"

# The recorder is in another program's process, which may do the same.
recorded='
from glob import glob
assert len(glob(folder + "/r/*/events")) == 1, glob(folder + "/r/*")
assert len(glob(folder + "/r/*/programs/*.mlir")) == 1, glob(folder + "/r/*/programs/*")
about = json.load(open(folder + "/r/recording.json"))
assert about["ended"]["exit_code"] == 0, about["ended"]
assert records["found"] >= 20 and records["executions_per_step"] == 1, records'
for what in locale rounding folder umask mask actions all_descriptors; do
    [ "$what" != locale ] || [ -n "$FAKE_LOCALE" ] || continue
    faults=''
    for moment in load client execute; do
        rm -rf "$folder/r"
        FAKE_PJRT=delay_us=2000,${what}_at_$moment run record --runtime "$fake" --output "$folder/r" -- \
            "$program" --steps 30
        faults+=$(
            fault_of 0
            grep -q "1 process, 30 executions" "$folder/err" || echo "not all was recorded"
        )
        run steps "$folder/r" --format json
        faults+=$(
            fault_of 0
            holds "$recorded"
            find "$folder/r" ! -perm -400 | head -n 1
        )
        [ -z "$faults" ] || break
    done
    report "$what of a recorded program does not change its recording" "${faults:+$moment: $faults}"
done

echo "1..$count"
