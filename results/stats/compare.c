/*
 * compare.c - two sides of processes: which pairs count, ratio and error. compare_family.c judges.
 *
 * Disturbed pairs are left out first (keep_pairs). The mean of the others' log ratios is the
 * estimate. Its error is the larger of two. One is the spread of the pairs, which holds all that
 * differs between processes, and the error of each process's median besides. The other is the
 * error of the medians alone, by the block bootstrap: a floor for pairs that agree by luck. Adding
 * both would count the steps twice, as resampling at both levels does (A. C. Davison and D. V.
 * Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8).
 *
 * The interval is Student's on that error, or the one of flipped signs (res_flip_bounds) where
 * that is wider: processes of two speeds are not normal. A percentile interval of P pairs is too
 * narrow by sqrt((P - 1) / P) and by the normal's quantiles in place of Student's (T. Hesterberg,
 * "What Teachers Should Know About the Bootstrap", American Statistician 69, 2015): for P = 3 less
 * than half as wide as it should be. And P values have no quantiles further out.
 * `bench selftest statistics` prints how often both intervals hold the truth.
 *
 * With interim analyses, the interval is that of the analysis' share of 5 %, so that it holds the
 * truth in 95 of 100 cases at whichever the comparison ends (C. Jennison and B. W. Turnbull,
 * "Repeated confidence intervals for group sequential clinical trials", Controlled Clinical Trials
 * 5, 1984).
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resampled medians of a process: few are enough, since a comparison sums over processes. */
#define WITHIN         25
/* Steps from which a median can be resampled. */
#define FEWEST_STEPS   3
/* A pair is disturbed when it lies this many times as far from the median as three quarters of the
 * pairs do: 6.9 standard deviations of a normal distribution. */
#define DISTURBED      6
/* Fewer pairs do not show the usual distance. */
#define FEWEST_USUAL   6
/* Of intervals, which are those of one comparison alone. */
#define INTERVAL_LEVEL 0.05

static const res_interval no_interval = {(double)NAN, (double)NAN, (double)NAN};

res_compare_options res_compare_defaults(void)
{
    return (res_compare_options){.level = 0.05, .delta = 0.03, .resamples = 2000, .seed = 1};
}

