#!/bin/bash
# check_sim_faults.sh - faults of the simulated runtime in every mode, during a run that has
# other experiments, as TAP: the class of each record, what is said, that the rest of the
# run is whole, and that no process and no file stays behind. Then what records and
# tables say of a simulated device and of emulated tracing.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." || exit 1
. tests/support/cli.sh

sim=$(dirname "$bench")/libpjrt_sim.so
modes=lazy,capture,eager
# Each mode has a process of its own, so that faults are counted for each.
steps=(--processes 1 --separate --steps 2 --min-time 0 --warmup 4)
cheap=(--model squeezenet1_1 --variant small --phase infer "${steps[@]}")
# Nothing is computed, so that an experiment takes a fraction of a second.
base=device_us=1,values=none
temporary=$folder/temporary
mkdir "$temporary"

# alone ARGUMENT...: as run, in a session of its own and with temporary files of its own.
alone() {
    TMPDIR=$temporary setsid "$bench" "$@" >"$folder/out" 2>"$folder/err" </dev/null &
    session=$!
    wait "$session"
    status=$?
}

# Processes of $session, and files that are no records.
session_processes() {
    local stat fields
    for stat in /proc/[0-9]*/stat; do
        { read -r fields <"$stat"; } 2>/dev/null || continue
        # After the name in brackets: state, parent, group, session.
        set -- ${fields##*) }
        [ "${4:-}" = "$session" ] && echo "$1"
    done
}
no_processes() {
    [ -z "$(session_processes)" ]
}
left_behind() {
    await 5 no_processes || echo "processes left: $(session_processes | tr '\n' ' ')"
    find "$temporary" -mindepth 1 | sed 's/^/left in TMPDIR: /'
    find "$store" -type f ! -name '*.h5' | sed 's/^/left in the store: /'
}

# The statuses of the records on standard output, in order.
statuses() {
    holds "got = ' '.join(r['status'] for r in records); assert got == '$1', got"
}

# ---- classes ------------------------------------------------------------------------

# Each run has the same experiments on a plugin that is well, which must all succeed: before the
# faulty ones in one half of the rows, behind them in the other.
fault_row() { # NUMBER SETTINGS ARGUMENTS CLASSES CODE TEXT
    local settings=$2 classes=$4 code=$5 text=$6 before runtimes good failures
    local -a more
    before=$(stored)
    read -ra more <<<"$3"
    runtimes=sim,$fake good=$classes' ok ok ok'
    [ $(($1 % 2)) -eq 0 ] || runtimes=$fake,sim good='ok ok ok '$classes
    failures=$(tr ' ' '\n' <<<"$classes" | grep -cv '^ok$')
    PJRT_SIM=$base,$settings alone "${cheap[@]}" --store "$store" --mode $modes \
        --runtime "$runtimes" --format json ${more[@]+"${more[@]}"}
    report "$settings: $classes" "$(
        [ "$status" -eq "$code" ] || echo "exit status $status, not $code"
        statuses "$good"
        holds "
for r in records:
    sim = r['experiment']['runtime'] == 'sim'
    assert r['simulated'] == sim, (r['experiment'], r['simulated'])
    assert r['experiment']['settings'] == ('$base,$settings' if sim else ''), r['experiment']
    assert r['status'] == 'ok' or '''$text''' in r['message'], r['message']"
        [ "$(complaints | wc -l)" -eq "$failures" ] || echo "not one complaint a failure"
        [ "$(complaints | grep -cF -- "$text")" -eq "$failures" ] || echo "not all say '$text'"
        [ $(($(stored) - before)) -eq 6 ] || echo "$(($(stored) - before)) new records, not 6"
        left_behind
    )"
}

# Settings, more arguments, the class in each mode, exit code, what is said. Runs that wait for a timeout
# wait concurrently with the other rows, each in a folder of its own.
row=0
while IFS='|' read -r settings arguments classes code text; do
    row=$((row + 1))
    if [[ $arguments == *--timeout* ]]; then
        (
            folder=$folder/row.$row store=$folder/store temporary=$folder/temporary count=$((row - 1))
            mkdir -p "$temporary"
            fault_row "$row" "$settings" "$arguments" "$classes" "$code" "$text"
        ) >"$folder/row.$row.tap" &
    else
        count=$((row - 1))
        fault_row "$row" "$settings" "$arguments" "$classes" "$code" "$text"
    fi
