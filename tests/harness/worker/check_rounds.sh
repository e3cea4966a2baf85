#!/bin/bash
# check_rounds.sh - what records say of experiments that share their processes, as TAP: the order of
# turns, the step of each turn that is not kept, who compiles, and what becomes of those that do not
# fit into memory together. On the simulated device. A busy machine makes no difference: times are
# held against what they cannot fall below.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

if ! "$python" -c 'import h5py' 2>/dev/null; then
    echo "1..1"
    skip "rounds" "$python has no h5py"
    exit 0
fi

# of_records STORE CODE: runs Python CODE with `records`, a dict of each file in the order of their
# ids, and `of`, those of a process by mode; prints what an assertion said.
of_records() {
    "$python" - "$1" "$2" 2>&1 <<'PYTHON' | tail -n 3
import glob, json, sys
import h5py
records, of = [], {}
for path in sorted(glob.glob(sys.argv[1] + "/*.h5")):
    with h5py.File(path, "r") as f:
        columns = [c.decode() if isinstance(c, bytes) else c for c in f["rounds"].attrs["columns"]]
        r = {"mode": f["experiment"].attrs["mode"], "status": f.attrs["status"],
             "group": json.loads(f["provenance"][()])["group"], "id": f.attrs["id"],
             "repeated": json.loads(f["provenance"][()]).get("nearness", {}).get("repeated", 0),
             "counters": {k: int(v) for k, v in f["counters"].attrs.items()},
             "kept": int(f["step_counters"].attrs["steps"]),
             "wall_ns": [int(w) for w in f["steps/wall_ns"][()]],
             "warmup": len(f["warmup/wall_ns"][()]),
             "probed": [int(p[0]) for x in f["executions"].values() if "probes" in x
                        for p in x["probes"][()]],
             "from_disk": [bool(x.attrs["from_disk"]) for x in f["executions"].values()],
             "rounds": [dict(zip(columns, map(int, row))) for row in f["rounds"][()]]}
        r["mode"] = r["mode"].decode() if isinstance(r["mode"], bytes) else r["mode"]
    records.append(r)
    of.setdefault(r["group"]["process"], {})[r["mode"]] = r
exec(sys.argv[2])
PYTHON
}

sim=(run --runtime sim --model resnet18 --variant small --phase infer --mode lazy,capture
    --warmup 8 --device-time none --runtime-option values=none)

# ---- turns -------------------------------------------------------------------------------------

run "${sim[@]}" --runtime-option device_us=200 --processes 3 --min-time 0.3 --store "$folder/turns"
ran=$(fault_of 0)
report "in each round every mode has its turn, in an order that is drawn anew" "$ran$(
    of_records "$folder/turns" '
assert sorted(of) == [1, 2, 3], sorted(of)
orders = []
for process in of.values():
    places = [[r["position"] for r in process[m]["rounds"]] for m in ("lazy", "capture")]
    assert len(places[0]) == len(places[1]) >= 20, places
    assert all(sorted(pair) == [0, 1] for pair in zip(*places)), places
    assert set(places[0]) == {0, 1}, places
    orders.append(tuple(places[0]))
assert len(set(orders)) == 3, orders
'
)"
report "one step of each turn is not kept" "$ran$(
    of_records "$folder/turns" '
for r in records:
    rounds = r["rounds"]
    assert sum(x["steps"] for x in rounds) == len(r["wall_ns"]) == r["kept"], r["id"]
    # Counters have the steps of rounds that were measured again, too; records do not.
    again = r["counters"]["steps"] - (r["warmup"] + len(rounds) + r["kept"])
    least, most = (1 + f(x["steps"] for x in rounds) for f in (min, max))
    assert r["repeated"] * least <= again <= r["repeated"] * most, (r["id"], again, r["repeated"])
'
)"
report "the first process compiles, the others load what it made" "$ran$(
    of_records "$folder/turns" '
for number, process in of.items():
    compiled = sum(r["counters"]["compiles"] for r in process.values())
    loaded = sum(r["counters"]["disk_hits"] for r in process.values())
    from_disk = [all(r["from_disk"]) for r in process.values()]
    if number == 1:
        assert compiled >= 1 and not all(from_disk), (compiled, from_disk)
    else:
        assert compiled == 0 and loaded == 2 and all(from_disk), (number, compiled, loaded)
'
    run table --store "$folder/turns" --format json
    holds '
counted = [r["compile_processes"] for r in records["rows"]]
assert max(counted) == 1, counted
'
)"

run "${sim[@]}" --runtime-option device_us=110000 --processes 1 --steps 3 --min-time 0 \
    --store "$folder/long"
