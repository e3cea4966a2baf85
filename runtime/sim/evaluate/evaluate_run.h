/*
 * evaluate_run.h - a run of a program: its values, what it may cost, and blocks of ops.
 *
 * Each op has a rule, which computes its results, and a check, which runs once before the
 * program. The check refuses what the rule could not do, or could do only by touching
 * memory that is not its own; rules rely on it. Values are dense and row-major.
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_RUN_H
#define BENCH_RUNTIME_SIM_EVALUATE_RUN_H

#include "runtime/sim/program/program.h"

/* Blocks within blocks, over calls. */
#define SIM_MAX_BLOCKS 200

typedef struct sim_run sim_run;

/*
 * Computes the results of OP from its operands: RUN has room for all of them. The op's
 * check has passed. A rule accounts for its work with sim_run_work where one operation a
 * result element is too little. It fails without memory, beyond the run's limit, or
 * because a block that it runs does; the error is in RUN->st. One thread at a time.
 */
typedef sim_code sim_rule(sim_run *run, const sim_op *op);
/* SIM_OK when the rule of OP can compute it, for any values of its operands. Else an error
 * from sim_refuse. Looks at types and attributes only. */
typedef sim_code sim_rule_check(const sim_program *p, const sim_op *op, sim_status *st);

struct sim_run {
    const sim_program *program;
    sim_rule *rule; /* of any op. It comes from above, as rules run blocks of other ops */
    void **values;  /* contents of each value of the blocks being run */
    bool *active;   /* functions being called */
    double work, limit;
    int depth; /* of blocks */
    sim_status *st;
};

/* ---- values ----------------------------------------------------------------------------- */

static inline const sim_type *sim_operand_type(const sim_program *p, const sim_op *op, int i)
{
    return &p->types[op->operands[i]];
}

static inline const sim_type *sim_result_type(const sim_program *p, const sim_op *op, int i)
{
    return &p->types[op->results[i]];
}

static inline const void *sim_operand(const sim_run *run, const sim_op *op, int i)
{
    return run->values[op->operands[i]];
}

static inline void *sim_result(const sim_run *run, const sim_op *op, int i)
{
    return run->values[op->results[i]];
}

/* Element number I of VALUE. */
static inline void *sim_element(const sim_run *run, int value, int64_t i)
{
    return (char *)run->values[value] +
           i * (int64_t)bn_dtype_bytes(run->program->types[value].dtype);
}

/* ---- costs ------------------------------------------------------------------------------ */

/* Accounts for OPERATIONS element operations; SIM_DEADLINE_EXCEEDED beyond the limit. */
sim_code sim_run_work(sim_run *run, double operations);
/* SIZE bytes, which the caller frees, or SIM_RESOURCE_EXHAUSTED. */
sim_code sim_run_memory(sim_run *run, int64_t size, void **memory);

/* ---- blocks ----------------------------------------------------------------------------- */

/* Memory for the results of all ops of BLOCK; constants are filled. */
sim_code sim_block_begin(sim_run *run, const sim_block *block, void **memory);
/* Runs the ops once; the caller has set the arguments. Results are in run->values. */
sim_code sim_block_run(sim_run *run, const sim_block *block);
/* Gives the memory back, which may be NULL. Each begin that succeeded has its end. */
void sim_block_end(sim_run *run, void *memory);

#endif
