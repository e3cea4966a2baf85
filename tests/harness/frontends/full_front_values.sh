#!/bin/bash
# full_front_values.sh - each front end that is installed against PyTorch's golden values, in each of
# its modes, as TAP. `make frontends` installs them.
#
#   FRONT_VARIANTS=small,full    which variants; small by default
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
trap 'rm -rf "$folder"' EXIT
variants=${FRONT_VARIANTS:-small}
unset PJRT_NAMES_AND_LIBRARY_PATHS JAX_PLATFORMS PJRT_DEVICE PJRT_LIBRARY_PATH XLA_FLAGS

# python_of NAME: where `make frontends` put its Python, or what the user names.
python_of() {
    local variable=BENCH_FRONTEND_PYTHON_${1^^}
    variable=${variable//-/_}
    printf %s "${!variable:-$PWD/third_party/frontends/$1/bin/python}"
}

# try NAME [OPTION...]: all models in all modes; check.py's lines become ours.
try() {
    local name=$1 own line
    shift
    own=$(python_of "$name")
    if [ ! -x "$own" ]; then
        skip "$name: golden values" "it is not installed: make frontends FRONTENDS=$name"
        return
    fi
    while read -r line; do
        case $line in
        "ok "* | "not ok "*) count=$((count + 1)) && echo "${line%% [0-9]*} $count ${line#*ok [0-9]* }" ;;
        \#*) echo "$line" ;;
        esac
    done < <("$own" contrib/frontends/check.py --front-end "$name" --python "$name=$own" --mode all \
        --variant "$variants" "$@" 2>&1)
}

try jax
try pytorch-xla --under "pytorch-xla=$bench record --runtime cpu --output {recording} --"

echo "1..$count"
