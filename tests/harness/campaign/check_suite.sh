#!/bin/bash
# check_suite.sh - bench suite from outside, on the simulated runtime, as TAP: resuming,
# retrying, filters, shards, a launcher, and kills at any moment.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
mine=$folder/mine.json
cat >"$mine" <<'JSON'
{
  "bench_suite": 1,
  "name": "mine",
  "defaults": {
    "runtimes": [{ "name": "sim", "options": { "device_us": 200, "values": "none" } }],
    "variants": "small", "steps": 3, "warmup": 8, "min_time": 0, "repetitions": 2
  },
  "matrix": [
    { "models": ["resnet18", "squeezenet1_1"], "modes": ["lazy", "capture"], "phases": "infer" },
    { "models": "resnet18", "modes": "capture", "graphs": [1, 3] }
  ]
}
JSON

# inventory STORE: "IDENTITY STATUS" of each record, sorted.
inventory() {
    "$python" - "$1" <<'PYTHON'
import glob, json, sys
import h5py
for path in glob.glob(sys.argv[1] + "/*.h5"):
    with h5py.File(path, "r") as f:
        words = f["provenance"][()]
        suite = json.loads(words).get("suite", {})
        print(suite.get("identity"), f.attrs["status"])
PYTHON
}
# separate STORE: how many records say that their group was measured one by one after a crash.
separate() {
    "$python" - "$1" <<'PYTHON'
import glob, json, sys
import h5py
groups = []
for path in glob.glob(sys.argv[1] + "/*.h5"):
    with h5py.File(path, "r") as f:
        groups.append(json.loads(f["provenance"][()]).get("group", {}))
print(sum(g.get("how") == "separate" and g["why"].startswith("crash") for g in groups))
PYTHON
}
sorted() { inventory "$1" | sort; }
summary() { grep '^suite ' "$folder/err"; }
# says FIGURE...: a fault for each of them that the summary of the last run lacks: "12 done", a number and a state.
says() {
    local figure
    for figure in "$@"; do
        summary | grep -qE "(^|[ (])$figure\\b" || echo "the summary does not say '$figure'"
    done
}
# listed RUN DONE FAILED: a fault unless the dry run counts so many.
listed() { grep -qE "^$1 .*\\b$2 done\\b.*\\b$3 failed\\b" "$folder/out" || echo "it does not count $*"; }
can_read=yes
"$python" -c 'import h5py' 2>/dev/null || can_read=

