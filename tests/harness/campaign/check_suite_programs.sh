#!/bin/bash
# check_suite_programs.sh - programs that others wrote as experiments of suites and of comparisons of
# suites, from outside and as TAP, on the simulated device.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

mkdir "$folder/elsewhere"
cp tests/programs/affine.mlir "$folder/affine.mlir"
cp tests/programs/affine.mlir "$folder/elsewhere/affine.mlir"
cp tests/programs/affine.mlir "$folder/other.mlir"
printf 'ML\357RStableHLO' >"$folder/step.mlirbc"
# XLA's own form: one number goes through.
"$python" - "$folder/through.hlo" <<'PYTHON'
import sys
def put(number, value):
    if isinstance(value, int):
        return bytes([number << 3, value]) if number < 16 else bytes([number << 3 & 127 | 128, number >> 4, value])
    return bytes([number << 3 | 2, len(value)]) + value
shape = put(2, 11)
program = put(1, shape) + put(2, shape) + put(3, b"a")
parameter = put(1, b"a") + put(2, b"parameter") + put(3, shape) + put(9, 0) + put(35, 1)
main = put(1, b"main") + put(2, parameter) + put(4, program) + put(5, 1) + put(6, 1)
open(sys.argv[1], "wb").write(put(1, b"through") + put(2, b"main") + put(3, main) + put(4, program)
                              + put(5, 7) + put(6, 1))
PYTHON
# suite NAME MATRIX: $folder/NAME.json, whose defaults are of models, but for the batches in flight.
suite() {
    cat >"$folder/$1.json" <<END
{"bench_suite": 1, "name": "$1",
 "defaults": {"runtimes": "sim", "variants": "small", "phases": "infer", "modes": ["lazy", "capture"],
              "batches": [1, 2], "in_flight": [1, 2], "steps": 3, "warmup": 8, "min_time": 0, "repetitions": 2},
 "matrix": [$2]}
END
}
# says TEXT: a fault unless the summary of the last suite has it.
says() {
    local figure
    for figure in "$@"; do
        grep '^suite ' "$folder/err" | grep -qE "(^|[ (])$figure\b" || echo "the summary does not say '$figure'"
    done
}
# planned TO_RUN DONE: a fault unless the JSON of a dry run has so many of each.
planned() {
    holds "
states = [r['state'] for r in records]
assert (states.count('run'), states.count('done'), len(states)) == ($1, $2, $1 + $2), states
"
}

# ---- what is run ----------------------------------------------------------------------------

suite mine '{"program": "affine.mlir"}'
run suite "$folder/mine.json" --store "$store" --dry-run --format json
report "a program of the suite's folder makes an experiment for each number in flight" "$(
    fault_of 0
    holds '
assert {r["title"] for r in records} == {"program affine on sim"}, records
assert len(records) == 4 and all(r["state"] == "run" for r in records), records
assert len({r["identity"] for r in records}) == 4, records
o = records[0]["options"]
assert o["program"] == folder + "/affine.mlir" and o["steps"] == 3, o
'
    [ ! -e "$store" ] || echo "the store was made"
)"
run suite "$folder/mine.json" --store "$store" --format json
report "it runs" "$(
    fault_of 0
    says '4 done' '0 skipped' '0 failed'
    holds '
rows = [r for r in records["rows"] if r["model"] == "affine"]
assert rows, records
for r in rows:
    assert r["phase"] == "program" and r["mode"] == "program" and r["processes"] == 2, r
    assert r["variant"].startswith("text ") and r["simulated"] is True, r
'
)"
run suite "$folder/mine.json" --store "$store"
report "what is done is not repeated" "$(
    fault_of 0
    says '0 done' '4 skipped' '0 failed'
)"
suite moved '{"program": "elsewhere/affine.mlir"}'
run suite "$folder/moved.json" --store "$store" --dry-run --format json
report "nor where the same program lies elsewhere" "$(
    fault_of 0
    planned 0 4
)"
sed -i 's/stablehlo.add/stablehlo.subtract/' "$folder/elsewhere/affine.mlir"
run suite "$folder/moved.json" --store "$store" --dry-run --format json
report "another text under the same name is another experiment" "$(
    fault_of 0
    planned 4 0
)"
suite several '{"program": "affine.mlir", "in_flight": 1, "include": [{"seed": 2, "in_flight": 1}]},
               {"program": "other.mlir", "in_flight": 1}, {"program": "through.hlo", "in_flight": 1},
               {"program": "step.mlirbc", "arguments": ["f32[2,3]", "s32[]"], "in_flight": 1},
               {"models": "resnet18", "modes": "capture", "batches": 0, "in_flight": 1}'
