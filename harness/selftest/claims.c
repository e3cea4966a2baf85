/*
 * claims.c - simulated speedup tables: what the procedure of the real ones says of logs of ratios
 * whose truth is known.
 */
#include "harness/selftest/claims_priv.h"
#include "harness/selftest/statistics_priv.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#define LEVEL   0.05
/* The difference that is planted. */
#define PLANTED 0.05

/* Three processes know too little of their variance: 73 to 84 of 100 promises hold. */
#define FEWEST_PROMISED 4

/* As bench calibrate measures: ratios of pairs of modes, of so many processes a run. */
#define CALIBRATION_PAIRS     3
#define CALIBRATION_PROCESSES 8

static double draw_deviation(selftest_rows_shape shape, gsl_rng *rng)
{
    if (shape == SELFTEST_ROWS_LN)
        return 0.01 * exp(gsl_ran_gaussian(rng, 0.5));
    return exp(gsl_ran_flat(rng, log(0.003), log(0.05)));
}

static double draw_noise(selftest_noise noise, gsl_rng *rng)
{
    switch (noise) {
    case SELFTEST_NOISE_T3:
        return gsl_ran_tdist(rng, 3) / sqrt(3);
    case SELFTEST_NOISE_SKEWED:
        return gsl_ran_exponential(rng, 1) - 1;
    case SELFTEST_NOISE_SPEEDS:
        return ((gsl_rng_uniform(rng) < 0.5) - (gsl_rng_uniform(rng) < 0.5) +
                gsl_ran_gaussian(rng, 0.01)) *
               M_SQRT2;
    case SELFTEST_NOISE_NORMAL:
        break;
    }
    return gsl_ran_gaussian(rng, 1);
}

/* The estimate of COUNT processes around MEAN. */
static res_estimate draw_ratio(selftest_noise noise, double mean, double deviation, size_t count,
                               gsl_rng *rng)
{
    double values[64];
    for (size_t i = 0; i < count && i < 64; i++)
        values[i] = mean + deviation * draw_noise(noise, rng);
    return res_estimate_of(values, count < 64 ? count : 64);
}

/* The drift that a calibration of C's runs finds. */
static res_run_drift draw_calibration(const selftest_claims *c, gsl_rng *rng)
{
    res_estimate ratios[CALIBRATION_PAIRS * 64];
    double deviation[CALIBRATION_PAIRS];
    size_t pair_of[CALIBRATION_PAIRS * 64];
    const size_t runs = c->runs < 64 ? c->runs : 64;
    for (size_t pair = 0; pair < CALIBRATION_PAIRS; pair++)
        deviation[pair] = draw_deviation(SELFTEST_ROWS_LN, rng);
    for (size_t run = 0; run < runs; run++) {
        const double moved = gsl_ran_gaussian(rng, c->drift);
        for (size_t pair = 0; pair < CALIBRATION_PAIRS; pair++) {
            pair_of[run * CALIBRATION_PAIRS + pair] = pair;
            ratios[run * CALIBRATION_PAIRS + pair] = draw_ratio(
                SELFTEST_NOISE_NORMAL, moved, deviation[pair], CALIBRATION_PROCESSES, rng);
        }
    }
    return res_run_drift_of(ratios, pair_of, CALIBRATION_PAIRS * runs);
}

static res_run_drift drift_of(const selftest_claims *c, gsl_rng *rng)
{
    if (!(c->drift > 0))
        return (res_run_drift){0, 0};
    return c->runs > 0 ? draw_calibration(c, rng) : (res_run_drift){c->drift, (double)INFINITY};
}

/* The rows of one run whose ratios do not differ. */
static void draw_table(const selftest_claims *c, const double *deviation, res_run_drift drift,
                       gsl_rng *rng, res_moderated *rows)
{
    res_estimate *own = bn_zalloc(c->ratios, sizeof *own);
    const double moved = c->drift > 0 ? gsl_ran_gaussian(rng, c->drift) : 0;
    for (size_t i = 0; i < c->ratios; i++)
        own[i] = draw_ratio(c->noise, moved, deviation[i], c->processes, rng);
    res_moderate(own, c->ratios, rows);
    for (size_t i = 0; i < c->ratios; i++)
        rows[i].drift = drift;
    free(own);
}

