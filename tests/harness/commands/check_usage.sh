#!/bin/bash
# check_usage.sh - words that are wrong, as TAP: each is refused with one complaint, which says what may
# have been meant, by an exit code that is documented, before anything runs; and words that stand alone
# where it is clear what they are for.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=200

before=$(ls -d bench-results 2>/dev/null)
# A row: exit status, what the complaint must say (parts, split at ;;), the words.
while IFS='#' read -r wanted texts words; do
    [ -n "$wanted" ] || continue
    read -ra arguments <<<"$words"
    refuses "bench $words" "$((wanted))" "${texts//;;/|}" -- "${arguments[@]}"
done <<'ROWS'
2#compre;; compare?#compre
2#lst;; list?#lst
2#histroy;; history?#histroy --store x
2# nightly?#nigthly
2# export weights?#exportweights
2#resnet50;; bench --model resnet50?#resnet50
2# bench --model resnet50?#ResNet50
3#a: #diff a b
2# bench list models?#models
2# bench list models?#list-models
2# bench list models?#modles
2# bench list frameworks?#frontends
2# bench list frameworks?#list-frontends
2# bench --version?#version
2# bench table?#show
2#comapre;; compare?#--help comapre
2#lazy;; bench --mode lazy?#lazy
2#docs;; bench table docs?#docs
2#frob; see bench --help#frob
2#comapre;; compare?#help comapre
2#hlep;; help?#hlep
2#hlep;; help?#help hlep
2#'x';;bench help#help compare x
2#'graph'#help help graph
2#--modle;; --model?#--modle resnet50
2#--fromat;; --format?#run --fromat json
2# --processes?#run --proceses 4
2# --min-time?#run --min_time 1
2# --runtime?#run --runtimes cpu
2# --timeout?#run --time-out 10
2# --store?#table --stroe x
2# --device-time?#run --devicetime none
2# --repetitions?#suite smoke --repetition 3
2#--zzzz; see --help#run --zzzz
2#--steps;;bench run#table --steps 3
2#'huge';;full, small#list models --variant huge
2#--variant#list models --variant small,full
2#--batch#list models --batch 1,2
2#--batch;;bench list models#list ops --batch 3
2#graphs;;scopes#study
2#'scope';; scopes?#study scope
2#bench study scopes#study --model resnet18 scopes
2#'nosuch';;--model#explain nosuch
2#--model;;'ResNet50';; resnet50?;;vgg16#--model ResNet50
2# resnet18?#--model resnet-18
2# squeezenet1_1?#--model squeezenet
2# mobilenet_v2?#--model MobileNetV2
2#'frobnet'#--model frobnet
2# capture?#--mode captured
2# capture?#--mode jit
2# lazy?#--mode Lazy
2# lazy?#--mode tracing
2# bf16?#--dtype fp16
2# f32?#--dtype float32
2# bf16?#--dtype BF16
2# train?#--phase training
2# infer?#--phase inference
2# nhwc?#--layout NHWC
2# small?#--variant smal
2#--front-end;;'jaxx';; jax?#--front-end jaxx
2#--model;;'example_brnch';; example_branch?#explain --model example_brnch
2# --model example_branch?#explain example_brnch
2#--model;;'resnt18';; resnet18?#verify --model resnt18
2#'smal';; small?;;full#verify --variant smal
2#--optimizer;;'adam';; adamw?#--optimizer adam
3#'gpu';; cuda?#--runtime gpu
3#'CPU';; cpu?#--runtime CPU
3# cpu-xla?#--runtime cpuxla
3#'toaster';;cpu, ;;or a path#--runtime toaster
2#--min-time;;'3x'#--min-time 3x
2#--min-time#--min-time=-1
2#--timeout#--timeout soon
2#--night-hours;;'12x'#history --night-hours 12x
2#--steps;;from 1#--steps 0
2#--steps#--steps 1.5
2#--batch;;-1#--batch -1
2#--processes;;0.5#--processes 0.5
2#--seed#--seed x
2#--model;;NAME,...#--model
2#'lazy';; --mode lazy?#run lazy
2# --model resnet50?#run ResNet50
2#'resnet50'#run resnet50 --model bert
2#'resnet18';; --model resnet50,resnet18?#run resnet50 resnet18
2# --mode capture?#run resnet18 capture
2# --mode capture?#run resnet18 captre
2# --phase train?#run resnet18 train
2# --phase infer?#run resnet18 inference
2# --dtype bf16?#run resnet18 bf16
2# --variant small?#run small
2# --runtime cpu?#run cpu
2# --runtime cuda?#run resnet18 gpu
2# --front-end jax?#run resnet18 jax
2#'32'#run resnet18 32
2# --format json?#run resnet18 json
2# --model all?#run all
2#'none';;; see --help#run resnet18 none
2# --mode lazy,capture?#run --mode=lazy capture
2# --model resnet18,vgg16?#run --model resnet18 vgg16
2# --batch 32,64?#run --batch 32 64
2# --batch 1,2,4?#study batch resnet18 1,2,4
2# --depth 2,4?#study depth llama 2,4
2#'v5e:1x1'#estimate resnet18 v5e:1x1
2# --output out.svg?#study scopes resnet18 out.svg
2# --quick?#selftest accuracy quick
2# --batch?#run resnet18 batch 32
2#--mode;;MODE,...#run resnet18 --mode --phase infer
2#--mode;;MODE,...#run resnet18 --mode --phase=infer
2# --batch?#run -b 32
2# --to?#export docs --format csv
1# --runtime?#compare --a sim --b sim
2# --graphs 1,5?#run --graphs 1 5
2#--mode#run --mode lazy, capture
2#-model;; --model?#run -model resnet18
2#-m;; --model?#run -m resnet18
2# --output?#run -o x
2#-o; see --help#table -o x
2# --version?#-V
2# --version?#-version
2# --format json?#run --json
2# --format csv?#table --csv
2# --batch?#run --batch-size 32
2# --runtime?#run --device gpu
2# --runtime?#run --backend gpu
2# --steps?#run --epochs 3
2# --processes?#run --repeat 4
2# --dtype?#run --precision bf16
2# --seq?#run --seq-len 128
2#--table;;bench table#--table
2#bench replay#run --recording docs
2#--suite;;compare;;nightly#run --suite smoke
2#'table';; bench table?#--store docs table
2#'history';; bench history?#--quiet history docs
2#'tests'#metrics docs tests
3#bench record#steps docs
2# --runtime ./plugin.so?#run ./plugin.so
2#'frobs';;; see --help#run frobs
2#'lazy';; --mode lazy?#explain lazy
2#'tests/harness';;; see --help#explain tests/harness
2# --model resnet50?#verify ResNet50
2# --model resnet50?#estimate resnet5
2#'vgg16'#study batch resnet18 vgg16
3#/nowhere/store#table /nowhere/store
3#no-such-nights#table no-such-nights
3#no-such-nights#doctor no-such-nights
3#no-such-nights#report --plot ledger no-such-nights --output x.svg
3#no-such-nights#report no-such-nights --site x
2#'out';;--store docs#report docs out
2# --output page.html?#report docs page.html
2# --output l.svg?#report --plot ledger docs l.svg
2# --to csv?#export docs csv
2# --to csv?#export csv
2# --table ledger?#table ledger
2# --metric compile?#history docs compile
2# --mode lazy?#doctor docs lazy
1# --suite smoke?#compare cpu cpu-xla smoke
1# --model resnet18?#compare cpu cpu-xla resnet18
1# --store docs?#compare docs tests
2# --store docs?#suite smoke docs
2# --runtime cpu-xla?#suite smoke cpu-xla
2# --runtime sim?#replay recordings/a sim
2#resnet50;;--runtime#replay resnet50 --runtime tpu
2#models;;--processes#replay models --processes 8
2#'sim';;--runtime sim#replay resnet50 sim
2#'resnet18'#replay models resnet18
2#'tests';;--store docs#table docs tests
2#'tests';;--store docs#doctor docs tests
2#'tests';;--store docs#history tests --store docs
2#'tests';;--store docs#report docs tests
2# --format json?#list models json
2#'resnet50';; --model resnet50?#table resnet50
2# --model resnet50?#report --plot ledger resnet50
2# --model resnet50?#history ResNet50
3#resnet50;;bench run --store#export resnet50 --to csv
2# csv?#export resnet50 --to csvv
2#--topology;;'v5e';;v4:1x1x1#estimate --model resnet18 --topology v5e
3#'VERSION';; ./VERSION?#run resnet18 --runtime VERSION
2#'pytorch-xl';; pytorch-xla?#import --from pytorch-xl /nowhere/file
2#'modls';; models?#list modls
2#'graps';; graphs?#study graps
2#'A'#graph dif A B
2#'A'#metrics dif A B
2#--site;;--output#report --site x --output y
2#--site;;--model#report --site x --model bert
2#--record;;--site#report --output x.html --record 1
3#docs#diff docs
2#README.md#diff README.md
2#--weight;;'nods';; nodes?#study scopes --weight nods
2#'statistcs';; statistics?#selftest statistcs
2#'jsn';; json?#--format jsn
2#'speed';; speedup?#table --table speed
2#'speedups';; speedup?#report --plot speedups --output x.svg
2#bench history --output#report --plot series --output x.svg
2#--device-time;;'profiler';;auto#--device-time profiler
2#--device-time;;'slop';; slope?#--device-time slop
2#--pin;;core3#--pin core3
2#--idle-cores;;'awak';; awake?#--idle-cores awak
2#'hots';; host?#--pin hots
2#smok;; smoke?#suite smok
1#refrence;; reference?#compare cpu cpu-xla --suite refrence
1# --suite nightly?#nightly nightlly --store x --report y
2#--by-scope;;bench study scopes#--model resnet18 --by-scope
2#bench record;;a program#record
1#--frob#nightly --frob
1#bench nightly;;--report#nightly smoke
1#bench nightly;;--suite#nightly --report x
1#bench nightly;;--suite;;--report#nightly
1# --store docs?#nightly smoke docs
1#'page';;--suite smoke#nightly smoke page
ROWS

