#!/bin/bash
# full_nights.sh - nights of one build on the default CPU runtime, as TAP: none finds something slower.
# The last ones run under the load of busy loops. After each, all nights get a date a day earlier. Takes half a
# minute a night, under load two.
#
#   NIGHTS=30    of them, LOADED=10 under LOOPS=4 busy loops
#   COPIES=1     each night has another copy of the plugin's file, so that it measures the last night's
#                copy as its control, and the history takes it for a build that could have changed
#                something. Then at most 5 of 100 nights may alarm by chance: up to 3 of 30 are no fault.
#
# needs: an idle machine
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
: "${NIGHTS:=30}" "${LOADED:=10}" "${LOOPS:=4}" "${COPIES:=0}"
make_night=$built/tests/harness/campaign/make_night
umask 022 # a store that others may write keeps no builds
trap 'end_loops 2>/dev/null; rm -rf "$folder"' EXIT
plugin=$(plugin_of cpu)
cat >"$folder/suite.json" <<'END'
{"bench_suite": 1, "name": "nights", "defaults": {"models": ["bert", "resnet18"],
 "variants": ["small"], "modes": ["lazy", "capture"], "phases": ["infer"], "runtimes": ["nights"],
 "min_time": 0.5, "repetitions": 4}, "matrix": [{}]}
END

# a_day_earlier FOLDER: all of its records.
a_day_earlier() {
    [ -d "$1" ] || return 0
    mkdir "$folder/earlier"
    "$make_night" "$1" "$folder/earlier" -86400 0 || echo "no dates" >&2
    find "$1" -maxdepth 1 -name '*.h5' -delete
    mv "$folder/earlier"/*.h5 "$1"
    rmdir "$folder/earlier"
}

# night N: a line to $folder/lines and standard error: number, load, exit status, seconds, headline.
night() {
    local begin=$SECONDS load=quiet tonight=$plugin
    [ ${#loops[@]} -eq 0 ] || load=loaded
    if [ "$COPIES" -gt 0 ]; then
        rm -rf "$folder/copy"
        mkdir "$folder/copy"
        tonight=$folder/copy/libpjrt.so
        (cat "$plugin" && echo "copy $1") >"$tonight"
    fi
    PJRT_NAMES_AND_LIBRARY_PATHS="nights:$tonight" run nightly --suite "$folder/suite.json" \
        --store "$store" --report "$folder/page"
    echo "$1 $load $status $((SECONDS - begin)) $(tail -n 1 "$folder/out")" >>"$folder/lines"
    tail -n 1 "$folder/lines" >&2
    [ "$status" -ne 2 ] || grep ' slower' "$folder/out" >&2
    a_day_earlier "$store"
    a_day_earlier "$store/controls"
}

for ((n = 1; n <= NIGHTS; n++)); do
    if [ $n -eq $((NIGHTS - LOADED + 1)) ]; then
        begin_loops "$LOOPS"
    fi
    night $n
done
# count STATUS: nights that ended so.
count() { awk -v s="$1" '$3 == s' "$folder/lines" | wc -l; }
echo "# $NIGHTS nights, $LOADED under $LOOPS loops: $(count 0) found no slowdown, $(count 4)" \
    "inconclusive, $(count 2) alarmed"
allowed=$((COPIES > 0 ? NIGHTS / 10 : 0))
report "no more than $allowed nights of one build are slower" "$(
    [ "$(count 2)" -le $allowed ] || grep -E '^[0-9]+ [a-z]+ 2 ' "$folder/lines"
)"
report "each night came to its end" "$(
    [ $(($(count 0) + $(count 4) + $(count 2))) -eq "$NIGHTS" ] || cat "$folder/lines"
)"
report "without loops, nights are conclusive" "$(
    [ "$LOADED" -ge "$NIGHTS" ] ||
        [ "$(awk '$2 == "quiet" && $3 == 0' "$folder/lines" | wc -l)" -gt 0 ] ||
        echo "all were inconclusive"
)"
echo "1..$count"
