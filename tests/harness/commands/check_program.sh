#!/bin/bash
# check_program.sh - bench --program from outside, as TAP: arguments from files and
# made up, results written and compared, the record. Steps are test_plain.c's.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../../.." || exit 1
. tests/support/cli.sh

other=(--processes 1 --steps 3 --min-time 0 --warmup 8 --store "$store")
affine=(--processes 1 --program tests/programs/affine.mlir --steps 3 --min-time 0 --warmup 8 --store "$store")

# npy FILE DESCR SHAPE VALUES: a file as NumPy would write it, by the standard library.
npy() {
    "$python" - "$@" <<'PYTHON'
import struct, sys
path, descr, shape, values = sys.argv[1:]
head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
head += " " * (-(len(head) + 11) % 64) + "\n"
code = {"<f4": "f", "<f8": "d", "<i4": "i", "|u1": "B"}[descr]
data = b"".join(struct.pack("<" + code, float(v) if code in "fd" else int(v)) for v in values.split())
open(path, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
PYTHON
}
npy "$folder/w.npy" '<f4' '(2, 3)' '1 2 3 4 5 6'
npy "$folder/x.npy" '<f4' '(3,)' '1 0 -1'
npy "$folder/b.npy" '<f4' '(2,)' '10 20'
npy "$folder/y.npy" '<f4' '(2,)' '8 18'
npy "$folder/v.npy" '<f4' '(2, 3)' '0.9 2 3.1 3.9 5 6.1'
npy "$folder/wrong.npy" '<f4' '(2,)' '8 18.5'
npy "$folder/long.npy" '<f8' '(3,)' '1 0 -1'
inputs=(--input "$folder/w.npy" --input "$folder/x.npy" --input "$folder/b.npy")

run "${affine[@]}" "${inputs[@]}" --check "$folder/y.npy" --check "$folder/v.npy" \
    --output "$folder/out0.npy" --output "$folder/out1.npy" --format json
report "results of the first execution are right, whatever is donated later" "$(
    fault_of 0
    cmp "$folder/out0.npy" "$folder/y.npy"
    holds '
[r] = records
e = r["experiment"]
assert (e["model"], e["phase"], e["mode"]) == ("affine", "program", "program"), e
assert r["steps"] >= 3 and len(r["executions"]) == 1
x = r["executions"][0]
assert (x["arguments"], x["results"]) == (3, 2)
p = r["provenance"]["program"]
assert len(p["sha256"]) == 64 and p["made_up"] is False and p["arguments"] == 3
'
)"

# The room for a name ends in the middle of the é.
long=$(printf 'n%.0s' {1..62})
cp tests/programs/affine.mlir "$folder/${long}é.mlir"
run --processes 1 --program "$folder/${long}é.mlir" --steps 3 --min-time 0 --warmup 8 "${inputs[@]}" \
    --store "$folder/long" --format json
report "a long name is cut between characters" "$(
    fault_of 0
    holds 'assert [r["experiment"]["model"] for r in records] == ["n" * 62], "another name"'
)"

run "${affine[@]}" "${inputs[@]}" --check "$folder/wrong.npy" --format json
report "a wrong result is reported and recorded as such" "$(
    fault_of 1 "result 0" "1 of 2" "18, " "18.5"
    holds 'assert [r["status"] for r in records] == ["wrong-result"]'
)"
run "${affine[@]}" "${inputs[@]}" --check "$folder/wrong.npy" --atol 1
report "within a tolerance it is right" "$(fault_of 0)"
run "${affine[@]}" "${inputs[@]}" --check "$folder/x.npy"
report "a result of another shape is wrong" "$(fault_of 1 "result 0 is tensor<2xf32>")"

run "${affine[@]}" --output "$folder/a0.npy" --output "$folder/a1.npy"
status1=$status
run "${affine[@]}" --output "$folder/b0.npy" --output "$folder/b1.npy"
report "made-up arguments are the same each time" "$(
    fault_of 0
    [ "$status1" -eq 0 ] || echo "exit status $status1"
    cmp "$folder/a0.npy" "$folder/b0.npy"
    cmp "$folder/a1.npy" "$folder/b1.npy"
)"

run --processes 1 --program tests/programs/types.mlir --steps 2 --min-time 0 --store "$store" \
    $(for i in $(seq 0 14); do echo --output "$folder/t$i.npy"; done)
