/*
 * rule_preempted.c - the thread is ready to run, and others have the cores.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

/* Of each at least LEAST_BATCH steps, as for the medians of other rules. */
enum { BATCHES = 10, LEAST_BATCH = 3 };

/* The time of STEP that it costs: while the device works meanwhile, it costs nothing outside of
 * calls. Within calls that is unknown. */
static double cost_of(const rec_steps *steps, const rec_step *step)
{
    const uint64_t outside = step->part_ns[REC_PART_READY], gap = step->gap_ns[REC_PART_READY];
    const uint64_t hidden = steps->completions && outside > gap ? outside - gap : 0;
    return (double)(step->ready_ns > hidden ? step->ready_ns - hidden : 0);
}

/* Whoever has the core keeps it for milliseconds, so of short steps some wait and most do not: the
 * median would be 0. This is the mean, with the interval of means of batches. */
static res_interval mean_cost(const rec_steps *steps)
{
    const size_t batches =
        steps->count / LEAST_BATCH < BATCHES ? steps->count / LEAST_BATCH : BATCHES;
    double mean[BATCHES] = {0}, sum = 0;
    for (size_t b = 0; b < batches; b++) {
        const size_t from = steps->count * b / batches, to = steps->count * (b + 1) / batches;
        for (size_t i = from; i < to; i++)
            mean[b] += cost_of(steps, &steps->list[i]) / (double)(to - from);
    }
    for (size_t i = 0; i < steps->count; i++)
        sum += cost_of(steps, &steps->list[i]);
    const double estimate = sum / (double)steps->count;
    const res_estimate of = res_estimate_of(mean, batches);
    const double half = res_estimate_half(&of, 0.05);
    return (res_interval){estimate, estimate - half, estimate + half};
}

static bool check(rec_checking *c)
{
    if (!c->steps->delays)
        return true;
    const res_interval cost = mean_cost(c->steps);
    const double wall_ns = rec_steps_wall(c->steps).mean_ns;
    if (rec_is_above(cost, RES_DOCTOR_SHARE, wall_ns))
        rec_add(c, REC_RULE_PREEMPTED, cost, wall_ns);
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    (void)c;
    bn_text_puts(out, "waiting for a core that another thread or program had");
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    (void)checkup;
    (void)c;
    bn_text_puts(out, "The thread was ready to run. Start fewer processes, or use more cores; give "
                      "the program cores of its own (taskset) or others less priority (nice). "
                      "Threads of this process may be the ones, such as XLA's own on a CPU.");
}

const rec_doctor_rule rec_rule_preempted = {
    .name = "preempted",
    .check = check,
    .subject = put_subject,
    .advice = put_advice,
};
