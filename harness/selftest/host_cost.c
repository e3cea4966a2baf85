/*
 * host_cost.c - the host's cost of a step without the plugin's own Execute call. Bench measures
 * differences between modes, so its own share of them must be small and known.
 *
 * Both modes run in one worker on one client and take turns, step by step: a disturbance of the
 * machine hits both. This file is the worker's half; limits and table are in
 * selftest_host_cost.c.
 */
#include "harness/selftest/selftest.h"
#include "harness/worker/worker.h"

#include <stdio.h>
#include <stdlib.h>

#define ROUNDS       25
#define WARM_ROUNDS  8
#define LOWER_ROUNDS 25

enum { LAZY, CAPTURE, SIDES };

/* Figures in nanoseconds, a row of ROUNDS samples each; members of the result. */
typedef enum figure {
    LAZY_TRACE,
    LAZY_HASH,
    LAZY_LOOKUP,
    LAZY_BIND,
    LAZY_HOST,
    LAZY_EXECUTE,
    LAZY_RELEASE,
    REPLAY_GUARDS,
    REPLAY_BIND,
    REPLAY_OTHER,
    REPLAY_HOST,
    REPLAY_EXECUTE,
    REPLAY_RELEASE,
    LOWERING,
    FIGURES
} figure;

static const char *const names[FIGURES] = {
    [LAZY_TRACE] = "lazy_trace",         [LAZY_HASH] = "lazy_hash",
    [LAZY_LOOKUP] = "lazy_lookup",       [LAZY_BIND] = "lazy_bind",
    [LAZY_HOST] = "lazy_host",           [LAZY_EXECUTE] = "lazy_execute",
    [LAZY_RELEASE] = "lazy_release",     [REPLAY_GUARDS] = "replay_guards",
    [REPLAY_BIND] = "replay_bind",       [REPLAY_OTHER] = "replay_other",
    [REPLAY_HOST] = "replay_host",       [REPLAY_EXECUTE] = "replay_execute",
    [REPLAY_RELEASE] = "replay_release", [LOWERING] = "lowering",
};

typedef struct measured {
    worker_session side[SIDES];
    job_experiment experiment[SIDES];
    uint64_t samples[FIGURES][ROUNDS];
    size_t text_bytes;
} measured;

/* ---- measuring ----------------------------------------------------------------- */

static bn_code prepare(measured *m, bn_status *st)
{
    const worker_session_options options = {.precision = TG_PRECISION_DEFAULT};
    static const char *const modes[SIDES] = {"lazy", "capture"};
    bn_code code = BN_OK;
    for (int i = 0; i < SIDES && code == BN_OK; i++) {
        m->experiment[i] = m->experiment[LAZY];
        snprintf(m->experiment[i].what.mode, sizeof m->experiment[i].what.mode, "%s", modes[i]);
        m->side[i] = m->side[LAZY]; /* the client is shared */
        m->side[i].experiment = &m->experiment[i];
        m->side[i].instance = NULL;
        m->side[i].mode = NULL;
        code = worker_session_model(&m->side[i], &options, st);
        if (code != BN_OK)
            bn_context(st, "%s", modes[i]);
    }
    return code;
}

static void keep_samples(measured *m, size_t round, const bn_ledger *lazy, const bn_ledger *replay)
{
    const uint64_t *a = lazy->part_ns, *b = replay->part_ns;
    m->samples[LAZY_TRACE][round] = a[BN_PART_TRACE];
    m->samples[LAZY_HASH][round] = a[BN_PART_HASH];
    m->samples[LAZY_LOOKUP][round] = a[BN_PART_LOOKUP];
    m->samples[LAZY_BIND][round] = a[BN_PART_BIND];
    m->samples[LAZY_HOST][round] =
        a[BN_PART_TRACE] + a[BN_PART_HASH] + a[BN_PART_LOOKUP] + a[BN_PART_BIND];
    m->samples[LAZY_EXECUTE][round] = a[BN_PART_DISPATCH];
    m->samples[LAZY_RELEASE][round] = a[BN_PART_RELEASE];
    m->samples[REPLAY_GUARDS][round] = b[BN_PART_HASH];
    m->samples[REPLAY_BIND][round] = b[BN_PART_BIND];
    m->samples[REPLAY_OTHER][round] = b[BN_PART_OTHER];
    m->samples[REPLAY_HOST][round] =
        replay->wall_ns - b[BN_PART_DISPATCH] - b[BN_PART_RELEASE] - b[BN_PART_WAIT];
    m->samples[REPLAY_EXECUTE][round] = b[BN_PART_DISPATCH];
    m->samples[REPLAY_RELEASE][round] = b[BN_PART_RELEASE];
}

