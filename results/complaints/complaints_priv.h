/*
 * complaints_priv.h - a rule on recordings, and what rules share (judge.c): when the device
 * worked (busy.c), programs that are compiled late (late.c). Each rule is a file, rule_NAME.c.
 */
#ifndef BENCH_RESULTS_COMPLAINTS_PRIV_H
#define BENCH_RESULTS_COMPLAINTS_PRIV_H

#include "results/complaints/complaints.h"

/* ---- when the device worked (busy.c) ----------------------------------------------------------
 */

/* Fills BUSY, of zeros, with the times in which any device of the steps worked, from the executions
 * on the steps' device whose completions are known. False without memory. */
BN_MUST_USE bool rec_busy_make(const rec_steps *steps, rec_spans *busy);
/* Nanoseconds between FROM and TO in which it did not work; 0 where TO is not later. */
double rec_idle_between(const rec_spans *busy, uint64_t from, uint64_t to);

/* ---- programs that are compiled late (late.c) -------------------------------------------------
 */

typedef struct rec_late {
    uint32_t compiles;   /* of programs of steps, in the later half of the steps */
    double steps;        /* that they are of */
    double wall_ns;      /* of it */
    res_interval ns;     /* compiling, and the framework's work before, a step */
    uint64_t at_most_ns; /* the end of the last of them; 0: none */
    uint32_t example;    /* one of them, of the most frequent difference; REC_NONE: none */
} rec_late;

/* Finds the programs that are compiled in these of STEPS. WHERE gets their most
 * frequent difference from the program of their name before. False without memory. */
BN_MUST_USE bool rec_late_find(const rec_steps *steps, rec_late *late, bn_text *where);
/* How long CALL ran after *DONE, in ns, and *DONE becomes its end, if that is later: calls of
 * threads that run at the same time count once. */
double rec_ns_after(const rec_call *call, uint64_t *done);

/* Where a walk over all calls of a process is, and the last of them to end. Begins with zeros. */
typedef struct rec_walk {
    size_t call, execution;
    uint64_t end_ns, cpu_ns;
    uint32_t thread;
} rec_walk;

/* Work of the framework before it had a program for CALL, in ns: it traced it and wrote it down.
 * That is from the end of the call before on; of one thread its CPU time, since it may have slept.
 * WALK goes up to CALL, never back. */
double rec_work_before(const rec_process *process, rec_walk *walk, const rec_call *call);

/* Appends PROGRAM's name, or its hash. */
void rec_program_put(const rec_process *process, uint32_t program, bn_text *out);

/* ---- variants, and padding (padding.c) --------------------------------------------------------
 */

/* Fills WAYS with those that leave fewer variants than V has. False without memory. */
BN_MUST_USE bool rec_padding_find(const rec_variants *v, rec_padding ways[2], size_t *count);
/* SHAPES is for rec_shapes_free, if it is of malloc; also after a failure. False without memory. */
BN_MUST_USE bool rec_shapes_find(const rec_steps *steps, rec_shapes *shapes);
void rec_shapes_free(rec_shapes *shapes); /* NULL allowed */
/* How many of V's variants are executed in the later half of STEPS' executions. */
size_t rec_variants_late(const rec_steps *steps, const rec_variants *v);
/* How long V's variants compiled between FROM_NS and TO_NS, the framework's work before included,
 * in ns; COMPILES gets their number. */
double rec_variants_cost(const rec_process *p, const rec_variants *v, uint64_t from_ns,
                         uint64_t to_ns, uint32_t *compiles);
/* Append how many variants there are, and what changes; what padding would do. */
void rec_shapes_put(const rec_steps *steps, const rec_shapes *shapes, bn_text *out);
void rec_padding_put(const rec_shapes *shapes, bn_text *out);
/* {"program", "varies", ...} as docs/doctor.md says (new reference); null of one variant. */
json_t *rec_shapes_json(const rec_steps *steps, const rec_shapes *shapes);

/* ---- a rule
 * --------------------------------------------------------------------------------------
 */

