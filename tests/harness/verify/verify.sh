# verify.sh - what the scripts that check bench verify share: the program and its
# runtime, TAP, and whole entries of golden values. Sourced by check_verify*.sh and
# full_verify.sh, which run from the root of the sources.
# shellcheck shell=bash
#
# BENCH_TEST_RUNTIME names the runtime (default: cpu).
bench=${BENCH_TEST_BINARY:-build/bench}
runtime=${BENCH_TEST_RUNTIME:-cpu}
python=${BENCH_TEST_PYTHON:-python3}

cannot() {
    echo "not ok 1 - $1"
    echo "1..1"
    exit 1
}
[ -x "$bench" ] || cannot "$bench is not built"
# A runtime that bench finds is a path in the list; sanitizers need not load it.
if [ "$runtime" = "${runtime#/}" ]; then
    "$bench" list runtimes --format json |
        "$python" -c 'import json, sys
sys.exit(not any(r["runtime"] == sys.argv[1] and r["found"] for r in json.load(sys.stdin)))' \
            "$runtime" || cannot "runtime $runtime is not here (make setup)"
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/check_verify.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
out=$folder/out err=$folder/err
count=0 failed=0

# result NAME STATUS: ok when STATUS is 0; else what bench said.
result() {
    count=$((count + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $count - $1"
        return
    fi
    echo "not ok $count - $1"
    tail -n 20 "$out" "$err" | sed 's/^/#   /'
    # shellcheck disable=SC2034 # what the script ends with
    failed=1
}
# Compiling, XLA drops a few bytes inside itself. A leak whose stack passes through
# the plugin is not looked at here; handles that we forget are counted by the
# tests on the fake plugin, and all memory of our own is still looked at.
library=$runtime
[ "$runtime" != "${runtime#/}" ] || library=$("$bench" list runtimes --format json |
    "$python" -c 'import json, sys
print(*(r["where"] for r in json.load(sys.stdin) if r["runtime"] == sys.argv[1]))' "$runtime")
echo "leak:$(basename "$library")" >"$folder/lsan.supp"
export LSAN_OPTIONS=${LSAN_OPTIONS:+$LSAN_OPTIONS:}suppressions=$folder/lsan.supp:print_suppressions=0

# verify EXIT OPTION...: runs bench verify, and is true when it ends with EXIT.
verify() {
    local want=$1
    shift
    "$bench" verify --runtime "$runtime" "$@" >"$out" 2>"$err"
    local got=$?
    [ $got -eq "$want" ] || { echo "# exit code $got, want $want"; return 1; }
}

# start NAME MODES VARIANTS [MODELS [OPTION...]]: verifies all models; rows go to
# $folder/NAME.json, what else it says to NAME.err. Capture finds the executables of lazy mode on disk: the
# graphs are the same, and compiling is what takes the time.
start() {
    printf '%s %s %s' "$2" "$3" "${4:-all}" >"$folder/$1.asked"
    "$bench" verify --runtime "$runtime" --model "${4:-all}" --mode "$2" --variant "$3" \
        --format json --cache-dir "$folder/cache" "${@:5}" >"$folder/$1.json" 2>"$folder/$1.err"
}
# variants_of KIND: variants of tests/golden whose name begins so, as a list.
variants_of() {
    find tests/golden -name "*.$1*.json" | sed 's/.*\.\([^.]*\)\.json$/\1/' | sort -u | paste -sd,
}
# report_entries NAME...: a line of TAP, and how near the nearest quantity came to its
# tolerance, for each entry of tests/golden whose model there is, of the variants and
# models, and in the modes, that were started as NAME.
report_entries() {
    "$bench" list models --format json >"$folder/models.json"
    "$python" - "$folder" "$@" <<'PYTHON'
import glob, json, sys
folder, names = sys.argv[1], sys.argv[2:]
known = {row["model"] for row in json.load(open(folder + "/models.json"))}
rows, asked, said, count, failed = {}, set(), "", 0, 0
for name in names:
    said += open(f"{folder}/{name}.err").read()
    try:
        listed = json.load(open(f"{folder}/{name}.json"))
    except ValueError:
        listed = []
    for row in listed:
        rows.setdefault((row["model"], row["variant"], row["mode"]), []).append(row)
    modes, variants, models = (w.split(",") for w in open(f"{folder}/{name}.asked").read().split())
    for path in glob.glob("tests/golden/*.json"):
        model, variant = path.split("/")[-1].split(".")[:2]
        if variant in variants and model in known and (models == ["all"] or model in models):
            asked |= {(model, variant, mode) for mode in modes}
for model, variant, mode in sorted(asked):
    found = rows.get((model, variant, mode), [])
    wrong = [row for row in found if not row["pass"]]
    # A file has about a hundred numbers; fewer would be a worker that skipped some.
    good = len(found) > 80 and not wrong
    count, failed = count + 1, failed + (not good)
    print("ok" if good else "not ok", count, f"- {model}.{variant} in mode {mode}")
    print(f"#   {len(found)} comparisons")
    if good:
        near = max((row for row in found if row["tolerance"]),
                   key=lambda row: row["difference"] / row["tolerance"])
        print("#   nearest:", near["quantity"], near["difference"], "of", near["tolerance"])
    for row in wrong[:20]:
        print("#  ", *(row.get(k) for k in
                       ("quantity", "got", "want", "difference", "tolerance", "message")))
if failed or not count:
    print("# " + said.replace("\n", "\n# "))
print(f"1..{count}")
sys.exit(failed > 0 or count == 0)
PYTHON
}