/* Compilations, captures and loads of M, which only its first steps need. */
static int64_t firsts(const mode *m)
{
    const int64_t *c = mode_counters(m);
    return c[BN_COUNTER_COMPILES] + c[BN_COUNTER_DISK_HITS] + c[BN_COUNTER_CAPTURES];
}

static bn_code take_turns(measured *m, bn_status *st)
{
    int64_t before = 0;
    for (size_t i = 0; i < WARM_ROUNDS + ROUNDS; i++) {
        bn_ledger ledger[SIDES];
        if (i == WARM_ROUNDS)
            before = firsts(m->side[LAZY].mode) + firsts(m->side[CAPTURE].mode);
        worker_send_progress(i == 0            ? "compiling"
                             : i < WARM_ROUNDS ? "warm-up"
                                               : "measuring",
                             (int64_t)i, WARM_ROUNDS + ROUNDS);
        for (int k = 0; k < SIDES; k++)
            if (mode_step(m->side[k].mode, &m->side[k].call, &ledger[k], st) != BN_OK)
                return bn_context(st, "step %zu of %s", i, m->experiment[k].what.mode);
        if (i >= WARM_ROUNDS)
            keep_samples(m, i - WARM_ROUNDS, &ledger[LAZY], &ledger[CAPTURE]);
    }
    if (firsts(m->side[LAZY].mode) + firsts(m->side[CAPTURE].mode) != before)
        return bn_fail(st, BN_WRONG_RESULT, "a step was compiled again while measuring");
    return BN_OK;
}

/* ---- the result -------------------------------------------------------------------- */

static json_t *figures_json(const measured *m)
{
    json_t *all = json_object();
    for (int i = 0; i < FIGURES; i++) {
        size_t count = i == LOWERING ? LOWER_ROUNDS : ROUNDS;
        json_object_set_new(
            all, names[i],
            json_pack("{sf sf sf si}", "median_ns", res_quantile(m->samples[i], count, 0.5),
                      "p10_ns", res_quantile(m->samples[i], count, 0.1), "p90_ns",
                      res_quantile(m->samples[i], count, 0.9), "samples", (int)count));
    }
    return all;
}

static json_t *result_json(const measured *m)
{
    const int64_t *counters = mode_counters(m->side[LAZY].mode);
    const mode_execution *lazy = mode_execution_at(m->side[LAZY].mode, 0);
    const mode_execution *replay = mode_execution_at(m->side[CAPTURE].mode, 0);
    const model_options *o = model_get_options(m->side[LAZY].instance);
    return json_pack(
        "{si si sI sI sI sI sI sI so so}", "batch", o->batch, "image", o->image, "nodes",
        (json_int_t)(counters[BN_COUNTER_NODES_TRACED] / counters[BN_COUNTER_STEPS]),
        "lazy_arguments", (json_int_t)lazy->argument_count, "lazy_results",
        (json_int_t)lazy->result_count, "replay_arguments", (json_int_t)replay->argument_count,
        "replay_results", (json_int_t)replay->result_count, "text_bytes", (json_int_t)m->text_bytes,
        "figures", figures_json(m), "runtime", worker_session_describe(&m->side[LAZY]));
}

bn_code selftest_job(const json_t *request, bn_status *st)
{
    measured *m = bn_zalloc(1, sizeof *m);
    bn_code code =
        job_experiment_from_json(json_object_get(request, "experiment"), &m->experiment[LAZY], st);
    if (code == BN_OK)
        code = worker_session_begin(&m->side[LAZY], &m->experiment[LAZY], st);
    if (code == BN_OK)
        code = prepare(m, st);
    if (code == BN_OK)
        code = take_turns(m, st);
    if (code == BN_OK) {
        worker_send_progress("lowering", 0, 0);
        code = mode_time_lowering(m->side[LAZY].mode, &m->side[LAZY].call, LOWER_ROUNDS,
                                  m->samples[LOWERING], &m->text_bytes, st);
    }
    if (code == BN_OK)
        code = rt_plugin_check_file(m->side[LAZY].plugin, st);
    if (code == BN_OK)
        worker_send_result(result_json(m));
    worker_session_drop_model(&m->side[CAPTURE]);
    worker_session_end(&m->side[LAZY]);
    free(m);
    return code;
}
