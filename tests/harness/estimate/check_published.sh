#!/bin/bash
# check_published.sh - how full_estimate.sh judges estimates against published times (published_rows.py), as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
# shellcheck source=tests/support/cli.sh
. tests/support/cli.sh

export FAKE_PJRT=hlo

# judged WHOLE PARTS: what is said of the published training with a step of one graph that is estimated at WHOLE of
# its published time, and all else at PARTS.
published=(estimate --runtime "$fake" --topology v4:1x1x1/megacore --model resnet50 --batch 32 --mode capture
    --graphs "1,5" --check-published --cache-dir "")
run "${published[@]}" --format json
cp "$folder/out" "$folder/training.json"
run "${published[@]}" --format csv
cp "$folder/out" "$folder/training.csv"
judged() {
    "$python" - "$folder" "$@" <<'PYTHON'
import csv, sys
folder, whole, parts = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
rows = list(csv.DictReader(open(folder + "/training.csv")))
with open(folder + "/judged.csv", "w", newline="") as f:
    out = csv.DictWriter(f, rows[0].keys())
    out.writeheader()
    for r in rows:
        r["estimated ms"] = float(r["published ms"]) * (whole if r["mode"] == "capture 1" else parts)
        out.writerow(r)
PYTHON
    "$python" tests/harness/estimate/published_rows.py "$folder/judged.csv" "$folder/training.json" \
        "$folder/said" 2>&1 | tail -n 1
}
report "a step is within 10 % of what a device measured, and each graph takes at most twice its time" "$(
    judged 1.09 1.9
    judged 0.91 0.5
    for factors in '1.11 1' '0.89 1' '1 2.1'; do
        # shellcheck disable=SC2086
        [[ $(judged $factors) == AssertionError:* ]] || echo "$factors is no fault"
    done
)"
host=(estimate --runtime "$fake" --topology v4:1x1x1/megacore --model vgg16 --phase infer --batch 4
    --check-published --cache-dir "")
run "${host[@]}" --format json
cp "$folder/out" "$folder/vgg16.json"
run "${host[@]}" --format csv
cp "$folder/out" "$folder/vgg16.csv"
"$python" - "$folder" <<'PYTHON'
import json, sys
lines = json.load(open(sys.argv[1] + "/vgg16.json"))
for line in lines:
    line["estimate"]["flops"] = 275e12 # a second's work at the peak rate
json.dump(lines, open(sys.argv[1] + "/busy.json", "w"))
PYTHON
report "nor is one faster than the device can be" "$(
    "$python" tests/harness/estimate/published_rows.py "$folder/vgg16.csv" "$folder/busy.json" "$folder/said" \
        2>"$folder/err" && echo "it is no fault"
    grep -q '^AssertionError: .*1000' "$folder/err" || echo "nobody says so"
)"

rm -rf "$folder"
echo "1..$count"
