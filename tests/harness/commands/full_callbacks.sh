#!/bin/bash
# full_callbacks.sh - programs of JAX that its own CPU client runs, under bench record on each of
# bench's CPU plugins, as TAP: callbacks, LAPACK, and the number of devices that the program asks for.
# JAX is that of the Python of BENCH_TEST_PYTHON, or else that of `make frontends`.
#
# needs: JAX
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
script=tests/harness/commands/frameworks/callbacks_jax.py

# recorded RUNTIME WORD...: the last line of the program is in $folder/said, the recording in $folder/r.
recorded() {
    rm -rf "$folder/r"
    timeout 900 "$bench" record --runtime "$1" --output "$folder/r" -- "$python" "$script" "${@:2}" \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    tail -n 1 "$folder/out" >"$folder/said"
    [ "$status" -eq 0 ] || echo "exit status $status"
}

# holds CODE: Python CODE on `said`, the last line of the program, and `noted` of the recording.
holds() {
    "$python" - "$folder" "$1" 2>&1 <<'PYTHON' | tail -n 1
import json, sys
said = json.load(open(sys.argv[1] + "/said"))
noted = [n for p in json.load(open(sys.argv[1] + "/r/recording.json"))["processes"] for n in p["noted"]]
exec(sys.argv[2])
PYTHON
}

if ! python_with jax jax; then
    skip "JAX" "it is not installed: make frontends FRONTENDS=jax"
    echo "1..$count"
    exit 0
fi
JAX_PLATFORMS=cpu "$python" "$script" callbacks 2>/dev/null | tail -n 1 >"$folder/own"
for runtime in cpu cpu-xla; do
    if [ -z "$(plugin_of "$runtime")" ]; then
        skip "$runtime" "it is not set up"
        continue
    fi
    report "$runtime: callbacks get and give what they do on JAX's own client, losses to 1e-4" "$(
        recorded "$runtime" callbacks
        holds '
own = json.load(open(sys.argv[1] + "/own"))
assert all(said["results"].values()) and said["raises"], said
assert said["loop"]["ordered"] and said["loop"]["unordered"] and said["loop"]["debug"], said["loop"]
assert all(abs(a / b - 1) < 1e-4 for a, b in zip(said["loop"]["losses"], own["loop"]["losses"])), said["loop"]
assert len(own["loop"]["losses"]) == 40 and noted == [], noted')"
    report "$runtime: LAPACK's results are numpy's to 1e-4" "$(
        recorded "$runtime" lapack
        holds 'assert len(said) == 7 and all(said.values()) and noted == [], (said, noted)')"
    for how in flag config; do
        report "$runtime: eight devices that the program asks for by $how are made" "$(
            recorded "$runtime" devices $how
            holds 'assert said == {"devices": 8} and noted == [], (said, noted)')"
    done
done
echo "1..$count"
