#!/bin/bash
# check_compare_ends.sh - bench compare from outside, on the simulated runtime, as TAP: device
# times, suites and the page, the stop rules, what changes meanwhile, and the exit codes that CI and
# git bisect expect. Other work on the machine does not change the verdicts, so these tests run beside
# others; those of check_compare.sh do not.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/campaign/compare_sides.sh

# ---- what is told however busy the machine is --------------------------------------------

# A simulated device is exact: device times are told whatever disturbs the rest.
hidden=("${sides[@]}" --control 0 --runtime-option execute_us=4000 --a-option device_us=200
    --b-option device_us=240 --fail-if-slower 5%)
rm -rf "$store"
run compare "${hidden[@]}" --store "$store" --format json
cp "$folder/out" "$folder/live"
report "a device time that hides behind the host is found, and ends the comparison early" "$(
    fault_of 2
    holds "$cell"'
head, d = c["headline"], c["measures"]["device"]["comparison"]
assert head["verdict"] == "slower" and head["measure"] == "device" and head["counts"], head
assert abs(head["ratio"]["estimate"] - 1.2) < 0.001, head
assert d["test"] == "constant values" and d["p_holm"] <= 0.05, d
assert d["pairs"] == 6 and c["plan"] == "6,12,24" and 0 < v["share"] < 1 and records["family"] <= 6, (d, v)
assert "interim" in {n["id"] for n in records["noted"]} and " %d pairs" % d["pairs"] in records["notes"], records
assert c["measures"]["peak"]["known"] == "equal", c["measures"]
'
    complaints | grep -q '^compare: 1 of 1 .*(resnet18 train capture: .* 20.0 %' || echo "no summary"
)"
run compare --store "$store/a" --store "$store/b" --fail-if-slower 5% --format json
report "the records remember that verdicts ended them" "$(
    fault_of 2
    holds "$cell"'
live = json.load(open(folder + "/live"))["cells"][0]
assert records["looks"] is True and v["share"] == live["comparison"]["share"], v
assert c["headline"] == live["headline"] and c["measures"] == live["measures"]
'
)"
run compare --store "$store/a" --store "$store/b" --fail-if-slower 30%
report "a device time that is slower by less than what counts is told, and does not count" "$(
    # On a busy machine the wall time may stay undecided.
    [ "$status" -eq 4 ] || fault_of 0
    grep -q ' 20.0 % ' "$folder/out" || echo "it is not told"
)"
run compare --store "$store/a" --store "$store/b" --fail-if-slower 30% --format json
report "which its counts say, too" "$(
    [ "$status" -eq 4 ] || fault_of 0
    code=$status holds "$cell"'
import os
counts, d = records["counts"], c["measures"]["device"]["comparison"]
assert d["verdict"] == "slower" and abs(d["ratio"]["estimate"] - 1.2) < 0.001, d
assert counts["slower"] == 0 and not c["headline"]["counts"], (counts, c["headline"])
# Where the wall time is undecided, nobody says that nothing is slower.
assert records["summary"].startswith("0 of 1 ") is (os.environ["code"] == "0"), records["summary"]
assert os.environ["code"] == "4" or counts["little_slower"] == 1, counts
'
)"

# Which processes are slow is drawn; that device times say so is not. full_slow_processes.sh has ten.
rm -rf "$store"
run compare --runtime sim,sim --runtime-option values=none --runtime-option device_us=1000 --b-option slow_rate=0.3 \
    --b-option slow_factor=1.5 --model resnet18 --variant small --mode capture --min-time 0 --warmup 2 --steps 6 \
    --control 0 --pairs 12 --store "$store" --format json
cp "$folder/out" "$folder/live"
slow_processes='
device, head = c["measures"]["device"], c["headline"]
d = device.get("comparison", {"slow_a": {"count": 0}, "slow_b": {"count": 0}, "verdict": None})
assert c["plan"] == "6,12" and d["slow_a"]["count"] == 0, (c["plan"], d)
if device["known"] == "equal": # none was drawn
    assert head["measure"] != "device" or head["verdict"] not in ("slower", "uneven"), head
