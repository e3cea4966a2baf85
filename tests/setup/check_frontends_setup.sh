#!/bin/bash
# check_frontends_setup.sh - setup/frontends.sh with a Python of our own, as TAP: an environment is made
# once, made again where the requirements change, and leaves nothing that looks whole where pip fails.
# Nothing is fetched.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh

tree=$folder/tree
mkdir -p "$tree/setup" "$tree/contrib/frontends/one" "$tree/contrib/frontends/two" "$tree/contrib/frontends/common"
cp setup/frontends.sh "$tree/setup/"
echo "numpy==1.0" >"$tree/contrib/frontends/one/requirements.txt"
echo "numpy==2.0" >"$tree/contrib/frontends/two/requirements.txt"
# Makes an environment whose python is this script again; its pip says what PIP_SAYS is.
cat >"$folder/python" <<'END'
#!/bin/bash
case "$1 $2" in
"-c "*) echo "3.11 of the test" ;;
"-m venv")
    [ -z "${NO_VENV:-}" ] || { echo "ensurepip is not available"; exit 1; }
    mkdir -p "$3/bin" && cp "$0" "$3/bin/python"
    ;;
"-m pip") [ -z "${PIP_SAYS:-}" ] || { echo "$PIP_SAYS"; exit 1; } ;;
esac
END
chmod +x "$folder/python"

setup() { # NAME...
    PYTHON=$folder/python bash "$tree/setup/frontends.sh" "$@" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
# said STATUS TEXT
said() {
    [ "$status" -eq "$1" ] || echo "exit status $status"
    cat "$folder/out" "$folder/err" | grep -qF -- "$2" || echo "it does not say '$2'"
}

setup
report "all folders with requirements become environments" "$(
    said 0 "two is installed: bench run --front-end two"
    [ -x "$tree/third_party/frontends/one/bin/python" ] || echo "there is no python of one"
    [ ! -e "$tree/third_party/frontends/common" ] || echo "common is one, too"
)"
PIP_SAYS=never setup
report "once" "$(said 0 "one is there")"
echo "numpy==3.0" >"$tree/contrib/frontends/one/requirements.txt"
PIP_SAYS="ERROR: No matching distribution found for numpy==3.0" setup one
report "requirements that nobody has are explained, and nothing is left" "$(
    said 1 "the package index has not all that contrib/frontends/one/requirements.txt pins"
    [ ! -e "$tree/third_party/frontends/one" ] || echo "something is left"
)"
PIP_SAYS="Network is unreachable" setup one
report "no network" "$(said 1 "the package index cannot be reached")"
PIP_SAYS="OSError: [Errno 28] No space left on device" setup one
report "a full disk" "$(said 1 "the disk is full")"
NO_VENV=1 setup one
report "a Python without venv" "$(said 1 "on Debian install python3-venv")"
setup one
report "then it is made" "$(said 0 "one is installed")"
setup three
report "a front end that there is not" "$(said 1 'there is no front end "three"')"

echo "1..$count"
