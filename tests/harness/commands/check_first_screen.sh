#!/bin/bash
# check_first_screen.sh - what commands that keep no records say before they begin, as TAP: what runs, how
# many, and what Ctrl-C leaves, which is then tried. check_usage.sh has the same of bench run.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
# A step of a second, so that Ctrl-C comes in time.
export PJRT_SIM=values=none,device_us=1000000

# begins WHAT LEFT FIRST UNTIL ARGUMENT...: bench with the arguments begins with the line FIRST, and another
# one with what Ctrl-C does. When it has said UNTIL, Ctrl-C comes; LEFT, nothing or something, is then what is
# on standard output.
begins() {
    local what=$1 left=$2 first=$3 until=$4
    shift 4
    : >"$folder/err"
    "$bench" "$@" >"$folder/out" 2>"$folder/err" </dev/null &
    interrupted $! 60 "$until"
    report "$what says what runs, and what Ctrl-C leaves" "$(
        [ "$status" -eq 130 ] || echo "exit status $status, not 130"
        sed -n 1p "$folder/err" | grep -qE "^\[0/[0-9]+\] $first$" || echo "the first line is not '$first'"
        sed -n 2p "$folder/err" | grep -qE '^\[0/[0-9]+\] Ctrl-C ' || echo "the second line is not of Ctrl-C"
        case $left in
            nothing)
                [ ! -s "$folder/out" ] || echo "something was printed"
                ;;
            something)
                [ -s "$folder/out" ] || echo "nothing was printed"
                ;;
        esac
    )"
}
small=(--model resnet18 --variant small --runtime sim)

begins "bench verify" something \
    '[0-9]+ .* [0-9]+ models .*lazy, capture.* sim' \
    '^\[2/' verify --all --runtime sim --mode lazy,capture
begins "bench explain" nothing 'resnet18\.small .* on sim: .*50 steps.*' '^\[0/1\] Ctrl-C' \
    explain "${small[@]}" --mode lazy --steps 50
begins "bench study scopes" nothing 'resnet18\.small .* on sim: .*50 steps.*' \
    '^\[0/1\] Ctrl-C' study scopes "${small[@]}" --steps 50
begins "bench selftest accuracy" nothing \
    '180 cells .*' '^\[1/180\]' \
    selftest accuracy
begins "bench selftest statistics" nothing \
    '.*[0-9]+ rows of 2000 families.*' '^\[1/' selftest statistics
begins "bench selftest coverage" nothing \
    '.*20000 tables .*6 cases.*' '^\[1/6\]' \
    selftest coverage --runtime sim
begins "bench selftest host-cost" - '.*1 experiment.*' \
    '^\[0/1\] Ctrl-C' selftest host-cost "${small[@]}"
PJRT_SIM=values=none begins "bench selftest timeline-cost" something \
    '.*2 experiments, 6 processes.*' '^\[1/12\].*: ok' \
    selftest timeline-cost "${small[@]}" --verbose

# check_estimate.sh has what Ctrl-C leaves.
estimate=(estimate --runtime "$fake" --topology v4:1,fake:2 --model resnet18 --variant small --phase infer)
FAKE_PJRT=hlo run "${estimate[@]}" --cache-dir "$folder/kept"
report "bench estimate says what is compiled, what is not, and what Ctrl-C leaves" "$(
    fault_of 0
    grep -qE "^\[0/2\] .* 2 .* 1 .* 2 .* $fake.* $folder/kept" "$folder/err" || echo "not what is compiled"
    grep '^\[0/2\] Ctrl-C ' "$folder/err" | grep -qw keeps || echo "not what Ctrl-C leaves"
)"
FAKE_PJRT=hlo run "${estimate[@]}" --cache-dir=
report "without a folder nothing is kept, and nothing is said to be" "$(
    fault_of 0
    grep -qE '^\[0/2\] Ctrl-C ' "$folder/err" || echo "not what Ctrl-C leaves"
    ! grep '^\[0/' "$folder/err" | grep -E 'keeps|again'
)"

run explain "${small[@]}" --mode lazy --steps 1 --quiet
report "with --quiet nothing is said beforehand" "$(fault_of 0; cat "$folder/err")"

echo "1..$count"
