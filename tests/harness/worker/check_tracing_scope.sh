#!/bin/bash
# check_tracing_scope.sh - the scope that costs most, and what a user changes, as TAP: by identifiers,
# on the simulated device, whose costs are known.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# measured SETTINGS MODEL OPTION...: five processes, as one may be slow on a busy machine, and the doctor's JSON.
measured() {
    rm -rf "$folder/run"
    PJRT_SIM=values=none,compile_us=0,compile_op_us=0,$1 run --model "$2" "${@:3}" --runtime sim --processes 5 \
        --steps 8 --min-time 0 --store "$folder/run"
    fault_of 0
    run doctor --store "$folder/run" --format json
    fault_of 0
}
# A node costs 20 us, so tracing is the bound on any machine. Nodes are counted by study scopes, too.
report "a lazy step names the scope in which most of it is traced" "$(
    measured device_us=1000 bert --variant small --phase train --mode lazy --trace-cost-ns 20000
    cp "$folder/out" "$folder/doctor"
    run study scopes --model bert --variant small --phase train --preset none --format json
    fault_of 0
    holds '
[c] = [c for c in json.load(open(folder + "/doctor"))["complaints"] if c["rule"] == "tracing"]
nodes = {}
for line in records["scopes"]:
    top = line["scope"].split(".")[0]
    nodes[top] = nodes.get(top, 0) + line["nodes"]
most = max(nodes, key=nodes.get)
assert c["scope"]["name"].split(".")[0] == most, (c["scope"], nodes)
assert abs(c["scope"]["share"] - nodes[most] / sum(nodes.values())) < 0.1, (c["scope"], nodes)'
)"
report "layers that are numbered are one scope" "$(
    measured device_us=1000 gpt2 --variant small --phase infer --mode lazy --trace-cost-ns 20000
    holds '
[c] = [c for c in records["complaints"] if c["rule"] == "tracing"]
assert "*" in c["scope"]["name"] and c["scope"]["times"] >= 2 and c["scope"]["share"] >= 0.5, c["scope"]
[g] = records["goodput"]
assert g["verdict"] == "tracing-bound", g
assert [f["id"] for f in g["fixes"]] == ["capture-step", "scan-layers"], g'
)"
report "eager steps name the scope with most executions" "$(
    measured device_us=10,launch_us=2000,completion_us=2000 resnet18 --variant small --phase infer --mode eager \
        --dispatch awaited
    holds '
[c] = [c for c in records["complaints"] if c["rule"] == "executions"]
assert c["scope"]["share"] > 0.1, c["scope"]
[g] = records["goodput"]
assert g["verdict"] == "dispatch-bound", g
assert [f["id"] for f in g["fixes"]] == ["capture-step", "queue-executions"], g'
)"
report "what to change follows from the steps" "$(
    measured device_us=1000,launch_us=3000,completion_us=3000 resnet18 --variant small --phase train --mode capture \
        --graphs 1,5 --dispatch queued,awaited
    holds '
fixes = {(g["dispatch"], g["graphs"]): (g["verdict"], [f["id"] for f in g["fixes"]]) for g in records["goodput"]}
assert fixes["awaited", 5] == ("dispatch-bound", ["merge-executions", "queue-executions", "fewer-arguments", "larger-executions"]), fixes
assert fixes["queued", 1] == ("dispatch-bound", ["fewer-arguments", "larger-executions"]), fixes'
    measured device_us=20000 resnet18 --variant small --phase train --mode capture
    holds '[g] = records["goodput"]; assert g["verdict"] != "dispatch-bound" and g["fixes"] == [], g'
)"
echo "1..$count"
