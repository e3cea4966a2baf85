#!/bin/bash
# check_steps.sh - bench steps on recordings whose truth is known, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
make=$built/tests/results/recordings/make_recording

for kind in loop two many threads none anew damaged layers unnamed; do
    mkdir "$folder/$kind" && "$make" "$folder/$kind" "$kind" || exit 1
done
mkdir "$folder/shapes" && "$make" "$folder/shapes" shapes 120 || exit 1

# lines TEXT...: says which of them standard output lacks.
lines() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$folder/out" || echo "it does not say '$text'"
    done
}

run steps "$folder/loop"
report "a loop: its ledger, programs and answer" "$(
    fault_of 0
    lines "of 1 execution" "jax 0.10.2" "host_work" "1.00 ms" "idle" "3.00 ms" "6.00 ms" "jit_step" \
        "Host-bound" "take 2.00 ms"
)"
report "nothing is wider than a terminal" "$(awk 'length > 80' "$folder/out")"

run steps "$folder/loop" --format json
report "the same for programs" "$(
    fault_of 0
    holds '
r = records
assert r["verdict"] == "host-bound", r["verdict"]
assert r["executions_per_step"] == 1
assert r["steps"] + sum(r["left_out"][k] for k in ("compiles", "warm_up", "unlike")) == r["found"]
parts = {k: v["median_ns"] for k, v in r["ledger"].items()}
assert abs(parts["host_work"] - 1e6) < 1e3 and abs(parts["idle"] - 3e6) < 1e3, parts
assert abs(sum(v["mean_ns"] for v in r["ledger"].values()) - r["wall"]["mean_ns"]) < 1
assert all(v["p10_ns"] <= v["median_ns"] <= v["p90_ns"] for v in r["ledger"].values())
assert abs(r["answer"]["no_host_gaps"]["ns"] - 2e6) < 1e3
assert r["programs"][0]["name"] == "jit_step" and r["programs"][0]["donated"] == 1
'
)"

run steps "$folder/shapes" --format json
report "requests have latencies, by shape" "$(
    fault_of 0
    holds '
r = records["requests"]
assert records["steps_by"] == "name" and r["count"] == 120 and r["compiling"] == 8, r
assert abs(r["p50_ns"] - 320e3) < 1 and r["behind_p99"] > 0 and r["varies"] == "dimension", r
assert [s["type"] for s in r["shapes"]] == ["f32[%d,16]" % n for n in range(1, 9)]
assert sum(s["requests"] for s in r["shapes"]) == 120 and r["shapes"][0]["p99_ns"] is None
assert records["programs"][0]["variants"] == 8
'
)"
report "an import takes one variant" "$(
    run import "$folder/shapes" --store "$folder/shapes-store"
    fault_of 0
    grep -qF "f32[3,16]" "$folder/err" || echo "the most frequent one is not named"
    run import "$folder/shapes" --store "$folder/shapes-store" --variant "f32[5,16]"
    fault_of 0
    run import "$folder/shapes" --store "$folder/shapes-store" --variant "f32[9,16]"
    fault_of 3
    [ "$(find "$folder/shapes-store" -name "*.h5" | wc -l)" -eq 2 ] || echo "not two records"
    run table --store "$folder/shapes-store" --format json
    grep -qF "f32[5,16]" "$folder/out" || echo "the variant is not in the table"
)"

run steps "$folder/two"
report "two programs are a step" "$(
    fault_of 0
    lines "of 2 executions" "jit_grad" "jit_update" "instead of 2"
)"

report "whose the gaps are, program by program" "$(
    grep -qE '^gap before +a step +framework +PJRT +waits +idle$' "$folder/out" || echo "no table"
    grep -qE '^jit_grad +4\.00 ms +1\.00 ms +0 ns +0 ns +3\.00 ms$' "$folder/out" || echo "no row of jit_grad"
    grep -qE '^jit_update +0 ns +0 ns +0 ns +0 ns +0 ns$' "$folder/out" || echo "no row of jit_update"
    grep -qE '^all +4\.00 ms ' "$folder/out" || echo "no sum"
    awk 'length > 80' "$folder/out"
)"
run steps "$folder/two" --format json
report "and for programs, as far as the device's gaps go" "$(
    fault_of 0
    holds '
