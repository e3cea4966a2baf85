/*
 * device_time.c - what each execution costs alone, and how much of that is the device's.
 *
 * PJRT time is an execution submitted alone, from submit to ready. Device time comes from the
 * plugin's profiler where it has one, else from a slope: the execution is submitted k times back
 * to back, and the device works through the queue. Each further repetition adds the device time,
 * while the fixed cost is paid once. The slope sees the device only while the host submits faster
 * than the device works. Else it is refused, and the note says what it bounds.
 */
#include "harness/worker/worker.h"

#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPEATS       5
#define MAX_ROUNDS        64
#define LEAST_ROUNDS      3
/* After so many rounds, and twice as many, it is checked whether the figures are exact enough. */
#define USUAL_ROUNDS      16
#define EXACT_SHARE       0.003
#define EXACT_NS          1000
/* Time for the usual rounds, for further ones, and for single executions. */
#define BUDGET_NS         5e9
#define FURTHER_BUDGET_NS 3e9
#define SINGLES_BUDGET_NS 1e9
#define RESAMPLES         1000
#define LEAST_PROFILED    5
/* The slope must be above the host's submit time by this factor and this much: else the host does
 * not fill the queue. Beside its submission, each repetition costs the host an event to await. */
#define SUBMIT_MARGIN     1.25
#define REPEAT_FLOOR_NS   1000

/* ---- the line ---------------------------------------------------------------------- */

/* Slopes of all pairs of repeats of one round; returns how many. */
static size_t round_slopes(const unsigned *repeat, size_t repeats, const double *time_ns,
                           double *out)
{
    size_t n = 0;
    for (size_t i = 0; i < repeats; i++)
        for (size_t k = i + 1; k < repeats; k++)
            out[n++] = (time_ns[k] - time_ns[i]) / ((double)repeat[k] - (double)repeat[i]);
    return n;
}

static double median_of(double *values, size_t n)
{
    gsl_sort(values, 1, n);
    return gsl_stats_median_from_sorted_data(values, 1, n);
}

/* Theil-Sen estimator (Sen, JASA 63, 1968), pairs within rounds only: drift
 * between rounds does not bend the line. Interval: percentile bootstrap over
 * rounds. */
worker_slope worker_slope_fit(const unsigned *repeat, size_t repeats, const double *time_ns,
                              size_t rounds)
{
    enum { PAIRS = MAX_REPEATS * (MAX_REPEATS - 1) / 2 };
    double slopes[MAX_ROUNDS][PAIRS], pool[MAX_ROUNDS * PAIRS], draws[RESAMPLES];
    double rests[MAX_ROUNDS * MAX_REPEATS];
    worker_slope fit = {NAN, NAN, NAN, NAN};
    size_t pairs = 0, n = 0;
    if (repeats < 2 || repeats > MAX_REPEATS || rounds == 0 || rounds > MAX_ROUNDS)
        return fit;
    for (size_t r = 0; r < rounds; r++) {
        pairs = round_slopes(repeat, repeats, time_ns + r * repeats, slopes[r]);
        memcpy(pool + n, slopes[r], pairs * sizeof *pool);
        n += pairs;
    }
    fit.slope_ns = median_of(pool, n);
    for (size_t i = 0; i < rounds * repeats; i++)
        rests[i] = time_ns[i] - fit.slope_ns * (double)repeat[i % repeats];
    fit.intercept_ns = median_of(rests, rounds * repeats);

    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!rng)
        return fit;
    for (size_t d = 0; d < RESAMPLES; d++) {
        n = 0;
        for (size_t r = 0; r < rounds; r++) {
            size_t pick = gsl_rng_uniform_int(rng, (unsigned long)rounds);
            memcpy(pool + n, slopes[pick], pairs * sizeof *pool);
            n += pairs;
        }
        draws[d] = median_of(pool, n);
    }
    gsl_rng_free(rng);
    gsl_sort(draws, 1, RESAMPLES);
    fit.low_ns = gsl_stats_quantile_from_sorted_data(draws, 1, RESAMPLES, 0.025);
    fit.high_ns = gsl_stats_quantile_from_sorted_data(draws, 1, RESAMPLES, 0.975);
    return fit;
}

/* ---- probing ------------------------------------------------------------------------ */

