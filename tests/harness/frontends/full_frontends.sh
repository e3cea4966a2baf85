#!/bin/bash
# full_frontends.sh - the front ends themselves, as TAP: those that `make frontends` has installed, or
# that BENCH_FRONTEND_PYTHON_JAX and the like name. Others are skipped.
#
#   MODELS='resnet18 bert'   models; by default all for values, and resnet18 for times
#   PHASES='train infer'     MODES=capture,eager   of the times; all modes by default, and with
#                            PHASES='' no times
#   VARIANT=small            VALUES='small full'   variants whose values are compared; VARIANT by default
#
# Checked: values against the golden ones in each mode; one table with bench, in each mode: the ledger's
# wall time against the framework's own clock (3 %), the loss after the first steps against bench's
# own, the executions of a step.
#
# needs: JAX, PyTorch/XLA
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
models=${MODELS:-resnet18 resnet50 bert vit_small_patch16_224 vgg16 gpt2 unit_qnli}
timed=${MODELS:-resnet18}
phases=${PHASES-train infer}
variant=${VARIANT:-small}
values=${VALUES:-$variant}
for_recordings

# The modes of front end $1, where it is installed.
modes_of() {
    "$bench" list frameworks --format json 2>/dev/null | "$python" -c '
import json, sys
for row in json.load(sys.stdin):
    if row["front_end"] == sys.argv[1] and row["installed"]:
        print(row["modes"])' "$1"
}

# Whether front end NAME has MODEL: UniT is not in the libraries that PyTorch/XLA's models come from.
has() { # NAME MODEL
    [ "$1 $2" != "pytorch-xla unit_qnli" ]
}

# Those of MODES in which front end NAME trains the VARIANT of MODEL: PyTorch/XLA's dynamo refuses to train
# around a pool that has no lowering.
modes_for() { # NAME MODEL VARIANT MODES
    if [ "$1 $2 $3" = "pytorch-xla vgg16 small" ]; then
        tr , '\n' <<<"$4" | grep -v dynamo | paste -s -d ,
    else
        echo "$4"
    fi
}

# same_values NAME MODEL VARIANT MODES: those of the front end, in each of its modes, are the golden ones.
same_values() {
    local some
    some=$(modes_for "$@")
    run verify --front-end "$1" --mode "$some" --model "$2" --variant "$3" --runtime cpu
    report "$1: values of $2.$3 in modes $some" "$(
        fault_of 0
        tail -n 1 "$folder/out" | grep -qE '^[0-9]{3,} comparisons, 0 failed$' || echo "not all"
    )"
}

# own_loss MODEL: what bench has after its first steps, two or three: their number and the loss go to
# $folder/first, with the golden tolerance of that step. The batch is the golden one's, to $folder/batch.
own_loss() {
    if ! "$python" -c '
import json, sys
print(json.load(open(sys.argv[1]))["dims"]["batch"])' "tests/golden/$1.$variant.json" >"$folder/batch"; then
        echo "no golden values of $1.$variant"
        return
    fi
    run run --model "$1" --variant "$variant" --phase train --mode lazy --dropout off --runtime cpu \
        --batch "$(<"$folder/batch")" --processes 1 --warmup 1 --steps 1 --min-time 0 --device-time none \
        --idle-cores sleep --store "$folder/losses" --format json
    fault_of 0
    holds '
[r] = records
steps, loss = r["counters"]["steps"], r["loss"]
assert 1 <= steps <= 3 and loss is not None, (steps, loss)
golden = json.load(open("tests/golden/'"$1.$variant"'.json"))
json.dump([steps, loss, golden["tolerance"]["loss"][steps - 1]], open(folder + "/first", "w"))
'
}

