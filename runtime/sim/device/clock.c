/*
 * clock.c - time that is right to microseconds, seeded chance, and how late we were.
 */
#include "runtime/sim/device/clock.h"

#include <errno.h>
#include <math.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t sim_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t sim_us_to_ns(double us)
{
    return us > 0 ? (uint64_t)(us * 1e3 + 0.5) : 0;
}

uint64_t sim_wait_until(uint64_t deadline_ns)
{
    uint64_t now = sim_now_ns();
    if (deadline_ns > now + SIM_SPIN_NS) {
        uint64_t wake = deadline_ns - SIM_SPIN_NS;
        struct timespec at = {(time_t)(wake / UINT64_C(1000000000)),
                              (long)(wake % UINT64_C(1000000000))};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
            continue;
        now = sim_now_ns();
    }
    while (now < deadline_ns)
        now = sim_now_ns();
    return now;
}

/* ---- chance ----------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014). */
static uint64_t draw(sim_random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

sim_random sim_random_begin(uint64_t seed, uint64_t stream)
{
    /* States that differ by a multiple of SplitMix64's step are places of one sequence, so the
     * stream is added to a draw, and what begins is a draw as well. */
    sim_random random = {seed};
    random.state = draw(&random) + stream;
    random.state = draw(&random);
    return random;
}

int64_t sim_random_seed(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = sim_now_ns() ^ (uint64_t)getpid() << 40;
    return (int64_t)(seed >> 11);
}

double sim_random_uniform(sim_random *random)
{
    return (double)(draw(random) >> 11) * 0x1p-53;
}

/* One of the pair of numbers that the transform of Box and Muller gives. */
double sim_random_normal(sim_random *random)
{
    double u = 1 - sim_random_uniform(random), v = sim_random_uniform(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

double sim_random_exponential(sim_random *random)
{
    return -log(1 - sim_random_uniform(random));
}

/* ---- lateness --------------------------------------------------------------------------- */

void sim_lateness_add(sim_lateness *lateness, uint64_t late_ns)
{
    lateness->count++;
    lateness->over_5us += late_ns > 5000;
    if (lateness->ns && lateness->kept < SIM_LATENESS_KEPT)
        lateness->ns[lateness->kept++] = late_ns < UINT32_MAX ? (uint32_t)late_ns : UINT32_MAX;
}
