#!/bin/bash
# check_faults.sh - workers that crash, hang, run out of memory or are killed, and
# runs that are interrupted, as TAP. The plugin that misbehaves is
# tests/support/fake/fake_pjrt.c, steered by FAKE_PJRT.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

started='' worker=''

# start ARGUMENT...: bench in the background, as $started.
start() {
    # Emptied here and now: what an earlier run said must not pass for this one's.
    : >"$folder/out"
    : >"$folder/err"
    # The stages of a worker are shown with --verbose.
    "$bench" "$@" --verbose >"$folder/out" 2>"$folder/err" </dev/null &
    started=$!
}

# Waits for $started, at most SECONDS; sets $status.
finish() { # SECONDS
    if await "$1" ended "$started"; then
        wait "$started"
        status=$?
    else
        kill -KILL "$started"
        wait "$started" 2>/dev/null
        status=999
    fi
}

# The state that the kernel gives process $1: R, S, T, Z, ...; "" when it is gone.
state_of() {
    sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null
}

# Gone, or dead and not yet waited for by us.
ended() {
    case $(state_of "$1") in '' | Z) true ;; *) false ;; esac
}

# Stops $worker; a signal that comes before it stands still would go first.
stop_worker() {
    kill -STOP "$worker"
    await 5 stopped "$worker"
}
stopped() {
    [ "$(state_of "$1")" = T ]
}

gone() {
    [ ! -e "/proc/$1" ]
}

# find_worker: the process that $started runs, once it executes steps ("compiling"
# is the stage of the first one), as $worker.
busy() {
    grep -q compiling "$folder/err"
}
find_worker() {
    worker=
    await 20 busy && worker=$(children_of "$started" | head -n 1)
    [ -n "$worker" ] || worker=none
}

left_over() {
    [ "$worker" != none ] || echo "no worker was seen"
    await 5 gone "$worker" || echo "process $worker is still there"
}

# The statuses of the records on standard output, in order.
statuses() {
    holds "got = ' '.join(r['status'] for r in records); assert got == '$1', got"
}

# ---- classes ----------------------------------------------------------------------

# What the plugin does, the class of the record, the exit code, what is said.
while IFS='|' read -r orders class code text; do
    export FAKE_PJRT=$orders
    run "${quick[@]}" --runtime "$fake" --format json --timeout 20
    report "$orders is $class" "$(
        fault_of "$code" "$text"
        statuses "$class"
        holds "assert '''$text''' in records[0]['message'], records[0]['message']"
    )"
done <<'TABLE'
abort|crash|1|signal 6
oom|out-of-memory|1|out of memory
code=8,compile_error|out-of-memory|1|refuses
compile_error|compile-error|1|refuses
execute_error|execute-error|1|refuses
event_error|execute-error|1|failed while it executed
transfer_error|plugin-error|3|takes no data
client_error|plugin-error|3|not available
init_error|plugin-error|3|does not want to start
wrong_major|plugin-error|3|version
TABLE

export FAKE_PJRT=abort_at_end
before=$(stored)
run "${quick[@]}" --runtime "$fake" --format json
report "a plugin that breaks when it is taken down leaves one record, of a crash" "$(
    fault_of 1 "signal 6"
    statuses crash
    [ $(($(stored) - before)) -eq 1 ] || echo "$(($(stored) - before)) new records, not 1"
)"

export FAKE_PJRT=abort
"$python" -c '
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
' "$bench" "${quick[@]}" --runtime "$fake" --format json >"$folder/out" 2>"$folder/err" </dev/null
status=$?
report "a parent that ignores the ends of children leaves us able to see ours" "$(
    fault_of 1 "signal 6"
    statuses crash
)"

export FAKE_PJRT=hang
run "${quick[@]}" --runtime "$fake" --format json --timeout 1
report "a worker that hangs is stopped" "$(
    fault_of 1 "1 s" "--timeout"
    statuses timeout
)"
export FAKE_PJRT=never_ready
run "${quick[@]}" --runtime "$fake" --format json --timeout 1
report "an execution that never ends, too" "$(
    fault_of 1 "1 s" "--timeout"
    statuses timeout
)"

