/*
 * goodput.h - the share of the wall time of processes that was useful device work, and where the
 * rest went: each nanosecond of a process is in one class.
 *
 * Productive is the device time of the measured steps, and nothing else. The classes and the names
 * beside them follow Google's ml-goodput-measurement (BadputType of its goodput_utils.py, version
 * 0.0.15): what a training loses is for us what a process does besides steps, or steps do besides
 * the device. Prefix res_.
 */
#ifndef BENCH_RESULTS_GOODPUT_H
#define BENCH_RESULTS_GOODPUT_H

#include "results/findings/findings.h"

/* ---- classes ----------------------------------------------------------------------------- */

/* A class of time. A row: member, name, name of ml-goodput-measurement; what it is. */
#define RES_GOODPUT_CLASSES(X)                                                                     \
    X(PRODUCTIVE, productive, GOODPUT)                    /* device time of the measured steps */  \
    X(INITIALIZATION, initialization, TPU_INITIALIZATION) /* process, plugin, client */            \
    X(PREPARATION, preparation, TRAINING_PREP)            /* model, weights, inputs */             \
    X(COMPILE, compile, PROGRAM_STARTUP) /* lowering, compiling, loading programs */               \
    X(WARMUP, warmup, PROGRAM_STARTUP)   /* steps before the measured ones, less compiles */       \
    X(INPUT, input, DATA_LOADING_SYNC)   /* batches that the device waited for */                  \
    X(TRACING, tracing, OTHER)           /* trace, hash, lookup, while the device waited */        \
    X(OVERHEAD, overhead, OTHER)         /* around executions: bind to wait, less device */        \
    X(IDLE, idle, OTHER)                 /* measured steps, in no other part */                    \
    X(MEASURING, measuring, CUSTOM_BADPUT_EVENTS) /* probes, steps that are not kept, figures */   \
    X(REST, rest, OTHER)                          /* all else: the end of the process */           \
    X(UNATTRIBUTED, untold, OTHER) /* productive and overhead, where device time is unknown */
typedef enum res_goodput_class {
#define X(upper, lower, badput) RES_GOODPUT_##upper,
    RES_GOODPUT_CLASSES(X)
#undef X
        RES_GOODPUT_CLASS_COUNT
} res_goodput_class;
const char *res_goodput_name(res_goodput_class class);
/* The name that ml-goodput-measurement has for what CLASS is part of; "GOODPUT" of productive. */
const char *res_goodput_badput(res_goodput_class class);

/* One process; the classes sum to the wall time. */
typedef struct res_goodput_process {
    double wall_ns;  /* of this experiment: the process' own, less what was for others */
    double steps_ns; /* of it, wall time of the measured steps */
    double ns[RES_GOODPUT_CLASS_COUNT];
} res_goodput_process;
/* Of RECORD, whose steps have DEVICE_NS of device time each; NaN: it is unknown. False as
 * res_record_phases. */
bool res_goodput_of_record(const res_record *record, double device_ns, res_goodput_process *out);

/* The processes of a row that say their phases, together: classes sum to the wall time. */
typedef struct res_goodput {
    res_goodput_process sum;
    double others_ns;        /* besides, for other experiments in the same processes */
    res_interval productive; /* share of the wall time; NaN: the device time is unknown. Bounds by
                                Student's t over the processes (or runs), NaN below three */
    size_t processes;        /* that count here; 0: nothing is known */
    size_t silent;           /* that do not say their phases */
    size_t borrowed;         /* whose device time is the row's, since they do not know their own */
} res_goodput;
/* Of ROW's processes that count. A step's device time is each process' own, at most the wall time
 * of its steps. Where the row has no device time, and where steps have several lengths, so that
 * no probe is of all steps, it is unknown. */
void res_goodput_make(const res_speedup_row *row, res_goodput *out);

#endif
