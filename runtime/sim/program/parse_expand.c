/*
 * parse_expand.c - ops that are read as several, because programs do not have them:
 * batch normalisation, and the square, erfc, erf_inv and top_k of CHLO.
 *
 * Batch normalisation is written with the operations that a compiler leaves for each
 * element: x - mean is computed again where it is used again, because memory is dearer
 * than a subtraction. Formulas: StableHLO specification, batch_norm_*.
 */
#include "runtime/sim/program/parse_op.h"

#include <math.h>
#include <string.h>

/* The op that the new ops replace. */
typedef struct builder {
    sim_reader *r;
    const sim_reading *o;
} builder;

/* ---- single ops -------------------------------------------------------------------------- */

/* The op with OPERANDS; its result is value RESULT, or a new one where that is below 0. */
static int build(builder *b, sim_op op, const int *operands, int count, const sim_type *type,
                 int result)
{
    for (int i = 0; i < count; i++)
        if (operands[i] < 0)
            return -1;
    op.line = b->o->line;
    op.operands = sim_keep(b->r, operands, (size_t)count, sizeof *operands);
    op.operand_count = count;
    if (result < 0)
        return sim_emit(b->r, b->o->at, &op, type, 1);
    return sim_emit_to(b->r, b->o->at, &op, result) ? result : -1;
}

static const sim_attribute *attribute_of(builder *b, const char *name, const int64_t *ints,
                                         size_t count)
{
    const sim_attribute attribute = {
        .name = name, .ints = sim_keep(b->r, ints, count, sizeof *ints), .count = count};
    return sim_keep(b->r, &attribute, 1, sizeof attribute);
}

static int unary(builder *b, sim_opcode opcode, int x)
{
    if (x < 0)
        return -1;
    sim_type type = *sim_reader_type(b->r, x);
    return build(b, (sim_op){.opcode = opcode}, &x, 1, &type, -1);
}

static int binary_to(builder *b, sim_opcode opcode, int x, int y, int result)
{
    if (x < 0)
        return -1;
    sim_type type = *sim_reader_type(b->r, x);
    return build(b, (sim_op){.opcode = opcode}, (const int[]){x, y}, 2, &type, result);
}

static int binary(builder *b, sim_opcode opcode, int x, int y)
{
    return binary_to(b, opcode, x, y, -1);
}

/* X DIRECTION Y, as the compare_type KIND has it; TRUTH: type of the result. */
static int compare(builder *b, const char *direction, const char *kind, int x, int y,
                   const sim_type *truth)
{
    const sim_attribute words[] = {{.name = "comparison_direction", .word = direction},
                                   {.name = "compare_type", .word = kind}};
    sim_op op = {.opcode = SIM_OP_COMPARE,
                 .attributes = sim_keep(b->r, words, 2, sizeof *words),
                 .attribute_count = 2};
    return build(b, op, (const int[]){x, y}, 2, truth, -1);
}

static int choose(builder *b, int predicate, int x, int y, int result)
{
    if (x < 0)
        return -1;
    sim_type type = *sim_reader_type(b->r, x);
    sim_op op = {.opcode = SIM_OP_SELECT};
    return build(b, op, (const int[]){predicate, x, y}, 3, &type, result);
}

/* NUMBER everywhere in a tensor of TYPE. */
static int constant(builder *b, const sim_type *type, double number)
{
    size_t bytes = bn_dtype_bytes(type->dtype);
    void *element = sim_take(b->r, bytes);
    sim_store_float(type->dtype, number, element);
    sim_op op = {.opcode = SIM_OP_CONSTANT, .constant = element, .constant_bytes = bytes};
    return build(b, op, NULL, 0, type, -1);
}

/* X, which has an element for each feature, broadcast to TYPE. */
static int broadcast(builder *b, int x, int64_t feature, const sim_type *type)
{
    sim_op op = {.opcode = SIM_OP_BROADCAST_IN_DIM, .attribute_count = 1};
    op.attributes = attribute_of(b, "broadcast_dimensions", &feature, 1);
    return build(b, op, &x, 1, type, -1);
}