first=$status
run --processes 1 --program tests/programs/types.mlir --steps 2 --min-time 0 --store "$store" \
    $(for i in $(seq 0 14); do echo --input "$folder/t$i.npy" --check "$folder/t$i.npy"; done)
report "every element type goes through a file and comes back" "$(
    fault_of 0
    [ "$first" -eq 0 ] || echo "exit status $first"
)"

# ---- what a program declares is honoured, or it is refused -----------------------------------

# program NAME ARGUMENTS RESULT: x + 2 y, both as declared, in folder/NAME.mlir.
program() {
    local t=${4:-tensor<2x3x4xf32>}
    cat >"$folder/$1.mlir" <<MLIR
module @declared {
  func.func public @main($2) -> ($t $3) {
    %two = stablehlo.add %y, %y : $t
    %r = stablehlo.add %x, %two : $t
    return %r : $t
  }
}
MLIR
}
count_to() { # FILE SHAPE FACTOR COUNT
    npy "$folder/$1.npy" '<f4' "$2" "$("$python" -c "print(*[$3 * i for i in range($4)])")"
}
count_to lx '(2, 3, 4)' 1 24
count_to ly '(2, 3, 4)' 10 24
count_to lz '(2, 3, 4)' 21 24
L='tensor<2x3x4xf32>'
program l1 "%x: $L {mhlo.layout_mode = \"{0,1,2}\"}, %y: $L" ''
program l2 "%x: $L, %y: $L {mhlo.layout_mode = \"{1,2,0}\"}" ''
program l3 "%x: $L, %y: $L" '{mhlo.layout_mode = "{0,2,1}"}'
program l4 "%x: $L {mhlo.layout_mode = \"{2,0,1}\"}, %y: $L {mhlo.layout_mode = \"auto\"}" '{mhlo.layout_mode = "auto"}'
program l5 "%x: $L {mhlo.layout_mode = \"{0,1,2}\", jax.buffer_donor = true}, %y: $L" '{mhlo.layout_mode = "{0,1,2}"}'
program l6 "%x: $L {mhlo.layout_mode = \"default\"}, %y: $L {mhlo.layout_mode = \"{2,1,0}\"}" ''
for runtime in cpu cpu-xla sim; do
    report "values lie as the program declares: $runtime" "$(
        for which in l1 l2 l3 l4 l5 l6; do
            run "${other[@]}" --runtime $runtime --program "$folder/$which.mlir" --input "$folder/lx.npy" \
                --input "$folder/ly.npy" --check "$folder/lz.npy" --format json
            [ "$status" -eq 0 ] || echo "$which: exit status $status: $(complaints)"
            holds 'assert records[0]["provenance"]["program"]["declared"] == {"form": "text", "types": "compiled", "devices": "program"}'
        done
    )"
done
# A result by columns that becomes the argument of the next step: three steps of x = x + 2 y.
program l7 "%x: $L {mhlo.layout_mode = \"{0,1,2}\", tf.aliasing_output = 0 : i32}, %y: $L" '{mhlo.layout_mode = "{0,1,2}"}'
for runtime in cpu cpu-xla sim; do
    run "${other[@]}" --runtime $runtime --program "$folder/l7.mlir" --input "$folder/lx.npy" --input "$folder/ly.npy" \
        --check "$folder/lz.npy" --format json
    report "what iterates keeps its layout: $runtime" "$(
        fault_of 0
        holds 'assert records[0]["counters"]["transfers_to_device"] == 2, records[0]["counters"]'
    )"
done

# Tiles are the compiler's: a runtime that lays out no such value runs no such program.
program t1 "%x: $L {mhlo.layout_mode = \"{2,1,0:T(8,128)}\"}, %y: $L" ''
program t2 "%x: $L, %y: $L" '{mhlo.layout_mode = "{2,1,0:T(8,128)}"}'
run "${other[@]}" --runtime sim --program "$folder/t1.mlir"
report "no tiles, no program that asks for them" "$(fault_of 1 "T(8,128)")"
run "${other[@]}" --runtime sim --program "$folder/t2.mlir"
report "nor for results in them" "$(fault_of 1 "T(8,128)")"

program constant "%x: tensor<f32> {jax.global_constant = \"_platform_index\"}, %y: tensor<f32>" '' 'tensor<f32>'
npy "$folder/c.npy" '<f4' '()' '3'
npy "$folder/c9.npy" '<f4' '()' '9'
refuses "a constant of whoever exported the program is not made up" 2 "_platform_index" -- \
    "${other[@]}" --program "$folder/constant.mlir"
