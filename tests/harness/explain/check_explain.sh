#!/bin/bash
# check_explain.sh - bench explain, as TAP: each example's cause is explained with its place and what
# it was from and to, on the simulated device; healthy models have no findings.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# explained WHAT MODEL MODE CODE [ARGUMENT...]: the explanation of MODEL in MODE fulfils CODE.
explained() {
    local what=$1 model=$2 mode=$3 code=$4
    shift 4
    run explain --model "$model" --mode "$mode" --phase train --runtime sim --format json "$@"
    report "$what" "$(fault_of 0)$(holds "
import re
causes = [r['cause'] for r in records['recompiles']]
rules = [c['rule'] for c in records['complaints']]
steps = records['steps']
def at(o, file, scope):
    assert re.fullmatch(r'models/\S*' + file + r':[1-9][0-9]*', o['place']), o
    assert o['scope'] == scope, o
# The line that is named holds what it is said to hold.
def line_of(o):
    path, line = o['place'].rsplit(':', 1)
    return open(path).read().split('\n')[int(line) - 1]
$code")"
}

# ---- what changes ---------------------------------------------------------------------

for mode in lazy capture; do
    explained "a baked scalar compiles in each step, in $mode mode" example_scalar $mode '
assert causes == ["scalar"] * (steps - 1), causes
r = records["recompiles"][0]
assert (r["step"], r["subject"]) == (2, "learning_rate"), r
assert abs(float(r["from"]) - 0.01) < 1e-8 and abs(float(r["to"]) - 0.01 / 1.1) < 1e-8, r
assert "rows.c" in r["place"] and "tg_scalar" in line_of(r), r
assert rules == ["scalar"] and records["complaints"][0]["count"] == steps - 1'

    explained "as an argument it does not, in $mode mode" example_argument $mode '
assert causes == [] and rules == [] and len(records["graphs"]) == 1
assert records["counters"]["transfers_to_device"] >= steps'

    explained "a changed dimension is named, in $mode mode" example_shapes $mode '
assert set(causes) == {"shape"}, causes
r = records["recompiles"][0]
assert (r["subject"], r["dimension"]) == ("tokens", 1) and r["from"] != r["to"], r
assert "tokens" in line_of(r), r
assert 1 <= r["from"] <= 32 and 1 <= r["to"] <= 32
assert rules == ["shape"] and records["complaints"][0]["count"] == len(causes)'

    explained "a changed dtype is named, in $mode mode" example_dtype $mode '
[r] = records["recompiles"]
assert (r["cause"], r["step"], r["subject"], r["from"], r["to"]) == ("dtype", 10, "input", "f32", "bf16"), r
assert r["place"].startswith("models/examples/rows.c:") and "net->input" in line_of(r), r
assert rules == ["dtype"] and [g["steps"] for g in records["graphs"]] == [steps - 1, 1]'

    explained "a branch on a value is named, in $mode mode" example_branch $mode '
assert causes == ["branch"], causes
[r] = records["recompiles"]
assert (r["from"], r["to"]) == ("0", "1"), r
at(r, "sentences.c", "mask")
assert "tg_read" in line_of(r)
[b] = records["breaks"]
at(b, "sentences.c", "mask")
assert b["reason"] == "read" and b["steps"] == steps, b
assert rules == ["branch", "read"], rules'

    explained "training and evaluation in turns: the argument, in $mode mode" example_train_eval $mode '
[r] = records["recompiles"]
assert (r["cause"], r["subject"], r["from"], r["to"]) == ("argument", "training", "1", "0"), r
assert r["step"] == 2 and rules == ["argument"] and r["place"].startswith("models/"), r
assert [g["steps"] for g in records["graphs"]] == [steps / 2, steps / 2]'

    explained "an op of the host is named and timed, in $mode mode" example_host_op $mode '
