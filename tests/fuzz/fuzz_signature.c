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
    bn_status st = {0};
    mode_argument *list = NULL;
    size_t count = 0, inner = size;
    const char *code = (const char *)data;
    if (mode_form_find(&code, &inner) == MODE_FORM_HLO) {
        fuzz_require(code >= (const char *)data && code + inner <= (const char *)data + size,
                     "a module outside of the bytes");
        bn_code read = mode_signature_read_hlo(code, inner, &list, &count, &st);
        check(read, &st, list, count);
        list = NULL;
        count = 0;
        st = (bn_status){0};
    }
    bn_code text = mode_signature_read((const char *)data, size, &list, &count, &st);
    check(text, &st, list, count);
    return 0;
}
