#!/bin/bash
# check_cli.sh - the program from outside, as TAP: what it refuses and how, what
# it prints, what it keeps. Faults of workers are in check_faults.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
unset FAKE_PJRT

# ---- refused: one complaint, one exit code -----------------------------------

refuses "a command that is none" 2 "frobnicate|--help" -- frobnicate
refuses "an option that is none" 2 "--fast|--help" -- --fast
refuses "an option of another command" 2 "--steps" -- table --steps 3
refuses "an option without its value" 2 "--model|NAME" -- --model
refuses "a number that is none" 2 "--steps|'many'" -- --steps many
refuses "a word too many" 2 "'lazy'" -- run lazy
refuses "a list that is none" 2 "models|frobs" -- list frobs
refuses "a selftest that is none" 2 "host-cost" -- selftest frobs
refuses "a model that is none" 2 "resnet99|resnet18|resnet50" -- --model resnet99 --store "$store"
refuses "a model that is none, to verify" 2 "resnet99|resnet50" -- verify --model resnet99
refuses "a mode that is none" 2 "quick|lazy|capture|eager" -- --mode quick --store "$store"
refuses "a phase that is none" 2 "test|infer" -- --phase test --store "$store"
refuses "a dtype that is none" 2 "f8|bf16" -- --dtype f8 --store "$store"
refuses "a format that is none" 2 "xml|json" -- --format xml --store "$store"
refuses "a layout that is none" 2 "hwcn|nchw" -- --layout hwcn --store "$store"
refuses "graphs that nothing cuts" 2 "5 graphs" -- --mode lazy --graphs 5 --store "$store"
refuses "a runtime that is none" 3 "'toaster'|cpu|tpu" -- "${quick[@]}" --runtime toaster
refuses "a plugin that is not there" 3 "/nowhere/plugin.so" -- \
    "${quick[@]}" --runtime /nowhere/plugin.so
refuses "a golden folder that is not there" 3 "/nowhere" -- verify --golden /nowhere
BENCH_RUNTIMES='' TPU_LIBRARY_PATH=/nowhere/libtpu.so \
    refuses "a plugin that the environment names wrongly" 3 "/nowhere/libtpu.so" -- \
    "${quick[@]}" --runtime tpu
report "nothing was kept of what was refused" "$(
    [ "$(stored)" -eq 0 ] || echo "$(stored) records in the store"
)"

run "${quick[@]}" --runtime "$notplugin" --format json
report "a plugin that is not a plugin" "$(
    fault_of 3 "GetPjrtApi"
    holds 'assert [r["status"] for r in records] == ["plugin-error"], records[0]["status"]'
)"

FAKE_PJRT=client_error TPU_LIBRARY_PATH=$fake run "${quick[@]}" --store "$folder/tpu" --runtime tpu
report "a TPU that is not there: what its compiler can tell without one" "$(
    fault_of 3 "bench estimate" "--recording"
)"

touch "$folder/file"
refuses "a store that is a file" 3 "$folder/file|Not a directory" -- \
    "${quick[@]}" --runtime "$fake" --store "$folder/file"
refuses "a store that cannot be made" 3 "$folder/file|Not a directory" -- \
    "${quick[@]}" --runtime "$fake" --store "$folder/file/store"
refuses "a table of no store" 3 "/nowhere" -- table --store /nowhere
refuses "a worker without a job" 1 "" -- --worker

# ---- texts ----------------------------------------------------------------------

for command in run table verify list selftest "export weights" suite; do
    # shellcheck disable=SC2086 # one or two words
    run $command --help
    report "help of $command names its options and the exit codes" "$(
        fault_of 0
        for text in --format --help "^bench \\[\\?$command\\b" "\\b130\\b"; do
            grep -q -- "$text" "$folder/out" || echo "no '$text'"
        done
        [ "$(wc -L <"$folder/out")" -le 100 ] || echo "a line of $(wc -L <"$folder/out") columns"
    )"
done
run --version
report "the version" "$(fault_of 0; grep -qE '^bench [^ ]+$' "$folder/out" || echo "not a version")"
run --man
if command -v groff >/dev/null; then
    report "the man page is well-formed" "$(
        fault_of 0
        groff -man -Tutf8 -ww -z "$folder/out" 2>&1 | head -n 3
    )"
else
    report "the man page has its sections" "$(
        fault_of 0
        for section in NAME SYNOPSIS OPTIONS "EXIT STATUS"; do
            grep -qx "\.SH $section" "$folder/out" || echo "no section $section"
        done
    )"
fi

