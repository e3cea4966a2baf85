#!/bin/bash
# check_contrib.sh - the examples of contrib/ from outside, as TAP: the workflow for GitHub, the container,
# the nights of systemd and of cron. bench takes each of their command lines and runs it on the simulated
# device, in a folder of the test. Each documented exit code has the effect that the example promises.
# Stand-ins take the place of gh, apt-get and make. (full_slurm.sh runs bench-suite.sbatch.)
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tests/support/cli.sh
umask 022 # a store that others may write keeps no builds
export PJRT_SIM=values=none,device_us=2000

sim=${bench%/*}/libpjrt_sim.so
workflow=contrib/github-actions.yml
container=contrib/Containerfile
service=contrib/bench-nightly.service
cron=contrib/bench-nightly.cron

# documented COMMAND: its exit codes in docs/exit-codes.md.
documented() {
    awk -v command="$1" '/^## / { here = $2 == command }
        /--bisect/ { here = 0 }
        here && /^\| [0-9]+ \|/ { print $2 }' docs/exit-codes.md
}
report "docs/exit-codes.md says the exit codes of compare and nightly" "$(
    for command in compare nightly; do
        codes=$(documented $command | tr '\n' ' ')
        [ "$codes" = "0 1 2 4 130 " ] || echo "$command: $codes: look at the examples, and at this test"
    done
)"

# ---- stand-ins ---------------------------------------------------------------------------------

stubs=$folder/stubs
asked=$folder/asked
mkdir "$stubs"
export STUB_BENCH=$bench STUB_ASKED=$asked STUB_SIM=$sim STUB_GH=$folder/gh STUB_RAN=$folder/ran

# It writes down its words, one a line. Then it ends with STUB_CODE, or runs bench with the words of
# STUB_SHORT, which stand between bars, at the end.
cat >"$stubs/bench" <<'END'
#!/bin/bash
printf '%s\n' "$@" >"$STUB_ASKED"
[ -z "${STUB_CODE:-}" ] || { echo "a comparison"; exit "$STUB_CODE"; }
IFS='|' read -ra short <<<"${STUB_SHORT:-}"
exec "$STUB_BENCH" "$@" "${short[@]}"
END
# gh pr comment: it keeps the text of the comment. With STUB_NEW there is no earlier comment to edit.
cat >"$stubs/gh" <<'END'
#!/bin/bash
echo "$*" >>"$STUB_GH"
[ "$1 $2 $3" = "pr comment 17" ] && [ "${GH_TOKEN:-}" = secret ] || { echo "gh: what is $*?" >&2; exit 64; }
shift 3
edit= file=
while [ $# -gt 0 ]; do
    case $1 in
    --body-file) file=$2 && shift ;;
    --edit-last) edit=1 ;;
    *) echo "gh: unknown flag: $1" >&2 && exit 1 ;;
    esac
    shift
done
[ -z "$edit" ] || [ -z "${STUB_NEW:-}" ] || { echo "no comments found for current user" >&2; exit 1; }
cat "$file" >"$STUB_GH.body"
END
# A program of an image: it writes down its words.
mkdir "$stubs/image"
cat >"$stubs/image/make" <<'END'
#!/bin/bash
echo "${0##*/} $*" >>"$STUB_RAN"
END
for name in apt-get rm nproc; do ln -s make "$stubs/image/$name"; done
chmod +x "$stubs"/bench "$stubs"/gh "$stubs"/image/make

