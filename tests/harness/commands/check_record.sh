#!/bin/bash
# check_record.sh - bench record, bench import of a recording and its timeline from outside, as TAP:
# a program of our own (pjrt_program.c) on the simulated device, whose times are set. What the
# frameworks do with it is full_frameworks.sh's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
export PJRT_SIM=device_us=3000,seed=1

# about FOLDER CODE: Python CODE on `about`, the recording.json of FOLDER, and `one`, its one process.
about() {
    "$python" - "$1" "$2" 2>&1 <<'PYTHON' | tail -n 1
import json, sys
about = json.load(open(sys.argv[1] + "/recording.json"))
[one] = about.get("processes") or [None]
exec(sys.argv[2])
PYTHON
}

# ---- running ------------------------------------------------------------------------------

PJRT_LIBRARY_PATH=$sim "$program" --steps 60 --way two >"$folder/bare" 2>"$folder/err"
run record --runtime sim --output "$folder/a" -- "$program" --steps 60 --way two
report "a program gives the same bits under the recorder, and it is said what was recorded" "$(
    fault_of 0
    same_member checksum "$folder/bare" "$folder/out"
    about "$folder/a" '
assert (one["executions"], one["programs"], one["noted"], about["noted"]) == (120, 2, [], []), about'
    # For people: the folder, both counts and the next command.
    for said in "$folder/a:" " 120 " " 2 " "bench steps $folder/a"; do
        grep -qF -- "$said" "$folder/err" || echo "no $said"
    done
)"
report "the recording is the user's alone, and says what ran" "$(
    [ "$(stat -c %a "$folder/a")" = 700 ] || echo "$(stat -c %a "$folder/a")"
    "$python" - "$folder/a/recording.json" "$sim" "$program" "$recorder" <<'PYTHON' 2>&1 | tail -n 1
import hashlib, json, os, sys
about = json.load(open(sys.argv[1]))
assert about["bench_recording"] == 1
assert about["command"] == [sys.argv[3], "--steps", "60", "--way", "two"], about["command"]
assert about["runtime"]["name"] == "sim" and os.path.samefile(about["runtime"]["path"], sys.argv[2])
digest = hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
assert about["runtime"]["sha256"] == digest and list(about["plugins"].values()) == [digest]
assert os.path.samefile(about["recorder"]["path"], sys.argv[4])
assert about["recorder"]["sha256"] == hashlib.sha256(open(sys.argv[4], "rb").read()).hexdigest()
assert about["changed"] == []
assert about["ended"]["exit_code"] == 0 and about["ended"]["seconds"] > 0.3
assert about["host"]["cores_online"] > 0
assert about["environment"]["PJRT_SIM"] == "device_us=3000,seed=1"
PYTHON
)"
cp "$folder/a/recording.json" "$folder/kept.json"
refuses "a folder that has a recording" 2 "$folder/a|--output" -- \
    record --runtime sim --output "$folder/a" -- "$program"
report "and it stays as it is" "$(cmp "$folder/a/recording.json" "$folder/kept.json")"

# The caller may have closed standard descriptors: what the program prints goes into no file of ours.
faults=''
for closed in 0 1 2 01 12 012; do
    rm -rf "$folder/shut"
    (
        for fd in 0 1 2; do [[ $closed != *$fd* ]] || eval "exec $fd>&-"; done
        exec "$bench" record --runtime sim --output "$folder/shut" -- "$program" --steps 12
    ) >/dev/null 2>&1 </dev/null
    run steps "$folder/shut" --format json
    faults+=$(fault_of 0)
    [ -z "$faults" ] || break
done
report "a program that is started without standard descriptors is recorded" "${faults:+$closed: $faults}"
(
    ulimit -f 0
    exec "$bench" record --runtime sim --output "$folder/small" -- true
) 2>&1 </dev/null | cat >"$folder/err"
status=${PIPESTATUS[0]}
report "a file that may not grow is an error with its name" "$(fault_of 3 recording.json)"

# A program that closes what it inherited, has files of its own there, and then compiles.
run record --runtime sim --output "$folder/closed" -- "$program" --steps 12 --close-at 4 --anew-every 3
report "a program that closes all descriptors keeps its files, and its programs are recorded" "$(
    fault_of 0
    about "$folder/closed" 'assert one["executions"] == 12, one'
    [ "$(find "$folder"/closed/*/programs -name '*.mlir' | wc -l)" = 5 ] || ls "$folder"/closed/*/programs
)"
# A program whose text has no room within the limit, and whose events have.
run record --runtime sim --limit 70000 --output "$folder/large" -- "$program" --steps 6 --pad-kib 80
report "a program whose code was not kept is reported when that happens" "$(
    fault_of 0
    about "$folder/large" '
assert (one["executions"], one["programs"], one["noted"]) == (6, 1, ["code-missing"]), one'
    grep -q "bench replay" <(complaints) || echo "what cannot be done is not named"
    [ -z "$(find "$folder"/large/*/programs -name '*.mlir')" ] || echo "it was kept"
)"
for i in 1 2 3; do
    "$bench" record --runtime sim --output "$folder/claimed" -- bash -c 'echo ran >"$0"; sleep 0.5' "$folder/ran$i" \
        >"$folder/claimed.out$i" 2>"$folder/claimed.err$i" &
    claims[i]=$!