# Where a plugin was looked for are many paths, so the complaint has their number.
mkdir "$folder/bin"
cp "$bench" "$folder/bin/bench"
report "a missing plugin is reported in one short line, and the list has the searched paths" "$(
    "$folder/bin/bench" run --runtime sim --model resnet18 >"$folder/out" 2>"$folder/err"
    status=$?
    fault_of 3 "runtime sim: " "'make'" " 2 " "bench list runtimes --format json"
    "$folder/bin/bench" list runtimes --format json >"$folder/out"
    holds 'searched = [r["details"]["searched"] for r in records if r["runtime"] == "sim"][0].split(", ")
assert len(searched) == 2 and all(s.endswith("libpjrt_sim.so") for s in searched), searched'
    "$folder/bin/bench" list runtimes >"$folder/out"
    ! grep -q details "$folder/out" || echo "a column of details"
)"
rm -r "$folder/bin"
report "nothing ran" "$([ "$(stored)" -eq 0 ] || echo "there are records"
    [ "$(ls -d bench-results 2>/dev/null)" = "$before" ] || echo "there is a folder bench-results")"

mkdir "$folder/empty"
for words in table "report --plot speedup --output $folder/x.svg" "report --output $folder/x.html" history "export --to csv" \
    "report --site $folder/x.site" doctor; do
    read -ra arguments <<<"$words"
    refuses "bench $words of a folder without records" 3 "$folder/empty" -- \
        "${arguments[@]}" --store "$folder/empty"
