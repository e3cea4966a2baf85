/*
 * parse_attribute.c - attributes in all the ways MLIR writes them: integers, lists,
 * arrays, dense, words, and StableHLO's own for dimension numbers, whose parts become
 * attributes of the op. What is none of these is passed over.
 */
#define _GNU_SOURCE
#include "runtime/sim/program/parse_reader.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Attributes of an op and those around it, far more than any has. */
#define MAX_RAWS 4096

sim_raw *sim_raw_add(sim_reader *r, const char *name, size_t length)
{
    if (r->raws.count >= MAX_RAWS)
        sim_reader_fail(r, r->lex.start, SIM_RESOURCE_EXHAUSTED, "more than %d attributes",
                        MAX_RAWS);
    sim_room(&r->raws, 1);
    sim_raw *raw = &r->raws.items[r->raws.count++];
    memset(raw, 0, offsetof(sim_raw, ints)); /* INTS are many, and most stay unused */
    raw->name = name;
    raw->name_length = length;
    return raw;
}

/* ---- what is passed over --------------------------------------------------------------- */

static int nesting(int kind)
{
    return kind == '(' || kind == '[' || kind == '{' || kind == '<'   ? 1
           : kind == ')' || kind == ']' || kind == '}' || kind == '>' ? -1
                                                                      : 0;
}

/* Passes all up to the comma or closing bracket of the list that the value stands in. */
static void skip_to_comma(sim_reader *r)
{
    int depth = 0;
    while (sim_kind(r) != SIM_T_END) {
        int step = nesting(sim_kind(r));
        if (depth == 0 && (step < 0 || sim_kind(r) == ','))
            return;
        depth += step;
        sim_next(r);
    }
}

void sim_skip_brackets(sim_reader *r)
{
    int depth = 0;
    do {
        depth += nesting(sim_kind(r));
        sim_next(r);
    } while (depth > 0 && sim_kind(r) != SIM_T_END);
    if (depth > 0)
        sim_reader_expected(r, "a closing bracket");
}

/* Passes "loc" before its bracket; false where there is none. */
static bool begin_location(sim_reader *r)
{
    if (sim_kind(r) != SIM_T_WORD || !sim_lex_reads(&r->lex, "loc"))
        return false;
    sim_next(r);
    if (sim_kind(r) == '(')
        return true;
    sim_reader_expected(r, "'(' behind loc");
    return false;
}

void sim_skip_location(sim_reader *r)
{
    if (begin_location(r))
        sim_skip_brackets(r);
}

void sim_read_location(sim_reader *r)
{
    r->place = "";
    if (!begin_location(r))
        return;
    const sim_lexer bracket = r->lex;
    sim_next(r);
    if (sim_kind(r) == SIM_T_STRING)
        r->place = sim_keep_text(r, r->lex.token, r->lex.length);
    r->lex = bracket;
    sim_skip_brackets(r);
}

void sim_skip_dictionary(sim_reader *r)
{
    if (sim_kind(r) == '{')
        sim_skip_brackets(r);
}

/* ---- values ------------------------------------------------------------------------------ */

static void add_int(sim_raw *raw, int64_t value)
{
    if (raw->count < SIM_MAX_INTS)
        raw->ints[raw->count] = value;
    raw->count++;
    raw->plain &= raw->count <= SIM_MAX_INTS;
}

/* The current number or boolean; false when it is neither or does not fit. */
static bool token_int(sim_reader *r, sim_raw *raw)
{
    const sim_lexer *lex = &r->lex;
    char text[32];
    if (lex->kind == SIM_T_WORD && (sim_lex_reads(lex, "true") || sim_lex_reads(lex, "false"))) {
        add_int(raw, *lex->token == 't');
        return true;
    }
    if (lex->kind != SIM_T_NUMBER || lex->length >= sizeof text ||
        memchr(lex->token, '.', lex->length))
        return false;
    memcpy(text, lex->token, lex->length);
    text[lex->length] = '\0';
    char *rest;
    add_int(raw, strtoll(text, &rest, 0));
    return *rest == '\0' || *rest == 'e' || *rest == 'E';
}

static void read_number(sim_reader *r, sim_raw *raw)
{
    char text[64];
    if (r->lex.length < sizeof text) {
        memcpy(text, r->lex.token, r->lex.length);
        text[r->lex.length] = '\0';
        raw->real = strtod_l(text, NULL, (locale_t)r->locale);
    }
    raw->plain = true;
    raw->plain = token_int(r, raw) && raw->plain;
    sim_next(r);
}