done
ended=
for i in 1 2 3; do
    wait "${claims[i]}"
    ended+="$? "
done
report "of three that begin at once in one folder one records, and the others run nothing" "$(
    [ "$(tr ' ' '\n' <<<"$ended" | sort | xargs)" = "0 2 2" ] || echo "they ended with $ended"
    [ "$(find "$folder" -maxdepth 1 -name 'ran?' | wc -l)" = 1 ] || echo "several programs ran"
)"
mkdir "$folder/vacant"
chmod 700 "$folder/vacant"
run record --runtime sim --output "$folder/vacant" -- "$program" --steps 3
report "an empty folder of one's own is taken" "$(fault_of 0)"

run record --runtime sim --output "$folder/b" "$program" --steps 3 --exit 7
report "the exit code is the program's, and its options are its own without --, too" "$(fault_of 7)"
run record --runtime sim --output "$folder/c" -- "$program" --steps 3 --signal 9
report "a program that is killed ends with 128 and the signal, and leaves a recording" "$(
    fault_of 137
    about "$folder/c" 'assert one["executions"] == 3, one'
)"
run record --runtime sim --output "$folder/d" -- no-such-program
report "a program that there is not ends with 127, and leaves no folder" "$(
    fault_of 127
    grep -q '^bench: no-such-program: ' "$folder/err" || echo "it is not named"
    ls -d "$folder/d" 2>/dev/null
)"
run record --runtime sim --output "$folder/d" -- tests/support/cli.sh
report "a file that cannot be run with 126" "$(
    fault_of 126
    grep -q '^bench: tests/support/cli.sh: ' "$folder/err" || echo "it is not named"
    ls -d "$folder/d" 2>/dev/null
)"
refuses "no program" 2 "bench record" -- record --runtime sim
refuses "a runtime that there is not" 3 "'nowhere'" -- \
    record --runtime nowhere --output "$folder/d" -- true
refuses "the recorder before itself" 2 "$recorder" -- \
    record --runtime "$recorder" --output "$folder/d" -- true
refuses "a limit that is no size" 2 "--limit|10X" -- record --limit 10X -- true
refuses "a limit that is too small" 2 "--limit|65536|10K" -- record --limit 10K -- true
run record --help
report "help says all of it" "$(
    fault_of 0
    for word in --output --runtime --limit "128 + N" "bench steps" 126; do
        grep -qF -- "$word" "$folder/out" || echo "no $word"
    done
)"

(
    cd "$folder" || exit 1
    run record --runtime sim -- "$program" --steps 3
    exit "$status"
)
report "without --output a folder is made below recordings" "$(
    ls -d "$folder"/recordings/2*Z-*/recording.json >/dev/null 2>&1 || echo "no $folder/recordings"
)"

run record --runtime sim --output "$folder/n" -- true
report "where nothing was recorded, it is said, and what to check" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    about "$folder/n" 'assert about["noted"] == ["nothing-recorded"] and one is None, about'
    for word in "--runtime NAME" "JAX_PLATFORMS"; do
        grep -qF -- "$word" "$folder/err" || echo "no $word"
    done
)"

# bench passes a signal on, and waits for the program.
for signal in TERM INT; do
    rm -f "$folder/ready"
    # In the background a shell has SIGINT ignored.
    env --default-signal=INT "$bench" record --runtime sim --output "$folder/s$signal" -- bash -c \
        "trap 'echo caught; exit 5' $signal; touch '$folder/ready'; while :; do sleep 0.05; done" \
        >"$folder/out" 2>"$folder/err" </dev/null &
    job=$!
    await 30 test -e "$folder/ready"
    kill -$signal $job
    wait $job
    status=$?
    report "SIG$signal reaches the program" "$(
        [ "$status" -eq 5 ] || echo "exit status $status"
        grep -qx caught "$folder/out" || echo "not caught"
    )"
done

run record --runtime sim --limit 64K --output "$folder/l" -- "$program" --way ops --steps 300
report "beyond the limit the beginning and the end are kept" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    grep -q '"steps": 300' "$folder/out" || echo "it did not end"
    about "$folder/l" 'assert one["noted"] == ["middle-dropped"], one'
    grep -q -- '--limit.* 65536 ' "$folder/err" || echo "the limit is not named"
)"

