/*
 * compare.c - two sides of processes: ratio, tests, equivalence, verdict.
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
 * Wherever the number of pairs can reach the corrected level, differences are told by flipped
 * signs (compare_flip.c), which assume only that like sides are as likely to differ either way.
 * Fewer pairs are judged by Student's t, which long tails make conservative (Y. Benjamini, "Is the
 * t test really conservative when the parent distribution is long-tailed?", JASA 78, 1983), down to
 * a number of pairs that choose_test explains. Below that nothing is told. Which test is used
 * depends on the numbers of pairs and comparisons, never on p.
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resampled medians of a process: few are enough, since a comparison sums over processes. */
#define WITHIN       25
/* Steps from which a median can be resampled. */
#define FEWEST_STEPS 3
/* A pair is disturbed when it lies this many times as far from the median as three quarters of the
 * pairs do: 6.9 standard deviations of a normal distribution. */
#define DISTURBED    6
/* So many pairs are needed to say what is usual. */
#define FEWEST_USUAL 6
/* Two pairs, one each way round, say nothing about their spread. */
#define FEWEST_PAIRS 3
#define POWER        0.8

static const res_interval no_interval = {(double)NAN, (double)NAN, (double)NAN};

res_compare_options res_compare_defaults(void)
{
    return (res_compare_options){.level = 0.05, .delta = 0.03, .resamples = 2000, .seed = 1};
}

const char *res_verdict_name(res_verdict verdict)
{
    static const char *const names[] = {"faster", "slower", "equivalent", "undecided"};
    return names[verdict];
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
    uint64_t state = mixed(seed);
    for (size_t i = 0; i < pairs; i++) {
        /* Few pairs: every other one, beginning with a coin's side, shuffled below. */
        const uint64_t coin = pairs < RES_COIN_PAIRS ? i ^ state : mixed(state + i);
        b_first[i] = coin & 1;
    }
    for (size_t i = pairs; pairs < RES_COIN_PAIRS && i > 1; i--) {
        state = mixed(state);
        const size_t other = (size_t)(state % i);
        const bool kept = b_first[i - 1];
        b_first[i - 1] = b_first[other];
        b_first[other] = kept;
    }
}

/* ---- processes ------------------------------------------------------------------ */

/* What stands for a process: the log of its median step, and of resampled medians. */
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
    }
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
    if (!(o->level > 0 && o->level < 1) || !(o->delta > 0 && isfinite(o->delta)))
        return bn_fail(st, BN_INVALID, "level %g must be between 0 and 1, delta %g above 0",
                       o->level, o->delta);
    bn_code code = check_side(a, "A", st);
    return code == BN_OK ? check_side(b, "B", st) : code;
}