for part, gap in records["device_gaps"].items():
    assert abs(sum(p["gap"][part] for p in records["programs"]) - gap["mean_ns"]) < 1, part
grad, update = [p["gap"] for p in records["programs"]]
assert abs(grad["idle"] - 3e6) < 1e3 and abs(grad["host_work"] - 1e6) < 1e3, grad
assert abs(sum(update.values())) < 1e3, update
'
)"

run steps "$folder/many"
report "of many programs those with most device time" "$(
    fault_of 0
    lines "of 15 executions" "jit_part3 " "jit_part14 " "3 programs"
    grep "^jit_part[012] " "$folder/out"
    grep -q "^other programs " "$folder/out" || echo "their gaps are not reported"
)"

run steps "$folder/threads"
report "host work by thread: the one that traces and the one that executes" "$(
    fault_of 0
    grep -qE '^100 +0 +4\.00 ms +0 ns +0 ns$' "$folder/out" || echo "no row of the main thread"
    grep -qE '^101 +1 +500 us +100 us +0 ns$' "$folder/out" || echo "no row of the other one"
    lines "thread" "executions" "host_work:"
)"
run steps "$folder/threads" --format json
report "and for programs" "$(
    fault_of 0
    holds '
main, other = records["threads"]
assert main["ledger"] and main["number"] == records["process"]["main_thread"]["number"]
assert not other["ledger"] and other["number"] == records["process"]["dispatch_thread"]["number"]
assert main["executions"] == 0 and other["executions"] == 1
assert abs(main["host_work"]["mean_ns"] - 4e6) < 1e3, main
assert abs(other["host_work"]["median_ns"] - 5e5) < 1e3, other
assert abs(other["dispatch"]["mean_ns"] - 1e5) < 1e3, other
both = main["host_work"]["mean_ns"] + other["host_work"]["mean_ns"]
assert abs(records["ledger"]["host_work"]["mean_ns"] - both) < 1e3, both
'
)"

for format in md csv latex html; do
    run steps "$folder/two" --format $format
    report "as $format" "$(
        fault_of 0
        lines jit host
    )"
done

run steps "$folder/none"
report "no steps: what to try" "$(fault_of 3 "no steps" "--step-program: ")"
[ ! -s "$folder/out" ] || echo "# something was printed"
run steps "$folder/none" --step-program a
report "steps as the user says" "$(
    fault_of 0
    lines "steady steps"
)"

run steps "$folder/anew"
report "a loop that compiles in each step: that it does, and who knows why" "$(
    fault_of 3 "20 programs" "jit_step" "bench doctor $folder/anew"
)"
for word in "" "--step-program jit_step"; do
    # shellcheck disable=SC2086
    run steps "$folder/anew" --format json $word
    report "the same for programs ${word:+with $word}" "$(
        fault_of 3 "bench doctor"
        holds '
assert records["verdict"] == "compiles" and records["steps"] == 0, records
assert records["process"]["pid"] == 100, records
late = records["late_compiles"]
assert (late["executions"], late["compiles"], late["program"]) == (20, 20, "jit_step"), late
'
    )"
done
# kind: steps, steady ones of them or "-", and compiles in the later half or "-".
while read -r kind steps steady late; do
    mkdir "$folder/$kind-$steps" && "$make" "$folder/$kind-$steps" "$kind" "$steps"
    run steps "$folder/$kind-$steps" --format json
    report "$kind, $steps steps: whether it compiles again and again" "$(
        [ "$steady" = - ] && fault_of 3 "bench doctor $folder/$kind-$steps" || fault_of 0
        holds "
