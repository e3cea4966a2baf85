/*
 * explain_job.c - in a worker: a model's first steps are run and watched.
 */
#include "harness/explain/explain_priv.h"

#include <stdlib.h>

static bn_code begin(explain_state *s, const json_t *request, bn_status *st)
{
    json_t **const lists[] = {&s->graphs, &s->recompiles, &s->breaks,
                              &s->reads,  &s->host_ops,   &s->misses};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        *lists[i] = json_array();
    s->step_reads = json_object();
    return job_experiment_from_json(json_object_get(request, "experiment"), &s->experiment, st);
}

static bn_code run_steps(explain_state *s, bn_status *st)
{
    const worker_session_options usual = {.precision = TG_PRECISION_DEFAULT};
    bn_code code = worker_session_begin(&s->session, &s->experiment, st);
    if (code == BN_OK)
        code = worker_session_model(&s->session, &usual, st);
    if (code == BN_OK)
        explain_watch(s);
    for (s->step = 1; code == BN_OK && s->step <= s->experiment.steps; s->step++) {
        worker_send_progress("explaining", s->step - 1, s->experiment.steps);
        s->position = 0;
        json_object_clear(s->step_reads);
        code = mode_step(s->session.mode, &s->session.call, NULL, st);
        if (code == BN_OK)
            explain_note_runs(s);
        if (s->failed)
            code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for what steps tell");
    }
    return code == BN_OK ? mode_drain(s->session.mode, st) : code;
}

static json_t *counters_json(const mode *m)
{
    json_t *object = json_object();
    for (int i = 0; i < BN_COUNTER_COUNT; i++)
        json_object_set_new(object, bn_counter_name((bn_counter)i),
                            json_integer((json_int_t)mode_counters(m)[i]));
    return object;
}

/* The explanation (new reference). */
static json_t *explanation(const explain_state *s)
{
    const res_experiment *w = &s->experiment.what;
    size_t captures;
    json_t *guards = explain_guards(s, &captures);
    json_t *e = json_pack(
        "{si so ss ss so sI si sb sO so sI sO sO sO sO sO so}", "bench_explain", 1, "model",
        res_json_text(w->model), "phase", w->phase, "mode", w->mode, "runtime",
        res_json_text(w->runtime), "steps", (json_int_t)s->experiment.steps, "asked_graphs",
        (int)w->graphs, "simulated", worker_session_simulated(&s->session), "graphs", s->graphs,
        "guards", guards, "captures", (json_int_t)captures, "guard_misses", s->misses, "breaks",
        s->breaks, "recompiles", s->recompiles, "reads", s->reads, "host_ops", s->host_ops,
        "counters", counters_json(s->session.mode));
    json_object_set_new(e, "complaints", explain_complaints(e));
    return e;
}

static void end(explain_state *s)
{
    json_t *const lists[] = {s->graphs,   s->recompiles, s->breaks,    s->reads,
                             s->host_ops, s->misses,     s->step_reads};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        json_decref(lists[i]);
    for (size_t i = 0; i < s->last_count; i++)
        explain_graph_free(&s->last[i]);
    free(s->last);
}

bn_code explain_job(const json_t *request, bn_status *st)
{
    explain_state s = {0};
    json_t *result = NULL;
    bn_code code = begin(&s, request, st);
    if (code == BN_OK)
        code = run_steps(&s, st);
    if (code == BN_OK)
        code = rt_plugin_check_file(s.session.plugin, st);
    if (code == BN_OK)
        result = explanation(&s);
    worker_session_end(&s.session);
    if (code == BN_OK)
        worker_send_result(result);
    end(&s);
    return code;
}
