#!/bin/bash
# check_replay.sh - bench replay of a recording from outside, as TAP: a recording that
# make_recording writes by hand, on the default runtime and on the simulated one.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

make=$built/tests/harness/replay/make_recording
short=(--processes 1 --steps 3 --min-time 0 --warmup 8 --store "$store")
for kind in text opaque unweighed unended readable alike cut unkept several stages types host ahead; do
    "$make" $kind "$folder/$kind" || exit 1
done

run replay "$folder/text" "${short[@]}" --format json
report "a recorded step is replayed on the default runtime" "$(
    fault_of 0
    holds '
r = records
assert (r["name"], r["programs"], r["executions"], r["inputs"], r["carried"]) == ("text", 2, 2, 2, 1), r
recorded = r["recorded"]
assert recorded["executions_per_step"] == 2 and recorded["steps"] >= 10, recorded
assert recorded["wall_ns"] == 10e6 and recorded["device_ns"] == 5e6, recorded
[on] = r["runtimes"]
assert (on["runtime"], on["simulated"], on["opaque"]) == ("cpu", False, False), on
assert on["back_to_back"]["ns"] > 0 and on["one_by_one"]["ns"] > 0, on
grad, update = on["programs"]
assert (grad["name"], grad["times"], grad["arguments"], grad["results"]) == ("jit_grad", 1, 2, 2), grad
assert (update["name"], update["arguments"], update["results"]) == ("jit_update", 2, 1), update
assert grad["recorded_device_ns"] == 3e6 and update["recorded_device_ns"] == 2e6, on
'
)"
run table --store "$store" --format json
report "all variants are records of one group in the store" "$(
    fault_of 0
    holds '
rows = {row["mode"]: row for row in records["rows"]}
assert sorted(rows) == ["replay", "replay-awaited", "replay-paced"], rows
assert all(row["model"] == "text" and row["phase"] == "program" for row in rows.values()), rows
'
    [ "$(stored)" -eq 3 ] || echo "$(stored) records, not three"
)"

run replay "$folder/text/4711-1000000000" "${short[@]}" --model mine --seed 3
report "the process's own folder, with a name, as text" "$(
    fault_of 0
    for text in "mine: recorded process 4711, 2" "replay: back to back" "replay: one by one" \
        "replay: with the host's time" "jit_update" "CPU clocks"; do
        grep -qF "$text" "$folder/out" || echo "nothing says '$text'"
    done
)"
run replay "$folder/text" "${short[@]}" --step-program jit_update --process 4711 --format json
report "the user says where a step begins" "$(
    fault_of 0
    holds '
assert [p["name"] for p in records["runtimes"][0]["programs"]] == ["jit_update", "jit_grad"], records
'
)"

sim=(--runtime sim --runtime-option preset=tpu-v4 --runtime-option release_us=0)
run replay "$folder/text" "${short[@]}" "${sim[@]}" --format json
report "texts are read on the simulated device" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
assert on["simulated"] is True and on["opaque"] is False, on
assert on["device"]["ns"] < 1e6, on
'
)"
run replay "$folder/readable" "${short[@]}" "${sim[@]}" --format json
report "and need no recorded device time there" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
assert on["opaque"] is False and sorted(p["recorded_device_ns"] or 0 for p in on["programs"]) == [0, 3e6], on
'
)"
# screen LENGTH: whether a replay says as bench run does what it will run, on what, and where records go;
# LENGTH is what it says of how long that takes.
screen() {
    local text
    run replay "$folder/readable" --runtime sim --processes 2 --steps 3 --min-time 500ms --warmup 8 \
        --device-time none --store "$folder/screen"
    fault_of 0
    for text in "replay of readable: 3 experiments in 2 processes on runtime sim; records go to $folder/screen" \
        "$1" "Ctrl-C keeps what is done"; do
        grep -qE "^\[0/2\] $text\$" "$folder/err" || echo "no line '$text'"
    done
    [[ "$(head -n 1 "$folder/err")" == "[0/2] replay of "* ]] || echo "it does not come first"
}
report "a replay says before it runs what it will do" \
    "$(screen "no record here says how long starting and compiling take;.*")"
