/*
 * evaluate_region.h - regions that are run once an element: those of reduce,
 * reduce_window, select_and_scatter, scatter and sort.
 */
#ifndef BENCH_RUNTIME_SIM_EVALUATE_REGION_H
#define BENCH_RUNTIME_SIM_EVALUATE_REGION_H

#include "runtime/sim/evaluate/evaluate_kernels.h"
#include "runtime/sim/evaluate/evaluate_run.h"

/*
 * A region being run. Where it is one op with a kernel, on two of its arguments, the
 * kernel computes it. Where it gives one of its arguments, nothing is computed.
 */
typedef struct sim_region {
    sim_run *run;
    const sim_block *block;
    void *memory;
    sim_kernel *kernel;
    sim_opcode opcode; /* with a kernel */
    bn_dtype from, to;
    int left, right; /* arguments of the kernel */
    int argument;    /* that is the one result, or -1 */
    _Alignas(SIM_ELEMENT) char scratch[SIM_ELEMENT];
} sim_region;

/* Room for the region's values. Each begin that succeeded has its end. */
sim_code sim_region_begin(sim_run *run, const sim_block *block, sim_region *region);
void sim_region_end(sim_region *region);

/* Runs it on ARGUMENTS, one element each; sim_region_result is then valid until the next
 * call. */
sim_code sim_region_call(sim_region *region, void *const *arguments);
const void *sim_region_result(const sim_region *region, int i);
/* Runs it, and brings its results to TARGETS, which may be arguments. */
sim_code sim_region_store(sim_region *region, void *const *arguments, void *const *targets);
/* ACC = region(ACC, X) for N elements, of a region of two arguments and one result. */
sim_code sim_region_combine(sim_region *region, void *acc, void *x, int64_t n);
/* The kernel of a region that may be applied in any order, in its wide type, or NULL. */
sim_kernel *sim_region_fold(const sim_region *region);

/* SIM_OK unless OP has more inputs, COUNT, than a region here may take. */
sim_code sim_can_region(const sim_op *op, int count, sim_status *st);

#endif