# ---- a part of the run ------------------------------------------------------------------------

run record --runtime sim --start execution:5 --stop execution:9 --output "$folder/part" -- "$program" --steps 12
report "a part of a run is recorded, and says so" "$(
    fault_of 0
    about "$folder/part" 'assert (one["executions"], one["programs"], one["noted"]) == (4, 1, ["partial"]), one'
)"
for when in execution:0 never mark: time:-1 signal:; do
    refuses "a part that begins at $when" 2 "--start|$when" -- record --start "$when" --output "$folder/d" -- true
done

# ---- a full disk --------------------------------------------------------------------------

mkdir "$folder/disk"
# on_disk SIZE COMMAND...: records the command onto a file system of SIZE, $folder/disk. It is gone
# with its name space, so what was recorded is copied to $folder/kept.
on_disk() {
    rm -rf "$folder/kept"
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare -rm bash -c '
        mount -t tmpfs -o size="$2" none "$1" || exit 99
        disk=$1 bench=$3
        shift 3
        "$bench" record --runtime sim --output "$disk/r" -- "$@"
        status=$?
        cp -R "$disk/r" "$disk/../kept"
        exit $status' - "$folder/disk" "$1" "$bench" "${@:2}" \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
if ! unshare -rm true 2>/dev/null; then
    skip "recording onto a full disk" "no name space of our own"
elif on_disk 64K true && [ "$status" -eq 99 ]; then
    skip "recording onto a full disk" "no small file system can be mounted"
else
    loops=(--way ops --steps 1500 --exit 7)
    export PJRT_SIM=device_us=50,seed=1
    PJRT_LIBRARY_PATH=$sim "$program" "${loops[@]}" >"$folder/bare" 2>/dev/null
    # Room for the first megabyte of events, and not for the second.
    on_disk 1600K "$program" "${loops[@]}"
    report "a full disk ends the recording, and the program goes on as it was" "$(
        [ "$status" -eq 7 ] || echo "exit status $status, not the program's"
        same_member checksum "$folder/bare" "$folder/out"
        same_member steps "$folder/bare" "$folder/out"
        holds '
assert records["steps"] == 1500, records
ended = json.load(open(folder + "/kept/recording.json"))["ended"]
assert ended["exit_code"] == 7, ended'
        about "$folder/kept" 'assert one["noted"] == ["disk-full"], one'
        grep -qE '^ .*disk.* [1-9][0-9]* ' "$folder/err" || echo "it is not said how many events were lost"
    )"
    run steps "$folder/kept"
    report "what was recorded until then can be looked at" "$(
        fault_of 0
        grep -q " disk " "$folder/out" || echo "the disk is not named"
        run steps "$folder/kept" --format json
        holds 'assert records["process"]["stopped"] == "disk-full" and records["process"]["lost"] > 0, records'
    )"
    on_disk 64K "$program" --steps 3 --exit 5
    report "without room for any event the disk is named, and not the framework" "$(
        [ "$status" -eq 5 ] || echo "exit status $status, not the program's"
        grep -q '^  process.* disk ' "$folder/err" || echo "the disk is not named"
        # What is to be checked where the framework may have had another plugin names this option.
        grep -e --runtime "$folder/err"
    )"
    # shellcheck disable=SC2016 # the inner shell expands it
    on_disk 64K bash -c 'head -c 1M /dev/zero >"$1"; exec "$0" --steps 3 --exit 4' "$program" \
        "$folder/disk/others"
    report "without room for the first slot, too" "$(
        [ "$status" -eq 4 ] || echo "exit status $status, not the program's"
        grep -q '[0-9]: events:' "$folder/err" || echo "the empty file is not named"
        grep -e --runtime "$folder/err"
    )"
    # shellcheck disable=SC2016 # the inner shell expands it
    on_disk 2M bash -c '"$0" --steps 3; head -c 4M /dev/zero >"$1"; exit 6' "$program" \
        "$folder/disk/others"
    report "a program that fills the disk itself keeps its recording" "$(
        [ "$status" -eq 6 ] || echo "exit status $status, not the program's"
        grep -q '^  process.* 3 ' "$folder/err" || echo "no recording"
        grep -q "^bench: .*disk full" "$folder/err" || echo "not said that its end is not noted"
        "$python" - "$folder/kept/recording.json" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
about = json.load(open(sys.argv[1]))
assert about["bench_recording"] == 1 and "ended" not in about, about.get("ended")
PYTHON
    )"
    export PJRT_SIM=device_us=3000,seed=1
fi

# ---- a plugin that is replaced meanwhile ---------------------------------------------------------