static bool read_process(const uint64_t *steps, size_t count, gsl_rng *rng, process *out)
{
    res_series s;
    if (!res_series_make(&s, steps, count))
        return false;
    out->log_median = log(res_series_median(&s));
    for (size_t i = 0; i < WITHIN; i++)
        out->drawn[i] = count < FEWEST_STEPS ? out->log_median : log(res_series_resample(&s, rng));
    res_series_free(&s);
    return true;
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
static bn_code bootstrap(const process *a, const process *b, const size_t *kept, size_t n,
                         double estimate, size_t resamples, gsl_rng *rng, res_interval *interval,
                         bn_status *st)
{
    double *ratios = calloc(resamples, sizeof *ratios);
    if (!ratios)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu resamples", resamples);
    for (size_t i = 0; i < resamples; i++) {
        double sum = 0;
        for (size_t k = 0; k < n; k++) {
            const size_t pair = kept[gsl_rng_uniform_int(rng, n)];
            sum += b[pair].drawn[gsl_rng_uniform_int(rng, WITHIN)];
            sum -= a[pair].drawn[gsl_rng_uniform_int(rng, WITHIN)];
        }
        ratios[i] = exp(sum / (double)n);
    }
    *interval = res_percentile_interval(estimate, ratios, resamples);
    free(ratios);
    return BN_OK;
}

static double mean_of(const res_comparison *c)
{
    return gsl_stats_mean(c->log_ratio, 1, c->pairs);
}

static double freedom(const res_comparison *c)
{
    return (double)c->pairs - 1;
}

/* P(T > mean / error). Without any spread there is no doubt. */
static double upper_tail(double mean, double error, double df)
{
    if (error > 0)
        return gsl_cdf_tdist_Q(mean / error, df);
    return mean > 0 ? 0 : mean < 0 ? 1 : 0.5;
}

/*
 * Standard error of the mean of COUNT differences by their spread. Signs that are drawn by halves
 * sum to zero, so they are correlated by -1 / (N - 1). The machine's own differences, later less
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
    if (count < FEWEST_PAIRS)
        return mean;
    const double error = spread_error(d, count), df = (double)count - 1;
    const double half = gsl_cdf_tdist_Qinv(0.025, df) * error;
    mean.low = mean.estimate - half;
    mean.high = mean.estimate + half;
    *p = 2 * upper_tail(fabs(mean.estimate), error, df);
    return mean;
}

static void estimate(res_comparison *c, double floor)
{
    const double mean = mean_of(c);
    c->ratio = (res_interval){exp(mean), (double)NAN, (double)NAN};
    c->error = (double)NAN;
    c->p_t = 1;
    if (c->pairs < FEWEST_PAIRS)
        return;
    c->error = fmax(spread_error(c->log_ratio, c->pairs), floor);
    const double half = gsl_cdf_tdist_Qinv(0.025, freedom(c)) * c->error;
    double low = mean - half, high = mean + half, flip_low, flip_high;
    if (res_flip_bounds(c->log_ratio, c->pairs, 0.05, &flip_low, &flip_high)) {
        low = fmin(low, flip_low);
        high = fmax(high, flip_high);
    }
    c->ratio.low = exp(low);
    c->ratio.high = exp(high);
    c->p_t = 2 * upper_tail(fabs(mean), c->error, freedom(c));
}

static bn_code compare_processes(const process *a, const process *b, size_t count, gsl_rng *rng,
                                 const res_compare_options *o, res_comparison *c, bn_status *st)
{
    double d[RES_MOST_PAIRS] = {0};
    *c = (res_comparison){.bootstrap = no_interval};
    const size_t *kept = c->kept;
    for (size_t i = 0; i < count; i++)
        d[i] = b[i].log_median - a[i].log_median;
    c->pairs = keep_pairs(d, count, c->kept);
    c->disturbed = count - c->pairs;
    for (size_t i = 0; i < c->pairs; i++)
        c->log_ratio[i] = d[kept[i]];
    estimate(c, steps_error(a, b, kept, c->pairs));
    bn_code code = res_flip_p(c->log_ratio, c->pairs, o->seed, &c->p_flip, st);
    if (code == BN_OK && o->resamples > 0)
        code = bootstrap(a, b, kept, c->pairs, c->ratio.estimate, o->resamples, rng, &c->bootstrap,
                         st);
    return code == BN_OK ? res_compare_family(c, 1, o, st) : code;
}

bn_code res_compare(const res_side *a, const res_side *b, const res_compare_options *options,
                    res_comparison *comparison, bn_status *st)
{
    bn_code code = check(a, b, options, st);
    if (code != BN_OK)
        return code;
    const size_t count = a->processes;
    process *processes = calloc(2 * count, sizeof *processes);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    bool ready = processes && rng;
    if (rng)
        gsl_rng_set(rng, (unsigned long)options->seed);
    for (size_t i = 0; ready && i < count; i++)
        ready = read_process(a->series[i], a->counts[i], rng, &processes[i]) &&
                read_process(b->series[i], b->counts[i], rng, &processes[count + i]);
    if (ready)
        code = compare_processes(processes, processes + count, count, rng, options, comparison, st);
    else
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory to compare %zu processes", count);
    if (rng)
        gsl_rng_free(rng);
    free(processes);
    return code;
}

/* ---- families ------------------------------------------------------------------- */

bn_code res_holm(const double *p, size_t count, double *adjusted, bn_status *st)
{
    size_t *order = calloc(count > 0 ? count : 1, sizeof *order);
    if (!order)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu p values", count);
    gsl_sort_index(order, p, 1, count);
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, (double)(count - i) * p[order[i]]);
        adjusted[order[i]] = fmin(largest, 1);
    }
    free(order);
    return BN_OK;
}

size_t res_fewest_pairs(double level, size_t family)
{
    const double share = level / (double)(family > 0 ? family : 1);
    return (size_t)fmax(ceil(log2(2 / share) - 1e-9), 1);
}

/* Chance that all of PAIRS differences, except at most LEFT_OUT, go one way, when each does so in a
 * quarter of the cases. */
static double chance_alike(size_t pairs, size_t left_out)
{
    return 2 * gsl_cdf_binomial_P((unsigned)left_out, 0.75, (unsigned)pairs);
}

/*
 * Uses flips of signs where they can reach the level. Student's t takes pairs that agree for
 * certain. But processes may have two speeds by chance, fast and slow (by a layout of memory, say),
 * and then a quarter of the pairs differs one way. So t is used only where the chance that all
 * pairs do, or all but those that were left out, takes no more than its share of the false alarms
 * that are allowed.
 */
