/*
 * device_profile.c - device times from the plugin's own profiler, and from the same steps the
 * overheads: PJRT time, as the host saw it, less device time.
 */
#include "harness/worker/worker.h"
#include "runtime/profile/profile.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps that were profiled. */
typedef struct profiled {
    const rt_device_span *spans;
    size_t count, steps;
    const double *pjrt_ns; /* [row * steps + step]: mean of the row's executions in the step */
} profiled;

/* Whether NAME, as a profile has it, is of MODULE: "bench_step(7)" is of "bench_step", but
 * "bench_relu6" is not of "bench_relu". */
static bool is_of(const char *name, const char *module)
{
    const char *at = strstr(name, module);
    size_t length = strlen(module);
    return at && (at[length] == '\0' || at[length] == '(' || at[length] == '.');
}

/* Median and its 95 % interval by order statistics, the normal approximation of the
 * binomial (W. J. Conover, "Practical Nonparametric Statistics", 1999, section 3.2). */
static void summarize(double *values, size_t n, double *median, double *low, double *high)
{
    const double half = 1.96 * sqrt((double)n) / 2, middle = (double)n / 2;
    const double first = floor(middle - half), last = ceil(middle + half);
    gsl_sort(values, 1, n);
    *median = gsl_stats_median_from_sorted_data(values, 1, n);
    *low = values[first < 1 ? 0 : (size_t)first - 1];
    *high = values[last >= (double)n ? n - 1 : (size_t)last];
}

/* Each step's PJRT time less the device times of its own executions: pairs, so that
 * the device's jitter drops out. DURATIONS are in order of start. */
static void pair_overheads(const profiled *p, size_t row, size_t per_step, const double *durations,
                           double *scratch, res_execution *out)
{
    for (size_t step = 0; step < p->steps; step++) {
        double device = 0;
        for (size_t i = 0; i < per_step; i++)
            device += durations[step * per_step + i];
        scratch[step] = p->pjrt_ns[row * p->steps + step] - device / (double)per_step;
    }
    summarize(scratch, p->steps, &out->overhead_ns, &out->overhead_low_ns, &out->overhead_high_ns);
}

/* Device time of one execution, ns. Where it is told by kernels, the gaps between them do not count:
 * a profiler that notes every kernel slows down the host, which launches them. */
static double device_ns_of(const rt_device_span *span)
{
    return (double)(span->kernels > 0 ? span->busy_ns : span->duration_ns);
}

/* Fills a row's figures. A profile that lacks some of the row's executions is not used. Where it has
 * too many, they cannot be matched with the steps, and where it tells kernels, the host was slowed
 * down: then the overhead is of executions without a profiler (res_execution_overhead). */
static void use_spans(const worker_session *s, const profiled *p, size_t row, double *durations,
                      res_execution *out)
{
    const mode_execution *x = mode_execution_at(s->mode, row);
    const size_t per_step = (size_t)x->per_step;
    size_t n = 0;
    bool by_kernels = false;
    for (size_t i = 0; i < p->count; i++) {
        if (!is_of(p->spans[i].name, x->module))
            continue;
        by_kernels = by_kernels || p->spans[i].kernels > 0;
        durations[n++] = device_ns_of(&p->spans[i]);
    }
    if (n == 0 || per_step == 0 || n < p->steps * per_step)
        return;
    if (n == p->steps * per_step && !by_kernels)
        pair_overheads(p, row, per_step, durations, durations + p->count, out);
    summarize(durations, n, &out->device_ns, &out->device_low_ns, &out->device_high_ns);
    out->device_source = BN_DEVICE_TIME_PROFILER;
    out->device_note[0] = '\0';
}

static bn_code run_steps(worker_session *s, size_t steps, double *pjrt_ns, bn_status *st)
{
    bn_code code = BN_OK;
    const size_t rows = mode_execution_count(s->mode);
    for (size_t step = 0; step < steps && code == BN_OK; step++) {
        code = mode_step_probe(s->mode, &s->call, 1, MODE_PROBE_AWAITED, st);
        for (size_t row = 0; row < rows; row++) {
            const mode_execution *x = mode_execution_at(s->mode, row);
            pjrt_ns[row * steps + step] =
                x->per_step > 0 ? (double)x->pjrt_ns / (double)x->per_step : 0;
        }
    }
    return code;
}

void worker_measure_profile(worker_session *s, size_t steps, res_record *r)
{
    rt_profiler *profiler = NULL;
    rt_device_span *spans = NULL;
    void *xspace = NULL;
    size_t size = 0, count = 0;
    bn_status st = {.code = BN_OK};
    double *pjrt_ns = calloc((r->execution_count + 1) * steps, sizeof *pjrt_ns);
    if (!pjrt_ns || rt_profiler_start(s->plugin, false, &profiler, &st) != BN_OK) {
        free(pjrt_ns);
        return;
    }
    worker_send_progress("profiling", 0, 0);
    bn_code code = run_steps(s, steps, pjrt_ns, &st);
    bn_code finished = rt_profiler_finish(profiler, &xspace, &size, &st);
    if (code == BN_OK && finished == BN_OK &&
        rt_xspace_device_spans(xspace, size, &spans, &count, &st) == BN_OK) {
        const profiled p = {spans, count, steps, pjrt_ns};
        double *durations = calloc(count + steps + 1, sizeof *durations);
        for (size_t row = 0; durations && row < r->execution_count; row++)
            use_spans(s, &p, row, durations, &r->executions[row]);
        free(durations);
    }
    free(spans);
    free(xspace);
    free(pjrt_ns);
}
