#!/bin/bash
# check_setup.sh - setup/setup.sh and a wheel of our own, as TAP: what was unpacked is used again only
# while its library is the one that the pinned wheel holds. Nothing is fetched, and nothing of this
# machine is touched: the set-up works in a folder of its own, and its pip finds no network.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh

tree=$folder/tree
inside=xla_plugins/xla_cpu_pjrt
library=$tree/third_party/runtimes/xla_cpu_pjrt/$inside/xla_cpu_pjrt.so
wheel=$tree/third_party/wheels/xla_cpu_pjrt-9.9-py3-none-any.whl

# The set-up takes the header out of this wheel.
mkdir -p "$tree/setup" "$tree/third_party/wheels" "$folder/$inside/include"
cp setup/setup.sh setup/close.sh "$tree/setup/"
echo "the wheel's library" >"$folder/$inside/xla_cpu_pjrt.so"
echo "/* the wheel's header */" >"$folder/$inside/include/pjrt_c_api.h"
(cd "$folder" && "$python" -m zipfile -c "$wheel" xla_plugins/)
: >"$tree/setup/packages.txt"
printf 'default xla-cpu-pjrt 9.9 %s %s none\n' "$(sha256sum "$wheel" | cut -d ' ' -f 1)" \
    "$inside/xla_cpu_pjrt.so" >"$tree/setup/wheels.txt"
cat >"$folder/python" <<END
#!/bin/bash
[ "\$2 \$3" != "pip --version" ] || exit 0
[ "\$2" != pip ] || { echo "Network is unreachable"; exit 1; }
exec "$python" "\$@"
END
chmod +x "$folder/python"

setup() {
    PYTHON=$folder/python bash "$tree/setup/setup.sh" >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}

# unpacked SAID: faults of a set-up that says SAID and ends well, with the wheel's library in place.
unpacked() {
    [ "$status" -eq 0 ] || echo "exit status $status"
    grep -q "$1" "$folder/out" || echo "it does not say '$1'"
    [ "$(cat "$library")" = "the wheel's library" ] || echo "the library is not the wheel's"
}

setup
report "a wheel with the pinned digest is unpacked" "$(unpacked 'unpacking xla_cpu_pjrt-9.9')"
report "and the header is put in place" "$(
    grep -q "the wheel's header" "$tree/third_party/include/pjrt_c_api.h" || echo "it is not"
)"
setup
report "the next set-up has nothing to do" "$(unpacked 'everything is in place')"

mkdir -p "$tree/suites" "$tree/contrib/frontends/one" "$tree/third_party/frontends/one"
touch "$tree/suites/one.json" "$tree/contrib/frontends/one/run.py" "$tree/third_party/frontends/one/python"
chmod -R go+w "$tree/suites" "$tree/contrib" "$tree/third_party/frontends" "$tree/third_party/runtimes"
touch "$folder/elsewhere"
chmod 666 "$folder/elsewhere"
ln -s "$folder/elsewhere" "$tree/third_party/frontends/one/link"
setup
report "what bench runs is no longer others' to write, and what a link leads to stays as it is" "$(
    unpacked 'everything is in place'
    find "$tree/suites" "$tree/contrib/frontends" "$tree/third_party/frontends" "$tree/third_party/runtimes" \
        ! -type l -perm /022
    [ "$(stat -c %a "$folder/elsewhere")" = 666 ] || echo "another file is changed, too"
)"

echo "another library" >"$library"
setup
report "a library that was put in its place is noticed" "$(unpacked 'unpacking')"

pin=$tree/third_party/runtimes/xla_cpu_pjrt/.pin
read -r version digest _ <"$pin"
echo "$version $digest" >"$pin"
setup
report "a pin that does not say which library it is of counts for nothing" "$(unpacked 'unpacking')"

echo "another library" >"$library"
echo "more" >>"$wheel"
setup
report "a wheel with another digest is not unpacked" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    grep -q 'cannot be reached' "$folder/err" || echo "nobody wanted to fetch another one"
    grep -q 'in place' "$folder/out" && echo "all is said to be in place"
)"

echo "1..$count"
