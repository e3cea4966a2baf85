#!/bin/bash
# check_report.sh - bench report --plot and bench report by their files: whole, readable by
# others, the same for the same store, and needing nothing from elsewhere.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# shellcheck source=tests/support/cli.sh
source tests/support/cli.sh
kinds="ledger speedup overhead steps distribution"

if ! command -v gnuplot >/dev/null; then
    echo "1..0 # SKIP no gnuplot"
    echo "ok - plots # SKIP no gnuplot"
    exit 0
fi

# A few deterministic runs of the simulated runtime.
PJRT_SIM=device_us=500,values=none run --model resnet18,llama --variant small --mode lazy,capture \
    --processes 1 --runtime sim --steps 5 --warmup 8 --min-time 0 --store "$store"
report "experiments to draw" "$(fault_of 0)"

# page FILE: says what is wrong with an HTML page.
page() {
    "$python" - "$1" <<'PYTHON'
import re, sys
from html.parser import HTMLParser
text = open(sys.argv[1], encoding="utf-8").read()
void = {"meta", "br", "hr", "img", "input", "link"}
class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.ids, self.headings, self.figures = [], [], [], 0
    def handle_starttag(self, tag, attrs):
        self.figures += tag == "svg"
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "action", "data") and not value.startswith("#"):
                print("%s %s=%s leads elsewhere" % (tag, name, value))
            if name.startswith("on"):
                print("%s has %s" % (tag, name))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in void:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in void:
            self.open.pop()
    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            print("%s ends where it should not" % tag)
p = Page()
p.feed(text)
p.close()
if p.open:
    print("never ended: %s" % p.open)
if len(p.ids) != len(set(p.ids)):
    print("an id is there twice")
if p.headings[:2] != [1, 2] or any(b - a > 1 for a, b in zip(p.headings, p.headings[1:])):
    print("headings leave a level out: %s" % p.headings)
if p.figures < 4:
    print("%d pictures" % p.figures)
if p.figures != len(re.findall(r'<svg [^>]*role="img"[^>]*>\s*<title>[^<]{20}', text)):
    print("a picture without words")
for word in ("http:", "https:", "@import", "src=", "url(//", "<link", "<iframe"):
    if word in text:
        print("the page has %s" % word)
for reference in re.findall(r"(?:url\(|href=['\"])#([^)'\"]+)", text):
    if reference not in p.ids:
        print("nothing is called %s" % reference)
PYTHON
}

for kind in $kinds; do
    faults=
    for ending in svg png gp; do
        run report --plot $kind --store "$store" --output "$folder/$kind.$ending"
        faults+=$(fault_of 0)
        [ ! -s "$folder/out" ] || faults+="$ending: something on standard output"
        cp "$folder/$kind.$ending" "$folder/before"
        run report --plot $kind --store "$store" --output "$folder/$kind.$ending"
        cmp -s "$folder/before" "$folder/$kind.$ending" || faults+="$ending: not the same again"
    done
    "$python" -c 'import sys, xml.dom.minidom as m
d = m.parse(sys.argv[1]).documentElement
assert d.tagName == "svg" and d.getElementsByTagName("path").length > 3, "no picture"
assert "simulated" in d.getElementsByTagName("title")[0].firstChild.data' \
        "$folder/$kind.svg" 2>"$folder/why" || faults+=$(tail -n 1 "$folder/why")
    [ "$(head -c 8 "$folder/$kind.png" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] ||
        faults+="no PNG"
    grep -q 'SIMULATED DEVICE' "$folder/$kind.svg" || faults+="the picture does not say simulated"
    LC_ALL=C.UTF-8 gnuplot -d "$folder/$kind.gp" 2>&1 >/dev/null | grep . && faults+="the script does not run"
    report "plot $kind as SVG, PNG and script" "$faults"
done

run report --store "$store" --output "$folder/page.html" --title 'Last <night>'
faults=$(fault_of 0)
[ ! -s "$folder/out" ] || faults+="something on standard output"
faults+=$(page "$folder/page.html" 2>&1)
grep -q '<title>Last &lt;night&gt;</title>' "$folder/page.html" || faults+="no title"
report "a page that needs nothing else" "$faults"
report "tables and pictures say whether they show medians or means" "$(
    "$python" - "$folder/page.html" <<'PYTHON'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
tables = re.findall(r'<h3>([^<]*)</h3>\s*(?:<p[^>]*>.*?</p>\s*)*<div class="scroll" tabindex="0"><table class="sortable"([^>]*)>', text)
said = {title: attributes for title, attributes in tables}
for title in ("Speedup over lazy", "Ledger of a step", "Executions"):
    if ' data-statistic="medians"' not in said.get(title, ""):
        print("%s: %s" % (title, said.get(title)))
if text.count('<figure data-statistic="means">') < 1:
    print("no picture of means")
PYTHON
)"
report "one picture has the speedups of its runtime" "$(
    pictures=$(grep -o '<title>Bars of speedup' "$folder/page.html" | wc -l)
    [ "$pictures" -eq 1 ] || echo "$pictures pictures"
)"

