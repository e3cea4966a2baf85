#!/bin/bash
# check_foreign_text.sh - what a record, a suite or the environment says, and what becomes of it on
# its way out, as TAP: nothing that is printed or written steers a terminal, turns the direction of
# writing or is not seen; no export leaves its folder. The records are made by make_foreign.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
make_foreign=$built/tests/results/records/make_foreign

# hidden FILE...: says which files hold what must not be shown.
hidden() {
    "$python" - "$@" <<'PYTHON'
import sys
RANGES = [(0, 9), (11, 31), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C),
          (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F),
          (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F),
          (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3),
          (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]
for path in sys.argv[1:]:
    with open(path, "rb") as f:
        data = f.read()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        print(path.rsplit("/", 1)[-1], error)
        continue
    if path.endswith((".svg", ".html")):
        text = text.replace("\t", " ")  # of gnuplot and of the page's own script
    found = {hex(ord(c)) for c in text if any(a <= ord(c) <= b for a, b in RANGES)}
    if found:
        print(path.rsplit("/", 1)[-1], "has", *sorted(found))
PYTHON
}

# keep NAME: what the last run printed, for the question below.
mkdir "$folder/said"
keep() {
    cp "$folder/out" "$folder/said/$1.out"
    cp "$folder/err" "$folder/said/$1.err"
}

# clean WHAT: nothing that was kept holds what must not be shown, and somewhere the text is said.
clean() {
    report "$1" "$(
        hidden "$folder"/said/*
        grep -qi 'ev\(?\|\\u001b\)\[' "$folder"/said/* || echo "the text is nowhere"
    )"
    rm -f "$folder"/said/*
}

# ---- records ----------------------------------------------------------------------------------

evil=$folder/evil
for what in texts failed; do
    "$make_foreign" "$evil" $what || echo "# make_foreign failed"
done
for format in text md csv json latex html; do
    for table in speedup executions compile memory; do
        run table --store "$evil" --table $table --format $format
        keep "$table.$format"
    done
    run table --store "$evil" --verbose --format $format
    keep "verbose.$format"
    run history --store "$evil" --format $format --verbose
    keep "history.$format"
done
clean "no table and no history steers a terminal"

for format in google-benchmark benchstat hyperfine pytorch-xla chrome-trace csv; do
    run export --store "$evil" --to $format
    keep "export.$format"
done
for format in asv pytorch-benchmark xla xspace; do
    run export --store "$evil" --to $format --output "$folder/export/$format"
    find "$folder/export/$format" >"$folder/out"
    keep "names.$format"
done
n=0
while read -r file; do
    n=$((n + 1))
    cp "$file" "$folder/said/$n.${file##*/}"
done < <(find "$folder/export" -type f ! -name '*.pb')
clean "no export steers a terminal"

run report --store "$evil" --output "$folder/page.html"
cp "$folder/page.html" "$folder/said/page.html"
keep report
if command -v gnuplot >/dev/null; then
    for plot in speedup ledger overhead; do
        run report --plot $plot --store "$evil" --output "$folder/$plot.svg"
        [ ! -f "$folder/$plot.svg" ] || cp "$folder/$plot.svg" "$folder/said/"
        keep "plot.$plot"
    done
fi
clean "no page and no picture has such signs"

"$make_foreign" "$folder/digest" digest
run table --store "$folder/digest"
report "a digest that is a path is refused" "$(fault_of 1 "sha256")"
"$make_foreign" "$folder/deep" deep
report "a provenance of 1,990 levels is refused, on a stack of 256 KiB, too" "$(
    for to in google-benchmark hyperfine; do
        (ulimit -s 256 && exec "$bench" export --store "$folder/deep" --to $to) \
            >"$folder/out" 2>"$folder/err" </dev/null
        status=$?
        fault_of 1 "levels deep"
    done
)"

# ---- where exports write ------------------------------------------------------------------------

