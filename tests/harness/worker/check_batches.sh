#!/bin/bash
# check_batches.sh - batches of varying shapes, as TAP: what records keep of them, and what the doctor
# says where steps compile nothing only because batches repeat. A compilation takes 100 ms.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

export PJRT_SIM=values=none,compile_us=100000,compile_op_us=0
# measured MODEL OPTION...: a run with the usual warm-up, and what the doctor says of it.
measured() {
    rm -rf "$folder/batches"
    run --model "$@" --runtime sim --processes 1 --steps 8 --min-time 0 --device-time none --store "$folder/batches"
    fault_of 0
    "$bench" doctor --store "$folder/batches" --format json >"$folder/doctor" || echo "no doctor"
}
# said PYTHON: judges the findings by VARIANTS and the batches of the only record.
said() {
    "$python" - "$folder" "$1" <<'PYTHON' 2>&1
import glob, json, sys, h5py
folder, code = sys.argv[1:]
found = [c for c in json.load(open(folder + "/doctor"))["complaints"] if c["rule"] == "variants"]
records = []
for path in sorted(glob.glob(folder + "/batches/*.h5")):
    with h5py.File(path) as f:
        records.append(json.loads(f["provenance"][()]) if "provenance" in f else json.loads(f.attrs["provenance"]))
kept = [r.get("batches") for r in records]
exec(code)
PYTHON
}

varying=(transformer_wmt_en_de --variant small --seq 64 --lengths varying)
report "32 lengths that repeat are found, with what buckets make of them" "$(
    measured "${varying[@]}" --phase train --mode lazy,capture
    said '
assert sorted(c["mode"] for c in found) == ["capture", "lazy"], found
for c in found:
    assert c["count"] == 32 and c["cost_ns"] >= 99e6 and c["share"] > 0.5, c
    assert c["why"]["rule"] == "shape", c
    assert {**c["batches"], "padding": 0} == {**kept[0], "padding": 0}, (c["batches"], kept[0])
padding = {p["buckets"]: p for p in kept[0]["padding"]}
assert kept[0]["count"] == kept[0]["shapes"] == kept[0]["once"] == 32
assert padding[1]["shapes"] == 1 and 0.3 < padding[1]["padded_share"] < 0.7, padding
shares = [padding[k]["padded_share"] for k in sorted(padding)]
assert shares == sorted(shares, reverse=True), shares
assert all(p["shapes"] <= k for k, p in padding.items()), padding'
)"
report "another model whose rows vary" "$(
    measured example_shapes --phase train --mode lazy
    said '
[c] = found
assert c["count"] == kept[0]["shapes"] and 3 <= kept[0]["once"] < kept[0]["shapes"] < 32, kept
assert abs(c["cost_ns"] / (kept[0]["once"] / 32 * 100e6) - 1) < 0.2, c'
)"
report "three shapes that come again and again are no finding" "$(
    measured "${varying[@]}" --buckets 3 --phase train --mode lazy
    said 'assert found == [] and kept[0]["shapes"] <= 3, (found, kept)'
)"
report "nor are batches of one shape, or of two dtypes" "$(
    measured transformer_wmt_en_de --variant small --seq 64 --phase train --mode lazy,capture
    said 'assert found == [] and kept == [None, None], (found, kept)'
    measured example_dtype --mode lazy --phase train
    said 'assert found == [] and kept[0]["shapes"] == 2 and kept[0]["padding"] == [], (found, kept)'
)"
report "steps that compile are another finding" "$(
    measured "${varying[@]}" --phase train --mode lazy --warmup 8
    said 'assert found == [], found'
)"
echo "1..$count"