/* What the rounds gave; arrays are [row][round * repeats + i]. */
typedef struct probes {
    unsigned repeat[MAX_REPEATS];
    size_t repeats, rounds, rows;
    double *pjrt_ns, *submit_ns; /* per execution of the row, summed over its repeats */
} probes;

static double *cell(double *table, const probes *p, size_t row, size_t round, size_t i)
{
    return &table[(row * MAX_ROUNDS + round) * p->repeats + i];
}

/* Chooses repeats and rounds: as many rounds as the budget allows (is_exact may end them earlier),
 * and fewer repeats where a step is long. Where the profiler gave the device times, only single
 * executions are left to do, for their PJRT time. */
static void plan(probes *p, double step_ns, bool profiled)
{
    static const unsigned many[] = {1, 2, 3, 4, 6}, few[] = {1, 2, 3}, two[] = {1, 2};
    const bool is_long = step_ns > 3e8, is_very_long = step_ns > 2e9;
    const unsigned *list = is_very_long ? two : is_long ? few : many;
    p->repeats = profiled ? 1 : is_very_long ? 2 : is_long ? 3 : 5;
    memcpy(p->repeat, list, p->repeats * sizeof *p->repeat);
    double cost = 0;
    for (size_t i = 0; i < p->repeats; i++)
        cost += p->repeat[i] * step_ns;
    double usual = fmin(BUDGET_NS / (cost + 1), USUAL_ROUNDS);
    double rounds = fmax(usual, fmin(FURTHER_BUDGET_NS / (cost + 1), MAX_ROUNDS));
    p->rounds = rounds < LEAST_ROUNDS ? LEAST_ROUNDS : (size_t)rounds;
}

/* Runs one step with every execution repeated; its figures go into the table. */
static bn_code probe_once(worker_session *s, probes *p, size_t round, size_t i, bn_status *st)
{
    bn_code code = mode_step_probe(s->mode, &s->call, p->repeat[i], st);
    for (size_t row = 0; code == BN_OK && row < p->rows; row++) {
        const mode_execution *x = mode_execution_at(s->mode, row);
        double per_step = x->per_step > 0 ? (double)x->per_step : NAN;
        *cell(p->pjrt_ns, p, row, round, i) = (double)x->pjrt_ns / per_step;
        *cell(p->submit_ns, p, row, round, i) = (double)x->submit_ns / per_step;
    }
    return code;
}

/* Whether the slope of every row is known to EXACT_SHARE or EXACT_NS: further rounds are then
 * not worth their time. */
static bool is_exact(const probes *p, size_t rounds)
{
    if (p->repeats == 1)
        return true; /* there is no slope, only medians */
    for (size_t row = 0; row < p->rows; row++) {
        worker_slope fit =
            worker_slope_fit(p->repeat, p->repeats, cell(p->pjrt_ns, p, row, 0, 0), rounds);
        double half = (fit.high_ns - fit.low_ns) / 2;
        /* A row that is not executed has no figures. */
        if (half > EXACT_NS && half > EXACT_SHARE * fit.slope_ns)
            return false;
    }
    return true;
}

static bn_code probe_rounds(worker_session *s, probes *p, bn_status *st)
{
    bn_code code = BN_OK;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!rng)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for random numbers");
    for (size_t round = 0; round < p->rounds && code == BN_OK; round++) {
        /* A fresh order each round, so that drift does not favour one repeat. */
        size_t order[MAX_REPEATS];
        for (size_t i = 0; i < p->repeats; i++)
            order[i] = i;
        for (size_t i = p->repeats; i-- > 1;) {
            size_t k = gsl_rng_uniform_int(rng, (unsigned long)i + 1), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
        worker_send_progress("device time", (int64_t)round, (int64_t)p->rounds);
        for (size_t i = 0; i < p->repeats && code == BN_OK; i++)
            code = probe_once(s, p, round, order[i], st);
        /* The check takes milliseconds, so it is made twice only. */
        if (code == BN_OK && (round + 1 == USUAL_ROUNDS || round + 1 == 2 * USUAL_ROUNDS) &&
            is_exact(p, round + 1))
            p->rounds = round + 1;
    }
    gsl_rng_free(rng);
    return code;
}

/* ---- from probes to figures ------------------------------------------------------------ */

