#!/bin/bash
# check_estimate.sh - bench estimate, with a plugin whose compiler estimates what is known
# (tests/support/fake/fake_optimized.c), or fails on request, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

cache=$folder/cache
estimate=(estimate --runtime "$fake" --topology fake:1 --model resnet18 --variant small)
keep=(--cache-dir "$cache")
none=(--cache-dir "")
export FAKE_PJRT=hlo

# What the plugin's compiler says, of a line with N results of which F have default layouts and of
# T arguments with stated ones.
known='
def known(line):
    e = line["estimate"]
    n = len(e["layouts"])
    f = round(e["layout_cycles"] / 100)
    t = sum(s["cycles"] for s in e["scopes"] if s["name"] == "taken")
    return 1000 * n + 500 + 100 * f + 8 * 50 + t
'

# ---- figures ------------------------------------------------------------------------

run "${estimate[@]}" "${keep[@]}" --format json
report "a step is estimated" "$(fault_of 0)$(holds "$known"'
line, = records
e = line["estimate"]
assert line["class"] == "ok" and line["graph"] == "step" and not line["cached"]
assert line["experiment"]["batch"] > 0 and line["flops"] > 0 and line["nodes"] > 100
assert e["cycles"] == known(line) and e["layout_cycles"] == 100 * len(e["layouts"])
assert e["loops"][0]["times"] == 8 and e["loops"][0]["cycles"] == 400
assert e["collectives"][0]["cycles"] is None
assert {s["name"]: s["times"] for s in e["silent"]} == {"add": 8, "compare": 9}
assert e["memory"]["temp"] == 5000 and e["memory"]["host_temp"] == 600
assert e["memory"]["peak"] == 7000 and e["results"]["device"] == e["memory"]["result"]
assert e["topology"]["kind"] == "fake device" and e["topology"]["memory_bytes"] == 1000000
assert e["flops"] == 1000 and e["serialized_bytes"] > 1000
assert line["estimated_ms"] is None and line["clock_ghz"] is None
')"

run "${estimate[@]}" "${keep[@]}" --format json
report "what was compiled before is not compiled again" "$(fault_of 0)$(holds '
line, = records
assert line["cached"] and line["estimate"]["cycles"] > 0
')$(grep -q compiling "$folder/err" && echo "it was compiled")"

