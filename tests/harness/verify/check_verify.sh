#!/bin/bash
# check_verify.sh - bench verify on a real runtime, as TAP: an entry passes in every
# mode; a changed number is found and named; the file decides what is computed;
# damage, wrong names and configurations that no model can honour are distinguished by
# exit code. check_verify_small.sh has all the models.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/harness/verify/verify.sh
. tests/harness/verify/verify.sh

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
# has MODEL: whether bench has it.
has() {
    "$bench" list models --format json | grep -qF "\"model\": \"$1\""
}
# said FILE [CODE]: whether the last line of FILE counts the comparisons and the failures, and with CODE
# whether that Python holds, of `lines`, the JSON of the last run; failed(QUANTITY) tells of its lines that have
# this quantity whether each of them failed (True), or none did (False).
said() {
    "$python" - "$out" "$@" <<'PYTHON'
import json, re, sys
out, file, code = sys.argv[1], sys.argv[2], sys.argv[3:]
total, wrong = map(int, re.findall("[0-9]+", open(file).read().splitlines()[-1]))
def failed(quantity):
    found = {not l["pass"] for l in lines if l["quantity"] == quantity}
    assert len(found) == 1, (quantity, found)
    return found.pop()
if code:
    lines = json.load(open(out))
    assert (total, wrong) == (len(lines), sum(not l["pass"] for l in lines)), (total, wrong, len(lines))
    exec(code[0])
else:
    assert total > 99 and wrong == 0, (total, wrong)
PYTHON
}
# first16: 16 logits that all passed, while the loss has not.
first16='
logits = [l["pass"] for l in lines if l["quantity"].startswith("eval.logits.first16[")]
assert logits == [True] * 16 and failed("eval.loss"), logits'
one=resnet18.small.json
# The step is the same in most of these checks, so it is compiled once.
only=(--model resnet18 --variant small --mode lazy --cache-dir "$folder/cache")

# ---- it passes ---------------------------------------------------------------

verify 0 --model resnet18 --variant small --mode all --cache-dir "$folder/cache"
result "a small variant passes in every mode" $?
said "$out"
result "the last line counts hundreds of comparisons" $?
lines=0
for mode in eager lazy capture; do
    grep -qE "^resnet18 +small +$mode +train.param_l2_after_step3 .* yes$" "$out" &&
        lines=$((lines + 1))
done
[ $lines -eq 3 ]
result "each mode is in the table" $?

# ---- a wrong number is found ---------------------------------------------------

# changed WHERE STATEMENT NAMED: with STATEMENT done to the file only lines that
# have NAMED may fail, and one must.
changed() {
    local status=1
    fresh changed
    edit "$golden/$one" "$2"
    if verify 1 --golden "$golden" "${only[@]}" --format json; then
        said "$err" "
wrong = [l['quantity'] for l in lines if not l['pass']]
assert wrong and all('$3' in w for w in wrong), wrong"
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
    said "$err" 'assert [l["quantity"] for l in lines if not l["pass"]] == ["train.loss[2]"]'
result "json holds the rows and standard error the summary" $?
verify 1 --golden "$golden" "${only[@]}" --format csv &&
    [ "$(grep -c ',NO$' "$out")" -eq 1 ] && head -n 1 "$out" | grep -q '^runtime,model,variant'
result "csv has a head and the wrong line" $?

# ---- the file decides what is computed ---------------------------------------------

# Another seed makes other weights and inputs: nearly everything differs, but the
# run goes through.
fresh seed
edit "$golden/$one" 'j["seed"] = 2'
verify 1 --golden "$golden" "${only[@]}" --format json &&
    said "$err" '
assert failed("inputs.input.first4[0]") and failed("eval.logits.probe")
assert all(l["quantity"] != "worker" for l in lines)'
result "another seed gives other numbers" $?
# The rate counts from the first update on: the loss after it must differ.
fresh rate
edit "$golden/$one" 'j["optimizer"]["lr"] = 0.02'
verify 1 --golden "$golden" "${only[@]}" --format json &&
    said "$err" 'assert failed("train.loss[1]") and not failed("train.loss[0]")'
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
verify 1 --golden "$golden" "${only[@]}" --format json && said "$err" "$first16"
result "another batch keeps the rows that it shares" $?
verify 1 --golden "$golden" "${only[@]}" --verbose &&
    awk '$4 ~ /^eval\.logits\.first16/ && $NF == "yes" { n++ } END { exit n != 16 }' "$out"
result "and --verbose shows each of them" $?

fresh optimizer
edit "$golden/$one" 'j["optimizer"] = {"name": "AdamW", "lr": 0.01, "betas": [0.9, 0.999],
    "eps": 1e-8, "weight_decay": 0.01}'
verify 1 --golden "$golden" "${only[@]}" --format json &&
    said "$err" '
assert failed("train.loss[1]") and not failed("train.loss[0]")
assert failed("train.param_change_l2_after_step3")'
result "another optimizer moves the parameters differently" $?
# Any name will do for a variant: the number of parameters tells which model it is.
fresh names
edit "$golden/$one" 'j["variant"] = "b2"'
mv "$golden/$one" "$golden/resnet18.b2.json"
verify 0 --golden "$golden" "${only[@]}" --variant b2 && grep -qE '^resnet18 +b2 +lazy ' "$out"
result "a variant of another name is found by its number of parameters" $?