run "${other[@]}" --program "$folder/constant.mlir" --input "$folder/c.npy" --input "$folder/c.npy" --check "$folder/c9.npy"
report "but may be given" "$(fault_of 0)"

devices() { # NAME LINE...: a program of these lines
    printf '%s\n' "${@:2}" >"$folder/$1.mlir"
    run "${other[@]}" --program "$folder/$1.mlir" --runtime "${runtime:-cpu}" --format json
    report "a program for several devices is refused: $1" "$(
        fault_of 1 "one device"
        [ "$(stored)" = "$before" ] || echo "it left a record"
    )"
}
before=$(stored)
for runtime in cpu sim; do
    devices partitions 'module attributes {mhlo.num_partitions = 2 : i32} {' \
        'func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {' 'return %a : tensor<8xf32>' '} }'
    devices mesh 'module {' 'sdy.mesh @m = <["x"=4, "y"=2]>' \
        'func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {' \
        'return %a : tensor<8xf32>' '} }'
    devices groups 'func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {' \
        '%r = "stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({' \
        '^bb0(%x: tensor<f32>, %y: tensor<f32>):' '%s = stablehlo.add %x, %y : tensor<f32>' \
        'stablehlo.return %s : tensor<f32>' '}) : (tensor<8xf32>) -> tensor<8xf32>' 'return %r : tensor<8xf32>' '}'
done

# 0.5, 1.25, -3, 7 and their doubles, each format's own bits; e8m0 has powers of two only.
for row in 'f8E4M3FN 30 3a c4 4e 38 42 cc 56' 'f8E5M2 38 3d c2 47 3c 41 c6 4b' \
    'f8E4M3FNUZ 38 42 cc 56 40 4a d4 5e' 'f8E5M2FNUZ 3c 41 c6 4b 40 45 ca 4f'; do
    read -r type a b c d e f g h <<<"$row"
    npy "$folder/f8.npy" '|u1' '(4,)' "$((0x$a)) $((0x$b)) $((0x$c)) $((0x$d))"
    npy "$folder/f8twice.npy" '|u1' '(4,)' "$((0x$e)) $((0x$f)) $((0x$g)) $((0x$h))"
    printf '%s\n' "func.func @main(%a: tensor<4x$type>) -> tensor<4x$type> {" \
        "%w = stablehlo.convert %a : (tensor<4x$type>) -> tensor<4xf32>" \
        '%d = stablehlo.add %w, %w : tensor<4xf32>' \
        "%r = stablehlo.convert %d : (tensor<4xf32>) -> tensor<4x$type>" "return %r : tensor<4x$type>" '}' >"$folder/f8.mlir"
    run "${other[@]}" --program "$folder/f8.mlir" --input "$folder/f8.npy" --check "$folder/f8twice.npy"
    report "floats of 8 bits are passed as their bits: $type" "$(fault_of 0)"
    run "${other[@]}" --program "$folder/f8.mlir" --input "$folder/f8.npy" --check "$folder/f8.npy"
    report "and compared as numbers: $type" "$(fault_of 1 "want 7")"
    run "${other[@]}" --program "$folder/f8.mlir"
    report "and made up: $type" "$(fault_of 0)"
done

# ---- memory ----------------------------------------------------------------------------------

# Results of 32 MiB: a step has the last one's and its own, and a probe no more where there is no room.
cat >"$folder/large.mlir" <<'MLIR'
func.func @main(%a: tensor<f32>) -> tensor<8388608xf32> {
  %r = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<8388608xf32>
  return %r : tensor<8388608xf32>
}
MLIR
for mib in 70 100 160; do
    run "${other[@]}" --program "$folder/large.mlir" --runtime sim --runtime-option values=none --device-time slope \
        --runtime-option memory_bytes=$((mib << 20)) --format json
    report "a probe takes no more memory than the device has: $mib MiB" "$(
        fault_of 0
        holds "
[r] = records
memory = r['provenance']['device_memory']
assert memory['limit_bytes'] == $mib << 20 and 32 << 20 < memory['peak_bytes'] <= $mib << 20, memory
assert r['executions'][0]['device_ns'] > 0"
    )"
done
run "${other[@]}" --program "$folder/large.mlir" --runtime sim --runtime-option values=none \
    --runtime-option memory_bytes=$((60 << 20)) --format json
