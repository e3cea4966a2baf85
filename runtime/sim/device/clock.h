/*
 * clock.h - time that is right to microseconds, seeded chance, and how late waits ended.
 * Times are of CLOCK_MONOTONIC, in nanoseconds.
 */
#ifndef BENCH_RUNTIME_SIM_CLOCK_H
#define BENCH_RUNTIME_SIM_CLOCK_H

#include <stddef.h>
#include <stdint.h>

/* The time of something that never happens. */
#define SIM_NEVER UINT64_MAX

/* A sleep may end this much late (timer slack of 50 us, and a core that has to wake up): the rest
 * of a wait is spun. */
#define SIM_SPIN_NS UINT64_C(200000)

uint64_t sim_now_ns(void);
/* Sleeps, and spins for the last part; returns the time it returned at. */
uint64_t sim_wait_until(uint64_t deadline_ns);
/* Rounded; 0 for what is below 0. */
uint64_t sim_us_to_ns(double us);

/* ---- chance ----------------------------------------------------------------------------- */

/* Seeded draws: the same state gives the same sequence. Not for several threads at a time. */
typedef struct sim_random {
    uint64_t state;
} sim_random;
/* The beginning of sequence STREAM of SEED; sequences are independent of each other. */
sim_random sim_random_begin(uint64_t seed, uint64_t stream);
/* A seed that nobody chose, below 2^53, which a double holds: another one for each call, in
 * whatever process. */
int64_t sim_random_seed(void);
double sim_random_uniform(sim_random *random); /* in [0, 1) */
double sim_random_normal(sim_random *random);
double sim_random_exponential(sim_random *random); /* of mean 1 */

/* ---- lateness --------------------------------------------------------------------------- */

/* How late waits and calls ended, against their schedule. */
typedef struct sim_lateness {
    uint32_t *ns; /* the first SIM_LATENESS_KEPT ones; NULL: not asked for */
    size_t kept;
    uint64_t count, over_5us;
} sim_lateness;
#define SIM_LATENESS_KEPT 65536

void sim_lateness_add(sim_lateness *lateness, uint64_t late_ns);

#endif
