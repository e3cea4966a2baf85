/*
 * statistics.c - a procedure on trial: families of like sides, the same families with one side
 * slowed, and which shares of right and wrong answers are good enough.
 */
#include "harness/selftest/statistics_priv.h"
#include "results/stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

#define LEVEL 0.05

const selftest_procedure selftest_our_procedure = {res_order, res_compare, res_compare_family};
const double selftest_sim_effects[SELFTEST_SIM_EFFECTS] = {0.01, 0.02, 0.05};

/* The options of a comparison. Few resamples: the bootstrap is printed, but not judged. */
static res_compare_options trial_options(size_t resamples, gsl_rng *rng)
{
    res_compare_options o = res_compare_defaults();
    o.resamples = resamples;
    o.seed = gsl_rng_get(rng);
    return o;
}

/* Judges the family LIST again, its first session slowed by EFFECT; *FIRST is what the procedure
 * says of the first. */
static bn_code slowed(const selftest_trials *t, const selftest_procedure *procedure,
                      const selftest_session_sim *session, const res_comparison *list,
                      double effect, const res_compare_options *o, res_comparison *first,
                      bn_status *st)
{
    res_comparison family[SELFTEST_SIM_MOST];
    selftest_session_sim slow;
    memcpy(family, list, t->family * sizeof *family);
    selftest_sim_slow(session, 1 + effect, &slow);
    bn_code code = procedure->compare(&slow.side[0], &slow.side[1], o, &family[0], st);
    if (code == BN_OK)
        code = procedure->family(family, t->family, o, st);
    *first = family[0];
    return code;
}

static bn_code try_effects(selftest_trials *t, const selftest_procedure *procedure,
                           const selftest_session_sim *session, const res_comparison *list,
                           const res_compare_options *o, bn_status *st)
{
    const double visible = list[0].smallest_visible;
    res_comparison first;
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < SELFTEST_SIM_EFFECTS; i++) {
        code = slowed(t, procedure, session, list, selftest_sim_effects[i], o, &first, st);
        t->found[i] += first.verdict == RES_SLOWER;
        /* Predicted from like sides, as one would for the next session. */
        t->predicted[i] += res_power(&list[0], selftest_sim_effects[i]);
        if (i == SELFTEST_SIM_EFFECTS - 1)
            t->wrongly_equivalent += first.verdict == RES_EQUIVALENT;
    }
    if (code == BN_OK && isfinite(visible)) {
        code = slowed(t, procedure, session, list, visible, o, &first, st);
        t->promised++;
        t->visible_found += first.verdict == RES_SLOWER;
        t->visible += log1p(visible);
    }
    return code;
}

static bool holds(const res_interval *interval)
{
    return interval->low <= 1 && 1 <= interval->high;
}

bn_code selftest_trial(selftest_trials *t, const selftest_procedure *procedure, gsl_rng *rng,
                       bn_status *st)
{
    res_comparison list[SELFTEST_SIM_MOST];
    selftest_session_sim first = {0}, other = {0};
    bool alarm = false;
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < t->family; i++) {
        selftest_session_sim *session = i == 0 ? &first : &other;
        const res_compare_options o = trial_options(i == 0 ? 200 : 0, rng);
        selftest_simulate(t->scenario, t->pairs, procedure->order, rng, session);
        code = procedure->compare(&session->side[0], &session->side[1], &o, &list[i], st);
    }
    const res_compare_options o = trial_options(0, rng);
    if (code == BN_OK)
        code = procedure->family(list, t->family, &o, st);
    if (code != BN_OK)
        return code;
    for (size_t i = 0; i < t->family; i++)
        alarm = alarm || list[i].verdict == RES_FASTER || list[i].verdict == RES_SLOWER;
    t->trials++;
    t->alarms += alarm;
    t->held += holds(&list[0].ratio);
    t->bootstrap_held += holds(&list[0].bootstrap);
    t->equivalent += list[0].verdict == RES_EQUIVALENT;
    return try_effects(t, procedure, &first, list, &o, st);
}

/* The P for which K or more of N have the probability TAIL (K at least 1). Found by halving: the
 * library's inverse gives up on some arguments. */
static double probability_of(double k, double n, double tail)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (gsl_cdf_beta_P(middle, k, n - k + 1) < tail)
            low = middle;
        else
            high = middle;
    }
    return low;
}

res_interval selftest_share(size_t hits, size_t of)
{
    const double k = (double)hits, n = (double)of;
    if (of == 0)
        return (res_interval){(double)NAN, 0, 1};
    return (res_interval){
        .estimate = k / n,
        .low = hits == 0 ? 0 : probability_of(k, n, 0.025),
        .high = hits == of ? 1 : probability_of(k + 1, n, 0.975),
    };
}

unsigned selftest_trials_judge(const selftest_trials *t)
{
    const res_interval visible = selftest_share(t->visible_found, t->promised);
    unsigned faults = 0;
    if (t->trials == 0 || selftest_share(t->alarms, t->trials).low > LEVEL)
        faults |= SELFTEST_FAULT_ALARMS;
    if (selftest_share(t->held, t->trials).high < 1 - LEVEL)
        faults |= SELFTEST_FAULT_COVERAGE;
    if (visible.low > 0.9 || visible.high < 0.7)
        faults |= SELFTEST_FAULT_VISIBLE;
    for (size_t i = 0; i < SELFTEST_SIM_EFFECTS; i++)
        if (selftest_share(t->found[i], t->trials).estimate <
            t->predicted[i] / (double)t->trials - 0.15)
            faults |= SELFTEST_FAULT_POWER;
    if (selftest_share(t->wrongly_equivalent, t->trials).low > LEVEL)
        faults |= SELFTEST_FAULT_EQUIVALENT;
    if (strcmp(t->scenario->name, "quiet") == 0 &&
        selftest_share(t->equivalent, t->trials).estimate < 0.9)
        faults |= SELFTEST_FAULT_EQUIVALENT;
    return faults;
}
