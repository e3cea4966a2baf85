/*
 * probes.c - device time and overhead of an execution, from rounds in which it was queued and
 * awaited.
 *
 * An execution that is awaited costs its overhead each time; a queue of them costs it once, as the
 * device works through the rest. So the queue of DEPTH is shorter by DEPTH - 1 overheads, and an
 * execution's device time is what is left of its lone time. Both kinds are of the same rounds, and
 * of as many executions, so that what disturbs the machine meets both alike.
 *
 * Intervals: percentile bootstrap over rounds (B. Efron and R. J. Tibshirani, "An Introduction to
 * the Bootstrap", 1993, chapter 13), of few rounds Student's t. They say how well this one process
 * knows its own figures; other processes differ by more.
 */
#include "results/records/records_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RESAMPLES        1000
#define SEED             20230117u
/* Below LEAST_ROUNDS there is no estimate, below LEAST_RESAMPLED no resampling. */
#define LEAST_ROUNDS     3
#define LEAST_RESAMPLED  8
/* Deviation of the null test that is tolerated, as a share of the lone time. */
#define MARGIN           0.05
/* Each execution of a queue must take longer than its submission by this factor and this much: else
 * the host does not fill the queue, and the device waits. */
#define SUBMIT_MARGIN    1.25
#define SUBMIT_MARGIN_NS 1000

/* Figures of each round. */
typedef enum figure { LONE, OVERHEAD, NULL_SHARE, SUBMIT, FIGURES } figure;

typedef struct rounds {
    size_t count;
    double *of[FIGURES];  /* [round] */
    double *drawn;        /* [round] */
    double *resampled[3]; /* overhead, device, null: [resample] */
} rounds;

static bool is_known(uint64_t value)
{
    return value > 0 && value != RES_UNKNOWN;
}

static void add_round(rounds *all, const res_probe *p)
{
    const double depth = (double)p->depth, awaited = (double)p->awaited_ns;
    const double half = floor(depth / 2), first = (double)p->first_ns;
    const double lone = awaited / depth;
    all->of[LONE][all->count] = lone;
    all->of[OVERHEAD][all->count] = (awaited - (double)p->queued_ns) / (depth - 1);
    all->of[NULL_SHARE][all->count] = ((awaited - first) / (depth - half) - first / half) / lone;
    all->of[SUBMIT][all->count] = is_known(p->submit_ns) ? (double)p->submit_ns / depth : 0;
    all->count++;
}

static bool usable(const res_probe *p)
{
    return p->depth >= 2 && p->depth != RES_UNKNOWN && is_known(p->awaited_ns) &&
           is_known(p->queued_ns) && p->first_ns <= p->awaited_ns;
}

static void free_rounds(rounds *all)
{
    for (int f = 0; f < FIGURES; f++)
        free(all->of[f]);
    for (int i = 0; i < 3; i++)
        free(all->resampled[i]);
    free(all->drawn);
}

static void make_rounds(rounds *all, const res_probe *probes, size_t count)
{
    *all = (rounds){.drawn = bn_zalloc(count, sizeof(double))};
    for (int f = 0; f < FIGURES; f++)
        all->of[f] = bn_zalloc(count, sizeof(double));
    for (int i = 0; i < 3; i++)
        all->resampled[i] = bn_zalloc(RESAMPLES, sizeof(double));
    for (size_t i = 0; i < count; i++)
        if (usable(&probes[i]))
            add_round(all, &probes[i]);
}

/* Median of FIGURE over the rounds PICKED; NULL: over all. */
static double median(const rounds *all, figure f, const size_t *picked)
{
    for (size_t i = 0; i < all->count; i++)
        all->drawn[i] = all->of[f][picked ? picked[i] : i];
    return res_median(all->drawn, all->count);
}

static res_interval interval_of(double estimate, double *resamples)
{
    gsl_sort(resamples, 1, RESAMPLES);
    return (res_interval){estimate,
                          gsl_stats_quantile_from_sorted_data(resamples, 1, RESAMPLES, 0.025),
                          gsl_stats_quantile_from_sorted_data(resamples, 1, RESAMPLES, 0.975)};
}

/* The interval for few rounds, of which bootstrap intervals are too narrow: Student's t around
 * the median, whose standard error is sqrt(pi / 2) times a mean's. Of FIGURE minus MINUS, unless
 * these are the same. */