/* One step of splitmix64: neighbouring seeds give unrelated bits. */
static uint64_t mixed(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* COUNT orders, half of them each way round (or one more), drawn at random. */
static void halves(uint64_t state, size_t count, bool *b_first)
{
    for (size_t i = 0; i < count; i++)
        b_first[i] = (i ^ state) & 1;
    for (size_t i = count; i > 1; i--) {
        state = mixed(state);
        const size_t other = (size_t)(state % i);
        const bool kept = b_first[i - 1];
        b_first[i - 1] = b_first[other];
        b_first[other] = kept;
    }
}

void res_order(uint64_t seed, size_t pairs, bool interim, bool *b_first)
{
    const uint64_t state = mixed(seed);
    size_t by_halves = pairs < RES_COIN_PAIRS ? pairs : 0;
    if (interim)
        by_halves = pairs < RES_HALVES ? pairs : RES_HALVES;
    halves(state, by_halves, b_first);
    for (size_t i = by_halves; i < pairs; i++)
        b_first[i] = mixed(state + i) & 1;
}

/* ---- processes ------------------------------------------------------------------ */

/* A process by the log of its median step, and those of resampled medians. */
typedef struct process {
    double log_median;
    double drawn[WITHIN];
} process;

static bn_code check_side(const res_side *s, const char *name, bn_status *st)
{
    for (size_t i = 0; i < s->processes; i++) {
        if (s->counts[i] == 0)
            return bn_fail(st, BN_INVALID, "process %zu of side %s has no steps", i, name);
        for (size_t k = 0; k < s->counts[i]; k++)
            if (s->series[i][k] == 0)
                return bn_fail(st, BN_INVALID,
                               "step %zu of process %zu of side %s took 0 ns: the clock is too "
                               "coarse to compare with",
                               k, i, name);
        if (s->values && !(s->values[i] > 0 && isfinite(s->values[i])))
            return bn_fail(st, BN_INVALID, "process %zu of side %s has the value %g", i, name,
                           s->values[i]);
    }
    return BN_OK;
}

static bn_code check_options(const res_compare_options *o, bn_status *st)
{
    if (!(o->level > 0 && o->level < 1) || !(o->delta > 0 && isfinite(o->delta)))
        return bn_fail(st, BN_INVALID, "level %g must be between 0 and 1, delta %g above 0",
                       o->level, o->delta);
    return BN_OK;
}

static bn_code check(const res_side *a, const res_side *b, const res_compare_options *o,
                     bn_status *st)
{
    if (a->processes == 0 || b->processes == 0)
        return bn_fail(st, BN_INVALID, "side %s has no processes", a->processes == 0 ? "A" : "B");
    if (a->processes != b->processes)
        return bn_fail(st, BN_INVALID,
                       "side A has %zu processes, side B %zu: they are compared in pairs",
                       a->processes, b->processes);
    if (a->processes > RES_MOST_PAIRS)
        return bn_fail(st, BN_INVALID, "%zu processes a side; at most %d can be compared",
                       a->processes, RES_MOST_PAIRS);
    bn_code code = check_options(o, st);
    if (code == BN_OK)
        code = check_side(a, "A", st);
    return code == BN_OK ? check_side(b, "B", st) : code;
}

/* Reads process I of FROM. Resampled medians lie around its value. */
static void read_process(const res_side *from, size_t i, gsl_rng *rng, process *out)
{
    const size_t count = from->counts[i];
    res_series s;
    res_series_make(&s, from->series[i], count);
    const double of_steps = log(res_series_median(&s));
    out->log_median = from->values ? log(from->values[i]) : of_steps;
    for (size_t k = 0; k < WITHIN; k++)
        out->drawn[k] = out->log_median +
                        (count < FEWEST_STEPS ? 0 : log(res_series_resample(&s, rng)) - of_steps);
    res_series_free(&s);
}

/* ---- pairs ---------------------------------------------------------------------- */

/* Writes the numbers of the pairs that count to KEPT and returns how many. A pair of which one
 * process was disturbed as a whole would hide any difference of the others. Usual is a distance
 * from the median that three quarters of the pairs keep: if more than a quarter lie further out,
 * they are no exceptions, the machine is like that. */
static size_t keep_pairs(const double *d, size_t count, size_t *kept)
{
    double sorted[RES_MOST_PAIRS] = {0}, distance[RES_MOST_PAIRS] = {0};
    double limit = (double)INFINITY;
    size_t n = 0;
    memcpy(sorted, d, count * sizeof *d);
    gsl_sort(sorted, 1, count);
    const double median = gsl_stats_median_from_sorted_data(sorted, 1, count);
    for (size_t i = 0; i < count; i++)
        distance[i] = sorted[i] = fabs(d[i] - median);
    gsl_sort(sorted, 1, count);
    const double usual = sorted[(3 * count + 3) / 4 - 1];
    /* Pairs without any distance show how coarse the clock is. */
    if (count >= FEWEST_USUAL && usual > 0)
        limit = DISTURBED * usual;
    for (size_t i = 0; i < count; i++)
        if (distance[i] <= limit)
            kept[n++] = i;
    return n;
}

/* Error of the mean of N pairs that the steps alone explain. */
static double steps_error(const process *a, const process *b, const size_t *kept, size_t n)
{
    double variance = 0;
    for (size_t i = 0; i < n; i++)
        variance += gsl_stats_variance(a[kept[i]].drawn, 1, WITHIN) +
                    gsl_stats_variance(b[kept[i]].drawn, 1, WITHIN);
    return sqrt(variance) / (double)n;
}

/* Percentile interval of the ratio over resampled pairs of resampled processes. */
static res_interval bootstrap(const process *a, const process *b, const size_t *kept, size_t n,
                              double estimate, size_t resamples, gsl_rng *rng)
{
    double *ratios = bn_zalloc(resamples, sizeof *ratios);
    for (size_t i = 0; i < resamples; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) {
            const size_t pair = kept[gsl_rng_uniform_int(rng, n)];
            sum += b[pair].drawn[gsl_rng_uniform_int(rng, WITHIN)];
            sum -= a[pair].drawn[gsl_rng_uniform_int(rng, WITHIN)];
        }
        ratios[i] = exp(sum / (double)n);
    }
    const res_interval interval = res_percentile_interval(estimate, ratios, resamples);
    free(ratios);
    return interval;
}

/*
 * Standard error of the mean of COUNT differences by their spread. Signs that are drawn by halves
 * sum to zero, so they are correlated by -1 / (N - 1). The machine's own differences, later minus
 * earlier, may sum to zero as well: a speed that wanders and returns comes near that. Then the mean
 * varies (N - 1) / (N - 2) times as much as the spread says. This is always allowed for: Student's
 * t of few pairs needs as much where differences are not normal.
 */
static double spread_error(const double *d, size_t count)
{
    const double n = (double)count, sd = gsl_stats_sd(d, 1, count);
    return sd / sqrt(n) * sqrt((n - 1) / (n - 2));
}

res_interval res_mean_difference(const double *d, size_t count, double *p)
{
    res_interval mean = no_interval;
    *p = 1;
    if (count > 0)
        mean.estimate = gsl_stats_mean(d, 1, count);
    if (count < RES_FEWEST_PAIRS)
        return mean;
    const double error = spread_error(d, count), df = (double)count - 1;
    const double half = gsl_cdf_tdist_Qinv(0.025, df) * error;
    mean.low = mean.estimate - half;
    mean.high = mean.estimate + half;
    *p = 2 * res_upper_tail(fabs(mean.estimate), error, df);
    return mean;
}

