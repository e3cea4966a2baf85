#!/bin/bash
# full_doctor_planted.sh - the rules of bench doctor on runs, as TAP: a problem is planted on the
# simulated device, whose costs are known, and what the doctor says that it costs is what a run
# without it saves. check_doctor.sh has tracing and executions, and runs that draw no complaint.
#
# needs: nothing
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# measured NAME SIM OPTION...: bench runs with the settings SIM of the device into $folder/NAME, anew.
measured() {
    local name=$1 sim=values=none,$2
    shift 2
    rm -rf "${folder:?}/$name"
    PJRT_SIM=$sim run --runtime sim --min-time 0 --store "$folder/$name" --quiet "$@"
    fault_of 0
}

# Of slow and mended runs, each in turns of three processes.
fixed=(--processes 3 --steps 20 --warmup 8)

# placed RULE FILE SCOPE TEXT: the complaint of RULE about the run "slow" names a line of FILE with
# TEXT in it, and SCOPE.
placed() {
    run doctor --store "$folder/slow" --format json
    rule=$1 file=$2 scope=$3 text=$4 holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == os.environ["rule"]]
path, line = c["why"]["place"].rsplit(":", 1)
assert path == "models/" + os.environ["file"], c
assert c["why"].get("scope") == (os.environ["scope"] or None), c
assert os.environ["text"] in open(path).read().split("\n")[int(line) - 1], c
assert c["why"]["place"] in c["where"], c'
}

# priced RULE FIGURE [CODE]: what is wrong with the complaint of RULE about the run "slow": its cost
# must be what "mended" saves of the step's FIGURE (mean, median), to 20 %. CODE may look at the
# complaint C. Both figures follow as a comment.
priced() {
    local name
    for name in slow mended; do
        "$bench" metrics "$folder/$name" --format json >"$folder/$name.json" 2>"$folder/err"
    done
    run doctor --store "$folder/slow" --format json
    fault_of 0
    rule=$1 figure=$2 holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == os.environ["rule"]]
def step(name):
    [report] = json.load(open(folder + "/" + name + ".json"))["reports"]
    times = report["metrics"]["StepTime"]
    mean = times["sum"] / times["samples"]
    return mean if os.environ["figure"] == "mean" else times["percentiles"]["50"]
saved = step("slow") - step("mended")
with open(folder + "/figures", "w") as f:
    figures = c["rule"], c["cost_ns"] / 1e6, saved / 1e6
    print("# %s: the doctor says %.3f ms a step, mending saves %.3f" % figures, file=f)
assert abs(c["cost_ns"] - saved) < 0.2 * saved, (c["cost_ns"], saved)
'"${3:-}"
    run doctor --store "$folder/mended" --format json
    fault_of 0
    rule=$1 holds '
import os
assert not [c for c in records["complaints"] if c["rule"] == os.environ["rule"]], records'
}
export rule figure file scope text

reads() {
    local sim=device_us=2000,transfer_us=1500
    measured slow $sim --model example_loss_read --phase train --mode lazy "${fixed[@]}"
    measured mended $sim --model example_loss_logged --phase train --mode lazy "${fixed[@]}"
    priced reads median 'assert c["count"] == 1, c'
    placed reads examples/rows.c log tg_read
}
live "a read in each step costs what reading seldom saves" reads busy_stores "$folder/slow" "$folder/mended"

# The device's time is that of the ops, so the execution that a break adds takes none for itself.
ops=f32_gflops=1,vector_gflops=1,memory_gbps=1
fallbacks() {
    local sim=$ops,transfer_us=1500
    measured slow $sim --model example_host_op --phase train --mode lazy "${fixed[@]}"
    measured mended $sim --model example_mask --phase train --mode lazy "${fixed[@]}"
    priced fallbacks median '
assert c["count"] == 1 and not [x for x in records["complaints"] if x["rule"] in ("reads", "input")], c'
    placed fallbacks examples/rows.c choose tg_nonzero
}
live "an op of the host costs what a mask saves" fallbacks busy_stores "$folder/slow" "$folder/mended"