done <<'TABLE'
faults=execute:3:hang|--timeout 4|timeout timeout timeout|1|--timeout
faults=execute:3:never|--timeout 4|timeout timeout timeout|1|--timeout
faults=compile:1:hang|--timeout 4|timeout timeout timeout|1|--timeout
faults=compile:1:fail||compile-error compile-error compile-error|1|simulated fault: the compilation fails
faults=compile:2:fail:3||ok ok compile-error|1|simulated fault: the compilation fails
faults=compile:1:fail:12||not-supported not-supported not-supported|1|simulated fault: the compilation fails
faults=compile:1:oom||out-of-memory out-of-memory out-of-memory|1|simulated fault: out of memory while compiling
faults=execute:3:fail||execute-error execute-error execute-error|1|simulated fault: the call to execute fails
faults=execute:3:event:10||execute-error execute-error execute-error|1|simulated fault: the execution fails
faults=execute:3:event:10|--in-flight 3|execute-error execute-error execute-error|1|simulated fault: the execution fails
faults=execute:6:fail|--in-flight 3|execute-error execute-error execute-error|1|simulated fault: the call to execute fails
faults=execute:3:oom||out-of-memory out-of-memory out-of-memory|1|simulated fault: out of device memory: results of
faults=compile:20:abort||ok ok crash|1|signal 6
memory_bytes=50000||out-of-memory out-of-memory out-of-memory|1|of 50000 bytes are in use
faults=execute:3:abort||crash crash crash|1|signal 6
faults=compile:1:abort||crash crash crash|1|signal 6
faults=transfer:2:fail:14||plugin-error plugin-error plugin-error|3|simulated fault: the transfer fails
faults=client:1:fail||plugin-error plugin-error plugin-error|3|simulated fault: the client is not made
faults=client:1:oom||out-of-memory out-of-memory out-of-memory|1|simulated fault: the client is not made
start_us=300000||ok ok ok|0|
TABLE
count=$row
wait
cat "$folder"/row.*.tap
before=$(stored)
PJRT_SIM=$base,devise_us=4 alone "${cheap[@]}" --store "$store" --mode $modes --runtime sim,$fake
report "a setting that is none ends the run, and is no record" "$(
    fault_of 2 "there is no setting devise_us; did you mean device_us? runtime/sim/README.md lists all"
    [ "$(stored)" -eq "$before" ] || echo "$(($(stored) - before)) new records"
    left_behind
)"

PJRT_SIM=$base,faults=compile:20:abort alone --processes 2 "${cheap[@]:0:6}" --steps 2 --min-time 0 \
    --warmup 4 --store "$store" --mode $modes --runtime sim --format json
report "where a mode kills the process of all, each has one of its own" "$(
    fault_of 1 "signal 6"
    statuses 'ok ok crash ok ok'
    holds '
for r in records:
    group = r["provenance"]["group"] if r["status"] == "ok" else None
    assert not group or group["how"] == "separate" and "crash" in group["why"], group'
    left_behind
)"

# Time that a client takes to be made is an experiment's, not a step's.
PJRT_SIM=$base,start_us=700000 alone "${cheap[@]}" --store "$store" --mode lazy --runtime sim \
    --format json
report "a slow start is waited for" "$(
    fault_of 0
    statuses ok
    grep -q 'sim: ok in 0\.[0-6] s' "$folder/err" && echo "it took less than was set"
    holds 'assert records[0]["ledger"]["wall"]["p90_ns"] < 700e6, records[0]["ledger"]["wall"]'
    left_behind
)"

cache=$folder/cache
mkdir "$cache"
PJRT_SIM=$base,faults=compile:1:fail alone "${cheap[@]}" --store "$store" --mode $modes \
    --runtime sim --cache-dir "$cache" --format json
