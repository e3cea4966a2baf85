/*
 * device_profile.c - device times from the plugin's own profiler, and overheads from the same
 * steps: the host's PJRT time minus device time.
 */
#include "harness/worker/worker.h"
#include "runtime/profile/profile.h"

#include <stdlib.h>
#include <string.h>

/* Profiled steps. */
typedef struct profiled {
    const rt_device_span *spans;
    size_t count, steps;
    const double *pjrt_ns; /* [row * steps + step]: mean of the row's executions in the step */
} profiled;

/* Whether NAME, as a profile has it, is of MODULE: "bench_step(7)" is of "bench_step", but
 * "bench_relu6" is not of "bench_relu". */
static bool names_module(const char *name, const char *module)
{
    const char *at = strstr(name, module);
    size_t length = strlen(module);
    return at && (at[length] == '\0' || at[length] == '(' || at[length] == '.');
}

/* Each step's PJRT time minus the device times of its own executions: pairs, so that the device's
 * jitter cancels. DURATIONS are in order of start. */
static void pair_overheads(const profiled *p, size_t row, size_t per_step, const double *durations,
                           double *scratch, res_execution *out)
{
    for (size_t step = 0; step < p->steps; step++) {
        double device = 0;
        for (size_t i = 0; i < per_step; i++)
            device += durations[step * per_step + i];
        scratch[step] = p->pjrt_ns[row * p->steps + step] - device / (double)per_step;
    }
    const res_interval overhead = res_median_interval(scratch, p->steps);
    out->overhead_ns = overhead.estimate;
    out->overhead_low_ns = overhead.low;
    out->overhead_high_ns = overhead.high;
}

/* Whether the steps have another execution whose module has the name of ROW's, as in a step that a
 * read breaks: the profile does not distinguish them. */
static bool has_namesake(const worker_session *s, size_t row)
{
    const char *module = mode_execution_at(s->mode, row)->module;
    bool found = false;
    for (size_t i = 0; i < mode_execution_count(s->mode) && !found; i++) {
        const mode_execution *x = mode_execution_at(s->mode, i);
        found = i != row && x->per_step > 0 && strcmp(x->module, module) == 0;
    }
    return found;
}

/* Fills a row's figures. A profile that lacks some of the row's executions is not used. Where it
 * has too many, they cannot be matched with the steps, and where it has kernels, it slowed down the
 * host: then the overhead is of executions without a profiler (res_execution_overhead). */
static void use_spans(const worker_session *s, const profiled *p, size_t row, double *durations,
                      res_execution *out)
{
    const mode_execution *x = mode_execution_at(s->mode, row);
    const size_t per_step = (size_t)x->per_step;
    size_t n = 0;
    bool by_kernels = false;
    if (has_namesake(s, row))
        return;
    for (size_t i = 0; i < p->count; i++) {
        if (!names_module(p->spans[i].name, x->module))
            continue;
        by_kernels = by_kernels || p->spans[i].kernels > 0;
        durations[n++] = (double)p->spans[i].busy_ns; /* gaps between kernels are the host's */
    }
    if (n == 0 || per_step == 0 || n < p->steps * per_step)
        return;
    if (n == p->steps * per_step && !by_kernels)
        pair_overheads(p, row, per_step, durations, durations + p->count, out);
    const res_interval device = res_median_interval(durations, n);
    out->device_ns = device.estimate;
    out->device_low_ns = device.low;
    out->device_high_ns = device.high;
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
    if (rt_profiler_start(s->plugin, false, &profiler, &st) != BN_OK)
        return;
    double *pjrt_ns = bn_zalloc((r->execution_count + 1) * steps, sizeof *pjrt_ns);
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
