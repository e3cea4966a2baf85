#!/bin/bash
# check_house.sh - the rules of the house that no compiler knows, as TAP: who
# includes whom, how exported symbols are called, who calls whom, circles between
# the files of a room, who may print or exit, how long a file and how full a
# folder may be. The rooms are in setup/rooms.txt.
#
# Symbols are read from the archives in BENCH_TEST_BUILD (default: build); what
# is not built is skipped.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
build=${BENCH_TEST_BUILD:-build}

count=0
# report WHAT [FINDINGS]: ok without findings, else not ok and one line each.
report() {
    count=$((count + 1))
    if [ -z "${2:-}" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        printf '%s\n' "$2" | sed 's/^/#   /'
    fi
}
skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# ---- the table ------------------------------------------------------------

rooms=()
declare -A folder uses prefixes public home_of circles
while read -r room path allowed start headers harmless; do
    case $room in '' | '#'*) continue ;; esac
    rooms+=("$room")
    folder[$room]=$path
    uses[$room]=" ${allowed//,/ } "
    prefixes[$room]="^(${start//,/|})"
    circles[$room]=${harmless:-}
    [ "$headers" != - ] || headers=
    public[$room]=${headers//,/ }
    for header in ${public[$room]}; do home_of[$header]=$room; done
done <setup/rooms.txt

# The table itself: a room names rooms below it only, so there is no circle of rooms.
report "rooms use only rooms that stand below them in the table" "$(
    awk '!/^#/ && NF { name[++n] = $1; uses[n] = $3; place[$1] = n }
         END { for (i = 1; i <= n; i++) {
                   many = split(uses[i], used, ",")
                   for (k = 1; k <= many; k++)
                       if (used[k] != "-" && place[used[k]] <= i)
                           print name[i] " uses " used[k] } }' setup/rooms.txt
)"

may_use() { # ROOM OTHER
    [ "$1" = "$2" ] && return 0
    case ${uses[$1]} in *" $2 "*) return 0 ;; esac
    return 1
}

# ---- include direction ------------------------------------------------------

# Puts into `fault` why room ROOM must not include HEADER, a path from the root; nothing when
# it may. It starts no process: there are thousands of includes.
include_fault() { # ROOM HEADER
    local room=$1 header=$2 other
    fault=
    # Only three rooms speak the plugin's own language: who calls, who answers, and who stands
    # between them.
    if [ "$header" = pjrt_c_api.h ]; then
        [ "$room" = pjrt ] || [ "$room" = sim_device ] || [ "$room" = record ] ||
            fault="only rooms pjrt, sim_device and record include it"
        return
    fi
    other=${home_of[$header]:-}
    if [ -n "$other" ]; then
        may_use "$room" "$other" || fault="room $room must not use room $other"
        return
    fi
    for other in "${rooms[@]}"; do
        [ "${header%/*}" = "${folder[$other]}" ] || continue
        [ "$other" = "$room" ] || fault="internal to room $other"
        return
    done
    fault="belongs to no room"
}