# replaced_during NAME ARGUMENT...: records a program, with these arguments, that ends with 7 after
# another build took the place of its plugin, $folder/build.so.
replaced_during() {
    local name=$1
    shift
    cp "$sim" "$folder/build.so"
    run record --output "$folder/$name" "$@" -- bash -c '
        "$0" --steps 40 || exit 1
        (cat "$1" && echo another) >"$1.new"
        mv "$1.new" "$1"
        exit 7' "$program" "$folder/build.so"
}
# What is wrong with the recording NAME of such a program.
faults_of_replaced() {
    [ "$status" -eq 7 ] || echo "exit status $status, not the program's"
    [ "$(grep -c "^bench: $folder/build.so: " "$folder/err")" -eq 1 ] ||
        echo "not said once"
    "$python" - "$folder/$1/recording.json" "$folder/build.so" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
about = json.load(open(sys.argv[1]))
assert about["runtime"]["sha256"] is None, about["runtime"]
assert about["plugins"] == {sys.argv[2]: None} and about.get("changed") == [sys.argv[2]], about["plugins"]
PYTHON
}
replaced_during changed --runtime "$folder/build.so"
report "a plugin that is replaced while the program runs: said, and no build is named" \
    "$(faults_of_replaced changed)"
run steps "$folder/changed"
report "its steps can be looked at" "$(fault_of 0)"
refuses "and are no record" 1 "build.so" -- \
    import --store "$folder/none" "$folder/changed"
# So is the recorder, which is next to bench.
in_build=$bench
mkdir "$folder/beside"
cp "$bench" "$sim" "$recorder" "$folder/beside"
bench=$folder/beside/bench
run record --runtime sim --output "$folder/other" -- bash -c '
    "$0" --steps 40 || exit 1
    (cat "$1" && echo another) >"$1.new"
    mv "$1.new" "$1"
    exit 7' "$program" "$folder/beside/libpjrt_record.so"
report "a recorder that is replaced while the program runs: said, and none is named" "$(
    [ "$status" -eq 7 ] || echo "exit status $status, not the program's"
    [ "$(grep -c "^bench: .*/libpjrt_record.so: " "$folder/err")" -eq 1 ] ||
        echo "not said once"
    "$python" - "$folder/other/recording.json" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
about = json.load(open(sys.argv[1]))
assert about["recorder"]["sha256"] is None and about["changed"] == [about["recorder"]["path"]], about["recorder"]
assert len(about["runtime"]["sha256"]) == 64, about["runtime"]
PYTHON
)"
refuses "and no record is made of it" 1 "libpjrt_record.so" -- \
    import --store "$folder/none" "$folder/other"
bench=$in_build
# ---- the environment ------------------------------------------------------------------------

