/*
 * doctor.h - what could be fixed in the steps of records, and what that would save. Prefix res_.
 */
#ifndef BENCH_RESULTS_DOCTOR_H
#define BENCH_RESULTS_DOCTOR_H

#include "results/findings/findings.h"

/* The rules, in the order in which they are applied: NAME and name of res_rule_name. Each has a
 * file, rule_NAME.c, with what it holds against a step (doctor_priv.h). */
#define RES_DOCTOR_RULES(X)                                                                        \
    X(COMPILES, compiles)     /* measured steps still compile or load programs */                  \
    X(VARIANTS, variants)     /* each shape of a batch is compiled, and batches only repeat */     \
    X(READS, reads)           /* steps read values back to the host */                             \
    X(FALLBACKS, fallbacks)   /* the host computes ops of a step */                                \
    X(TRACING, tracing)       /* a lazy step is traced anew each time */                           \
    X(EXECUTIONS, executions) /* a step is several executions, each with its overhead */           \
    X(OVERHEAD, overhead)     /* one execution's overhead is long next to its computation */       \
    X(INPUT, input)           /* steps wait for their batch */                                     \
    X(PADDING, padding)       /* the device computes positions that hold no token */               \
    X(RELEASE, release)       /* the plugin takes long to take handles back */                     \
    X(TURNS, turns)           /* each value of an alternating argument has its own programs */     \
    X(START, start)           /* compiling takes long at each start */

typedef enum res_rule {
#define X(NAME, name) RES_RULE_##NAME,
    RES_DOCTOR_RULES(X)
#undef X
        RES_RULE_COUNT
} res_rule;
const char *res_rule_name(res_rule rule); /* "compiles", "reads", ... */

/* Thresholds of these rules and of those on recordings (results/complaints/): the share of the
 * step, of most rules; of steps that compile, of the mean step; of the overhead of one execution,
 * which only a larger step or steps in flight can hide; and of a start. docs/doctor.md has them:
 * they are choices, for what costs less is seldom worth a change. */
#define RES_DOCTOR_SHARE    0.05
#define RES_DOCTOR_COMPILES 0.01
#define RES_DOCTOR_OVERHEAD 0.25
#define RES_DOCTOR_START_NS 10e9

/* The fate of the executables of a row's first start. */
typedef enum res_kept {
    RES_KEPT_NOT,     /* it was not asked to keep them (--cache-dir) */
    RES_KEPT_FURTHER, /* further starts load them */
    RES_KEPT_NEVER    /* a later process of the run compiled all again: none was to be loaded */
} res_kept;

/* The scope in which most of a step is traced: "encoder.layer.*" stands for all that are numbered.
 */
typedef struct res_scope_cost {
    const char *name; /* a record owns it; "" or NULL: unknown */
    double share;     /* of tracing; in eager mode, of the executions */
    double times;     /* scopes of that name that differ in numbers */
} res_scope_cost;

typedef struct res_doctor_finding {
    res_rule rule;
    size_t row;           /* index into the table's rows */
    res_interval cost_ns; /* of a step; of RES_RULE_TURNS and START: of each start */
    double share; /* of the step; of RES_RULE_COMPILES: of the mean step; of VARIANTS: of a step
                     with it; of TURNS and START NaN */
    /* A step: programs made, values read, ops of the host, nodes traced, executions, slow releases;
     * of RES_RULE_PADDING the share of the positions; of TURNS the programs; of VARIANTS the
     * shapes; or 1. */
    double count;
    bool at_most; /* the cost is at most COST_NS: without a device time, of reads and of what the
                     device may hide */
    bool alone;   /* the host waits for a value in most steps: none is in flight with another */
    double hidden_ns;   /* of RES_RULE_TRACING: what steps in flight hide of it; NaN: unknown */
    res_kept kept;      /* of TURNS and START */
    const char *folder; /* of these: of --cache-dir, of the row's record, which owns it; "": none.
                           NULL: of other rules */
    res_scope_cost scope;  /* of TRACING and EXECUTIONS */
    const json_t *batches; /* of VARIANTS: provenance.batches of the row's record, which owns it */
    /* The change and its source location (res_why), of one of the row's records, which owns it;
     * NULL: none has it. And how many more locations it has. */
    const json_t *why;
    size_t more;
    bool of_programs; /* WHY is a change between programs (res_why_put); else a location alone */
    bool branches;    /* of RES_RULE_READS: the value that is read there chooses a branch */
} res_doctor_finding;

/* All COUNT findings on the rows of SPEEDUP, the most costly first, those on starts last; for free.
 */
res_doctor_finding *res_doctor(const res_speedup *speedup, size_t *count);
/* Appends what takes the time of FINDING, "tracing 1309 nodes"; and what to do about it in steps of
 * EXPERIMENT, which is its row's. */
