/*
 * evaluate_contract.c - the evaluator's rules for dot, convolution, windows and
 * batch normalisation.
 */
#include "runtime/graph/op_attributes.h"
#include "tests/support/evaluator.h"

#include <math.h>
#include <string.h>

static const tg_type *result_type(const tg_node *node)
{
    return &node->results[0].type;
}

/* ---- dot -------------------------------------------------------------------------- */

/* Which result dimension each free dimension of X stands for, from FIRST; -1 for
 * batch and contracted ones. Returns the first after them. */
static int32_t free_dims(const tg_type *x, const int32_t *batch, int32_t batch_count,
                         const int32_t *contract, int32_t contract_count, int32_t first,
                         int32_t *of)
{
    for (int32_t d = 0; d < x->rank; d++) {
        bool taken = false;
        for (int32_t i = 0; i < batch_count; i++)
            taken |= batch[i] == d;
        for (int32_t i = 0; i < contract_count; i++)
            taken |= contract[i] == d;
        of[d] = taken ? -1 : first++;
    }
    return first;
}

static void dot(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_dot_dims *d = &((const tg_dot_attributes *)node->attributes)->dims;
    const tg_type *a = tg_operand_type(node, 0), *b = tg_operand_type(node, 1);
    const tg_type *y = result_type(node);
    int32_t of_a[TG_MAX_RANK], of_b[TG_MAX_RANK];
    int32_t next = free_dims(a, d->batch_a, d->batch_count, d->contract_a, d->contract_count,
                             d->batch_count, of_a);
    free_dims(b, d->batch_b, d->batch_count, d->contract_b, d->contract_count, next, of_b);
    int64_t sizes[TG_MAX_RANK] = {0};
    for (int32_t i = 0; i < d->contract_count; i++)
        sizes[i] = a->dims[d->contract_a[i]];
    int64_t at[TG_MAX_RANK] = {0};
    for (int64_t i = 0; i < tg_type_elements(y); i++, evaluator_next(at, y->dims, y->rank)) {
        int64_t at_a[TG_MAX_RANK] = {0}, at_b[TG_MAX_RANK] = {0}, k[TG_MAX_RANK] = {0};
        for (int32_t j = 0; j < d->batch_count; j++)
            at_a[d->batch_a[j]] = at_b[d->batch_b[j]] = at[j];
        for (int32_t j = 0; j < a->rank; j++)
            if (of_a[j] >= 0)
                at_a[j] = at[of_a[j]];
        for (int32_t j = 0; j < b->rank; j++)
            if (of_b[j] >= 0)
                at_b[j] = at[of_b[j]];
        double sum = 0;
        do {
            for (int32_t j = 0; j < d->contract_count; j++)
                at_a[d->contract_a[j]] = at_b[d->contract_b[j]] = k[j];
            sum += in[0][evaluator_place(a, at_a)] * in[1][evaluator_place(b, at_b)];
        } while (evaluator_next(k, sizes, d->contract_count));
        out[0][i] = sum;
    }
}

/* ---- convolution -------------------------------------------------------------------- */

/* The operand coordinate that kernel element K meets at window PLACE in spatial
 * dimension S; -1 for padding and for the zeros of dilation. */
static int64_t met(const tg_conv_dims *c, int s, int64_t place, int64_t k, int64_t size)
{
    int64_t at = place * c->stride[s] + k * c->rhs_dilation[s] - c->pad_low[s];
    if (at < 0 || at % c->lhs_dilation[s] != 0 || at / c->lhs_dilation[s] >= size)
        return -1;
    return at / c->lhs_dilation[s];
}

/* The result element at AT: batch groups split the batch and the output
 * features, feature groups the features of both sides. */