for entry in "$cache"/*.json; do truncate -s 100 "$entry"; done
run "${estimate[@]}" "${keep[@]}" --format json
report "a damaged entry is compiled again, and it is said why" "$(
    fault_of 0 --cache-dir .json
)$(holds 'assert not records[0]["cached"]')"
for entry in "$cache"/*.json; do chmod 666 "$entry"; done
run "${estimate[@]}" "${keep[@]}" --format json
report "so is one that others may write" "$(
    fault_of 0 --cache-dir .json
)$(holds 'assert not records[0]["cached"]')"
for entry in "$cache"/*.json; do rm "$entry" && mkfifo -m 600 "$entry"; done
run "${estimate[@]}" "${keep[@]}" --format json
report "and one that is no file" "$(
    fault_of 0 --cache-dir .json
)$(holds 'assert not records[0]["cached"]')"

# entries_with CODE: all of the cache as they are once CODE has changed `entry`, each under the name of its key.
entries_with() {
    "$python" - "$cache" "$1" <<'PYTHON'
import glob, hashlib, json, os, re, sys
for path in glob.glob(sys.argv[1] + "/*.json"):
    entry = json.load(open(path))
    os.remove(path)
    exec(sys.argv[2])
    name = hashlib.sha256(entry["key"].encode()).hexdigest() + ".json"
    with os.fdopen(os.open(os.path.join(sys.argv[1], name), os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
        json.dump(entry, f)
PYTHON
}
entries_with 'pass'
run "${estimate[@]}" "${keep[@]}" --format json
report "an entry may be written anew" "$(fault_of 0)$(holds 'assert records[0]["cached"]')"
entries_with 'entry["key"] = re.sub(r"^bench-estimate \d+\n", "bench-estimate 1\n", entry["key"])'
run "${estimate[@]}" "${keep[@]}" --format json
report "what the first version kept is compiled again, for it kept less" "$(fault_of 0)$(
    holds 'assert not records[0]["cached"] and records[0]["estimate"]["costly"]'
)"
entries_with 'del entry["result"]["costly"]'
run "${estimate[@]}" "${keep[@]}" --format json
report "and so is what lacks a list" "$(fault_of 0 --cache-dir .json)$(
    holds 'assert not records[0]["cached"] and records[0]["estimate"]["costly"]'
)"

run "${estimate[@]}" "${keep[@]}" --format json --topology fake:1,fake:2 --mode lazy,capture --xla-flag a=b
report "topology and flags count, the mode does not" "$(fault_of 0)$(holds '
assert [l["cached"] for l in records] == [False, True, False, True]
assert [l["estimate"]["topology"]["devices"] for l in records] == [1, 1, 2, 2]
')"

run "${estimate[@]}" "${none[@]}" --format json --mode capture --graphs 1,2,3
report "a step may be cut" "$(fault_of 0)$(holds "$known"'
assert [l["graph"] for l in records] == ["step", "forward+backward", "update", "forward", "backward", "update"]
assert [l["of"] for l in records] == [1, 2, 2, 3, 3, 3]
assert len({l["flops"] for l in records}) > 3
assert all(l["estimate"]["cycles"] == known(l) for l in records)
')"

run "${estimate[@]}" "${none[@]}" --format json --mode capture --graphs 3 --layouts default,auto
report "automatic layouts go from graph to graph" "$(fault_of 0)$(holds "$known"'
def taken(line):
    return sum(s["cycles"] for s in line["estimate"]["scopes"] if s["name"] == "taken") / 10
plain, auto = records[:3], records[3:]
assert [l["layouts"] for l in records] == ["default"] * 3 + ["auto"] * 3
assert all(taken(l) == 0 for l in plain) and taken(auto[0]) == 0
assert taken(auto[1]) > 10 and taken(auto[2]) > 10
assert auto[0]["estimate"]["layout_cycles"] < plain[0]["estimate"]["layout_cycles"]
assert auto[2]["estimate"]["layout_cycles"] == plain[2]["estimate"]["layout_cycles"]
assert any(x and x.startswith("{0,1") for x in auto[0]["estimate"]["layouts"])
assert all(l["estimate"]["cycles"] == known(l) for l in records)
')"

# ---- tables ---------------------------------------------------------------------------

# said TEXT...: what standard output does not hold.
said() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$folder/out" || echo "no output says '$text'"
    done
}

run "${estimate[@]}" "${none[@]}" --topology v4:1x1x1/megacore --mode capture --graphs 3 --by-scope
report "a table says what is estimated" "$(fault_of 0)$(said 'estimated Mcycles' 'estimated ms' \
    'resnet18 small train' 'capture 3' 'backward' ' all ' 'layer1' \
    '1.05 GHz' ' 6.40 kB' while.16 all-reduce.17 ' copies ')"

parts=("${estimate[@]}" "${keep[@]}" --topology v4:1x1x1/megacore --mode capture --graphs 3)
run "${parts[@]}" --format json
cp "$folder/out" "$folder/parts.json"
run "${parts[@]}" --by-scope --format csv
report "a table says what each part of the model takes of it" "$(fault_of 0)$(
    "$python" - "$folder" 2>&1 <<'PYTHON' | tail -n 1
import csv, json, sys
folder = sys.argv[1]
rows = list(csv.DictReader(open(folder + "/out")))
lines = json.load(open(folder + "/parts.json"))
assert len(lines) == 3, len(lines)
for line in lines:
    e = line["estimate"]
    # Of this plugin's program (known): a convolution, its gradient, and copies and a loop that say no scope.
    cycles = {"layer1": 1000 * len(e["layouts"]), "backward/layer1": 500, "(none)": e["layout_cycles"] + 8 * 50}
    own = {r["scope"]: r for r in rows if r["graph"] == line["graph"]}
    assert set(own) == set(cycles), (line["graph"], set(own))
    for scope, r in own.items():
        assert abs(1e6 * float(r["estimated Mcycles"]) - cycles[scope]) < 51, (r, cycles)
        assert r["of graph"] == "%.1f %%" % (100 * cycles[scope] / e["cycles"]), (r, cycles, e["cycles"])
PYTHON
)"

run "${estimate[@]}" "${none[@]}"
report "without a published clock there are cycles only" "$(fault_of 0)$(said 'estimated Mcycles')$(
    ! grep -F GHz "$folder/out"
)"

run estimate --runtime "$fake" --topology v4:1x1x1/megacore --model resnet50 --batch 32 \
    --mode capture --graphs 1,5 --check-published "${none[@]}"
report "published times are shown with estimates" "$(fault_of 0)$(said 'published ms' '17.85' '23.67' '9.600' \
    'pytorch/xla/issues/4475')"

run estimate --runtime "$fake" --topology v4:1x1x1/megacore --model vgg16 --phase infer --batch 4 \
    --check-published "${none[@]}"
report "and those that a host measured, which are more" "$(fault_of 0)$(said 5.987 'pytorch/pytorch/pull/87741')"

# full_estimate.sh judges so what the compiler of TPUs says.
host=(estimate --runtime "$fake" --topology v4:1x1x1/megacore --model vgg16 --phase infer --batch 4
    --check-published "${none[@]}")
run "${host[@]}" --format json
cp "$folder/out" "$folder/vgg16.json"
run "${host[@]}" --format csv
cp "$folder/out" "$folder/vgg16.csv"
report "as CSV, which says how far off an estimate is" "$(fault_of 0)$(
    "$python" tests/harness/estimate/published_rows.py "$folder/out" "$folder/vgg16.json" "$folder/said" 2>&1 |
        tail -n 1
    "$python" -c '
import csv, sys
[row] = csv.DictReader(open(sys.argv[1]))
assert (row["published ms"], row["measured on"]) == ("5.987", "host"), row
assert row["difference"].startswith("below") and row["step"].startswith("vgg16 "), row' "$folder/out" 2>&1 | tail -n 1
    [ "$(grep -c '^# vgg16 ' "$folder/said")" -eq 1 ] || cat "$folder/said"
)"
sed 's/below, /ABOVE, /' "$folder/out" >"$folder/above.csv"
report "and one above what a host measured is a fault" "$(
    "$python" tests/harness/estimate/published_rows.py "$folder/above.csv" "$folder/vgg16.json" "$folder/said" \
        2>"$folder/err" &&
        echo "it is none"
    grep '^AssertionError' "$folder/err" | grep -q ABOVE || echo "nobody says so"
)"

run "${estimate[@]}" "${none[@]}" --check-published --format csv
report "where none is known, there is no row" "$(fault_of 0)$(
    [ "$(wc -l <"$folder/out")" -eq 1 ] || echo "$(wc -l <"$folder/out") lines, not the heads alone"
    head -n 1 "$folder/out" | grep -q ',published ms,' || echo "no heads"
)"
run "${estimate[@]}" "${none[@]}" --check-published
report "nor a table, but a word on it" "$(fault_of 0)$(
    grep -q published "$folder/out" || echo "no word"
    ! grep -F 'published ms' "$folder/out"
)"

run "${estimate[@]}" "${none[@]}" --format csv --mode capture --graphs 2
report "CSV has a line a graph" "$(fault_of 0)$(
    [ "$(wc -l <"$folder/out")" -eq 3 ] || echo "not three lines"
    head -n 1 "$folder/out" | grep -q '^topology,.*,estimated_cycles,.*,estimated_ms,' || echo "no heads"
    awk -F, 'NR == 1 { n = NF } NF != n { print "line " NR " has " NF " fields, not " n }' "$folder/out"
)"

# resnet18's small images have 64 pixels, and its own optimizer is called default.
several=("${estimate[@]}" "${keep[@]}" --image 64,96 --optimizer default,adamw)
run "${several[@]}" --format csv
report "and all in which steps differ" "$(fault_of 0)$("$python" - "$folder/out" 2>&1 <<'PYTHON' | tail -n 1
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
found = sorted((r["image"], r["seq"], r["optimizer"], r["dropout"]) for r in rows)
assert found == [(i, "0", o, "default") for i in ("64", "96") for o in ("adamw", "default")], found
PYTHON
)"
FAKE_PJRT=hlo,compile_error run "${several[@]}" --batch 3 --mode capture --graphs 2
report "which failures say, too" "$(fault_of 1)$(
    for words in "image 96, adamw, " "image 96, " "adamw, " ""; do
        [[ $(complaints) == *"f32, ${words}capture 2, update, on fake:1: compile-error: "* ]] ||
            echo "no failure of '$words'"
    done
)"

run "${estimate[@]}" "${none[@]}" --format md
report "Markdown" "$(fault_of 0)$(said '| estimated Mcycles')"

# ---- the simulated device -------------------------------------------------------------------

v4=("${estimate[@]}" "${none[@]}" --topology v4:1x1x1/megacore --phase infer)
run "${v4[@]}" --format json --into-sim "$folder/v4.json"
report "times go to the simulated device" "$(fault_of 0)$(holds '
settings = json.load(open(folder + "/v4.json"))
us = 1000 * records[0]["estimated_ms"]
assert settings["preset"] == "tpu-v4" and "estimated" in settings["kind"], settings
module, printed = settings["stated"].split(":")
assert module == "bench_step" and abs(float(printed) - us) < 1e-5 * us, settings
')"
cp "$folder/out" "$folder/printed.json"
run "${quick[@]}" --phase infer --mode lazy,capture --runtime sim --runtime-option config="$folder/v4.json" \
    --runtime-option values=none --format json
report "whose executions take them" "$(fault_of 0)$(holds '
[printed] = json.load(open(folder + "/printed.json"))
assert len(records) == 2 and all(r["status"] == "ok" for r in records)
for r in records:
    [x] = [x for x in r["executions"] if x["per_step"]]
    assert x["device_time_source"] == "profiler", (x["device_time_source"], x["device_note"])
    assert abs(x["device_ns"] / 1e6 / printed["estimated_ms"] - 1) < 0.01, (x["device_ns"], printed["estimated_ms"])
    assert "estimated times of resnet18 small infer" in json.dumps(r["provenance"])
')"
run "${quick[@]}" --phase infer --mode eager --runtime sim --runtime-option config="$folder/v4.json" \
    --runtime-option values=none --format json
report "what was not estimated is refused there, and not given the model's time" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    complaints | grep -qF bench_ || echo "no complaint names the module"
)$(holds 'assert [r["status"] for r in records] == ["compile-error"], records')"
refuses "of one step" 2 "--into-sim" -- "${v4[@]}" --into-sim "$folder/x.json" --dtype f32,bf16
run "${estimate[@]}" "${none[@]}" --verbose --into-sim "$folder/x.json"
report "which has a clock, or no worker starts" "$(
    fault_of 2 --into-sim clock fake:1
    grep -E 'loading the runtime|compiling' "$folder/err"
    [ ! -e "$folder/x.json" ] || echo "it was written"
)"
refuses "and a preset" 2 "--into-sim|v3:2x2|v4, v5e, v5p" -- \
    "${v4[@]}" --topology v3:2x2 --into-sim "$folder/x.json"
FAKE_PJRT=hlo,device_oom run "${v4[@]}" --into-sim "$folder/x.json"
report "and an estimate: without one the step has failed, and the words are right" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    complaints | grep -F -- --into-sim | grep -qwF step || echo "no complaint names --into-sim and the graph"
    [ ! -e "$folder/x.json" ] || echo "it was written"
)"
run "${estimate[@]}" "${none[@]}" --topology v4:1 --mode capture --graphs 3,5 --into-sim "$folder/x.json"
report "graphs of one name have one time" "$(fault_of 2 --into-sim --graphs)"

# Device times that were estimated, in the published case: the times given to the device are known.
run estimate --runtime "$fake" --topology v4:1x1x1/megacore --model resnet50 --batch 32 \
    --mode capture --graphs 1,3,5 "${none[@]}" --format json
# Besides the published step the file has another one, with other times. The model's own optimizer has two names.
"$python" - "$folder" <<'END'
import json, sys
folder = sys.argv[1]
lines = json.load(open(folder + "/out"))
def other(**what):
    return [dict(l, experiment=dict(l["experiment"], **what), estimated_ms=2 * l["estimated_ms"]) for l in lines]
for name, what in {"batch": {"batch": 8}, "variant": {"variant": "small", "image": 64}, "dtype": {"dtype": "bf16"},
                   "optimizer": {"optimizer": "adamw"}, "layouts": {"layouts": "auto"}}.items():
    json.dump(other(**what), open("%s/%s.json" % (folder, name), "w"))
for line in lines:
    if line["of"] == 3:
        line["experiment"]["optimizer"] = "sgd"
json.dump(other(batch=8) + lines, open(folder + "/resnet50.json", "w"))
END
run replay resnet50 --estimates "$folder/resnet50.json" --steps 2 --warmup 1 --store "$store" \
    --format json
report "the published case runs with them, too" "$(fault_of 0)$(holds '
printed = [l for l in json.load(open(folder + "/resnet50.json")) if l["experiment"]["batch"] == 32]
ms = lambda graphs: sum(l["estimated_ms"] for l in printed if l["of"] == graphs)
assert records["estimated_for"] == "v4:1x1x1/megacore", records
assert records["estimated_step"] == "full, batch 32, image 224, sgd, f32", records["estimated_step"]
for c, graphs in zip(records["cases"], (1, 5, 5, 3, 1)):
    assert abs(c["set_device_ms"] / ms(graphs) - 1) < 1e-9, (c, ms(graphs))
assert [c["published"]["device_ms"] for c in records["cases"]][::4] == [17.85, 17.85]
')"
refuses "no other case does" 2 "--estimates|resnet50" -- \
    replay models --estimates "$folder/resnet50.json"
"$python" - "$folder" <<'END'
import json, sys
folder = sys.argv[1]
lines = json.load(open(folder + "/resnet50.json"))
lines = [l for l in lines if l["experiment"]["batch"] == 32]
json.dump([l for l in lines if l["of"] != 3], open(folder + "/few.json", "w"))
lines += [dict(l, estimated_ms=2 * l["estimated_ms"]) for l in lines]
json.dump(lines, open(folder + "/many.json", "w"))
json.dump({"lines": lines}, open(folder + "/list.json", "w"))
json.dump(lines + [dict(lines[0], experiment=dict(lines[0]["experiment"], moon="full"))],
          open(folder + "/axis.json", "w"))
END
refuses "estimates that are no list" 3 "--estimates|list" -- \
    replay resnet50 --estimates "$folder/list.json"
refuses "an estimate with an unknown axis" 3 "--estimates|entry|moon" -- \
    replay resnet50 --estimates "$folder/axis.json"
refuses "each case needs its times" 2 "--estimates|bench_forward|3 graphs" -- \
    replay resnet50 --estimates "$folder/few.json"
refuses "and one of each" 2 "--estimates" -- replay resnet50 --estimates "$folder/many.json"
# Each of these files is of another step. Which one it is, is said, and which one the case is.
for row in "batch:full, batch 8, image 224, sgd, f32" "variant:small, batch 32, image 64, sgd, f32" \
    "dtype:full, batch 32, image 224, sgd, bf16" "optimizer:full, batch 32, image 224, adamw, f32" \
    "layouts:full, batch 32, image 224, sgd, f32, layouts auto"; do
    words="--estimates|${row#*:};|full, batch 32, image 224, sgd, f32,|--batch 32 --mode"
    refuses "and of the step's own ${row%%:*}" 2 "$words" -- replay resnet50 --estimates "$folder/${row%%:*}.json"
done

# ---- the number of layers -------------------------------------------------------------------

run estimate --runtime "$fake" --topology v4:1 --model llama --variant small --depth 2,4 --scan off,on \
    "${none[@]}" --format json --output "$folder/depth.gp"
report "figures over the number of layers are drawn" "$(fault_of 0)$(holds 'import re
assert len(records) == 4 and all(l["text_bytes"] > 1000 and l["trace_ns"] > 1000 for l in records), records
script = open(folder + "/depth.gp").read()
text = {(l["experiment"]["scan"], l["experiment"]["depth"] or 2): l["text_bytes"] / 1000 for l in records}
blocks = re.findall(r"\$panel1_\d << EOD\n2 (\S+)\n4 (\S+)\n", script)
drawn = sorted([float(a), float(b)] for a, b in blocks)
assert drawn == sorted([text[s, 2], text[s, 4]] for s in ("off", "on")) and len(drawn) == 2, (drawn, text)
assert text["on", 4] < 1.05 * text["on", 2] and text["off", 4] > 1.3 * text["off", 2], text
')"
refuses "a picture has one of three forms" 2 "--output" -- "${estimate[@]}" --output "$folder/depth.txt"
run "${estimate[@]}" "${none[@]}" --verbose --output "$folder/none.svg"
report "and is of several numbers of layers, or no worker starts" "$(
    fault_of 2 --output --depth
    grep -E 'loading the runtime|compiling' "$folder/err"
    [ ! -e "$folder/none.svg" ] || echo "there is a file"
)"

# ---- recorded steps -------------------------------------------------------------------------

# Two programs, of which a step executes each once; make_recording says what it recorded.
make=$built/tests/harness/replay/make_recording
"$make" text "$folder/train" && "$make" several "$folder/several" && "$make" unkept "$folder/unkept" || exit 1
recorded=(estimate --runtime "$fake" --topology v4:1 --recording "$folder/train")

run "${recorded[@]}" "${keep[@]}" --format json
report "each program of a recorded step is estimated" "$(fault_of 0)$(holds "$known"'
assert [l["graph"] for l in records] == ["jit_grad", "jit_update"], records
for l in records:
    assert l["class"] == "ok" and not l["cached"] and l["times_a_step"] == 1 and l["of"] == 2, l
    assert l["estimate"]["cycles"] == known(l) and l["estimated_ms"] > 0 and l["flops"] is None, l
    assert l["experiment"]["model"] == "train" and l["text_bytes"] > 100, l
    assert abs(l["recorded"]["wall_ns"] - 10e6) < 1e5 and l["recorded"]["device_ns"] > 0, l
')"
run "${recorded[@]}" "${keep[@]}" --topology v4:1,fake:2 --format json
report "and not compiled again, but for another topology" "$(fault_of 0)$(holds '
assert [l["cached"] for l in records] == [True, True, False, False], records
')"
run "${recorded[@]}" "${none[@]}"
report "the table has a row each, and their sum" "$(fault_of 0)$(said 'jit_grad' 'jit_update' ' all ' \
    'train step ' ' recorded ' ' 10 ms')"
run "${recorded[@]}" "${none[@]}" --step-program jit_update --process 4711 --format csv
report "from another program on, as CSV" "$(fault_of 0)$(
    sed -n 2p "$folder/out" | grep -q '^v4:1,train,.*,jit_update,ok,' || echo "not the first"
    awk -F, 'NR == 1 { n = NF } NF != n { print "line " NR " has " NF " fields, not " n }' "$folder/out"
)"
FAKE_PJRT=hlo,compile_error run "${recorded[@]}" "${none[@]}" --format json
report "programs that the compiler refuses are reported" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
)$(holds 'assert [l["class"] for l in records] == ["compile-error"] * 2')"
refuses "a recording that is not there" 3 "$folder/nowhere" -- "${recorded[@]}" --recording "$folder/nowhere"
refuses "a program that was not kept" 3 "jit_update" -- \
    "${recorded[@]}" --recording "$folder/unkept"
refuses "steps of several devices" 1 "2 devices" -- "${recorded[@]}" --recording "$folder/several"
refuses "models with a recording" 2 "--recording|--model" -- \
    "${recorded[@]}" --model resnet18
refuses "layouts that a compiler chooses" 2 "--layouts" -- "${recorded[@]}" --layouts auto
refuses "times for the simulated device" 2 "--into-sim" -- "${recorded[@]}" --into-sim "$folder/x.json"
refuses "its options without it" 2 "--process|--recording" -- "${estimate[@]}" --process 1
for file in "$folder"/train/*/programs/*.mlir; do
    echo "// edited" >>"$file"
    break
done
refuses "a program that was edited" 3 "hash" -- "${recorded[@]}" "${none[@]}"
# ---- records ------------------------------------------------------------------------------

kept=$folder/kept
files() {
    find "$kept" -name '*.h5' | wc -l
}
# estimates_named COMPLAINTS: a fault unless they count the five estimates and name the table of them.
estimates_named() {
    [[ $1 == "bench: 5 "*"--table estimates"* ]] || echo "nobody says so: $1"
}
# unsaid FILE: what of an estimate FILE holds.
unsaid() {
    grep -F '(estimated)' "$1" | head -n 1
}

run "${estimate[@]}" "${keep[@]}" --store "$kept" --topology v4:1x1x1/megacore,fake:1 --mode capture \
    --graphs 1,3
report "a record of each step goes into the store" "$(fault_of 0)$(
    [ "$(files)" -eq 4 ] || echo "$(files) records, not 4"
    grep -qF "bench table --table estimates --store $kept" "$folder/err" || echo "nobody says so"
)"
FAKE_PJRT=hlo,device_oom run "${estimate[@]}" "${none[@]}" --store "$kept" --phase infer
report "one that does not fit is a record, too" "$(fault_of 1 out-of-device-memory)$(
    [ "$(files)" -eq 5 ] || echo "$(files) records, not 5"
)"
run table --store "$kept" --table estimates --format json
report "their table says estimated at each figure" "$(fault_of 0)$(holds '
rows = records["rows"]
assert len(rows) == 2 * (1 + 4) + 1, len(rows)
for r in rows:
    assert r["estimated"] and r["runtime"].endswith(" (estimated)") and r["steps"] == 0, r
    assert (r["estimated_cycles"] is None) == (r["class"] != "ok"), r
    assert (r["estimated_ns"] is None) == (r["clock_ghz"] is None or r["class"] != "ok"), r
    # Of each graph an all-reduce, additions and comparisons have no estimate; the rounds of its loop are known.
    graphs = 3 if r["graph"] == "all" else 1
    lacks = [r["untold_loops"], r["collectives"], r["silent"]]
    assert lacks == ([0, graphs, 2 * graphs] if r["class"] == "ok" else [None] * 3), r
    assert r["class"] != "ok" or (r["peak_bytes"], r["device_peak_bytes"]) == (7000, 6400), r
assert len({r["runtime"] for r in rows}) == 2
parts = [r for r in rows if r["graphs"] == 3 and "megacore" in r["runtime"]]
whole = [r for r in parts if r["graph"] == "all"]
assert abs(2 * whole[0]["estimated_ns"] / sum(r["estimated_ns"] for r in parts) - 1) < 1e-9
assert [r["status"] for r in rows if r["class"] != "ok"] == ["out-of-memory"]
')"
run table --store "$kept"
report "a table of nothing else has no speedups" "$(fault_of 0)$(said 'Estimated, not measured' \
    'estimated cycles' 'v4:1x1x1 megacore (estimated)' out-of-device-memory)$(
    grep -F 'Speedup' "$folder/out"
)"
run history --store "$kept"
report "they have no history" "$(
    [ "$status" -ne 0 ] || echo "exit status 0"
    estimates_named "$(complaints)"
)"
run "${quick[@]:0:${#quick[@]}-2}" --store "$kept" --phase infer --mode lazy,capture \
    --device-time none --runtime sim
report "measured records are added" "$(fault_of 0)"
run table --store "$kept"
report "and have a table of their own" "$(fault_of 0)$(said 'Speedup over lazy tracing' \
    'Estimated, not measured')$(complaints)$(
    sed '/Estimated, not measured/,$d' "$folder/out" >"$folder/measured" && unsaid "$folder/measured"
)"
for words in "table --format json" "table --table executions" "export --to csv" "export --to pytorch-xla" \
    "history --format json"; do
    read -ra line <<<"$words"
    run "${line[@]}" --store "$kept"
    report "bench $words has none of them, and says so" "$(fault_of 0 \
        '--table estimates')$(estimates_named "$(complaints)")$(unsaid "$folder/out")"
done
run table --store "$kept" --table estimates --runtime sim
report "measured records are no estimates" "$(
    [ "$status" -ne 0 ] || echo "exit status 0"
    complaints | grep -F -- '--runtime sim' | grep -q 'libpjrt_fake.so' || echo "nobody says so"
    complaints | grep -q '(estimated), .*v4:1x1x1 megacore (estimated)' && echo "one is named twice"
)"
if command -v gnuplot >/dev/null; then
    run report --store "$kept" --output "$folder/page.html"
    report "a page has them apart" "$(fault_of 0)$(
        grep -q 'Estimated, not measured' "$folder/page.html" || echo "no estimates"
        grep -q 'megacore (estimated)' "$folder/page.html" || echo "they are not called so"
        sed '/id="estimates"/,/<\/section>/d' "$folder/page.html" >"$folder/measured"
        unsaid "$folder/measured"
    )"
else
    skip "a page has them apart" "gnuplot is not here"
fi

# ---- all models -----------------------------------------------------------------------------

# all_models RECORDS ROW...: what is wrong with the script's exit status and words, with its table, which is to
# have these rows, or with the number of records in its store.
all_models() {
    local records=$1 kept=$folder/all/store
    shift
    BENCH_ESTIMATE_ALL=$folder/all BENCH_ESTIMATE_RUNTIME=$fake BENCH_ESTIMATE_TOPOLOGIES=v4:1x1x1/megacore,fake:1 \
        BENCH_ESTIMATE_OPTIONS="--variant small" tests/harness/estimate/full_estimate_all.sh \
        >"$folder/out" 2>"$folder/err"
    status=$?
    fault_of 0
    grep '^not ok' "$folder/out"
    printf '%s\n' "$@" >"$folder/wanted"
    sed -nE 's/^\| ([a-z0-9_]+ \| (train|infer)) \| [0-9]+ \| f32 \| .* ms \| .* Mcycles \|$/\1/p' \
        "$folder/all/estimates.md" | diff - "$folder/wanted" | grep '^[<>]'
    [ "$(files)" -eq "$records" ] || echo "$(files) records, not $records"
}
export BENCH_ESTIMATE_MODELS=resnet18 BENCH_ESTIMATE_PHASES=train
report "the script for all models makes a table, of training alone" "$(all_models 2 "resnet18 | train")"
BENCH_ESTIMATE_MODELS=bert,resnet18 BENCH_ESTIMATE_PHASES=
report "which grows by other models and phases" "$(
    all_models 8 "resnet18 | infer" "bert | infer" "resnet18 | train" "bert | train"
)"
cp "$folder/all/estimates.md" "$folder/before.md"
BENCH_ESTIMATE_MODELS=resnet18 BENCH_ESTIMATE_PHASES=infer
report "what its store has is neither compiled again nor kept twice" "$(
    FAKE_PJRT=hlo,compile_abort all_models 8 "resnet18 | infer" "bert | infer" "resnet18 | train" "bert | train"
    cmp "$folder/before.md" "$folder/all/estimates.md"
)"
BENCH_ESTIMATE_ALL=$folder/all BENCH_ESTIMATE_RUNTIME=$fake tests/harness/estimate/full_estimate_all.sh \
    >"$folder/out" 2>"$folder/err"
status=$?
report "and other options do not come into it" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    grep -qF -- "'--variant small'" "$folder/out" || echo "nobody says so"
)"

# ---- failures ----------------------------------------------------------------------------

FAKE_PJRT=hlo,device_oom run "${estimate[@]}" --cache-dir "$folder/oom" --format json
report "too little device memory is a class of its own" "$(fault_of 1 out-of-device-memory '(70.63G)')$(holds '
line, = records
assert line["class"] == "out-of-device-memory" and line["estimated_ms"] is None
assert abs(line["estimate"]["used_bytes"] / 2**30 - 70.63) < 1e-9
assert line["estimate"]["limit_bytes"] == 15.75 * 2**30
')"
run "${estimate[@]}" --cache-dir "$folder/oom"
report "it is reported again without a compilation" "$(fault_of 1)$(said \
    '75.8 GB' '16.9 GB' 'out-of-device-memory' --batch '--dtype bf16')"
FAKE_PJRT=hlo,device_oom_used run "${estimate[@]}" "${none[@]}"
report "older builds have other words for it" "$(fault_of 1)$(said '44.8 GB' '33.6 GB')"

# What a kernel's own memory lacks is not the device's memory.
for row in compile_abort:crash compile_error:compile-error device_oom_vmem:compile-error; do
    FAKE_PJRT=hlo,${row%:*} run "${estimate[@]}" "${keep[@]}" --batch 7 --format json
    report "a compiler that fails so, ${row%:*}, is reported and not kept" "$(fault_of 1 "${row#*:}")$(holds "
assert records[0]['class'] == '${row#*:}' and not records[0]['estimate']
")"
done
run "${estimate[@]}" "${keep[@]}" --batch 7 --format json
report "and it is compiled afterwards" "$(fault_of 0)$(holds 'assert not records[0]["cached"]')"

FAKE_PJRT=hlo,compile_hang run "${estimate[@]}" "${none[@]}" --timeout 1
report "a compiler that hangs is stopped" "$(fault_of 1 timeout --timeout)"

FAKE_PJRT= run "${estimate[@]}" "${none[@]}"
report "a program in another form is refused" "$(fault_of 1 not-supported "'mlir'")"

run "${estimate[@]}" "${none[@]}" --topology nowhere:1 --mode capture --graphs 3 --verbose
report "a topology that there is not costs one worker" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    [ "$(grep -c 'loading the runtime' "$folder/err")" -eq 1 ] || echo "not one worker"
)$(said "'nowhere:1'")"
run "${estimate[@]}" "${none[@]}" --topology fake:1/gigacore
report "nor is there such a chip" "$(fault_of 1 no-topology fake:1/gigacore)"

refuses "eager mode has nothing whole" 2 "eager" -- "${estimate[@]}" --mode eager
refuses "layouts are two" 2 "'sideways'|default, auto" -- "${estimate[@]}" --layouts sideways
refuses "a topology has a name" 2 "'/megacore'" -- "${estimate[@]}" --topology /megacore
refuses "a format of pages is refused" 2 "--format|html|json" -- "${estimate[@]}" --format html
refuses "a plugin is needed" 3 "./no/plugin.so" -- estimate --runtime ./no/plugin.so
refuses "and it is one" 3 "./README.md" -- estimate --runtime ./README.md

# ---- interruption ---------------------------------------------------------------------------

run "${estimate[@]}" --cache-dir "$folder/stopped" --mode capture --graphs 1
rm "$folder/err" # the last run was compiling, too
FAKE_PJRT=hlo,compile_hang "$bench" "${estimate[@]}" --cache-dir "$folder/stopped" --mode capture \
    --graphs 1,3 --verbose --format json >"$folder/out" 2>"$folder/err" </dev/null &
pid=$!
await 60 grep -qs "  compiling" "$folder/err"
kill -INT "$pid"
wait "$pid"
status=$?
report "what was compiled before an interruption is printed" "$(
    [ "$status" -eq 130 ] || echo "exit status $status, not 130"
)$(holds 'assert [l["class"] for l in records] == ["ok"]')"

rm -rf "$folder"
echo "1..$count"