static void copy_figures(const mode_execution *x, res_execution *out)
{
    out->overhead_ns = out->overhead_low_ns = out->overhead_high_ns = NAN;
    snprintf(out->graph, sizeof out->graph, "%.*s", (int)sizeof out->graph - 1, x->label);
    memcpy(out->fingerprint, x->fingerprint, sizeof out->fingerprint);
    out->per_step = (int)x->per_step;
    out->arguments = (int)x->argument_count;
    out->results = (int)x->result_count;
    out->nodes = x->nodes;
    out->text_bytes = x->text_bytes;
    out->lower_ns = x->lower_ns;
    out->compile_ns = x->compile_ns;
    out->from_disk = x->from_disk;
    out->flops = x->flops;
    out->bytes = x->bytes;
    out->argument_bytes = x->stats.argument_bytes;
    out->result_bytes = x->stats.result_bytes;
    out->temp_bytes = x->stats.temp_bytes;
    out->code_bytes = x->stats.code_bytes;
    out->peak_bytes = x->stats.peak_bytes;
    out->compiler_flops = x->stats.flops >= 0 ? x->stats.flops : NAN;
    out->compiler_bytes = x->stats.bytes_accessed >= 0 ? x->stats.bytes_accessed : NAN;
    memcpy(out->optimized, x->optimized, sizeof out->optimized);
    out->optimized_bytes = x->optimized_bytes;
    out->optimized_instructions = x->optimized_instructions;
    memcpy(out->plugin_fingerprint, x->plugin_fingerprint, sizeof x->plugin_fingerprint);
    out->device_ns = out->device_low_ns = out->device_high_ns = NAN;
    out->device_source = BN_DEVICE_TIME_UNAVAILABLE;
}

/* The slope, or a note why there is none. */
static void judge_slope(const probes *p, size_t row, res_execution *out)
{
    const double *times = cell(p->pjrt_ns, p, row, 0, 0);
    double submits[MAX_ROUNDS * MAX_REPEATS];
    uint64_t singles[MAX_ROUNDS];
    size_t n = 0;
    for (size_t r = 0; r < p->rounds; r++) {
        singles[r] = (uint64_t)times[r * p->repeats]; /* the first repeat is 1 */
        for (size_t i = 0; i < p->repeats; i++)
            submits[n++] = *cell(p->submit_ns, p, row, r, i) / p->repeat[i];
    }
    const double submit = median_of(submits, n);
    const res_interval alone = res_median_interval(singles, p->rounds);
    worker_slope fit = worker_slope_fit(p->repeat, p->repeats, times, p->rounds);
    if (!(fit.slope_ns > 0)) {
        snprintf(out->device_note, sizeof out->device_note,
                 "times do not grow with repetitions: noise hides the device");
    } else if (fit.slope_ns < SUBMIT_MARGIN * submit + REPEAT_FLOOR_NS) {
        snprintf(out->device_note, sizeof out->device_note,
                 "dispatch-bound: the host submits in %.1f us, so at most %.1f us of device time",
                 submit / 1e3, fit.slope_ns / 1e3);
    } else if (fit.low_ns > alone.high) {
        /* A part cannot take longer than the whole: the intervals must overlap. */
        snprintf(out->device_note, sizeof out->device_note,
                 "disturbed: a repetition adds %.1f us, one alone takes %.1f us",
                 fit.slope_ns / 1e3, alone.estimate / 1e3);
    } else {
        out->device_ns = fit.slope_ns;
        out->device_low_ns = fit.low_ns;
        out->device_high_ns = fit.high_ns;
        out->device_source = BN_DEVICE_TIME_SLOPE;
    }
}

static bn_code fill_row(const worker_session *s, const probes *p, size_t row, res_execution *out,
                        bn_status *st)
{
    const mode_execution *x = mode_execution_at(s->mode, row);
    out->pjrt_ns = malloc((p->rounds + MAX_ROUNDS) * sizeof *out->pjrt_ns);
    if (!out->pjrt_ns)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for samples");
    for (size_t r = 0; r < p->rounds && x->per_step > 0; r++)
        out->pjrt_ns[out->pjrt_count++] = (uint64_t)*cell(p->pjrt_ns, p, row, r, 0);
    if (x->per_step > 0 && out->device_source == BN_DEVICE_TIME_UNAVAILABLE)
        judge_slope(p, row, out);
    else if (x->per_step == 0)
        snprintf(out->device_note, sizeof out->device_note, "not executed in a steady step");
    return BN_OK;
}

