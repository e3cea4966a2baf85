#!/bin/bash
# check_front_scripts.sh - the scripts of contrib/frontends from outside, as TAP: what they refuse, and
# what they say where the framework is not installed. Needs a Python and no framework.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
unset FRONT_END_TRACEBACK
# -S: no site-packages, so no framework and no NumPy, whatever is installed.
bare=("$python" -S)

# ask NAME MEMBERS: a request to the front end NAME, with MEMBERS (of JSON) put in place of the usual.
ask() {
    rm -f "$folder/report.json"
    "$python" - "$folder" "$2" >"$folder/request.json" <<'PYTHON'
import json, sys
folder, members = sys.argv[1], json.loads(sys.argv[2])
request = {"model": "bert", "variant": "small", "phase": "train", "mode": "capture", "batch": 2, "seq": 16,
           "dtype": "f32", "optimizer": "default", "steps": 3, "warmup": 2, "seed": 1, "values": False,
           "weights": folder + "/w", "inputs": folder + "/i", "report": folder + "/report.json"}
request.update(members)
json.dump({k: v for k, v in request.items() if v is not None}, sys.stdout)
PYTHON
    "${bare[@]}" "contrib/frontends/$1/run.py" "$folder/request.json" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}

# declines WHAT STATUS CLASS TEXT NAME MEMBERS: the front end ends with STATUS, one line that has TEXT,
# and a report of the same failure in CLASS.
declines() {
    ask "$5" "$6"
    report "$5: $1" "$(
        fault_of "$2" "front end: " "$4"
        "$python" - "$folder" "$3" "$4" "$5" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
folder, kind, text, name = sys.argv[1:]
report = json.load(open(folder + "/report.json"))
assert report["error"]["class"] == kind, report["error"]
assert text in report["error"]["message"], report["error"]
assert len(report["error"]["message"].encode()) <= 1000  # as bench takes it
assert report["front_end"] == name
PYTHON
    )"
}

for name in jax pytorch-xla; do
    declines "is not installed" 3 not_installed "-m pip install -r" $name '{}'
    declines "a mode that it does not have" 2 not_supported "no mode 'graph'" $name '{"mode": "graph"}'
    declines "a model that it does not have" 2 not_supported "llama" $name '{"model": "llama"}'
    declines "a variant that is none" 2 not_supported "medium" $name '{"variant": "medium"}'
    declines "a dtype that is none" 2 not_supported "f16" $name '{"dtype": "f16"}'
    declines "an image for a model of tokens" 2 not_supported "image 224" $name '{"image": 224}'
    declines "more tokens than positions" 2 not_supported "64 positions" $name '{"seq": 65}'
    declines "values with dropout" 2 not_supported "dropout" $name '{"values": true, "dropout": true}'
    declines "a member that nobody knows" 2 not_supported "'lengths'" $name '{"lengths": "varying"}'
    declines "a member that is missing" 1 runtime "weights is missing" $name '{"weights": null}'
    declines "a number that is none" 1 runtime "steps" $name '{"steps": true}'
    declines "a long word" 2 not_supported "no mode" $name "{\"mode\": \"$(printf 'ö%.0s' {1..900})\"}"
done
declines "a model that only JAX has" 2 not_supported "pytorch-xla has no model 'unit_qnli'; known are resnet18," \
    pytorch-xla '{"model": "unit_qnli"}'
declines "its own model, with padding, is known" 3 not_installed "-m pip install -r" jax \
    '{"model": "unit_qnli", "variant": "small_pad"}'
declines "padding in a model that has none" 2 not_supported "gpt2 has no variant 'small_pad'" jax \
    '{"model": "gpt2", "variant": "small_pad"}'
declines "a mode of training in inference" 2 not_supported "'parts' for infer" jax '{"mode": "parts", "phase": "infer"}'
declines "a mode of training in inference" 2 not_supported "'dynamo-step' for infer" pytorch-xla \
    '{"mode": "dynamo-step", "phase": "infer"}'