# accepted: faults of the words that the stand-in of bench heard: of its command, options and values.
accepted() {
    local -a words=()
    [ ! -e "$asked" ] || mapfile -t words <"$asked"
    [ ${#words[@]} -gt 1 ] || { echo "nobody asked bench for anything"; return; }
    run "${words[0]}" --help "${words[@]:1}"
    [ $status -eq 0 ] || echo "bench refuses these words: ${words[*]}"
}

# ---- the workflow: its steps -------------------------------------------------------------------

work=$folder/work # the checkout
steps=$folder/steps
mkdir "$work" "$steps"
# The build of the reader's: head is another file than base.
cat >"$work/build_plugin.sh" <<'END'
#!/bin/bash
mkdir -p "${2%/*}" && cp "$STUB_SIM" "$2" && echo "$1" >>"$2"
END
chmod +x "$work/build_plugin.sh"

# The keys of each step go to $steps/NUMBER.KEY. This knows as much YAML as the workflow has: values
# that go on in deeper lines, and blocks behind "|".
awk -v out="$steps/" '
    /^ *steps:$/ { inside = 1; next }
    !inside { next }
    { match($0, /^ */); depth = RLENGTH; line = substr($0, depth + 1) }
    line == "" || (key != "" && depth > level) {
        if (block && line != "" && !margin) margin = depth
        if (block) print substr($0, margin + 1) > file
        else if (line != "") printf " %s", line > file
        next
    }
    line ~ /^#/ { next }
    line ~ /^- / { number++; level = depth += 2; line = substr(line, 3) }
    depth != level { inside = 0; next }
    {
        key = value = line
        sub(/:.*/, "", key)
        sub(/^[^:]*: */, "", value)
        file = sprintf("%s%02d.%s", out, number, key)
        block = value == "|"
        margin = 0
        printf "%s", (block ? "" : value) > file
    }' $workflow

if can_import yaml; then
    report "this test reads the steps as a reader of YAML does" "$(
        "$python" - "$workflow" "$steps" 2>&1 <<'PYTHON'
import glob, os, sys, yaml
steps = yaml.safe_load(open(sys.argv[1]))["jobs"]["compare"]["steps"]
ours = {tuple(os.path.basename(f).split(".")): open(f).read() for f in glob.glob(sys.argv[2] + "/*")}
theirs = {("%02d" % n, key): value for n, step in enumerate(steps, 1) for key, value in step.items()}
for at in sorted(ours.keys() | theirs.keys()):
    if at not in theirs or at not in ours:
        print(at, "is in one of both only")
    elif isinstance(theirs[at], str) and theirs[at] != ours[at]:
        print(at, repr(theirs[at]), "is not", repr(ours[at]))
PYTHON
    )"
else
    skip "this test reads the steps as a reader of YAML does" "$python has no module yaml"
fi

# What GitHub knows. The outputs of steps come to it.
declare -A github=([github.event.pull_request.base.sha]=c0ffee [github.event.pull_request.head.sha]=decade
    [github.event.pull_request.number]=17 [github.token]=secret)

# fill TEXT: with what GitHub puts in place of its expressions.
fill() {
    local text=$1 name
    while [[ $text =~ \$\{\{\ *([a-z_.]+)\ *\}\} ]]; do
        name=${BASH_REMATCH[1]}
        [ -n "${github[$name]+given}" ] || echo "nothing gives $name" >>"$folder/unknown"
        text=${text//"${BASH_REMATCH[0]}"/${github[$name]:-}}
    done
    printf '%s' "$text"
}

# place_of NAME: the number of the step.
place_of() {
    local file
    file=$(grep -lxF -- "$1" "$steps"/*.name) && basename "$file" .name
}

# step NAME: runs the step as GitHub does; its exit status goes to $status.
step() {
    local number text name value id
    local -a given=()
    number=$(place_of "$1") || { status=127 && echo "there is no step $1" >"$folder/err"; return; }
    fill "$(<"$steps/$number.run")" >"$folder/step.sh"
    [ ! -e "$steps/$number.env" ] || text=$(fill "$(<"$steps/$number.env")")
    while [[ ${text:-} =~ ^[{,\ ]*([A-Z_]+):\ *\"([^\"]*)\"(.*)$ ]]; do
        given+=("${BASH_REMATCH[1]}=${BASH_REMATCH[2]}")
        text=${BASH_REMATCH[3]}
    done
    : >"$folder/outputs"
    (cd "$work" && env "${given[@]}" CI=true GITHUB_ACTIONS=true GITHUB_OUTPUT="$folder/outputs" \
        GITHUB_STEP_SUMMARY="$folder/summary" PATH="$stubs:$PATH" bash -eu "$folder/step.sh") \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
    [ -e "$steps/$number.id" ] || return
    id=$(<"$steps/$number.id")
    while IFS='=' read -r name value; do
        github[steps.$id.outputs.$name]=$value
    done <"$folder/outputs"
}

# ---- the workflow: a pull request that makes the device slower --------------------------------

code_output=steps.compare.outputs.code
# Few experiments and pairs.
short='--filter|resnet18*infer*capture|--control|0|--pairs'
step "Build both runtimes"
report "workflow: the build is asked for base and head" "$(
    fault_of 0
    for side in base:c0ffee head:decade; do
        [ "$(tail -c 7 "$work/${side%:*}/plugin.so")" = "${side#*:}" ] || echo "${side%:*} is another commit"
    done 2>&1
)"
STUB_SHORT="$short|6|--b-option|device_us=3000" step Compare
answered=${github[$code_output]:-none}
report "workflow: bench compares, and the step passes whatever it finds" "$(
    fault_of 0
    # Under load pairs are left out, and then too few are left.
    [ "$answered" = 2 ] || [ "$answered" = 4 ] || echo "the code is $answered"
    cmp "$work/comparison.md" "$folder/summary" 2>&1
)"
report "workflow: bench takes all of its words" "$(accepted)"

# markdown FILE: faults of a text with tables, whose rows have as many cells as their heads.
markdown() {
    awk '{ bars = $0; gsub(/\\\|/, "", bars); bars = gsub(/\|/, "", bars) }
        !/^\|/ { inside = 0 }
        inside && bars != width { print "line " FNR ": " bars - 1 " cells, not " width - 1 }
        /^\|([ :-]+\|)+$/ {
            if (before != bars) print "line " FNR - 1 ": " before - 1 " cells, not " bars - 1
            tables++
            inside = 1
            width = bars
        }
        { before = bars }
        END { if (!tables) print "no table" }' "$1" 2>&1
    grep -qE '^(\**)compare: ' "$1" || echo "no line says the verdict"
    [ "$(wc -m <"$1")" -lt 65536 ] || echo "longer than a comment may be"
}
STUB_NEW=1 step Comment
report "workflow: the first comment is Markdown with the verdict" "$(
    fault_of 0
    [ "$(wc -l <"$STUB_GH")" -eq 2 ] || echo "gh was not asked twice"
    markdown "$STUB_GH.body"
)"
rm -f "$STUB_GH" "$STUB_GH.body"
step Comment
report "workflow: the next one takes its place" "$(
    fault_of 0
    [ "$(wc -l <"$STUB_GH")" -eq 1 ] || echo "gh was not asked once"
    cmp "$STUB_GH.body" "$work/comparison.md" 2>&1
)"
report "workflow: what is uploaded are the records" "$(
    number=$(grep -l '^actions/upload-artifact@' "$steps"/*.uses) || echo "no step uploads anything"
    path=$(sed -n 's/.*path: *\([^,}]*\).*/\1/p' "${number%.uses}.with")
    [ -n "$(find "$work/$path" -name '*.h5' 2>/dev/null)" ] || echo "there are no records in '$path'"
    [ "$(<"${number%.uses}.if")" = "always()" ] || echo "not where Compare failed"
)"
report "workflow: where GitHub takes no comment, the verdict counts" "$(
    grep -qx true "$steps/$(place_of Comment).continue-on-error" 2>&1 || echo "the job ends before"
)"

# ---- the workflow: what an exit code means -----------------------------------------------------

# ends CODE: faults of the workflow where bench compare ends with CODE.
ends() {
    github[$code_output]=
    rm -f "$folder/summary"
    STUB_CODE=$1 step Compare
    grep -qx 'a comparison' "$folder/summary" || echo "the job's summary lacks what bench said"
    case $1 in
    0 | 2 | 4) [ $status -eq 0 ] || echo "$1 ends the job as an error" ;;
    *)
        [ $status -ne 0 ] || echo "$1 is no error"
        return
        ;;
    esac
    [ "${github[$code_output]}" = "$1" ] || echo "the output is '${github[$code_output]}', not $1"
    step Verdict
    if [ "$1" -eq 2 ]; then
        [ $status -eq 1 ] || echo "slower: the verdict ends with $status"
    else
        [ $status -eq 0 ] || echo "$1: the verdict ends with $status"
    fi
}
for code in $(documented compare) 3 126 127 139; do
    report "workflow: exit code $code of compare" "$(ends "$code")"