run record --runtime sim --output "$folder/e" -- env
report "a runtime of no framework's name is a platform of its own" "$(
    for line in "PJRT_NAMES_AND_LIBRARY_PATHS=recorded:$recorder" JAX_PLATFORMS=recorded,cpu \
        PJRT_DEVICE=LIBRARY "PJRT_LIBRARY_PATH=$recorder" "BENCH_RECORD_PLUGIN=$sim" \
        "BENCH_RECORD_DIR=$folder/e" BENCH_RECORD_LIMIT=1073741824; do
        grep -qxF -- "$line" "$folder/out" || echo "no $line"
    done
    grep -q '^LD_PRELOAD=' "$folder/out" && echo preloaded
)"
cp "$sim" "$folder/my_cpu_plugin.so"
export PJRT_NAMES_AND_LIBRARY_PATHS=other:/x.so,cpu:/y.so PJRT_DEVICE=CPU JAX_PLATFORMS=cuda,cpu
run record --runtime "$folder/my_cpu_plugin.so" --output "$folder/f" -- env
report "a CPU plugin takes the place of JAX' own, and what is set stays and is said" "$(
    for line in "PJRT_NAMES_AND_LIBRARY_PATHS=cpu:$recorder,other:/x.so" \
        JAX_PLATFORMS=cuda,cpu PJRT_DEVICE=CPU "PJRT_LIBRARY_PATH=$recorder" \
        BENCH_RECORD_CPU_DEVICES=1; do
        grep -qxF -- "$line" "$folder/out" || echo "no $line"
    done
    about "$folder/f" 'assert sorted(about["conflicts"]) == ["JAX_PLATFORMS", "PJRT_DEVICE"], about["conflicts"]'
    grep -q "PJRT_DEVICE .*'CPU'" "$folder/err" || echo "no PJRT_DEVICE"
    grep -q "JAX_PLATFORMS .*'cuda,cpu'" "$folder/err" || echo "no JAX_PLATFORMS"
    # Others might write a folder above the recording, and put a file of theirs in the place of ours.
    find "$folder/f" -type f ! -name recording.json
)"
long=$(printf 'ä%.0s' {1..700})
JAX_PLATFORMS=x$long run record --runtime "$folder/my_cpu_plugin.so" --output "$folder/long" -- env
report "a variable of 1,401 bytes is cut between characters, and what follows of it is said" "$(
    said=$(printf 'ä%.0s' {1..99})
    grep -q "JAX_PLATFORMS .*'x$said'.*: jax " "$folder/err" || grep JAX_PLATFORMS "$folder/err"
)"
export PJRT_NAMES_AND_LIBRARY_PATHS=mine:$sim JAX_PLATFORMS=mine
unset PJRT_DEVICE
run record --runtime mine --output "$folder/g" -- env
report "a plugin of the user's list keeps its name" "$(
    for line in "PJRT_NAMES_AND_LIBRARY_PATHS=mine:$recorder" JAX_PLATFORMS=mine \
        "BENCH_RECORD_PLUGIN=$sim"; do
        grep -qxF -- "$line" "$folder/out" || echo "no $line"
    done
    about "$folder/g" 'assert about["conflicts"] == [], about["conflicts"]'
    grep "PJRT_NAMES_AND_LIBRARY_PATHS .*'\|JAX_PLATFORMS .*'" "$folder/err"
)"
unset PJRT_NAMES_AND_LIBRARY_PATHS JAX_PLATFORMS
TPU_LIBRARY_PATH=$sim run record --runtime tpu --output "$folder/t" -- env
report "a TPU's plugin is replaced by its path" "$(
    for line in "TPU_LIBRARY_PATH=$recorder" "BENCH_RECORD_PLUGIN=$sim"; do
        grep -qxF -- "$line" "$folder/out" || echo "no $line"
    done
    grep -q '^PJRT_NAMES_AND\|^PJRT_DEVICE' "$folder/out" && echo "more than that"
)"
mkdir -p "$folder/venv/bin" "$folder/venv/lib/python3.12/site-packages/libtpu"
cp "$sim" "$folder/venv/lib/python3.12/site-packages/libtpu/libtpu.so"
ln -s "$(command -v env)" "$folder/venv/bin/python"
JAX_PLATFORMS=cpu PJRT_DEVICE=CPU run record --runtime tpu --output "$folder/t2" -- "$folder/venv/bin/python"
report "the libtpu of the program's own Python is found, and what is in its way is said" "$(
    grep -qxF "BENCH_RECORD_PLUGIN=$folder/venv/lib/python3.12/site-packages/libtpu/libtpu.so" \
        "$folder/out" || echo "not found"
    about "$folder/t2" '
assert sorted(about["conflicts"]) == ["JAX_PLATFORMS", "PJRT_DEVICE"], about["conflicts"]
assert about["noted"] == ["nothing-recorded"], about["noted"]'
    for said in "JAX_PLATFORMS .*'cpu'" "PJRT_DEVICE .*'CPU'" "(JAX_PLATFORMS, jax.config, "; do
        grep -q -- "$said" "$folder/err" || echo "no $said"
    done
)"
JAX_ENABLE_X64=1 OMP_NUM_THREADS=2 JAX_PLATFORMS=recorded TF_CPP_MIN_LOG_LEVEL=3 run record --runtime sim \
    --output "$folder/v" -- "$program" --steps 3
report "variables that change what a framework does are kept, and not the plugin's path" "$(
    fault_of 0
    "$python" - "$folder/v/recording.json" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
kept = json.load(open(sys.argv[1]))["environment"]
assert (kept.get("JAX_ENABLE_X64"), kept.get("OMP_NUM_THREADS")) == ("1", "2"), kept
assert not kept.keys() & {"JAX_PLATFORMS", "TF_CPP_MIN_LOG_LEVEL"}, kept
PYTHON
)"
PJRT_DEVICE=LIBRARY PJRT_LIBRARY_PATH=$sim run record --output "$folder/u" -- "$program" --steps 3
report "without --runtime the plugin that PyTorch/XLA is configured with is recorded" "$(
    fault_of 0
    about "$folder/u" 'assert one["executions"] == 3, one'
)"
# A sanitizer must be loaded first.
if ldd "$bench" | grep -q 'lib[at]san'; then
    skip "a preloaded recorder finds the program's own plugin" "a build with a sanitizer"
else
    PJRT_LIBRARY_PATH=$sim JAX_PLATFORMS=cpu run record --runtime cuda --output "$folder/p" -- "$program" --steps 3
    report "a preloaded recorder finds the program's own plugin" "$(
        fault_of 0
        about "$folder/p" 'assert about["conflicts"] == ["JAX_PLATFORMS"] and one["executions"] == 3, about'
        grep -q "JAX_PLATFORMS .*'cpu'" "$folder/err" || echo "no JAX_PLATFORMS"
        "$python" - "$folder/p/recording.json" "$sim" <<'PYTHON' 2>&1 | tail -n 1