declines "a mode that does not decode" 2 not_supported "'parts' for decode" jax \
    '{"model": "gpt2", "mode": "parts", "phase": "decode", "seq": 8, "context": 16}'
declines "decoding, which it does not do" 2 not_supported "for decode" pytorch-xla \
    '{"model": "gpt2", "phase": "decode", "seq": 8, "context": 16}'
decode='"model": "gpt2", "phase": "decode"'
declines "decoding is known" 3 not_installed "-m pip install -r" jax "{$decode, \"seq\": 8, \"context\": 16}"
declines "a model that does not decode" 2 not_supported "bert" jax '{"phase": "decode", "seq": 8, "context": 16}'
declines "a prompt that fills the context" 2 not_supported "no room" jax "{$decode, \"seq\": 8, \"context\": 8}"
declines "a context beyond the positions" 2 not_supported "64 positions" jax "{$decode, \"seq\": 8, \"context\": 65}"
declines "values of decoding" 2 not_supported "values" jax "{$decode, \"seq\": 8, \"context\": 16, \"values\": true}"
declines "a context without decoding" 2 not_supported "context 16" jax '{"model": "gpt2", "context": 16}'

printf '{"model": 1, "model": 2}' >"$folder/request.json"
"${bare[@]}" contrib/frontends/jax/run.py "$folder/request.json" >"$folder/out" 2>"$folder/err"
status=$?
report "a request that gives a member twice" "$(fault_of 1 "front end: request: " "twice")"
"${bare[@]}" contrib/frontends/jax/run.py >"$folder/out" 2>"$folder/err"
status=$?
report "no request" "$(fault_of 1 "usage")"
# Bytes that are no UTF-8 must not cost a measurement.
XLA_FLAGS=$(printf -- '--xla_dump_to=/tmp/caf\351') ask jax '{}'
report "flags that are no text become text" "$(
    fault_of 3 "not installed"
    grep -qF '"XLA_FLAGS": "--xla_dump_to=/tmp/caf?"' "$folder/report.json" || cat "$folder/report.json"
)"
# What bench compares of them (results/records/provenance.c): how the names begin.
mapfile -t compared < <(sed -n '/framework_variables\[\]/,/;/p' results/records/provenance.c |
    grep -o '"[A-Z_]*"' | tr -d '"')
for name in jax pytorch-xla; do
    report "$name: all variables that bench compares are listed, but for empty ones" "$(
        for begin in "${compared[@]}"; do export "${begin}_TEST=1" "${begin}_EMPTY="; done
        ask $name '{}'
        fault_of 3 "not installed"
        "$python" - "$folder" "${compared[@]}" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
folder, *compared = sys.argv[1:]
flags = json.load(open(folder + "/report.json"))["flags"]
assert len(compared) >= 10, compared
assert [flags.get(c + "_TEST") for c in compared] == ["1"] * len(compared), flags
assert not [c for c in compared if c + "_EMPTY" in flags], flags
PYTHON
    )"
done
# The long test compares values without times where it is given no phase.
cat >"$folder/bench" <<'END'
#!/bin/bash
echo "$1" >>"${0%/*}/asked"
case $1 in
list) echo '[{"front_end": "jax", "modes": "capture", "installed": true}]' ;;
verify) echo "100 comparisons, 0 failed" ;;
*) exit 1 ;;
esac
END
chmod +x "$folder/bench"
BENCH_TEST_BINARY=$folder/bench PHASES='' MODELS=resnet18 bash tests/harness/frontends/full_frontends.sh \
    >"$folder/out" 2>"$folder/err"
report "full_frontends.sh measures no times without a phase" "$(
    grep -q '^ok 1 - jax: values of resnet18' "$folder/out" || echo "values are not compared"
    grep -x run "$folder/asked" || grep '^not ok' "$folder/out"
)"
report "nothing is left in the sources" "$(find contrib -name __pycache__)"

echo "1..$count"
