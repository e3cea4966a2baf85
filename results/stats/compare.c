/*
 * compare.c - two sides of processes: ratio, spread and slow processes. compare_family.c judges.
 *
 * The mean of all pairs' log ratios is the estimate, and its error comes from the pairs' own
 * spread, which holds all that differs between processes. The interval is Student's. With interim
 * analyses, it is that of the analysis' share of 5 %, so that it holds the truth in 95 of 100 cases
 * at whichever the comparison ends (C. Jennison and B. W. Turnbull, "Repeated confidence intervals
 * for group sequential clinical trials", Controlled Clinical Trials 5, 1984).
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

/* Of intervals, which are those of one comparison alone. */
#define INTERVAL_LEVEL 0.05

static const res_interval no_interval = {(double)NAN, (double)NAN, (double)NAN};

res_compare_options res_compare_defaults(void)
{
    return (res_compare_options){.level = 0.05 - RES_SLOW_LEVEL, .delta = 0.03};
}

/* One step of splitmix64: neighbouring seeds give unrelated bits. */
static uint64_t mixed(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

void res_order(uint64_t seed, size_t pairs, bool *b_first)
{
    const uint64_t state = mixed(seed);
    for (size_t i = 0; i < pairs; i++)
        b_first[i] = mixed(state + i) & 1;
}

/* ---- pairs ---------------------------------------------------------------------- */

/* Standard error of the mean of COUNT values, two or more. */
static double spread_error(const double *d, size_t count)
{
    return gsl_stats_sd(d, 1, count) / sqrt((double)count);
}

res_interval res_mean_difference(const double *d, size_t count, double *p)
{
    res_interval mean = no_interval;
    *p = 1;
    if (count > 0)
        mean.estimate = gsl_stats_mean(d, 1, count);
    if (count < RES_LEAST_PROCESSES)
        return mean;
    const double error = spread_error(d, count), df = (double)count - 1;
    const double half = gsl_cdf_tdist_Qinv(0.025, df) * error;
    mean.low = mean.estimate - half;
    mean.high = mean.estimate + half;
    *p = 2 * res_upper_tail(fabs(mean.estimate), error, df);
    return mean;
}

static void estimate(res_comparison *c, const res_values *values)
{
    double sorted[RES_MOST_PAIRS];
    const double mean = gsl_stats_mean(c->log_ratio, 1, c->pairs), df = (double)c->pairs - 1;
    memcpy(sorted, c->log_ratio, c->pairs * sizeof *sorted);
    c->median = exp(res_median(sorted, c->pairs));
    c->ratio = (res_interval){exp(mean), (double)NAN, (double)NAN};
    c->error = (double)NAN;
    c->p_once = 1;
    res_slow_find(values, c->log_ratio, c->slow, c->fast);
    if (c->pairs < RES_LEAST_PROCESSES)
        return;
    c->error = spread_error(c->log_ratio, c->pairs);
    const double half = gsl_cdf_tdist_Qinv(INTERVAL_LEVEL * c->share / 2, df) * c->error;
    c->ratio.low = exp(mean - half);
    c->ratio.high = exp(mean + half);
    c->p_once = 2 * res_upper_tail(fabs(mean), c->error, df);
}

/* ---- values ------------------------------------------------------------------------- */

static bool all_alike(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return count > 0;
}

/* The value of one pair, as if it were the logarithm of a ratio. The logarithm of 1 + the share of
 * a unit is given the share's sign, so that sides that change places change the sign only. */
static double log_ratio_of(double a, double b, double unit)
{
    const double share = (b - a) / unit;
    return unit > 0 ? copysign(log1p(fabs(share)), share) : log(b) - log(a);
}

static bn_code check(const res_values *v, const res_compare_options *o, bn_status *st)
{
    if (!(o->level > 0 && o->level < 1) || !(o->delta > 0 && isfinite(o->delta)))
        return bn_fail(st, BN_INVALID, "level %g must be between 0 and 1, delta %g above 0",
                       o->level, o->delta);
    if (v->pairs == 0 || v->pairs > RES_MOST_PAIRS)
        return bn_fail(st, BN_INVALID, "%zu pairs of values; 1 to %d can be compared", v->pairs,
                       RES_MOST_PAIRS);
    for (size_t i = 0; i < v->pairs; i++)
        if (!isfinite(log_ratio_of(v->a[i], v->b[i], v->unit)))
            return bn_fail(st, BN_INVALID, "the values %g and %g of pair %zu cannot be compared",
                           v->a[i], v->b[i], i);
    return BN_OK;
}

bn_code res_compare(const res_values *values, const res_compare_options *options, res_comparison *c,
                    bn_status *st)
{
    bn_code code = check(values, options, st);
    if (code != BN_OK)
        return code;
    *c = (res_comparison){.pairs = values->pairs,
                          .share = res_plan_share(options->plan, values->pairs),
                          .delta = options->delta,
                          .weight = 1,
                          .constant = all_alike(values->a, values->pairs) &&
                                      all_alike(values->b, values->pairs)};
    for (size_t i = 0; i < values->pairs; i++)
        c->log_ratio[i] = log_ratio_of(values->a[i], values->b[i], values->unit);
    estimate(c, values);
    res_compare_family(c, 1, options);
    return BN_OK;
}

res_comparison res_compare_nothing(double weight)
{
    return (res_comparison){.ratio = no_interval,
                            .median = (double)NAN,
                            .error = (double)NAN,
                            .p_once = 1,
                            .share = 1,
                            .slow = {{.factor = (double)NAN}, {.factor = (double)NAN}},
                            .fast = {{.factor = (double)NAN}, {.factor = (double)NAN}},
                            .weight = weight};
}
