/*
 * nights.c - the history on trial: series of nights that are alike, with and without a change.
 */
#include "results/nights/nights.h"
#include "harness/selftest/nights_priv.h"
#include "harness/selftest/statistics_priv.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NIGHTS  400
/* Standard deviation of a night's log. */
#define DEVIATION    0.01
/* A night. */
#define NIGHT_NS     10e6
/* Where the change is planted: of a long series, and of one that is judged night by night. */
#define LONG_AT      200
#define SOON_AT      60
/* A change that is found so many nights off is the planted one. */
#define NEAR         5
/* Night by night: the nights that are judged, after those that make a level. */
#define FIRST_JUDGED 41
#define LAST_JUDGED  200

/* ---- series -------------------------------------------------------------------------------- */

static double draw(selftest_night_noise noise, gsl_rng *rng)
{
    return noise == SELFTEST_NIGHTS_TAILS ? gsl_ran_tdist(rng, 3) / sqrt(3)
                                          : gsl_ran_gaussian_ziggurat(rng, 1);
}

/* Fills X with COUNT nights of T, which take 1 + EFFECT times as long from AT on. */
static void simulate(const selftest_nights *t, size_t count, size_t at, double effect, gsl_rng *rng,
                     double *x)
{
    const double fresh = sqrt(1 - t->rho * t->rho);
    double state = gsl_ran_gaussian_ziggurat(rng, 1);
    for (size_t i = 0; i < count; i++) {
        state = t->rho * state + fresh * draw(t->noise, rng);
        double night = state;
        if (t->noise == SELFTEST_NIGHTS_HALF)
            night = (state + gsl_ran_gaussian_ziggurat(rng, 1)) / sqrt(2);
        x[i] = DEVIATION * night + (i >= at ? log1p(effect) : 0);
        if (t->noise == SELFTEST_NIGHTS_LOADS && gsl_rng_uniform(rng) < 0.1)
            x[i] += 0.1 + 0.3 * gsl_rng_uniform(rng);
        x[i] = NIGHT_NS * exp(x[i]);
    }
}

/* ---- whole series -------------------------------------------------------------------------- */

/* Whether a change is found in the COUNT nights X: with AT above 0 near that night, else any. */
static bn_code look(const double *x, size_t count, size_t at, bool *found, bn_status *st)
{
    const res_change_options options = res_change_defaults();
    res_changes changes;
    *found = false;
    const bn_code code = res_changes_find(x, count, &options, &changes, st);
    for (size_t i = 0; code == BN_OK && i < changes.count; i++) {
        const size_t is = changes.list[i].at;
        *found = *found || at == 0 || (is > at ? is - at : at - is) <= NEAR;
    }
    res_changes_free(&changes);
    return code;
}

static bn_code try_whole(selftest_nights *t, gsl_rng *rng, double *x, bn_status *st)
{
    const bool planted = t->figure == SELFTEST_NIGHTS_FOUND;
    bool found;
    simulate(t, t->nights, LONG_AT, planted ? t->effect : 0, rng, x);
    const bn_code code = look(x, t->nights, planted ? LONG_AT : 0, &found, st);
    t->of++;
    t->hits += found;
    return code;
}

/* Plants the smallest detectable change that a series names in the RES_LEAST_NIGHTS nights after
 * it. A series whose latest nights are a change already names none. */
static bn_code try_mde(selftest_nights *t, gsl_rng *rng, double *x, bn_status *st)
{
    const res_change_options options = res_change_defaults();
    const size_t count = t->nights + RES_LEAST_NIGHTS;
    res_changes changes;
    bool found;
    simulate(t, count, count, 0, rng, x);
    bn_code code = res_changes_find(x, t->nights, &options, &changes, st);
    const double mde = code == BN_OK ? changes.mde : (double)NAN;
    res_changes_free(&changes);
    if (code != BN_OK || !isfinite(mde))
        return code;
    for (size_t i = t->nights; i < count; i++)
        x[i] *= 1 + mde;
    code = look(x, count, t->nights, &found, st);
    t->of++;
    t->hits += found;
    return code;
}

