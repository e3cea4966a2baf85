/*
 * differences.h - two recordings: which programs stand for each other, and how what a step takes
 * differs. Prefix rec_.
 */
#ifndef BENCH_RESULTS_DIFFERENCES_H
#define BENCH_RESULTS_DIFFERENCES_H

#include "results/complaints/complaints.h"

/* ---- programs (pairs.c) ---------------------------------------------------------------------- */

/* Programs of a recording that are one: their names are alike up to a number behind a dot, and so
 * are their numbers of arguments and results. They are variants, whose shapes differ. */
typedef struct rec_program_kind {
    const rec_program *program; /* of them the one that ran most often */
    uint32_t arguments;         /* REC_NONE: none of them was executed */
    uint32_t programs;
} rec_program_kind;

/* Two kinds, of A and of B, that stand for each other. A or B NULL: the other recording has none.
 */
typedef struct rec_program_pair {
    const rec_program_kind *a, *b;
    /* To be compared, one of each kind: of the same code where both have that. */
    const rec_program *of_a, *of_b;
} rec_program_pair;

typedef struct rec_program_pairs {
    rec_program_kind *kinds[2];
    size_t kind_count[2];
    rec_program_pair *list; /* in order of names */
    size_t count;
} rec_program_pairs;

/* Pairs the programs of recordings A and B, which must outlive PAIRS: those that are of one kind;
 * then those of one name, if each recording has one kind left of that name. Programs without a name
 * are in no pair. */
void rec_program_pairs_make(const rec_recording *a, const rec_recording *b,
                            rec_program_pairs *pairs);
void rec_program_pairs_free(rec_program_pairs *pairs);

/* ---- what a step takes (differences.c) ------------------------------------------------------- */

/* A time of the mean step in A and in B. */
typedef struct rec_change {
    double a_ns, b_ns;    /* NaN: unknown */
    res_interval more_ns; /* in B: B_NS less A_NS, 95 %; NaN: unknown */
    double p;             /* of no difference, by Student's t; 1: unknown */
    bool claimed;         /* 0 is excluded: at 5 % for the wall time, and at 5 % for all others
                             of these steps together */
} rec_change;

/* A program of the steps: rows of both steps' tables. */
typedef struct rec_program_change {
    uint32_t a, b;     /* rec_steps.programs; REC_NONE: no step has it */
    rec_change device; /* of a step, from start to completion; 0 where no step has it */
    rec_change call;   /* of a step, in Execute */
} rec_program_change;

/* A rule of the doctor that either recording violates. */
typedef struct rec_finding_change {
    rec_rule rule;
    uint32_t a, b;   /* rec_differences.checkup[].list; REC_NONE: it is no finding there */
    rec_change cost; /* NaN where it is a finding in one of them only */
} rec_finding_change;

typedef struct rec_differences {
    const rec_steps *steps[2];
    rec_checkup checkup[2];
    rec_change wall, part[REC_PART_COUNT], busy; /* parts sum to the wall, so do their changes */
    rec_program_change *programs; /* in the order of B's step, then those of A only */
    size_t program_count;
    rec_finding_change findings[REC_RULE_COUNT];
    size_t finding_count;
    bool differ; /* some time of a step does, as claimed above */
} rec_differences;

/*
 * Compares the steps B with A; both must outlive DIFFERENCES, which is for rec_differences_free.
 * Errors are those of batches of successive steps (docs/steps.md), so they hold for these two
 * processes: another run of the same program may differ by more. Where either has fewer than 9
 * steps nothing is claimed. BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code rec_differences_make(const rec_steps *a, const rec_steps *b,
                                         rec_differences *differences, bn_status *st);
void rec_differences_free(rec_differences *differences);
/* The finding of CHANGE in A (SIDE 0) or B (1); NULL: there it is none. */
const rec_finding *rec_finding_of(const rec_differences *differences,
                                  const rec_finding_change *change, int side);

/* Appends the answer in sentences, a line each: how much longer a step takes, and what of it. */
void rec_differences_put(const rec_differences *differences, bn_text *out);
/* As docs/graphs.md says (new reference). */
json_t *rec_differences_json(const rec_differences *differences);

#endif