late = records['late_compiles']
assert (str(late['compiles']) if late else '-') == '$late', late
assert str(records['steps'] or '-') == '$steady', records['steps']
assert (records['verdict'] == 'compiles') == ('$steady' == '-'), records['verdict']
if '$steady' != '-':
    assert records['marks'] == ${steps} * (1 if '$kind' != 'eager' else 300), records['marks']"
    )"
    run steps "$folder/$kind-$steps"
    report "$kind, $steps steps: who is named" "$(
        [ "$(cat "$folder/out" "$folder/err" | tr '\n' ' ' | grep -c 'bench doctor')" -eq "$([ "$late" = - ] && echo 0 || echo 1)" ] ||
            echo "bench doctor is named where it cannot help, or not where it can"
    )"
done <<'ROWS'
anew 15 - 8
second 40 19 10
tenth 40 35 2
tenth 100 89 5
first 40 29 -
first 20 9 -
first 15 4 -
eager 10 2990 5
ROWS
run doctor "$folder/anew" --format json
report "bench doctor has steps, and does not call them steady" "$(
    fault_of 0
    holds '
assert records["steady"] is False and records["steps"] > 30, records
assert records["complaints"][0]["rule"] == "compiles", records
'
)"
run doctor "$folder/loop" --format json
report "which it does where they are" "$(
    fault_of 0
    holds 'assert records["steady"] is True, records'
)"
run steps "$folder/none" --format json
report "other programs without steps say no such thing" "$(
    fault_of 3 "--step-program: "
    [ ! -s "$folder/out" ] || echo "something was printed"
)"

# Of which process the steps are is not known then. The one that can be read may be a helper.
import=(import --store "$store" --model resnet50 --phase train)
for command in steps doctor "${import[*]}"; do
    # shellcheck disable=SC2086
    refuses "$command of a recording of which a process is damaged" 3 \
        "$folder/damaged/200-1|--process" -- \
        $command "$folder/damaged"
done
run steps --process 100 "$folder/damaged"
report "the process that is named is shown, and the damaged one reported" "$(
    fault_of 1 "200-1"
    lines "Host-bound"
)"
refuses "not the damaged one" 3 "$folder/damaged/200-1" -- \
    steps --process 200 "$folder/damaged"
cp -r "$folder/loop" "$folder/untold"
echo '{"environment": {' >"$folder/untold/recording.json"
refuses "or of one whose variables cannot be read" 3 "$folder/untold: recording.json: line " \
    -- "${import[@]}" "$folder/untold"
report "leaves no record" "$([ "$(stored)" -eq 0 ] || echo "$(stored) records")"
run "${import[@]}" --process 100 "$folder/damaged"
report "the process that is named is imported" "$(
    fault_of 0
    [ "$(stored)" -eq 1 ] || echo "$(stored) records"
)"

run steps "$folder/loop" --trace "$folder/trace.json"
report "a timeline with it" "$(
    fault_of 0
    "$python" -c 'import json, sys; json.load(open(sys.argv[1]))' "$folder/trace.json" 2>&1 | tail -n 1
)"
run steps "$folder/loop" --trace "$folder/run.xplane.pb"
report "as XSpace, where its name ends in .pb" "$(
    fault_of 0
    for text in "/host:CPU" "/device:CUSTOM:0 devices" "steady steps" step_num; do
        grep -qaF -- "$text" "$folder/run.xplane.pb" || echo "it has no '$text'"
    done
    ! grep -qaF traceEvents "$folder/run.xplane.pb" || echo "it is Chrome's"
)"

refuses "a folder that is not there" 3 "nothing-here" -- steps "$folder/nothing-here"
refuses "a folder without a recording" 3 "$folder/loop/100-1/programs" -- steps "$folder/loop/100-1/programs"
refuses "a process that is not there" 3 "process 7" -- steps "$folder/loop" --process 7
refuses "a device that is not there" 3 "device 9" -- steps "$folder/loop" --device 9
refuses "a program that is not there" 3 "--step-program nothing" -- \
    steps "$folder/loop" --step-program nothing
refuses "a format that there is not" 2 "format" -- steps "$folder/loop" --format pdf
refuses "no folder at all" 2 "DIR" -- steps
# ---- by layer and by line ---------------------------------------------------------------------

run steps "$folder/layers" --by layer --format json
report "device time by layer, as a model shares it" "$(
    fault_of 0
    holds 'r = records
