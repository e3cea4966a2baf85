/*
 * weighing_priv.h - how weighing a program is divided: cost.c goes through functions and
 * loops, cost_fuse.c puts ops into groups, cost_flops.c counts operations,
 * cost_trips.c how often loops run, cost_memory.c what is alive at once.
 */
#ifndef BENCH_RUNTIME_SIM_COST_PRIV_H
#define BENCH_RUNTIME_SIM_COST_PRIV_H

#include "runtime/base/base.h"
#include "runtime/sim/cost/cost.h"

/* A value, while ops are put into groups. */
typedef struct sim_value {
    const sim_op *op; /* that gives it; NULL for arguments */
    int uses;         /* by ops and returns */
    int root;         /* the value that must be in memory for this one; -1: none */
    int group;        /* that computes it; -1: none */
    bool stored;      /* written to memory, because others than its group need it */
} sim_value;

/* A group being put together. */
typedef struct sim_fusion {
    sim_group cost;
    int block;       /* where its ops are: groups do not reach out of a block */
    double elements; /* an element-wise op that gives as many may join */
    bool open;       /* more may join */
    bool waits;      /* no group: what calls, loops and branches give */
} sim_fusion;

/* Group GROUP reads VALUE. */
typedef struct sim_access {
    int group, value;
    double bytes;
} sim_access;

/* Of a function. */
typedef struct sim_summary {
    double times; /* how often it runs */
    bool small;   /* element-wise only, so a call is like one op */
    bool listed;
    double vector_flops[SIM_RATE_COUNT], transcendentals; /* of a small one */
    int64_t peak;                                         /* bytes; -1: not known yet */
} sim_summary;

typedef struct sim_weighing {
    const sim_program *program;
    sim_value *values;
    sim_fusion *groups;
    size_t group_count, group_capacity;
    sim_access *reads;
    size_t read_count, read_capacity;
    sim_summary *functions; /* [function] */
    int *order;             /* functions, each behind those that it calls */
    int blocks;             /* met so far */
    int *last;              /* [value] index in its own block of the last op that uses it */
    int *depth;             /* [value] regions around it */
    double transcendentals, op_count;
    int unknown_loops;
} sim_weighing;

static inline const sim_type *sim_weigh_type(const sim_weighing *w, int value)
{
    return &w->program->types[value];
}

/* cost_flops.c: operations of OP once, added to GROUP. */
void sim_weigh_op(const sim_weighing *w, const sim_op *op, sim_group *group,
                  double *transcendentals);
sim_rate sim_weigh_rate(bn_dtype dtype);

/* cost_fuse.c */
void sim_fuse_op(sim_weighing *w, const sim_op *op, int block, double times);
/* VALUE must be in memory: it is returned, or a loop, branch or call takes it. */
void sim_fuse_store(sim_weighing *w, int value, int block, double times);
/* Bytes of each group, when all are known. */
void sim_fuse_finish(sim_weighing *w);
/* Results of calls, loops and branches wait for them: nothing fuses across. */
void sim_fuse_wait(sim_weighing *w, const sim_op *op, int block);

/* cost_trips.c: how often the body of a while runs; -1: unknown from the text. */
double sim_weigh_trips(const sim_weighing *w, const sim_op *op);

/* cost_memory.c: most bytes alive at once in a function, without arguments and results. */
int64_t sim_weigh_peak(sim_weighing *w, const sim_function *f);

#endif
