#!/bin/bash
# check_compare.sh - bench compare from outside, on the simulated runtime, as TAP: injected
# differences are found, and the right cause is named; like sides show no difference; stored
# records give the same verdicts; git bisect finds a slow commit. These tests judge times.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/campaign/compare_sides.sh

# judged WHAT STATUSES CODE ARGUMENT...: a live test: a comparison with the arguments, each attempt with
# another seed, ends with one of STATUSES, and its JSON holds CODE.
seed=0
judged() {
    local what=$1
    wanted=$2 code=$3 arguments=("${@:4}")
    attempt() {
        seed=$((seed + 1))
        rm -rf "$store"
        run compare "${arguments[@]}" --seed $seed --store "$store" --format json
        echo "$status" >"$folder/status"
        [[ " $wanted " == *" $status "* ]] || echo "exit status $status, not $wanted"
        holds "$cell$code"
    }
    live "$what" attempt busy_stores "$store/a" "$store/b"
}

# The device time is exact, so it is told however busy the machine is. So is the wall time where the
# machine is quiet, and then its cause is named.
judged "a slower device is found, and called the device" 2 '
head, device = c["headline"], c["measures"]["device"]["comparison"]
assert len(records["cells"]) == 1 and c["control"] is False
assert head["verdict"] == "slower" and head["measure"] in ("wall", "device"), head
assert device["verdict"] == "slower" and abs(device["ratio"]["estimate"] - 1.5) < 1e-3, device
assert v["pairs"] == 9 and records["looks"] is False and v["share"] == 1, v
assert v["ratio"]["low"] < v["ratio"]["estimate"] < v["ratio"]["high"]
assert v["verdict"] in ("slower", "undecided") and why["program"] == "same", (v, why)
assert v["verdict"] != "slower" or why["where"] == "device time", why
assert abs(change(q["device"]) - 5e6) < 5e4 and q["device"]["moved"], q["device"]
assert records["counts"]["slower"] == 1 and records["counts"]["controls"] == 0
assert records["a"]["options"] == ["values=none", "device_us=10000"]
assert records["b"]["options"][-1] == "device_us=15000" and records["b"]["sha256"]
assert c["experiment"]["batch"] == 1 and c["experiment"]["layout"] == "nhwc"
' "${sides[@]}" "${more[@]}" --b-option device_us=15000
made_by attempt
report "the summary says so on standard error" "$(
    complaints | grep -q '^compare: 1 of 1 .*(resnet18 train capture: ' ||
        echo "no summary"
)"
cp "$folder/out" "$folder/live"

run compare --store "$store/a" --store "$store/b" --seed "$seed" --format json
report "the stored records give the same ratio and cause, without a control" "$(
    fault_of 2
    holds '
live = json.load(open(folder + "/live"))
a, b = live["cells"][0], records["cells"][0]
assert len(records["cells"]) == 1
assert a["comparison"]["ratio"] == b["comparison"]["ratio"]
assert a["attribution"] == b["attribution"]
assert a["a_records"] == b["a_records"] and a["b_records"] == b["b_records"]
assert records["family"] == live["family"] and records["slow_processes"] == live["slow_processes"]
assert b["comparison"]["p_holm"] == a["comparison"]["p_holm"]
'
)"
run compare --store "$store/a,$store/b" --format csv
report "the same as CSV: a line a cell" "$(
    fault_of 2
    [ "$(wc -l <"$folder/out")" -eq 2 ] || echo "not two lines"
    grep -qE '^,resnet18,train,capture,1,.*,slower,(wall|device),1,1\.[3-7].*,same,' "$folder/out" ||
        echo "another line"
)"
run compare --store "$store/a" --store "$store/b" --fail-if-slower 90% --format md
report "slower by less than what counts is no failure, and is said" "$(
    fault_of 0
    grep -qE '^\|.* capture .*\| same ' "$folder/out" || echo "no row"
    grep -q '^compare: 0 of 1 .*\b1 .* 90 %' "$folder/out" || echo "no sum"
)"
run compare --store "$store/a" --store "$store/b" --fail-if-slower 90% --format json
report "which JSON says, too" "$(
    fault_of 0
    holds "$cell"'
