#!/bin/bash
# check_input.sh - how batches come and how long they are, from outside, as TAP:
# --input, --lengths, --buckets, --dropout, --optimizer, and what each leaves in
# the ledger and the counters.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

mkdir "$folder/cache"
wmt=(--processes 1 --model transformer_wmt_en_de --variant small --phase infer --batch 2 --min-time 0
    --store "$store" --format json)

refuses "an input that is none" 2 "--input|'disk'|prefetch" -- --input disk --store "$store"
refuses "lengths that are none" 2 "--lengths|'long'|varying" -- --lengths long --store "$store"
refuses "an optimizer that is none" 2 "--optimizer|'lion'|adamw" -- --optimizer lion --store "$store"
refuses "varying lengths of a model of one" 2 "resnet18|--lengths varying" -- \
    --model resnet18 --lengths varying --store "$store"
refuses "tokens of a model of images" 2 "resnet18|--seq 16" -- \
    --model resnet18 --seq 16 --store "$store"
refuses "padding of a model without" 2 "gpt2|small_pad" -- \
    --model gpt2 --variant small_pad --store "$store"
refuses "more tokens than positions" 2 "seq|64" -- \
    --model gpt2 --variant small --phase infer --seq 4000 --store "$store"
refuses "an image that does not split into patches" 2 "image|16" -- \
    run --model vit_small_patch16_224 --image 50 --store "$store"
run --processes 1 --model gpt2,llama --variant small --phase infer --seq 128 --mode lazy --steps 1 --min-time 0 \
    --store "$store" --format json
report "a model that takes the size runs with one that does not" "$(
    fault_of 0 "gpt2: " "option seq" 128 64
    holds 'assert [r["experiment"]["model"] for r in records] == ["llama"], records'
)"

run --processes 1 --model squeezenet1_1 --variant small --phase infer --mode lazy,capture --steps 10 --min-time 0 \
    --warmup 8 --input synthetic,transfer,prefetch --batch 8 --cache-dir "$folder/cache" --store "$store" --format json
report "fresh batches are sent each step, and the ledger's input shows it" "$(
    fault_of 0
    holds '
for r in records:
    e, c = r["experiment"], r["step_counters"]
    sent = c["transfers_to_device"] / c["steps"]
    assert sent == (0 if e["input"] == "synthetic" else 1), (e["input"], sent)
    part = r["ledger"]["input"]["median_ns"]
    assert (part == 0) == (e["input"] == "synthetic"), (e["input"], part)
assert len(records) == 6
'
)"

run "${wmt[@]}" --mode lazy,capture --steps 20 --warmup 4 --buckets 1
report "one bucket is one program, whatever the lengths" "$(
    fault_of 0
    holds '
for r in records:
    assert r["experiment"]["lengths"] == "varying" and r["experiment"]["buckets"] == 1
    assert r["counters"]["compiles"] == 1, r["counters"]["compiles"]
'
)"

run "${wmt[@]}" --mode lazy --steps 6 --warmup 1 --lengths varying
report "without buckets each new length is compiled" "$(
    fault_of 0
    holds '
[r] = records
assert r["counters"]["compiles"] > 3, r["counters"]["compiles"]
assert r["step_counters"]["compiles"] > 0
assert sum(x["per_step"] == 0 for x in r["executions"]) > 2 # rows of other lengths
'
)"

run --processes 1 --model gpt2 --variant small --mode lazy --dropout default,off --optimizer sgd,adamw \
    --steps 3 --warmup 8 --min-time 0 --store "$store" --format json
report "dropout and optimizer are part of the record, and change the program" "$(
    fault_of 0
    holds '
seen = {(r["experiment"]["dropout"], r["experiment"]["optimizer"]):
        (r["executions"][0]["fingerprint"], r["loss"], r["counters"]["compiles"]) for r in records}
assert len(seen) == 4 and len({f for f, _, _ in seen.values()}) == 4, seen
assert all(n == 1 for _, _, n in seen.values()), seen
'
)"

echo "1..$count"
