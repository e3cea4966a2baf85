#!/bin/bash
# check_frontends.sh - other front ends in one table with bench, from outside, as TAP: fake ones
# (fake/front.py) that obey the protocol of docs/frontends.md, on the simulated device. Frameworks
# themselves are full_frontends.sh's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
export PJRT_SIM=device_us=800,values=none,seed=1
fake_front_ends
export PYTHONDONTWRITEBYTECODE=1
export FAKE_PROGRAM=$program
export FAKE_KEEP=$folder FAKE_GOLDEN=$PWD/tests/golden/resnet18.small.json
own=(--runtime sim --model resnet18 --variant small --steps 12 --min-time 0 --warmup 8 --store "$store")

# What a front end's process writes, nobody else may write, whatever its user's umask is.
report "a front end's files are its user's alone" "$(
    umask 002
    run run "${own[@]}" --front-end jax --mode capture --processes 1 --store "$folder/private"
    fault_of 0
    [ "$(stat -c %a "$folder/capture.json")" = 644 ] || stat -c "%n has mode %a" "$folder/capture.json"
)"

run run "${own[@]}" --front-end bench,jax --mode capture --processes 1 --store "$folder/debugged" \
    --debug-run "$folder/debug"
report "steps.txt of a debug run names both experiments, also where no warm-up was kept" "$(
    [ "$(grep -c '^resnet18\.small train capture ' "$folder/debug/steps.txt")" -eq 2 ] ||
        cat "$folder/debug/steps.txt"
)"

# ---- one table --------------------------------------------------------------------------------

run run "${own[@]}" --front-end bench,jax,pytorch-xla --mode lazy,capture --processes 3 --format json
report "bench and two others are measured in one group, each in processes of its own" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    grep "jax.*lazy" "$folder/err" | grep -q "capture,parts,eager" || echo "the left out one is not named"
    holds '
ways = sorted({(r["experiment"]["front_end"], r["experiment"]["mode"]) for r in records})
assert ways == [("bench", "capture"), ("bench", "lazy"), ("jax", "capture"),
                ("pytorch-xla", "capture"), ("pytorch-xla", "lazy")], ways
assert len(records) == 15 and all(r["status"] == "ok" for r in records)
groups = [r["provenance"]["group"] for r in records]
assert len({g["id"] for g in groups}) == 1
for r in records:
    g, e = r["provenance"]["group"], r["experiment"]
    ours = e["front_end"] == "bench"
    assert g["how"] == ("interleaved" if ours else "separate"), g
    assert ours or g["why"] == "frameworks cannot share a process", g
    assert sorted(x["process"] for x in groups) == sorted([1, 2, 3] * 5)
    assert (e["batch"], e["image"], e["layout"]) == (1, 64, "nhwc"), e
assert len({r["provenance"]["runtime"]["sha256"] for r in records}) == 1
'
)"
report "a record says what the framework was, and what its steps were" "$(
    holds '
for r in records:
    if r["experiment"]["front_end"] == "bench":
        continue
    f = r["provenance"]["front_end"]
    assert f["framework"] == "Fake" and f["versions"] == {"fake": "1.0"} and len(f["script_sha256"]) == 64
    assert f["what"] == "a program of the test\x27s" and f["nodes_once"] == 17
    assert f["flags"]["PATH_OF_THIS_RUN"].endswith("/REPORT.json"), f["flags"]
    assert f["flags"]["BENCH_RECORD_DIR"].startswith("/"), f["flags"]
    assert f["nodes_per_step"] == (0 if r["experiment"]["front_end"] == "jax" else 17.0), f
    assert f["measured_steps"] >= 13 and r["steps"] == f["measured_steps"] - 1, (f, r["steps"])
    assert [x["per_step"] for x in r["executions"]] == [1, 1], r["executions"]
    assert all(x["device_time_source"] == "event" for x in r["executions"]), r["executions"]
    assert r["simulated"] and r["values"] == "none"
    way = {"lazy": "lazy", "capture": "captured"}[r["experiment"]["mode"]]
    assert r["provenance"]["recording"]["way"] == way, r["provenance"]["recording"]
' 2>&1
)"
report "and which recorder and scripts ran, whatever a script says of itself" "$(
    holds "
import hashlib, pathlib
def scripts(name):
    digest = hashlib.sha256()
    for folder in ('common', name):
        root = pathlib.Path('$BENCH_FRONTENDS') / folder
        for path in sorted(root.rglob('*.py')):
            head = f'{folder}/{path.relative_to(root)}' + chr(0) + str(path.stat().st_size) + chr(0)
            digest.update(head.encode() + path.read_bytes())
    return digest.hexdigest()
