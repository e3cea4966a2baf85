/*
 * signature.c - the arguments of a module's entry function, read out of MLIR's
 * text form: types, and what is donated. PJRT tells types of results, not of
 * arguments, so this much of a foreign text must be read; all else is the
 * compiler's.
 *
 * func.func public @main(%arg0: tensor<2x3xf32> {tf.aliasing_output = 0 : i32}, ...)
 *
 * And types of arguments as HLO writes them, "f32[2,3]", and what plugins call a program's form.
 */
#include "modes/mode_priv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where we are in the text; never moved past END. */
typedef struct cursor {
    const char *begin, *at, *end;
    bn_status *st;
} cursor;

static bn_code fail_at(const cursor *c, bn_code code, const char *what)
{
    size_t line = 1;
    for (const char *p = c->begin; p < c->at; p++)
        line += *p == '\n';
    return bn_fail(c->st, code, "line %zu of the program: %s", line, what);
}

/* ---- pieces ---------------------------------------------------------------------- */

/* Moves past blanks and comments. */
static void skip_blank(cursor *c)
{
    while (c->at < c->end) {
        if (isspace((unsigned char)*c->at)) {
            c->at++;
        } else if (c->end - c->at > 1 && c->at[0] == '/' && c->at[1] == '/') {
            while (c->at < c->end && *c->at != '\n')
                c->at++;
        } else {
            return;
        }
    }
}

/* Moves past TEXT if it comes next. */
static bool take(cursor *c, const char *text)
{
    const size_t length = strlen(text);
    skip_blank(c);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$' || c == '-';
}

/* Moves past a string literal, which AT begins. */
static bool skip_string(cursor *c)
{
    for (c->at++; c->at < c->end; c->at++) {
        if (*c->at == '\\' && c->end - c->at > 1)
            c->at++;
        else if (*c->at == '"') {
            c->at++;
            return true;
        }
    }
    return false;
}

/* Moves past one character, string or comment. */
static bool skip_token(cursor *c)
{
    const char *before = c->at;
    skip_blank(c);
    if (c->at > before)
        return true;
    if (c->at >= c->end)
        return false;
    if (*c->at == '"')
        return skip_string(c);
    c->at++;
    return true;
}

/* From an opening bracket to behind the one that closes it. */
static bool skip_brackets(cursor *c)
{
    int depth = 0;
    do {
        skip_blank(c);
        if (c->at >= c->end)
            return false;
        /* The arrow of a function type closes nothing. */
        const bool arrow = *c->at == '>' && c->at > c->begin && c->at[-1] == '-';
        if (strchr("([{<", *c->at))
            depth++;
        else if (strchr(")]}>", *c->at) && !arrow)
            depth--;
        if (!skip_token(c))
            return false;
    } while (depth > 0);
    return true;
}

/* ---- types ------------------------------------------------------------------------ */

/* Element type called by the LENGTH bytes at TEXT; RT_DTYPE_COUNT for none. */
static rt_dtype element_type(const char *text, size_t length)
{
    int dtype = 0;
    while (dtype < RT_DTYPE_COUNT) {
        const char *name = rt_dtype_text((rt_dtype)dtype);
        if (strlen(name) == length && memcmp(name, text, length) == 0)
            break;
        dtype++;
    }
    return (rt_dtype)dtype;
}

static bn_code read_dimension(cursor *c, mode_argument *a)
{
    int64_t size = 0;
    for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++) {
        if (size > INT64_MAX / 16)
            return fail_at(c, BN_FORMAT, "a dimension is too large");
        size = size * 10 + (*c->at - '0');
    }
    if (c->at >= c->end || *c->at != 'x')
        return fail_at(c, BN_FORMAT, "a dimension does not end in x");
    c->at++;
    if (a->rank == RT_MAX_RANK)
        return fail_at(c, BN_NOT_SUPPORTED, "an argument has more dimensions than can be passed");
    a->dims[a->rank++] = size;
    return BN_OK;
}

