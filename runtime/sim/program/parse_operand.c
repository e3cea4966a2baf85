/* parse_operand.c - what stands around an op: operands, arguments of blocks, types. */
#include "runtime/sim/program/parse_op.h"

#include <string.h>

/* ---- operands --------------------------------------------------------------------------- */

void sim_read_operand(sim_reader *r)
{
    int value = sim_names_value(r);
    sim_push(&r->ints, value < 0 ? 0 : value);
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

/* ---- types ------------------------------------------------------------------------------ */

void sim_check_stated(sim_reader *r, const sim_reading *o, const char *at, int index,
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

void sim_read_types(sim_reader *r)
{
    do {
        sim_type type;
        if (!sim_read_type(r, &type))
            return;
        sim_skip_dictionary(r);
        sim_push(&r->signature, type);
    } while (sim_accept(r, ','));
}

static void read_results(sim_reader *r)
{
    if (!sim_accept(r, '(')) {
        sim_read_types(r);
    } else if (!sim_accept(r, ')')) {
        sim_read_types(r);
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
        sim_check_stated(r, o, at, count++, &type);
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

/* "type" for operands and result, several whose last is that of the result, or one for each
 * result. There is a type for each result, because names at the left cost nothing. */
static void read_short_type(sim_reader *r, sim_reading *o)
{
    sim_read_types(r);
    if (sim_accept(r, SIM_T_ARROW)) {
        const sim_type *stated = r->signature.items + o->signature;
        int count = (int)(r->signature.count - o->signature);
        for (int i = 0; i < count; i++)
            sim_check_stated(r, o, o->at, i, &stated[i]);
        r->signature.count = o->signature;
        read_results(r);
        return;
    }
    size_t count = r->signature.count - o->signature, wanted = (size_t)o->result_count;
    if (r->code != SIM_OK || count == wanted || count == 0)
        return;
    if (wanted == 1) {
        sim_type *types = r->signature.items + o->signature;
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

/* ---- arguments -------------------------------------------------------------------------- */

bool sim_layout_take(const int64_t *order, size_t rank, sim_layout *layout)
{
    uint64_t seen = 0;
    bool by_rows = true;
    *layout = (sim_layout){0};
    if (rank > SIM_MAX_RANK)
        return false;
    for (size_t i = 0; i < rank; i++) {
        if (order[i] < 0 || (uint64_t)order[i] >= rank || seen >> order[i] & 1)
            return false;
        seen |= UINT64_C(1) << order[i];
        layout->order[i] = (unsigned char)order[i];
        by_rows = by_rows && order[i] == (int64_t)(rank - 1 - i);
    }
    layout->rank = by_rows ? 0 : (int)rank;
    return true;
}

sim_layout sim_layout_read(const char *text, size_t length)
{
    sim_layout layout = {0};
    int64_t order[SIM_MAX_RANK];
    size_t rank = 0;
    for (size_t i = 1; i < length && text[0] == '{' && rank < SIM_MAX_RANK; i++) {
        order[rank] = 0;
        for (; i < length && text[i] >= '0' && text[i] <= '9' && order[rank] < SIM_MAX_RANK; i++)
            order[rank] = 10 * order[rank] + (text[i] - '0');
        rank++;
        if (i >= length || text[i] != ',')
            break;
    }
    return sim_layout_take(order, rank, &layout) ? layout : (sim_layout){0};
}

bool sim_layout_equals(const sim_layout *a, const sim_layout *b)
{
    return a->rank == b->rank && memcmp(a->order, b->order, (size_t)a->rank) == 0;
}

sim_layout sim_note_layout(const sim_reader *r, size_t first)
{
    const sim_raw *raws = r->raws.items;
    for (size_t i = first; i < r->raws.count; i++)
        if (raws[i].name_length == 16 && memcmp(raws[i].name, "mhlo.layout_mode", 16) == 0 &&
            raws[i].word)
            return sim_layout_read(raws[i].word, raws[i].word_length);
    return (sim_layout){0};
}

void sim_note_donation(sim_reader *r, size_t first, sim_argument *argument)
{
    const sim_raw *raws = r->raws.items;
    argument->layout = sim_note_layout(r, first);
    for (size_t i = first; i < r->raws.count; i++) {
        const sim_raw *raw = &raws[i];
        bool set = raw->plain && raw->count == 1;
        if (set && raw->name_length == 18 && memcmp(raw->name, "tf.aliasing_output", 18) == 0 &&
            raw->ints[0] >= 0 && raw->ints[0] < INT32_MAX)
            argument->alias = (int)raw->ints[0];
        if (set && raw->name_length == 16 && memcmp(raw->name, "jax.buffer_donor", 16) == 0)
            argument->donor = raw->ints[0] != 0;
    }
    r->raws.count = first;
}

void sim_read_argument(sim_reader *r, sim_argument *argument)
{
    sim_label label = {r->lex.token, r->lex.start, r->lex.length, 1};
    sim_type type;
    if (sim_kind(r) != SIM_T_VALUE || r->lex.index >= 0) {
        sim_reader_expected(r, "an argument %name: type");
        return;
    }
    sim_next(r);
    if (!sim_expect(r, ':', "':' and the argument's type") || !sim_read_type(r, &type))
        return;
    size_t raws = r->raws.count;
    if (sim_kind(r) == '{')
        sim_read_dictionary(r);
    if (argument)
        sim_note_donation(r, raws, argument);
    r->raws.count = raws;
    sim_skip_location(r);
    sim_push(&r->labels, label);
    sim_push(&r->signature, type);
}

void sim_define_arguments(sim_reader *r, const sim_label *labels, const sim_type *types, int count,
                          sim_block *block)
{
    int *arguments = sim_take(r, (size_t)count * sizeof *arguments);
    int first = sim_reader_values(r, types, count);
    for (int i = 0; i < count; i++) {
        arguments[i] = first + i;
        sim_names_define(r, &labels[i], first + i);
    }
    block->arguments = arguments;
    block->argument_count = count;
}