void res_doctor_subject(const res_doctor_finding *finding, bn_text *out);
void res_doctor_advice(const res_doctor_finding *finding, const res_experiment *experiment,
                       bn_text *out);

/* The bound of a step. */
typedef enum res_bound {
    RES_BOUND_UNKNOWN,
    RES_BOUND_COMPILE,  /* steps make programs, for longer than the device works */
    RES_BOUND_DEVICE,   /* else: the device works for RES_DOCTOR_BUSY of the step */
    RES_BOUND_TRACING,  /* else: what the device waits for longest. Trace, hash and lookup; */
    RES_BOUND_DISPATCH, /* calls, and the fixed cost of executions; */
    RES_BOUND_INPUT,    /* the batch; */
    RES_BOUND_READ,     /* values that are read, or computed by the host */
    RES_BOUND_COUNT
} res_bound;
const char *res_bound_name(res_bound bound); /* "device-bound", ...; "unknown" */
#define RES_DOCTOR_BUSY 0.9

/* Why a bound is unknown. */
typedef enum res_bound_reason {
    RES_BOUND_KNOWN,
    RES_BOUND_NO_DEVICE, /* no device time, and no part of the host is half of the step */
    RES_BOUND_TOO_FEW,   /* fewer than RES_LEAST_PROCESSES processes know the times: no interval */
    RES_BOUND_WIDE,      /* the interval of a share that decides includes the limit */
    RES_BOUND_CLOSE,     /* the two longest waits of the device do not differ significantly */
    RES_BOUND_VALUES,    /* a simulated device computes values: res_computes_values */
    RES_BOUND_NO_CAUSE   /* the device waits, and no part of the host is RES_DOCTOR_SHARE of it */
} res_bound_reason;
/* "too few processes", ...; "" where the bound is known. */
const char *res_bound_reason_name(res_bound_reason reason);

typedef struct res_bound_found {
    res_bound bound;
    res_bound_reason reason;
    /* Device time over wall time of a step, formed within each process; NaN: unknown. The bounds
     * are NaN below RES_LEAST_PROCESSES processes. */
    res_interval busy;
    size_t device_processes, processes; /* that know it, of those that count */
} res_bound_found;
/* The bound of the steps of ROW that its intervals allow, each at 95 %. Unknown where all processes
 * failed. */
res_bound_found res_doctor_bound(const res_speedup_row *row);

/* What a user changes in a program of JAX or PyTorch/XLA. */
typedef enum res_fix {
    RES_FIX_CAPTURE,   /* one program a step, that is traced once */
    RES_FIX_SCAN,      /* layers as one loop */
    RES_FIX_MERGE,     /* one execution a step */
    RES_FIX_QUEUE,     /* no wait between executions */
    RES_FIX_ARGUMENTS, /* fewer of them */
    RES_FIX_LARGER,    /* more work an execution */
    RES_FIX_AHEAD,     /* no read in each step */
    RES_FIX_COUNT
} res_fix;
const char *res_fix_id(res_fix fix); /* "capture-step", ... */
/* Appends it for the framework of E; for bench's own steps, for both. */
void res_fix_put(res_fix fix, const res_experiment *e, bn_text *out);
/* Those that help a step of ROW with this BOUND, the first one most; 0: it is no bound of the
 * host's calls. */
size_t res_doctor_fixes(const res_speedup_row *row, res_bound bound, res_fix list[RES_FIX_COUNT]);

/* The most frequent cause of RULE in the explanation that RECORD keeps: an object as
 * docs/json-record.md has it, which is the record's. NULL: it keeps none, or it has none. *MORE:
 * how many other causes it has. */
const json_t *res_why(const res_record *record, res_rule rule, size_t *more);

/* ---- explanations in words (why.c) --------------------------------------------------------------
 */

/* A cause for which a program is compiled again (docs/explain.md), and its fix. */
typedef struct res_remedy {
    const char *cause, *advice;
} res_remedy;
const res_remedy *res_remedy_at(size_t index); /* NULL: there are no more */
/* The advice on CAUSE, which may be anything; "": it is none. */
const char *res_remedy_for(const char *cause);
/* Appends "shape of tokens, dimension 1: 24 -> 31, at models/x.c:12 (mask)": what changed where a
 * program was compiled for CAUSE (docs/explain.md), of a finding or a recompile. */
void res_why_put(const char *cause, const json_t *finding, bn_text *out);
/* Appends "models/x.c:12 (mask)", of an object's "place" and "scope"; the other one ", at" before
 * it, and nothing where there is no place. */
void res_why_put_where(const json_t *object, bn_text *out);
void res_why_put_at(const json_t *object, bn_text *out);

#endif
