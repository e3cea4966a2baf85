#!/bin/bash
# full_front_device.sh - device time of our models against JAX's, as TAP: at most 1.02 of it. Takes
# JAX of `make frontends`, or of BENCH_FRONTEND_PYTHON_JAX, and skips without. With what is set here it
# takes some two hours of a machine that does nothing else: BENCH_TEST_TIMEOUT=14400.
#
#   MODELS='resnet18 bert'   those that JAX has; by default all but unit_qnli
#   PHASES='train infer'     VARIANT=full; decode is a phase of gpt2
#   PROCESSES=4     of each side, 3 to 99: intervals are over their ratios
#   OPTIONS='...'   further options of bench run for both models (--batch 4)
#   RUNTIME=cpu     or cuda: device times are then the profiler's, of kernels
#
# Both sides are measured in the same way. JAX's captured step is recorded once, and bench replays it.
# The text of our captured graph runs as a program of its own. Both are then programs that bench
# measures by themselves: with made-up arguments of one rule, its own results taken over from step to
# step, device time from one source. Sides take turns, and each process of one is paired with one of the
# other. A ratio whose interval holds 1.02 decides nothing: its test is skipped. What our
# captured step takes with its own weights and batch is printed as well: made-up values may take another
# time (docs/programs.md).
#
# needs: JAX, an idle machine
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
models=${MODELS:-resnet18 resnet50 bert vit_small_patch16_224 vgg16 gpt2}
phases=${PHASES:-train infer}
variant=${VARIANT:-full}
processes=${PROCESSES:-4}
read -ra further <<<"${OPTIONS:-}"
most=1.02 # what is demanded
cell=$folder/cell # of one model and phase

# Without dropout: each front end has a generator of its own.
step_of() {
    local dropout=(--dropout off)
    [ "$phase" != decode ] || dropout=()
    printf '%s\n' --model "$model" --phase "$phase" --variant "$variant" --mode capture ${dropout[@]+"${dropout[@]}"} \
        ${further[@]+"${further[@]}"}
}
runtime=${RUNTIME:-cpu}
device_time=slope
[ "$runtime" != cuda ] || device_time=auto
short=(--runtime "$runtime" --processes 1 --warmup 20)
timed=("${short[@]}" --steps 5 --min-time 1 --device-time "$device_time" --cache-dir "$folder/cache" --quiet)

# Makes $cell/recordings, with the step of JAX, and $cell/graphs, with our text. Says what went wrong.
prepare() {
    local words=()
    mapfile -t words < <(step_of)
    rm -rf "$cell"
    mkdir "$cell"
    run run "${words[@]}" "${short[@]}" --front-end jax --steps 20 --min-time 0 --store "$cell/store" \
        --recordings "$cell/recordings" --quiet
    fault_of 0
    run run "${words[@]}" "${short[@]}" --steps 3 --min-time 0 --device-time none --store "$cell/store" \
        --graph-report "$cell/graphs" --quiet
    fault_of 0
    [ "$(find "$cell/recordings" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | wc -l)" -eq 1 ] ||
        echo "not one recording"
    [ "$(find "$cell/graphs" -name '*.mlir' ! -name '*-*' 2>/dev/null | wc -l)" -eq 1 ] || echo "not one graph"
}

