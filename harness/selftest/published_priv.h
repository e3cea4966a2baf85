/*
 * published_priv.h - published cases, run again on the simulated runtime: the published figures
 * (published_resnet50.c), the runs (published.c), the tables (published_table.c).
 */
#ifndef BENCH_HARNESS_PUBLISHED_PRIV_H
#define BENCH_HARNESS_PUBLISHED_PRIV_H

#include "harness/selftest/selftest.h"
#include "results/findings/published.h"
#include "results/tables/tables.h"

/* ---- published ---------------------------------------------------------------------- */

/* One execution of the step. MODULE is ours that stands for it. */
typedef struct published_graph {
    const char *module, *name;
    double device_ms, overhead_ms;
} published_graph;

/* One variant of the ResNet50 step; wall 0: not published. */
typedef struct published_case {
    const char *name, *mode;
    int graphs;
    double trace_ms, wall_ms;
    const char *wall_source; /* "published", or how it follows */
    published_graph parts[5];
    size_t part_count;
    bool parts_published; /* false: combined from the parts of other cases */
    bool queued;          /* executions are not awaited one by one; else as in the publication */
} published_case;
#define PUBLISHED_CASES 5
extern const published_case published_resnet50[PUBLISHED_CASES];

/* ---- replayed ------------------------------------------------------------------------------ */

typedef struct replayed {
    bool measured;
    double nodes;                                     /* traced in a step */
    double trace_ms, device_ms, overhead_ms, wall_ms; /* medians of a step */
    double wall_low_ms, wall_high_ms;                 /* of a tenth of the steps, and of nine */
    int executions;                                   /* of a step */
} replayed;

typedef struct published_replay {
    const selftest_options *options;
    res_format format;
    double node_ns;     /* of the emulated framework */
    double efficiency;  /* of the roofline, so that ResNet50's device time is right */
    double roofline_ms; /* ResNet50's device time at efficiency 1 */
    size_t done, of;
    bool incomplete;                   /* a case failed, and was reported */
    double memory_bytes, memory_limit; /* of the largest case, and of its device */
    char largest[96];                  /* its name */
    res_interference interference, busiest; /* of all cases; of the one that waited most */
    char busiest_case[96];             /* its name; "": the machine was busy in none */
    published_case set[PUBLISHED_CASES]; /* settings of the device: published or estimated times */
    const char *topology;              /* that the times are estimated for; NULL: published ones */
    char step[96];                     /* the estimated step, for people */
    json_t *estimates;                 /* that TOPOLOGY points into, or NULL */
    replayed cases[PUBLISHED_CASES];
    replayed lazy[RES_PUBLISHED_MODELS], captured[RES_PUBLISHED_MODELS][RES_PUBLISHED_COLUMNS];
} published_replay;

/* Device times of all parts of C. */
double published_device_ms(const published_case *c);
/* The published wall time minus its tracing, device times and overheads. */
double published_gap_ms(const published_case *c);

/* Whether X, a replay of C, is not what was set: its steps differ by over PUBLISHED_OFF from their
 * tracing, device times and overheads, as on a busy machine. Unknown, and false, where these
 * overlap.
 */
#define PUBLISHED_OFF 0.05
bool published_is_off(const published_case *c, const replayed *x);

void published_print_resnet50(const published_replay *r);
void published_print_models(const published_replay *r);

#endif
