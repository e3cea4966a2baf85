#!/bin/bash
# full_doctor_frameworks.sh - bench doctor on recordings of JAX and PyTorch/XLA themselves, as TAP: a
# problem is planted in a training script, and what the doctor says that it costs is what the script
# saves without it, by the script's own clock. Prints both. Each framework is that of the Python of
# BENCH_TEST_PYTHON, or else that of `make frontends`; without one it is skipped.
#
# needs: JAX, PyTorch/XLA
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/commands/frameworks/recorded.sh
for_recordings
# A program takes one core, so that the host has the other, as with a device of its own.
export XLA_FLAGS=--xla_cpu_multi_thread_eigen=false
scripts=tests/harness/commands/frameworks
record_options=(--quiet)
looks=doctor
# What judgements of bench doctor go by. Of the recordings the first of each pair has the problem, the second
# has not.
definitions='
doctor = seen
def rules(i):
    return {c["rule"]: c for c in doctor[i]["complaints"]}
def cost(i, rule):
    return rules(i)[rule]["cost_ns"] if rule in rules(i) else 0
def median(i):
    """The median step of the later half by the clock of script I."""
    ends = own[i]["ends_ns"][:-1]
    return statistics.median(b - a for a, b in zip(ends[len(ends) // 2:], ends[len(ends) // 2 + 1:]))
def mean(i):
    """The mean step of the later half, from one read to another: steps between them do not wait."""
    ends = own[i]["ends_ns"][::own[i]["read_every"]]
    ends = ends[len(ends) // 2:]
    return (ends[-1] - ends[0]) / (len(ends) - 1) / own[i]["read_every"]
def begun(i):
    """What script I took for three steps beyond three later ones: by then it has compiled all it needs."""
    return own[i]["ends_ns"][3] - 3 * median(i)
def near(rule, figure, *besides, when="a step"):
    """Whether RULE costs less without the problem by as much as FIGURE is less, to 20 %, by the medians over
    the pairs. Rules BESIDES complain of what goes with it: by how much they cost less counts, too."""
    for i in range(0, len(doctor), 2):
        assert rule in rules(i), f"no {rule}: {list(rules(i))}"
    def less(of):
        return statistics.median(of(i) - of(i + 1) for i in range(0, len(doctor), 2))
    saved, costs = less(figure), {r: less(lambda i: cost(i, r)) for r in (rule, *besides)}
    with open(folder + "/figures", "w") as f:
        print("# the doctor says " + ", ".join(f"{r} {ns / 1e6:.3f} ms" for r, ns in costs.items()) +
              f" {when}; mending it saves {saved / 1e6:.3f} ms", file=f)
    assert abs(sum(costs.values()) - saved) < 0.2 * saved, f"{costs} is not {saved}"
'

# trained NAME SCRIPT OPTION...: as recorded, 60 steps of the SCRIPT on the default runtime.
trained() {
    recorded "$1" cpu "$scripts/$2" --steps 60 "${@:3}"
}

# in_turns CODE SCRIPT OPTION...: judges by CODE three pairs of recordings of the SCRIPT: each with the further
# options slow, then with mended, since the speed of a machine drifts.
in_turns() {
    local code=$1 k names=()
    shift
    for k in 1 2 3; do
        trained "slow$k" "$@" ${slow[@]+"${slow[@]}"}
        trained "mended$k" "$@" ${mended[@]+"${mended[@]}"}
        names+=("slow$k" "mended$k")
    done
    judge "$code" "${names[@]}"
}

# deep NAME OPTION...: as trained, a deep model of $script.
deep() {
    trained "$1" "$script" --size 16 --steps 20 "${@:2}"
}

# cached NAME OPTION...: as deep, and its executables are in the folder cache.
cached() {
    local -x "$cache=$folder/cache" JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0
    deep "$@"
}

# long_start COMMAND: a long start of deep or cached, as slow. How many layers take 10 s to compile, which is long for the doctor, depends on the
# machine; a further attempt begins with those of the one before.
long_start() {
    for ((;; layers *= 2)); do
        rm -rf "$folder/cache"
        "$1" slow --layers $layers
        [ $layers -lt 2000 ] && [ -n "$(judge 'assert "start" in rules(0)' slow)" ] || break
    done
}

# What a program saves of a long start that is small: it has its layers in a scan, or few of them. It is
# traced and lowered sooner, too.
starts() {
    long_start deep
    deep mended "${small[@]}"
    judge '
c = rules(0)["start"]
c["cost_ns"] += c["before_ns"]
near("start", begun, when="at each start")
assert "start" not in rules(1), rules(1)' slow mended
}

# What a persistent cache saves of one: the time to load is reported where it is long.
loads() {
    long_start cached
    cached mended --layers $layers
    judge '
c, left = rules(0)["start"], rules(1).get("start")
assert c["at_most"] and not (left and left["at_most"]), (c, left)
c["cost_ns"] -= left["cost_ns"] if left else 0
with open(folder + "/figures", "w") as f:
    print("# the doctor says start %.3f ms less with a cache; the script saves %.3f ms"
          % (c["cost_ns"] / 1e6, (begun(0) - begun(1)) / 1e6), file=f)
assert abs(c["cost_ns"] - (begun(0) - begun(1))) < 0.2 * begun(0), c' slow mended
}

# healthy WHAT SCRIPT OPTION...: steps that give the device enough to do draw no complaint.
healthy() {
    local what=$1
    shift
    draws_none() {
        trained healthy "$@"
        judge 'assert not rules(0), {r: (c["cost_ns"], c["share"]) for r, c in rules(0).items()}' healthy
    }
    with_options() { draws_none "${options[@]}"; }
    options=("$@")
    live "$what draws no complaint" with_options busy_machine
}

# Whether the framework loads from its cache what it has put there. If it does not run at all, its test
# may say so.
reuses() {
    rm -rf "$folder/cache"
    [ -z "$(cached first --layers 2; cached second --layers 2)" ] || return 0
    compgen -G "$folder/second/*/programs/*.executable" >/dev/null
}

# planted FRAMEWORK SCRIPT VARIABLE: the problems that both frameworks' scripts know. VARIABLE names the
# folder of its persistent cache.
planted() {
    script=$2 cache=$3 layers=125
    host() {
        local slow=(--host-ms 6) mended=()
        in_turns 'near("host", median, "input")' "$script"
    }
    # A core that has slept is cold: what it runs next takes longer, which no device of its own would. So
    # the cores stay awake by loops that give way to all else, as they do in bench run.
    sleeps() {
        local slow=(--sleep-ms 6) mended=()
        begin_loops "$(nproc)"
        for loop in "${loops[@]}"; do
            chrt --idle --pid 0 "$loop"
        done
        in_turns 'near("input", median)' "$script"
        end_loops
    }
    compiles() {
        local slow=(--lengths 60) mended=()
        in_turns '
near("compiles", mean)
assert "type of an argument differs" in rules(0)["compiles"]["where"], rules(0)["compiles"]
assert "compiles" not in rules(1), rules(1)' "$script"
    }
    live "$1: host work costs what doing without saves" host busy_machine
    live "$1: sleep costs what doing without saves" sleeps busy_machine
    live "$1: changing lengths cost what one length saves, and the argument is named" compiles busy_machine
    live "$1: a long start costs what a small program saves" starts busy_machine
    if [ "$1" = JAX ] || reuses; then
        live "$1: a start costs less by what a persistent cache saves" loads busy_machine
    else
        skip "$1: a start costs less by what a persistent cache saves" "it cannot load what it has cached"
    fi
}

# ---- JAX ------------------------------------------------------------------------------------

if ! python_with jax jax; then
    skip "JAX" "it is not installed: make frontends FRONTENDS=jax"
else
    small=(--layers 2000 --way scan)
    planted JAX train_jax.py JAX_COMPILATION_CACHE_DIR
    # Of 20 steps one still waits, so nearly all of the cost is saved.
    reads() {
        local slow=() mended=(--read-every 20)
        in_turns '
near("reads", mean)
assert "f32[]" in rules(0)["reads"]["where"], rules(0)["reads"]
assert "reads" not in rules(1), rules(1)' train_jax.py --size 256 --layers 12 --steps 120 --sleep-ms 3
    }
    live "JAX: reading the loss in each step costs what reading it now and then saves" reads busy_machine
    # An update op by op: in Python between its executions, too, the device has nothing to do, and each
    # sends its rate. The doctor calls that host and transfers.
    merged() {
        local slow=(--way ops) mended=(--way fused)
        in_turns '
near("executions", median, "host", "transfers")
c = rules(0)["executions"]
assert c["count"] >= 2 * 24 + 1 and "24 of them are jit_" in c["where"], c
assert "executions" not in rules(1), rules(1)' train_jax.py --size 64 --layers 24 --sent early
    }
    live "JAX: an update op by op costs what one program for the step saves, and is named" merged busy_machine
    # The runtime orders columns that lie together within the call that sends them. What is sent as it
    # lies travels after the call, and an execution waits for it: no recording tells that from its work. In
    # front of the call Python has some work.
    sends() {
        local slow=(--sent turned) mended=(--sent early)
        in_turns '
near("transfers", median, "host")
c = rules(0)["transfers"]
assert c["bytes"] >= 16384 * 64 * 4 and "f32[16384,64]" in c["where"], c
assert "transfers" not in rules(1), rules(1)' train_jax.py --size 64 --layers 1 --rows 16384
    }
    live "JAX: sending a large batch in each step costs what a resident one saves, and is named" sends \
        busy_machine
    trained kept train_jax.py --kept 1 --size 512
    report "JAX: missed donation is named, with its bytes" "$(judge '
c = rules(0)["donation"]
# Eight weights, and the batch, which JAX copies by a program of its own.
assert c["count"] in (8, 9) and c["bytes"] == c["count"] * 512 * 512 * 4, c
assert "f32[512,512]" in c["where"] and "donate_argnums" in c["advice"], c' kept)"
    # Twelve products of 384 rows take some ms, and the host little.
    healthy "JAX: a healthy loop" train_jax.py --size 384 --layers 12
    healthy "JAX: one that reads now and then" train_jax.py --size 384 --layers 12 --read-every 10
    healthy "JAX: one with its layers in a scan" train_jax.py --size 384 --layers 12 --way scan
    healthy "JAX: one whose batches lie on the device" train_jax.py --size 512 --layers 8 --sent early
    healthy "JAX: one of a few large layers" train_jax.py --size 768 --layers 3 --sent early
fi

# ---- PyTorch/XLA -------------------------------------------------------------------------------

if ! python_with torch_xla pytorch-xla; then
    skip "PyTorch/XLA" "it is not installed: make frontends FRONTENDS=pytorch-xla"
else
    small=(--layers 2)
    planted PyTorch/XLA train_torch.py XLA_PERSISTENT_CACHE_PATH
    # Products of 768 columns take long compared to the tracing of their layers.
    large=(train_torch.py --size 768 --rows 240 --layers 6 --steps 120)
    # Few layers, so that the host traces for a short time compared to the device.
    reads() {
        local slow=() mended=(--read-every 20)
        in_turns '
near("reads", mean)
assert "f32[]" in rules(0)["reads"]["where"], rules(0)["reads"]
assert "reads" not in rules(1), rules(1)' "${large[@]}" --layers 3 --rows 640 --sleep-ms 20
    }
    live "PyTorch/XLA: reading the loss in each step costs what reading it now and then saves" reads \
        busy_machine
    # A sync behind the gradient and behind the update of each layer. In front of each execution the host
    # traces, and waits for the thread that submits the one before.
    merged() {
        local slow=(--way layers) mended=(--way lazy)
        in_turns '
near("executions", median, "host", "input", "transfers")
c = rules(0)["executions"]
assert c["count"] == 24 + 1 and "24 of them are " in c["where"], c
assert "executions" not in rules(1), rules(1)' train_torch.py --size 64 --layers 24 --sent early
    }
    live "PyTorch/XLA: an update layer by layer costs what one program for the step saves, and is named" \
        merged busy_machine
    # It copies each tensor in front of the call that sends it, which is work of the host.
    sends() {
        local slow=(--sent pieces) mended=(--sent early)
        in_turns '
near("transfers", median, "host")
c = rules(0)["transfers"]
assert c["count"] >= 64 and c["bytes"] >= 65536 * 16 * 4 and "f32[1024,16]" in c["where"], c
assert "transfers" not in rules(1), rules(1)' train_torch.py --size 16 --layers 1 --rows 65536
    }
    live "PyTorch/XLA: sending a batch in pieces in each step costs what a resident one saves, and is named" \
        sends busy_machine
    # It donates what a step assigns anew, unless it is told not to.
    XLA_ENABLE_PARAM_ALIASING=0 trained kept train_torch.py --size 512 --rows 256
    trained donated train_torch.py --size 512 --rows 256
    report "PyTorch/XLA: missed donation is named, with its bytes, and what is donated is not" "$(judge '
c = rules(0)["donation"]
# Eight layers, each of a weight and a bias; of the batch there is no result of its type.
assert c["count"] == 16 and c["bytes"] == 8 * (512 * 512 + 512) * 4, c
assert "f32[512,512]" in c["where"], c
assert "donation" not in rules(1), rules(1)' kept donated)"
    healthy "PyTorch/XLA: a healthy loop" "${large[@]}" --read-every 10
    healthy "PyTorch/XLA: one that reads seldom" "${large[@]}" --read-every 20
    healthy "PyTorch/XLA: one whose batches lie on the device" "${large[@]}" --read-every 10 --sent early
    healthy "PyTorch/XLA: one of a large batch" "${large[@]}" --rows 480 --read-every 10
    healthy "PyTorch/XLA: one of few layers" "${large[@]}" --layers 4 --rows 400 --read-every 10
fi
echo "1..$count"