[h] = records["host_ops"]
at(h, "rows.c", "choose")
assert "tg_nonzero" in line_of(h)
assert h["op"] == "nonzero" and h["steps"] == h["count"] == steps, h
assert (h["in"], h["out"]) == ("tensor<8xi1>", "tensor<8xi32>"), h
assert h["read_ns"] > 0 and h["compute_ns"] > 0 and h["send_ns"] > 0
[b] = records["breaks"]
assert b["reason"] == "op of the host: nonzero" and b["place"] == h["place"]
assert causes == [] and rules == ["host"], (causes, rules)
assert records["counters"]["host_fallbacks"] == steps'
done

# ---- reads ----------------------------------------------------------------------------

explained "a loss that is read, lazy" example_loss_read lazy '
[r] = records["reads"]
at(r, "rows.c", "log")
assert r["steps"] == r["count"] == steps and r["first"] != r["last"], r
assert causes == [] and rules == ["read"], (causes, rules)'
explained "a loss that is read, captured: each value is new" example_loss_read capture '
misses = records["guard_misses"]
assert [m["guard"] for m in misses] == ["value"] * (steps - 1), misses
at(misses[0], "rows.c", "log")
assert misses[0]["step"] == 2 and misses[0]["branches"] == 1
assert rules == ["read", "values"], rules
assert records["guards"][-1]["branches"] == steps'

explained "attention that asks the device: each layer breaks the graph" example_equal lazy '
assert [b["scope"] for b in records["breaks"]] == ["0", "1"], records["breaks"]
for b in records["breaks"]:
    assert b["steps"] == steps and b["place"].startswith("models/examples/attention.c:"), b
    assert "tg_read" in line_of(b)
assert causes == [] and rules == ["read", "read"], (causes, rules)'

# ---- the twins, without the problem --------------------------------------------------

for twin in example_argument example_select example_train example_identity example_mask example_loss_logged \
    example_one_dtype; do
    explained "$twin has no findings" $twin lazy '
assert rules == causes == records["breaks"] == records["host_ops"] == [], (rules, causes)
assert len(records["graphs"]) == 1 and records["counters"]["compiles"] == 1, records["graphs"]'
done
explained "a loss is read in every tenth step, behind the step, and captures stay" example_loss_logged capture '
assert rules == causes == records["guard_misses"] == records["breaks"] == [], (rules, causes)
assert records["captures"] == 1 and records["counters"]["transfers_to_host"] == steps // 10, records["counters"]' --steps 40

# ---- guards ----------------------------------------------------------------------------

explained "the guards of a capture" example_train_eval capture '
kinds = [g["guard"] for g in records["guards"]]
assert kinds[:2] == ["call", "argument"] and set(kinds[2:]) == {"type"}, kinds
assert records["guards"][1]["subject"] == "training" and records["captures"] == 2
assert any(g["subject"] == "input" and g["type"] == "tensor<8x32xf32>" for g in records["guards"][2:])
assert [(m["guard"], m["from"], m["to"]) for m in records["guard_misses"]] == [("argument", "1", "0")]'

# ---- healthy ones ------------------------------------------------------------------------

explained "a healthy model, lazy" resnet18 lazy '
assert rules == causes == records["breaks"] == records["reads"] == records["host_ops"] == []
[g] = records["graphs"]
assert g["part"] == "step" and g["ops"] > 300 and g["steps"] == steps, g' --variant small --steps 3
explained "a healthy model, captured in three graphs" resnet18 capture '
assert rules == causes == records["guard_misses"] == []
assert [g["part"] for g in records["graphs"]] == ["forward", "backward", "update"]
assert records["captures"] == 1' --variant small --steps 3 --graphs 3
explained "lengths that vary, in two buckets" example_shapes lazy '
assert len(causes) <= 1 and len(records["graphs"]) <= 2' --buckets 2 --steps 20

# ---- text and refusals ----------------------------------------------------------------------

run explain --model example_scalar --mode lazy --phase train --runtime sim --steps 3
report "an explanation as text" "$(fault_of 0
    for line in 'example_scalar train lazy' 'Graphs: 3' 'Breaks: none' \
        'step 2, graph 2 (step): scalar learning_rate: 0.01 -> 0.00909'; do
        grep -qF "$line" "$folder/out" || echo "no line has '$line'"
    done)"
