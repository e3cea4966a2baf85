#!/bin/bash
# check_doctor_record.sh - bench doctor on recordings, as TAP: problems planted in a program of our
# own (pjrt_program.c) on the simulated device are found, and what each costs is what the program
# saves without it, by the program's own clock.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
export PJRT_SIM=values=none,device_us=4000

# recorded NAME OPTION...: records the program in $folder/NAME, anew.
recorded() {
    rm -rf "${folder:?}/$1"
    run record --quiet --runtime sim --output "$folder/$1" -- "$program" --steps 48 "${@:2}"
    fault_of 0
}

# step_of FIGURE OPTION...: FIGURE of the program's steps without a recorder, ns.
step_of() {
    PJRT_LIBRARY_PATH=$sim "$program" --steps 48 "${@:2}" | "$python" -c '
import json, sys
print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

# planted RULE FIGURE WITH -- WITHOUT: what is wrong with the complaint of RULE about the program with
# the options WITH: it must be worth what the options WITHOUT save of FIGURE. Both figures follow as a
# comment.
planted() {
    local rule=$1 figure=$2 with=() one two
    shift 2
    while [ "$1" != -- ]; do
        with+=("$1")
        shift
    done
    shift
    recorded planted "${with[@]}"
    one=$(step_of "$figure" "${with[@]}")
    two=$(step_of "$figure" "$@")
    run doctor "$folder/planted" --format json
    fault_of 0
    rule=$rule one=$one two=$two holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == os.environ["rule"]]
saved = float(os.environ["one"]) - float(os.environ["two"])
with open(folder + "/figures", "w") as f:
    figures = c["rule"], c["cost_ns"] / 1e6, saved / 1e6
    print("# %s: the doctor says %.3f ms a step, mending saves %.3f" % figures, file=f)
assert abs(c["cost_ns"] - saved) < 0.2 * saved, (c["cost_ns"], saved)
assert c["cost_low_ns"] <= c["cost_ns"] <= c["cost_high_ns"], c'
}
export rule one two

# ---- costs --------------------------------------------------------------------------------

# Of 48 steps the program's clock has the later 24, which then wait for the device once.
reads() { planted reads mean_ns --work 2 -- --work 2 --read-every 24; }
live "a read a step costs what reading seldom saves" reads busy_machine

# The work is done while the device works.
work() { planted host mean_ns --work 2 -- --work 2 --read-every 24; }
live "work of the host costs what working ahead saves" work busy_machine

rests() { planted input median_ns --sleep 3 -- --read-every 1; }
live "sleep costs what doing without saves" rests busy_machine

# The loss has been read, so the device has nothing to do. The call copies what it sends; the simulated
# transfer is shorter.
sends() {
    planted transfers median_ns --send-mib 64 -- --read-every 1
    holds '
[c] = [c for c in records["complaints"] if c["rule"] == "transfers"]
assert c["count"] == 1 and c["bytes"] == 64 << 20, c
assert c["where"] == "the largest is f32[%d]" % (16 << 20), c'
}
if sanitized; then
    skip "sending to an idle device costs what not to send saves" "a sanitizer looks at each byte"
else
    live "sending to an idle device costs what not to send saves" sends busy_machine
fi

# Merged executions have the sum of the device times, here a third of those of the calls: it hides
# behind the calls of several, and not behind the call of one, whose loss is awaited.
merged() {
    local PJRT_SIM="values=none,execute_us=400,stated=gradient:400;part:100;fused:1200"
    export PJRT_SIM
    planted executions median_ns --way ops -- --way fused
}
live "executions cost what one in place of them saves" merged busy_machine

# Calls of 3 ms that return before the device has ended.
long_calls() {
    local PJRT_SIM="values=none,execute_us=3000,stated=gradient:300;update:100;fused:400"
    export PJRT_SIM
    planted executions median_ns --way two -- --way fused
}
live "so do few executions with long calls" long_calls busy_machine

# Calls that return when the device has ended, as those of a CPU that runs the program itself.
within_calls() {
    local PJRT_SIM="values=none,blocking=true,stated=gradient:900;part:900;fused:8100"
    export PJRT_SIM
    recorded within --way ops
    run doctor "$folder/within" --format json
    fault_of 0
    holds '
assert records["executions_per_step"] == 9 and records["verdict"] == "device-bound", records
assert not {"executions", "dispatch"} & {c["rule"] for c in records["complaints"]}, records
assert "calls-doubtful" in records["noted"], records["noted"]'
}
live "nine programs that run within their calls draw no complaint of these" within_calls busy_machine
made_by within_calls

run metrics "$folder/within"
report "a recording in place of records is refused with the command that imports it" "$(
    fault_of 3
    grep -qF "bench import --store DIR $folder/within" "$folder/err" || cat "$folder/err"
)"

anew() {
    local PJRT_SIM=values=none,device_us=4000,compile_us=20000
    export PJRT_SIM
    planted compiles mean_ns --anew-every 3 -- --read-every 1
}
live "compiling on costs what doing without saves" anew busy_machine
made_by anew

