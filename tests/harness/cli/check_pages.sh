#!/bin/bash
# check_pages.sh - what commands print on a terminal, as TAP: long answers go through the pager, tables
# keep to 80 columns and say what they leave out, and --wide has all of it. The terminal is one of
# script (util-linux).
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh
command -v script >/dev/null || {
    echo "1..0 # SKIP there is no script"
    echo "ok - terminals # SKIP there is no script"
    exit 0
}
export PJRT_SIM=values=none,device_us=200

columns=80
# on_terminal ROWS ARGUMENT...: bench on a terminal of so many rows and $columns columns; what it shows goes to
# $folder/screen, and what its pager gets to $folder/paged, which is not there where it has none.
on_terminal() {
    local rows=$1
    shift
    rm -f "$folder/paged"
    NO_COLOR=1 TERM=xterm BENCH_PAGER="cat >'$folder/paged'" \
        script -qec "stty cols $columns rows $rows; $(printf '%q ' "$bench" "$@")" /dev/null </dev/null |
        tr -d '\r' >"$folder/screen"
}
# wide FILE: its lines of more columns; one path stays whole.
wide() { LC_ALL=C.UTF-8 awk -v columns="$columns" 'length($0) > columns && !/^ *[^ ]*\/[^ ]*$/ { print "wide: " $0 }' "$1"; }

run compare sim sim --model resnet18,bert --variant small --phase infer --mode capture --steps 3 --warmup 8 \
    --min-time 0 --pairs 4 --control 0 --b-option device_us=400 --store "$store"
stores=(--store "$store/a" --store "$store/b")
sed 's/@affine/@other/; s/add/multiply/' tests/programs/affine.mlir >"$folder/other.mlir"

# ---- the pager --------------------------------------------------------------------------------------

# pages WHAT TEXT ARGUMENT...: its answer, which has TEXT, goes through the pager of a low terminal, and
# is shown on a high one.
pages() {
    local what=$1 text=$2
    shift 2
    on_terminal 4 "$@"
    report "$what goes through the pager where it is longer than the screen" "$(
        grep -q "$text" "$folder/paged" 2>&1 || echo "the pager did not get '$text'"
        ! grep -q "$text" "$folder/screen" || echo "it is on the screen, too"
    )"
    on_terminal 500 "$@"
    report "$what is shown where it is not" "$(
        [ ! -e "$folder/paged" ] || echo "the pager got it"
        grep -q "$text" "$folder/screen" || echo "no '$text'"
    )"
}
pages compare "resnet18" compare "${stores[@]}"
pages metrics "Metric: " metrics "$store/a"
pages "metrics diff" "resnet18" metrics diff "$store/a" "$store/b"
pages "graph diff" "multiply" graph diff tests/programs/affine.mlir "$folder/other.mlir"
pages study "^step  capture  " study batch --model resnet18 --variant small --phase infer --runtime sim --batch 1,2 \
    --steps 3 --warmup 8 --min-time 0 --device-time none --processes 2 --store "$folder/studied"
verify=(verify --model squeezenet1_1 --variant small --mode lazy --runtime sim --runtime-option values=auto)
pages verify "eval.logits" "${verify[@]}"

# ---- 80 columns -------------------------------------------------------------------------------------

on_terminal 500 compare "${stores[@]}"
cp "$folder/screen" "$folder/shown"
run compare "${stores[@]}" --format narrow
report "a comparison on a terminal keeps to its width, and says what it leaves out" "$(
    wide "$folder/shown"
    grep -q 'resnet18  *infer .*[a-z]$' "$folder/shown" || echo "no verdict"
    grep -q -e '--wide' "$folder/shown" || echo "it does not name the option"
    cat "$folder/out" "$folder/err" | cmp - "$folder/shown" 2>&1
)"
on_terminal 500 compare --wide "${stores[@]}"
cp "$folder/screen" "$folder/shown"
run compare "${stores[@]}"
report "with --wide it has all columns, as in a file" "$(
    [ -n "$(wide "$folder/shown")" ] || echo "no line is wide"
    grep -qE '\bpairs +verdict' "$folder/shown" || echo "no such columns"
    cat "$folder/out" "$folder/err" | cmp - "$folder/shown" 2>&1
)"
on_terminal 20 compare "${stores[@]}"
report "so has it in the pager, which moves sideways" "$(
    grep -qE '\bpairs +verdict' "$folder/paged" || echo "no such columns"
)"
on_terminal 4 compare sim sim --model resnet18 --variant small --phase infer --mode capture --steps 3 \
    --warmup 8 --min-time 0 --pairs 4 --control 0 --fail-if-slower 7% --store "$folder/measured"
