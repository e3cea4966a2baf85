/*
 * parse_emit.c - ops enter the program here: each is checked by its row of the table, and
 * then stands at the end of the block being read.
 */
#include "runtime/sim/program/parse_check.h"
#include "runtime/sim/program/parse_op.h"

/* ---- the table of checks ---------------------------------------------------------------- */

/* The others are element-wise. */
static sim_check *const checks[SIM_OP_COUNT] = {
    [SIM_OP_BITCAST_CONVERT] = sim_check_bitcast,
    [SIM_OP_BROADCAST_IN_DIM] = sim_check_broadcast,
    [SIM_OP_CALL] = sim_check_nothing, /* when all functions are known */
    [SIM_OP_CASE] = sim_check_branches,
    [SIM_OP_CLAMP] = sim_check_clamp,
    [SIM_OP_COMPARE] = sim_check_compare,
    [SIM_OP_COMPLEX] = sim_check_complex,
    [SIM_OP_CONCATENATE] = sim_check_concatenate,
    [SIM_OP_CONSTANT] = sim_check_nothing, /* its elements were read by its type */
    [SIM_OP_CONVERT] = sim_check_converting,
    [SIM_OP_CONVOLUTION] = sim_check_convolution,
    [SIM_OP_CUSTOM_CALL] = sim_check_nothing,
    [SIM_OP_DOT_GENERAL] = sim_check_dot,
    [SIM_OP_DYNAMIC_SLICE] = sim_check_dynamic_slice,
    [SIM_OP_DYNAMIC_UPDATE_SLICE] = sim_check_dynamic_update,
    [SIM_OP_FFT] = sim_check_fft,
    [SIM_OP_GATHER] = sim_check_gather,
    [SIM_OP_GET_TUPLE_ELEMENT] = sim_check_tuple,
    [SIM_OP_IF] = sim_check_branches,
    [SIM_OP_IMAG] = sim_check_converting,
    [SIM_OP_IOTA] = sim_check_iota,
    [SIM_OP_IS_FINITE] = sim_check_converting,
    [SIM_OP_OPTIMIZATION_BARRIER] = sim_check_barrier,
    [SIM_OP_PAD] = sim_check_pad,
    [SIM_OP_REAL] = sim_check_converting,
    [SIM_OP_REDUCE] = sim_check_reduce,
    [SIM_OP_REDUCE_PRECISION] = sim_check_reduce_precision,
    [SIM_OP_REDUCE_WINDOW] = sim_check_window,
    [SIM_OP_RESHAPE] = sim_check_reshape,
    [SIM_OP_REVERSE] = sim_check_reverse,
    [SIM_OP_RNG_BIT_GENERATOR] = sim_check_random,
    [SIM_OP_SCATTER] = sim_check_scatter,
    [SIM_OP_SELECT] = sim_check_select,
    [SIM_OP_SELECT_AND_SCATTER] = sim_check_select_scatter,
    [SIM_OP_SLICE] = sim_check_slice,
    [SIM_OP_SORT] = sim_check_sort,
    [SIM_OP_TRANSPOSE] = sim_check_transpose,
    [SIM_OP_TUPLE] = sim_check_tuple,
    [SIM_OP_WHILE] = sim_check_while,
};

/* Results that ops have: one, but for these. */
static int results_of(const sim_op *op)
{
    switch (op->opcode) {
    case SIM_OP_CALL:
    case SIM_OP_CASE:
    case SIM_OP_CUSTOM_CALL:
    case SIM_OP_IF:
        return -1;
    case SIM_OP_OPTIMIZATION_BARRIER:
    case SIM_OP_SORT:
    case SIM_OP_WHILE:
        return op->operand_count;
    case SIM_OP_REDUCE:
    case SIM_OP_REDUCE_WINDOW:
        return op->operand_count / 2;
    case SIM_OP_SCATTER:
        return (op->operand_count - 1) / 2;
    case SIM_OP_RNG_BIT_GENERATOR:
        return 2;
    default:
        return 1;
    }
}

static bool check_op(sim_reader *r, const char *at, const sim_op *op)
{
    int results = results_of(op);
    if (r->code != SIM_OK)
        return false;
    if (results >= 0 && op->result_count != results)
        return sim_check_fail(r, at, op, "%d results, not %d", op->result_count, results);
    return (checks[op->opcode] ? checks[op->opcode] : sim_check_elementwise)(r, at, op);
}

/* ---- emission --------------------------------------------------------------------------- */

static bool emit_at(sim_reader *r, const char *at, sim_op *op, int first, int count)
{
    int *results = sim_take(r, (size_t)count * sizeof *results);
    for (int i = 0; i < count; i++)
        results[i] = first + i;
    op->results = results;
    op->result_count = count;
    op->place = r->place ? r->place : "";
    if (!check_op(r, at, op))
        return false;
    sim_push(&r->ops, *op);
    return true;
}

bool sim_emit_to(sim_reader *r, const char *at, sim_op *op, int result)
{
    return emit_at(r, at, op, result, 1);
}

int sim_emit(sim_reader *r, const char *at, sim_op *op, const sim_type *types, int count)
{
    if (r->code != SIM_OK)
        return -1;
    int first = sim_reader_values(r, types, count);
    return emit_at(r, at, op, first, count) ? first : -1;
}

bool sim_make_region(sim_reader *r, int code, bn_dtype dtype, const char *at, int line,
                     sim_block *block)
{
    size_t mark = r->ops.count;
    const sim_type scalar = {.dtype = dtype}, types[2] = {scalar, scalar};
    int *arguments = sim_take(r, 3 * sizeof *arguments);
    int first = sim_reader_values(r, types, 2);
    arguments[0] = first;
    arguments[1] = first + 1;
    sim_op op = {.opcode = (sim_opcode)code, .line = line, .operand_count = 2};
    op.operands = arguments;
    arguments[2] = sim_emit(r, at, &op, &scalar, 1);
    if (arguments[2] < 0)
        return false;
    const sim_op *ops = sim_keep(r, &r->ops.items[mark], 1, sizeof *ops);
    r->ops.count = mark;
    *block = (sim_block){2, 1, arguments, arguments + 2, ops, 1};
    return true;
}