recorder = hashlib.sha256(pathlib.Path('$recorder').read_bytes()).hexdigest()
for r in records:
    name, p = r['experiment']['front_end'], r['provenance']
    if name != 'bench':
        assert p['front_end']['script_sha256'] == scripts(name), p['front_end']
        assert p['recording']['recorder_sha256'] == recorder, p['recording']
"
)"
run table --store "$store" --format json
report "each is compared with lazy of bench, by process" "$(
    fault_of 0
    holds '
rows = {(r["front_end"], r["mode"]): r for r in records["rows"]}
assert len(rows) == 5, rows.keys()
assert rows["bench", "lazy"]["speedup"] is None
for way, r in rows.items():
    if way != ("bench", "lazy"):
        assert r["speedup"] > 0 and r["matched"] and not r["lazy_other_conditions"], (way, r)
        assert r["processes"] == 3, r
assert rows["jax", "capture"]["nodes_per_step"] == 0
assert rows["pytorch-xla", "lazy"]["nodes_per_step"] == 17
means = {(m["front_end"], m["mode"]) for m in records["geometric_means"]}
assert means == {("bench", "capture"), ("jax", "capture"), ("pytorch-xla", "capture"),
                 ("pytorch-xla", "lazy")}, means
'
)"
run table --store "$store"
report "the table has a column of them, and says what their figures are" "$(
    fault_of 0
    grep -qE '^model +phase +framework +mode +graphs' "$folder/out" || echo "no column"
    grep -qE 'pytorch-xla +lazy +- ' "$folder/out" || echo "no row"
    grep -q "^framework: " "$folder/out" || echo "no words"
)"
run table --store "$store" --table costs --format json
report "a node has a cost where the steps trace nodes" "$(
    fault_of 0
    holds '
rows = {(r["front_end"], r["mode"]): r for r in records["rows"]}
assert rows["pytorch-xla", "lazy"]["node_ns"] > 0 and rows["bench", "lazy"]["node_ns"] > 0
assert rows["jax", "capture"]["nodes"] == 0 and rows["jax", "capture"]["node_ns"] is None'
)"
for table in executions ledger compile memory; do
    run table --store "$store" --table $table
    report "table $table names the way" "$(
        fault_of 0
        grep -q "jax capture" "$folder/out" || echo "no jax capture"
    )"
done
run report --store "$store" --output "$folder/page.html"
report "report" "$(
    fault_of 0
    grep -q "jax capture" "$folder/page.html" || echo "no jax capture"
)"
run history --store "$store" --front-end jax
report "history of one front end" "$(
    fault_of 0
    grep -q pytorch-xla "$folder/out" && echo "others are there, too"
)"
report "nothing stays but the records" "$(find "$store" -name '.front-end-*')"
# A script's request says what it runs, and where it writes.
mkdir -m 700 "$folder/mine"
mkdir -m 777 "$folder/anybody"
cp "$folder/capture.json" "$folder/asked.json"
TMPDIR=$folder/mine run run "${own[@]}" --store "$folder/anybody" --front-end jax --mode capture --processes 1
report "what a script reads is not in a store that others may write" "$(
    fault_of 0
    grep -qF "$folder/mine/.front-end-" "$folder/capture.json" || echo "it is not in TMPDIR"
    grep -F "$folder/anybody" "$folder/capture.json"
    find "$folder/anybody" "$folder/mine" -name '.front-end-*'
)"
# Nor where they may give the name of a folder above to one of theirs. In one like /tmp they cannot.
mkdir -m 755 "$folder/anybody/store"
TMPDIR=$folder/mine run run "${own[@]}" --store "$folder/anybody/store" --front-end jax --mode capture --processes 1
report "nor in a store below a folder that they may write" "$(
    fault_of 0
    grep -qF "$folder/mine/.front-end-" "$folder/capture.json" || echo "it is not in TMPDIR"
)"
TMPDIR=$folder/anybody/store refuses "nor in such a TMPDIR" 2 "$folder/anybody|TMPDIR" -- \
    run "${own[@]}" --store "$folder/anybody/store" --front-end jax --mode capture --processes 1
