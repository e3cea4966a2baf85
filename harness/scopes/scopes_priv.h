/*
 * scopes_priv.h - what the files of harness/scopes share. From top to bottom, each file calls only
 * those below it:
 *
 *   scopes_command.c  the command
 *   scopes_print.c    the tree and the sentences   scopes_picture.c  stacks and flame graphs
 *   scopes_tree.c     lines as a tree of modules
 *   scopes_device.c   device times: the parent's half
 *   scopes_trace.c    nodes, FLOPs and tracing time
 *   scopes_table.c    lines: a scope in a phase
 *   scopes_job.c      device times: the worker's half
 */
#ifndef BENCH_HARNESS_SCOPES_PRIV_H
#define BENCH_HARNESS_SCOPES_PRIV_H

#include "harness/scopes/scopes.h"
#include "results/tables/tables.h"

/* Figures of a scope: the member of JSON and the word of --weight. */
typedef enum scopes_figure {
    SCOPES_NODES,
    SCOPES_TRACE, /* ns */
    SCOPES_FLOPS,
    SCOPES_ESTIMATED, /* device time, ns */
    SCOPES_MEASURED,  /* the same */
    SCOPES_FIGURES
} scopes_figure;
extern const char *const scopes_figure_words[SCOPES_FIGURES];

/* ---- scopes_table.c --------------------------------------------------------------- */

typedef struct scopes_line {
    const char *path; /* "layer1.0.conv1"; "" outside of all scopes */
    tg_phase phase;
    double figure[SCOPES_FIGURES];
    double bytes; /* that its nodes read and write if nothing is fused */
} scopes_line;

typedef struct scopes_table {
    bn_arena *memory;
    json_t *index; /* phase and path: number of the line */
    scopes_line *list;
    size_t count, capacity;
} scopes_table;

void scopes_table_begin(scopes_table *table);
void scopes_table_free(scopes_table *table);
/* The line of PATH in PHASE, a new one unless there is one; valid until the next call. */
scopes_line *scopes_find(scopes_table *table, const char *path, tg_phase phase);
/* scopes_find by the location that lowering wrote for a node,
 * "backward/layer1.0.conv1/convolution". */
scopes_line *scopes_find_location(scopes_table *table, const char *location);
const char *scopes_phase_name(tg_phase phase);
double scopes_sum(const scopes_table *table, scopes_figure figure);

/* ---- scopes_trace.c --------------------------------------------------------------- */

/* Times of tracing. Traces with and without the clock take turns; RATIO is of neighbours. */
typedef struct scopes_tracing {
    size_t rounds;
    double plain_ns, timed_ns;           /* medians */
    double ratio, ratio_low, ratio_high; /* median, 10th and 90th percentile */
} scopes_tracing;

/* Traces the step of INSTANCE and adds nodes, FLOPs, bytes and tracing times to TABLE.
 * BN_NOT_SUPPORTED for a step that reads a value: what it does then depends on the value. */
BN_MUST_USE bn_code scopes_trace(model *instance, scopes_table *table, scopes_tracing *tracing,
                                 bn_status *st);

/* ---- scopes_device.c -------------------------------------------------------------- */

/* Device times of one kind. */
typedef struct scopes_device {
    bool asked, known;
    bool simulated;
    bool graphs_off;  /* of a GPU: kernels were launched one by one */
    bool refused;     /* the runtime takes no such option */
    char on[160];     /* runtime or preset */
    char why[1024];   /* unknown */
    double step_ns;   /* executions of a step, with the time between ops */
    int64_t steps;    /* whose mean it is */
    int64_t unplaced; /* ops of a step that the profile does not place */
} scopes_device;

/* Runs E's step in a worker under the plugin's profiler, and adds FIGURE to TABLE. Unknown times
 * are no failure; DEVICE says why. BN_CANCELLED where the user stopped it. */
BN_MUST_USE bn_code scopes_ask(const job_experiment *e, const job_order *order,
                               scopes_figure figure, scopes_table *table, scopes_device *device,
                               bn_status *st);
/* Adds FIGURE to TABLE from RESULT, which a worker answered; DEVICE says why not, where it is no
 * profile. */
void scopes_take(const json_t *result, scopes_figure figure, scopes_table *table,
                 scopes_device *device);

/* A step's figures. */
typedef struct scopes_report {
    const scopes_options *options;
    res_format format;
    job_experiment e; /* with the model's own batch and sizes */
    scopes_table table;
    scopes_tracing tracing;
    scopes_device estimated, measured;
} scopes_report;

/* Whether REPORT has FIGURE. */
bool scopes_has(const scopes_report *report, scopes_figure figure);

/* ---- scopes_tree.c ---------------------------------------------------------------- */

/* A module, or below it one of its phases. */
typedef struct scopes_node {
    const char *name;
    struct scopes_node *first, *last, *next; /* children in the order of the trace; next sibling */
    double sum[SCOPES_FIGURES];              /* with all below it */
    tg_phase phase;                          /* of a leaf; TG_PHASE_COUNT: a module */
} scopes_node;
#define SCOPES_NOWHERE "(no scope)"
/* TABLE as a tree below ROOT; with PHASES, leaves are the phases of each module. All lies in
 * MEMORY. */
scopes_node *scopes_tree(const scopes_table *table, const char *root, bool phases,
                         bn_arena *memory);

/* ---- scopes_print.c, scopes_picture.c ---------------------------------------------- */

void scopes_print(const scopes_report *report);
/* Appends the tree and the sentences below it. */
void scopes_put(const scopes_report *report, res_format format, bn_text *out);
/* The figure that FILES show; fails where --weight names none, or one that is not there. */
BN_MUST_USE bn_code scopes_weight(const scopes_report *report, scopes_figure *figure,
                                  bn_status *st);
/* Whether the ending of PATH is one that scopes_write knows. */
BN_MUST_USE bn_code scopes_file_check(const char *path, bn_status *st);
/* Writes, or replaces, PATH. */
BN_MUST_USE bn_code scopes_write(const scopes_report *report, scopes_figure figure,
                                 const char *path, bn_status *st);

#endif
