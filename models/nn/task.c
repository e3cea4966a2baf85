/*
 * task.c - the two ends of a step: the batch's tensors, and its results and loss.
 */
#include "models/nn/nn.h"

#include <string.h>

#define NO_LABEL (-100) /* of a token that PyTorch's cross-entropy leaves out */

/* ---- classification of rows ---------------------------------------------------- */

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

/* ---- causal language models ------------------------------------------------------ */

void nn_causal_new(model *m, nn_causal *task, int vocabulary)
{
    const model_options *o = &m->options;
    model_variable ids = {.name = "input_ids", .fill = MODEL_FILL_IDS, .fill_high = vocabulary};
    task->tokens = nn_tokens(m, &ids, false);
    ids.name = "labels";
    task->labels = nn_wants_loss(m) ? nn_tokens(m, &ids, false) : NULL;
    task->loss = nn_loss_result(m);
    task->logits = nn_wants_outputs(m) ? nn_result(m, "logits", o->dtype, 3,
                                                   TG_DIMS(o->batch, nn_step_tokens(m), vocabulary))
                                       : NULL;
    task->decode = (nn_decode){0};
    if (o->decode)
        nn_decode_new(m, &task->decode);
}

tg_tensor *nn_causal_tokens(tg_trace *t, const nn_causal *task)
{
    return task->decode.position ? nn_decode_token(t, &task->decode, task->tokens) : task->tokens;
}

tg_tensor *nn_causal_end(tg_trace *t, const nn_causal *task, tg_tensor *logits)
{
    nn_keep(t, task->logits, logits);
    if (task->decode.position)
        nn_decode_end(t, &task->decode, task->tokens, logits);
    if (!task->labels)
        return NULL;
    tg_scope_push(t, "loss");
    tg_tensor *loss = nn_token_loss(t, nn_log_softmax(t, logits), task->labels, NO_LABEL, 0.0);
    tg_scope_pop(t);
    return nn_keep(t, task->loss, loss);
}
