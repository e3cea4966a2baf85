#!/bin/bash
# check_metrics.sh - the metrics report of runs on the simulated device, as TAP: its files, bench
# metrics of stores and records, and what differs between two.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=device_us=300,values=none
tiny=("${quick[@]}" --runtime sim --phase infer)

# parsed FILE CODE: runs Python CODE with `reports`, a list of (metrics, counters), as scripts that
# know PyTorch/XLA's layout read them: name to (samples, accumulator), name to value.
parsed() {
    "$python" - "$1" "$2" 2>&1 <<'PYTHON' | tail -n 3
import re, sys
parts = "".join("; %d%%=(\\S+)" % p for p in (5, 10, 20, 50, 80, 90, 95, 99))
metric = re.compile(r"Metric: (\S+)\s+TotalSamples: (\d+)\s+Accumulator: (\S+)[^P]+Percentiles: 1%=(\S+)" + parts)
counter = re.compile(r"Counter: (\S+)\s+Value: (\d+)")
time = re.compile(r"((\d+)d)?((\d+)h)?((\d+)m)?((\d+)s)?((\d+)ms)?([\d.]+)us$")
reports = []
for text in open(sys.argv[1]).read().split("# report: ")[1:]:
    found = metric.findall(text)
    assert len(found) == text.count("Metric: "), "a metric that cannot be read"
    for m in found:
        for value in [m[2], *m[3:]]:
            assert m[0] == "TensorsGraphSize" or time.match(value), (m[0], value)
    reports.append(({m[0]: (int(m[1]), m[2]) for m in found},
                    {c[0]: int(c[1]) for c in counter.findall(text)}))
exec(sys.argv[2])
PYTHON
}

# ---- of a run -------------------------------------------------------------------------------------

run run "${tiny[@]}" --mode lazy,capture --metrics "$folder/run.txt"
report "a run writes a report of each experiment" "$(
    fault_of 0
    [ -z "$(complaints)" ] || echo "it complains"
    parsed "$folder/run.txt" '
(lazy, of_lazy), (capture, of_capture) = reports
for m, c in reports:
    assert ("CompileTime" in m) != ("PersistentCacheHit" in c), (m, c)
    assert m.get("CompileTime", (0,))[0] == c.get("UncachedCompile", 0), (m, c)
assert any("CompileTime" in m for m, c in reports), reports
assert lazy["StepTime"][0] == lazy["trace"][0] == lazy["hash"][0] == lazy["lookup"][0] >= 3, lazy
assert of_lazy["MarkStep"] > lazy["StepTime"][0] and of_lazy["CachedCompile"] > 0, of_lazy
assert "trace" not in capture and of_capture["Capture"] == 1, (capture, of_capture)
assert capture["bind"][0] == capture["StepTime"][0], capture
assert lazy["TensorsGraphSize"] == capture["TensorsGraphSize"], (lazy, capture)
assert lazy["ExecuteTime"][0] > 0 and "TransferToDeviceTime" not in lazy, lazy
'
)"

run diff "$folder/run.txt" "$store" --format json
report "the store says the same" "$(
    fault_of 0
    holds '
assert len(records["pairs"]) == 2 and not records["only_a"] and not records["only_b"], records
assert all(not p["figures"] and p["same"] > 20 for p in records["pairs"]), records
'
)"
run metrics "$store" --format json
cp "$folder/out" "$folder/store.json"
report "as JSON" "$(
    fault_of 0
    holds '
for r in records["reports"]:
    m = r["metrics"]
    step = m["StepTime"]
    names = [n for n in m if n not in ("StepTime", "CompileTime", "ExecuteTime", "TensorsGraphSize")]
    assert abs(sum(m[n]["sum"] for n in names) - step["sum"]) < 1, r
    assert step["samples"] == r["steps"] and r["processes"] == 1 and r["simulated"], r
    assert list(m["wait"]["percentiles"]) == ["1", "5", "10", "20", "50", "80", "90", "95", "99"]
    assert r["counters"]["MarkStep"]["measured_steps"] == r["steps"], r
    assert r["experiment"]["model"] == "resnet18", r
'
)"
run diff "$folder/run.txt" "$folder/store.json" --format json
report "which is read back" "$(
    fault_of 0
    holds '
