/*
 * plan.c - what a night can claim, before it is measured: from the number of its repetitions, and
 * from how far processes and nights lay apart before.
 */
#include "results/nights/further_priv.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* A slowdown is missed if it does not seem one, or is not significant at the last analysis: each
 * may have half of what is missed. */
#define MISSED_EACH ((1 - RES_POWER) / 2)
/* A night or more without controls claims by the latest two nights (res_series_tonight). */
#define NIGHTS_TOLD 2

const char *res_night_claims_name(res_night_claims claims)
{
    static const char *const names[] = {[RES_CLAIMS_NO_BASELINE] = "no-baseline",
                                        [RES_CLAIMS_SAME_BUILD] = "same-build",
                                        [RES_CLAIMS_PAIRS] = "pairs",
                                        [RES_CLAIMS_FURTHER_PAIRS] = "further-pairs",
                                        [RES_CLAIMS_FEW_PAIRS] = "few-pairs",
                                        [RES_CLAIMS_TWO_NIGHTS] = "two-nights",
                                        [RES_CLAIMS_FEW_NIGHTS] = "few-nights"};
    return names[claims];
}

static void add(res_night_plan *plan, double detectable)
{
    plan->known++;
    plan->detectable = fmax(plan->detectable, detectable);
    plan->least = fmin(plan->least, detectable);
}

/* ---- on a control -------------------------------------------------------------------------- */

static bool asked_before(const res_collection *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (res_same_request(&all->records[k]->experiment, &all->records[i]->experiment))
            return true;
    return false;
}

/* The logs of the median steps of record I's experiment in ALL, one a process. */
static res_estimate processes_of(const res_collection *all, size_t i, double *room)
{
    size_t count = 0;
    for (size_t k = 0; k < all->count; k++) {
        const res_record *r = all->records[k];
        if (res_same_request(&r->experiment, &all->records[i]->experiment) && r->step_count > 0)
            room[count++] = log(res_quantile(r->wall_ns, r->step_count, 0.5));
    }
    return res_estimate_of(room, count);
}

/* The log of the slowdown that the pairs of PLAN find in RES_POWER of all nights, where processes
 * lie as far apart as those of KNOWN: each pair differs by the root of two as much. */
static double found_by_pairs(const res_night_plan *plan, const res_night_ahead *ahead,
                             const res_estimate *known)
{
    const double spread = known->error * sqrt(2 * (double)known->values);
    const double pairs = (double)plan->pairs, last = (double)plan->most;
    const double share = ahead->interim ? res_plan_share(RES_NIGHT_PLAN, plan->most) : 1;
    const double level = res_compare_defaults().level * share / res_wall_family(plan->cells);
    const double wanted = ahead->threshold > 0 ? ahead->threshold : RES_NIGHT_MDE;
    const double more = gsl_cdf_tdist_Qinv(MISSED_EACH, known->freedom);
    const double significant =
        (gsl_cdf_tdist_Qinv(level / 2, last - 1) + more) * spread / sqrt(last);
    const double seeming = log1p(wanted / 2) + more * spread / sqrt(pairs);
    return plan->most > plan->pairs ? fmax(significant, seeming) : significant;
}

static void plan_pairs(const res_night_ahead *ahead, res_night_plan *plan)
{
    const res_collection *before = ahead->before;
    double *room = bn_zalloc(before->count, sizeof *room);
    plan->needed = RES_CLAIM_PAIRS;
    plan->pairs = ahead->repetitions;
    plan->most = ahead->interim ? res_plan_last(RES_NIGHT_PLAN) : plan->pairs;
    plan->claims = plan->pairs >= plan->needed  ? RES_CLAIMS_PAIRS
                   : plan->most >= plan->needed ? RES_CLAIMS_FURTHER_PAIRS
                                                : RES_CLAIMS_FEW_PAIRS;
    for (size_t i = 0; plan->claims != RES_CLAIMS_FEW_PAIRS && i < before->count; i++) {
        if (asked_before(before, i))
            continue;
        const res_estimate known = processes_of(before, i, room);
        if (!isfinite(known.error))
            continue;
        add(plan, expm1(found_by_pairs(plan, ahead, &known)));
    }
    free(room);
}

/* ---- on records ---------------------------------------------------------------------------- */

static void plan_nights(const res_night_ahead *ahead, res_night_plan *plan)
{
    plan->claims = RES_CLAIMS_FEW_NIGHTS;
    for (size_t i = 0; ahead->history && i < ahead->history->count; i++) {
        const res_timeline *series = &ahead->history->series[i];
        size_t count = 0;
        if (!res_timeline_has(series, ahead->before))
            continue;
        double *values = res_timeline_level(series, &count);
        /* The level of tonight's and tomorrow's night: all nights up to the last one are of it. */
        const res_latest_nights known = res_latest_nights_of(values, count, 1, series->changes.rho);
        free(values);
        if (known.nights == 0)
            continue;
        plan->claims = RES_CLAIMS_TWO_NIGHTS;
        add(plan,
            res_latest_nights_mde(&known, NIGHTS_TOLD, RES_DRIFT_LEVEL / (double)plan->cells));
    }
}

res_night_plan res_night_plan_make(const res_night_ahead *ahead)
{
    res_night_plan plan = {.cells = ahead->cells, .detectable = (double)NAN, .least = (double)NAN};
    if (ahead->before->count == 0)
        plan.claims = RES_CLAIMS_NO_BASELINE;
    else if (ahead->same)
        plan.claims = RES_CLAIMS_SAME_BUILD;
    else if (ahead->control)
        plan_pairs(ahead, &plan);
    else
        plan_nights(ahead, &plan);
    return plan;
}
