/*
 * answer.c - what the steps of a recording say: what bounds them, and what they would take.
 *
 * Steps that follow each other are alike, so they are no independent samples. Their intervals come
 * from batches: the samples, each the mean of a cycle of steps, are cut into BATCHES runs of
 * successive ones, and the medians of these count (batch means; A. M. Law and W. D. Kelton,
 * "Simulation Modeling and Analysis", section 9.5).
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>
#include <stdlib.h>

#define BATCHES     10
#define LEAST_BATCH 3 /* steps of a batch */
/* The device works nearly all the time. */
#define BUSY        0.9
/* Calls that are so much of the wall time bound the step, without a profile. */
#define CALLS       (1.0 / 3)
/* An end that is reported so soon after the return may have come within the call: recorders that
 * cannot ask whether an execution has ended, or are of version 1, learn of each end by a callback.
 */
#define TOLD_NS     10000
/* An execution that has ended so soon after it began, and within so many of its calls' lengths,
 * computes too little to be worth an execution: merging it with others saves nearly all of it. */
#define SHORT_NS    100000
#define SHORT_CALLS 5

/* A value of step I. */
typedef double value_of(const rec_steps *steps, size_t i, double with);

/* The means of cycles of VALUES, one a step, into SAMPLES. */
static void take_samples(const rec_steps *s, const double *values, double *samples, size_t count)
{
    const size_t cycle = rec_cycle(s);
    for (size_t i = 0; i < count; i++) {
        samples[i] = 0;
        for (size_t k = 0; k < cycle; k++)
            samples[i] += values[i * cycle + k] / (double)cycle;
    }
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count ? sum / (double)count : (double)NAN;
}

/* The estimate of VALUES, one a step, over batches of successive steps; MEANS: of their means, else
 * of their medians. Its mean is that of all of them. */
static res_estimate over_batches(const rec_steps *s, const double *values, bool means)
{
    const size_t samples = rec_steps_samples(s);
    double batches[BATCHES], *room = malloc((2 * samples + 2) * sizeof *room);
    size_t count = samples / LEAST_BATCH;
    res_estimate out = res_estimate_of(NULL, 0);
    if (!room)
        return out;
    take_samples(s, values, room, samples);
    count = count > BATCHES ? BATCHES : count;
    for (size_t b = 0; b < count; b++) {
        const size_t from = samples * b / count, to = samples * (b + 1) / count;
        for (size_t i = from; i < to; i++)
            room[samples + i - from] = room[i];
        batches[b] =
            means ? mean_of(room + samples, to - from) : res_median(room + samples, to - from);
    }
    out = res_estimate_of(batches, count);
    out.mean = means ? mean_of(values, s->count) : res_median(room, samples);
    free(room);
    return out;
}

res_estimate rec_steps_mean(const rec_steps *s, const double *values)
{
    return over_batches(s, values, true);
}

res_interval rec_steps_interval(const rec_steps *s, const double *values)
{
    /* Where the host runs ahead, or may, no single step counts. */
    const res_estimate estimate = over_batches(s, values, s->by_completion || !s->completions);
    const double half = res_estimate_half(&estimate, 0.05);
    return (res_interval){estimate.mean, estimate.mean - half, estimate.mean + half};
}

/* The interval of the values that OF gives for each step. */
static res_interval over_steps(const rec_steps *s, value_of *of, double with)
{
    const double nan = (double)NAN;
    double *values = malloc((s->count + 1) * sizeof *values);
    res_interval out = {nan, nan, nan};
    for (size_t i = 0; values && i < s->count; i++)
        values[i] = of(s, i, with);
    if (values)
        out = rec_steps_interval(s, values);
    free(values);
    return out;
}

static double wall_of(const rec_steps *s, size_t i, double with)
{
    (void)with;
    return (double)s->list[i].wall_ns;
}

static double busy_of(const rec_steps *s, size_t i, double with)
{
    (void)with;
    return (double)s->list[i].busy_ns;
}

static double host_of(const rec_steps *s, size_t i, double with)
{
    const uint64_t *part = s->list[i].part_ns;
    (void)with;
    return (double)(part[REC_PART_HOST] + part[REC_PART_DISPATCH] + part[REC_PART_TRANSFER] +
                    part[REC_PART_READ]);
}

/* ---- calls of executions ------------------------------------------------------------------------
 */

/* Whether the call of E had returned when it ended, as SPAN says. */
static bool returned_first(const rec_execution *e, const rec_span *span)
{
    const uint64_t complete = span->complete_ns;
    return complete > e->end_ns && complete - e->end_ns > TOLD_NS;
}

