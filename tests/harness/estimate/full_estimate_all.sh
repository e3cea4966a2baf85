#!/bin/bash
# full_estimate_all.sh - bench estimate of every model, in training and inference, on the
# generations of TPU, as TAP: each has a figure or a refusal with a name. It makes the table
# FOLDER/estimates.md, for docs/estimate.md, and records in FOLDER/store.
#
#   BENCH_ESTIMATE_ALL=FOLDER       where all of it goes; without it nothing runs: it takes hours
#   BENCH_ESTIMATE_RUNTIME=NAME     whose compiler, tpu by default
#   BENCH_ESTIMATE_MODELS=NAME,...  and BENCH_ESTIMATE_TOPOLOGIES=NAME,...  fewer of them
#   BENCH_ESTIMATE_OPTIONS='...'    further options of bench estimate
#
# It may be stopped and called again: what was compiled lies in FOLDER/cache.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

all=${BENCH_ESTIMATE_ALL:-}
runtime=${BENCH_ESTIMATE_RUNTIME:-tpu}
if [ -z "$all" ]; then
    echo "1..1"
    echo "ok 1 - estimates of all models # SKIP they take hours: BENCH_ESTIMATE_ALL=FOLDER"
    exit 0
fi
if [ "$runtime" = tpu ] && ! "$bench" list runtimes 2>/dev/null | grep -q 'libtpu.so'; then
    echo "1..1"
    echo "ok 1 - estimates of all models # SKIP libtpu is not here: make runtime-tpu"
    exit 0
fi
mkdir -p "$all" || exit 1
read -ra further <<<"${BENCH_ESTIMATE_OPTIONS:-}"
estimate=(estimate --runtime "$runtime" --model "${BENCH_ESTIMATE_MODELS:-all}" --phase "train,infer"
    --topology "${BENCH_ESTIMATE_TOPOLOGIES:-v4:1x1x1/megacore,v5e:1x1,v5p:1x1x1,v6e:1x1}"
    --timeout 2h --cache-dir "$all/cache" --format json "${further[@]}")

# Exit status 1 says that one has no estimate: whether it has a refusal in its place is looked at below.
run "${estimate[@]}" --store "$all/store"
report "every model is estimated, or refused by name" "$(
    [ "$status" -le 1 ] || echo "exit status $status, neither 0 nor 1"
)$(holds '
names = {"ok", "out-of-device-memory", "compile-error", "not-supported", "crash", "timeout"}
seen = set()
for line in records:
    e = line["experiment"]
    what = (e["model"], e["phase"], line["topology"])
    assert what not in seen, what
    seen.add(what)
    assert line["class"] in names, (what, line["class"])
    assert line["class"] == "ok" or line["message"], what
    assert line["class"] != "ok" or line["estimate"]["cycles"] > 0, what
models, phases, topologies = (len({w[i] for w in seen}) for i in range(3))
assert phases == 2 and len(seen) == models * phases * topologies, (models, phases, topologies)
')"

report "their table is made" "$(holds '
def cell(line):
    if line["class"] != "ok":
        return line["class"]
    if line["estimated_ms"] is None:
        return "%.3g Mcycles" % (line["estimate"]["cycles"] / 1e6)
    return "%.3g ms" % line["estimated_ms"]
rows, topologies = {}, []
for line in records:
    e = line["experiment"]
    row = rows.setdefault((e["model"], e["phase"], e["batch"], e["dtype"]), {})
    row[line["topology"]] = cell(line)
    if line["topology"] not in topologies:
        topologies.append(line["topology"])
table = ["| model | phase | batch | type | " + " | ".join("estimated, " + t for t in topologies) + " |",
         "|---|---|---|---|" + "---|" * len(topologies)]
for key, row in rows.items():
    table.append("| %s | %s | %d | %s | " % key + " | ".join(row[t] for t in topologies) + " |")
open(folder + "/estimates.md", "w").write("\n".join(table) + "\n")
')"
[ ! -s "$folder/estimates.md" ] || mv "$folder/estimates.md" "$all/estimates.md"

run "${estimate[@]}"
report "what was compiled is not compiled again" "$(
    [ "$status" -le 1 ] || echo "exit status $status, neither 0 nor 1"
)$(holds '
for line in records:
    if line["class"] in ("ok", "out-of-device-memory"):
        assert line["cached"], (line["experiment"]["model"], line["topology"])
')"

rm -rf "$folder"
echo "1..$count"
