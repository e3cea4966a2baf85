# cli.sh - what the scripts that drive the program share: running it, judging
# what it said, TAP. Sourced by check_*.sh, which run from the root of the
# sources. Each needs BENCH_TEST_BINARY and works in a folder of its own, which
# goes when it ends.
# shellcheck shell=bash

# Defaults of whoever runs the tests are not theirs, nor is what a launcher tells its tasks.
export BENCH_CONFIG=
unset SLURM_JOB_ID SLURM_STEP_ID SLURM_PROCID SLURM_NTASKS SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN
unset SLURM_ARRAY_TASK_MAX SLURM_ARRAY_TASK_STEP OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK
unset PALS_RANKID ALPS_APP_PE FLUX_TASK_RANK JSM_NAMESPACE_RANK MV2_COMM_WORLD_RANK
unset PBS_ARRAY_INDEX PBS_ARRAYID SGE_TASK_ID LSB_JOBINDEX
bench=${BENCH_TEST_BINARY:-$PWD/build/bench}
built=${BENCH_TEST_BUILD:-$PWD/build}
fake=${BENCH_TEST_FAKE:-$PWD/build/libpjrt_fake.so}
notplugin=${BENCH_TEST_NOTPLUGIN:-$PWD/build/libnot_a_plugin.so}
python=${BENCH_TEST_PYTHON:-/usr/bin/python3}
folder=$(mktemp -d "${TMPDIR:-/tmp}/bench-cli.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
store=$folder/store
# Seconds matter here, not figures.
quick=(--model resnet18 --variant small --processes 1 --steps 3 --min-time 0 --warmup 8 --store "$store")
count=0
# Only a build with LeakSanitizer looks at this.
export LSAN_OPTIONS=suppressions=$PWD/tests/suppressions/lsan_workers.supp:print_suppressions=0

if [ ! -x "$bench" ]; then
    echo "1..0 # SKIP $bench is not built"
    echo "ok - the program # SKIP $bench is not built"
    exit 0
fi

# run ARGUMENT...: standard output to $folder/out, standard error to
# $folder/err, exit status to $status.
run() {
    "$bench" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}

# report WHAT FAULTS: ok where FAULTS is empty, else what was said, too.
report() {
    count=$((count + 1))
    if [ -z "$2" ]; then
        echo "ok $count - $1"
        return
    fi
    echo "not ok $count - $1"
    printf '%s\n' "$2" | sed 's/^/#   /'
    tail -n 15 "$folder/out" 2>/dev/null | cut -c 1-200 | sed 's/^/#   out: /'
    tail -n 15 "$folder/err" 2>/dev/null | cut -c 1-300 | sed 's/^/#   err: /'
}

skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# Complaints: standard error without the lines of progress and the note on a list that is given again.
# Scripts judge hundreds of them, so no other program is started for it.
complaints() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        [[ $line =~ ^\[[0-9]*/[0-9]*\] || $line =~ ^'bench: --'[a-z-]+' is given again' ]] ||
            printf '%s\n' "$line"
    done <"$folder/err"
}

