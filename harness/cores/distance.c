/*
 * distance.c - how far apart the cores are, by a cache line that two threads pass to each other,
 * and how they come together again.
 *
 * Measured on a virtual machine of 2 cores of one AMD EPYC (Zen 5) that its host moves: a line goes
 * to the other core and back in 70 to 120 ns, or in 330 to 420; nothing lies between. While it is
 * the latter a step of 62 us takes 76 to 99, and no counter of the guest shows it. Where both cores
 * worked without a pause that began once in 16 s. Where they slept and woke each other it never
 * began, and ended after 0.05 to 8 s: a host places a core when it wakes up.
 */
#define _GNU_SOURCE
#include "harness/cores/cores_priv.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART_NS  200
/* The best burst counts: an interrupt makes any of them longer. */
#define BURSTS    3
#define TRIPS     20
/* A core that does not answer for so long has other work. */
#define LIMIT_NS  UINT64_C(5000000)
/* Between two wake-ups of the others, and between two checks whether that helped. */
#define PAUSE_NS  200000
#define SLICE_NS  UINT64_C(20000000)
/* Cores that other programs use do not sleep: gives up after so many such checks in a row. */
#define MOST_BUSY 5
#define SETTLE_NS 2000000

typedef struct runner {
    cores_watch *watch;
    unsigned core;
    size_t number; /* 0: the one that throws the ball */
    pthread_t thread;
    sem_t call;
    uint64_t seen; /* the last trip that it made */
} runner;

struct cores_watch {
    hwloc_topology_t topology; /* borrowed */
    hwloc_bitmap_t may;        /* those that are watched */
    runner runners[CORES_MOST_WATCHED];
    size_t count; /* of runners that run */
    sem_t done;
    /* Written before the runners are called. */
    atomic_bool ending, waking;
    atomic_ulong trip; /* of which runner 0 and runner PARTNER are part */
    atomic_size_t partner;
    uint64_t limit_ns; /* when both give up */
    double best_ns;    /* runner 0's answer */
    alignas(128) atomic_uint ball;
};

/* ---- a trip ---------------------------------------------------------------------------------- */

static bool await_ball(cores_watch *w, unsigned value)
{
    for (unsigned spin = 1; atomic_load_explicit(&w->ball, memory_order_acquire) != value; spin++)
        if (spin % 256 == 0 && bn_now_ns() > w->limit_ns)
            return false;
    return true;
}

/* Runner 0: after a first throw, which waits until the partner is there. */
static void throw_ball(cores_watch *w)
{
    unsigned ball = 0;
    bool here = true;
    for (int burst = -1; here && burst < BURSTS; burst++) {
        const int trips = burst < 0 ? 1 : TRIPS;
        const uint64_t start = bn_now_ns();
        for (int i = 0; here && i < trips; i++, ball += 2) {
            atomic_store_explicit(&w->ball, ball + 1, memory_order_release);
            here = await_ball(w, ball + 2);
        }
        const double ns = (double)(bn_now_ns() - start) / trips;
        if (here && burst >= 0 && !(w->best_ns <= ns))
            w->best_ns = ns;
    }
}

static void return_ball(cores_watch *w)
{
    const unsigned throws = 1 + BURSTS * TRIPS;
    for (unsigned i = 0; i < throws && await_ball(w, 2 * i + 1); i++)
        atomic_store_explicit(&w->ball, 2 * i + 2, memory_order_release);
}

/* ---- the threads ------------------------------------------------------------------------ */

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0 && errno == EINTR)
        ;
}

/* Runner 0: the others wake up and sleep again, and so does this one. */
static void wake_others(cores_watch *w)
{
    const uint64_t end_ns = bn_now_ns() + SLICE_NS;
    while (bn_now_ns() < end_ns) {
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        for (size_t i = 1; i < w->count; i++)
            sem_post(&w->runners[i].call);
    }
}

static void *run(void *argument)
{
    runner *r = argument;
    cores_watch *w = r->watch;
    hwloc_bitmap_t own = cores_set_new();
    hwloc_bitmap_only(own, r->core);
    (void)!cores_bind_thread(0, own);
    hwloc_bitmap_free(own);
    for (await(&r->call); !atomic_load(&w->ending); await(&r->call)) {
        /* A wake-up call may be answered late, when there is no new trip. */
        const uint64_t trip = atomic_load(&w->trip);
        const bool travels =
            trip != r->seen && (r->number == 0 || r->number == atomic_load(&w->partner));
        if (r->number == 0 && atomic_load(&w->waking))
            wake_others(w);
        else if (travels && r->number == 0)
            throw_ball(w);
        else if (travels)
            return_ball(w);
        r->seen = trip;
        if (travels || r->number == 0)
            sem_post(&w->done);
    }
    return NULL;
}

