#!/bin/bash
# check_development.sh - the worked examples of docs/development.md, carried out in a copy of the sources, as
# TAP: each is one new file and one row, builds without a warning, and runs.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh

# block FIRST: the indented block of the document whose first line is FIRST, without its indent.
block() {
    awk -v first="    $1" '
        $0 == first { inside = 1 }
        inside && /^[^ ]/ { exit }
        inside { sub(/^    /, ""); print }' docs/development.md
}

# The sources with what is built of them, but for tests: only what is new is built again.
copy=$folder/copy
mkdir "$copy"
git ls-files -z 2>/dev/null | grep -zvE '^tests/' | xargs -0 cp -p --parents -t "$copy" 2>"$folder/err"
ln -s "$PWD/third_party" "$copy/third_party"
(cd "$built" && find . -path ./tests -prune -o -path ./pic -prune -o -type f ! -name '*.so*' -print0 |
    xargs -0 cp -p --parents -t "$(mkdir -p "$copy/build" && echo "$copy/build")")
report "sources and objects are copied" "$(
    [ -e "$copy/harness/main.c" ] && [ -e "$copy/build/libcli.a" ] || cat "$folder/err"
)"

# added FILE FIRST TABLE LIST ROW: FILE gets the block that begins with FIRST, the macro LIST in TABLE the ROW,
# and bench is built. Says what went wrong, or what else was touched.
added() {
    block "$2" >"$copy/$1"
    [ -s "$copy/$1" ] || echo "the document has no block '$2'"
    grep -qF "\`$5\`" docs/development.md || echo "the document does not name the row"
    sed -i "s/^#define $4(X) .*/&\n    $5 \\\\/" "$copy/$3"
    (cd "$copy" && make CC="${BENCH_TEST_CC:-gcc}" build/bench) >"$folder/make.log" 2>&1 || tail -n 5 "$folder/make.log"
    grep -E 'warning' "$folder/make.log"
    # main.c for its version, the table and the new file.
    grep -E '^  CC ' "$folder/make.log" | grep -vE " ($1|$3|harness/main.c)\$"
}

if [ "$built" != "$PWD/build" ]; then
    skip "a model is a file and a row" "it is built in build/ only"
    skip "a command is a file and a row" "it is built in build/ only"
    echo "1..$count"
    exit
fi
report "a model is a file and a row" "$(
    added models/dense.c '/* dense.c - two dense layers on small pictures. */' models/table.c MODELS 'X(model_dense)'
)"
bench=$copy/build/bench
cp -p "$built/libpjrt_sim.so" "$copy/build/"
run run --model dense --mode lazy,capture --runtime sim --processes 1 --steps 3 --warmup 8 --min-time 0 \
    --device-time none --store "$store" --format json
report "bench runs it" "$(
    fault_of 0
    holds 'assert sorted(r["experiment"]["mode"] for r in records) == ["capture", "lazy"], records
assert all(r["status"] == "ok" for r in records), records'
)"
report "a command is a file and a row" "$(
    added harness/commands/count.c '/* count.c - bench count: how many records a store has. */' harness/main.c \
        COMMANDS 'X(command_count)'
)"
run count "$store" --good
report "bench runs it, too" "$(
    fault_of 0
    [ "$(cat "$folder/out")" = 2 ] || cat "$folder/out"
)"
run help
report "the first help has it" "$(grep -q '^  count ' "$folder/out" || echo "no count")"
refuses "it refuses options as all commands do" 2 "--godo|--good" -- count --godo
echo "1..$count"