static double convolved(const tg_node *node, const double *const *in, const int64_t *at)
{
    const tg_conv_dims *c = &((const tg_conv_attributes *)node->attributes)->dims;
    const tg_type *x = tg_operand_type(node, 0), *w = tg_operand_type(node, 1);
    const tg_type *y = result_type(node);
    int64_t out_features = w->dims[c->rhs[1]], in_features = w->dims[c->rhs[0]];
    int64_t out = at[c->out[1]];
    int64_t group = out / (out_features / c->groups);
    int64_t batch_group = out / (out_features / c->batch_groups);
    int64_t at_x[4], at_w[4];
    double sum = 0;
    at_x[c->lhs[0]] = batch_group * y->dims[c->out[0]] + at[c->out[0]];
    at_w[c->rhs[1]] = out;
    for (int64_t f = 0; f < in_features; f++)
        for (int64_t i = 0; i < w->dims[c->rhs[2]]; i++)
            for (int64_t j = 0; j < w->dims[c->rhs[3]]; j++) {
                at_x[c->lhs[1]] = group * in_features + f;
                at_x[c->lhs[2]] = met(c, 0, at[c->out[2]], i, x->dims[c->lhs[2]]);
                at_x[c->lhs[3]] = met(c, 1, at[c->out[3]], j, x->dims[c->lhs[3]]);
                at_w[c->rhs[0]] = f;
                at_w[c->rhs[2]] = i;
                at_w[c->rhs[3]] = j;
                if (at_x[c->lhs[2]] >= 0 && at_x[c->lhs[3]] >= 0)
                    sum += in[0][evaluator_place(x, at_x)] * in[1][evaluator_place(w, at_w)];
            }
    return sum;
}

static void convolution(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_type *y = result_type(node);
    int64_t at[TG_MAX_RANK] = {0};
    for (int64_t i = 0; i < tg_type_elements(y); i++, evaluator_next(at, y->dims, y->rank))
        out[0][i] = convolved(node, in, at);
}

/* ---- windows ---------------------------------------------------------------------- */

/* Where element K of the window at PLACE lies in X; false in the padding. */
static bool window_element(const tg_type *x, const tg_window *w, const int64_t *place,
                           const int64_t *k, int64_t *at)
{
    for (int32_t d = 0; d < x->rank; d++) {
        at[d] = place[d] * w->stride[d] + k[d] - w->pad_low[d];
        if (at[d] < 0 || at[d] >= x->dims[d])
            return false;
    }
    return true;
}

static void window_sizes(const tg_type *x, const tg_window *w, int64_t *sizes)
{
    for (int32_t d = 0; d < x->rank; d++)
        sizes[d] = w->size[d];
}

static void window_reduce(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_window *w = &((const tg_window_attributes *)node->attributes)->window;
    const tg_type *x = tg_operand_type(node, 0), *y = result_type(node);
    bool sum = strcmp(node->op->name, "window_sum") == 0;
    int64_t sizes[TG_MAX_RANK], place[TG_MAX_RANK] = {0}, at[TG_MAX_RANK];
    window_sizes(x, w, sizes);
    for (int64_t i = 0; i < tg_type_elements(y); i++, evaluator_next(place, y->dims, y->rank)) {
        int64_t k[TG_MAX_RANK] = {0};
        out[0][i] = sum ? 0 : x->dtype == TG_I32 ? INT32_MIN : -INFINITY;
        do {
            if (!window_element(x, w, place, k, at))
                continue;
            double element = in[0][evaluator_place(x, at)];
            out[0][i] = sum ? out[0][i] + element : fmax(out[0][i], element);
        } while (evaluator_next(k, sizes, x->rank));
    }
}

static void scatter(const tg_node *node, const double *const *in, double *const *out)
{
    const tg_window *w = &((const tg_window_attributes *)node->attributes)->window;
    const tg_type *x = tg_operand_type(node, 0), *source = tg_operand_type(node, 1);
    int64_t sizes[TG_MAX_RANK], place[TG_MAX_RANK] = {0}, at[TG_MAX_RANK];
    window_sizes(x, w, sizes);
    for (int64_t i = tg_type_elements(x); i-- > 0;)
        out[0][i] = 0;
    for (int64_t i = 0; i < tg_type_elements(source);
         i++, evaluator_next(place, source->dims, source->rank)) {
        int64_t k[TG_MAX_RANK] = {0}, best = -1;
        do {
            if (!window_element(x, w, place, k, at))
                continue;
            int64_t here = evaluator_place(x, at);
            if (best < 0 || in[0][here] > in[0][best])
                best = here;
        } while (evaluator_next(k, sizes, x->rank));
        if (best >= 0)
            out[0][best] += in[1][i];
    }
}

