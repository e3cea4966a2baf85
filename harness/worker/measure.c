/*
 * measure.c - one experiment: warm-up by rule, the measuring loop, the record.
 *
 * The loop reads the clock, runs a step and copies numbers into arrays that were made before; it
 * allocates nothing. A step's wall time runs from the end of the step before to its own end, so
 * no nanosecond lies between steps.
 */
#include "harness/worker/worker.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS  200000
#define PROGRESS_NS 500000000u

/* ---- warm-up ------------------------------------------------------------------- */

/* Two-sided p-value of the Mann-Kendall test for a trend (Mann, Econometrica 13,
 * 1945), normal approximation with continuity correction. */
static double trend_p(const uint64_t *x, size_t n)
{
    double s = 0, count = (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            s += (x[k] > x[i]) - (x[k] < x[i]);
    double variance = count * (count - 1) * (2 * count + 5) / 18;
    double z = s > 0 ? (s - 1) / sqrt(variance) : s < 0 ? (s + 1) / sqrt(variance) : 0;
    return 2 * gsl_cdf_ugaussian_Q(fabs(z));
}

bool worker_warm(const uint64_t *wall_ns, const int64_t *compiles, size_t count)
{
    if (count < WORKER_WARM_WINDOW)
        return false;
    size_t first = count - WORKER_WARM_WINDOW;
    for (size_t i = first; i < count; i++)
        if (compiles[i] > 0)
            return false;
    return trend_p(wall_ns + first, WORKER_WARM_WINDOW) >= 0.05;
}

static int64_t misses(const worker_session *s)
{
    const int64_t *c = mode_counters(s->mode);
    return c[BN_COUNTER_COMPILES] + c[BN_COUNTER_DISK_HITS] + c[BN_COUNTER_CAPTURES];
}

/* {"compiles": [3, 0, ...]}: programs that each step compiled or loaded (new reference). */
static json_t *warm_up_to_json(const int64_t *compiled, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(compiled[i]));
    return json_pack("{so}", "compiles", list);
}

/* Runs warm-up steps, *COUNT of them, and fills in their wall times. ABOUT gets the member
 * "warmup". */
static bn_code warm_up(worker_session *s, uint64_t *wall_ns, size_t *count, bool *stationary,
                       json_t *about, bn_status *st)
{
    size_t most = (size_t)s->experiment->warmup;
    int64_t *compiled = calloc(most, sizeof *compiled);
    bn_code code = BN_OK;
    if (!compiled)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu warm-up steps", most);
    *stationary = false;
    for (*count = 0; *count < most && !*stationary && code == BN_OK; ++*count) {
        worker_send_progress(*count ? "warm-up" : "compiling", (int64_t)*count, (int64_t)most);
        bn_ledger ledger;
        int64_t before = misses(s);
        code = mode_step(s->mode, &s->call, &ledger, st);
        wall_ns[*count] = ledger.wall_ns;
        compiled[*count] = misses(s) - before;
        *stationary = code == BN_OK && worker_warm(wall_ns, compiled, *count + 1);
    }
    json_object_set_new(about, "warmup", warm_up_to_json(compiled, *count));
    free(compiled);
    return code == BN_OK ? BN_OK : bn_context(st, "warm-up");
}

/* ---- the loop ---------------------------------------------------------------------- */

/* How many steps the time asked for may need. */
static size_t room_for(const job_experiment *e, uint64_t step_ns)
{
    double wanted = 2 * e->min_time * 1e9 / (double)(step_ns ? step_ns : 1) + 16;
    size_t steps = wanted < MOST_STEPS ? (size_t)wanted : MOST_STEPS;
    return steps > (size_t)e->steps ? steps : (size_t)e->steps;
}

static bn_code measure_steps(worker_session *s, res_record *r, size_t room, bn_status *st)
{
    const job_experiment *e = s->experiment;
    bn_code code = BN_OK;
    bn_ledger ledger;
    /* The steps in flight come first, so that each measured step waits for one. */
    for (int i = 1; i < e->what.in_flight && code == BN_OK; i++)
        code = mode_step(s->mode, &s->call, &ledger, st);
    uint64_t least = (uint64_t)(e->min_time * 1e9), spent = 0, told = 0;
    size_t n = 0;
    uint64_t before = bn_now_ns();
    while (code == BN_OK && n < room && (n < (size_t)e->steps || spent < least)) {
        code = mode_step(s->mode, &s->call, &ledger, st);
        uint64_t now = bn_now_ns(), accounted = 0;
        uint64_t *parts = r->part_ns + n * BN_PART_COUNT;
        for (int p = 0; p < BN_PART_COUNT; p++)
            accounted += p == BN_PART_OTHER ? 0 : (parts[p] = ledger.part_ns[p]);
        r->wall_ns[n] = now - before;
        parts[BN_PART_OTHER] = r->wall_ns[n] - accounted;
        spent += r->wall_ns[n++];
        before = now;
        if (spent - told > PROGRESS_NS) { /* outside of every step's time */
            told = spent;
            worker_send_progress("measuring", (int64_t)n, (int64_t)e->steps);
            before = bn_now_ns();
        }
    }
    r->step_count = n;
    if (code == BN_OK)
        code = mode_drain(s->mode, st);
    return code == BN_OK ? BN_OK : bn_context(st, "measuring step %zu", n);
}