else:
    assert d["verdict"] != "equivalent" and head["verdict"] != "equivalent", (d, head)
    assert d["fast_a"]["count"] == 0, d
    for speed, factor in ("slow_b", 1.5), ("fast_b", 1 / 1.5):
        if d[speed]["count"]:
            assert abs(d[speed]["factor"] - factor) < 0.001 and d["not_excluded"] is None, d
            assert d["verdict"] in ("slower", "uneven"), d
    # Sides of exactly half, of which nothing is known, and of slow ones alone.
    assert d["slow_b"]["count"] or d["fast_b"]["count"] or d["verdict"] in ("slower", "undecided"), d
    assert d["median_ratio"] < 1.51 and 1 < d["ratio"]["estimate"] < 1.51, d
'
report "slow processes of B are told by their device times, and are never equivalent" "$(
    [[ " 0 2 4 " == *" $status "* ]] || echo "exit status $status"
    holds "$cell$slow_processes"
)"
run compare --store "$store/a" --store "$store/b" --format json
report "so do the stored records, with the same figures" "$(
    holds "$cell$slow_processes"'
live = json.load(open(folder + "/live"))
assert c["headline"] == live["cells"][0]["headline"] and c["measures"] == live["cells"][0]["measures"]
assert records["slow_processes"] == live["slow_processes"] and records["family"] == live["family"]
'
)"

# The same name, another program.
for side in a b; do
    op=$([ $side = a ] && echo add || echo multiply)
    mkdir -p "$folder/$side"
    cat >"$folder/$side/mine.mlir" <<MLIR
module @mine {
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.$op %a, %a : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
MLIR
    for i in 1 2 3 4 5 6 7 8; do
        us=$([ $side = a ] && echo 10000 || echo 20000)
        run run --processes 1 --program "$folder/$side/mine.mlir" --runtime sim --min-time 0 --warmup 4 \
            --steps 12 --device-time none --runtime-option device_us=$us --store "$folder/program-$side"
        [ "$status" -eq 0 ] || break
    done
done
run compare --store "$folder/program-a" --store "$folder/program-b" --format json
report "another program under the same name is said to be one; A is said to be older" "$(
    fault_of 2
    holds "$cell"'
assert why["program"] == "another text", why
assert v["verdict"] == "slower" and "older" in {n["id"] for n in records["noted"]}, records["noted"]
'
)"

# ---- suites and the page -----------------------------------------------------------------

cat >"$folder/suite.json" <<'END'
{"bench_suite": 1, "name": "two", "defaults": {"models": ["resnet18"], "variants": ["small"],
 "runtimes": ["cpu"], "steps": 12, "warmup": 4, "min_time": 0},
 "matrix": [{"modes": ["lazy", "capture"], "graphs": [1, 5], "repetitions": 3}]}
END
of_suite=(--runtime sim --runtime sim --runtime-option values=none --control 0
    --suite "$folder/suite.json")
rm -rf "$store"
run compare "${of_suite[@]}" --filter capture --exclude 'graphs 5' --pairs 6 --label 'old <1>' \
    --label new --a-option device_us=10000 --b-option device_us=20000 --store "$store" \
    --report "$folder/page" --format json
report "the experiments of a suite that a filter leaves are compared on the two runtimes" "$(
    fault_of 2
    holds "$cell"'
assert len(records["cells"]) == 1 and c["experiment"]["mode"] == "capture", records["cells"]
assert c["experiment"]["runtime"] == "sim" and v["pairs"] == 6
assert records["a"]["options"] == ["values=none", "device_us=10000"]
'
    [ "$(ls "$store"/b/*.h5 | wc -l)" -eq 6 ] || echo "not 6 records of B"
)"
# told PAGE: what a page of this comparison lacks.
told() {
    "$python" - "$1" <<'PYTHON'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
summary = text[text.index('id="summary"'):text.index('id="comparison"')]
for wanted in ("<strong>1</strong> slower", "<strong>0</strong> failed",
               ">resnet18 train capture, small, batch 1, f32</td>", "program same",
               "sim, old &lt;1&gt;", "1 of 1 slower", "<svg"):
    if wanted not in summary:
        print("the summary has no %s" % wanted)
if "<1>" in text or "http" in text:
    print("a name became markup, or the page leads elsewhere")
PYTHON
}
report "the page: summary first, the step times of both sides, names as text" "$(
    told "$folder/page/index.html" 2>&1
)"
mv "$store" "$folder/stored"
run compare --store "$folder/stored/a" --store "$folder/stored/b" --runtime sim,sim \
    --label 'old <1>,new' --report "$folder/again"
