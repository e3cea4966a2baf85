/*
 * moderate.c - the ratios of one table: a variance that each borrows from the others, and a drift
 * between runs.
 *
 * Few processes say little about how far processes differ, but a table has many rows. The variance
 * of a row is a weighted mean of its own and of what the other rows predict (G. K. Smyth, "Linear
 * Models and Empirical Bayes Methods for Assessing Differential Expression in Microarray
 * Experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004, moments of the
 * log variances). Here the prior of a row leaves that row out, and what few rows do not know of it
 * lowers its weight, so no constant does.
 *
 * A half-width has two parts, that of the processes and that of the drift. Each is taken at the
 * level that is judged, and they add up as squares (G. Y. Zou and A. Donner, "Construction of
 * confidence limits about effect measures", Statistics in Medicine 27, 2008).
 */
#include "results/stats/stats_priv.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sf_psi.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

/* Chosen by simulation of tables whose rows have standard deviations of 0.3 to 5 %
 * (`bench selftest statistics`, docs/measuring.md). */
#define LEAST_ROWS  4    /* fewer have nothing to borrow from: plain Student's t */
#define PRIOR_COUNT 0.5  /* of the prior's degrees of freedom: rows need not follow the prior */
#define LOUD_LEVEL  0.05 /* of an F test: a row that is louder than the others stands alone */
#define LEAST_SHARE 0.25 /* of the median variance of the rows: none counts for less */

/* Nothing smaller is reported: quantiles beyond it have no meaning for any noise that exists. */
#define LEAST_P         1e-15
/* Where a half-width is near enough to a mean, in squares. */
#define NEAR            1e-12
/* Halvings that leave no more than the last digits of a double open. */
#define HALVINGS        60
/* exp of it is a double. */
#define LARGEST_LOG     700.0
/* Points of the unknown variances over which power is averaged. */
#define QUANTILES       24
/* Halvings of the detectable effect: its third digit is far above 2^-30. */
#define EFFECT_HALVINGS 30
/* No difference of logs that a table is made for is larger: a ratio of 148. */
#define MOST_EFFECT     5.0

static const res_run_drift no_drift = {0, 0};

/* ---- borrowing ----------------------------------------------------------------------- */

/* X with trigamma(X) = Y, by halving in log X: trigamma falls. */
static double trigamma_inverse(double y)
{
    double low = log(1e-3), high = log(1e9);
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (gsl_sf_psi_1(exp(middle)) > y)
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2);
}

/* ln(F / 2) - digamma(F / 2): by how much the log of a variance with F degrees of freedom is too
 * low on average. */
static double log_bias(double f)
{
    return log(f / 2) - gsl_sf_psi(f / 2);
}

/* The variance of a value of E. */
static double variance_of(const res_estimate *e)
{
    return e->error * e->error * (double)e->values;
}

res_moderated res_moderated_alone(const res_estimate *own, res_run_drift drift)
{
    return (res_moderated){.mean = own->mean,
                           .error = own->error,
                           .freedom = own->freedom,
                           .values = own->values,
                           .own_freedom = own->freedom,
                           .drift = drift};
}

/* The degrees of freedom with which the others predict a row whose log variance has the sampling
 * variance SAMPLING; of all COUNT rows these sum up to SUM. BETWEEN: the variance between rows. */
static double prior_freedom(double between, double sum, double sampling, size_t count)
{
    const double others = (double)count - 1;
    const double unknown = (others * between + sum - sampling) / (others * others);
    return 2 * trigamma_inverse(between + unknown);
}

/* Whether a variance that is RATIO times the prior's, with OWN and PRIOR degrees of freedom, is
 * louder than the others. Without a prior all are. */
static bool is_loud(double ratio, double own, double prior)
{
    return !(prior > 0) || gsl_cdf_fdist_Q(ratio, own, prior) < LOUD_LEVEL;
}

/* The least ratio that is, by halving its log: GSL's inverse has no PRIOR below 1. */
static double loud_ratio(double own, double prior)
{
    double low = 0, high = LARGEST_LOG;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (is_loud(exp(middle), own, prior))
            high = middle;
        else
            low = middle;
    }
    return prior > 0 ? exp(high) : 0;
}

/* VARIANCE, which has OWN degrees of freedom, with ROW's prior. */
static double mixed(const res_moderated *row, double variance, double own)
{
    const double prior = row->prior_freedom;
    return (prior * row->prior_variance + own * variance) / (prior + own);
}

