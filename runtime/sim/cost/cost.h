/*
 * cost.h - what a program costs a device: groups of ops as a compiler would fuse them,
 * with their arithmetic and their memory traffic. cost_fuse.c has the rule.
 *
 * Nothing here knows a device's rates: room device makes times of these figures.
 * Prefix sim_.
 */
#ifndef BENCH_RUNTIME_SIM_COST_H
#define BENCH_RUNTIME_SIM_COST_H

#include "runtime/sim/program/program.h"

/* Kinds of work, each at one rate of a device. */
typedef enum sim_rate {
    SIM_RATE_F64,
    SIM_RATE_F32,
    SIM_RATE_16, /* f16 and bf16 */
    SIM_RATE_INT,
    SIM_RATE_COUNT
} sim_rate;

/* One fused group of ops: it reads what comes from outside, computes, writes what
 * others use. Operations and bytes are those of one run. */
typedef struct sim_group {
    sim_opcode anchor;                   /* the op the group is built around */
    const char *place;                   /* where that is: sim_op.place, the program's */
    double matrix_flops[SIM_RATE_COUNT]; /* of dots and convolutions */
    double vector_flops[SIM_RATE_COUNT]; /* of all else; 2 for a multiply and add */
    double bytes;                        /* in and out */
    double times;                        /* how often it runs: trip counts of loops around it */
} sim_group;

typedef struct sim_cost {
    sim_group *groups; /* malloc */
    size_t group_count;
    double flops, transcendentals, bytes; /* over all groups, with their times */
    double op_count;                      /* ops with a cost in the text, not counting trips */
    int unknown_loops;                    /* their trip count is unknown: counted as one trip */
    int64_t peak_temp_bytes; /* of values alive at once, without arguments and results */
} sim_cost;

/* Weighs PROGRAM into *COST, which sim_cost_free frees. Threads may share PROGRAM. */
void sim_program_cost(const sim_program *program, sim_cost *cost);
void sim_cost_free(sim_cost *cost);

#endif