done
refuses "bench metrics of a folder without records" 3 "$folder/empty" -- metrics "$folder/empty"
mkdir "$folder/empty_too"
mkdir -p "$folder/sided/a" "$folder/sided/b"
for words in table doctor history "export --to csv" "report --output $folder/x.html"; do
    read -ra arguments <<<"$words"
    refuses "bench $words of the folder of a comparison" 3 "$folder/sided/a|$folder/sided/b" -- \
        "${arguments[@]}" --store "$folder/sided"
done
refuses "bench diff of it" 3 "$folder/sided/a|$folder/sided/b" -- diff "$folder/sided" "$folder/sided"
refuses "bench compare of it" 1 "$folder/sided/a|$folder/sided/b" -- \
    compare --store "$folder/sided" --store "$folder/sided"
refuses "bench compare of two folders without records" 1 "$folder/empty" -- \
    compare --store "$folder/empty" --store "$folder/empty_too"
report "a folder without records stays as it is" "$(find "$folder/empty" "$folder/empty_too" -mindepth 1)"
report "nor is anything made of it" "$(ls -d "$folder"/x.* 2>/dev/null)"

# ---- words that stand alone -------------------------------------------------------------------

tiny=(--variant small --phase infer --processes 1 --steps 3 --warmup 8 --min-time 0s --device-time none
    --runtime sim --store "$store")
