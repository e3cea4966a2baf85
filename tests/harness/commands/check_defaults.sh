#!/bin/bash
# check_defaults.sh - the user's file of defaults, as TAP: what it may say, what the command line says after
# it, what is refused, and where it is looked for.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=200

tiny=(--variant small --phase infer --processes 1 --steps 3 --warmup 8 --min-time 0s --device-time none
    --runtime sim --store "$store")
run run resnet18,vgg16 "${tiny[@]}"
report "a store of two models" "$(fault_of 0)"

defaults() { printf '%s' "$1" >"$folder/bench.json"; }
export BENCH_CONFIG=$folder/bench.json
defaults "{\"store\": \"$store\", \"table\": {\"format\": \"csv\", \"model\": \"vgg16\"}}"
run table
report "a file of defaults has options for all commands and for one" "$(
    fault_of 0
    grep -q '^.*vgg16' "$folder/out" && ! grep -q resnet18 "$folder/out" || echo "not the model"
    grep -q ',' "$folder/out" || echo "not CSV"
)"
run table --model resnet18
report "the command line has the last word" "$(
    fault_of 0
    grep -q resnet18 "$folder/out" || echo "no resnet18"
)"
defaults "{\"store\": \"$store\", \"model\": \"bert\", \"runtime\": \"toaster\"}"
run table --format csv
report "defaults of what is run leave out no records" "$(
    fault_of 0
    grep -q resnet18 "$folder/out" && grep -q vgg16 "$folder/out" || echo "not both models"
)"
# A format for all commands is that of the commands which have it.
explain=(explain resnet18 --mode lazy --variant small --runtime sim)
weights=(export weights --model resnet18 --variant small --output "$folder/w.safetensors" --force)
nightly=(nightly smoke --filter no-such-title --store "$folder/night" --report "$folder/page")
defaults "{\"store\": \"$store\", \"format\": \"csv\"}"
run table
report "a format for all commands is that of tables" "$(
    fault_of 0
    grep -q '^kind,runtime,' "$folder/out" || echo "not CSV"
)"
for words in "${explain[*]}" "metrics $store" "${weights[*]}"; do
    read -ra arguments <<<"$words"
    run "${arguments[@]}"
    report "a format that bench ${arguments[0]} does not have is none of its own" "$(
        fault_of 0
        [ -s "$folder/out" ] || echo "nothing on standard output"
    )"
done
refuses "nor of bench nightly" 1 "suite smoke" -- "${nightly[@]}"
defaults '{"format": "latex"}'
refuses "nor of bench estimate" 3 "/nowhere/plugin.so" -- estimate --model resnet18 --runtime /nowhere/plugin.so
defaults '{"format": "json"}'
for words in "${explain[*]}" "metrics $store" "${weights[*]}"; do
    read -ra arguments <<<"$words"
    run "${arguments[@]}"
    report "one that bench ${arguments[0]} has is" "$(
        fault_of 0
        holds 'assert records'
    )"
done
for command in explain metrics "export weights" estimate; do
    case $command in
        explain) arguments=("${explain[@]}") ;;
        metrics) arguments=(metrics "$store") ;;
        "export weights") arguments=("${weights[@]}") ;;
        estimate) arguments=(estimate --model resnet18 --runtime /nowhere/plugin.so) ;;
    esac
    defaults "{\"$command\": {\"format\": \"latex\"}}"
    refuses "a default of bench $command itself has to be one of its formats" 2 "latex" -- "${arguments[@]}"
    defaults '{"format": "cvs"}'
    refuses "so has one that no command has: $command" 2 "cvs" -- "${arguments[@]}"
