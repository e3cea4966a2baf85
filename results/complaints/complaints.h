/*
 * complaints.h - what could be fixed in a recorded program: rules, each with a threshold and its
 * cost of a step. Those on records of a store are in results/doctor/doctor.h. Prefix rec_.
 */
#ifndef BENCH_RESULTS_COMPLAINTS_H
#define BENCH_RESULTS_COMPLAINTS_H

#include "results/recordings/recordings.h"

/* The rules: NAME and name of rec_rule_name. Each has a file, rule_NAME.c (complaints_priv.h).
 * Their thresholds of time are the doctor's (doctor.h). */
#define REC_RULES(X)                                                                               \
    X(COMPILES, compiles)     /* programs are still compiled in the recording's later half */      \
    X(READS, reads)           /* steps read values, and the device waits for what follows */       \
    X(PREEMPTED, preempted)   /* the thread is ready, and others have the core */                  \
    X(HOST, host)             /* the device waits while the framework works on a CPU */            \
    X(EXECUTIONS, executions) /* a step is several executions, each with its fixed cost */         \
    X(DISPATCH, dispatch)     /* the device waits while something is submitted to it */            \
    X(INPUT, input)           /* the device waits while the host sleeps */                         \
    X(TRANSFERS, transfers)   /* the device waits while the host sends */                          \
    X(DONATION, donation)     /* executions could have had the memory of arguments that die */     \
    X(START, start)           /* compiling takes long at each start */

typedef enum rec_rule {
#define X(NAME, name) REC_RULE_##NAME,
    REC_RULES(X)
#undef X
        REC_RULE_COUNT
} rec_rule;
const char *rec_rule_name(rec_rule rule); /* "compiles", "reads", ... */

/* The source of a program. */
typedef struct rec_source {
    char function[128]; /* that was compiled; "": unknown */
    char file[1024];    /* that most of its ops come from, and of it the line; "": unknown */
    uint32_t line;
} rec_source;

typedef struct rec_finding {
    rec_rule rule;
    res_interval cost_ns; /* of a step; of REC_RULE_START of each start; of DONATION NaN: memory */
    /* A fix may save less: of DISPATCH without a profile of kernels, of EXECUTIONS where
     * short ones count as a whole, and of START, since it takes time to load what a cache keeps. */
    bool at_most;
    double share;         /* of the step; of DONATION of its arguments' bytes; of START NaN */
    /* A step: programs compiled, values read, executions, transfers, arguments; else 1. */
    double count;
    /* Of START: programs that were made, and those of them that were loaded, since somebody had
     * kept their executables; else 0. */
    uint32_t programs, loaded;
    double before_ns; /* of START: the framework's work before these calls; else NaN */
    double bytes;     /* of TRANSFERS and DONATION, a step; else NaN */
    double hidden_ns; /* of HOST and INPUT: what working ahead would hide; NaN: unknown, or none */
    bool early;       /* of COMPILES: shapes that came first within the steps, and then repeat */
    bn_text where;    /* owned; may be empty */
    uint32_t program; /* that it concerns; REC_NONE: none alone */
    rec_source source; /* of that; rec_checkup_source */
} rec_finding;

/* A way to pad the dimension that changes to a few sizes. */
#define REC_MOST_BUCKETS 16
typedef struct rec_padding {
    const char *to; /* "powers-of-two", "buckets" */
    int64_t buckets[REC_MOST_BUCKETS];
    size_t count;
    double compile_saved_ns; /* of the recording */
    res_interval change_ns; /* of the mean time of rec_variants, below 0 where it gets shorter; NaN:
                             * unknown */
} rec_padding;

/* The variants of the steps' program, and what padding would do. */
typedef struct rec_shapes {
    uint32_t program; /* REC_NONE: unknown */
    rec_variants variants;
    rec_padding ways[2];
    size_t way_count; /* 0: padding saves no variants, or no single dimension changes */
} rec_shapes;

typedef struct rec_checkup {
    const rec_steps *steps;
    rec_shapes *shapes; /* owned; NULL: no finding on variants */
    rec_answer answer;
    rec_finding list[REC_RULE_COUNT]; /* the most costly first, then DONATION, then START */
    size_t count;
} rec_checkup;

/* Steps for rec_check: those of rec_steps_find; where all steps compile, these. Errors are those of
 * rec_steps_find. */
BN_MUST_USE bn_code rec_check_steps(const rec_recording *recording, const rec_options *options,
                                    rec_steps **steps, bn_status *st);

/*
 * All findings on STEPS, which must outlive CHECKUP, which is for rec_checkup_free. A rule is
 * violated where its cost is above its share of the step: by the lower bound where there is an
 * interval. Costs of two rules may overlap. BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code rec_check(const rec_steps *steps, rec_checkup *checkup, bn_status *st);
/* Fills in the sources of CHECKUP's findings, as the code in RECORDING says them. Code that is not
 * there, or does not say it, leaves them unknown. */
void rec_checkup_source(const rec_recording *recording, rec_checkup *checkup);
void rec_checkup_free(rec_checkup *checkup);

/* ---- in words (words.c) ---------------------------------------------------------------------- */

/* Appends what takes the time, "reading 1 value a step back to the host"; its cost, "5.00 ms [4.98
 * ms, 5.01 ms] a step, 62 % of it"; the advice. */
void rec_finding_subject(const rec_finding *finding, bn_text *out);
void rec_finding_cost(const rec_finding *finding, bn_text *out);
void rec_finding_advice(const rec_checkup *checkup, const rec_finding *finding, bn_text *out);
/* Appends all findings, a line each, or that there are none; then the device's share, and the rules
 * that could not be checked. */
void rec_checkup_put(const rec_checkup *checkup, bn_text *out);
/* {"verdict", "busy_share", "steps", "executions_per_step", "complaints"} as docs/doctor.md says
 * (new reference). */
json_t *rec_checkup_json(const rec_recording *recording, const rec_checkup *checkup);

#endif