# fault_of STATUS [TEXT...]: says where the last run differs from exit status
# STATUS and, with TEXTs, from exactly one complaint that holds each of them.
fault_of() {
    local wanted=$1 text said IFS=$'\n'
    local -a lines
    shift
    [ "$status" -eq "$wanted" ] || echo "exit status $status, not $wanted"
    [ $# -gt 0 ] || return
    mapfile -t lines < <(complaints)
    said=${lines[*]}
    [ ${#lines[@]} -eq 1 ] || echo "${#lines[@]} lines of complaint, not one"
    for text in "$@"; do
        [[ $said == *"$text"* ]] || echo "no complaint says '$text'"
    done
}

# refuses WHAT STATUS TEXTS -- ARGUMENT...: bench with the arguments ends with
# STATUS, one complaint with all of TEXTS (split at |) and no output.
refuses() {
    local what=$1 wanted=$2 texts silent=
    IFS='|' read -ra texts <<<"$3"
    shift 4
    run "$@"
    [ ! -s "$folder/out" ] || silent="something on standard output"
    report "$what" "$(fault_of "$wanted" "${texts[@]}")$silent"
}

# holds CODE [NAME=VALUE...]: runs Python CODE with `records`, the JSON on
# standard output, and `folder`; prints what an assertion said.
holds() {
    "$python" - "$folder" "$1" 2>&1 <<'PYTHON' | tail -n 3
import json, sys
folder = sys.argv[1]
with open(folder + "/out") as f:
    records = json.load(f)
exec(sys.argv[2])
PYTHON
}

# Processes whose parent is $1, but for those that watch over its workers (harness/jobs/strays.c).
children_of() {
    local stat fields
    for stat in /proc/[0-9]*/stat; do
        # The name, in brackets, can hold anything.
        { read -r fields <"$stat"; } 2>/dev/null || continue
        case $fields in *"(bench-watch)"*) continue ;; esac
        set -- "$1" ${fields##*) }
        [ "${3:-}" = "$1" ] && basename "$(dirname "$stat")"
    done
}

# await SECONDS COMMAND...: true once COMMAND is, within SECONDS.
await() {
    local left=$(($1 * 20))
    shift
    until "$@"; do
        left=$((left - 1))
        if [ $left -le 0 ]; then
            echo "# this never came: $*" >&2
            return 1
        fi
        sleep 0.05
    done
}

# interrupted PID SECONDS PATTERN: Ctrl-C for bench in the background, once its standard error in $folder/err
# has a line like PATTERN, within SECONDS. Its exit status goes to $status.
interrupted() {
    await "$2" grep -qsE "$3" "$folder/err"
    kill -INT "$1"
    wait "$1"
    status=$?
}

# busy_stores STORE...: whether one of them says that the machine was busy while its records were
# measured (docs/ledger.md), or that other programs used a tenth of the cores. A simulated device
# sleeps, so bench may hardly wait during them; but it wakes up later.
busy_stores() {
    local one
    for one in "$@"; do
        "$bench" table --store "$one" --format json 2>/dev/null | "$python" -c '
import json, sys
w = json.load(sys.stdin)["witness"]
sys.exit(w["busy"] is not True and (w["others_share"] or 0) < 0.1)' 2>/dev/null && return 0
    done
    return 1
}

# Whether more programs want to run than there are cores: for tests without records.
busy_machine() {
    awk -v cores="$(nproc)" '{ exit !($1 > cores) }' /proc/loadavg
}

# Whether bench is built with a sanitizer, which looks at each byte of a copy: it takes other times.
sanitized() {
    grep -qE '__(asan|tsan|ubsan)_' "$bench"
}

# can_import MODULE: whether Python can.
can_import() {
    "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$1') is None)" 2>/dev/null
}

# python_with MODULE FRONT_END: from here on `python` is the one that can import MODULE: that of
# BENCH_TEST_PYTHON, or else that of the front end. False where neither can; it is the first one then.
python_with() {
    local first=${BENCH_TEST_PYTHON:-/usr/bin/python3}
    for python in "$first" "$(python_of "$2")"; do
        can_import "$1" && return
    done
    python=$first
    return 1
}

# for_recordings: begins a script that records. Variables that its user set for frameworks would stay set under bench
# record, so it is taken away. Sets `program`, one of our own that calls PJRT as frameworks do
# (pjrt_program.c), and `sim` and `recorder`, the plugins next to bench.
# shellcheck disable=SC2034 # they are for those scripts
for_recordings() {
    unset PJRT_NAMES_AND_LIBRARY_PATHS PJRT_DEVICE PJRT_LIBRARY_PATH XLA_FLAGS
    unset JAX_PLATFORMS JAX_NUM_CPU_DEVICES BENCH_RECORD_DIR BENCH_RECORD_PROFILE
    program=$built/tests/harness/commands/pjrt_program
    sim=${bench%/*}/libpjrt_sim.so
    recorder=${bench%/*}/libpjrt_record.so
}

# same_member NAME FIRST SECOND: a fault unless the member NAME is the same in both files of JSON: what a
# program says of its results with the recorder and without.
same_member() {
    "$python" - "$@" 2>&1 <<'PYTHON' | tail -n 1
import json, sys
first, second = (json.load(open(f))[sys.argv[1]] for f in sys.argv[2:])
assert first == second, f"{sys.argv[1]}: {first} is not {second}"
PYTHON
}

# plugin_of RUNTIME: where its plugin is.
plugin_of() {
    "$bench" list runtimes --format json 2>/dev/null | "$python" -c '
import json, sys
print(next(r["where"] for r in json.load(sys.stdin) if r["runtime"] == sys.argv[1]))' "$1" 2>/dev/null
}

# fake_front_ends: from here on scripts of tests/harness/frontends/fake stand for JAX and PyTorch/XLA.
fake_front_ends() {
    export BENCH_FRONTENDS=$PWD/tests/harness/frontends/fake
    export BENCH_FRONTEND_PYTHON_JAX=$python BENCH_FRONTEND_PYTHON_PYTORCH_XLA=$python
}

# python_of NAME: of a front end, where `make frontends` put its Python, or what the user names.
python_of() {
    local variable=BENCH_FRONTEND_PYTHON_${1^^}
    variable=${variable//-/_}
    printf %s "${!variable:-$PWD/third_party/frontends/$1/bin/python}"
}

# live WHAT ATTEMPT BUSY...: a test whose judgement is of times. The function ATTEMPT runs bench and
# prints what was wrong; the command BUSY then tells whether the machine was busy. Other programs
# disturb times, and a verdict may err by chance. So what fails is tried again. It has failed once it
# did so three times on a quiet machine. It is skipped where a busy one leaves no such three of six, and
# where a sanitizer makes the host slower, unless bench itself failed or the sanitizer found something.
# What the last attempt wrote to $folder/figures, comments of TAP, follows. One that found nothing wrong, but
# also too little to call it right, writes why to $folder/undecided: it is skipped.
# `make check` runs none of them and counts none (a comment names each), `make check-full` runs all.
live() {
    local what=$1 attempt=$2 tries=0 quiet=0
    shift 2
    if [ "${BENCH_TEST_LIVE:-no}" != yes ]; then
        echo "# in make check-full, as it judges times: $what"
        return
    fi
    while [ $tries -lt 6 ] && [ $quiet -lt 3 ]; do
        tries=$((tries + 1))
        rm -f "$folder/figures" "$folder/undecided"
        "$attempt" >"$folder/faults"
        [ -s "$folder/faults" ] || break
        "$@" || quiet=$((quiet + 1))
    done
    if [ $quiet -eq 3 ] && sanitized && ! grep -qE 'exit status|Sanitizer|runtime error' "$folder/faults"; then
        skip "$what" "a sanitizer makes other times"
    elif [ ! -s "$folder/faults" ] && [ -s "$folder/undecided" ]; then
        skip "$what" "undecided: $(<"$folder/undecided")"
    elif [ ! -s "$folder/faults" ] || [ $quiet -eq 3 ]; then
        report "$what" "$(cat "$folder/faults")"
    else
        skip "$what" "the machine was busy in $((tries - quiet)) of $tries attempts"
    fi
    [ ! -e "$folder/figures" ] || cat "$folder/figures"
}

# made_by ATTEMPT: what the live test above made, for the tests below that judge no times: where it is not
# run, its ATTEMPT is, and what that says of times is not looked at.
made_by() {
    [ "${BENCH_TEST_LIVE:-no}" = yes ] || "$1" >"$folder/faults"
}

# begin_loops COUNT: so many busy loops, until end_loops.
loops=()
begin_loops() {
    local i
    for ((i = 0; i < $1; i++)); do
        (while :; do :; done) &
        loops+=($!)
    done
}
end_loops() {
    [ ${#loops[@]} -eq 0 ] || kill "${loops[@]}" 2>/dev/null
    wait
    loops=()
}

# Records in the store.
stored() {
    find "$store" -name '*.h5' 2>/dev/null | wc -l
}

# tiny_suite MODES REPETITIONS [SEED]: $folder/suite.json, whose experiments take a fraction of a
# second each on the simulated device. MODES are JSON strings with commas between them.
tiny_suite() {
    cat >"$folder/suite.json" <<END
{"bench_suite": 1, "name": "tiny", "defaults": {"models": ["resnet18"], "variants": ["small"],
 "phases": ["infer"], "runtimes": ["sim"], "steps": 3, "warmup": 8, "min_time": 0,
 "device_time": "none", "seed": ${3:-1}},
 "matrix": [{"modes": [$1], "repetitions": $2}]}
END
}
