#!/bin/bash
# check_recorded.sh - recorded steps as experiments of suites, comparisons and nights, from outside
# and as TAP. make_recording writes the recordings by hand; their programs take the device times that
# they state, 3 and 2 ms, on the simulated device. Verdicts that depend on the machine are not looked at.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/campaign/night_told.sh
umask 022 # a store that others may write keeps no builds

make=$built/tests/harness/replay/make_recording
mkdir "$folder/elsewhere"
"$make" opaque "$folder/train" && "$make" opaque "$folder/elsewhere/train" &&
    "$make" text "$folder/text" && "$make" several "$folder/several" || exit 1
sim='{"name": "sim", "options": {"preset": "tpu-v4", "release_us": 0}}'
# suite NAME MATRIX: $folder/NAME.json, whose defaults are of models.
suite() {
    cat >"$folder/$1.json" <<END
{"bench_suite": 1, "name": "$1",
 "defaults": {"runtimes": [$sim], "variants": "small", "phases": "infer", "modes": ["lazy", "capture"],
              "batches": [1, 2], "in_flight": [1, 2], "steps": 3, "warmup": 8, "min_time": 0, "repetitions": 2},
 "matrix": [$2]}
END
}
# says TEXT: a fault unless the summary of the last suite has it.
says() {
    local figure
    for figure in "$@"; do
        grep '^suite ' "$folder/err" | grep -qE "(^|[ (])$figure\b" || echo "the summary does not say '$figure'"
    done
}
# planned TO_RUN DONE: a fault unless the JSON of a dry run has so many of each.
planned() {
    holds "
states = [r['state'] for r in records]
assert (states.count('run'), states.count('done'), len(states)) == ($1, $2, $1 + $2), states
"
}

# ---- suites ---------------------------------------------------------------------------------

suite mine '{"recording": "train"}, {"models": "resnet18", "modes": "capture", "batches": 0, "in_flight": 1}'
run suite "$folder/mine.json" --store "$store" --dry-run --format json
report "a recording of the suite's folder makes two experiments, and no model's defaults count" "$(
    fault_of 0
    holds '
titles = sorted({r["title"] for r in records})
assert titles == ["resnet18.small infer capture f32 on sim", "train replay on sim", "train replay-awaited on sim"], titles
assert len(records) == 6 and all(r["state"] == "run" for r in records), records
step = [r for r in records if r["title"] == "train replay on sim"][0]
assert step["options"]["cost"] == "recorded" and step["options"]["steps"] == 3, step
'
    [ ! -e "$store" ] || echo "the store was made"
)"
run suite "$folder/mine.json" --store "$store" --format json
report "it runs, both ways in the same processes" "$(
    fault_of 0
    says '6 done' '0 skipped' '0 failed'
    grep -qE 'train replay(-awaited)?, replay(-awaited)? on sim #2: ok' "$folder/err" ||
        echo "not together"
    holds '
rows = {r["mode"]: r for r in records["rows"] if r["model"] == "train"}
assert sorted(rows) == ["replay", "replay-awaited"], rows
for r in rows.values():
    assert r["processes"] == 2 and r["variant"].startswith("step ") and len(r["variant"]) == 17, r
    assert r["phase"] == "program" and r["simulated"] is True, r
'
)"
run table --store "$store" --table executions --format json
report "its programs take what the recording states" "$(
    fault_of 0
    holds '
text = json.dumps(records)
assert "jit_grad" in text and "jit_update" in text, text
'
)"
run suite "$folder/mine.json" --store "$store"
report "what is done is not repeated" "$(
    fault_of 0
    says '0 done' '6 skipped' '0 failed'
)"
suite moved '{"recording": "elsewhere/train/"}'
run suite "$folder/moved.json" --store "$store" --dry-run --format json
report "nor where the same step lies elsewhere" "$(
    fault_of 0
    planned 0 4
)"
suite ways '{"recording": "train", "modes": "replay", "repetitions": 3,
             "include": [{"seed": 2}, {"cost": "roofline", "modes": "all"}]}'