/* Whether the profiler gave the device time of every row that is executed. */
static bool all_profiled(const res_record *r)
{
    for (size_t i = 0; i < r->execution_count; i++)
        if (r->executions[i].per_step > 0 &&
            r->executions[i].device_source != BN_DEVICE_TIME_PROFILER)
            return false;
    return true;
}

/* Profiled steps: enough for a median, and no longer than half of the budget. */
static size_t profiled_steps(double step_ns)
{
    double steps = BUDGET_NS / 2 / (step_ns + 1);
    return steps < LEAST_PROFILED ? LEAST_PROFILED
           : steps > MAX_ROUNDS   ? MAX_ROUNDS
                                  : (size_t)steps;
}

static bn_code prepare(worker_session *s, res_record *r, bn_status *st)
{
    /* Repetitions run one program, so one batch. It may be one that is not compiled yet. */
    worker_feed_hold(s->feed);
    bn_code code = s->feed ? mode_step(s->mode, &s->call, NULL, st) : BN_OK;
    if (code == BN_OK)
        code = mode_drain(s->mode, st);
    /* The first probes run with cold caches and are not kept. */
    for (int i = 0; i < 2 && code == BN_OK; i++)
        code = mode_step_probe(s->mode, &s->call, 1, st);
    if (code == BN_OK)
        code = res_record_reserve_executions(r, mode_execution_count(s->mode), st);
    if (code == BN_OK)
        mode_digest_programs(s->mode);
    for (size_t row = 0; code == BN_OK && row < r->execution_count; row++)
        copy_figures(mode_execution_at(s->mode, row), &r->executions[row]);
    return code;
}

/* Adds single executions where they are cheap: the PJRT time is their median, and rounds that end
 * early have few of them. */
static bn_code add_singles(worker_session *s, res_record *r, double step_ns, bn_status *st)
{
    const size_t have = r->execution_count > 0 ? r->executions[0].pjrt_count : MAX_ROUNDS;
    size_t wanted = (size_t)fmin(SINGLES_BUDGET_NS / (step_ns + 1), MAX_ROUNDS);
    bn_code code = BN_OK;
    for (size_t i = have; i < wanted && code == BN_OK; i++) {
        code = mode_step_probe(s->mode, &s->call, 1, st);
        for (size_t row = 0; code == BN_OK && row < r->execution_count; row++) {
            const mode_execution *x = mode_execution_at(s->mode, row);
            res_execution *out = &r->executions[row];
            if (x->per_step > 0 && out->pjrt_count < MAX_ROUNDS)
                out->pjrt_ns[out->pjrt_count++] = x->pjrt_ns / (uint64_t)x->per_step;
        }
    }
    return code;
}

/* Fills rows without times: --device-time none. */
static bn_code leave_out(res_record *r, bn_status *st)
{
    for (size_t i = 0; i < r->execution_count; i++) {
        res_execution *x = &r->executions[i];
        snprintf(x->device_note, sizeof x->device_note, "not asked for");
        x->pjrt_ns = calloc(1, sizeof *x->pjrt_ns);
        if (!x->pjrt_ns)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for samples");
    }
    return BN_OK;
}

bn_code worker_measure_executions(worker_session *s, res_record *r, bn_status *st)
{
    const double step_ns = res_quantile(r->wall_ns, r->step_count, 0.5);
    bn_code code = prepare(s, r, st);
    if (code == BN_OK && strcmp(s->experiment->device_time, "none") == 0)
        return leave_out(r, st);
    if (code == BN_OK && strcmp(s->experiment->device_time, "slope") != 0)
        worker_measure_profile(s, profiled_steps(step_ns), r);
    probes p = {.rows = r->execution_count};
    plan(&p, step_ns, code == BN_OK && all_profiled(r));
    size_t cells = (p.rows + 1) * MAX_ROUNDS * p.repeats;
    p.pjrt_ns = calloc(cells, sizeof(double));
    p.submit_ns = calloc(cells, sizeof(double));
    if (code == BN_OK && (!p.pjrt_ns || !p.submit_ns))
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for probes");
    if (code == BN_OK)
        code = probe_rounds(s, &p, st);
    for (size_t row = 0; code == BN_OK && row < p.rows; row++)
        code = fill_row(s, &p, row, &r->executions[row], st);
    if (code == BN_OK)
        code = add_singles(s, r, step_ns, st);
    free(p.pjrt_ns);
    free(p.submit_ns);
    return code == BN_OK ? BN_OK : bn_context(st, "measuring executions");
}
