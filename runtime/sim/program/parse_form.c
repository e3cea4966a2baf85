/* parse_form.c - the pretty forms of ops: those that are an op's own, and that of all others. */
#include "runtime/sim/program/parse_op.h"

#include <string.h>

/* "{attributes} dense<...> : type" */
static void form_constant(sim_reader *r, sim_reading *o)
{
    (void)o;
    r->literal.lex.text = NULL;
    sim_skip_dictionary(r);
    if (!sim_read_literal(r))
        return;
    sim_push(&r->signature, r->literal.type);
}

/* "@f(%a, %b) {attributes} : (types) -> types" */
static void form_call(sim_reader *r, sim_reading *o)
{
    if (sim_kind(r) != SIM_T_SYMBOL) {
        sim_reader_expected(r, "@function");
        return;
    }
    o->callee = sim_keep_text(r, r->lex.token, r->lex.length);
    sim_next(r);
    sim_read_operands(r);
    sim_skip_dictionary(r);
    sim_read_signature(r, o);
}

static void form_custom_call(sim_reader *r, sim_reading *o)
{
    static const char name[] = "call_target_name";
    if (sim_kind(r) != SIM_T_SYMBOL) {
        sim_reader_expected(r, "@target");
        return;
    }
    sim_raw *raw = sim_raw_add(r, name, sizeof name - 1);
    raw->word = r->lex.token;
    raw->word_length = r->lex.length;
    sim_next(r);
    sim_read_operands(r);
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    sim_read_signature(r, o);
}

/* "(%a, %b) dim_numbers = [..]x[..]->[..], window = {...} {attributes} : types" */
static void form_convolution(sim_reader *r, sim_reading *o)
{
    sim_read_operands(r);
    if (!sim_accept_word(r, "dim_numbers") || !sim_accept(r, '=')) {
        sim_reader_expected(r, "dim_numbers =");
        return;
    }
    sim_read_layouts(r);
    if (sim_accept(r, ',')) {
        if (!sim_accept_word(r, "window") || !sim_accept(r, '=')) {
            sim_reader_expected(r, "window =");
            return;
        }
        sim_read_dictionary(r);
    }
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    sim_read_signature(r, o);
}

/* ---- reduce ----------------------------------------------------------------------------- */

/* "(%a init: %b), (%c init: %d)": operands in the order %a, %c, %b, %d. */
static void read_pairs(sim_reader *r, const sim_reading *o)
{
    do {
        sim_expect(r, '(', "'(' of an operand");
        sim_read_operand(r);
        if (!sim_accept_word(r, "init"))
            sim_reader_expected(r, "init:");
        sim_expect(r, ':', "':' behind init");
        sim_read_operand(r);
        sim_expect(r, ')', "')' of an operand");
    } while (sim_accept(r, ','));
    int count = sim_reading_operand_count(r, o) / 2;
    if (r->code != SIM_OK || count == 1)
        return;
    sim_room(&r->ints, (size_t)count);
    int *inits = r->ints.items + r->ints.count, *operands = sim_reading_operands(r, o);
    for (int i = 0; i < count; i++) {
        inits[i] = operands[2 * i + 1];
        operands[i] = operands[2 * i];
    }
    memcpy(operands + count, inits, (size_t)count * sizeof *inits);
}

/* "applies stablehlo.add": a region of scalars of the operand's element type. */
static void read_applied(sim_reader *r, const sim_reading *o)
{
    const char *at = r->lex.start;
    int line = (int)r->lex.start_line;
    int code = sim_kind(r) == SIM_T_WORD ? sim_op_find(r, r->lex.token, r->lex.length) : -1;
    bool binary = code >= 0 && code < SIM_OP_COUNT && sim_op_operands((sim_opcode)code) == 2 &&
                  sim_op_cost_class((sim_opcode)code) == SIM_ELEMENTWISE &&
                  code != SIM_OP_COMPARE && code != SIM_OP_COMPLEX;
    if (!binary || sim_reading_operand_count(r, o) != 2) {
        sim_reader_expected(r, "an op of two numbers");
        return;
    }
    sim_next(r);
    sim_block block;
    bn_dtype dtype = sim_reader_type(r, sim_reading_operands(r, o)[0])->dtype;
    if (!sim_make_region(r, code, dtype, at, line, &block))
        return;
    sim_push(&r->blocks, block);
}