run suite "$folder/ways.json" --store "$store" --dry-run --format json
report "modes, seeds and costs can be chosen, and are part of what an experiment is" "$(
    fault_of 0
    holds '
count = lambda title: sum(r["title"] == title for r in records)
assert count("train replay on sim") == 9 and count("train replay-awaited on sim") == 3, records
assert count("train replay-paced on sim") == 3, records
assert sum(r["state"] == "done" for r in records) == 2, records
assert len({r["identity"] for r in records}) == 15, records
'
)"
suite named '{"recording": "text", "name": "mine", "step_program": "jit_update", "process": 4711}'
run suite "$folder/named.json" --store "$folder/named" --runtime cpu --repetitions 1
report "on the default runtime, from another program on, with a name of its own" "$(
    fault_of 0
    says '2 done' '0 skipped'
    grep -q '^mine ' "$folder/out" || echo "no such row"
)"
for i in 1 2 3; do
    run suite "$folder/ways.json" --store "$folder/none" --shard $i/3 --dry-run --format json
    [ "$status" -eq 0 ] || break
    cp "$folder/out" "$folder/shard$i"
done
report "shards have each once, and all ways of a step are in one" "$(
    fault_of 0
    holds '
parts = [json.load(open(folder + "/shard%d" % i)) for i in (1, 2, 3)]
assert len({r["identity"] for p in parts for r in p}) == sum(map(len, parts)) == 15, parts
for p in parts:
    other = [r["repetition"] for r in p if "awaited" in r["title"]]
    assert other in ([], [1, 2, 3]), other
    assert not other or len(p) >= 6, p
'
)"

# ---- what is refused ------------------------------------------------------------------------

suite none '{"recording": "no/such"}'
refuses "a folder that is not there, with its place" 2 \
    "none.json:4:13: /matrix/0: |$folder/no/such" -- \
    suite "$folder/none.json" --store "$folder/refused"
suite empty '{"recording": "elsewhere"}'
refuses "a folder without a recording" 3 "/matrix/0: " -- \
    suite "$folder/empty.json" --store "$folder/refused"
suite both '{"recording": "train", "models": "resnet18"}'
refuses "models beside a recording" 2 "both.json:4:36: /matrix/0/models: " -- \
    suite "$folder/both.json" --store "$folder/refused"
suite other '{"recording": "train", "step_program": "jit_other"}'
refuses "a step that there is not" 3 "/matrix/0: |jit_other" -- \
    suite "$folder/other.json" --store "$folder/refused"
suite several '{"models": "resnet18"}, {"recording": "several"}'
suite pinned '{"recording": "train", "step": "0123456789ab"}'
refuses "another step than the suite wants" 3 "/matrix/0: |0123456789ab" -- \
    suite "$folder/pinned.json" --store "$folder/refused"
step=$("$bench" table --store "$store" --format json 2>/dev/null | "$python" -c '
import json, sys
print([r["variant"] for r in json.load(sys.stdin)["rows"] if r["model"] == "train"][0].split()[1])')
suite pinned "{\"recording\": \"train\", \"step\": \"$step\"}"
run suite "$folder/pinned.json" --store "$store" --dry-run --format json
report "the one that it wants is taken" "$(
    fault_of 0
    planned 0 4
)"
refuses "steps of several devices, before anything runs" 1 "/matrix/1: |2 devices" -- \
    suite "$folder/several.json" --store "$folder/refused"
"$make" text "$folder/edited" || exit 1
for file in "$folder"/edited/*/programs/*.mlir; do
    echo "// edited" >>"$file"
    break
done
suite edited '{"models": "resnet18"}, {"recording": "edited"}'
refuses "a program's file that was edited, before anything runs" 3 "/matrix/1: |edited: " -- \
    suite "$folder/edited.json" --store "$folder/refused"
: >"$(ls -d "$folder"/edited/*/)events"
refuses "damaged events, before anything runs" 3 "/matrix/1: |$folder/edited" -- \
    suite "$folder/edited.json" --store "$folder/refused"
