#!/bin/bash
# check_corpus.sh - the scoreboard of recordings on made answers, and its clock on made programs, as TAP: no
# framework and no recording is needed. What tests/corpus/README.md calls right, a miss, wrong and absent.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
scripts=$PWD/tests/corpus
# Answers are those that lie beside a recording.
kept=$folder/kept
cat >"$folder/bench" <<'SCRIPT'
#!/bin/sh
cat "$2.$1.json" 2>/dev/null || exit 3
SCRIPT
chmod +x "$folder/bench"

# made PROGRAM NUMBER [CHANGE]: a recording of ten steps of 1 ms, as PROGRAM wants it; CHANGE is Python that changes
# the clock, steps or doctor of it.
made() {
    mkdir -p "$kept"
    "$python" - "$kept/$1.$2" "${3:-}" <<'PYTHON'
import json, sys
place, change = sys.argv[1:]
def at(ns):
    return {"step_begins_ns": ns, "step_ends_ns": [t + 1000 for t in ns]}
clock = {**at([10**9 + i * 10**6 for i in range(10)]), "exit": 0, "error": None}
steps = {"found": 9, "executions_per_step": 1, "wall": {"mean_ns": 1e6}, "device_busy": {"mean_ns": 5e5}}
doctor = {"complaints": []}
exec(change)
for name, said in ("clock", clock), ("steps", steps), ("doctor", doctor):
    if said is not None:
        open(f"{place}.{name}.json", "w").write(json.dumps(said))
PYTHON
}

# judged PROGRAM VERDICT [FAULT]: what is wrong with what the scoreboard says of the program in $kept, and of it
# alone. FAULT is a word of the reason: a figure or the name of a rule.
judged() {
    "$python" "$scripts/score.py" --bench "$folder/bench" --recordings "$kept" --only "$1" --json "$folder/score.json" \
        >"$folder/out" 2>"$folder/err"
    status=$?
    "$python" - "$folder/score.json" "$status" "$2" "${3:-}" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
score, status, verdict, fault = json.load(open(sys.argv[1])), int(sys.argv[2]), *sys.argv[3:]
[program], counts = score["programs"], score["counts"]
assert program["verdict"] == verdict, (program["verdict"], program["faults"])
assert fault in "; ".join(program["faults"]), program["faults"]
assert bool(program["faults"]) == (verdict != "right"), program["faults"]
assert counts[verdict] == 1 and sum(counts[v] for v in ("right", "miss", "wrong", "absent")) == 1, counts
assert counts["misses"] == {"miss": 1, "wrong": 2}.get(verdict, 0), counts
assert status == (verdict in ("miss", "wrong")), status
PYTHON
    rm -rf "$kept"
}
# thrice PROGRAM [CHANGE]
thrice() {
    for number in 1 2 3; do made "$1" $number "${2:-}"; done
}

# ---- counts and times -----------------------------------------------------------------------

thrice flax_05
report "what agrees is right" "$(judged flax_05 right)"
thrice flax_05 'steps["found"] = 10'
report "a step too many is wrong" "$(judged flax_05 wrong 11)"
thrice flax_05 'steps.update(found=7, marks=10)'
report "marks count where bench tells them" "$(judged flax_05 right)"
thrice flax_05 'steps["marks"] = 9'
report "also against it" "$(judged flax_05 wrong 9)"
thrice flax_05 'steps["executions_per_step"] = 2'
report "executions that are not those of a step are wrong" "$(judged flax_05 wrong 2)"
thrice equinox_rnn 'steps["executions_per_step"] = 2'
report "where the list names none, any do" "$(judged equinox_rnn right)"
made flax_05 1 'steps["found"] = 10'
made flax_05 2
made flax_05 3
report "one of three recordings decides nothing" "$(judged flax_05 right)"
for share in 0.94 1.06; do
    thrice flax_05 "steps['wall']['mean_ns'] *= $share"
    report "$share times the time is wrong" "$(judged flax_05 wrong $share)"