static void estimate(res_comparison *c, double floor)
{
    const double mean = gsl_stats_mean(c->log_ratio, 1, c->pairs), df = (double)c->pairs - 1;
    const double level = INTERVAL_LEVEL * c->share;
    c->ratio = (res_interval){exp(mean), (double)NAN, (double)NAN};
    c->error = (double)NAN;
    c->p_t = 1;
    if (c->pairs < RES_FEWEST_PAIRS)
        return;
    c->error = fmax(spread_error(c->log_ratio, c->pairs), floor);
    const double half = gsl_cdf_tdist_Qinv(level / 2, df) * c->error;
    double low = mean - half, high = mean + half, flip_low, flip_high;
    if (res_flip_bounds(c->log_ratio, c->pairs, level, &flip_low, &flip_high)) {
        low = fmin(low, flip_low);
        high = fmax(high, flip_high);
    }
    c->ratio.low = exp(low);
    c->ratio.high = exp(high);
    c->p_t = 2 * res_upper_tail(fabs(mean), c->error, df);
}

/* Begins the comparison of COUNT pairs whose log ratios are D: those that count, in C->kept. */
static void begin_comparison(const double *d, size_t count, const res_compare_options *o,
                             res_comparison *c)
{
    *c = (res_comparison){.bootstrap = no_interval, .delta = o->delta, .weight = 1};
    c->share = res_interim_share(o->interim, count);
    c->pairs = keep_pairs(d, count, c->kept);
    c->disturbed = count - c->pairs;
    for (size_t i = 0; i < c->pairs; i++)
        c->log_ratio[i] = d[c->kept[i]];
}

/* ---- sides ------------------------------------------------------------------------ */

static void compare_processes(const process *a, const process *b, size_t count, gsl_rng *rng,
                              const res_compare_options *o, res_comparison *c)
{
    double d[RES_MOST_PAIRS] = {0};
    const size_t *kept = c->kept;
    for (size_t i = 0; i < count; i++)
        d[i] = b[i].log_median - a[i].log_median;
    begin_comparison(d, count, o, c);
    estimate(c, steps_error(a, b, kept, c->pairs));
    c->p_flip = res_flip_p(c->log_ratio, c->pairs, o->seed);
    if (o->resamples > 0)
        c->bootstrap = bootstrap(a, b, kept, c->pairs, c->ratio.estimate, o->resamples, rng);
    res_compare_family(c, 1, o);
}

bn_code res_compare(const res_side *a, const res_side *b, const res_compare_options *options,
                    res_comparison *comparison, bn_status *st)
{
    bn_code code = check(a, b, options, st);
    if (code != BN_OK)
        return code;
    const size_t count = a->processes;
    process *processes = bn_zalloc(2 * count, sizeof *processes);
    gsl_rng *rng = res_rng_new(options->seed);
    for (size_t i = 0; i < count; i++) {
        read_process(a, i, rng, &processes[i]);
        read_process(b, i, rng, &processes[count + i]);
    }
    compare_processes(processes, processes + count, count, rng, options, comparison);
    gsl_rng_free(rng);
    free(processes);
    return BN_OK;
}

/* ---- single values ------------------------------------------------------------------ */

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

static bn_code check_values(const res_values *v, bn_status *st)
{
    if (v->pairs == 0 || v->pairs > RES_MOST_PAIRS)
        return bn_fail(st, BN_INVALID, "%zu pairs of values; 1 to %d can be compared", v->pairs,
                       RES_MOST_PAIRS);
    for (size_t i = 0; i < v->pairs; i++)
        if (!isfinite(log_ratio_of(v->a[i], v->b[i], v->unit)))
            return bn_fail(st, BN_INVALID, "the values %g and %g of pair %zu cannot be compared",
                           v->a[i], v->b[i], i);
    return BN_OK;
}

bn_code res_compare_values(const res_values *values, const res_compare_options *options,
                           res_comparison *c, bn_status *st)
{
    double d[RES_MOST_PAIRS] = {0};
    bn_code code = check_options(options, st);
    if (code == BN_OK)
        code = check_values(values, st);
    if (code != BN_OK)
        return code;
    for (size_t i = 0; i < values->pairs; i++)
        d[i] = log_ratio_of(values->a[i], values->b[i], values->unit);
    begin_comparison(d, values->pairs, options, c);
    c->constant = all_alike(values->a, values->pairs) && all_alike(values->b, values->pairs);
    estimate(c, 0);
    c->p_flip = res_flip_p(c->log_ratio, c->pairs, options->seed);
    res_compare_family(c, 1, options);
    return BN_OK;
}
