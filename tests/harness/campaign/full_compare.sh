#!/bin/bash
# full_compare.sh - comparisons on the default CPU runtime, as TAP: a build beside itself draws no more
# alarms than the level allows, and a slowdown that was planted is found. It prints for each
# comparison the smallest visible effect and the time that it took, and judges both by their medians.
# Figures are worth something on a machine that does nothing else. Takes a minute a comparison.
#
#   COMPARISONS=40    of a build beside itself, over five small models in turn
#   PLANTED=10        with a slowdown, over the same models
#   PERCENT=5         of a step, the slowdown
#   VISIBLE=5         per cent: the median of the smallest visible effects of a model is no larger
#
# needs: an idle machine
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
: "${COMPARISONS:=40}" "${PLANTED:=10}" "${PERCENT:=5}" "${VISIBLE:=5}"
models=(bert llama gpt2 mobilenet_v2 resnet18)
slow=${bench%/*}/libpjrt_slow.so
SLOW_PJRT_PLUGIN=$(plugin_of cpu)
export SLOW_PJRT_PLUGIN SLOW_PJRT_NS=0

# compared MODEL RUNTIME: the CPU runtime beside RUNTIME; a line to $folder/lines. The line says the
# verdict of the cell, which is that of its worst finding, what of the family differs, the smallest
# visible effect in per cent, the seconds a cell (the control is a cell, too), the wall time of A in
# ns, and whether other programs disturbed it.
compared() {
    local begin=$SECONDS busy=quiet
    rm -rf "$store"
    run compare --runtime cpu --runtime "$2" --model "$1" --variant small --phase infer \
        --store "$store" --format json
    [[ " 0 1 2 4 " == *" $status "* ]] || echo "$1: exit status $status"
    local took=$((SECONDS - begin))
    busy_stores "$store/a" "$store/b" && busy=busy
    holds '
model, seconds, busy = "'"$1"'", '$took', "'$busy'"
cells = records["cells"]
mine = next(c for c in cells if not c["control"])
def slower(c):
    found = [("wall", c["comparison"])] + [(n, m["comparison"]) for n, m in c["measures"].items()
                                            if "comparison" in m]
    return [n for n, j in found if j["verdict"] in ("slower", "faster", "more", "less")]
alarms = slower(mine)
control = [n for c in cells if c["control"] for n in slower(c)]
v = mine["comparison"]
with open(folder + "/lines", "a") as f:
    print(model, mine["headline"]["verdict"], ",".join(alarms) or "-", ",".join(control) or "-",
          "inf" if v["smallest_visible"] is None else "%.2f" % (100 * v["smallest_visible"]),
          "%.0f" % (seconds / len(cells)),
          "%.0f" % mine["attribution"]["quantities"]["wall"]["a"], busy, file=f)
'
    tail -n 1 "$folder/lines" >&2
}

# column N of the lines of MODEL, or of all.
column() { awk -v n="$1" -v m="${2:-}" 'm == "" || $1 == m { print $n }' "$folder/lines"; }

# An effect that could not be told is "inf", and more than all others.
median() {
    sort -g | awk '{ v[NR] = $1 }
        END { m = v[int(NR / 2) + 1]; print NR % 2 || m == "inf" ? m : (v[NR / 2] + m) / 2 }'
}

echo "model verdict alarms alarms-of-control visible% seconds-a-cell wall-ns machine" >&2
faults=
for ((i = 0; i < COMPARISONS; i++)); do
    faults+=$(compared "${models[i % ${#models[@]}]}" cpu)
done
alarms=$(column 3 | grep -cv '^-$')
report "$COMPARISONS comparisons of a build with itself end with a verdict" "$faults"
# More than this many have a chance below 1 in 100 where each errs in at most 5 of 100.
allowed=$("$python" -c '
import math, sys
n = int(sys.argv[1])
tail = lambda k: sum(math.comb(n, i) * .05**i * .95**(n - i) for i in range(k + 1, n + 1))
print(next(k for k in range(n + 1) if tail(k) < .01))' "$COMPARISONS")
report "$alarms of $COMPARISONS alarmed" "$([ "$alarms" -le "$allowed" ] || echo "more than $allowed")"
for model in "${models[@]}"; do
    [ -n "$(column 5 "$model")" ] || continue
    all=$(column 5 "$model" | wc -l)
    awk -v m="$model" '$1 == m && $8 == "quiet"' "$folder/lines" >"$folder/quiet"
    visible=$(awk '{ print $5 }' "$folder/quiet" | median) seconds=$(awk '{ print $6 }' "$folder/quiet" | median)
    quiet=$(wc -l <"$folder/quiet")
    what="$model: smallest visible $visible %, $seconds s a cell, medians of $quiet of $all on a quiet machine"
    if [ $((quiet * 2)) -lt "$all" ]; then
        skip "$model: smallest visible effect" "the machine was busy in $((all - quiet)) of $all"
        continue
    fi
    report "$what" "$(awk -v visible="$visible" -v seconds="$seconds" -v most="$VISIBLE" 'BEGIN {
        if (visible == "inf" || visible > most) print "more than " most " %"
        if (seconds > 60) print "more than 60 s" }')"
done

declare -A wall
for model in "${models[@]}"; do wall[$model]=$(column 7 "$model" | median); done
mv "$folder/lines" "$folder/alike" 2>/dev/null
faults=
for ((i = 0; i < PLANTED; i++)); do
    model=${models[i % ${#models[@]}]}
    SLOW_PJRT_NS=$("$python" -c 'import sys; print(round(float(sys.argv[1]) * float(sys.argv[2]) / 100))' \
        "${wall[$model]:-0}" "$PERCENT")
    [ "$SLOW_PJRT_NS" -gt 0 ] || faults+="no wall time of $model is known"
    faults+=$(compared "$model" "$slow")
done
found=$(column 2 2>/dev/null | grep -c '^slower$')
report "$PLANTED comparisons with $PERCENT % planted end with a verdict" "$faults"
report "$found of $PLANTED found" "$([ $((found * 10)) -ge $((PLANTED * 9)) ] || echo "fewer than 9 in 10")"
echo "1..$count"
