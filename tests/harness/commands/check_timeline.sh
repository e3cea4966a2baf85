#!/bin/bash
# check_timeline.sh - bench run --timeline from outside, as TAP: on the simulated device, whose truth
# is known, against the records of the same steps.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=4000,jitter=0

sim=(--model resnet18 --variant small --runtime sim --processes 1 --steps 3 --min-time 0 --warmup 8
    --store "$store" --format json)

# noted ARGUMENT...: runs with a timeline into an empty store, whose samples go to samples.csv.
noted() {
    rm -rf "$store" "$folder/samples.csv" "$folder/trace.json"
    run "${sim[@]}" --timeline "$folder/trace.json" "$@"
    "$bench" export --to csv --store "$store" --output "$folder/samples.csv" >/dev/null 2>&1
}

# What the checks of all timelines share: `trace`, `slices` of a row and lane, `records`.
read -r -d '' look <<'PYTHON'
import collections, csv, os
samples = collections.defaultdict(dict)  # of a mode: a step's number, its wall time and parts
if os.path.exists(folder + "/samples.csv"):
    for row in csv.DictReader(open(folder + "/samples.csv")):
        if row["sample"] == "step": samples[row["mode"]][int(row["number"])] = row
trace = json.load(open(folder + "/trace.json"))
events = trace["traceEvents"]
about = trace["otherData"]["rows"]
STEPS, PARTS, CALLS, NOTES, DEVICE, PROFILE = range(1, 7)
slices = collections.defaultdict(list)
for e in events:
    assert e["ph"] in "XMsf", e
    assert isinstance(e["pid"], int) and isinstance(e["tid"], int), e
    if e["ph"] == "M":
        assert e["name"] in ("process_name", "thread_name") and e["args"]["name"], e
    else:
        assert e["ts"] >= 0, e
    if e["ph"] == "X":
        assert e["dur"] >= 0, e
        slices[e["pid"], e["tid"]].append(e)
end = lambda e: e["ts"] + e["dur"]
SLACK = 0.002  # microseconds: times have three digits behind the point
def within(e, whole): return e["ts"] >= whole["ts"] - SLACK and end(e) <= end(whole) + SLACK
def named(row, lane, name): return [e for e in slices[row, lane] if e["name"].startswith(name)]
# Times of a lane are in order, and slices are disjoint or nested.
for lane in slices.values():
    stack, last = [], 0
    for e in lane:
        assert e["ts"] >= last, e
        last = e["ts"]
        while stack and end(stack[-1]) <= e["ts"] + SLACK: stack.pop()
        assert not stack or within(e, stack[-1]), (e, stack[-1])
        stack.append(e)
# Flows: both ends once, from a call to an execution on the device of the same row.
ends = collections.defaultdict(dict)
for e in events:
    if e["ph"] in "sf":
        assert e["ph"] not in ends[e["id"]], e
        ends[e["id"]][e["ph"]] = e
        lane = CALLS if e["ph"] == "s" else DEVICE
        assert e["tid"] == lane and any(x["ts"] == e["ts"] for x in slices[e["pid"], lane]), e
for id, both in ends.items():
    assert set(both) == {"s", "f"} and both["f"].get("bp") == "e", id
    assert both["s"]["pid"] == both["f"]["pid"] and both["s"]["ts"] <= both["f"]["ts"], id
executions = {row: [e for e in slices[row, DEVICE] if e["name"] != "gap"] for row in
              range(1, len(about) + 1)}
assert len(ends) == sum(map(len, executions.values())), (len(ends), len(executions))
PYTHON

# traced CODE: what an assertion of it says of the trace and the records of the last run.
traced() { holds "$look
$1"; }

# Ops of eager mode are many: its device is faster.
noted --mode eager --phase train --timeline-every 0 --runtime-option device_us=20
report "eager mode: an execution for each op" "$(
    fault_of 0
    traced '
step = named(1, STEPS, "step 1")[0]
of = [e for e in executions[1] if within(e, step)]
calls = [e for e in slices[1, CALLS] if e["cat"] == "execute" and within(e, step)]
assert len(of) == len(calls) > 100 and {e["name"] for e in of} == {e["name"] for e in calls}
assert end(of[-1]) - calls[0]["ts"] >= 20 * len(of), "faster than the device"
assert any(e["cat"] == "scope" and within(e, step) for e in slices[1, NOTES])
value = int(samples["eager"][1]["dispatch_ns"])
assert step["args"]["dispatch_ns"] == value > 0, (step, value)'
)"

noted --mode lazy,capture --phase train --steps 30 --timeline-every 2
report "a row for each mode of a process, with its name and number" "$(
    fault_of 0
    complaints
    traced '