# resized MODEL WHAT STATEMENT: the file of MODEL's small variant for B rows of T tokens,
# both set by STATEMENT; its first 16 logits stand.
resized() {
    local model=$1 name="$1 keeps its first logits with $2"
    has "$model" || { result "$name # SKIP there is no such model" 0; return; }
    fresh resized
    edit "$golden/$model.small.json" "$3"'
j["dims"].update(batch=B, seq=T)
for i in j["inputs"]:
    i["shape"] = [B, T][:len(i["shape"])]
    if "lengths" in i: i["lengths"] = [T - b % 3 * (T // 4) for b in range(B)]
eval = j["f64"]["eval"]
eval["logits"]["shape"][:2] = [B, T]
eval["logits"]["argmax"] = [0] * B * T
for s in eval["stages"].values(): s[0][:2] = [B, T]'
    verify 1 --golden "$golden" --model "$model" --variant small --format json && said "$err" "$first16"
    result "$name" $?
    rm -rf "$golden"
}
resized bert "another batch" 'B, T = 1, 16'
resized gpt2 "another length" 'B, T = 2, 8'

# unsupported NAME STATEMENT TEXT...: a failed line, and a reason that names each TEXT.
unsupported() {
    fresh unsupported
    edit "$golden/$one" "$2"
    verify 1 --golden "$golden" "${only[@]}" --format json &&
        "$python" - "$out" "$err" "${@:3}" <<'PYTHON'
import json, sys
[line] = json.load(open(sys.argv[1]))
assert line["quantity"] == "worker" and line["got"] == "not-supported" and not line["pass"], line
said = open(sys.argv[2]).read()
assert all(text in said and text in line["message"] for text in sys.argv[3:]), (said, line)
PYTHON
    result "$1 is not supported, and says so" $?
    rm -rf "$golden"
}
unsupported "an image size that the shapes contradict" 'j["dims"]["image"] = 32' \
    input 2x3x64x64
unsupported "another number of classes" 'j["f64"]["eval"]["logits"]["shape"] = [1, 20]
j["f64"]["eval"]["logits"]["argmax"] = [0]' logits 1x20
unsupported "another momentum" 'j["optimizer"]["momentum"] = 0.8' momentum 0.8
unsupported "a setting of the optimizer" 'j["optimizer"]["nesterov"] = True' nesterov
unsupported "an unknown optimizer" 'j["optimizer"]["name"] = "Lion"' Lion
unsupported "padding" 'j["inputs"][1].update(pad_value=0, lengths=[1, 1])' labels
unsupported "an unknown parameter" \
    'g = j["f64"]["train"]["grads_step0"]; g["fc.wait"] = g.pop("fc.weight")' fc.wait

# ---- damage and wrong words ------------------------------------------------------------

fresh damaged
head -c 2000 "tests/golden/$one" >"$golden/$one"
verify 3 --golden "$golden" "${only[@]}" && [ "$(wc -l <"$err")" -eq 1 ] && [ ! -s "$out" ] &&
    [[ $(<"$err") =~ "$one: line "[0-9]+", column "[0-9]+ ]]
result "a cut file ends the command with its place" $?
fresh missing
edit "$golden/$one" 'del j["f64"]["train"]["loss"]'
verify 3 --golden "$golden" "${only[@]}" && grep -qF 'f64.train.loss: ' "$err"
result "a missing member is named" $?
fresh renamed
mv "$golden/resnet50.small.json" "$golden/$one"
verify 3 --golden "$golden" "${only[@]}" && grep -qF 'resnet50.small' "$err"
result "a file under another's name is refused" $?
verify 3 --golden "$folder/nowhere" "${only[@]}" && grep -qF nowhere "$err"
result "a missing folder is reported" $?
rm -f "$golden/resnet50.small.json"
verify 3 --golden "$golden" --model resnet50 --variant small &&
    grep -qF 'resnet50.small.json' "$err"
result "a missing entry is reported" $?

fresh foreign
cp "$golden/$one" "$golden/transformer.small.json"
verify 1 --golden "$golden" "${only[@]}" --model transformer,resnet18 &&
    grep -qF 'transformer.small' "$err" && said "$out"
result "an entry of another program's model is named when asked for" $?
mkdir "$folder/both"
mv "$golden/$one" "$golden/transformer.small.json" "$folder/both"
verify 0 --golden "$folder/both" "${only[@]}" --model all &&
    grep -qF 'transformer.small' "$err"
result "an entry of another program's model is left out, and said, when all are asked for" $?
for words in "--model resnet99" "--variant tiny" "--mode fast" "--format xml" "--layout hwcn"; do
    # shellcheck disable=SC2086 # two words
    verify 2 "${only[@]}" $words && [ -s "$err" ] && [ ! -s "$out" ]
    result "$words is wrong usage" $?
done
verify 3 "${only[@]}" --runtime "$folder/no.so"
result "a missing plugin is found before anything runs" $?

echo "1..$count"
exit $failed
