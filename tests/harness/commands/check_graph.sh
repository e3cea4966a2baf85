#!/bin/bash
# check_graph.sh - bench run --graph-report and bench graph from outside, as TAP: on texts that bench
# writes, on such that were changed, on byte code, on recordings, on files that are none.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
export PJRT_SIM=values=none,device_us=200 form ending

brief=(--variant small --runtime sim --device-time none --processes 1 --steps 3 --min-time 0 --warmup 8
    --store "$store")

# said TEXT...: says which of TEXTs standard output lacks.
said() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$folder/out" || echo "nothing says '$text'"
    done
}

# ---- the report of a run ----------------------------------------------------------

run "${brief[@]}" --model resnet18 --mode lazy,capture --phase train,infer --graph-report "$folder/graphs"
report "a run writes its graphs and an index" "$(
    fault_of 0
    complaints
    cp "$folder/graphs/index.json" "$folder/out"
    holds '
import hashlib, os
graphs = {g["hash"]: g for g in records["graphs"]}
assert records["bench_graphs"] == 1 and len(graphs) == len(records["graphs"]) >= 2
for g in graphs.values():
    text = open(folder + "/graphs/" + g["file"], "rb").read()
    assert hashlib.sha256(text).hexdigest().startswith(g["hash"]) and g["fault"] is None, g["hash"]
    assert g["flops"] > 0 and g["nodes"] > 0 and g["statements"] >= g["nodes"], g
    assert all(i.startswith("tensor<") for i in g["inputs"]) and g["outputs"].startswith("(tensor<")
    assert g["memory"]["argument_bytes"] is None or g["memory"]["argument_bytes"] > 0
    scopes = {s["scope"]: s["statements"] for s in g["scopes"]}
    assert sum(scopes.values()) == g["statements"] and scopes["conv1"] > 0, g["scopes"]
files = {f for f in os.listdir(folder + "/graphs") if f.endswith(".mlir") and "-" not in f}
assert files == {g["file"] for g in graphs.values()}, files
runs = {e["experiment"]: e["graphs"] for e in records["experiments"]}
assert len(runs) == 4 and all(g["hash"] in graphs for list in runs.values() for g in list)
train = [e for e in runs if " train " in e]
assert all(graphs[g["hash"]]["aliases"] for e in train for g in runs[e]), "no aliases in training"
assert "backward/conv1" in {s["scope"] for e in train for g in runs[e] for s in graphs[g["hash"]]["scopes"]}
# The simulated compiler changes nothing.
for g in [g for list in runs.values() for g in list]:
    o = g["optimized"]
    assert o["format"] == "mlir" and o["file"].startswith(g["hash"] + "-"), o
    program = open(folder + "/graphs/" + o["file"], "rb").read()
    assert len(program) == o["bytes"] and o["instructions"] is None, o
    assert program == open(folder + "/graphs/" + g["hash"] + ".mlir", "rb").read(), o["file"]'
)"
report "the index for people has each graph and experiment" "$(
    cp "$folder/graphs/index.txt" "$folder/out"
    said "HASH.mlir" "aliases" "resnet18.small train lazy" "resnet18.small infer capture" " statements" \
        "     scopes: " ", layer1 " "     optimized: "
)"

# given FAKE_PJRT FORMAT ENDING CODE: the optimized program of a plugin that gives it in FORMAT.
given() {
    FAKE_PJRT=$1 run "${quick[@]}" --runtime "$fake" --device-time none --mode lazy --phase infer \
        --graph-report "$folder/given"
    fault_of 0
    cp "$folder/given/index.json" "$folder/out"
    form=$2 ending=$3 holds "
import os
[e] = records['experiments']
[g] = e['graphs']
o = g['optimized']
assert o['format'] == os.environ['form'] and o['file'].endswith('-' + o['file'][33:65] + os.environ['ending']), o
assert os.path.getsize(folder + '/given/' + o['file']) == o['bytes'], o
$4"
}
report "an optimized program that is a module" "$(given hlo hlo .hlo.pb 'assert o["instructions"] > 0, o')"
report "and one that is text" "$(given delay_us=1 mlir .optimized.mlir 'assert o["instructions"] is None, o')"

