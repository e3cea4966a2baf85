/*
 * causal.c - the two ends of a causal language model's step: tokens and labels,
 * logits and loss.
 */
#include "models/causal_priv.h"
#include "models/model_priv.h"

#define NO_LABEL (-100) /* what PyTorch's cross-entropy leaves out */

void model_causal_new(model *m, causal_task *task, int vocabulary)
{
    const model_options *o = &m->options;
    model_variable ids = {.name = "input_ids", .fill = MODEL_FILL_IDS, .fill_high = vocabulary};
    task->tokens = nn_tokens(m, &ids, false);
    ids.name = "labels";
    task->labels = nn_wants_loss(m) ? nn_tokens(m, &ids, false) : NULL;
    task->loss = nn_loss_result(m);
    task->logits = nn_wants_outputs(m)
                       ? nn_result(m, "logits", o->dtype, 3, TG_DIMS(o->batch, o->seq, vocabulary))
                       : NULL;
}

tg_tensor *model_causal_end(tg_trace *t, const causal_task *task, tg_tensor *logits)
{
    nn_keep(t, task->logits, logits);
    if (!task->labels)
        return NULL;
    tg_scope_push(t, "loss");
    tg_tensor *loss = nn_token_loss(t, nn_log_softmax(t, logits), task->labels, NO_LABEL, 0.0);
    tg_scope_pop(t);
    return nn_keep(t, task->loss, loss);
}
