/*
 * loss.c - cross-entropy over integer classes, and the two ends of a classifier's
 * step.
 */
#include "models/nn/nn.h"

#include <string.h>

/* The dimensions of a tensor without its last one, in place. */
static const int leading[TG_MAX_RANK] = {0, 1, 2, 3, 4, 5};

/* X less each row's maximum, f32; *TYPE is the result's. The maximum only keeps
 * exp in range; its gradient would be zero. */
static tg_tensor *below_highest(tg_trace *t, tg_tensor *x, tg_type *type)
{
    if (tg_tensor_type(x)->dtype != TG_F32)
        x = tg_convert(t, x, TG_F32);
    *type = *tg_tensor_type(x); /* (..., K) */
    tg_tensor *highest = tg_stop_gradient(t, tg_reduce_max(t, x, 1u << (type->rank - 1)));
    return tg_sub(t, x, tg_broadcast(t, highest, type->rank, type->dims, leading));
}

tg_tensor *nn_softmax(tg_trace *t, tg_tensor *x)
{
    tg_type type;
    x = tg_exp(t, below_highest(t, x, &type));                   /* (..., K) */
    tg_tensor *sum = tg_reduce_sum(t, x, 1u << (type.rank - 1)); /* (...) */
    return tg_div(t, x, tg_broadcast(t, sum, type.rank, type.dims, leading));
}

tg_tensor *nn_log_softmax(tg_trace *t, tg_tensor *x)
{
    tg_type type;
    x = below_highest(t, x, &type);
    tg_tensor *sum = tg_reduce_sum(t, tg_exp(t, x), 1u << (type.rank - 1)); /* (...) */
    return tg_sub(t, x, tg_broadcast(t, tg_log(t, sum), type.rank, type.dims, leading));
}

tg_tensor *nn_cross_entropy(tg_trace *t, tg_tensor *logits, tg_tensor *targets)
{
    const int64_t batch = tg_tensor_type(logits)->dims[0];
    tg_tensor *chosen = tg_mul(t, targets, nn_log_softmax(t, logits)); /* (B, K) */
    tg_tensor *total = tg_reduce_sum(t, chosen, 1u << 0 | 1u << 1);    /* () */
    return tg_mul(t, total, tg_scalar(t, TG_F32, -1.0 / (double)batch));
}

/* Where the last dimension's index is LABELS' value: bool (..., CLASSES). */
static tg_tensor *is_label(tg_trace *t, tg_tensor *labels, int64_t classes)
{
    tg_type wide = *tg_tensor_type(labels); /* (...) */
    wide.dims[wide.rank++] = classes;
    tg_tensor *class = tg_iota(t, &wide, wide.rank - 1);                       /* (..., K) */
    tg_tensor *label = tg_broadcast(t, labels, wide.rank, wide.dims, leading); /* (..., K) */
    return tg_compare(t, label, class, TG_EQ);
}

tg_tensor *nn_one_hot(tg_trace *t, tg_tensor *labels, int64_t classes)
{
    return tg_convert(t, is_label(t, labels, classes), TG_F32);
}

tg_tensor *nn_token_loss(tg_trace *t, tg_tensor *logp, tg_tensor *labels, int ignored,
                         double smoothing)
{
    const tg_type type = *tg_tensor_type(logp), *rows = tg_tensor_type(labels);
    const int64_t classes = type.dims[type.rank - 1];
    const unsigned last = 1u << (type.rank - 1), all_rows = last - 1u;
    tg_tensor *zero = tg_scalar(t, TG_F32, 0.0);
    tg_tensor *counted = /* (...) */
        tg_compare(t, labels, tg_scalar(t, rows->dtype, ignored), TG_NE);
    tg_tensor *at_label = tg_select(t, is_label(t, labels, classes), logp, zero);
    tg_tensor *row = tg_reduce_sum(t, at_label, last); /* (...): logp[label] */
    if (smoothing > 0) {
        tg_tensor *mean = tg_mul(t, tg_reduce_sum(t, logp, last),
                                 tg_scalar(t, TG_F32, smoothing / (double)classes));
        row = tg_add(t, tg_mul(t, row, tg_scalar(t, TG_F32, 1.0 - smoothing)), mean);
    }
    tg_tensor *total = tg_reduce_sum(t, tg_select(t, counted, row, zero), all_rows);
    tg_tensor *count = tg_reduce_sum(t, tg_convert(t, counted, TG_F32), all_rows);
    return tg_neg(t, tg_div(t, total, count)); /* () */
}

/* ---- classification of rows -------------------------------------------------- */

void nn_row_classifier_new(model *m, nn_classifier *task, int64_t classes)
{
    const model_options *o = &m->options;
    *task = (nn_classifier){.classes = classes};
    if (nn_wants_loss(m))
        task->labels = nn_row_labels(m, "labels", MODEL_FILL_IDS, 0, (double)classes);
    task->loss = nn_loss_result(m);
    if (nn_wants_outputs(m))
        task->logits = nn_result(m, "logits", o->dtype, 2, TG_DIMS(o->batch, classes));
}

void nn_classifier_new(model *m, nn_classifier *task, nn_image image, int64_t classes)
{
    const model_options *o = &m->options;
    model_variable images = {
        .name = "input",
        .role = MODEL_INPUT,
        .fill = MODEL_FILL_UNIT,
        .shape = tg_type_make(o->dtype, 4,
                              TG_DIMS(o->batch, image.channels, image.height, image.width))};
    if (o->layout == MODEL_NHWC)
        memcpy(images.permutation, (int[]){0, 2, 3, 1}, 4 * sizeof(int));
    tg_tensor *input = nn_variable(m, &images);
    nn_row_classifier_new(m, task, classes);
    task->images = input;
}

tg_tensor *nn_classifier_targets(tg_trace *t, const nn_classifier *task)
{
    if (!task->labels)
        return NULL;
    tg_phase before = tg_trace_phase(t, TG_PHASE_INPUT);
    tg_scope_push(t, "targets");
    tg_tensor *targets = nn_one_hot(t, task->labels, task->classes); /* (B, classes) */
    tg_scope_pop(t);
    tg_trace_phase(t, before);
    return targets;
}

tg_tensor *nn_classifier_end(tg_trace *t, const nn_classifier *task, tg_tensor *logits,
                             tg_tensor *targets)
{
    nn_keep(t, task->logits, logits);
    if (!targets)
        return NULL;
    tg_scope_push(t, "loss");
    tg_tensor *loss = nn_cross_entropy(t, logits, targets); /* () */
    tg_scope_pop(t);
    return nn_keep(t, task->loss, loss);
}
