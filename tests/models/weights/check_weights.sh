#!/bin/bash
# check_weights.sh - bench export weights and --weights from outside, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
unset FAKE_PJRT

small=(--model resnet18 --variant small)
one=$folder/one.safetensors

edit() { # NAME EDIT...: $folder/NAME is $one, changed
    local name=$1
    shift
    "$python" tests/models/weights/safetensors_edit.py "$one" "$folder/$name" "$@" ||
        echo "cannot make $name"
}

# ---- written -------------------------------------------------------------------

run export weights "${small[@]}" --output "$one"
report "weights are exported, and what was written is said" "$(
    fault_of 0
    size=$(stat -c %s "$one")
    grep -qx "$one: resnet18.small, f32, seed 1: [0-9]* tensors, [0-9]* elements, $size bytes" \
        "$folder/out" || echo "no such line"
)"
"$python" tests/models/weights/safetensors_edit.py "$one" - list >"$folder/list"
# First elements of the rule's tensors, under the framework's names and shapes:
# tests/golden/params has the shapes, test_model_init.c the values.
report "Python reads names, shapes and values of the framework" "$(
    [ "$(wc -l <"$folder/list")" -eq 62 ] || echo "$(wc -l <"$folder/list") tensors, not 62"
    for line in 'conv1\.weight F32 8x3x7x7 -0\.0227381' 'bn1\.running_var F32 8 1\.27238' \
        'fc\.weight F32 10x64 '; do
        grep -q "^$line" "$folder/list" || echo "no line like $line"
    done
)"
run export weights "${small[@]}" --dtype bf16 --seed 2 --output "$folder/bf16" --format json
report "another type and seed, printed as JSON" "$(
    fault_of 0
    holds 'import os
(r,) = records
assert (r["dtype"], r["seed"], r["tensors"]) == ("bf16", 2, 62), r
assert r["bytes"] == os.path.getsize(r["path"])'
    "$python" tests/models/weights/safetensors_edit.py "$folder/bf16" - list >"$folder/list"
    grep -q '^fc\.weight BF16' "$folder/list" || echo "parameters are not bf16"
    grep -q '^bn1\.running_mean F32' "$folder/list" || echo "statistics are not f32"
)"
if "$python" -c 'import numpy, safetensors' 2>/dev/null; then
    report "the safetensors package reads it" "$(
        "$python" - "$one" "$folder/list" 2>&1 <<'PYTHON' | tail -n 1
import sys
from safetensors import safe_open
with safe_open(sys.argv[1], "numpy") as f:
    assert f.metadata()["format"] == "pt" and f.metadata()["model"] == "resnet18"
    assert len(list(f.keys())) == 62
    w = f.get_tensor("conv1.weight")
    assert w.shape == (8, 3, 7, 7) and abs(w[0, 0, 0, 0] + 0.0227381) < 1e-7
PYTHON
    )"
else
    skip "the safetensors package reads it" "$python has no safetensors (Debian 12 has no package)"
fi

# Padding is in the inputs; the parameters of small_pad are those of small.
for model in bert transformer_wmt_en_de unit_qnli; do
    run export weights --model $model --variant small --output "$folder/$model"
    run export weights --model $model --variant small_pad --output "$folder/$model.pad"
    report "$model: a variant that pads has the weights of the one that does not" "$(
        fault_of 0
        grep -q ": $model.small_pad, f32, seed 1: " "$folder/out" || echo "no such line"
        "$python" tests/models/weights/safetensors_edit.py "$folder/$model" "$folder/$model.pad" \
            differ 2>&1 | sed 's/^/differs: /' | tail -n 3
    )"
done

before=$(sha256sum "$one")
refuses "a file that is there" 3 "$one|already" -- export weights "${small[@]}" --output "$one"
report "it is unchanged" "$([ "$before" = "$(sha256sum "$one")" ] || echo "it changed")"
refuses "no file to write" 2 "--output" -- export weights "${small[@]}"
refuses "two models for one file" 2 "one --model" -- \
    export weights --model all --output "$folder/two"
