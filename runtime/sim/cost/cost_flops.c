/*
 * cost_flops.c - operations of each op.
 *
 * Element-wise ops, also transcendental ones, count one operation for each element of the
 * result. Shape ops and ops that move data count none. A product and a sum count as two.
 * Reductions count, for each element of the operand, one for each op of their region. A
 * convolution counts all window positions, padding or not; along a dimension whose input
 * is dilated, it counts only elements that are no holes. These are the conventions of
 * bench's own op table, so both agree on the same program. Operations on complex numbers
 * count twice, and four times in dots and convolutions.
 */
#include "runtime/sim/cost/weighing_priv.h"

#include <math.h>
#include <string.h>

/* Operations for each word of random bits. ThreeFry makes two words in 20 rounds, each an
 * addition, a rotation (three operations) and an exclusive or, and injects its key six
 * times. */
#define RANDOM_OPS 59

sim_rate sim_weigh_rate(bn_dtype dtype)
{
    switch (dtype) {
    case BN_F64:
    case BN_C128:
        return SIM_RATE_F64;
    case BN_F32:
    case BN_C64:
        return SIM_RATE_F32;
    case BN_F16:
    case BN_BF16:
        return SIM_RATE_16;
    default:
        return SIM_RATE_INT;
    }
}

static double elements_of(const sim_weighing *w, int value)
{
    return (double)sim_type_elements(sim_weigh_type(w, value));
}

/* Ops that compute in a region, at least one. */
static double region_ops(const sim_block *block)
{
    int count = 0;
    for (int i = 0; i < block->op_count; i++) {
        sim_cost_class class = sim_op_cost_class(block->ops[i].opcode);
        count += class == SIM_ELEMENTWISE || class == SIM_TRANSCENDENTAL;
    }
    return count ? count : 1;
}

static double dot_flops(const sim_weighing *w, const sim_op *op)
{
    const sim_attribute *list = sim_attribute_find(op, "lhs_contracting_dimensions");
    double flops = 2.0 * elements_of(w, op->results[0]);
    for (size_t i = 0; i < list->count; i++)
        flops *= (double)sim_weigh_type(w, op->operands[0])->dims[list->ints[i]];
    return flops;
}

static double convolution_flops(const sim_weighing *w, const sim_op *op)
{
    const sim_type *x = sim_weigh_type(w, op->operands[0]);
    const sim_type *kernel = sim_weigh_type(w, op->operands[1]);
    const sim_type *y = sim_weigh_type(w, op->results[0]);
    const int64_t *from = sim_attribute_find(op, "input_spatial_dimensions")->ints;
    const int64_t *window = sim_attribute_find(op, "kernel_spatial_dimensions")->ints;
    const int64_t *to = sim_attribute_find(op, "output_spatial_dimensions")->ints;
    const sim_attribute *dilation = sim_attribute_find(op, "lhs_dilation");
    double flops = 2.0 * (double)y->dims[sim_attribute_int(op, "output_batch_dimension")] *
                   (double)y->dims[sim_attribute_int(op, "output_feature_dimension")] *
                   (double)kernel->dims[sim_attribute_int(op, "kernel_input_feature_dimension")];
    for (size_t i = 0; i < dilation->count; i++) {
        int64_t places = dilation->ints[i] > 1 ? x->dims[from[i]] : y->dims[to[i]];
        flops *= (double)places * (double)kernel->dims[window[i]];
    }
    return flops;
}

/* Whether the windows along dimension I make a running sum: each holds the one before it,
 * or behind it, and one more element. A step then takes one operation. */
static bool runs(const sim_op *op, const sim_type *windows, int i)
{
    const int64_t *pad = sim_attribute_find(op, "padding")->ints;
    const sim_attribute *base = sim_attribute_find(op, "base_dilations");
    const sim_attribute *dilation = sim_attribute_find(op, "window_dilations");
    int64_t size = sim_attribute_find(op, "window_dimensions")->ints[i];
    bool one_side = (pad[2 * i] == size - 1 && pad[2 * i + 1] == 0) ||
                    (pad[2 * i] == 0 && pad[2 * i + 1] == size - 1);
    return sim_attribute_find(op, "window_strides")->ints[i] == 1 && one_side &&
           windows->dims[i] == size && (!base || base->ints[i] == 1) &&
           (!dilation || dilation->ints[i] == 1);
}

