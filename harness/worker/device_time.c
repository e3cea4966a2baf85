/*
 * device_time.c - the cost of each execution alone, and the device's share of it.
 *
 * PJRT time is an execution submitted alone, from submit to ready. Device time comes from the
 * plugin's profiler where it has one, else from probes: in the rounds of the measuring loop an
 * execution runs a few times awaited one by one, and as often queued. The queue saves the fixed
 * cost of all but one, and both meet the same disturbances (results/records/probes.c makes the
 * estimate and rejects it where it is not valid).
 */
#include "harness/worker/measure_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Executions of a probe; fewer where a step is long. */
#define USUAL_DEPTH    6
#define LONG_DEPTH     2
/* Probes of an experiment: as many as fit into its measuring time, within these. */
#define MOST_PROBES    40
#define LEAST_PROBES   5
#define LEAST_PROBES_LONG 3 /* where a step is long */
/* The largest share of the median step that device time by probes may have, since both vary. */
#define MOST_OF_WALL   1.02
#define LEAST_PROFILED 5
#define MOST_PROFILED  64

static bool wants_none(const worker_member *m)
{
    return strcmp(m->e.how.device_time, "none") == 0;
}

static bool wants_slope(const worker_member *m)
{
    return strcmp(m->e.how.device_time, "slope") == 0;
}

static bool may_profile(const worker_member *m)
{
    return !wants_slope(m) && !wants_none(m) && rt_plugin_describe(m->s.plugin)->has_profiler;
}

/* ---- probes ------------------------------------------------------------------------ */

bn_code worker_plan_probes(worker_member *m, size_t rounds, double longest_ns, bn_status *st)
{
    const double step_ns = fmax(m->step_ns, 1);
    const bool is_long = step_ns > WORKER_LONG_STEP_NS;
    m->depth = is_long ? LONG_DEPTH : USUAL_DEPTH;
    m->probes_queue = !may_profile(m);
    m->no_probes_why =
        wants_none(m) ? "not asked for"
        : m->probes_queue && !wants_slope(m) && longest_ns > WORKER_VERY_LONG_STEP_NS
            ? "not probed, since a step takes over a second; --device-time slope does it"
            : NULL;
    m->probe_rows = mode_execution_count(m->s.mode);
    m->probe_count = 0;
    const double fewest = is_long ? LEAST_PROBES_LONG : LEAST_PROBES;
    const double affordable = m->e.how.min_time * 1e9 / (2 * m->depth * step_ns);
    /* A feed moves on to other batches: its probes come after the rounds, on one batch. */
    const bool later = m->s.feed || m->no_probes_why;
    m->probe_rounds =
        (size_t)fmin(fmax(affordable, fewest), m->s.feed ? MOST_PROBES : (double)rounds);
    if (m->no_probes_why)
        m->probe_rounds = 0;
    free(m->probes);
    m->probes = bn_zalloc(m->probe_rows * m->probe_rounds + 1, sizeof *m->probes);
    /* The first probes run with cold caches and are not kept. For long ones that is negligible. */
    return later || is_long ? BN_OK
                            : mode_step_probe(m->s.mode, &m->s.call, 1, MODE_PROBE_AWAITED, st);
}

/* Runs one step with every execution repeated, and adds its figures to the probes of ROUND. */
static bn_code probe_once(worker_member *m, size_t round, mode_probe how, bn_status *st)
{
    bn_code code = mode_step_probe(m->s.mode, &m->s.call, m->depth, how, st);
    for (size_t row = 0; code == BN_OK && row < m->probe_rows; row++) {
        const mode_execution *x = mode_execution_at(m->s.mode, row);
        res_probe *p = &m->probes[row * m->probe_rounds + m->probe_count];
        if (x->per_step <= 0)
            continue;
        const uint64_t per_step = (uint64_t)x->per_step;
        p->round = round;
        p->depth = m->depth;
        if (how == MODE_PROBE_AWAITED) {
            p->awaited_ns = x->pjrt_ns / per_step;
            p->first_ns = x->first_ns / per_step;
        } else {
            p->queued_ns = x->pjrt_ns / per_step;
            p->submit_ns = x->submit_ns / per_step;
        }
    }
    return code;
}

