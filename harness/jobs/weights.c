/*
 * weights.c - --weights: a file of tensors against the models that are to start from it.
 */
#include "harness/jobs/jobs.h"

bn_code job_weights_open(const char *file, const model *instance, model_weights **weights,
                         bn_status *st)
{
    model_weights *w = NULL;
    bn_code code = model_weights_open(file, &w, st);
    if (code == BN_OK)
        code = model_weights_fit(w, instance, st);
    if (code != BN_OK) {
        model_weights_close(w);
        return bn_context(st, "--weights");
    }
    *weights = w;
    return BN_OK;
}

/* What decides over names and shapes of an experiment's variables. */
static bn_code check_one(const res_experiment *what, const char *file, bn_status *st)
{
    model_options o = job_model_options(what, what->runtime);
    model *m = NULL;
    model_weights *w = NULL;
    bn_status refused = {.code = BN_OK};
    /* Options that the model refuses are the experiment's failure, not the file's. */
    if (model_new(what->model, &o, &m, &refused) != BN_OK)
        return BN_OK;
    bn_code code = job_weights_open(file, m, &w, st);
    model_weights_close(w);
    model_free(m);
    return code;
}

/* Whether A and B have the same parameters by name and shape. */
static bool same_network(const res_experiment *a, const res_experiment *b)
{
    bool same = a->image == b->image;
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].network)
            same = same && res_axis_order(&res_axes[i], a, b) == 0;
    return same;
}

bn_code job_weights_check(const job_experiment *list, size_t count, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < count && code == BN_OK && list[i].weights; i++) {
        const res_experiment *a = &list[i].what, *b = i ? &list[i - 1].what : NULL;
        if (!b || !same_network(a, b))
            code = check_one(a, list[i].weights, st);
    }
    return code;
}
