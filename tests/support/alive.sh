# alive.sh - which processes of the program are still there. Sourced after cli.sh by scripts that
# kill it.
# shellcheck shell=bash

# Every process of ours has it in its environment.
export BENCH_TORTURE=$folder
# What temporary files we make lie here alone.
export TMPDIR=$folder/tmp
mkdir "$TMPDIR" "$store"

# Processes of the program that were started from here.
program=$(readlink -f "$bench")
ours_alive() {
    local exe
    # shellcheck disable=SC2044 # paths in /proc have no blanks
    for exe in $(find /proc/[0-9]*/exe -maxdepth 0 -lname "$program" 2>/dev/null); do
        tr '\0' '\n' 2>/dev/null <"${exe%exe}environ" | grep -qxF "BENCH_TORTURE=$folder" &&
            echo "process ${exe//[!0-9]/} is still there"
    done
}

none_alive() {
    [ -z "$(ours_alive)" ]
}
