/*
 * attribute.c - named values in both directions: what a plugin reports about
 * itself and its devices, and the options a user gives it.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *rt_text_copy(bn_arena *arena, const char *bytes, size_t size)
{
    char *text = bn_arena_alloc(arena, size + 1);
    if (size > 0)
        memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

/* Prints VALUE into TEXT and fills the kind and numbers of ATTRIBUTE. */
static void attribute_print(rt_attribute *attribute, const PJRT_NamedValue *value, bn_text *text)
{
    switch (value->type) {
    case PJRT_NamedValue_kString:
        attribute->kind = RT_ATTR_STRING;
        bn_text_append(text, value->string_value, value->value_size);
        break;
    case PJRT_NamedValue_kInt64:
        attribute->kind = RT_ATTR_INT;
        attribute->integer = value->int64_value;
        bn_text_int(text, value->int64_value);
        break;
    case PJRT_NamedValue_kInt64List:
        attribute->kind = RT_ATTR_INTS;
        attribute->integer = value->value_size > 0 ? value->int64_array_value[0] : 0;
        for (size_t i = 0; i < value->value_size; i++) {
            if (i > 0)
                bn_text_putc(text, '.');
            bn_text_int(text, value->int64_array_value[i]);
        }
        break;
    case PJRT_NamedValue_kFloat:
        attribute->kind = RT_ATTR_FLOAT;
        attribute->real = (double)value->float_value;
        bn_text_printf(text, "%.9g", attribute->real);
        break;
    case PJRT_NamedValue_kBool:
        attribute->kind = RT_ATTR_BOOL;
        attribute->integer = value->bool_value;
        bn_text_puts(text, value->bool_value ? "true" : "false");
        break;
    default: /* a kind newer than our header */
        attribute->kind = RT_ATTR_STRING;
        bn_text_puts(text, "?");
        break;
    }
}

rt_attribute *rt_attributes_copy(bn_arena *arena, const PJRT_NamedValue *values, size_t count)
{
    if (count == 0 || !values)
        return NULL;
    rt_attribute *attributes = bn_arena_zalloc(arena, count * sizeof *attributes);
    bn_text text = {0};
    for (size_t i = 0; i < count; i++) {
        bn_text_clear(&text);
        attribute_print(&attributes[i], &values[i], &text);
        attributes[i].name = rt_text_copy(arena, values[i].name, values[i].name_size);
        attributes[i].text = rt_text_copy(arena, text.data, text.length);
    }
    bn_text_free(&text);
    return attributes;
}

PJRT_NamedValue *rt_options_convert(const rt_option *options, size_t count)
{
    if (count == 0)
        return NULL;
    PJRT_NamedValue *list = bn_zalloc(count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        const rt_option *option = &options[i];
        PJRT_NamedValue *value = &list[i];
        value->struct_size = PJRT_NamedValue_STRUCT_SIZE;
        value->name = option->name;
        value->name_size = strlen(option->name);
        value->value_size = 1;
        switch (option->kind) {
        case RT_OPTION_STRING:
            value->type = PJRT_NamedValue_kString;
            value->string_value = option->string;
            value->value_size = strlen(option->string);
            break;
        case RT_OPTION_INT:
            value->type = PJRT_NamedValue_kInt64;
            value->int64_value = option->integer;
            break;
        case RT_OPTION_FLOAT:
            value->type = PJRT_NamedValue_kFloat;
            value->float_value = option->real;
            break;
        case RT_OPTION_BOOL:
            value->type = PJRT_NamedValue_kBool;
            value->bool_value = option->integer != 0;
            break;
        }
    }
    return list;
}

/* Is TEXT written with the characters of a decimal number only? Words that
 * strtof accepts ("inf", "nan", hexadecimal) stay strings. */
static bool is_decimal(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "+-.0123456789eE")] == '\0' &&
           strpbrk(text, "0123456789") != NULL && text[0] != 'e' && text[0] != 'E';
}

bn_code rt_option_parse(char *text, rt_option *option, bn_status *st)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return bn_fail(st, BN_INVALID, "option '%s' is not of the form name=value", text);
    *equals = '\0';
    char *value = equals + 1, *end = NULL;
    *option = (rt_option){.name = text, .kind = RT_OPTION_STRING, .string = value};
    if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
        option->kind = RT_OPTION_BOOL;
        option->integer = value[0] == 't';
        return BN_OK;
    }
    if (!is_decimal(value))
        return BN_OK;

    errno = 0;
    long long whole = strtoll(value, &end, 10);
    if (*end == '\0') {
        if (errno == ERANGE)
            return bn_fail(st, BN_INVALID, "option %s: %s is out of range", text, value);
        option->kind = RT_OPTION_INT;
        option->integer = whole;
        return BN_OK;
    }
    float real = strtof(value, &end);
    if (*end != '\0') /* "1.2.3", "2024-01-01": digits, but not a number */
        return BN_OK;
    if (!isfinite(real))
        return bn_fail(st, BN_INVALID, "option %s: %s is out of range", text, value);
    option->kind = RT_OPTION_FLOAT;
    option->real = real;
    return BN_OK;
}