chmod 1777 "$folder/anybody"
run run "${own[@]}" --store "$folder/anybody/store" --front-end jax --mode capture --processes 1
report "a store below one like /tmp is well" "$(
    fault_of 0
    grep -qF "$folder/anybody/store/.front-end-" "$folder/capture.json" || echo "it is not in the store"
)"
chmod 777 "$folder/anybody"
TMPDIR=$folder/anybody refuses "nor in a TMPDIR that they may write" 2 "$folder/anybody|TMPDIR" -- \
    run "${own[@]}" --store "$folder/anybody" --front-end jax --mode capture --processes 1
mv "$folder/asked.json" "$folder/capture.json"
report "a script is asked for the model as bench runs it" "$(
    "$python" - "$folder/capture.json" <<'PYTHON' 2>&1 | tail -n 1
import json, sys
r = json.load(open(sys.argv[1]))
want = {"model": "resnet18", "variant": "small", "phase": "train", "mode": "capture", "batch": 1,
        "image": 64, "seq": 0, "context": 0, "dtype": "f32", "optimizer": "sgd", "learning_rate": 0.01,
        "dropout": False, "steps": 13, "min_time": 0.0, "warmup": 8, "seed": 1, "values": False}
assert {k: r.get(k) for k in want} == want, r
assert set(r) - set(want) == {"weights", "inputs", "report"}, r
PYTHON
)"

run run "${own[@]}" --store "$folder/kept" --front-end jax --mode capture --processes 2 --recordings "$folder/kept/all"
report "recordings stay where they are asked for, a folder for each process" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    for number in 1 2; do
        "$bench" steps "$folder/kept/all/resnet18-train-jax-capture-$number" >"$folder/steps" 2>&1 ||
            tail -n 1 "$folder/steps"
    done
    [ "$(find "$folder/kept/all" -mindepth 1 -maxdepth 1 | wc -l)" -eq 2 ] || echo "not two folders"
)"
run run "${own[@]}" --store "$folder/kept" --front-end jax --mode capture --processes 1 --recordings "$folder/kept/all" \
    --format json
report "a later run adds its own, and the record says which it is" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    holds '
[r] = records
assert r["provenance"]["recording"]["path"].endswith("/resnet18-train-jax-capture-3"), r["provenance"]["recording"]
'
)"
refuses "recordings of bench's own steps" 2 "bench" -- \
    run "${own[@]}" --store "$folder/kept" --mode lazy --recordings "$folder/kept/none"
FAKE_VERSION=2.0 run run "${own[@]}" --front-end jax --mode capture --processes 3
run table --store "$store" --format json
report "another version of a framework is pooled apart" "$(
    fault_of 0
    holds '
[row] = [r for r in records["rows"] if (r["front_end"], r["mode"]) == ("jax", "capture")]
assert row["left_out_other_conditions"] == 3 and row["processes"] == 3, row
'
)"
flags=(run "${own[@]}" --store "$folder/flags" --front-end jax --mode capture --processes 3)
JAX_ENABLE_X64=1 run "${flags[@]}"
run "${flags[@]}"
run table --store "$folder/flags" --format json
report "so are other variables of it, and not where bench put its files" "$(
    fault_of 0
    holds '
[row] = records["rows"]
assert row["left_out_other_conditions"] == 3 and row["processes"] == 3, row
'
    holds '
# The note is of that row. What follows the count is the name of the condition, as provenance.c has it.
[row] = records["rows"]
[note] = [n for n in records["noted"] if n["id"] == "other-conditions"]
assert note["rows"] == [row["id"]] and "(3: variables of the framework)" in note["text"], note
'
)"
store=$folder/alone
run run "${own[@]}" --store "$store" --front-end jax,pytorch-xla --mode capture --processes 3 --format json
run table --store "$store" --format json
report "without bench the first of several is the base" "$(
    fault_of 0
    holds '
rows = {r["front_end"]: r for r in records["rows"]}
base, other = rows["jax"], rows["pytorch-xla"]
assert base["speedup"] is None and other["speedup"] > 0, rows
assert other["speedup_low"] < other["speedup"] < other["speedup_high"], other
'
    "$bench" table --store "$store" >"$folder/out"
    grep -E 'jax +capture' "$folder/out" | grep -q ' base' || echo "jax is not the base"
)"
FAKE_WAY=ops run run "${own[@]}" --store "$folder/ops" --front-end jax --mode eager --processes 1 --format json
report "steps of many executions are whole: the script says how many they are" "$(
    fault_of 0
    holds '