# broken SLOW MENDED COUNT FILE SCOPE ADVICE: SLOW reads COUNT values in the middle of its step, and each breaks
# the graph. A read takes 3 ms, and the call of an execution half of one. The advice begins with ADVICE: a value
# that is always 0 would choose no branch, so values are computed.
broken() {
    local sim=$ops,transfer_us=3000,execute_us=500,values=auto
    measured slow $sim --model "$1" --phase train --mode lazy "${fixed[@]}"
    measured mended $sim --model "$2" --phase train --mode lazy "${fixed[@]}"
    priced reads median "assert c['count'] == $3 and c['advice'].startswith('$6'), c"
    placed reads "examples/$4" "$5" tg_read
}
branches() { broken example_branch example_select 1 sentences.c mask "Compute both sides on the device and select"; }
live "a branch on a value costs what a select saves" branches busy_stores "$folder/slow" "$folder/mended"
asks() { broken example_equal example_identity 2 attention.c 0 "Read values in some steps only"; }
live "values that the device compares cost what asking the host saves" asks busy_stores "$folder/slow" "$folder/mended"

# Two of the four executions are there since a read breaks the forward graph. Those of backward and update have the
# overhead. The forward graphs have none, so the device time of each is known although both have one name.
breaks() {
    measured slow "transfer_us=100,stated=bench_forward:300:0;bench_*:10:3000" --model example_branch \
        --phase train --mode capture --graphs 3 "${fixed[@]}"
    placed executions examples/sentences.c mask tg_read
}
live "executions of a step that a read breaks name the read" breaks busy_stores "$folder/slow"

small=(--model resnet18 --variant small --phase train)
input() {
    local sim=device_us=4000,transfer_us=1500
    measured slow $sim "${small[@]}" --mode capture --input transfer "${fixed[@]}"
    measured mended $sim "${small[@]}" --mode capture --input prefetch "${fixed[@]}"
    priced input median
}
live "sending costs what sending ahead saves" input busy_stores "$folder/slow" "$folder/mended"

# Rounds are long, so that a busy machine, which empties the queue, does so in few steps of many.
overhead() {
    local sim=device_us=4000,execute_us=3000 long=(--processes 3 --steps 150 --warmup 8)
    measured slow $sim "${small[@]}" --mode capture "${long[@]}"
    measured mended $sim "${small[@]}" --mode capture --in-flight 2 "${long[@]}"
    priced overhead median
}
live "the overhead of an execution costs what steps in flight save" overhead busy_stores "$folder/slow" "$folder/mended"

release() {
    measured slow device_us=500,release_us=50 "${small[@]}" --mode capture "${fixed[@]}"
    measured mended device_us=500 "${small[@]}" --mode capture "${fixed[@]}"
    priced release median
}
live "slow releases cost what fast ones save" release busy_stores "$folder/slow" "$folder/mended"

# Of 32 batches each length is another program. Later processes would load what the first compiled.
compiles() {
    local sim=device_us=2000,compile_us=20000 once=(--processes 1 --steps 16 --warmup 8)
    measured slow $sim --model example_shapes --phase train --mode lazy "${once[@]}"
    measured mended $sim --model example_shapes --phase train --mode lazy --buckets 1 "${once[@]}"
    priced compiles mean '
assert "--buckets" in c["advice"], c
assert (c["why"]["rule"], c["why"]["subject"], c["why"]["dimension"]) == ("shape", "tokens", 1), c'
    placed compiles nn/dense.c "" tokens
}
live "compiling on costs what one length saves" compiles busy_stores "$folder/slow" "$folder/mended"

# The tenth batch comes in another dtype, so that one of the measured steps compiles.
dtypes() {
    local sim=device_us=2000,compile_us=60000 once=(--processes 1 --steps 16 --warmup 8)
    measured slow $sim --model example_dtype --phase train --mode lazy "${once[@]}"
    measured mended $sim --model example_one_dtype --phase train --mode lazy "${once[@]}"
    priced compiles mean '
w = c["why"]
assert "one dtype" in w["advice"], c
assert (w["rule"], w["subject"], w["from"], w["to"]) == ("dtype", "input", "f32", "bf16"), c'
    placed compiles examples/rows.c "" "net->input"
}
live "compiling a batch of another dtype costs what one dtype saves" dtypes busy_stores "$folder/slow" "$folder/mended"

# A device whose time is that of its products, so it grows with the positions. After 40 steps each
# length of the 32 batches has been met.
padding() {
    local sim=f32_gflops=1,vector_gflops=100,memory_gbps=1000 batches=(--processes 1 --steps 32 --warmup 40)
    measured slow $sim --model transformer_wmt_en_de --variant small --seq 64 --phase infer --mode lazy \
        --lengths varying --buckets 1 "${batches[@]}"
    measured mended $sim --model transformer_wmt_en_de --variant small --seq 64 --phase infer --mode lazy \
        --lengths varying "${batches[@]}"
    priced padding mean 'assert 0.3 < c["count"] < 0.7, c'
}
live "padding costs what batches of their own length save" padding busy_stores "$folder/slow" "$folder/mended"

