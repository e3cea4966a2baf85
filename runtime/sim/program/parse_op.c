/*
 * parse_op.c - statements: "%0 = op ..." in the generic and in the pretty form, blocks
 * and regions of them.
 */
#include "runtime/sim/program/parse_priv.h"

#include <string.h>

/* ---- pieces ---------------------------------------------------------------------------- */

void sim_read_operand(sim_reader *r)
{
    int value = sim_names_value(r);
    int *slot = sim_reader_add(r, &r->ints, 1);
    if (slot)
        *slot = value < 0 ? 0 : value;
}

void sim_read_operands(sim_reader *r)
{
    if (!sim_expect(r, '(', "'(' of the operands"))
        return;
    if (sim_accept(r, ')'))
        return;
    do
        sim_read_operand(r);
    while (sim_accept(r, ','));
    sim_expect(r, ')', "')' of the operands");
}

/* Number INDEX of the operands has the TYPE that stands at AT. */
static void check_stated(sim_reader *r, const sim_reading *o, const char *at, int index,
                         const sim_type *type)
{
    char stated[128], real[128];
    if (r->code != SIM_OK)
        return;
    if (index >= sim_reading_operand_count(r, o)) {
        sim_reader_fail(r, at, SIM_INVALID_ARGUMENT, "more types than operands");
        return;
    }
    const sim_type *own = sim_reader_type(r, sim_reading_operands(r, o)[index]);
    if (!sim_type_equals(own, type))
        sim_reader_fail(r, at, SIM_INVALID_ARGUMENT, "operand %d is %s, not %s", index,
                        sim_type_write(own, real, sizeof real),
                        sim_type_write(type, stated, sizeof stated));
}

/* Types onto r->signature. */
static void read_types(sim_reader *r)
{
    do {
        sim_type type;
        if (!sim_read_type(r, &type))
            return;
        sim_skip_dictionary(r);
        sim_type *slot = sim_reader_add(r, &r->signature, 1);
        if (slot)
            *slot = type;
    } while (sim_accept(r, ','));
}

static void read_results(sim_reader *r)
{
    if (!sim_accept(r, '(')) {
        read_types(r);
    } else if (!sim_accept(r, ')')) {
        read_types(r);
        sim_expect(r, ')', "')' of the results' types");
    }
}

/* "(types) -> types" */
static void read_function_type(sim_reader *r, sim_reading *o)
{
    int count = 0;
    sim_next(r);
    while (sim_kind(r) != ')' && r->code == SIM_OK) {
        const char *at = r->lex.start;
        sim_type type;
        if (!sim_read_type(r, &type))
            return;
        check_stated(r, o, at, count++, &type);
        if (!sim_accept(r, ',') && sim_kind(r) != ')')
            sim_reader_expected(r, "',' or ')'");
    }
    sim_expect(r, ')', "')' of the operands' types");
    if (r->code == SIM_OK && count != sim_reading_operand_count(r, o))
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: %d operands, but types of %d",
                        sim_op_text(o->code), sim_reading_operand_count(r, o), count);
    sim_expect(r, SIM_T_ARROW, "'->' and the results' types");
    read_results(r);
}

/* One type for operands and result, the last of several for one result, or one a
 * result: names at the left cost nothing, so there must be types for them. */
static void read_short_type(sim_reader *r, sim_reading *o)
{
    read_types(r);
    if (sim_accept(r, SIM_T_ARROW)) {
        const sim_type *stated = (const sim_type *)r->signature.data + o->signature;
        int count = (int)(r->signature.count - o->signature);
        for (int i = 0; i < count; i++)
            check_stated(r, o, o->at, i, &stated[i]);
        r->signature.count = o->signature;
        read_results(r);
        return;
    }
    size_t count = r->signature.count - o->signature, wanted = (size_t)o->result_count;
    if (r->code != SIM_OK || count == wanted || count == 0)
        return;
    if (wanted == 1) {
        sim_type *types = (sim_type *)r->signature.data + o->signature;
        types[0] = types[count - 1];
        r->signature.count = o->signature + 1;
    }
}

void sim_read_signature(sim_reader *r, sim_reading *o)
{
    if (!sim_expect(r, ':', "':' and types"))
        return;
    if (sim_kind(r) == '(')
        read_function_type(r, o);
    else
        read_short_type(r, o);
}

/* ---- forms ------------------------------------------------------------------------------- */

/* "e5m10" of reduce_precision, as two attributes. */
static void split_format(sim_reader *r)
{
    const sim_raw *raw = (const sim_raw *)r->raws.data + (r->raws.count - 1);
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
        if (!bit)
            return;
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
    if (raw) {
        raw->word = name;
        raw->word_length = length;
    }
}

