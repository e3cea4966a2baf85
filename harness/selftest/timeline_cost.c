/*
 * timeline_cost.c - the cost of a timeline for a step, in a worker: steps with and without one take
 * turns (with, without, without, with), and each kind is timed as rounds.c times steps.
 */
#include "harness/selftest/selftest_priv.h"
#include "harness/worker/worker.h"

#include <stdlib.h>

#define MOST_SPANS  (1 << 19)
#define MOST_STEPS  4096 /* of each kind */
#define LEAST_STEPS 20
#define WARM_STEPS  12

typedef struct timed {
    worker_session session;
    job_experiment experiment;
    bn_timeline *timeline;
    uint64_t ns[2][MOST_STEPS]; /* without, with */
    size_t count[2];
    size_t most_spans, last_spans; /* of a step */
} timed;

/* A step, WITH a timeline or without; *END is its end. */
static bn_code run_step(timed *t, bool with, uint64_t number, uint64_t begin, uint64_t *end,
                        bn_status *st)
{
    bn_ledger ledger;
    const size_t before = bn_timeline_count(t->timeline);
    if (with) {
        bn_timeline_step_begin(t->timeline, BN_STEP_MEASURED, number);
        mode_set_timeline(t->session.mode, t->timeline);
    }
    bn_code code = mode_step(t->session.mode, &t->session.call, &ledger, st);
    if (with) {
        mode_set_timeline(t->session.mode, NULL);
        bn_timeline_step_end(t->timeline, begin, bn_now_ns());
    }
    *end = bn_now_ns();
    const size_t spans = bn_timeline_count(t->timeline) - before;
    t->most_spans = spans > t->most_spans ? spans : t->most_spans;
    t->last_spans = with ? spans : t->last_spans;
    return code;
}

/* Whether there is room for another step with a timeline. */
static bool has_room(const timed *t)
{
    return bn_timeline_count(t->timeline) + 2 * t->most_spans < MOST_SPANS &&
           t->count[1] < MOST_STEPS - 1 && t->count[0] < MOST_STEPS - 1;
}

static bn_code take_turns(timed *t, bn_status *st)
{
    bn_code code = BN_OK;
    const uint64_t start = bn_now_ns();
    uint64_t begin = start, end = start;
    for (uint64_t i = 0; code == BN_OK; i++) {
        const bool with = i % 4 == 0 || i % 4 == 3, warm = i < WARM_STEPS;
        const bool enough = t->count[0] >= LEAST_STEPS && t->count[1] >= LEAST_STEPS &&
                            (double)(end - start) > t->experiment.how.min_time * 1e9;
        if ((enough || !has_room(t)) && i % 4 == 0)
            break;
        worker_send_progress("measuring", (int64_t)i, 0);
        /* Progress does not count. */
        begin = bn_now_ns();
        code = run_step(t, with, i, begin, &end, st);
        if (code == BN_OK && !warm)
            t->ns[with][t->count[with]++] = end - begin;
    }
    if (code == BN_OK && (t->count[0] < LEAST_STEPS || t->count[1] < LEAST_STEPS))
        code = bn_fail(st, BN_NOT_SUPPORTED, "a timeline has room for %zu steps, fewer than %d",
                       t->count[1], LEAST_STEPS);
    return code == BN_OK ? mode_drain(t->session.mode, st) : code;
}

static bn_code measure(timed *t, bn_status *st)
{
    const worker_session_options options = {.precision = TG_PRECISION_DEFAULT};
    bn_code code = bn_timeline_new(MOST_SPANS, &t->timeline, st);
    if (code == BN_OK)
        code = worker_session_begin(&t->session, &t->experiment, st);
    if (code == BN_OK)
        code = worker_session_model(&t->session, &options, st);
    if (code == BN_OK)
        code = take_turns(t, st);
    if (code == BN_OK)
        code = rt_plugin_check_file(t->session.plugin, st);
    if (code == BN_OK)
        worker_send_result(json_pack("{sf sf sI sI}", "without_ns",
                                     res_quantile(t->ns[0], t->count[0], 0.5), "with_ns",
                                     res_quantile(t->ns[1], t->count[1], 0.5), "steps",
                                     (json_int_t)t->count[1], "spans", (json_int_t)t->last_spans));
    return code;
}

bn_code selftest_timeline_job(const json_t *request, bn_status *st)
{
    timed *t = bn_zalloc(1, sizeof *t);
    bn_code code =
        job_experiment_from_json(json_object_get(request, "experiment"), &t->experiment, st);
    if (code == BN_OK)
        code = measure(t, st);
    worker_session_end(&t->session);
    bn_timeline_free(t->timeline);
    free(t);
    return code;
}
