/*
 * op_random.c - random bits from a counter-based generator: key and counter come
 * in as data and the advanced counter goes out, so a step stays a function of
 * its inputs and can be replayed.
 *
 * Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
 */
#include "runtime/graph/op_priv.h"

/* StableHLO specification, rng_bit_generator: results are the state, then the
 * bits. */
enum { STATE, BITS };

/* The state of THREE_FRY is two words of 64 bits; XLA gives words of 32 and 64. */
static bn_code infer_random_bits(const tg_node *node, bn_status *st)
{
    const tg_random_attributes *a = node->attributes;
    const tg_type *state = tg_operand_type(node, 0);
    if (state->dtype != TG_U64 || state->rank != 1 || state->dims[0] != 2)
        return tg_type_fail(st, "wants a state of tensor<2xui64>, got", state);
    if (a->type.dtype != TG_U32 && a->type.dtype != TG_U64)
        return tg_type_fail(st, "gives ui32 and ui64, not", &a->type);
    node->results[STATE].type = *state;
    node->results[BITS].type = a->type;
    return tg_shape_check(a->type.rank, a->type.dims, st);
}

static void lower_random_bits(tg_lowering *l, const tg_node *node)
{
    tg_lowering_generic_head(l, node);
    tg_lowering_printf(l, " {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}");
    tg_lowering_signature(l, node);
}

/* The generator's own work is not the model's. */
static const tg_op op_random_bits = {"random_bits",
                                     "rng_bit_generator",
                                     "random",
                                     "the state moved on, and random bits",
                                     1,
                                     1,
                                     2,
                                     sizeof(tg_random_attributes),
                                     infer_random_bits,
                                     lower_random_bits,
                                     NULL,
                                     tg_op_no_flops};

const tg_op *const tg_ops_random[] = {&op_random_bits, NULL};

tg_tensor *tg_random_bits(tg_trace *t, tg_tensor *state, const tg_type *type, tg_tensor **new_state)
{
    tg_random_attributes attributes = {tg_type_make(type->dtype, type->rank, type->dims)};
    *new_state = tg_emit(t, &op_random_bits, &attributes, &state, 1);
    return tg_emit_result(*new_state, BITS);
}