/* "[0:4, 1:8:2]" of slice. */
static void read_ranges(sim_reader *r)
{
    static const char *const names[] = {"start_indices", "limit_indices", "strides"};
    size_t first = r->raws.count;
    for (int i = 0; i < 3; i++) {
        sim_raw *raw = sim_raw_add(r, names[i], strlen(names[i]));
        if (raw)
            raw->plain = true;
    }
    sim_next(r);
    while (sim_kind(r) != ']' && r->code == SIM_OK) {
        for (int i = 0; i < 3; i++) {
            sim_raw *raw = (sim_raw *)r->raws.data + first + i;
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
                const sim_raw *number = (const sim_raw *)r->raws.data + scratch;
                if (r->code != SIM_OK || !number->plain) {
                    sim_reader_expected(r, "']' behind a range of integers");
                    return;
                }
                raw = (sim_raw *)r->raws.data + first + i;
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
void sim_form_items(sim_reader *r, sim_reading *o)
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

/* "({ ... }, { ... })" */
static void read_regions(sim_reader *r)
{
    sim_next(r);
    do
        sim_read_region(r, NULL, NULL, 0);
    while (sim_accept(r, ','));
    sim_expect(r, ')', "')' behind the regions");
}

/* "(%a, %b) <{properties}> ({regions}) {attributes} : (types) -> types" */
static void form_generic(sim_reader *r, sim_reading *o)
{
    r->literal.lex.text = NULL;
    sim_read_operands(r);
    if (sim_accept(r, '<')) {
        sim_read_dictionary(r);
        sim_expect(r, '>', "'>' behind the properties");
    }
    sim_literal literal = {.lex.text = NULL};
    if (o->code == SIM_OP_CONSTANT)
        literal = r->literal;
    if (sim_kind(r) == '(')
        read_regions(r);
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    if (o->code == SIM_OP_CONSTANT && literal.lex.text)
        r->literal = literal;
    sim_read_signature(r, o);
    const sim_raw *raws = r->raws.data;
    for (size_t i = o->raws; o->code == SIM_OP_CALL && i < r->raws.count; i++)
        if (raws[i].name_length == 6 && memcmp(raws[i].name, "callee", 6) == 0 && raws[i].word)
            o->callee = sim_reader_copy(r, raws[i].word, raws[i].word_length);
}

/* ---- emission --------------------------------------------------------------------------- */

static bool emit_at(sim_reader *r, const char *at, sim_op *op, int first, int count)
{
    int *results = sim_reader_take(r, (size_t)count * sizeof *results);
    if (!results)
        return false;
    for (int i = 0; i < count; i++)
        results[i] = first + i;
    op->results = results;
    op->result_count = count;
    if (!sim_check_op(r, at, op))
        return false;
    sim_op *slot = sim_reader_add(r, &r->ops, 1);
    if (slot)
        *slot = *op;
    return slot != NULL;
}

bool sim_emit_to(sim_reader *r, const char *at, sim_op *op, int result)
{
    return emit_at(r, at, op, result, 1);
}

int sim_emit(sim_reader *r, const char *at, sim_op *op, const sim_type *types, int count)
{
    int first = r->code == SIM_OK ? sim_reader_values(r, types, count) : -1;
    return first >= 0 && emit_at(r, at, op, first, count) ? first : -1;
}

/* ---- statements ------------------------------------------------------------------------- */

/* "%a, %b:2 =" onto r->labels; how many values they are. */
static int read_labels(sim_reader *r)
{
    int64_t values = 0;
    if (sim_kind(r) != SIM_T_VALUE)
        return 0;
    do {
        if (sim_kind(r) != SIM_T_VALUE || r->lex.index >= 0) {
            sim_reader_expected(r, "the name of a result");
            return 0;
        }
        sim_label label = {r->lex.token, r->lex.start, r->lex.length, 1};
        sim_next(r);
        if (sim_accept(r, ':')) {
            int64_t count = 0;
            for (size_t i = 0;
                 sim_kind(r) == SIM_T_NUMBER && i < r->lex.length && count >= 0 && count < 1 << 24;
                 i++)
                count = 10 * count + (r->lex.token[i] - '0');
            if (count < 1 || count >= 1 << 24)
                sim_reader_expected(r, "a number of results");
            label.count = (int)count;
            sim_next(r);
        }
        values += label.count;
        sim_label *slot = sim_reader_add(r, &r->labels, 1);
        if (slot)
            *slot = label;
    } while (sim_accept(r, ',') && values < 1 << 24);
    sim_expect(r, '=', "'='");
    return (int)values;
}

/* What the reading collected, without its results. */
static bool make_op(sim_reader *r, sim_reading *o, sim_op *op)
{
    int count = sim_reading_operand_count(r, o);
    size_t regions = r->blocks.count - o->blocks;
    *op = (sim_op){.opcode = (sim_opcode)o->code, .line = o->line, .operand_count = count};
    int arity = sim_op_arity(o->code);
    if (arity >= 0 && arity != count)
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: %d operands, not %d",
                        sim_op_text(o->code), count, arity);
    int wanted = sim_op_regions(o->code);
    if (wanted >= 0 && regions != (size_t)wanted)
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: %zu regions, not %d",
                        sim_op_text(o->code), regions, wanted);
    int *operands = sim_reader_take(r, (size_t)count * sizeof *operands);
    sim_block *blocks = sim_reader_take(r, regions * sizeof *blocks);
    if (!operands || !blocks || r->code != SIM_OK)
        return false;
    if (count)
        memcpy(operands, sim_reading_operands(r, o), (size_t)count * sizeof *operands);
    if (regions)
        memcpy(blocks, (const sim_block *)r->blocks.data + o->blocks, regions * sizeof *blocks);
    op->operands = operands;
    op->regions = blocks;
    op->region_count = (int)regions;
    sim_finish_op(r, o, op);
    return r->code == SIM_OK;
}

/* The elements of a constant, whose type the result must be. */
static void make_constant(sim_reader *r, sim_reading *o, sim_op *op)
{
    const sim_type *type = (const sim_type *)r->signature.data + o->signature;
    if (!r->literal.lex.text || r->signature.count != o->signature + 1 ||
        !sim_type_equals(type, &r->literal.type)) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT,
                        "constant: no value dense<...> of the result's type");
        return;
    }
    sim_read_elements(r, &op->constant, &op->constant_bytes);
}

