#!/bin/bash
# check_publish.sh - bench report by its files, as TAP: all that is named is there, the site of a
# store that grew is that of the whole store, a night changes few files, texts of records steer
# nothing, other folders are refused. What a browser makes of it is in full_publish.sh.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
tests=$built/tests
make_history=$tests/harness/campaign/make_history
make_foreign=$tests/results/records/make_foreign
make_figures=$tests/plots/site/make_figures
site=$folder/site
umask 022 # a store that others may write keeps no builds

wrong_with() { # SITE [--hostile] [--words] [--table FILE]
    "$python" tests/plots/site/read_site.py "$@" 2>&1 | tail -n 8
}

# wrong_beside_table SITE STORE [--words]: the same, and where the site shows other than the tables of the store.
wrong_beside_table() {
    "$bench" table --store "$2" --format json >"$folder/table.json" 2>/dev/null
    [ -s "$folder/table.json" ] || echo "no table"
    wrong_with "$1" --table "$folder/table.json" "${@:3}"
}

# publish ARGUMENT...: into $site.
publish() {
    run report --store "$store" --site "$site" "$@"
}

# number N: the Nth of its answer's numbers: records, nights, builds; files written, unchanged, removed.
number() {
    grep -oE '[0-9]+' "$folder/out" | sed -n "$1p"
}

"$make_history" "$store" 6 0 90 7 >/dev/null || echo "# make_history failed"
publish --title 'Nights & <days>'
report "a site of a store of 90 nights" "$(
    fault_of 0
    [ "$(number 1) $(number 2) $(number 3)" = "540 90 30" ] || echo "another answer"
    wrong_beside_table "$site" "$store"
    grep -q '<h1>Nights &amp; &lt;days&gt;</h1>' "$site/index.html" || echo "no title"
    grep -q '"changes":\[\]' "$site/data/site.js" && echo "no change was found"
)"

cp -R "$site" "$folder/first"
publish --title 'Nights & <days>'
report "the same store changes nothing" "$(
    fault_of 0
    [ "$(number 4) $(number 6)" = "0 0" ] || echo "files were written"
    diff -r "$site" "$folder/first" | head -n 5
)"

"$make_history" "$store" 6 90 91 7 >/dev/null
publish
report "a night changes few files" "$(
    fault_of 0
    # A night, its build, the model, the latest results, the six records, lists, page, mark.
    [ "$(number 4)" -le 13 ] || echo "$(number 4) files"
    wrong_with "$site"
)"

run report --store "$store" --site "$folder/anew" --reindex
report "a site that grew is the site of the whole store" "$(
    fault_of 0
    diff -rq "$site" "$folder/anew" | head -n 5
)"

record=$("$python" -c '
import json, re, sys
text = open(sys.argv[1]).read()
print(json.loads(re.fullmatch(r"bench_data\(\"[^\"]*\",(.*)\);\n", text, re.S).group(1))["records"][0][2])' \
    "$(ls "$site"/data/night-*.js | head -n 1)")
before=$(ls "$site/data" | grep -c '^record-')
publish --record "$record"
report "a record that is asked for has its details" "$(
    fault_of 0
    [ "$(ls "$site/data" | grep -c '^record-')" -eq $((before + 1)) ] || echo "no file more"
    wrong_with "$site"
)"

"$make_figures" "$folder/odd" || echo "# make_figures failed"
run report --store "$folder/odd" --site "$folder/figures"
report "figures that are refused, cut off or not significant are those of the tables" "$(
    fault_of 0
    wrong_beside_table "$folder/figures" "$folder/odd" --words
    for what in device_cut overhead_refused; do
        grep -q "\"$what\": true" "$folder/table.json" || echo "nothing is $what"
    done
)"

# The site moves, and needs nothing of where it was made.
grep -rl "$folder" "$site" | sed 's/^/names the folder: /' >"$folder/named"
report "no file says where it was made" "$(cat "$folder/named")"

for what in texts failed; do
    "$make_foreign" "$folder/evil" $what || echo "# make_foreign failed"
done
run report --store "$folder/evil" --site "$folder/hostile" --title $'x\x1b[31m</title><script>y'
report "texts of records steer nothing and are no markup" "$(
    fault_of 0
    wrong_with "$folder/hostile" --hostile
    grep -q '<title>x?\[31m&lt;/title&gt;&lt;script&gt;y</title>' "$folder/hostile/index.html" || echo "the title"
)"

cp -R "$store" "$folder/harmed"
printf 'no record' >"$folder/harmed/20260101T000000.000000000Z-host-1-0-a-b-c.h5"
run report --store "$folder/harmed" --site "$folder/told"
report "a damaged record is listed, and makes the exit code 1" "$(
    fault_of 1
    grep -q '"damaged_count":1,' "$folder/told/data/site.js" || echo "the site does not list it"
    wrong_with "$folder/told"
)"

if command -v gnuplot >/dev/null; then
    mkdir "$folder/bin"
    PATH=$folder/bin "$bench" report --store "$store" --site "$folder/plain" >"$folder/out" 2>"$folder/err"
    status=$?
    report "without gnuplot there are no pictures, and it is said" "$(
        fault_of 0 gnuplot-nox
        wrong_with "$folder/plain"
    )"
else
    skip "without gnuplot there are no pictures, and it is said" "no gnuplot"
fi

refuses "a folder with other things" 2 "$store" -- report --store "$store" --site "$store"
refuses "no folder" 2 "--site DIR" -- report --store "$store"
mkdir "$folder/elsewhere"
cp -r "$site" "$folder/linked"
rm -rf "$folder/linked/data"
ln -s "$folder/elsewhere" "$folder/linked/data"
refuses "a site whose data are a link" 2 "linked/data" -- report --store "$store" --site "$folder/linked"
report "nothing was written elsewhere" "$(find "$folder/elsewhere" -mindepth 1)"
refuses "a record that is not there" 3 "$store|2020" -- \
    report --store "$store" --site "$site" --record 2020
refuses "a store that is not there" 3 "nowhere" -- report --store "$folder/nowhere" --site "$site"
report "a site stays as it was when something is refused" "$(wrong_with "$site")"

tiny_suite '"lazy"' 1
export PJRT_SIM=values=none,device_us=200
run nightly --suite "$folder/suite.json" --store "$folder/nights" --report "$folder/page" --site "$folder/nightly" \
    --title 'Every night'
report "a night keeps a site, with what it judged" "$(
    fault_of 4
    wrong_beside_table "$folder/nightly" "$folder/nights"
    grep -q '"told":false' "$folder"/nightly/data/verdict-*.js || echo "the verdict of a first night is conclusive"
    grep -q '"headline":""' "$folder"/nightly/data/verdict-*.js && echo "no headline"
    grep -q '"comparable":0' "$folder/nightly/data/site.js" || echo "a first night is compared"
    grep -q 'inconclusive' "$folder"/nightly/data/verdict-*.js || echo "no verdict"
    grep -q '<h1>Every night</h1>' "$folder/nightly/index.html" || echo "no title"
)"

echo "1..$count"