report "what failed to compile is not kept on disk" "$(
    statuses "compile-error compile-error compile-error"
    find "$cache" -type f | sed 's/^/kept: /'
    left_behind
)"
# The settings are a part of what an executable is of, so the next run, which is shorter, has them, too.
rest=(--mode lazy,capture --runtime sim --cache-dir "$cache" --format json)
PJRT_SIM=$base,faults=execute:300:abort alone "${cheap[@]}" --store "$store" --steps 400 "${rest[@]}"
report "what crashes later" "$(statuses "crash crash")"
PJRT_SIM=$base,faults=execute:300:abort alone "${cheap[@]}" --store "$store" "${rest[@]}"
report "is kept on disk, whole" "$(
    fault_of 0
    statuses "ok ok"
    holds 'assert all(r["counters"]["disk_hits"] == 1 for r in records)'
    left_behind
)"

for age in older newer; do
    PJRT_SIM=$base PJRT_SIM_API=$age alone "${cheap[@]}" --store "$store" --mode $modes \
        --runtime sim --format json
    report "a plugin of $age times runs in each mode" "$(
        fault_of 0
        statuses "ok ok ok"
        holds "
for r in records:
    api = r['provenance']['runtime']
    assert (api['api_version'][1] == 30) == ('$age' == 'older'), api['api_version']
    assert r['executions'][0]['device_time_source'] == 'profiler', r['executions'][0]"
        left_behind
    )"
done
PJRT_SIM_API=oldest run "${cheap[@]}" --store "$store" --mode lazy --runtime sim --format json
report "of other times there is none" "$(
    fault_of 3 "PJRT_SIM_API=oldest: wants older or newer"
    statuses plugin-error
)"

# ---- wrong numbers ------------------------------------------------------------------

# npy FILE SHAPE VALUES: floats as NumPy would write them, by the standard library.
npy() {
    "$python" - "$@" <<'PYTHON'
import struct, sys
path, shape, values = sys.argv[1:]
head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % shape
head += " " * (-(len(head) + 11) % 64) + "\n"
data = b"".join(struct.pack("<f", float(v)) for v in values.split())
open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
PYTHON
}
npy "$folder/w.npy" '(2, 3)' '1 2 3 4 5 6'
npy "$folder/x.npy" '(3,)' '1 0 -1'
npy "$folder/b.npy" '(2,)' '10 20'
npy "$folder/y.npy" '(2,)' '8 18'
affine=(--program tests/programs/affine.mlir --input "$folder/w.npy" --input "$folder/x.npy"
    --input "$folder/b.npy" --check "$folder/y.npy" "${steps[@]}" --store "$store"
    --runtime sim --format json)

PJRT_SIM=device_us=1 alone "${affine[@]}"
report "the simulated device computes" "$(
    fault_of 0
    statuses ok
    holds 'assert records[0]["values"] == "computed", records[0]["values"]'
)"
PJRT_SIM=device_us=1,faults=execute:1:wrong alone "${affine[@]}"
report "a wrong number is a wrong result" "$(
    fault_of 1 "in 1 of 2 elements, most at 0: got 17, want 8"
    statuses wrong-result
    left_behind
)"
PJRT_SIM=device_us=1,faults=execute:2:wrong alone "${affine[@]}"
report "but not in an execution that nobody looks at" "$(
    fault_of 0
    statuses ok
)"
PJRT_SIM=$base alone "${affine[@]}"
report "zeros are not compared" "$(
    fault_of 1 "computes no values of graph program"
    statuses not-supported
)"
verify=(verify --model squeezenet1_1 --variant small --runtime sim --mode $modes --format csv)
run "${verify[@]}"
report "verify passes on the simulated device in each mode" "$(fault_of 0)"
run "${verify[@]}" --runtime-option faults=execute:2:wrong
report "and finds a wrong number" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    grep -q ',lazy,eval.*,NO$' "$folder/out" || echo "no comparison of the evaluation fails"
)"
run "${verify[@]}" --runtime-option values=none
report "and does not compare zeros" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    [ "$(grep -c 'worker,not-supported' "$folder/out")" -eq 3 ] || echo "not three not-supported"
)"

# ---- what records and tables say --------------------------------------------------------

