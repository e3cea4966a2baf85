#!/bin/bash
# full_estimate_all.sh - bench estimate of every model, in training and inference, on the
# generations of TPU, as TAP: each has a figure or a refusal with a name. Records go to FOLDER/store,
# and the table of all of them, for docs/estimate.md, to FOLDER/estimates.md.
#
#   BENCH_ESTIMATE_ALL=FOLDER       where all of it goes; without it nothing runs: it takes an hour or more
#   BENCH_ESTIMATE_PHASES=train     one of the phases; both by default: train,infer
#   BENCH_ESTIMATE_MODELS=NAME,...  and BENCH_ESTIMATE_TOPOLOGIES=NAME,...  fewer of them
#   BENCH_ESTIMATE_RUNTIME=NAME     whose compiler, tpu by default
#   BENCH_ESTIMATE_OPTIONS='...'    further options of bench estimate; others need another FOLDER
#
# It may be stopped and called again, also with other models, phases or topologies. What the store has of
# this plugin is not estimated again, also where it has no estimate, and the table has all that the store has.
#
# needs: libtpu, BENCH_ESTIMATE_ALL
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
known=$("$bench" list models --format json | "$python" -c '
import json, sys
print(",".join(r["model"] for r in json.load(sys.stdin)))')
IFS=, read -ra models <<<"${BENCH_ESTIMATE_MODELS:-$known}"
IFS=, read -ra phases <<<"${BENCH_ESTIMATE_PHASES:-train,infer}"
topologies=${BENCH_ESTIMATE_TOPOLOGIES:-v4:1x1x1/megacore,v5e:1x1,v5p:1x1x1,v6e:1x1}
plugin=$(plugin_of "$runtime")
digest=$(sha256sum <"${plugin:-$runtime}" | cut -d ' ' -f 1)

# What was made with other options would pass for what is asked.
options="${further[*]}"
[ -e "$all/options" ] || echo "$options" >"$all/options"
if [ "$(<"$all/options")" != "$options" ]; then
    report "the folder is of these options" "$all is of '$(<"$all/options")', not of '$options'"
    echo "1..$count"
    exit 1
fi

# stored CODE WORD...: runs Python CODE with `rows`, what the store has of this plugin, the latest record of
# each step, and the `words`. A store that cannot be read is no empty one: all would be estimated again.
stored() {
    echo '{"rows": []}' >"$folder/rows"
    if [ -n "$(find "$all/store" -name '*.h5' -print -quit 2>/dev/null)" ]; then
        "$bench" table --table estimates --store "$all/store" --format json >"$folder/rows" 2>"$folder/err" ||
            return 1
    fi
    "$python" - "$folder/rows" "$digest" "$@" <<'PYTHON'
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["rows"] if r["plugin_sha256"] == sys.argv[2]]
words = sys.argv[4:]
exec(sys.argv[3])
PYTHON
}

# The topologies, of those that are asked for, on which the store does not have MODEL in PHASE.
left_of() {
    stored '
model, phase, asked = words
there = {r["topology"] for r in rows if (r["model"], r["phase"]) == (model, phase)}
print(",".join(t for t in asked.split(",") if t not in there))' "$1" "$2" "$topologies"
}

# The table of what the store has: inference first, models as bench list models has them.
make_table() {
    stored '
known, asked, path = words
def cell(r):
    if r["class"] != "ok":
        return r["class"]
    if r["estimated_ns"] is None:
        return "%.3g Mcycles" % (r["estimated_cycles"] / 1e6)
    return "%.3g ms" % (r["estimated_ns"] / 1e6)
steps, topologies = {}, asked.split(",")
for r in rows: # the last of a step that is cut is of all its graphs
    key = r["phase"], r["model"], r["batch"], r["dtype"]
    steps.setdefault(key, {})[r["topology"]] = cell(r)
    if r["topology"] not in topologies:
        topologies.append(r["topology"])
order = known.split(",")
place = lambda key: (key[0], order.index(key[1]) if key[1] in order else len(order), key[1:])
table = ["| model | phase | batch | type | " + " | ".join("estimated, " + t for t in topologies) + " |",
         "|---|---|---|---|" + "---|" * len(topologies)]
for phase, model, batch, dtype in sorted(steps, key=place):
    cells = steps[phase, model, batch, dtype]
    table.append("| %s | %s | %d | %s | " % (model, phase, batch, dtype) +
                 " | ".join(cells.get(t, "-") for t in topologies) + " |")
open(path, "w").write("\n".join(table) + "\n")' "$known" "$topologies" "$folder/estimates.md" || return 1
    mv "$folder/estimates.md" "$all/estimates.md"
}

# One call for each model and phase. Exit status 1 says that one has no estimate: whether it has a refusal in
# its place is looked at below.
report "every model is estimated, or refused by name" "$(
    for phase in "${phases[@]}"; do
        for model in "${models[@]}"; do
            if ! left=$(left_of "$model" "$phase"); then
                echo "$all/store cannot be read"
                exit
            fi
            [ -n "$left" ] || continue
            echo "# $phase of $model on $left" >&2
            run estimate --runtime "$runtime" --model "$model" --phase "$phase" --topology "$left" --timeout 2h \
                --cache-dir "$all/cache" --store "$all/store" --format json "${further[@]}"
            [ "$status" -le 1 ] || echo "$model $phase: exit status $status, neither 0 nor 1"
            make_table || echo "there is no table behind $model $phase"
        done
    done
    stored '
names = {"ok", "out-of-device-memory", "compile-error", "not-supported", "crash", "timeout"}
models, phases, topologies = (set(word.split(",")) for word in words)
there = set()
for r in rows:
    what = r["model"], r["phase"], r["topology"]
    there.add(what)
    assert r["class"] in names, (what, r["class"])
    assert r["class"] == "ok" or r["message"], what
    assert r["class"] != "ok" or r["estimated_cycles"] > 0, what
lacking = [(m, p, t) for m in models for p in phases for t in topologies if (m, p, t) not in there]
assert not lacking, lacking[:5]' "$(IFS=, && echo "${models[*]}")" "$(IFS=, && echo "${phases[*]}")" "$topologies" \
        2>&1 | tail -n 1
)"
report "their table is made" "$(
    make_table || echo "it cannot be"
    for phase in "${phases[@]}"; do
        for model in "${models[@]}"; do
            grep -q "^| $model | $phase | " "$all/estimates.md" || echo "$model $phase is not in it"
        done
    done
)"

rm -rf "$folder"
echo "1..$count"