/* The callee is found when all functions are known; until then its name is kept where
 * its pointer will be. */
static void make_call(sim_reader *r, sim_reading *o, sim_op *op)
{
    if (!o->callee)
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "call: no function @name");
    op->callee = (const struct sim_function *)(const void *)o->callee;
}

static int finish(sim_reader *r, sim_reading *o)
{
    sim_op op;
    int count = (int)(r->signature.count - o->signature);
    if (r->code != SIM_OK || !make_op(r, o, &op))
        return -1;
    if (o->result_count && o->result_count != count) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: %d results, but types of %d",
                        sim_op_text(o->code), o->result_count, count);
        return -1;
    }
    if (o->code >= SIM_OP_COUNT)
        return sim_expand(r, o, &op);
    if (o->code == SIM_OP_CONSTANT)
        make_constant(r, o, &op);
    if (o->code == SIM_OP_CALL)
        make_call(r, o, &op);
    return sim_emit(r, o->at, &op, (const sim_type *)r->signature.data + o->signature, count);
}

static bool is_return(const sim_reader *r)
{
    return sim_lex_reads(&r->lex, "return") || sim_lex_reads(&r->lex, "stablehlo.return") ||
           sim_lex_reads(&r->lex, "func.return");
}

/* The name of an op, which is passed. */
static int read_name(sim_reader *r)
{
    int shown = (int)(r->lex.length < 60 ? r->lex.length : 60);
    if (sim_kind(r) != SIM_T_WORD && sim_kind(r) != SIM_T_STRING) {
        sim_reader_expected(r, "an op");
        return -1;
    }
    int code = sim_op_find(r, r->lex.token, r->lex.length);
    if (code < 0)
        sim_reader_fail(r, r->lex.start, SIM_UNIMPLEMENTED, "op '%.*s' is not simulated", shown,
                        r->lex.token);
    sim_next(r);
    return code;
}

static void read_op(sim_reader *r)
{
    size_t labels = r->labels.count;
    sim_reading o = {.ints = r->ints.count,
                     .raws = r->raws.count,
                     .signature = r->signature.count,
                     .blocks = r->blocks.count};
    o.result_count = read_labels(r);
    size_t label_count = r->labels.count - labels;
    o.at = r->lex.start;
    o.line = r->lex.start_line;
    bool generic = sim_kind(r) == SIM_T_STRING;
    o.code = read_name(r);
    if (o.code < 0)
        return;
    if (generic)
        form_generic(r, &o);
    else
        sim_op_form(o.code)(r, &o);
    sim_skip_location(r);
    int first = finish(r, &o);
    for (size_t i = 0; first >= 0 && i < label_count && r->code == SIM_OK; i++) {
        const sim_label *label = (const sim_label *)r->labels.data + labels + i;
        sim_names_define(r, label, first);
        first += label->count;
    }
    r->labels.count = labels;
    r->ints.count = o.ints;
    r->raws.count = o.raws;
    r->signature.count = o.signature;
    r->blocks.count = o.blocks;
}