report "a step that does not fit is refused as that" "$(
    fault_of 1 33554432
    holds 'assert [r["status"] for r in records] == ["out-of-memory"], records[0]["status"]'
)"

# Edited while the first of two processes measures.
cp tests/programs/affine.mlir "$folder/edited.mlir"
rm -f "$folder/err"
"$bench" --processes 2 --program "$folder/edited.mlir" --runtime sim --steps 3 --min-time 2 --warmup 8 \
    --store "$folder/edited" --verbose --format json >"$folder/out" 2>"$folder/err" </dev/null &
job=$!
await 60 grep -qs '  measuring' "$folder/err"
sed 's/stablehlo.add/stablehlo.subtract/' tests/programs/affine.mlir >"$folder/next.mlir"
mv "$folder/next.mlir" "$folder/edited.mlir"
wait $job
status=$?
report "a text that is edited while it runs is not measured under the digest of the old one" "$(
    cmp -s tests/programs/affine.mlir "$folder/edited.mlir" && echo "it was not edited"
    fault_of 1 "edited.mlir"
    holds '
import hashlib
text = open("tests/programs/affine.mlir", "rb").read()
assert sorted(r["status"] for r in records) == ["ok", "plugin-changed"], records
for r in records:
    assert r["status"] != "ok" or r["provenance"]["program"]["sha256"] == hashlib.sha256(text).hexdigest()
'
)"

refuses "too few inputs" 2 "1 times|3 arguments" -- "${affine[@]}" --input "$folder/w.npy"
before=$(stored)
refuses "an input of another type" 2 "tensor<3xf64>|tensor<3xf32>" -- \
    "${affine[@]}" --input "$folder/w.npy" --input "$folder/long.npy" --input "$folder/b.npy"
refuses "an input that is not there" 3 "/nowhere/x.npy" -- \
    "${affine[@]}" --input "$folder/w.npy" --input /nowhere/x.npy --input "$folder/b.npy"
head -c 90 "$folder/w.npy" >"$folder/cut.npy"
refuses "an input that is cut off" 3 "cut.npy" -- \
    "${affine[@]}" --input "$folder/cut.npy" --input "$folder/x.npy" --input "$folder/b.npy"
refuses "an output that cannot be written" 3 "/nowhere/y.npy" -- "${affine[@]}" "${inputs[@]}" --output /nowhere/y.npy
refuses "what is to be compared with is not there" 3 "/nowhere/y.npy" -- \
    "${affine[@]}" "${inputs[@]}" --check /nowhere/y.npy
refuses "nor is it an array" 3 "affine.mlir" -- "${affine[@]}" "${inputs[@]}" --check tests/programs/affine.mlir
report "none of these left a record" "$([ "$(stored)" = "$before" ] || echo "$(stored) records, not $before")"
refuses "a program that is not there" 3 "/nowhere/f.mlir" -- --program /nowhere/f.mlir --store "$store"
refuses "a program that is none" 3 "@main" -- --program tests/support/cli.sh --store "$store"
refuses "outputs without a program" 2 "--program" -- --output x.npy --store "$store"
printf 'func.func @main(%%a: tensor<2xf32>) -> tensor<2xf32> { return %%b : tensor<2xf32> }\n' \
    >"$folder/bad.mlir"
run --processes 1 --program "$folder/bad.mlir" --store "$store" --format json
report "a program that does not compile" "$(
    fault_of 1 "bad"
    holds 'assert [r["status"] for r in records] == ["compile-error"], records[0]["status"]'
    grep -qE '^\[1/1\] program bad on cpu, .*: compile-error in [0-9.]+ s$' "$folder/err" ||
        echo "its line of progress does not say so"
)"

