/*
 * op_dot.c - products that contract dimensions: dot, and matmul composed on it.
 *
 * The precision in force is an attribute: it is part of the program. Both
 * gradients are dots again; the operand order is chosen so that the gradient of
 * a plain matrix product needs no transposition.
 */
#include "runtime/graph/op_priv.h"

/* ---- type rules (StableHLO specification, dot_general) -------------------------- */

/* (C3-C8): dimensions exist and none is named twice; *USED gets a mask. */
static bn_code check_named(const tg_type *x, const int32_t *batch, int32_t batch_count,
                           const int32_t *contract, int32_t contract_count, unsigned *used,
                           bn_status *st)
{
    *used = 0;
    for (int32_t i = 0; i < batch_count + contract_count; i++) {
        int32_t d = i < batch_count ? batch[i] : contract[i - batch_count];
        if (d < 0 || d >= x->rank)
            return bn_fail(st, BN_INVALID, "dimension %d of a tensor of rank %d", d, x->rank);
        if (*used >> d & 1u)
            return bn_fail(st, BN_INVALID, "dimension %d is named twice", d);
        *used |= 1u << d;
    }
    return BN_OK;
}

/* Appends the dimensions of X that are not in USED. */
static void append_free(tg_type *out, const tg_type *x, unsigned used)
{
    for (int32_t i = 0; i < x->rank; i++)
        if (!(used >> i & 1u))
            out->dims[out->rank++] = x->dims[i];
}

/* (C9, C10): batch and contracting dimensions agree; (C12): the result's shape. */
static bn_code infer_dot(const tg_node *node, bn_status *st)
{
    const tg_dot_dims *d = &((const tg_dot_attributes *)node->attributes)->dims;
    const tg_type *a = tg_operand_type(node, 0), *b = tg_operand_type(node, 1);
    tg_type *out = &node->results[0].type;
    unsigned used_a, used_b;
    if (a->dtype != b->dtype || a->dtype == TG_BOOL)
        return tg_type_fail_pair(st, "wants numbers of one element type", a, b);
    if (d->batch_count < 0 || d->contract_count < 0 ||
        d->batch_count + d->contract_count > TG_MAX_RANK)
        return bn_fail(st, BN_INVALID, "%d batch and %d contracting dimensions", d->batch_count,
                       d->contract_count);
    if (check_named(a, d->batch_a, d->batch_count, d->contract_a, d->contract_count, &used_a, st) !=
            BN_OK ||
        check_named(b, d->batch_b, d->batch_count, d->contract_b, d->contract_count, &used_b, st) !=
            BN_OK)
        return BN_INVALID;
    if (a->rank + b->rank - d->batch_count - 2 * d->contract_count > TG_MAX_RANK)
        return tg_type_fail_pair(st, "too many dimensions in the result", a, b);
    out->dtype = a->dtype;
    for (int32_t i = 0; i < d->batch_count; i++) {
        int64_t size = a->dims[d->batch_a[i]], other = b->dims[d->batch_b[i]];
        if (size != other)
            return bn_fail(st, BN_INVALID, "batch dimensions %lld and %lld differ", (long long)size,
                           (long long)other);
        out->dims[out->rank++] = size;
    }
    for (int32_t i = 0; i < d->contract_count; i++) {
        int64_t size = a->dims[d->contract_a[i]], other = b->dims[d->contract_b[i]];
        if (size != other)
            return bn_fail(st, BN_INVALID, "contracting dimensions %lld and %lld differ",
                           (long long)size, (long long)other);
    }
    append_free(out, a, used_a);
    append_free(out, b, used_b);
    return BN_OK;
}

/* ---- lowering ---------------------------------------------------------------- */

const char *tg_op_precision_text(int32_t precision)
{
    static const char *const texts[] = {
        [TG_PRECISION_DEFAULT] = "DEFAULT",
        [TG_PRECISION_HIGH] = "HIGH",
        [TG_PRECISION_HIGHEST] = "HIGHEST",
    };
    return texts[precision];
}

static void write_pairs(bn_text *out, const char *name, const int32_t *a, const int32_t *b,
                        int32_t count)
{
    bn_text_puts(out, name);
    for (int32_t i = 0; i < 2 * count; i++) {
        bn_text_puts(out, i == 0 ? "[" : i == count ? "] x [" : ", ");
        bn_text_int(out, i < count ? a[i] : b[i - count]);
    }
    bn_text_puts(out, count ? "]" : "[] x []");
}

static void lower_dot(tg_lowering *l, const tg_node *node)
{
    const tg_dot_attributes *d = node->attributes;
    const char *precision = tg_op_precision_text(d->precision);
    bn_text *out = tg_lowering_text(l);
    tg_lowering_define(l, node);
    bn_text_puts(out, "stablehlo.dot_general ");
    tg_lowering_value(l, node->operands[0]);
    bn_text_puts(out, ", ");
    tg_lowering_value(l, node->operands[1]);
    if (d->dims.batch_count)
        write_pairs(out, ", batching_dims = ", d->dims.batch_a, d->dims.batch_b,
                    d->dims.batch_count);
    write_pairs(out, ", contracting_dims = ", d->dims.contract_a, d->dims.contract_b,
                d->dims.contract_count);
    tg_lowering_printf(l, ", precision = [%s, %s]", precision, precision);
    tg_lowering_signature(l, node);
}

/* ---- gradients ----------------------------------------------------------------- */

/* One operand as its gradient sees it: which of its dimensions are batch and
 * contracted, and those that are free, ascending. */
typedef struct side {
    const tg_type *type;
    const int32_t *batch, *contract;
    int32_t free[TG_MAX_RANK], free_count;
    int32_t first; /* dimension of the result where the free ones start */
} side;

