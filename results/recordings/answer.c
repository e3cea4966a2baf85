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

#define BATCHES       10
#define LEAST_BATCH   3 /* steps of a batch */
/* The device works nearly all the time. */
#define BUSY          0.9
/* Fixed costs keep the device busy if they are so much of the wall time, in so many executions. */
#define FIXED         (1.0 / 3)
#define FIXED_MANY    8
/* A cheapest program that takes longer than this does work of its own. */
#define MOST_FIXED_NS 1e6

/* What is asked of step I. */
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

res_interval rec_steps_interval(const rec_steps *s, const double *values)
{
    const double nan = (double)NAN;
    const size_t samples = rec_steps_samples(s);
    double batches[BATCHES], *room = malloc((2 * samples + 2) * sizeof *room);
    size_t count = samples / LEAST_BATCH;
    res_interval out = {nan, nan, nan};
    if (!room)
        return out;
    take_samples(s, values, room, samples);
    count = count > BATCHES ? BATCHES : count;
    for (size_t b = 0; b < count; b++) {
        const size_t from = samples * b / count, to = samples * (b + 1) / count;
        for (size_t i = from; i < to; i++)
            room[samples + i - from] = room[i];
        batches[b] = res_median(room + samples, to - from);
    }
    out.estimate = res_median(room, samples);
    free(room);
    const res_estimate estimate = res_estimate_of(batches, count);
    const double half = res_estimate_half(&estimate, 0.05);
    out.low = out.estimate - half;
    out.high = out.estimate + half;
    return out;
}

/* The same of what OF says of each step. */
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

/* ---- the fixed cost of an execution -------------------------------------------------------------
 */

/* The program with the shortest call; NULL: none. */
static const rec_step_program *cheapest(const rec_steps *s)
{
    const rec_step_program *best = NULL;
    for (size_t i = 0; i < s->program_count; i++) {
        const rec_step_program *p = &s->programs[i];
        /* One that is not in each step is no part of what is fused. */
        if (p->times > 0.99 && (!best || p->call_ns < best->call_ns))
            best = p;
    }
    return best;
}

/* The mean call of the program WITH in step I; all steps' where it is not in this one. */
static double fixed_of(const rec_steps *s, size_t i, double with)
{
    const rec_step_program *row = &s->programs[(size_t)with];
    const rec_step *step = &s->list[i];
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < step->executions; k++) {
        const rec_execution *e = &s->process->executions[s->order[step->first + k]];
        if (e->program == row->program) {
            sum += (double)(e->end_ns - e->begin_ns);
            count++;
        }
    }
    return count ? sum / count : row->call_ns;
}

/* What step I would take as one execution. */
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
    a->cheapest_told = row && row->call_ns <= MOST_FIXED_NS;
    if (!a->cheapest_told)
        return;
    const double with = (double)(row - s->programs);
    a->overhead_ns = over_steps(s, fixed_of, with);
    if (a->executions > 1)
        a->fused_ns = over_steps(s, fused_of, with);
}

/* ---- the verdict ------------------------------------------------------------------------ */

const char *rec_verdict_name(rec_verdict verdict)
{
    static const char *const names[] = {"unknown", "device-bound", "host-bound", "dispatch-bound"};
    return names[verdict];
}

static rec_verdict judge(const rec_answer *a)
{
    if (isnan(a->busy_share))
        return REC_UNKNOWN;
    if (a->busy_share < BUSY)
        return a->gap_part == REC_PART_DISPATCH ? REC_DISPATCH_BOUND : REC_HOST_BOUND;
    const double saved = a->wall_ns.estimate - a->fused_ns.estimate;
    if (a->executions >= FIXED_MANY && saved >= FIXED * a->wall_ns.estimate)
        return REC_DISPATCH_BOUND;
    return REC_DEVICE_BOUND;
}

rec_answer rec_answer_make(const rec_steps *steps)
{
    const double nan = (double)NAN;
    rec_answer a = {.executions = steps->executions_per_step, .busy_share = nan};
    double wall = 0, busy = 0, gaps[REC_PART_COUNT] = {0};
    size_t ahead = 0;
    for (size_t i = 0; i < steps->count; i++) {
        wall += (double)steps->list[i].wall_ns;
        busy += (double)steps->list[i].busy_ns;
        ahead += steps->list[i].ahead;
        for (int k = 0; k < REC_PART_COUNT; k++)
            gaps[k] += (double)steps->list[i].gap_ns[k];
    }
    /* Bytes that are moved count together, whichever way. */
    gaps[REC_PART_TRANSFER] += gaps[REC_PART_READ];
    gaps[REC_PART_READ] = 0;
    for (int k = 0; k < REC_PART_COUNT; k++)
        if (gaps[k] > gaps[a.gap_part])
            a.gap_part = (rec_part)k;
    a.wall_ns = over_steps(steps, wall_of, 0);
    a.host_only_ns = over_steps(steps, host_of, 0);
    a.no_gaps_ns = (res_interval){nan, nan, nan};
    a.ahead_share = nan;
    if (steps->completions && steps->count) {
        a.busy_share = wall > 0 ? busy / wall : nan;
        a.ahead_share = (double)ahead / (double)steps->count;
        a.no_gaps_ns = over_steps(steps, busy_of, 0);
    }
    a.kernels_ns = steps->kernels_ns;
    /* A median: other steps were profiled than are steady. The share is of the mean step, as the
     * gaps are. */
    if (isfinite(a.kernels_ns.estimate) && wall > 0) {
        a.busy_share = fmin(1, a.kernels_ns.estimate * (double)steps->count / wall);
        a.no_gaps_ns = a.kernels_ns;
    }
    judge_fused(steps, &a);
    a.verdict = judge(&a);
    return a;
}
