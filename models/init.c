/*
 * init.c - initial contents from a counter, and contents back in the
 * framework's order.
 *
 * Element i (row-major in the framework's shape) of the tensor called NAME
 * under SEED, in unsigned 64-bit arithmetic:
 *
 *     h = FNV-1a 64 of NAME
 *     x = SplitMix64's finaliser of h + seed * SEED_STEP + (i + 1) * INDEX_STEP
 *     u = (x >> 40) * 2^-24        exact, in [0, 1)
 *     v = 2 * u - 1                exact, in [-1, 1)
 *
 * A fill makes the value from u or v in double; it is rounded once to f32, and
 * from there to bf16 where the tensor is bf16. Any element can be computed
 * alone, so contents do not depend on the order in which the device keeps them.
 */
#include "models/model_priv.h"

#include <math.h>
#include <string.h>

#define SEED_STEP  0xD1B54A32D192ED03u
#define INDEX_STEP 0x9E3779B97F4A7C15u

static uint64_t name_hash(const char *name, uint64_t seed)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001B3u;
    return h + seed * SEED_STEP;
}

static inline double unit(uint64_t hash, uint64_t index)
{
    uint64_t x = hash + (index + 1) * INDEX_STEP;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (double)((x ^ x >> 31) >> 40) * 0x1p-24;
}

double model_unit(const char *name, uint64_t seed, uint64_t index)
{
    return unit(name_hash(name, seed), index);
}

int64_t model_padded_length(int64_t row, int64_t tokens)
{
    return tokens - row % 3 * (tokens / 4);
}

/* ---- fills ------------------------------------------------------------------ */

/* A value is base + scale * what is drawn: nothing, u or v. */
typedef enum draw { DRAW_NONE, DRAW_U, DRAW_V } draw;

/* FAN over 0: scale is sqrt(fan / product of all dimensions but the first). */
static const struct {
    draw draw;
    double base, scale, fan;
} fills[MODEL_FILL_COUNT] = {
    [MODEL_FILL_ZERO] = {DRAW_NONE, 0.0, 0.0, 0.0},
    [MODEL_FILL_CONSTANT] = {DRAW_NONE, 0.0, 0.0, 0.0},
    [MODEL_FILL_W6] = {DRAW_V, 0.0, 0.0, 6.0},
    [MODEL_FILL_W3] = {DRAW_V, 0.0, 0.0, 3.0},
    [MODEL_FILL_EMBEDDING] = {DRAW_V, 0.0, 0.05, 0.0},
    [MODEL_FILL_POSITION] = {DRAW_V, 0.0, 0.02, 0.0},
    [MODEL_FILL_NORM] = {DRAW_V, 1.0, 0.1, 0.0},
    [MODEL_FILL_NORM_RESIDUAL] = {DRAW_V, 0.25, 0.025, 0.0},
    [MODEL_FILL_BIAS] = {DRAW_V, 0.0, 0.1, 0.0},
    [MODEL_FILL_MEAN] = {DRAW_V, 0.0, 0.1, 0.0},
    [MODEL_FILL_VARIANCE] = {DRAW_U, 1.0, 0.5, 0.0},
    [MODEL_FILL_UNIT] = {DRAW_V, 0.0, 1.0, 0.0},
    [MODEL_FILL_IDS] = {DRAW_U, 0.0, 1.0, 0.0},
    [MODEL_FILL_HALF] = {DRAW_NONE, 0.0, 0.0, 0.0},
    [MODEL_FILL_TABLE] = {DRAW_NONE, 0.0, 0.0, 0.0},
    [MODEL_FILL_SEED] = {DRAW_NONE, 0.0, 0.0, 0.0},
};

/* A fill made ready for one variable. */
typedef struct maker {
    const model_variable *variable;
    uint64_t hash, seed;
    draw draw;
    bool whole;   /* round down */
    bool special; /* by position: make_special */
    double base, scale;
} maker;

static maker maker_of(const model_variable *v, uint64_t seed)
{
    maker k = {.variable = v,
               .hash = name_hash(v->name, seed),
               .seed = seed,
               .special = v->mask.sparse || v->mask.padded || v->fill == MODEL_FILL_HALF ||
                          v->fill == MODEL_FILL_TABLE,
               .draw = fills[v->fill].draw,
               .base = fills[v->fill].base,
               .scale = fills[v->fill].scale};
    if (fills[v->fill].fan > 0) {
        double fan = 1;
        for (int i = 1; i < v->shape.rank; i++)
            fan *= (double)v->shape.dims[i];
        k.scale = sqrt(fills[v->fill].fan / fan);
    } else if (v->fill == MODEL_FILL_CONSTANT) {
        k.base = v->fill_low;
    } else if (v->fill == MODEL_FILL_IDS) {
        k.whole = true;
        k.base = v->fill_low;
        k.scale = v->fill_high - v->fill_low;
    }
    return k;
}

static double make_drawn(const maker *k, uint64_t index)
{
    if (k->draw == DRAW_NONE)
        return k->base;
    double u = unit(k->hash, index);
    double product = k->scale * (k->draw == DRAW_U ? u : 2.0 * u - 1.0);
    if (k->whole)
        return k->base + floor(product);
    if (k->base == 0.0)
        return product;
    /* Stored to memory, so that no compiler fuses the product with the sum. */
    volatile double rounded = product;
    return k->base + rounded;
}

