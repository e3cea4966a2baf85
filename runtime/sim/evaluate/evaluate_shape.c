/*
 * evaluate_shape.c - ops that move elements without a look at them, all as walks
 * (evaluate_walk.h); and iota.
 */
#include "runtime/sim/evaluate/evaluate_kernels.h"
#include "runtime/sim/evaluate/evaluate_rules.h"
#include "runtime/sim/evaluate/evaluate_walk.h"

#include <stdlib.h>
#include <string.h>

/* A walk over TYPE, dense on the side of the result. */
static sim_walk walk_over(const sim_type *type)
{
    sim_walk walk = {.rank = type->rank};
    memcpy(walk.dims, type->dims, sizeof walk.dims);
    sim_strides(type, walk.to);
    return walk;
}

static size_t result_bytes(const sim_run *run, const sim_op *op)
{
    return bn_dtype_bytes(sim_result_type(run->program, op, 0)->dtype);
}

static const int64_t *ints(const sim_op *op, const char *name)
{
    return sim_attribute_find(op, name)->ints;
}

/* ---- the same elements ------------------------------------------------------------------ */

/* A constant is filled where its block begins. */
sim_code sim_rule_constant(sim_run *run, const sim_op *op)
{
    (void)run;
    (void)op;
    return SIM_OK;
}

sim_code sim_rule_reshape(sim_run *run, const sim_op *op)
{
    memcpy(sim_result(run, op, 0), sim_operand(run, op, 0),
           (size_t)sim_type_bytes(sim_result_type(run->program, op, 0)));
    return SIM_OK;
}

sim_code sim_rule_optimization_barrier(sim_run *run, const sim_op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        memcpy(sim_result(run, op, i), sim_operand(run, op, i),
               (size_t)sim_type_bytes(sim_result_type(run->program, op, i)));
    return SIM_OK;
}

/* Only an annotation of where a value is to lie can be evaluated: the device has one memory, so
 * the value stays, and memory statistics show that nothing lies on the host. */
sim_code sim_can_custom_call(const sim_program *p, const sim_op *op, sim_status *st)
{
    const sim_attribute *target = sim_attribute_find(op, "call_target_name");
    if (!target || !target->word || strcmp(target->word, "annotate_device_placement") != 0)
        return sim_refuse(op, st, SIM_UNIMPLEMENTED,
                          "the simulator cannot evaluate a call of %.80s",
                          target && target->word ? target->word : "nothing");
    if (op->operand_count != op->result_count)
        return sim_refuse(op, st, SIM_INVALID_ARGUMENT, "wants as many results as operands");
    for (int i = 0; i < op->operand_count; i++)
        if (!sim_type_equals(sim_operand_type(p, op, i), sim_result_type(p, op, i)))
            return sim_refuse(op, st, SIM_INVALID_ARGUMENT, "result %d has another type", i);
    return SIM_OK;
}

sim_code sim_rule_custom_call(sim_run *run, const sim_op *op)
{
    return sim_rule_optimization_barrier(run, op);
}

/* ---- other places ----------------------------------------------------------------------- */

sim_code sim_rule_broadcast_in_dim(sim_run *run, const sim_op *op)
{
    const sim_type *in = sim_operand_type(run->program, op, 0);
    sim_walk walk = walk_over(sim_result_type(run->program, op, 0));
    int64_t strides[SIM_MAX_RANK];
    sim_strides(in, strides);
    for (int i = 0; i < in->rank; i++)
        walk.from[ints(op, "broadcast_dimensions")[i]] = in->dims[i] == 1 ? 0 : strides[i];
    sim_copy(sim_result(run, op, 0), sim_operand(run, op, 0), &walk, result_bytes(run, op));
    return SIM_OK;
}

sim_code sim_rule_transpose(sim_run *run, const sim_op *op)
{
    sim_walk walk = walk_over(sim_result_type(run->program, op, 0));
    int64_t strides[SIM_MAX_RANK];
    sim_strides(sim_operand_type(run->program, op, 0), strides);
    for (int i = 0; i < walk.rank; i++)
        walk.from[i] = strides[ints(op, "permutation")[i]];
    sim_copy(sim_result(run, op, 0), sim_operand(run, op, 0), &walk, result_bytes(run, op));
    return SIM_OK;
}

sim_code sim_rule_reverse(sim_run *run, const sim_op *op)
{
    const sim_type *type = sim_result_type(run->program, op, 0);
    const sim_attribute *dims = sim_attribute_find(op, "dimensions");
    sim_walk walk = walk_over(type);
    int64_t first = 0;
    sim_strides(type, walk.from);
    for (size_t i = 0; i < dims->count; i++) {
        const int64_t d = dims->ints[i];
        first += (type->dims[d] - 1) * walk.from[d];
        walk.from[d] = -walk.from[d];
    }
    if (sim_type_elements(type) > 0)
        sim_copy(sim_result(run, op, 0),
                 (const char *)sim_operand(run, op, 0) + first * (int64_t)result_bytes(run, op),
                 &walk, result_bytes(run, op));
    return SIM_OK;
}

/* ---- parts ------------------------------------------------------------------------------ */