run run resnet18 "${tiny[@]}" --format json
report "bench run MODEL is bench run --model MODEL" "$(
    fault_of 0
    holds 'assert [r["experiment"]["model"] for r in records] == ["resnet18"], records'
)"
for words in "explain --mode lazy --variant small --runtime sim" "study scopes --variant small" \
    "study batch --variant small --phase infer --batch 1,2 --processes 1 --steps 3 --warmup 8 --min-time 0s
        --device-time none --runtime sim --store $folder/studied" \
    "export weights --variant small --force --output $folder/weights.safetensors"; do
    read -rd '' -a arguments <<<"$words"
    run "${arguments[@]}" resnet18
    report "so does bench ${arguments[0]}" "$(fault_of 0)"
done
run run resnet18,vgg16 "${tiny[@]}" --format json
report "several models with commas, too" "$(
    fault_of 0
    holds 'assert sorted(r["experiment"]["model"] for r in records) == ["resnet18", "vgg16"]'
)"
run table --store "$store" --format csv
cp "$folder/out" "$folder/by_option"
run table "$store" --format csv
report "bench table DIR is bench table --store DIR" "$(
    fault_of 0
    cmp "$folder/out" "$folder/by_option" 2>&1
)"
run table "$store" --model vgg16 --format csv
report "bench table can be asked for a model" "$(
    fault_of 0
    grep -q vgg16 "$folder/out" || echo "no vgg16"
    ! grep -q resnet18 "$folder/out" || echo "also resnet18"
)"
refuses "a model that the store does not have" 3 \
    "$store|3 records|--model bert|resnet18, vgg16" -- table --store "$store" --model bert
# A row: what the complaint must say, the words.
while IFS='#' read -r text words; do
    read -ra arguments <<<"$words"
    refuses "bench $words, of a store" 3 "$text" -- "${arguments[@]}" --store "$store"
done <<ROWS
--model resnt18| resnet18?|resnet18, vgg16#table --model resnt18
--mode lzay| lazy?#table --mode lzay
--phase inference| infer?#table --phase inference
--batch 7#table --batch 7
--runtime smi| sim?#table --runtime smi
--dtype f23| f32?#doctor --dtype f23
--model vgg61| vgg16?#history --model vgg61
--model vgg61| vgg16?#report --plot ledger --output $folder/none.svg --model vgg61
--model vgg61| vgg16?#report --output $folder/none.html --model vgg61
ROWS
run table --store "$store" --model vgg16,resnt18 --format csv
report "a wrong word among right ones is named, too" "$(fault_of 0 "--model resnt18" " resnet18?")"
run table --store "$store" --model all --mode all --format csv
report "all models are those of the store" "$(
    fault_of 0
    cmp "$folder/out" "$folder/by_option" 2>&1
)"
run list models --variant small --format json
report "a list of small models leaves out those that have none, and names them" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    holds 'assert {r["variant"] for r in records} == {"small"} and len(records) > 9, records
assert not any(r["model"] == "mixtral" for r in records), records'
    grep -q mixtral "$folder/err" || echo "mixtral is not named"
)"
# One experiment a side is compared with the other, whatever it is; so one store has two.
run run resnet18 "${tiny[@]}" --mode capture --batch 3 --store "$folder/apart"
run diff "$store" "$folder/apart"
report "two stores without a common experiment cannot be compared" "$(
    [ "$status" -eq 3 ] || echo "exit status $status"
    [ "$(complaints | wc -l)" -eq 1 ] || echo "not one complaint"
    [ -s "$folder/out" ] || echo "what they have is not listed"
)"
run run vgg16 "${tiny[@]}" --store "$folder/apart"
run diff "$store" "$folder/apart"
report "with one they can" "$([ "$status" -eq 0 ] || echo "exit status $status")"
refuses "a metric that is none" 2 "'wal'| wall?" -- history "$store" --metric wal
run compare sim sim --model resnet18 --variant small --phase infer --mode capture --steps 3 --warmup 8 \
    --min-time 0 --pairs 4 --control 0 --store "$folder/compared"
report "bench compare A B is bench compare --runtime A --runtime B" "$(
    case $status in 0 | 2 | 4) ;; *) echo "exit status $status" ;; esac
    [ -d "$folder/compared/a" ] && [ -d "$folder/compared/b" ] || echo "no records of both"
)"