refuses "a model that is none" 2 "resnet99|resnet50" -- \
    export weights --model resnet99 --output "$folder/two"
refuses "a folder that is not there" 3 "/nowhere/two" -- \
    export weights "${small[@]}" --output /nowhere/two
refuses "a format that export-weights has not" 2 "csv" -- \
    export weights "${small[@]}" --output "$folder/two" --format csv

mkdir "$folder/disk"
if unshare -rm true 2>/dev/null; then
    unshare -rm bash -c '
        mount -t tmpfs -o size=64k none "$0" || exit 99
        "$@"; status=$?
        find "$0" -type f
        exit $status' "$folder/disk" "$bench" export weights "${small[@]}" \
        --output "$folder/disk/w" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    if [ $status -eq 99 ]; then
        skip "a full disk" "no small file system can be mounted"
    else
        report "a full disk" "$(
            fault_of 3 "disk full"
            [ ! -s "$folder/out" ] || echo "left behind: $(cat "$folder/out")"
        )"
    fi
else
    skip "a full disk" "no name space of our own"
fi
(ulimit -f 100 && exec "$bench" export weights "${small[@]}" --output "$folder/disk/w") \
    >"$folder/out" 2>"$folder/err" </dev/null
status=$?
report "a limit on the size of files" "$(
    fault_of 3 "File too large"
    find "$folder/disk" -type f | sed 's/^/left behind: /'
)"

# ---- files that do not fit, or are none: before any worker starts -------------------

# misfit WHAT STATUS TEXTS FILE
misfit() {
    refuses "$1" "$2" "$3" -- "${quick[@]}" --runtime "$fake" --mode lazy,capture --weights "$4"
}
misfit "weights that are not there" 3 "--weights|/nowhere/w" /nowhere/w
misfit "weights that are a folder" 3 "$folder|regular file" "$folder"
: >"$folder/empty"
misfit "an empty file" 3 "$folder/empty|too few" "$folder/empty"
misfit "a file of another kind" 3 "no safetensors file" "$bench"
edit short cut 4
misfit "weights cut short" 3 "$folder/short|damaged" "$folder/short"
edit changed byte 12 0
misfit "a damaged header" 3 "$folder/changed|damaged" "$folder/changed"
edit without drop fc.weight
misfit "a tensor missing" 2 "fc.weight is not in the file|nearest are" "$folder/without"
edit renamed rename conv1.weight module.conv1.weight
misfit "a tensor of another name" 2 "conv1.weight is not|nearest are module.conv1.weight" \
    "$folder/renamed"
edit wide shape fc.weight 1000,512
misfit "a tensor of another shape" 2 \
    "fc.weight is 1000x512 in the file, the model wants 10x64" "$folder/wide"
edit whole type fc.weight I32
misfit "a tensor of another type" 2 "fc.weight is I32 in the file" "$folder/whole"
refuses "weights of another variant" 2 "in the file, the model wants" -- \
    --model resnet18 --store "$store" --runtime "$fake" --weights "$one"
pads=(--model bert --variant small_pad --store "$store")
refuses "weights of another model, with padding" 2 \
    "$folder/unit_qnli|cls.predictions.bias" -- \
    "${pads[@]}" --runtime "$fake" --mode lazy,capture --weights "$folder/unit_qnli"
refuses "weights of the small variant for the full one, with padding" 2 \
    "$folder/bert.pad|512x64|30522x768" -- \
    "${pads[@]}" --variant full_pad --runtime "$fake" --mode lazy,capture \
    --weights "$folder/bert.pad"
refuses "one file for two models" 2 "--weights|--model names 2" -- \
    "${quick[@]}" --model resnet18,resnet50 --runtime "$fake" --weights "$one"