#define ALIKE_SHARE 0.25
static res_test choose_test(const res_comparison *c, double level, size_t family)
{
    if (c->pairs < FEWEST_PAIRS)
        return RES_TEST_NONE;
    if (c->pairs >= res_fewest_pairs(level, family))
        return RES_TEST_FLIP;
    return chance_alike(c->pairs + c->disturbed, c->disturbed) <=
                   ALIKE_SHARE * level / (double)family
               ? RES_TEST_T
               : RES_TEST_NONE;
}

size_t res_least_pairs(double level, size_t family)
{
    size_t pairs = FEWEST_PAIRS;
    while (chance_alike(pairs, 0) > ALIKE_SHARE * level / (double)(family > 0 ? family : 1))
        pairs++;
    return pairs;
}

/* The mean log ratio that the comparison's test would just tell at its level. */
static double critical(const res_comparison *c)
{
    double low, high;
    if (c->test == RES_TEST_NONE)
        return (double)INFINITY;
    /* With more pairs than there are bounds for, flips tell what t tells. */
    if (c->test == RES_TEST_FLIP && res_flip_bounds(c->log_ratio, c->pairs, c->level, &low, &high))
        return (high - low) / 2;
    return gsl_cdf_tdist_Qinv(c->level / 2, freedom(c)) * c->error;
}

/*
 * All that depends on the family's size, but for Holm's adjustment.
 *
 * The smallest visible effect is the mean that the test would just tell plus the
 * quantile of Student's t that the power asks for, in standard errors (H. S.
 * Bloom, "Minimum detectable effects", Evaluation Review 19, 1995, with the
 * test's own critical value for his t). Were it added to this very experiment
 * without any other difference, the test would tell it unless chance lay more
 * than that quantile below zero: with a probability of 80 %, however well or
 * badly the few pairs tell their spread.
 *
 * Equivalence is two one-sided tests (D. J. Schuirmann, "A comparison of the two
 * one-sided tests procedure and the power approach", Journal of Pharmacokinetics
 * and Biopharmaceutics 15, 1987): the larger p.
 */
static void size_up(res_comparison *c, size_t count, const res_compare_options *o)
{
    const double delta = log1p(o->delta), mean = fabs(mean_of(c));
    c->level = o->level / (double)count;
    c->test = choose_test(c, o->level, count);
    c->p = c->test == RES_TEST_FLIP ? c->p_flip : c->test == RES_TEST_T ? c->p_t : 1;
    c->critical = critical(c);
    c->smallest_visible = (double)INFINITY;
    c->p_equivalent = 1;
    if (c->test == RES_TEST_NONE)
        return;
    c->smallest_visible = expm1(c->critical + gsl_cdf_tdist_Pinv(POWER, freedom(c)) * c->error);
    c->p_equivalent = upper_tail(delta - mean, c->error, freedom(c));
}

static res_verdict judge(const res_comparison *c, double level)
{
    if (c->p_holm <= level)
        return c->ratio.estimate < 1 ? RES_FASTER : RES_SLOWER;
    return c->p_equivalent_holm <= level ? RES_EQUIVALENT : RES_UNDECIDED;
}

bn_code res_compare_family(res_comparison *list, size_t count, const res_compare_options *options,
                           bn_status *st)
{
    double *p = calloc(4 * count + 1, sizeof *p);
    if (!p)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory to judge %zu comparisons", count);
    double *equivalent = p + count, *p_holm = p + 2 * count, *equivalent_holm = p + 3 * count;
    for (size_t i = 0; i < count; i++) {
        size_up(&list[i], count, options);
        p[i] = list[i].p;
        equivalent[i] = list[i].p_equivalent;
    }
    bn_code code = res_holm(p, count, p_holm, st);
    if (code == BN_OK)
        code = res_holm(equivalent, count, equivalent_holm, st);
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        list[i].p_holm = p_holm[i];
        list[i].p_equivalent_holm = equivalent_holm[i];
        list[i].verdict = judge(&list[i], options->level);
    }
    free(p);
    return code;
}

/* ---- how much is needed ---------------------------------------------------------- */

double res_power(const res_comparison *c, double effect)
{
    const double beyond = fabs(log1p(effect)) - c->critical;
    if (c->test == RES_TEST_NONE)
        return 0;
    return upper_tail(-beyond, c->error, freedom(c));
}

size_t res_pairs_wanted(const res_comparison *c, double precision)
{
    if (c->pairs < FEWEST_PAIRS || !(precision > 0))
        return 0;
    const double spread = c->error * sqrt((double)c->pairs);
    const double wanted = pow(gsl_cdf_tdist_Qinv(0.025, freedom(c)) * spread / log1p(precision), 2);
    return wanted < 2 ? 2 : wanted < 1e9 ? (size_t)ceil(wanted) : (size_t)1e9;
}
