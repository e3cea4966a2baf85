/*
 * type.c - types of arguments as HLO writes them ("f32[2,3]"), and the forms of programs.
 */
#include "modes/mode_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[RT_DTYPE_COUNT] = {
    [RT_BOOL] = "pred", [RT_S8] = "s8",   [RT_S16] = "s16", [RT_S32] = "s32", [RT_S64] = "s64",
    [RT_U8] = "u8",     [RT_U16] = "u16", [RT_U32] = "u32", [RT_U64] = "u64", [RT_F16] = "f16",
    [RT_BF16] = "bf16", [RT_F32] = "f32", [RT_F64] = "f64", [RT_C64] = "c64", [RT_C128] = "c128",
};

/* Reads the dimensions behind the bracket that AT stands behind; returns what stands behind the
 * closing one, or NULL where they are none. */
static const char *read_dims(const char *at, mode_argument *a)
{
    while (*at != ']') {
        char *end;
        if (!isdigit((unsigned char)*at) || a->rank == RT_MAX_RANK)
            return NULL;
        const long long size = strtoll(at, &end, 10);
        if (size > INT64_MAX / 16 || (*end != ',' && *end != ']') || (*end == ',' && end[1] == ']'))
            return NULL;
        a->dims[a->rank++] = size;
        at = *end == ',' ? end + 1 : end;
    }
    return at + 1;
}

bn_code mode_type_parse(const char *text, mode_argument *a, bn_status *st)
{
    const size_t length = strcspn(text, "[");
    int dtype = 0;
    while (dtype < RT_DTYPE_COUNT &&
           !(strlen(names[dtype]) == length && memcmp(names[dtype], text, length) == 0))
        dtype++;
    *a = (mode_argument){.dtype = (rt_dtype)dtype, .result = -1};
    const char *rest = text[length] ? read_dims(text + length + 1, a) : NULL;
    /* A layout says how the device lays it out, which is the plugin's own affair. */
    if (rest && *rest == '{' && strchr(rest, '}'))
        rest = strchr(rest, '}') + 1;
    if (!rest || *rest)
        return bn_fail(st, BN_INVALID, "'%.60s' is not a type: f32[2,3] is one, s32[] another",
                       text);
    if (dtype == RT_DTYPE_COUNT)
        return bn_fail(st, BN_INVALID, "values of element type %.*s cannot be passed",
                       (int)(length < 40 ? length : 40), text);
    return BN_OK;
}

void mode_type_put(const mode_argument *a, bn_text *out)
{
    bn_text_printf(out, "%s[", names[a->dtype]);
    for (size_t i = 0; i < a->rank; i++)
        bn_text_printf(out, "%s%lld", i ? "," : "", (long long)a->dims[i]);
    bn_text_putc(out, ']');
}

int64_t mode_argument_bytes(const mode_argument *a)
{
    int64_t bytes = (int64_t)rt_dtype_bytes(a->dtype);
    for (size_t i = 0; i < a->rank; i++)
        if (__builtin_mul_overflow(bytes, a->dims[i], &bytes))
            return INT64_MAX;
    return bytes;
}

const char *mode_form_name(mode_form form)
{
    return form == MODE_FORM_HLO ? "hlo" : "mlir";
}
