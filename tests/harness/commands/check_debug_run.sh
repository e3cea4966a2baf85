#!/bin/bash
# check_debug_run.sh - bench run --debug-run, as TAP: the folder has each report, and the page leads
# to all of them; names from outside are escaped; what is there stays; an interrupted run keeps what
# is done.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

export PJRT_SIM=values=none,device_us=1000
measured=(--model resnet18 --variant small --phase infer --runtime sim --processes 2 --steps 20
    --min-time 0 --warmup 8 --store "$store")
parts="speedup.txt goodput.txt doctor.txt ledger.txt executions.txt compile.txt explain.txt scopes.txt
    steps.txt metrics.txt graphs/index.txt timeline.json"

# page FOLDER: all links of its page lead to files, and its markup is well-formed.
page() {
    "$python" - "$1" <<'PYTHON' 2>&1 | tail -n 2
import html.parser, os, sys
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.links, self.text = [], [], ""
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "link"):
            self.open.append(tag)
        if tag == "a":
            self.links.append(dict(attributes)["href"])
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_data(self, data):
        self.text += data
page = Page()
page.feed(open(sys.argv[1] + "/index.html").read())
assert page.open == [], page.open
assert len(page.links) == 12, page.links
for link in page.links:
    assert os.path.getsize(os.path.join(sys.argv[1], link)) > 0, link
assert page.links[:3] == ["speedup.txt", "goodput.txt", "doctor.txt"], page.links
for word in ("resnet18", "productive", "overhead", "2 processes"):
    assert word in page.text, word
PYTHON
}

run "${measured[@]}" --mode lazy,capture --debug-run "$folder/all" --debug-every 5 --timeline-every 15
report "a run writes all reports, and a page that leads through them" "$(
    fault_of 0
    for part in $parts; do [ -s "$folder/all/$part" ] || echo "no $part"; done
    page "$folder/all"
    grep -qF "$folder/all/index.html" "$folder/err" || echo "the page is not named"
)"
report "steps: all before the measured ones, then every fifth" "$(
    awk '/warm-up/ { warm++ } / 1 / && !/warm-up/ { first++ } END { exit !(warm >= 4) }' \
        "$folder/all/steps.txt" || echo "no warm-up steps"
    for step in 1 6 11 16; do
        grep -qE "^ *$step +[0-9.]+ +0 " "$folder/all/steps.txt" || echo "no step $step that makes no program"
    done
    ! grep -qE "^ *(2|5|7) +[0-9.]+ +[-0-9]" "$folder/all/steps.txt" || echo "a step that is no fifth"
    # The first step of lazy compiles one program.
    grep -qE "warm-up 1 +[0-9.]+ +1 " "$folder/all/steps.txt" || echo "the first step compiles nothing"
)"
report "--debug-every is of steps.txt alone: the timeline goes by --timeline-every" "$(
    "$python" - "$folder/all/timeline.json" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
rows = json.load(open(sys.argv[1]))["otherData"]["rows"]
# The first ten of 20, then step 15.
assert rows and all((r["every"], r["steps"], r["steps_shown"]) == (15, 20, 11) for r in rows), rows
PYTHON
)"
report "each file is what its command prints" "$(
    for table in goodput ledger compile; do
        "$bench" table --store "$store" --table $table --format text >"$folder/want"
        diff -q "$folder/want" "$folder/all/$table.txt" >/dev/null || echo "$table.txt differs"
    done
    "$bench" doctor --store "$store" >"$folder/want"
    diff -q "$folder/want" "$folder/all/doctor.txt" >/dev/null || echo "doctor.txt differs"
    "$bench" metrics "$store" >"$folder/want"
    diff -q "$folder/want" "$folder/all/metrics.txt" >/dev/null || echo "metrics.txt differs"
)"

# explained EXPERIMENT TEXT...: the part of explain.txt about EXPERIMENT has a line with each TEXT.
explained() {
    local experiment=$1 text
    shift
    awk -v name="$experiment" '/, [0-9]+ steps$/ { own = index($0, name) > 0 } own' "$folder/why/explain.txt" >"$folder/own"
    for text in "$@"; do
        grep -qF -- "$text" "$folder/own" || echo "of $experiment nothing says '$text'"
    done
}
PJRT_SIM=device_us=1000 run --model example_branch --phase train --runtime sim --mode eager,lazy,capture --processes 1 --steps 5 \
    --min-time 0 --warmup 8 --store "$folder/branches" --debug-run "$folder/why"
report "explain.txt has the first steps of each experiment, with places" "$(
    fault_of 0
    # The program of the second step, and what made it.
    explained "example_branch train lazy" "Graphs: 3" "step 2, graph 3 (step): branch " "0 -> 1" "models/examples/sentences.c:"
    explained "example_branch train capture" "Guards: " "10 steps, at models/examples/sentences.c:"
    ! grep -q "eager" "$folder/why/explain.txt" || echo "eager mode has no graphs to explain"
)"
# A learning rate that is a constant of the program, and another one in each step.
PJRT_SIM=values=none,device_us=1000 run --model example_scalar --phase train --runtime sim --mode lazy --processes 1 \
    --steps 6 --min-time 0 --warmup 8 --store "$folder/late-programs" --debug-run "$folder/scalar" --debug-every 2 \
    --format json
report "steps.txt has the programs that measured steps still compile" "$(
    fault_of 0
    for step in 1 3 5; do
        grep -qE "^ *$step +[0-9.]+ +1 " "$folder/scalar/steps.txt" || echo "step $step compiles nothing"
    done
    holds '