for room in "${rooms[@]}"; do
    mapfile -t files < <({
        find "${folder[$room]}" -maxdepth 1 -name '*.[ch]' 2>/dev/null
        for header in ${public[$room]}; do [ ! -f "$header" ] || echo "$header"; done
    } | sort -u)
    if [ ${#files[@]} -eq 0 ]; then
        echo "# room $room is empty"
        continue
    fi
    faults=
    # A header named without its folder is one of the same folder.
    while IFS=: read -r file line header; do
        [ ! -f "${file%/*}/$header" ] || header=${file%/*}/$header
        include_fault "$room" "$header"
        [ -z "$fault" ] || faults+="$file:$line: $header: $fault"$'\n'
    done < <(grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<pjrt_c_api)' "${files[@]}" |
        sed -E 's/^([^:]*:[0-9]+:)[^"<]*["<]([^">]*).*/\1\2/')
    report "includes of room $room" "${faults%$'\n'}"
done

# ---- symbols --------------------------------------------------------------

table=$(mktemp) || exit 1
trap 'rm -f "$table"' EXIT
# The sources of a room's archive: harness/main.c is not in it, and an archive
# that outlived the last source of its room is not looked at.
has_sources() { # ROOM
    ls "${folder[$1]}"/*.c 2>/dev/null | grep -qv '/main\.c$'
}
# room member kind symbol, for all archives; kind U is an undefined symbol.
for room in "${rooms[@]}"; do
    has_sources "$room" && [ -f "$build/lib$room.a" ] &&
        nm -g --format=posix -A "$build/lib$room.a" 2>/dev/null |
        sed -nE "s/^[^[]*\[([^]]*)\]: ([^ ]+) ([A-Za-z]).*/$room \1 \3 \2/p"
done >"$table"

# What protoc-c generates is called after the package in the .proto file.
packages_of() { # ROOM
    cat "${folder[$1]}"/*.proto 2>/dev/null |
        sed -nE 's/^package[[:space:]]+([A-Za-z0-9_.]+);.*/\1__/p' | sed 's/\./__/g' | paste -sd '|'
}

for room in "${rooms[@]}"; do
    has_sources "$room" || continue
    if [ ! -f "$build/lib$room.a" ]; then
        skip "symbols of room $room" "lib$room.a is not built"
        continue
    fi
    generated=$(packages_of "$room")
    # Names with two underscores in front are the compiler's and sanitizers'.
    report "exported symbols of room $room start with ${prefixes[$room]#^}" "$(
        awk -v room="$room" -v ours="${prefixes[$room]}" -v generated="^(${generated:-nothing})" '
            $1 == room && $3 != "U" && $4 !~ /^__/ && $4 !~ ours &&
                !($2 ~ /\.pb-c\.o$/ && $4 ~ generated) { print $2 ": " $4 }' "$table"
    )"
    # The recorder's dlsym is for processes that it is preloaded into; here it is the C library's.
    report "calls of room $room go to rooms that it may use" "$(
        awk -v room="$room" -v allowed="${uses[$room]}" '
            NR == FNR { if ($3 != "U" && $4 != "dlsym") home[$4] = $1; next }
            $1 == room && $3 == "U" && ($4 in home) && home[$4] != room &&
                index(allowed, " " home[$4] " ") == 0 {
                print $2 ": " $4 " of room " home[$4] }' "$table" "$table"
    )"
    # One file calls another and that one calls back: neither can be read alone. A circle
    # that the table of rooms calls harmless stays.
    report "no circle between the files of room $room" "$(
        awk -v room="$room" -v harmless="${circles[$room]}" '
            NR == FNR { if ($1 == room && $3 != "U") home[$4] = $2; next }
            $1 == room && $3 == "U" && ($4 in home) && home[$4] != $2 {
                if (harmless == "" || $2 !~ harmless || home[$4] !~ harmless)
                    print $2, home[$4] }' "$table" "$table" | sort -u | tsort 2>&1 >/dev/null |
            sed 's/^tsort: //; /input contains a loop/d'
    )"
    # Text that goes out is made plain in one place.
    case ${folder[$room]} in harness/cli) continue ;; harness | harness/*)
        report "room $room prints by cli_ only" "$(
            awk -v room="$room" '
                $1 == room && $3 == "U" &&
                    $4 ~ /^((__)?v?printf(_chk)?|puts|putchar|perror|psignal|stdout|stderr|errx?|warnx?|json_dumpf|json_dumpfd)$/ {
                    print $2 ": " $4 }' "$table"
        )"
        continue
        ;;
    esac
    # Read from the objects, so neither comments nor macros deceive: whoever
    # prints needs one of these. assert is allowed, it says what broke.
    report "room $room neither prints nor ends the process" "$(
        awk -v room="$room" '
            $1 == room && $3 == "U" && !($2 ~ /^(vet|alloc)\.o$/ && $4 == "_exit") &&
                $4 ~ /^(exit|_exit|_Exit|quick_exit|abort|(__)?v?printf(_chk)?|puts|putchar|perror|psignal|stdout|stderr|errx?|warnx?)$/ {
                print $2 ": " $4 }' "$table"
    )"
done

# A plugin can end or hang its process, so none is called outside of a worker: but for the
# rooms of a worker's jobs, nobody makes a client or a mode.
report "only a worker makes a client or runs a mode" "$(
    awk '$1 !~ /^(worker|verify|explain|estimate|scopes|selftest|modes|pjrt)$/ && $3 == "U" &&
        $4 ~ /^(rt_plugin_load|rt_client_create|mode_create.*|mode_step.*)$/ {
        print $1 ": " $2 ": " $4 }' "$table"
)"

# JSON that is shown or written for others is ASCII: JSON itself forbids only the oldest controls.
# What is not shown: requests and answers of workers, records, headers of weights, and what becomes
# plain on its way into a page.
report "JSON that leaves the program is ASCII" "$(
    grep -rnE 'json_dump[a-z]*\(' --include='*.c' harness results plots models modes |
        grep -v 'RES_JSON_SHOWN\|JSON_ENSURE_ASCII' |
        grep -v '^harness/jobs/supervisor.c:\|^harness/worker/wire.c:\|^results/records/store_write.c:\|^models/weights/safetensors_write.c:\|^plots/report_provenance.c:'
)"

# A text that is cut at a byte may end in half of a character. Only digests, dates, ids and words of
# our own are so short.
report "texts are cut by whole characters (BN_FIT)" "$(
    grep -rnE '%[.](2[1-79]|3[013-9]|4[1-9]|[5-9][0-9]|[0-9]{3,})s' --include='*.c' \
        harness results plots models modes runtime |
        grep -v '%[.]64s\|^runtime/sim/evaluate/' | cut -c 1-120
)"

# ---- files ------------------------------------------------------------------

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    # New files count before they are added; files just deleted do not.
    list=$(git ls-files --cached --others --exclude-standard)
else
    list=$(find . -path ./third_party -prune -o -path './build*' -prune -o -type f -print |
        sed 's,^\./,,')
fi
# Golden values are data: as long as the models they describe. So are drawn pictures.
mapfile -t files < <(printf '%s\n' "$list" | grep -v '^tests/golden/.*\.\(json\|tsv\)$\|^docs/.*\.svg$' | sort -u |
    while read -r file; do [ ! -f "$file" ] || echo "$file"; done |
    tr '\n' '\0' | xargs -0 grep -lI .)

# tests/run.sh counts lines that begin with ok, and takes a test without any for a broken one.
report "a script that skips all of itself says so in a line of its own" "$(
    printf '%s\n' "${files[@]}" | grep '^tests/.*\.sh$' | xargs awk '
        waiting && !/echo "ok .*# SKIP/ { print waiting }
        { waiting = /echo "1\.\.0 # SKIP/ ? FILENAME ":" FNR : "" }'
)"
report "each long test says in its head what it needs" "$(
    printf '%s\n' "${files[@]}" | grep -E '^tests/.*/(full_[^/]*[.]sh|test_full_[^/]*[.]c)$' |
        xargs grep -LE '^( [*]|#) needs: .'
)"
# Unfinished work is filed or finished, not left in the text.
report "no file has a note about unfinished work" "$(
    grep -nwE 'TO[D]O|FIX[M]E|X[X]X' "${files[@]}" | cut -c 1-120
)"

echo "1..$count"