double rec_step_calls_ns(const rec_steps *steps, size_t index, double within_ns)
{
    const rec_process *p = steps->process;
    const rec_step *step = &steps->list[index];
    double sum = 0;
    for (uint32_t k = 0; k < step->executions; k++) {
        const rec_execution *e = &p->executions[steps->order[step->first + k]];
        const rec_span *span = rec_steps_span(steps, e);
        const uint64_t end = e->end_ns < span->complete_ns ? e->end_ns : span->complete_ns;
        const double ns = end > span->start_ns ? (double)(end - span->start_ns) : 0;
        sum += returned_first(e, span) ? ns : fmin(ns, within_ns);
    }
    return sum;
}

/* ---- the fixed cost of an execution -------------------------------------------------------------
 */

/* Whether the call of a program that is in each step returns before its execution has ended. Such a
 * call runs no program: it is what an execution costs the host. A call that ends no sooner may run
 * its program, as those of a CPU do, and it is unknown how much of it is fixed cost. */
static bool overhead_is_known(const rec_steps *s)
{
    for (size_t i = 0; i < s->program_count; i++)
        if (s->programs[i].times > 0.99 && s->programs[i].behind_ns > TOLD_NS)
            return true;
    return false;
}

/* The program with the shortest call; NULL: none. */
static const rec_step_program *cheapest(const rec_steps *s)
{
    const rec_step_program *best = NULL;
    for (size_t i = 0; i < s->program_count; i++) {
        const rec_step_program *p = &s->programs[i];
        /* A program that does not run in every step is not fused. */
        if (p->times > 0.99 && (!best || p->call_ns < best->call_ns))
            best = p;
    }
    return best;
}

bool rec_step_program_is_short(const rec_step_program *program)
{
    return program->device_ns > program->call_ns && program->device_ns <= SHORT_NS &&
           program->device_ns <= SHORT_CALLS * program->call_ns;
}

/* How long E's call took; of a short program the whole execution, if that is longer. */
static double price_of(const rec_steps *s, const rec_execution *e, bool is_short)
{
    const rec_span *span = rec_steps_span(s, e);
    const double call_ns = (double)(e->end_ns - e->begin_ns);
    return is_short && span->complete_ns > span->start_ns
               ? fmax(call_ns, (double)(span->complete_ns - span->start_ns))
               : call_ns;
}

/* The mean price of the program WITH in step I; its call in all steps where it is not in this one.
 */
static double fixed_of(const rec_steps *s, size_t i, double with)
{
    const rec_step_program *row = &s->programs[(size_t)with];
    const rec_step *step = &s->list[i];
    const bool is_short = rec_step_program_is_short(row);
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < step->executions; k++) {
        const rec_execution *e = &s->process->executions[s->order[step->first + k]];
        if (e->program == row->program) {
            sum += price_of(s, e, is_short);
            count++;
        }
    }
    return count ? sum / count : row->call_ns;
}

/* The time of step I as one execution. */
static double fused_of(const rec_steps *s, size_t i, double with)
{
    const rec_step *step = &s->list[i];
    const double saved = (step->executions - 1) * fixed_of(s, i, with);
    return fmax((double)step->wall_ns - saved, 0);
}

static void judge_fused(const rec_steps *s, rec_answer *a)
{
    const double nan = (double)NAN;
    const rec_step_program *row = cheapest(s);
    a->overhead_ns = a->fused_ns = (res_interval){nan, nan, nan};
    a->overhead_known = row && overhead_is_known(s);
    if (!a->overhead_known)
        return;
    const double with = (double)(row - s->programs);
    a->fixed_whole = rec_step_program_is_short(row);
    a->overhead_ns = over_steps(s, fixed_of, with);
    if (a->executions > 1)
        a->fused_ns = over_steps(s, fused_of, with);
}

/* ---- gaps -----------------------------------------------------------------------------------
 */

/* Sums over all steady steps. */
typedef struct sums {
    double wall_ns, busy_ns, gap_ns[REC_PART_COUNT];
    size_t ahead;
} sums;

static sums sum_up(const rec_steps *steps)
{
    sums sum = {0};
    for (size_t i = 0; i < steps->count; i++) {
        sum.wall_ns += (double)steps->list[i].wall_ns;
        sum.busy_ns += (double)steps->list[i].busy_ns;
        sum.ahead += steps->list[i].ahead;
        for (int k = 0; k < REC_PART_COUNT; k++)
            sum.gap_ns[k] += (double)steps->list[i].gap_ns[k];
    }
    return sum;
}