done
defaults '{"model": "bert", "phase": "infer"}'
run import --from pytorch-xla --store "$folder/theirs" tests/fuzz/corpus/import/many
report "nor do they name what is imported" "$(fault_of 0)"
tiny_suite '"lazy"' 1
defaults "{\"store\": \"$store\", \"runtime\": \"toaster\"}"
run suite "$folder/suite.json" --dry-run
report "a suite says itself where it runs" "$(
    fault_of 0
    grep -q ' on sim' "$folder/out" || echo "not on sim"
)"
defaults '{"suite": {"runtime": "toaster"}}'
refuses "unless the options of the suite do" 3 "'toaster'" -- suite "$folder/suite.json" --dry-run
defaults '{"run": {"model": "vgg16", "weights": "/nowhere/w.safetensors"}}'
run run --program tests/programs/affine.mlir --runtime sim --processes 1 --steps 3 --min-time 0 --store "$folder/program" \
    --format json
report "defaults of models are none of a program's" "$(
    fault_of 0
    holds 'assert [r["experiment"]["model"] for r in records] == ["affine"], records[0]["experiment"]'
)"
defaults '{"runtimes": "cpu"}'
refuses "an unknown option in it" 2 \
    "$folder/bench.json|--runtimes| --runtime?" -- table
defaults '{"run": {"proceses": 8}}'
refuses "an unknown option of a command in it" 2 \
    "$folder/bench.json|\"run\"|--proceses| --processes?" -- run
defaults '{"rnu": {"processes": 8}}'
refuses "the options of a command that is none, whatever runs" 2 \
    "$folder/bench.json|\"rnu\"| run?" -- table
defaults '{"help": {"processes": 8}}'
refuses "help has no options" 2 "$folder/bench.json|\"help\"" -- table
for option in runtime-option input; do
    defaults "{\"$option\": \"a=1\"}"
    refuses "an option that can be repeated, $option, for all commands" 2 \
        "$folder/bench.json|--$option" -- table
done
defaults '{"runtime": "sim", "store": "/nowhere", "label": "x"}'
run compare
report "one that can be repeated in a comparison alone has a default for the others" "$(
    fault_of 1
    ! complaints | grep "bench.json"
)"
defaults '{"table": {"min-time": 3}}'
refuses "an option of another command in it" 2 "\"table\"|--min-time" -- table
defaults '{"store": ["a"]}'
refuses "a value that is none" 2 "$folder/bench.json|\"store\"" -- table
defaults '{"store": '
refuses "no JSON" 3 "bench.json|line 1" -- table
for damaged in '{"store": ' '{"rnu": {}}' '{"frobnicate": 1}' '{"table": {"frob": 1}, "run": {"frob": 1}}'; do
    defaults "$damaged"
    report "help, manual and version work despite $damaged" "$(
        for words in --help -h --man --version "table --help" "run -h" "graph --version"; do
            read -ra arguments <<<"$words"
            run "${arguments[@]}"
            fault_of 0
            [ -s "$folder/out" ] || echo "bench $words prints nothing"
            [ ! -s "$folder/err" ] || echo "bench $words complains"
        done
    )"
done
defaults '{"frobnicate": 1}'
refuses "but no other arguments with help" 2 "$folder/bench.json|--frobnicate" -- table --help --frob
defaults '{}'
chmod 666 "$folder/bench.json"
refuses "a file that others may write" 2 "$folder/bench.json|go-w" -- table
BENCH_CONFIG=$folder/none refuses "a file that is not there" 3 "$folder/none" -- table
mkdir -p "$folder/home/.config/bench" "$folder/xdg/bench"
echo '{"store": "/nowhere/home"}' >"$folder/home/.config/bench/bench.json"
echo '{"store": "/nowhere/xdg"}' >"$folder/xdg/bench/bench.json"
unset BENCH_CONFIG
HOME=$folder/home XDG_CONFIG_HOME='' refuses "the one of the home folder" 3 "/nowhere/home" -- table
HOME=$folder/home XDG_CONFIG_HOME=$folder/xdg refuses "the one of XDG_CONFIG_HOME" 3 "/nowhere/xdg" -- table
export BENCH_CONFIG=
echo "1..$count"
