#!/bin/bash
# full_replay.sh - training loops of JAX and PyTorch/XLA are recorded and replayed without them, as
# TAP: on the build that they were recorded on, on the other builds for CPU that are set up, and on a
# simulated TPU v4. A recorded program, JAX's byte code or PyTorch/XLA's HLO, also runs by itself
# (bench --program). Each framework is that of the Python of BENCH_TEST_PYTHON, or else that of `make
# frontends`; without one it is skipped. Made-up values are not the recorded ones, so times on the other
# builds are printed, not judged. Judged are: on the build of the recording, executions one by one take half
# to twice the recorded device time; on the simulated device each program takes what was recorded.
#
# needs: JAX, PyTorch/XLA
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
scripts=tests/harness/commands/frameworks
for_recordings

# Other builds for CPU whose file is there, but $1.
others() {
    local name
    for name in cpu cpu-xla cpu-fastatomstruct; do
        [ "$name" != "$1" ] || continue
        "$bench" list runtimes --format json 2>/dev/null | "$python" -c '
import json, sys
sys.exit(not any(r["runtime"] == sys.argv[1] and r["found"] for r in json.load(sys.stdin)))' "$name" &&
            echo "$name"
    done
}

# replayed NAME OPTION...: the recording NAME with the options; says what went wrong, and prints what
# it came to.
replayed() {
    local name=$1
    shift
    rm -f "$folder/said"
    run replay "$folder/$name" --processes 1 --steps 20 --min-time 1 --store "$store" --format json "$@"
    fault_of 0
    holds '
[on] = records["runtimes"]
recorded = records["recorded"]
assert recorded["executions_per_step"] == records["executions"], records
assert on["back_to_back"]["ns"] > 0 and on["one_by_one"]["ns"] > 0, on
assert on["paced"]["ns"] > 0.99 * (records["host"]["work_ns"] + records["host"]["idle_ns"]), on
assert sum(p["times"] for p in on["programs"]) == records["executions"], on
assert records["carried"] > 0, records
ms = lambda ns: "%.3f" % (ns / 1e6) if ns else "-"
with open(folder + "/said", "w") as f:
    print("#", on["runtime"], records["executions"], "executions: recorded wall", ms(recorded["wall_ns"]),
          "device", ms(recorded["device_ns"]), "; back to back", ms(on["back_to_back"]["ns"]),
          "one by one", ms(on["one_by_one"]["ns"]), "with host", ms(on["paced"]["ns"]), "device", ms(on["device"]["ns"]), "ms", file=f)
'
}

# as_recorded: of the recording $name on $runtime, the build that it was made on.
as_recorded() {
    replayed "$name" --runtime "$runtime"
    holds '
[on], recorded = records["runtimes"], records["recorded"]["device_ns"]
assert 1 / 3 <= on["one_by_one"]["ns"] / recorded <= 2, (on["one_by_one"], recorded)
'
}

# try_way NAME RUNTIME SCRIPT ARGUMENT...: records it once and replays it everywhere.
try_way() {
    local name=$1 runtime=$2 other
    shift 2
    run record --runtime "$runtime" --output "$folder/$name" -- "$python" "$@"
    report "$name is recorded" "$(fault_of 0)"
    report "$name on the build that it was recorded on" "$(replayed "$name" --runtime "$runtime")"
    cat "$folder/said" 2>/dev/null
    live "$name one by one there takes a third to twice of the recorded device time" as_recorded busy_machine
    for other in $(others "$runtime"); do
        report "$name on $other" "$(replayed "$name" --runtime "$other")"
        cat "$folder/said" 2>/dev/null
    done
    report "$name on a simulated TPU v4, opaque" "$(
        replayed "$name" --runtime sim --runtime-option preset=tpu-v4
        holds '
[on] = records["runtimes"]
assert on["opaque"] is True, on
# The device counts in whole nanoseconds.
assert all(abs(p["device"]["ns"] - p["recorded_device_ns"]) <= 1 for p in on["programs"]), on
'
    )"
    cat "$folder/said" 2>/dev/null
}