run explain --model resnet18 --variant small --mode capture --phase infer --runtime sim --steps 2
report "no findings, as text" "$(fault_of 0
    grep -qF 'No problems found.' "$folder/out" || echo 'it is not said')"

run --model example_host_op --mode eager,lazy,capture --phase train --runtime sim --processes 1 --steps 3 \
    --min-time 0 --warmup 8 --store "$store" --format json
report "an example is measured: each mode counts its fallbacks, and computes the same" "$(fault_of 0)$(holds '
assert [r["experiment"]["mode"] for r in records] == ["eager", "lazy", "capture"]
for r in records:
    c = r["counters"]
    assert c["host_fallbacks"] == c["steps"] > 3, c
    assert r["loss"] == records[0]["loss"] > 0.1, r["loss"]
    assert r["experiment"]["lengths"] == "fixed"')"
for pair in example_host_op,example_mask example_branch,example_select example_equal,example_identity; do
    run --model $pair --mode lazy --phase train --runtime sim --processes 1 --steps 3 --min-time 0 --warmup 8 \
        --store "$store" --format json
    report "$pair: both compute the same loss" "$(fault_of 0)$(holds '
a, b = (r["loss"] for r in records)
assert a > 0.1 and abs(a - b) < 1e-5 * a, (a, b)')"
done
run --model example_shapes --mode lazy --phase train --runtime sim --processes 1 --steps 3 --min-time 0 \
    --warmup 8 --store "$store" --format json
report "the record of changing shapes says so" "$(fault_of 0)$(holds '
[r] = records
assert r["experiment"]["lengths"] == "varying" and r["counters"]["compiles"] > 2, r["counters"]')"
run list models --format json
report "no list of models has examples" "$(fault_of 0)$(holds '
assert len(records) == 17 and not any("example" in m["model"] for m in records)')"
run help explain
report "but the help names each" "$(
    fault_of 0
    sed -n 's/^ *\.name = "\(example_[a-z_]*\)",$/\1/p' models/examples/*.c >"$folder/examples"
    [ "$(wc -l <"$folder/examples")" -ge 13 ] || echo "the examples were not found"
    while read -r name; do
        grep -qw "$name" "$folder/out" || echo "no $name"
    done <"$folder/examples"
)"
run --model example_branch,example_select --mode lazy --phase train --runtime sim --processes 2 --steps 3 --min-time 0 \
    --warmup 8 --store "$store" --format json
report "the first process's record keeps places; what has none keeps nothing" "$(fault_of 0)$(holds '
kept = [r["provenance"].get("explanation") for r in records if r["experiment"]["model"] == "example_branch"]
assert sum(e is not None for e in kept) == 1 and len(kept) == 2, kept
[e] = [e for e in kept if e]
places = {c["rule"]: c["place"] for c in e["complaints"]}
assert e["steps"] == 10 and set(places) == {"branch", "read"}, e
assert all(p.startswith("models/examples/sentences.c:") for p in places.values()), places
others = [r for r in records if r["experiment"]["model"] == "example_select"]
assert len(others) == 2 and not any("explanation" in r["provenance"] for r in others)
# The pass behind the steps is no part of what is counted.
assert all(r["counters"]["compiles"] + r["counters"]["disk_hits"] <= 3 for r in records), records[0]["counters"]')"
refuses "an example for a framework" 2 "example_scalar|bench" -- --model example_scalar --front-end jax --mode capture --runtime sim --store "$store"
refuses "two modes" 2 "explain|2" -- explain --model resnet18 --mode lazy,capture --runtime sim
refuses "eager mode" 2 "eager" -- explain --model resnet18 --mode eager --runtime sim
refuses "an example that is none" 2 "example_none" -- explain --model example_none --mode lazy --runtime sim
refuses "a format that is none of its own" 2 "csv" -- explain --model resnet18 --mode lazy --format csv
refuses "no such runtime" 3 "nowhere" -- explain --model resnet18 --mode lazy --runtime nowhere

echo "1..$count"