# side NAME: measures it in one process; its device time a step, or null, goes to $cell/NAME. Says what
# went wrong.
side() {
    local words=() mode
    rm -rf "$cell/store" "${cell:?}/$1"
    case $1 in
    jax)
        mode=replay
        run replay "$cell/recordings"/* "${timed[@]}" --store "$cell/store"
        ;;
    text)
        mode=program
        run run --program "$(find "$cell/graphs" -name '*.mlir' ! -name '*-*')" "${timed[@]}" --store "$cell/store"
        ;;
    own)
        mode=capture
        mapfile -t words < <(step_of)
        run run "${words[@]}" "${timed[@]}" --store "$cell/store"
        ;;
    esac
    fault_of 0
    run table --store "$cell/store" --format json
    holds '
[row] = [r for r in records["rows"] if r["mode"] == "'"$mode"'"]
with open(folder + "/cell/'"$1"'", "w") as f:
    json.dump(row["device_per_step_ns"], f)
'
}

# How many processes have a device time of each side.
with_times() {
    grep -c . "$cell/lines"
}

# one_process NUMBER: the sides in turns, from either end. A line for those whose device times are known.
one_process() {
    local name sides=(jax text own)
    (($1 % 2)) || sides=(own text jax)
    for name in "${sides[@]}"; do
        side "$name"
    done
    "$python" - "$cell" "${sides[@]}" >>"$cell/lines" 2>"$folder/why" <<'PYTHON' || tail -n 1 "$folder/why"
import json, sys
figures = {side: json.load(open(sys.argv[1] + "/" + side)) for side in sys.argv[2:]}
if all(figures.values()):
    print(json.dumps(figures))
PYTHON
}

# judge: ratios to JAX's process by process, with Student's t over their logarithms, 95 %. Prints what is
# wrong; what they do not decide goes to $folder/undecided.
judge() {
    "$python" - "$cell/lines" "$model $phase" "$most" "$folder/undecided" 2>&1 <<'PYTHON'
import json, math, statistics, sys
def t(freedom, z=1.959964):
    """Student's t, 97.5 %: by table, then by the expansion in 1/freedom (Abramowitz and Stegun 26.7.5)."""
    table = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
    if freedom <= len(table):
        return table[freedom - 1]
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
lines = [json.loads(line) for line in open(sys.argv[1])]
what, most = sys.argv[2], float(sys.argv[3])
def ratio(side):
    logs = [math.log(line[side] / line["jax"]) for line in lines]
    mean, half = statistics.mean(logs), t(len(logs) - 1) * statistics.stdev(logs) / len(logs) ** 0.5
    return [math.exp(x) for x in (mean, mean - half, mean + half)]
for side, words in ("text", "made-up values on both sides"), ("own", "our weights and batch"):
    print("# %s: device %.3f ms, JAX's %.3f ms, ratio %.3f [%.3f, %.3f], %d processes, %s" % (
        what, statistics.median(line[side] for line in lines) / 1e6,
        statistics.median(line["jax"] for line in lines) / 1e6, *ratio(side), len(lines), words))
estimate, low, high = ratio("text")
found = f"{estimate:.3f} [{low:.3f}, {high:.3f}]"
if low > most:
    print(f"{what}: {found} of JAX's device time, more than {most}")
elif high > most:
    with open(sys.argv[4], "w") as f:
        print(found, file=f)
PYTHON
}

attempt() {
    local number faults=
    : >"$cell/lines"
    # bench refuses a device time that noise has made wrong (docs/ledger.md).
    for ((number = 1; number <= 2 * processes; number++)); do
        faults=$(one_process $number)
        [ -z "$faults" ] && [ "$(with_times)" -lt "$processes" ] || break
    done
    if [ -z "$faults" ] && [ "$(with_times)" -lt 3 ]; then
        faults="only $(with_times) processes have the device times of all sides"
    elif [ -z "$faults" ]; then
        judge >"$folder/said"
        faults=$(grep -v '^#' "$folder/said")
    fi
    printf '%s' "$faults"
}

installed=$("$bench" list frameworks --format json 2>/dev/null | "$python" -c '
import json, sys
print(any(r["front_end"] == "jax" and r["installed"] for r in json.load(sys.stdin)))')
if [ "$installed" != True ]; then
    skip "device time against JAX's" "it is not installed: make frontends FRONTENDS=jax"
elif [ "$processes" -lt 3 ] || [ "$processes" -gt 99 ]; then
    report "PROCESSES" "it is $processes, not 3 to 99"
else
    for model in $models; do
        for phase in $phases; do
            faults=$(prepare)
            if [ -n "$faults" ]; then
                report "$model $phase: both steps are had" "$faults"
                continue
            fi
            rm -f "$folder/said"
            live "$model $phase: device time is at most $most of JAX's" attempt busy_machine
            grep '^#' "$folder/said" 2>/dev/null
        done
    done
fi
echo "1..$count"
