#!/bin/bash
# full_corpus.sh - the steps that bench finds in recordings of the programs of programs.json, each against
# the program's own clock, as TAP: a wrong answer fails, and so does an answer for fewer than half of the
# programs. tests/corpus/README.md says what is right, and where the programs of others come from. An hour.
#
#   CORPUS_PROGRAMS=DIR       the programs of others; without it those are skipped
#   CORPUS_VENVS=DIR          environments with the packages of programs.json, made there where they are not
#   CORPUS_KEEP=DIR           keeps the recordings, and judges those that are in it
#   CORPUS_ONLY=NAME,...      these programs
#
# Without CORPUS_VENVS each framework is that of BENCH_TEST_PYTHON, or else of `make frontends`; programs that
# need more packages are skipped.
#
# needs: JAX, PyTorch/XLA and packages of tests/corpus/programs.json, the programs of others
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
own=$python
options=(--bench "$bench" --json "$folder/score.json")
if [ -n "${CORPUS_VENVS:-}" ]; then
    options+=(--venvs "$CORPUS_VENVS")
else
    python_with jax jax && options+=(--python-jax "$python")
    python_with torch_xla pytorch-xla && options+=(--python-torch "$python")
fi
[ -z "${CORPUS_PROGRAMS:-}" ] || options+=(--programs "$CORPUS_PROGRAMS")
[ -z "${CORPUS_KEEP:-}" ] || options+=(--keep "$CORPUS_KEEP")
[ -z "${CORPUS_ONLY:-}" ] || options+=(--only "$CORPUS_ONLY")

"$own" tests/corpus/score.py "${options[@]}" >"$folder/out" 2>"$folder/err"
status=$?
sed 's/^/# /' "$folder/out"
if [ $status -gt 1 ] || [ ! -s "$folder/score.json" ]; then
    report "the scoreboard" "exit status $status"
    echo "1..$count"
    exit
fi
"$own" - "$folder/score.json" <<'PYTHON' >"$folder/verdicts"
import json, sys
for p in json.load(open(sys.argv[1]))["programs"]:
    print(p["verdict"], p["name"], "; ".join(p["faults"]).replace("\n", " "))
PYTHON
right=0 there=0
while read -r verdict name why; do
    case $verdict in
    absent) skip "$name" "$why" ;;
    miss) skip "$name" "no answer: $why" && there=$((there + 1)) ;;
    *)
        there=$((there + 1))
        [ "$verdict" != right ] || right=$((right + 1))
        report "$name" "${why}"
        ;;
    esac
done <"$folder/verdicts"
if [ $there -gt 0 ]; then
    report "half of those that are there are right" "$([ $((2 * right)) -ge $there ] || echo "$right of $there")"
fi
echo "1..$count"