export FAKE_PJRT=abort
run "${quick[@]}" --mode lazy,capture --runtime "$fake" --format json
report "the run goes on after a crash" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    statuses "crash crash"
    [ "$(complaints | wc -l)" -eq 2 ] || echo "not one complaint an experiment"
)"
before=$(stored)
PJRT_NAMES_AND_LIBRARY_PATHS=good:$fake run "${quick[@]}" --runtime "$notplugin,$fake" --format json
report "and after a plugin that is none" "$(
    [ "$status" -eq 3 ] || echo "exit status $status, not 3"
    statuses "plugin-error crash"
    [ $(($(stored) - before)) -eq 2 ] || echo "$(($(stored) - before)) new records, not 2"
)"
run table --store "$store" --format csv
report "failures are rows of the table" "$(
    fault_of 0
    for class in crash plugin-error; do
        grep -q "$class" "$folder/out" || echo "no $class"
    done
)"
report "a failed cell is the same cell as a good one" "$(
    unset FAKE_PJRT
    run "${quick[@]}" --store "$folder/both" --runtime "$fake" --mode lazy --format json
    holds 'open(folder + "/good", "w").write(json.dumps(records[0]["experiment"]))'
    FAKE_PJRT=abort run "${quick[@]}" --store "$folder/both" --runtime "$fake" --mode lazy --format json
    holds 'a, b = json.load(open(folder + "/good")), records[0]["experiment"]
assert a == b, {k: (a[k], b[k]) for k in a if a[k] != b[k]}'
)"

# ---- killed ------------------------------------------------------------------------

export FAKE_PJRT=hang
start "${quick[@]}" --phase train,infer --runtime "$fake" --format json --timeout 30
find_worker
first=$worker
kill -KILL "$worker"
await 10 grep -q '^\[2/2\].*compiling' "$folder/err"
worker=$(children_of "$started" | head -n 1)
kill -USR1 "${worker:-0}"
finish 10
report "killed workers are failed experiments" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    statuses "crash crash"
    holds 'm = [r["message"] for r in records]
assert "signal 9" in m[0] and "signal 10" in m[1], m'
    [ "$first" != "$worker" ] || echo "one worker for both"
    left_over
)"

start "${quick[@]}" --runtime "$fake" --format json --timeout 1
find_worker
stop_worker
finish 10
report "a worker that does not hear SIGTERM is killed" "$(
    fault_of 1 "--timeout"
    statuses timeout
    left_over
)"

start "${quick[@]}" --runtime "$fake" --timeout 30
find_worker
kill -KILL "$started"
wait "$started" 2>/dev/null
report "a worker does not outlive the program" "$(left_over)"

# ---- interrupted ---------------------------------------------------------------------

# The first process ends well, then the signal comes, amid the second.
interrupt() { # SIGNAL
    rm -rf "$folder/kept"
    FAKE_PJRT=delay_us=20000 start "${quick[@]}" --store "$folder/kept" --phase train,infer \
        --steps 1 --runtime "$fake"
    await 30 grep -q '^\[2/2\].*warm-up' "$folder/err"
    worker=$(children_of "$started" | head -n 1)
    kill "-$1" "$started"
    finish 10
    report "$1 keeps what is done and ends the rest" "$(
        fault_of 130 "interrupted" "1 of 2"
        [ "$(find "$folder/kept" -name '*.h5' | wc -l)" -eq 1 ] || echo "not one record"
        [ "$(find "$folder/kept" -type f | wc -l)" -eq 1 ] || echo "files left behind"
        grep -q 'resnet18.*lazy' "$folder/out" || echo "what is done is not printed"
        left_over
    )"
}
interrupt INT
interrupt TERM

export FAKE_PJRT=hang
# twice [MOST]: faults of a run that two Ctrl-C end, within MOST milliseconds of the second.
twice() {
    local began took
    start "${quick[@]}" --runtime "$fake" --timeout 30
    find_worker
    stop_worker
    kill -INT "$started"
    sleep 0.3
    began=$(date +%s%N)
    kill -INT "$started"
    finish 10
    took=$((($(date +%s%N) - began) / 1000000))
    [ "$status" -eq 130 ] || echo "exit status $status, not 130"
    [ $took -lt "${1:-$((took + 1))}" ] || echo "it took $took ms"
    left_over
}
report "a second Ctrl-C ends it" "$(twice)"
twice_at_once() { twice 1500; }
live "and does not wait" twice_at_once busy_machine

# The reader is gone: the run goes on, records are kept.
unset FAKE_PJRT
"$bench" "${quick[@]}" --store "$folder/pipe" --runtime "$fake" --mode lazy,capture 2>&1 </dev/null |
    head -n 1 >/dev/null
report "a reader that leaves does not end the run" "$(
    count=$(find "$folder/pipe" -name '*.h5' | wc -l)
    [ "$count" -eq 2 ] || echo "$count records, not 2"
)"

echo "1..$count"