/* Behind "tensor<". */
static bn_code read_tensor(cursor *c, mode_argument *a)
{
    skip_blank(c);
    while (c->at < c->end && (isdigit((unsigned char)*c->at) || *c->at == '?')) {
        if (*c->at == '?')
            return fail_at(c, BN_NOT_SUPPORTED,
                           "an argument has a dynamic shape ('?'); lower it for fixed shapes");
        bn_code code = read_dimension(c, a);
        if (code != BN_OK)
            return code;
    }
    const char *start = c->at;
    int depth = 0;
    while (c->at < c->end && (depth > 0 || (*c->at != '>' && *c->at != ','))) {
        depth += (*c->at == '<') - (*c->at == '>');
        c->at++;
    }
    a->dtype = element_type(start, (size_t)(c->at - start));
    if (a->dtype == RT_DTYPE_COUNT) {
        char what[128];
        snprintf(what, sizeof what, "arguments of element type %.*s cannot be passed",
                 (int)(c->at - start < 40 ? c->at - start : 40), start);
        return fail_at(c, BN_NOT_SUPPORTED, what);
    }
    if (take(c, ","))
        return fail_at(c, BN_NOT_SUPPORTED,
                       "arguments of a type with an encoding cannot be passed");
    return take(c, ">") ? BN_OK : fail_at(c, BN_FORMAT, "a tensor type does not end");
}

/* Behind "!NAME", an alias that a line "!NAME = tensor<...>" explains. */
static bn_code read_alias(const cursor *c, const char *name, size_t length, mode_argument *a)
{
    cursor search = {c->begin, c->begin, c->end, c->st};
    while (search.at < search.end) {
        skip_blank(&search);
        if (take(&search, "!") && (size_t)(search.end - search.at) > length &&
            memcmp(search.at, name, length) == 0 && !is_name(search.at[length])) {
            search.at += length;
            if (take(&search, "=") && take(&search, "tensor<"))
                return read_tensor(&search, a);
        }
        if (!skip_token(&search))
            break;
    }
    return fail_at(c, BN_NOT_SUPPORTED, "an argument is neither a tensor nor an alias of one");
}

static bn_code read_type(cursor *c, mode_argument *a)
{
    if (take(c, "tensor<"))
        return read_tensor(c, a);
    if (!take(c, "!"))
        return fail_at(c, BN_NOT_SUPPORTED, "an argument is not a tensor; tuples cannot be passed");
    const char *name = c->at;
    while (c->at < c->end && is_name(*c->at))
        c->at++;
    return read_alias(c, name, (size_t)(c->at - name), a);
}

/* ---- arguments ---------------------------------------------------------------------- */

/* The attributes of an argument, behind "{": which result takes its memory. */
static bn_code read_attributes(cursor *c, mode_argument *a)
{
    while (!take(c, "}")) {
        if (take(c, "tf.aliasing_output")) {
            if (!take(c, "="))
                return fail_at(c, BN_FORMAT, "tf.aliasing_output has no number");
            skip_blank(c);
            int64_t number = 0;
            while (c->at < c->end && isdigit((unsigned char)*c->at) && number < 1000000)
                number = number * 10 + (*c->at++ - '0');
            a->result = (int32_t)number;
        } else if (take(c, "jax.buffer_donor")) {
            a->donated = take(c, "=") && take(c, "true");
        } else if (c->at < c->end && strchr("([{<", *c->at)) {
            if (!skip_brackets(c))
                return fail_at(c, BN_FORMAT, "an argument's attributes do not end");
        } else if (!skip_token(c)) {
            return fail_at(c, BN_FORMAT, "an argument's attributes do not end");
        }
    }
    return BN_OK;
}

static bn_code read_argument(cursor *c, mode_argument *a)
{
    *a = (mode_argument){.result = -1};
    if (!take(c, "%"))
        return fail_at(c, BN_FORMAT, "an argument without a name");
    while (c->at < c->end && is_name(*c->at))
        c->at++;
    if (!take(c, ":"))
        return fail_at(c, BN_FORMAT, "an argument without a type");
    bn_code code = read_type(c, a);
    if (code == BN_OK && take(c, "{"))
        code = read_attributes(c, a);
    if (code == BN_OK && take(c, "loc") && !skip_brackets(c))
        code = fail_at(c, BN_FORMAT, "a location does not end");
    return code;
}

/* Moves behind "@main(" of a function's definition. */
static bool find_main(cursor *c)
{
    while (c->at < c->end) {
        if (take(c, "func.func")) {
            while (take(c, "public") || take(c, "private"))
                continue;
            if ((take(c, "@main") || take(c, "@\"main\"")) && take(c, "("))
                return true;
        }
        if (!skip_token(c))
            return false;
    }
    return false;
}