/* ---- night by night ------------------------------------------------------------------------ */

/* A series that grows, a new build each night. */
typedef struct growing {
    res_experiment experiment;
    res_timeline series;
    res_origin builds[MOST_NIGHTS];
} growing;

static growing *growing_new(void)
{
    growing *g = bn_zalloc(1, sizeof *g);
    snprintf(g->experiment.mode, sizeof g->experiment.mode, "lazy");
    g->series.experiment = &g->experiment;
    g->series.nights = bn_zalloc(MOST_NIGHTS, sizeof *g->series.nights);
    for (size_t i = 0; i < MOST_NIGHTS; i++)
        snprintf(g->builds[i].sha256, sizeof g->builds[i].sha256, "%064zx", i + 1);
    return g;
}

static void growing_set(growing *g, const double *x)
{
    for (size_t i = 0; i < MOST_NIGHTS; i++)
        g->series.nights[i] = (res_night){.time_s = 86400.0 * (double)i,
                                          .value = x[i],
                                          .low = (double)NAN,
                                          .high = (double)NAN,
                                          .processes = 1,
                                          .source = "",
                                          .settings = "",
                                          .origin = &g->builds[i]};
}

static void growing_free(growing *g)
{
    res_timeline_free(&g->series);
    free(g);
}

/* Whether the last of the first COUNT nights shows a change for the worse, as bench nightly judges
 * it in a family of SELFTEST_NIGHTS_FAMILY series. */
static bn_code judge_night(growing *g, size_t count, bool *alarm, bn_status *st)
{
    res_drift_options options = {
        .change = res_change_defaults(), .night_hours = 12, .family = SELFTEST_NIGHTS_FAMILY};
    res_drift drift = {0};
    options.change.level /= SELFTEST_NIGHTS_FAMILY;
    g->series.count = count;
    bn_code code = res_timeline_divide(&g->series, &options.change, st);
    if (code == BN_OK)
        code = res_series_tonight(&g->series, &options, &drift, st);
    *alarm = drift.found && drift.ratio.low > 1 && res_drift_counts(drift.cause);
    return code;
}

static bn_code try_soon(selftest_nights *t, gsl_rng *rng, growing *g, double *x, bn_status *st)
{
    bool alarm = false;
    bn_code code = BN_OK;
    simulate(t, SOON_AT + t->delay, SOON_AT, t->effect, rng, x);
    growing_set(g, x);
    for (size_t n = SOON_AT + 1; code == BN_OK && !alarm && n <= SOON_AT + t->delay; n++)
        code = judge_night(g, n, &alarm, st);
    t->of++;
    t->hits += alarm;
    return code;
}

static bn_code try_alarms(selftest_nights *t, gsl_rng *rng, growing *g, double *x, bn_status *st)
{
    bn_code code = BN_OK;
    simulate(t, LAST_JUDGED, LAST_JUDGED, 0, rng, x);
    growing_set(g, x);
    for (size_t n = FIRST_JUDGED; code == BN_OK && n <= LAST_JUDGED; n++) {
        bool alarm;
        code = judge_night(g, n, &alarm, st);
        t->of++;
        t->hits += alarm;
    }
    return code;
}

/* ---- trials -------------------------------------------------------------------------------- */

bn_code selftest_nights_trial(selftest_nights *t, gsl_rng *rng, bn_status *st)
{
    double x[MOST_NIGHTS] = {0};
    bn_code code = BN_OK;
    if (t->figure == SELFTEST_NIGHTS_SOON || t->figure == SELFTEST_NIGHTS_ALARMS) {
        growing *g = growing_new();
        code = t->figure == SELFTEST_NIGHTS_SOON ? try_soon(t, rng, g, x, st)
                                                 : try_alarms(t, rng, g, x, st);
        growing_free(g);
    } else {
        code = t->figure == SELFTEST_NIGHTS_MDE ? try_mde(t, rng, x, st) : try_whole(t, rng, x, st);
    }
    t->series++;
    return code;
}