# ns that bench takes for a process that compiles, or loads what an earlier one kept.
start_of() {
    local begin
    begin=$(date +%s%N)
    measured "$1" device_us=500,compile_us=11000000 "${small[@]}" --mode capture --processes 1 --steps 8 \
        --warmup 8 --cache-dir "$folder/kept"
    echo $(($(date +%s%N) - begin)) >"$folder/took"
}
starts() {
    local first second
    rm -rf "$folder/kept"
    start_of slow
    first=$(<"$folder/took")
    start_of mended
    second=$(<"$folder/took")
    run doctor --store "$folder/slow" --format json
    fault_of 0
    saved=$((first - second)) holds '
import os
[c] = [c for c in records["complaints"] if c["rule"] == "start"]
saved = float(os.environ["saved"])
with open(folder + "/figures", "w") as f:
    print("# start: the doctor says %.3f s, a cache saves %.3f" % (c["cost_ns"] / 1e9, saved / 1e9), file=f)
assert abs(c["cost_ns"] - saved) < 0.2 * saved, (c["cost_ns"], saved)
assert c["advice"] == "Later starts load the executables from " + folder + "/kept (--cache-dir).", c'
    run doctor --store "$folder/slow"
    fault_of 0
    grep -q " at the first start\. Later starts load" "$folder/out" || echo "it does not say that later starts load"
    run doctor --store "$folder/mended" --format json
    fault_of 0
    holds 'assert not [c for c in records["complaints"] if c["rule"] == "start"], records'
}
live "a long start costs what a cache of executables saves" starts busy_stores "$folder/slow" "$folder/mended"
# Training and evaluation in turns have a program each. Training alone has one.
turns() {
    local sim=device_us=2000,compile_us=3000000 once=(--processes 1 --steps 16 --warmup 8 --format json)
    measured slow $sim --model example_train_eval --phase train --mode lazy "${once[@]}"
    cp "$folder/out" "$folder/slow.json"
    measured mended $sim --model example_train --phase train --mode lazy "${once[@]}"
    cp "$folder/out" "$folder/mended.json"
    run doctor --store "$folder/slow" --format json
    fault_of 0
    holds '
def start(name):
    [record] = json.load(open(folder + "/" + name + ".json"))
    return record["provenance"]["phases"]["compile_ns"]
[c] = [c for c in records["complaints"] if c["rule"] == "turns"]
saved = start("slow") - start("mended")
with open(folder + "/figures", "w") as f:
    print("# turns: the doctor says %.3f s, mending saves %.3f" % (c["cost_ns"] / 1e9, saved / 1e9), file=f)
assert abs(c["cost_ns"] - saved) < 0.2 * saved and c["count"] == 2, (c["cost_ns"], saved)
why = c["why"]
assert (why["rule"], why["subject"], why["from"], why["to"]) == ("argument", "training", "1", "0"), why
assert why["place"].startswith("models/") and why["place"] in c["where"], c
assert "turns" in c["subject"] and c["share"] is None, c'
    run doctor --store "$folder/mended" --format json
    fault_of 0
    holds 'assert not [c for c in records["complaints"] if c["rule"] in ("turns", "compiles")], records'
}
live "steps in turns cost what their second program takes to compile" turns busy_stores "$folder/slow" "$folder/mended"

# Each value that is read is a branch more, so a guard fails in each step. The device computes the
# values, and its time is that of the ops.
misses() {
    local name model
    for name in slow=example_loss_read mended=example_loss_logged; do
        model=${name#*=} name=${name%=*}
        rm -rf "${folder:?}/$name"
        PJRT_SIM=$ops run --runtime sim --min-time 0 \
            --store "$folder/$name" --quiet --model "$model" --phase train --mode capture \
            --trace-cost-ns 20000 "${fixed[@]}"
        fault_of 0
    done
    priced tracing median
    placed tracing examples/rows.c log tg_read
}
live "a guard that fails in each step is named, and costs what guards that hold save" misses busy_stores "$folder/slow" "$folder/mended"
echo "1..$count"