# same_by_option WHAT COMMAND WORDS: `bench COMMAND DIR WORDS` and `bench COMMAND --store DIR WORDS` print the
# same, and write the same to $folder/made, or $folder/made.html.
same_by_option() {
    local what=$1 command=$2 by_option
    shift 2
    rm -rf "$folder"/made* "$folder/first"
    run "$command" --store "$store" "$@"
    by_option=$status
    mkdir "$folder/first"
    cp "$folder/out" "$folder/first"
    find "$folder" -maxdepth 1 -name 'made*' -exec mv {} "$folder/first" \;
    run "$command" "$store" "$@"
    report "$what" "$(
        [ "$by_option" -eq 0 ] || echo "exit status $by_option with --store"
        fault_of 0
        for by_option in "$folder"/first/*; do
            diff -rq "$by_option" "$folder/${by_option##*/}" 2>&1
        done
    )"
}
run report --plot ledger "$store" --output "$folder/lone.gp"
report "bench report --plot NAME DIR is of this store" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    grep -qF "$folder/lone.gp" "$folder/err" || echo "the file is not named"
    [ -s "$folder/lone.gp" ] || echo "no picture"
)"
same_by_option "bench history DIR is bench history --store DIR" history --format csv
same_by_option "bench export DIR is bench export --store DIR" export --to csv
same_by_option "so is its site" report --site "$folder/made"
if command -v gnuplot >/dev/null; then
    same_by_option "bench report DIR is bench report --store DIR" report --output "$folder/made.html"
fi

# ---- spellings of the version before ------------------------------------------------------------

# old NEW WORDS...: bench WORDS runs, and its first line on standard error names NEW.
old() {
    local new=$1
    shift
    run "$@"
    report "bench $1 is run as bench $new, with a warning" "$(
        [ "$status" -le 1 ] || echo "exit status $status"
        head -n 1 "$folder/err" | grep -qF -- "'$new'" || echo "the new spelling is not named"
        [ -s "$folder/out" ] || [ -e "$folder/olden" ] || [ -s "$folder/made.gp" ] || echo "nothing came of it"
    )"
    rm -rf "$folder/olden"
}
printf '%s\n' 'func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {' \
    '  %0 = stablehlo.add %arg0, %arg0 : tensor<2xf32>' '  return %0 : tensor<2xf32>' '}' >"$folder/program.mlir"
old "report --plot" plot --store "$store" ledger --output "$folder/made.gp"
rm -f "$folder/made.gp"
for line in "plot --help" "plot -h" "help plot" "--help scopes" "help publish" "export-weights --help"; do
    read -ra words <<<"$line"
    old "$(case $line in *plot*) echo "report --plot" ;; *scopes*) echo "study scopes" ;; *publish*) echo report ;;
        *) echo "export weights" ;; esac)" "${words[@]}"
done
run plot --store "$store" --output "$folder/none.html"
report "a picture without a name is no page" "$(
    [ "$status" -eq 2 ] || echo "exit status $status"
    [ ! -e "$folder/none.html" ] || echo "a page was written"
)"
# defaults JSON ARGUMENT...: bench with this file of defaults.
defaults() {
    printf '%s' "$1" >"$folder/defaults.json"
    chmod 600 "$folder/defaults.json"
    shift
    BENCH_CONFIG=$folder/defaults.json run "$@"
}
defaults "{\"publish\": {\"output\": \"$folder/olden\"}, \"report\": {\"output\": \"$folder/new.html\"}}" \
    publish --store "$store"
report "defaults of an old spelling are those of its lines, by today's names of options" "$(
    [ "$status" -eq 0 ] || echo "exit status $status"
    [ -s "$folder/olden/index.html" ] || echo "no site"
    [ ! -e "$folder/new.html" ] || echo "a page, too"
)"
rm -rf "$folder/olden"
defaults "{\"publish\": {\"output\": \"$folder/olden\"}, \"site\": \"$folder/olden\"}" report --store "$store" \
    --output "$folder/made.html"
report "and not those of others" "$(
    command -v gnuplot >/dev/null && [ "$status" -ne 0 ] && echo "exit status $status"
    [ ! -e "$folder/olden" ] || echo "a site"
)"
defaults '{"graph": {"format": "json"}}' graph diff "$folder/program.mlir" "$folder/program.mlir"
report "a command of two words has those of its first word" "$(
    holds 'assert records["same"] is True, records'
)"
old "report" publish --store "$store" --output "$folder/olden"
old "study scopes" scopes --model resnet18 --variant small --runtime sim --levels 1
old "export weights" export-weights --model resnet18 --variant small --output "$folder/olden"
old "diff" metrics diff "$store" "$store"
old "diff" graph diff "$folder/program.mlir" "$folder/program.mlir"
old "graph" graph text "$folder/program.mlir"
old "list frameworks" list front-ends

