/*
 * fake_signature.c - the types of a program's arguments and results, out of its StableHLO text.
 *
 * Boundary: only the line of @main is read, as our own lowering and jax write
 * it; nothing of the body.
 */
#include "tests/support/fake/fake.h"

static const struct element {
    const char *text;
    size_t bytes;
    PJRT_Buffer_Type type;
} elements[] = {
    {"i1", 1, PJRT_Buffer_Type_PRED},           {"i8", 1, PJRT_Buffer_Type_S8},
    {"i16", 2, PJRT_Buffer_Type_S16},           {"i32", 4, PJRT_Buffer_Type_S32},
    {"i64", 8, PJRT_Buffer_Type_S64},           {"ui8", 1, PJRT_Buffer_Type_U8},
    {"ui16", 2, PJRT_Buffer_Type_U16},          {"ui32", 4, PJRT_Buffer_Type_U32},
    {"ui64", 8, PJRT_Buffer_Type_U64},          {"f16", 2, PJRT_Buffer_Type_F16},
    {"bf16", 2, PJRT_Buffer_Type_BF16},         {"f32", 4, PJRT_Buffer_Type_F32},
    {"f64", 8, PJRT_Buffer_Type_F64},           {"complex<f32>", 8, PJRT_Buffer_Type_C64},
    {"complex<f64>", 16, PJRT_Buffer_Type_C128}};
enum { ELEMENT_COUNT = sizeof elements / sizeof elements[0] };

bool fake_element_set(fake_type *type, PJRT_Buffer_Type wanted, const char *text)
{
    for (size_t i = 0; i < ELEMENT_COUNT; i++) {
        size_t length = strlen(elements[i].text);
        bool same = text ? strncmp(text, elements[i].text, length) == 0 && text[length] == '>'
                         : elements[i].type == wanted;
        if (!same)
            continue;
        type->type = elements[i].type;
        type->element_bytes = type->bytes = elements[i].bytes;
        for (size_t j = 0; j < type->rank; j++)
            type->bytes *= (size_t)type->dims[j];
        return true;
    }
    return false;
}

/* Reads "tensor<2x3xf32>" at *AT, and what follows of one argument or result up
 * to the comma or parenthesis that ends it. */
static bool value_read(const char **at, fake_type *type)
{
    *type = (fake_type){.alias = -1};
    const char *c = strstr(*at, "tensor<");
    if (!c)
        return false;
    c += strlen("tensor<");
    while (*c >= '0' && *c <= '9') {
        char *end;
        long long dim = strtoll(c, &end, 10);
        if (*end != 'x' || type->rank == MAX_RANK)
            return false;
        type->dims[type->rank++] = dim;
        c = end + 1;
    }
    if (!fake_element_set(type, PJRT_Buffer_Type_INVALID, c))
        return false;
    c = strchr(c, '>') + 1;
    if (*c == '>') /* of complex<f32>> */
        c++;
    static const char alias[] = "tf.aliasing_output = ";
    static const char stated[] = "mhlo.layout_mode = ", automatic[] = "mhlo.layout_mode = \"auto\"";
    for (int depth = 0; *c && *c != '\n'; c++) {
        if (strncmp(c, alias, sizeof alias - 1) == 0)
            type->alias = (int)strtol(c + sizeof alias - 1, NULL, 10);
        if (strncmp(c, automatic, sizeof automatic - 1) == 0)
            type->automatic = true;
        if (strncmp(c, stated, sizeof stated - 1) == 0)
            type->laid_out = true;
        if (strchr("({", *c))
            depth++;
        else if (depth == 0 && strchr(",)", *c))
            break;
        else if (strchr(")}", *c))
            depth--;
    }
    *at = c;
    return true;
}

/* Reads a parenthesised list of values whose opening parenthesis is at *AT. */
static bool list_read(const char **at, fake_type *types, size_t *count)
{
    const char *c = *at + 1;
    *count = 0;
    while (*c && *c != ')') {
        if (*count == MAX_VALUES || !value_read(&c, &types[(*count)++]))
            return false;
        if (*c == ',')
            c++;
    }
    *at = c + 1;
    return *c == ')';
}

bool fake_signature_read(const char *text, fake_type *arguments, size_t *argument_count,
                         fake_type *results, size_t *result_count)
{
    const char *at = strstr(text, "@main(");
    if (!at)
        return false;
    at += strlen("@main");
    if (!list_read(&at, arguments, argument_count))
        return false;
    at += strspn(at, " ");
    if (strncmp(at, "->", 2) != 0)
        return true; /* no results */
    at += 2;
    at += strspn(at, " ");
    if (*at == '(')
        return list_read(&at, results, result_count);
    *result_count = 1;
    return value_read(&at, results);
}
