/*
 * simulate.c - simulated sessions whose truth is known: both sides are the same program, on a
 * machine that is disturbed in the ways of real ones.
 */
#include "harness/selftest/statistics_priv.h"
#include "results/stats/stats.h"

#include <gsl/gsl_randist.h>
#include <math.h>

/* A step of the undisturbed program. */
#define STEP_NS 10e6

const selftest_scenario selftest_scenarios[] = {
    {.name = "jitter", .what = "steps and processes vary", .step = 0.03, .process = 0.007},
    {.name = "drift",
     .what = "the machine gets slower by up to 20 % over the session",
     .step = 0.03,
     .process = 0.007,
     .drift = 0.2},
    {.name = "outliers",
     .what = "up to 5 % of steps take 2 to 10 times, 5 % of processes 1.1 to 2",
     .step = 0.03,
     .process = 0.007,
     .outliers = 0.05,
     .disturbed = 0.05},
    {.name = "periodic",
     .what = "another program comes and goes, every 4 steps to every 4 processes",
     .step = 0.02,
     .process = 0.005,
     .periodic = 0.03,
     /* A rhythm near that of the pairs makes all differences alike but for their signs, which a
      * coin draws. Student's t of 8 such pairs, at the 0.13 % that each of 30 comparisons has,
      * claims 1.7 times as often as it may. Flips of signs would not, and with 8 pairs claim
      * nothing. */
     .more_alarms = 0.01,
     .fewer_held = 0.01},
    {.name = "wandering",
     .what = "the machine's speed wanders, 98 % of it kept from step to step",
     .step = 0.01,
     .process = 0.005,
     .wander = 0.04,
     .keep = 0.98},
    {.name = "two modes",
     .what = "a process is fast or 3 % slower by chance",
     .step = 0.01,
     .process = 0.002,
     .modes = 0.03},
    {.name = "quiet", .what = "little varies", .step = 0.005, .process = 0.002},
    {.name = NULL},
};

/* Disturbances of a machine over one session. */
typedef struct machine {
    const selftest_scenario *scenario;
    double length; /* of the session, in steps */
    double drift, frequency, phase;
    double speed; /* where it has wandered to */
} machine;

static machine machine_begin(const selftest_scenario *s, size_t pairs, gsl_rng *rng)
{
    const double longest = 4.0 * SELFTEST_SIM_STEPS, shortest = 4;
    return (machine){
        .scenario = s,
        .length = (double)(2 * pairs * SELFTEST_SIM_STEPS),
        .drift = s->drift * gsl_rng_uniform(rng),
        .frequency = 2 * M_PI / (shortest * pow(longest / shortest, gsl_rng_uniform(rng))),
        .phase = 2 * M_PI * gsl_rng_uniform(rng),
        .speed = s->wander * gsl_ran_gaussian_ziggurat(rng, 1),
    };
}

/* Logarithm of the factor by which the machine is slower at step T of the session. */
static double machine_step(machine *m, size_t t, gsl_rng *rng)
{
    const selftest_scenario *s = m->scenario;
    const double fresh = s->wander * sqrt(1 - s->keep * s->keep);
    if (s->wander > 0)
        m->speed = s->keep * m->speed + gsl_ran_gaussian_ziggurat(rng, fresh);
    return m->speed + m->drift * (double)t / m->length +
           s->periodic * sin(m->frequency * (double)t + m->phase);
}

/* Logarithm of the factor by which one process is slower, in all its steps. */
static double process_offset(const selftest_scenario *s, gsl_rng *rng)
{
    double offset = gsl_ran_gaussian_ziggurat(rng, s->process);
    if (s->modes > 0 && gsl_rng_uniform(rng) < 0.5)
        offset += s->modes;
    if (s->disturbed > 0 && gsl_rng_uniform(rng) < s->disturbed)
        offset += log(1.1 + 0.9 * gsl_rng_uniform(rng));
    return offset;
}

/* The median step of the process in SLOT. */
static double run_process(machine *m, size_t slot, double outliers, gsl_rng *rng)
{
    const selftest_scenario *s = m->scenario;
    double steps[SELFTEST_SIM_STEPS];
    const double offset = process_offset(s, rng);
    for (size_t i = 0; i < SELFTEST_SIM_STEPS; i++) {
        double log_time = offset + gsl_ran_gaussian_ziggurat(rng, s->step) +
                          machine_step(m, slot * SELFTEST_SIM_STEPS + i, rng);
        if (outliers > 0 && gsl_rng_uniform(rng) < outliers)
            log_time += log(2 + 8 * gsl_rng_uniform(rng));
        steps[i] = STEP_NS * exp(log_time);
    }
    return res_median(steps, SELFTEST_SIM_STEPS);
}

void selftest_simulate(const selftest_scenario *scenario, size_t pairs, selftest_order *order,
                       gsl_rng *rng, selftest_session_sim *out)
{
    bool b_first[RES_MOST_PAIRS];
    /* If there are outliers, they are at least 1 % of the steps. */
    const double outliers =
        scenario->outliers > 0 ? 0.01 + (scenario->outliers - 0.01) * gsl_rng_uniform(rng) : 0;
    machine m = machine_begin(scenario, pairs, rng);
    out->pairs = pairs;
    order(gsl_rng_get(rng), pairs, b_first);
    for (size_t i = 0; i < pairs; i++) {
        const size_t first = b_first[i] ? 1 : 0;
        out->median[first][i] = run_process(&m, 2 * i, outliers, rng);
        out->median[1 - first][i] = run_process(&m, 2 * i + 1, outliers, rng);
    }
}

void selftest_sim_slow(const selftest_session_sim *in, double factor, selftest_session_sim *out)
{
    *out = *in;
    for (size_t i = 0; i < in->pairs; i++)
        out->median[1][i] *= factor;
}