import hashlib, json, sys
about = json.load(open(sys.argv[1]))
digest = hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
assert list(about["plugins"].values()) == [digest], about["plugins"]
PYTHON
    )"
    PJRT_LIBRARY_PATH=$folder/build.so replaced_during preloaded --runtime cuda
    report "nor is a build named where the program's own plugin is replaced" "$(faults_of_replaced preloaded)"
fi

# ---- steps, timeline, store -----------------------------------------------------------------

wall_is_the_programs_own() {
    rm -rf "$folder/w"
    run record --runtime sim --output "$folder/w" -- "$program" --steps 60 --work 2 --sleep 1
    cp "$folder/out" "$folder/own"
    run steps "$folder/w" --format json
    [ "$status" -eq 0 ] || echo "exit status $status"
    holds '
own = json.load(open(folder + "/own"))
wall = records["wall"]["median_ns"] if "wall" in records else records["wall_ns"]["median_ns"]
assert abs(wall / own["median_ns"] - 1) < 0.03, (wall, own)
'
}
live "the wall time of steps is that of the program's own clock" wall_is_the_programs_own busy_machine

run steps "$folder/a" --trace "$folder/trace.json"
report "the timeline has calls, executions, gaps and flows, and lanes without overlap" "$(
    fault_of 0
    "$python" - "$folder/trace.json" <<'PYTHON' 2>&1 | tail -n 1
import collections, json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
kinds = collections.Counter(e["ph"] for e in events)
assert kinds["s"] == kinds["f"] == 120, kinds
ids = {p: [e["id"] for e in events if e["ph"] == p] for p in "sf"}
assert sorted(ids["s"]) == sorted(set(ids["f"])), "flows do not pair"
assert not [e for e in events if e.get("ts", 0) < 0 or e.get("dur", 0) < 0]
slices = collections.defaultdict(list)
for e in events:
    if e["ph"] == "X":
        slices[e["pid"], e["tid"]].append((round(e["ts"] * 1000), round(e["dur"] * 1000), e["name"]))
names = {e["args"]["name"]: e["pid"] for e in events if e["name"] == "process_name"}
devices = names["devices"]
on_device = [s for (p, t), list in slices.items() if p == devices for s in list]
assert sum(n != "gap" for _, _, n in on_device) == 120
for (process, lane), list in slices.items():
    end = 0
    for start, duration, name in sorted(list):
        # Calls may lie within others, executions and gaps may not.
        assert process != devices or start >= end, (start, end, name)
        end = max(end, start + duration)
# Each flow begins in its call and ends at its execution's begin.
starts = {e["id"]: e for e in events if e["ph"] == "s"}
for e in events:
    if e["ph"] == "f":
        assert e["ts"] >= starts[e["id"]]["ts"]
PYTHON
)"
refuses "a timeline over a file that is there" 2 "trace.json" -- \
    steps "$folder/a" --trace "$folder/trace.json"

