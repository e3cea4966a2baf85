#!/bin/bash
# full_pages.sh - what bench report, bench compare --report and bench run --debug-run write, in a browser
# without a screen (Debian's chromium), at 400, 800 and 1600 px, light and dark, as TAP: nothing is cut or
# under a badge, what is wide scrolls and says so, nothing is fetched. PAGES_SHOTS=DIR keeps pictures.
#
# needs: chromium, gnuplot
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=200
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$browser" ] || ! command -v gnuplot >/dev/null; then
    echo "1..0 # SKIP no browser or no gnuplot: apt-get install chromium gnuplot-nox"
    echo "ok - pages # SKIP no browser or no gnuplot"
    exit 0
fi

short=(--variant small --runtime sim --steps 5 --warmup 8 --min-time 0)
pages=$folder/pages
mkdir "$pages"
run run resnet18,llama "${short[@]}" --phase infer --mode eager,lazy,capture --processes 3 --store "$store" \
    --debug-run "$pages/debug-run"
report "a run with its reports" "$(fault_of 0)"
run report --store "$store" --output "$pages/report.html" --title "A report of runs whose title is longer than \
narrow screens are wide"
report "a page of its store" "$(fault_of 0)"
run compare sim sim --b-option device_us=250 --model resnet18 "${short[@]:0:2}" --phase infer --mode lazy \
    --steps 5 --warmup 8 --min-time 0 --pairs 4 --control 0 --store "$folder/compared" --report "$pages/compare"
report "a page of a comparison" "$(case $status in 0 | 2 | 4) ;; *) echo "exit status $status" ;; esac)"
run table --store "$store" --format html
cp "$folder/out" "$pages/table.html"
if [ -x "$built/tests/plots/test_page" ]; then
    "$built/tests/plots/test_page" --page "$pages/hostile.html"
fi

"$python" tests/plots/site/pages.py "$browser" "$pages" ${PAGES_SHOTS:+"$PAGES_SHOTS"} >"$folder/looked" 2>"$folder/err"
status=$?
sed 's/^/# /' "$folder/looked"
report "all pages at three widths, light and dark" "$(
    [ $status -eq 0 ] || cat "$folder/err"
    grep -A 9 '^not ok' "$folder/looked"
    grep -q '^1\.\.' "$folder/looked" || echo "the browser did not come to the end"
)"
echo "1..$count"
