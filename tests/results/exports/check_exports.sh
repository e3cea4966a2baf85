#!/bin/bash
# check_exports.sh - tables in all formats, exports and the import from outside, as TAP:
# what the simulated runtime measured, read by tests/results/exports/read_exports.py with Python's own
# csv, json and html. full_export_readers.sh has the tools that the files are for.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh
out=$folder/exports
mkdir -p "$out/odd"

# Two good records of one label, a repeated one, and one that fails.
export PJRT_SIM=device_us=500,values=none
for mode in lazy capture capture; do
    run run "${quick[@]}" --runtime sim --mode $mode --phase infer --label 0123abcd
    [ "$status" -eq 0 ] || report "a record in mode $mode" "exit status $status"
done
PJRT_SIM='device_us=500,values=none,faults=execute:3:fail' run run "${quick[@]}" --runtime sim --mode lazy
report "a store of three records and a failure" "$(
    [ "$status" -eq 1 ] || echo "the failure ended with $status"
    [ "$(stored)" -eq 4 ] || echo "$(stored) records"
)"

# ---- tables ------------------------------------------------------------------

for table in speedup executions ledger compile memory; do
    for format in text md csv json latex html; do
        run table --store "$store" --table $table --format $format
        cp "$folder/out" "$out/$table.$format"
        [ "$status" -eq 0 ] && [ -s "$folder/out" ] ||
            report "table $table as $format" "exit status $status"
    done
    report "the table $table says the same in every format" "$(
        "$python" tests/results/exports/read_exports.py table "$out" $table 2>&1 | tail -n 3
    )"
done
run list modes --format html
report "lists have the formats, too" "$(
    fault_of 0
    cp "$folder/out" "$out/list.html"
    "$python" tests/results/exports/read_exports.py html "$out/list.html" 2>&1 | tail -n 3
)"
refuses "a table that there is not" 2 "speedup, executions, ledger, goodput, compile, memory" -- \
    table --store "$store" --table speed
refuses "a format that there is not" 2 "text, md, csv, json, latex, html" -- \
    table --store "$store" --format pdf

# ---- exports -------------------------------------------------------------------

for format in google-benchmark benchstat asv hyperfine pytorch-xla pytorch-benchmark xla csv \
    chrome-trace xspace; do
    run export --store "$store" --to $format --output "$out/$format"
    report "export to $format" "$(
        fault_of 0
        "$python" tests/results/exports/read_exports.py export "$out/$format" $format 2>&1 | tail -n 3
    )"
done
report "a format that has no place for a failure has it named" "$(
    run export --store "$store" --to xspace --output "$out/again"
    fault_of 0 "1 of 4 records failed" "(execute-error)"
)"
run export --store "$store" --to hyperfine
report "without --output a file goes to standard output" "$(
    fault_of 0
    cmp "$folder/out" "$out/hyperfine"
)"
refuses "a folder needs a name" 2 "asv|--output" -- \
    export --store "$store" --to asv
refuses "nothing is overwritten" 2 "$out/csv|--force" -- \
    export --store "$store" --to csv --output "$out/csv"
before=$(cat "$out/csv")
echo old >"$out/csv"
run export --store "$store" --to csv --output "$out/csv" --force
report "with --force it is" "$(
    fault_of 0
    [ "$(cat "$out/csv")" = "$before" ] || echo "the file is another one"
)"
refuses "an export to nothing" 2 "--to|google-benchmark" -- \
    export --store "$store"
refuses "a format that there is not" 2 "excel" -- export --store "$store" --to excel
refuses "a store that there is not" 3 "no-store" -- \
    export --store "$folder/no-store" --to csv
[ -e /dev/full ] && {
    "$bench" export --store "$store" --to csv >/dev/full 2>"$folder/err"
    status=$?
    report "a full disk is reported" "$(fault_of 3 "standard output")"
}

# ---- import --------------------------------------------------------------------