/* The sum of X over all dimensions but FEATURE. */
static int sum(builder *b, int x, int64_t feature, int result)
{
    if (x < 0)
        return -1;
    sim_type type = *sim_reader_type(b->r, x), scalar = {.dtype = type.dtype};
    int64_t dims[SIM_MAX_RANK];
    size_t count = 0;
    for (int i = 0; i < type.rank; i++)
        if (i != feature)
            dims[count++] = i;
    type.dims[0] = type.dims[feature];
    type.rank = 1;
    sim_op op = {.opcode = SIM_OP_REDUCE, .attribute_count = 1, .region_count = 1};
    sim_block *region = sim_take(b->r, sizeof *region);
    op.attributes = attribute_of(b, "dimensions", dims, count);
    op.regions = region;
    int zero = constant(b, &scalar, 0);
    if (zero < 0 || !sim_make_region(b->r, SIM_OP_ADD, scalar.dtype, b->o->at, b->o->line, region))
        return -1;
    return build(b, op, (const int[]){x, zero}, 2, &type, result);
}

/* ---- batch normalisation ---------------------------------------------------------------- */

/* Common to all three ops. */
typedef struct norm {
    builder b;
    sim_type x, row; /* of the operand, and of one element for each feature */
    int64_t feature;
    double epsilon, count; /* COUNT: elements of one feature */
} norm;

static bool begin_norm(norm *n, sim_reader *r, const sim_reading *o, const sim_op *op)
{
    n->b = (builder){r, o};
    n->x = *sim_reader_type(r, op->operands[0]);
    n->feature = sim_attribute_int(op, "feature_index");
    const sim_raw *raws = r->raws.items;
    for (size_t i = o->raws; i < r->raws.count; i++)
        if (raws[i].name_length == 7 && memcmp(raws[i].name, "epsilon", 7) == 0)
            n->epsilon = raws[i].real;
    if (n->feature < 0 || n->feature >= n->x.rank || bn_dtype_class(n->x.dtype) != BN_FLOAT) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT,
                        "%s: feature_index is no dimension, or the operand is not of floats",
                        sim_op_text(o->code));
        return false;
    }
    n->row = (sim_type){.dtype = n->x.dtype, .rank = 1, .dims = {n->x.dims[n->feature]}};
    n->count = 1;
    for (int i = 0; i < n->x.rank; i++)
        if (i != n->feature)
            n->count *= (double)n->x.dims[i];
    return true;
}

/* The operands from FIRST to END-1 and all results but the first have an element for each
 * feature. The others have the type of the first operand. */
static bool check_norm(norm *n, const sim_op *op, int first, int end, int results)
{
    sim_reader *r = n->b.r;
    const sim_type *types = r->signature.items + n->b.o->signature;
    bool fits = (int)(r->signature.count - n->b.o->signature) == results;
    for (int i = 1; i < op->operand_count; i++)
        fits &= sim_type_equals(sim_reader_type(r, op->operands[i]),
                                i >= first && i < end ? &n->row : &n->x);
    for (int i = 0; fits && i < results; i++)
        fits &= sim_type_equals(&types[i], i ? &n->row : &n->x);
    if (!fits)
        sim_reader_fail(r, n->b.o->at, SIM_INVALID_ARGUMENT, "%s: types do not fit",
                        sim_op_text(n->b.o->code));
    return fits;
}

/* 1 / sqrt(variance + epsilon) */
static int deviation(norm *n, int variance)
{
    int epsilon = constant(&n->b, &n->row, n->epsilon);
    return unary(&n->b, SIM_OP_RSQRT, binary(&n->b, SIM_OP_ADD, variance, epsilon));
}

/* (x - mean) scale / deviation + offset, as value RESULT. */
static void normalise(norm *n, const sim_op *op, int mean, int variance, int result)
{
    builder *b = &n->b;
    int slope = binary(b, SIM_OP_MULTIPLY, op->operands[1], deviation(n, variance));
    int centred =
        binary(b, SIM_OP_SUBTRACT, op->operands[0], broadcast(b, mean, n->feature, &n->x));
    int scaled = binary(b, SIM_OP_MULTIPLY, centred, broadcast(b, slope, n->feature, &n->x));
    binary_to(b, SIM_OP_ADD, scaled, broadcast(b, op->operands[2], n->feature, &n->x), result);
}