done
STUB_SHORT="--no-such-option" step Compare
report "workflow: wrong words are an error, not a slower build" "$(
    [ $status -ne 0 ] || echo "the step passes"
    grep -q 'no-such-option' "$folder/err" || echo "nobody complains of the words"
)"
mv "$work/head" "$work/no-head"
STUB_SHORT="$short|2" step Compare
report "workflow: so is a plugin that is not there" "$(
    [ $status -ne 0 ] || echo "the step passes"
    grep -q 'head/plugin.so' "$folder/err" || echo "nobody complains of the plugin"
)"
report "workflow: the comment comes before the verdict ends the job" "$(
    [[ $(place_of Comment) < $(place_of Verdict) ]] || echo "it does not"
)"
report "workflow: all that it asks GitHub for is there" "$(cat "$folder/unknown" 2>/dev/null)"

# ---- the container -----------------------------------------------------------------------------

# Its instructions, one a line.
awk '/^(#|$)/ { next }
    /\\$/ { line = line substr($0, 1, length($0) - 1); next }
    { print line $0; line = "" }' $container >"$folder/instructions"

# instruction NAME: what stands behind the last one of that name; lists without their marks.
instruction() { sed -nE "s/^$1 //p" "$folder/instructions" | tail -n 1 | sed -E 's/[]["]//g; s/, */ /g'; }