done
for share in 0.96 1.04; do
    thrice flax_05 "steps['wall']['mean_ns'] *= $share"
    report "$share times the time is right" "$(judged flax_05 right)"
done
made flax_05 1 'steps["wall"]["mean_ns"] = 2e6'
made flax_05 2 'steps["wall"]["mean_ns"] = 1.02e6'
made flax_05 3 'steps["wall"]["mean_ns"] = 0.6e6'
report "the middle of the times counts" "$(judged flax_05 right)"
# The first three steps take a second more, and so does the seventh.
slow='clock.update(at([b + 10**9 * (min(i, 3) + (i > 6)) for i, b in enumerate(clock["step_begins_ns"])]))'
thrice flax_05 "$slow"
report "all steps are compared" "$(judged flax_05 wrong)"
thrice flax_05 "$slow; steps['measured'] = [[3, 6], [7, 9]]"
report "or those that bench measured, where it tells them" "$(judged flax_05 right)"
thrice flax_05 "$slow; steps['measured'] = [[3, 7]]"
report "and no others" "$(judged flax_05 wrong)"
thrice flax_05 "$slow; steps['measured'] = [[3, 6], [7, 99]]"
report "rows beyond the last step end with it" "$(judged flax_05 right)"
# The third step compiles for a second before it is executed.
compiles='clock["step_begins_ns"] = [b + 10**9 * (i > 2) for i, b in enumerate(clock["step_begins_ns"])]
clock["step_ends_ns"] = [e + 10**9 * (i > 1) for i, e in enumerate(clock["step_ends_ns"])]'
thrice flax_05 "$compiles
steps['measured'] = [[0, 1], [2, 9]]"
report "what a step compiles lies before it" "$(judged flax_05 right)"
# 60 steps of 1 ms, of which each 20 are handed over at once.
ahead='clock.update(at([10**9 + i // 20 * 20 * 10**6 + i % 20 * 10**4 for i in range(60)]))
clock["step_done_ns"] = [10**9 + (i + 1) * 10**6 for i in range(60)]
steps.update(found=59, by_completion=True)'
thrice async_every_20 "$ahead; steps['measured'] = [[5, 35]]"
report "where the host runs ahead, a step is from done to done" "$(judged async_every_20 right)"
thrice async_every_20 "$ahead; steps['measured'] = [[5, 20], [21, 59]]; clock['step_done_ns'][7] = None"
report "one that is not known tells nothing" "$(judged async_every_20 right)"
thrice async_every_20 "$ahead; steps['measured'] = [[0, 58]]; steps['wall']['mean_ns'] *= 1.06"
report "and no other time is right" "$(judged async_every_20 wrong 1.06)"
thrice async_every_20 "$ahead; steps['measured'] = [[0, 58]]; clock['step_done_ns'] = [None] * 60"
report "a clock that does not know when steps are done judges none right" "$(judged async_every_20 wrong clock)"
# Twenty steps of 1 ms between waits, of a program in PyTorch/XLA.
waits=$("$python" -c "
import json
p = next(p for p in json.load(open('tests/corpus/programs.json'))['programs'] if p['name'] == 'xla_decoder')
print(*p['awaited'])")
read -r first every <<<"$waits"
ahead="clock.update(at([10**9 + (i - $first) // $every * $every * 10**6 + (i - $first) % $every * 10**4 for i in range(40)]))
steps.update(found=39, by_completion=True)"
thrice xla_decoder "$ahead; steps['measured'] = [[2, 39]]"
report "or from one wait to another" "$(judged xla_decoder right)"
thrice flax_05 'steps["device_busy"]["mean_ns"] = 1.001e6'
report "a step shorter than its device's work is wrong" "$(judged flax_05 wrong)"
thrice flax_05 'steps["device_busy"] = None'
report "unless nobody knows that" "$(judged flax_05 right)"

# ---- no answer ------------------------------------------------------------------------------

thrice flax_05 'steps["unclear"] = "two loops"'
report "unclear is a miss" "$(judged flax_05 miss 'two loops')"
thrice flax_05 'steps["unclear"] = None'
report "not unclear is none" "$(judged flax_05 right)"
thrice flax_05 'steps = None'
report "an error is a miss" "$(judged flax_05 miss)"
thrice flax_05 'clock.update(exit=1, error="ValueError: 8 devices")'
report "so is a program that fails when it is recorded" "$(judged flax_05 miss '8 devices')"
thrice flax_05 'clock.update(exit=1, error="ModuleNotFoundError: flax")'
report "one whose packages are missing is absent" "$(judged flax_05 absent flax)"
mkdir -p "$kept"
report "so is one without a recording" "$(judged flax_05 absent)"
# refused WHAT CHANGE
refused() {
    thrice flax_05 "$2"
    "$python" "$scripts/score.py" --bench "$folder/bench" --recordings "$kept" --only flax_05 >"$folder/out" \
        2>"$folder/err"
    status=$?
    report "$1 is refused" "$(
        [ $status -eq 2 ] || echo "exit status $status"
        grep -q flax_05.1.clock.json "$folder/err" || echo "the file is not named"
        [ ! -s "$folder/out" ] || echo "something is judged"
    )"
    rm -rf "$kept"
}
refused "a clock that runs backwards" 'clock["step_begins_ns"].reverse()'
refused "one that lacks an end" 'clock["step_ends_ns"].pop()'
refused "one that has no times" 'clock = {"steps": 3}'

