/*
 * ledger.h - the words of a step's account, said once for the modes that fill
 * it, the files that keep it and the tables that print it.
 */
#ifndef BENCH_RUNTIME_LEDGER_H
#define BENCH_RUNTIME_LEDGER_H

#include <stdint.h>

/*
 * Parts of a step, in the order of the step. Each nanosecond of a step's wall
 * time is in one part only; OTHER is the wall time less all the rest.
 */
#define BN_LEDGER_PARTS(X)                                                                         \
    X(INPUT, input, "host batch prepared and sent to the device")                                  \
    X(TRACE, trace, "model function run, nodes appended and hashed")                               \
    X(HASH, hash,                                                                                  \
      "trace closed into the hash; captured: guards checked, and inputs gathered with them")       \
    X(LOOKUP, lookup, "compile cache searched, in memory and on disk")                             \
    X(LOWER, lower, "StableHLO text written")                                                      \
    X(COMPILE, compile, "the plugin's compile call, or load of a stored executable")               \
    X(BIND, bind, "argument and result handles gathered")                                          \
    X(DISPATCH, dispatch, "the plugin's execute calls, submit to return")                          \
    X(RELEASE, release, "handles released to the plugin")                                          \
    X(WAIT, wait, "host waits for completion")                                                     \
    X(READ, read, "values transferred to the host")                                                \
    X(OTHER, other, "wall time in no other part")

typedef enum bn_part {
#define X(upper, lower, text) BN_PART_##upper,
    BN_LEDGER_PARTS(X)
#undef X
        BN_PART_COUNT
} bn_part;

/* "input", "trace", ... for a part below BN_PART_COUNT. */
const char *bn_part_name(bn_part part);
/* A description of the part, one line. */
const char *bn_part_text(bn_part part);

/* Where a device time came from; never one in place of another. */
#define BN_DEVICE_TIME_SOURCES(X)                                                                  \
    X(UNAVAILABLE, "unavailable")                                                                  \
    X(PROFILER, "profiler")                                                                        \
    X(SLOPE, "slope")                                                                              \
    X(EVENT, "event")

typedef enum bn_device_time_source {
#define X(upper, text) BN_DEVICE_TIME_##upper,
    BN_DEVICE_TIME_SOURCES(X)
#undef X
        BN_DEVICE_TIME_SOURCE_COUNT
} bn_device_time_source;

const char *bn_device_time_source_name(bn_device_time_source source);

/* Counters of a mode, each from the start of the experiment; ops that a mode
 * does not have stay zero. */
#define BN_COUNTERS(X)                                                                             \
    X(STEPS, steps)                                                                                \
    X(NODES_TRACED, nodes_traced)                                                                  \
    X(COMPILES, compiles)                                                                          \
    X(CACHE_HITS, cache_hits)                                                                      \
    X(DISK_HITS, disk_hits)                                                                        \
    X(DISK_REJECTS, disk_rejects)                                                                  \
    X(CACHE_EVICTIONS, cache_evictions)                                                            \
    X(CAPTURES, captures)                                                                          \
    X(GUARD_MISSES, guard_misses)                                                                  \
    X(GRAPH_BREAKS, graph_breaks)                                                                  \
    X(HOST_FALLBACKS, host_fallbacks)                                                              \
    X(EXECUTIONS, executions)                                                                      \
    X(TRANSFERS_TO_DEVICE, transfers_to_device)                                                    \
    X(TRANSFERS_TO_HOST, transfers_to_host)                                                        \
    X(SLOW_RELEASES, slow_releases)                                                                \
    X(POSITIONS, positions)                                                                        \
    X(POSITIONS_PADDED, positions_padded)

typedef enum bn_counter {
#define X(upper, lower) BN_COUNTER_##upper,
    BN_COUNTERS(X)
#undef X
        BN_COUNTER_COUNT
} bn_counter;

const char *bn_counter_name(bn_counter counter);

/* One step's account. PARTS sum to WALL_NS (OTHER is computed last). */
typedef struct bn_ledger {
    uint64_t wall_ns;
    uint64_t part_ns[BN_PART_COUNT];
} bn_ledger;

#endif
