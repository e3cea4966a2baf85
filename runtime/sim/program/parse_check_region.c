/* parse_check_region.c - ops with regions: reductions, windows, sort, loops and branches.
 * Rules: StableHLO specification, with element types of regions equal to the operands'. */
#include "runtime/sim/program/parse_check.h"

/* ---- regions ---------------------------------------------------------------------------- */

/* A region of two scalars of DTYPE that says yes or no. */
static bool check_choice(sim_reader *r, const char *at, const sim_op *op, bn_dtype dtype)
{
    const sim_block *b = &op->regions[0];
    return (b->argument_count == 2 && b->result_count == 1 &&
            sim_check_scalar(r, b->arguments[0], dtype) &&
            sim_check_scalar(r, b->arguments[1], dtype) &&
            sim_check_scalar(r, b->results[0], BN_PRED)) ||
           sim_check_fail(r, at, op, "its region does not compare two of the operand's elements");
}

/* Operands are COUNT inputs of one shape and as many scalars of the same types. */
static bool check_inputs(sim_reader *r, const char *at, const sim_op *op)
{
    int count = op->operand_count / 2;
    if (op->operand_count < 2 || op->operand_count % 2)
        return sim_check_fail(r, at, op, "%d operands: not inputs with an initial value each",
                              op->operand_count);
    for (int i = 0; i < count; i++) {
        const sim_type *x = sim_check_operand(r, op, i);
        if (!sim_type_same_shape(x, sim_check_operand(r, op, 0)))
            return sim_check_fail(r, at, op, "inputs are of several shapes");
        if (!sim_check_scalar(r, op->operands[count + i], x->dtype))
            return sim_check_fail(r, at, op, "initial value %d is no scalar of its input's type",
                                  i);
    }
    return sim_check_reducer(r, at, op, 0, count);
}

/* ---- reductions ------------------------------------------------------------------------- */

bool sim_check_reduce(sim_reader *r, const char *at, const sim_op *op)
{
    if (!check_inputs(r, at, op))
        return false;
    const sim_type *x = sim_check_operand(r, op, 0);
    const sim_attribute *dims = sim_attribute_find(op, "dimensions");
    if (!sim_check_dims(dims, x->rank))
        return sim_check_fail(r, at, op, "dimensions are not those of rank %d", x->rank);
    sim_type want = {.rank = 0};
    uint64_t gone = 0;
    for (size_t i = 0; i < dims->count; i++)
        gone |= (uint64_t)1 << dims->ints[i];
    for (int i = 0; i < x->rank; i++)
        if (!(gone >> i & 1))
            want.dims[want.rank++] = x->dims[i];
    for (int i = 0; i < op->result_count; i++) {
        want.dtype = sim_check_operand(r, op, i)->dtype;
        if (!sim_check_types(r, at, op, sim_check_result(r, op, i), &want))
            return false;
    }
    return true;
}

/* The type WANT of the results of windows over X; false where there are no such windows. */
static bool window_shape(const sim_op *op, const sim_type *x, bool dilated, sim_type *want)
{
    const int64_t *size = sim_attribute_find(op, "window_dimensions")->ints;
    const int64_t *stride = sim_attribute_find(op, "window_strides")->ints;
    const int64_t *pad = sim_attribute_find(op, "padding")->ints;
    const int64_t *base = dilated ? sim_attribute_find(op, "base_dilations")->ints : NULL;
    const int64_t *dilation = dilated ? sim_attribute_find(op, "window_dilations")->ints : NULL;
    *want = *x;
    for (int i = 0; i < x->rank; i++) {
        want->dims[i] =
            sim_window_places(x->dims[i], base ? base[i] : 1, pad[2 * i], pad[2 * i + 1], size[i],
                              dilation ? dilation[i] : 1, stride[i]);
        if (want->dims[i] < 0)
            return false;
    }
    return true;
}