run "${brief[@]}" --model resnet18 --mode eager --graph-report "$folder/eager"
report "each op of eager mode is a graph" "$(
    fault_of 0
    cp "$folder/eager/index.json" "$folder/out"
    holds '
assert len(records["graphs"]) > 10 and all(g["fault"] is None for g in records["graphs"])'
)"

run "${brief[@]}" --model resnet18 --mode lazy --phase infer --batch 1,2 --graph-report "$folder/batches"
cp "$folder/batches/index.json" "$folder/out"
mapfile -t texts < <("$python" - "$folder/batches/index.json" <<'PYTHON'
import json, sys
for e in json.load(open(sys.argv[1]))["experiments"]:
    for g in e["graphs"]:
        print(g["hash"] + ".mlir")
PYTHON
)
one=$folder/batches/${texts[0]} two=$folder/batches/${texts[1]}

run "${brief[@]}" --model transformer_wmt_en_de --mode lazy --lengths varying --graph-report "$folder/lengths"
report "graphs of one experiment are compared" "$(
    fault_of 0
    cp "$folder/lengths/index.json" "$folder/out"
    holds '
[e] = records["experiments"]
later = [g for g in e["graphs"] if "against" in g]
assert len(later) >= 1 and len(later) == len(e["graphs"]) - 1, len(later)
for g in later:
    d = g["difference"]
    assert g["against"] != g["hash"] and not d["same"] and d["changed"] > 0, d
    assert d["differences"][0]["reasons"] == ["shape"], d["differences"][0]'
    grep -q '     .*shape: .* in A, .* in B' "$folder/lengths/index.txt" || echo "no words"
)"

# ---- differences ----------------------------------------------------------------------

run diff "$one" "$one"
report "a graph is the same as itself" "$(
    fault_of 0
    said "The graphs are the same: 0 changed, 0 added, 0 removed."
)"
sed 's/%\([0-9x]\)/%v\1/g; s/ loc(".*")$//' "$one" >"$folder/renamed.mlir"
run diff "$one" "$folder/renamed.mlir"
report "names and places do not count" "$(
    fault_of 0
    cmp -s "$one" "$folder/renamed.mlir" && echo "nothing was renamed"
    said "The graphs are the same"
)"
# One program in MLIR's two forms, and with an op whose usual form is not known.
cat >"$folder/usual.mlir" <<'END'
module @a attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<2x3xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<1.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    return %1, %2 : tensor<2x3xf32>, tensor<3xf32>
  }
}
END
cat >"$folder/generic.mlir" <<'END'
"builtin.module"() <{sym_name = "b"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}], function_type = (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
    %2 = "stablehlo.add"(%arg0, %1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %3 = "stablehlo.reduce"(%2, %0) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%4) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
    "func.return"(%2, %3) : (tensor<2x3xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_replicas = 1 : i32} : () -> ()
END
for order in "usual generic" "generic usual"; do
    read -r a b <<<"$order"
    run diff "$folder/$a.mlir" "$folder/$b.mlir"
    report "a text is the same in MLIR's other form ($order)" "$(
        fault_of 0
        said "The graphs are the same: 0 changed, 0 added, 0 removed."
    )"
done
sed 's/array<i64: 0>/array<i64: 1>/' "$folder/generic.mlir" >"$folder/generic-changed.mlir"
run diff "$folder/usual.mlir" "$folder/generic-changed.mlir" --format json
report "what differs is found in the other form, too" "$(
    fault_of 1
    holds '
