#!/bin/bash
# full_publish.sh - the site of a store of 68,000 records, 680 nights of 100 cells, as TAP: made from
# the store's index, grown by a night, and clicked through in a browser without a screen (Debian's
# chromium). Times are seconds of the processor, of all processes, so that a busy machine fails
# nothing; only what the browser takes to open it is by the clock. Takes some ten minutes and 2 GB in
# TMPDIR, most of it for making the store. PUBLISH_SHOTS=DIR keeps pictures of all pages.
#
# needs: chromium, 2 GB in TMPDIR
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
make_history=$built/tests/harness/campaign/make_history
site=$folder/site
nights=${PUBLISH_NIGHTS:-680}
umask 022

made=0
for quarter in 0 1 2 3; do
    "$make_history" "$store" 100 $((quarter * nights / 4)) $(((quarter + 1) * nights / 4)) 7 >/dev/null &
done
for quarter in 0 1 2 3; do
    wait -n || made=1
done
report "$((nights * 100)) records are written" "$([ $made -eq 0 ] || echo "make_history failed")"

# spends ARGUMENT...: as run, with seconds of the processor to $seconds, seconds of the clock to
# $clock, and to $peak the MB that the largest of its processes took.
spends() {
    "$python" -c '
import resource, subprocess, sys, time
begun = time.monotonic()
with open(sys.argv[1] + "/out", "w") as out, open(sys.argv[1] + "/err", "w") as err:
    status = subprocess.call(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f %.2f %.0f" % (used.ru_utime + used.ru_stime, time.monotonic() - begun, used.ru_maxrss / 1024))
sys.exit(status)' "$folder" "$bench" "$@" >"$folder/spent"
    status=$?
    read -r seconds clock peak <"$folder/spent"
}
within() { # LIMIT
    awk -v s="$seconds" -v limit="$1" 'BEGIN { exit !(s > limit) }' && echo "$seconds s"
    [ "$peak" -le 600 ] || echo "$peak MB"
}

run history --store "$store" --format csv
report "the store has an index" "$(fault_of 0)"

spends report --store "$store" --site "$site"
report "its site is made from the index in 60 s ($seconds s, by the clock $clock s, $peak MB)" "$(
    fault_of 0
    within 60
    "$bench" table --store "$store" --format json >"$folder/table.json" 2>/dev/null
    "$python" tests/plots/site/read_site.py "$site" --table "$folder/table.json" 2>&1 | tail -n 5
)"
echo "# $(find "$site" -type f | wc -l) files, $(du -sm "$site" | cut -f 1) MB"

"$make_history" "$store" 100 "$nights" $((nights + 1)) 7 >/dev/null
run history --store "$store" --format csv
spends report --store "$store" --site "$site"
report "it grows by a night in 5 s ($seconds s, by the clock $clock s, $peak MB)" "$(
    fault_of 0
    within 5
    "$python" tests/plots/site/read_site.py "$site" 2>&1 | tail -n 5
)"
sed 's/^/# /' "$folder/out"

spends report --store "$store" --site "$folder/anew"
report "which makes the site of the whole store" "$(
    fault_of 0
    diff -rq "$site" "$folder/anew" | head -n 5
)"

# opens_in_time CLICKS: what is wrong with the time that browser.py tells in this file.
opens_in_time() {
    local opened
    opened=$(sed -n 's/^# opened in \(.*\) s$/\1/p' "$1")
    awk -v s="${opened:-99}" 'BEGIN { exit !(s > 2) }' && echo "${opened:-nobody knows how many} s"
}
"$built/tests/results/records/make_foreign" "$folder/evil" failed || echo "# make_foreign failed"
run report --store "$folder/evil" --site "$folder/failed"
report "a store of a failure has a site" "$(fault_of 0)"
cp -R "$folder/failed" "$folder/broken"
rm "$folder/broken/data/site.js"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -n "$browser" ]; then
    "$python" tests/plots/site/browser.py "$browser" "$site" "$folder/failed" ${PUBLISH_SHOTS:+"$PUBLISH_SHOTS"} \
        >"$folder/clicks" 2>"$folder/err"
    status=$?
    sed 's/^/# /' "$folder/clicks"
    report "the site is clicked through in a browser" "$(
        [ $status -eq 0 ] || cat "$folder/err"
        grep '^not ok' "$folder/clicks"
        grep -q '^1\.\.' "$folder/clicks" || echo "the browser did not come to the end"
    )"
    report "it opens in 2 s" "$(opens_in_time "$folder/clicks")"
    CHROMIUM_LIMIT_S=20 "$python" tests/plots/site/browser.py "$browser" "$folder/broken" "$folder/failed" \
        >"$folder/clicks" 2>"$folder/err"
    report "a site that does not open is not quick" "$(
        grep -q '^not ok' "$folder/clicks" || echo "it opens"
        [ -n "$(opens_in_time "$folder/clicks")" ] || echo "it passes for quick"
    )"
else
    skip "the site is clicked through in a browser" "no browser: apt-get install chromium"
fi

echo "1..$count"
