#!/bin/bash
# check_completion.sh - what the shells offer, as TAP: the script that bench writes for bash, zsh and fish
# is read by the shell itself, and completes commands, options and values by it.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

# completed WORD...: what the script offers for the last word.
completed() {
    bash -c '
        source "$1" || exit 1
        shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _bench
        printf "%s\n" "${COMPREPLY[@]}"' - "$folder/completion" "$@"
}
run completion bash
cp "$folder/out" "$folder/completion"
report "bash completes commands, options and values" "$(
    fault_of 0
    [ "$(completed bench com)" = "$(printf 'compare\ncompletion')" ] || echo "com: $(completed bench com)"
    [ "$(completed bench run --mod)" = "$(printf -- '--model\n--mode')" ] ||
        echo "--mod: $(completed bench run --mod)"
    [ "$(completed bench run --model resnet1)" = resnet18 ] || echo "$(completed bench run --model resnet1)"
    [ "$(completed bench run --model vgg16,resnet1)" = vgg16,resnet18 ] ||
        echo "$(completed bench run --model vgg16,resnet1)"
    [ "$(completed bench table --table com)" = compile ] || echo "$(completed bench table --table com)"
    [ "$(completed bench --mode laz)" = lazy ] || echo "$(completed bench --mode laz)"
)"
touch "$folder/smaller.json"
report "and the values of options that have a list of them" "$(
    for row in "export --to bench:benchstat" "export --to x:xla xspace" "export --to o:" \
        "import --from py:pytorch-xla" "run --pin ho:host" "run --idle-cores aw:awake" "run --device-time sl:slope" \
        "replay --cost ro:roofline" "study scopes --weight no:nodes" "nightly --suite smo:smoke" "compare --suite smo:smoke" \
        "nightly --suite $folder/sm:$folder/smaller.json"; do
        read -ra words <<<"${row%%:*}"
        got=$(completed bench "${words[@]}" | tr '\n' ' ')
        [ "${got% }" = "${row#*:}" ] || echo "${row%%:*}: $got"
    done
)"
# Where = breaks words, as it does unless COMP_WORDBREAKS says otherwise, the option and = are words.
report "and the values of --option=, in one word or in three" "$(
    for row in "run --phase =:train infer decode" "run --mode = laz:lazy" "--mode = laz:lazy" "export --to = bench:benchstat" \
        "run --model = vgg16,resnet1:vgg16,resnet18" "nightly --suite = $folder/sm:$folder/smaller.json" \
        "run --mode=laz:--mode=lazy" "--mode=laz:--mode=lazy" "run --model=vgg16,resnet1:--model=vgg16,resnet18" \
        "nightly --suite=$folder/sm:--suite=$folder/smaller.json" "list --store=mod:"; do
        read -ra words <<<"${row%%:*}"
        got=$(completed bench "${words[@]}" | tr '\n' ' ')
        [ "${got% }" = "${row#*:}" ] || echo "${row%%:*}: $got"
    done
)"
run study scopes --model resnet18 --variant small --preset no-such
report "and the presets that the simulated device has, and none" "$(
    fault_of 2 "no-such"
    has=$(sed -n 's/.*[Tt]here are \([^;.]*\).*/\1/p' "$folder/err" | tr -d ' ' | tr ',' '\n' | sort)
    [ "$has" = "$(completed bench study scopes --preset '' | grep -vx none | sort)" ] || echo "it has" $has
    completed bench study scopes --preset no | grep -qx none || echo "no none"
)"
"$bench" help table >"$folder/out" 2>&1
report "the help of --table names each table" "$(
    for table in $(completed bench table --table ''); do
        sed -n '/--table /,/--format/p' "$folder/out" | grep -qw -- "$table" || echo "no $table"
    done
)"
report "and second words" "$(
    for row in "list mod:models modes" "study gr:graphs" "report --plot led:ledger" "selftest st:statistics" "study sc:scopes" "export we:weights" \
        "help dep:" "help comp:compare completion" "completion z:zsh" "list models m:" "steps D:"; do
        read -ra words <<<"${row%%:*}"
        got=$(completed bench "${words[@]}" | tr '\n' ' ')
        [ "${got% }" = "${row#*:}" ] || echo "${row%%:*}: $got"
    done
)"

# completed_by_zsh LINE: what the script offers; zsh itself takes from it what fits the last word. In a
# zsh that has read no set-up, as after source <(bench completion zsh) in an empty .zshrc.
completed_by_zsh() {
    local words
    read -ra words <<<"$1"
    ZDOTDIR=$folder zsh -f -c '
        source "$0" || exit 1
        [[ -n $_comps[bench] ]] || { echo "bench is not completed"; exit 1 }
        emulate -L sh
        setopt ksharrays
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
        _bench
        printf "%s\n" "${COMPREPLY[@]}"' "$folder/completion" "${words[@]}" 2>&1
}
# completed_by_fish LINE: what fish offers for the last word of LINE, in any order.
completed_by_fish() {
    HOME=$folder fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$folder/completion" "$1" 2>&1 |
        cut -f 1 | sort
}
# completes SHELL ROW...: reads the script of SHELL, and completes by it. A ROW is a line, a colon, and a
# pattern of all that is offered, between blanks.
completes() {
    local shell=$1 title="a script that $1 reads and completes by" row got
    shift
    if ! command -v "$shell" >/dev/null; then
        skip "$title" "there is no $shell"
        return
    fi
    run completion "$shell"
    cp "$folder/out" "$folder/completion"
    report "$title" "$(
        fault_of 0
        "$shell" -n "$folder/completion" 2>&1
        for row; do
            got=$(completed_by_"$shell" "${row%%:*}" | tr '\n' ' ')
            [[ "$got" =~ ^${row#*:}\ $ ]] || echo "${row%%:*}: $got"
        done
    )"
}
completes zsh "bench com:help run .*compare.*" "bench run --mode laz:eager lazy.*" "bench run --mode=laz:--mode=eager .*" "bench study gr:graphs in-flight.*" \
    "bench list models --var:--variant .*--help.*" "bench run --pin h:none host all" \
    "bench export --to x:google-benchmark .*xla.*"
completes fish "bench com:compare completion" "bench --mode laz:lazy" "bench run --mode laz:lazy" \
    "bench --mod:--mode --model" "bench study gr:graphs" "bench list mod:models modes" "bench table --tab:--table" \
    "bench help comp:compare completion" "bench study sco:scopes" \
    "bench run --pin hos:host" "bench export --to benchs:benchstat"
refuses "completion of another shell" 2 "'bsh'| bash?" -- completion bsh
echo "1..$count"
