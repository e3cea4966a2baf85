/*
 * coverage_simulate.c - tables in numbers: processes, rounds and steps drawn by a scenario whose
 * truth is known, and the coverage of their intervals.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/coverage_priv.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

/* An undisturbed step of the baseline. */
#define STEP_NS 10e6

const selftest_table_scenario selftest_table_scenarios[] = {
    {.name = "quiet",
     .what = "little varies",
     .process = 0.005,
     .member = 0.003,
     .step = 0.01,
     .exact = true},
    {.name = "process 3 %",
     .what = "processes vary by 3 %, and so does each member within them",
     .process = 0.03,
     .member = 0.03,
     .step = 0.03,
     .exact = true},
    {.name = "process 10 %",
     .what = "the same with 10 %",
     .process = 0.10,
     .member = 0.10,
     .step = 0.03,
     .exact = true},
    {.name = "wandering",
     .what = "the machine's speed wanders by 5 %, 95 % of it kept from step to step",
     .process = 0.03,
     .member = 0.01,
     .step = 0.02,
     .wander = 0.05,
     .keep = 0.95,
     .exact = true},
    {.name = "interference",
     .what = "others take the core in 1 % of the steps, for half a step",
     .process = 0.03,
     .member = 0.01,
     .step = 0.02,
     .wander = 0.02,
     .keep = 0.9,
     .burst = 0.01,
     .burst_length = 0.5},
    {.name = "exposure",
     .what = "the same, and one member's steps take six times as long: 6 % of them are met",
     .longer = 6,
     .process = 0.03,
     .member = 0.01,
     .step = 0.02,
     .wander = 0.02,
     .keep = 0.9,
     .burst = 0.01,
     .burst_length = 0.5},
    {.name = NULL},
};

static double longer(const selftest_table_scenario *s)
{
    return s->longer > 0 ? s->longer : 1;
}

/* ---- drawing ------------------------------------------------------------------------ */

/* One process while it runs. */
typedef struct process {
    const selftest_table_scenario *scenario;
    double log_factor[2]; /* of each member, for all its steps */
    double speed;         /* logarithm of where the machine has wandered to */
} process;

static double draw_step(process *p, int member, gsl_rng *rng)
{
    const selftest_table_scenario *s = p->scenario;
    const double usual = member == 1 ? longer(s) : 1;
    if (s->wander > 0)
        p->speed = s->keep * p->speed +
                   gsl_ran_gaussian_ziggurat(rng, s->wander * sqrt(1 - s->keep * s->keep));
    double took =
        usual * exp(p->log_factor[member] + p->speed + gsl_ran_gaussian_ziggurat(rng, s->step));
    if (s->burst > 0)
        took += s->burst_length * gsl_ran_poisson(rng, s->burst * usual);
    return STEP_NS * took;
}

void selftest_table_simulate(const selftest_table_scenario *s, gsl_rng *rng,
                             selftest_table_sim *out)
{
    for (size_t k = 0; k < SELFTEST_TABLE_PROCESSES; k++) {
        const double common = gsl_ran_gaussian_ziggurat(rng, s->process);
        process p = {.scenario = s, .speed = gsl_ran_gaussian_ziggurat(rng, s->wander)};
        for (int m = 0; m < 2; m++)
            p.log_factor[m] = common + gsl_ran_gaussian_ziggurat(rng, s->member);
        for (size_t r = 0; r < SELFTEST_TABLE_ROUNDS; r++) {
            const int first = gsl_rng_uniform(rng) < 0.5;
            for (int turn = 0; turn < 2; turn++)
                for (size_t i = 0; i < SELFTEST_TABLE_STEPS; i++)
                    out->step_ns[k][first ^ turn][r][i] = draw_step(&p, first ^ turn, rng);
        }
    }
}

/* ---- trials ---------------------------------------------------------------------------- */

bn_code selftest_table_trial_run(selftest_table_trial *trial, selftest_table_procedure *procedure,
                                 uint64_t seed, bn_status *st)
{
    const size_t n = trial->tables;
    trial->ratio_truth = 1 / longer(trial->scenario);
    trial->wall_truth = STEP_NS * longer(trial->scenario);
    bn_code code = BN_OK;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    res_interval *list = bn_zalloc(2 * n + 1, sizeof *list); /* ratios, then walls */
    double *truths = bn_zalloc(2 * n + 1, sizeof *truths);
    gsl_rng_set(rng, (unsigned long)seed);
    for (size_t i = 0; i < n && code == BN_OK; i++) {
        selftest_table_sim table;
        selftest_table_figures figures;
        selftest_table_simulate(trial->scenario, rng, &table);
        code = procedure(&table, &figures, st);
        if (code != BN_OK)
            break;
        list[i] = figures.ratio;
        list[n + i] = figures.wall;
        truths[i] = trial->ratio_truth;
        truths[n + i] = trial->wall_truth;
        if (job_interrupted())
            code = bn_fail(st, BN_CANCELLED, "interrupted");
    }
    if (code == BN_OK) {
        trial->ratio = selftest_coverage_count(list, truths, n);
        trial->wall = selftest_coverage_count(list + n, truths + n, n);
    }
    free(truths);
    free(list);
    gsl_rng_free(rng);
    return code;
}