pairs = records[0]["provenance"]["measured"]["compiles"]
counters = records[0]["step_counters"]
assert [step for step, programs in pairs] == list(range(records[0]["steps"])), pairs
assert sum(programs for step, programs in pairs) == counters["compiles"] >= 6, (pairs, counters)'
)"
report "a step that reads a value has no scopes, and scopes.txt says why, once for all modes" "$(
    [ "$(grep -c 'not-supported' "$folder/why/scopes.txt")" -eq 1 ] || cat "$folder/why/scopes.txt"
)"
report "scopes.txt has a tree, once for all modes" "$(
    [ "$(grep -c '^resnet18 infer ' "$folder/all/scopes.txt")" -eq 1 ] || echo "not one tree"
    grep -q '^  layer1 ' "$folder/all/scopes.txt" || echo "no parts"
)"

# ---- what is there ---------------------------------------------------------------------------

cp "$folder/all/index.html" "$folder/kept"
refuses "a folder with something in it" 2 "$folder/all|--force" -- \
    run "${measured[@]}" --mode lazy --debug-run "$folder/all"
report "and it stays as it is" "$(cmp "$folder/all/index.html" "$folder/kept")"
echo mine >"$folder/all/notes"
run "${measured[@]}" --mode lazy --debug-run "$folder/all" --force
report "--force replaces the reports, and nothing else" "$(
    fault_of 0
    page "$folder/all"
    [ "$(cat "$folder/all/notes")" = mine ] || echo "another file was touched"
    ! cmp -s "$folder/all/index.html" "$folder/kept" || echo "the page is the old one"
)"
cp "$folder/all/index.html" "$folder/kept"
refuses "a run that is refused" 2 "--model|nothing" -- \
    run "${measured[@]}" --model nothing --mode lazy --debug-run "$folder/all" --force
report "and the reports of the run before stay" "$(cmp "$folder/all/index.html" "$folder/kept")"
refuses "a graph report with it" 2 "--debug-run|--graph-report" -- \
    run "${measured[@]}" --mode lazy --debug-run "$folder/other" --graph-report "$folder/graphs"
refuses "a timeline with it" 2 "--debug-run|--timeline" -- \
    run "${measured[@]}" --mode lazy --debug-run "$folder/other" --timeline "$folder/timeline.json"
refuses "no name" 2 "--debug-run" -- \
    run "${measured[@]}" --mode lazy --debug-run ""
refuses "a file in place of a folder" 3 "$folder/kept" -- \
    run "${measured[@]}" --mode lazy --debug-run "$folder/kept"
refuses "no steps" 2 "--debug-every" -- \
    run "${measured[@]}" --mode lazy --debug-run "$folder/other" --debug-every 0
report "what was refused leaves no folder" "$(ls -d "$folder/other" "$folder/graphs" 2>/dev/null)"

# ---- text from outside, failures, interrupts ---------------------------------------------------

# The runtime's settings are in the names of experiments, and its faults in messages.
store=$folder/failed
measured[${#measured[@]} - 1]=$store
PJRT_SIM="values=none,device_us=1000,faults=compile:*:fail" \
    run "${measured[@]}" --mode lazy --label '<script>alert(1)</script>' --debug-run "$folder/<b>bad"
report "a run that failed has a page, which says so; names are escaped" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    [ -s "$folder/<b>bad/index.html" ] || echo "no page"
    grep -q "failed" "$folder/<b>bad/index.html" || echo "the failure is not reported"
    ! grep -qi "<script" "$folder/<b>bad/index.html" || echo "a script is in the page"
)"

interrupted() {
    local job
    store=$folder/stopped
    "$bench" run --model resnet18 --variant small --phase infer --runtime sim --mode lazy \
        --processes 40 --min-time 0.2 --warmup 8 --store "$store" --debug-run "$folder/stopped-run" >"$folder/out" 2>"$folder/err" </dev/null &
    job=$!
    await 60 eval '[ "$(stored)" -ge 1 ]' || echo "nothing was measured"
    kill -INT $job
    wait $job
    status=$?
    [ "$status" -eq 130 ] || echo "exit status $status"
    grep -q "was interrupted" "$folder/stopped-run/index.html" || echo "the page does not say so"
    grep -q "productive" "$folder/stopped-run/goodput.txt" || echo "no goodput"
    [ ! -e "$folder/stopped-run/explain.txt" ] || echo "steps were run after the interrupt"
}
report "an interrupted run keeps the reports of what is done" "$(interrupted)"

# All is measured once compile.txt is there; explain.txt is next, and takes three seconds.
interrupted_late() {
    local job
    PJRT_SIM=values=none,device_us=300000 "$bench" run --model resnet18 --variant small --phase infer --runtime sim \
        --mode lazy --processes 1 --steps 3 --min-time 0 --warmup 4 --device-time none --store "$folder/late" \
        --debug-run "$folder/late-run" >"$folder/out" 2>"$folder/err" </dev/null &
    job=$!
    await 60 [ -e "$folder/late-run/compile.txt" ] || echo "nothing was measured"
    kill -INT $job
    wait $job
    status=$?
    [ "$status" -eq 130 ] || echo "exit status $status"
    grep -q "was interrupted" "$folder/late-run/index.html" || echo "the page does not say so"
    ! grep -q "^Graphs: " "$folder/late-run/explain.txt" || echo "it was interrupted too late"
}
report "so does one that is interrupted while steps are explained" "$(interrupted_late)"

echo "1..$count"