sim_code sim_rule_slice(sim_run *run, const sim_op *op)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    sim_walk walk = walk_over(out);
    int64_t first = 0;
    if (sim_type_elements(out) == 0)
        return SIM_OK;
    sim_strides(sim_operand_type(run->program, op, 0), walk.from);
    for (int i = 0; i < walk.rank; i++) {
        first += ints(op, "start_indices")[i] * walk.from[i];
        walk.from[i] *= out->dims[i] > 1 ? ints(op, "strides")[i] : 1;
    }
    sim_copy(sim_result(run, op, 0),
             (const char *)sim_operand(run, op, 0) + first * (int64_t)result_bytes(run, op), &walk,
             result_bytes(run, op));
    return SIM_OK;
}

/* Bounds of what padding can be without overflow; no program comes near. */
#define MOST (INT64_C(1) << 40)

sim_code sim_can_pad(const sim_program *p, const sim_op *op, sim_status *st)
{
    const sim_type *in = sim_operand_type(p, op, 0), *out = sim_result_type(p, op, 0);
    const size_t rank = (size_t)in->rank;
    if (!sim_checked_ints(op, "edge_padding_low", rank, -MOST, MOST, st) ||
        !sim_checked_ints(op, "edge_padding_high", rank, -MOST, MOST, st) ||
        !sim_checked_ints(op, "interior_padding", rank, 0, MOST, st))
        return st->code;
    for (int i = 0; i < in->rank; i++)
        if (in->dims[i] > MOST || out->dims[i] > MOST)
            return sim_refuse(op, st, SIM_INVALID_ARGUMENT, "dimension %d is too large", i);
    return SIM_OK;
}

/* Edges may be negative, which cuts. */
sim_code sim_rule_pad(sim_run *run, const sim_op *op)
{
    const sim_type *in = sim_operand_type(run->program, op, 0);
    const sim_type *out = sim_result_type(run->program, op, 0);
    const size_t bytes = result_bytes(run, op);
    sim_walk walk = walk_over(in);
    int64_t to = 0, from = 0;
    sim_fill(sim_result(run, op, 0), sim_operand(run, op, 1), sim_type_elements(out), bytes);
    sim_strides(in, walk.from);
    sim_strides(out, walk.to);
    for (int i = 0; i < walk.rank; i++) {
        const int64_t low = ints(op, "edge_padding_low")[i];
        const int64_t step = ints(op, "interior_padding")[i] + 1;
        /* Elements FIRST to END of the operand lie within the result. */
        const int64_t first = low < 0 ? (-low + step - 1) / step : 0;
        int64_t end = out->dims[i] > low ? (out->dims[i] - 1 - low) / step + 1 : 0;
        end = end < in->dims[i] ? end : in->dims[i];
        if (first >= end)
            return SIM_OK;
        walk.dims[i] = end - first;
        from += first * walk.from[i];
        to += (low + first * step) * walk.to[i];
        walk.to[i] *= step;
    }
    sim_copy((char *)sim_result(run, op, 0) + to * (int64_t)bytes,
             (const char *)sim_operand(run, op, 0) + from * (int64_t)bytes, &walk, bytes);
    return SIM_OK;
}

sim_code sim_rule_concatenate(sim_run *run, const sim_op *op)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    const int64_t along = sim_attribute_int(op, "dimension");
    const size_t bytes = result_bytes(run, op);
    char *to = sim_result(run, op, 0);
    int64_t strides[SIM_MAX_RANK];
    sim_strides(out, strides);
    for (int k = 0; k < op->operand_count; k++) {
        const sim_type *in = sim_operand_type(run->program, op, k);
        sim_walk walk = walk_over(in);
        sim_strides(in, walk.from);
        memcpy(walk.to, strides, sizeof strides);
        sim_copy(to, sim_operand(run, op, k), &walk, bytes);
        if (sim_type_elements(out) > 0)
            to += (size_t)(in->dims[along] * strides[along]) * bytes;
    }
    return SIM_OK;
}

/* ---- counting --------------------------------------------------------------------------- */

/* One line is counted, and copied to all others. */
sim_code sim_rule_iota(sim_run *run, const sim_op *op)
{
    const sim_type *out = sim_result_type(run->program, op, 0);
    const int64_t along = sim_attribute_int(op, "iota_dimension"), n = out->dims[along];
    const size_t bytes = result_bytes(run, op);
    sim_walk walk = walk_over(out);
    void *line;
    if (sim_type_elements(out) == 0)
        return SIM_OK;
    if (sim_run_memory(run, n * SIM_ELEMENT, &line) != SIM_OK)
        return run->st->code;
    for (int64_t at = 0; at < n; at += SIM_CHUNK) {
        int64_t numbers[SIM_CHUNK];
        const int64_t chunk = n - at < SIM_CHUNK ? n - at : SIM_CHUNK;
        for (int64_t i = 0; i < chunk; i++)
            numbers[i] = at + i;
        sim_convert(out->dtype, (char *)line + (size_t)at * bytes, BN_S64, numbers, chunk);
    }
    walk.from[along] = 1;
    sim_copy(sim_result(run, op, 0), line, &walk, bytes);
    free(line);
    return SIM_OK;
}
