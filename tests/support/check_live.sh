#!/bin/bash
# check_live.sh - the helper `live` of cli.sh, as TAP: what passes at last passes, what fails on a
# quiet machine fails, and what only a busy one had is skipped.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT
: >"$folder/out" >"$folder/err"

# says WANTED TRIES GOOD BUSY: what live says of an attempt that is good from its GOODth time on, on a
# machine that is as the command BUSY says, and how often it tried.
says() {
    local wanted=$1 tries=$2 good=$3 said
    shift 3
    echo 0 >"$folder/done"
    attempt() {
        local done_so_far=$(($(cat "$folder/done") + 1))
        echo $done_so_far >"$folder/done"
        [ $done_so_far -ge "$good" ] || echo "the $done_so_far. was wrong"
    }
    said=$(count=0; live "it" attempt "$@")
    case $said in *"$wanted"*) ;; *) echo "it said: $said" ;; esac
    [ "$(cat "$folder/done")" -eq "$tries" ] || echo "$(cat "$folder/done") attempts, not $tries"
}
report "what passes is not tried again" "$(says "ok 1 - it" 1 1 false)"
report "what fails by chance is" "$(says "ok 1 - it" 3 3 false)"
report "what fails three times on a quiet machine fails" "$(says "not ok 1 - it" 3 9 false)"
report "the last faults are shown" "$(says "the 3. was wrong" 3 9 false)"
report "what fails on a busy machine is tried longer" "$(says "ok 1 - it" 6 6 true)"
report "and is skipped in the end" "$(
    says "ok 1 - it # SKIP the machine was busy in 6 of 6 attempts" 6 9 true
)"
report "a store that is none tells of no busy machine" "$(busy_stores "$folder/none" && echo "it does")"
echo "1..$count"
