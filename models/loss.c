/*
 * loss.c - cross-entropy over integer classes, and the two ends of an image
 * classifier's step.
 */
#include "models/model_priv.h"

#include <string.h>

tg_tensor *nn_log_softmax(tg_trace *t, tg_tensor *x)
{
    static const int rows = 0;
    if (tg_tensor_type(x)->dtype != TG_F32)
        x = tg_convert(t, x, TG_F32);
    const tg_type type = *tg_tensor_type(x); /* (B, K) */
    /* The maximum only keeps exp in range; its gradient would be zero. */
    tg_tensor *highest = tg_stop_gradient(t, tg_reduce_max(t, x, 1u << 1)); /* (B) */
    x = tg_sub(t, x, tg_broadcast(t, highest, type.rank, type.dims, &rows));
    tg_tensor *sum = tg_reduce_sum(t, tg_exp(t, x), 1u << 1); /* (B) */
    return tg_sub(t, x, tg_broadcast(t, tg_log(t, sum), type.rank, type.dims, &rows));
}

tg_tensor *nn_cross_entropy(tg_trace *t, tg_tensor *logits, tg_tensor *targets)
{
    const int64_t batch = tg_tensor_type(logits)->dims[0];
    tg_tensor *chosen = tg_mul(t, targets, nn_log_softmax(t, logits)); /* (B, K) */
    tg_tensor *total = tg_reduce_sum(t, chosen, 1u << 0 | 1u << 1);    /* () */
    return tg_mul(t, total, tg_scalar(t, TG_F32, -1.0 / (double)batch));
}

tg_tensor *nn_one_hot(tg_trace *t, tg_tensor *labels, int64_t classes)
{
    static const int rows = 0;
    const tg_type *type = tg_tensor_type(labels); /* (B) */
    const tg_type wide = tg_type_make(type->dtype, 2, TG_DIMS(type->dims[0], classes));
    tg_tensor *class = tg_iota(t, &wide, 1);                                 /* (B, K) */
    tg_tensor *label = tg_broadcast(t, labels, wide.rank, wide.dims, &rows); /* (B, K) */
    return tg_convert(t, tg_compare(t, label, class, TG_EQ), TG_F32);
}

/* ---- image classification -------------------------------------------------- */

static tg_tensor *result(model *m, const char *name, tg_dtype dtype, int32_t rank,
                         const int64_t *dims)
{
    return nn_variable(m, &(model_variable){.name = name,
                                            .role = MODEL_RESULT,
                                            .fill = MODEL_FILL_ZERO,
                                            .shape = tg_type_make(dtype, rank, dims)});
}

void nn_classifier_new(model *m, nn_classifier *task, nn_image image, int64_t classes)
{
    const model_options *o = &m->options;
    const int64_t batch = o->batch;
    *task = (nn_classifier){.classes = classes};
    model_variable images = {
        .name = "input",
        .role = MODEL_INPUT,
        .fill = MODEL_FILL_UNIT,
        .shape =
            tg_type_make(o->dtype, 4, TG_DIMS(batch, image.channels, image.height, image.width))};
    if (o->layout == MODEL_NHWC)
        memcpy(images.permutation, (int[]){0, 2, 3, 1}, 4 * sizeof(int));
    task->images = nn_variable(m, &images);

    if (o->train || o->keep_stages) {
        task->labels = nn_variable(m, &(model_variable){.name = "labels",
                                                        .role = MODEL_INPUT,
                                                        .fill = MODEL_FILL_IDS,
                                                        .fill_low = 0,
                                                        .fill_high = (double)classes,
                                                        .shape = tg_type_make(TG_I32, 1, &batch)});
        task->loss = result(m, "loss", TG_F32, 0, NULL);
    }
    if (!o->train || o->keep_stages || o->keep_gradients)
        task->logits = result(m, "logits", o->dtype, 2, TG_DIMS(batch, classes));
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
