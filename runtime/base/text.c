/*
 * text.c - a growing text buffer.
 *
 * Integers have their own path: lowering writes hundreds of thousands of them,
 * and printf costs several times as much as the digits.
 */
#include "runtime/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bn_text_free(bn_text *text)
{
    if (!text)
        return;
    free(text->data);
    *text = (bn_text){0};
}

void bn_text_clear(bn_text *text)
{
    text->length = 0;
    if (text->data)
        text->data[0] = '\0';
}

/* Room for MORE bytes and the terminator. */
static void text_reserve(bn_text *text, size_t more)
{
    if (more < text->capacity - text->length)
        return;
    /* A sum that would not fit is refused before it is made. */
    const size_t needed = more < SIZE_MAX - text->length ? text->length + more + 1 : SIZE_MAX;
    bn_grow(&text->data, needed < 256 ? 256 : needed, &text->capacity, sizeof *text->data);
}

void bn_text_append(bn_text *text, const char *bytes, size_t length)
{
    text_reserve(text, length);
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void bn_text_puts(bn_text *text, const char *string)
{
    bn_text_append(text, string, strlen(string));
}

void bn_text_putc(bn_text *text, char c)
{
    bn_text_append(text, &c, 1);
}

void bn_text_int(bn_text *text, int64_t value)
{
    char digits[20]; /* "-9223372036854775808" */
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        digits[--at] = '-';
    bn_text_append(text, digits + at, sizeof digits - at);
}

void bn_text_vprintf(bn_text *text, const char *format, va_list args)
{
    /* Most pieces fit what is left of the buffer: print there first. */
    text_reserve(text, 64);
    const size_t room = text->capacity - text->length;
    va_list again;
    va_copy(again, args);
    const int length = vsnprintf(text->data + text->length, room, format, args);
    if (length >= 0 && (size_t)length >= room) {
        text_reserve(text, (size_t)length);
        vsnprintf(text->data + text->length, text->capacity - text->length, format, again);
    }
    if (length > 0)
        text->length += (size_t)length;
    va_end(again);
}

void bn_text_printf(bn_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bn_text_vprintf(text, format, args);
    va_end(args);
}

size_t bn_utf8_fit(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    /* A byte 10xxxxxx continues a character, so the cut must not stand before it. Before
     * the end of the text it never does: that byte is zero. */
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    return length;
}

size_t bn_json_depth(const char *text, size_t length)
{
    size_t depth = 0, deepest = 0;
    bool quoted = false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (c == '"')
            quoted = !quoted;
        else if (quoted)
            i += c == '\\'; /* whatever follows is of the string */
        else if (c == '[' || c == '{')
            depth++;
        else if (c == ']' || c == '}')
            depth -= depth > 0;
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest;
}

void bn_text_wrap(bn_text *out, const char *text, size_t width)
{
    size_t column = 0;
    while (*text) {
        const size_t length = strcspn(text, " \n");
        size_t columns = 0;
        for (size_t i = 0; i < length; i++)
            columns += ((unsigned char)text[i] & 0xC0) != 0x80;
        if (column > 0 && columns > 0 && column + 1 + columns > width) {
            bn_text_putc(out, '\n');
            column = 0;
        }
        if (column > 0 && columns > 0)
            bn_text_putc(out, ' ');
        bn_text_append(out, text, length);
        column += columns + (column > 0);
        text += length;
        if (*text == '\n') {
            bn_text_putc(out, '\n');
            column = 0;
        }
        text += *text != '\0';
    }
    if (column > 0)
        bn_text_putc(out, '\n');
}

/* ---- layouts --------------------------------------------------------------------- */

bool bn_text_layout(bn_text *text, const int64_t *minor_to_major, size_t rank)
{
    for (size_t i = 0; i < rank; i++)
        if (minor_to_major[i] < 0 || (uint64_t)minor_to_major[i] >= rank)
            return false;
    bn_text_putc(text, '{');
    for (size_t i = 0; i < rank; i++) {
        if (i)
            bn_text_putc(text, ',');
        bn_text_int(text, minor_to_major[i]);
    }
    return true;
}

void bn_text_tile(bn_text *text, size_t index, const int64_t *sizes, size_t count)
{
    bn_text_puts(text, index ? "(" : ":T(");
    for (size_t i = 0; i < count; i++) {
        if (i)
            bn_text_putc(text, ',');
        if (sizes[i] < 0)
            bn_text_putc(text, '*');
        else
            bn_text_int(text, sizes[i]);
    }
    bn_text_putc(text, ')');
}
