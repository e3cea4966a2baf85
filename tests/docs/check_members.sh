#!/bin/bash
# check_members.sh - docs/json-record.md against the records that bench writes, as TAP: each member of a
# record stands on the page, and the tables of what every record has name no other members. The records
# are of models, of a front end's processes, of a replayed step and of a recording.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
for_recordings
fake_front_ends
export PJRT_SIM=device_us=300,seed=1 PYTHONDONTWRITEBYTECODE=1
export FAKE_PROGRAM=$program FAKE_KEEP=$folder FAKE_GOLDEN=$PWD/tests/golden/resnet18.small.json
short=(--runtime sim --processes 1 --steps 12 --min-time 0 --warmup 8)

# What Python code here goes by: the page, its words in backticks, and members that it does not document.
definitions='
import os, re
page = open("docs/json-record.md").read()
words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`\n]*)`", page))))
# Others give the keys of these, or another page has them.
foreign = {"environment", "attributes", "options", "flags", "versions", "host_ops", "parts_ns_per_step",
           "metrics_per_step", "fallbacks_per_step", "estimate", "imported"}
def unknown(value, path=""):
    if isinstance(value, list):
        return {found for one in value for found in unknown(one, path)}
    if not isinstance(value, dict):
        return set()
    own = {path + key for key in value if key not in words}
    for key, one in value.items():
        own |= unknown(one, path + key + ".") if key not in foreign else set()
    return own
'

# documented WHAT ARGUMENT...: bench prints records as JSON, and the page documents all members.
documented() {
    local what=$1
    shift
    run "$@" --format json
    report "$what: the page has each member of a record" "$(
        fault_of 0
        holds "$definitions"'
assert records and all(r["status"] == "ok" for r in records), [r.get("message") for r in records]
assert not unknown(records), sorted(unknown(records))'
    )"
}

# provenance_documented WHAT STORE: the same of the provenance of what is in a store.
provenance_documented() {
    if ! can_import h5py; then
        skip "$1: the page has each member of its provenance" "$python has no h5py"
        return
    fi
    report "$1: the page has each member of its provenance" "$(
        "$python" - "$2" "$definitions" 2>&1 <<'PYTHON' | tail -n 1
import glob, json, sys
import h5py
exec(sys.argv[2])
files = glob.glob(sys.argv[1] + "/*.h5")
assert files, "no record"
for file in files:
    with h5py.File(file) as record:
        found = unknown(json.loads(record["provenance"][()]), "provenance.")
        assert not found, sorted(found)
PYTHON
    )"
}

documented "models" run --model resnet18 --variant small --mode eager,lazy,capture --graphs 1,3 --pin host \
    --store "$store" "${short[@]}"
report "tables of what every record has name no other members" "$(holds "$definitions"'
def named(title):
    part = page.split("\n" + title + "\n", 1)[1].split("\n#", 1)[0]
    heads = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {m for head in heads for m in re.findall(r"`(\w+)`", head)}
[r] = [r for r in records if r["experiment"]["mode"] == "lazy"]
for title, own in (("### experiment", r["experiment"]), ("### rounds", r["rounds"]), ("### ledger", r["ledger"]),
                   ("### executions", r["executions"][0]), ("### counters", r["counters"])):
    assert named(title) == set(own), (title, sorted(named(title) ^ set(own)))')"
documented "an example that reads in the middle of a step" run --model example_scalar --mode lazy --store "$store" \
    "${short[@]}"
documented "a front end" run --front-end jax --model resnet18 --variant small --mode capture --store "$store" \
    "${short[@]}"

run record --quiet --runtime sim --output "$folder/recorded" -- "$program" --steps 60 --way two
report "a program is recorded" "$(fault_of 0)"
run replay "$folder/recorded" "${short[@]}" --store "$folder/replayed"
provenance_documented "a replayed step" "$folder/replayed"
run import --store "$folder/imported" --model planted --phase train "$folder/recorded"
provenance_documented "a recording" "$folder/imported"
echo "1..$count"