pairs = records["pairs"]
assert len(pairs) == 2 and all(p["figures"] == [] and p["same"] > 0 for p in pairs), pairs'
)"
run metrics "$store" --mode capture
report "a mode of the store" "$(
    fault_of 0
    parsed "$folder/out" 'assert len(reports) == 1 and "Capture" in reports[0][1], reports'
)"
records=("$store"/*.h5)
run metrics "${records[0]}"
report "one record" "$(
    fault_of 0
    parsed "$folder/out" 'assert len(reports) == 1 and reports[0][0]["StepTime"][0] >= 3, reports'
)"
run metrics "$folder/store.json"
report "a file of reports" "$(
    fault_of 0
    parsed "$folder/out" 'assert len(reports) == 2, reports'
)"

run run "${tiny[@]}" --store "$folder/other" --mode lazy --input transfer --processes 2 --metrics - --metrics-every 1
report "a report of each process, on standard output, with what is sent" "$(
    fault_of 0
    grep -q 'sum of parts' "$folder/out" || echo "no table"
    grep -q '^# .*: 1; .*: [0-9]*;' "$folder/out" || echo "no report after the first process"
    parsed "$folder/out" '
(first, _), (both, counters) = reports
assert both["StepTime"][0] > first["StepTime"][0], reports
assert both["TransferToDeviceTime"][0] == both["StepTime"][0], both
assert both["CompileTime"] == first["CompileTime"], reports
assert counters["PersistentCacheHit"] == 1 and counters["TransferToDevice"] > 0, counters
'
)"
run run "${tiny[@]}" --store "$folder/third" --mode lazy --metrics "$folder/run.json" --format json
report "a file whose name ends in .json, with records on standard output" "$(
    fault_of 0
    holds '
report = json.load(open(folder + "/run.json"))["reports"][0]
assert report["counters"]["MarkStep"]["measured_steps"] == records[0]["step_counters"]["steps"], report
'
)"

run run --model example_host_op --runtime sim --phase train --mode lazy --steps 5 --warmup 8 --min-time 0 \
    --processes 1 --store "$folder/host" --metrics "$folder/host.txt" --format json
report "an op of the host is a counter of its own, as an op without a lowering is" "$(
    fault_of 0
    parsed "$folder/host.txt" '
metrics, counters = reports[0]
assert metrics["input"][0] > 0 and "TransferToDeviceTime" not in metrics, metrics
assert counters["aten::nonzero"] == counters["HostFallback"] > 5, counters
assert "aten::_local_scalar_dense" not in counters, counters
'
    holds 'assert records[0]["provenance"]["host_ops"] == {"nonzero": records[0]["counters"]["host_fallbacks"]}'
)"

run run --model example_loss_read,example_train --runtime sim --phase train --mode lazy --steps 5 --warmup 8 \
    --min-time 0 --processes 1 --store "$folder/reads" --quiet
run metrics "$folder/reads" --format json
report "a value that each step reads counts by the name that scripts look for, and is no op of the host" "$(
    fault_of 0
    holds '
of = {r["experiment"]["model"]: r["counters"] for r in records["reports"]}
slow, healthy = of["example_loss_read"], of["example_train"]
reads = slow["aten::_local_scalar_dense"]
assert reads == slow["MarkStep"] == slow["GraphBreak"] and reads["measured_steps"] >= 5, slow
assert "HostFallback" not in slow and "aten::_local_scalar_dense" not in healthy, of'
)"
"$bench" metrics "$folder/reads" --model example_loss_read >"$folder/reads.txt"
run diff "$folder/reads.txt" "$folder/host.txt"
report "and differs as any counter does" "$(
    fault_of 0
    grep -qE '^aten::_local_scalar_dense +value +[0-9]+ +- +- +-$' "$folder/out" || echo "no row of it"
)"

# ---- differences ----------------------------------------------------------------------------------

run diff "$folder/third" "$folder/other"
report "what differs between two stores" "$(
    fault_of 0
    for text in '^A: resnet18.small infer lazy' '^TransferToDeviceTime  *samples' '^MarkStep' 'B - A'; do
        grep -q -- "$text" "$folder/out" || echo "it does not say '$text'"
    done
)"
cat >"$folder/log" <<'LOG'
step 1, loss 0.5
Metric: CompileTime
  TotalSamples: 3
  Accumulator: 02s300ms004.005us
  Percentiles: 50%=001ms000.000us; 99%=02s000ms000.000us
Counter: aten::nonzero
  Value: 33
LOG
run diff "$folder/third" "$folder/log" --format json
report "a log with a report of PyTorch/XLA" "$(
    fault_of 0
    holds '
rows = {(r["name"], r["figure"]): r for r in records["pairs"][0]["figures"]}
assert rows["CompileTime", "samples"]["difference"] == 2, rows
assert rows["aten::nonzero", "value"]["a"] is None and rows["aten::nonzero", "value"]["b"] == 33, rows
'
)"

# of SUM: a log of 2019, when a metric's sum was called a counter.
old_log() {
    printf 'saving\nMetric: CompileTime\n  TotalSamples: 6\n  Counter: %s\n  Percentiles: 50%%=1.250us\n' "$1"
    printf 'Counter: Cached\n  Value: 7\n'
}
old_log 02s250ms40.500us >"$folder/old-a"
old_log 02s260ms40.500us >"$folder/old-b"
run diff "$folder/old-a" "$folder/old-b" --format json
report "logs of 2019, whose other lines are counted" "$(
    fault_of 0
    holds '
(row,) = records["pairs"][0]["figures"]
assert (row["name"], row["figure"], row["a"], row["b"]) == ("CompileTime", "sum", 2250040500, 2260040500), row
assert records["pairs"][0]["same"] == 3, records
assert records["reading_a"]["skipped"] == {"count": 1, "first_line": 1}, records
'
)"
printf 'Counter: a\n  Value: 1x\n' >"$folder/bad-value"
refuses "a value that cannot be read" 3 "bad-value: line 2" -- metrics "$folder/bad-value"

printf '{"kind": "metrics", "reports": [{"title": "a\\u001b[2Jb", "metrics": {"m\\u001b[1m": {"unit": "ns", "samples": 2}}}]}' \
    >"$folder/odd.json"
run metrics "$folder/odd.json"
cp "$folder/out" "$folder/odd.txt"
run diff "$folder/odd.json" "$folder/third"
report "names of others do not steer a terminal" "$(
    fault_of 0
    LC_ALL=C grep -c $'\e' "$folder/odd.txt" "$folder/out" | grep -v ':0$'
    grep -q '^Metric: m?\[1m$' "$folder/odd.txt" || echo "no metric"
    grep -q '^m?\[1m ' "$folder/out" || echo "no difference"
)"

# ---- what is refused --------------------------------------------------------------------------------

refuses "no word" 2 "bench metrics|FILE" -- metrics
refuses "two words" 2 "'$store'" -- metrics "$store" "$store"
refuses "half a difference" 3 "$store" -- diff "$store"
refuses "a format of tables" 2 "json|csv" -- metrics "$store" --format csv
refuses "what is not there" 3 "no-store" -- metrics "$folder/no-store"
refuses "what is no report" 3 "VERSION" -- metrics VERSION
refuses "a choice among one" 2 "--model|${records[0]}" -- metrics "${records[0]}" --model bert
refuses "a choice of nothing" 3 "$store|--model bert" -- metrics "$store" --model bert
refuses "how often without where" 2 "--metrics-every" -- "${tiny[@]}" --metrics-every 2
refuses "two things on standard output" 2 "--metrics -|--format json" -- \
    "${tiny[@]}" --metrics - --format json
run run "${tiny[@]}" --store "$folder/kept" --mode lazy --metrics "$folder/nowhere/m.txt"
report "a report that cannot be written is an error, and the records are kept" "$(
    fault_of 3 "nowhere/m.txt"
    [ "$(find "$folder/kept" -name '*.h5' | wc -l)" -eq 1 ] || echo "not one record"
)"
cp "${records[0]}" "$folder/kept/damaged.h5" && truncate -s 1000 "$folder/kept/damaged.h5"
run metrics "$folder/kept"
report "a damaged record does not hide the others" "$(
    fault_of 1 "damaged.h5"
    parsed "$folder/out" 'assert len(reports) == 1, reports'
)"

# ---- interrupted --------------------------------------------------------------------------------------

: >"$folder/err"
PJRT_SIM=device_us=400000,values=none "$bench" run "${quick[@]}" --store "$folder/cut" --runtime sim \
    --mode lazy --phase infer,train --device-time none --metrics "$folder/cut.txt" --verbose \
    >"$folder/out" 2>"$folder/err" </dev/null &
interrupted $! 120 '^\[2/2\].*warm-up'
report "interrupted, it writes the report of what is done" "$(
    fault_of 130 "interrupted" "1 of 2"
    parsed "$folder/cut.txt" 'assert len(reports) == 1 and reports[0][1]["MarkStep"] > 3, reports'
)"
echo "1..$count"