report "nothing was made for what was refused" "$([ ! -e "$folder/refused" ] || echo "the store was made")"
rm -r "$folder/train"
cp -R "$folder/text" "$folder/train"
run suite "$folder/mine.json" --store "$store" --dry-run --format json
report "another step in the recording's folder is another experiment" "$(
    fault_of 0
    planned 4 2
)"
rm -r "$folder/train"
cp -R "$folder/elsewhere/train" "$folder/train"

# ---- comparisons -----------------------------------------------------------------------------

sides=(--runtime sim --runtime sim --control 0 --pairs 2 --runtime-option preset=tpu-v4
    --runtime-option release_us=0)
# compared NAME: faults of a comparison of both ways of the step NAME.
compared() {
    [[ " 0 4 " == *" $status "* ]] || echo "exit status $status, not 0 or 4"
    holds "
cells = {c['experiment']['mode']: c for c in records['cells']}
assert sorted(cells) == ['replay', 'replay-awaited'] and len(records['cells']) == 2, cells
for c in cells.values():
    assert c['experiment']['model'] == '$1', c
    assert c['comparison']['pairs'] == 2, c['comparison']
    assert c['measures']['device']['known'] == 'equal', c['measures']
"
}
run compare --recording "$folder/train/" "${sides[@]}" --steps 3 --warmup 8 --min-time 0 \
    --store "$folder/compared" --format json
report "two sides replay a recording, in pairs of processes" "$(compared train)"
run compare --store "$folder/compared/a" --store "$folder/compared/b" --format json
report "the stored records can be compared, too" "$(compared train)"
suite step '{"recording": "train", "name": "loop"}'
run compare --suite "$folder/step.json" "${sides[@]}" --store "$folder/suites" --format json
report "so can a suite that has one" "$(compared loop)"
refuses "a recording that is not there" 1 "recording $folder/no/such" -- \
    compare --recording "$folder/no/such" --runtime sim,sim
refuses "models with it" 1 "--recording|--model" -- \
    compare --recording "$folder/train" --model resnet18 --runtime sim,sim
refuses "several in flight" 1 "--in-flight" -- \
    compare --recording "$folder/train" --in-flight 2 --runtime sim,sim
refuses "its options without it" 1 "--step-program|--recording" -- \
    compare --step-program jit_grad --runtime sim,sim
refuses "steps of several devices" 1 "2 devices" -- \
    compare --recording "$folder/several" --runtime sim,sim

# ---- nights --------------------------------------------------------------------------------

suite nights '{"recording": "train", "modes": "replay"}'
store=$folder/store-of-nights
cp "${bench%/*}/libpjrt_sim.so" "$folder/device.so"
night() {
    rm -f "$folder/page/night.json"
    run nightly --suite "$folder/nights.json" --store "$store" --report "$folder/page" \
        --runtime "$folder/device.so" --runtime-option preset=tpu-v4 --runtime-option release_us=0
}
night
report "the first night of a recorded step has nothing to compare with" "$(
    fault_of 4
    told 'assert night["outcome"] == "first-night", night'
    [ "$(stored)" -eq 2 ] || echo "$(stored) records"
)"
night
report "the same build is not slower" "$(
    fault_of 0
    told 'assert night["outcome"] == "same-build", night'
)"
printf other >>"$folder/device.so"
night
report "with another build the last one's replays the step, too" "$(
    [[ " 0 2 4 " == *" $status "* ]] || echo "exit status $status"
    told '
assert (runtime["runtime"], runtime["against"], runtime["no_control"]) == ("device.so", "control", None), runtime
assert (passes[0]["controls"], passes[0]["controls_failed"]) == (2, 0), passes
assert "train" in page, "not on the page"
'
)"
run history --store "$store" --model train --format json
report "its nights are one series" "$(
    fault_of 0
    holds '
[one] = records
assert (one["experiment"]["model"], one["experiment"]["mode"]) == ("train", "replay"), one
assert len(one["nights"]) >= 1 and len(one["origins"]) == 2, one
'
)"
echo "1..$count"
