/*
 * cores.h - the machine's cores while a process measures: which of them threads use, whether those
 * that are idle sleep, and whether they are near each other. Prefix cores_.
 */
#ifndef BENCH_HARNESS_CORES_H
#define BENCH_HARNESS_CORES_H

#include <gsl/gsl_rng.h>
#include <jansson.h>

#include "runtime/base/base.h"

/* ---- topology (topology.c) ------------------------------------------------------------------ */

/* Sets *TOPOLOGY, an hwloc_topology_t, to the machine's, which is read once and kept until the
 * process ends; any thread may use it. BN_OUT_OF_MEMORY, BN_IO; *TOPOLOGY is then NULL. */
struct hwloc_topology;
BN_MUST_USE bn_code cores_topology(struct hwloc_topology **topology, bn_status *st);
/* The cores that the calling thread may use, as "0,2-3" (to be freed), where they are fewer than
 * the machine has; NULL where it has all of them, or nobody tells. *COUNT: how many they are, 0
 * where nobody tells. */
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
/* What was done (new reference), for the record. */
json_t *cores_pinning_to_json(const cores_pinning *pinning);
void cores_pinning_free(cores_pinning *pinning);
/* Whether this process could be pinned so: what cores_pin_begin would say, but nothing is pinned.
 */
BN_MUST_USE bn_code cores_pin_check(const char *pin, bn_status *st);

/* ---- places (places.c) ---------------------------------------------------------------------- */

/*
 * Where the scheduler once put a thread it may stay for as long as a process lives, and steps that
 * are short depend on it. Drawn anew for each round, it is not one value of the process any more.
 */
typedef struct cores_places cores_places;
/* The cores that the calling thread may use and that are as near to its memory as the one that it
 * is on: of one NUMA node. NULL where there are fewer than two, or the system does not tell. */
cores_places *cores_places_of_thread(void);
/* Moves the calling thread, that of PLACES, to one of them, drawn from RNG, and then leaves it free
 * to go where it might go before. Nothing happens where PLACES is NULL or the system refuses. */
void cores_place_anew(const cores_places *places, const gsl_rng *rng);
void cores_places_free(cores_places *places);

/* ---- idle cores (idle.c) ------------------------------------------------------------------- */

#define CORES_IDLE_WORDS "auto, awake, sleep"
/*
 * Whether cores that wait for work may sleep meanwhile, by --idle-cores: "sleep": as the kernel
 * wants; "awake": they poll, and so wake up at once; "auto": awake where this process may ask for
 * that. NULL stands for "sleep". Sets *HELD to a descriptor: as long as it is open, cores of the
 * whole machine stay awake; 0: nothing was asked for. The end of the process closes it, too.
 */
BN_MUST_USE bn_code cores_idle_begin(const char *idle_cores, int *held, bn_status *st);
void cores_idle_end(int held);
/* For the record (new reference): "awake"; NULL where HELD is 0. */
json_t *cores_idle_to_json(int held);
/* Whether cores_idle_begin could do so; then nothing is asked for. */
BN_MUST_USE bn_code cores_idle_check(const char *idle_cores, bn_status *st);
/* Whether cores may sleep from now on although HELD keeps them awake. */
void cores_idle_let_sleep(int held, bool sleep);

/* ---- distance (distance.c) ----------------------------------------------------------------- */

/*
 * How far apart cores are that say they share a cache. A hypervisor moves the cores of a virtual
 * machine as it likes. Once they no longer share a cache, threads that hand work to each other take
 * far longer, and nothing else tells it: each core alone is as fast as before.
 */
typedef struct cores_watch cores_watch;
/* Watches the cores of PINNING, or where it is NULL those that the calling thread may use. Makes a
 * thread for each of them, which sleeps between the calls below. NULL: there is nothing to watch,
 * since fewer than 2 or more than CORES_MOST_WATCHED of them share a cache with the first one. */
#define CORES_MOST_WATCHED 8
cores_watch *cores_watch_begin(const cores_pinning *pinning);
/* How long a line of cache takes from one core to another and back, in ns, of those that are
 * farthest apart. Takes some 50 us; NAN where a core was busy with other things for 5 ms, and where
 * WATCH is NULL. */
double cores_watch_trip_ns(cores_watch *watch);
/* Whether cores are apart between which a line takes so long. */
bool cores_are_apart(double trip_ns);
/* Has the cores sleep and wake each other, upon which a hypervisor brings them together again,
 * until they are no longer apart, or for SECONDS; gives up sooner where other programs keep the
 * cores busy. HELD is what cores_idle_begin gave. Returns whether they are together. */
bool cores_watch_gather(cores_watch *watch, int held, double seconds);
void cores_watch_end(cores_watch *watch);

/* ---- nearness (nearness.c) ----------------------------------------------------------------- */

/* How near to each other cores were while rounds ran. */
typedef struct cores_nearness {
    cores_watch *watch; /* while there are rounds; NULL: there is nothing to watch */
    int held;           /* as cores_idle_begin gave it */
    double trip_ns;     /* after the last round; NAN: not told */
    double left_s;      /* that waiting may take yet */
    double all_s;       /* that it may take in all, once the cores have been seen together */
    double waited_s;
    size_t told, apart; /* rounds kept that told it, and after which cores were apart */
    size_t repeated;    /* rounds that are not kept, since cores were apart after them */
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
 * and may come together. Where not, it counts among those told. MOST: how many may be run again. */
bool cores_nearness_repeats(cores_nearness *near, size_t most);
/* The same of a trip that took TRIP_NS; NAN: nobody told it. Pure but for NEAR. */
bool cores_nearness_take(cores_nearness *near, double trip_ns, size_t most);
void cores_nearness_end(cores_nearness *near);
/* For the record (new reference): provenance.nearness; NULL where no round told it. */
json_t *cores_nearness_to_json(const cores_nearness *near);

#endif