/* ---- batch normalisation -------------------------------------------------------------- */

/* The layout of an operand as (outer, feature, inner). */
typedef struct channels {
    int64_t outer, count, inner;
    double epsilon;
} channels;

static channels channels_of(const tg_node *node)
{
    const tg_norm_attributes *a = node->attributes;
    const tg_type *x = tg_operand_type(node, 0);
    channels c = {1, x->dims[a->feature], 1, 0};
    for (int32_t d = 0; d < x->rank; d++)
        if (d < a->feature)
            c.outer *= x->dims[d];
        else if (d > a->feature)
            c.inner *= x->dims[d];
    memcpy(&c.epsilon, &a->epsilon, sizeof c.epsilon);
    return c;
}

/* Element I of the N of feature F. */
static int64_t channel_place(const channels *c, int64_t f, int64_t i)
{
    return (i / c->inner * c->count + f) * c->inner + i % c->inner;
}

static void norm_training(const tg_node *node, const double *const *in, double *const *out)
{
    channels c = channels_of(node);
    int64_t n = c.outer * c.inner;
    for (int64_t f = 0; f < c.count; f++) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < n; i++)
            mean += in[0][channel_place(&c, f, i)] / (double)n;
        for (int64_t i = 0; i < n; i++)
            variance += pow(in[0][channel_place(&c, f, i)] - mean, 2) / (double)n;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = channel_place(&c, f, i);
            out[0][at] = (in[0][at] - mean) / sqrt(variance + c.epsilon) * in[1][f] + in[2][f];
        }
        out[1][f] = mean;
        out[2][f] = variance;
    }
}

static void norm_inference(const tg_node *node, const double *const *in, double *const *out)
{
    channels c = channels_of(node);
    for (int64_t f = 0; f < c.count; f++)
        for (int64_t i = 0; i < c.outer * c.inner; i++) {
            int64_t at = channel_place(&c, f, i);
            out[0][at] = (in[0][at] - in[3][f]) / sqrt(in[4][f] + c.epsilon) * in[1][f] + in[2][f];
        }
}

/* Operands: x, scale, mean, variance, gradient of the output. */
static void norm_grad(const tg_node *node, const double *const *in, double *const *out)
{
    channels c = channels_of(node);
    int64_t n = c.outer * c.inner;
    for (int64_t f = 0; f < c.count; f++) {
        double r = 1 / sqrt(in[3][f] + c.epsilon), sum = 0, correlation = 0;
        for (int64_t i = 0; i < n; i++) {
            int64_t at = channel_place(&c, f, i);
            sum += in[4][at];
            correlation += in[4][at] * (in[0][at] - in[2][f]) * r;
        }
        for (int64_t i = 0; i < n; i++) {
            int64_t at = channel_place(&c, f, i);
            double normal = (in[0][at] - in[2][f]) * r;
            out[0][at] =
                in[1][f] * r * (in[4][at] - sum / (double)n - normal * correlation / (double)n);
        }
        out[1][f] = correlation;
        out[2][f] = sum;
    }
}

const evaluator_row evaluator_contract_rows[] = {
    {"dot", dot},
    {"convolution", convolution},
    {"window_max", window_reduce},
    {"window_sum", window_reduce},
    {"select_and_scatter", scatter},
    {"batch_norm_training", norm_training},
    {"batch_norm_inference", norm_inference},
    {"batch_norm_grad", norm_grad},
    {NULL, NULL},
};