refuses "weights where none are taken" 2 "--weights" -- verify "${small[@]}" --weights "$one"
report "nothing was kept of what was refused" "$(
    [ "$(stored)" -eq 0 ] || echo "$(stored) records in the store"
)"

# ---- used ------------------------------------------------------------------------------

if ! "$bench" list runtimes --format json | "$python" -c '
import json, sys
sys.exit(not any(r["runtime"] == "cpu" and r["found"] for r in json.load(sys.stdin)))'; then
    skip "runs with weights" "the CPU runtime is not set up"
    echo "1..$count"
    exit 0
fi

run "${pads[@]}" --processes 1 --runtime cpu --phase infer --mode lazy,capture --warmup 1 --steps 1 --min-time 0 \
    --weights "$folder/bert" --format json
report "a variant that pads runs with the weights of the one that does not" "$(
    fault_of 0
    holds "
assert [r['experiment']['mode'] for r in records] == ['lazy', 'capture'], records
for r in records:
    w = r['provenance']['weights']
    assert r['experiment']['variant'] == 'small_pad' and r['status'] == 'ok', r
    assert (w['tensors'], w['used'], w['unused']) == (42, 42, 0), w"
)"

# trains NAME ARGUMENT...: four steps; the loss, to the bit, goes to $folder/loss.NAME. Weights are no part of
# a program, so each program is compiled once.
mkdir "$folder/cache"
trains() {
    local name=$1
    shift
    run "${quick[@]}" --runtime cpu --warmup 1 --steps 3 --format json --cache-dir "$folder/cache" "$@"
    "$python" -c '
import json, sys
(r,) = json.load(open(sys.argv[1]))
print(r["loss"].hex())' "$folder/out" >"$folder/loss.$name" 2>>"$folder/err"
}
loss_is() { # NAME OTHER
    [ -s "$folder/loss.$1" ] && cmp -s "$folder/loss.$1" "$folder/loss.$2" ||
        echo "loss $(cat "$folder/loss.$1"), not $(cat "$folder/loss.$2")"
}
loss_differs() { # NAME OTHER
    [ -s "$folder/loss.$1" ] && ! cmp -s "$folder/loss.$1" "$folder/loss.$2" ||
        echo "loss $(cat "$folder/loss.$1") in both"
}

# F64 of the same values, and a tensor that no model here has.
edit wide64 types F64
one=$folder/wide64 edit tracked add bn1.num_batches_tracked
trains plain
trains file --weights "$folder/tracked"
report "the file of the same seed gives the same loss, to the bit" "$(
    fault_of 0
    loss_is file plain
)"
digest=$(sha256sum "$folder/tracked" | cut -c 1-64)
report "the record says which weights, and what of the file was not used" "$(
    holds "
w = records[0]['provenance']['weights']
assert w['path'] == folder + '/tracked' and w['sha256'] == '$digest', w
assert (w['tensors'], w['used'], w['unused']) == (63, 62, 1), w
assert w['unused_names'] == ['bn1.num_batches_tracked'], w
assert records[0]['provenance']['options']['weights'] == w['path']"
)"
trains other_way --weights "$one" --layout nchw --dtype bf16
trains other_way_plain --layout nchw --dtype bf16
report "in the other layout and type as well" "$(
    fault_of 0
    loss_is other_way other_way_plain
    loss_differs other_way plain
)"
run export weights "${small[@]}" --seed 2 --output "$folder/two"
trains two --weights "$folder/two"
trains seed --seed 2
report "the file of another seed gives another loss; inputs stay those of --seed" "$(
    fault_of 0
    loss_differs two plain
    loss_differs two seed
)"
trains padded "${pads[@]}"
trains padded_file "${pads[@]}" --weights "$folder/bert.pad"
report "with padding the file of the same seed gives the same loss, to the bit" "$(
    fault_of 0
    loss_is padded_file padded
)"

echo "1..$count"
