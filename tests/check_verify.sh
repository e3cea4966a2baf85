#!/bin/bash
# check_verify.sh - bench verify on a real runtime, as TAP: the small variants
# pass in every mode; a changed number is found and named; damage, wrong names and
# configurations that no model can honour are told apart by exit code.
#
# BENCH_TEST_RUNTIME names the runtime (default: cpu).
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
bench=${BENCH_TEST_BINARY:-build/bench}
runtime=${BENCH_TEST_RUNTIME:-cpu}
python=${BENCH_TEST_PYTHON:-python3}

cannot() {
    echo "not ok 1 - $1"
    echo "1..1"
    exit 1
}
[ -x "$bench" ] || cannot "$bench is not built"
# A runtime that bench finds is a path in the list; sanitizers need not load it.
if [ "$runtime" = "${runtime#/}" ]; then
    "$bench" list runtimes --format json |
        "$python" -c 'import json, sys
sys.exit(not any(r["runtime"] == sys.argv[1] and r["found"] for r in json.load(sys.stdin)))' \
            "$runtime" || cannot "runtime $runtime is not here (make setup)"
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/check_verify.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out err=$folder/err
count=0 failed=0

# result NAME STATUS: ok when STATUS is 0; else what bench said.
result() {
    count=$((count + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $count - $1"
        return
    fi
    echo "not ok $count - $1"
    tail -n 20 "$out" "$err" | sed 's/^/#   /'
    failed=1
}
# Compiling, XLA drops a few bytes inside itself. A leak whose stack passes through
# the plugin is not looked at here; handles that we forget are counted by the
# tests on the fake plugin, and all memory of our own is still looked at.
library=$runtime
[ "$runtime" != "${runtime#/}" ] || library=$("$bench" list runtimes --format json |
    "$python" -c 'import json, sys
print(*(r["where"] for r in json.load(sys.stdin) if r["runtime"] == sys.argv[1]))' "$runtime")
echo "leak:$(basename "$library")" >"$folder/lsan.supp"
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$folder/lsan.supp:print_suppressions=0

# verify EXIT OPTION...: runs bench verify, and is true when it ends with EXIT.
verify() {
    local want=$1
    shift
    "$bench" verify --runtime "$runtime" "$@" >"$out" 2>"$err"
    local got=$?
    [ $got -eq "$want" ] || { echo "# exit code $got, want $want"; return 1; }
}
# edit FILE STATEMENTS: FILE, as j, changed by Python.
edit() {
    "$python" -c 'import json, sys
j = json.load(open(sys.argv[1]))
exec(sys.argv[2])
json.dump(j, open(sys.argv[1], "w"))' "$1" "$2"
}
# fresh NAME: a folder of golden values to spoil, in $golden.
fresh() {
    golden=$folder/$1
    cp -R tests/golden "$golden" && chmod -R u+w "$golden"
}
one=resnet18.small.json
only=(--model resnet18 --variant small --mode lazy)

# ---- it passes ---------------------------------------------------------------

verify 0 --model all --variant small --mode all
result "the small variants pass in every mode" $?
tail -n 1 "$out" | grep -qE '^[0-9]{3,} comparisons, 0 failed$'
result "the last line counts hundreds of comparisons" $?
lines=0
for mode in eager lazy capture; do
    for model in resnet18 resnet50; do
        grep -qE "^$model +small +$mode +train.param_l2_after_step3 .* yes$" "$out" &&
            lines=$((lines + 1))
    done
done
[ $lines -eq 6 ]
result "each model and mode is in the table" $?

# ---- a wrong number is found ---------------------------------------------------

# changed WHERE STATEMENT NAMED: with STATEMENT done to the file only lines that
# have NAMED may fail, and one must.
changed() {
    local status=1
    fresh changed
    edit "$golden/$one" "$2"
    if verify 1 --golden "$golden" "${only[@]}"; then
        grep -F ' NO' "$out" | grep -qF -- "$3" && ! grep -F ' NO' "$out" | grep -vF -- "$3" &&
            tail -n 1 "$out" | grep -qE 'comparisons, [1-9][0-9]* failed$'
        status=$?
    fi
    result "a changed $1 is named" $status
    rm -rf "$golden"
}
changed logit 'j["f64"]["eval"]["logits"]["last16"][5] += 1e-4' 'eval.logits.last16[5]'
changed gradient 'j["f64"]["train"]["grads_step0"]["fc.weight"]["probe"] *= 1.001' \
    train.grads_step0.fc.weight.probe
changed statistic 'j["f64"]["train"]["bn_after_step1"]["bn1"]["running_var_l2"] *= 1.0001' \
    train.bn_after_step1.bn1.running_var_l2
changed parameter 'j["f64"]["train"]["params_after_step3"]["fc.weight"]["l2"] *= 1.0001' \
    train.params_after_step3.fc.weight.l2
changed index 'j["f64"]["eval"]["logits"]["argmax"][1] += 1' 'eval.logits.argmax[1]'

fresh machine
edit "$golden/$one" 'j["f64"]["train"]["loss"][2] *= 1.001'
verify 1 --golden "$golden" "${only[@]}" --format json &&
    "$python" -c 'import json, sys
wrong = [r["quantity"] for r in json.load(open(sys.argv[1])) if not r["pass"]]
sys.exit(wrong != ["train.loss[2]"])' "$out" && grep -q 'comparisons, 1 failed' "$err"
result "json holds the rows and standard error the summary" $?
verify 1 --golden "$golden" "${only[@]}" --format csv &&
    [ "$(grep -c ',NO$' "$out")" -eq 1 ] && head -n 1 "$out" | grep -q '^runtime,model,variant'
result "csv has a head and the wrong line" $?

# ---- the file decides what is computed ---------------------------------------------

# Another seed makes other weights and inputs: nearly everything differs, but the
# run goes through.
fresh seed
edit "$golden/$one" 'j["seed"] = 2'
verify 1 --golden "$golden" "${only[@]}" && grep -qE 'inputs.input.first4\[0\].* NO$' "$out" &&
    grep -qE 'eval.logits.probe .* NO$' "$out" && ! grep -q ' worker ' "$out"
result "another seed gives other numbers" $?
# The rate counts from the first update on: the loss after it must differ.
fresh rate
edit "$golden/$one" 'j["optimizer"]["lr"] = 0.02'
verify 1 --golden "$golden" "${only[@]}" && grep -qE 'train.loss\[1\] .* NO$' "$out" &&
    ! grep -qE 'train.loss\[0\] .* NO$' "$out"
result "another learning rate changes the loss after the first update" $?
# A batch of three whose file is changed to match: rows are independent in
# evaluation, so the first ones keep their logits; the loss is another.
fresh batch
edit "$golden/$one" '
j["dims"]["batch"] = 3
for i in j["inputs"]: i["shape"][0] = 3
logits = j["f64"]["eval"]["logits"]
logits["shape"][0] = 3
logits["argmax"].append(0)
for s in j["f64"]["eval"]["stages"].values(): s[0][0] = 3'
verify 1 --golden "$golden" "${only[@]}" --verbose &&
    [ "$(grep -cE 'eval.logits.first16\[[0-9]+\] .* yes$' "$out")" -eq 16 ] &&
    grep -qE 'eval.loss .* NO$' "$out"
result "another batch keeps the rows that it shares" $?

# unsupported NAME STATEMENT TEXT: a failed line, and TEXT as the reason.
unsupported() {
    fresh unsupported
    edit "$golden/$one" "$2"
    verify 1 --golden "$golden" "${only[@]}" && grep -qE 'worker +not-supported' "$out" &&
        grep -qF -- "$3" "$err"
    result "$1 is not supported, and says so" $?
    rm -rf "$golden"
}
unsupported "an image size that the shapes contradict" 'j["dims"]["image"] = 32' \
    'input input has shape 2x3x64x64'
unsupported "another number of classes" 'j["f64"]["eval"]["logits"]["shape"] = [1, 20]
j["f64"]["eval"]["logits"]["argmax"] = [0]' 'logits has shape 1x20'
unsupported "another optimizer" 'j["optimizer"]["name"] = "AdamW"' 'optimizer AdamW'
unsupported "an unknown parameter" \
    'g = j["f64"]["train"]["grads_step0"]; g["fc.wait"] = g.pop("fc.weight")' 'has no fc.wait'

# ---- damage and wrong words ------------------------------------------------------------

fresh damaged
head -c 2000 "tests/golden/$one" >"$golden/$one"
verify 3 --golden "$golden" "${only[@]}" && [ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ] &&
    grep -qE "^bench: .*$one: line [0-9]+, column [0-9]+" "$err"
result "a cut file ends the command with its place" $?
fresh missing
edit "$golden/$one" 'del j["f64"]["train"]["loss"]'
verify 3 --golden "$golden" "${only[@]}" && grep -qF 'f64.train.loss is missing' "$err"
result "a missing member is named" $?
fresh renamed
mv "$golden/resnet50.small.json" "$golden/$one"
verify 3 --golden "$golden" "${only[@]}" && grep -qF 'it says that it is resnet50.small' "$err"
result "a file under another's name is refused" $?
verify 3 --golden "$folder/nowhere" "${only[@]}" && grep -qF nowhere "$err"
result "a missing folder is told" $?
rm -f "$golden/resnet50.small.json"
verify 3 --golden "$golden" --model resnet50 --variant small &&
    grep -qF 'resnet50.small.json' "$err"
result "a missing entry is told" $?

fresh foreign
cp "$golden/$one" "$golden/transformer.small.json"
cp "$golden/$one" "$golden/resnet18.small_pad.json"
verify 1 --golden "$golden" --model transformer,resnet18 --variant small --mode lazy &&
    grep -qF 'transformer.small: not supported' "$err" && tail -n 1 "$out" | grep -qF ', 0 failed'
result "an entry of another program's model is named when asked for" $?
verify 1 --golden "$golden" --model resnet18 --variant small_pad --mode lazy &&
    grep -qF 'resnet18.small_pad: not supported' "$err"
result "an entry of another variant is named when asked for" $?
for words in "--model resnet99" "--variant tiny" "--mode fast" "--format xml" "--layout hwcn"; do
    # shellcheck disable=SC2086 # two words
    verify 2 "${only[@]}" $words && [ -s "$err" ] && [ ! -s "$out" ]
    result "$words is wrong usage" $?
done
verify 3 "${only[@]}" --runtime "$folder/no.so"
result "a missing plugin is found before anything runs" $?

echo "1..$count"
exit $failed