# A compilation of 11 s at the start; the program's whole life is some steps longer.
starts() {
    local begin one two PJRT_SIM=values=none,device_us=4000,compile_us=11000000
    export PJRT_SIM
    begin=$(date +%s%N)
    recorded start
    one=$(($(date +%s%N) - begin))
    PJRT_SIM=values=none,device_us=4000
    begin=$(date +%s%N)
    recorded start-less
    two=$(($(date +%s%N) - begin))
    run doctor "$folder/start" --format json
    fault_of 0
    one=$one two=$two holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == "start"]
saved = float(os.environ["one"]) - float(os.environ["two"])
with open(folder + "/figures", "w") as f:
    print("# start: the doctor says %.3f s, mending saves %.3f" % (c["cost_ns"] / 1e9, saved / 1e9), file=f)
assert abs(c["cost_ns"] - saved) < 0.2 * saved, (c["cost_ns"], saved)'
}
live "a long start costs what compiling at once would save" starts busy_machine

# ---- dispatch -----------------------------------------------------------------------------

# bounded NAME CODE OPTION...: Python CODE about what bench steps and doctor say of a program with the
# options, recorded as NAME. Its steps take `one`; the caller sets `two` and `three`, other times.
bounded() {
    local one
    recorded "$1" "${@:3}"
    one=$(step_of median_ns "${@:3}")
    run doctor "$folder/$1" --format json
    fault_of 0
    cp "$folder/out" "$folder/doctor"
    run steps "$folder/$1" --format json
    fault_of 0
    one=$one two=$two three=$three holds "
import os
one, two, three = (float(os.environ[n] or 0) for n in ('one', 'two', 'three'))
answer, doctor = records['answer'], json.load(open(folder + '/doctor'))
def near(what, said, is_so):
    with open(folder + '/figures', 'a') as f:
        print('# dispatch: %s %.3f ms a step, by the clock %.3f' % (what, said / 1e6, is_so / 1e6), file=f)
    assert abs(said - is_so) < 0.2 * is_so, (what, said, is_so)
def says(*texts):
    for text in texts:
        assert text in answer['words'], (text, answer['words'])
$2"
}
export three

# Nine calls of 800 us, behind which the device's 500 us hide.
calls='values=none,stated=gradient:300;part:25;fused:500'
nine_calls() {
    local two three PJRT_SIM=$calls,execute_us=800
    export PJRT_SIM
    two=$(step_of median_ns --way fused)
    three=$(PJRT_SIM=$calls step_of median_ns --way ops)
    bounded nine '
says("Dispatch-bound: ", "much of that may be the fixed cost of 9 executions a step", "would take at most")
assert records["verdict"] == doctor["verdict"] == "dispatch-bound", (records["verdict"], doctor["verdict"])
assert records["executions_per_step"] == 9 and answer["fixed_cost"]["ns"] >= 800e3, records
near("one execution saves by bench steps", answer["wall"]["ns"] - answer["one_execution"]["ns"], one - two)
assert answer["one_execution"]["low_ns"] <= two, ("at least", answer, two)
[c] = [c for c in doctor["complaints"] if c["rule"] == "executions"]
near("and by the doctor", c["cost_ns"], one - two)
near("calls that cost nothing save", 9 * answer["fixed_cost"]["ns"], one - three)' --way ops
}
live "a step of nine calls is bound by them, and their cost is reported" nine_calls busy_machine

# The host by itself: a device that needs no time.
host_only() {
    local three='' two PJRT_SIM=$calls,execute_us=800
    export PJRT_SIM
    two=$(PJRT_SIM=values=none,device_us=0,execute_us=800 step_of median_ns --way ops)
    bounded alone 'near("the host by itself needs", answer["host_only"]["ns"], two)' --way ops
}
live "what the host by itself needs is what a step takes whose device needs nothing" host_only busy_machine

# Of a step of one call completions do not tell whether the device works within it.
one_call() {
    local two three='' PJRT_SIM=values=none,device_us=400,execute_us=800
    export PJRT_SIM
    two=$(PJRT_SIM=values=none,device_us=400 step_of mean_ns --read-every 24)
    bounded one '
near("calls that cost nothing save", answer["fixed_cost"]["ns"], one - two)
assert records["verdict"] == doctor["verdict"] == "dispatch-bound", (records["verdict"], doctor["verdict"])
assert answer["dispatch_gaps_ns"] is None, answer
[c] = [c for c in doctor["complaints"] if c["rule"] == "dispatch"]
assert c["at_most"] and c["count"] == 1, c
near("up to so much by the doctor", c["cost_ns"], one - two)
says("a step are in Execute calls", "Without host gaps a step would take at most ")
assert "A faster host changes little" not in answer["words"], answer["words"]'
}
live "of a step of one call it is said that the host may be what works" one_call busy_machine

