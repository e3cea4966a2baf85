#!/bin/bash
# setup.sh - brings a Debian machine to the point where bench builds and runs:
# packages from packages.txt, plugin wheels from wheels.txt, the PJRT header.
#
#   setup/setup.sh [GROUP...]     extra groups of either list: clang lint
#                                 runtimes tpu cuda
#
# Existing files are kept, so a second call touches neither the
# package manager nor the network. A step that fails says what to try.
#
# Environment: PYTHON  the Python whose pip fetches wheels (default: Debian's)
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

packages_list=setup/packages.txt
wheels_list=setup/wheels.txt
wheels=third_party/wheels
runtimes=third_party/runtimes
header=third_party/include/pjrt_c_api.h
header_source=$runtimes/xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/include/pjrt_c_api.h

scratch=
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM HUP

say() {
    printf 'setup: %s\n' "$*"
}

# First line: what failed. Further ones: what to try.
give_up() {
    printf 'setup: FAILED: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf 'setup:   %s\n' "$@" >&2
    exit 1
}

# Tail of a tool's log, so that our reading of it can be checked.
show_log() {
    printf 'setup: last lines of the log:\n' >&2
    tail -n 8 "$1" | sed 's/^/    | /' >&2
}

wanted() { # GROUP: asked for?
    case " $groups " in *" $1 "*) return 0 ;; esac
    return 1
}

groups="default $*"
known_groups=$(awk '!/^#/ && NF { if (FILENAME ~ /wheels/) print $1
                                  else if ($2 ~ /^@/) print substr($2, 2) }' \
                   $packages_list $wheels_list | sort -u | tr '\n' ' ')
for group in "$@"; do
    case " $known_groups" in
    *" $group "*) ;;
    *) give_up "there is no group \"$group\"" "groups: $known_groups" ;;
    esac
done

# ---- packages -----------------------------------------------------------

missing_packages() {
    local name rest group
    local -a names=()
    while read -r name rest; do
        case $name in '' | '#'*) continue ;; esac
        group=default
        case $rest in @*) group=${rest%% *} group=${group#@} ;; esac
        wanted "$group" && names+=("$name")
    done <$packages_list
    # One query for all: a name that dpkg has never heard of prints nothing.
    dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null |
        awk -v names="${names[*]}" '$2 == "installed" { have[$1] = 1 }
            END { n = split(names, name, " ")
                  for (i = 1; i <= n; i++) if (!have[name[i]]) printf "%s ", name[i] }'
}

explain_apt() { # LOG
    show_log "$1"
    local again="then run the same make command again"
    if grep -qE 'No space left|enough free space' "$1"; then
        give_up "the disk is full" "free some space (df -h /), $again"
    elif grep -qE 'Could not get lock|Unable to acquire' "$1"; then
        give_up "another program is installing packages" "wait until it is done, $again"
    elif grep -qE 'dpkg was interrupted' "$1"; then
        give_up "an earlier installation was cut short" "run dpkg --configure -a as root, $again"
    elif grep -qE 'resolv|Could not connect|Failed to fetch|timed out|unreachable' "$1"; then
        give_up "the package server cannot be reached" \
            "check the network and the proxy settings of apt, $again"
    elif grep -qE 'Unable to locate package|no installation candidate' "$1"; then
        give_up "this system does not offer one of the packages" \
            "Debian 12 has them all; on another release install what serves the same purpose" \
            "(setup/packages.txt says what each is for) and adapt that list"
    fi
    give_up "the packages could not be installed" "the lines above are all that apt-get said"
}

install_packages() {
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system: install what setup/packages.txt names by hand"
        return
    fi
    local missing
    missing=$(missing_packages)
    missing=${missing% }
    [ -n "$missing" ] || return
    say "installing Debian packages: $missing"

    local -a as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            give_up "packages are missing, and only root may install them (there is no sudo here)" \
                "ask an administrator to run: apt-get install $missing"
        as_root=(sudo)
        # Without a terminal sudo could only wait for a password for ever.
        [ -t 0 ] || as_root=(sudo -n)
        "${as_root[@]}" true ||
            give_up "packages are missing, and sudo did not make us root" \
                "ask an administrator to run: apt-get install $missing"
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    local log=$scratch/apt.log
    # Lists of an hour-old image may name files that are gone: refresh first.
    # A refresh that fails for one source can still be good enough.
    "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 </dev/null ||
        say "refreshing the package lists failed, trying with the old ones"
    # shellcheck disable=SC2086 # one word per package is meant
    "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends \
        $missing >>"$log" 2>&1 </dev/null || explain_apt "$log"
    missing=$(missing_packages)
    [ -z "$missing" ] || explain_apt "$log"
}