static res_interval of_few(rounds *all, double estimate, figure f, figure minus)
{
    for (size_t i = 0; i < all->count; i++)
        all->drawn[i] = all->of[f][i] - (minus != f ? all->of[minus][i] : 0);
    const res_estimate t = res_estimate_of(all->drawn, all->count);
    const double half = sqrt(M_PI / 2) * res_estimate_half(&t, 0.05);
    return (res_interval){estimate, estimate - half, estimate + half};
}

static void estimate(rounds *all, res_probe_estimate *out)
{
    size_t *picked = bn_zalloc(all->count, sizeof *picked);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (!rng)
        bn_out_of_memory(sizeof *rng);
    for (size_t draw = 0; draw < RESAMPLES; draw++) {
        for (size_t i = 0; i < all->count; i++)
            picked[i] = gsl_rng_uniform_int(rng, (unsigned long)all->count);
        const double overhead = median(all, OVERHEAD, picked);
        all->resampled[0][draw] = overhead;
        all->resampled[1][draw] = median(all, LONE, picked) - overhead;
        all->resampled[2][draw] = median(all, NULL_SHARE, picked);
    }
    const double overhead = median(all, OVERHEAD, NULL);
    out->lone_ns = median(all, LONE, NULL);
    out->overhead = interval_of(overhead, all->resampled[0]);
    out->device = interval_of(out->lone_ns - overhead, all->resampled[1]);
    out->null = interval_of(median(all, NULL_SHARE, NULL), all->resampled[2]);
    if (all->count < LEAST_RESAMPLED) {
        out->overhead = of_few(all, overhead, OVERHEAD, OVERHEAD);
        out->device = of_few(all, out->device.estimate, LONE, OVERHEAD);
        out->null = of_few(all, out->null.estimate, NULL_SHARE, NULL_SHARE);
    }
    gsl_rng_free(rng);
    free(picked);
}

/* Whether so many rounds lie beyond the margin, on one side, that their median does: by the sign
 * test at 5 %, which says nothing of fewer than six rounds. */
static bool is_null_off(const rounds *all)
{
    unsigned above = 0, below = 0;
    for (size_t i = 0; i < all->count; i++) {
        above += all->of[NULL_SHARE][i] > MARGIN;
        below += all->of[NULL_SHARE][i] < -MARGIN;
    }
    const unsigned most = above > below ? above : below;
    return most > 0 && gsl_cdf_binomial_Q(most - 1, 0.5, (unsigned)all->count) <= 0.025;
}

/* Writes to OUT->refusal why the figures cannot stand. Noise alone is no reason: if only those
 * processes counted in which it lengthened the lone executions, overheads would come out too large.
 */
static void judge(const rounds *all, res_probe_estimate *out)
{
    const double submit = median(all, SUBMIT, NULL), lone = out->lone_ns;
    char *text = out->refusal;
    const size_t size = sizeof out->refusal;
    if (!(out->device.estimate > 0))
        snprintf(text, size,
                 "the queue takes no longer than one execution: noise hides the device");
    else if (out->device.estimate < SUBMIT_MARGIN * submit + SUBMIT_MARGIN_NS)
        snprintf(text, size,
                 "dispatch-bound: the host submits in %.1f us, so at most %.1f us of device time",
                 submit / 1e3, out->device.estimate / 1e3);
    else if (is_null_off(all))
        snprintf(text, size,
                 "disturbed: of equal executions in one round, the later ones took %.0f %% %s",
                 100 * fabs(out->null.estimate), out->null.estimate > 0 ? "longer" : "less");
    else if (out->device.low > lone)
        snprintf(text, size,
                 "%.1f us in a queue, %.1f us alone in the same rounds: submitting slows "
                 "executions, or other work does",
                 out->device.estimate / 1e3, lone / 1e3);
}

res_probe_estimate res_probes_estimate(const res_probe *probes, size_t count)
{
    const res_interval none = {(double)NAN, (double)NAN, (double)NAN};
    res_probe_estimate out = {
        .overhead = none, .device = none, .null = none, .lone_ns = (double)NAN};
    rounds all;
    make_rounds(&all, probes, count);
    if (all.count < LEAST_ROUNDS) {
        snprintf(out.refusal, sizeof out.refusal, "%zu of at least %d rounds", all.count,
                 LEAST_ROUNDS);
    } else {
        estimate(&all, &out);
        judge(&all, &out);
    }
    out.rounds = all.count;
    free_rounds(&all);
    return out;
}

double res_probes_null(const res_probe *probes, size_t count)
{
    rounds all;
    make_rounds(&all, probes, count);
    const double null = all.count >= LEAST_ROUNDS ? median(&all, NULL_SHARE, NULL) : (double)NAN;
    free_rounds(&all);
    return null;
}