[r] = records
assert sum(x["per_step"] for x in r["executions"]) == 9, r["executions"]
assert r["provenance"]["recording"]["executions_per_step"] == 9
assert r["provenance"]["recording"]["way"] == "eager", r["provenance"]["recording"]
'
)"

# ---- versions -----------------------------------------------------------------------------------

cp -R "$BENCH_FRONTENDS" "$folder/pinned"
printf '# of the test\nfake==1.0\n' >"$folder/pinned/jax/requirements.txt"
# with VERSION ARGUMENT...: as run, with scripts that pin fake 1.0, and a Python that has VERSION.
with() {
    local packages=$folder/packages/fake-$1.dist-info
    rm -rf "$folder/packages"
    mkdir -p "$packages"
    printf 'Metadata-Version: 2.1\nName: fake\nVersion: %s\n' "$1" >"$packages/METADATA"
    BENCH_FRONTENDS=$folder/pinned PYTHONPATH=$folder/packages run "${@:2}"
}
twice=(run "${own[@]}" --store "$folder/versions" --front-end bench,jax --mode capture --phase train,infer
    --processes 1)
command="$python -m pip install -r .*/pinned/jax/requirements.txt"
with 2.0 "${twice[@]}"
report "another version than the pinned one is said once, and how to get the pinned one" "$(
    fault_of 0
    [ "$(grep -c 'fake 2.0' "$folder/err")" -eq 1 ] || echo "not said once"
    grep -q "jax.*2\.0.*1\.0.*: $command$" "$folder/err" || echo "not in one line"
    [ "$(find "$folder/versions" -name '*.h5' | wc -l)" -eq 4 ] || echo "not four records"
)"
report "one table: what each costs over the device, which the run prints, and how to get it again" "$(
    # The run prints what the command that it names would print.
    said=$(grep -o "bench table --table costs --store $folder/versions" "$folder/err")
    [ -n "$said" ] || echo "no command"
    "$bench" ${said#bench } --format text >"$folder/costs"
    tail -n "$(wc -l <"$folder/costs")" "$folder/out" | cmp -s - "$folder/costs" || echo "the run does not end with it"
    run ${said#bench } --format json
    holds '
rows = {(r["phase"], r["front_end"], r["mode"]): r for r in records["rows"]}
assert set(rows) == {(p, f, "capture") for p in ("train", "infer") for f in ("bench", "jax")}, rows.keys()
assert all("over_device_ns" in r for r in rows.values()), rows'
)"
with 2.0 list frameworks --format json
report "the list of front ends says it, too" "$(
    fault_of 0
    holds '
jax, xla = ({r["front_end"]: r for r in records}[n] for n in ("jax", "pytorch-xla"))
assert jax["installed"] and jax["details"]["state"] == "others", jax
assert "fake 2.0" in jax["versions"] and "1.0" in jax["versions"], jax
assert xla["installed"] and xla["details"]["state"] == "none-pinned" and xla["versions"], xla'
    with 2.0 list frameworks
    grep -qE '^jax .*fake 2\.0' "$folder/out" || echo "no version of jax"
)"
with 1.0 "${twice[@]}"
report "nothing is said of the pinned one" "$(
    fault_of 0
    grep 'fake' "$folder/err"
)"
with 1.0 list frameworks --format json
report "and the list has its version" "$(
    fault_of 0
    holds '
[row] = [r for r in records if r["front_end"] == "jax"]
assert row["details"]["state"] == "as-pinned" and row["details"]["versions"] == {"fake": "1.0"}, row
assert row["details"]["pinned"] == ["fake==1.0"], row
'
)"
printf 'fake==1.0\nother==2.0\n' >"$folder/pinned/jax/requirements.txt"
with 1.0 list frameworks --format json
report "one that lacks a pinned package is not installed: it is being made, or was left half made" "$(
    fault_of 0
    holds '
rows = {r["front_end"]: r for r in records}
row = rows["jax"]
assert not row["installed"] and row["details"]["state"] == "missing", row
assert " -m pip install -r " in row["where"] and "/pinned/jax/requirements.txt" in row["where"], row
assert rows["pytorch-xla"]["installed"], rows["pytorch-xla"]
'
)"
printf 'fake==1.0\n' >"$folder/pinned/jax/requirements.txt"
mkdir -p "$folder/odd/importlib"
printf 'raise SystemExit("of this folder")\n' | tee "$folder/odd/json.py" >"$folder/odd/importlib/metadata.py"
report "a module of the current folder does not answer" "$(
    bench=$(realpath "$bench")
    cd "$folder/odd" || exit
    with 2.0 list frameworks
    fault_of 0
    grep -q 'fake 2\.0' "$folder/out" || echo "no version"
)"