assert (records["counts"]["slower"], records["counts"]["little_slower"]) == (0, 1), records["counts"]
assert c["headline"]["verdict"] == "slower" and c["headline"]["counts"] is False, c["headline"]
'
)"
third=$(ls "$store"/a/*.h5 | sed -n 3p)
rm "$(ls "$store"/b/*.h5 | sed -n 3p)"
run compare --store "$store/a" --store "$store/b" --format json
report "where the numbers of records differ the whole pairs are compared, which is noted" "$(
    fault_of 2
    third=$(basename "$third" .h5) holds "$cell"'
import os
assert "other-counts" in {n["id"] for n in records["noted"]}, records["noted"]
assert v["pairs"] == len(c["a_records"]) == len(c["b_records"]) == 8, v
assert os.environ["third"] not in c["a_records"], c["a_records"]
'
)"

judged "a dearer call is found, and called the overhead" 2 '
assert v["verdict"] == "slower" and why["where"] == "overhead" and why["program"] == "same", why
assert 4e6 < change(q["overhead"]) < 1e7, q["overhead"]
assert ledger["dispatch"]["moved"] and not q["device"]["moved"]
' "${sides[@]}" "${more[@]}" --b-option execute_us=5000
judged "a runtime against itself: nothing slower, no alarm" '0 4' '
assert len(records["cells"]) == 2 and records["cells"][1]["control"] is True
n = v["pairs"]
assert v["verdict"] in ("equivalent", "uneven", "undecided") and n in (6, 12, 24), v
assert n == 24 or v["verdict"] == "equivalent", v
may_hide = v["verdict"] == "uneven" or v["verdict"] == "undecided" and v["ratio"]["high"] >= 1
assert records["summary"].startswith("0 of 1 ") is not may_hide, records["summary"]
noted = {n["id"] for n in records["noted"]}
assert records["looks"] is True and "interim" in noted, noted
assert ("advice" in noted) == ("--idle-cores awake" in records["notes"]), noted
assert "advice" not in noted or v["verdict"] == "undecided", v
assert c["measures"]["device"]["known"] == "equal", c["measures"]
assert records["counts"]["slower"] == 0 and records["counts"]["control_alarms"] == 0
assert not q["device"]["moved"], q["device"]
' "${sides[@]}"

mkdir "$folder/linked" "$folder/elsewhere"
ln -s "$folder/elsewhere" "$folder/linked/a"
refuses "a side whose folder is a link" 1 "linked/a" -- compare "${sides[@]}" "${more[@]}" --store "$folder/linked"
report "nothing was written there" "$(find "$folder/elsewhere" -mindepth 1)"

# ---- bisecting ----------------------------------------------------------------------------

if command -v git >/dev/null; then
    repository=$folder/repository
    git init -q "$repository"
    commit() {
        git -C "$repository" add -A
        git -C "$repository" -c user.name=t -c user.email=t@t commit -qm "$1"
    }
    for i in 1 2 3 4 5 6 7; do
        printf '{"device_us": %d, "values": "none", "kind": "build %d"}\n' \
            $((i < 5 ? 10000 : 20000)) $i >"$repository/device.json"
        # A commit in between that cannot be run.
        [ $i -eq 3 ] && echo '{"device_us": "many"}' >"$repository/device.json"
        commit "build $i"
    done
    git -C "$repository" show HEAD~6:device.json >"$folder/good.json"
    bisect() {
        local status found
        rm -rf "$store"
        cd "$repository" || { echo "no repository" && return; }
        git bisect reset >/dev/null 2>&1
        git bisect start HEAD HEAD~6 >/dev/null 2>&1
        git bisect run "$bench" compare --bisect --runtime sim --runtime sim \
            --a-option "config=$folder/good.json" --b-option "config=$repository/device.json" \
            --model resnet18 --variant small --mode capture --min-time 0 --warmup 4 --steps 12 \
            --control 0 --pairs 9 --device-time none --fail-if-slower 30% --store "$store" \
            >"$folder/out" 2>"$folder/err"
        status=$?
        found=$(git log -1 --format=%s refs/bisect/bad)
        cd - >/dev/null || return
        [ "$status" -eq 0 ] || echo "exit status $status"
        [ "$found" = "build 5" ] || echo "it found '$found'"
    }
    # A comparison that cannot tell has the commit skipped.
    live "git bisect finds the commit that made the device slower" bisect busy_machine
else
    skip "git bisect finds the commit that made the device slower" "no git here"
fi
echo "1..$count"
