#!/bin/bash
# check_outputs.sh - files that commands are asked to write, as TAP: what was measured or compiled for them
# is not replaced without --force, and that is reported before anything runs; what can be made again from a store
# is replaced, and --force is no mistake there.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
export PJRT_SIM=values=none,device_us=200

# ---- all commands ---------------------------------------------------------------------------

"$bench" --man | sed -n 's/^\.SS bench //p' >"$folder/commands"
report "each command that has an option for a file or a page has --force" "$(
    writers=0
    while read -r command; do
        # shellcheck disable=SC2086 # one or two words
        "$bench" help $command >"$folder/help"
        # The folder of a recording is a new one: nothing is replaced, and nothing can be.
        [ "$command" != record ] || continue
        grep -qE '^  --(output|report|site|into-sim|timeline|trace|metrics|debug-run) ' "$folder/help" || continue
        writers=$((writers + 1))
        grep -q '^  --force ' "$folder/help" || echo "bench $command has none"
    done <"$folder/commands"
    [ $writers -ge 12 ] || echo "only $writers commands write"
)"

# ---- what is measured or compiled --------------------------------------------------------------

small=(--model resnet18 --variant small)
brief=(--runtime sim --phase infer --processes 1 --steps 3 --warmup 8 --min-time 0 --device-time none
    --store "$store")
program=(--program tests/programs/affine.mlir "${brief[@]:0:2}" "${brief[@]:4}")
estimate=(estimate --runtime "$fake" --topology v4:1x1x1/megacore "${small[@]}" --phase infer --cache-dir "$folder/kept")
export FAKE_PJRT=hlo

# spares OPTION FILE ARGUMENT...: bench with the arguments, which write FILE, leaves one that is there as it is,
# and starts nothing; with --force it replaces it.
spares() {
    local option=$1 file=$folder/$2
    shift 2
    echo mine >"$file"
    rm -rf "$store" "$folder/kept"
    run "$@" "$option" "$file"
    report "bench $1 does not replace the file of $option, and says so before it starts anything" "$(
        fault_of 2 "$option" "$file" "--force"
        [ ! -s "$folder/out" ] || echo "something on standard output"
        ! grep '^\[' "$folder/err" || echo "it had begun"
        [ ! -e "$store" ] && [ ! -e "$folder/kept" ] || echo "there is a store"
        [ "$(<"$file")" = mine ] || echo "the file was replaced"
    )"
    [ "$1" != selftest ] || return
    run "$@" "$option" "$file" --force
    report "with --force it does" "$(
        fault_of 0
        [ -s "$file" ] && ! grep -qx mine "$file" || echo "the file is as it was"
    )"
}
spares --metrics report.txt run "${small[@]}" "${brief[@]}" --mode lazy
spares --timeline trace.json run "${small[@]}" "${brief[@]}" --mode lazy
PJRT_SIM=values=auto spares --output y.npy run "${program[@]}"
spares --output lines.gp study batch "${small[@]}" "${brief[@]}" --batch 1,2
spares --output step.folded study scopes "${small[@]}" --runtime sim --steps 2
spares --into-sim v4.json "${estimate[@]}"
spares --output depth.gp estimate --runtime "$fake" --topology v4:1x1x1/megacore --model llama --variant small \
    --phase infer --cache-dir "$folder/kept" --depth 2,4
# check_coverage.sh has --force, since measuring takes longer.
spares --output raw.json selftest coverage --runtime sim --tables 1

# Of root a new file would take the name even of /dev/null.
mkfifo "$folder/pipe" "$folder/pipe.gp"
ln -s pipe "$folder/link"
for name in pipe link; do
    rm -rf "$store"
    refuses "no file takes the name of a $name, not even with --force" 2 \
        "--metrics|$folder/$name" -- \
        run "${small[@]}" "${brief[@]}" --mode lazy --metrics "$folder/$name" --force
    report "and nothing has begun" "$(
        [ -p "$folder/$name" ] || echo "it is no pipe any more"
        [ ! -e "$store" ] || echo "there is a store"
    )"
done
run run "${small[@]}" "${brief[@]}" --mode lazy --metrics -
report "standard output is no file" "$(fault_of 0)"
refuses "nor does a picture of a store take it" 2 "$folder/pipe.gp" -- \
    history --store "$store" --output "$folder/pipe.gp"

# ---- what is made from a store ------------------------------------------------------------------

# renews FILE ARGUMENT...: bench with the arguments replaces FILE, with --force and without.
renews() {
    local file=$folder/$1 more
    shift
    for more in '' --force; do
        echo mine >"$file"
        run "$@" --output "$file" $more
        report "bench $1 $more replaces a file, which a store makes again" "$(
            fault_of 0
            ! grep -qx mine "$file" || echo "the file is as it was"
        )"
    done
}
renews ledger.gp plot ledger --store "$store"
renews series.gp history --store "$store"
if command -v gnuplot >/dev/null; then
    renews page.html report --store "$store"
else
    skip "bench report replaces a page" "there is no gnuplot"
fi
for more in '' --force; do
    run report --store "$store" --site "$folder/site" $more
    report "bench report $more renews its site" "$(fault_of 0)"
done

echo "1..$count"