static bn_code read_list(cursor *c, mode_argument **list, size_t *count)
{
    size_t capacity = 0;
    if (take(c, ")"))
        return BN_OK;
    do {
        if (!bn_reserve(list, *count + 1, &capacity, sizeof **list))
            return bn_fail(c->st, BN_OUT_OF_MEMORY, "no memory for %zu arguments", *count + 1);
        bn_code code = read_argument(c, *list + *count);
        if (code != BN_OK)
            return code;
        ++*count;
    } while (take(c, ","));
    return take(c, ")") ? BN_OK : fail_at(c, BN_FORMAT, "the list of arguments does not end");
}

bn_code mode_signature_read(const char *text, size_t length, mode_argument **list, size_t *count,
                            bn_status *st)
{
    cursor c = {text, text, text + length, st};
    *list = NULL;
    *count = 0;
    if (!find_main(&c))
        return bn_fail(st, BN_FORMAT,
                       "no function @main: not a StableHLO module in MLIR's text "
                       "form (jax.jit(f).lower(...).as_text() is one)");
    bn_code code = read_list(&c, list, count);
    if (code != BN_OK) {
        free(*list);
        *list = NULL;
        *count = 0;
    }
    return code;
}

/* ---- types as HLO writes them -------------------------------------------------------- */

static const char *const type_names[RT_DTYPE_COUNT] = {
    [RT_BOOL] = "pred", [RT_S8] = "s8",   [RT_S16] = "s16", [RT_S32] = "s32", [RT_S64] = "s64",
    [RT_U8] = "u8",     [RT_U16] = "u16", [RT_U32] = "u32", [RT_U64] = "u64", [RT_F16] = "f16",
    [RT_BF16] = "bf16", [RT_F32] = "f32", [RT_F64] = "f64", [RT_C64] = "c64", [RT_C128] = "c128",
};

/* Reads the dimensions behind the bracket that AT stands behind; returns what stands behind the
 * closing one, or NULL where they are none. */
static const char *read_dims(const char *at, mode_argument *a)
{
    while (*at != ']') {
        char *end;
        if (!isdigit((unsigned char)*at) || a->rank == RT_MAX_RANK)
            return NULL;
        const long long size = strtoll(at, &end, 10);
        if (size > INT64_MAX / 16 || (*end != ',' && *end != ']') || (*end == ',' && end[1] == ']'))
            return NULL;
        a->dims[a->rank++] = size;
        at = *end == ',' ? end + 1 : end;
    }
    return at + 1;
}

bn_code mode_type_parse(const char *text, mode_argument *a, bn_status *st)
{
    const size_t length = strcspn(text, "[");
    int dtype = 0;
    while (dtype < RT_DTYPE_COUNT &&
           !(strlen(type_names[dtype]) == length && memcmp(type_names[dtype], text, length) == 0))
        dtype++;
    *a = (mode_argument){.dtype = (rt_dtype)dtype, .result = -1};
    const char *rest = text[length] ? read_dims(text + length + 1, a) : NULL;
    /* A layout says how the device lays it out, which is the plugin's own affair. */
    if (rest && *rest == '{' && strchr(rest, '}'))
        rest = strchr(rest, '}') + 1;
    if (!rest || *rest)
        return bn_fail(st, BN_INVALID, "'%.*s' is not a type: f32[2,3] is one, s32[] another",
                       BN_FIT(text, 60));
    if (dtype == RT_DTYPE_COUNT)
        return bn_fail(st, BN_INVALID, "values of element type %.*s cannot be passed",
                       (int)(length < 40 ? length : 40), text);
    return BN_OK;
}

void mode_type_put(const mode_argument *a, bn_text *out)
{
    bn_text_printf(out, "%s[", type_names[a->dtype]);
    for (size_t i = 0; i < a->rank; i++)
        bn_text_printf(out, "%s%lld", i ? "," : "", (long long)a->dims[i]);
    bn_text_putc(out, ']');
}

int64_t mode_argument_bytes(const mode_argument *a)
{
    int64_t bytes = (int64_t)rt_dtype_bytes(a->dtype);
    for (size_t i = 0; i < a->rank; i++)
        if (__builtin_mul_overflow(bytes, a->dims[i], &bytes))
            return INT64_MAX;
    return bytes;
}

const char *mode_form_name(mode_form form)
{
    return form == MODE_FORM_HLO ? "hlo" : "mlir";
}