config=$folder/settings.json
echo '{"execute_us": 3}' >"$config"
export PJRT_SIM_CONFIG=$config
PJRT_SIM=$base run "${cheap[@]}" --store "$store.said" --mode lazy --runtime "sim,$sim,$fake" \
    --format json
cp "$folder/out" "$folder/first"
PJRT_SIM=$base run "${cheap[@]}" --store "$store.said" --mode lazy --runtime sim \
    --runtime-option launch_us=4 --format json
unset PJRT_SIM_CONFIG
report "settings of all sources are in the record, of simulated devices only" "$(
    fault_of 0
    holds "
records = json.load(open(folder + '/first')) + records
want = 'config=$config#$(sha256sum <"$config" | cut -c 1-8) $base'
got = [r['experiment']['settings'] for r in records]
assert got == [want, want, '', want + ' launch_us=4'], got
assert [r['simulated'] for r in records] == [True, True, False, True]
got = [r['values'] for r in records]
assert got == ['none', 'none', 'computed', 'none'], got
assert all('loss' not in r or r['loss'] is None for r in records[:2])"
)"

# A path under /tmp can be long, and so can what is set: nothing of it may get lost.
long=stated=$(printf 'module_number_%d:5;' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
PJRT_SIM=$base run "${cheap[@]}" --store "$store.long" --mode lazy --runtime sim \
    --runtime-option "${long}a:1" --format json
cp "$folder/out" "$folder/first"
PJRT_SIM=$base run "${cheap[@]}" --store "$store.long" --mode lazy --runtime sim \
    --runtime-option "${long}b:1" --format json
report "settings that are too long to be written keep experiments apart" "$(
    fault_of 0
    holds '
a, b = [r["experiment"]["settings"] for r in json.load(open(folder + "/first")) + records]
assert len(a) == len(b) == 255 and a != b, (a, b)
assert a[:-8] == b[:-8] and a[:-8].endswith("...#"), a'
)"

PJRT_SIM=$base,faults=compile:20:fail run "${cheap[@]}" --store "$store.said" --mode $modes \
    --runtime sim
for format in text md; do
    run table --store "$store.said" --format $format
    report "a $format table says simulated of each simulated runtime, and of no other" "$(
        fault_of 0
        # sim once, its settings in a column, and the path.
        [ "$(grep -cE 'runtime .*libpjrt\\?_sim.so \(simulated\), build ' "$folder/out")" -eq 1 ] ||
            echo "not the path"
        [ "$(grep -c 'runtime sim (simulated), build ' "$folder/out")" -eq 1 ] || echo "not sim"
        grep 'runtime .*fake' "$folder/out" | grep -q simulated && echo "the fake one is none"
    )"
done
run table --store "$store.said" --format csv
report "a csv table, too" "$(
    "$python" - "$folder/out" <<'PYTHON' 2>&1 | tail -n 1
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["kind"] == "row"]
assert len(rows) == 7, len(rows)
for r in rows:
    assert r["simulated"] == ("false" if "fake" in r["runtime"] else "true"), r
assert sum(r["status"] == "compile-error" for r in rows) == 1, rows
PYTHON
)"

PJRT_SIM=$base run "${cheap[@]}" --store "$store.slow" --mode $modes --runtime sim \
    --trace-cost-ns 17000 --format json
report "an emulated front end costs each traced node so much" "$(
    fault_of 0
    holds '
most = max(r["step_counters"]["nodes_traced"] / r["steps"] for r in records)
for r in records:
    e, traced = r["experiment"], r["step_counters"]["nodes_traced"] / r["steps"]
    assert e["trace_cost_ns"] == 17000
    assert (traced == 0) == (e["mode"] == "capture"), (e["mode"], traced)
    part = sum(r["ledger"][p]["p10_ns"] for p in ("trace", "hash", "lookup"))
    assert part >= 17000 * traced, (e["mode"], part, traced)
    if e["mode"] == "capture":
        assert part < 17000 * most, part'
)"
run table --store "$store.slow"
report "and the table says emulated" "$(
    fault_of 0
    grep -q 'runtime sim (simulated).*17.*emulated\|runtime sim (simulated).*emulated.*17' "$folder/out" ||
        echo "it does not"
)"

echo "1..$count"
