/*
 * op_constant.c - values from nothing: one number everywhere, counting, random bits.
 *
 * A constant carries its type and the bits of a double as attributes, so that
 * -0.0 and NaN differ from 0.0 in the hash. The value is brought to the
 * dtype before it becomes an attribute: the same constant has one spelling.
 *
 * Random bits come from a counter-based generator: key and counter come in as data and the
 * advanced counter goes out, so a step stays a function of its inputs and can be replayed.
 * Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011.
 */
#include "runtime/graph/op_priv.h"

#include <math.h>
#include <string.h>

static double bits_value(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int64_t value_bits(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---- type rules -------------------------------------------------------------- */

/* Whether an integer dtype has VALUE; limits as powers of two, which doubles
 * have exactly. */
static bool in_range(tg_dtype dtype, double value)
{
    bool is_unsigned = bn_dtype_is_unsigned(dtype);
    double end = ldexp(1.0, (int)bn_dtype_bytes(dtype) * 8 - (is_unsigned ? 0 : 1));
    return value >= (is_unsigned ? 0.0 : -end) && value < end;
}

static bn_code infer_constant(const tg_node *node, bn_status *st)
{
    const tg_constant_attributes *c = node->attributes;
    bn_code code = tg_shape_check(c->type.rank, c->type.dims, st);
    if (code != BN_OK)
        return code;
    if (!bn_dtype_is_float(c->type.dtype) && c->type.dtype != TG_BOOL &&
        !in_range(c->type.dtype, bits_value(c->bits)))
        return bn_fail(st, BN_INVALID, "%g is not a value of %s", bits_value(c->bits),
                       bn_dtype_text(c->type.dtype));
    node->results[0].type = c->type;
    return BN_OK;
}

static bn_code infer_iota(const tg_node *node, bn_status *st)
{
    const tg_iota_attributes *i = node->attributes;
    bn_code code = tg_shape_check(i->type.rank, i->type.dims, st);
    if (code != BN_OK)
        return code;
    if (i->type.dtype == TG_BOOL)
        return tg_type_fail(st, "wants a number type, got", &i->type);
    if (i->dim < 0 || i->dim >= i->type.rank)
        return bn_fail(st, BN_INVALID, "dimension %lld of a tensor of rank %d", (long long)i->dim,
                       i->type.rank);
    node->results[0].type = i->type;
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

static void lower_constant(tg_lowering *l, const tg_node *node)
{
    const tg_constant_attributes *c = node->attributes;
    bn_text *out = tg_lowering_text(l);
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.constant dense<");
    tg_lowering_literal(l, c->type.dtype, bits_value(c->bits));
    bn_text_puts(out, "> : ");
    tg_type_write(&c->type, out);
}

static void lower_iota(tg_lowering *l, const tg_node *node)
{
    const tg_iota_attributes *i = node->attributes;
    bn_text *out = tg_lowering_text(l);
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.iota dim = ");
    bn_text_int(out, i->dim);
    bn_text_puts(out, " : ");
    tg_type_write(&i->type, out);
}

/* ---- rows ---------------------------------------------------------------------- */

#define FAMILY "constant"

static const tg_op op_constant = {"constant",
                                  "constant",
                                  FAMILY,
                                  "one number everywhere",
                                  0,
                                  0,
                                  1,
                                  sizeof(tg_constant_attributes),
                                  infer_constant,
                                  lower_constant,
                                  NULL,
                                  tg_op_no_flops};
static const tg_op op_iota = {"iota",     "iota",     FAMILY, "0, 1, 2, ... along a dimension",
                              0,          0,          1,      sizeof(tg_iota_attributes),
                              infer_iota, lower_iota, NULL,   tg_op_no_flops};

const tg_op *const tg_ops_constant[] = {&op_constant, &op_iota, NULL};

/* ---- public calls ------------------------------------------------------------------ */

/* VALUE as the dtype has it, as far as a double can say; infer_constant checks
 * that integers are in range. */
static double as_dtype(tg_dtype dtype, double value)
{
    if (dtype == TG_F32)
        return (double)(float)value;
    if (dtype == TG_BOOL)
        return value != 0;
    return bn_dtype_is_float(dtype) ? value : rint(value);
}

static tg_tensor *emit_constant(tg_trace *t, const tg_type *type, double value)
{
    tg_constant_attributes attributes = {tg_type_make(type->dtype, type->rank, type->dims),
                                         value_bits(as_dtype(type->dtype, value))};
    return tg_emit(t, &op_constant, &attributes, NULL, 0);
}

tg_tensor *tg_scalar(tg_trace *t, tg_dtype dtype, double value)
{
    uint64_t key = (uint64_t)value_bits(value) + (uint64_t)dtype;
    tg_scalar_memo *m = &t->memo[key * 0x9e3779b97f4a7c15u >> 32 & (TG_SCALAR_MEMO - 1)];
    if (m->epoch == t->epoch && m->dtype == dtype && m->tensor &&
        value_bits(m->value) == value_bits(value))
        return m->tensor;
    tg_type type = {.dtype = dtype};
    tg_tensor *made = emit_constant(t, &type, value);
    if (made->kind == TG_KIND_VALUE)
        *m = (tg_scalar_memo){t->epoch, dtype, value, made};
    return made;
}

tg_tensor *tg_full(tg_trace *t, const tg_type *type, double value)
{
    return type->rank == 0 ? tg_scalar(t, type->dtype, value) : emit_constant(t, type, value);
}

tg_tensor *tg_iota(tg_trace *t, const tg_type *type, int dim)
{
    tg_iota_attributes attributes = {tg_type_make(type->dtype, type->rank, type->dims), dim};
    return tg_emit(t, &op_iota, &attributes, NULL, 0);
}

/* ---- random bits ----------------------------------------------------------------- */

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