static void expand_training(norm *n, const sim_op *op, int first)
{
    builder *b = &n->b;
    int count = constant(b, &n->row, n->count), x = op->operands[0];
    int mean = binary_to(b, SIM_OP_DIVIDE, sum(b, x, n->feature, -1), count, first + 1);
    int centred = binary(b, SIM_OP_SUBTRACT, x, broadcast(b, mean, n->feature, &n->x));
    int squares = sum(b, binary(b, SIM_OP_MULTIPLY, centred, centred), n->feature, -1);
    int variance = binary_to(b, SIM_OP_DIVIDE, squares, count, first + 2);
    normalise(n, op, mean, variance, first);
}

/* With c = x - mean, r = 1 / deviation, means over all but the feature:
 * gradients scale r (g - mean(g) - c r^2 mean(g c)); r sum(g c); sum(g). */
static void expand_grad(norm *n, const sim_op *op, int first)
{
    builder *b = &n->b;
    int g = op->operands[4], count = constant(b, &n->row, n->count);
    int r = deviation(n, op->operands[3]);
    int c = binary(b, SIM_OP_SUBTRACT, op->operands[0],
                   broadcast(b, op->operands[2], n->feature, &n->x));
    int total = sum(b, g, n->feature, first + 2);
    int product = sum(b, binary(b, SIM_OP_MULTIPLY, g, c), n->feature, -1);
    binary_to(b, SIM_OP_MULTIPLY, product, r, first + 1);
    int mean = binary(b, SIM_OP_DIVIDE, total, count);
    int share = binary(b, SIM_OP_DIVIDE, product, count);
    int pull = binary(b, SIM_OP_MULTIPLY, share, binary(b, SIM_OP_MULTIPLY, r, r));
    int left = binary(b, SIM_OP_SUBTRACT, g, broadcast(b, mean, n->feature, &n->x));
    int away = binary(b, SIM_OP_MULTIPLY, c, broadcast(b, pull, n->feature, &n->x));
    int rest = binary(b, SIM_OP_SUBTRACT, left, away);
    int slope = binary(b, SIM_OP_MULTIPLY, op->operands[1], r);
    binary_to(b, SIM_OP_MULTIPLY, rest, broadcast(b, slope, n->feature, &n->x), first);
}

static void expand_as(norm *n, const sim_op *op, int first)
{
    if (n->b.o->code == SIM_OP_NORM_INFERENCE)
        normalise(n, op, op->operands[3], op->operands[4], first);
    else if (n->b.o->code == SIM_OP_NORM_GRAD)
        expand_grad(n, op, first);
    else
        expand_training(n, op, first);
}

/* TYPE in f32. */
static sim_type wide(sim_type type)
{
    type.dtype = BN_F32;
    return type;
}

/* The op in f32, between conversions. So it is rounded once, and not after each of its
 * parts, which could not sum up a batch in half the width. */
static void expand_wide(norm *n, const sim_op *op, int first, int results)
{
    builder *b = &n->b;
    int operands[5];
    sim_type types[3];
    sim_op same = *op;
    same.operands = operands;
    for (int i = 0; i < op->operand_count; i++) {
        const sim_type type = wide(*sim_reader_type(b->r, op->operands[i]));
        operands[i] = build(b, (sim_op){.opcode = SIM_OP_CONVERT}, &op->operands[i], 1, &type, -1);
        if (operands[i] < 0)
            return;
    }
    n->x = wide(n->x);
    n->row = wide(n->row);
    for (int i = 0; i < results; i++)
        types[i] = i ? n->row : n->x;
    const int computed = sim_reader_values(b->r, types, results);
    expand_as(n, &same, computed);
    for (int i = 0; i < results; i++)
        build(b, (sim_op){.opcode = SIM_OP_CONVERT}, (const int[]){computed + i}, 1, NULL,
              first + i);
}

static void expand_norm(sim_reader *r, const sim_reading *o, const sim_op *op, int first)
{
    norm n = {0};
    const bool inference = o->code == SIM_OP_NORM_INFERENCE, grad = o->code == SIM_OP_NORM_GRAD;
    const int results = inference ? 1 : 3;
    if (!begin_norm(&n, r, o, op) || !check_norm(&n, op, 1, grad ? 4 : 5, results))
        return;
    if (n.x.dtype == BN_F16 || n.x.dtype == BN_BF16)
        expand_wide(&n, op, first, results);
    else
        expand_as(&n, op, first);
}