bn_code worker_probe(worker_member *m, size_t round, gsl_rng *rng, bn_status *st)
{
    const bool queue_first = gsl_rng_uniform_int(rng, 2) == 1;
    bn_code code = BN_OK;
    for (int i = 0; i < 2 && code == BN_OK; i++) {
        if ((i == 0) != queue_first)
            code = probe_once(m, round, MODE_PROBE_AWAITED, st);
        else if (m->probes_queue)
            code = probe_once(m, round, MODE_PROBE_QUEUED, st);
    }
    m->probe_count += code == BN_OK;
    return code;
}

/* Makes all probes now, after the rounds. */
static bn_code probe_after_rounds(worker_member *m, gsl_rng *rng, bn_status *st)
{
    bn_code code = mode_step_probe(m->s.mode, &m->s.call, 1, MODE_PROBE_AWAITED, st);
    m->probe_count = 0;
    while (code == BN_OK && m->probe_count < m->probe_rounds) {
        worker_send_progress("device time", (int64_t)m->probe_count, (int64_t)m->probe_rounds);
        code = worker_probe(m, m->probe_count, rng, st);
    }
    return code;
}

/* ---- from probes to figures ------------------------------------------------------------ */

static void fill_from_mode(const worker_member *m, const mode_execution *x, res_execution *out)
{
    out->overhead_ns = out->overhead_low_ns = out->overhead_high_ns = NAN;
    snprintf(out->graph, sizeof out->graph, "%.*s", (int)sizeof out->graph - 1, x->label);
    memcpy(out->fingerprint, x->fingerprint, sizeof out->fingerprint);
    out->per_step = (int)x->per_step;
    out->steps = (int)worker_steps_a_call(m);
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
    out->host_temp_bytes = x->stats.host_temp_bytes;
    out->offload_bytes = (int64_t)x->offloaded;
    out->handed_on = x->handed_on;
    out->rearranged = x->rearranged;
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

/* Fills device time and overhead from OUT's probes, or the note why they are unknown. */
static void estimate_from_probes(res_execution *out)
{
    const res_probe_estimate of = res_probes_estimate(out->probes, out->probe_count);
    snprintf(out->device_note, sizeof out->device_note, "%s", of.refusal);
    if (of.refusal[0] != '\0')
        return;
    out->device_ns = of.device.estimate;
    out->device_low_ns = of.device.low;
    out->device_high_ns = of.device.high;
    out->overhead_ns = of.overhead.estimate;
    out->overhead_low_ns = of.overhead.low;
    out->overhead_high_ns = of.overhead.high;
    out->device_source = BN_DEVICE_TIME_SLOPE;
}

static bn_code fill_row(const worker_member *m, size_t row, res_execution *out, bn_status *st)
{
    const size_t count = row < m->probe_rows ? m->probe_count : 0;
    const bool is_run = mode_execution_at(m->s.mode, row)->per_step > 0;
    out->pjrt_ns = bn_zalloc(count + 1, sizeof *out->pjrt_ns);
    if (!is_run) {
        snprintf(out->device_note, sizeof out->device_note, "not executed in a steady step");
        return BN_OK;
    }
    bn_code code = res_execution_reserve_probes(out, count, st);
    if (code != BN_OK)
        return code;
    if (count > 0)
        memcpy(out->probes, m->probes + row * m->probe_rounds, count * sizeof *out->probes);
    for (size_t i = 0; i < count; i++)
        out->pjrt_ns[out->pjrt_count++] = out->probes[i].awaited_ns / out->probes[i].depth;
    if (out->device_source == BN_DEVICE_TIME_UNAVAILABLE)
        estimate_from_probes(out);
    return BN_OK;
}

/* The sum of the lower bounds of the device times of a step's executions; NaN: one has none. */
static double step_device_low(const res_record *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->execution_count; i++)
        if (r->executions[i].per_step > 0)
            sum += res_execution_times(&r->executions[i]) * r->executions[i].device_low_ns;
    return sum;
}