ran=$(fault_of 0)
report "of long steps all are kept" "$ran$(
    of_records "$folder/long" '
assert len(records) == 2, records
for r in records:
    assert r["counters"]["steps"] == r["warmup"] + r["kept"] and r["kept"] == 3, r["counters"]
'
)"
FAKE_PJRT=no_profiler,delay_us=1050000 run "${quick[@]}" --runtime "$fake" --mode capture --steps 3 \
    --store "$folder/very_long" --format json
ran=$(fault_of 0)
report "very long ones warm up soon and are not probed, which is said" "$ran$(
    holds '
x, = records[0]["executions"]
assert x["device_ns"] is None and "--device-time slope" in x["device_note"], x'
    of_records "$folder/very_long" '
r, = records
assert r["warmup"] == 3 and not r["probed"] and r["counters"]["executions"] == 6, r'
)"

# The device takes 4 ms longer with each execution, so that a time tells which one it may have been
# at the latest: the second of its turn. No step can be shorter than its execution.
run "${sim[@]}" --runtime-option device_us=4000 --runtime-option drift=1000 --processes 1 --steps 5 \
    --min-time 0 --store "$folder/first"
ran=$(fault_of 0)
report "the step that is not kept is the first" "$ran$(
    of_records "$folder/first" '
warm = sum(r["warmup"] for r in records)
assert warm == 16 and len(records) == 2, warm
for r in records:
    assert len(r["wall_ns"]) == len(r["rounds"]) == 5, r["id"]
    for n, (turn, wall_ns) in enumerate(zip(r["rounds"], r["wall_ns"])):
        number = warm + 2 * (2 * n + turn["position"]) + 1
        assert wall_ns >= 4e6 * (1 + number) - 1e3, (n, turn, wall_ns, number)
'
)"

# The host works 7 ms of a lazy step and the device 20 ms, so that it takes some 11 steps until eight are in
# flight, and a turn keeps one. Where the host takes about as long as the device, a step may be 5 % shorter.
# Where other programs hold the host up, it may take as long in all steps.
turns_in_flight() {
    rm -rf "$folder/full"
    run "${sim[@]}" --runtime-option device_us=20000 --trace-cost-ns 60000 --in-flight 8 --processes 1 \
        --min-time 0.4 --store "$folder/full"
    fault_of 0
    of_records "$folder/full" '
assert len(records) == 2, records
for r in records:
    turns, at = [], 0
    for turn in r["rounds"]:
        steps = r["wall_ns"][at:at + turn["steps"]]
        turns.append(sum(steps) / len(steps))
        at += turn["steps"]
    assert at == len(r["wall_ns"]) and len(turns) >= 10, turns
    middle = sorted(turns)[len(turns) // 2]
    assert middle >= 0.94 * 20e6, (r["mode"], middle)'
}
live "with several in flight short turns take as long as the device does" turns_in_flight busy_machine

run "${sim[@]}" --runtime-option device_us=2000 --processes 1 --steps 5 --min-time 0 \
    --device-time slope --store "$folder/probed"
ran=$(fault_of 0)
report "what disturbs the probes of a round disturbs the round" "$ran$(
    of_records "$folder/probed" '
for r in records:
    assert len(r["probed"]) >= 5, r["probed"]
    for n in r["probed"]:
        # Two steps, six executions awaited, six queued.
        assert r["rounds"][n]["wall_ns"] >= 14 * 2e6, r["rounds"]
'
)"

# ---- memory --------------------------------------------------------------------------------------

# One takes 0.41 MB, with temporaries.
export PJRT_SIM=memory_bytes=600000
run "${sim[@]}" --runtime-option device_us=200 --processes 2 --steps 3 --min-time 0 \
    --store "$folder/apart"
unset PJRT_SIM
ran=$(fault_of 0)
report "what does not fit into memory together is measured one by one, and the records say so" "$ran$(
    of_records "$folder/apart" '
assert len(records) == 4 and all(len(process) == 2 for process in of.values()), records
for r in records:
    assert r["status"] in ("ok", b"ok"), r["status"]
    assert r["group"]["how"] == "separate" and r["group"]["members"] == 1, r["group"]
    assert r["group"]["why"].startswith("out-of-memory"), r["group"]
    assert all(x["position"] == 0 for x in r["rounds"]), r["rounds"]
processes = {str(r["id"]).rsplit("-", 2)[1] for r in records}
assert len(processes) == 4, processes
'
    run table --store "$folder/apart" --format json
    holds 'assert [r["processes"] for r in records["rows"]] == [2, 2], records["rows"]'
)"

echo "1..$count"