/* "[1, [2, 3]]", flat. Of a list of other things nothing is kept. */
static void read_list(sim_reader *r, sim_raw *raw)
{
    int depth = 0;
    raw->plain = true;
    do {
        int kind = sim_kind(r);
        depth += (kind == '[') - (kind == ']');
        if (kind != '[' && kind != ']' && kind != ',' && !token_int(r, raw))
            raw->plain = false;
        sim_next(r);
    } while (depth > 0 && sim_kind(r) != SIM_T_END);
    if (depth > 0)
        sim_reader_expected(r, "']'");
}

/* "array<i64: 1, 2>", "array<i64>" */
static void read_array(sim_reader *r, sim_raw *raw)
{
    raw->plain = sim_expect(r, '<', "'<' behind array");
    sim_next(r); /* the type */
    if (sim_accept(r, ':'))
        while (sim_kind(r) != '>' && sim_kind(r) != SIM_T_END) {
            if (sim_kind(r) != ',' && !token_int(r, raw))
                raw->plain = false;
            sim_next(r);
        }
    sim_expect(r, '>', "'>' of an array");
}

static int64_t element_int(const sim_type *type, const void *data, size_t index)
{
    int64_t value = 0;
    size_t bytes = bn_dtype_bytes(type->dtype);
    memcpy(&value, (const char *)data + index * bytes, bytes);
    if (bn_dtype_class(type->dtype) == BN_SIGNED && bytes < 8) {
        int64_t sign = (int64_t)1 << (8 * bytes - 1);
        value = (value ^ sign) - sign;
    }
    return value;
}

/* Whether a literal of this name is of use. Others may be of types that no value has, as
 * layouts of custom calls are of tensor<2xindex>. */
static bool wanted(const sim_raw *raw)
{
    static const char *const names[] = {"value",
                                        "padding",
                                        "dimensions",
                                        "broadcast_dimensions",
                                        "permutation",
                                        "slice_sizes",
                                        "start_indices",
                                        "limit_indices",
                                        "strides",
                                        "edge_padding_low",
                                        "edge_padding_high",
                                        "interior_padding",
                                        "window_dimensions",
                                        "window_strides",
                                        "base_dilations",
                                        "window_dilations",
                                        "lhs_dilation",
                                        "rhs_dilation",
                                        "window_reversal",
                                        "fft_length"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == raw->name_length &&
            memcmp(names[i], raw->name, raw->name_length) == 0)
            return true;
    return false;
}

/* Adds the integers of "dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>" to RAW. A "value" stays
 * a literal, because it is a constant's. */
static void read_dense(sim_reader *r, sim_raw *raw)
{
    const void *data;
    size_t bytes;
    if (!wanted(raw) || !sim_read_literal(r) || memcmp(raw->name, "value", 5) == 0)
        return;
    const sim_type *type = &r->literal.type;
    bn_class class = bn_dtype_class(type->dtype);
    int64_t elements = sim_type_elements(type);
    if (class == BN_FLOAT || class == BN_COMPLEX || elements > SIM_MAX_INTS ||
        !sim_read_elements(r, &data, &bytes))
        return;
    bool all = (int64_t)bytes == sim_type_bytes(type);
    raw->plain = true;
    for (int64_t i = 0; i < elements; i++)
        add_int(raw, element_int(type, data, all ? (size_t)i : 0));
}

static void set_word(sim_reader *r, sim_raw *raw)
{
    raw->word = r->lex.token;
    raw->word_length = r->lex.length;
    sim_next(r);
}

/* "name = value, ..." up to CLOSE, which is passed. */
static void read_members(sim_reader *r, int close)
{
    while (sim_kind(r) != close && sim_kind(r) != SIM_T_END) {
        const char *name = r->lex.token;
        size_t length = r->lex.length;
        if (sim_kind(r) != SIM_T_WORD && sim_kind(r) != SIM_T_STRING) {
            sim_reader_expected(r, "the name of an attribute");
            return;
        }
        sim_next(r);
        if (sim_accept(r, '='))
            sim_read_value(r, name, length);
        else
            sim_raw_add(r, name, length);
        skip_to_comma(r);
        if (!sim_accept(r, ',') && sim_kind(r) != close) {
            sim_reader_expected(r, "',' or the end of the attributes");
            return;
        }
    }
    sim_expect(r, close, "the end of the attributes");
}

/* "#stablehlo.gather<offset_dims = [1], ...>": its members become attributes of the op. */
static bool read_dialect(sim_reader *r)
{
    static const char *const open[] = {"stablehlo.gather", "stablehlo.scatter", "stablehlo.dot",
                                       "stablehlo.conv"};
    bool known = false;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        known |= sim_lex_reads(&r->lex, open[i]);
    if (!known)
        return false;
    sim_next(r);
    if (!sim_expect(r, '<', "'<' behind the attribute's name"))
        return true;
    if (sim_kind(r) == '[') {
        sim_read_layouts(r);
        sim_expect(r, '>', "'>' behind the dimension numbers");
        return true;
    }
    sim_accept_word(r, "raw");
    read_members(r, '>');
    return true;
}

