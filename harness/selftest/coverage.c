/*
 * coverage.c - how often intervals hold the truth: counts and verdicts.
 */
#include "harness/selftest/coverage_priv.h"
#include "harness/selftest/statistics_priv.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Chance of a wrong verdict in a row: small, since a run has some 20 rows. Rows of all cases
 * together are few, and must reach the demand. */
#define DOUBT       0.001
#define WHOLE_DOUBT 0.05
/* Tables are enough if they reveal intervals that hold LESS often than demanded with probability
 * FOUND. */
#define LESS        0.1
#define FOUND       0.9

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

selftest_coverage selftest_coverage_count(const res_interval *intervals, const double *truths,
                                          size_t count)
{
    double *widths = bn_zalloc(count + 1, sizeof *widths);
    selftest_coverage c = {0};
    for (size_t i = 0; i < count; i++) {
        if (known(&intervals[i]))
            widths[c.tables++] = selftest_half_width(&intervals[i]);
        else
            c.without++;
        c.covered += selftest_holds(&intervals[i], truths[i]);
    }
    c.share = selftest_share(c.covered, c.tables);
    c.half_width = res_median(widths, c.tables);
    free(widths);
    return c;
}

/* Whether intervals that hold the truth in SHARE of the tables hold it in HITS of COUNT or fewer
 * with a probability below DOUBT. */
static bool too_few(size_t hits, size_t count, double share, double doubt)
{
    return gsl_cdf_binomial_P((unsigned)hits, share, (unsigned)count) < doubt;
}

static bool too_many(size_t hits, size_t count, double share, double doubt)
{
    return hits > 0 && gsl_cdf_binomial_Q((unsigned)hits - 1, share, (unsigned)count) < doubt;
}

size_t selftest_coverage_enough(double least)
{
    size_t count = 0, most = 0; /* hits that are too few */
    double found = 0;
    while (found < FOUND) {
        count++;
        while (too_few(most, count, least, WHOLE_DOUBT))
            most++;
        found =
            most > 0 ? gsl_cdf_binomial_P((unsigned)most - 1, least - LESS, (unsigned)count) : 0;
    }
    return count;
}

selftest_coverage_verdict selftest_coverage_judge(const selftest_coverage *c,
                                                  const selftest_demand *demand, bool whole)
{
    const double share = (double)c->covered / (double)c->tables;
    const bool enough = c->tables >= selftest_coverage_enough(demand->least);
    const double claim = whole && enough ? demand->least : SELFTEST_COVERAGE_LEVEL;
    const double doubt = whole && enough ? WHOLE_DOUBT : DOUBT;
    if (c->tables == 0)
        return SELFTEST_COVERAGE_NONE;
    if (share < demand->least && too_few(c->covered, c->tables, claim, doubt))
        return SELFTEST_COVERAGE_NARROW;
    if (share > demand->most && too_many(c->covered, c->tables, demand->most, doubt))
        return SELFTEST_COVERAGE_WIDE;
    return enough && share >= demand->least && share <= demand->most
               ? SELFTEST_COVERAGE_HOLDS
               : SELFTEST_COVERAGE_NOT_REFUTED;
}

const char *selftest_coverage_verdict_name(selftest_coverage_verdict verdict)
{
    static const char *const names[] = {[SELFTEST_COVERAGE_NONE] = "no interval",
                                        [SELFTEST_COVERAGE_HOLDS] = "holds",
                                        [SELFTEST_COVERAGE_NOT_REFUTED] = "not refuted",
                                        [SELFTEST_COVERAGE_NARROW] = "too narrow",
                                        [SELFTEST_COVERAGE_WIDE] = "too wide"};
    return names[verdict];
}
