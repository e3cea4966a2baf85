/*
 * plain.c - text that came from outside, as it may be shown: valid UTF-8 on one line, without signs
 * that steer a terminal, turn the direction of writing, or are not seen.
 *
 * Sources: RFC 3629 for UTF-8; Unicode Standard Annex 9 for the marks of direction; Unicode
 * Technical Report 36, section 3, for signs that are not seen.
 */
#include "runtime/base/base.h"

#include <string.h>

/* The code point at TEXT and its LENGTH; LENGTH 0: no valid sequence. */
static uint32_t decode(const unsigned char *text, size_t *length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char c = text[0];
    const size_t n = c < 0x80             ? 1
                     : (c & 0xE0) == 0xC0 ? 2
                     : (c & 0xF0) == 0xE0 ? 3
                     : (c & 0xF8) == 0xF0 ? 4
                                          : 0;
    uint32_t point = n == 1 ? c : n ? c & (0x7Fu >> n) : 0;
    *length = n;
    for (size_t i = 1; i < n; i++) {
        if ((text[i] & 0xC0) != 0x80) {
            *length = 0;
            return 0;
        }
        point = point << 6 | (text[i] & 0x3Fu);
    }
    if (n > 1 && (point < least[n] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)))
        *length = 0;
    return point;
}

static bool is_hidden(uint32_t point)
{
    /* Controls, ends of lines, and what the Unicode Character Database calls
     * Default_Ignorable_Code_Point (DerivedCoreProperties.txt): no font draws it. */
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1F},       {0x7F, 0x9F},       /* controls */
        {0xAD, 0xAD},       {0x034F, 0x034F},   /* soft hyphen, joiner of marks */
        {0x061C, 0x061C},   {0x115F, 0x1160},   /* direction, fillers of Hangul */
        {0x17B4, 0x17B5},   {0x180B, 0x180F},   /* vowels of Khmer, variants of Mongolian */
        {0x200B, 0x200F},   {0x2028, 0x202E},   /* no width, direction, lines */
        {0x2060, 0x206F},   {0x3164, 0x3164},   /* no width, direction, a filler of Hangul */
        {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   /* variants, no width */
        {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   /* a filler, not assigned, notes between lines */
        {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, /* of shorthand, of musical notes */
        {0xE0000, 0xE0FFF},                     /* tags, variants */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges[i].first && point <= ranges[i].last)
            return true;
    return false;
}

size_t bn_plain_next(const char *text, const char **shown, size_t *shown_length)
{
    size_t length;
    const uint32_t point = decode((const unsigned char *)text, &length);
    *shown = text;
    *shown_length = length;
    if (length > 0 && !is_hidden(point))
        return length;
    *shown = *text == '\n' || *text == '\t' || *text == '\r' ? " " : "?";
    *shown_length = 1;
    return length ? length : 1;
}

/* With LINES ends of lines stay. What is ASCII and shown as it is, nearly all of a text, is taken
 * in one piece. */
static void put_plain(bn_text *out, const char *text, bool lines)
{
    const char *shown;
    size_t length;
    for (;;) {
        size_t ascii = 0;
        while (text[ascii] >= 0x20 && text[ascii] < 0x7F)
            ascii++;
        if (ascii > 0)
            bn_text_append(out, text, ascii);
        text += ascii;
        if (!*text)
            return;
        const bool ends = lines && *text == '\n';
        text += bn_plain_next(text, &shown, &length);
        bn_text_append(out, ends ? "\n" : shown, length);
    }
}

void bn_text_plain(bn_text *out, const char *text)
{
    put_plain(out, text, false);
}

void bn_text_plain_lines(bn_text *out, const char *text)
{
    put_plain(out, text, true);
}

bool bn_is_plain(const char *text)
{
    const char *shown;
    size_t length;
    while (*text) {
        const char *at = text;
        text += bn_plain_next(text, &shown, &length);
        if (shown != at)
            return false;
    }
    return true;
}

void bn_plain(const char *text, char *out, size_t size)
{
    size_t used = 0;
    const char *shown;
    size_t length;
    while (*text) {
        text += bn_plain_next(text, &shown, &length);
        if (used + length >= size)
            break;
        memcpy(out + used, shown, length);
        used += length;
    }
    out[used] = '\0';
}
