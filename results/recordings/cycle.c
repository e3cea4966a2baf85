/*
 * cycle.c - how many steps in a row show how long one takes.
 *
 * A host that runs ahead of the device submits some steps at once, and then waits for all of
 * them: the walls of single steps are short, short, ..., long, and none is what a step takes. The
 * mean over such a cycle is.
 */
#include "results/recordings/recordings_priv.h"

#include <math.h>
#include <stdlib.h>

#define MOST_LOOKED  8192
#define MOST_CYCLE   512
/* Times a cycle must be there. */
#define LEAST_CYCLES 3
/* A wall of more medians counts as so many: one slow step is no cycle. */
#define MOST_MEDIANS 10.0
/* A cycle's autocorrelation, what it is above that of shorter ones, and in standard errors of none.
 */
#define LEAST_ALIKE  0.5
#define LEAST_ABOVE  0.2
#define LEAST_SURE   4.5
/* Where there is no cycle and yet the host runs ahead: so many samples. */
#define SAMPLES      10
/* Less of the median wall is no difference. */
#define SKEWED       0.05

/* The correlation of VALUES, whose mean is 0 and variance 1, with those LAG later. */
static double alike(const double *values, size_t count, size_t lag)
{
    double sum = 0;
    for (size_t i = 0; i + lag < count; i++)
        sum += values[i] * values[i + lag];
    return sum / (double)(count - lag);
}

/* Makes their mean 0 and their variance 1; false where they are all alike. */
static bool standardize(double *values, size_t count)
{
    double mean = 0, variance = 0;
    for (size_t i = 0; i < count; i++)
        mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        variance += (values[i] - mean) * (values[i] - mean) / (double)count;
    if (!(variance > 0))
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = (values[i] - mean) / sqrt(variance);
    return true;
}

static size_t cycle_of(const double *values, size_t count)
{
    const size_t most = count / LEAST_CYCLES < MOST_CYCLE ? count / LEAST_CYCLES : MOST_CYCLE;
    double before = most >= 1 ? alike(values, count, 1) : 0;
    for (size_t lag = 2; lag <= most; lag++) {
        const double r = alike(values, count, lag);
        if (r >= LEAST_ALIKE && r >= before + LEAST_ABOVE &&
            r * sqrt((double)(count - lag)) >= LEAST_SURE)
            return lag;
        before = fmax(before, r);
    }
    return 1;
}

/* Whether the host is more than a step ahead at the end of step I. A host that waits for each loss
 * begins the next step before this one's update has ended, but not the one after. */
static bool is_far_ahead(const rec_steps *s, size_t i)
{
    const rec_step *next = &s->list[i + 1 < s->count ? i + 1 : i];
    return s->list[i].complete_ns > next->begin_ns + next->wall_ns;
}

/* So long the device works on when STEP ends; below 0: it had ended so long before; 0: unknown. */
static double lead_of(const rec_step *step)
{
    const uint64_t end = step->begin_ns + step->wall_ns;
    return step->complete_ns ? (double)(int64_t)(step->complete_ns - end) : 0;
}

/* Whether the host is ahead at the end of step I, by more than LEAST longer than at its begin. */
static bool gets_ahead(const rec_steps *s, size_t i, double least)
{
    if (i == 0)
        return false;
    const rec_step *step = &s->list[i], *before = &s->list[i - 1];
    return before->begin_ns + before->wall_ns == step->begin_ns && lead_of(step) > 0 &&
           lead_of(step) - lead_of(before) > least;
}

/* Whether the host runs ahead in many steps. It does not where each step waits for its loss, and
 * every tenth one writes a checkpoint: each wall then says what its step takes. A host that waits
 * in every second step is never more than a step ahead, but gets ahead again in each other step. */
static bool runs_ahead(const rec_steps *s, double median)
{
    size_t ahead = 0;
    for (size_t i = 0; i < s->count; i++)
        ahead += is_far_ahead(s, i) || gets_ahead(s, i, SKEWED * median);
    return 4 * ahead >= s->count;
}

/* Whether the host is more than a step ahead in many steps, and their mean wall is not their
 * median. */
static bool is_skewed(const rec_steps *s, double median)
{
    size_t ahead = 0;
    double mean = 0;
    for (size_t i = 0; i < s->count; i++) {
        ahead += is_far_ahead(s, i);
        mean += (double)s->list[i].wall_ns / (double)s->count;
    }
    return 4 * ahead >= s->count && fabs(mean - median) > SKEWED * median;
}

bn_code rec_cycle_find(rec_steps *steps, bn_status *st)
{
    const size_t count = steps->count < MOST_LOOKED ? steps->count : MOST_LOOKED;
    const rec_step *list = steps->list + (steps->count - count);
    double *values = malloc((2 * count + 1) * sizeof *values);
    if (!values)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the steps");
    for (size_t i = 0; i < count; i++)
        values[i] = values[count + i] = (double)list[i].wall_ns;
    const double median = res_median(values + count, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fmin(values[i], MOST_MEDIANS * median);
    size_t cycle = 1;
    if (count >= LEAST_CYCLES && standardize(values, count))
        cycle = cycle_of(values, count);
    /* Without completions it is unknown. Means over a whole cycle are then right in either case. */
    if (cycle > 1 && steps->completions && !runs_ahead(steps, median))
        cycle = 1;
    if (cycle == 1 && steps->completions && is_skewed(steps, median))
        cycle = steps->count / SAMPLES > 1 ? steps->count / SAMPLES : 1;
    steps->cycle = (uint32_t)cycle;
    free(values);
    return BN_OK;
}
