/* tokens.c - what all readers of StableHLO text cut alike; see tokens.h. */
#include "runtime/stablehlo/tokens.h"

#include <string.h>

const char shlo_kinds[256] = "0000000001111100" /* \t to \r */
                             "0000000000000000"
                             "1000400000000040" /* blank $ . */
                             "6666666666000000" /* digits */
                             "0444444444444444" /* A */
                             "4444444444400004" /* Z _ */
                             "0444444444444444" /* a */
                             "4444444444400000" /* z */;

int shlo_hex_digit(char c)
{
    const char low = (char)(c | 32);
    return shlo_is_digit(c) ? c - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

const char *shlo_behind_blanks(const char *at, const char *end, uint32_t *line)
{
    for (; at < end; at++) {
        if (*at == '\n') {
            ++*line;
        } else if (*at == '/' && end - at > 1 && at[1] == '/') {
            at = memchr(at, '\n', (size_t)(end - at));
            if (!at)
                return end;
            ++*line;
        } else if (!shlo_is_blank(*at)) {
            break;
        }
    }
    return at;
}

const char *shlo_string_end(const char *at, const char *end)
{
    for (at++; at < end && *at != '\n'; at++) {
        if (*at == '\\' && end - at > 1)
            at++;
        else if (*at == '"')
            return at + 1;
    }
    return NULL;
}

const char *shlo_behind_name(const char *at, const char *end)
{
    while (at < end && shlo_is_name(*at))
        at++;
    return at;
}

const char *shlo_behind_value(const char *at, const char *end)
{
    while (at < end && (shlo_is_name(*at) || (*at == '-' && end - at > 1 && at[1] != '>')))
        at++;
    return at;
}

shlo_sizes shlo_read_sizes(const char **at, const char *end, int64_t dims[SHLO_MOST_RANK],
                           size_t *rank)
{
    *rank = 0;
    while (*at < end && (shlo_is_digit(**at) || **at == '?')) {
        const char *size = *at;
        int64_t value = *size == '?' ? -1 : 0;
        if (*rank == SHLO_MOST_RANK)
            return SHLO_SIZES_TOO_MANY;
        size += *size == '?';
        for (; value >= 0 && size < end && shlo_is_digit(*size); size++)
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, *size - '0', &value))
                return SHLO_SIZE_TOO_LARGE;
        *at = size;
        if (size >= end || *size != 'x')
            return SHLO_SIZE_WITHOUT_X;
        ++*at;
        dims[(*rank)++] = value;
    }
    return SHLO_SIZES_READ;
}