# ---- what goes wrong ----------------------------------------------------------------------------

one=(run "${own[@]}" --store "$folder/failed" --front-end jax --mode capture --processes 1 --format json)
# fails FAULT STATUS TEXT: with FAULT the one experiment ends in a record of class STATUS, with TEXT.
fails() {
    local code
    FAKE_FAULT=$1 run "${one[@]}" "${@:4}"
    code=$status
    report "a script that is $1" "$(
        [ "$code" -ne 0 ] || echo "exit status 0"
        grep -qF -- "$3" "$folder/err" || echo "no complaint says '$3'"
        holds "
[r] = records
assert r['status'] == '$2', (r['status'], r['message'])
assert r['experiment']['front_end'] == 'jax', r['experiment']
"
    )"
}
fails not_installed not-found "make frontends FRONTENDS=jax"
fails not_supported not-supported "jax: the test wants it so"
fails values wrong-result "the test wants it so"
fails runtime execute-error "the test wants it so"
fails crash crash "signal 11"
fails exit crash "ModuleNotFoundError: no module fake"
fails silent crash "report"
fails damaged damaged-file "jax"
fails wrong_mode damaged-file "'capture'"
fails unrecorded not-found "JAX_PLATFORMS"
fails hang timeout "2 s" --timeout 2
mkdir "$folder/build"
cp "$sim" "$folder/build/libpjrt_sim.so"
FAKE_REPLACE=$folder/build/libpjrt_sim.so fails "followed by another plugin in its place" plugin-changed \
    "$folder/build/libpjrt_sim.so" --runtime "$folder/build/libpjrt_sim.so"
# Other files in the timed path: the recorder, and the files that the script is made of.
in_build=$bench
mkdir "$folder/beside"
cp "$bench" "$sim" "$recorder" "$folder/beside"
bench=$folder/beside/bench
FAKE_REPLACE=$folder/beside/libpjrt_record.so fails "followed by another recorder" plugin-changed \
    "$folder/beside/libpjrt_record.so"
bench=$in_build
cp -R "$BENCH_FRONTENDS" "$folder/scripts"
mkdir "$folder/scripts/common"
echo >"$folder/scripts/common/front_main.py"
for file in common/front_main.py jax/program_text.py jax/run.py; do
    BENCH_FRONTENDS=$folder/scripts FAKE_REPLACE=$folder/scripts/$file fails "followed by another $file" \
        plugin-changed "$file"
done
report "nothing of them stays" "$(find "$folder/failed" -name '.front-end-*')"

# ---- what is refused before anything starts ------------------------------------------------------

refuses "a front end that there is not" 2 "'tinygrad'|bench, jax, pytorch-xla" -- \
    run "${own[@]}" --front-end tinygrad
refuses "a mode that it has not" 2 "jax|lazy|capture,parts,eager" -- \
    run "${own[@]}" --front-end jax
refuses "a mode that bench has not" 2 "bench|dynamo" -- \
    run "${own[@]}" --mode dynamo
refuses "parts in inference" 2 "jax|parts" -- \
    run "${own[@]}" --front-end jax --mode parts --phase infer
for option in "graphs 5" "in-flight 2" "input prefetch" "trace-cost-ns 100" "layout nchw"; do
    refuses "--$option" 2 "--$option |jax" -- \
        run "${own[@]}" --front-end jax --mode capture --${option% *} "${option#* }"
done
refuses "--weights" 2 "--weights|jax" -- \
    run "${own[@]}" --front-end jax --mode capture --weights w.safetensors
refuses "--pin" 2 "--pin|jax" -- run "${own[@]}" --front-end jax --mode capture --pin all
before=$(find "$folder/failed" -name '*.h5' | wc -l)
export PJRT_NAMES_AND_LIBRARY_PATHS=cuda:$fake,tpu:$fake TPU_LIBRARY_PATH=$fake
# JAX' default is the first word, wherever the recorded platform stands.
for way in "sim JAX_PLATFORMS=cuda" "sim JAX_PLATFORMS=cuda,recorded" "cuda JAX_PLATFORMS=cpu,cuda" \
    "cuda PJRT_DEVICE=CPU" "tpu JAX_PLATFORMS=cpu" "tpu PJRT_DEVICE=CPU"; do
    variable=${way#* } value=${way#*=}
    export "${variable?}"
    run "${one[@]}" --runtime "${way% *}"
    unset "${variable%=*}"
    report "$variable in the way of ${way% *} is refused, without a record" "$(
        [ "$status" -eq 2 ] || echo "exit status $status"
        [ "$(find "$folder/failed" -name '*.h5' | wc -l)" = "$before" ] || echo "there is a record"
        grep "jax" "$folder/err" | grep -q "${variable%=*} .*'$value'" || echo "the variable is not named"
    )"
