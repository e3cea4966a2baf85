#!/bin/bash
# check_unread_record.sh - recordings whose programs are byte code that nobody can read, as TAP: each
# command goes on without their text, or says once what it cannot read. A program of our own
# (pjrt_program.c) is recorded on the simulated device, which is given the costs of its byte code. What is
# damaged after recording: check_graph.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
unset PJRT_SIM
# A front end that stands for JAX: it reads byte code, and refuses what is damaged.
fake_front_ends

# said TEXT...: says which of TEXTs standard output lacks.
said() {
    local text
    for text in "$@"; do
        tr '\n' ' ' <"$folder/out" | grep -qF -- "$text" || echo "nothing says '$text'"
    done
}

# silent STATUS: says where the last run differs from it, or complained.
silent() {
    fault_of "$1"
    complaints
}

# ---- the recording ------------------------------------------------------------------------

damaged=(--byte-code --damaged-after 0 --way two --steps 60)
PJRT_LIBRARY_PATH=$sim "$program" "${damaged[@]}" >"$folder/bare" 2>"$folder/err"
run record --runtime sim --output "$folder/all" -- "$program" "${damaged[@]}"
report "byte code that nobody can read is recorded byte for byte, and the program goes on as it was" "$(
    fault_of 0
    grep -q "120 executions of 2 programs" "$folder/err" || echo "not said"
    same_member checksum "$folder/bare" "$folder/out"
    holds '
import glob
files = [open(f, "rb").read() for f in glob.glob(folder + "/all/*/programs/*.mlir")]
assert len(files) == 2 and all(f.startswith(b"ML\xefRdamaged ") for f in files), files'
)"
run record --quiet --runtime sim --output "$folder/text" -- "$program" --way two --steps 60
run steps "$folder/text" --format json
cp "$folder/out" "$folder/of-text"

# ---- what needs no text -------------------------------------------------------------------

# Each program takes 2 ms. On a busy machine the end of one may be seen late, and the other then looks short.
run steps "$folder/all" --format json
report "its steps are found as those of a text are" "$(
    silent 0
    holds '
text = json.load(open(folder + "/of-text"))
def about(r):
    return [(p["name"], p["form"], p["times"], p["arguments"], p["results"], p["donated"], p["result_types"])
            for p in r["programs"]]
assert about(records) == about(text), (about(records), about(text))
assert records["steps"] >= 20 and records["executions_per_step"] == 2, records["steps"]
assert records["verdict"] != "unknown" and records["answer"]["wall"]["ns"] >= 3.9e6, records["answer"]
assert sum(p["device_step_ns"] for p in records["programs"]) >= 3.9e6, records
assert all(len(p["hash"]) == 32 for p in records["programs"]), records'
)"
run steps "$folder/all" --trace "$folder/trace.json"
report "and drawn" "$(
    silent 0
    "$python" - "$folder/trace.json" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
names = [e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e.get("cat") == "execute"]
assert names.count("gradient") == names.count("update") == 60, names
PYTHON
)"
run doctor "$folder/all" --format json
report "the doctor looks at them" "$(
    silent 0
    holds '
assert records["completions"] and records["executions_per_step"] == 2 and records["steps"] >= 20, records
assert not [c for c in records["complaints"] if c["rule"] in ("compiles", "donation")], records'
)"
run import --store "$store" --model unread --phase train "$folder/all"
report "they become a record" "$(
    silent 0
    [ "$(stored)" -eq 1 ] || echo "$(stored) records"
)"
run table --store "$store" --table executions --format json
report "which has the device times of both programs" "$(
    silent 0
    holds '
rows = {r["graph"]: r for r in records["rows"]}
assert sorted(rows) == ["gradient", "update"], rows
assert all(r["model"] == "unread" and r["mode"] == "recorded" for r in rows.values()), rows'
)"

# ---- replays ------------------------------------------------------------------------------

short=(--processes 1 --steps 3 --min-time 0 --warmup 8 --store "$folder/replays" --format json)
run replay "$folder/all" "${short[@]}" --runtime sim
report "on the simulated device they are replayed as opaque programs" "$(
    silent 0
    holds '
[on] = records["runtimes"]
assert on["opaque"] is True and records["programs"] == records["executions"] == 2, records
for p in on["programs"]:
    assert p["device"]["ns"] == p["recorded_device_ns"] > 0, p