# inside WHAT: the asv export of such a record is made, and all of it lies in its folder.
inside() {
    local work=$folder/work.$1
    mkdir -p "$work/a/b/c/d"
    "$make_foreign" "$work/a/b/c/store" "$1" || echo "make_foreign failed"
    run export --store "$work/a/b/c/store" --to asv --output "$work/a/b/c/d/out"
    fault_of 0
    find "$work" -type f ! -path "*/d/out/*" ! -path "*/store/*" | sed 's/^/outside: /'
    [ -f "$work"/a/b/c/d/out/results/*/machine.json ] || echo "no machine"
    "$python" - "$work/a/b/c/d/out/results" <<'PYTHON'
import json, os, sys
for name in os.listdir(sys.argv[1]):
    path = os.path.join(sys.argv[1], name, "machine.json")
    if os.path.isdir(os.path.dirname(path)) and json.load(open(path))["machine"] != name:
        print("asv does not find", name)
PYTHON
}
report "a machine's name that is a path stays in the export's folder" "$(inside paths)"
report "a machine's name of 1,500 bytes is cut and stays unique" "$(inside long)"
mkdir "$folder/elsewhere" "$folder/linked"
ln -s "$folder/elsewhere" "$folder/linked/results"
run export --store "$folder/work.paths/a/b/c/store" --to asv --output "$folder/linked"
report "a link in it is not followed" "$(
    fault_of 2 "$folder/linked/results is a link"
    find "$folder/elsewhere" -mindepth 1
)"

# ---- the user's own words -------------------------------------------------------------------------

tiny=(run --processes 1 --model resnet18 --variant small --phase infer --mode lazy --steps 3
    --warmup 8 --min-time 0 --device-time none)
label=$'=ev\e[31mi\u009b\u202e\u200b\u2066\u034f\u115f\u180e\u3164\uffa0\ufe0f[x](http://y)\nline'
export PJRT_SIM=values=none,device_us=200
for format in text md csv json html; do
    run "${tiny[@]}" --runtime sim --store "$folder/label" --label "$label" --format $format --verbose
    keep "run.$format"
done
report "a label may be any text" "$(fault_of 0)"
for format in text csv json; do
    run table --store "$folder/label" --verbose --format $format
    keep "label.$format"
    run history --store "$folder/label" --format $format
    keep "label.history.$format"
done
run export --store "$folder/label" --to benchstat
keep label.benchstat
run report --store "$folder/label" --output "$folder/label.html"
cp "$folder/label.html" "$folder/said/"
clean "no label steers a terminal"
report "no cell of CSV begins with the label's =" "$(
    run history --store "$folder/label" --format csv
    grep -n '\(^\|,\)"*=' "$folder/out"
)"

export FAKE_PJRT=steer
run "${tiny[@]}" --runtime "$fake" --store "$folder/fake" --verbose
keep plugin
unset FAKE_PJRT
clean "no plugin's words steer a terminal"

# ---- suites, the environment -----------------------------------------------------------------------

printf '{"bench_suite": 1, "name": "ev\\u001b[31mi\\u009bl\\u202e\\u200b\\nname", "matrix": [
    {"models": "resnet18", "variants": "small", "phases": "infer", "modes": "lazy", "steps": 3,
     "warmup": 8, "min_time": 0, "repetitions": 1, "device_time": "none"}]}' \
    >"$folder/suite.json"
run suite "$folder/suite.json" --runtime sim --store "$folder/suite"
keep suite
report "a suite of such a name runs" "$(fault_of 0)"
for format in text json; do
    run suite "$folder/suite.json" --runtime sim --store "$folder/suite" --dry-run --format $format
    keep "dry.$format"
done
clean "no suite's name steers a terminal"

export PJRT_NAMES_AND_LIBRARY_PATHS
PJRT_NAMES_AND_LIBRARY_PATHS=$'sim:/ev\e[31mi\u009bl\u202e\u200b\u2066\n/x.so'
for format in text md csv json html; do
    run list runtimes --format $format
    keep "list.$format"
done
unset PJRT_NAMES_AND_LIBRARY_PATHS
clean "no path of the environment's list steers a terminal"

echo "1..$count"
