/*
 * statistics.c - a procedure on trial: families of like sides, the same families with one side
 * slowed, and verdicts on the shares of right and wrong answers.
 */
#include "harness/selftest/statistics_priv.h"
#include "results/stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05

const selftest_procedure selftest_our_procedure = {res_order, res_compare, res_compare_family};
const double selftest_sim_effects[SELFTEST_SIM_EFFECTS] = {0.01, 0.02, 0.05};

/* The most interim analyses of one comparison. */
#define MOST_INTERIM 16

/* A session and its comparisons alone at the interim analyses so far. */
typedef struct seen {
    selftest_session_sim session;
    res_compare_options options;
    bool known[MOST_INTERIM];
    res_comparison at[MOST_INTERIM];
} seen;

/* A family of sessions. */
typedef struct trial {
    seen each[SELFTEST_SIM_MOST];
    seen slowed;                           /* the first of them, with B slowed */
    res_comparison end[SELFTEST_SIM_MOST]; /* the final comparison of each */
} trial;

/* The pairs of interim analysis I of T; 0: there is none. Without them there is one, after all
 * pairs.
 */
static size_t pairs_of_analysis(const selftest_trials *t, size_t i)
{
    size_t pairs = 0;
    if (t->plan == RES_PLAN_ONCE)
        return i == 0 ? t->pairs : 0;
    for (size_t k = 0; k <= i; k++)
        if ((pairs = res_plan_next(t->plan, pairs)) == 0)
            return 0;
    return pairs;
}

static res_compare_options trial_options(const selftest_trials *t)
{
    res_compare_options o = res_compare_defaults();
    o.plan = t->plan;
    return o;
}

/* Compares the first pairs of S, as many as interim analysis ANALYSIS has; once. */
static bn_code analyse_at(const selftest_trials *t, const selftest_procedure *procedure, seen *s,
                          size_t analysis, bn_status *st)
{
    if (s->known[analysis])
        return BN_OK;
    const res_values values = {s->session.median[0], s->session.median[1],
                               pairs_of_analysis(t, analysis), 0};
    s->known[analysis] = true;
    return procedure->compare(&values, &s->options, &s->at[analysis], st);
}

/* Judges the family at each interim analysis, until all of it is decided. FIRST replaces its first
 * session. */
static bn_code judge(const selftest_trials *t, const selftest_procedure *procedure, seen *first,
                     trial *all, bn_status *st)
{
    bool open[SELFTEST_SIM_MOST];
    size_t left = t->family;
    bn_code code = BN_OK;
    for (size_t i = 0; i < t->family; i++)
        open[i] = true;
    for (size_t analysis = 0; code == BN_OK && left > 0 && pairs_of_analysis(t, analysis) > 0;
         analysis++) {
        for (size_t i = 0; i < t->family && code == BN_OK; i++) {
            seen *s = i == 0 ? first : &all->each[i];
            if (!open[i])
                continue;
            code = analyse_at(t, procedure, s, analysis, st);
            all->end[i] = s->at[analysis];
        }
        if (code == BN_OK)
            procedure->family(all->end, t->family, &first->options);
        left = 0;
        for (size_t i = 0; i < t->family; i++)
            left += open[i] = open[i] && all->end[i].verdict >= RES_UNEVEN;
    }
    return code;
}

static bool holds(const res_interval *interval, double truth)
{
    return interval->low <= truth && truth <= interval->high;
}

/* Judges the family again, its first session slowed by EFFECT, whose comparison is ALL->end[0]. */
static bn_code slowed(const selftest_trials *t, const selftest_procedure *procedure, double effect,
                      trial *all, bn_status *st)
{
    selftest_sim_slow(&all->each[0].session, 1 + effect, &all->slowed.session);
    memset(all->slowed.known, 0, sizeof all->slowed.known);
    return judge(t, procedure, &all->slowed, all, st);
}

