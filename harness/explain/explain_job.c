/*
 * explain_job.c - in a worker: runs and watches a model's first steps.
 */
#include "harness/causes/causes.h"
#include "harness/explain/explain_priv.h"
#include "harness/worker/worker.h"

#include <math.h>

/* LISTS, which is stolen, with the experiment and the findings (new reference). */
static json_t *explanation(const worker_session *s, json_t *lists)
{
    const res_experiment *w = &s->experiment->what;
    json_t *e = json_pack("{si so ss ss so sI si sb}", "bench_explain", 1, "model",
                          res_json_text(w->model), "phase", w->phase, "mode", w->mode, "runtime",
                          res_json_text(w->runtime), "steps", (json_int_t)s->experiment->how.steps,
                          "asked_graphs", (int)w->graphs, "simulated", worker_session_simulated(s));
    json_object_update_new(e, lists);
    json_object_set_new(e, "complaints", cause_findings(e, false));
    return e;
}

bn_code explain_job(const json_t *request, bn_status *st)
{
    const worker_session_options usual = {.precision = TG_PRECISION_DEFAULT};
    job_experiment e;
    worker_session s = {0};
    json_t *lists = NULL, *result = NULL;
    bn_code code = job_experiment_from_json(json_object_get(request, "experiment"), &e, st);
    if (code != BN_OK)
        return code;
    code = worker_session_begin(&s, &e, st);
    if (code == BN_OK)
        code = worker_session_model(&s, &usual, st);
    if (code == BN_OK)
        code = worker_session_explain(&s, e.how.steps, INFINITY, &lists, st);
    if (code == BN_OK)
        code = rt_plugin_check_file(s.plugin, st);
    if (code == BN_OK)
        result = explanation(&s, lists);
    else
        json_decref(lists);
    worker_session_end(&s);
    if (code == BN_OK)
        worker_send_result(result);
    return code;
}