report "the same page from the stored records" "$(
    fault_of 2
    told "$folder/again/index.html" 2>&1
)"
run compare "${of_suite[@]}" --pairs 1 --b-option $broken --filter 'lazy*' --store "$store" \
    --report "$folder/page"
report "what failed stands on the page" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    grep -q '<td>execute-error</td><td[^>]*>B: ' "$folder/page/index.html" || echo "it does not"
)"
refuses "a suite and what it says itself" 1 "--mode|--suite" -- \
    compare "${of_suite[@]}" --mode lazy
refuses "a filter without a suite" 1 "--filter|--suite" -- compare --runtime sim,sim --filter lazy
# A path of its own, so that it can be excluded by it.
ln -s "$(realpath "${bench%/*}/libpjrt_sim.so")" "$folder/a.so"
sed 's|"repetitions": 3|"exclude": [{"runtimes": "./a.so", "modes": "lazy"}]|' "$folder/suite.json" \
    >"$folder/uneven.json"
rm -rf "$store"
cp "$folder/a.so" "$folder/b.so"
# uneven B A: what such a comparison lacks, where the side that lacks "lazy" is the one named.
uneven() {
    fault_of 1
    grep -q "^bench: missing: resnet18.small train lazy .*: $1 " "$folder/err" ||
        echo "not said"
    side=$1 holds '
import os
cells = records["cells"]
told = [(c["experiment"]["mode"], c["outcome"], c.get("failure", {}).get("side")) for c in cells]
lacks = os.environ["side"]
assert set(told) == {("capture", "compared", None), ("lazy", "missing", lacks)}, told
assert records["counts"]["missing"] == told.count(("lazy", "missing", lacks)), records["counts"]
assert records["counts"]["compared"] == len(cells) - records["counts"]["missing"]
same = [c["attribution"]["program"] for c in cells if c["outcome"] == "compared"]
assert same and set(same) == {"same"}, same
'
}
one_only=(--runtime-option values=none --suite "$folder/uneven.json" --pairs 1 --control 0
    --store "$store" --format json)
run compare --runtime "$folder/b.so" --runtime "$folder/./a.so" "${one_only[@]}"
report "what a suite runs on A only is missing, the others are met by their like" "$(uneven B)"
rm -rf "$store"
run compare --runtime "$folder/./a.so" --runtime "$folder/b.so" "${one_only[@]}"
report "so is what it runs on B only" "$(uneven A)"
rm -rf "$store"
run compare --runtime "$folder/b.so" --runtime "$folder/./a.so" "${one_only[@]}" --exclude '*lazy*'
report "what is left out of both sides is not missing" "$(
    fault_of 4 # one pair tells nothing
    holds 'assert records["counts"]["missing"] == 0 and len(records["cells"]) == 2'
)"
refuses "a suite of which each side has another part" 1 "suite|both" -- \
    compare --runtime "$folder/b.so" --runtime "$folder/./a.so" "${one_only[@]}" --filter '*lazy*'
refuses "a suite of stores" 1 "--suite" -- \
    compare --store a --store b --suite smoke
for words in "--model resnet18" "--steps 3"; do
    read -ra arguments <<<"$words"
    refuses "a choice of what is measured, ${arguments[0]}, of stores" 1 "${arguments[0]}" -- \
        compare --store "$folder/stored/a" --store "$folder/stored/b" "${arguments[@]}"
done
for words in "--pairs 8" "--budget 10m" "--precision 1%" "--control 0" "--runtime-option a=b" "--b-flag a=b"; do
    read -ra arguments <<<"$words"
    refuses "how pairs are run, ${arguments[0]}, of stores" 1 \
        "${arguments[0]}|--runtime B" -- \
        compare --store "$folder/stored/a,$folder/stored/b" "${arguments[@]}"
done
refuses "the same while bisecting" 128 "--pairs" -- \
    compare --store "$folder/stored/a" --store "$folder/stored/b" --pairs 8 --bisect
refuses "a suite of which nothing is left" 1 "3 experiments" -- \
    compare "${of_suite[@]}" --filter vgg --store "$store"
: >"$folder/file"
run compare --store "$folder/stored/a" --store "$folder/stored/b" --report "$folder/file/page"
report "a page that cannot be written is an error after the verdicts" "$(
    [ "$status" -eq 1 ] || [ "$status" -eq 2 ] || echo "exit status $status"
    grep -q '^compare: ' "$folder/out" || echo "no verdicts"
    complaints | grep -qF "$folder/file" || echo "no complaint"
)"

# ---- stop rules ------------------------------------------------------------------------

rm -rf "$store"
run compare "${brief[@]}" --budget 0.1s --store "$store" --format json
report "a budget for fewer pairs than claims need is refused after one, which says what fits" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    complaints | grep -qE -- '^bench: --budget .*\b1 pair' || echo "not said"
    [ ! -s "$folder/out" ] || echo "there are verdicts"
    [ "$(ls "$store"/b/*.h5 | wc -l)" -eq 1 ] || echo "not one record of B"
)"
# Steps that vary by half cannot be decided. Where the machine is busy, nothing of worth fits.
run compare "${brief[@]}" --runtime-option jitter=0.5 --budget 8s --store "$store" --format json
report "a budget ends it, and is planned by the first pair" "$(
    if [ "$status" -eq 1 ]; then
        complaints | grep -q -- '^bench: --budget ' || echo "not said"
    else
        [ "$status" -le 2 ] || [ "$status" -eq 4 ] || echo "exit status $status"
        holds "$cell"'
assert 1 <= v["pairs"] <= 24 and "budget-fit" in {n["id"] for n in records["noted"]}, (v["pairs"], records["noted"])
'
        grep -qE '^\[0/[0-9]+\].* [0-9]+ processes' "$folder/err" || echo "the first pairs are not told"
    fi
)"
run compare "${brief[@]}" --runtime-option jitter=0.5 --precision 2% --budget 20s \
    --store "$store" --format json
report "a precision asks for more pairs than the first stage has" "$(
    [ "$status" -le 2 ] || [ "$status" -eq 4 ] || echo "exit status $status"
    holds "$cell"'
n = v["pairs"]
assert records["looks"] is False and v["share"] == 1, v
assert n > 12 or "budget" in {n["id"] for n in records["noted"]}, (n, records["noted"])
'
)"
run compare "${brief[@]}" --pairs 2 --store "$folder/two" --format json
report "where two pairs cannot tell, nobody says that none is slower" "$(
    fault_of 4
    holds '
counts = records["counts"]
assert (counts["compared"], counts["undecided"], counts["slower"]) == (1, 1, 0), counts
assert not records["summary"].startswith("0 of"), records["summary"] # which would count it as not slower
'
)"
rm "$folder/err" # else the one of before is looked at
"$bench" compare "${brief[@]}" --pairs 60 --store "$store" --verbose --format json \
    >"$folder/out" 2>"$folder/err" &
pid=$!
interrupted $pid 20 'pair 3 A: ok'
report "Ctrl-C gives the verdicts so far" "$(
    fault_of 130
    holds "$cell"'
assert "interrupted" in {n["id"] for n in records["noted"]}, records["noted"]
assert c["experiment"]["model"] == "resnet18" and v["pairs"] >= 2, c
assert c["headline"]["verdict"] in ("undecided", "equivalent"), c["headline"]
'
    [ -z "$(children_of $pid)" ] || echo "it left processes behind"
)"

# ---- what changes while it is compared --------------------------------------------------

# A name that leads to another file from one process on: the file of those before stays as it was.
cp "${bench%/*}/libpjrt_sim.so" "$folder/one.so"
{ cat "$folder/one.so" && echo; } >"$folder/two.so"
ln -s one.so "$folder/new.so"
ln -s two.so "$folder/next.so"
rm -rf "$store" "$folder/err"
"$bench" compare --runtime "$folder/one.so" --runtime "$folder/new.so" "${step[@]}" --control 0 \
    --device-time none --pairs 6 --store "$store" --format json --verbose >"$folder/out" 2>"$folder/err" </dev/null &
pid=$!
await 60 grep -qs 'pair 2 A: ok' "$folder/err"
mv -T "$folder/next.so" "$folder/new.so"
wait $pid
status=$?
report "a build that is replaced between two pairs ends the comparison, and no verdict mixes them" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    grep -q '^bench: B: ' "$folder/err" || echo "not said"
    holds '
import glob, hashlib
digest = {n: hashlib.sha256(open(folder + "/%s.so" % n, "rb").read()).hexdigest() for n in ("one", "two")}
c = records["cells"][0]
f = c["failure"]
assert (f["side"], f["class"]) == ("B", "plugin-changed"), f
assert digest["two"][:12] in f["message"] and digest["one"][:12] in f["message"], f
assert "file-replaced" in {n["id"] for n in records["noted"]}, records["noted"]
a, b = (len(glob.glob(folder + "/store/%s/*.h5" % s)) for s in "ab")
assert 2 <= b < 6 and a == b == len(c["b_records"]) + 1, (a, b, c["b_records"])
'
)"

rm -rf "$store"
run compare "${sides[@]}" --b-option $broken --device-time none --control 1 --pairs 5 --store "$store"
report "where B fails, the control ends, too" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    [ "$(ls "$store"/control-a/*.h5 2>/dev/null | wc -l)" -le 1 ] || echo "it went on"
)"
run compare --store "$store/a/." --store "$store/b/../b" --format json
report "the stored comparison still has its control, which shows nothing, however its folders are named" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    # It may not have begun when B failed.
    holds 'import glob
c, begun = records["counts"], len(glob.glob(folder + "/store/control-?/*.h5")) > 0
assert (c["failed"], c["controls"], c["controls_mute"] + c["controls_failed"]) == (1, begun, begun), c'
)"

# ---- exit codes --------------------------------------------------------------------------

run compare "${brief[@]}" --b-option $broken --store "$store"
report "a side that fails is an error with its class" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    grep -q 'B: execute-error' "$folder/out" || echo "no class"
)"
# Eager steps have many executions, so B fails in that mode alone; its device is slower in the other.
rm -rf "$store"
both=(--runtime sim --runtime sim --runtime-option values=none --a-option device_us=200
    --b-option device_us=240 --model resnet18 --variant small --phase infer --mode eager,capture
    --min-time 0 --warmup 2 --steps 6 --pairs 6 --control 0 --fail-if-slower 5%)
run compare "${both[@]}" --b-option faults=execute:200:fail --store "$store" --format json
slower_and_failed='
told = {c["experiment"]["mode"]: (c["outcome"], c.get("failure", {}).get("side")) for c in records["cells"]}
assert told == {"eager": ("failed", "B"), "capture": ("compared", None)}, told
counts = records["counts"]
assert (counts["slower"], counts["failed"], counts["missing"], counts["compared"]) == (1, 1, 0, 1), counts
'
report "slower in one experiment and failed in another: 2, and both are counted" "$(
    fault_of 2
    holds "$slower_and_failed"
    complaints | grep -q '^compare: 1 of 1 .*(resnet18 infer capture: .*), 1 failed' || echo "no summary"
)"
run compare --store "$store/a" --store "$store/b" --fail-if-slower 5% --format json
report "the stored records say the same" "$(
    fault_of 2
    holds "$slower_and_failed"
)"
# The same records are no comparison. Of records of one program nothing differs. What a record held
# that cannot be read, nobody compared.
cp -R "$store/a" "$folder/copy"
refuses "the same records on both sides" 1 "copy" -- \
    compare --store "$store/a" --store "$folder/copy"
mkdir "$folder/same-1" "$folder/same-2"
i=0
for file in "$folder/program-a"/*.h5; do
    cp "$file" "$folder/same-$((i++ % 2 + 1))"
done
run compare --store "$folder/same-1" --store "$folder/same-2" --format json
report "records of one program are too few to tell" "$(
    [ "$status" -eq 4 ] || echo "exit status $status, not 4"
    holds 'assert records["counts"]["unread"] == 0 and records["counts"]["slower"] == 0, records["counts"]'
)"
lost=$(ls "$folder/same-2"/*.h5 | tail -n 1)
truncate -s 1000 "$lost"
run compare --store "$folder/same-1" --store "$folder/same-2" --format json
report "with a record that cannot be read they are an error" "$(
    [ "$status" -eq 1 ] || echo "exit status $status, not 1"
    complaints | grep -qF "${lost##*/}" || echo "the file is not named"
    holds 'assert records["counts"]["unread"] == 1 and records["counts"]["slower"] == 0, records["counts"]'
)"
run compare "${brief[@]}" --b-option $broken --store "$store" --bisect
report "bisecting, B that fails is skipped" "$([ "$status" -eq 125 ] || echo "exit status $status")"
run compare "${brief[@]}" --a-option $broken --store "$store" --bisect
report "bisecting, A that fails ends it" "$([ "$status" -eq 128 ] || echo "exit status $status")"
run compare "${brief[@]}" --pairs 2 --store "$store" --bisect
report "bisecting, too few pairs are skipped" "$([ "$status" -eq 125 ] || echo "exit status $status")"
# The first pair says that options are refused; there are no others, no tables and no records.
for side in a b; do
    run compare "${both[@]}" --mode capture --$side-option nosuch=1 --store "$folder/refused" --format json
    report "options that the runtime of $side refuses end the comparison" "$(
        fault_of 1 "${side^^}: " nosuch
        [ ! -s "$folder/out" ] || echo "there is a table"
        [ "$(grep -c '^\[[1-9]' "$folder/err")" -le 2 ] || echo "there is another pair"
        find "$folder/refused" -name '*.h5'
    )"
