/*
 * parse_op.c - statements: "%0 = op ..." in the generic and in the pretty form, blocks
 * and regions of them. Forms with regions (parse_form.c) come back here.
 */
#include "runtime/sim/program/parse_op.h"

#include <string.h>

/* ---- the generic form -------------------------------------------------------------------- */

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
    if (sim_accept(r, '(')) {
        do
            sim_read_region(r, NULL, NULL, 0);
        while (sim_accept(r, ','));
        sim_expect(r, ')', "')' behind the regions");
    }
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    if (o->code == SIM_OP_CONSTANT && literal.lex.text)
        r->literal = literal;
    sim_read_signature(r, o);
    const sim_raw *raws = r->raws.items;
    for (size_t i = o->raws; o->code == SIM_OP_CALL && i < r->raws.count; i++)
        if (raws[i].name_length == 6 && memcmp(raws[i].name, "callee", 6) == 0 && raws[i].word)
            o->callee = sim_keep_text(r, raws[i].word, raws[i].word_length);
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
        sim_push(&r->labels, label);
    } while (sim_accept(r, ',') && values < 1 << 24);
    sim_expect(r, '=', "'='");
    return (int)values;
}

/* The op that was read, without its results. */
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
    if (r->code != SIM_OK)
        return false;
    op->operands = sim_keep(r, sim_reading_operands(r, o), (size_t)count, sizeof *op->operands);
    op->regions = sim_keep(r, r->blocks.items + o->blocks, regions, sizeof *op->regions);
    op->region_count = (int)regions;
    sim_finish_op(r, o, op);
    return r->code == SIM_OK;
}

/* The elements of a constant, whose type the result must be. */
static void make_constant(sim_reader *r, sim_reading *o, sim_op *op)
{
    const sim_type *type = r->signature.items + o->signature;
    if (!r->literal.lex.text || r->signature.count != o->signature + 1 ||
        !sim_type_equals(type, &r->literal.type)) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT,
                        "constant: no value dense<...> of the result's type");
        return;
    }
    sim_read_elements(r, &op->constant, &op->constant_bytes);
}

/* The callee is found when all functions are known. Until then its name is kept in place of
 * the pointer. */
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
    return sim_emit(r, o->at, &op, r->signature.items + o->signature, count);
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
    o.line = (int)r->lex.start_line;
    bool generic = sim_kind(r) == SIM_T_STRING;
    o.code = read_name(r);
    if (o.code < 0)
        return;
    if (generic)
        form_generic(r, &o);
    else
        sim_op_form(o.code)(r, &o);
    sim_read_location(r);
    int first = finish(r, &o);
    for (size_t i = 0; first >= 0 && i < label_count && r->code == SIM_OK; i++) {
        const sim_label *label = r->labels.items + labels + i;
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
            sim_read_types(r);
        int stated = (int)(r->signature.count - o.signature);
        if (r->code == SIM_OK && stated != sim_reading_operand_count(r, &o))
            sim_reader_fail(r, o.at, SIM_INVALID_ARGUMENT, "return: %d values, but types of %d",
                            sim_reading_operand_count(r, &o), stated);
        for (int i = 0; i < stated && r->code == SIM_OK; i++)
            sim_check_stated(r, &o, o.at, i, r->signature.items + o.signature + i);
    }
    sim_skip_location(r);
    int count = sim_reading_operand_count(r, &o);
    block->results =
        sim_keep(r, sim_reading_operands(r, &o), (size_t)count, sizeof *block->results);
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
    if (r->code != SIM_OK)
        return;
    sim_op *ops = sim_keep(r, r->ops.items + mark, count, sizeof *ops);
    r->ops.count = mark;
    block->ops = ops;
    block->op_count = (int)count;
    for (size_t i = 0; i < count; i++)
        if (ops[i].opcode == SIM_OP_CALL)
            sim_push(&r->calls, &ops[i]);
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
        labels = r->labels.items + label_mark;
        types = r->signature.items + type_mark;
        count = (int)(r->labels.count - label_mark);
    }
    if (r->code == SIM_OK)
        sim_define_arguments(r, labels, types, count, &block);
    r->labels.count = label_mark;
    r->signature.count = type_mark;
    sim_read_block(r, &block);
    sim_names_forget(r, names);
    r->depth--;
    sim_push(&r->blocks, block);
}