run suite "$folder/several.json" --store "$store" --repetitions 1 --dry-run --format json
report "text, XLA's own form and byte code with its types are possible next to models" "$(
    fault_of 0
    holds '
titles = sorted(r["title"] for r in records)
assert titles == ["program affine on sim", "program affine on sim", "program other on sim",
                  "program step on sim", "program through on sim",
                  "resnet18.small infer capture f32 on sim"], titles
assert sum(r["state"] == "done" for r in records) == 1, records
[o] = [r["options"] for r in records if r["title"] == "program step on sim"]
assert o["argument"] == ["f32[2,3]", "s32[]"], o
'
)"

# ---- what is refused ------------------------------------------------------------------------

refused=(--store "$folder/refused")
suite none '{"program": "no/such.mlir"}'
refuses "a file that is not there, with its place" 2 \
    "none.json:4:13: /matrix/0: |$folder/no/such.mlir" -- \
    suite "$folder/none.json" "${refused[@]}"
suite place '{"program": "elsewhere"}'
refuses "a folder" 2 "/matrix/0: |$folder/elsewhere" -- \
    suite "$folder/place.json" "${refused[@]}"
mkfifo "$folder/pipe"
suite pipe '{"program": "pipe"}'
refuses "a pipe, without waiting" 2 "pipe.json:4:13: /matrix/0: |regular" -- \
    suite "$folder/pipe.json" "${refused[@]}"
suite foreign '{"models": "resnet18"}, {"program": "foreign.json"}'
refuses "a file that is no program, before anything runs" 3 "/matrix/1: |foreign.json|@main" -- \
    suite "$folder/foreign.json" "${refused[@]}"
suite untold '{"program": "step.mlirbc"}'
refuses "byte code without types" 2 "untold.json:4:13: /matrix/0: " -- \
    suite "$folder/untold.json" "${refused[@]}"
suite typed '{"program": "step.mlirbc", "arguments": "f32"}'
refuses "a type that is none" 2 "/matrix/0: |'f32'" -- suite "$folder/typed.json" "${refused[@]}"
suite told '{"program": "affine.mlir", "arguments": ["f32[2]"]}'
refuses "types of a program that tells them" 2 "--argument" -- \
    suite "$folder/told.json" "${refused[@]}"
suite empty '{"program": "step.mlirbc", "arguments": []}'
refuses "no types" 2 "/matrix/0/arguments: " -- suite "$folder/empty.json" "${refused[@]}"
suite beside '{"program": "affine.mlir", "models": "resnet18"}'
refuses "models beside it" 2 "/matrix/0/models: " -- \
    suite "$folder/beside.json" "${refused[@]}"
suite way '{"program": "affine.mlir", "include": [{"modes": "lazy"}]}'
refuses "modes beside it, in an include" 2 "/matrix/0/include/0/modes: " -- \
    suite "$folder/way.json" "${refused[@]}"
suite both '{"program": "affine.mlir", "recording": "elsewhere"}'
refuses "a recording beside it" 2 "/matrix/0/program: " -- \
    suite "$folder/both.json" "${refused[@]}"
suite cost '{"program": "affine.mlir", "cost": "roofline"}'
refuses "what is said of recordings" 2 "/matrix/0/cost: |'recording'" -- \
    suite "$folder/cost.json" "${refused[@]}"
suite alone '{"models": "resnet18", "arguments": "f32[2]"}'
refuses "types without it" 2 "/matrix/0/arguments: |'program'" -- \
    suite "$folder/alone.json" "${refused[@]}"
suite inside '{"models": "resnet18", "include": [{"program": "affine.mlir"}]}'
refuses "it in an include" 2 "/matrix/0/include/0/program: " -- \
    suite "$folder/inside.json" "${refused[@]}"
report "nothing was made for what was refused" "$([ ! -e "$folder/refused" ] || echo "the store was made")"

# ---- comparisons -----------------------------------------------------------------------------

suite one '{"program": "affine.mlir", "in_flight": 1}'
run compare --suite "$folder/one.json" --runtime sim --runtime sim --control 0 --pairs 2 \
    --store "$folder/compared" --format json
report "a suite with a program can be compared" "$(
    [[ " 0 4 " == *" $status "* ]] || echo "exit status $status, not 0 or 4"
    holds '
[c] = records["cells"]
e = c["experiment"]
assert (e["model"], e["mode"], e["phase"]) == ("affine", "program", "program"), e
assert c["comparison"]["pairs"] == 2, c["comparison"]
'
)"
echo "1..$count"
