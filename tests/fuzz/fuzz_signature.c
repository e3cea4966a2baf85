/* fuzz_signature.c - the arguments of a program that others wrote (--program), in any form. */
#include "tests/fuzz/fuzz.h"

#include "modes/mode.h"

static void check(bn_code code, const bn_status *st, mode_argument *list, size_t count)
{
    fuzz_status(code, st);
    fuzz_require(code == BN_OK || (!list && count == 0), "arguments of a program that is refused");
    for (size_t i = 0; i < count; i++) {
        const mode_argument *a = &list[i];
        fuzz_require(a->dtype < RT_DTYPE_COUNT, "an element type that there is not");
        fuzz_require(a->rank <= RT_MAX_RANK, "more dimensions than there is room for");
        for (size_t d = 0; d < a->rank; d++)
            fuzz_require(a->dims[d] >= 0, "a dimension below zero");
        fuzz_require(mode_argument_bytes(a) >= 0, "a size below zero");
        fuzz_require(a->result >= -1, "a result that there is not");
    }
    free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *code = (const char *)data;
    size_t inner = size;
    const mode_form form = mode_form_find(&code, &inner);
    fuzz_require(code >= (const char *)data && code + inner <= (const char *)data + size,
                 "a module outside of the bytes");
    /* Whatever it is taken for, it may be any of them. */
    for (int i = 0; i < 2; i++) {
        bn_status st = {0};
        mode_argument *list = NULL;
        size_t count = 0;
        bool readable;
        const bool hlo = form == MODE_FORM_HLO && i == 0;
        const rt_program program = {.format = hlo ? "hlo" : "mlir",
                                    .code = hlo ? code : (const char *)data,
                                    .size = hlo ? inner : size};
        check(mode_signature_read(&program, &list, &count, &readable, &st), &st, list, count);
    }
    return 0;
}
