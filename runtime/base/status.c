/*
 * status.c - error codes by name, and the message chain of a failed call.
 *
 * Boundary: records failures only; nothing here prints or decides what a
 * failure means. Texts of errno values come from the C library.
 */
#define _GNU_SOURCE
#include "runtime/base/base.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

#define CUT " ... "

/* Sets ST's message to HEAD and TAIL as plain text. What is too long is cut in its middle: names
 * are long, and the reason stands at the end. */
static void message_set(bn_status *st, const char *head, const char *tail)
{
    bn_text all = {0};
    bn_text_plain(&all, head);
    bn_text_plain(&all, tail);
    const size_t room = sizeof st->message - 1;
    const char *text = all.data ? all.data : "";
    const size_t length = strlen(text);
    if (length <= room) {
        memcpy(st->message, text, length + 1);
    } else {
        const size_t first = bn_utf8_fit(text, room / 2 - sizeof CUT);
        const char *last = text + length - room / 2;
        while (((unsigned char)*last & 0xC0) == 0x80)
            last++;
        snprintf(st->message, sizeof st->message, "%.*s" CUT "%s", (int)first, text, last);
    }
    bn_text_free(&all);
}

static void set(bn_status *st, const char *format, va_list args, const char *tail)
{
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        bn_out_of_memory(sizeof st->message);
    message_set(st, text, tail);
    free(text);
}

bn_code bn_fail(bn_status *st, bn_code code, const char *format, ...)
{
    assert(code != BN_OK);
    if (!st)
        return code;
    va_list args;
    va_start(args, format);
    set(st, format, args, "");
    va_end(args);
    st->code = code;
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

    char reason[256];
    va_list args;
    /* glibc keeps the texts of known errors constant, so strerror is safe with
     * threads. */
    snprintf(reason, sizeof reason, ": %s",
             errno_value == ENOSPC || errno_value == EDQUOT ? "disk full" : strerror(errno_value));
    va_start(args, format);
    set(st, format, args, reason);
    va_end(args);
    st->code = code;
    return code;
}

bn_code bn_context(bn_status *st, const char *format, ...)
{
    if (!st || st->code == BN_OK)
        return BN_OK;
    char before[sizeof st->message + 2];
    va_list args;
    snprintf(before, sizeof before, ": %s", st->message);
    va_start(args, format);
    set(st, format, args, before);
    va_end(args);
    return st->code;
}

/* ---- words that are none of those there are --------------------------------------- */

/* How many bytes the first of CHOICES, "a, b c or d", has; *NEXT stands behind it. A choice may
 * have blanks. */
static size_t first_choice(const char *choices, const char **next)
{
    const size_t item = strcspn(choices, ",");
    const char *other = strstr(choices, " or ");
    if (other && other < choices + item) {
        *next = other + 4;
        return (size_t)(other - choices);
    }
    *next = choices + item + strspn(choices + item, ", ");
    if (strncmp(*next, "or ", 3) == 0)
        *next += 3;
    return item;
}

bn_code bn_fail_meant(bn_status *st, bn_code code, bn_meant meant, const char *format, ...)
{
    if (!st)
        return code;
    char behind[sizeof st->message];
    va_list args;
    bn_meant_put(meant, behind, sizeof behind);
    va_start(args, format);
    set(st, format, args, behind);
    va_end(args);
    st->code = code;
    return code;
}

void bn_near_choices(bn_near *near, const char *choices)
{
    for (const char *next; *choices; choices = next) {
        char choice[BN_NEAR_LETTERS];
        snprintf(choice, sizeof choice, "%.*s", (int)first_choice(choices, &next), choices);
        bn_near_try(near, choice);
    }
}

bool bn_is_choice(const char *word, const char *choices)
{
    const size_t length = strlen(word);
    for (const char *next; *choices; choices = next)
        if (first_choice(choices, &next) == length && length > 0 &&
            strncmp(choices, word, length) == 0)
            return true;
    return false;
}

bn_code bn_fail_choice(bn_status *st, const char *what, const char *word, const char *choices)
{
    bn_near near = bn_near_begin(word);
    bn_near_choices(&near, choices);
    return bn_fail_meant(st, BN_INVALID, (bn_meant){bn_near_best(&near), "There is", choices},
                         "there is no %s '%s'", what, word);
}

void bn_put_names(bn_text *out, bn_name_at *at)
{
    for (size_t i = 0; at(i); i++)
        bn_text_printf(out, "%s%s", i ? ", " : "", at(i));
}

bn_code bn_find_name(const char *what, const char *word, bn_name_at *at, size_t *row, bn_status *st)
{
    for (size_t i = 0; at(i); i++)
        if (strcmp(at(i), word) == 0) {
            *row = i;
            return BN_OK;
        }
    bn_text names = {0};
    bn_put_names(&names, at);
    bn_fail_choice(st, what, word, names.data ? names.data : "");
    bn_text_free(&names);
    return BN_INVALID;
}