# ---- wheels ---------------------------------------------------------------

sha256_of() {
    sha256sum "$1" | cut -d ' ' -f 1
}

choose_python() {
    local candidate
    for candidate in ${PYTHON:-/usr/bin/python3 python3}; do
        if "$candidate" -m pip --version >/dev/null 2>&1; then
            python=$candidate
            return
        fi
    done
    give_up "no Python with pip was found" \
        "install python3-pip, or name one: make setup PYTHON=/path/to/python3"
}

explain_pip() { # LOG NAME VERSION SHA256
    local log=$1 name=$2 version=$3 sha256=$4
    show_log "$log"
    if grep -q 'DO NOT MATCH THE HASHES' "$log"; then
        give_up "hash mismatch: $name $version is not the file that setup/wheels.txt pins" \
            "nothing was kept. Either the download was tampered with or damaged on its way, or" \
            "the pin is wrong. Try once more on another network; change the pin only if you trust it"
    elif grep -qE 'No space left|Errno 28' "$log"; then
        give_up "the disk is full" "free some space (df -h .), then run the same make command again"
    elif grep -q 'CERTIFICATE_VERIFY_FAILED' "$log"; then
        give_up "the package index's certificate is not trusted on this machine" \
            "a proxy that opens connections? Then name its certificates: PIP_CERT=/path/to/bundle" \
            "otherwise: is the clock right, is the package ca-certificates up to date?"
    elif grep -qiE 'NewConnection|Temporary failure|resolution|timed out|Max retries|Proxy|unreachable|Connection (refused|reset|aborted)|SSL' "$log"; then
        give_up "the package index cannot be reached" \
            "check the network and pip's proxy settings, then run the same make command again, or" \
            "put the wheel of $name $version (sha256 $sha256)" \
            "into $wheels by hand: a file with that digest is taken without a download"
    elif grep -qE 'No matching distribution|Could not find a version' "$log"; then
        give_up "the package index that pip uses here does not offer $name $version" \
            "look at pip's configuration (pip config list): an index of your own may lack it"
    fi
    give_up "fetching $name $version failed" "the lines above are all that pip said"
}

