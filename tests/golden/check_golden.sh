#!/bin/bash
# check_golden.sh - the tolerances of tests/golden are those of the rule in tolerance.py,
# as TAP; and the rule notices a tolerance, a factor or a spread that somebody changed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
python=${BENCH_TEST_PYTHON:-python3}
folder=$(mktemp -d "${TMPDIR:-/tmp}/check_golden.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
count=0 failed=0

# result NAME STATUS: ok when STATUS is 0; else what the rule said.
result() {
    count=$((count + 1))
    [ "$2" -eq 0 ] && { echo "ok $count - $1"; return; }
    echo "not ok $count - $1"
    sed 's/^/#   /' "$folder/out"
    failed=1
}
rule() {
    PYTHONDONTWRITEBYTECODE=1 "$python" tests/golden/tolerance.py "$@" >"$folder/out" 2>&1
}

rule tests/golden/*.json
result "every file has the tolerances that follow from its spread" $?

# noticed NAME STATEMENT: the rule finds fault with a file that STATEMENT changed, names
# it, and says all is well once the rule has written its own.
noticed() {
    local file=$folder/squeezenet1_1.full.json status=1
    "$python" -c 'import json, sys
j = json.load(open("tests/golden/squeezenet1_1.full.json"))
exec(sys.argv[2])
json.dump(j, open(sys.argv[1], "w"))' "$file" "$2"
    rule "$file"
    [ $? -eq 1 ] && grep -qF "$file: tolerance is" "$folder/out" && rule --write "$file" &&
        rule "$file" && status=0
    result "$1 is noticed" $status
}
noticed "a looser tolerance" 'j["tolerance"]["grad_l2_global"][2] = 0.1'
noticed "a tighter tolerance" 'j["tolerance"]["logits"] = 1e-6'
noticed "another factor" 'j["factor"] *= 2'
noticed "a wilder draw" 'j["spread"]["loss"][1][3] = 0.01'

# Sixteen draws at least, and as many distances of each number.
"$python" - tests/golden/*.json >"$folder/out" 2>&1 <<'PYTHON'
import json, sys
wrong = 0
for path in sys.argv[1:]:
    doc = json.load(open(path))
    draws = doc["spread"]["draws"]
    for group, values in doc["spread"].items():
        if group in ("draws", "moved"):
            continue
        for row in values if isinstance(values[0], list) else [values]:
            if len(row) != draws or draws < 16:
                wrong += 1
                print(f"{path}: {group} has {len(row)} distances of {draws}")
sys.exit(wrong > 0)
PYTHON
result "every spread is of sixteen draws at least" $?
sed 's/^/# /' "$folder/out"

echo "1..$count"
exit $failed
