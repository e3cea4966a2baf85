#!/bin/bash
# check_nightly.sh - bench nightly on the simulated runtime, as TAP. Few nights are measured: the
# others are copies of one, with other dates, builds and step times (make_night), and lie where a
# night that was killed leaves its records. So verdicts do not depend on how busy the machine is.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
. tests/harness/campaign/night_told.sh
make_night=$built/tests/harness/campaign/make_night
plugin=${bench%/*}/libpjrt_sim.so
day=86400
umask 022 # a store that others may write keeps no builds
export PJRT_SIM=values=none,device_us=200
tiny_suite '"lazy", "capture"' 6

# of SUITE ARGUMENT...: a night of it in $store, and its page without what an earlier night told.
of() {
    rm -f "$folder/page/night.json"
    run nightly --suite "$folder/$1" --store "$store" --report "$folder/page" "${@:2}"
}
# night ARGUMENT...: tonight, in $store.
night() { of suite.json "$@"; }
# new_store NAME: an empty one, for other nights.
new_store() {
    store=$folder/$1
    mkdir "$store"
}
# past DAYS FACTOR [SHA256 [LABEL [RUNTIME [SETTINGS]]]]: a night so many days ago.
past() {
    local days=$1
    shift
    "$make_night" "$folder/measured" "$store" $((-days * day)) "$@" || echo "no night" >&2
}
measured=$folder/measured # of which the next ones are copies
# tonight FACTOR ...: what the next night has measured already.
tonight() { "$make_night" "$measured" "$store/tonight" 60 "$@"; }
# control FACTOR SHA256: that build again tonight.
control() {
    "$make_night" "$measured" "$store/tonight/controls" 60 "$1" "$2" control \
        "$store/builds/$2/libpjrt_sim.so"
}
# keep FILE: it lies among the store's builds; its digest goes to $kept.
keep() {
    kept=$(sha256sum "$1" | cut -d ' ' -f 1)
    mkdir -p -m 700 "$store/builds" "$store/builds/$kept"
    cp "$1" "$store/builds/$kept/libpjrt_sim.so"
}
skipped=12 # records that the suite's first pass has already
# ends STATUS CODE: faults of a night that ends so and tells CODE (see told), without measuring anything.
ends() {
    fault_of "$1"
    told "$2
assert passes and all(p['done'] == p['failed'] == p['controls'] == p['controls_failed'] == 0 for p in passes), passes
assert passes[0]['skipped'] == $skipped, passes
# Inconclusive cells are not counted as not slower.
assert $1 != 4 or 'data-slower=\"0\"' not in page, 'the page counts no slower ones'
"
    [ ! -e "$store/tonight" ] || echo "the night's own folder is left"
}
# planned TEXT...: faults of a night with --site "$folder/site-of" whose verdict's data lack a TEXT.
planned() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$folder/site-of/data"/verdict-* || echo "not in the verdict's data: $text"
    done
    rm -rf "$folder/site-of"
}
# announced NUMBER...: a fault unless a line about the simulator has these numbers, before anything is measured.
announced() {
    awk -v wanted="$*" '/^\[/ { exit }
        /^bench: sim: / {
            left = $0
            gsub(/[^0-9]+/, " ", left)
            if (index(left " ", " " wanted " ")) found = 1
        }
        END { exit !found }' "$folder/err" || echo "$* is not announced"
}

# ---- nights that are measured --------------------------------------------------------
refuses "a format that a night does not have" 1 "text|narrow|json" -- \
    nightly --suite "$folder/suite.json" --store "$store" --report "$folder/page" --format json
night --site "$folder/site-of"
report "the first night says that it has nothing to compare with, and keeps its build" "$(
    fault_of 4
    told 'assert (night["outcome"], night["verdict"]) == ("first-night", "inconclusive"), night'
    [ ! -e "$store/tonight" ] || echo "the night's own folder is left"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 12 ] || echo "not 12 records"
    own=$(sha256sum "$plugin" | cut -d ' ' -f 1)
    cmp -s "$plugin" "$store/builds/$own/libpjrt_sim.so" || echo "the build is not kept"
    [ "$(stat -c %a "$store/builds/$own")" = 700 ] || echo "others can look at the build"
    planned '"claims":"no-baseline","experiments":2,' '"looks":1,'
)"
report "a night is a run of the calibration, by its unlike modes" "$("$python" - "$store/calibration/runs.json" "$plugin" <<'PYTHON'
import hashlib, json, sys
runs = json.load(open(sys.argv[1]))
assert len(runs) == 1 and runs[0]["runtime"] == hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest(), runs
ratio, = runs[0]["ratios"]
assert " capture " in ratio["pair"] and ratio["processes"] == 6 and ratio["error"] > 0, ratio
PYTHON
)"
rm -rf "$folder/site-of"
mkdir "$folder/measured"
cp "$store"/*.h5 "$folder/measured"
(cat "$plugin" && echo other) >"$folder/other.so"
other=$(sha256sum "$folder/other.so" | cut -d ' ' -f 1)
# The same on one mode, twice: for what has to be measured.
sed 's/"lazy", "capture"/"capture"/; s/"repetitions": 6/"repetitions": 2/' "$folder/suite.json" \
    >"$folder/brief.json"
brief() { of brief.json "$@"; }

new_store live
keep "$folder/other.so"
past 1 1 "$other"
past 2 1 0000000000000000000000000000000000000000000000000000000000000002
brief --site "$folder/site-of"
report "the build of the last good night is measured alongside a new one" "$(
    [ "$status" -ne 1 ] || echo "an error"
    told '
assert (runtime["runtime"], runtime["against"], runtime["no_control"]) == ("sim", "control", None), runtime
assert runtime["machine"] > 0 and runtime["machine_experiments"] == 1 and runtime["night"], runtime
first = passes[0]
assert (first["done"], first["failed"], first["controls"], first["controls_failed"]) == (2, 0, 2, 0), passes
'
    announced 1 6 6 2 # an experiment of up to 6 figures: 6 pairs, of which the suite has 2
    # Two pairs, and more if the machine made one of them seem slower.
    pairs=$(ls "$store/controls"/*.h5 | wc -l)
    [ "$pairs" -ge 2 ] || echo "not 2 records of the control"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq $((24 + pairs)) ] || echo "not as many of tonight"
    [ "$(ls "$store/builds" | wc -l)" -eq 2 ] || echo "not 2 builds"
    planned '"claims":"further-pairs","experiments":1,"pairs":2,"needed":6,"most":12,"detectable":0.' \
        '"looks":1,'
)"
rm -rf "$folder/site-of"
brief --keep-builds 1 --site "$folder/site-of"
report "the same build is measured once, is never slower, and older builds go" "$(
    fault_of 0
    told '
assert runtime["against"] == night["outcome"] == "same-build" and night["verdict"] == "not-slower", night
assert runtime["machine"] > 0 and runtime["night"], runtime
assert passes == [{"done": 2, "skipped": 0, "failed": 0, "controls": 0, "controls_failed": 0}], passes
'
    # It is the build of the night before, again: a second look at its value in the history.
    planned '"claims":"same-build","experiments":1,' '"looks":2,'
    [ "$(ls "$store/builds" | wc -l)" -eq 1 ] || echo "not 1 build"
)"
new_store garbage
head -c 5000 /dev/urandom >"$folder/garbage.so"
keep "$folder/garbage.so"
past 1 1 "$kept"
brief
report "a kept build that does not load is said, and is no failure of the night" "$(
    fault_of 4
    told '
assert runtime["against"] == "records" and runtime["no_control"]["id"] == "failed", runtime
assert (passes[0]["controls"], passes[0]["controls_failed"], night["failed"]) == (0, 2, 0), night
'
)"
PJRT_SIM=values=none,device_us=200,faults='execute:3:fail' brief --site "$folder/site"
report "failed experiments are an error, in the verdict and its data, and the night is kept" "$(
    fault_of 1
    told '
assert night["failed"] == 2, night
[f] = [f for f in night["failures"] if not f["control"]]
assert f["experiment"].startswith("resnet18") and " capture " in f["experiment"], f
assert f["class"] == "execute-error", f
'
    [ "$(grep -cF " execute-error" "$folder/out")" -ge 1 ] || echo "not named"
    grep -q '"failed":1,"missing":0,' "$folder/site/data"/verdict-* || echo "not in the data of the site"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 16 ] || echo "not 16 records"
)"

# ---- verdicts --------------------------------------------------------------------------
new_store same
past 1 1
tonight 3
night
report "a night under load with the same build is the machine" "$(
    ends 0 '
assert runtime["against"] == night["outcome"] == "same-build", night
assert 2.9 < runtime["machine"] < 3.1, runtime
'
)"
all_slower='
assert night["outcome"] == night["verdict"] == "slower", night
assert (night["slower"], night["experiments"], night["changed"]) == (2, 2, 0), night
assert (runtime["against"], runtime["slower"], runtime["experiments"]) == ("control", 2, 2), runtime
assert "resnet18 infer" in runtime["worst"], runtime
'
new_store slower
keep "$folder/other.so"
past 1 1 "$other"
tonight 1.2
control 1 "$other"
night
report "a build slower than its control is found" "$(
    ends 2 "$all_slower"'
assert "<h3 class=\"slow\">" + night["headline"] in page, "not on the page"
'
)"
# The captured half of that night is still to be measured, and fails, on both builds.
faulty=values=none,device_us=200,faults=execute:3:fail
new_store slower-and-failed
keep "$folder/other.so"
past 1 1 "$other" - - $faulty
tonight 1.2 - - - $faulty
"$make_night" "$measured" "$store/tonight/controls" 60 1 "$other" control \
    "$store/builds/$other/libpjrt_sim.so" $faulty
rm "$store/tonight"/*-capture.h5 "$store/tonight/controls"/*-capture.h5
PJRT_SIM=$faulty night
report "slower in one experiment and failed in another: 2, and both are counted" "$(
    fault_of 2
    told '
assert night["outcome"] == "slower" and night["failed"] == 6, night
assert (night["slower"], night["experiments"]) == (1, 1), night
assert [f["control"] for f in night["failures"]] == [False, True], night["failures"]
for f in night["failures"]:
    assert f["experiment"].startswith("resnet18") and " capture " in f["experiment"], f
    assert f["class"] == "execute-error", f
'
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 24 ] || echo "not 24 records"
)"
excluded='
assert (night["outcome"], night["verdict"], night["experiments"]) == ("excluded", "not-slower", 2), night
assert night["detectable"] is not None, night
'
new_store equal
keep "$folder/other.so"
past 1 1 "$other"
tonight 2
control 2 "$other"
night
report "a build as slow as its control is not slower, and the minimum detectable slowdown is printed" "$(
    ends 0 "$excluded"'
assert runtime["against"] == "control" and runtime["machine"] > 1, runtime
'
)"
# ---- further pairs -------------------------------------------------------------------------
# Four pairs tell nothing of two experiments. All that the night could need lies there already, as
# after a night that was killed at its end: nothing is measured, so nothing depends on the machine.
mkdir "$folder/many"
run suite "$folder/suite.json" --repetitions 12 --store "$folder/twelve"
cp "$folder/twelve"/*.h5 "$folder/many"
sed 's/"repetitions": 6/"repetitions": 4/' "$folder/suite.json" >"$folder/four.json"
four() { of four.json "$@"; }
# between FACTOR FACTOR: a night that took so long, with its control.
between() {
    keep "$folder/other.so"
    past 1 1 "$other"
    measured=$folder/many skipped=8
    tonight "$1"
    control "$2" "$other"
    four
}
new_store further
between 1.2 1
report "what seems slower gets further pairs, and is found where four pairs tell nothing" "$(
    ends 2 "$all_slower"'
assert len(passes) > 1 and passes[1]["skipped"] == 12, passes # six of each
'
    announced 2 6 6 4 12
    [ "$(ls "$store/controls"/*.h5 | wc -l)" -eq 24 ] || echo "not all records are kept"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 36 ] || echo "not 36 records"
)"
new_store content
between 1 1.0001
report "what does not seem slower gets none, and the minimum detectable slowdown is printed" "$(
    ends 0 "$excluded"'
assert len(passes) == 1, passes # none was suspected
'
)"
measured=$folder/measured skipped=12

# lacks ID EXPERIMENTS [CODE]: faults of a night that is inconclusive for so many, as it has no control.
lacks() {
    ends 4 "
assert night['outcome'] == 'undecided' and (night['inconclusive'], night['experiments']) == ($2, 2), night
assert runtime['against'] == 'records' and runtime['no_control']['id'] == '$1', runtime
${3:-}"
}
new_store pruned
past 1 1 "$other"
tonight 3
night
report "without a control it cannot be distinguished from a bad night" "$(
    lacks gone 2
)"
new_store damaged
keep "$folder/other.so"
echo more >>"$store/builds/$kept/libpjrt_sim.so"
past 1 1 "$other"
tonight 1
night
report "a kept build with other contents is not loaded" "$(lacks changed 2)"
# unsafe PATH: faults of a night that neither uses nor keeps builds, as others may write PATH.
unsafe() {
    lacks unsafe 2 "
import re
assert '$1' in re.findall(r'/[^ :,;]*', runtime['no_control']['message']), runtime
assert 'build-not-kept' in noted, noted
"
}
new_store open
keep "$folder/other.so"
chmod 777 "$store/builds"
past 1 1 "$other"
tonight 1
night
report "nor one that others could have put there" "$(
    unsafe "$store/builds"
)"
new_store shared
keep "$folder/other.so"
chmod 775 "$store"
past 1 1 "$other"
tonight 1
night
report "nor one from a store that others may write, which keeps none" "$(
    unsafe "$store"
)"
mkdir -m 777 "$folder/anybody"
new_store anybody/below
keep "$folder/other.so"
past 1 1 "$other"
tonight 1
night
report "nor one from a store below a folder that others may write" "$(
    unsafe "$folder/anybody"
)"
new_store none
past 1 1 "$other"
tonight 1
night --keep-builds 0
report "--keep-builds 0 keeps none, and claims less" "$(
    lacks not-kept 2
    [ ! -e "$store/builds" ] || echo "a build is kept"
)"
new_store settings
past 1 1 - - - values=none,device_us=100
tonight 2
night --site "$folder/site-of"
report "changed settings of a simulated device are a change within the series" "$(
    planned '"claims":"few-nights","experiments":2,' '"detectable":null'
    lacks settings 2 '
assert "values=none,device_us=100" in runtime["no_control"]["message"], runtime
'
    run history --store "$store" --mode lazy --format json
    holds '
[series] = records
assert len(series["nights"]) == 2, series
'
)"

# digest N: that of a build nobody has.
digest() { printf '%064d' "$1"; }
new_store two
for days in $(seq 16 -1 2); do
    past "$days" 1 "$(digest "$days")"
done
past 1 1.06 "$(digest 1)"
cp -r "$store" "$folder/one"
tonight 1.06
night --keep-builds 0 --site "$folder/site-of"
report "two slow nights in a row are found in the records" "$(
    planned '"claims":"two-nights","experiments":2,' '"detectable":0.'
    ends 2 '
assert night["outcome"] == "slower" and (night["slower"], night["changed"]) == (0, 2), night
drifts = [c for c in night["history"] if c["counts"]]
assert len(drifts) == 2 and all(c["change"]["low"] > 1 and c["cause"] == "not-controlled" for c in drifts), drifts
'
)"
store=$folder/one
tonight 1
night --keep-builds 0
report "one is not" "$(ends 0 "$excluded"'
assert night["two_nights"] is True and not any(c["found"] for c in night["history"]), night
')"

# ---- recordings of other programs -------------------------------------------------------------
# One is recorded and taken into a store; its nights are copies of it.
for_recordings
run record --quiet --runtime sim --output "$folder/training" -- "$program" --steps 48
run import --store "$folder/imported" --model mine --phase train "$folder/training"
report "a program is recorded, and bench import makes a record of it" "$(
    fault_of 0
    [ "$(ls "$folder/imported"/*.h5 | wc -l)" -eq 1 ] || echo "not one record"
)"
# trained DAYS FACTOR SHA256: that program so many days ago.
trained() { "$make_night" "$folder/imported" "$store" $((-$1 * day)) "${@:2}" || echo "no night" >&2; }
# training NAME DIGEST...: a store with 17 nights of it, the last two 6 % slower. The first one's build has
# the first DIGEST, and so on; the last DIGEST is that of all nights that are left.
training() {
    local days
    new_store "$1"
    shift
    for days in $(seq 16 -1 0); do
        trained "$days" "$([ "$days" -lt 2 ] && echo 1.06 || echo 1)" "$1"
        [ $# -eq 1 ] || shift
    done
    tonight 1
}
training other-builds $(for days in $(seq 17); do digest "$days" && echo; done)
night --keep-builds 0
report "a recorded program is judged by its history, whatever the suite has" "$(
    ends 2 '
assert night["outcome"] == "slower" and (night["slower"], night["changed"], night["recorded"]) == (0, 1, 1), night
[c] = [c for c in night["history"] if c["found"]]
assert c["series"].startswith("mine train unknown recorded") and c["change"]["low"] > 1, c
assert c["cause"] == "recorded" and c["counts"] is True, c
assert "mine" in page, "not on the page"
'
)"
training same-build "$(digest 1)"
night --keep-builds 0
report "with one build it may be the program or the machine, and counts as neither" "$(
    ends 4 '
assert night["outcome"] == "first-night" and night["changed"] == 0, night
[c] = [c for c in night["history"] if c["found"]]
assert c["series"].startswith("mine train unknown recorded"), c
assert c["cause"] == "recorded-same-build" and c["counts"] is False, c
'
)"
new_store earlier
for days in $(seq 16 -1 1); do
    trained "$days" "$([ "$days" -lt 3 ] && echo 1.06 || echo 1)" "$(digest "$days")"
done
tonight 1
night --keep-builds 0
report "what was recorded in other nights is no part of this one" "$(
    ends 4 '
assert night["outcome"] == "first-night", night
assert night["recorded"] == 0 and night["history"] == [], night
'
)"

# ---- records that nobody can read ----------------------------------------------------------
# harm KIND FILE: it cannot be read from then on.
harm() {
    case $1 in
    folder) rm "$2" && mkdir "$2" ;;
    rights) chmod 0 "$2" ;;
    cut) truncate -s 900 "$2" ;;
    changed) printf '?' | dd of="$2" bs=1 seek=3000 conv=notrunc status=none ;;
    esac
}
# Root may read all: bench runs without that right.
plain=(env)
if [ "$(id -u)" -eq 0 ]; then
    plain=(setpriv --bounding-set -all --inh-caps -all)
fi
as_user() {
    rm -f "$folder/page/night.json"
    "${plain[@]}" "$bench" nightly --suite "$folder/suite.json" --store "$store" \
        --report "$folder/page" --keep-builds 1 >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
# unread STATUS COUNT OUTCOME AGAINST: faults of a night that did not get to read so many records.
unread() {
    local end=$1 lost=$2
    ends "$end" "assert night['outcome'] == '$3' and runtime['against'] == '$4', night
assert night['unread'] == $lost and 'builds-stay' in noted, (night['unread'], noted)
"
    for build in "$kept" "$(digest 3)"; do
        [ -d "$store/builds/$build" ] || echo "the build $build was dropped"
    done
}
for kind in folder cut changed rights; do
    for share in one all; do
        what="$share of the last night's records cannot be read ($kind)"
        if [ "$kind" = rights ] && ! "${plain[@]}" true 2>/dev/null; then
            skip "$what" "rights cannot be given up here"
            continue
        fi
        new_store "unread-$kind-$share"
        keep "$folder/other.so"
        past 1 1 "$other"
        mkdir -m 700 "$store/builds/$(digest 3)"
        files=("$store"/*.h5)
        [ "$share" = all ] || files=("${files[0]}")
        for file in "${files[@]}"; do harm "$kind" "$file"; done
        tonight 1
        [ "$share" = all ] || control 1 "$other"
        as_user
        if [ "$share" = all ]; then
            report "$what: it is not the first one, and drops no build" "$(
                unread 4 12 none-read nothing
            )"
        else
            report "$what: the others are compared, and no build is dropped" "$(
                unread 0 1 excluded control
            )"
        fi
    done
done
chmod 644 "$folder"/unread-*/*.h5 2>/dev/null

# ---- dates -------------------------------------------------------------------------------
new_store future
keep "$folder/other.so"
past 1 1 "$other"
past -400 3 "$(digest 3)"
mkdir -m 700 "$store/builds/$(digest 3)" # which no other night has
tonight 1.2
control 1 "$other"
night
report "a night dated in the future is named, and hides no slowdown" "$(
    ends 2 "$all_slower"'
assert night["left_out"] == 12 and "builds-stay" in noted, (night["left_out"], noted)
'
    [ -d "$store/builds/$(digest 3)" ] || echo "a build was dropped while dates are wrong"
    run history --store "$store"
    grep -qE '\b12 records\b' "$folder/out" || echo "history does not say it"
)"
new_store back
past -2 1 "$other"
past -1 1 "$other"
tonight 1
night
report "a clock that went back leaves nothing to compare with" "$(
    ends 4 'assert (night["outcome"], night["left_out"]) == ("none-dated", 24), night'
)"