/* Removes device times by probes that together exceed the median step by more than their intervals:
 * interference with the probes and not with the steps. Steps that overlap, or vary, do not show
 * that. */
static void reject_above_wall(const worker_member *m)
{
    res_record *r = m->record;
    const double wall_ns = res_quantile(r->wall_ns, r->step_count, 0.5);
    const double device_ns = res_step_device_ns(r);
    if (m->e.what.in_flight > 1 || m->s.feed || !(step_device_low(r) > MOST_OF_WALL * wall_ns))
        return;
    for (size_t i = 0; i < r->execution_count; i++) {
        res_execution *x = &r->executions[i];
        if (x->device_source != BN_DEVICE_TIME_SLOPE)
            continue;
        x->device_ns = x->device_low_ns = x->device_high_ns = NAN;
        x->overhead_ns = x->overhead_low_ns = x->overhead_high_ns = NAN;
        x->device_source = BN_DEVICE_TIME_UNAVAILABLE;
        snprintf(x->device_note, sizeof x->device_note,
                 "disturbed: %.1f us of device time a step, and steps of %.1f us", device_ns / 1e3,
                 wall_ns / 1e3);
    }
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

/* Profiled steps: enough for a median, and no longer than half of the measuring time. */
static size_t profiled_steps(const worker_member *m)
{
    double steps = m->e.how.min_time * 1e9 / 2 / fmax(m->step_ns, 1);
    return (size_t)fmin(fmax(steps, LEAST_PROFILED), MOST_PROFILED);
}

static bn_code prepare_executions(worker_member *m, bn_status *st)
{
    /* Repetitions run one program, so one batch. Its program may not be compiled yet. */
    worker_feed_hold(m->s.feed);
    bn_code code = m->s.feed ? mode_step(m->s.mode, &m->s.call, NULL, st) : BN_OK;
    if (code == BN_OK)
        code = mode_drain(m->s.mode, st);
    if (code == BN_OK)
        code = res_record_reserve_executions(m->record, mode_execution_count(m->s.mode), st);
    if (code == BN_OK)
        mode_digest_programs(m->s.mode);
    for (size_t row = 0; code == BN_OK && row < m->record->execution_count; row++)
        fill_from_mode(m, mode_execution_at(m->s.mode, row), &m->record->executions[row]);
    return code;
}

bn_code worker_finish_executions(worker_member *m, gsl_rng *rng, bn_status *st)
{
    res_record *r = m->record;
    bn_code code = prepare_executions(m, st);
    if (code == BN_OK && m->no_probes_why) {
        for (size_t i = 0; i < r->execution_count; i++) {
            res_execution *x = &r->executions[i];
            snprintf(x->device_note, sizeof x->device_note, "%s", m->no_probes_why);
            x->pjrt_ns = bn_zalloc(1, sizeof *x->pjrt_ns);
        }
        return BN_OK;
    }
    if (code == BN_OK && may_profile(m))
        worker_measure_profile(&m->s, profiled_steps(m), r);
    const bool missing = code == BN_OK && !m->probes_queue && !all_profiled(r);
    if (missing)
        m->probes_queue = true;
    if (code == BN_OK && (missing || m->s.feed))
        code = probe_after_rounds(m, rng, st);
    for (size_t row = 0; code == BN_OK && row < r->execution_count; row++)
        code = fill_row(m, row, &r->executions[row], st);
    if (code == BN_OK)
        reject_above_wall(m);
    return code == BN_OK ? BN_OK : bn_context(st, "measuring executions");
}
