/*
 * verdicts.c - a simulated comparison: pairs are run as planned, and judged as bench compare judges
 * them (campaign/compare_run.c, findings/versus.c).
 */
#include "harness/selftest/statistics_priv.h"
#include "harness/selftest/verdicts_priv.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#define SLOW_FACTOR 1.5
/* Parts of the level: of the wall time, and of all other measures of an experiment together. */
#define WALL        4.0
#define OTHERS      5.0
#define CELLS       (SELFTEST_MOST_EXPERIMENTS + 1)

/* The processes of one experiment, or of the control. */
typedef struct cell {
    double side[2][RES_MOST_PAIRS];
    res_comparison now;
    bool open;
} cell;

static double draw(const selftest_verdicts *v, gsl_rng *rng)
{
    switch (v->draw) {
    case SELFTEST_DRAW_T3:
        return v->spread * gsl_ran_tdist(rng, 3) / sqrt(3);
    case SELFTEST_DRAW_SPEEDS:
        return v->spread *
               ((gsl_rng_uniform(rng) < 0.5 ? 5 : 0) + gsl_ran_gaussian_ziggurat(rng, 0.2));
    default:
        return gsl_ran_gaussian_ziggurat(rng, v->spread);
    }
}

static void run_processes(const selftest_verdicts *v, bool control, gsl_rng *rng, cell *c)
{
    c->open = true;
    for (size_t i = 0; i < v->pairs; i++)
        for (int side = 0; side < 2; side++) {
            const bool of_b = side && !control;
            const bool slow = gsl_rng_uniform(rng) < v->slow[of_b];
            c->side[side][i] =
                exp(draw(v, rng) + (slow ? log(SLOW_FACTOR) : 0)) * (of_b ? 1 + v->effect : 1);
        }
}

/* Judges all cells at N pairs: those that are open, and the control, the last one. */
static bn_code judge(const selftest_verdicts *v, size_t n, cell *cells, bn_status *st)
{
    const size_t count = v->experiments + 1;
    res_comparison family[CELLS + 1];
    res_compare_options options = res_compare_defaults();
    bn_code code = BN_OK;
    options.plan = v->plan;
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        const res_values values = {cells[i].side[0], cells[i].side[1], n, 0};
        if (cells[i].open)
            code = res_compare(&values, &options, &cells[i].now, st);
        family[i] = cells[i].now;
        family[i].weight = WALL;
    }
    family[count] = res_compare_nothing(OTHERS * (double)count);
    if (code == BN_OK)
        res_compare_family(family, count + 1, &options);
    for (size_t i = 0; i < count && code == BN_OK; i++)
        cells[i].now = family[i];
    return code;
}

/* Closes what is decided; returns how many experiments are open. */
static size_t close_decided(const selftest_verdicts *v, cell *cells)
{
    size_t open = 0;
    for (size_t i = 0; i < v->experiments; i++)
        open += cells[i].open = cells[i].open && cells[i].now.verdict >= RES_UNEVEN;
    return open;
}

static void count(const cell *cells, selftest_verdicts *v)
{
    res_slow_counts slow = {{0, 0}, {0, 0}};
    bool claim = false, pass = true;
    for (size_t i = 0; i <= v->experiments; i++)
        res_slow_add(&slow, &cells[i].now, NULL, i == v->experiments);
    const bool b_slow = res_slow_p(&slow) <= RES_SLOW_LEVEL;
    for (size_t i = 0; i < v->experiments; i++) {
        const res_comparison *c = &cells[i].now;
        v->of[c->verdict]++;
        v->used += c->pairs;
        v->hidden += c->verdict == RES_EQUIVALENT && c->slow[0].count + c->slow[1].count > 0;
        claim = claim || c->verdict == RES_SLOWER || c->verdict == RES_FASTER;
        pass = pass && c->verdict == RES_EQUIVALENT;
    }
    v->comparisons++;
    v->b_slow += b_slow;
    v->claims += claim || b_slow;
    v->passed += pass && !b_slow;
}

bn_code selftest_verdicts_trial(selftest_verdicts *v, gsl_rng *rng, bn_status *st)
{
    cell *cells = bn_zalloc(CELLS, sizeof *cells);
    bn_code code = BN_OK;
    for (size_t i = 0; i <= v->experiments; i++)
        run_processes(v, i == v->experiments, rng, &cells[i]);
    size_t open = v->experiments, next = v->plan == RES_PLAN_ONCE ? v->pairs : 0;
    if (next == 0)
        next = res_plan_next(v->plan, 0);
    for (; code == BN_OK && open > 0 && next > 0; next = res_plan_next(v->plan, next)) {
        code = judge(v, next, cells, st);
        open = close_decided(v, cells);
    }
    if (code == BN_OK)
        count(cells, v);
    free(cells);
    return code;
}

bool selftest_verdicts_alike(const selftest_verdicts *v)
{
    return v->slow[0] == v->slow[1] && v->effect == 0;
}

unsigned selftest_verdicts_judge(const selftest_verdicts *v)
{
    const size_t all = v->comparisons * v->experiments;
    const bool quiet = v->draw == SELFTEST_DRAW_NORMAL && v->spread <= 0.01 && v->slow[1] == 0 &&
                       v->pairs >= RES_EQUIVALENT_PAIRS;
    unsigned faults = 0;
    if (v->comparisons == 0 || v->hidden > 0)
        faults |= SELFTEST_VERDICTS_HIDDEN;
    if (!selftest_verdicts_alike(v))
        return faults;
    if (selftest_share(v->b_slow, v->comparisons).low > 0.015)
        faults |= SELFTEST_VERDICTS_SLOW;
    if (selftest_share(v->claims, v->comparisons).low > 0.05)
        faults |= SELFTEST_VERDICTS_CLAIMS;
    if (quiet && selftest_share(v->of[RES_EQUIVALENT], all).high < 0.95)
        faults |= SELFTEST_VERDICTS_EQUIVALENT;
    return faults;
}