tiny_suite '"lazy"' 1
run nightly "$folder/suite.json" --store "$folder/night" --report "$folder/page" --keep-builds 0
report "bench nightly FILE is bench nightly --suite FILE" "$(
    case $status in 0 | 2 | 3 | 4) ;; *) echo "exit status $status" ;; esac
    [ -s "$folder/page/index.html" ] || echo "no page"
    find "$folder/night" -name '*.h5' | grep -q . || echo "no record"
)"
refuses "bench nightly smoke is of the suite that comes with bench" 1 "smoke" -- \
    nightly smoke --filter no-such-title --store "$folder/night" --report "$folder/page"

# ---- narrow tables -------------------------------------------------------------------------------

# wide FILE: its lines of more than 80 columns.
wide() { awk 'length($0) > 80 { print "wide: " $0 }' "$1"; }
run table "$store" --format narrow
report "a narrow table has 80 columns at most, and its findings" "$(
    fault_of 0
    wide "$folder/out"
    grep -q '^Findings$' "$folder/out" || echo "no findings"
    grep -q 'bench table --wide' "$folder/out" || echo "no word of the rest"
)"
for table in executions ledger goodput compile memory; do
    run table "$store" --table $table --format narrow
    report "so has the table $table, in parts, with all its rows" "$(
        fault_of 0
        wide "$folder/out"
        [ "$(grep -c 'resnet18.*infer' "$folder/out")" -ge 2 ] || echo "not in parts"
    )"
done
run table "$store" --format narrow
if command -v script >/dev/null; then
    NO_COLOR=1 PAGER=cat script -qec "'$bench' table '$store'" /dev/null </dev/null | tr -d '\r' >"$folder/screen"
    report "on a terminal tables are narrow" "$(
        wide "$folder/screen"
        cmp "$folder/screen" "$folder/out" 2>&1
    )"
    NO_COLOR=1 PAGER=cat script -qec "'$bench' table '$store' --wide" /dev/null </dev/null | tr -d '\r' >"$folder/screen"
    run table "$store"
    report "with --wide they are as in a file" "$(cmp "$folder/screen" "$folder/out" 2>&1)"
fi

# ---- the first screen: before, during and after a run ----------------------------------------------

# foreseen FILE: how long all takes, by what FILE says before the first process, as "3 s" or "2 min"; nothing where
# it says that nobody knows.
foreseen() {
    sed -nE 's/^\[0\/[0-9]+\] about ([0-9]+ (s|min)),.*/\1/p' "$1"
}
# on_screen ARGUMENT...: what a run into the store "here" shows on a terminal, to $folder/screen.
on_screen() {
    (cd "$folder" && NO_COLOR=1 TERM=xterm PAGER=cat script -qec "stty cols 80 rows 50; '$bench' run $* \
        --variant small --phase infer --mode lazy,capture --runtime sim --steps 3 --warmup 8 \
        --min-time 100ms --device-time none --store here" /dev/null </dev/null) |
        tr '\r' '\n' | sed 's/\x1b\[K//g' >"$folder/screen"
}
if command -v script >/dev/null; then
    on_screen resnet18,vgg16 --processes 3
    report "a run on a terminal keeps to its 80 columns, and says what it does, for how long, and what next" "$(
        wide "$folder/screen"
        for text in '^\[0/6\] 4 .* 6 .* sim; .* here$' '^\[0/6\] Ctrl-C ' '^\[[2-6]/6\] [0-9:]* left, [a-z]' \
            '^Findings' '^\[6/6\] .*: here$' '^\[6/6\] .*: bench table --wide --store here$'; do
            grep -q "$text" "$folder/screen" || echo "no line '$text'"
        done
        [ -z "$(foreseen "$folder/screen")" ] || echo "it foresees $(foreseen "$folder/screen")"
    )"
    report "nobody knows how long its first process takes" "$(grep '^\[1/6\].* left, ' "$folder/screen")"
    on_screen resnet18,vgg16 --processes 3
    report "the second time it has as much left as was said of the whole run" "$(
        said=$(foreseen "$folder/screen")
        said=${said% s}
        left=$(sed -n 's/^\[1\/6\] \([0-9:]*\) left, starting.*/\1/p' "$folder/screen" | head -n 1)
        awk -F : -v said="${said:--9}" '{ s = 60 * $1 + $2 - said; exit !(NF == 2 && s >= -1 && s <= 1) }' <<<"$left" ||
            echo "${left:-nothing} left, of ${said:-nobody knows how many} s"
    )"
    on_screen resnet18 --processes 1
    report "so has the only process of a run" "$(
        grep -q '^\[1/1\] [0-9:]* left, starting' "$folder/screen" || grep '^\[1/1\]' "$folder/screen" | head -n 3
    )"
    (cd "$folder" && NO_COLOR=1 TERM=dumb script -qec "stty cols 80; '$bench' help run" /dev/null </dev/null) |
        tr -d '\r' >"$folder/screen"
    report "so does its help" "$(
        wide "$folder/screen"
        grep -q -- '--min-time' "$folder/screen" || echo "no help"
    )"