/* "#stablehlo<comparison_direction GT>": the second word is kept. */
static void read_enum(sim_reader *r, sim_raw *raw)
{
    if (!sim_lex_reads(&r->lex, "stablehlo"))
        return;
    sim_next(r);
    if (!sim_accept(r, '<'))
        return;
    sim_next(r);
    if (sim_kind(r) == SIM_T_WORD)
        set_word(r, raw);
    sim_accept(r, '>');
}

void sim_read_value(sim_reader *r, const char *name, size_t length)
{
    if (sim_kind(r) == SIM_T_HASH && read_dialect(r))
        return;
    sim_raw *raw = sim_raw_add(r, name, length);
    if (sim_kind(r) == SIM_T_NUMBER) {
        read_number(r, raw);
    } else if (sim_kind(r) == '[') {
        read_list(r, raw);
    } else if (sim_kind(r) == '{' || sim_kind(r) == '<') {
        sim_skip_brackets(r);
    } else if (sim_kind(r) == SIM_T_STRING || sim_kind(r) == SIM_T_SYMBOL) {
        set_word(r, raw);
    } else if (sim_kind(r) == SIM_T_HASH) {
        read_enum(r, raw);
    } else if (sim_accept_word(r, "array")) {
        read_array(r, raw);
    } else if (sim_kind(r) == SIM_T_WORD && sim_lex_reads(&r->lex, "dense")) {
        read_dense(r, raw);
    } else if (sim_lex_reads(&r->lex, "true") || sim_lex_reads(&r->lex, "false")) {
        raw->plain = true;
        token_int(r, raw);
        sim_next(r);
    } else if (sim_kind(r) == SIM_T_WORD && !sim_lex_reads(&r->lex, "dense_resource")) {
        set_word(r, raw);
    } else if (sim_kind(r) == SIM_T_WORD) {
        sim_read_literal(r); /* which fails and says why */
    }
}

void sim_read_dictionary(sim_reader *r)
{
    if (sim_expect(r, '{', "'{'"))
        read_members(r, '}');
}

/* ---- dimension numbers of a convolution -------------------------------------------------- */

/* "[b, 0, 1, f]": the places of the letters FIRST and SECOND and of the numbers become
 * three attributes, called NAMES. */
static void read_layout(sim_reader *r, const char *const names[3], char first, char second)
{
    int64_t letters[2] = {-1, -1}, spatial[SIM_MAX_RANK], place = 0, count = 0;
    memset(spatial, 0xff, sizeof spatial);
    sim_expect(r, '[', "'[' of dimension numbers");
    for (; sim_kind(r) != ']' && sim_kind(r) != SIM_T_END; place++) {
        char c = *r->lex.token;
        bool number = sim_kind(r) == SIM_T_NUMBER;
        int64_t at = number && r->lex.length < 3 ? 0 : -1;
        for (size_t d = 0; at >= 0 && d < r->lex.length; d++)
            at = *r->lex.token == '-' ? -1 : 10 * at + (r->lex.token[d] - '0');
        if (r->lex.length == 1 && (c == first || c == second)) {
            letters[c == second] = place;
        } else if (at >= 0 && at < SIM_MAX_RANK) {
            spatial[at] = place;
            count++;
        } else {
            sim_reader_expected(r, "a dimension's letter or number");
        }
        sim_next(r);
        if (!sim_accept(r, ',') && sim_kind(r) != ']')
            sim_reader_expected(r, "',' or ']'");
    }
    sim_expect(r, ']', "']' of dimension numbers");
    for (int i = 0; i < 3 && r->code == SIM_OK; i++) {
        sim_raw *raw = sim_raw_add(r, names[i], strlen(names[i]));
        raw->plain = true;
        for (int64_t s = 0; i == 2 && s < count; s++)
            add_int(raw, spatial[s]);
        if (i < 2)
            add_int(raw, letters[i]);
    }
}

void sim_read_layouts(sim_reader *r)
{
    static const char *const input[] = {"input_batch_dimension", "input_feature_dimension",
                                        "input_spatial_dimensions"};
    static const char *const kernel[] = {"kernel_input_feature_dimension",
                                         "kernel_output_feature_dimension",
                                         "kernel_spatial_dimensions"};
    static const char *const output[] = {"output_batch_dimension", "output_feature_dimension",
                                         "output_spatial_dimensions"};
    read_layout(r, input, 'b', 'f');
    if (!sim_accept_word(r, "x"))
        sim_reader_expected(r, "'x' between dimension numbers");
    read_layout(r, kernel, 'i', 'o');
    sim_expect(r, SIM_T_ARROW, "'->' between dimension numbers");
    read_layout(r, output, 'b', 'f');
}
