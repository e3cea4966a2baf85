# compare_sides.sh - what the tests of bench compare compare: two simulated devices. Sourced after
# support/cli.sh.
# shellcheck shell=bash disable=SC2034
# Steps of 10 ms: what other work on the machine adds is small beside them.
step=(--runtime-option values=none --runtime-option device_us=10000 --model resnet18 --variant small
    --mode capture --min-time 0 --warmup 4 --steps 12)
sides=(--runtime sim --runtime sim "${step[@]}")
more=(--control 0 --pairs 9)
brief=("${sides[@]}" --control 0 --device-time none)
broken=faults=execute:3:fail

# Of the first cell what --format json says, and the change of a median.
cell='
c = records["cells"][0]
v, why = c["comparison"], c["attribution"]
ledger, q = why["ledger_ns"], why["quantities"]
def change(what): return what["b"] - what["a"]
'
