#!/bin/bash
# check_live.sh - helpers of cli.sh, as TAP. live: what passes at last passes, what fails on a quiet
# machine fails, and what only a busy one had is skipped. python_with: whose Python is taken.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
: >"$folder/out" >"$folder/err"
export BENCH_TEST_LIVE=yes

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

# ---- python_with ----------------------------------------------------------------------------

# Two Pythons: the first has a module `both`, the second, of a front end, `both` and `own`.
for name in first second; do
    mkdir "$folder/$name"
    : >"$folder/$name/both.py"
    printf '#!/bin/sh\nPYTHONPATH=%s exec %s "$@"\n' "$folder/$name" "$python" >"$folder/$name/python"
    chmod +x "$folder/$name/python"
done
: >"$folder/second/own.py"
# takes MODULE [FRONT_END]: which Python is taken for it, by the name of its folder, and what it comes to.
takes() {
    export BENCH_TEST_PYTHON=$folder/first/python BENCH_FRONTEND_PYTHON_SECOND=$folder/second/python
    python_with "$1" "${2:-second}" && echo yes
    basename "$(dirname "$python")"
}
report "a module is taken from the Python of the tests, where that has it" "$(
    [ "$(takes both)" = $'yes\nfirst' ] || takes both
)"
report "else from that of the front end" "$([ "$(takes own)" = $'yes\nsecond' ] || takes own)"
report "and a second one does not depend on the first" "$(
    said=$(takes own >"$folder/own"; takes both)
    [ "$said" = $'yes\nfirst' ] || echo "$said"
)"
report "where none has it, nothing is taken" "$([ "$(takes no_such_module)" = first ] || takes no_such_module)"
report "nor where the front end is not there" "$([ "$(takes own missing)" = first ] || takes own missing)"
echo "1..$count"
