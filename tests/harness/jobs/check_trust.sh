#!/bin/bash
# check_trust.sh - what comes from outside and is not trusted, as TAP: a plugin that is replaced while
# it runs, words that no runtime takes, folders and links of others. What becomes of foreign text is
# in tests/results/check_foreign_text.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

sim=${bench%/*}/libpjrt_sim.so
tiny=(run --processes 1 --model resnet18 --variant small --phase infer --mode lazy --steps 3
    --warmup 8 --min-time 0 --device-time none --store "$store")
export PJRT_SIM=values=none,device_us=200
records() { find "$1" -name '*.h5' 2>/dev/null | wc -l; }

# ---- the plugin's file ----------------------------------------------------------------------

mkdir "$folder/build"
cp "$sim" "$folder/build/libpjrt_sim.so"
"$bench" "${tiny[@]}" --runtime "$folder/build/libpjrt_sim.so" --min-time 3 --store "$folder/changed" \
    --verbose --format json >"$folder/out" 2>"$folder/err" </dev/null &
job=$!
await 60 grep -q '  measuring' "$folder/err"
cp "$sim" "$folder/build/new.so"
mv "$folder/build/new.so" "$folder/build/libpjrt_sim.so"
wait $job
status=$?
report "a plugin that is replaced while it runs is an error of its own class" "$(
    fault_of 1 "libpjrt_sim.so"
    holds 'assert [r["status"] for r in records] == ["plugin-changed"], records[0]["status"]'
)"

mkdir -p "$folder/bin" "$folder/cwd/third_party/runtimes/lammps_jax_pjrt_cpu/lammps_jax_pjrt_cpu"
cp "$bench" "$folder/bin/bench"
cp "$sim" "$folder/cwd/third_party/runtimes/lammps_jax_pjrt_cpu/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"
mkdir -p "$folder/cwd/suites" "$folder/cwd/contrib/frontends/jax"
cp "$sim" "$folder/cwd"
echo '{"bench_suite": 1}' >"$folder/cwd/suites/smoke.json"
cp tests/harness/frontends/fake/front.py "$folder/cwd/contrib/frontends/jax/run.py"
# below ARGUMENT...: as run, in that folder, by a bench without files next to it.
below() {
    (cd "$folder/cwd" && env -u BENCH_RUNTIMES -u BENCH_FRONTENDS -u VIRTUAL_ENV HOME="$folder/none" \
        BENCH_FRONTEND_PYTHON_JAX="$python" "$folder/bin/bench" "$@") >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
below list runtimes --format json
report "a plugin below the current folder is not found" "$(
    fault_of 0
    grep -qF "$folder/cwd" "$folder/out" && echo "it was"
    holds '
found = {r["runtime"]: r["found"] for r in records}
assert not found["cpu"] and not found["sim"], found'
)"
below suite smoke --dry-run --store "$store"
report "nor a suite" "$(fault_of 2 "smoke")"
below list frameworks --format json
report "nor a front end" "$(
    fault_of 0
    holds 'assert not any(r["installed"] for r in records if r["front_end"] == "jax"), records'
)"

# What others may write is refused: plugins, suites, which name plugins, and front ends, which are scripts
# and a Python. So is each folder on the way to it.
runtimes=third_party/runtimes wheel=lammps_jax_pjrt_cpu/lammps_jax_pjrt_cpu
mkdir -p "$folder/$runtimes/$wheel"
cp "$sim" "$folder/$runtimes/$wheel/pjrt_c_api_cpu_plugin.so"
mkdir -p "$folder/suites" "$folder/contrib/frontends/jax" "$folder/contrib/frontends/common"
printf '%s' '{"bench_suite": 1, "name": "smoke", "defaults": {"runtimes": ["cpu"]}, "matrix": [{"models": ["bert"]}]}' \
    >"$folder/suites/smoke.json"
cp tests/harness/frontends/fake/front.py "$folder/contrib/frontends/jax/run.py"
echo >"$folder/contrib/frontends/common/front_main.py"
own_bench() { # ARGUMENT...: as run, with the copy of bench
    env -u BENCH_RUNTIMES -u BENCH_FRONTENDS BENCH_FRONTEND_PYTHON_JAX="$python" "$folder/bin/bench" "$@" \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
# closed WHAT FAULTS PATH...: a test for each PATH below $folder and each mode: with 755 the copy of bench
# takes WHAT, else it refuses it. The function FAULTS runs it with PATH and mode, and prints what is wrong.
closed() {
    local what=$1 faults=$2 at mode
    for at in "${@:3}"; do
        for mode in 775 757 755; do
            chmod $mode "$folder/$at"
            report "$what where $at has mode $mode" "$("$faults" "$at" $mode)"
        done
    done
}
# A listing says it in words, and ends well.
of_plugin() {
    own_bench list runtimes --format json
    fault_of 0
    holds "
[cpu] = [r for r in records if r['runtime'] == 'cpu']
assert cpu['found'] == ($2 == 755), cpu
assert cpu['found'] or '/$1' in cpu['where'], cpu"
}
of_suite() {
    own_bench suite smoke --dry-run --store "$store"
    if [ "$2" = 755 ]; then fault_of 0; else fault_of 2 "$folder/$1"; fi
}
of_front_end() {
    own_bench "${tiny[@]}" --runtime sim --front-end jax --mode capture
    if [ "$2" = 755 ]; then
        grep -F "$folder/$1" "$folder/err"
    else
        fault_of 2
        grep -qF "$folder/$1" "$folder/err" || echo "it is not named"
    fi
}
closed "a plugin" of_plugin $runtimes "$runtimes/${wheel%/*}" $runtimes/$wheel \
    $runtimes/$wheel/pjrt_c_api_cpu_plugin.so
cp "$sim" "$folder/bin"
closed "a suite" of_suite suites suites/smoke.json
closed "a front end" of_front_end contrib/frontends contrib/frontends/jax contrib/frontends/jax/run.py \
    contrib/frontends/common contrib/frontends/common/front_main.py
# What a script imports is looked at once it is about to be run.
cp "${bench%/*}/libpjrt_record.so" "$folder/bin"
mkdir "$folder/contrib/frontends/jax/models"
echo >"$folder/contrib/frontends/jax/layers.py"
echo >"$folder/contrib/frontends/jax/models/bert.py"
compiled=contrib/frontends/jax/__pycache__
mkdir "$folder/$compiled"
echo >"$folder/$compiled/layers.cpython-311.pyc"
closed "what a front end imports" of_front_end contrib/frontends/jax/layers.py contrib/frontends/jax/models \
    $compiled $compiled/layers.cpython-311.pyc
if [ "$(id -u)" -ne 0 ]; then
    skip "files of another user next to bench" "only root can make some"
else
    chown 12345 "$folder/suites"
    own_bench suite smoke --dry-run --store "$store"
    report "a suite in a folder of another user is passed over" "$(
        fault_of 2 "smoke" "$folder/suites "
    )"
    chown 0 "$folder/suites"
    chown 12345 "$folder/suites/smoke.json"
    own_bench suite smoke --dry-run --store "$store"
    report "so is a suite of another user" "$(
        fault_of 2 "$folder/suites/smoke.json "
    )"
    for at in jax/run.py common/front_main.py; do
        chown 12345 "$folder/contrib/frontends/$at"
        own_bench "${tiny[@]}" --runtime sim --front-end jax --mode capture
        report "and a front end of another user, $at" "$(
            fault_of 3 "jax" "$folder/contrib/frontends/$at "
        )"
        chown 0 "$folder/contrib/frontends/$at"
    done
    before=$(records "$store")
    chown 12345 "$folder/contrib/frontends/jax/layers.py"
    own_bench "${tiny[@]}" --runtime sim --front-end jax --mode capture
    report "one that imports a file of another user is refused" "$(
        fault_of 2 "$folder/contrib/frontends/jax/layers.py "
        [ "$(records "$store")" = "$before" ] || echo "there is a record"
    )"
    chown 0 "$folder/contrib/frontends/jax/layers.py"
    mkdir -p "$folder/third_party/frontends/jax/bin"
    ln -s "$python" "$folder/third_party/frontends/jax/bin/python"
    chown -h 12345 "$folder/third_party/frontends/jax/bin/python"
    env -u BENCH_FRONTENDS -u BENCH_FRONTEND_PYTHON_JAX "$folder/bin/bench" "${tiny[@]}" --runtime sim \
        --front-end jax --mode capture >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    report "and its Python, a link of another user" "$(
        fault_of 3 "third_party/frontends/jax/bin/python " "make frontends"
    )"

    # A program in a folder like /tmp, where anybody may put a library next to it.
    mkdir -m 1777 "$folder/shared"
    cp "$bench" "$sim" "$folder/shared"
    for owner in 0 12345; do
        chown $owner "$folder/shared/libpjrt_sim.so"
        "$folder/shared/bench" list runtimes --format json >"$folder/out" 2>"$folder/err"
        status=$?
        report "next to the program, in a shared folder, a library of user $owner" "$(
            fault_of 0
            holds "
[sim] = [r for r in records if r['runtime'] == 'sim']
assert sim['found'] == ($owner == 0), sim"
        )"
    done
    "$folder/shared/bench" "${tiny[@]}" --runtime sim >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    report "the message names it" "$(
        fault_of 3 "runtime sim" "$folder/shared/libpjrt_sim.so "
    )"
    cp "${bench%/*}/libpjrt_record.so" "$folder/shared"
    chown -h 12345 "$folder/shared/libpjrt_record.so"
    "$folder/shared/bench" record --output "$folder/unrecorded" -- true >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    report "nor is a recorder of another user taken" "$(
        fault_of 3 "$folder/shared/libpjrt_record.so "
    )"
fi
for word in . build "$folder/$(printf 'n%.0s' {1..5000})"; do
    BENCH_RUNTIMES=$word refuses "a folder of runtimes called ${word:0:20}" 2 "BENCH_RUNTIMES" -- \
        "${tiny[@]}" --runtime cpu
done
TPU_LIBRARY_PATH=libtpu.so refuses "a library without a slash" 2 "TPU_LIBRARY_PATH" -- \
    "${tiny[@]}" --runtime tpu

# ---- words that cannot be run ------------------------------------------------------------------

before=$(records "$store")
refuses "a folder as a runtime" 2 "$folder" -- "${tiny[@]}" --runtime "$folder"
refuses "cores that are none" 2 "--pin|core3" -- "${tiny[@]}" --runtime sim --pin core3
refuses "a preset that does not exist" 2 "preset" -- "${tiny[@]}" --runtime sim --runtime-option preset=nosuch
refuses "more tokens than a model has places for" 2 "seq|64" -- \
    "${tiny[@]}" --runtime sim --model bert --seq 9999
refuses "a program and a model" 2 "--model" -- run --program tests/programs/affine.mlir --model resnet18
refuses "a program and weights" 2 "--weights" -- run --program tests/programs/affine.mlir --weights w.safetensors
refuses "a program and a mode" 2 "--mode" -- run --program tests/programs/affine.mlir --mode lazy
export PJRT_NAMES_AND_LIBRARY_PATHS
PJRT_NAMES_AND_LIBRARY_PATHS=sim:/$(printf 'n%.0s' {1..5000})
refuses "a path of 5,000 bytes in the list of names" 2 "PJRT_NAMES_AND_LIBRARY_PATHS" -- "${tiny[@]}" --runtime sim
unset PJRT_NAMES_AND_LIBRARY_PATHS
mkdir -m 777 "$folder/open"
refuses "executables where others may write" 2 "--cache-dir|$folder/open" -- \
    "${tiny[@]}" --runtime sim --cache-dir "$folder/open"
suite() { # MEMBERS: a suite of one experiment with these
    printf '{"bench_suite": 1, "name": "one", "defaults": {"models": ["resnet18"], "variants": ["small"],
 "phases": ["infer"], "steps": 3, "min_time": 0, "device_time": "none", %s},
 "matrix": [{"modes": ["lazy", "capture"], "repetitions": 2}]}' "$1" >"$folder/one.json"
}
suite '"runtimes": ["sim"], "pin": "core3"'
refuses "cores that are none, of a suite" 2 "--pin|core3" -- suite "$folder/one.json" --store "$store"
suite "\"runtimes\": [\"sim\"], \"cache_dir\": \"$folder/open\""
refuses "a suite's executables where others may write" 2 "$folder/open" -- \
    suite "$folder/one.json" --store "$store"
suite '"runtimes": ["sim"], "images": [50]'
sed -i 's/resnet18/vit_small_patch16_224/' "$folder/one.json"
refuses "an image that does not split into patches, of a suite" 2 "image|50" -- \
    suite "$folder/one.json" --store "$store"
suite '"runtimes": [{"name": "sim", "options": {"preset": "nosuch"}}]'
run suite "$folder/one.json" --store "$store"
report "a preset that does not exist, of a suite, ends it" "$(
    [ "$status" -eq 2 ] || echo "exit status $status, not 2"
    [ "$(grep -c preset "$folder/err")" -eq 1 ] || echo "not said once"
)"
refuses "a folder as a runtime to verify" 2 "$folder" -- verify --runtime "$folder" --variant small \
    --model resnet18
refuses "a tolerance of nothing" 2 "--rtol|--program" -- "${tiny[@]}" --runtime sim --rtol 1
report "none of them is a record" "$([ "$(records "$store")" = "$before" ] || echo "$(records "$store") records")"

run "${tiny[@]}" --runtime sim --store "$folder/$(printf 'n%.0s' {1..3900})"
report "a path that is too long keeps its reason" "$(fault_of 3 "too long")"

FAKE_PJRT=abort run "${tiny[@]}" --runtime "$fake" --store "$folder/failed" --format json
report "a failure is of the build that failed" "$(
    fault_of 1
    holds "assert [r['provenance']['runtime']['sha256'] for r in records] == ['$(
        sha256sum "$fake" | cut -d ' ' -f 1
    )'], records"
)"

# The worker may have loaded the one or the other.
cp "$fake" "$folder/build/fake.so"
: >"$folder/err"
FAKE_PJRT=hang "$bench" "${tiny[@]}" --runtime "$folder/build/fake.so" --store "$folder/unknown" --timeout 3 --verbose \
    --format json >"$folder/out" 2>"$folder/err" </dev/null &
job=$!
await 60 grep -q '  compiling' "$folder/err"
cp "$fake" "$folder/build/new.so"
mv "$folder/build/new.so" "$folder/build/fake.so"
wait $job
status=$?
report "where a plugin was replaced meanwhile, the build that failed is unknown" "$(
    fault_of 1 "3 s" "--timeout"
    holds "assert [(r['status'], r['provenance']['runtime'].get('sha256')) for r in records] == [
    ('timeout', None)], records"
)"

# ---- limits -------------------------------------------------------------------------------------

limited() { # OPTION VALUE: as run, with a limit of the shell's
    (ulimit "$1" "$2" && exec "$bench" "${tiny[@]}" --runtime sim) >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
# With the fewest the parent cannot start a worker, with some more the worker itself has too few.
too_many=$("$python" -c 'import errno, os; print(os.strerror(errno.EMFILE))')
for number in 7 8 9 10 11 12; do
    limited -n $number
    report "$number file descriptors: too few are said to be, or they are enough" "$(
        # The C library's words, or the option of the shell that helps.
        [ "$status" -eq 0 ] || grep -qF -e "$too_many" -e 'ulimit -n' "$folder/err" || echo "not said"
        grep -q '127' "$folder/err" && echo "a number that says nothing"
    )"
    [ "$status" -eq 0 ] || failed_with=$number
done
report "ten are too few" "$([ "${failed_with:-0}" -ge 10 ] || echo "only ${failed_with:-none} failed")"
limited -s 256
report "a stack of 256 KiB is enough" "$(fault_of 0)"
suite '"runtimes": ["sim"]'
for words in "table --store $store" "history --store $store" "doctor $store" "list runtimes" \
    "report --store $store --output $folder/page.html" "publish --store $store --output $folder/site" \
    "suite $folder/one.json --store $folder/deep" "steps --help" \
    "compare --store $store --store $folder/deep" \
    "nightly $folder/one.json --store $folder/nights --report $folder/night.html"; do
    (ulimit -s 256 && exec "$bench" $words) >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    report "and for bench ${words%% *}" "$(
        [ "$status" -lt 5 ] || echo "exit status $status"
        grep -q 'signal\|stack' "$folder/err" && head -n 3 "$folder/err"
    )"
done

# ---- links in a store -----------------------------------------------------------------------------

mkdir "$folder/precious"
touch "$folder/precious/kept.exe"
ln -s "$folder/precious" "$store/.executables-99999999-$(hostname)"
run "${tiny[@]}" --runtime sim
report "a link among the store's own folders is not followed" "$(
    fault_of 0
    [ -e "$folder/precious/kept.exe" ] || echo "the file behind it is gone"
)"

echo "1..$count"
