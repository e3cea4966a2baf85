#!/bin/bash
# frontends.sh - virtual environments for front ends other than bench: for each folder of
# contrib/frontends with a requirements.txt, third_party/frontends/NAME with what that pins.
#
#   setup/frontends.sh [NAME...]     all, or these
#
# An existing environment of the same requirements is kept: a second call touches no network. A
# step that fails says what to try, and leaves no environment that looks whole.
#
# Environment: PYTHON  the Python of the environments, 3.11 or later (default: python3)
set -u -o pipefail
umask go-w # bench runs nothing that others may write
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

sources=contrib/frontends
places=third_party/frontends
python=${PYTHON:-python3}
scratch=
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

say() {
    printf 'frontends: %s\n' "$*"
}

# First line: what failed. Further ones: what to try.
give_up() {
    printf 'frontends: FAILED: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf 'frontends:   %s\n' "$@" >&2
    exit 1
}

known=()
for file in "$sources"/*/requirements.txt; do
    [ -f "$file" ] && known+=("$(basename "$(dirname "$file")")")
done
names=("$@")
[ ${#names[@]} -gt 0 ] || names=("${known[@]}")
for name in "${names[@]}"; do
    case " ${known[*]} " in
    *" $name "*) ;;
    *) give_up "there is no front end \"$name\" that needs installing" "there are: ${known[*]}" ;;
    esac
done

# What an environment was made of: the requirements, and the Python.
stamp_of() { # NAME
    "$python" -c 'import sys; print(sys.version)' && cat "$sources/$1/requirements.txt"
}

explain_pip() { # LOG NAME
    printf 'frontends: last lines of the log:\n' >&2
    tail -n 8 "$1" | sed 's/^/    | /' >&2
    if grep -qE 'No space left|Errno 28' "$1"; then
        give_up "the disk is full" "$2 may need several GB: free some space (df -h .), then try again"
    elif grep -qiE 'NewConnection|Temporary failure|resolution|timed out|Max retries|Proxy|unreachable|Connection (refused|reset|aborted)|SSL' "$1"; then
        give_up "the package index cannot be reached" \
            "check the network and pip's proxy settings, then run the same make command again"
    elif grep -qE 'No matching distribution|Could not find a version|requires a different Python' "$1"; then
        give_up "the package index has not all that $sources/$2/requirements.txt pins for $("$python" --version)" \
            "name another Python, 3.11 to 3.13: make frontends PYTHON=/path/to/python3"
    fi
    give_up "installing $2 failed" "the lines above are all that pip said"
}

install_one() { # NAME
    local name=$1 place=$places/$1 log=$scratch/$1.log
    stamp_of "$name" >"$scratch/stamp" || give_up "$python cannot be run" \
        "name a Python: make frontends PYTHON=/path/to/python3"
    if cmp -s "$scratch/stamp" "$place/bench-stamp" && [ -x "$place/bin/python" ]; then
        say "$name is there: $place"
        return
    fi
    say "installing $name into $place (this fetches packages, and takes minutes)"
    rm -rf "$place"
    mkdir -p "$places" || give_up "cannot write $places"
    "$python" -m venv "$place" >"$log" 2>&1 </dev/null || {
        tail -n 4 "$log" | sed 's/^/    | /' >&2
        rm -rf "$place"
        give_up "$python makes no virtual environment" \
            "on Debian install python3-venv, or name another Python: make frontends PYTHON=/path/to/python3"
    }
    "$place/bin/python" -m pip install --disable-pip-version-check --no-input --progress-bar off \
        --requirement "$sources/$name/requirements.txt" >"$log" 2>&1 </dev/null || {
        rm -rf "$place"
        explain_pip "$log" "$name"
    }
    cp "$scratch/stamp" "$place/bench-stamp" || give_up "cannot write $place"
    say "$name is installed: bench run --front-end $name"
}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/bench-frontends.XXXXXX") || exit 1
for name in "${names[@]}"; do
    install_one "$name"
done