assert [r["mode"] for r in about] == ["lazy", "capture"], about
assert len({r["pid"] for r in about}) == 1 and all(r["process"] == 1 for r in about)
names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
assert all("process 1 (pid %d)" % about[0]["pid"] in n for n in names), names
assert [n.split(",")[0] for n in names] == ["lazy", "capture"], names
assert len({e["pid"] for e in events}) == 2'
)"
report "a line of progress says where it is" "$(
    grep -qF "[1/1] timeline: $folder/trace.json, " "$folder/err" || echo "nothing says so"
)"
report "the parts of a step lie within it and are those of its record" "$(traced '
compared = 0
parts = [k[:-3] for k in next(iter(samples["lazy"].values())) if k.endswith("_ns") and k != "wall_ns"
         and k != "trace_cost_ns"]
assert {"trace", "dispatch", "wait", "other"} <= set(parts), parts
for row, mode in enumerate(("lazy", "capture"), 1):
    for step in named(row, STEPS, "step "):
        of = samples[mode][int(step["name"].split()[1])]
        wall = int(of["wall_ns"])
        assert abs(step["dur"] * 1000 - wall) < 1.5, (step, wall)
        inside = [e for e in slices[row, PARTS] if within(e, step)]
        sums = collections.Counter()
        for e in inside: sums[e["name"]] += e["dur"] * 1000
        for part in parts:
            value = int(of[part + "_ns"])
            assert step["args"][part + "_ns"] == value, (mode, part, step, value)
            if part != "other": assert abs(sums[part] - value) <= 2 * len(inside) + 1, (part, sums)
        assert sum(v for k, v in step["args"].items() if k.endswith("_ns")) == wall, step
        compared += 1
assert compared >= 2 * 20, compared')"
report "the first steps of warm-up have their compiles" "$(traced '
for row in (1, 2):
    first = named(row, STEPS, "warm-up step 0")[0]
    compiles = named(row, CALLS, "compile")
    assert compiles and all(within(e, first) and e["args"]["bytes"] > 0 for e in compiles), row
    assert all(e["args"]["program"] for e in compiles)
    assert any(e["name"] == "compile" and within(e, first) for e in slices[row, PARTS])')"
report "the device takes the time that was set, by its profile, and no less by its completions" "$(traced '
for row in (1, 2):
    profiled = slices[row, PROFILE]
    assert len(profiled) >= 10 and all(abs(e["dur"] - 4000) < 0.01 for e in profiled), (row, profiled[:3])
    assert "monotonic" in about[row - 1]["profile"], about[row - 1]["profile"]
    # On the same clock: each lies between its call and the completion that the host saw.
    steps = named(row, STEPS, "profiled step")
    seen = [e for e in executions[row] if any(within(e, s) for s in steps)]
    assert len(seen) == len(profiled), (row, len(seen), len(profiled))
    for a, b in zip(seen, profiled):
        assert within(b, {"ts": a["ts"], "dur": a["dur"]}), (a, b)
for row in (1, 2):  # one execution a step: the host saw it complete within the step
    for step in slices[row, STEPS]:
        of = [e for e in executions[row] if within(e, step)]
        assert len(of) == 1 and 4000 <= of[0]["dur"] <= step["dur"], (step, of)')"
report "neighbouring steps have gaps between executions, and none that overlaps one" "$(traced '
for row in (1, 2):
    lane = slices[row, DEVICE]
    assert any(e["name"] == "gap" for e in lane), row
    for a, b in zip(lane, lane[1:]):
        assert b["ts"] >= end(a) - SLACK, (a, b)')"
report "what the harness and the model did is annotated; a replay calls no function" "$(traced '
for row in (1, 2):
    harness = {e["name"] for e in slices[row, NOTES] if e["cat"] == "annotation"}
    assert {"model, weights, inputs", "warm-up", "round", "profile"} <= harness, harness
scopes = lambda row, step: [e for e in slices[row, NOTES] if e["cat"] == "scope" and within(e, step)]
for row, traces in ((1, True), (2, False)):
    for step in named(row, STEPS, "step "):
        assert bool(scopes(row, step)) == traces, (row, step)')"

noted --mode capture --phase infer --steps 400 --timeline-every 150 --runtime-option device_us=50 --device-time none
report "of a long run the first ten steps and every so many-th" "$(
    fault_of 0
    traced '
shown = [int(e["name"].split()[1]) for e in named(1, STEPS, "step ")]
ran = len(samples["capture"])
assert ran >= 400 and shown == [n for n in range(ran) if n < 10 or n % 150 == 0], shown
assert about[0]["steps"] == ran and about[0]["steps_shown"] == len(shown)
assert about[0]["profile"].startswith("none: --device-time none"), about[0]["profile"]
assert (1, PROFILE) not in slices'
)"

noted --mode capture --phase train --graphs 3 --in-flight 2 --input transfer --processes 2 --timeline-every 0 \
    --runtime-option device_us=1000 --device-time none
report "two processes, steps in flight, batches: rows, transfers, order on the device" "$(
    fault_of 0
    traced '
assert [r["process"] for r in about] == [1, 2] and about[0]["pid"] != about[1]["pid"], about
for row in (1, 2):
    assert named(row, CALLS, "to device"), row
    assert all(e["args"]["bytes"] > 0 for e in named(row, CALLS, "to device"))
    calls = [e for e in slices[row, CALLS] if e["cat"] == "execute"]
    assert len(calls) == len(executions[row]) > 3 * 10, (len(calls), len(executions[row]))
    # A host that runs ahead sees completions after the step that submitted.
    assert len({int(e["name"].split()[1]) for e in named(row, STEPS, "step ")}) <= 10'
)"