cp "$folder/page.html" "$folder/before"
mv "$store" "$store.elsewhere" && mv "$store.elsewhere" "$store"
(cd / && TZ=Asia/Tokyo LC_ALL=C LANG=de_DE.UTF-8 "$bench" report --store "$store" --output "$folder/page.html" \
    --title 'Last <night>' >/dev/null 2>&1)
cmp "$folder/before" "$folder/page.html" >"$folder/why" 2>&1
report "the same page of the same store" "$(cat "$folder/why")"

if [ -x "$built/tests/plots/test_page" ]; then
    "$built/tests/plots/test_page" --page "$folder/full.html"
    report "a page with comparisons and hostile names" "$(page "$folder/full.html" 2>&1)"
else
    skip "a page with comparisons and hostile names" "test_page is not built"
fi

# A damaged file hides nothing else, is named in the page and makes the exit code 1.
cp -R "$store" "$folder/harmed"
printf 'no record' >"$folder/harmed/20260101T000000.000000000Z-host-1-0-a-b-c.h5"
run report --store "$folder/harmed" --output "$folder/page.html"
faults=$(fault_of 1)
grep -q 'damaged-file' "$folder/page.html" || faults+="the page does not list it"
report "a damaged record" "$faults"

mkdir "$folder/ruin" && cp "$folder"/harmed/20260101*.h5 "$folder/ruin"
run report --store "$folder/ruin" --output "$folder/page.html"
faults=$(fault_of 1)
grep -q 'damaged-file' "$folder/page.html" || faults+="the page does not list it"
report "a store of nothing but damage" "$faults"

refuses "another kind of plot" 2 "pie|ledger" -- \
    report --plot pie --store "$store" --output "$folder/x.svg"
refuses "another ending" 2 "x.pdf|.svg|.png|.gp" -- \
    report --plot ledger --store "$store" --output "$folder/x.pdf"
refuses "no name for a plot" 2 "--output" -- report --plot ledger --store "$store"
refuses "no name for a page" 2 "--output" -- report --store "$store"
refuses "no kind of plot" 2 "--plot|NAME" -- report --plot --store "$store" --output "$folder/x.svg"
refuses "a series, which is another command" 2 "--output" -- \
    report --plot history --store "$store" --output "$folder/x.svg"
refuses "a filter that leaves nothing" 3 "$store|4" -- \
    report --plot ledger --store "$store" --model vgg16 --output "$folder/x.svg"
refuses "a store that is not there" 3 "$folder/nowhere" -- \
    report --store "$folder/nowhere" --output "$folder/x.html"
refuses "a folder that is not there" 3 "$folder/nowhere" -- \
    report --plot ledger --store "$store" --output "$folder/nowhere/x.svg"
PATH=/nowhere "$bench" report --plot ledger --store "$store" --output "$folder/x.svg" \
    >"$folder/out" 2>"$folder/err" </dev/null
status=$?
report "no gnuplot" "$(fault_of 3 gnuplot-nox)"
report "nothing is left of what failed" "$(ls "$folder" | grep '^x\.\|\.tmp')"

echo "1..$count"
