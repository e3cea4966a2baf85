#!/bin/bash
# check_left_out.sh - a store with thousands of files that are no records, as TAP: all are counted,
# three are named, and the other records are shown.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=200
run run --runtime sim "${quick[@]}"
report "a store with a record" "$(fault_of 0)"
# Texts, empty files, files of other programs that use HDF5, folders.
for i in {1..500}; do
    echo text >"$store/strange-a$i.h5"
    : >"$store/strange-b$i.h5"
    printf '\x89HDF\r\n\x1a\n of others' >"$store/strange-c$i.h5"
done
mkdir "$store"/strange-d{1..500}.h5
# reported NUMBER: faults of the last run's report of 2000 files, of which it names three, NUMBER times.
reported() {
    fault_of 1
    [ "$(complaints | grep -c 'strange-')" -eq $((3 * $1)) ] || echo "not three of them are named"
    [ "$(complaints | grep -c '\b1997 more files\b')" -eq "$1" ] || echo "1997 are not counted"
    [ "$(complaints | grep -vc '^page: ')" -eq $((4 * $1)) ] || echo "$(complaints | wc -l) lines"
}

run table --store "$store"
report "bench table counts them" "$(
    reported 1
    grep -q resnet18 "$folder/out" || echo "the record is not shown"
)"
run table --store "$store" --format json
report "in JSON, too" "$(
    reported 1
    holds '
left = records["files_left_out"]
assert (left["no_records"], left["unread"], left["damaged"], left["copies"]) == (2000, 0, 0, 0), left
assert len(left["named"]) == 3 and all(n.startswith("strange-") for n in left["named"]), left
assert len(records["rows"]) > 0, records'
)"
for command in "history" "history --format json" "doctor" "export --to csv" "report --output $folder/page.html" \
    "report --site $folder/site" "history --reindex" "table --table goodput --format json"; do
    # shellcheck disable=SC2086
    run $command --store "$store"
    report "bench ${command%% /*} counts them" "$(reported 1)"
done
report "the pages name three of them, and count the others" "$(
    [ "$(grep -o 'strange-[a-d0-9]*' "$folder/page.html" | sort -u | wc -l)" -eq 3 ] || echo "not three on the report"
    grep -q '1997 more files' "$folder/page.html" || echo "not counted on the report"
    [ "$(grep -o 'strange-[a-d0-9]*' "$folder/site/data/site.js" | sort -u | wc -l)" -eq 3 ] || echo "not three on the site"
    grep -q '"damaged_count":2000,' "$folder/site/data/site.js" || echo "not counted on the site"
)"
mkdir "$folder/nothing-but"
cp -R "$store"/strange-* "$folder/nothing-but"
run table --store "$folder/nothing-but"
report "a store of nothing else" "$(reported 1)"

# A disk that lost bits of a record sets no time, so the index still holds it for good.
rm -rf "$store"/strange-*
record=$(ls "$store"/*.h5)
run history --store "$store"
cp -p "$record" "$folder/good"
printf 'bits' | dd of="$record" bs=1 seek=20000 conv=notrunc status=none
touch -r "$folder/good" "$record"
run report --store "$store" --site "$folder/rotten"
report "a site names a record that is damaged since the index was written" "$(
    fault_of 1 "$(basename "$record")" "sha256"
    grep -q '"damaged_count":1,' "$folder/rotten/data/site.js" || echo "not counted on the site"
)"
cp -p "$folder/good" "$record"

# Of files that may be records more are named.
rm -rf "$store"/strange-*
for i in {1..45}; do ln -s nowhere "$store/20260101T000000.000000000Z-link-$i.h5"; done
run table --store "$store" --format json
report "files that could not be read are another kind" "$(
    fault_of 1
    [ "$(complaints | grep -c -- '-link-')" -eq 20 ] || echo "not twenty of them are named"
    complaints | grep -q '\b25 more files\b' || echo "25 are not counted"
    holds '
left = records["files_left_out"]
assert (left["no_records"], left["unread"], len(left["named"])) == (0, 45, 20), left'
)"
echo "1..$count"