/* "reducer(%a: type, %b: type) (%c: type, %d: type) {": each pair is of one operand;
 * the region's arguments are all first ones, then all second ones. */
static void read_reducer(sim_reader *r)
{
    size_t labels = r->labels.count, types = r->signature.count;
    while (sim_accept(r, '(')) {
        sim_read_argument(r, NULL);
        sim_expect(r, ',', "',' between a pair of arguments");
        sim_read_argument(r, NULL);
        sim_expect(r, ')', "')' of a pair of arguments");
    }
    sim_skip_location(r);
    size_t count = r->labels.count - labels;
    if (r->code != SIM_OK)
        return;
    sim_room(&r->labels, count);
    sim_room(&r->signature, count);
    sim_label *label = r->labels.items + r->labels.count;
    sim_type *type = r->signature.items + r->signature.count;
    r->labels.count += count;
    r->signature.count += count;
    for (size_t i = 0; i < count; i++) {
        size_t place = i % 2 * (count / 2) + i / 2;
        label[place] = r->labels.items[labels + i];
        type[place] = r->signature.items[types + i];
    }
    sim_read_region(r, label, type, (int)count);
    r->labels.count = labels;
    r->signature.count = types;
}

/* "(%a init: %b) applies stablehlo.add across dimensions = [0] : types", or without
 * "applies" and with "reducer(...) { ... }" at the end. */
static void form_reduce(sim_reader *r, sim_reading *o)
{
    read_pairs(r, o);
    if (sim_accept_word(r, "applies"))
        read_applied(r, o);
    if (!sim_accept_word(r, "across"))
        sim_reader_expected(r, "across dimensions = [...]");
    const char *name = r->lex.token;
    size_t length = r->lex.length;
    if (!sim_accept_word(r, "dimensions") || !sim_accept(r, '='))
        sim_reader_expected(r, "dimensions = [...]");
    sim_read_value(r, name, length);
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    sim_read_signature(r, o);
    sim_skip_location(r);
    if (sim_accept_word(r, "reducer"))
        read_reducer(r);
}

/* ---- while ------------------------------------------------------------------------------ */

/* "(%i = %a, %j = %b) : types attributes {...} cond { ... } do { ... }" */
static void form_while(sim_reader *r, sim_reading *o)
{
    size_t labels = r->labels.count;
    sim_expect(r, '(', "'(' of the operands");
    while (sim_kind(r) == SIM_T_VALUE) {
        sim_push(&r->labels, (sim_label){r->lex.token, r->lex.start, r->lex.length, 1});
        sim_next(r);
        sim_expect(r, '=', "'=' of an argument");
        sim_read_operand(r);
        if (!sim_accept(r, ','))
            break;
    }
    sim_expect(r, ')', "')' of the operands");
    int count = sim_reading_operand_count(r, o), named = o->result_count;
    o->result_count = count; /* a type for each, named or not */
    if (count)
        sim_read_signature(r, o);
    o->result_count = named;
    if (r->code == SIM_OK && r->signature.count - o->signature != (size_t)count)
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "while: %d operands, but types of %zu",
                        count, r->signature.count - o->signature);
    if (sim_accept_word(r, "attributes"))
        sim_skip_dictionary(r);
    for (int i = 0; i < 2; i++) {
        if (!sim_accept_word(r, i ? "do" : "cond"))
            sim_reader_expected(r, i ? "do { ... }" : "cond { ... }");
        if (r->code == SIM_OK)
            sim_read_region(r, r->labels.items + labels, r->signature.items + o->signature, count);
    }
    r->labels.count = labels;
}

/* ---- most ops --------------------------------------------------------------------------- */

/* "e5m10" of reduce_precision, as two attributes. */
static void split_format(sim_reader *r)
{
    const sim_raw *raw = r->raws.items + (r->raws.count - 1);
    int64_t bits[2] = {0, 0};
    int part = -1;
    for (size_t i = 0; i < raw->word_length; i++) {
        char c = raw->word[i];
        if (c == 'e' || c == 'm')
            part = c == 'm';
        else if (part >= 0 && c >= '0' && c <= '9' && bits[part] < 1000)
            bits[part] = 10 * bits[part] + (c - '0');
    }
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "mantissa_bits" : "exponent_bits";
        sim_raw *bit = sim_raw_add(r, name, strlen(name));
        bit->plain = true;
        bit->count = 1;
        bit->ints[0] = bits[i];
    }
}