/* ---- CHLO ------------------------------------------------------------------------------- */

static void expand_erfc(builder *b, int x, int result)
{
    sim_type type = *sim_reader_type(b->r, x);
    if (bn_dtype_class(type.dtype) != BN_FLOAT) {
        sim_reader_fail(b->r, b->o->at, SIM_INVALID_ARGUMENT, "erfc: wants floats");
        return;
    }
    int one = constant(b, &type, 1);
    binary_to(b, SIM_OP_SUBTRACT, one, unary(b, SIM_OP_ERF, x), result);
}

/* The inverse of erf for f32 and narrower: a polynomial in w = -log(1 - x^2) where it is
 * below 5, in its root beyond, times x; infinite at -1 and 1. Giles, Approximating the
 * erfinv function, GPU Computing Gems 2, 2011. */
static void expand_erf_inv(builder *b, int x, int result)
{
    static const double near[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                  -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                  -0.00417768164,  0.246640727,    1.50140941};
    static const double far[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                 -0.00367342844,  0.00573950773,  -0.0076224613,
                                 0.00943887047,   1.00167406,     2.83297682};
    sim_type type = *sim_reader_type(b->r, x), truth = type;
    if (bn_dtype_class(type.dtype) != BN_FLOAT || type.dtype == BN_F64) {
        sim_reader_fail(b->r, b->o->at, SIM_UNIMPLEMENTED,
                        "chlo.erf_inv is simulated of f32 and narrower floats only");
        return;
    }
    truth.dtype = BN_PRED;
    int minus = unary(b, SIM_OP_NEGATE, binary(b, SIM_OP_MULTIPLY, x, x));
    int w = unary(b, SIM_OP_NEGATE, unary(b, SIM_OP_LOG_PLUS_ONE, minus));
    int below = compare(b, "LT", "FLOAT", w, constant(b, &type, 5), &truth);
    int v = choose(b, below, binary(b, SIM_OP_SUBTRACT, w, constant(b, &type, 2.5)),
                   binary(b, SIM_OP_SUBTRACT, unary(b, SIM_OP_SQRT, w), constant(b, &type, 3)), -1);
    int p = choose(b, below, constant(b, &type, near[0]), constant(b, &type, far[0]), -1);
    for (size_t i = 1; i < sizeof near / sizeof *near; i++) {
        int c = choose(b, below, constant(b, &type, near[i]), constant(b, &type, far[i]), -1);
        p = binary(b, SIM_OP_ADD, c, binary(b, SIM_OP_MULTIPLY, p, v));
    }
    int edge = compare(b, "EQ", "FLOAT", unary(b, SIM_OP_ABS, x), constant(b, &type, 1), &truth);
    choose(b, edge, binary(b, SIM_OP_MULTIPLY, x, constant(b, &type, INFINITY)),
           binary(b, SIM_OP_MULTIPLY, p, x), result);
}

/* The region of a sort: whether the first of two pairs has the larger element. */
static bool larger_first(builder *b, bn_dtype dtype, sim_block *region)
{
    const sim_type x = {.dtype = dtype}, place = {.dtype = BN_S32}, truth = {.dtype = BN_PRED};
    const sim_type types[4] = {x, x, place, place};
    size_t mark = b->r->ops.count;
    int *arguments = sim_take(b->r, 5 * sizeof *arguments);
    int first = sim_reader_values(b->r, types, 4);
    for (int i = 0; i < 4; i++)
        arguments[i] = first + i;
    arguments[4] =
        compare(b, "GT", bn_dtype_is_float(dtype) ? "TOTALORDER" : "", first, first + 1, &truth);
    if (arguments[4] < 0)
        return false;
    const sim_op *ops = sim_keep(b->r, &b->r->ops.items[mark], 1, sizeof *ops);
    b->r->ops.count = mark;
    *region = (sim_block){4, 1, arguments, arguments + 4, ops, 1};
    return true;
}

