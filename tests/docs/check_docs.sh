#!/bin/bash
# check_docs.sh - README.md and docs/ against the program, as TAP: links, files, options, commands and
# variables that they name exist; each command line of theirs, and of the examples of bench's help, is
# carried out, in a folder of its own, and what it prints has the columns that the document shows. The
# simulated device stands for cpu and other runtimes. docs/development.md says how documents mark commands
# and outputs.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
for_recordings
unset TPU_LIBRARY_PATH
umask 022 # a store that others may write keeps no builds

documents=(README.md docs/*.md runtime/sim/README.md)
pages=("${documents[@]}" ARCHITECTURE.md CHANGELOG.md contrib/frontends/README.md runtime/record/README.md
    tests/golden/README.md)
text=$folder/text
mkdir "$text" "$folder/bin" "$folder/begin" "$folder/runs" "$folder/faults"
# "$bench help" lists the commands, and "$bench help COMMAND" its options and examples. These are one more
# document.
help=$folder/help
{
    "$bench" help | sed -nE 's/^  ([a-z]+)  +[a-z].*$/\1/p'
    printf '%s\n' 'study scopes' 'export weights'
} >"$folder/commands"
: >"$folder/options"
while read -r command; do
    # shellcheck disable=SC2086 # a command of two words
    "$bench" help $command >"$folder/out"
    sed -nE "s/^  (--[a-z-]+).*/${command%% *}\t\1/p" "$folder/out" >>"$folder/options"
    printf '\nbench help %s:\n\n' "$command"
    awk -f tests/docs/examples.awk "$folder/out"
done <"$folder/commands" >"$help"
awk -v out="$text" -f tests/docs/commands.awk "${documents[@]}" "$help"
touch "$text/marks"

# What a command line needs that is not here, or how long it takes: it is parsed only. A line has a
# pattern, a tab, and the reason.
parsed_only=$(
    cat <<'END'
*bench verify --all*	minutes; check_verify.sh and check_verify_small.sh run it
*bench verify --model llama*	compiling; check_verify_scan.sh and check_verify_remat.sh run it
*bench selftest accuracy*	minutes; check_sim.sh runs it
*bench calibrate*	two hours; check_calibrate.sh runs a short one
*bench selftest statistics*	half a minute; check_statistics.sh runs it
*bench selftest coverage*	a minute and an own seed, which may err by chance; check_coverage.sh runs it with one
*bench replay resnet50*	minutes; check_sim.sh runs it
*bench replay models*	minutes
*bench replay sharded*	the example of a refusal; check_replay.sh has it
*config=v4.json*	a file that bench estimate writes
*--estimates times.json*	another one; check_replay.sh writes one
*kept/*	recordings of JAX and PyTorch/XLA; check_frontends.sh makes some
*contrib/frontends/suite.json*	JAX and PyTorch/XLA; check_frontends.sh looks at its plan
*config=unrolled.json*	another one
*config=loop.json*	another one
*--store bound*	records of these
*--front-end*	JAX and PyTorch/XLA; check_frontends.sh runs it
*--model all*	minutes
*--seq 384*	the full model
*--suite smoke*	minutes
*--suite nightly*	hours; check_nightly.sh runs a short one
*nightly --suite ours.json*	minutes
*compare --suite ours.json*	minutes; check_recorded.sh runs it
*step.mlirbc*	byte code that JAX writes
*w1.npy*	arrays; check_program.sh runs it
*--weights*	trained weights; check_cli.sh runs it
*--record 2*	a record of the example's store
*--runtime tpu*	a TPU
*--runtime cuda*	a GPU
*--bisect*	a repository with builds; check_compare.sh runs it
*git bisect*	the same
*bench completion zsh*	zsh; check_completion.sh runs it
*bench completion fish*	fish; check_completion.sh runs it
*bench diff 000208*	programs of the example's recording
*bench metrics bench-results/*.h5*	a record of the example's store; check_metrics.sh runs it
* [*	words that may be left out
END
)
# Columns of shown tables that a short run of small models has not.
excused='setup|where|p|MDE|source|overhead|device|device time|null test|vs lazy|difference|program|a step|B minus A|ready'
# Columns that tables of the tests' store have, since it holds several setups.
unasked='setup'

# ---- what is named -----------------------------------------------------------------------------

awk -f tests/docs/links.awk "${pages[@]}" >"$folder/links"
# Links that lead nowhere.
bad_links() {
    local file line target anchor path
    grep '^heading' "$folder/links" | cut -f 2,3 | sort -u >"$folder/headings"
    while IFS=$'\t' read -r _ file line target anchor; do
        path=$(realpath -m --relative-to=. "$(dirname "$file")/$target")
        [ "$target" != - ] || path=$file
        if [ ! -e "$path" ]; then
            echo "$file:$line: there is no $path"
        elif [ "$anchor" != - ] && ! grep -qxF "$path"$'\t'"$anchor" "$folder/headings"; then
            # Of pages that are not read here no heading is known.
            [[ " ${pages[*]} " != *" $path "* ]] || echo "$file:$line: $path has no heading $anchor"
        fi
    done < <(grep '^link' "$folder/links")
}
report "no place is left open" "$(grep -nE '@@[A-Z_]+@@' "${documents[@]}")"
report "links lead to files and headings" "$(bad_links)"

report "blocks are indented, without fences" "$(cut -f 1,2 "$text/marks")"

# Files of the sources; a word in capitals stands for any name.
bad_files() {
    cut -f 3 "$text/spans" | grep -xE '(docs|harness|models|modes|plots|results|runtime|setup|suites|tests|contrib)/[^ ]*' |
        grep -vE '\*|NAME|DIGEST' | sort -u | while read -r path; do
        # A worked example says "Write FILE".
        [ -e "$path" ] || grep -qF "Write \`$path\`" docs/development.md ||
            grep -F "\`$path\`" "${documents[@]}" | sed "s,:.*,: there is no $path,"
    done
}
report "files that are named exist" "$(bad_files)"

sed -n 's/^\.PHONY: //p' Makefile | tr ' ' '\n' >"$folder/targets"
grep -rhoE '[A-Z][A-Z0-9]*(_[A-Z0-9]+)+' --include='*.[ch]' --include='*.sh' --include='*.py' \
    --include=Makefile Makefile setup harness runtime results modes plots models contrib tests |
    sort -u >"$folder/variables"
report "commands, options, targets and variables that are named exist" "$(
    [ -s "$folder/options" ] || echo "bench help says no options"
    grep -q '^    \$ bench compare ' "$help" || echo "bench help compare has no example"
    awk -F '\t' -f tests/docs/names.awk "$folder/options" "$folder/targets" "$folder/variables" "$text/spans"
)"

# Old spellings run with a warning, so nothing of ours may recommend them.
sed -nE 's/.*\{\.words = "([^"]+)".*/\1/p' harness/main.c >"$folder/old"
old_spellings() {
    local pattern
    [ -s "$folder/old" ] || echo "harness/main.c has no table of old spellings"
    pattern="bench ($(paste -sd '|' "$folder/old"))([^a-z_-]|\$)"
    # The help breaks lines anywhere; in sources a word may stand in the next literal.
    while read -r command; do
        # shellcheck disable=SC2086 # a command of two words
        "$bench" help $command | tr -s ' \n' ' ' | grep -oE "$pattern" | sed "s/^/help $command: /"
    done <"$folder/commands"
    for page in "${pages[@]}"; do
        [ "$page" = CHANGELOG.md ] || tr -s ' \n' ' ' <"$page" | grep -oE "$pattern" | sed "s,^,$page: ,"
    done
    grep -rnE "$pattern" --include='*.[ch]' --include='*.def' --include='*.py' harness runtime results modes plots models contrib
}
report "none names an old spelling" "$(old_spellings)"

report "docs/README.md lists each page, and docs/running.md each command" "$(
    for page in docs/*.md; do
        [ "$page" = docs/README.md ] || grep -qF "](${page#docs/})" docs/README.md || echo "no $page"
    done
    while read -r command; do
        cat "$text/spans" docs/running.md | grep -qE "(^|\`|	)bench $command( |\`|$)|^    bench $command( |$)" ||
            echo "no bench $command"
    done < <(grep -vx run "$folder/commands")
)"

# ---- command lines -----------------------------------------------------------------------------

for name in bench make pip python python3 mpirun srun git benchstat asv; do
    ln -s "$PWD/tests/docs/stand_in.sh" "$folder/bin/$name"
done
export PATH=$folder/bin:$PATH DOCS_BENCH=$bench DOCS_ROOT=$PWD DOCS_TARGETS=$folder/targets DOCS_PROCESSES=1
export DOCS_PROGRAM=$program DOCS_FAKE=$fake
# bench has options of its own for the runtimes cpu and cpu-xla, so the words change in carry_out.
echo '{"run": {"runtime": "sim"}, "replay": {"runtime": "sim"}, "study": {"runtime": "sim"}}' >"$folder/config.json"
echo '{"run": {"runtime": "sim"}, "explain": {"runtime": "sim"}, "study scopes": {"runtime": "sim"},
    "study": {"runtime": "sim"}}' >"$folder/simulated.json"
export BENCH_CONFIG=$folder/config.json PJRT_SIM=values=none,device_us=200

# The folder in which a document begins: stores, a recording, builds, suites.
begin() {
    local quick=(--variant small --processes 1 --steps 3 --min-time 0 --warmup 8)
    local suite='{"bench_suite": 1, "name": "tiny", "defaults": {"runtimes": "sim", "variants": "small",
        "phases": "infer", "steps": 3, "warmup": 8, "min_time": 0, "device_time": "none"}, "matrix": ['
    cd "$folder/begin" || return
    mkdir -p build/tests/harness/campaign setup builds recordings
    for path in build/bench setup/setup.sh program; do ln -s "$DOCS_ROOT/tests/docs/stand_in.sh" $path; done
    ln -s "$built/tests/harness/campaign/make_history" build/tests/harness/campaign/make_history
    for path in good.so new.so plugin.so libpjrt.so builds/new.so; do ln -s "$sim" $path; done
    cp "$DOCS_ROOT/tests/programs/affine.mlir" step.mlir
    cp "$DOCS_ROOT/tests/fuzz/corpus/import/many" results.jsonl
    cp results.jsonl v100.jsonl
    mkdir graphs
    cp step.mlir A.mlir
    sed 's/stablehlo.add/stablehlo.multiply/' A.mlir >B.mlir
    cp A.mlir B.mlir graphs
    cp A.mlir PROGRAM.hlo.pb
    echo "$suite"'{"models": ["resnet50", "bert"], "modes": ["lazy"], "repetitions": 4}]}' >tiny.json
    echo "$suite"'{"models": ["resnet18"], "modes": ["lazy", "capture"], "repetitions": 2}]}' >mine.json
    echo "$suite"'{"recording": "recordings/train", "modes": "replay", "repetitions": 1}]}' >ours.json
    "$built/tests/harness/replay/make_recording" text recordings/20261123T034000Z-4711 || return
    cp -r recordings/20261123T034000Z-4711 recordings/train
    "$bench" --model resnet50,resnet18,bert --mode lazy,capture --phase train,infer --runtime sim \
        "${quick[@]}" || return
    # The first night has nothing to compare with.
    "$bench" nightly --suite tiny.json --store nights --report page
    [ $? -eq 4 ] || return
    for path in A B S store; do cp -r bench-results $path; done
    for path in before after; do
        "$bench" --model resnet18 --phase infer --runtime sim "${quick[@]}" --store $path &&
            "$bench" metrics $path >$path.txt || return
    done
    cp -r nights nightly
}
(begin) >"$folder/out" 2>"$folder/err" </dev/null
begun=$?
report "a folder for the documents is made" "$([ $begun -eq 0 ] || echo "exit status $begun")"

# The way of a command line: run or parse.
way_of() {
    local pattern
    while IFS=$'\t' read -r pattern _; do
        # shellcheck disable=SC2053 # a pattern is meant
        [[ $1 != $pattern ]] || { echo parse; return; }
    done <<<"$parsed_only"
    case $1 in *bench\ report* | *bench\ history*--output* | \
        *bench\ study*--output* | *bench\ estimate*--output*)
        command -v gnuplot >/dev/null || { echo parse; return; } ;;
    esac
    echo run
}

# Carries out command NUMBER in the current folder; says what is wrong.
carry_out() { # NUMBER PLACE
    local words status
    words=$(<"$text/$1")
    # check_development.sh carries out the worked examples.
    case $words in *"--model dense "* | *"bench count "*) return ;; esac
    # What stands for a plugin and an option of the reader's; what may be left out.
    words=${words//\/path\/to\//.\/}
    words=${words//\/shared\/results/shared}
    words=${words//name=value/device_us=200}
    words=${words//--runtime cpu,cpu-xla/--runtime sim,.\/plugin.so}
    words=${words//--runtime cpu-xla/--runtime .\/plugin.so}
    words=${words//--runtime cpu/--runtime sim}
    DOCS_WAY=$(way_of "$words")
    words=$(sed 's/ \[/ /g; s/\]\( \|$\)/\1/g' <<<"$words")
    # The set-up and make run take minutes: where no output is shown, their words are enough.
    [ -e "$text/$1.out" ] || [[ $words != make* ]] || DOCS_WAY=parse
    export DOCS_WAY
    : >"$DOCS_FAULTS"
    rm -f "$DOCS_FAULTS.parsed"
    bash -c 'command_not_found_handle() { echo "    there is no program $1" >>"$DOCS_FAULTS"; }
'"$words" >"$DOCS_FAULTS.out" 2>"$DOCS_FAULTS.err" </dev/null
    status=$?
    case $status in 126 | 127) head -n 1 "$DOCS_FAULTS.err" | sed 's/^/    /' >>"$DOCS_FAULTS" ;; esac
    [ -e "$DOCS_FAULTS.parsed" ] || [ ! -e "$text/$1.out" ] || [ -s "$DOCS_FAULTS" ] ||
        awk -v excused="$excused" -v unasked="$unasked" -v partly="$([ -e "$text/$1.partly" ] && echo 1)" \
            -f "$DOCS_ROOT/tests/docs/forms.awk" "$DOCS_FAULTS.out" "$text/$1.out" >>"$DOCS_FAULTS"
    [ ! -s "$DOCS_FAULTS" ] || { echo "$2: ${words:0:150}"; cat "$DOCS_FAULTS"; }
}

# All commands of DOCUMENT, in order; what is wrong goes to faults/NAME.
all_of() { # DOCUMENT
    local name=${1//\//-} number file line
    export DOCS_FAULTS=$folder/runs/$name.faults
    # Examples say nothing of runtimes, and cpu takes longer.
    [ "$1" != "$help" ] || export BENCH_CONFIG=$folder/simulated.json
    : >"$folder/faults/$name"
    cut -f 2 "$text/commands" | grep -qxF "$1" || return
    cp -r "$folder/begin" "$folder/runs/$name" && cd "$folder/runs/$name" || exit
    # The examples of estimate say nothing of how this one was recorded.
    [ "$1" != "$help" ] || cp -r recordings/train train
    while IFS=$'\t' read -r number file line; do
        [ "$file" != "$1" ] || carry_out "$number" "${file#"$folder/"}:$line"
    done <"$text/commands" >"$folder/faults/$name" 2>&1
    rm -rf "$folder/runs/$name"
    : >"$folder/runs/$name.done"
}
: >"$folder/out"
: >"$folder/err"
for document in "${documents[@]}" "$help"; do
    while [ "$(jobs -rp | wc -l)" -ge 2 ]; do wait -n; done
    (all_of "$document") &
done
wait
for document in "${documents[@]}" "$help"; do
    cut -f 2 "$text/commands" | grep -qxF "$document" || continue
    name=${document//\//-}
    report "commands of ${document#"$folder/"}" "$(
        cat "$folder/faults/$name"
        [ -e "$folder/runs/$name.done" ] || echo "not all were carried out"
    )"
done

echo "1..$count"
