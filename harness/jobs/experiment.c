/*
 * experiment.c - one experiment: its title, what "the model's own" comes to, its way to the worker
 * and back as JSON, and what files of its programs are called.
 */
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <string.h>

const job_program_form job_program_forms[JOB_PROGRAM_FORMS] = {
    {"hlo", ".hlo.pb"},
    {"hlo_with_config", ".hlo_with_config.pb"},
    {"mlir", ".optimized.mlir"},
    {"", ".optimized"},
};

void job_program_name(const res_execution *x, const job_program_form *form,
                      char name[JOB_PROGRAM_NAME])
{
    snprintf(name, JOB_PROGRAM_NAME, "%.32s-%.32s%s", x->fingerprint, x->optimized, form->ending);
}

void job_experiment_fill(const model_options *m, res_experiment *w)
{
    w->batch = m->batch;
    w->image = m->image;
    w->seq = m->seq;
    w->depth = m->depth;
    w->context = m->context;
    snprintf(w->layout, sizeof w->layout, "%s", m->layout == MODEL_NCHW ? "nchw" : "nhwc");
}

void job_experiment_resolve(const job_experiment *e, res_experiment *w)
{
    *w = e->what;
    if (e->program)
        return;
    const model_options o = job_model_options(w, w->runtime);
    model *m = NULL;
    bn_status refused = {.code = BN_OK};
    snprintf(w->layout, sizeof w->layout, "%s", o.layout == MODEL_NCHW ? "nchw" : "nhwc");
    if (model_new(w->model, &o, &m, &refused) != BN_OK)
        return;
    job_experiment_fill(model_get_options(m), w);
    model_free(m);
}

void job_experiment_title(const job_experiment *e, char *text, size_t size)
{
    const res_experiment *w = &e->what;
    if (job_is_step(e->program)) {
        snprintf(text, size, "%s %s on %.*s", w->model, w->mode,
                 BN_FIT(w->runtime, 120));
        return;
    }
    if (e->program) {
        snprintf(text, size, "program %s on %.*s", w->model, BN_FIT(w->runtime, 120));
        return;
    }
    bn_text t = {0};
    res_experiment_title(w, &t);
    snprintf(text, size, "%.*s", BN_FIT(t.data, size - 1));
    bn_text_free(&t);
}

/* ---- JSON -------------------------------------------------------------------------- */

json_t *job_experiment_to_json(const job_experiment *e)
{
    return json_pack("{so so sb sO* sO* sO* sO*}", "what", res_experiment_to_json(&e->what), "how",
                     job_measure_to_json(&e->how), "compile_anew", e->compile_anew, "echo", e->echo,
                     "program", e->program, "suite", e->suite, "comparison", e->comparison);
}

bn_code job_experiment_from_json(const json_t *json, job_experiment *e, bn_status *st)
{
    json_t *what = NULL, *how = NULL;
    int compile_anew = 0;
    json_error_t error;
    *e = (job_experiment){0};
    if (json_unpack_ex((json_t *)(uintptr_t)json, &error, 0, "{so so sb s?o s?o s?o s?o}", "what",
                       &what, "how", &how, "compile_anew", &compile_anew, "echo", &e->echo,
                       "program", &e->program, "suite", &e->suite, "comparison",
                       &e->comparison) != 0)
        return bn_fail(st, BN_FORMAT, "the worker's request: %s", error.text);
    e->compile_anew = compile_anew;
    bn_code code = job_measure_from_json(how, &e->how, st);
    if (code == BN_OK)
        code = res_experiment_from_json(what, &e->what, st);
    return code == BN_OK ? BN_OK : bn_context(st, "the worker's request");
}
