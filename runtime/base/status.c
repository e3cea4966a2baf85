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

/* Copies TEXT, cut at the end of a whole UTF-8 character where it is too long:
 * messages end up in files that demand valid text. They are one line, and quote
 * names out of foreign files: what would steer a terminal becomes '?'. */
static void message_set(bn_status *st, const char *text)
{
    const size_t length = bn_utf8_fit(text, sizeof st->message - 1);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        st->message[i] = c < ' ' || c == 0x7F ? '?' : text[i];
    }
    st->message[length] = '\0';
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
    message_set(st, scratch);
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
    message_set(st, scratch);
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
    message_set(st, scratch);
    return st->code;
}
