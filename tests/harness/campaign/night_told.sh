# night_told.sh - what a night tells programs: night.json, next to the page. Sourced after support/cli.sh.
# shellcheck shell=bash

# told CODE: runs Python CODE with `night`, the JSON of the night whose page is in $folder/page, `runtime`, its first
# one, `passes` of the suite, `noted`, the ids of its remarks, and `page`; prints what an assertion said. The last line
# of standard output and the page have the night's headline.
told() {
    "$python" - "$folder" "$1" 2>&1 <<'PYTHON' | tail -n 3
import html, json, sys
folder = sys.argv[1]
with open(folder + "/page/night.json") as f:
    night = json.load(f)
with open(folder + "/page/index.html", encoding="utf-8") as f:
    page = html.unescape(f.read())
with open(folder + "/out", encoding="utf-8") as f:
    last = f.read().splitlines()[-1]
assert night["headline"] in page and night["headline"] in last, (night["headline"], last)
runtime, passes, noted = night["runtimes"][0], night["passes"], {n["id"] for n in night["noted"]}
exec(sys.argv[2])
PYTHON
}