[d] = records["differences"]
assert d["reasons"] == ["attribute"] and d["a"]["op"] == "stablehlo.reduce", d'
)"
sed 's/^    %1 = .*/    %1 = foo.bar %arg0 by %0 : tensor<2x3xf32>/' "$folder/usual.mlir" >"$folder/usual-unknown.mlir"
sed 's/"stablehlo.add"(%arg0/"foo.bar"(%arg0/' "$folder/generic.mlir" >"$folder/generic-unknown.mlir"
sed '0,/stablehlo.maximum/s//stablehlo.minimum/' "$one" >"$folder/changed.mlir"
run diff "$one" "$folder/changed.mlir"
report "an op that was changed is found, and its place" "$(
    fault_of 1
    complaints
    said "The graphs differ: 1 changed, 0 added, 0 removed." "The first difference:" \
        "max: op: stablehlo.maximum in A, stablehlo.minimum in B" "): op 1"
)"
run diff "$one" "$folder/changed.mlir" --format json
report "the same as JSON" "$(
    fault_of 1
    holds '
assert records["bench_graph_diff"] == 1 and not records["same"] and records["changed"] == 1
[d] = records["differences"]
assert d["change"] == "changed" and d["reasons"] == ["op"] and d["a"]["line"] == d["b"]["line"]
assert d["a"]["op"] == "stablehlo.maximum" and d["b"]["op"] == "stablehlo.minimum" and d["place"]
ops = {o["op"]: o for o in records["ops"]}
assert ops["stablehlo.minimum"]["changed"] == 1 and records["reasons"]["op"] == 1
assert ops["stablehlo.maximum"]["a"] == ops["stablehlo.maximum"]["b"] + 1
assert records["a"]["statements"] == records["b"]["statements"] > 50'
)"
run diff "$one" "$two" --format json
report "another batch is another shape, and nothing else" "$(
    fault_of 1
    holds '
assert records["added"] == records["removed"] == 0 and records["changed"] > 10
assert records["reasons"]["shape"] == records["changed"], records["reasons"]
assert all("shape" in d["reasons"] for d in records["differences"])'
)"
run diff "$one" "$two"
report "people see the first differences, and with --verbose all" "$(
    fault_of 1
    left=$(sed -n 's/^  and \([0-9]*\) more (--verbose)$/\1/p' "$folder/out")
    shown=$(grep -c '^    B, line ' "$folder/out")
    [ "${left:-0}" -gt 0 ] || echo "none is left out"
    run diff "$one" "$two" -v
    fault_of 1
    [ "$(grep -c '^    B, line ' "$folder/out")" -eq $((shown + ${left:-0})) ] || echo "not all are shown"
    ! grep -- '(--verbose)' "$folder/out"
)"
run diff "$one" "$two" --format csv
report "other formats have the table of ops" "$(
    fault_of 1
    said "op,A,B,changed,added,removed" "stablehlo.add,"
)"

# ---- programs that are no text ---------------------------------------------------------------

# A front end that stands for JAX: its byte code is the text behind the first four bytes.
fake_front_ends

