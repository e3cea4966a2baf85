# recorded.sh - training scripts under the recorder: their own figures against bench's
# of their recording. Sourced after tests/support/cli.sh. The array record_options goes to each bench
# record, and the command $looks, steps or doctor, looks at each recording.
# shellcheck shell=bash
record_options=()
looks=steps

# recorded NAME RUNTIME ARGUMENT...: the script with the recorder; its word goes to NAME.json, that of
# bench $looks about its recording to NAME.steps or NAME.doctor. Says what went wrong. A script that
# hangs is ended after 15 minutes.
recorded() {
    local name=$1 runtime=$2
    shift 2
    rm -rf "${folder:?}/$name"
    timeout 900 "$bench" record --runtime "$runtime" ${record_options[@]+"${record_options[@]}"} \
        --output "$folder/$name" -- "$python" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [ "$status" -eq 0 ] || echo "recording $name: exit status $status"
    cp "$folder/out" "$folder/$name.json"
    run "$looks" "$folder/$name" --format json
    [ "$status" -eq 0 ] || echo "$looks on $name: exit status $status"
    cp "$folder/out" "$folder/$name.$looks"
}

# judge CODE NAME...: Python CODE with `own` and `seen`, the script's and bench's report of each NAME, and
# with what $definitions defines.
judge() {
    "$python" - "$folder" "$looks" "$definitions" "$@" 2>&1 <<'PYTHON' | tail -n 1
import json, statistics, sys
folder, looks, definitions, code = sys.argv[1:5]
own = [json.load(open(f"{folder}/{n}.json")) for n in sys.argv[5:]]
seen = [json.load(open(f"{folder}/{n}.{looks}")) for n in sys.argv[5:]]
exec(definitions)
exec(code)
PYTHON
}

# What judgements of bench steps go by. What is compared, in ns, goes to the figures.
definitions='
steps = seen
def part(i, name, figure="median_ns"):
    return steps[i]["ledger"][name][figure]
def near(what, got, wanted, share):
    with open(folder + "/figures", "a") as f:
        print(f"# {what}: {got / 1e6:.4g} ms by bench, {wanted / 1e6:.4g} ms wanted", file=f)
    assert abs(got / wanted - 1) <= share, f"{what}: {got} is not {wanted}"
# The clock of the script, over as many of its last steps as bench calls steady.
def name(i):
    return sys.argv[5 + i]
def mean_is_its_own(i):
    # The first step has compiles before its first execution, where bench begins it.
    ends, count = own[i]["ends_ns"][:-1], min(steps[i]["steps"], len(own[i]["ends_ns"]) - 3)
    # The end of a profile takes long, and falls into the step before the first steady one or the next.
    count -= 2 if steps[i]["left_out"]["profiled"] else 0
    near(name(i) + ", mean wall", steps[i]["wall"]["mean_ns"], (ends[-1] - ends[-1 - count]) / count, 0.03)
def median_is_its_own(i):
    # The loss is read every so many steps: single ones between say little. A step may begin elsewhere
    # than where the script says, so single steps that others disturb are not the same ones.
    ends, every, count = own[i]["ends_ns"][:-1], own[i]["read_every"], steps[i]["steps"]
    ends = ends[-1::-every][:count // every + 1]
    spans = sorted((b - a) / every for a, b in zip(ends[1:], ends))
    near(name(i) + ", median wall", steps[i]["wall"]["median_ns"], spans[len(spans) // 2], 0.03)
def parts_sum(i):
    sum_of = sum(part(i, p, "mean_ns") for p in steps[i]["ledger"])
    near(name(i) + ", sum of the parts", sum_of, steps[i]["wall"]["mean_ns"], 0.001)
# What is planted is not all that grows: after a pause caches are cold, a framework computes for longer, and
# others wake up later. So the script says of its own thread how long it was on a CPU, and slept. A framework
# that is idle by itself, now more and now less, is compared where it is idle least. Where it is not, the
# device may still work while the script sleeps, which makes some idle times shorter.
def steady(i, spans):
    return spans[:-1][-steps[i]["steps"]:]
def more_on_cpu(i):
    return statistics.median(steady(i, own[i]["cpu_ns"])) - statistics.median(steady(0, own[0]["cpu_ns"]))
def more_work(i):
    return part(i, "host_work") - part(0, "host_work")
def idle(i):
    return part(i, "idle", "p10_ns" if part(0, "idle") > 0.1e6 else "median_ns")
def slept(i):
    return statistics.median(steady(i, own[i]["slept_ns"]))
def wall_is_its_own(i):
    mean_is_its_own(i)
    median_is_its_own(i)
    parts_sum(i)
'

# try_way NAME RUNTIME BARE ARGUMENT...: one way to train. BARE is the environment of the run that is
# not recorded. Bits must not depend on times, times are tried again.
try_way() {
    local name=$1 runtime=$2 bare=$3
    shift 3
    timeout 900 env $bare "$python" "$@" >"$folder/bare.json" 2>"$folder/err" || true
    attempt_wall() {
        recorded "$name" "$runtime" "${arguments[@]}"
        judge 'wall_is_its_own(0)' "$name"
    }
    arguments=("$@")
    live "$name: mean and median wall time are the script's own, and the parts sum to it" attempt_wall \
        busy_machine
    # The last attempt's recording is also that of the bits.
    report "$name: the same bits with and without the recorder" "$(
        same_member digest "$folder/bare.json" "$folder/$name.json"
    )"
}

# try_planted WHAT RUNTIME SCRIPT ARGUMENT...: 5 ms of work and of sleep before each step, by the clocks of
# the script.
try_planted() {
    # Steps of PyTorch/XLA vary by a fifth. Medians of so many are sure to some 2 % of what is planted.
    local runtime=$2 arguments=("${@:3}" --steps 400)
    planted() {
        recorded base "$runtime" "${arguments[@]}"
        recorded host "$runtime" "${arguments[@]}" --host-ms 5
        recorded sleep "$runtime" "${arguments[@]}" --sleep-ms 5
        judge '
wall_is_its_own(1)
wall_is_its_own(2)
assert more_on_cpu(1) > 4.9e6 and slept(2) > 4.9e6, "nothing was planted"
near("host work", more_work(1), more_on_cpu(1), 0.05)
near("idle", idle(2) - idle(0), slept(2), 0.05)
assert abs(more_work(2) - more_on_cpu(2)) < 0.25e6, "sleep is called work"
' base host sleep
    }
    live "$1: 5 ms of host work and of sleep are separated, and the wall is the script's own" planted \
        busy_machine
}