report "and the second time how long the first one took" \
    "$(screen "about [0-9]+ s, as long as the same took here before")"
run replay "$folder/readable" "${short[@]}" "${sim[@]}" --quiet
report "a quiet one does not" "$(
    fault_of 0
    cat "$folder/err"
)"
# names KIND COUNT BEGIN: so many parts, each of a name of its own that begins so.
names() {
    run replay "$folder/$1" "${short[@]}" "${sim[@]}" --format json
    fault_of 0
    holds "
names = [p['name'] for p in records['runtimes'][0]['programs']]
assert len(set(names)) == len(names) == $2 and all(n.startswith('$3') for n in names), names
"
}
report "programs of one name, and one called as the second of them would be, get a name each" "$(names alike 3 f)"
report "so do programs whose names differ behind what is kept of them" "$(
    names cut 2 a_name_of_sixty_letters_of_which_a_part_keeps_fe
)"
run replay "$folder/opaque" "${short[@]}" "${sim[@]}" --format json
report "what it cannot read takes the device times of the recording" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
assert on["simulated"] is True and on["opaque"] is True, on
assert [p["device"]["ns"] for p in on["programs"]] == [3e6, 2e6], on
assert 5e6 <= on["back_to_back"]["ns"] and 5e6 <= on["one_by_one"]["ns"], on
'
)"
in_less_time() {
    run replay "$folder/opaque" "${short[@]}" "${sim[@]}" --format json
    fault_of 0
    holds '
[on] = records["runtimes"]
assert on["back_to_back"]["ns"] < on["one_by_one"]["ns"], on
'
}
live "back to back they take less time than one by one" in_less_time busy_stores "$store"
# The device's part takes the recorded time, so that all else is the host's.
with_host() { # KIND CONDITION
    run replay "$folder/$1" "${short[@]}" "${sim[@]}" --format json
    fault_of 0
    holds "
[on] = records['runtimes']
host, paced, wall = records['host'], on['paced']['ns'], records['recorded']['wall_ns']
queued = on['back_to_back']['ns']
assert on['opaque'] is True and sum(p['device']['ns'] for p in on['programs']) == 5e6, on
$2
"
}
awaited() {
    with_host host '
assert wall == 15e6 and host["waits"] == 1 and host["ahead"] is False, host
assert abs(host["work_ns"] - 10e6) < 1e5 and host["idle_ns"] < 1e5, host
assert abs(paced / wall - 1) < 0.03, (paced, wall)
assert queued < 0.5 * wall, (queued, wall)
'
}
live "with the host's time a step takes what was recorded: 10 ms of the host, then 5 of the device" \
    awaited busy_stores "$store"
ahead() {
    with_host ahead '
assert wall == 10e6 and host["waits"] == 0 and host["ahead"] is True, host
assert abs(host["work_ns"] - 10e6) < 1e5, host
assert abs(paced / wall - 1) < 0.03, (paced, wall)
'
}
live "a host that ran ahead runs ahead: 10 ms of the host during 5 of the device" \
    ahead busy_stores "$store"
run replay "$folder/host" "${short[@]}" "${sim[@]}"
report "what that assumes is said" "$(
    fault_of 0
    for text in "replay: with the host's time" "9.9"; do
        grep -qF "$text" "$folder/out" || echo "nothing says '$text'"
    done
    ! grep -qF "CPU clocks" "$folder/out" || echo "clocks that were there"
)"
run replay "$folder/ahead" "${short[@]}" "${sim[@]}"
report "and that two steps are in flight" "$(
    fault_of 0
    grep -qF "two steps are in flight" "$folder/out" || echo "not said"
)"
run replay "$folder/opaque" "${short[@]}" "${sim[@]}" --cost roofline --format json
report "or its compiler's figures by roofline" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
grad, update = [p["device"]["ns"] for p in on["programs"]]
assert abs(grad - 1e6) < 3e4 and abs(update - 0.5e6) < 3e4, on
'
)"
refuses "no roofline stands in for a device time that was not recorded" 1 \
    "jit_update|--cost roofline" -- \
    replay "$folder/unended" "${short[@]}" "${sim[@]}"