fi

run suite smoke --dry-run --filter resnet18 --runtime cpu --runtime sim
report "a list that is given again replaces the first, and both are named" "$(
    fault_of 0
    [ "$(wc -l <"$folder/err")" -eq 1 ] || echo "not one line"
    [[ $(<"$folder/err") == "bench: --runtime "*" sim "*" cpu "*"--runtime cpu,sim"* ]] || echo "not said"
    ! grep ' on cpu' "$folder/out" || echo "the first counts, too"
)"
run suite smoke --dry-run --filter resnet18 --runtime sim --runtime sim
report "but not if it is the same" "$(
    fault_of 0
    grep again "$folder/err"
)"
run suite smoke --dry-run --filter resnet18 --runtime cpu --runtime sim --quiet
report "nor with --quiet" "$(
    fault_of 0
    cat "$folder/err"
)"

# again ARGUMENT...: a run with a store of its own, and what it foresees of its length to $length.
again() {
    run run resnet18,vgg16 --variant small --phase infer --runtime sim --processes 3 --steps 3 --warmup 8 \
        --min-time 100ms --device-time none --store "$folder/again" "$@"
    length=$(foreseen "$folder/err")
}
again --mode lazy,capture
took=$(sed -n 's,^\[6/6\] 6 [a-z]* in \([0-9.]*\) s: .*,\1,p' "$folder/err")
report "of a run that nobody has seen before there is no bound" "$(
    fault_of 0
    [ -z "$length" ] || echo "$length"
)"
report "experiments that share processes have one line, when the last of these ends" "$(
    [ "$(grep -c ' 3 of 3: ok in ' "$folder/err")" = 2 ] || echo "not a line each"
    # What takes long, on a busy machine, says more.
    [ "$(grep -c ': ok in ' "$folder/err")" = 2 ] || awk -v took="${took:-0}" 'BEGIN { exit took < 10 }' ||
        grep ': ok in ' "$folder/err"
)"
again --mode lazy,capture --verbose
report "with --verbose each process has one" "$(
    fault_of 0
    [ "$(grep -c ': ok in ' "$folder/err")" = 6 ] || grep ': ok in ' "$folder/err"
)"
report "a second run says how long the first one took" "$(
    fault_of 0
    said=$length
    [[ $said != *min ]] || said=$((${said% *} * 60))
    said=${said% s}
    awk -v took="${took:-0}" -v said="${said:--9}" 'BEGIN { exit !(said <= 3 * took + 1 && 3 * said + 3 >= took) }' ||
        echo "$length, after $took s"
)"
again --mode capture
report "so does one of fewer experiments" "$(
    fault_of 0
    [ -n "$length" ] || echo "it foresees nothing"
)"
for other in "--mode lazy,eager" "--mode lazy --min-time 150ms" "--mode lazy --batch 2" \
    "--mode lazy --runtime-option device_us=300"; do
    read -ra words <<<"$other"
    again "${words[@]}"
    report "nor of what is new: $other" "$(
        fault_of 0
        [ -z "$length" ] || echo "$length"
    )"
done

# The same of what runs many experiments.
cat >"$folder/two.json" <<'JSON'
{"bench_suite": 1, "name": "two", "defaults": {"runtimes": ["sim"], "variants": ["small"], "phases": ["infer"],
 "modes": ["lazy", "capture"], "steps": 3, "warmup": 8, "min_time": 0.1, "device_time": "none", "repetitions": 3},
 "matrix": [{"models": ["resnet18", "vgg16"]}]}
