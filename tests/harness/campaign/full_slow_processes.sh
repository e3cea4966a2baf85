#!/bin/bash
# full_slow_processes.sh - comparisons of short steps on the simulated device, a fifth of whose
# clients takes half as long again, as TAP: none is equivalent with a slow process in it, and nine
# of ten say that B is slower, uneven or has slow processes; with as many on both sides nothing is
# claimed. Some twenty seconds a comparison.
#
#   COMPARISONS=10    in which B alone has slow processes
#   ALIKE=5           in which both sides have
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
: "${COMPARISONS:=10}" "${ALIKE:=5}"
short=(--runtime sim,sim --runtime-option values=none --runtime-option device_us=800 --model resnet18
    --variant small --mode capture --min-time 0 --warmup 2 --steps 12 --control 0 --format json)
rarely=(slow_rate=0.2 slow_factor=1.5)

# compared OPTION: a comparison of which the sides that OPTION names have slow processes: a line in
# $folder/lines: the exit code, the verdict of the wall time, whether "B has slow processes", how many
# processes of A and of B were slow by their device times, and what else it claims.
compared() {
    rm -rf "$store"
    run compare "${short[@]}" "$1" "${rarely[0]}" "$1" "${rarely[1]}" --store "$store"
    [[ " 0 2 4 " == *" $status "* ]] || echo "exit status $status"
    status=$status holds '
import os
c = next(c for c in records["cells"] if not c["control"])
wall, device = c["comparison"], c["measures"]["device"].get("comparison")
drawn = [device[s]["count"] if device else 0 for s in ("slow_a", "slow_b")]
unlike = c["measures"]["device"]["known"] != "equal"
with open(folder + "/lines", "a") as f:
    print(os.environ["status"], wall["verdict"], int(records["slow_processes"]["claimed"]), *drawn,
          int(unlike), c["headline"]["verdict"], wall["pairs"], file=f)
'
    tail -n 1 "$folder/lines" >&2
}

echo "status wall b-has-slow slow-a slow-b unlike headline pairs" >&2
faults=
for ((i = 0; i < COMPARISONS; i++)); do faults+=$(compared --b-option); done
report "$COMPARISONS comparisons end with a verdict" "$faults"
report "none with a slow process is equivalent" "$(
    awk '$6 && ($2 == "equivalent" || $7 == "equivalent")' "$folder/lines"
)"
report "nine of ten with a slow process say slower, uneven, or that B has slow processes" "$(
    awk '$6 { all++; said += $2 == "slower" || $2 == "uneven" || $3 || $7 == "slower" || $7 == "uneven" }
        END { if (all == 0 || said < all * 0.9 - 0.1) print said " of " all }' "$folder/lines"
)"
mv "$folder/lines" "$folder/unlike"
faults=
for ((i = 0; i < ALIKE; i++)); do faults+=$(compared --runtime-option); done
report "$ALIKE comparisons of like sides end with a verdict" "$faults"
# Of 100, 2 claim something by chance, and other measures may.
report "where both sides have slow processes, at most one claims a difference" "$(
    [ "$(awk '$1 == 2 || $2 == "slower" || $2 == "faster" || $3' "$folder/lines" | wc -l)" -le 1 ] ||
        cat "$folder/lines"
)"
echo "1..$count"