# The RUN lines, with stand-ins for all programs. FROM begins a stage.
: >"$STUB_RAN"
: >"$folder/faults"
while read -r name words; do
    case $name in
    FROM) echo "FROM $words" >>"$STUB_RAN" ;;
    RUN)
        # Only names are looked up among the stand-ins.
        if [[ $words == */bin/* ]]; then
            echo "this names a program by its path: $words"
        else
            PATH=$stubs/image /bin/sh -ec "$words" 2>&1 </dev/null || echo "this ends with $?: $words"
        fi >>"$folder/faults"
        ;;
    COPY | WORKDIR | ENTRYPOINT | CMD) ;;
    *) echo "$name: this test does not know it" >>"$folder/faults" ;;
    esac
done <"$folder/instructions"
report "container: its commands are apt-get, make and rm" "$(
    cat "$folder/faults"
    grep -qx 'make .*' "$STUB_RAN" || echo "make is not asked for anything"
)"

# sources: faults of what COPY names.
sources() {
    local from path stage image
    image=$(sed -nE 's/^make .*DESTDIR=([^ ]+).*/\1/p' "$STUB_RAN")
    while read -r from path _; do
        case $from in
        --from=*)
            stage=${from#*=}
            grep -qE "^FROM .* AS $stage$" "$folder/instructions" || echo "there is no stage $stage"
            [ "${path%/}" = "$image" ] || echo "make install fills $image, not $path"
            ;;
        *) [ -e "$from" ] || echo "there is no $from" ;;
        esac
    done < <(sed -n 's/^COPY //p' "$folder/instructions")
}
report "container: what is copied is there" "$(sources)"
if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then
    report "container: .containerignore leaves out no sources" "$(
        grep -vE '^(#|$)' .containerignore | while read -r pattern; do git ls-files -- "$pattern"; done
    )"
else
    skip "container: .containerignore leaves out no sources" "no repository"
fi