/* A value that depends on the element's place: of a table, or of a row of tokens with
 * its mask. */
static double make_special(const maker *k, uint64_t index)
{
    const model_variable *v = k->variable;
    if (v->fill == MODEL_FILL_TABLE)
        return v->table(v, (int64_t)index);
    const int64_t tokens = v->shape.rank == 2 ? v->shape.dims[1] : 1;
    const int64_t row = (int64_t)index / tokens, token = (int64_t)index % tokens;
    const int64_t length =
        v->mask.lengths ? v->mask.lengths[row] : model_padded_length(row, tokens);
    if (v->mask.padded && token >= length)
        return v->mask.pad_value;
    if (v->mask.sparse && token % 7 != 3)
        return v->mask.elsewhere;
    if (v->fill == MODEL_FILL_HALF)
        return token < tokens / 2 ? v->fill_low : v->fill_high;
    return make_drawn(k, index);
}

/* Element INDEX in the framework's order. */
static inline double make(const maker *k, uint64_t index)
{
    return k->special ? make_special(k, index) : make_drawn(k, index);
}

/* ---- order of elements --------------------------------------------------------- */

model_order model_order_of(const model_variable *v)
{
    int64_t strides[TG_MAX_RANK] = {0}, stride = 1;
    model_order o = {.rank = v->shape.rank};
    for (int i = o.rank; i-- > 0; stride *= v->shape.dims[i])
        strides[i] = stride;
    o.elements = stride;
    for (int i = 0; i < o.rank; i++) {
        o.dims[i] = v->shape.dims[v->permutation[i]];
        o.strides[i] = strides[v->permutation[i]];
    }
    if (o.rank == 0) {
        o.rank = 1;
        o.dims[0] = 1;
    }
    return o;
}

int64_t model_order_next(const model_order *o, int64_t at[TG_MAX_RANK], int64_t first)
{
    for (int i = o->rank - 1; i-- > 0;) {
        first += o->strides[i];
        if (++at[i] < o->dims[i])
            return first;
        first -= o->strides[i] * o->dims[i];
        at[i] = 0;
    }
    return first;
}

/* COUNT elements from framework index FIRST in steps of STRIDE, to HOST from
 * element AT. */
static void make_run(const maker *k, tg_dtype dtype, void *host, int64_t at, int64_t first,
                     int64_t stride, int64_t count)
{
    float *f32 = (float *)host + (dtype == TG_F32 ? at : 0);
    uint16_t *bf16 = (uint16_t *)host + (dtype == TG_BF16 ? at : 0);
    int32_t *i32 = (int32_t *)host + (dtype == TG_I32 ? at : 0);
    uint64_t *u64 = (uint64_t *)host + (dtype == TG_U64 ? at : 0);
    uint64_t index = (uint64_t)first;
    for (int64_t i = 0; i < count; i++, index += (uint64_t)stride) {
        if (dtype == TG_F32)
            f32[i] = (float)make(k, index);
        else if (dtype == TG_BF16)
            bf16[i] = bn_to_bf16((float)make(k, index));
        else if (dtype == TG_I32)
            i32[i] = (int32_t)make(k, index);
        else
            u64[i] = k->variable->fill == MODEL_FILL_SEED && index == 0 ? k->seed : 0;
    }
}

bn_code model_initial(const model_variable *v, uint64_t seed, void *host, bn_status *st)
{
    const tg_dtype dtype = v->shape.dtype;
    if (dtype != TG_F32 && dtype != TG_BF16 && dtype != TG_I32 && dtype != TG_U64)
        return bn_fail(st, BN_NOT_SUPPORTED, "%s: no initial contents of dtype %s", v->name,
                       bn_dtype_text(dtype));
    const maker k = maker_of(v, seed);
    const model_order o = model_order_of(v);
    const int64_t run = o.dims[o.rank - 1], stride = o.strides[o.rank - 1];
    int64_t at[TG_MAX_RANK] = {0}, first = 0;
    for (int64_t done = 0; done < o.elements; done += run) {
        make_run(&k, dtype, host, done, first, stride, run);
        first = model_order_next(&o, at, first);
    }
    return BN_OK;
}

void model_to_framework(const model_variable *v, const void *host, double *values)
{
    const model_order o = model_order_of(v);
    const int64_t run = o.dims[o.rank - 1], stride = o.strides[o.rank - 1];
    int64_t at[TG_MAX_RANK] = {0}, first = 0;
    for (int64_t done = 0; done < o.elements; done += run) {
        for (int64_t i = 0; i < run; i++) {
            double value = 0;
            if (v->shape.dtype == TG_F32)
                value = (double)((const float *)host)[done + i];
            else if (v->shape.dtype == TG_BF16)
                value = (double)bn_from_bf16(((const uint16_t *)host)[done + i]);
            else if (v->shape.dtype == TG_I32)
                value = (double)((const int32_t *)host)[done + i];
            else if (v->shape.dtype == TG_U64)
                value = (double)((const uint64_t *)host)[done + i];
            values[first + i * stride] = value;
        }
        first = model_order_next(&o, at, first);
    }
}