# XLA's own form, by hand: a + a of two floats, which gives its memory to the result.
"$python" - "$folder/double.hlo" "$folder/double.pb" <<'PYTHON'
import sys
def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])
def put(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value
shape = put(2, 11) + put(3, b"\x02") + put(5, put(1, b"\x00"))
program = put(1, shape) + put(2, shape) + put(3, "a")
parameter = put(1, "a") + put(2, "parameter") + put(3, shape) + put(9, 0) + put(35, 1)
add = put(1, "r") + put(2, "add") + put(3, shape) + put(35, 2) + put(36, b"\x01\x01")
main = put(1, "main") + put(2, parameter) + put(2, add) + put(4, program) + put(5, 1) + put(6, 2)
module = put(1, "double") + put(2, "main") + put(3, main) + put(4, program) + put(5, 7) + put(6, 1)
module += put(8, put(1, b""))
open(sys.argv[1], "wb").write(module)
open(sys.argv[2], "wb").write(put(1, module))
PYTHON
npy "$folder/a.npy" '<f4' '(2,)' '1 20'
npy "$folder/a2.npy" '<f4' '(2,)' '2 40'
for file in double.hlo double.pb; do
    run "${other[@]}" --program "$folder/$file" --input "$folder/a.npy" --check "$folder/a2.npy" \
        --format json
    report "a program in XLA's own form: $file" "$(
        fault_of 0
        holds '
[r] = records
assert r["experiment"]["model"] == "double", r["experiment"]
assert r["executions"][0]["arguments"] == 1 and r["executions"][0]["results"] == 1
assert r["counters"]["transfers_to_device"] == 1, r["counters"]
'
    )"
done
for types in 's32[2]' 'f32[1,2]' 'f32[4]' none; do
    refuses "other types than those that the program tells: $types" 2 "--argument" -- \
        "${other[@]}" --program "$folder/double.hlo" --argument "$types"
done
run "${other[@]}" --program "$folder/double.hlo" --argument 'f32[2]' --input "$folder/a.npy" --check "$folder/a2.npy"
report "the types that it tells may be given" "$(fault_of 0)"
refuses "types without a program" 2 "--argument|--program" -- \
    --argument 'f32[2]' --store "$store"

printf 'ML\357RStableHLO' >"$folder/step.mlirbc"
refuses "byte code without types" 2 "--argument" -- "${other[@]}" --program "$folder/step.mlirbc"
refuses "byte code with a type that is none" 2 "--argument 2|'f32'" -- \
    "${other[@]}" --program "$folder/step.mlirbc" --argument 's32[]' --argument f32
run "${other[@]}" --program "$folder/step.mlirbc" --argument 'f32[2]' --format json
report "byte code that the runtime refuses" "$(
    fault_of 1 "step"
    holds 'assert [r["status"] for r in records] == ["compile-error"], records[0]["status"]'
)"
unread=tests/fuzz/corpus/bytecode/unread
for runtime in cpu cpu-xla; do
    run "${other[@]}" --program $unread --runtime $runtime --argument 's8[3]'
    report "types that only the compiled program tells, and cannot be passed: $runtime" "$(fault_of 1 i4)"
done
sed 's/jax.buffer_donor/mhlo.memory_kind/' tests/fuzz/corpus/bytecode/declared-v6 >"$folder/spread.mlirbc"
refuses "devices of a byte code whose types are not known" 1 "partitions" -- \
    "${other[@]}" --program "$folder/spread.mlirbc" --argument none
run "${other[@]}" --program "$folder/step.mlirbc" --argument 'f32[2]' --runtime sim --format json
report "byte code on the simulated device wants to be stated" "$(
    fault_of 1 "opaque_arguments"
)"
run "${other[@]}" --program "$folder/step.mlirbc" --argument 'f32[2]' --runtime sim \
    --xla-flag 'opaque_arguments=f32[2]' --xla-flag 'opaque_results=f32[2];s32[]' \
    --xla-flag opaque_aliases=0:0 --xla-flag opaque_device_us=250 --xla-flag opaque_name=program \
    --format json
report "and is then an opaque program" "$(
    fault_of 0
    holds '
[r] = records
assert r["values"] == "opaque" and r["simulated"] is True, r["values"]
[x] = r["executions"]
assert (x["arguments"], x["results"]) == (1, 2), x
assert abs(x["device_ns"] - 250e3) < 1, x
assert r["counters"]["transfers_to_device"] == 1, r["counters"]
'
)"
run "${other[@]}" --program "$folder/step.mlirbc" --argument none --runtime sim \
    --xla-flag 'opaque_results=f32[2]' --xla-flag opaque_device_us=250
report "which the table says" "$(
    fault_of 0
    grep -q "simulated, opaque" "$folder/out" || echo "nothing says opaque"
)"

run "${quick[@]}" --phase infer
run table --store "$store"
report "programs and models stand in one table" "$(
    fault_of 0
    for text in affine types resnet18; do
        grep -q "$text" "$folder/out" || echo "no $text"
    done
    grep -qE "^program +.*[(][0-9]+ of [0-9]+[)]" "$folder/out" && echo "a mean of programs"
)"

echo "1..$count"
