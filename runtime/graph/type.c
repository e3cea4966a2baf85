/* type.c - element types and shapes. */
#include "runtime/graph/graph.h"

#include <string.h>

static const struct {
    const char *text;
    int64_t bytes;
    enum { BOOL, SIGNED, UNSIGNED, FLOAT } number;
} dtypes[TG_DTYPE_COUNT] = {
#define X(dtype, text, bytes, number) [dtype] = {text, bytes, number},
    TG_DTYPES(X)
#undef X
};

const char *tg_dtype_text(tg_dtype dtype)
{
    return dtype < TG_DTYPE_COUNT ? dtypes[dtype].text : "?";
}

int64_t tg_dtype_bytes(tg_dtype dtype)
{
    return dtypes[dtype].bytes;
}

bool tg_dtype_is_float(tg_dtype dtype)
{
    return dtypes[dtype].number == FLOAT;
}

bool tg_dtype_is_unsigned(tg_dtype dtype)
{
    return dtypes[dtype].number == UNSIGNED;
}

tg_dtype tg_dtype_parse(const char *text)
{
    tg_dtype d = 0;
    while (d < TG_DTYPE_COUNT && strcmp(dtypes[d].text, text) != 0)
        d++;
    return d;
}

tg_type tg_type_make(tg_dtype dtype, int32_t rank, const int64_t *dims)
{
    tg_type type = {.rank = rank, .dtype = dtype};
    for (int32_t i = 0; i < rank && i < TG_MAX_RANK; i++)
        type.dims[i] = dims[i];
    return type;
}

bool tg_type_equal(const tg_type *a, const tg_type *b)
{
    if (a->rank != b->rank || a->dtype != b->dtype)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

int64_t tg_type_elements(const tg_type *type)
{
    int64_t n = 1;
    for (int32_t i = 0; i < type->rank; i++)
        n *= type->dims[i];
    return n;
}

int64_t tg_type_bytes(const tg_type *type)
{
    return tg_type_elements(type) * tg_dtype_bytes(type->dtype);
}

void tg_type_write(const tg_type *type, bn_text *out)
{
    bn_text_puts(out, "tensor<");
    for (int32_t i = 0; i < type->rank; i++) {
        bn_text_int(out, type->dims[i]);
        bn_text_putc(out, 'x');
    }
    bn_text_puts(out, tg_dtype_text(type->dtype));
    bn_text_putc(out, '>');
}