/* ---- the record ----------------------------------------------------------------------- */

static bn_code read_loss(worker_session *s, double *loss, bn_status *st)
{
    const model_variable *v = s->instance ? model_find(s->instance, "loss") : NULL;
    float value;
    if (!v || tg_tensor_type(v->tensor)->dtype != TG_F32)
        return BN_OK;
    bn_code code = mode_read(s->mode, v->tensor, &value, sizeof value, st);
    if (code == BN_OK)
        *loss = (double)value + 0.0; /* not "-0" */
    return code;
}

static void describe(worker_session *s, res_record *r)
{
    int64_t now, peak;
    const model_options *m = s->instance ? model_get_options(s->instance) : NULL;
    r->experiment = s->experiment->what;
    if (m)
        job_experiment_fill(m, &r->experiment);
    r->simulated = worker_session_simulated(s);
    if (worker_session_has_values(s, NULL) != BN_OK)
        strcpy(r->values, "none");
    job_host_memory(&now, &peak);
    json_t *warmup = json_incref(json_object_get(r->provenance, "warmup"));
    json_decref(r->provenance);
    r->provenance =
        json_pack("{so so so sO* sO* so* sO* s{sI sI} so*}", "host", job_host_describe(), "runtime",
                  worker_session_describe(s), "pinning", worker_pinning_to_json(s->pinning),
                  "options", s->experiment->echo, "weights", s->weights, "program",
                  s->program ? worker_program_to_json(s->program) : NULL, "suite",
                  s->experiment->suite, "memory", "rss_bytes", (json_int_t)now, "peak_rss_bytes",
                  (json_int_t)peak, "warmup", warmup);
}

static void count(const worker_session *s, const int64_t *before, res_record *r)
{
    const int64_t *c = mode_counters(s->mode);
    for (int i = 0; i < BN_COUNTER_COUNT; i++) {
        r->counters[i] = c[i];
        r->step_counters[i] = c[i] - before[i];
    }
}

static uint64_t last_median(const uint64_t *wall_ns, size_t n)
{
    size_t window = n < WORKER_WARM_WINDOW ? n : WORKER_WARM_WINDOW;
    return (uint64_t)res_quantile(wall_ns + n - window, window, 0.5);
}

/* Runs the whole experiment on an open session and fills R. */
static bn_code measure(worker_session *s, res_record *r, bn_status *st)
{
    const job_experiment *e = s->experiment;
    size_t warm = 0;
    int64_t before[BN_COUNTER_COUNT];
    uint64_t *warm_ns = calloc((size_t)e->warmup, sizeof *warm_ns);
    bn_code code = warm_ns ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for warm-up");
    if (code == BN_OK)
        code = e->program
                   ? worker_session_program(s, st)
                   : worker_session_model(
                         s, &(worker_session_options){.precision = TG_PRECISION_DEFAULT}, st);
    if (code == BN_OK)
        code = warm_up(s, warm_ns, &warm, &r->warmup_stationary, r->provenance, st);
    if (code == BN_OK && (code = mode_drain(s->mode, st)) != BN_OK)
        bn_context(st, "warm-up");
    size_t room = code == BN_OK ? room_for(e, last_median(warm_ns, warm)) : 0;
    if (code == BN_OK)
        code = res_record_reserve_steps(r, room, warm, st);
    if (code == BN_OK) {
        memcpy(r->warmup_wall_ns, warm_ns, warm * sizeof *warm_ns);
        memcpy(before, mode_counters(s->mode), sizeof before);
        worker_send_progress("measuring", 0, e->steps);
        code = measure_steps(s, r, room, st);
    }
    if (code == BN_OK) {
        count(s, before, r);
        if (worker_session_has_values(s, NULL) == BN_OK)
            code = read_loss(s, &r->loss, st);
    }
    if (code == BN_OK)
        code = worker_measure_executions(s, r, st);
    if (code == BN_OK)
        describe(s, r);
    free(warm_ns);
    return code;
}

bn_code worker_job_measure(const json_t *request, bn_status *st)
{
    job_experiment e;
    worker_session s = {0};
    char path[4096];
    res_record *record = res_record_new();
    bn_code code = job_experiment_from_json(json_object_get(request, "experiment"), &e, st);
    if (code == BN_OK && !record)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a record");
    if (code == BN_OK)
        code = worker_session_begin(&s, &e, st);
    if (code == BN_OK)
        code = measure(&s, record, st);
    /* Before the record is written: if the plugin dies in its own clean-up, the only record is that
     * of a crash. */
    worker_session_end(&s);
    if (code == BN_OK)
        code = res_store_write(e.store, record, path, sizeof path, st);
    if (code == BN_OK)
        worker_send_result(json_pack("{ss}", "record", path));
    res_record_free(record);
    return code;
}