/*
 * Lifts the variances of ROWS to LEAST_SHARE of their median. Where each process is either fast or
 * slow, four of them agree by chance now and then. Their spread then is next to nothing, and the
 * rows differ so much in it that none borrows from the others: of 34 such rows, one was wrongly
 * claimed in 23 of 100 simulated tables without this, in none with it, and nothing else changed by
 * more than two points.
 */
static void lift(res_moderated *rows, size_t count, double *room)
{
    for (size_t i = 0; i < count; i++)
        room[i] = rows[i].error * rows[i].error * (double)rows[i].values;
    const double least = LEAST_SHARE * res_median(room, count);
    for (size_t i = 0; i < count; i++) {
        rows[i].least_variance = least;
        rows[i].error = fmax(rows[i].error, sqrt(least / (double)rows[i].values));
    }
}

void res_moderate(const res_estimate *own, size_t count, res_moderated *rows)
{
    double *z = bn_zalloc(2 * count, sizeof *z), *sampling = z + count;
    double sum_z = 0, sum_sampling = 0;
    for (size_t i = 0; i < count; i++) {
        const double d = own[i].freedom;
        rows[i] = res_moderated_alone(&own[i], no_drift);
        sum_z += z[i] = log(variance_of(&own[i])) + log_bias(d);
        sum_sampling += sampling[i] = gsl_sf_psi_1(d / 2);
    }
    const double between =
        count < LEAST_ROWS
            ? 0
            : fmax(0, gsl_stats_variance(z, 1, count) - sum_sampling / (double)count);
    for (size_t i = 0; count >= LEAST_ROWS && i < count; i++) {
        res_moderated *row = &rows[i];
        /* Rows of as many values have the same. */
        row->prior_freedom = i > 0 && sampling[i] == sampling[i - 1]
                                 ? rows[i - 1].prior_freedom
                                 : prior_freedom(between, sum_sampling, sampling[i], count);
        row->prior_variance =
            exp((sum_z - z[i]) / ((double)count - 1) - log_bias(row->prior_freedom));
        const double variance = variance_of(&own[i]);
        if (is_loud(variance / row->prior_variance, own[i].freedom, row->prior_freedom))
            continue;
        row->freedom = own[i].freedom + PRIOR_COUNT * row->prior_freedom;
        row->error = sqrt(mixed(row, variance, own[i].freedom) / (double)own[i].values);
    }
    if (count >= LEAST_ROWS)
        lift(rows, count, z);
    free(z);
}

/* ---- claims -------------------------------------------------------------------------- */

/* Upper quantile at P of a drift of FREEDOM degrees, that of a normal distribution where it is
 * known. */
static double drift_quantile(const res_run_drift *drift, double p)
{
    return isfinite(drift->freedom) ? gsl_cdf_tdist_Qinv(p, drift->freedom)
                                    : gsl_cdf_ugaussian_Qinv(p);
}

/* The half-width that DRIFT adds at LEVEL. */
static double drift_half(const res_run_drift *drift, double level)
{
    return drift->deviation > 0 ? drift_quantile(drift, level / 2) * drift->deviation : 0;
}

static bool has_interval(const res_moderated *row)
{
    return isfinite(row->error) && row->freedom > 0;
}

double res_moderated_half(const res_moderated *row, double level)
{
    if (!has_interval(row))
        return (double)NAN;
    const double own =
        row->error > 0 ? gsl_cdf_tdist_Qinv(level / 2, row->freedom) * row->error : 0;
    return hypot(own, drift_half(&row->drift, level));
}

res_interval res_moderated_ratio(const res_moderated *row)
{
    const double half = res_moderated_half(row, 0.05), mean = row->mean;
    return (res_interval){exp(mean), exp(mean - half), exp(mean + half)};
}

/* By how much the square of ROW's half-width at the level exp(U) is above that of MEAN. */
static double excess_at(const res_moderated *row, double u, double mean)
{
    return pow(res_moderated_half(row, exp(u)), 2) - mean * mean;
}

/* The level at which ROW's half-width is MEAN, by false position in its log (M. Dowell and P.
 * Jarratt, "A modified regula falsi method", BIT 11, 1971: "Illinois"), in which the square of a
 * quantile is nearly a line. */
static double level_at(const res_moderated *row, double mean)
{
    double low = log(LEAST_P), high = 0;
    double above = excess_at(row, low, mean), below = -mean * mean;
    int side = 0; /* of which the end stayed the last time */
    if (above <= 0)
        return LEAST_P;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low * below - high * above) / (below - above);
        const double excess = excess_at(row, middle, mean);
        if (fabs(excess) <= NEAR * mean * mean)
            return exp(middle);
        if (excess > 0) {
            low = middle;
            above = excess;
            below = side == 1 ? below / 2 : below;
            side = 1;
        } else {
            high = middle;
            below = excess;
            above = side == -1 ? above / 2 : above;
            side = -1;
        }
    }
    return exp(high);
}