# seen OPTION...: what is wrong where a profile tells how long the device works: for as long as a step
# takes whose calls cost nothing, and which reads nothing.
seen() {
    local one two PJRT_SIM=$calls,execute_us=800
    export PJRT_SIM
    rm -rf "$folder/seen"
    run record --quiet --runtime sim --profile 90 --output "$folder/seen" -- "$program" --steps 192 "$@"
    fault_of 0
    one=$(step_of median_ns "$@")
    two=$(PJRT_SIM=$calls step_of mean_ns --read-every 24 "$@")
    run steps "$folder/seen" --format json
    fault_of 0
    one=$one two=$two holds '
import os
one, two, answer = float(os.environ["one"]), float(os.environ["two"]), records["answer"]
with open(folder + "/figures", "a") as f:
    figures = answer["no_host_gaps"]["ns"] / 1e6, two / 1e6
    print("# dispatch: a step without host gaps takes %.3f ms by a profile, %.3f by the clock" % figures, file=f)
assert records["verdict"] == "dispatch-bound" and answer["busy_share"] < 0.5, (records["verdict"], answer)
assert answer["host_gaps_ns"] < 0.3 * answer["dispatch_gaps_ns"], answer
assert abs(answer["dispatch_gaps_ns"] - (one - two)) < 0.2 * (one - two), (answer, one, two)
overheads = sum(p["times"] * p["overhead_ns"] for p in records["programs"])
assert abs(overheads - (one - two)) < 0.2 * (one - two), (overheads, one, two)
assert abs(answer["no_host_gaps"]["ns"] - two) < 0.2 * two, (answer, two)
assert abs(answer["wall"]["ns"] - one) < 0.2 * one, (answer, one)
assert "between a call and its kernels" in answer["words"] and "take at most" not in answer["words"], answer'
}
seen_one() {
    seen --way fused
    run doctor "$folder/seen" --format json
    fault_of 0
    holds '
[c] = [c for c in records["complaints"] if c["rule"] == "dispatch"]
# The call of 800 us; the 500 us of the device are no part of it.
assert records["verdict"] == "dispatch-bound" and not c["at_most"], records
assert abs(c["cost_ns"] - 800e3) < 0.2 * 800e3, c'
}
live "a profile tells how long the device works within one call" seen_one busy_machine
seen_nine() { seen --way ops; }
live "and within nine" seen_nine busy_machine

# ---- where, and what to do ----------------------------------------------------------------

run doctor "$folder/planted"
report "changes in programs that are compiled late are reported" "$(
    fault_of 0
    tr '\n' ' ' <"$folder/out" >"$folder/line"
    for text in "compiles: " "(of " " code " "fused). "; do
        grep -qF -- "$text" "$folder/line" || echo "it does not say '$text'"
    done
)"

recorded kept --kept --size 1024
run doctor "$folder/kept" --format json
report "missed donation: which argument, and its bytes" "$(
    fault_of 0
    holds '
[c] = [c for c in records["complaints"] if c["rule"] == "donation"]
assert c["count"] == 1 and c["bytes"] == 4 << 20 and c["cost_ns"] is None, c
assert c["where"] == "argument 0 of fused, f32[1024,1024]", c["where"]
assert "donate_argnums" not in c["advice"]'
)"
for format in md csv html latex narrow text; do
    run doctor "$folder/kept" --format $format
    report "complaints as $format" "$(
        fault_of 0
        grep -q -- donation "$folder/out" || echo "no donation in it"
    )"
done
report "text is as wide as a terminal" "$(awk 'length > 80' "$folder/out")"

mkdir "$folder/unclocked" &&
    "$built/tests/results/recordings/make_recording" \
        "$folder/unclocked" unclocked || exit 1
run doctor "$folder/unclocked" --format csv
cp "$folder/out" "$folder/unclocked.csv"
run doctor "$folder/unclocked" --format json
report "tables have whole sentences" "$(
    fault_of 0
    holds '
import csv
[advice] = [c["advice"] for c in records["complaints"] if c["rule"] == "host"]
[row] = [r for r in csv.reader(open(folder + "/unclocked.csv")) if r and r[0] == "host"]
assert len(advice) > 80 and row[-1] == advice, (row, advice)'
)"

is_healthy() {
    recorded healthy --size 1024
    run doctor "$folder/healthy"
    fault_of 0
    grep -q '^1\. ' "$folder/out" && echo "it has findings"
    run doctor "$folder/healthy" --format json
    holds '
assert records["steady"] and records["steps"] > 0 and records["executions_per_step"] == 1, records
assert records["complaints"] == [], records["complaints"]'
}
live "a healthy recording draws none" is_healthy busy_machine

# ---- refusals -----------------------------------------------------------------------------

refuses "what chooses records of a store" 2 "$folder/kept|--model" -- \
    doctor "$folder/kept" --model resnet18
refuses "a process that is not there" 3 "process 7" -- doctor "$folder/kept" --process 7
refuses "a program that is not there" 3 "--step-program nothing" -- \
    doctor "$folder/kept" --step-program nothing
refuses "what chooses steps of a recording, of a folder without one" 3 "$folder" -- \
    doctor "$folder" --step-program fused
refuses "a format that is none" 2 "'xml'" -- doctor "$folder/kept" --format xml
echo "1..$count"
