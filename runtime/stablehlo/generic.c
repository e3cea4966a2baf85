/*
 * generic.c - what a statement says, whichever of MLIR's two text forms it is in. The usual form of
 * an op is its own; each that is known here is made to what the generic form says, and that is
 * hashed. Sources of the forms: StableHLO's and CHLO's ops as jaxlib 0.10.2 prints them.
 */
#include "runtime/stablehlo/generic_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- dictionaries ---------------------------------------------------------------------------- */

uint64_t shlo_op_hash(shlo_piece name)
{
    static const char *const names[][2] = {
        {"return", "func.return"}, {"call", "func.call"}, {"module", "builtin.module"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (shlo_is_called(name, names[i][0]))
            return shlo_hash(names[i][1], strlen(names[i][1]));
    return shlo_hash(name.at, name.length);
}

shlo_scanner shlo_inside(const shlo_token *token, const char *end)
{
    /* "<{": the bracket is the second one, and the text ends before ">". */
    const char *at = token->at + 1;
    if (token->kind == SHLO_TOKEN_ANGLE) {
        end = token->at + token->length - 1;
        while (at < end && *at != '{')
            at++;
        at += at < end;
    }
    return (shlo_scanner){at, end, token->line, false};
}

bool shlo_next_entry(shlo_scanner *s, shlo_entry_text *entry)
{
    shlo_token t;
    int64_t depth = 0;
    do
        if (shlo_scan(s, &t, NULL) != BN_OK)
            return false;
    while (shlo_is_mark(&t, ','));
    if (t.kind != SHLO_TOKEN_WORD && t.kind != SHLO_TOKEN_STRING)
        return false;
    const bool quoted = t.kind == SHLO_TOKEN_STRING;
    *entry = (shlo_entry_text){.key = t};
    entry->name = quoted ? shlo_hash(t.at + 1, t.length - 2) : t.hash;
    shlo_scanner before = *s;
    bool first = true;
    while (shlo_scan(s, &t, NULL) == BN_OK && t.kind != SHLO_TOKEN_END) {
        if (depth == 0 && (shlo_is_mark(&t, ',') || shlo_bracket(&t) < 0)) {
            *s = before;
            return true;
        }
        depth += shlo_bracket(&t);
        if (first)
            entry->value = *s; /* behind "=" */
        else
            entry->hash = shlo_mix(entry->hash, t.hash);
        first = false;
        before = *s;
    }
    return true;
}

uint64_t shlo_dictionary(shlo_scanner *s)
{
    shlo_entry_text entry;
    uint64_t sum = 0;
    while (shlo_next_entry(s, &entry))
        sum += shlo_mix(shlo_mix(1, entry.name), entry.hash);
    return sum;
}

/* ---- parameters ------------------------------------------------------------------------------ */

typedef enum value_form {
    FORM_LIST,      /* [1, 0]: array<i64: 1, 0> */
    FORM_TRUTHS,    /* [false, true]: array<i1: false, true> */
    FORM_I64,       /* 1: 1 : i64 */
    FORM_ENUM,      /* FFT: #stablehlo<fft_type FFT>; the key names the enumeration */
    FORM_SAME,      /* as it is */
    FORM_PADDING,   /* [[1, 2]]: dense<[[1, 2]]> : tensor<1x2xi64> */
    FORM_PRECISION, /* [HIGH]: [#stablehlo<precision HIGH>] */
    FORM_CONV,
    FORM_ALGORITHM,
    FORM_FLOAT, /* e5m10: two numbers of i32 */
    FORM_WINDOW /* {...}, parameters again */
} value_form;

static const struct {
    const char *op, *name, *key;
    value_form form;
} parameters[] = {{"stablehlo.broadcast_in_dim", "dims", "broadcast_dimensions", FORM_LIST},
                  {"stablehlo.dynamic_broadcast_in_dim", "dims", "broadcast_dimensions", FORM_LIST},
                  {"stablehlo.transpose", "dims", "permutation", FORM_LIST},
                  {"stablehlo.reverse", "dims", "dimensions", FORM_LIST},
                  {"stablehlo.reduce", "dimensions", "dimensions", FORM_LIST},
                  {"stablehlo.dynamic_slice", "sizes", "slice_sizes", FORM_LIST},
                  {"stablehlo.broadcast", "sizes", "broadcast_sizes", FORM_LIST},
                  {"stablehlo.einsum", "config", "einsum_config", FORM_SAME},
                  {"stablehlo.unary_einsum", "config", "einsum_config", FORM_SAME},
                  {"stablehlo.pad", "low", "edge_padding_low", FORM_LIST},
                  {"stablehlo.pad", "high", "edge_padding_high", FORM_LIST},
                  {"stablehlo.pad", "interior", "interior_padding", FORM_LIST},
                  {"stablehlo.concatenate", "dim", "dimension", FORM_I64},
                  {"stablehlo.get_dimension_size", "dim", "dimension", FORM_I64},
                  {"stablehlo.set_dimension_size", "dim", "dimension", FORM_I64},
                  {"stablehlo.iota", "dim", "iota_dimension", FORM_I64},
                  {"stablehlo.dynamic_iota", "dim", "iota_dimension", FORM_I64},
                  {"stablehlo.cholesky", "lower", "lower", FORM_SAME},
                  {"stablehlo.fft", "type", "fft_type", FORM_ENUM},
                  {"stablehlo.fft", "length", "fft_length", FORM_LIST},
                  {"stablehlo.rng", "distribution", "rng_distribution", FORM_ENUM},
                  {"stablehlo.rng_bit_generator", "algorithm", "rng_algorithm", FORM_ENUM},
                  {"stablehlo.reduce_precision", "format", "", FORM_FLOAT},
                  {"stablehlo.dot_general", "precision", "precision_config", FORM_PRECISION},
                  {"stablehlo.dot_general", "algorithm", "algorithm", FORM_ALGORITHM},
                  {"stablehlo.dot", "precision", "precision_config", FORM_PRECISION},
                  {"stablehlo.convolution", "dim_numbers", "dimension_numbers", FORM_CONV},
                  {"stablehlo.convolution", "window", "", FORM_WINDOW},
                  {"stablehlo.convolution", "stride", "window_strides", FORM_LIST},
                  {"stablehlo.convolution", "pad", "padding", FORM_PADDING},
                  {"stablehlo.convolution", "lhs_dilate", "lhs_dilation", FORM_LIST},
                  {"stablehlo.convolution", "rhs_dilate", "rhs_dilation", FORM_LIST},
                  {"stablehlo.convolution", "reverse", "window_reversal", FORM_TRUTHS},
                  {"chlo.top_k", "k", "k", FORM_I64}};

/* The words of the list [..] from FROM to before TO, with what stands before and behind each. */
static void put_list(const shlo_token *t, size_t from, size_t to, const char *before,
                     const char *behind, bn_text *out)
{
    bool first = true, minus = false;
    for (size_t i = from; i < to; i++) {
        if (t[i].kind != SHLO_TOKEN_WORD) {
            minus = shlo_is_mark(&t[i], '-');
            continue;
        }
        bn_text_puts(out, first ? "" : ", ");
        bn_text_puts(out, before);
        bn_text_puts(out, minus ? "-" : "");
        bn_text_append(out, t[i].at, t[i].length);
        bn_text_puts(out, behind);
        first = minus = false;
    }
}

static void put_array(const shlo_token *t, size_t from, size_t to, const char *type, bn_text *out)
{
    bn_text_puts(out, "array<");
    bn_text_puts(out, type);
    if (to > from + 2)
        bn_text_puts(out, ": ");
    put_list(t, from, to, "", "", out);
    bn_text_putc(out, '>');
}

static void put_span(const shlo_token *t, size_t from, size_t to, bn_text *out)
{
    const shlo_piece piece = shlo_piece_of(t, from, to);
    bn_text_append(out, piece.at, piece.length);
}

/* "[[1, 2], [1, 2]]"; where all numbers are the same, MLIR writes one. */
static void put_padding(const shlo_token *t, size_t from, size_t to, bn_text *out)
{
    size_t numbers = 0;
    const shlo_token *one = NULL;
    bool same = true, minus = false, one_minus = false;
    for (size_t i = from; i < to; i++) {
        if (t[i].kind == SHLO_TOKEN_WORD) {
            same = same && (!one || (one->hash == t[i].hash && one_minus == minus));
            one = &t[i];
            one_minus = minus;
            numbers++;
        }
        minus = shlo_is_mark(&t[i], '-');
    }
    bn_text_puts(out, "dense<");
    if (one && same)
        put_list(one - one_minus, 0, 1u + one_minus, "", "", out);
    else if (one)
        put_span(t, from, to, out);
    bn_text_printf(out, "> : tensor<%zux2xi64>", numbers / 2);
}

static bool put_value(value_form form, const char *key, const shlo_token *t, size_t from, size_t to,
                      bn_text *out)
{
    switch (form) {
    case FORM_LIST:
        put_array(t, from, to, "i64", out);
        break;
    case FORM_TRUTHS:
        put_array(t, from, to, "i1", out);
        break;
    case FORM_I64:
        put_span(t, from, to, out);
        bn_text_puts(out, " : i64");
        break;
    case FORM_ENUM:
        bn_text_printf(out, "#stablehlo<%s ", key);
        put_span(t, from, to, out);
        bn_text_putc(out, '>');
        break;
    case FORM_PADDING:
        put_padding(t, from, to, out);
        break;
    case FORM_PRECISION:
        bn_text_putc(out, '[');
        put_list(t, from, to, "#stablehlo<precision ", ">", out);
        bn_text_putc(out, ']');
        break;
    case FORM_CONV:
        bn_text_puts(out, "#stablehlo.conv<");
        put_span(t, from, to, out);
        bn_text_putc(out, '>');
        break;
    case FORM_ALGORITHM:
        bn_text_puts(out, "#stablehlo.dot_algorithm");
        put_span(t, from, to, out);
        break;
    case FORM_SAME:
        put_span(t, from, to, out);
        break;
    default:
        return false;
    }
    return true;
}

/* "e5m10". */
static bool put_float_format(const shlo_token *t, bn_text *out)
{
    char *end, word[32] = "";
    if (t->length >= sizeof word || t->length < 4 || t->at[0] != 'e')
        return false;
    memcpy(word, t->at, t->length);
    const long exponent = strtol(word + 1, &end, 10);
    if (*end != 'm')
        return false;
    bn_text_printf(out, "exponent_bits = %ld : i32, mantissa_bits = %s : i32, ", exponent, end + 1);
    return true;
}

/* The first token from FROM on, outside of brackets, that ends a parameter. */
static size_t parameter_end(const shlo_token *t, size_t from, size_t to)
{
    int64_t depth = 0;
    for (size_t i = from; i < to; i++) {
        if (depth == 0 && i > from &&
            (shlo_is_mark(&t[i], ',') || shlo_is_mark(&t[i], '{') || shlo_bracket(&t[i]) < 0))
            return i;
        depth += shlo_bracket(&t[i]);
    }
    return to;
}

/* Puts parameter AT, "name = value" of an op called NAME; *BEHIND is where it ends. False: it is
 * not known. */
static bool put_parameter(shlo_piece name, const shlo_token *t, size_t at, size_t to, bn_text *out,
                          size_t *behind)
{
    *behind = parameter_end(t, at + 2, to);
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
        if (!shlo_is_word(&t[at], parameters[i].name) || !shlo_is_called(name, parameters[i].op))
            continue;
        if (*behind <= at + 2)
            return false;
        if (parameters[i].form == FORM_FLOAT)
            return put_float_format(&t[at + 2], out);
        if (parameters[i].form == FORM_WINDOW) {
            /* Its parameters are as those outside. */
            bool known = true;
            for (size_t k = at + 3; k + 2 < *behind && known;) {
                size_t end;
                known =
                    shlo_is_mark(&t[k + 1], '=') && put_parameter(name, t, k, *behind, out, &end);
                k = known ? end + 1 : k;
            }
            return known;
        }
        bn_text_puts(out, parameters[i].key);
        bn_text_puts(out, " = ");
        const bool known =
            put_value(parameters[i].form, parameters[i].key, t, at + 2, *behind, out);
        bn_text_puts(out, ", ");
        return known;
    }
    return false;
}

/* "batching_dims = [0] x [0], contracting_dims = [2] x [1]" of a dot: one attribute. */
typedef struct dot_dims {
    size_t from[2], to[2], x[2]; /* tokens of each; 0: not said */
} dot_dims;

static bool dot_parameter(const shlo_token *t, size_t at, size_t to, dot_dims *dims, size_t *behind)
{
    const int which = shlo_is_word(&t[at], "contracting_dims") ? 1 : 0;
    if (which == 0 && !shlo_is_word(&t[at], "batching_dims"))
        return false;
    *behind = parameter_end(t, at + 2, to);
    dims->from[which] = at + 2;
    dims->to[which] = *behind;
    for (size_t i = at + 2; i < *behind; i++)
        if (shlo_is_word(&t[i], "x"))
            dims->x[which] = i;
    return dims->x[which] != 0;
}

static void put_dot_dims(const shlo_token *t, const dot_dims *dims, bn_text *out)
{
    static const char *const names[2][2] = {
        {"lhs_batching_dimensions", "rhs_batching_dimensions"},
        {"lhs_contracting_dimensions", "rhs_contracting_dimensions"}};
    bool first = true;
    bn_text_puts(out, "dot_dimension_numbers = #stablehlo.dot<");
    for (int which = 0; which < 2; which++) {
        for (int side = 0; side < 2 && dims->x[which]; side++) {
            const size_t from = side ? dims->x[which] + 1 : dims->from[which];
            const size_t to = side ? dims->to[which] : dims->x[which];
            if (to <= from + 2)
                continue; /* an empty list is not written */
            bn_text_printf(out, "%s%s = ", first ? "" : ", ", names[which][side]);
            put_span(t, from, to, out);
            first = false;
        }
    }
    bn_text_puts(out, ">, ");
}

/* "[0:2, 0:4:2]" of a slice, from its bracket AT on; *BEHIND is where it ends. */
static bool put_slice(const shlo_token *t, size_t at, size_t to, bn_text *out, size_t *behind)
{
    static const char *const keys[] = {"start_indices", "limit_indices", "strides"};
    for (int which = 0; which < 3; which++) {
        int part = 0;
        bool said = false, first = true;
        size_t i = at + 1;
        bn_text_puts(out, keys[which]);
        bn_text_puts(out, " = array<i64");
        for (; i < to; i++) {
            const bool ends = shlo_is_mark(&t[i], ',') || shlo_is_mark(&t[i], ']');
            if (t[i].kind == SHLO_TOKEN_WORD && part == which) {
                bn_text_puts(out, first ? ": " : ", ");
                bn_text_append(out, t[i].at, t[i].length);
                said = true;
                first = false;
            } else if (shlo_is_mark(&t[i], ':')) {
                part++;
            } else if (ends) {
                if (!said && i > at + 1) {
                    if (which < 2)
                        return false;
                    bn_text_puts(out, first ? ": 1" : ", 1");
                    first = false;
                }
                part = 0;
                said = false;
            }
            if (shlo_is_mark(&t[i], ']'))
                break;
        }
        bn_text_puts(out, ">, ");
        *behind = i + 1;
    }
    return *behind <= to;
}

/* ---- a statement ----------------------------------------------------------------------------- */

size_t shlo_behind_bracket(const shlo_token *t, size_t at, size_t to)
{
    int64_t depth = 0;
    for (; at < to; at++) {
        depth += shlo_bracket(&t[at]);
        if (depth == 0)
            return at + 1;
    }
    return to;
}

/* "dense<...>" of a constant, from FROM to before TO, up to a colon: its type is hashed as one. */
static uint64_t constant_hash(shlo_scanner s)
{
    shlo_token t;
    uint64_t hash = 0;
    int64_t depth = 0;
    while (shlo_scan(&s, &t, NULL) == BN_OK && t.kind != SHLO_TOKEN_END) {
        if (depth == 0 && (shlo_is_mark(&t, ':') || shlo_is_mark(&t, ',') || shlo_bracket(&t) < 0))
            break;
        depth += shlo_bracket(&t);
        hash = shlo_mix(hash, t.hash);
    }
    return shlo_mix(shlo_mix(1, shlo_hash("value", 5)), hash);
}

static bool is_module(shlo_piece name)
{
    return shlo_is_called(name, "module") || shlo_is_called(name, "builtin.module");
}

/* Whether ENTRY of the op called NAME, of hash OWN, says what holds without it: the usual form
 * leaves that out. */
static bool is_default(shlo_piece name, const shlo_entry_text *entry, uint64_t own)
{
    static const struct {
        const char *op, *key, *text; /* NULL: of any op */
    } rows[] = {{NULL, "result_accuracy",
                 "result_accuracy = #stablehlo.result_accuracy<mode = "
                 "#stablehlo.result_accuracy_mode<DEFAULT>>"},
                {NULL, "indices_are_sorted", "indices_are_sorted = false"},
                {NULL, "is_host_transfer", "is_host_transfer = false"},
                {"stablehlo.scatter", "unique_indices", "unique_indices = false"},
                {"stablehlo.sort", "dimension", "dimension = -1 : i64"},
                {"stablehlo.sort", "is_stable", "is_stable = false"},
                {"stablehlo.cholesky", "lower", "lower = false"},
                {"stablehlo.composite", "composite_attributes", "composite_attributes = {}"},
                {"stablehlo.composite", "version", "version = 0 : i32"},
                {"stablehlo.custom_call", "api_version", "api_version = 1 : i32"},
                {"stablehlo.custom_call", "called_computations", "called_computations = []"},
                {"stablehlo.custom_call", "has_side_effect", "has_side_effect = false"},
                {"stablehlo.custom_call", "output_operand_aliases", "output_operand_aliases = []"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!shlo_is_word(&entry->key, rows[i].key) ||
            (rows[i].op && !shlo_is_called(name, rows[i].op)))
            continue;
        shlo_scanner s = {rows[i].text, rows[i].text + strlen(rows[i].text), 1, false};
        return shlo_dictionary(&s) == own;
    }
    return false;
}

/* The entries of the op's attributes that S stands in. */
static uint64_t entries_in(const shlo_statement *st, shlo_scanner s)
{
    shlo_entry_text entry;
    uint64_t sum = 0;
    const bool constant = shlo_is_called(st->name, "stablehlo.constant");
    const bool module = is_module(st->name);
    while (shlo_next_entry(&s, &entry)) {
        const uint64_t own = shlo_mix(shlo_mix(1, entry.name), entry.hash);
        if (constant && shlo_is_word(&entry.key, "value"))
            sum += constant_hash(entry.value);
        else if (!(module && shlo_is_word(&entry.key, "sym_name")) &&
                 !is_default(st->name, &entry, own))
            sum += own;
    }
    return sum;
}

/* The same of the dictionary that TOKEN opens. */
static uint64_t entries_of(const shlo_statement *st, const shlo_token *token)
{
    const shlo_token *last = &st->t[st->count - 1];
    return entries_in(st, shlo_inside(token, last->at + last->length));
}

/* Generic: ("..." names the op) operands, properties, regions, attributes. */
static bool says_generic(const shlo_statement *st, uint64_t *sum)
{
    for (size_t i = st->op + 1; i < st->colon; i++) {
        if (st->t[i].kind == SHLO_TOKEN_ANGLE) {
            *sum += entries_of(st, &st->t[i]);
        } else if (shlo_is_mark(&st->t[i], '{')) {
            *sum += entries_of(st, &st->t[i]);
            i = shlo_behind_bracket(st->t, i, st->count) - 1;
        } else if (shlo_is_mark(&st->t[i], '(')) {
            i = shlo_behind_bracket(st->t, i, st->count) - 1;
        } else if (shlo_is_mark(&st->t[i], '[')) {
            /* Blocks that follow: by their places no op of StableHLO has any. */
            for (const size_t end = shlo_behind_bracket(st->t, i, st->count); i + 1 < end; i++)
                *sum = shlo_mix(*sum, st->t[i].hash);
        }
    }
    return true;
}

/* The usual form: what stands between FROM and TO. */
static bool says_usual(const shlo_statement *st, size_t from, size_t to, uint64_t *sum,
                       uint64_t *applies, bn_text *out, dot_dims *dims)
{
    const shlo_token *t = st->t;
    const bool constant = shlo_is_called(st->name, "stablehlo.constant");
    const bool custom = shlo_is_called(st->name, "stablehlo.custom_call");
    const bool call = shlo_is_called(st->name, "call") || shlo_is_called(st->name, "func.call");
    const bool composite = shlo_is_called(st->name, "stablehlo.composite");
    const bool compare = shlo_is_called(st->name, "stablehlo.compare");
    const bool reduce = shlo_is_called(st->name, "stablehlo.reduce");
    const bool loop = shlo_is_called(st->name, "stablehlo.while");
    const bool dot = shlo_is_called(st->name, "stablehlo.dot_general");
    const bool module = is_module(st->name);
    const bool mesh = shlo_is_called(st->name, "sdy.mesh");
    bool known = true, direction = false;
    for (size_t i = from; i < to && known; i++) {
        const size_t place = shlo_behind_place(t, i, to);
        size_t behind = i + 1;
        if (place > i)
            behind = place;
        else if (t[i].kind == SHLO_TOKEN_VALUE || t[i].kind == SHLO_TOKEN_REGION ||
                 shlo_is_mark(&t[i], ',') || shlo_is_mark(&t[i], '(') || shlo_is_mark(&t[i], ')') ||
                 (loop && shlo_is_mark(&t[i], '=')) || (reduce && shlo_is_mark(&t[i], ':')))
            continue;
        else if (shlo_is_mark(&t[i], '{')) {
            *sum += entries_of(st, &t[i]);
            behind = shlo_behind_bracket(t, i, to);
        } else if (constant && i + 1 < to) {
            const shlo_token *last = &t[to - 1];
            *sum += constant_hash((shlo_scanner){t[i].at, last->at + last->length, 1, false});
            behind = to;
        } else if (shlo_is_called(st->name, "stablehlo.slice") && shlo_is_mark(&t[i], '[')) {
            known = put_slice(t, i, to, out, &behind);
        } else if (shlo_is_called(st->name, "stablehlo.get_tuple_element") &&
                   shlo_is_mark(&t[i], '[') && i + 2 < to) {
            bn_text_puts(out, "index = ");
            put_span(t, i + 1, i + 2, out);
            bn_text_puts(out, " : i32, ");
            behind = i + 3;
        } else if (module && t[i].kind == SHLO_TOKEN_WORD &&
                   (t[i].at[0] == '@' || shlo_is_word(&t[i], "attributes"))) {
            continue; /* what a module is called does not count */
        } else if (mesh && i + 3 <= to && t[i].at[0] == '@' && shlo_is_mark(&t[i + 1], '=') &&
                   t[i + 2].kind == SHLO_TOKEN_ANGLE) {
            bn_text_puts(out, "sym_name = \"");
            bn_text_append(out, t[i].at + 1, t[i].length - 1);
            bn_text_puts(out, "\", mesh = #sdy.mesh");
            put_span(t, i + 2, i + 3, out);
            bn_text_puts(out, ", ");
            behind = i + 3;
        } else if (t[i].kind == SHLO_TOKEN_ANGLE &&
                   shlo_is_called(st->name, "sdy.sharding_constraint")) {
            bn_text_puts(out, "sharding = #sdy.sharding");
            put_span(t, i, i + 1, out);
            bn_text_puts(out, ", ");
        } else if (composite && t[i].kind == SHLO_TOKEN_STRING) {
            bn_text_puts(out, "name = ");
            put_span(t, i, i + 1, out);
            bn_text_puts(out, ", ");
        } else if (t[i].kind != SHLO_TOKEN_WORD) {
            known = false;
        } else if (i + 1 < to && shlo_is_mark(&t[i + 1], '=')) {
            known = (dot && dot_parameter(t, i, to, dims, &behind)) ||
                    put_parameter(st->name, t, i, to, out, &behind);
        } else if (compare) {
            bn_text_printf(out, "%s = #stablehlo<%s ",
                           direction ? "compare_type" : "comparison_direction",
                           direction ? "comparison_type" : "comparison_direction");
            put_span(t, i, i + 1, out);
            bn_text_puts(out, ">, ");
            direction = true;
        } else if (t[i].at[0] == '@' && call) {
            bn_text_puts(out, "callee = ");
            put_span(t, i, i + 1, out);
            bn_text_puts(out, ", ");
        } else if (t[i].at[0] == '@' && custom) {
            const bool quoted = t[i].length > 2 && t[i].at[1] == '"';
            bn_text_puts(out, quoted ? "call_target_name = " : "call_target_name = \"");
            bn_text_append(out, t[i].at + 1, t[i].length - 1);
            bn_text_puts(out, quoted ? ", " : "\", ");
        } else if (reduce && shlo_is_word(&t[i], "applies") && i + 1 < to) {
            *applies = t[i + 1].hash;
            behind = i + 2;
        } else {
            known = (reduce && (shlo_is_word(&t[i], "init") || shlo_is_word(&t[i], "across") ||
                                shlo_is_word(&t[i], "reducer"))) ||
                    (loop && (shlo_is_word(&t[i], "cond") || shlo_is_word(&t[i], "do") ||
                              shlo_is_word(&t[i], "attributes")));
        }
        i = behind - 1;
    }
    return known;
}

bool shlo_says(const shlo_statement *st, bn_text *scratch, uint64_t *sum, uint64_t *applies)
{
    dot_dims dims = {{0}, {0}, {0}};
    *sum = *applies = 0;
    if (st->t[st->op].kind == SHLO_TOKEN_STRING)
        return says_generic(st, sum);
    /* The arguments of a reducer stand behind the types. */
    size_t end = st->behind_types, plain = st->op + 1;
    while (end < st->count && !shlo_is_word(&st->t[end], "reducer") &&
           shlo_behind_place(st->t, end, st->count) == end)
        end++;
    /* Most have operands and nothing else. */
    while (plain < st->colon &&
           (st->t[plain].kind == SHLO_TOKEN_VALUE || shlo_is_mark(&st->t[plain], ',')))
        plain++;
    if (plain == st->colon && end == st->behind_types)
        return true;
    bn_text_clear(scratch);
    bool known = says_usual(st, st->op + 1, st->colon, sum, applies, scratch, &dims) &&
                 says_usual(st, st->behind_types, end, sum, applies, scratch, &dims);
    if (shlo_is_called(st->name, "stablehlo.dot_general"))
        put_dot_dims(st->t, &dims, scratch);
    if (known && scratch->length > 0)
        *sum += entries_in(
            st, (shlo_scanner){scratch->data, scratch->data + scratch->length, 1, false});
    return known;
}
