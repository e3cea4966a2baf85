#!/bin/bash
# full_frontends.sh - the front ends themselves, as TAP: those that `make frontends` has installed, or
# that BENCH_FRONTEND_PYTHON_JAX and the like name. Others are skipped.
#
#   MODELS='resnet18 bert'   models, in their small variants
#
# Checked: values against the golden ones in each mode; one table with bench; the ledger's wall time
# against the framework's own clock (3 %).
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT
models=${MODELS:-resnet18 resnet50 bert vit_small_patch16_224 vgg16 gpt2}
unset PJRT_NAMES_AND_LIBRARY_PATHS JAX_PLATFORMS PJRT_DEVICE PJRT_LIBRARY_PATH XLA_FLAGS

# The modes of front end $1, where it is installed.
modes_of() {
    "$bench" list front-ends --format json 2>/dev/null | "$python" -c '
import json, sys
for row in json.load(sys.stdin):
    if row["front_end"] == sys.argv[1] and row["installed"]:
        print(row["modes"])' "$1"
}

# Those of MODES in which front end NAME trains the small MODEL: PyTorch/XLA's dynamo refuses to train
# around a pool that has no lowering.
modes_for() { # NAME MODEL MODES
    if [ "$1 $2" = "pytorch-xla vgg16" ]; then
        tr , '\n' <<<"$3" | grep -v dynamo | paste -s -d ,
    else
        echo "$3"
    fi
}

for name in jax pytorch-xla; do
    modes=$(modes_of "$name")
    if [ -z "$modes" ]; then
        skip "$name" "it is not installed: make frontends FRONTENDS=$name"
        continue
    fi
    for model in $models; do
        some=$(modes_for "$name" "$model" "$modes")
        run verify --front-end "$name" --mode "$some" --model "$model" --variant small --runtime cpu
        report "$name: values of $model in modes $some" "$(
            fault_of 0
            tail -n 1 "$folder/out" | grep -qE '^[0-9]{3,} comparisons, 0 failed$' || echo "not all"
        )"
    done
    # The first mode is the usual one, and bench has it, too.
    usual=${modes%%,*}
    store=$folder/$name
    measure() {
        rm -rf "$store"
        run run --front-end "bench,$name" --mode "lazy,$usual" --model resnet18 --variant small --runtime cpu \
            --processes 3 --min-time 1 --store "$store" --format json
        [ "$status" -eq 0 ] || echo "exit status $status"
        holds '
own = [r for r in records if r["experiment"]["front_end"] != "bench"]
assert len(own) >= 3 and all(r["status"] == "ok" for r in records), [r.get("message") for r in records]
for r in own:
    wall, told = r["ledger"]["wall"]["median_ns"], r["provenance"]["front_end"]["own_wall_ns"]
    assert abs(wall / told - 1) < 0.03, (wall, told)
    assert all(x["device_time_source"] == "event" for x in r["executions"])
'
    }
    live "$name: the ledger's wall time is the framework's own" measure busy_machine
    run table --store "$store" --format json
    report "$name: it is compared with bench's lazy" "$(
        fault_of 0
        holds '
rows = [r for r in records["rows"] if r["front_end"] != "bench"]
assert rows and all(r["speedup"] and not r["lazy_other_conditions"] for r in rows), rows
'
    )"
done

echo "1..$count"