a_step = sum(p["device"]["ns"] for p in on["programs"])
assert on["back_to_back"]["ns"] >= a_step and on["one_by_one"]["ns"] >= a_step >= 1.9e6, on'
)"
run replay "$folder/all" "${short[@]}" --runtime "$fake"
report "and on a runtime that takes any bytes" "$(
    silent 0
    holds '
[on] = records["runtimes"]
assert on["opaque"] is False and on["back_to_back"]["ns"] > 0 and on["one_by_one"]["ns"] > 0, on'
)"
run replay "$folder/all" "${short[@]}" --runtime cpu,sim
report "a runtime that cannot read them is named once, and the other's times are shown" "$(
    fault_of 1 "on cpu" "gradient"
    holds '
on = {r["runtime"]: r for r in records["runtimes"]}
a_step = sum(p["device"]["ns"] for p in on["sim"]["programs"])
assert on["sim"]["back_to_back"]["ns"] >= a_step and on["sim"]["one_by_one"]["ns"] >= a_step >= 1.9e6, on
assert on["cpu"]["back_to_back"]["ns"] is None and on["cpu"]["one_by_one"]["processes"] == 0, on'
)"

# ---- graphs -------------------------------------------------------------------------------

run diff "$folder/all"
report "programs that nobody compares need not be read" "$(
    silent 0
    said "no process compiled two programs of one name"
)"
files=("$folder"/all/*/programs/*.mlir)
refuses "one of them has no text" 3 "all/|.mlir: |JAX" \
    -- graph "${files[0]}"

# Five programs of one name, of which JAX reads the first two.
PJRT_SIM=compile_us=20000 run record --quiet --runtime sim --output "$folder/some" -- \
    "$program" --byte-code --damaged-after 2 --steps 50 --anew-every 10
run diff "$folder/some" --format json
report "those that can be read are compared, and of each other pair it is said why it is not" "$(
    fault_of 3 "byte code" "ValueError: not a"
    holds '
assert records["same"] is False and records["left_out"] == records["not_kept"] == 0, records
pairs = records["pairs"]
good = [p for p in pairs if p["difference"]]
bad = [p for p in pairs if p["fault"]]
assert len(pairs) >= 4 and len(good) == 1 and len(good) + len(bad) == len(pairs), pairs
assert good[0]["difference"]["changed"] == 1 and good[0]["a"]["executions"] > 0, good
assert all(p["difference"] is None and "cannot read it: ValueError: not a" in p["fault"] for p in bad), bad
assert len({p["b"]["hash"] for p in pairs}) == len(pairs), "a pair is listed twice"'
)"
run diff "$folder/some"
report "in words, too" "$(
    fault_of 3 "JAX"
    said "1 changed, 0 added, 0 removed" "constant: " "cannot read it: ValueError" \
        "  bench diff $folder/some/"
)"
run diff "$folder/some" --format csv
report "and in a table" "$(
    fault_of 3 "JAX"
    [ "$(grep -c "cannot read it" "$folder/out")" -ge 3 ] || echo "not all rows say it"
    said "1 changed, 0 added, 0 removed"
)"
run doctor "$folder/some" --format json
report "the doctor says that they are compiled anew, and that their code differs" "$(
    silent 0
    holds '
[c] = [c for c in records["complaints"] if c["rule"] == "compiles"]
assert "the code differs" in c["where"] and "fused" in c["where"], c'
)"
run steps "$folder/some" --step-program fused
report "and its steps are found where their beginning is named" "$(
    silent 0
    said "steady steps"
)"

# ---- a runtime that cannot read them either -----------------------------------------------

# The fault stands for what its compiler says.
PJRT_SIM=faults=compile:1:fail run record --runtime sim --output "$folder/refused" -- \
    "$program" "${damaged[@]}"
report "a program that its runtime refuses ends as without the recorder" "$(
    [ "$status" -eq 9 ] || echo "exit status $status, not the program's"
    grep -q "pjrt_program: compile: " "$folder/err" || echo "the program's word is lost"
)"
refuses "it has no steps" 3 "refused" -- steps "$folder/refused"
refuses "nor anything for the doctor" 3 "refused" -- doctor "$folder/refused"
refuses "nor a record" 3 "refused" -- import --store "$folder/none" "$folder/refused"
refuses "nor a replay" 3 "refused" -- replay "$folder/refused" --runtime sim --store "$folder/none"
report "and no store is begun for it" "$(ls -d "$folder/none" 2>/dev/null)"
echo "1..$count"
