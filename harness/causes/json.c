/*
 * json.c - places, types and values as JSON, and places that a text states.
 */
#define _GNU_SOURCE
#include "harness/causes/causes_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *cause_text_json(bn_text *text)
{
    json_t *string = res_json_text(text->data ? text->data : "");
    bn_text_free(text);
    return string;
}

json_t *cause_word_json(const char *text)
{
    return text && *text ? res_json_text(text) : json_null();
}

json_t *cause_place_json(tg_place place)
{
    bn_text text = {0};
    if (!place.file)
        return json_null();
    bn_text_printf(&text, "%s:%d", place.file, place.line);
    return cause_text_json(&text);
}

json_t *cause_type_json(const tg_type *type)
{
    bn_text text = {0};
    tg_type_write(type, &text);
    return cause_text_json(&text);
}

/* The integer of DTYPE at VALUE. */
static int64_t whole_at(tg_dtype dtype, const void *value)
{
    int64_t whole = 0;
    const size_t bytes = bn_dtype_bytes(dtype);
    memcpy(&whole, value, bytes);
    const int unused = 64 - 8 * (int)bytes;
    const bool is_signed = !bn_dtype_is_unsigned(dtype) && dtype != TG_BOOL;
    return is_signed ? (int64_t)((uint64_t)whole << unused) >> unused : whole;
}

static double real_at(tg_dtype dtype, const void *value)
{
    float real = 0;
    uint16_t half = 0;
    if (dtype == TG_F32) {
        memcpy(&real, value, sizeof real);
        return (double)real;
    }
    memcpy(&half, value, sizeof half);
    return (double)(dtype == TG_BF16 ? bn_from_bf16(half) : bn_from_f16(half));
}

void cause_put_real(double value, bn_text *out)
{
    char text[32];
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if ((float)atof(text) == (float)value)
            break;
    }
    bn_text_puts(out, text);
}

json_t *cause_real_json(double value)
{
    bn_text text = {0};
    cause_put_real(value, &text);
    return cause_text_json(&text);
}

json_t *cause_value_json(const tg_type *type, const void *value)
{
    bn_text text = {0};
    if (tg_type_elements(type) != 1)
        bn_text_printf(&text, "%lld elements", (long long)tg_type_elements(type));
    else if (bn_dtype_is_float(type->dtype))
        cause_put_real(real_at(type->dtype, value), &text);
    else if (type->dtype == TG_BOOL)
        bn_text_puts(&text, whole_at(type->dtype, value) ? "true" : "false");
    else
        bn_text_int(&text, whole_at(type->dtype, value));
    return cause_text_json(&text);
}

/* ---- places that a text states ---------------------------------------------------------- */

/* The line LINE of TEXT, from 1; its length is *SIZE. */
static const char *line_of(const char *text, size_t length, uint32_t line, size_t *size)
{
    const char *end = text + length;
    for (; line > 1 && text < end; line--) {
        const char *feed = memchr(text, '\n', (size_t)(end - text));
        text = feed ? feed + 1 : end;
    }
    const char *feed = memchr(text, '\n', (size_t)(end - text));
    *size = (size_t)((feed ? feed : end) - text);
    return text;
}

/* Our own lowering writes ` loc("scope/op"("file":12:1))`, the part in the inner brackets only
 * where places are kept. */
void cause_read_place(const char *text, size_t length, uint32_t line, json_t *object)
{
    size_t size;
    const char *at = line_of(text, length, line, &size);
    char *copy = bn_strndup(at, size), *name = strstr(copy, " loc(\"");
    char *end = name ? strchr(name += strlen(" loc(\""), '"') : NULL;
    if (end) {
        char *file = strncmp(end, "\"(\"", 3) == 0 ? end + 3 : NULL;
        char *quote = file ? strchr(file, '"') : NULL;
        char *slash = (*end = '\0', strrchr(name, '/'));
        *(slash ? slash : name) = '\0';
        json_object_set_new(object, "scope", cause_word_json(name));
        if (quote) {
            *quote = '\0';
            json_object_set_new(object, "place",
                                cause_place_json((tg_place){file, atoi(quote + 2)}));
        }
    }
    free(copy);
}
