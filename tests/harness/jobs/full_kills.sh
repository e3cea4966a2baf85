#!/bin/bash
# full_kills.sh - the program killed at random moments while it runs, measures a suite, compares, or
# holds a night, as TAP: no record is lost or damaged, no process outlives it, and the next call leaves
# no file behind. Takes about an hour for 500 kills.
#
#   KILLS=500                              in all, a quarter each
#   KINDS="run suite compare nightly"      of these
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/support/alive.sh
kills=${KILLS:-500}
export PJRT_SIM=values=none,device_us=200
RANDOM=${KILLS_SEED:-2026}
(cat "${bench%/*}/libpjrt_sim.so" && echo other) >"$folder/libpjrt_sim_other.so"
tiny=(--model resnet18 --variant small --phase infer --steps 3 --warmup 8 --min-time 0 --device-time none)

# What is killed: its words for one round. Eight rounds go on with one suite; then another begins, or it
# would find all done.
words() { # KIND ROUND
    tiny_suite '"lazy", "capture"' 4 $(($2 / 8 + 1))
    case $1 in
    run) words=(run "${tiny[@]}" --processes 2 --mode lazy,capture --runtime sim) ;;
    suite) words=(suite "$folder/suite.json") ;;
    compare)
        words=(compare "${tiny[@]}" --mode capture --runtime sim
            --runtime "$folder/libpjrt_sim_other.so")
        ;;
    nightly) words=(nightly --suite "$folder/suite.json" --report "$folder/page") ;;
    esac
}

# Ids of the records below the store, wherever a night keeps them until it ends.
ids() { find "$store" -name '*.h5' ! -name '.*' -printf '%f\n' | sort -u; }

# round KIND N: kills it once, at a random moment of its usual length; faults on standard output.
round() {
    local victim moment
    words "$1" "$2"
    ids >"$folder/before"
    "$bench" "${words[@]}" --store "$store" >"$folder/out" 2>"$folder/err" </dev/null &
    victim=$!
    moment=$((RANDOM % usual))
    sleep "$((moment / 1000)).$(printf '%03d' $((moment % 1000)))"
    if [ $((RANDOM % 5)) -eq 0 ]; then # its worker instead; the program goes on
        pkill -KILL -P $victim 2>/dev/null && hit=$((hit + 1))
        sleep 0.2
    else
        kill -KILL $victim 2>/dev/null && hit=$((hit + 1))
    fi
    kill -KILL $victim 2>/dev/null
    wait $victim 2>/dev/null
    await 10 none_alive || echo "$1, round $2: $(ours_alive)"
    ids >"$folder/after"
    comm -23 "$folder/before" "$folder/after" | sed "s/^/$1, round $2: lost /"
}

# 0, or a verdict: comparisons end with 2 or 4, nights with 4 or 5.
well() {
    case $status in
    0 | 2 | 4 | 5) ;;
    *) echo "exit status $status" ;;
    esac
}

for kind in ${KINDS:=run suite compare nightly}; do
    store=$folder/$kind
    mkdir "$store"
    words $kind 2000000
    begin=$(date +%s%N)
    run "${words[@]}" --store "$store"
    usual=$((($(date +%s%N) - begin) / 1000000 + 1))
    report "$kind, undisturbed: $usual ms" "$(well)"
    : >"$folder/faults"
    hit=0
    for ((n = 0; hit < kills / 4 && n < kills; n++)); do
        round $kind $n >>"$folder/faults"
    done
    report "$kind, killed $hit times of $n: no record is lost, no process stays" "$(
        [ $hit -ge $((kills / 4)) ] || echo "only $hit kills hit"
        cat "$folder/faults"
    )"
    # Files of processes that are gone are swept once they are old; another process may have the
    # number by then, and is younger.
    find "$folder" \( -name '*.tmp' -o -name '.executables*' \) \
        -exec touch -d '20 minutes ago' {} + 2>/dev/null
    words $kind 1000000
    run "${words[@]}" --store "$store"
    report "$kind: the next one ends well, and leaves nothing behind" "$(
        well
        find "$store" "$folder/page" \( -name '*.tmp' -o -name '.executables*' \) 2>/dev/null |
            sed 's/^/left behind: /'
        [ ! -e "$store/tonight" ] || echo "left behind: tonight"
        find "$TMPDIR" -mindepth 1 | sed 's/^/left behind: /'
    )"
    stores=("$store")
    [ $kind != compare ] || stores=("$store/a" "$store/b")
    report "$kind: the store reads without a complaint" "$(
        for one in "${stores[@]}"; do
            run table --store "$one" --format csv
            fault_of 0
            [ -z "$(complaints)" ] || echo "a complaint about $one"
        done
    )"
done
echo "1..$count"