/* The steps that rules are applied to, and room for their values. */
typedef struct rec_checking {
    const rec_steps *steps;
    rec_checkup *out;
    rec_spans busy;
    double *values;                   /* [step]: room */
    double wall_ns, busy_ns, host_ns; /* of a step: medians; HOST: what it needs by itself */
} rec_checking;

/* Findings of a lower rank come first; those of one, the most costly first. */
typedef enum rec_rank {
    REC_RANK_STEP, /* they cost time of a step */
    REC_RANK_MEMORY,
    REC_RANK_START
} rec_rank;

/* A rule. Its file defines rec_rule_NAME, and REC_RULES has a row. */
typedef struct rec_doctor_rule {
    const char *name; /* as JSON and tables have it; no other rule has it */
    rec_rank rank;
    bool of_completions; /* it can be checked only where completions were recorded */
    /* Adds the finding, at most one, to C (rec_judge, rec_add). False without memory. */
    bool (*check)(rec_checking *c);
    /* Append what takes the time; its cost, NULL: "5.00 ms a step, 62 % of it"; what to do. */
    void (*subject)(const rec_finding *finding, bn_text *out);
    void (*cost)(const rec_finding *finding, bn_text *out);
    void (*advice)(const rec_checkup *checkup, const rec_finding *finding, bn_text *out);
} rec_doctor_rule;

#define X(NAME, name) extern const rec_doctor_rule rec_rule_##name;
REC_RULES(X)
#undef X
/* The rule of FINDING (checkup.c). */
const rec_doctor_rule *rec_rule_of(const rec_finding *finding);

/* ---- what rules share (judge.c)
 * -------------------------------------------------------------------
 */

/* A finding of RULE that costs COST_NS of WHOLE_NS, whose other figures are unknown. */
rec_finding *rec_add(rec_checking *c, rec_rule rule, res_interval cost_ns, double whole_ns);
/* Whether COST_NS is above SHARE of WHOLE_NS, by its lower bound where it has one. */
bool rec_is_above(res_interval cost_ns, double share, double whole_ns);
/* A finding of RULE whose cost in each step is in c->values, where that is above SHARE; else NULL.
 */
rec_finding *rec_judge(rec_checking *c, rec_rule rule, double share);
/* Fills c->values with the gaps of PART. */
void rec_fill_gaps(rec_checking *c, rec_part part);
/* Names in MADE the program before which the device does nothing for longest. */
void rec_put_longest_gap(const rec_steps *s, rec_finding *made);
/* The time in which STEP has submitted work and no kernel runs, by a profile. Of one step it may be
 * negative: kernels are those of the mean step. */
double rec_kernel_free(const rec_checking *c, const rec_step *step);

/* Where a walk over calls in order of time is. Begins with zeros. */
typedef struct rec_cursor {
    size_t call, execution;
} rec_cursor;
/* When the next execution after TIME begins; 0: there is none. TIME never goes back. */
uint64_t rec_next_execution(const rec_steps *s, rec_cursor *at, uint64_t time);
/* The next call of STEP, in order; NULL: there is none more. */
const rec_call *rec_next_call(const rec_process *p, rec_cursor *at, const rec_step *step);

/* "s" of more than one; bytes in MiB. */
const char *rec_plural(double count);
double rec_mib(double bytes);
/* "f32[], result 1 of jit_step" */
void rec_buffer_put(const rec_process *p, uint32_t index, bn_text *out);
/* Appends that HOW hides what it hides of C; nothing where that is unknown. */
void rec_put_hidden(const rec_finding *c, const char *how, bn_text *out);
/* Appends that a profile may show less, where C is an upper bound. */
void rec_put_profile_advice(const rec_finding *c, bn_text *out);

/* ---- merging executions (rule_executions.c)
 * -------------------------------------------------------
 */

/* Whether the saving by merging several executions is known. */
bool rec_merges(const rec_checking *c);
/* Fills c->values with the saving of each step by merging. */
void rec_fill_savings(rec_checking *c);

#endif
