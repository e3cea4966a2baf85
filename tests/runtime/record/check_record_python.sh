#!/bin/bash
# check_record_python.sh - what the recorder does in a process of Python, as TAP: devices that are
# asked for, and foreign functions of jaxlib. A small stand-in for JAX (python/) makes the client, of
# the fake plugin. full_callbacks.sh has JAX itself.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
for_recordings
here=$PWD/tests/runtime/record/python

# client VARIABLE=VALUE... -- WORD...: what client.py prints goes to $folder/out; the notes of its
# recording to $folder/notes, an identifier a line.
client() {
    local variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    rm -rf "$folder/r"
    env RECORDER="$recorder" HEADER="$PWD/third_party/include/pjrt_c_api.h" FAKE_PLUGIN="$fake" FAKE_PJRT=cpu \
        PYTHONPATH="$here" PYTHONDONTWRITEBYTECODE=1 BENCH_RECORD_DIR="$folder/r" BENCH_RECORD_PLUGIN="$fake" \
        BENCH_RECORD_CPU_DEVICES=1 ${variables[@]+"${variables[@]}"} \
        "$python" "$here/client.py" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    cat "$folder"/r/*/events 2>/dev/null | grep -ao '[a-z-]*: ' | sort -u >"$folder/notes"
}

# holds CODE: Python CODE on `said`, what client.py printed, and `notes`.
holds() {
    "$python" - "$folder" "$1" 2>&1 <<'PYTHON' | tail -n 1
import json, sys
said = json.load(open(sys.argv[1] + "/out"))
notes = open(sys.argv[1] + "/notes").read().split()
exec(sys.argv[2])
PYTHON
}

if ldd "$recorder" | grep -q 'lib[at]san'; then
    skip "the recorder in Python" "a sanitizer's library wants to be loaded first"
    echo "1..$count"
    exit 0
fi
python_with numpy jax || skip "numpy" "without it nothing is handed over"

# ---- devices ------------------------------------------------------------------------------

client --
report "a program that asks for no number of devices gets the usual one" "$(holds 'assert said["devices"] == 1, said')"
client -- flag 5
report "XLA_FLAGS of the program's own, set before its client is made, count" "$(holds 'assert said["devices"] == 5, said')"
client -- jax flag 5 config flag 6
report "JAX's configuration counts before the flag" "$(holds 'assert said["devices"] == 3, said')"
client JAX_NUM_CPU_DEVICES=4 -- jax
report "JAX's variable counts" "$(holds 'assert said["devices"] == 4, said')"
echo "--xla_force_host_platform_device_count=2 --xla_force_host_platform_device_count=7" >"$folder/flags"
client XLA_FLAGS="$folder/flags" --
report "the last flag counts, in a file of flags, too" "$(holds 'assert said["devices"] == 7, said')"
client -- flag 12
report "fewer devices than were asked for are noted" "$(
    holds 'assert said["devices"] == 8 and "fewer-devices:" in notes, (said, notes)')"
client BENCH_RECORD_DIR= -- flag 5
report "so are they made where nothing is recorded" "$(holds 'assert said["devices"] == 5, said')"

# ---- foreign functions --------------------------------------------------------------------

if can_import numpy; then
    client -- jax numpy
    report "jaxlib's functions are handed over, those of a newer interface and later ones as well" "$(
        holds 'assert {n: c for n, c in said["calls"].items() if c == "good"}.keys() == {
    "xla_ffi_python_cpu_callback", "known", "lapack", "later"}, said')"
    report "what cannot be handed over is left out and noted, and jaxlib still learns of all" "$(
        holds 'assert said["calls"]["old"] == said["calls"]["staged"] == "not found", said
assert said["own"] == ["lapack", "old", "later", "staged"], said
assert "handlers-missing:" in notes, notes')"
    report "a callback's results have XLA's strides" "$(
        holds 'assert said["strides"] == [[24, 8], [32, 8], [0, 8], [32, 8], [], [8]], said["strides"]')"
    client FAKE_JAXLIB_VERSION=9.0.0 -- jax
    report "a jaxlib that was never tried gets no callbacks, but the rest" "$(
        holds 'assert said["calls"]["xla_ffi_python_cpu_callback"] == "not found", said
assert said["calls"]["lapack"] == "good" and "handlers-missing:" in notes, (said, notes)')"
    client FAKE_PJRT=other BENCH_RECORD_CPU_DEVICES= -- jax
    report "a plugin of another device gets nothing" "$(
        holds 'assert set(said["calls"].values()) == {"not found"} and said["own"] == [] and not notes, said')"
fi
# marks of FOLDER: its MARK events, "[what, name, number]" each.
marks() {
    "$python" - "$1"/*/events <<'PYTHON'
import json, struct, sys
marks, data = [], open(sys.argv[1], "rb").read()
for at in range(64, len(data), 64):
    if data[at] == 16:
        what, number = struct.unpack_from("<Qq", data, at + 16)
        name = data[at + 72:][:struct.unpack_from("<I", data, at + 68)[0]] if struct.unpack_from("<H", data, at + 2)[0] else b""
        marks.append([what, name.decode(), number])
print(json.dumps(marks))
PYTHON
}

# of_program OPTION...: a program that marks steps, under bench record; what it printed, and its marks.
of_program() {
    rm -rf "$folder/m"
    RECORDER=$recorder HEADER=$PWD/third_party/include/pjrt_c_api.h FAKE_PLUGIN=$fake FAKE_PJRT=cpu \
        PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 run record --runtime "$fake" --output "$folder/m" "$@" -- \
        "$python" "$here/client.py" jax marks
    marks "$folder/m" >"$folder/marks" 2>>"$folder/err"
    : >"$folder/notes"
}

own='[[2, "eval", 0], [3, "eval", 0], [0, "step", 7], [1, "step", 7],
       [0, "", 0], [0, "counted", 0], [0, "step", 0], [1, "step", 0], [1, "counted", 0], [1, "", 0],
       [0, "", 1], [0, "counted", 1], [0, "step", 1], [1, "step", 1], [1, "counted", 1], [1, "", 1]]'
of_program
report "a program finds the module of marks, and what it marks is recorded" "$(
    fault_of 0
    holds "marks = json.load(open(sys.argv[1] + '/marks'))
assert said['entered'] == 3 and marks == $own, (said, marks)")"
of_program --marks jax
report "with --marks jax its annotations are marks, those of a class that it had before, too" "$(
    fault_of 0
    holds "marks = json.load(open(sys.argv[1] + '/marks'))
of_jax = [[0, 'train', 41], [1, 'train', 41], [0, 'own', 0], [1, 'own', 0]]
assert [m for m in marks if m in of_jax] == of_jax and [m for m in marks if m not in of_jax] == $own, marks
assert said['entered'] == 3, said")"
run record --marks other --output "$folder/n" -- true
report "no other annotations are known" "$(fault_of 2)"
PYTHONPATH=contrib/marks "$python" -B -c '
import bench_marks
with bench_marks.step(), bench_marks.step(3, "x"), bench_marks.phase("eval"):
    pass
print("{}")' >"$folder/out" 2>"$folder/err"
report "without bench record marks do nothing" "$([ "$(cat "$folder/out")" = "{}" ] || echo "it failed")"
echo "1..$count"