/* The first places along the last dimension of X, as value RESULT. */
static void first_places(builder *b, int x, int result)
{
    int64_t zeros[SIM_MAX_RANK] = {0}, ones[SIM_MAX_RANK];
    const sim_type *y = sim_reader_type(b->r, result);
    size_t rank = (size_t)y->rank;
    for (size_t i = 0; i < rank; i++)
        ones[i] = 1;
    const sim_attribute attributes[] = {*attribute_of(b, "start_indices", zeros, rank),
                                        *attribute_of(b, "limit_indices", y->dims, rank),
                                        *attribute_of(b, "strides", ones, rank)};
    sim_op op = {.opcode = SIM_OP_SLICE,
                 .attributes = sim_keep(b->r, attributes, 3, sizeof *attributes),
                 .attribute_count = 3};
    build(b, op, &x, 1, NULL, result);
}

/* A stable sort of X along dimension LAST with the places of its elements, largest first; the
 * first of its two results, of TYPES, or -1. */
static int sort_with_places(builder *b, int x, const sim_type *types, int64_t last)
{
    sim_reader *r = b->r;
    sim_op iota = {.opcode = SIM_OP_IOTA, .attribute_count = 1};
    iota.attributes = attribute_of(b, "iota_dimension", &last, 1);
    const int operands[] = {x, build(b, iota, NULL, 0, &types[1], -1)};
    sim_block *region = sim_take(r, sizeof *region);
    const sim_attribute attributes[] = {*attribute_of(b, "dimension", &last, 1),
                                        *attribute_of(b, "is_stable", (const int64_t[]){1}, 1)};
    if (operands[1] < 0 || !larger_first(b, types[0].dtype, region))
        return -1;
    sim_op sort = {.opcode = SIM_OP_SORT,
                   .line = b->o->line,
                   .operand_count = 2,
                   .operands = sim_keep(r, operands, 2, sizeof *operands),
                   .attributes = sim_keep(r, attributes, 2, sizeof *attributes),
                   .attribute_count = 2,
                   .regions = region,
                   .region_count = 1};
    return sim_emit(r, b->o->at, &sort, types, 2);
}

/* Sorts X with places; then the first K of both. */
static void expand_top_k(builder *b, const sim_op *op, int first)
{
    sim_reader *r = b->r;
    sim_type x = *sim_reader_type(r, op->operands[0]), types[2] = {x, x};
    const int64_t last = x.rank - 1, k = sim_attribute_int(op, "k");
    const sim_type *y = sim_reader_type(r, first);
    bool fits = x.rank > 0 && k >= 0 && k <= x.dims[last] && x.dtype != BN_PRED &&
                bn_dtype_class(x.dtype) != BN_COMPLEX && y[0].rank == x.rank &&
                y[0].dims[last] == k && y[1].dtype == BN_S32 && sim_type_same_shape(&y[0], &y[1]);
    if (!fits) {
        sim_reader_fail(r, b->o->at, SIM_INVALID_ARGUMENT,
                        "top_k: types do not fit, or places are not of i32");
        return;
    }
    types[1].dtype = BN_S32;
    int sorted = sort_with_places(b, op->operands[0], types, last);
    for (int i = 0; sorted >= 0 && i < 2; i++)
        first_places(b, sorted + i, first + i);
}

/* ---- all -------------------------------------------------------------------------------- */

int sim_expand(sim_reader *r, const sim_reading *o, const sim_op *op)
{
    static const int wanted[SIM_OP_ALL - SIM_OP_COUNT] = {1, 1, 1, 2, 3, 1, 3};
    builder b = {r, o};
    int count = (int)(r->signature.count - o->signature), x = op->operands[0];
    if (count != wanted[o->code - SIM_OP_COUNT]) {
        sim_reader_fail(r, o->at, SIM_INVALID_ARGUMENT, "%s: %d results, not %d",
                        sim_op_text(o->code), count, wanted[o->code - SIM_OP_COUNT]);
        return -1;
    }
    int first = sim_reader_values(r, r->signature.items + o->signature, count);
    if (o->code == SIM_OP_SQUARE)
        binary_to(&b, SIM_OP_MULTIPLY, x, x, first);
    else if (o->code == SIM_OP_ERFC)
        expand_erfc(&b, x, first);
    else if (o->code == SIM_OP_ERF_INV)
        expand_erf_inv(&b, x, first);
    else if (o->code == SIM_OP_TOP_K)
        expand_top_k(&b, op, first);
    else
        expand_norm(r, o, op, first);
    return r->code == SIM_OK ? first : -1;
}