static bn_code try_effects(selftest_trials *t, const selftest_procedure *procedure, trial *all,
                           bn_status *st)
{
    const res_comparison like = all->end[0], *first = &all->end[0];
    const double mde = like.mde;
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < SELFTEST_SIM_EFFECTS; i++) {
        const double effect = selftest_sim_effects[i];
        code = slowed(t, procedure, effect, all, st);
        t->found[i] += first->verdict == RES_SLOWER;
        t->held_slowed[i] += holds(&first->ratio, 1 + effect);
        t->used_slowed[i] += first->pairs;
        /* Predicted from like sides, as one would for the next session. */
        t->predicted[i] += res_power(&like, effect);
        if (i == SELFTEST_SIM_EFFECTS - 1)
            t->wrongly_equivalent += first->verdict == RES_EQUIVALENT;
    }
    if (code == BN_OK && t->plan == RES_PLAN_ONCE && isfinite(mde)) {
        code = slowed(t, procedure, mde, all, st);
        t->promised++;
        t->mde_found += first->verdict == RES_SLOWER;
        t->mde += log1p(mde);
    }
    return code;
}

static void count(selftest_trials *t, const trial *all)
{
    const res_comparison *first = &all->end[0];
    bool alarm = false;
    for (size_t i = 0; i < t->family; i++)
        alarm = alarm || all->end[i].verdict == RES_FASTER || all->end[i].verdict == RES_SLOWER;
    t->trials++;
    t->alarms += alarm;
    t->held += holds(&first->ratio, 1);
    t->equivalent += first->verdict == RES_EQUIVALENT;
    t->used += first->pairs;
}

bn_code selftest_trial(selftest_trials *t, const selftest_procedure *procedure, gsl_rng *rng,
                       bn_status *st)
{
    trial *all = bn_zalloc(1, sizeof *all);
    for (size_t i = 0; i < t->family; i++) {
        seen *s = &all->each[i];
        s->options = trial_options(t);
        selftest_simulate(t->scenario, t->pairs, procedure->order, rng, &s->session);
    }
    all->slowed.options = trial_options(t);
    bn_code code = judge(t, procedure, &all->each[0], all, st);
    if (code == BN_OK) {
        count(t, all);
        code = try_effects(t, procedure, all, st);
    }
    free(all);
    return code;
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

size_t selftest_least_held(const selftest_trials *t)
{
    size_t least = t->held;
    for (size_t i = 0; i < SELFTEST_SIM_EFFECTS; i++)
        least = t->held_slowed[i] < least ? t->held_slowed[i] : least;
    return least;
}

unsigned selftest_trials_judge(const selftest_trials *t)
{
    const res_interval mde = selftest_share(t->mde_found, t->promised);
    const bool once = t->plan == RES_PLAN_ONCE;
    unsigned faults = 0;
    if (t->trials == 0 ||
        selftest_share(t->alarms, t->trials).low > LEVEL + t->scenario->more_alarms)
        faults |= SELFTEST_FAULT_ALARMS;
    if (selftest_share(selftest_least_held(t), t->trials).high <
        1 - LEVEL - t->scenario->fewer_held)
        faults |= SELFTEST_FAULT_COVERAGE;
    if (once && (mde.low > 0.9 || mde.high < 0.7))
        faults |= SELFTEST_FAULT_MDE;
    for (size_t i = 0; i < SELFTEST_SIM_EFFECTS && once; i++)
        if (selftest_share(t->found[i], t->trials).estimate <
            t->predicted[i] / (double)t->trials - 0.15)
            faults |= SELFTEST_FAULT_POWER;
    if (selftest_share(t->wrongly_equivalent, t->trials).low > LEVEL)
        faults |= SELFTEST_FAULT_EQUIVALENT;
    if (strcmp(t->scenario->name, "quiet") == 0 && t->pairs >= RES_EQUIVALENT_PAIRS &&
        selftest_share(t->equivalent, t->trials).estimate < 0.9)
        faults |= SELFTEST_FAULT_EQUIVALENT;
    return faults;
}