assert (r["by"], r["source"], r["unread"], r["unknown_loops"]) == ("layer", "modelled", 0, 0), r
assert abs(r["device_ns"] - 2e6) < 1, r
places = {(p["name"], p["phase"]): (p["ns"], p["share"]) for p in r["places"]}
want = {("Net/Dense_0", "forward"): 4, ("Net/Dense_0", "backward"): 3, ("Adam", ""): 1}
assert set(places) == set(want), places
for key, eighths in want.items():
    assert abs(places[key][0] - eighths * 2.5e5) < 1 and abs(places[key][1] - eighths / 8) < 1e-9, places'
)"
run steps "$folder/layers" --by line --format json
report "and by line, of what is called by that of the call" "$(
    fault_of 0
    holds 'places = {p["name"]: p["ns"] for p in records["places"]}
assert set(places) == {"/home/me/<net>.py:10", "/home/me/train.py:20"}, places
assert abs(places["/home/me/train.py:20"] - 2.5e5) < 1, places'
)"
for format in text narrow md csv html latex; do
    run steps "$folder/layers" --by layer --format $format
    report "and as $format" "$(
        fault_of 0
        lines Adam Net "50.0"
        [ $format = html ] || awk 'length > 80' "$folder/out"
    )"
done
run steps "$folder/unnamed" --by line
report "without locations it is said what sets them" "$(
    fault_of 0
    lines "(no line)" "XLA_IR_DEBUG=1"
)"
run steps "$folder/loop" --by layer --format json
report "a program that was not kept is counted" "$(
    fault_of 0
    holds 'r = records
assert (r["unread"], r["places"], r["device_ns"]) == (1, [], 0) and abs(r["unread_ns"] - 2e6) < 1 and r["why"], r'
)"
refuses "neither layer nor line" 2 "--by|layer" -- steps "$folder/layers" --by module

# ---- the page --------------------------------------------------------------------------------

# page FOLDER: what of a page of bench steps is missing in FOLDER, or should not be there.
page() {
    "$python" - "$1" 2>&1 <<'PYTHON' | tail -n 1
import html.parser, json, sys
text = open(sys.argv[1] + "/index.html").read()
json.load(open(sys.argv[1] + "/timeline.json"))["traceEvents"][0]
class Page(html.parser.HTMLParser):
    tags, links, policy = [], [], ""
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.tags.append(tag)
        self.links += [a[k] for k in ("src", "href") if k in a]
        self.policy += a.get("content", "") if a.get("http-equiv") == "Content-Security-Policy" else ""
        assert not [k for k in a if k.startswith("on")], a
page = Page()
page.feed(text)
assert not {"script", "img", "iframe", "object", "link"} & set(page.tags), page.tags
assert [l for l in page.links if not l.startswith("#")] == ["timeline.json"], page.links
assert "default-src 'none'" in page.policy, page.policy
assert page.tags.count("table") >= 5 and page.tags.count("h2") >= 3, page.tags
PYTHON
}
run steps "$folder/two" --report "$folder/page"
report "a page that needs nothing else" "$(
    fault_of 0 "$folder/page/index.html"
    lines "jit_grad"
    page "$folder/page"
)"
run steps "$folder/loop" --report "$folder/page" --format json
report "and a later one in its place" "$(
    fault_of 0 "$folder/page/index.html"
    page "$folder/page"
    grep -q jit_step "$folder/page/index.html" && ! grep jit_grad "$folder/page/index.html"
)"
run steps "$folder/layers" --report "$folder/flame" --by line
report "a page has a flame graph of the layers" "$(
    fault_of 0 "$folder/flame/index.html"
    page "$folder/flame"
    if command -v gnuplot >/dev/null; then
        grep -q "<svg" "$folder/flame/index.html" || echo "no picture"
    fi
    grep -qi "modelled" "$folder/flame/index.html" || echo "it is not said that it is a model"
)"
touch "$folder/file"
refuses "a page's folder that is a file" 3 "$folder/file" -- steps "$folder/loop" --report "$folder/file"

echo "1..$count"
