/*
 * further.c - which cells of a night get further pairs, how many, and what that plan can see.
 */
#include "results/nights/further_priv.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#define MOST_INTERIM 8
#define MISSED     (1 - RES_POWER)
#define FAR        20.0 /* a log ratio that is as good as infinite */
#define HALVINGS   40

double res_night_wanted(const res_versus *versus, res_measure measure)
{
    const double wanted = versus->threshold > 0 ? versus->threshold : RES_NIGHT_MDE;
    return fmax(wanted, res_measure_threshold(versus, measure));
}

/* The ratio from which a cell seems slower. */
static double bar_of(const res_versus *versus, res_measure measure)
{
    return 1 + res_night_wanted(versus, measure) / 2;
}

bool res_night_candidate(const res_versus *versus, const res_compared *cell)
{
    const res_headline head = res_compared_headline(versus, cell);
    if (cell->pairs == 0 || cell->pairs >= res_plan_last(cell->plan) ||
        (head.verdict == RES_SLOWER && !head.little))
        return false;
    for (int i = 0; i < RES_MEASURE_COUNT; i++) {
        const res_measure m = (res_measure)i;
        const res_comparison *c = res_compared_measure(cell, m);
        if (c && (c->verdict == RES_UNDECIDED || c->verdict == RES_UNEVEN) &&
            c->ratio.estimate >= bar_of(versus, m))
            return true;
    }
    return false;
}

bool res_tonight_candidate(const res_tonight_verdict *verdict, const res_experiment *experiment)
{
    const res_versus *versus = &verdict->versus;
    for (size_t i = 0; verdict->judged && i < versus->count; i++)
        if (res_same_request(&versus->cells[i].experiment, experiment))
            return res_night_candidate(versus, &versus->cells[i]);
    return false;
}

size_t res_tonight_next_interim(const res_tonight_verdict *verdict, size_t pairs)
{
    return verdict->candidates > 0 ? res_plan_next(RES_NIGHT_PLAN, pairs) : 0;
}

/* An interim analysis of the plan: a slowdown is missed there where the mean log ratio is below
 * BAR. */
typedef struct analysis {
    double bar, error; /* standard error of that mean */
} analysis;

/* The error that an analysis of PAIRS has where comparison C shows the spread. */
static double error_at(const res_comparison *c, size_t pairs)
{
    return c->error * sqrt((double)c->pairs / (double)pairs);
}

/* The interim analyses of CELL, this one first; returns how many there are. */
static size_t interim_of(const res_versus *versus, const res_compared *cell, res_measure measure,
                         analysis list[MOST_INTERIM])
{
    const res_comparison *c = res_compared_measure(cell, measure);
    size_t count = 0, last = 0;
    for (size_t pairs = cell->pairs; pairs > 0 && count < MOST_INTERIM;
         pairs = res_plan_next(cell->plan, pairs)) {
        list[count++] = (analysis){log(bar_of(versus, measure)), error_at(c, pairs)};
        last = pairs;
    }
    /* The last one must find it significant. */
    const double share = res_plan_share(cell->plan, last);
    const double level = versus->options.level * share / c->family;
    if (count > 0)
        list[count - 1].bar =
            gsl_cdf_tdist_Qinv(level / 2, (double)last - 1) * list[count - 1].error;
    return count;
}

/* How often the COUNT analyses LIST miss the log ratio D, at most. */
static double missed(const analysis *list, size_t count, double d, double freedom)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += list[i].error > 0 ? gsl_cdf_tdist_Q((d - list[i].bar) / list[i].error, freedom)
                                 : d < list[i].bar;
    return sum;
}

double res_night_planned(const res_versus *versus, const res_compared *cell, res_measure measure)
{
    const res_comparison *c = res_compared_measure(cell, measure);
    analysis list[MOST_INTERIM];
    if (cell->plan == RES_PLAN_ONCE || c->pairs < RES_LEAST_PROCESSES ||
        res_night_candidate(versus, cell))
        return (double)INFINITY;
    const size_t count = interim_of(versus, cell, measure, list);
    const double freedom = (double)c->pairs - 1;
    double low = 0, high = 1;
    if (count < 2 || missed(list, count, FAR, freedom) > MISSED)
        return (double)INFINITY;
    while (missed(list, count, high, freedom) > MISSED)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (missed(list, count, middle, freedom) > MISSED)
            low = middle;
        else
            high = middle;
    }
    return expm1(high);
}