report "what was measured waits for no pager: what comes next may be another command" "$(
    [ ! -e "$folder/paged" ] || echo "the pager got it"
)"
report "what was measured can be looked at again with all columns" "$(
    grep -q "bench compare --wide --store $folder/measured/a --store $folder/measured/b --fail-if-slower 7%$" \
        "$folder/screen" || echo "the command is not shown"
)"
on_terminal 500 history "$store/a"
report "a history on a terminal keeps to its width" "$(
    wide "$folder/screen"
    [ "$(grep -c '^wall, 1 ' "$folder/screen")" -eq 2 ] || echo "not two series"
)"
on_terminal 500 history --wide "$store/a"
cp "$folder/screen" "$folder/shown"
run history "$store/a"
report "with --wide it is as in a file" "$(cmp "$folder/out" "$folder/shown" 2>&1)"

# narrow WHAT TEXT ARGUMENT...: on a terminal the answer has TEXT and 80 columns at most; with --wide it has
# more. What else is said, --quiet leaves out.
narrow() {
    local what=$1 text=$2
    shift 2
    on_terminal 500 "$@" --quiet
    report "$what keeps to the width of a terminal" "$(
        wide "$folder/screen"
        grep -q -- "$text" "$folder/screen" || echo "no '$text'"
    )"
    on_terminal 500 "$@" --quiet --wide
    report "$what has all columns with --wide" "$(
        [ -n "$(wide "$folder/screen")" ] || echo "no line is wide"
        grep -q -- "$text" "$folder/screen" || echo "no '$text'"
    )"
}
cat >"$folder/two.json" <<'JSON'
{"bench_suite": 1, "name": "two", "defaults": {"runtimes": ["sim"], "variants": ["small"], "phases": ["infer"],
 "modes": ["lazy", "capture"], "steps": 3, "warmup": 8, "min_time": 0, "device_time": "none", "repetitions": 3},
 "matrix": [{"models": ["resnet18", "vgg16"]}]}
JSON
short=(--model resnet18 --variant small --phase infer --runtime sim --steps 3 --warmup 8 --min-time 0)
narrow "a run of one experiment" "resnet18" run "${short[@]}" --processes 1 --store "$folder/one"
narrow "a suite" "vgg16" suite "$folder/two.json" --store "$folder/suite"
run suite "$folder/two.json" --store "$folder/suite" --repetitions 4
report "a suite says how its records can be looked at" "$(
    grep -q "^\[[0-9]*/[0-9]*\] .*bench table --wide --store $folder/suite$" "$folder/err" || echo "it does not"
)"
run suite "$folder/two.json" --store "$folder/suite" --repetitions 4
report "unless it has made none" "$(! grep 'bench table' "$folder/err")"
narrow "a night" "^nightly: " nightly "$folder/two.json" --store "$folder/nights" --report "$folder/page" \
    --keep-builds 0
narrow "a study" "^step  capture  " study batch "${short[@]}" --batch 1,2 --device-time none --processes 2 \
    --store "$folder/studied"
narrow "a list" "mobilenet_v2" list models
narrow "a list of runtimes" "^sim  *yes" list runtimes
narrow "a list of front ends" "^pytorch-xla .*lazy, *capture" list frameworks
on_terminal 500 list ops
report "a list names its columns in words" "$(
    wide "$folder/screen"
    head -n 1 "$folder/screen" | grep -q '^op .*operands' || echo "no such column"
)"
narrow "an explanation" "^Findings" explain --model example_branch --mode capture \
    --runtime sim --steps 3