# ---- findings -------------------------------------------------------------------------------

first() {
    thrice torch_item "doctor['complaints'] = [{'rule': r} for r in '$1'.split()]"
}
first "reads host"
report "the planted cause comes first" "$(judged torch_item right)"
first "host reads"
report "second is wrong" "$(judged torch_item wrong host)"
first ""
report "not at all is a miss" "$(judged torch_item miss)"
thrice flax_05 'doctor["complaints"] = [{"rule": "host"}]'
report "where nothing is planted, anything may be found" "$(judged flax_05 right)"

# ---- the scoreboard as a whole --------------------------------------------------------------

thrice flax_05
thrice gan 'steps["found"] = 3'
thrice torch_item 'steps = None'
"$python" "$scripts/score.py" --bench "$folder/bench" --recordings "$kept" --json "$folder/score.json" >"$folder/out" \
    2>"$folder/err"
status=$?
report "all are counted, those that are absent, too" "$(
    [ $status -eq 1 ] || echo "exit status $status"
    "$python" -c '
import json, sys
counts = json.load(open(sys.argv[1]))["counts"]
assert counts == {"right": 1, "miss": 1, "wrong": 1, "absent": 21, "misses": 3}, counts' "$folder/score.json" 2>&1 |
        tail -n 1
)"
"$python" "$scripts/score.py" --bench "$folder/bench" --recordings "$kept" --not-held --json "$folder/score.json" \
    >"$folder/out" 2>"$folder/err"
report "those that are held can be left out" "$(
    "$python" -c '
import json, sys
programs = json.load(open(sys.argv[1]))["programs"]
assert len(programs) == 19 and not any(p["held"] for p in programs), len(programs)' "$folder/score.json" 2>&1 | tail -n 1
)"
"$python" "$scripts/score.py" --bench "$folder/bench" --only nobody >"$folder/out" 2>"$folder/err"
status=$?
report "a program that is not in the list is refused" "$(fault_of 2)"
"$python" "$scripts/score.py" --bench "$folder/bench" --only flax_05 --json "$folder/score.json" >"$folder/out" \
    2>"$folder/err"
report "without the programs of others and a Python nothing is recorded" "$(
    [ "$(grep -c absent "$folder/out")" -gt 0 ] || echo "it is not absent"
)"

# ---- the clock ------------------------------------------------------------------------------

mkdir "$folder/program"
cat >"$folder/program/loop.py" <<'PYTHON'
class Loop:
    def __init__(self):
        self.steps = 50

    def work(self):
        return 1

    def run(self):
        return sum(self.work() for _ in range(self.steps))
