/*
 * coverage.c - how often intervals hold the truth: counts, and what so many of so many mean.
 */
#include "harness/selftest/coverage_priv.h"
#include "harness/selftest/statistics_priv.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Chance of a wrong verdict in a row. A run has some 20 rows, and a verdict has to mean something
 * in each. */
#define DOUBT 0.001

static bool known(const res_interval *interval)
{
    return isfinite(interval->low) && isfinite(interval->high);
}

double selftest_half_width(const res_interval *interval)
{
    return known(interval) ? expm1((log(interval->high) - log(interval->low)) / 2) : (double)NAN;
}

bool selftest_holds(const res_interval *interval, double truth)
{
    return known(interval) && interval->low <= truth && truth <= interval->high;
}

bn_code selftest_coverage_count(const res_interval *intervals, const double *truths, size_t count,
                                selftest_coverage *c, bn_status *st)
{
    double *widths = calloc(count + 1, sizeof *widths);
    *c = (selftest_coverage){0};
    if (!widths)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu intervals", count);
    for (size_t i = 0; i < count; i++) {
        if (known(&intervals[i]))
            widths[c->tables++] = selftest_half_width(&intervals[i]);
        else
            c->without++;
        c->covered += selftest_holds(&intervals[i], truths[i]);
    }
    c->share = selftest_share(c->covered, c->tables);
    c->half_width = res_median(widths, c->tables);
    free(widths);
    return BN_OK;
}

selftest_coverage_verdict selftest_coverage_judge(const selftest_coverage *c)
{
    const unsigned hits = (unsigned)c->covered, of = (unsigned)c->tables;
    if (of == 0)
        return SELFTEST_COVERAGE_NONE;
    if (gsl_cdf_binomial_P(hits, SELFTEST_COVERAGE_LEVEL, of) < DOUBT)
        return SELFTEST_COVERAGE_NARROW;
    if (hits > 0 && gsl_cdf_binomial_Q(hits - 1, SELFTEST_COVERAGE_MOST, of) < DOUBT)
        return SELFTEST_COVERAGE_WIDE;
    return SELFTEST_COVERAGE_HOLDS;
}

const char *selftest_coverage_verdict_name(selftest_coverage_verdict verdict)
{
    static const char *const names[] = {[SELFTEST_COVERAGE_NONE] = "no interval",
                                        [SELFTEST_COVERAGE_HOLDS] = "holds",
                                        [SELFTEST_COVERAGE_NARROW] = "too narrow",
                                        [SELFTEST_COVERAGE_WIDE] = "too wide"};
    return names[verdict];
}
