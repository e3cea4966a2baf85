#!/bin/bash
# check_publish.sh - bench publish by its files, as TAP: all that is named is there, the site of a
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

wrong_with() { # SITE [--hostile] [--table FILE]
    "$python" tests/plots/site/read_site.py "$@" 2>&1 | tail -n 8
}

# wrong_beside_table SITE STORE: the same, and where the site says other than the tables of the store.
wrong_beside_table() {
    "$bench" table --store "$2" --format json >"$folder/table.json" 2>/dev/null
    [ -s "$folder/table.json" ] || echo "no table"
    wrong_with "$1" --table "$folder/table.json"
}

# publish ARGUMENT...: into $site.
publish() {
    run publish --store "$store" --output "$site" "$@"
}

"$make_history" "$store" 6 0 90 7 >/dev/null || echo "# make_history failed"
publish --title 'Nights & <days>'
report "a site of a store of 90 nights" "$(
    fault_of 0
    grep -q '^540 records of 90 nights and 30 builds; ' "$folder/out" || echo "another answer"
    wrong_beside_table "$site" "$store"
    grep -q '<h1>Nights &amp; &lt;days&gt;</h1>' "$site/index.html" || echo "no title"
    grep -q '"changes":\[\]' "$site/data/site.js" && echo "no change was found"
)"

cp -R "$site" "$folder/first"
publish --title 'Nights & <days>'
report "the same store changes nothing" "$(
    fault_of 0
    grep -q '; 0 files written, [0-9]* unchanged, 0 removed;' "$folder/out" || echo "files were written"
    diff -r "$site" "$folder/first" | head -n 5
)"

"$make_history" "$store" 6 90 91 7 >/dev/null
publish
report "a night changes few files" "$(
    fault_of 0
    # A night, its build, the model, the newest results, the six records, lists, page, mark.
    written=$(sed -n 's/.*; \([0-9]*\) files written,.*/\1/p' "$folder/out")
    [ "${written:-99}" -le 13 ] || echo "$written files"
    wrong_with "$site"
)"

run publish --store "$store" --output "$folder/anew" --reindex
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
run publish --store "$folder/odd" --output "$folder/figures"
report "figures that are refused, cut off or not told are those of the tables" "$(
    fault_of 0
    wrong_beside_table "$folder/figures" "$folder/odd"
    for what in device_cut overhead_refused; do
        grep -q "\"$what\": true" "$folder/table.json" || echo "nothing is $what"
    done
    grep -q '"not told"' "$folder"/figures/data/night-*.js || echo "all of the night is told"
)"

# The site moves, and needs nothing of where it was made.
grep -rl "$folder" "$site" | sed 's/^/names the folder: /' >"$folder/named"
report "no file says where it was made" "$(cat "$folder/named")"

for what in texts failed; do
    "$make_foreign" "$folder/evil" $what || echo "# make_foreign failed"
done
run publish --store "$folder/evil" --output "$folder/hostile" --title $'x\x1b[31m</title><script>y'
report "texts of records steer nothing and are no markup" "$(
    fault_of 0
    wrong_with "$folder/hostile" --hostile
    grep -q '<title>x?\[31m&lt;/title&gt;&lt;script&gt;y</title>' "$folder/hostile/index.html" || echo "the title"
)"

cp -R "$store" "$folder/harmed"
printf 'no record' >"$folder/harmed/20260101T000000.000000000Z-host-1-0-a-b-c.h5"
run publish --store "$folder/harmed" --output "$folder/told"
report "a damaged record is told, and makes the exit code 1" "$(
    fault_of 1
    grep -q '"damaged_count":1,' "$folder/told/data/site.js" || echo "the site does not tell"
    wrong_with "$folder/told"
)"

if command -v gnuplot >/dev/null; then
    mkdir "$folder/bin"
    PATH=$folder/bin "$bench" publish --store "$store" --output "$folder/plain" >"$folder/out" 2>"$folder/err"
    status=$?
    report "without gnuplot there are no pictures, and it is said" "$(
        fault_of 0 gnuplot-nox
        wrong_with "$folder/plain"
    )"
else
    skip "without gnuplot there are no pictures, and it is said" "no gnuplot"
fi

refuses "a folder with other things" 2 "neither empty nor a site of bench" -- \
    publish --store "$store" --output "$store"
refuses "no folder" 2 "needs --output DIR" -- publish --store "$store"
mkdir "$folder/elsewhere"
cp -r "$site" "$folder/linked"
rm -rf "$folder/linked/data"
ln -s "$folder/elsewhere" "$folder/linked/data"
refuses "a site whose data are a link" 2 "data is a link" -- publish --store "$store" --output "$folder/linked"
report "nothing was written elsewhere" "$(find "$folder/elsewhere" -mindepth 1)"
refuses "a record that is not there" 3 "no record has the id 2020" -- \
    publish --store "$store" --output "$site" --record 2020
refuses "a store that is not there" 3 "nowhere" -- publish --store "$folder/nowhere" --output "$site"
report "a site stays as it was when something is refused" "$(wrong_with "$site")"

tiny_suite '"lazy"' 1
export PJRT_SIM=values=none,device_us=200
run nightly --suite "$folder/suite.json" --store "$folder/nights" --report "$folder/page" --site "$folder/nightly" \
    --title 'Every night'
report "a night keeps a site, with what it judged" "$(
    fault_of 4
    wrong_beside_table "$folder/nightly" "$folder/nights"
    grep -q '"told":false' "$folder"/nightly/data/verdict-*.js || echo "a first night tells something"
    grep -q '"comparable":0' "$folder/nightly/data/site.js" || echo "a first night is compared"
    grep -q 'inconclusive' "$folder"/nightly/data/verdict-*.js || echo "no verdict"
    grep -q '<h1>Every night</h1>' "$folder/nightly/index.html" || echo "no title"
)"

echo "1..$count"
