/* fuzz_bytecode.c - any bytes as a program in MLIR's byte code: its declarations are read as a
 * whole or not at all. */
#include "tests/fuzz/fuzz.h"

#include "runtime/stablehlo/stablehlo.h"

static void check_text(const char *text)
{
    if (text)
        fuzz_touch(text, strlen(text));
}

static void check_value(const shlo_value *v)
{
    fuzz_require(memchr(v->dtype, 0, sizeof v->dtype) != NULL, "a type's name without an end");
    fuzz_require(v->rank <= SHLO_MOST_RANK && (v->tensor || v->rank == 0),
                 "a rank that is too large");
    for (size_t i = 0; i < v->rank; i++)
        fuzz_require(v->dims[i] >= -1, "a dimension below -1");
    fuzz_require(v->result >= -1, "a result that there is not");
    check_text(v->layout);
    check_text(v->memory);
    check_text(v->constant);
    check_text(v->sharding);
    check_text(v->encoding);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    shlo_declared declared;
    bn_code code = shlo_declared_read_bytecode(data, size, &declared, &st);
    fuzz_status(code, &st);
    for (size_t i = 0; code == BN_OK && i < declared.argument_count; i++)
        check_value(&declared.arguments[i]);
    for (size_t i = 0; code == BN_OK && i < declared.result_count; i++)
        check_value(&declared.results[i]);
    fuzz_require(declared.highest_device >= -1 && declared.mesh >= 0, "devices below none");
    fuzz_require(memchr(declared.collective, 0, sizeof declared.collective) != NULL,
                 "an op's name without an end");
    shlo_declared_free(&declared);
    bn_status other = {0};
    shlo_source source = {.line = 0};
    code = shlo_source_read_bytecode(data, size, &source, &other);
    fuzz_status(code, &other);
    fuzz_require(memchr(source.file, 0, sizeof source.file) != NULL, "a file without an end");
    fuzz_require((code == BN_OK) == (source.line > 0), "a line that was not found");
    return 0;
}