# Leaves the path of a wheel with the pinned digest in $wheel.
fetch_wheel() { # NAME VERSION SHA256
    local name=$1 version=$2 sha256=$3
    for wheel in "$wheels/${name//-/_}-$version-"*.whl; do
        [ -f "$wheel" ] && [ "$(sha256_of "$wheel")" = "$sha256" ] && return
    done
    choose_python
    say "fetching $name $version"
    printf '%s==%s --hash=sha256:%s\n' "$name" "$version" "$sha256" >"$scratch/requirements.txt"
    # Plugins are plain shared objects: say which interpreter and platform they
    # were packed for, so that any Python 3 may fetch them.
    PIP_REQUIRE_VIRTUALENV=0 "$python" -m pip download --disable-pip-version-check --no-input \
        --no-cache-dir --progress-bar off --no-deps --only-binary=:all: --require-hashes \
        --implementation cp --python-version 3.12 --abi cp312 --abi none \
        --platform manylinux_2_31_x86_64 --platform manylinux_2_27_x86_64 \
        --dest "$scratch/download" --requirement "$scratch/requirements.txt" \
        >"$scratch/pip.log" 2>&1 </dev/null ||
        explain_pip "$scratch/pip.log" "$name" "$version" "$sha256"
    local file
    for file in "$scratch/download/"*.whl; do
        wheel=$wheels/${file##*/}
        mv "$file" "$wheel" || give_up "cannot write $wheel" "is the disk full (df -h .)?"
    done
    [ "$(sha256_of "$wheel")" = "$sha256" ] ||
        give_up "hash mismatch: $wheel" "remove the file and run the same make command again"
}

# The pin says what was unpacked, and what its library is: a file that was put in
# the library's place is noticed.
has_wheel() { # NAME VERSION SHA256 LIBRARY
    local home=$runtimes/${1//-/_} found=
    [ -f "$home/.pin" ] && [ -f "$home/$4" ] && read -r found <"$home/.pin" &&
        [ "$found" = "$2 $3 $(sha256_of "$home/$4")" ]
}

# A runtime's folder appears by one rename, complete and with its pin.
install_wheel() { # NAME VERSION SHA256 LIBRARY
    local name=$1 version=$2 sha256=$3 library=$4
    local home=$runtimes/${name//-/_}
    has_wheel "$@" && return
    if [ "$name" = libtpu ]; then
        say "libtpu comes under the Google Cloud Platform Terms of Service; by going on you accept them"
    fi
    fetch_wheel "$name" "$version" "$sha256"
    say "unpacking ${wheel##*/}"
    choose_python
    mkdir -p "$scratch/new"
    "$python" -m zipfile -e "$wheel" "$scratch/new/$name" >"$scratch/unpack.log" 2>&1 || {
        show_log "$scratch/unpack.log"
        give_up "cannot unpack $wheel" \
            "is the disk full (df -h .)? A runtime takes up to 650 MB; free some space and try again"
    }
    [ -f "$scratch/new/$name/$library" ] ||
        give_up "$wheel has no file $library" "correct its row in setup/wheels.txt"
    printf '%s %s %s\n' "$version" "$sha256" "$(sha256_of "$scratch/new/$name/$library")" \
        >"$scratch/new/$name/.pin" &&
        rm -rf "$home" && mv "$scratch/new/$name" "$home" ||
        give_up "cannot put $name into $runtimes" "is the disk full (df -h .), the folder writable?"
}

# Calls COMMAND name version sha256 library for each wheel asked for, and stops
# when it fails.
each_wheel() { # COMMAND
    local group name version sha256 library licence
    while read -r group name version sha256 library licence; do
        case $group in '' | '#'*) continue ;; esac
        ! wanted "$group" || "$1" "$name" "$version" "$sha256" "$library" || return 1
    done <$wheels_list
}

install_header() {
    # Replaced only when it differs: its time decides what is compiled again.
    cmp -s "$header_source" $header && return
    mkdir -p "${header%/*}" && cp "$header_source" "$scratch/header" &&
        mv "$scratch/header" $header ||
        give_up "cannot write $header" "is the disk full (df -h .), the folder writable?"
}

explain_cuda() {
    local home=$runtimes/jax_cuda13_pjrt
    cat <<TEXT
setup: The CUDA plugin brings no CUDA. It needs NVIDIA's driver (libcuda.so.1) and these
setup: CUDA 13 libraries, found through LD_LIBRARY_PATH or from NVIDIA's wheels:
setup:   nvidia-cublas nvidia-cuda-cupti nvidia-cuda-nvcc nvidia-cuda-nvrtc nvidia-cuda-runtime
setup:   nvidia-cudnn-cu13 nvidia-cufft nvidia-cusolver nvidia-cusparse nvidia-nccl-cu13
setup:   nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvvm
setup: The plugin looks for them next to itself, so this is enough (about 3 GB):
setup:   python3 -m pip install --target $home <the names above>
TEXT
}

# ---- all of it ----------------------------------------------------------

# bench refuses plugins that others may write, or put another one in place of.
closed_to_others() {
    [ -z "$(find $runtimes ! -type l -perm /022 -print -quit 2>/dev/null)" ]
}

in_place() {
    ! command -v dpkg-query >/dev/null || [ -z "$(missing_packages)" ] || return 1
    each_wheel has_wheel && cmp -s "$header_source" $header && closed_to_others
}

finish() {
    if wanted cuda; then explain_cuda; fi
    exit 0
}

umask go-w # bench runs nothing that others may write
setup/close.sh third_party/frontends $runtimes
# Without a write, so that anybody may build what root has set up.
if in_place; then
    say "everything is in place"
    finish
fi

mkdir -p $wheels $runtimes 2>/dev/null && [ -w third_party ] ||
    give_up "cannot write to $PWD/third_party" "run this as the owner of the folder"
# Two set-ups at once would fetch everything twice and trip over each other.
exec 9>third_party/.lock
flock -n 9 || {
    say "waiting for another set-up to finish"
    flock 9
}
# What a killed set-up left behind; ours is the only one running.
rm -rf third_party/.scratch.*
# Next to the final paths: a rename cannot cross file systems.
scratch=$(mktemp -d third_party/.scratch.XXXXXX) ||
    give_up "cannot write to $PWD/third_party" "is the disk full (df -h .)?"

install_packages
[ "$(uname -m)" = x86_64 ] ||
    say "the pinned plugins are built for x86_64: here you need one of your own (--runtime /path/to.so)"
each_wheel install_wheel
install_header
finish
