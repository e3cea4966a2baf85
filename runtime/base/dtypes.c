/* dtypes.c - the table of element types, and how they are found. */
#include "runtime/base/dtypes.h"

#include <string.h>

const bn_dtype_row bn_dtypes[BN_DTYPE_COUNT] = {
#define X(name, text, hlo, bits, class, pjrt, xla)                                                 \
    [BN_##name] = {text, hlo, bits, BN_##class, pjrt, xla},
    BN_DTYPES(X)
#undef X
};

const char *bn_dtype_text(bn_dtype dtype)
{
    return dtype < BN_DTYPE_COUNT ? bn_dtypes[dtype].text : "?";
}

bn_dtype bn_dtype_named(const char *name, size_t length, bool hlo, bn_dtype count)
{
    bn_dtype d = 0;
    for (; d < count; d++) {
        const char *known = hlo ? bn_dtypes[d].hlo : bn_dtypes[d].text;
        if (strlen(known) == length && memcmp(known, name, length) == 0)
            break;
    }
    return d;
}

bn_dtype bn_dtype_numbered(int64_t number, bool xla, bn_dtype count)
{
    bn_dtype d = 0;
    while (d < count && (xla ? bn_dtypes[d].xla : bn_dtypes[d].pjrt) != number)
        d++;
    return d;
}
