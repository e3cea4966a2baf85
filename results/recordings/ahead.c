/*
 * ahead.c - a host that runs ahead of the device.
 *
 * It submits some steps at once, and then waits for all of them: the walls of single steps by its
 * calls are short, short, ..., long, and none is what a step takes. What a step takes is between
 * its completion and that of the step before. Plugins may report several completions at once, so
 * figures are means of blocks of steps, which lose nothing of the sum.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>

/* Blocks of steps that are samples. */
#define BLOCKS 30
/* Less of the median wall is no lead. */
#define SKEWED 0.05

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

/* The median wall; 0 without memory. */
static double median_wall(const rec_steps *s)
{
    double *walls = malloc((s->count + 1) * sizeof *walls);
    for (size_t i = 0; walls && i < s->count; i++)
        walls[i] = (double)s->list[i].wall_ns;
    const double median = walls && s->count ? res_median(walls, s->count) : 0;
    free(walls);
    return median;
}

static bool ends_are_known(const rec_steps *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!s->list[i].complete_ns)
            return false;
    return true;
}

/* A step lasts from the end of the work before it to that of its own. Behind one that is left out
 * it begins with its own first call, if that is later. */
static void use_completions(rec_steps *s)
{
    uint64_t done = 0; /* when all work before the step at hand had ended */
    uint32_t at = 0;
    for (size_t i = 0; i < s->count; i++) {
        rec_step *step = &s->list[i];
        const bool adjacent = i > 0 && s->list[i - 1].number + 1 == step->number;
        for (; at < step->first; at++) {
            const uint64_t complete =
                rec_steps_span(s, &s->process->executions[s->order[at]])->complete_ns;
            done = complete > done ? complete : done;
        }
        const uint64_t from = done && (adjacent || done > step->begin_ns) ? done : step->begin_ns;
        const uint64_t to = step->complete_ns > from ? step->complete_ns : from;
        step->begin_ns = from;
        step->wall_ns = to - from;
        done = to;
    }
}

void rec_ahead_find(rec_steps *steps)
{
    const uint32_t block = steps->count / BLOCKS > 1 ? (uint32_t)(steps->count / BLOCKS) : 1;
    steps->cycle = 1;
    if (steps->count == 0)
        return;
    steps->by_completion =
        steps->completions && runs_ahead(steps, median_wall(steps)) && ends_are_known(steps);
    if (steps->by_completion)
        use_completions(steps);
    if (steps->by_completion || !steps->completions)
        steps->cycle = block;
}