PYTHON
cat >"$folder/program/main.py" <<'PYTHON'
import argparse
import colorsys
import sys
import textwrap
import loop
epochs: int = 90
def step(x): return x + 1
def other(x): return x
argparse.ArgumentParser().parse_args([])
x = 0
for _ in range(epochs):
    x = step(other(x))
print(x, loop.Loop().run(), sys.argv[1:], __name__, __file__.endswith("main.py"), textwrap.dedent(" a"), colorsys.rgb_to_hsv(1, 1, 1)[2])
if x == 7: raise SystemExit(5)
if x == 8: raise ValueError("eight")
PYTHON
"$python" - "$folder/program" <<'PYTHON'
import json, sys
cells = [{"cell_type": "markdown", "source": ["not code"]}, {"cell_type": "code", "source": ["%matplotlib inline\n",
         "def step(): pass\n", "!pip install this\n", "for _ in range(4): step()"]}]
json.dump({"cells": cells}, open(sys.argv[1] + "/book.ipynb", "w"))
PYTHON
# driven FILE CLOCK SETTINGS: runs it; how many steps its clock saw, how it ended, and what it printed.
driven() {
    "$python" - "$scripts" "$folder/program/$1" "$2" "$3" <<'PYTHON' 2>/dev/null
import json, pathlib, sys
scripts, path, name, settings = sys.argv[1:]
sys.path.insert(0, scripts)
import drive
clock = drive.Clock()
program = {"clock": name, "settings": json.loads(settings), "arguments": ["a", "b"]}
ended = drive.run(program, pathlib.Path(path), clock)
assert clock.begins_ns == sorted(clock.begins_ns)
print(len(clock.begins_ns), *ended)
PYTHON
}
runs() { # WHAT LINES FILE CLOCK SETTINGS
    driven "${@:3}" >"$folder/out"
    report "$1" "$([ "$(cat "$folder/out")" = "$2" ] || echo "it says $(cat "$folder/out")")"
}
said="['a', 'b'] __main__ True a 1"
runs "calls of a name are timed, and nothing else changes" "90 50 $said
90 0 None" main.py step '{}'
runs "numbers that names are given can be set, in modules beside the program, too" "3 2 $said
3 0 None" main.py step '{"epochs": 3, "steps": 2}'
runs "calls of an attribute in a module beside it are timed" "90 50 $said
50 0 None" main.py .work '{}'
runs "calls of a library's function are timed" "90 50 $said
1 0 None" main.py colorsys:rgb_to_hsv '{}'
runs "also of one that the driver has imported before" "90 50 $said
1 0 None" main.py argparse:ArgumentParser.parse_args '{}'
runs "its exit code is told" "7 50 $said
7 5 None" main.py step '{"epochs": 7}'
runs "and what it dies of" "8 50 $said
8 1 ValueError: eight" main.py step '{"epochs": 8}'
runs "a notebook is its code without lines for IPython" "4 0 None" book.ipynb step '{}'
driven main.py step '{"epoch": 3}' >"$folder/out"
report "a setting that sets nothing is a fault" "$(tail -n 1 "$folder/out" | grep -q '^90 1 .*epoch' || echo "it is none")"

# ---- the list -------------------------------------------------------------------------------

report "the list has what the scripts read, each program once" "$(
    "$python" - "$scripts/programs.json" <<'PYTHON' 2>&1 | tail -n 1
import json, pathlib, re, sys
path = pathlib.Path(sys.argv[1])
programs = json.loads(path.read_text())["programs"]
assert len({p["name"] for p in programs}) == len(programs) == 24
for p in programs:
    assert re.fullmatch(r"\w+", p["name"]) and p["clock"] and p["framework"] in ("jax", "torch-xla"), p
    assert (path.parent / p["path"]).is_file() if p["origin"] == "here" else re.fullmatch("[0-9a-f]{40}", p["commit"]), p
PYTHON
)"
echo "1..$count"
