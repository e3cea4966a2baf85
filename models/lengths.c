/*
 * lengths.c - batches whose rows differ in length: draws the lengths and gives the
 * variables their shapes.
 */
#include "models/model_priv.h"

#include <math.h>

#define LEAST_TOKENS  4
#define MEDIAN_SHARE  0.5 /* of seq: the median length of source rows */
#define SOURCE_SPREAD 0.5
#define TARGET_SPREAD 0.15

/* A standard normal number from the counter rule (Box and Muller, 1958). */
static double normal(const char *name, uint64_t seed, uint64_t index)
{
    const double two_pi = 6.283185307179586;
    double u = model_unit(name, seed, 2 * index), angle = model_unit(name, seed, 2 * index + 1);
    return sqrt(-2.0 * log(1.0 - u)) * cos(two_pi * angle); /* 1 - u is above 0 */
}

static int32_t within(double tokens, int most)
{
    const int least = most < LEAST_TOKENS ? 1 : LEAST_TOKENS;
    return (int32_t)fmin(fmax(round(tokens), (double)least), (double)most);
}

/* Draws the lengths of the rows of batch NUMBER; LONGEST gets the longest of each kind. */
static void draw(model *m, uint64_t number, int32_t longest[MODEL_LENGTH_COUNT])
{
    const model_options *o = &m->options;
    for (int row = 0; row < o->batch; row++) {
        const uint64_t index = number * (uint64_t)o->batch + (uint64_t)row;
        const double source =
            MEDIAN_SHARE * o->seq * exp(SOURCE_SPREAD * normal("lengths/source", o->seed, index));
        const double ratio = exp(TARGET_SPREAD * normal("lengths/target", o->seed, index));
        m->lengths[MODEL_LENGTH_SOURCE][row] = within(source, o->seq);
        m->lengths[MODEL_LENGTH_TARGET][row] = within(source * ratio, o->seq);
        for (int k = MODEL_LENGTH_SOURCE; k < MODEL_LENGTH_COUNT; k++)
            if (m->lengths[k][row] > longest[k])
                longest[k] = m->lengths[k][row];
    }
}

/* The smallest of BUCKETS lengths that is not below TOKENS. */
static int32_t bucket_of(int32_t tokens, int most, int buckets)
{
    for (int i = 1; i <= buckets; i++) {
        const int32_t bound = (int32_t)(((int64_t)most * i + buckets - 1) / buckets);
        if (bound >= tokens)
            return bound;
    }
    return most;
}

bn_code model_draw_batch(model *m, uint64_t number, int buckets, bn_status *st)
{
    int32_t longest[MODEL_LENGTH_COUNT] = {0};
    if (!m->row->varies)
        return bn_fail(st, BN_INVALID, "%s: rows of one length only", m->row->name);
    for (int k = 0; k < MODEL_LENGTH_COUNT; k++)
        if (!m->lengths[k])
            m->lengths[k] =
                bn_arena_zalloc(m->arena, (size_t)m->options.batch * sizeof *m->lengths[k]);
    draw(m, number, longest);
    if (buckets > 0) {
        int32_t both = longest[MODEL_LENGTH_SOURCE];
        both = longest[MODEL_LENGTH_TARGET] > both ? longest[MODEL_LENGTH_TARGET] : both;
        both = bucket_of(both, m->options.seq, buckets);
        longest[MODEL_LENGTH_SOURCE] = longest[MODEL_LENGTH_TARGET] = both;
    }
    for (size_t i = 0; i < m->variable_count; i++) {
        model_variable *v = &m->variables[i];
        if (v->length == MODEL_LENGTH_FIXED)
            continue;
        v->shape.dims[1] = longest[v->length];
        v->mask.padded = v->role == MODEL_INPUT;
        v->mask.lengths = m->lengths[v->length];
        tg_variable_retype(v->tensor, &v->shape);
    }
    return BN_OK;
}