run replay "$folder/unended" "${short[@]}" "${sim[@]}" --cost roofline --format json
report "but it does where it is asked for" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
assert records["cost"] == "roofline" and on["opaque"] is True, records
grad, update = [p["device"]["ns"] for p in on["programs"]]
assert abs(grad - 1e6) < 3e4 and abs(update - 0.5e6) < 3e4, on
'
)"
# estimate FILE [MEMBER=JSON...]: writes what bench estimate prints of the opaque recording's step,
# with members of the second program's line changed.
run table --store "$store" --format json
step=$("$python" - "$folder/out" <<'PYTHON'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
print(next(r["variant"] for r in rows if r["model"] == "opaque" and len(r["variant"].split()) == 2))
PYTHON
)
estimate() {
    "$python" - "$step" "$@" <<'PYTHON'
import json, sys
step, path, changes = sys.argv[1], sys.argv[2], sys.argv[3:]
lines = [{"experiment": {"variant": step}, "topology": "v4:1x1x1/megacore", "graph": name, "class": "ok",
          "estimated_ms": ms} for name, ms in (("jit_grad", 4.5), ("jit_update", 1.25))]
lines.append(dict(lines[0], experiment={"variant": "step of others"}, estimated_ms=9))
for change in changes:
    name, value = change.split("=", 1)
    lines[1][name] = json.loads(value)
json.dump(lines, open(path, "w"))
PYTHON
}
estimate "$folder/estimates.json"
run replay "$folder/opaque" "${short[@]}" "${sim[@]}" --estimates "$folder/estimates.json" --format json
report "or what another device's compiler expects" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
assert records["cost"] == "estimated" and records["topology"] == "v4:1x1x1/megacore", records
assert [p["device"]["ns"] for p in on["programs"]] == [4.5e6, 1.25e6], on
assert [p["recorded_device_ns"] for p in on["programs"]] == [3e6, 2e6], on
assert on["back_to_back"]["ns"] >= 5.75e6, on
'
)"
run table --store "$store" --format json
report "under a variant of its own" "$(
    fault_of 0
    holds '
variants = {r["variant"] for r in records["rows"] if r["model"] == "opaque"}
assert any(v.endswith(" estimated v4:1x1x1/megacore") for v in variants), variants
'
)"
estimate "$folder/estimates.json" estimated_ms=0
run replay "$folder/opaque" "${short[@]}" "${sim[@]}" --estimates "$folder/estimates.json" --format json
report "which may be nothing for a program that returns a constant" "$(
    fault_of 0
    holds '
[on] = records["runtimes"]
assert [p["device"]["ns"] for p in on["programs"]] == [4.5e6, 0], on
'
)"
estimated() { # WHAT STATUS TEXTS MEMBER=JSON...
    estimate "$folder/bad.json" "${@:4}"
    refuses "$1" "$2" "$3" -- \
        replay "$folder/opaque" "${short[@]}" "${sim[@]}" --estimates "$folder/bad.json"
}
estimated "estimates of another step" 2 "$folder/bad.json|jit_update|bench estimate" \
    'experiment={"variant": "step 000000000000"}'
estimated "estimates that lack a program" 2 "jit_update" 'graph="other"'
estimated "estimates without a time" 2 "'compile-error'" 'estimated_ms=null' \
    'class="compile-error"'