/* "return %a, %b : types" or "func.return"(%a) : (types) -> () */
static void read_return(sim_reader *r, sim_block *block)
{
    sim_reading o = {.at = r->lex.start,
                     .ints = r->ints.count,
                     .raws = r->raws.count,
                     .signature = r->signature.count,
                     .blocks = r->blocks.count,
                     .code = SIM_OP_CALL};
    bool generic = sim_kind(r) == SIM_T_STRING;
    sim_next(r);
    if (generic) {
        form_generic(r, &o);
    } else {
        while (sim_kind(r) == SIM_T_VALUE) {
            sim_read_operand(r);
            if (!sim_accept(r, ','))
                break;
        }
        sim_skip_dictionary(r);
        if (sim_reading_operand_count(r, &o) && sim_expect(r, ':', "':' and types"))
            read_types(r);
        int stated = (int)(r->signature.count - o.signature);
        if (r->code == SIM_OK && stated != sim_reading_operand_count(r, &o))
            sim_reader_fail(r, o.at, SIM_INVALID_ARGUMENT, "return: %d values, but types of %d",
                            sim_reading_operand_count(r, &o), stated);
        for (int i = 0; i < stated && r->code == SIM_OK; i++)
            check_stated(r, &o, o.at, i, (const sim_type *)r->signature.data + o.signature + i);
    }
    sim_skip_location(r);
    int count = sim_reading_operand_count(r, &o);
    int *results = sim_reader_take(r, (size_t)count * sizeof *results);
    if (results && count)
        memcpy(results, sim_reading_operands(r, &o), (size_t)count * sizeof *results);
    block->results = results;
    block->result_count = count;
    r->ints.count = o.ints;
    r->raws.count = o.raws;
    r->signature.count = o.signature;
    r->blocks.count = o.blocks;
}

void sim_read_block(sim_reader *r, sim_block *block)
{
    size_t mark = r->ops.count;
    while (r->code == SIM_OK && !is_return(r)) {
        if (sim_kind(r) == '}' || sim_kind(r) == SIM_T_END)
            sim_reader_expected(r, "an op or return");
        else
            read_op(r);
    }
    if (r->code == SIM_OK)
        read_return(r, block);
    if (sim_kind(r) == SIM_T_CARET)
        sim_reader_fail(r, r->lex.start, SIM_UNIMPLEMENTED, "a second block is not simulated");
    sim_expect(r, '}', "'}' behind return");
    size_t count = r->ops.count - mark;
    sim_op *ops = sim_reader_take(r, count * sizeof *ops);
    if (r->code != SIM_OK)
        return;
    if (count)
        memcpy(ops, (const sim_op *)r->ops.data + mark, count * sizeof *ops);
    r->ops.count = mark;
    block->ops = ops;
    block->op_count = (int)count;
    for (size_t i = 0; i < count; i++)
        if (ops[i].opcode == SIM_OP_CALL) {
            sim_op **slot = sim_reader_add(r, &r->calls, 1);
            if (slot)
                *slot = &ops[i];
        }
}

/* COUNT arguments become values of BLOCK. */
void sim_read_arguments(sim_reader *r, const sim_label *labels, const sim_type *types, int count,
                        sim_block *block)
{
    int *arguments = sim_reader_take(r, (size_t)count * sizeof *arguments);
    int first = arguments ? sim_reader_values(r, types, count) : -1;
    for (int i = 0; first >= 0 && i < count; i++) {
        arguments[i] = first + i;
        sim_names_define(r, &labels[i], first + i);
    }
    block->arguments = arguments;
    block->argument_count = count;
}

void sim_read_region(sim_reader *r, const sim_label *labels, const sim_type *types, int count)
{
    sim_block block = {0};
    size_t names = r->names.count, label_mark = r->labels.count, type_mark = r->signature.count;
    if (++r->depth > SIM_MAX_DEPTH)
        sim_reader_fail(r, r->lex.start, SIM_UNIMPLEMENTED, "regions deeper than %d",
                        SIM_MAX_DEPTH);
    if (!sim_expect(r, '{', "'{' of a region"))
        return;
    if (count == 0 && sim_accept(r, SIM_T_CARET)) {
        if (sim_accept(r, '(') && !sim_accept(r, ')')) {
            do
                sim_read_argument(r, NULL);
            while (sim_accept(r, ','));
            sim_expect(r, ')', "')' of the block's arguments");
        }
        sim_expect(r, ':', "':' behind the block's name");
        labels = (const sim_label *)r->labels.data + label_mark;
        types = (const sim_type *)r->signature.data + type_mark;
        count = (int)(r->labels.count - label_mark);
    }
    if (r->code == SIM_OK)
        sim_read_arguments(r, labels, types, count, &block);
    r->labels.count = label_mark;
    r->signature.count = type_mark;
    sim_read_block(r, &block);
    sim_names_forget(r, names);
    r->depth--;
    sim_block *slot = sim_reader_add(r, &r->blocks, 1);
    if (slot)
        *slot = block;
}
