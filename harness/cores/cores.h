/*
 * cores.h - the machine's cores while a process measures: which of them threads use, whether idle
 * ones sleep, and whether they share a cache. Prefix cores_.
 */
#ifndef BENCH_HARNESS_CORES_H
#define BENCH_HARNESS_CORES_H

#include <gsl/gsl_rng.h>
#include <jansson.h>

#include "runtime/base/base.h"

/* ---- topology (topology.c) ------------------------------------------------------------------ */

/* Sets *TOPOLOGY, an hwloc_topology_t, to the machine's, which is read once and kept until the
 * process ends; any thread may use it. NULL after a failure. */
struct hwloc_topology;
BN_MUST_USE bn_code cores_topology(struct hwloc_topology **topology, bn_status *st);
/* The cores that the calling thread may use, as "0,2-3" (to be freed), where they are fewer than
 * the machine has; NULL where it has all of them, or they are unknown. *COUNT: how many; 0:
 * unknown. */
char *cores_left_to_thread(int *count);

/* ---- pinning (pinning.c) ------------------------------------------------------------------- */

/* Where threads may run, by --pin: "none", "host" (host thread on one core, the runtime on the
 * others), "all" (everything on the cores given to the process, host thread on the first) or a
 * list of cores "0,2-3" for everything. NULL stands for "none". */
typedef struct cores_pinning cores_pinning;
#define CORES_PIN_WORDS "none, host, all"
/* To be called before the plugin is loaded: its threads inherit this mask. */
BN_MUST_USE bn_code cores_pin_begin(const char *pin, cores_pinning **pinning, bn_status *st);
/* To be called once the client is there: the host thread takes its own core. */
BN_MUST_USE bn_code cores_pin_host_thread(cores_pinning *pinning, bn_status *st);
/* For the record (new reference). */
json_t *cores_pinning_to_json(const cores_pinning *pinning);
void cores_pinning_free(cores_pinning *pinning);
/* Checks PIN as cores_pin_begin does, but pins nothing. */
BN_MUST_USE bn_code cores_pin_check(const char *pin, bn_status *st);

/* ---- places (places.c) ---------------------------------------------------------------------- */

/*
 * A thread may stay on the core where the scheduler first put it for as long as its process lives,
 * and the time of short steps depends on that core. So it is drawn anew for each round.
 */
typedef struct cores_places cores_places;
/* The cores that the calling thread may use on the NUMA node that it is on. NULL where there are
 * fewer than two, or the system does not say. */
cores_places *cores_places_of_thread(void);
/* Moves the calling thread, that of PLACES, to one of them, drawn from RNG, and then lets it run
 * where it could before. Nothing happens where PLACES is NULL or the system refuses. */
void cores_place_anew(const cores_places *places, const gsl_rng *rng);
void cores_places_free(cores_places *places);

/* ---- idle cores (idle.c) ------------------------------------------------------------------- */

#define CORES_IDLE_WORDS "auto, awake, sleep"
/*
 * Sets whether idle cores may sleep, by --idle-cores: "sleep": as the kernel decides; "awake": they
 * poll, and so wake up at once; "auto": awake where this process may ask for that. NULL stands for
 * "sleep". Sets *HELD to a descriptor: as long as it is open, cores of the whole machine stay
 * awake; 0: nothing was asked for. The end of the process closes it, too.
 */
BN_MUST_USE bn_code cores_idle_begin(const char *idle_cores, int *held, bn_status *st);
void cores_idle_end(int held);
/* For the record (new reference): "awake"; NULL where HELD is 0. */
json_t *cores_idle_to_json(int held);
/* Checks IDLE_CORES as cores_idle_begin does, and changes nothing. */
BN_MUST_USE bn_code cores_idle_check(const char *idle_cores, bn_status *st);
/* Lets cores sleep although HELD is open, or keeps them awake again. */
void cores_idle_let_sleep(int held, bool sleep);

/* ---- distance (distance.c) ----------------------------------------------------------------- */

/*
 * How far apart cores are that are said to share a cache. A hypervisor may move the cores of a
 * virtual machine. Once they no longer share a cache, threads that pass work to each other take far
 * longer, and no other measurement shows it: each core alone is as fast as before.
 */
typedef struct cores_watch cores_watch;
/* Watches the cores of PINNING, or where it is NULL those that the calling thread may use. Makes a
 * thread for each of them, which sleeps between the calls below. NULL: there is nothing to watch,
 * since fewer than 2 or more than CORES_MOST_WATCHED of them share a cache with the first. */
#define CORES_MOST_WATCHED 8
cores_watch *cores_watch_begin(const cores_pinning *pinning);
/* Nanoseconds that a cache line takes to another core and back, between the two that are farthest
 * apart. The call takes some 50 us. NAN where a core was busy with other work for 5 ms, and where
 * WATCH is NULL. */
double cores_watch_trip_ns(cores_watch *watch);
/* Whether cores with a trip of TRIP_NS are apart: they do not share a cache. */
bool cores_are_apart(double trip_ns);
/* Has the cores sleep and wake each other, so that a hypervisor brings them together again, until
 * they are, or for SECONDS; gives up sooner where other programs keep the cores busy. HELD is of
 * cores_idle_begin. Returns whether they are together. */
bool cores_watch_gather(cores_watch *watch, int held, double seconds);
void cores_watch_end(cores_watch *watch);

/* ---- nearness (nearness.c) ----------------------------------------------------------------- */

/* Whether cores were apart while rounds ran. */
typedef struct cores_nearness {
    cores_watch *watch; /* while there are rounds; NULL: there is nothing to watch */
    int held;           /* as cores_idle_begin gave it */
    double trip_ns;     /* after the last round; NAN: unknown */
    double left_s;      /* left for waiting */
    double all_s;       /* for all waiting, once the cores have been seen together */
    double waited_s;
    size_t known,
        apart;       /* rounds kept whose trip is known; of these, with cores apart after them */
    size_t repeated; /* rounds that are not kept, since cores were apart after them */
} cores_nearness;
/* Begins to watch the cores of PINNING (cores_watch_begin). Waiting may take FIRST_S before the
 * first round, and in all ALL_S once the cores have been seen together. */
void cores_nearness_begin(cores_nearness *near, const cores_pinning *pinning, int held,
                          double first_s, double all_s);
/* Whether cores_nearness_await would wait. */
bool cores_nearness_waits(const cores_nearness *near);
/* Before a round: where cores are apart, waits until they are together, for as long as may be. */
void cores_nearness_await(cores_nearness *near);
/* After a round, the first try or a later one: whether it is to be run again, since cores are apart
 * and may come together. Where not, it is kept and counted. MOST: how many may be run again. */
bool cores_nearness_repeats(cores_nearness *near, size_t most);
/* cores_nearness_repeats with a trip of TRIP_NS; NAN: unknown. Changes NEAR only. */
bool cores_nearness_judge(cores_nearness *near, double trip_ns, size_t most);
void cores_nearness_end(cores_nearness *near);
/* For the record (new reference): provenance.nearness; NULL where it is unknown for all rounds. */
json_t *cores_nearness_to_json(const cores_nearness *near);

#endif