# options_in_manual COMMAND: the options of its section in $folder/out, one a line.
options_in_manual() {
    awk -v section=".SS bench $1" '
        /^\.S[HS] / { inside = $0 == section }
        inside && sub(/^\.B \\-\\-/, "") { sub(/ .*/, ""); gsub(/\\/, ""); print }' "$folder/out"
}
report "it has a section for each command, with the options of its help" "$(
    # help has no options.
    for command in $("$bench" help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vx help); do
        grep -qx "\.SS bench $command" "$folder/out" || echo "no $command"
    done
    sed -n 's/^\.SS bench //p' "$folder/out" | while read -r command; do
        # shellcheck disable=SC2086 # one or two words
        "$bench" help $command | sed -nE 's/^  --([a-z-]+).*/\1/p' >"$folder/by_help"
        options_in_manual "$command" | cmp - "$folder/by_help" 2>&1
    done
)"
report "it has the exit codes of comparisons and the environment" "$(
    for text in ' 2 slower, 4 ' BENCH_CONFIG BENCH_RUNTIMES BENCH_FRONTENDS BENCH_FRONTEND_PYTHON_JAX \
        BENCH_FRONTEND_PYTHON_PYTORCH_XLA PJRT_SIM BENCH_PAGER NO_COLOR ' HDF5 '; do
        grep -qF -- "$text" "$folder/out" || echo "no '$text'"
    done
)"

for what in models modes runtimes ops; do
    case $what in models) one=resnet50 ;; modes) one=capture ;; runtimes) one=tpu ;; *) one=add ;; esac
    run list $what
    report "list $what as a table" "$(
        fault_of 0
        grep -qE "^$one +" "$folder/out" || echo "no row of $one"
    )"
    run list $what --format json
    report "list $what as JSON" "$(
        fault_of 0
        holds "assert any('$one' in r.values() for r in records), 'no $one'"
    )"
done

# ---- runs -------------------------------------------------------------------------

run "${quick[@]}" --runtime "$fake" --mode lazy,capture --phase train,infer --graphs 1,5 --format json
report "combinations run, what cannot be is left out with a word" "$(
    fault_of 0
    complaints | grep -w lazy | grep -qw 5 || echo "no word"
    holds '
e = [(r["experiment"]["phase"], r["experiment"]["mode"], r["experiment"]["graphs"]) for r in records]
assert len(set(e)) == len(e) == 5 and ("train", "capture", 5) in e, e
assert all(r["status"] == "ok" for r in records)'
)"
report "each experiment is kept in a file" "$(
    [ "$(stored)" -eq 6 ] || echo "$(stored) records, not 6: five and the failed one"
)"
report "progress is plain lines when piped" "$(
    grep -q $'[\r\033]' "$folder/err" && echo "terminal codes"
    grep -qE '^\[1/2\] resnet18.small train lazy, capture, capture 5 f32 .* 1 of 1: ok in [0-9.]+ s' "$folder/err" ||
        echo "no line of the first one's end"
)"

run table --store "$store" --format csv
report "the table of a store as csv" "$(
    fault_of 0
    "$python" - "$folder/out" 2>&1 <<'PYTHON' | tail -n 1
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert len([r for r in rows if r.get("model") == "resnet18"]) >= 5, len(rows)
PYTHON
)"
run table --store "$store" --format md
report "the table of a store as markdown" "$(
    fault_of 0
    grep -qE '^\|.*resnet18.*\|$' "$folder/out" || echo "no row of resnet18"
)"

head -c 1000 "$(find "$store" -name '*.h5' | sort | tail -n 1)" >"$store/cut.h5"
echo "not a record" >"$store/junk.h5"
run table --store "$store"
report "damaged files are named and do not hide the others" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    [ "$(wc -l <"$folder/err")" -eq 2 ] || echo "not one complaint a file"
    for name in cut junk; do
        grep -q "$name.h5" "$folder/err" || echo "no complaint about $name.h5"
    done
    grep -q resnet18 "$folder/out" || echo "no row of resnet18"
)"
rm "$store/cut.h5" "$store/junk.h5"

"$bench" table --store "$store" >/dev/full 2>"$folder/err"
status=$?
: >"$folder/out"
report "output that cannot be written" "$(fault_of 3 "standard output")"

odd=$'\xff\xe9'
run "${quick[@]}" --runtime "$fake" --store "$store$odd"
report "a store whose name is not UTF-8 works, or is refused in words" "$(
    [ "$status" -eq 0 ] && exit
    fault_of 2 "UTF-8"
)"
refuses "a label that is not UTF-8" 2 "--label|UTF-8" -- \
    "${quick[@]}" --runtime "$fake" --label "$odd"

# ---- device time --------------------------------------------------------------------

