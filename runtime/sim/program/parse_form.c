/* parse_form.c - the pretty forms of ops that have one of their own. */
#include "runtime/sim/program/parse_priv.h"

#include <string.h>

/* "{attributes} dense<...> : type" */
void sim_form_constant(sim_reader *r, sim_reading *o)
{
    (void)o;
    r->literal.lex.text = NULL;
    sim_skip_dictionary(r);
    if (!sim_read_literal(r))
        return;
    sim_type *slot = sim_reader_add(r, &r->signature, 1);
    if (slot)
        *slot = r->literal.type;
}

/* "@f(%a, %b) {attributes} : (types) -> types" */
void sim_form_call(sim_reader *r, sim_reading *o)
{
    if (sim_kind(r) != SIM_T_SYMBOL) {
        sim_reader_expected(r, "@function");
        return;
    }
    o->callee = sim_reader_copy(r, r->lex.token, r->lex.length);
    sim_next(r);
    sim_read_operands(r);
    sim_skip_dictionary(r);
    sim_read_signature(r, o);
}

void sim_form_custom_call(sim_reader *r, sim_reading *o)
{
    static const char name[] = "call_target_name";
    if (sim_kind(r) != SIM_T_SYMBOL) {
        sim_reader_expected(r, "@target");
        return;
    }
    sim_raw *raw = sim_raw_add(r, name, sizeof name - 1);
    if (!raw)
        return;
    raw->word = r->lex.token;
    raw->word_length = r->lex.length;
    sim_next(r);
    sim_read_operands(r);
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    sim_read_signature(r, o);
}

/* "(%a, %b) dim_numbers = [..]x[..]->[..], window = {...} {attributes} : types" */
void sim_form_convolution(sim_reader *r, sim_reading *o)
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
    int *inits = sim_reader_add(r, &r->ints, (size_t)count);
    int *operands = sim_reading_operands(r, o);
    for (int i = 0; inits && i < count; i++) {
        inits[i] = operands[2 * i + 1];
        operands[i] = operands[2 * i];
    }
    if (inits)
        memcpy(operands + count, inits, (size_t)count * sizeof *inits);
    r->ints.count -= inits ? (size_t)count : 0;
}

bool sim_make_region(sim_reader *r, int code, sim_dtype dtype, const char *at, int line,
                     sim_block *block)
{
    size_t mark = r->ops.count;
    const sim_type scalar = {.dtype = dtype}, types[2] = {scalar, scalar};
    int *arguments = sim_reader_take(r, 3 * sizeof *arguments);
    sim_op *ops = sim_reader_take(r, sizeof *ops);
    int first = sim_reader_values(r, types, 2);
    if (!arguments || !ops || first < 0)
        return false;
    arguments[0] = first;
    arguments[1] = first + 1;
    sim_op op = {.opcode = (sim_opcode)code, .line = line, .operand_count = 2};
    op.operands = arguments;
    arguments[2] = sim_emit(r, at, &op, &scalar, 1);
    if (arguments[2] < 0)
        return false;
    ops[0] = ((const sim_op *)r->ops.data)[mark];
    r->ops.count = mark;
    *block = (sim_block){2, 1, arguments, arguments + 2, ops, 1};
    return true;
}

/* "applies stablehlo.add": a region of scalars of the operand's element type. */
static void read_applied(sim_reader *r, const sim_reading *o)
{
    const char *at = r->lex.start;
    int line = r->lex.start_line;
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
    sim_dtype dtype = sim_reader_type(r, sim_reading_operands(r, o)[0])->dtype;
    if (!sim_make_region(r, code, dtype, at, line, &block))
        return;
    sim_block *slot = sim_reader_add(r, &r->blocks, 1);
    if (slot)
        *slot = block;
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
    sim_label *label = sim_reader_add(r, &r->labels, count);
    sim_type *type = sim_reader_add(r, &r->signature, count);
    if (r->code != SIM_OK || !label || !type)
        return;
    for (size_t i = 0; i < count; i++) {
        size_t place = i % 2 * (count / 2) + i / 2;
        label[place] = ((const sim_label *)r->labels.data)[labels + i];
        type[place] = ((const sim_type *)r->signature.data)[types + i];
    }
    sim_read_region(r, label, type, (int)count);
    r->labels.count = labels;
    r->signature.count = types;
}

/* "(%a init: %b) applies stablehlo.add across dimensions = [0] : types", or without
 * "applies" and with "reducer(...) { ... }" at the end. */
void sim_form_reduce(sim_reader *r, sim_reading *o)
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
void sim_form_while(sim_reader *r, sim_reading *o)
{
    size_t labels = r->labels.count;
    sim_expect(r, '(', "'(' of the operands");
    while (sim_kind(r) == SIM_T_VALUE) {
        sim_label *slot = sim_reader_add(r, &r->labels, 1);
        if (slot)
            *slot = (sim_label){r->lex.token, r->lex.start, r->lex.length, 1};
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
            sim_read_region(r, (const sim_label *)r->labels.data + labels,
                            (const sim_type *)r->signature.data + o->signature, count);
    }
    r->labels.count = labels;
}