/* ---- trips from outside ----------------------------------------------------------------- */

double cores_watch_trip_ns(cores_watch *w)
{
    double farthest_ns = NAN;
    for (size_t i = 1; w && i < w->count; i++) {
        atomic_store(&w->partner, i);
        w->best_ns = NAN;
        w->limit_ns = bn_now_ns() + LIMIT_NS;
        atomic_store(&w->ball, 0);
        atomic_fetch_add(&w->trip, 1);
        sem_post(&w->runners[i].call);
        sem_post(&w->runners[0].call);
        await(&w->done);
        await(&w->done);
        farthest_ns = fmax(farthest_ns, w->best_ns);
    }
    return farthest_ns;
}

bool cores_are_apart(double trip_ns)
{
    return trip_ns > APART_NS;
}

/* Whether another thread than the calling one wants a core, once those of this file sleep: the
 * fourth figure of /proc/loadavg. */
static bool others_run(void)
{
    int running = 0;
    nanosleep(&(struct timespec){.tv_nsec = SETTLE_NS}, NULL);
    FILE *file = fopen("/proc/loadavg", "re");
    const bool known = file && fscanf(file, "%*f %*f %*f %d/", &running) == 1;
    if (file)
        fclose(file);
    return known && running > 1;
}

bool cores_watch_gather(cores_watch *w, int held, double seconds)
{
    const uint64_t end_ns = bn_now_ns() + (uint64_t)(seconds * 1e9);
    bool apart = cores_are_apart(cores_watch_trip_ns(w));
    int busy = 0;
    cores_idle_let_sleep(held, true);
    while (apart && busy < MOST_BUSY && bn_now_ns() < end_ns) {
        busy = others_run() ? busy + 1 : 0;
        atomic_store(&w->waking, true);
        sem_post(&w->runners[0].call);
        await(&w->done);
        atomic_store(&w->waking, false);
        apart = cores_are_apart(cores_watch_trip_ns(w));
    }
    cores_idle_let_sleep(held, false);
    return !apart;
}

/* ---- begin and end ---------------------------------------------------------------------- */

/* Puts into MAY the cores in use that share a cache with the first of them. */
static bool find_cores(cores_watch *w, const cores_pinning *pinning)
{
    hwloc_bitmap_t one = cores_set_new();
    bool found = cores_in_use(pinning, w->may) && hwloc_bitmap_first(w->may) >= 0 &&
                 hwloc_bitmap_only(one, (unsigned)hwloc_bitmap_first(w->may)) == 0;
    hwloc_obj_t cache = found ? hwloc_get_cache_covering_cpuset(w->topology, one) : NULL;
    /* From the first core's own caches up to the last that cores share. */
    for (hwloc_obj_t up = cache; up; up = up->parent)
        if (hwloc_obj_type_is_cache(up->type))
            cache = up;
    found = cache && hwloc_bitmap_and(w->may, w->may, cache->cpuset) == 0;
    hwloc_bitmap_free(one);
    const int count = found ? hwloc_bitmap_weight(w->may) : 0;
    return count >= 2 && count <= CORES_MOST_WATCHED;
}

/* Signals are for the program's own threads. */
static bool start_threads(cores_watch *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = true;
    for (int core = hwloc_bitmap_first(w->may); core >= 0 && started;
         core = hwloc_bitmap_next(w->may, core)) {
        runner *r = &w->runners[w->count];
        *r = (runner){.watch = w, .core = (unsigned)core, .number = w->count};
        started = sem_init(&r->call, 0, 0) == 0 && pthread_create(&r->thread, NULL, run, r) == 0;
        w->count += started;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

cores_watch *cores_watch_begin(const cores_pinning *pinning)
{
    cores_watch *w = aligned_alloc(alignof(cores_watch), sizeof *w);
    if (!w)
        bn_out_of_memory(sizeof *w);
    *w = (cores_watch){.may = cores_set_new()};
    if (sem_init(&w->done, 0, 0) == 0 && cores_topology(&w->topology, NULL) == BN_OK &&
        find_cores(w, pinning) && start_threads(w))
        return w;
    cores_watch_end(w);
    return NULL;
}

void cores_watch_end(cores_watch *w)
{
    if (!w)
        return;
    atomic_store(&w->ending, true);
    for (size_t i = 0; i < w->count; i++)
        sem_post(&w->runners[i].call);
    for (size_t i = 0; i < w->count; i++) {
        pthread_join(w->runners[i].thread, NULL);
        sem_destroy(&w->runners[i].call);
    }
    sem_destroy(&w->done);
    hwloc_bitmap_free(w->may);
    free(w);
}