estimated "a time that cannot be" 2 "-1 ms" 'estimated_ms=-1'
estimated "times of two topologies" 2 "v4:1x1x1/megacore|v5e" 'topology="v5e"'
for odd in '{"lines": []}' '[3]' '[{"experiment": {"variant": "x"}, "graph": "jit_grad"}]'; do
    printf '%s' "$odd" >"$folder/bad.json"
    refuses "estimates that are none: $odd" 3 "$folder/bad.json" -- \
        replay "$folder/opaque" "${short[@]}" "${sim[@]}" --estimates "$folder/bad.json"
done
printf '[{' >"$folder/bad.json"
refuses "estimates that are no JSON" 3 "$folder/bad.json" -- \
    replay "$folder/opaque" "${short[@]}" "${sim[@]}" --estimates "$folder/bad.json"
refuses "two ways to weigh a program" 2 "--cost roofline" -- replay "$folder/opaque" "${short[@]}" \
    "${sim[@]}" --cost roofline --estimates "$folder/estimates.json"
run replay "$folder/unweighed" "${short[@]}" "${sim[@]}" --cost roofline
report "a compiler that gave no figures, and what to do then" "$(
    fault_of 1 FLOPs cpu-xla --cost
)"
refuses "estimates for a real device" 1 "--estimates" -- replay "$folder/opaque" \
    "${short[@]}" --estimates "$folder/estimates.json"
run replay "$folder/opaque" "${short[@]}" "${sim[@]}"
report "which is said" "$(
    fault_of 0
    grep -qF opaque "$folder/out" || echo "nothing says opaque"
)"

run replay "$folder/opaque" "${short[@]}" --format json
report "a runtime that cannot read a program says which, and no process is called ok" "$(
    fault_of 1 "program jit_grad"
    grep -E '^\[.*: ok in ' "$folder/err"
    grep -qE '^\[1/.*process 1 of .*: [a-z]+-error, 3 of 3 failed in ' "$folder/err" || echo "not said"
)"
refuses "a program whose code was not kept" 3 "jit_update" -- \
    replay "$folder/unkept" "${short[@]}"
refuses "a step whose programs run on several devices" 1 \
    "$folder/several|2 devices|execution 0|jit_grad|replicas" -- \
    replay "$folder/several" "${short[@]}"
refuses "a step whose programs run on a device each" 1 \
    "$folder/stages|2 devices" -- \
    replay "$folder/stages" "${short[@]}"
refuses "a type that cannot be made up" 1 "s4[2,8]" -- replay "$folder/types" "${short[@]}"
mkdir "$folder/models"
(cd "$folder" && "$bench" replay models --estimates none >out 2>err </dev/null; echo $? >models/status)
status=$(<"$folder/models/status")
report "a folder does not hide a published case" "$(fault_of 2 --estimates resnet50 "'models'")"
refuses "neither a recording nor a published case" 3 "'no-such-recording'|resnet50" -- replay no-such-recording
refuses "a folder without a recording" 3 "$folder/none" -- replay "$folder/none/" "${short[@]}"
refuses "a cost that there is not" 2 "recorded, roofline" -- \
    replay "$folder/text" --cost dear "${short[@]}"
refuses "a step that there is not" 3 "jit_other" -- \
    replay "$folder/text" --step-program jit_other "${short[@]}"
mkdir "$folder/text/4712-2000000000"
head -c 5000 /dev/zero >"$folder/text/4712-2000000000/events"
refuses "a recording of which a process is damaged" 3 "$folder/text|4712-2000000000|--process" -- \
    replay "$folder/text" "${short[@]}"
run replay "$folder/text" "${short[@]}" --process 4711 --format json
report "unless another one is named" "$(
    fault_of 0
    holds 'assert records["runtimes"][0]["back_to_back"]["ns"] > 0, records'
)"
rm -r "$folder/text/4712-2000000000"
for file in "$folder"/text/*/programs/*.mlir; do
    echo "// edited" >>"$file"
    break
done
run replay "$folder/text" "${short[@]}"
report "a program's file that was edited" "$(fault_of 3 "$folder/text" hash)"

echo "1..$count"