static side side_of(const tg_node *node, size_t index)
{
    const tg_dot_dims *d = &((const tg_dot_attributes *)node->attributes)->dims;
    side s = {.type = tg_operand_type(node, index),
              .batch = index ? d->batch_b : d->batch_a,
              .contract = index ? d->contract_b : d->contract_a};
    unsigned used = 0;
    for (int32_t i = 0; i < d->batch_count; i++)
        used |= 1u << s.batch[i];
    for (int32_t i = 0; i < d->contract_count; i++)
        used |= 1u << s.contract[i];
    for (int32_t i = 0; i < s.type->rank; i++)
        if (!(used >> i & 1u))
            s.free[s.free_count++] = i;
    s.first = index ? node->results[0].type.rank - s.free_count : d->batch_count;
    return s;
}

/* Dimensions of OTHER's contract list in the order in which a dot leaves them
 * over, which is ascending; TO gets the matching dimensions of MINE. */
static void contracted_ascending(const side *other, const side *mine, int32_t count, int32_t *to)
{
    int32_t n = 0;
    for (int32_t dim = 0; dim < other->type->rank; dim++)
        for (int32_t i = 0; i < count; i++)
            if (other->contract[i] == dim)
                to[n++] = mine->contract[i];
}

/*
 * The gradient of operand INDEX: the result's gradient contracted with the
 * other operand over that one's free dimensions. For A that is dot(g, b) with
 * dimensions (batch, A's free, contracted); for B it is dot(a, g) with (batch,
 * contracted, B's free). TO[i] is the operand dimension that dimension i of the
 * product stands for; a transposition sorts them where they are not yet.
 */
static tg_tensor *grad_operand(tg_trace *t, const tg_node *node, tg_tensor *g, size_t index)
{
    const tg_dot_dims *d = &((const tg_dot_attributes *)node->attributes)->dims;
    side mine = side_of(node, index), other = side_of(node, 1 - index);
    tg_dot_dims dims = {.batch_count = d->batch_count, .contract_count = other.free_count};
    int32_t *g_batch = index ? dims.batch_b : dims.batch_a;
    int32_t *other_batch = index ? dims.batch_a : dims.batch_b;
    int32_t *g_contract = index ? dims.contract_b : dims.contract_a;
    int32_t *other_contract = index ? dims.contract_a : dims.contract_b;
    int32_t to[TG_MAX_RANK] = {0}, at = 0;
    for (int32_t i = 0; i < d->batch_count; i++) {
        g_batch[i] = i;
        other_batch[i] = other.batch[i];
        to[at++] = mine.batch[i];
    }
    for (int32_t i = 0; i < other.free_count; i++) {
        g_contract[i] = other.first + i;
        other_contract[i] = other.free[i];
    }
    int32_t free_at = index ? at + d->contract_count : at;
    contracted_ascending(&other, &mine, d->contract_count,
                         to + (index ? at : at + mine.free_count));
    for (int32_t i = 0; i < mine.free_count; i++)
        to[free_at + i] = mine.free[i];

    tg_tensor *operand = node->operands[1 - index];
    tg_tensor *product = index ? tg_dot(t, operand, g, &dims) : tg_dot(t, g, operand, &dims);
    int permutation[TG_MAX_RANK] = {0};
    for (int32_t i = 0; i < mine.type->rank; i++)
        permutation[to[i]] = i;
    return tg_transpose(t, product, permutation);
}

GRADIENT(grad_dot)
{
    for (size_t i = 0; i < 2; i++)
        if (need[i])
            gin[i] = grad_operand(t, node, gout[0], i);
}

/* A multiplication and an addition for each contracted pair of each element. */
static double flops_dot(const tg_node *node)
{
    const tg_dot_dims *d = &((const tg_dot_attributes *)node->attributes)->dims;
    double flops = 2.0 * (double)tg_type_elements(&node->results[0].type);
    for (int32_t i = 0; i < d->contract_count; i++)
        flops *= (double)tg_operand_type(node, 0)->dims[d->contract_a[i]];
    return flops;
}

/* ---- rows ---------------------------------------------------------------------- */

static const tg_op op_dot = {"dot",     "dot_general",
                             "dot",     "sum of products over contracting dimensions",
                             2,         2,
                             1,         sizeof(tg_dot_attributes),
                             infer_dot, lower_dot,
                             grad_dot,  flops_dot};

const tg_op *const tg_ops_dot[] = {&op_dot, NULL};

/* ---- public calls ------------------------------------------------------------------ */

tg_tensor *tg_dot(tg_trace *t, tg_tensor *a, tg_tensor *b, const tg_dot_dims *dims)
{
    tg_tensor *operands[] = {a, b};
    /* Only what the counts cover: attributes are hashed as bytes. */
    tg_dot_attributes attributes = {
        .dims = {dims->batch_count, dims->contract_count, {0}, {0}, {0}, {0}},
        .precision = (int32_t)tg_trace_precision(t)};
    for (int32_t i = 0; i < dims->batch_count && i < TG_MAX_RANK; i++) {
        attributes.dims.batch_a[i] = dims->batch_a[i];
        attributes.dims.batch_b[i] = dims->batch_b[i];
    }
    for (int32_t i = 0; i < dims->contract_count && i < TG_MAX_RANK; i++) {
        attributes.dims.contract_a[i] = dims->contract_a[i];
        attributes.dims.contract_b[i] = dims->contract_b[i];
    }
    return tg_emit(t, &op_dot, &attributes, operands, 2);
}

tg_tensor *tg_matmul(tg_trace *t, tg_tensor *a, tg_tensor *b)
{
    tg_dot_dims dims = {.contract_count = 1};
    dims.contract_a[0] = a->type.rank - 1;
    return tg_dot(t, a, b, &dims);
}
