/*
 * suite_place.c - line and column of a member, for messages. The JSON library has locations of
 * broken syntax only; this walks through valid text.
 */
#include "harness/campaign/suites_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

/* From the opening quote to behind the closing one. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

/* Returns the end of the value at P. Counts brackets, except in strings. */
static const char *skip_value(const char *p)
{
    int depth = 0;
    do {
        p = skip_space(p);
        if (*p == '"') {
            p = skip_string(p);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
        } else if (*p == ',' || *p == ':') {
            p++;
        } else {
            p += strcspn(p, " \t\r\n,:]}");
        }
    } while (depth > 0 && *p);
    return p;
}

/* Whether the string at P, in quotes and with escapes, is NAME. */
static bool string_is(const char *p, const char *name)
{
    json_t *string = json_loadb(p, (size_t)(skip_string(p) - p), JSON_DECODE_ANY, NULL);
    const bool same = string && strcmp(json_string_value(string), name) == 0;
    json_decref(string);
    return same;
}

/* The value of member NAME of the object at P (its name with KEY), or NULL. */
static const char *in_object(const char *p, const char *name, bool key)
{
    for (p = skip_space(p + 1); *p == '"'; p = skip_space(p + 1)) {
        const char *value = skip_space(skip_space(skip_string(p)) + 1);
        if (string_is(p, name))
            return key ? p : value;
        p = skip_space(skip_value(value));
        if (*p != ',')
            return NULL;
    }
    return NULL;
}

static const char *in_array(const char *p, const char *name)
{
    long index = strtol(name, NULL, 10);
    for (p = skip_space(p + 1); *p && *p != ']'; p = skip_space(p + 1)) {
        if (index-- == 0)
            return p;
        p = skip_space(skip_value(p));
        if (*p != ',')
            return NULL;
    }
    return NULL;
}

/* The next part of a pointer without its escapes; returns the rest. */
static const char *next_part(const char *pointer, char *part, size_t size)
{
    size_t n = 0;
    for (pointer++; *pointer && *pointer != '/'; pointer++) {
        char c = *pointer;
        if (c == '~' && (pointer[1] == '0' || pointer[1] == '1'))
            c = *++pointer == '0' ? '~' : '/';
        if (n + 1 < size)
            part[n++] = c;
    }
    part[n] = '\0';
    return pointer;
}

/* Line and column, from 1, of the value at POINTER, or with KEY of its name. False where there is
 * none. */
static bool find_place(const char *text, const char *pointer, bool key, int *line, int *column)
{
    const char *p = skip_space(text);
    while (p && *pointer) {
        char part[SUITE_POINTER_TEXT];
        pointer = next_part(pointer, part, sizeof part);
        if (*p == '{')
            p = in_object(p, part, key && !*pointer);
        else
            p = *p == '[' ? in_array(p, part) : NULL;
    }
    *line = *column = 1;
    for (const char *at = text; p && at < p; at++) {
        /* Columns are characters, not bytes. */
        if (((unsigned char)*at & 0xC0) != 0x80)
            ++*column;
        if (*at == '\n') {
            ++*line;
            *column = 1;
        }
    }
    return p != NULL;
}

bn_code suite_fail(const suite_text *source, const char *pointer, bool key, bn_status *st,
                   const char *format, ...)
{
    char message[768];
    int line, column;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    const char *shown = *pointer ? pointer : "the file";
    if (!find_place(source->text, pointer, key, &line, &column))
        return bn_fail(st, BN_INVALID, "%s: %s: %s", source->file, shown, message);
    return bn_fail(st, BN_INVALID, "%s:%d:%d: %s: %s", source->file, line, column, shown, message);
}

void suite_pointer(char out[SUITE_POINTER_TEXT], const char *pointer, const char *name)
{
    size_t n = strnlen(pointer, SUITE_POINTER_TEXT - 3);
    memmove(out, pointer, n);
    out[n++] = '/';
    for (; *name && n < SUITE_POINTER_TEXT - 2; name++) {
        const bool escaped = *name == '~' || *name == '/';
        if (escaped)
            out[n++] = '~';
        out[n++] = (char)(!escaped ? *name : *name == '~' ? '0' : '1');
    }
    out[n] = '\0';
}

void suite_pointer_at(char out[SUITE_POINTER_TEXT], const char *pointer, size_t index)
{
    char number[24];
    snprintf(number, sizeof number, "%zu", index);
    suite_pointer(out, pointer, number);
}