run import --store "$store" --model tiny --phase train "$folder/a"
report "a recording becomes a record" "$(
    fault_of 0
    [ "$(stored)" -eq 1 ] || echo "$(stored) records"
    grep -qF "tiny train recorded" "$folder/out" || echo "what it is of is not named"
)"
first=$(stat -c '%n %i %Y' "$store"/*.h5)
run import --store "$store" --model tiny --phase train "$folder/a"
report "once" "$(
    fault_of 0
    [ "$(stored)" -eq 1 ] || echo "$(stored) records"
    [ "$(stat -c '%n %i %Y' "$store"/*.h5)" = "$first" ] || echo "it was written again"
    grep -qF "$store" "$folder/out" || echo "the store is not named"
)"
run table --store "$store" --format json
report "the speedup table has it, as what it is" "$(
    fault_of 0
    holds '
[row] = records["rows"]
assert [row[k] for k in ("model", "phase", "mode", "front_end", "runtime")] == [
    "tiny", "train", "recorded", "unknown", "sim"], row
'
)"
run export --store "$store" --to csv --output "$folder/samples.csv"
report "its samples have device times, program hashes and a ledger" "$(
    fault_of 0
    "$python" - "$folder/samples.csv" <<'PYTHON' 2>&1 | tail -n 1
import csv, statistics, sys
rows = list(csv.DictReader(open(sys.argv[1])))
steps = [r for r in rows if r["sample"] == "step"]
assert len(steps) >= 20, len(steps)
for r in steps:
    parts = sum(int(v) for k, v in r.items()
                if k.endswith("_ns") and k not in ("wall_ns", "trace_cost_ns"))
    assert parts == int(r["wall_ns"]) and r["simulated"] == "true", r
graphs = {r["graph"] for r in rows if r["sample"] == "execution"}
assert graphs == {"gradient", "update"}, graphs
# Each takes 3 ms. On a busy machine the end of one may be seen late, and the next then looks short.
both = [statistics.mean(int(r["wall_ns"]) for r in rows if r["graph"] == graph) for graph in graphs]
assert sum(both) >= 2 * 2.9e6, both
PYTHON
)"
run table --store "$store" --table goodput --format json
report "goodput: all of the program's time is in a class" "$(
    fault_of 0
    ended=$("$python" -c 'import json, sys
print(json.load(open(sys.argv[1]))["ended"]["seconds"])' "$folder/a/recording.json") holds '
import os
[row] = records["rows"]
classes = ("productive initialization preparation compile warmup input tracing overhead idle "
           "measuring rest untold").split()
assert abs(sum(row[c + "_share"] for c in classes) - 1) < 1e-9, row
assert abs(row["wall_ns"] - 1e9 * float(os.environ["ended"])) < 1e3, row["wall_ns"]
assert row["told"] == 1 and row["untold_ns"] == 0 and row["productive_low_share"] is None
# 5 ms of device time a step.
assert row["productive_ns"] > 0.9 * row["steps"] * 5e6, (row["productive_ns"], row["steps"])
assert row["initialization_ns"] > 0 and row["compile_ns"] > 0, row'
)"
# What the recording itself says, for the tables and exports of its record.
run steps "$folder/a" --format json
cp "$folder/out" "$folder/printed.json"
for table in speedup executions ledger goodput compile memory; do
    run table --store "$store" --table $table
    report "table $table" "$(
        fault_of 0
        grep -q tiny "$folder/out" || echo "the recording has no row"
    )"
done
for table in speedup executions ledger compile; do
    run table --store "$store" --table $table --format json
    report "table $table has the figures of the recording" "$(
        fault_of 0
        table=$table holds '
import os
table, rows, printed = os.environ["table"], records["rows"], json.load(open(folder + "/printed.json"))
programs = {p["name"]: p for p in printed["programs"]}
def near(got, want, share=1e-5):
    assert abs(got - want) <= 1 + share * want, (table, got, want)
if table in ("speedup", "ledger"):
    [row] = rows
    near(row["wall_ns"], printed["wall"]["median_ns"])
else:
    assert sorted(r["graph"] for r in rows) == sorted(programs) == ["gradient", "update"], rows
if table == "ledger":
    near(row["wall_mean_ns"], printed["wall"]["mean_ns"])
for r in rows if table == "executions" else []:
    p = programs[r["graph"]]
    assert (r["arguments"], r["results"], r["per_step"]) == (p["arguments"], p["results"], p["times"]), (r, p)
    near(r["device_ns"], p["device_ns"], 0.02)
for r in rows if table == "compile" else []:
    p = programs[r["graph"]]
    near(r["compile_ns"], p["compile_ns"] / p["compiles"])
    assert r["fingerprint"] == p["hash"], (r, p)
'
    )"
done
for format in google-benchmark benchstat asv hyperfine pytorch-xla pytorch-benchmark xla chrome-trace \
    xspace; do
    run export --store "$store" --to $format --output "$folder/to-$format"
    report "export to $format" "$(fault_of 0)"
done
report "exports have the figures of the recording" "$(
    "$python" - "$folder" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
folder = sys.argv[1]
printed, google, hyperfine, trace = (json.load(open(f"{folder}/{name}")) for name in (
    "printed.json", "to-google-benchmark", "to-hyperfine", "to-chrome-trace"))
wall, steps = printed["wall"], printed["steps"] // printed["steps_per_sample"]
def near(got, want):
    assert abs(got - want) <= 1 + 1e-5 * want, (got, want)
[median] = [b for b in google["benchmarks"] if b.get("aggregate_name") == "median"]
assert median["time_unit"] == "ns" and median["repetitions"] == steps, median
near(median["real_time"], wall["median_ns"])
[result] = hyperfine["results"]
assert len(result["times"]) == steps, len(result["times"])
near(result["median"] * 1e9, wall["median_ns"])
near(result["mean"] * 1e9, wall["mean_ns"])
took = [e["dur"] * 1e3 for e in trace["traceEvents"] if e["ph"] == "X" and e["name"].startswith("step ")]
assert len(took) == steps, len(took)
near(sum(took) / steps, wall["mean_ns"])
PYTHON
)"
run metrics "$store"
report "a metrics report counts its executions, transfers and compiles" "$(
    fault_of 0
    "$python" - "$folder/out" <<'PYTHON' 2>&1 | tail -n 1
import re, sys
text = open(sys.argv[1]).read()
counters = {m[0]: int(m[1]) for m in re.findall(r"^Counter: (\w+)\n  Value: (\d+)$", text, re.M)}
samples = {m[0]: int(m[1]) for m in re.findall(r"^Metric: (\w+)\n  TotalSamples: (\d+)$", text, re.M)}
assert counters["Execute"] > samples["ExecuteTime"] >= 40, (counters, samples)
assert samples["CompileTime"] == counters["UncachedCompile"] >= 2, (counters, samples)
assert counters["TransferToDevice"] > 0 and counters["MarkStep"] >= samples["StepTime"], counters
PYTHON
)"
run history --store "$store"
report "history" "$(
    fault_of 0
    grep -q recorded "$folder/out" || echo "no series of it"
)"
run report --store "$store" --output "$folder/page.html"
report "report" "$(
    fault_of 0
    grep -q recorded "$folder/page.html" || echo "it is not in the page"
)"
run import --store "$store" "$folder/a"
run table --store "$store" --format json
report "without a name the script's is the model" "$(
    fault_of 0
    holds 'assert [r["model"] for r in records["rows"]] == ["pjrt_program", "tiny"], records["rows"]'
)"

# Ours of the same name is another cell: the front end differs.
PJRT_SIM=device_us=500,values=none run run "${quick[@]}" --runtime sim --mode lazy --phase train
run import --store "$store" --model resnet18 --phase train "$folder/a"
run table --store "$store" --format json
report "a recording is never paired with our own steps" "$(
    fault_of 0
    holds '
rows = [r for r in records["rows"] if r["model"] == "resnet18"]
assert sorted(r["front_end"] for r in rows) == ["bench", "unknown"], rows
assert all(r["speedup"] is None for r in rows if r["front_end"] == "unknown"), rows
'
)"

# Two builds, as nights would keep them: the device of the second is slower by a tenth.
slower_is_found() {
    local side us pair
    rm -rf "$folder"/compare "$folder"/side-?
    # Of five pairs no verdict is possible.
    for pair in 1 2 3 4 5 6 7 8; do
        for side in a b; do
            us=2000
            [ $side = a ] || us=2200
            PJRT_SIM=device_us=$us run record --runtime sim --output "$folder/compare/$side$pair" -- \
                "$program" --steps 60
            run import --store "$folder/side-$side" --model tiny --phase train \
                "$folder/compare/$side$pair"
            [ "$status" -eq 0 ] || echo "import: exit status $status"
        done
    done
    run compare --store "$folder/side-a" --store "$folder/side-b" --format json
    [ "$status" -eq 2 ] || echo "exit status $status, not 2"
    holds '
[cell] = records["cells"]
head, quantities = cell["headline"], cell["attribution"]["quantities"]
assert (records["counts"]["compared"], records["counts"]["slower"]) == (1, 1), records["counts"]
assert (cell["experiment"]["model"], cell["experiment"]["mode"]) == ("tiny", "recorded"), cell["experiment"]
assert (head["verdict"], head["measure"]) == ("slower", "wall"), head
assert 1.09 < head["ratio"]["estimate"] < 1.11, head
assert cell["attribution"]["where"] == "device time" and quantities["device"]["moved"], cell["attribution"]'
}
live "compare finds the slower of two stores of recordings, and where" slower_is_found busy_machine

mkdir "$folder/empty"
refuses "an import of a folder without a recording" 3 "$folder/empty" -- \
    import --store "$store" "$folder/empty"
refuses "names for results of others" 2 "--model|--from pytorch-xla" -- \
    import --from pytorch-xla --model x --store "$store" "$folder/out"
refuses "a name that is too long" 2 "--model" -- \
    import --model "$(printf 'x%.0s' {1..80})" --store "$store" "$folder/a"
refuses "a store without a name" 2 "--store" -- import --store '' "$folder/a"
refuses "the same of results of others" 2 "--store" -- \
    import --from pytorch-xla --store '' "$folder/out"
cp -r "$folder/a" "$folder/cut"
for events in "$folder"/cut/*/events; do truncate -s 64 "$events"; done
refuses "an import of a recording without steps" 3 "cut" -- import --store "$store" "$folder/cut"
# The name of a program is anybody's.
run record --runtime sim --output "$folder/paged" --report "$folder/page" -- \
    bash -c 'exec -a "<script>alert(1)</script>" "$1" --steps 60 --way two' - "$program"
report "a page of the recording when the program has ended, and its answer on the terminal" "$(
    fault_of 0
    about "$folder/paged" 'assert one["executions"] == 120, about'
    grep -qF "steady steps of 2 executions" "$folder/err" || echo "no answer"
    grep -qF "$folder/page/index.html" "$folder/err" || echo "the page is not named"
    grep -qF '&lt;script&gt;alert(1)' "$folder/page/index.html" || echo "the program is not named"
    grep -i '<script' "$folder/page/index.html"
)"
run record --quiet --runtime sim --output "$folder/brief" --report "$folder/none" -- "$program" --steps 1
report "a recording without steps has no page, and the program's exit code stays" "$(
    fault_of 0 "no steps"
    [ ! -e "$folder/none" ] || echo "there is a folder"
)"

echo "1..$count"