/* One operation for each element of each window. WINDOWS has one element for each window. */
static double window_flops(const sim_op *op, const sim_type *windows)
{
    const int64_t *size = sim_attribute_find(op, "window_dimensions")->ints;
    double flops = (double)sim_type_elements(windows);
    for (int i = 0; i < windows->rank; i++)
        flops *= runs(op, windows, i) ? 1 : (double)size[i];
    return flops * region_ops(&op->regions[0]);
}

static double sort_flops(const sim_weighing *w, const sim_op *op)
{
    const sim_type *x = sim_weigh_type(w, op->operands[0]);
    double length = (double)x->dims[sim_attribute_int(op, "dimension")];
    return length > 1 ? (double)sim_type_elements(x) * log2(length) : 0;
}

/* 5 n log2 n for n complex elements, half of that for real ones; n counts the elements
 * of the side that has the stated lengths. */
static double fft_flops(const sim_weighing *w, const sim_op *op)
{
    const sim_attribute *length = sim_attribute_find(op, "fft_length");
    const char *type = sim_attribute_find(op, "fft_type")->word;
    bool back = strcmp(type, "IRFFT") == 0, real = back || strcmp(type, "RFFT") == 0;
    double n = 1;
    for (size_t i = 0; i < length->count; i++)
        n *= (double)length->ints[i];
    double all = elements_of(w, back ? op->results[0] : op->operands[0]);
    return n > 1 ? (real ? 2.5 : 5.0) * all * log2(n) : 0;
}

/* Operations of ops that are neither matrix products nor element-wise. */
static double other_flops(const sim_weighing *w, const sim_op *op)
{
    switch (sim_op_cost_class(op->opcode)) {
    case SIM_REDUCTION:
        return elements_of(w, op->operands[0]) * region_ops(&op->regions[0]);
    case SIM_WINDOW:
        return window_flops(op, sim_weigh_type(w, op->opcode == SIM_OP_REDUCE_WINDOW
                                                      ? op->results[0]
                                                      : op->operands[1]));
    case SIM_SORT:
        return sort_flops(w, op);
    case SIM_SCATTER:
        return elements_of(w, op->operands[op->operand_count - 1]) * region_ops(&op->regions[0]);
    case SIM_RANDOM:
        return RANDOM_OPS * (double)(sim_type_bytes(sim_weigh_type(w, op->results[1])) / 4);
    case SIM_FFT:
        return fft_flops(w, op);
    default:
        return 0;
    }
}

void sim_weigh_op(const sim_weighing *w, const sim_op *op, sim_group *group,
                  double *transcendentals)
{
    sim_cost_class class = sim_op_cost_class(op->opcode);
    if (class == SIM_FREE || class == SIM_SHAPE || class == SIM_DATA || class == SIM_CONTROL)
        return;
    /* Comparisons give booleans, but compute on what they compare; selects on what
     * they choose from. */
    bool matrix = class == SIM_DOT || class == SIM_CONVOLUTION;
    int typed = op->opcode == SIM_OP_SELECT;
    bn_dtype dtype = sim_weigh_type(w, op->operands[typed])->dtype;
    sim_rate rate = class == SIM_RANDOM ? SIM_RATE_INT : sim_weigh_rate(dtype);
    bool complex = bn_dtype_class(dtype) == BN_COMPLEX && class != SIM_FFT;
    if (matrix) {
        double flops = class == SIM_DOT ? dot_flops(w, op) : convolution_flops(w, op);
        group->matrix_flops[rate] += complex ? 4 * flops : flops;
        return;
    }
    bool plain = class == SIM_ELEMENTWISE || class == SIM_TRANSCENDENTAL;
    double count = plain ? elements_of(w, op->results[0]) : other_flops(w, op);
    group->vector_flops[rate] += complex ? 2 * count : count;
    if (class == SIM_TRANSCENDENTAL)
        *transcendentals += count;
}
