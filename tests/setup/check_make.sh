#!/bin/bash
# check_make.sh - what make says before it works, as TAP: how long `make run` and the targets of tests take,
# and one line a folder while it compiles. Nothing is built: make prints what it would do.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh

# dry WORD...: what make would do with WORDs, to $folder/out. The flags of a make around this one are not for
# it. The makes that it would start are only named, since -n would run them.
dry() {
    env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS -u MAKELEVEL -u VARIANT -u TESTS -u QUIET -u V -u CC -u RUN_ARGS \
        make -n MAKE='echo make' "$@" >"$folder/out" 2>"$folder/err"
    status=$?
}
# announces TARGET LENGTH: what the last dry run does not say of TARGET's length, a pattern, before it compiles.
announces() {
    fault_of 0
    awk -v said="^echo 'make $1: some .*minutes.* to compile.*, then $2'\$" '
        $0 ~ said { found = 1 }
        /^echo make / { exit }
        END { exit !found }' "$folder/out" || echo "it does not say '$2'"
}

dry run
report "make run says how long it takes" "$(
    fault_of 0
    grep -qxE "echo 'make run: some .* seconds to compile .*, then some [0-9]+ minutes of measuring'" "$folder/out" ||
        echo "it does not"
)"
quiet=$(sed -n "s/^echo make .*QUIET='\([A-Z ]*\)' all\$/\1/p" "$folder/out")
dry check
report "make check does" "$(announces check 'some [0-9]+ minutes of tests')"
quiet_check=$(sed -n "s/^echo make .*QUIET='\([A-Z ]*\)' tests\$/\1/p" "$folder/out")
dry VARIANT=clang check
report "so does make check-clang" "$(announces check-clang 'some [0-9]+ minutes of tests')"
for variant in asan ubsan tsan; do
    dry check-$variant
    report "make check-$variant is make check with that VARIANT" "$(
        fault_of 0
        grep -qx "make VARIANT=$variant check" "$folder/out" || echo "it is not"
    )"
    dry VARIANT=$variant check
    report "it has a time of its own" "$(announces check-$variant 'tests: with asan some [0-9]+ minutes')"
done
dry check-full
report "make check-full says that it takes hours" "$(announces check-full 'hours of tests')"
for target in check check-full; do
    dry $target TESTS=check_make
    report "of a few tests make $target says no time" "$(announces $target 'the tests of TESTS')"
done

# one_line_each WORDS QUIET: what is wrong where all is to be made, and QUIET is what make says nothing of: each
# folder has a line, its archive's, and else there are only programs and plugins.
one_line_each() {
    local kinds="AR LINK PLUGIN" room
    [ -n "$1" ] || echo "QUIET is empty"
    dry BUILD="$folder/build" QUIET="$1" all
    fault_of 0
    sed -n "s/^printf '  %-7s %s.n' '\([A-Z]*\)' '\(.*\)'\$/\1 \2/p" "$folder/out" >"$folder/lines"
    awk -v kinds=" $kinds " '!index(kinds, " " $1 " ") { print "a line of " $1; exit }' "$folder/lines"
    awk '!/^#/ && NF { print $1, $2 }' setup/rooms.txt | while read -r room path; do
        # main.c is in no archive.
        find "$path" -maxdepth 1 -name '*.c' ! -name main.c | grep -q . || continue
        [ "$(grep -cx "AR $folder/build/lib$room.a" "$folder/lines")" -eq 1 ] || echo "not one line of $path"
    done
}
report "make run prints a line a folder" "$(one_line_each "$quiet")"
report "so does make check" "$(one_line_each "$quiet_check")"
echo "1..$count"