JSON
# planned FIRST known|unknown: what the last run says otherwise before its first process. FIRST is like its first
# line; then comes how long it takes, and what Ctrl-C leaves.
planned() {
    local known=unknown
    fault_of 0
    [ -z "$(foreseen "$folder/err")" ] || known=known
    [ "$known" = "$2" ] || echo "its length is $known"
    grep '^\[0/' "$folder/err" >"$folder/before"
    sed -n 1p "$folder/before" | grep -qE "^\[0/[0-9]+\] $1\$" || echo "its first line is not '$1'"
    sed -n 3p "$folder/before" | grep -qE '^\[0/[0-9]+\] Ctrl-C ' || echo "its third line is not of Ctrl-C"
}
run suite "$folder/two.json" --store "$folder/two"
report "a suite says what it is about to run" "$(
    planned ".* two: 12 .* 6 .* $folder/two" unknown
)"
run suite "$folder/two.json" --store "$folder/two" --repetitions 6
report "of further repetitions it says how long the first ones took" "$(
    planned ".* two: 12 .* 6 .* $folder/two" known
)"
study=(study batch --model resnet18 --variant small --phase infer --batch 1,2 --runtime sim --processes 3 --steps 3
    --warmup 8 --min-time 0.1s --device-time none --store "$folder/study")
run "${study[@]}"
report "so does a study, at first" "$(
    planned "study batch: 4 .* 6 .* sim; .* $folder/study" unknown
)"
run "${study[@]}"
report "and the second time" "$(
    planned "study batch: 4 .* 6 .* sim; .* $folder/study" known
)"
run compare --model resnet18 --variant small --phase infer --mode capture --runtime sim --runtime sim --pairs 2 \
    --steps 3 --warmup 8 --min-time 0.5s --device-time none --control 0 --store "$folder/sides"
report "a comparison has its pairs" "$(
    status=0 planned "1 .* 0 .* 2 .* $folder/sides" unknown
)"

# under PRESSURE ARGUMENT...: run where the kernel tells that in so many of 100 moments of the last ten
# seconds something waited for a core. It is another file in the place of its own, for this process alone.
under() {
    echo "some avg10=$1.00 avg60=0.00 avg300=0.00 total=1" >"$folder/pressure"
    shift
    # shellcheck disable=SC2016 # the inner shell's
    unshare -rm sh -c 'mount --bind "$0" /proc/pressure/cpu && exec "$@"' "$folder/pressure" "$@" \
        >"$folder/out" 2>"$folder/err" </dev/null
}
if under 50 true 2>/dev/null; then
    under 63 "$bench" run resnet18 "${tiny[@]}"
    status=$?
    report "before a run on a busy machine there is a warning" "$(
        [ $status -eq 0 ] || echo "exit status $status"
        grep -q '^\[0/1\] .* 63 % ' "$folder/err" || echo "none"
    )"
    under 63 "$bench" run resnet18 "${tiny[@]}" --quiet
    report "unless bench is to be quiet" "$(cat "$folder/err")"
    under 7 "$bench" run resnet18 "${tiny[@]}"
    report "on a quiet machine there is none" "$(! grep '^\[0/1\].* % ' "$folder/err")"
else
    skip "before a run on a busy machine there is a warning" "no file can be put in the place of /proc/pressure/cpu"
fi

# ---- help ---------------------------------------------------------------------------------------

for command in run table compare nightly; do
    run $command --help
    cp "$folder/out" "$folder/by_option"
    for word in help --help -h; do
        run $word $command
        report "bench $word $command is bench $command --help" "$(
            fault_of 0
            cmp "$folder/out" "$folder/by_option" 2>&1
        )"
    done
done
run help
report "bench help lists the commands" "$(
    fault_of 0
    for command in run compare table report doctor diff record replay completion help; do
        grep -q "^  $command " "$folder/out" || echo "no $command"
    done
    [ "$(grep -c '^  [a-z]' "$folder/out")" -lt 26 ] || echo "too many"
    ! grep -e ' --batch' "$folder/out"
)"
cp "$folder/out" "$folder/by_option"
run help help
report "so does bench help help" "$(
    fault_of 0
    cmp "$folder/out" "$folder/by_option" 2>&1
)"
run list models -v
report "-v is --verbose" "$(fault_of 0)"
run "${tiny[@]}" --min-time 250ms --model resnet18 --format json
report "times have units" "$(
    fault_of 0
    grep -q '"min-time": 0.25' "$folder/out" || echo "no time of 0.25 s"
)"
run --version
report "--version says a version" "$(
    fault_of 0
    grep -qE '^bench [0-9]+\.[0-9]+\.[0-9]+(-dev(\+[0-9a-f]+(-dirty)?)?)?$' "$folder/out" || echo "it does not"
)"
echo "1..$count"
