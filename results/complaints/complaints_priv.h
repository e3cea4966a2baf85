/*
 * complaints_priv.h - what the files of this folder share: when the device worked (busy.c),
 * programs that are compiled late (late.c), and missed donation (donation.c).
 */
#ifndef BENCH_RESULTS_COMPLAINTS_PRIV_H
#define BENCH_RESULTS_COMPLAINTS_PRIV_H

#include "results/complaints/complaints.h"

/* ---- when the device worked (busy.c) ----------------------------------------------------------
 */

/* Times in which any device of the steps worked, in order, without overlap. */
typedef struct rec_busy {
    struct rec_busy_span {
        uint64_t from, to, before; /* BEFORE: the length of all spans before this one */
    } * list;                      /* malloc */
    size_t count;
} rec_busy;

/* Fills BUSY from the executions on the steps' device whose completions are known. False without
 * memory. */
BN_MUST_USE bool rec_busy_make(const rec_steps *steps, rec_busy *busy);
/* Nanoseconds between FROM and TO in which it did not work; 0 where TO is not later. */
double rec_idle_between(const rec_busy *busy, uint64_t from, uint64_t to);

/* ---- programs that are compiled late (late.c) -------------------------------------------------
 */

typedef struct rec_late {
    uint32_t compiles;   /* in the later half of the executions from the first step on */
    double steps;        /* in that half */
    double wall_ns;      /* of it */
    res_interval ns;     /* compiling, and the framework's work before, a step */
    uint64_t at_most_ns; /* the end of the last of them; 0: none */
} rec_late;

/* Finds the programs that are compiled in that half of STEPS' recording. WHERE gets their most
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
/* The length of NAME without a number at its end that counts programs: "SyncTensorsGraph." of
 * "SyncTensorsGraph.12". Shorter than NAME only where there is one. */
size_t rec_stem(const char *name);

/* ---- missed donation (donation.c) -------------------------------------------------------------
 */

typedef struct rec_missed {
    uint32_t arguments; /* that might have been donated, in a step */
    double bytes;       /* of these */
    double all_bytes;   /* of all arguments */
} rec_missed;

/* Checks some of the steady steps and takes the one that misses least. WHERE gets the largest of
 * the arguments. False without memory. */
BN_MUST_USE bool rec_missed_find(const rec_steps *steps, rec_missed *missed, bn_text *where);

#endif