double res_moderated_p(const res_moderated *row)
{
    const double mean = fabs(row->mean);
    if (!isfinite(mean) || !has_interval(row))
        return 1;
    if (!(row->error > 0) && !(row->drift.deviation > 0))
        return mean > 0 ? 0 : 1;
    if (!(row->drift.deviation > 0))
        return 2 * gsl_cdf_tdist_Q(mean / row->error, row->freedom);
    return level_at(row, mean);
}

/* ---- what a next table would show ---------------------------------------------------- */

/* A next table of TIMES as many values: for each pair of quantiles of the two unknown variances,
 * the least difference that it claims and the deviation of what it measures. */
typedef struct foreseen {
    double critical[QUANTILES][QUANTILES]; /* [truth][sample] */
    double deviation[QUANTILES];
} foreseen;

/*
 * The true variance of a value is f v / chi^2 with f degrees of freedom, and the variance that the
 * next table finds is that times chi^2 / d with its own; both are averaged over. The sum is the
 * noncentral t distribution with both variances unknown, which GSL does not have.
 */
static void foresee(const res_moderated *row, double times, double level, foreseen *next)
{
    const double own = times * (row->own_freedom + 1) - 1, values = times * (double)row->values;
    const double variance = row->error * row->error * (double)row->values;
    const double drift = drift_half(&row->drift, level);
    const double loud = row->prior_variance * loud_ratio(own, row->prior_freedom);
    const double alone = gsl_cdf_tdist_Qinv(level / 2, own),
                 borrowed = gsl_cdf_tdist_Qinv(level / 2, own + PRIOR_COUNT * row->prior_freedom);
    double sample[QUANTILES];
    for (int i = 0; i < QUANTILES; i++)
        sample[i] = gsl_cdf_chisq_Pinv((i + 0.5) / QUANTILES, own) / own;
    for (int k = 0; k < QUANTILES; k++) {
        const double truth =
            row->freedom * variance / gsl_cdf_chisq_Pinv((k + 0.5) / QUANTILES, row->freedom);
        next->deviation[k] = hypot(sqrt(truth / values), row->drift.deviation);
        for (int i = 0; i < QUANTILES; i++) {
            const double found = truth * sample[i];
            const bool stands_alone = found > loud;
            const double v =
                fmax(row->least_variance, stands_alone ? found : mixed(row, found, own));
            const double half = (stands_alone ? alone : borrowed) * sqrt(v / values);
            next->critical[k][i] = hypot(half, drift);
        }
    }
}

static double power_at(const foreseen *next, double effect)
{
    double sum = 0;
    for (int k = 0; k < QUANTILES; k++)
        for (int i = 0; i < QUANTILES; i++)
            sum += next->deviation[k] > 0
                       ? erfc((next->critical[k][i] - effect) / next->deviation[k] / M_SQRT2) / 2
                       : effect > next->critical[k][i];
    return sum / (QUANTILES * QUANTILES);
}

double res_moderated_mde(const res_moderated *row, double times, double level)
{
    if (!has_interval(row) || !(times * (row->own_freedom + 1) > 1))
        return (double)NAN;
    foreseen next;
    double low = 0, high = MOST_EFFECT;
    foresee(row, times, level, &next);
    for (int i = 0; i < EFFECT_HALVINGS; i++) {
        const double middle = (low + high) / 2;
        if (power_at(&next, middle) > RES_POWER)
            high = middle;
        else
            low = middle;
    }
    return expm1(high);
}

/* ---- calibration --------------------------------------------------------------------- */

res_run_drift res_run_drift_of(const res_estimate *ratios, const size_t *pair, size_t count)
{
    double between = 0, within = 0, weights = 0, freedom = 0;
    double *means = bn_zalloc(count, sizeof *means);
    for (size_t p = 0; p < count; p++) {
        double errors = 0;
        size_t runs = 0;
        for (size_t i = 0; i < count; i++)
            if (pair[i] == p) {
                means[runs++] = ratios[i].mean;
                errors += ratios[i].error * ratios[i].error;
            }
        if (runs < 2)
            continue;
        const double weight = (double)runs - 1;
        between += weight * gsl_stats_variance(means, 1, runs);
        within += weight * errors / (double)runs;
        weights += weight;
        freedom = fmax(freedom, weight);
    }
    free(means);
    if (!(weights > 0))
        return (res_run_drift){0, 0};
    between /= weights;
    within /= weights;
    return (res_run_drift){sqrt(fmax(between - within, between * sqrt(2 / freedom))), freedom};
}