# times NAME MODEL PHASE MODES: bench and the front end in one group. bench's lazy is what it is compared with.
times() {
    local name=$1 model=$2 phase=$3 modes=$4 all=$4
    [[ ,$modes, = *,lazy,* ]] || all=lazy,$modes
    measure() {
        rm -rf "$store"
        run run --front-end "bench,$name" --mode "$all" --model "$model" --variant "$variant" \
            --phase "$phase" --batch "$(<"$folder/batch")" --dropout off --runtime cpu --processes 3 \
            --min-time 1 --store "$store" --format json
        [ "$status" -eq 0 ] || echo "exit status $status"
        holds '
name, phase, modes = "'"$name"'", "'"$phase"'", "'"$modes"'".split(",")
own = [r for r in records if r["experiment"]["front_end"] != "bench"]
assert all(r["status"] == "ok" for r in records), [r.get("message") for r in records]
ways = [r["experiment"]["mode"] for r in own]
# In inference bench leaves out what is a way of training only.
only_training = {"parts", "dynamo-step"} if phase == "infer" else set()
assert sorted(ways) == sorted(3 * [m for m in modes if m not in only_training]), ways
# What is one program by the meaning of its mode (docs/frontends.md).
known = {("jax", "capture"): 1, ("jax", "parts"): 2, ("pytorch-xla", "lazy"): 1, ("pytorch-xla", "capture"): 1}
# Forward, a constant with which the gradient begins, backward and update: counted with this model only.
if ("'"$model"'", phase) == ("resnet50", "train"):
    known["pytorch-xla", "dynamo-step"] = 4
first = json.load(open(folder + "/first"))
for r in own:
    mode, said = r["experiment"]["mode"], r["provenance"]["front_end"]
    wall, reported = r["ledger"]["wall"]["median_ns"], said["own_wall_ns"]
    assert abs(wall / reported - 1) < 0.03, (mode, wall, reported)
    assert all(x["device_time_source"] == "event" for x in r["executions"]), (mode, r["executions"])
    count = sum(x["per_step"] for x in r["executions"])
    assert count >= 1 and r["provenance"]["recording"]["executions_per_step"] >= 1, (mode, r["executions"])
    if (name, mode) in known:
        assert count == known[name, mode], (mode, r["executions"])
        assert r["provenance"]["recording"]["executions_per_step"] == count, (mode, r["provenance"]["recording"])
    if phase == "train":
        steps, loss, tolerance = first
        # Both are within the tolerance of the truth.
        assert abs(said["losses"][steps - 1] - loss) <= 2 * tolerance * abs(loss), (mode, said["losses"], first)
'
    }
    live "$name: $model $phase: wall times are the framework's own, losses bench's, executions recorded" measure \
        busy_machine
    run table --store "$store" --format json
    report "$name: $model $phase: each mode is compared with bench's lazy" "$(
        fault_of 0
        holds '
rows = [r for r in records["rows"] if r["front_end"] != "bench"]
assert rows and all(r["speedup"] and not r["lazy_other_conditions"] for r in rows), rows
'
    )"
}

for name in jax pytorch-xla; do
    modes=$(modes_of "$name")
    if [ -z "$modes" ]; then
        skip "$name" "it is not installed: make frontends FRONTENDS=$name"
        continue
    fi
    for model in $models; do
        has "$name" "$model" || continue
        for one in $values; do
            same_values "$name" "$model" "$one" "$modes"
        done
    done
    [ -n "$phases" ] || continue
    # Of MODES those that it has.
    wanted=$(tr , '\n' <<<"${MODES:-$modes}" | grep -Fxf <(tr , '\n' <<<"$modes") | paste -s -d ,)
    if [ -z "$wanted" ]; then
        skip "$name: times" "it has none of the modes $MODES"
        continue
    fi
    for model in $timed; do
        has "$name" "$model" || continue
        rm -rf "$folder/losses"
        report "$model: bench's own loss after the first steps" "$(own_loss "$model")"
        [ -s "$folder/first" ] || continue
        for phase in $phases; do
            store=$folder/$name-$model-$phase
            times "$name" "$model" "$phase" "$(modes_for "$name" "$model" "$variant" "$wanted")"
        done
        rm -f "$folder/first"
    done
done

echo "1..$count"
