#!/bin/bash
# full_front_decode.sh - JAX's steps of one token, as TAP: the tokens that they choose and their logits are
# PyTorch's (tests/golden), jitted and op by op, and from position to position nothing is compiled. Takes
# JAX of `make frontends`, or of BENCH_FRONTEND_PYTHON_JAX, and skips without.
#
# needs: JAX
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh
jax=$("$bench" list frameworks --format json 2>/dev/null | "$python" -c '
import json, sys
print(*(row["where"] for row in json.load(sys.stdin) if row["front_end"] == "jax" and row["installed"]))')
if [ -z "$jax" ]; then
    echo "1..0 # SKIP JAX is not installed"
    echo "ok - JAX decodes # SKIP JAX is not installed"
    exit 0
fi
run export weights --model gpt2 --variant small --output "$folder/weights.safetensors"
report "the weights are exported" "$(fault_of 0)"

for mode in capture eager; do
    PYTHONDONTWRITEBYTECODE=1 "$jax" - "$folder" "$mode" >"$folder/out" 2>"$folder/err" <<'PYTHON'
import json, math, sys
sys.path[:0] = ["contrib/frontends/jax", "contrib/frontends/common"]
import numpy as np
import front_request, front_rule, front_tensors
from session import Session
folder, mode = sys.argv[1:]
golden = json.load(open("tests/golden/gpt2.small.json"))
want, tolerance = golden["f64"]["decode"], golden["tolerance"]["eval_scalars"]
rows, given = golden["dims"]["batch"], want["prompt"]
u = np.concatenate([u for _, u in front_rule._blocks("input_ids", 1, rows * given)])
prompt = np.floor(u * golden["config"]["vocab_size"]).astype(np.int32).reshape(rows, given)
paths = {name: f"{folder}/{name}" for name in ("weights", "inputs", "report")}
request = front_request.parse({"model": "gpt2", "variant": "small", "phase": "decode", "mode": mode, "batch": rows,
                               "seq": given, "context": want["context"], **paths}, "jax")
session = Session(request, front_tensors.read(folder + "/weights.safetensors"), {"input_ids": prompt})
logits = {p: rest for p, *rest in want["logits"]}
for p in range(want["context"]):
    session.step()
    session.wait()
    ours = np.asarray(session._pending[0]).astype(np.float64)
    if p in logits:
        l2, probe = logits[p]
        assert abs(math.sqrt((ours ** 2).sum()) - l2) <= tolerance * l2, (p, l2)
        assert abs(front_rule.probe("logits", ours, 1) - probe) <= tolerance * l2, (p, probe)
    if p >= given - 1:
        chosen = np.asarray(session._decoding["token"]).tolist()
        assert chosen == [row[p - given + 1] for row in want["tokens"]], (p, chosen)
assert int(session._decoding["position"]) == given
if mode == "capture":
    assert session._advance._cache_size() == 1, session._advance._cache_size()
print("well")
PYTHON
    status=$?
    report "$mode: tokens and logits are PyTorch's" "$(
        [ "$status" -eq 0 ] && grep -q '^well$' "$folder/out" || echo "it fails"
    )"
done
echo "1..$count"
