/*
 * status.c - error codes by name, and the message chain of a failed call.
 *
 * Boundary: records failures only; nothing here prints or decides what a
 * failure means. Texts of errno values come from the C library.
 */
#include "runtime/base/base.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[BN_CODE_COUNT] = {
#define X(code, name) [code] = name,
    BN_CODES(X)
#undef X
};

const char *bn_code_name(bn_code code)
{
    if ((unsigned)code >= BN_CODE_COUNT)
        return "unknown";
    return code_names[code];
}

bn_code bn_code_from_name(const char *name)
{
    for (int i = 0; i < BN_CODE_COUNT; i++) {
        if (strcmp(code_names[i], name) == 0)
            return (bn_code)i;
    }
    return BN_CODE_COUNT;
}

/* The arguments may point into ST's own message, so each message is first
 * written beside it. */
#define SCRATCH_BYTES (2 * sizeof(((bn_status *)0)->message))

bn_code bn_fail(bn_status *st, bn_code code, const char *format, ...)
{
    assert(code != BN_OK);
    if (!st)
        return code;
    char scratch[SCRATCH_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(scratch, sizeof scratch, format, args);
    va_end(args);
    st->code = code;
    bn_plain(scratch, st->message, sizeof st->message);
    return code;
}

static bn_code code_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOENT:
        return BN_NOT_FOUND;
    case ENOMEM:
        return BN_OUT_OF_MEMORY;
    default:
        return BN_IO;
    }
}

bn_code bn_fail_errno(bn_status *st, int errno_value, const char *format, ...)
{
    bn_code code = code_of_errno(errno_value);
    if (!st)
        return code;

    char scratch[SCRATCH_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(scratch, sizeof scratch, format, args);
    va_end(args);

    /* glibc keeps the texts of known errors constant, so strerror is safe with
     * threads. */
    const char *text =
        errno_value == ENOSPC || errno_value == EDQUOT ? "disk full" : strerror(errno_value);
    size_t length = strlen(scratch);
    snprintf(scratch + length, sizeof scratch - length, ": %s", text);
    st->code = code;
    bn_plain(scratch, st->message, sizeof st->message);
    return code;
}

bn_code bn_context(bn_status *st, const char *format, ...)
{
    if (!st)
        return BN_OK;
    if (st->code == BN_OK)
        return BN_OK;
    char scratch[SCRATCH_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(scratch, sizeof scratch, format, args);
    va_end(args);
    size_t length = strlen(scratch);
    snprintf(scratch + length, sizeof scratch - length, ": %s", st->message);
    bn_plain(scratch, st->message, sizeof st->message);
    return st->code;
}