# The fake device works for as long as it is told, one execution after the other.
export FAKE_PJRT=delay_us=3000
# A busy machine disturbs a device that sleeps, so bench may refuse.
sees_device() {
    rm -rf "$folder/seen"
    run "${quick[@]}" --store "$folder/seen" --steps 25 --runtime "$fake" --mode lazy,capture \
        --phase train,infer --format json
    fault_of 0
    holds '
assert len(records) == 4
for r in records:
    x = r["executions"][0]
    assert x["device_time_source"] == "slope" and abs(x["device_ns"] - 3e6) < 3e5, x'
}
live "the slope finds a device's time" sees_device busy_stores "$folder/seen"
unset FAKE_PJRT
run "${quick[@]}" --runtime "$fake" --store "$folder/quiet" -q
report "-q leaves out how it goes" "$(
    fault_of 0
    [ -s "$folder/err" ] && echo "standard error is not empty"
    grep -qw wall "$folder/out" || echo "no table"
)"
run "${quick[@]}" --runtime "$fake" --mode lazy,eager --format json
report "a device that the host cannot keep busy has no slope" "$(
    fault_of 0
    holds '
executions = [x for r in records for x in r["executions"]]
timed = [x for x in executions if x["device_time_source"] != "unavailable"]
# Other programs lengthen some queues. An interval that comes of it must still reach down to the
# lone execution.
assert len(executions) > 10 and len(timed) <= len(executions) / 4, (len(executions), timed)
for x in timed:
    assert x["device_low_ns"] <= x["pjrt_ns"], x
for x in executions:
    if x not in timed:
        assert x["device_ns"] is None, x
        assert "dispatch-bound" in x["device_note"] or "noise" in x["device_note"] or \
            "disturbed" in x["device_note"], x'
)"
run selftest host-cost --model resnet18 --variant small --runtime "$fake"
report "the selftest prints figures" "$(
    fault_of 0
    for text in trace hash lookup bind lowering Execute "not judged"; do
        grep -qF -- "$text" "$folder/out" || echo "no $text"
    done
)"

# ---- a full disk ---------------------------------------------------------------------

mkdir "$folder/disk"
# Experiments of which none can be kept: the first says why and ends the run.
full_disk() { # WANTED
    report "$2" "$(
        fault_of 3 "$1"
        find "$folder/disk" -type f | sed 's/^/left behind: /'
    )"
}
fill=("${quick[@]}" --runtime "$fake" --mode lazy,capture --store "$folder/disk/store")
# A disk of our own, where the kernel lets us have one.
if unshare -rm true 2>/dev/null; then
    unshare -rm bash -c '
        mount -t tmpfs -o size=16k none "$1" || exit 99
        shift
        "$@"; status=$?
        find "$0" -type f
        exit $status' "$folder/disk" "$folder/disk" "$bench" "${fill[@]}" \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    if [ $status -eq 99 ]; then
        skip "a full disk" "no small file system can be mounted"
    else
        full_disk "disk full" "a full disk"
    fi
else
    skip "a full disk" "no name space of our own"
fi
(ulimit -f 8 && exec "$bench" "${fill[@]}") >"$folder/out" 2>"$folder/err" </dev/null
status=$?
full_disk "File too large" "a limit on the size of files"

# ---- the real runtime ------------------------------------------------------------------

if ! "$bench" list runtimes --format json | "$python" -c '
import json, sys
sys.exit(not any(r["runtime"] == "cpu" and r["found"] for r in json.load(sys.stdin)))'; then
    skip "the CPU runtime" "it is not set up"
    echo "1..$count"
    exit 0
fi

cpu=("${quick[@]}" --store "$folder/cpu" --runtime cpu)
every_part() {
    rm -rf "$folder/cpu"
    run "${cpu[@]}" --mode lazy,capture,eager --phase train,infer --steps 20 --label night \
        --format json
    holds '
parts = "input trace hash lookup lower compile bind dispatch release wait read other".split()
for r in records:
    ledger, name = r["ledger"], r["experiment"]["mode"]
    wall = ledger["wall"]["median_ns"]
    assert sorted(ledger) == sorted(parts + ["wall"]), sorted(ledger)
    assert ledger["other"]["median_ns"] <= max(0.01 * wall, 20e3), (name, ledger["other"])'
}
live "the ledger has every part, and little is left over" every_part busy_stores "$folder/cpu"
made_by every_part
report "every mode runs on the CPU runtime" "$(
    fault_of 0
    holds '
assert len(records) == 6 and all(r["status"] == "ok" for r in records)
for r in records:
    e, p = r["experiment"], r["provenance"]
    for key in "model phase mode graphs batch image dtype runtime in_flight seed".split():
        assert key in e, key
    assert e["batch"] > 0 and e["image"] > 0 and len(p["runtime"]["sha256"]) == 64
    assert p["runtime"]["label"] == "night" and p["host"]["kernel"] and p["host"]["topology"]["xml"]
    for key in "compiles cache_hits guard_misses graph_breaks nodes_traced transfers_to_host".split():
        assert key in r["counters"], key
    assert r["step_counters"]["compiles"] == 0 and r["step_counters"]["transfers_to_host"] == 0
    assert r["steps"] >= 20 and r["step_counters"]["steps"] == r["steps"]
    assert (r["counters"]["executions"] > 0) and r["executions"]'
)"
report "executions have times with a source, or say why not" "$(
    holds '