run suite "$mine" --store "$store" --dry-run
report "a dry run lists and runs nothing" "$(
    fault_of 0
    [ "$(grep -c '^run ' "$folder/out")" = 12 ] || echo "not 12 to run"
    listed 12 0 0
    [ ! -e "$store" ] || echo "the store was made"
)"
run suite "$mine" --store "$store"
report "all of it runs" "$(
    fault_of 0
    says '12 done' '0 skipped' '0 failed'
    [ "$(stored)" = 12 ] || echo "$(stored) records"
    grep -q '^squeezenet1_1 ' "$folder/out" || echo "no table"
    grep -q ' left$' "$folder/err" || echo "no remaining time"
    [ "$(grep -c ' #2: ok in ' "$folder/err")/$(grep -c ': ok in ' "$folder/err")" = 3/3 ] ||
        echo "not a line for each that share processes, when the last of these ends"
    spent=$(grep '^\[6/6\] suite .*\b6 processes\b' "$folder/err") || echo "no time by phase"
    for phase in start compile warm-up rounds rest; do
        echo "$spent" | grep -qE "$phase [0-9]+\.[0-9] s" || echo "no time of $phase"
    done
)"
run suite "$mine" --store "$store"
report "what succeeded is not repeated, and stands in the table" "$(
    fault_of 0
    says '0 done' '12 skipped' '0 failed'
    [ "$(stored)" = 12 ] || echo "$(stored) records"
    grep -q '^squeezenet1_1 ' "$folder/out" || echo "no table"
)"
"$bench" suite "$mine" --store "$store" >"$folder/log" 2>&1 </dev/null
report "in a log that gets both, the table comes whole before what follows it" "$(
    awk '/^squeezenet1_1 /{ table = NR } /^Findings$/{ found = NR } /^suite .*: 0 done/{ summary = NR }
        END { exit !(table && table < found && found < summary) }' "$folder/log" || tail -n 5 "$folder/log"
)"
# A record that is damaged since the index was made, which its size and time do not tell.
damage_unseen() {
    touch -r "$1" "$folder/time"
    printf damaged | dd of="$1" bs=1 seek=2000 conv=notrunc status=none
    touch -r "$folder/time" "$1"
}
cp -a "$store" "$folder/marked"
run run "${quick[@]}" --runtime sim --mode lazy --phase infer --store "$folder/marked"
run suite "$mine" --store "$folder/marked" --dry-run
damage_unseen "$(ls "$folder"/marked/*.h5 | tail -n 1)"
run suite "$mine" --store "$folder/marked"
report "records that are of no run of the suite are not opened" "$(
    fault_of 0
    says '0 done' '12 skipped' '0 failed'
    complaints | grep -qF "$folder/marked/" && echo "one was opened"
)"
one=$(ls "$folder"/marked/*.h5 | head -n 1)
damage_unseen "$one"
run suite "$mine" --store "$folder/marked"
report "a run whose record is damaged is said and measured again" "$(
    fault_of 0
    says '1 done' '11 skipped' '0 failed'
    complaints | grep -qF "$one: " || echo "the record is not named"
)"
run suite "$mine" --store "$store" --repetitions 3 --dry-run --format json
report "one repetition more is the only one that is open" "$(
    fault_of 0
    holds '
assert len(records) == 18
assert [r["repetition"] for r in records if r["state"] == "run"] == [3] * 6
assert all(("record" in r) == (r["state"] == "done") for r in records)
assert len({r["identity"] for r in records}) == 18
'
)"
PJRT_SIM=device_us=300 run suite "$mine" --store "$store" --dry-run
report "other settings of the runtime are other experiments" "$(
    fault_of 0
    listed 12 0 0
)"

run suite "$mine" --store "$folder/part" --filter 'resnet*infer' --exclude lazy
report "filters" "$(
    fault_of 0
    says '2 done'
    complaints | grep -q lazy && echo "lazy ran"
)"
refuses "filters that leave nothing" 2 "--filter|6 experiments" -- \
    suite "$mine" --store "$store" --filter nothing
refuses "a shard that is none" 2 "--shard takes I/N" -- suite "$mine" --shard 3/2
refuses "a suite that is none" 2 "nosuch|smoke, reference, nightly" -- \
    suite nosuch
refuses "a file that is none" 3 "no/such.json: " -- suite no/such.json
sed 's/"squeezenet1_1"/"squeezenet"/' "$mine" >"$folder/wrong.json"
refuses "a wrong name, with its place" 2 \
    "wrong.json:9:30: /matrix/0/models/1: |'squeezenet'| squeezenet1_1?" \
    -- suite "$folder/wrong.json"
sed 's/"phases": "infer"/"phase": "infer"/' "$mine" >"$folder/wrong.json"
refuses "a wrong member, with the one that may be meant" 2 \
    "/matrix/0/phase: | phases?| models, " -- \
    suite "$folder/wrong.json"
for name in smoke reference nightly; do
    run suite "$name" --runtime sim --dry-run --store "$folder/none"
    report "suite $name comes with bench" "$(
        fault_of 0
        listed '[1-9][0-9]*' 0 0
    )"
done

# A suite that goes on is one run. Its first three repetitions may as well be all that a kill left.
run suite "$mine" --store "$folder/more" --filter 'resnet18*' --repetitions 3
run suite "$mine" --store "$folder/more" --filter 'resnet18*' --repetitions 7
run table --store "$folder/more" --format json
report "a suite that goes on adds to its run: all of its repetitions count" "$(
    fault_of 0
    holds '
rows = [r for r in records["rows"] if r["model"] == "resnet18"]
assert len(rows) == 4, len(rows)
for r in rows:
    assert (r["processes"], r["runs"], r["left_out_other_run"]) == (7, 1, 0), r
capture = [r for r in rows if (r["mode"], r["graphs"], r["phase"]) == ("capture", 1, "infer")]
assert capture[0]["matched"] and capture[0]["judged"], capture
'
)"
# A measurement at another time than stored records of its repetition is no pair with them.
rm -f "$folder"/more/*-resnet18-infer-capture.h5
run suite "$mine" --store "$folder/more" --filter 'resnet18*' --repetitions 7
run table --store "$folder/more" --format json
report "a measurement next to older records joins their run, but not their processes" "$(
    fault_of 0
    holds '
rows = [r for r in records["rows"] if r["model"] == "resnet18" and r["phase"] == "infer"]
assert all((r["processes"], r["runs"]) == (7, 1) for r in rows), rows
assert [r["matched"] for r in rows if r["mode"] == "capture" and r["graphs"] == 1] == [False]
'
)"

# Half a day later it is another run: of two the later one stands, which has three processes.
mkdir "$folder/old"
"$built/tests/harness/campaign/make_night" "$folder/more" "$folder/old" $((-13 * 3600)) 1
run suite "$mine" --store "$folder/old" --filter 'resnet18*' --repetitions 10
run table --store "$folder/old" --format json
report "13 hours later it begins another run" "$(
    fault_of 0
    holds '
rows = [r for r in records["rows"] if r["model"] == "resnet18"]
assert all((r["processes"], r["runs"], r["left_out_other_run"]) == (3, 1, 7) for r in rows), rows
'
)"

# A clock that was ahead measured all of it: tables leave that out, so it is yet to be measured.
run suite "$mine" --store "$folder/today" --filter 'squeezenet*'
"$built/tests/harness/campaign/make_night" "$folder/today" "$folder/ahead" $((400 * 86400)) 1
run suite "$mine" --store "$folder/ahead" --filter 'squeezenet*' --dry-run
report "records dated in the future are of nothing that is done" "$(
    fault_of 0 "$folder/ahead: 4 records "
    listed 4 0 0
)"
run suite "$mine" --store "$folder/ahead" --filter 'squeezenet*'
report "and are measured again, in addition" "$(
    fault_of 0
    grep -qF "$folder/ahead: 4 records " "$folder/err" || echo "not said"
    says '4 done' '0 skipped' '0 failed'
    [ "$(ls "$folder/ahead"/*.h5 | wc -l)" = 8 ] || echo "not 8 records"
)"

# One experiment fails, the others run; it is repeated on request only. What a simulator of
# another name is given is no part of an identity, so the repetition can go well.
cp "${bench%/*}/libpjrt_sim.so" "$folder/device.so"
bad() { run suite "$mine" --store "$folder/bad" --runtime "$folder/device.so" --filter "$@"; }
export PJRT_SIM=values=none
PJRT_SIM='values=none,faults=compile:*:fail' bad 'squeezenet*infer*'
report "failures are recorded by class and the run goes on" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    says '0 done' '0 skipped' '4 failed' 'compile-error 4'
)"
bad 'squeezenet*infer*'
report "they are not repeated by themselves" "$(
    fault_of 1
    says '0 failed' '4 had failed' --retry-failed
)"
bad 'squeezenet*infer capture' --retry-failed
report "but on request" "$(
    fault_of 0
    says '2 done' '0 skipped' '0 failed'
)"
bad 'squeezenet*infer*' --dry-run
report "which counts" "$(
    fault_of 0
    listed 0 2 2
)"
# The plugin becomes another one while the suite runs, which is slow enough to be caught at it.
sed 's/"min_time": 0,/"min_time": 0.2,/' "$mine" >"$folder/slow.json"
{
    await 30 grep -q '^\[1/6\].*: ok' "$folder/err"
    cp "$folder/device.so" "$folder/new.so"
    printf x >>"$folder/new.so"
    mv "$folder/new.so" "$folder/device.so"
} &
: >"$folder/err"
run suite "$folder/slow.json" --store "$folder/changed" --runtime "$folder/device.so" --verbose
wait
report "a runtime's file that is replaced meanwhile is reported" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
        # None is of the other build.
    summary | grep -qE ' [1-9][0-9]* failed \(plugin-changed [0-9]+\)' || echo "not counted"
)"
run suite "$folder/slow.json" --store "$folder/changed" --runtime "$folder/device.so" --dry-run --label \
    "$(printf 'a%.0s' $(seq 59))éé" --format json
report "and not taken for done; a label is cut between characters" "$(
    fault_of 0
    holds '
assert len(records) == 12 and {r["state"] for r in records} == {"run"}, records
assert all(r["title"].endswith(" [" + 59 * "a" + "]") for r in records), records
'
)"
unset PJRT_SIM

# ---- shards and launchers ------------------------------------------------------------

if [ -z "$can_read" ]; then
    skip "shards, launchers and kills" "$python has no h5py"
    echo "1..$count"
    exit 0
fi
sorted "$store" >"$folder/whole"
for i in 1 2 3; do run suite "$mine" --store "$folder/shards" --shard $i/3; done
says_owed() { grep -cE '(^| )owe [1-9]' "$folder/err"; }
run suite "$mine" --store "$folder/owed" --shard 2/2 --format json
report "a shard that is whole ends with 0 and says what others owe" "$(
    fault_of 0
    [ "$(says_owed)" = 1 ] || echo "not said"
    holds '
owed = records["owed"]
assert owed["known"] and owed["message"] is None and owed["failed"] == 0, owed
assert 0 < owed["processes"] < owed["of"] and len(owed["experiments"]) == owed["processes"], owed
assert set(owed["shards"]) == {e["shard"] for e in owed["experiments"]} == {1}, owed["shards"]
json.dump(sorted(e["identity"] for e in owed["experiments"]), open(folder + "/identities", "w"))
'
)"
run suite "$mine" --store "$folder/owed" --shard none --dry-run --format json
report "what is owed is what the suite would run" "$(
    holds '
left = sorted(r["identity"] for r in records if r["state"] == "run")
assert left == json.load(open(folder + "/identities")), left
'
)"
run suite "$mine" --store "$folder/owed" --shard none --format json
report "the suite after its shards runs what a lost one left" "$(
    fault_of 0
    sorted "$folder/owed" | diff - "$folder/whole"
    holds '
owed = records["owed"]
assert owed["known"] and owed["processes"] == 0 and owed["shards"] == owed["experiments"] == [], owed
'
)"
run suite "$mine" --store "$folder/owed" --format json
report "where nothing is split nothing is said to be owed" "$(
    fault_of 0
    holds 'assert "owed" not in records'
)"
for i in 0 2 4; do
    SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=4 SLURM_ARRAY_TASK_STEP=2 \
        run suite "$mine" --store "$folder/array"
done
report "elements of a job array make the suite, each experiment once" "$(
    fault_of 0
    [ "$(says_owed)" = 0 ] || echo "something is owed"
    sorted "$folder/array" | diff - "$folder/whole"
)"
SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 \
    refuses "an array that is no range" 2 "--array=1-3" -- suite "$mine" --store "$folder/array"
for step in x '' -1 0; do
    SLURM_ARRAY_TASK_ID=1 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=$step \
        refuses "an array with the step '$step'" 2 "SLURM_ARRAY_TASK_STEP" -- suite "$mine" --store "$folder/array"
done
SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=3 \
    refuses "a batch script of several tasks without srun" 2 "srun|--shard none" -- suite "$mine" --store "$folder/batch"
report "which makes no store" "$([ ! -e "$folder/batch" ] || echo "there is one")"
SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=2 SLURM_NTASKS=3 run suite "$mine" --store "$folder/array"
report "and a task of srun is a shard" "$(
    fault_of 0
    says '3/3\b.*\bSLURM_PROCID'
)"
report "shards make the suite, each experiment once" "$(
    sorted "$folder/shards" | diff - "$folder/whole"
)"
if command -v mpirun >/dev/null; then
    # As root and with more tasks than cores, which are none of our business here.
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -n 3 \
        "$bench" suite "$mine" --store "$folder/mpi" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    report "three tasks of mpirun share the suite and one store" "$(
        fault_of 0
        sorted "$folder/mpi" | diff - "$folder/whole"
        for i in 1 2 3; do says "$i/3\\b.*\\bOMPI_COMM_WORLD_RANK"; done
    )"
else
    skip "three tasks of mpirun share the suite and one store" "no mpirun (Debian: openmpi-bin)"
fi

# ---- killed at any moment --------------------------------------------------------------

# start STORE: the suite in the background; its process in $suite. It measures for longer, which is
# no part of an experiment's identity, so that no machine has done it before it is killed.
start() {
    "$bench" suite "$folder/slow.json" --store "$1" >/dev/null 2>&1 </dev/null &
    suite=$!
}
has_worker() { [ -n "$(children_of $suite)" ]; }
RANDOM=${BENCH_TEST_SEED:-7}
kills=0
for _ in 1 2 3 4 5 6; do
    start "$folder/killed"
    await 20 has_worker
    sleep "0.$((RANDOM % 10))$((RANDOM % 10))"
    # Still running: a kill that hit.
    kill -KILL $suite 2>/dev/null && kills=$((kills + 1))
    wait $suite 2>/dev/null
done
run suite "$mine" --store "$folder/killed"
report "killed $kills times, it ends with the store of an undisturbed run" "$(
    fault_of 0
    [ $kills -ge 3 ] || echo "only $kills kills hit"
    sorted "$folder/killed" | diff - "$folder/whole"
)"

# A killed worker of several experiments is followed by one for each of them. One that is killed,
# too, is a crash with a record; otherwise the store is the same.
start "$folder/maimed"
kills=0
for _ in 1 2 3 4; do
    await 20 has_worker || break
    sleep "0.0$((RANDOM % 10))"
    for worker in $(children_of $suite); do
        kill -KILL "$worker" 2>/dev/null && kills=$((kills + 1))
    done
    sleep 0.2
done
wait $suite 2>/dev/null
run suite "$mine" --store "$folder/maimed" --retry-failed
report "$kills workers killed: crashes on record, and the rest as if undisturbed" "$(
    fault_of 0
    [ $kills -ge 1 ] || echo "no kill hit"
    sorted "$folder/maimed" | grep -v ' crash$' | diff - "$folder/whole"
    crashes=$(inventory "$folder/maimed" | grep -c ' crash$')
    apart=$(separate "$folder/maimed")
    [ "$((crashes + apart))" -ge 1 ] && [ "$crashes" -le $kills ] ||
        echo "$crashes crashes of $kills kills, $apart records of processes of their own"
)"

start "$folder/stopped"
await 20 has_worker
kill -INT $suite
wait $suite
status=$?
report "interrupted, it says so" "$([ $status -eq 130 ] || echo "exit status $status, not 130")"
run suite "$mine" --store "$folder/stopped"
report "and resumes" "$(
    fault_of 0
    sorted "$folder/stopped" | diff - "$folder/whole"
)"

# ---- the file of a plugin ------------------------------------------------------------------

# bytes_read ARGUMENT...: how many bytes bench reads, and its children; -1 where the kernel does not say.
bytes_read() {
    "$python" - "$bench" "$@" <<'PYTHON'
import os, subprocess, sys
bench = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
os.waitid(os.P_PID, bench.pid, os.WEXITED | os.WNOWAIT)
try:
    with open("/proc/%d/io" % bench.pid) as io:
        print(io.readline().split()[1])
except OSError:
    print(-1)
sys.exit(bench.wait())
PYTHON
}
title="two front ends on one plugin: its file is hashed once"
fake_front_ends
cp "${bench%/*}/libpjrt_sim.so" "$folder/long.so"
truncate -s +64M "$folder/long.so"
cat >"$folder/fronts.json" <<END
{"bench_suite": 1, "name": "fronts", "defaults": {"models": "resnet18", "variants": "small", "runtimes": "./long.so"},
 "matrix": [{"modes": ["capture"], "front_ends": ["bench", "jax", "pytorch-xla"]}]}
END
sed 's/, "jax", "pytorch-xla"//' "$folder/fronts.json" >"$folder/front.json"
if one=$(bytes_read suite "$folder/front.json" --store "$folder/fronts" --dry-run) && [ "$one" -lt 0 ]; then
    skip "$title" "the kernel does not count what a process reads"
else
    three=$(bytes_read suite "$folder/fronts.json" --store "$folder/fronts" --dry-run)
    report "$title" "$(
        [ "$one" -gt $((64 << 20)) ] || echo "one front end reads $one bytes: its file is not hashed"
        [ "$three" -lt $((one + (32 << 20))) ] || echo "three front ends read $three bytes, one reads $one"
    )"
fi
echo "1..$count"