done
run compare "${brief[@]}" --a-option nosuch=1 --store "$folder/refused" --bisect
report "bisecting, options that A refuses end it" "$([ "$status" -eq 128 ] || echo "exit status $status")"
run compare "${brief[@]}" --b-option nosuch=1 --store "$folder/refused" --bisect
report "bisecting, options that B refuses skip it" "$([ "$status" -eq 125 ] || echo "exit status $status")"
refuses "one runtime" 1 "--runtime A,B" -- compare --runtime sim
refuses "no runtime" 1 "--runtime A --runtime B|--store A --store B" -- compare
refuses "an option that is none" 1 "--bogus" -- compare --bogus
refuses "the same while bisecting: it must not count as bad" 128 "--bogus" -- \
    compare --bogus --bisect
refuses "A that is not there" 128 "runtime A|nosuch" -- \
    compare --runtime nosuch --runtime sim --store "$store" --bisect
refuses "B that is not there" 125 "runtime B|nosuch" -- \
    compare --runtime sim --runtime nosuch --store "$store" --bisect
refuses "a share above 1" 1 "--precision|3%" -- compare --precision 3 --runtime sim,sim
refuses "a time that is none" 1 "--budget|10m" -- compare --budget soon --runtime sim,sim
refuses "two rules at once" 1 "--pairs|--precision" -- compare --runtime sim,sim --pairs 3 --precision 1%
refuses "more pairs than there can be" 1 "64" -- compare --runtime sim,sim --pairs 65
refuses "a store that is none" 1 "nowhere" -- compare --store "$folder/nowhere" --store "$store/a"

echo "1..$count"