# goals: faults of what make is asked for.
goals() {
    local words word to
    to=$(sed -nE 's/^COPY \. (.*)/\1/p' "$folder/instructions")
    sed -n 's/^make //p' "$STUB_RAN" >"$folder/goals"
    while read -r -a words; do
        [ "${words[0]} ${words[1]}" = "-C $to" ] || echo "make works in ${words[1]}, the sources are in $to"
        for word in "${words[@]:2}"; do
            case $word in
            -j*) ;;
            *=*) grep -qE "^${word%%=*} \??=" Makefile || echo "the Makefile has no variable ${word%%=*}" ;;
            *) sed -n 's/^\.PHONY://p' Makefile | grep -qw -- "$word" || echo "make has no target $word" ;;
            esac
        done
    done <"$folder/goals"
    printf '%s\n' setup all install | while read -r word; do
        grep -qw -- "$word" "$folder/goals" || echo "nobody asks for make $word"
    done
}
report "container: make has the targets and variables" "$(goals)"

# What make would install, and where.
read -ra words < <(sed -nE 's/^make -C [^ ]* (install.*)/\1/p' "$STUB_RAN")
make -n BUILD="$built" "${words[@]}" >"$folder/installed" 2>"$folder/err"
read -r image _ < <(instruction 'COPY --from=[^ ]*')
entry=$(instruction ENTRYPOINT)
report "container: the entry point is what make install installs" "$(
    grep -qF "'${image%/}$entry'" "$folder/installed" || echo "make install installs no '$entry'"
)"
# shellcheck disable=SC2046 # one word each
run $(instruction CMD)
report "container: bench takes the words of CMD" "$(fault_of 0)"

# ---- the container: packages -------------------------------------------------------------------

# depends NAME...: these packages and all that they depend on, as far as this machine has them.
depends() {
    dpkg-query -W -f '${Package}|${Pre-Depends}, ${Depends}\n' | awk -F '|' -v names="$*" '
        {
            name = $1
            sub(/^[^|]*\|/, "")
            gsub(/\([^)]*\)|:[a-z]+/, "")
            gsub(/[,|]/, " ")
            needs[name] = needs[name] " " $0
        }
        END {
            n = split(names, queue, " ")
            for (i = 1; i <= n; i++) {
                if (seen[queue[i]]++) continue
                print queue[i]
                many = split(needs[queue[i]], more, " ")
                for (k = 1; k <= many; k++) queue[++n] = more[k]
            }
        }'
}
# named STAGE: the packages that a stage installs, one a line.
named() {
    awk -v stage="$1" '/^FROM / { at++ } at == stage && /^apt-get install / {
        for (i = 3; i <= NF; i++) if ($i !~ /^-/) print $i }' "$STUB_RAN"
}
# libraries: what the program, its plugins and the CPU runtimes that were set up are linked with.
libraries() {
    local file
    for file in "$bench" "$sim" "${bench%/*}/libpjrt_record.so" \
        $(find "${BENCH_RUNTIMES:-third_party/runtimes}"/xla_cpu* -name '*.so' 2>/dev/null); do
        ldd "$file"
    done | awk '$2 == "=>" && $3 ~ /^\// { print $3; print "/usr" $3 }' | sort -u
}
# unlike: says why packages of the container cannot be looked up here.
unlike() {
    command -v dpkg-query >/dev/null || { echo "no dpkg-query"; return; }
    grep -q "^FROM [^ ]*/debian:$(. /etc/os-release && echo "${VERSION_ID:-?}")\b" "$folder/instructions" ||
        echo "this is another system than the container's"
    # shellcheck disable=SC2086 # one word per package is meant
    dpkg-query -W $listed >/dev/null 2>&1 || echo "not all of setup/packages.txt is installed"
}