# byte_code NAME: standard input as the file NAME of byte code.
byte_code() {
    { printf 'ML\357R' && cat; } >"$folder/$1"
}
byte_code one.bc <"$one"
run diff "$one" "$folder/one.bc"
report "byte code is compared with text" "$(
    fault_of 0
    complaints
    said "The graphs are the same"
)"
run graph "$folder/one.bc"
report "and shown as text" "$(
    fault_of 0
    cmp "$folder/out" "$one"
)"
run graph "$one"
report "a text is shown as it is" "$(
    fault_of 0
    cmp "$folder/out" "$one"
)"
hlo=$(ls "$folder"/given/*.hlo.pb)
run graph "$hlo"
report "HLO is shown as text" "$(
    fault_of 0
    said "func.func @main() {" "// $(sha256sum <"$hlo" | cut -d' ' -f1)"
)"
for fault in absent damaged crash large; do
    echo "$fault" | byte_code "$fault.bc"
done
refuses "byte code without JAX" 3 "$folder/absent.bc: |jaxlib" \
    -- graph "$folder/absent.bc"
refuses "byte code that JAX refuses" 3 "$folder/damaged.bc: |ValueError: |?[31m" \
    -- graph "$folder/damaged.bc"
refuses "byte code that crashes JAX" 3 "$folder/crash.bc: |signal 11" -- graph "$folder/crash.bc"
refuses "byte code of too much text" 3 "$folder/large.bc: |268435456" \
    -- graph "$folder/large.bc"
BENCH_FRONTEND_PYTHON_JAX=$folder/none refuses "a Python that is not there" 3 "$folder/none" \
    -- graph "$folder/one.bc"
# Python takes a file next to the script for its own module of that name.
beside=$folder/beside/contrib/frontends
mkdir -p "$folder/beside/bin" "$beside"
cp "$bench" "$folder/beside/bin"
cp -r tests/harness/frontends/fake/jax "$beside"
echo 'raise SystemExit("it ran")' >"$beside/jax/hashlib.py"
own_text() { # as run, by a bench that has scripts next to itself
    env -u BENCH_FRONTENDS "$folder/beside/bin/bench" graph "$folder/one.bc" >"$folder/out" 2>"$folder/err"
    status=$?
}
chmod 666 "$beside/jax/hashlib.py"
own_text
report "a module that others may write is not run to show byte code" "$(
    fault_of 2 "$beside/jax/hashlib.py"
)"
rm "$beside/jax/hashlib.py"
own_text
report "without it the byte code is shown" "$(
    fault_of 0
    cmp "$folder/out" "$one"
)"
refuses "a format of a program" 2 "--format" -- graph "$one" --format json
refuses "two files for text" 2 "$two" -- graph "$one" "$two"
refuses "a text that is none" 3 "zero bytes" -- graph "$bench"

# ---- a recording -------------------------------------------------------------------------------

run record --quiet --runtime sim --output "$folder/anew" -- "$program" --steps 12 --anew-every 4
run diff "$folder/anew"
report "programs of one name are compared with the one before" "$(
    fault_of 1
    complaints
    said "fused in process " ", executed 4 times, then " ", 4 times:" "  1 changed, 0 added, 0 removed" \
        "constant: " "  bench diff $folder/anew/"
)"
run diff "$folder/anew" --verbose
report "with --verbose all differences are there, so nobody is sent on for them" "$(
    fault_of 1
    said "  1 changed, 0 added, 0 removed" "constant: "
    ! grep "All differences of the first two" "$folder/out"
)"
run diff "$folder/anew" --format json
report "the same as JSON" "$(
    fault_of 1
    holds '
assert records["bench_graph_diff"] == 1 and not records["same"] and records["left_out"] == 0
pairs = records["pairs"]
assert len(pairs) >= 2 and any(p["a"]["executions"] == 4 for p in pairs), pairs
ends = {p["b"]["hash"] for p in pairs}
assert len(ends) == len(pairs) and sum(p["a"]["hash"] not in ends for p in pairs) == 1, "no chain"
for pair in pairs:
    d = pair["difference"]
    assert pair["name"] == "fused" and pair["process"] > 0 and pair["fault"] is None, pair
    assert d["changed"] == 1 and d["added"] == d["removed"] == 0, d
    assert d["differences"][0]["reasons"] == ["constant"], d'
)"
run diff "$folder/anew" --format csv
report "and as a table" "$(
    fault_of 1
    said "process,program,A,executed,B,executed,difference" "1 changed, 0 added, 0 removed"
)"
for format in md html; do
    run diff "$folder/anew" --format $format
    report "and as $format" "$(
        fault_of 1
        said "fused" "1 changed, 0 added, 0 removed"
    )"
done
run record --quiet --runtime sim --output "$folder/often" -- "$program" --steps 60 --anew-every 1
run diff "$folder/often" --format json
report "of many pairs it is said how many are left out" "$(
    fault_of 1 "pairs"
    holds '
left_out = records["left_out"]
assert str(left_out) in open(folder + "/err").read()
assert len(records["pairs"]) == 50 and records["left_out"] >= 9 and records["same"] is False, records["left_out"]
times = [p["b"]["compile_ns"] for p in records["pairs"]]
assert times == sorted(times, reverse=True)'
)"
run record --quiet --runtime sim --output "$folder/once" -- "$program" --steps 4
run diff "$folder/once"
report "programs that were compiled once" "$(
    fault_of 0
    said "no process compiled two programs of one name"
)"

# The fake plugin compiles any bytes, so a program can hand it byte code.
run record --quiet --runtime "$fake" --output "$folder/bytes" -- "$program" --byte-code --steps 12 --anew-every 4
run diff "$folder/bytes"
report "byte code of a recording is compared where JAX reads it" "$(
    fault_of 1
    complaints
    said "fused in process " "  1 changed, 0 added, 0 removed" "constant: "
)"
BENCH_FRONTEND_PYTHON_JAX=$folder/none run diff "$folder/bytes" --format json
report "without JAX it is said once what cannot be read" "$(
    fault_of 3 "byte code"
    [ "$(grep -c "$folder/none" "$folder/err")" -eq 1 ] || echo "it is said more than once"
    holds '
assert records["same"] is None and len(records["pairs"]) >= 2, records["same"]
assert all("cannot be run" in p["fault"] and p["difference"] is None for p in records["pairs"])'
)"

# A recording that somebody changed: each time the rest is shown.
cp -R "$folder/anew" "$folder/more"
for file in "$folder"/more/*/programs/*.mlir; do
    echo "// more" >>"$file"
    break
done
run diff "$folder/more" --format json
report "a program that was changed afterwards" "$(
    fault_of 3 "its hash differs"
    holds '
faults = [p for p in records["pairs"] if p["fault"]]
assert 1 <= len(faults) < len(records["pairs"]) and records["same"] is False
assert all("its hash differs" in p["fault"] and p["difference"] is None for p in faults), faults'
)"
for file in "$folder"/more/*/programs/*.mlir; do
    ln -sf "$one" "$file"
done
run diff "$folder/more" --format json
report "programs that are links" "$(
    fault_of 3
    holds 'assert records["same"] is None and all(p["fault"] for p in records["pairs"])'
)"
cp -R "$folder/anew" "$folder/damaged"
mkdir "$folder/damaged/1-1" && echo none >"$folder/damaged/1-1/events"
run diff "$folder/damaged"
report "a process whose events are damaged" "$(
    [ "$status" -eq 3 ] || echo "exit status $status"
    complaints | grep -q "$folder/damaged" || echo "it is not said"
    said "1 changed, 0 added, 0 removed"
)"

# ---- two recordings ------------------------------------------------------------------------

run diff "$folder/anew" "$folder/anew" --format json
report "a recording has the programs of itself" "$(
    fault_of 0
    holds 'assert records["same"] is True and records["only_a"] == records["only_b"] == [], records
assert records["pairs"] and all(p["difference"]["changed"] == 0 for p in records["pairs"]), records["pairs"]
assert records["recording"] == records["other"] == folder + "/anew", records'
)"
run record --quiet --runtime sim --output "$folder/other" -- "$program" --steps 12
run diff "$folder/anew" "$folder/other" --format json
report "of two recordings the programs of one name are compared" "$(
    case $status in 0 | 1) ;; *) echo "exit status $status" ;; esac
    holds 'names = [p["name"] for p in records["pairs"]]
assert "fused" in names and len(set(names)) == len(names), names
assert (records["same"] is True) == ("'$status'" == "0"), records["same"]'
)"
run diff "$folder/other" "$folder/anew"
report "and each is named" "$(
    case $status in 0 | 1) ;; *) echo "exit status $status" ;; esac
    said "A: $folder/other" "B: $folder/anew" "fused"
)"

make=$built/tests/results/recordings/make_recording
for kind in loop two none; do
    mkdir "$folder/made-$kind" && "$make" "$folder/made-$kind" "$kind" || exit 1
done
run diff "$folder/made-loop" "$folder/made-loop" --format json
report "equal steps do not differ" "$(
    fault_of 0
    holds 's = records["steps"]
assert records["same"] is True and s["differ"] is False and not s["wall"]["claimed"], records
assert s["wall"]["a_ns"] == s["wall"]["b_ns"] and s["a"]["steps"] == s["b"]["steps"] == 39, s
assert abs(sum(p["a_ns"] for p in s["parts"].values()) - s["wall"]["a_ns"]) < 1, s["parts"]
assert all(f["change"] == "same" for f in s["findings"]) and len(s["programs"]) == 1, s'
)"
run diff "$folder/made-loop" "$folder/made-two" --format json
report "what the steps take that differ" "$(
    fault_of 1
    holds 's = records["steps"]
assert records["same"] is False and s["differ"] is True, records
more = {n: p["more_ns"] for n, p in s["parts"].items() if p["claimed"]}
assert set(more) == {"dispatch", "waits"} and abs(more["dispatch"] - 1e5) < 1e3, more
assert records["only_a"] == ["jit_step"] and records["only_b"] == ["jit_grad"], records
new = [p for p in s["programs"] if p["a"] is None]
assert len(new) == 1 and abs(new[0]["device"]["b_ns"] - 1e6) < 1e3, s["programs"]'
)"
for format in text narrow md csv html latex; do
    run diff "$folder/made-loop" "$folder/made-two" --format $format
    report "and as $format" "$(
        fault_of 1
        said dispatch
        [ $format != narrow ] || awk 'length > 80 && !/^A: |^B: /' "$folder/out"
    )"
done
run diff "$folder/made-loop" "$folder/made-none" --format json
report "without steps the programs are compared" "$(
    fault_of 1
    holds 'assert records["steps"] is None and records["only_b"] == ["a", "b", "c", "d", "e"], records'
)"

# ---- what is refused --------------------------------------------------------------------

head -c 700 "$one" >"$folder/cut.mlir"
head -c 4000 "$bench" >"$folder/binary.mlir"
printf 'HloModule jit_f\n\nENTRY main { }\n' >"$folder/hlo.mlir"
: >"$folder/empty.mlir"
truncate -s 300M "$folder/huge.mlir"
refuses "a file that is not there" 3 "$folder/none.mlir" -- diff "$one" "$folder/none.mlir"
refuses "a folder" 2 "$folder|$one" -- diff "$folder" "$one"
refuses "a folder without a recording" 3 "$folder/graphs" -- diff "$folder/graphs"
refuses "a recording that is not there" 3 "$folder/typo" -- diff "$folder/typo"
refuses "a text that was cut" 3 "$folder/cut.mlir: line |cut" -- diff "$one" "$folder/cut.mlir"
refuses "a binary file" 3 "$folder/binary.mlir: " -- diff "$folder/binary.mlir" "$one"
refuses "HLO text" 3 "$folder/hlo.mlir: " -- diff "$folder/hlo.mlir" "$one"
refuses "an empty file" 3 "$folder/empty.mlir" -- diff "$one" "$folder/empty.mlir"
refuses "a huge file" 3 "$folder/huge.mlir: 314572800 bytes" -- diff "$one" "$folder/huge.mlir"
refuses "an op that is in generic form in one text only" 3 "foo.bar" -- \
    diff "$folder/usual-unknown.mlir" "$folder/generic-unknown.mlir"
refuses "one file" 2 "$one" -- diff "$one"
refuses "three files" 2 "$one" -- diff "$one" "$one" "$one"
refuses "no words" 2 "bench graph|FILE" -- graph
refuses "no words for a difference" 2 "bench diff|RECORDING" -- diff
refuses "a program and a recording" 2 "$one|$folder/anew" -- diff "$one" "$folder/anew"
refuses "a format that is none" 2 "xml|json" -- diff "$one" "$one" --format xml
touch "$folder/file"
refuses "a report's folder that is a file" 3 "$folder/file" -- "${brief[@]}" --model resnet18 \
    --graph-report "$folder/file"

echo "1..$count"