for r in records:
    for x in r["executions"]:
        assert x["pjrt_ns"] > 0 and x["arguments"] >= 0 and x["results"] > 0, x
        if x["device_time_source"] == "unavailable":
            assert x["device_ns"] is None and x["overhead_ns"] is None and x["device_note"], x
        else:
            assert x["device_ns"] > 0, x
            assert abs(x["pjrt_ns"] - x["device_ns"] - x["overhead_ns"]) < 1, x'
)"
if "$python" -c 'import h5py' 2>/dev/null; then
    report "each step's parts sum to its wall time, to the nanosecond" "$(
        "$python" - "$folder/cpu" 2>&1 <<'PYTHON' | tail -n 1
import glob, h5py, sys
files = glob.glob(sys.argv[1] + "/*.h5")
assert len(files) == 6, files
for name in files:
    with h5py.File(name) as f:
        assert (f["steps/part_ns"][:].sum(axis=1) == f["steps/wall_ns"][:]).all(), name
PYTHON
    )"
else
    skip "each step's parts sum to its wall time, to the nanosecond" "$python has no h5py"
fi

run "${cpu[@]}" --in-flight 3 --mode capture --pin all --format json
report "steps in flight, pinned" "$(
    fault_of 0
    holds 'assert records[0]["experiment"]["in_flight"] == 3 and records[0]["status"] == "ok"
assert records[0]["provenance"]["pinning"]["host_cores"] != ""'
)"
run "${cpu[@]}" --pin 9999
report "cores that are not there" "$(fault_of 2 "--pin 9999" "may use")"
run "${cpu[@]}" --mode capture --idle-cores sleep --format json
report "idle cores sleep where bench must not keep them awake" "$(
    fault_of 0
    holds 'assert "idle_cores" not in records[0]["provenance"]'
)"
if { : >>/dev/cpu_dma_latency; } 2>/dev/null; then
    run "${cpu[@]}" --mode capture --format json
    report "idle cores are kept awake, and the record says so" "$(
        fault_of 0
        holds 'assert records[0]["provenance"]["idle_cores"] == "awake"'
    )"
else
    run "${cpu[@]}" --mode capture --format json
    report "idle cores that nobody may keep awake sleep" "$(
        fault_of 0
        holds 'assert "idle_cores" not in records[0]["provenance"]'
    )"
    run "${cpu[@]}" --mode capture --idle-cores awake
    report "idle cores cannot be kept awake here" "$(fault_of 2 "--idle-cores awake" "run as root")"
fi
run "${cpu[@]}" --xla-flag xla_no_such_flag=1
report "a compiler option that is none" "$(fault_of 1 "xla_no_such_flag")"

cached=("${cpu[@]}" --phase infer --cache-dir "$folder/cache" --format json)
run "${cached[@]}"
report "executables are kept on disk" "$(
    fault_of 0
    holds 'assert records[0]["counters"]["compiles"] == 1 and records[0]["counters"]["disk_hits"] == 0'
    [ -n "$(find "$folder/cache" -type f)" ] || echo "the folder is empty"
)"
run "${cached[@]}"
report "and loaded from there" "$(
    fault_of 0
    holds 'c = records[0]["counters"]
assert (c["compiles"], c["disk_hits"], c["disk_rejects"]) == (0, 1, 0), c
assert records[0]["executions"][0]["from_disk"]'
)"
for damage in cut changed empty open; do
    find "$folder/cache" -type f | while read -r file; do
        size=$(stat -c %s "$file")
        case $damage in
        cut) truncate -s $((size / 2)) "$file" ;;
        changed) printf 'damage' | dd of="$file" bs=1 seek=$((size / 2)) conv=notrunc status=none ;;
        empty) : >"$file" ;;
        open) chmod g+w "$file" ;;
        esac
    done
    # What helps is not the same: only what others may write is to be made private.
    [ $damage = open ] && why='chmod go-w' || why=damaged
    run "${cached[@]}"
    report "an executable on disk that is $damage is compiled again, and it is said why" "$(
        fault_of 0
        [ "$(grep -c "^bench: .*$folder/cache: [0-9a-f]\{64\}.exe: .*$why" "$folder/err")" -eq 1 ] ||
            echo "not said once"
        holds 'c = records[0]["counters"]
assert (c["compiles"], c["disk_hits"], c["disk_rejects"]) == (1, 0, 1), c'
    )"
done

echo "1..$count"