listed=$(awk '!/^#/ && NF && $2 !~ /^@/ { printf "%s ", $1 }' setup/packages.txt)
why=$(unlike | head -n 1)
report "container: package lists are fetched before packages" "$(
    awk '/^FROM / { fresh = 0 } /^apt-get update$/ { fresh = 1 }
        /^apt-get install / && !fresh { print "not before: " $0 }' "$STUB_RAN"
    for stage in 1 2; do [ -n "$(named $stage)" ] || echo "stage $stage installs nothing"; done
)"
if [ -n "$why" ]; then
    skip "container: packages are those of the set-up, or libraries of theirs" "$why"
    skip "container: the image has the libraries of the program" "$why"
else
    # git and make are what the README asks of a machine.
    report "container: packages are those of the set-up, or libraries of theirs" "$(
        { named 1; named 2; } | grep -vxF -f <(depends $listed git make)
    )"
    if sanitized; then
        skip "container: the image has the libraries of the program" "a sanitizer has libraries of its own"
    else
        # apt, with what it depends on, is in Debian's image.
        report "container: the image has the libraries of the program" "$(
            owners=$(dpkg -S $(libraries) 2>/dev/null | sed '/^diversion/d; s/[:,].*//' | sort -u)
            grep -q '^libhdf5' <<<"$owners" || echo "nobody knows whose libraries these are"
            grep -vxF -f <(depends $(named 2) apt) <<<"$owners"
        )"
    fi
fi

# ---- nights ------------------------------------------------------------------------------------

tiny_suite '"capture"' 2
# placed FOLDER: standard input with places of this test. FOLDER has what /var/lib and /etc would have.
placed() {
    sed "s,/usr/local/bin/bench\b,$stubs/bench,g; s,/var/lib/,$1/,g; s,/etc/bench-,$1/bench-,g
        s,--suite nightly\b,--suite $folder/suite.json,g"
}
# names FILE TEXT: faults of the program and the suite that the text of FILE names.
names() {
    local name
    name=$(sed -n 's/.*--suite \([^ ]*\).*/\1/p' <<<"$2")
    [ -e "suites/$name.json" ] || echo "$1: no suite '$name' comes with bench"
    [[ $2 != */bin/bench* || $2 == *$(sed -n 's/^PREFIX ?= *//p' Makefile)/bin/bench* ]] ||
        echo "$1: make install installs another bench"
}
# lasted FOLDER STATUS TEXT: faults of a night in FOLDER that ends with STATUS and says TEXT.
lasted() {
    [ "$status" -eq "$2" ] || echo "exit status $status, not $2"
    grep -q "^nightly: $3" "$folder/out" || echo "it does not say '$3'"
    [ -n "$(find "$1/bench/store" -name '*.h5' 2>/dev/null)" ] || echo "no records in the store"
    [ -s "$1/bench/report/index.html" ] || echo "no page in report"
}

# unit KEY: its value in the service.
unit() { sed -n "s/^$1=//p" $service; }
# serve: runs the service's command as systemd does; its exit status goes to $status.
serve() {
    local given word
    local -a words=()
    given=$(unit Environment)
    for word in $(unit ExecStart | placed "$folder/service"); do
        case $word in
        "\${${given%%=*}}") words+=("${given#*=}") ;;
        *\$*) status=127 && echo "nothing gives $word" >"$folder/err" && return ;;
        *) words+=("$word") ;;
        esac
    done
    mkdir -p "$folder/service/$(unit StateDirectory)"
    (cd "$(unit WorkingDirectory | placed "$folder/service")" && "${words[@]}") \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
serve
report "service: the first night" "$(
    lasted "$folder/service" 4 'inconclusive: this is the first good night'
    names $service "$(unit ExecStart)"
)"
serve
report "service: the second one, of the same build" "$(lasted "$folder/service" 0 'no slowdown found')"
report "service: bench takes all of its words" "$(accepted)"
report "service: exit codes 0 and 4 are successes, all others failures" "$(
    for code in $(documented nightly); do
        case $code in 0 | 4) wanted=success ;; *) wanted=failure ;; esac
        is=failure
        [[ " 0 $(unit SuccessExitStatus) " != *" $code "* ]] || is=success
        [ $wanted = $is ] || echo "$code is a $is"
    done
)"