# heaviest NAME FORM: of the recording's steady step the program with most device time, which must have
# been submitted as FORM. Its file goes to $folder/words, with the types of its arguments a line each
# where the file does not tell them; what bench steps says of it goes to $folder/most. Says what went
# wrong.
heaviest() {
    run steps "$folder/$1" --format json
    fault_of 0
    "$python" - "$folder" "$@" 2>&1 >"$folder/words" <<'PYTHON' | tail -n 1
import glob, json, sys
folder, name, form = sys.argv[1:]
most = max(json.load(open(folder + "/out"))["programs"], key=lambda p: p["device_step_ns"])
json.dump(most, open(folder + "/most", "w"))
assert most["form"] == form, most
[file] = glob.glob(f"{folder}/{name}/*/programs/{most['hash']}.{form}")
print(file)
if form == "mlir":
    assert open(file, "rb").read(4) == b"ML\xefR", "it is no byte code"
    # Weights and batch of train_jax.py are of one type, which is that of all results but the loss.
    [type] = {t for t in most["result_types"] if not t.endswith("[]")}
    print("\n".join([type] * most["arguments"]))
PYTHON
}

# as_program NAME FORM: that program by itself on cpu, with made-up arguments.
as_program() {
    local words=() types=() type
    rm -f "$folder/words" "$folder/most" "$folder/said"
    heaviest "$@"
    mapfile -t words <"$folder/words"
    [ ${#words[@]} -gt 0 ] || return
    for type in "${words[@]:1}"; do
        types+=(--argument "$type")
    done
    run run --program "${words[0]}" ${types[@]+"${types[@]}"} --runtime cpu --processes 1 --steps 20 \
        --min-time 1 --store "$store" --format json
    fault_of 0
    holds '
import hashlib
[r], most = records, json.load(open(folder + "/most"))
file = open(folder + "/words").readline().rstrip("\n")
assert r["status"] == "ok", r.get("message")
assert r["experiment"]["phase"] == "program" and r["experiment"]["runtime"] == "cpu", r["experiment"]
[x], program = r["executions"], r["provenance"]["program"]
assert program["sha256"] == hashlib.sha256(open(file, "rb").read()).hexdigest(), program
assert program["made_up"] is True, program
assert (x["arguments"], x["results"]) == (most["arguments"], most["results"]), (x, most)
# What the step of JAX donates comes back as a result, so nothing is sent a second time.
sent = r["counters"]["transfers_to_device"]
assert sent >= most["arguments"], (sent, most)
assert most["form"] != "mlir" or (most["donated"] > 0 and sent == most["arguments"]), (sent, most)
with open(folder + "/said", "w") as f:
    print("# cpu %s by itself: %.3f ms a step; recorded device %.3f ms" % (
        most["name"], r["ledger"]["wall"]["median_ns"] / 1e6, most["device_ns"] / 1e6), file=f)
'
}

if python_with jax jax; then
    for way in fused two ops; do
        try_way "jax-$way" cpu "$scripts/train_jax.py" --way $way --steps 120
    done
    report "JAX's byte code of jax-fused runs as a program of its own" "$(as_program jax-fused mlir)"
    cat "$folder/said" 2>/dev/null
else
    skip "JAX" "it is not installed: make frontends FRONTENDS=jax"
fi
if python_with torch_xla pytorch-xla; then
    for way in lazy dynamo dynamo-step; do
        try_way "torch-$way" cpu-xla "$scripts/train_torch.py" --way $way --steps 120
    done
    report "PyTorch/XLA's HLO of torch-lazy runs as a program of its own" "$(as_program torch-lazy hlo)"
    cat "$folder/said" 2>/dev/null
else
    skip "PyTorch/XLA" "it is not installed: make frontends FRONTENDS=pytorch-xla"
fi
echo "1..$count"