done
unset PJRT_NAMES_AND_LIBRARY_PATHS TPU_LIBRARY_PATH
# A bench next to which no framework is installed, whatever third_party holds.
usual=$bench
mkdir "$folder/bare"
cp "$usual" "$sim" "$folder/bare"
bench=$folder/bare/bench
unset BENCH_FRONTEND_PYTHON_JAX
refuses "a framework that is not installed, with the command that installs it" 3 \
    "JAX|FRONTENDS=jax|BENCH_FRONTEND_PYTHON_JAX" -- \
    run "${own[@]}" --front-end jax --mode capture
BENCH_FRONTEND_PYTHON_JAX=/nowhere/python refuses "a Python that there is not" 3 \
    "BENCH_FRONTEND_PYTHON_JAX|/nowhere/python" -- \
    run "${own[@]}" --front-end jax --mode capture
run list frameworks --format json
report "bench knows of each front end what its script has" "$(
    fault_of 0
    holds '
import ast, glob
rows = {r["front_end"]: r for r in records}
scripts = glob.glob("contrib/frontends/*/run.py")
assert set(rows) == {"bench"} | {s.split("/")[-2] for s in scripts}, rows.keys()
for script in scripts:
    row = rows[script.split("/")[-2]]
    modes = [n for n in ast.parse(open(script).read()).body
             if isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "MODES"]
    assert row["modes"].split(",") == [k.value for k in modes[0].value.keys], script
    assert all(row["details"][k] for k in ("modes", "models", "values")), row
'
)"
report "and of each whether it is there" "$(
    holds '
rows = {r["front_end"]: r for r in records}
xla, jax = rows["pytorch-xla"], rows["jax"]
assert xla["framework"] == "PyTorch/XLA" and xla["installed"], xla
assert xla["modes"] == "lazy,capture,dynamo,dynamo-step" and xla["details"]["state"] == "none-pinned", xla
assert not jax["installed"] and jax["details"]["state"] == "not-found" and jax["versions"] == "", jax'
)"
run list frameworks
report "bench list frameworks" "$(
    fault_of 0
    for name in bench jax pytorch-xla; do
        grep -q "^$name " "$folder/out" || echo "no row of $name"
    done
)"
export BENCH_FRONTEND_PYTHON_JAX=$python
bench=$usual

# ---- suites, comparisons, golden values -----------------------------------------------------------

cat >"$folder/suite.json" <<END
{"bench_suite": 1, "name": "front", "defaults": {"models": ["resnet18"], "variants": ["small"],
 "phases": ["train"], "runtimes": ["sim"], "steps": 12, "warmup": 8, "min_time": 0},
 "matrix": [{"modes": ["capture"], "front_ends": ["bench", "jax"], "repetitions": 1}]}
END
run suite "$folder/suite.json" --store "$folder/suite"
report "a suite has front ends as an axis" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    grep -qF "bench table --table costs --store $folder/suite" "$folder/err" || echo "costs are not named"
    [ "$(find "$folder/suite" -name '*.h5' | wc -l)" -eq 2 ] || echo "not two records"
)"
run suite "$folder/suite.json" --store "$folder/suite"
report "and knows what is done" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    [ "$(find "$folder/suite" -name '*.h5' | wc -l)" -eq 2 ] || echo "not two records"
)"
# On cuda a framework loads a plugin of its own, whatever bench has under that name. Here they are two files.
# A sanitizer must be loaded before the recorder.
if ldd "$bench" | grep -q 'lib[at]san'; then
    skip "suites on a framework's own plugin" "a build with a sanitizer"