/* P of ROW; 1 where it is above LEVEL anyway, which Holm's procedure never claims. */
static double p_of(const res_moderated *row)
{
    return fabs(row->mean) > res_moderated_half(row, LEVEL) ? res_moderated_p(row) : 1;
}

/* How many of the P are claimed; *FIRST: the first one is. */
static size_t claims(const double *p, size_t count, double *room, bool *first)
{
    size_t claimed = 0;
    res_holm(p, NULL, count, room);
    for (size_t i = 0; i < count; i++)
        claimed += room[i] <= LEVEL;
    *first = room[0] <= LEVEL;
    return claimed;
}

/* Whether a further table of the same processes finds what the first says of its first row. */
static void promise(selftest_claims *c, const res_moderated *first, const double *deviation,
                    res_moderated *rows, gsl_rng *rng)
{
    const double level = LEVEL / (double)c->ratios, mde = res_moderated_mde(first, 1, level);
    draw_table(c, deviation, first->drift, rng, rows);
    c->promised++;
    c->mde += log1p(mde);
    c->found += fabs(rows[0].mean + log1p(mde)) > res_moderated_half(&rows[0], level);
}

void selftest_claims_trial(selftest_claims *c, gsl_rng *rng)
{
    double *deviation = bn_zalloc(3 * c->ratios, sizeof *deviation);
    double *p = deviation + c->ratios, *room = p + c->ratios;
    res_moderated *rows = bn_zalloc(c->ratios, sizeof *rows);
    bool first;
    for (size_t i = 0; i < c->ratios; i++)
        deviation[i] = draw_deviation(c->rows, rng);
    draw_table(c, deviation, drift_of(c, rng), rng, rows);
    for (size_t i = 0; i < c->ratios; i++) {
        p[i] = p_of(&rows[i]);
        c->held += p[i] == 1;
    }
    c->tables++;
    c->wrong += claims(p, c->ratios, room, &first) > 0;
    const bool silent = !first;
    res_moderated planted = rows[0];
    planted.mean += log1p(PLANTED);
    p[0] = p_of(&planted);
    (void)claims(p, c->ratios, room, &first);
    c->claimed += first;
    if (silent) {
        const res_moderated row = rows[0];
        promise(c, &row, deviation, rows, rng);
    }
    free(rows);
    free(deviation);
}

/* Whether SHARE lies outside of LEAST to MOST with its whole interval. */
static bool beyond(res_interval share, double least, double most)
{
    return share.high < least || share.low > most;
}

unsigned selftest_claims_judge(const selftest_claims *c)
{
    /* Rows of a table may share their fate, so that the tables are what is counted. */
    const size_t held = c->held / c->ratios;
    const bool drifts = c->drift > 0;
    unsigned faults = 0;
    if (!c->judged || c->tables == 0)
        return 0;
    if (beyond(selftest_share(held, c->tables), drifts ? 0.94 : 0.93, drifts ? 0.99 : 0.97))
        faults |= SELFTEST_CLAIMS_COVERAGE;
    if (beyond(selftest_share(c->wrong, c->tables), 0, 0.06))
        faults |= SELFTEST_CLAIMS_WRONG;
    if (!drifts && c->ratios == 34 && c->processes == 4 && c->rows == SELFTEST_ROWS_LN &&
        beyond(selftest_share(c->claimed, c->tables), 0.8, 1))
        faults |= SELFTEST_CLAIMS_POWER;
    if (c->processes >= FEWEST_PROMISED &&
        beyond(selftest_share(c->found, c->promised), 0.75, 0.85))
        faults |= SELFTEST_CLAIMS_PROMISE;
    return faults;
}
