#!/bin/bash
# full_nights.sh - nights of one build on the default CPU runtime, as TAP: none finds something slower.
# Each night has another copy of the plugin's file, so that it measures the last night's copy as its
# control, and the history takes it for a build that could have changed something. The last nights run
# beside busy loops. Takes about a minute a night, longer beside the loops.
#
#   NIGHTS=30    of them, LOADED=10 beside LOOPS=4 busy loops
#   SETTLE=0     seconds to wait between two nights
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
: "${NIGHTS:=30}" "${LOADED:=10}" "${LOOPS:=4}" "${SETTLE:=0}"
umask 022 # a store that others may write keeps no builds
loops=()
stop() {
    kill "${loops[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$folder"
}
trap stop EXIT
plugin=$("$bench" list runtimes --format json | "$python" -c '
import json, sys
print(next(r["where"] for r in json.load(sys.stdin) if r["runtime"] == "cpu"))')
cat >"$folder/suite.json" <<'END'
{"bench_suite": 1, "name": "nights", "defaults": {"models": ["bert", "resnet18"],
 "variants": ["small"], "modes": ["lazy", "capture"], "phases": ["infer"], "runtimes": ["nights"],
 "min_time": 0.5, "repetitions": 4}, "matrix": [{}]}
END

# night N: with a copy of its own; a line to $folder/lines and standard error: number, load, exit
# status, seconds, headline.
night() {
    local begin=$SECONDS load=quiet
    [ ${#loops[@]} -eq 0 ] || load=loaded
    rm -rf "$folder/copy"
    mkdir "$folder/copy"
    (cat "$plugin" && echo "copy $1") >"$folder/copy/libpjrt.so"
    PJRT_NAMES_AND_LIBRARY_PATHS="nights:$folder/copy/libpjrt.so" run nightly \
        --suite "$folder/suite.json" --store "$store" --report "$folder/page"
    echo "$1 $load $status $((SECONDS - begin)) $(tail -n 1 "$folder/out")" >>"$folder/lines"
    tail -n 1 "$folder/lines" >&2
    [ "$status" -ne 2 ] || grep -i 'slower\|more' "$folder/out" >&2
}

for ((n = 1; n <= NIGHTS; n++)); do
    if [ $n -eq $((NIGHTS - LOADED + 1)) ]; then
        for ((i = 0; i < LOOPS; i++)); do
            (while :; do :; done) &
            loops+=($!)
        done
    fi
    night $n
    sleep "$SETTLE"
done
# count STATUS: nights that ended so.
count() { awk -v s="$1" '$3 == s' "$folder/lines" | wc -l; }
echo "# $NIGHTS nights, $LOADED beside $LOOPS loops: $(count 0) found nothing slower, $(count 4) could" \
    "not tell, $(count 2) alarmed"
report "no night of one build is slower" "$(
    [ "$(count 2)" -eq 0 ] || grep -E '^[0-9]+ [a-z]+ 2 ' "$folder/lines"
)"
report "each night came to its end" "$(
    [ $(($(count 0) + $(count 4) + $(count 2))) -eq "$NIGHTS" ] || cat "$folder/lines"
)"
report "without loops, nights can tell" "$(
    [ "$LOADED" -ge "$NIGHTS" ] ||
        [ "$(awk '$2 == "quiet" && $3 == 0' "$folder/lines" | wc -l)" -gt 0 ] ||
        echo "none of them could"
)"
echo "1..$count"