# ---- what a killed night leaves --------------------------------------------------------
new_store killed
"$bench" nightly --suite "$folder/suite.json" --store "$store" --report "$folder/page" \
    >"$folder/out" 2>"$folder/err" </dev/null &
job=$!
some() { [ -n "$(ls "$store/tonight"/*.h5 2>/dev/null)" ]; }
await 60 some
kill -INT $job
wait $job
status=$?
report "interrupted, what is done waits in a folder of its own" "$(
    [ "$status" -eq 130 ] || echo "exit status $status"
    some || echo "no folder of the night"
    ! ls "$store"/*.h5 >/dev/null 2>&1 || echo "half a night is in the store"
)"
before=$(ls "$store/tonight"/*.h5 | wc -l)
night
report "the same command goes on where it stopped" "$(
    fault_of 4
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 12 ] || echo "not 12 records"
    told "assert [(p['done'], p['skipped']) for p in passes] == [($((12 - before)), $before)], passes"
)"
mkdir "$store/tonight"
ln "$store"/*.h5 "$store/tonight"
rm "$(ls "$store"/*.h5 | head -n 1)" "$(ls "$store"/*.h5 | tail -n 1)"
night
report "killed while the store got its records, nothing is lost or measured twice" "$(
    ends 4 'assert night["outcome"] == "first-night", night'
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 12 ] || echo "not 12 records"
)"
# Of a night that measures all of itself.
whole='
assert (passes[0]["done"], passes[0]["skipped"], night["records"]) == (2, 0, 2), night
'
mkdir "$store/tonight.ended"
ln "$(ls "$store"/*.h5 | head -n 1)" "$store/tonight.ended"
brief
report "killed while its folder was removed, the next night is a new one" "$(
    fault_of 0
    told "$whole"'
[lacking] = night["missing"]
assert lacking.startswith("resnet18.small infer lazy "), lacking
'
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 14 ] || echo "not 14 records"
    [ ! -e "$store/tonight.ended" ] || echo "the old folder is left"
)"
"$make_night" "$folder/measured" "$store/tonight" -2000000 1
brief
report "what an earlier night left is no part of this one" "$(
    fault_of 0
    grep -qE '^bench: 12 ' "$folder/err" || echo "not said"
    told "$whole"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 28 ] || echo "not 28 records"
)"
tonight 1 - - - values=none,device_us=7
brief
report "neither is what another suite left, and no record of it is lost" "$(
    fault_of 0
    told 'assert passes[0]["done"] == night["records"] == 2, night'
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 42 ] || echo "not 42 records"
)"
new_store ahead
brief
"$make_night" "$folder/measured" "$store/tonight" $((400 * day)) 1
brief
report "nor what a night left whose clock was ahead" "$(
    fault_of 0
    grep -qE '^bench: 12 ' "$folder/err" || echo "not said"
    told "$whole"'
assert night["left_out"] == 12, night
'
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 16 ] || echo "not 16 records"
)"
exec 9<"$store"
flock 9
brief
report "of two nights in one store the second does not begin" "$(
    fault_of 1 "$store: "
    [ ! -e "$store/tonight" ] || echo "it began"
)"
exec 9<&-
brief
report "it begins when the first one has ended" "$(
    fault_of 0
    told "$whole"
)"

# ---- several runtimes ----------------------------------------------------------------------
sed "s|\"sim\"|\"sim\", \"$notplugin\"|; s/\"repetitions\": 2/\"repetitions\": 1/" \
    "$folder/brief.json" >"$folder/half.json"
new_store half
of half.json
report "a runtime that cannot be used is a failure of the night, which ends all the same" "$(
    fault_of 1
    told 'assert night["failed"] == len(night["failures"]) == 1, night'
    [ ! -e "$store/tonight" ] || echo "the night's own folder is left"
    [ "$(ls "$store"/*.h5 | wc -l)" -eq 2 ] || echo "not 2 records"
)"
sed 's|"sim"|{"name": "sim", "options": {"jitter": 0.1}}, "sim"|' "$folder/brief.json" \
    >"$folder/both.json"
new_store both
for _ in 1 2; do
    of both.json
done
report "a runtime with two settings is compared with each" "$(
    fault_of 0
    told '
assert [r["against"] for r in night["runtimes"]] == ["same-build"] * 2, night["runtimes"]
assert len({r["runtime"] for r in night["runtimes"]}) == 2, night["runtimes"]
'
)"
unset PJRT_SIM
refuses "an option that there is not is no slowdown" 1 "--bogus" -- nightly --bogus
refuses "no suite" 1 "--suite FILE|--report DIR" -- nightly --store "$store"
refuses "a suite that is none" 1 "nothere" -- \
    nightly --suite nothere --report "$folder/page" --store "$folder/nowhere"

# ---- links ---------------------------------------------------------------------------------
new_store links
for name in tonight tonight.ended controls builds; do
    rm -rf "$folder/elsewhere"
    mkdir "$folder/elsewhere"
    cp "$folder/measured"/*.h5 "$folder/elsewhere"
    had=$(cd "$folder/elsewhere" && sha256sum ./*)
    ln -s "$folder/elsewhere" "$store/$name"
    night
    report "a link as the store's $name is not followed" "$(
        if [ $name = builds ]; then # the night goes on, and keeps no build
            told 'assert "build-not-kept" in noted, noted'
        else
            fault_of 1 "$store" "$name"
        fi
        [ "$(cd "$folder/elsewhere" && find . -type f -exec sha256sum {} + | sort -k 2)" = "$had" ] ||
            echo "what lies behind it is another"
    )"
    rm "$store/$name"
done

new_store swapped
mkdir "$folder/theirs"
"$bench" nightly --suite "$folder/suite.json" --store "$store" --report "$folder/page" \
    >"$folder/out" 2>"$folder/err" </dev/null &
job=$!
await 60 some
mv "$store/tonight" "$folder/ours"
mv "$folder/theirs" "$store/tonight"
wait $job
status=$?
report "a folder that is put in place of the night's own ends the night" "$(
    [ "$status" -eq 1 ] || echo "exit status $status"
    complaints | grep -qF "$store/tonight" || echo "not said"
    # What ran at that moment may have gone there.
    [ "$(find "$store/tonight" -name '*.h5' | wc -l)" -le 2 ] || echo "it went on there"
    ls "$folder/ours"/*.h5 >/dev/null || echo "what was measured is lost"
)"

echo "1..$count"