bool sim_check_window(sim_reader *r, const char *at, const sim_op *op)
{
    sim_type want;
    if (!check_inputs(r, at, op))
        return false;
    if (!window_shape(op, sim_check_operand(r, op, 0), true, &want))
        return sim_check_fail(r, at, op, "sizes, strides and dilations must be 1 or more");
    for (int i = 0; i < op->result_count; i++) {
        want.dtype = sim_check_operand(r, op, i)->dtype;
        if (!sim_check_types(r, at, op, sim_check_result(r, op, i), &want))
            return false;
    }
    return true;
}

bool sim_check_select_scatter(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_type *x = sim_check_operand(r, op, 0);
    sim_type windows;
    if (!window_shape(op, x, false, &windows))
        return sim_check_fail(r, at, op, "sizes and strides must be 1 or more");
    if (!sim_check_scalar(r, op->operands[2], x->dtype))
        return sim_check_fail(r, at, op, "the initial value is no scalar of the operand's type");
    return sim_check_types(r, at, op, sim_check_operand(r, op, 1), &windows) &&
           sim_check_types(r, at, op, sim_check_result(r, op, 0), x) &&
           check_choice(r, at, op, x->dtype) && sim_check_reducer(r, at, op, 1, 1);
}

bool sim_check_sort(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_block *b = &op->regions[0];
    int count = op->operand_count;
    if (count < 1)
        return sim_check_fail(r, at, op, "no operand");
    const sim_type *x = sim_check_operand(r, op, 0);
    int64_t dim = sim_attribute_int(op, "dimension");
    if (dim < 0 || dim >= x->rank)
        return sim_check_fail(r, at, op, "dimension %lld of rank %d", (long long)dim, x->rank);
    bool fits = b->argument_count == 2 * count && b->result_count == 1 &&
                sim_check_scalar(r, b->results[0], BN_PRED);
    for (int i = 0; fits && i < count; i++) {
        bn_dtype dtype = sim_check_operand(r, op, i)->dtype;
        fits = sim_check_scalar(r, b->arguments[2 * i], dtype) &&
               sim_check_scalar(r, b->arguments[2 * i + 1], dtype);
    }
    if (!fits)
        return sim_check_fail(r, at, op, "its region does not compare pairs of elements");
    for (int i = 0; i < count; i++) {
        const sim_type *own = sim_check_operand(r, op, i);
        if (!sim_type_same_shape(own, x))
            return sim_check_fail(r, at, op, "operands are of several shapes");
        if (!sim_check_types(r, at, op, sim_check_result(r, op, i), own))
            return false;
    }
    return true;
}

/* ---- loops and branches ----------------------------------------------------------------- */

bool sim_check_while(sim_reader *r, const char *at, const sim_op *op)
{
    const sim_block *condition = &op->regions[0], *body = &op->regions[1];
    int count = op->operand_count;
    if (condition->argument_count != count || body->argument_count != count ||
        body->result_count != count || condition->result_count != 1 ||
        !sim_check_scalar(r, condition->results[0], BN_PRED))
        return sim_check_fail(r, at, op, "its regions do not take and give its %d values", count);
    for (int i = 0; i < count; i++) {
        const sim_type *type = sim_check_operand(r, op, i);
        const int values[] = {op->results[i], condition->arguments[i], body->arguments[i],
                              body->results[i]};
        for (int k = 0; k < 4; k++)
            if (!sim_check_types(r, at, op, sim_reader_type(r, values[k]), type))
                return false;
    }
    return true;
}

bool sim_check_branches(sim_reader *r, const char *at, const sim_op *op)
{
    bool two = op->opcode == SIM_OP_IF;
    if (!sim_check_scalar(r, op->operands[0], two ? BN_PRED : BN_S32) || op->region_count < 1)
        return sim_check_fail(r, at, op, "chooses by something else than a scalar of %s",
                              two ? "i1" : "i32");
    for (int k = 0; k < op->region_count; k++) {
        const sim_block *b = &op->regions[k];
        if (b->argument_count != 0 || b->result_count != op->result_count)
            return sim_check_fail(r, at, op, "branch %d does not give its %d results", k,
                                  op->result_count);
        for (int i = 0; i < op->result_count; i++)
            if (!sim_check_types(r, at, op, sim_reader_type(r, b->results[i]),
                                 sim_check_result(r, op, i)))
                return false;
    }
    return true;
}