line() { # DYNAMO TIMES
    printf '{"model": {"suite_name": "torchbench", "model_name": "alexnet"}, "experiment": '
    printf '{"accelerator": "cuda", "accelerator_model": "a card", "xla": "PJRT", '
    printf '"xla_flags": null, "dynamo": %s, "test": "train", "batch_size": 16}, ' "$1"
    printf '"repeat": 5, "iterations_per_run": 1, "metrics": {"total_time": %s}, ' "$2"
    printf '"timestamp": 1699680738.5}\n'
}
{
    line null '[9, 0.2, 0.2, 0.2, 0.2, 0.2]'
    line '"openxla"' '[15, 0.1, 0.1, 0.1, 0.1, 0.1]'
} >"$folder/a.jsonl"
run import --from pytorch-xla --store "$store" "$folder/a.jsonl"
report "lines become records" "$(
    fault_of 0
    grep -qx "2 records written to $store, 0 were there already" "$folder/out" || echo "no count"
    [ "$(stored)" -eq 6 ] || echo "$(stored) records"
)"
run import --from pytorch-xla --store "$store" "$folder/a.jsonl" "$folder/a.jsonl"
report "and only once" "$(
    fault_of 0
    [ "$(stored)" -eq 6 ] || echo "$(stored) records"
)"
run table --store "$store" --format json
report "they stand in the speedup table" "$(
    fault_of 0
    holds '
rows = [r for r in records["rows"] if r["runtime"].startswith("pytorch-xla on cuda")]
assert [r["mode"] for r in rows] == ["lazy", "capture"], rows
assert rows[0]["wall_ns"] == 2e8 and rows[1]["speedup"] == 2
for r in rows:
    assert r["trace_ns"] is None and r["nodes_per_step"] is None and r["compile_ns"] is None
'
)"
# Foreign names and messages go through every format: a name with all that tools split or cut
# at, flags as long as compilers have, a message of lines that look like results.
line null '[9, 0.2, 0.2, 0.2, 0.2, 0.2]' | sed 's|"alexnet"|"a \\"b\\" <c>\\n../d, e=\\u00a0f"|
    s|"xla_flags": null|"xla_flags": "'"$(printf -- '--xla_some_flag=%d ' {1..10})"'"|' >"$folder/odd.jsonl"
line null 0 | sed 's|"total_time": 0|"error": "no\\nBenchmarkNo 1 5 ns/op\\ncpu: none"|' >>"$folder/odd.jsonl"
run import --from pytorch-xla --store "$folder/odd" "$folder/odd.jsonl"
report "odd lines are read" "$(fault_of 0)"
for format in google-benchmark benchstat asv hyperfine pytorch-xla pytorch-benchmark xla csv \
    chrome-trace xspace; do
    run export --store "$folder/odd" --to $format --output "$out/odd/$format"
    [ "$status" -eq 0 ] || report "export of odd lines to $format" "exit status $status"
done
report "and exported" "$("$python" tests/results/exports/read_exports.py odd "$out/odd" 2>&1 | tail -n 3)"
{
    line null '[9, 0.2]'
    line null '"9"'
} >"$folder/b.jsonl"
refuses "a line that does not fit" 3 "b.jsonl:2: metrics.total_time" -- \
    import --from pytorch-xla --store "$folder/other" "$folder/b.jsonl"
report "and then nothing is written" "$(ls "$folder/other" 2>/dev/null)"
refuses "our own export" 3 "pytorch-xla:1: " -- \
    import --from pytorch-xla --store "$folder/other" "$out/pytorch-xla"
refuses "an import of nothing" 2 "import" -- import --from pytorch-xla
refuses "an import from nowhere" 2 "a.jsonl|--from pytorch-xla" -- \
    import --store "$folder/other" "$folder/a.jsonl"
refuses "a format that cannot be read" 2 "asv|pytorch-xla" -- \
    import --from asv --store "$folder/other" "$folder/a.jsonl"
refuses "a file that there is not" 3 "none.jsonl" -- \
    import --from pytorch-xla --store "$folder/other" "$folder/none.jsonl"
echo "1..$count"