run "${sim[@]}" --mode lazy --phase infer --timeline "$folder/run.xplane.pb"
report "as XSpace, with annotations" "$(
    fault_of 0
    for text in /host:CPU /device:CUSTOM:0 "warm-up step" dispatch "model, weights, inputs" step_num; do
        grep -qaF -- "$text" "$folder/run.xplane.pb" || echo "it has no '$text'"
    done
)"

# ---- what goes wrong -----------------------------------------------------------------

run "${sim[@]}" --mode lazy --timeline "$folder/trace.json" --force
report "--force replaces a timeline" "$(
    fault_of 0
    traced 'assert len(about) == 1, about'
)"
refuses "a timeline that is there already, before anything is measured" 2 "trace.json|--force" -- \
    "${sim[@]}" --mode lazy --timeline "$folder/trace.json"

# Ctrl-C while a process measures, or has measured: what was noted is written.
rm -f "$folder/trace.json"
"$bench" "${sim[@]}" --mode lazy --phase train --processes 50 --min-time 60 --timeline "$folder/trace.json" --verbose \
    >"$folder/out" 2>"$folder/err" </dev/null &
pid=$!
await 60 grep -q measuring "$folder/err"
kill -INT $pid
wait $pid
status=$?
echo '[]' >"$folder/out"
report "Ctrl-C keeps what was noted" "$(
    [ "$status" -eq 130 ] || echo "exit status $status"
    traced '
assert about[0]["process"] == 1 and named(1, STEPS, "warm-up step 0"), about
assert executions[1] and any(e["dur"] >= 4000 for e in executions[1])'
)"
report "nothing is left in the store" "$(find "$store" -name '.front-end*')"

rm -f "$folder/trace.json"
PJRT_SIM=$PJRT_SIM,memory_bytes=1000 run "${sim[@]}" --mode lazy --timeline "$folder/trace.json"
report "an experiment that fails has a timeline up to there" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    traced 'assert len(about) == 1 and not named(1, STEPS, "step ")'
)"
# A plugin that hangs in its fifth execution, and then gets the signal of a crash: one that aborts takes
# away the handler first.
hangs() { # PID: its only thread that works sleeps, and uses no processor
    local before
    [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null)" = S ] || return 1
    before=$(cut -d' ' -f14,15 "/proc/$1/stat")
    sleep 0.7
    [ "$before" = "$(cut -d' ' -f14,15 "/proc/$1/stat" 2>/dev/null)" ]
}
rm -f "$folder/trace.json"
worker_hangs() { worker=$(children_of $pid | head -n 1) && [ -n "$worker" ] && hangs "$worker"; }
"$bench" "${sim[@]}" --mode lazy --timeline "$folder/trace.json" --runtime-option faults=execute:5:hang \
    >"$folder/out" 2>"$folder/err" </dev/null &
pid=$!
await 60 worker_hangs
kill -SEGV "$worker"
wait $pid
status=$?
echo '[]' >"$folder/out"
report "a process that crashes has one, too, and its last call" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    traced '
last = named(1, STEPS, "warm-up step")[-1]
assert any(e["ts"] > end(last) for e in slices[1, PARTS]), "nothing of the step that crashed"'
)"
refuses "a file that cannot be written" 3 "nothing-here" -- "${sim[@]}" --timeline "$folder/nothing-here/t.json"
refuses "a negative number" 2 "timeline-every" -- "${sim[@]}" --timeline-every -1

run selftest timeline-cost --quick --model resnet18 --variant small --runtime sim --min-time 0
report "the selftest prints what it costs" "$(
    fault_of 0
    for text in ratio lazy capture "3"; do
        grep -qF -- "$text" "$folder/out" || echo "no $text"
    done
)"
# Of steps of some 1.1 ms: docs/timeline.md has 2 % for a larger model on the same device.
costs_little() {
    run selftest timeline-cost --quick --model resnet18 --variant small --runtime sim --min-time 0 \
        --runtime-option device_us=1000 --format json
    fault_of 0
    holds '
lazy, capture = records
assert " lazy " in lazy["experiment"] and " capture " in capture["experiment"], records
with open(folder + "/figures", "w") as f:
    for r in records:
        print("# with a timeline %s takes %.4f times as long [%.4f, %.4f]" % (
            r["experiment"], r["ratio"], r["ratio_low"], r["ratio_high"]), file=f)
for r in records:
    assert r["processes"] == 3 and r["steps"] >= 60 and r["without_ns"] >= 1e6 and r["with_ns"] >= 1e6, r
    assert r["ratio_low"] <= r["ratio"] <= r["ratio_high"], r
    assert 0.9 < r["ratio"] < 1.1, r
assert lazy["spans"] > capture["spans"] > 0, records'
}
live "and it is little: less than a tenth of a step of one millisecond" costs_little busy_machine
echo "1..$count"