/* The largest part of the gaps. Bytes that are moved count together, whichever way. */
static rec_part largest_gap(const sums *sum)
{
    rec_part largest = REC_PART_HOST;
    double most = 0;
    for (int k = 0; k < REC_PART_COUNT; k++) {
        const double ns = k == REC_PART_READ       ? 0
                          : k == REC_PART_TRANSFER ? sum->gap_ns[k] + sum->gap_ns[REC_PART_READ]
                                                   : sum->gap_ns[k];
        if (ns > most) {
            most = ns;
            largest = (rec_part)k;
        }
    }
    return largest;
}

/*
 * Attribution of the time in which the device is idle. From a call's begin to the reported end the
 * host has submitted something: idle time in between is a gap of dispatch.
 * While nothing is submitted, the host is awaited, but for a call that goes on after its execution
 * has ended. Without a profile it is unknown when kernels ran.
 */
static void set_gaps(const rec_steps *s, const sums *sum, rec_answer *a)
{
    const double nan = (double)NAN, steps = (double)s->count;
    a->dispatch_profiled = s->completions && isfinite(a->kernels_ns.estimate);
    a->host_gap_ns = a->dispatch_gap_ns = a->calls_ns = nan;
    if (!s->completions || s->count == 0)
        return;
    const double own_ns = sum->gap_ns[REC_PART_DISPATCH] / steps;
    a->host_gap_ns = (sum->wall_ns - sum->busy_ns) / steps - own_ns;
    a->dispatch_gap_ns = own_ns;
    a->calls_ns = 0;
    if (a->dispatch_profiled) {
        a->dispatch_gap_ns += fmax(0, sum->busy_ns / steps - a->kernels_ns.estimate);
        return;
    }
    const double fixed_ns = a->overhead_known ? fmax(0, a->overhead_ns.estimate) : 0;
    for (size_t i = 0; i < s->count; i++)
        a->calls_ns += rec_step_calls_ns(s, i, fixed_ns) / steps;
}

/* ---- the verdict ------------------------------------------------------------------------ */

const char *rec_verdict_name(rec_verdict verdict)
{
    static const char *const names[] = {"unknown", "device-bound", "host-bound", "dispatch-bound"};
    return names[verdict];
}

/* MEAN_NS: the mean step, which the gaps are of. */
static rec_verdict judge(const rec_answer *a, double mean_ns)
{
    const bool busy = a->busy_share >= BUSY;
    if (isnan(a->busy_share) || (!busy && isnan(a->host_gap_ns)))
        return REC_UNKNOWN;
    if (!busy && a->dispatch_gap_ns > a->host_gap_ns)
        return REC_DISPATCH_BOUND;
    /* Time in calls is a gap at most. */
    const double most_ns = a->dispatch_gap_ns + a->calls_ns;
    if (!a->dispatch_profiled && most_ns > a->host_gap_ns && a->calls_ns >= CALLS * mean_ns)
        return REC_DISPATCH_BOUND;
    return busy ? REC_DEVICE_BOUND : REC_HOST_BOUND;
}

rec_answer rec_answer_make(const rec_steps *steps)
{
    const double nan = (double)NAN, count = (double)steps->count;
    const sums sum = sum_up(steps);
    rec_answer a = {.executions = steps->executions_per_step,
                    .busy_share = nan,
                    .ahead_share = nan,
                    .gap_part = largest_gap(&sum),
                    .no_gaps_ns = {nan, nan, nan},
                    .kernels_ns = steps->kernels_ns};
    a.wall_ns = over_steps(steps, wall_of, 0);
    a.host_only_ns = over_steps(steps, host_of, 0);
    if (steps->completions && steps->count) {
        a.busy_share = sum.wall_ns > 0 ? sum.busy_ns / sum.wall_ns : nan;
        a.ahead_share = (double)sum.ahead / count;
        a.no_gaps_ns = over_steps(steps, busy_of, 0);
    }
    /* A median: other steps were profiled than are steady. The share is of the mean step, as the
     * gaps are. */
    if (isfinite(a.kernels_ns.estimate) && sum.wall_ns > 0) {
        a.busy_share = fmin(1, a.kernels_ns.estimate * count / sum.wall_ns);
        a.no_gaps_ns = a.kernels_ns;
    }
    judge_fused(steps, &a);
    set_gaps(steps, &sum, &a);
    a.verdict = judge(&a, sum.wall_ns / count);
    return a;
}