/* "name = value", "name = [1] x [0]", or a word whose place says its name. */
static void read_item(sim_reader *r, const sim_reading *o, int place)
{
    const char *name = r->lex.token, *at = r->lex.start;
    size_t length = r->lex.length;
    sim_next(r);
    if (sim_accept(r, '=')) {
        sim_read_value(r, name, length);
        if (sim_accept_word(r, "x"))
            sim_read_value(r, name, length);
        if (r->raws.count > o->raws && o->code == SIM_OP_REDUCE_PRECISION && length == 6)
            split_format(r);
        return;
    }
    if (o->code != SIM_OP_COMPARE) {
        sim_reader_fail(r, at, SIM_INVALID_ARGUMENT, "expected '=' behind '%.*s'",
                        (int)(length < 40 ? length : 40), name);
        return;
    }
    const char *known = place ? "compare_type" : "comparison_direction";
    sim_raw *raw = sim_raw_add(r, known, strlen(known));
    raw->word = name;
    raw->word_length = length;
}

/* "[0:4, 1:8:2]" of slice. */
static void read_ranges(sim_reader *r)
{
    static const char *const names[] = {"start_indices", "limit_indices", "strides"};
    size_t first = r->raws.count;
    for (int i = 0; i < 3; i++)
        sim_raw_add(r, names[i], strlen(names[i]))->plain = true;
    sim_next(r);
    while (sim_kind(r) != ']' && r->code == SIM_OK) {
        for (int i = 0; i < 3; i++) {
            sim_raw *raw = r->raws.items + first + i;
            size_t scratch = r->raws.count;
            int64_t value = 1;
            if (i < 2 || sim_kind(r) == ':') {
                if (i && !sim_expect(r, ':', "':' in a range"))
                    return;
                if (sim_kind(r) != SIM_T_NUMBER) {
                    sim_reader_expected(r, "a number");
                    return;
                }
                sim_read_value(r, "", 0);
                const sim_raw *number = r->raws.items + scratch;
                if (r->code != SIM_OK || !number->plain) {
                    sim_reader_expected(r, "']' behind a range of integers");
                    return;
                }
                raw = r->raws.items + first + i;
                value = number->ints[0];
                r->raws.count = scratch;
            }
            if (raw->count < SIM_MAX_INTS)
                raw->ints[raw->count++] = value;
        }
        if (!sim_accept(r, ',') && sim_kind(r) != ']')
            sim_reader_expected(r, "',' or ']'");
    }
    sim_expect(r, ']', "']' of the ranges");
}

/* "%a, %b, name = value {attributes} : types"; some write brackets around it. */
static void form_items(sim_reader *r, sim_reading *o)
{
    bool brackets = sim_accept(r, '(');
    for (bool more = true; more && r->code == SIM_OK; more = sim_accept(r, ',')) {
        if (sim_kind(r) == SIM_T_VALUE) {
            sim_read_operand(r);
            if (sim_kind(r) == '[' && o->code == SIM_OP_SLICE)
                read_ranges(r);
        } else if (sim_kind(r) == SIM_T_WORD) {
            read_item(r, o, sim_reading_operand_count(r, o));
        } else {
            break;
        }
    }
    if (brackets)
        sim_expect(r, ')', "')' of the operands");
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    sim_read_signature(r, o);
}

/* ---- the table -------------------------------------------------------------------------- */

/* The others are read by form_items. */
static sim_form *const forms[SIM_OP_ALL] = {
    [SIM_OP_CALL] = form_call,
    [SIM_OP_CONSTANT] = form_constant,
    [SIM_OP_CONVOLUTION] = form_convolution,
    [SIM_OP_CUSTOM_CALL] = form_custom_call,
    [SIM_OP_REDUCE] = form_reduce,
    [SIM_OP_WHILE] = form_while,
};

sim_form *sim_op_form(int code)
{
    return forms[code] ? forms[code] : form_items;
}