narrow "a verification" "eval.logits" "${verify[@]}"
records=("$folder"/suite/*.h5)
narrow "metrics diff" "Compile" diff "${records[0]}" "${records[-1]}"
narrow "the replay of a published case" "tpu-v4-2023" replay resnet50 --steps 2 --warmup 1 \
    --store "$folder/published"
narrow "scopes" "layer1" study scopes --model resnet18 --variant small --runtime sim --steps 2
narrow "a selftest" "^host-cost: " selftest host-cost --model resnet18 --variant small --runtime sim --steps 3 \
    --min-time 0
cat >"$folder/many.mlir" <<'END'
module @many {
  func.func public @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %a = stablehlo.add %x, %x : tensor<2x3xf32>
    %b = stablehlo.multiply %a, %x : tensor<2x3xf32>
    %c = stablehlo.transpose %b, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %d = stablehlo.transpose %c, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
    return %d : tensor<2x3xf32>
  }
}
END
sed 's/stablehlo.add/stablehlo.subtract/; s/2x3xf32/2x5xf32/g; s/3x2xf32/5x2xf32/g
    s/multiply %a, %x/multiply %x, %a/; s/f32/bf16/g' "$folder/many.mlir" >"$folder/more.mlir"
long=$folder/a-folder-whose-name-is-long/and-another-one/graphs
mkdir -p "$long"
cp "$folder/many.mlir" "$folder/more.mlir" "$long"
on_terminal 500 diff "$long/many.mlir" "$long/more.mlir"
report "diff keeps to the width of a terminal, but for statements and paths" "$(
    wide "$folder/screen" | grep -v '^wide:  *[AB], line [0-9]*: '
    tr '\n' ' ' <"$folder/screen" | grep -q ' operand 1 ' || echo "no reasons"
)"
on_terminal 500 report --store "$store/a" --site "$folder/a-site-whose-name-is-long/site-of-all-records"
report "a site keeps to the width of a terminal" "$(
    wide "$folder/screen"
    tr '\n' ' ' <"$folder/screen" | grep -q '/index.html' || echo "no files"
)"
if [ -x "$built/tests/harness/replay/make_recording" ]; then
    "$built/tests/harness/replay/make_recording" text "$folder/recording"
    on_terminal 500 import --store "$folder/imported" "$folder/recording"
    report "import keeps to the width of a terminal" "$(
        wide "$folder/screen"
        tr '\n' ' ' <"$folder/screen" | grep -q "$folder/imported" || echo "no record"
    )"
    report "import says how an unknown program gets a name" "$(
        tr -s '\n ' ' ' <"$folder/screen" |
            grep -q 'unknown step recorded unknown .*--model NAME' ||
            echo "not said"
        run import --store "$folder/imported" --model mine "$folder/recording"
        grep -q 'mine step recorded ' "$folder/out" || echo "not named"
    )"
    narrow "a replay" "replay" replay "$folder/recording" --runtime sim --processes 1 --steps 3 \
        --warmup 8 --min-time 0 --device-time none --store "$folder/replayed"
else
    skip "import keeps to the width of a terminal" "make_recording is not built"
    skip "a replay keeps to the width of a terminal" "make_recording is not built"
fi

# ---- terminals with fewer columns -------------------------------------------------------------------

# fewer WHAT TEXT ARGUMENT...: a terminal of 60 columns gets 60 at most, and TEXT.
fewer() {
    local what=$1 text=$2
    shift 2
    columns=60
    on_terminal 500 "$@" --quiet
    report "$what keeps to the width of a terminal of 60 columns" "$(
        wide "$folder/screen"
        grep -q -- "$text" "$folder/screen" || echo "no '$text'"
    )"
    columns=80
}
fewer "a speedup table" "vs lazy" table --store "$folder/suite"
fewer "a table in parts" "PJRT" table --store "$folder/suite" --table executions
fewer "a comparison" "verdict" compare "${stores[@]}"
fewer "a list of few columns" "^sim  *yes" list runtimes
fewer "advice" "resnet18" doctor --store "$folder/suite"
fewer "a short explanation" "^Findings" explain --model example_branch \
    --mode capture --runtime sim --steps 3

echo "1..$count"
