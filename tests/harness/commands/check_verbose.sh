#!/bin/bash
# check_verbose.sh - what each command does with --quiet, --verbose and --version, as TAP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
unset PJRT_NAMES_AND_LIBRARY_PATHS PJRT_DEVICE PJRT_LIBRARY_PATH
export PJRT_SIM=values=none,device_us=200

"$bench" --man | sed -n 's/^\.SS bench //p' >"$folder/commands"
"$bench" --version >"$folder/version"
report "each command takes -q, -v and --version, and has them in its help" "$(
    [ "$(wc -l <"$folder/commands")" -gt 20 ] || echo "not all commands"
    while read -r command; do
        for words in "-q -v" "--quiet --verbose"; do
            read -ra arguments <<<"$words"
            read -ra name <<<"$command"
            run "${name[@]}" "${arguments[@]}" --version
            fault_of 0
            cmp "$folder/out" "$folder/version" 2>&1 || echo "bench $command $words --version"
        done
        run help "${name[@]}"
        for option in --quiet --verbose --version; do
            [ "$(grep -cE -- "^  $option( |$)" "$folder/out")" -eq 1 ] || echo "not one $option of $command"
        done
    done <"$folder/commands"
)"

# ---- commands that read a store --------------------------------------------------------------

run run resnet18 --variant small --phase infer --processes 3 --steps 3 --warmup 8 --min-time 0s --device-time none \
    --runtime sim --store "$store" --quiet
report "there are three records" "$(
    fault_of 0
    [ "$(stored)" -eq 3 ] || stored
)"
for words in "report --plot ledger --output $folder/lone.gp" "report --output $folder/lone.html" \
    "report --site $folder/lone" history; do
    read -ra arguments <<<"$words"
    report "bench ${arguments[*]:0:2} --verbose says how many records were read, unless it is to be quiet" "$(
        run "${arguments[@]}" --store "$store" -v
        fault_of 0
        grep -qE '^3 records, of which [0-9]+ files were read' "$folder/err" || echo "it does not"
        for more in "" -q "-q -v"; do
            read -ra further <<<"$more"
            run "${arguments[@]}" --store "$store" "${further[@]}"
            fault_of 0
            ! grep 'files were read' "$folder/err" || echo "also with '$more'"
        done
    )"
done
rm -rf "$folder"/lone*

# ---- bench record ---------------------------------------------------------------------------------

# The program says itself what it finds.
run record --runtime sim --output "$folder/told" -v -- env
report "bench record --verbose says what the program finds in its environment" "$(
    fault_of 0
    sed -n 's/^bench: the program finds //p' "$folder/err" >"$folder/found"
    [ "$(wc -l <"$folder/found")" -ge 3 ] || echo "$(wc -l <"$folder/found") variables"
    grep -qxF "BENCH_RECORD_DIR=$folder/told" "$folder/found" || echo "nothing says where the recording goes"
    while read -r line; do
        grep -qxF -- "$line" "$folder/out" || echo "the program has no $line"
    done <"$folder/found"
)"
for words in "" -q "-q -v"; do
    read -ra arguments <<<"$words"
    rm -rf "$folder/told"
    run record "${arguments[@]}" --runtime sim --output "$folder/told" -- env
    report "it does not with '$words'" "$(
        fault_of 0
        ! grep 'the program finds' "$folder/err"
    )"
done
echo "1..$count"