else
    export PJRT_NAMES_AND_LIBRARY_PATHS=cuda:$fake PJRT_LIBRARY_PATH=$sim JAX_PLATFORMS=gpu,cpu PJRT_DEVICE=LIBRARY
    ours=$(sha256sum "$fake" | cut -d ' ' -f 1) theirs=$(sha256sum "$sim" | cut -d ' ' -f 1)
    sed 's/"sim"/"cuda"/; s/"bench", "jax"/"jax"/' "$folder/suite.json" >"$folder/cuda.json"
    for turn in first second; do
        run suite "$folder/cuda.json" --store "$folder/cuda"
        report "a suite on a framework's own plugin, the $turn time" "$(
            [ "$status" -eq 0 ] || echo "exit status $status"
            [ "$(find "$folder/cuda" -name '*.h5' | wc -l)" -eq 1 ] || echo "not one record"
            grep -qa "$theirs" "$folder"/cuda/*.h5 || echo "the record does not name what was loaded"
            grep -la "$ours" "$folder"/cuda/*.h5
        )"
        FAKE_FAULT=crash run suite "$folder/cuda.json" --store "$folder/cuda-failed"
        report "a failure there, the $turn time, names no build of ours" "$(
            [ "$status" -ne 0 ] || echo "exit status 0"
            [ "$(find "$folder/cuda-failed" -name '*.h5' | wc -l)" -eq 1 ] || echo "not one record"
            grep -la "$ours" "$folder"/cuda-failed/*.h5
        )"
    done
    unset PJRT_NAMES_AND_LIBRARY_PATHS PJRT_LIBRARY_PATH JAX_PLATFORMS PJRT_DEVICE
fi
# Nights in which the framework's version changes, and with it what the host does in each step. Three are
# measured. The others are copies of them with other dates (make_night).
make_night=$built/tests/harness/campaign/make_night
sed 's/"bench", "jax"/"jax"/; s/"repetitions": 1/"repetitions": 2/' "$folder/suite.json" >"$folder/nights.json"
# night STORE VERSION WORK: one with that version, whose steps work for so many ms.
night() {
    FAKE_VERSION=$2 FAKE_WORK=$3 run nightly --suite "$folder/nights.json" --store "$folder/$1" \
        --report "$folder/night" --site "$folder/site-$1"
}
# claims STORE CLAIM: a fault unless the verdict of the night says that for its one runtime (docs/nightly.md).
claims() {
    [ "$(grep -oh '"claims":"[a-z-]*"' "$folder/site-$1"/data/verdict-*)" = "\"claims\":\"$2\"" ] ||
        grep -oh '"plans":.*' "$folder/site-$1"/data/verdict-*
}
# past STORE FROM DAYS...: copies the records of the store FROM, dated so many days ago.
past() {
    local store=$1 from=$2 days
    shift 2
    mkdir -p "$folder/$store"
    for days in "$@"; do
        "$make_night" "$folder/$from" "$folder/$store" $((-86400 * days)) 0 || echo "# make_night failed"
    done
}
for version in 1 2; do
    night version-$version $version.0 $((3 * version - 2))
    report "a night measures a framework, version $version.0" "$(
        fault_of 4
        claims version-$version no-baseline
        [ "$(find "$folder/version-$version" -maxdepth 1 -name '*.h5' | wc -l)" -eq 2 ] || echo "not two records"
    )"
done
past nights version-1 $(seq 10 -1 2)
past nights version-2 1
night nights 2.0 4
report "a series that is slower since another version of the framework counts, though the build is the same" "$(
    fault_of 2
    claims nights same-build
    # Exit code 2 is due to the one series.
    cp "$folder/night/night.json" "$folder/out"
    holds '
[change] = records["history"]
assert change["change"]["estimate"] > 1.5 and change["two_nights"] and change["cause"] == "not-controlled", change
assert "jax" in change["series"] and records["failed"] == 0 and records["verdict"] == "slower", records'
)"
past series version-1 10 9 8 7 6
past series version-2 5 4 3 2 1
run history --store "$folder/series" --front-end jax --metric trace --format json
report "the history of its tracing says that the framework is another one" "$(
    fault_of 0
    holds '
[series] = records
assert series["metric"] == "trace" and len(series["nights"]) == 10, series
[change] = [s["change"] for s in series["stretches"] if "change" in s]
assert change["ratio"] > 1 and change["other"] == ["front_end"], change
assert change["before"]["sha256"] == change["after"]["sha256"] != "", change'
    "$bench" history --store "$folder/series" --front-end jax --metric trace >"$folder/out"
    grep -qF "other framework" "$folder/out" || echo "not said to people"
)"
run suite contrib/frontends/suite.json --runtime sim --dry-run --store "$folder/none"
report "the suite of all front ends has each way of each model once" "$(
    fault_of 0
    # 84, in four processes each.
    grep -qE '(^| )336 to run, 0 done' "$folder/out" || tail -n 1 "$folder/out"
    grep -q "resnet50 train dynamo-step .*pytorch-xla" "$folder/out" || echo "no dynamo of the step"
    grep -qE "infer (parts|dynamo-step) " "$folder/out" && echo "a way of training only, in inference"
)"
cp "$sim" "$folder/libpjrt_sim.so"
run compare --runtime sim --runtime "$folder/libpjrt_sim.so" --model resnet18 --variant small --front-end jax \
    --mode capture --steps 12 --min-time 0 --warmup 8 --pairs 3 --control 0 --store "$folder/compared"
report "a comparison of two runtimes under a front end" "$(
    # Three pairs decide nothing.
    [ "$status" -eq 4 ] || echo "exit status $status"
    grep -q "jax capture" "$folder/out" || echo "the way is not named"
    [ "$(find "$folder/compared" -name '*.h5' | wc -l)" -eq 6 ] || echo "not six records"
)"

run verify --front-end jax --model resnet18 --variant small --runtime sim --format json
report "a script's values are compared with the golden ones" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    holds '
assert len(records) >= 10 and all(r["pass"] and "deviation" not in r for r in records), records
assert {(r["model"], r["variant"], r["mode"]) for r in records} == {("resnet18", "small", "jax capture")}, records
for wanted in ("eval.loss", "train.grads_step0"):
    assert any(r["quantity"].startswith(wanted) for r in records), wanted'
)"
FAKE_FAULT=wrong_loss run verify --front-end bench,pytorch-xla --mode lazy --model resnet18 --variant small \
    --runtime cpu --format json
report "a wrong loss is found, next to bench's own" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    holds '
failed = [(r["mode"], r["quantity"]) for r in records if not r["pass"]]
assert failed == [("pytorch-xla lazy", "train.loss[1]")], failed
assert {r["mode"] for r in records} == {"lazy", "pytorch-xla lazy"}, records'
)"
FAKE_FAULT=deviates run verify --front-end jax --model resnet18 --variant small --runtime sim
report "what a script names as computed otherwise is shown and not judged" "$(
    fault_of 0
    # What people see of it: the row, and what the script said.
    grep -qE 'bn_after_step1.*running_var_l2 .*named$' "$folder/out" || echo "it is not shown"
    grep -qF "running_var: the fake one takes less" "$folder/out" || echo "not said"
)"
FAKE_FAULT=deviates run verify --front-end jax --model resnet18 --variant small --runtime sim --format json
report "and for programs" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    holds '
assert len(records) >= 10 and all(r["pass"] for r in records), records
named = [r for r in records if "deviation" in r]
assert named and all(r["deviation"] == "running_var: the fake one takes less" for r in named), named
assert all("running_var_l2" in r["quantity"] and r["difference"] > r["tolerance"] for r in named), named'
)"
FAKE_FAULT=deviates_unsaid run verify --front-end jax --model resnet18 --variant small --runtime sim --format json
report "the same unsaid is a failure" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    holds '
failed = [r["quantity"] for r in records if not r["pass"]]
assert failed and all("running_var_l2" in q for q in failed), failed'
)"
FAKE_FAULT=not_supported run verify --front-end jax --model resnet18 --variant small --runtime sim
report "what a script cannot do is said" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    grep -q "verify resnet18.small jax capture: jax: the test wants it so" "$folder/err" || echo "not said"
)"

# An installed bench among another user's files, which have a Python of that name.
foreign=$folder/foreign/third_party/frontends/jax/bin
mkdir -p "$folder/home/bin" "$folder/home/share/bench" "$foreign"
cp "$bench" "$folder/home/bin/bench"
cp -r contrib/frontends "$folder/home/share/bench/frontends"
printf '#!/bin/sh\ntouch "%s"\n' "$folder/ran" >"$foreign/python"
chmod +x "$foreign/python"
report "nothing below the current folder is run" "$(
    unset BENCH_FRONTENDS BENCH_FRONTEND_PYTHON_JAX
    sim=$(realpath "$sim")
    cd "$folder/foreign" || exit
    bench=$folder/home/bin/bench
    run run --front-end jax --mode capture --runtime "$sim" --model resnet18 --variant small --store "$folder/foreign/store"
    [ "$status" -ne 0 ] || echo "exit status 0"
    grep -q "make frontends FRONTENDS=jax" "$folder/err" || cat "$folder/err"
    [ ! -e "$folder/ran" ] || echo "it ran"
)"

echo "1..$count"
