#!/bin/bash
# stand_in.sh - stands in for the programs that documents name, under the name of each, so that
# check_docs.sh can have command lines carried out as they stand. What is wrong with the words goes to
# the file DOCS_FAULTS; where nothing ran, there is then a file DOCS_FAULTS.parsed. DOCS_WAY is
#
#   parse   bench is called with --help behind its command: it reads all words and runs nothing
#   run     bench runs, with options at the end that make it short
#
# Other environment: DOCS_BENCH, the program; DOCS_ROOT, the sources; DOCS_TARGETS, a file with the
# targets of make; DOCS_PROGRAM, what is recorded; DOCS_FAKE, a plugin whose compiler estimates;
# DOCS_PROCESSES.
set -u
said=$DOCS_FAULTS.said

fault() { printf '    %s\n' "$*" >>"$DOCS_FAULTS"; }

parse() {
    local at=0
    local -a help=(--help)
    : >"$DOCS_FAULTS.parsed"
    case ${1:-} in
    help) help=() at=$# ;;
    [a-z]*) at=1 ;;
    esac
    case "${1:-} ${2:-}" in "study scopes" | "export weights") at=2 ;; esac
    "$DOCS_BENCH" "${@:1:at}" "${help[@]}" "${@:at+1}" >/dev/null 2>"$said" </dev/null ||
        fault "refused: $(head -n 1 "$said")"
}

run() {
    local command=run allowed=0 status
    local -a short=(--steps 3 --min-time 0 --warmup 8 --device-time none) quick=()
    case ${1:-} in [a-z]*) command=$1 ;; esac
    case "${1:-} ${2:-}" in "study scopes" | "export weights") command="$1 $2" ;; esac
    case $command in
    run)
        quick=("${short[@]}" --processes "$DOCS_PROCESSES")
        # Examples are small and short, so their device times are known, too.
        [[ " $* " != *' example_'* ]] || quick=("${short[@]:0:6}" --processes "$DOCS_PROCESSES")
        [[ " $* " == *' --program '* || " $* " == *' example_'* ]] || quick+=(--variant small)
        ;;
    replay) quick=("${short[@]}" --processes 1) ;;
    compare)
        allowed='0 2 4'
        case " $* " in
        *' --store '*' --store '*) ;; # nothing is run
        *' --recording '*) quick=("${short[@]}" --pairs 4 --control 0) ;;
        *) quick=("${short[@]}" --pairs 4 --control 0 --variant small) ;;
        esac
        ;;
    nightly) allowed='0 2 4' ;;
    table | list | history | report | export | import | steps | explain) ;;
    doctor | metrics | completion) ;;
    graph | diff) allowed='0 1' ;;
    study) quick=("${short[@]}" --processes "$DOCS_PROCESSES" --variant small) ;;
    verify) quick=(--variant small) ;;
    selftest)
        quick=(--variant small --runtime sim)
        case $2 in
        coverage) quick=(--quick) ;;
        *) [[ " $* " == *' --model '* ]] || quick+=(--model resnet18) ;;
        esac
        quick+=(--steps 3 --min-time 0)
        ;;
    estimate)
        # The plugin that stands for libtpu has other topologies, and no chips of these names.
        set -- "${@//v5e:1x1/fake:1}"
        set -- "${@//v6e:1x1/fake:2}"
        set -- "${@//v3:2x2/fake:1}"
        # It does not read the many arguments of so many layers.
        set -- "${@//,64/}"
        export FAKE_PJRT=hlo
        quick=(--runtime "$DOCS_FAKE")
        ;;
    suite) [[ $2 == *.json ]] || quick=(--dry-run) ;;
    "study scopes") quick=(--variant small --steps 2) ;;
    "export weights") quick=(--variant small) ;;
    record)
        set -- record --runtime sim "${@:2}"
        ;;
    *) # nobody has said how it is made short
        parse "$@"
        return
        ;;
    esac
    "$DOCS_BENCH" "$@" "${quick[@]}" 2>"$said" </dev/null
    status=$?
    cat "$said" >&2
    case " $allowed " in
    *" $status "*) ;;
    *) fault "exit status $status: $(tail -n 1 "$said")" ;;
    esac
    return $status
}

# What make run has bench do.
run_arguments() {
    sed -n '/^RUN_ARGS ?=/,/[^\\]$/p' "$DOCS_ROOT/Makefile" | sed 's/^RUN_ARGS ?=//; s/\\$//' | tr '\n' ' '
}

make_targets() {
    local word name
    for word in "$@"; do
        case $word in
        TESTS=*)
            for name in ${word#*=}; do
                [ -n "$(find "$DOCS_ROOT/tests" -name "$name.c" -o -name "$name.sh")" ] ||
                    fault "there is no test $name"
            done
            ;;
        *=*) ;;
        *) grep -qx -- "$word" "$DOCS_TARGETS" || fault "make has no target $word" ;;
        esac
    done
    if [ "$*" = run ] && [ "$DOCS_WAY" = run ]; then
        # shellcheck disable=SC2046 # one word each
        DOCS_PROCESSES=3 run $(run_arguments) --format narrow
    else
        : >"$DOCS_FAULTS.parsed"
    fi
}

case ${0##*/} in
bench) "$DOCS_WAY" "$@" ;;
make) make_targets "$@" ;;
mpirun | srun)
    [ "$1" = -n ] || fault "only -n is known of ${0##*/}"
    shift 2
    exec "$@"
    ;;
python | python3 | program)
    [ "$DOCS_WAY" = parse ] || [ "${1:-}" = -c ] || exec "$DOCS_PROGRAM" --steps 60 --way two
    : >"$DOCS_FAULTS.parsed"
    ;;
setup.sh)
    for group in "$@"; do
        grep -qw "@$group" "$DOCS_ROOT/setup/packages.txt" ||
            grep -q "^$group " "$DOCS_ROOT/setup/wheels.txt" || fault "there is no group $group"
    done
    ;;
*) : >"$DOCS_FAULTS.parsed" ;; # a program of others
esac