# systemd looks for the program.
mkdir "$folder/units"
sed "s,/usr/local/bin/bench\b,$bench," $service >"$folder/units/${service##*/}"
cp contrib/bench-nightly.timer "$folder/units"
if command -v systemd-analyze >/dev/null; then
    report "systemd finds nothing wrong with the service and the timer" "$(
        systemd-analyze verify --man=no "$folder"/units/* >"$folder/out" 2>&1 || echo "exit status $?"
        grep -F bench-nightly "$folder/out"
    )"
else
    skip "systemd finds nothing wrong with the service and the timer" "no systemd-analyze"
fi

# tick: runs the command of cron's line, as cron does.
read -r minute hour day month weekday user command < <(grep -v '^#' $cron)
tick() {
    (cd / && env PATH=/usr/bin:/bin SHELL=/bin/sh /bin/sh -c "$(placed "$folder/cron" <<<"$command")") \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
report "cron: a line with times, a user and a command" "$(
    [ "$(grep -vc '^#' $cron)" -eq 1 ] || echo "not one line"
    [ -z "$(tail -c 1 $cron)" ] || echo "cron wants a newline at the end"
    for time in "$minute:59" "$hour:23" "$day:31" "$month:12" "$weekday:7"; do
        [ "${time%:*}" = '*' ] || { [[ ${time%:*} =~ ^[0-9]+$ ]] && [ "${time%:*}" -le "${time#*:}" ]; } ||
            echo "$time: no such time"
    done
    [ "$user" = root ] || echo "the user is '$user'"
    [[ $command != *%* ]] || echo "for cron a % ends the line"
    grep -qE '^#.* /etc/cron\.d/[A-Za-z0-9_-]+( |$)' $cron || echo "cron would not read a file of that name"
)"
mkdir "$folder/cron"
tick
report "cron: the first night, on a machine without a folder for it" "$(
    fault_of 0
    status=$(sed -n 's/^bench nightly: exit //p' "$folder/out")
    status=${status:-0}
    lasted "$folder/cron" 4 'inconclusive: this is the first good night'
    grep -qx unknown "$asked" || echo "the label is not 'unknown'"
    names $cron "$command"
)"
report "cron: bench takes all of its words" "$(accepted)"
echo "build 2100" >"$folder/cron/bench-label"
report "cron: the mail names each exit code but 0" "$(
    for code in $(documented nightly); do
        STUB_CODE=$code tick
        [ "$code" -eq 0 ] && wanted= || wanted="bench nightly: exit $code"
        [ "$(grep -v '^a comparison$' "$folder/out")" = "$wanted" ] || echo "it does not say '$wanted'"
    done
    grep -qx "build 2100" "$asked" || echo "the label is not that of /etc/bench-label"
)"
rm -r "$folder/cron" && : >"$folder/cron"
tick
report "cron: where the folder cannot be made, nothing is called slower" "$(
    grep -qx 'bench nightly: exit 1' "$folder/out" || echo "the mail does not say exit 1"
)"

# The night in a container, as its comment shows it.
shown=$(sed -n '/^#   podman run /,/[^\\]$/s/^# *//p' $container | sed 's/\\$//' | tr -d '\n')
place=$(instruction WORKDIR | placed "$folder/volume")
mkdir -p "$place"
read -ra words < <(placed "$folder/volume" <<<"${shown#* bench }")
(cd "$place" && "$stubs/bench" "${words[@]}") >"$folder/out" 2>"$folder/err" </dev/null
status=$?
report "container: the night that its comment shows" "$(
    lasted "$folder/volume" 4 'inconclusive: this is the first good night'
    names $container "$shown"
    [[ $shown == *" -v "*":$(instruction WORKDIR) "* ]] || echo "the volume is not in $(instruction WORKDIR)"
)"
report "container: bench takes all of its words" "$(accepted)"

echo "1..$count"
