/*
 * device.h - runs graphs on the default runtime with contents as doubles, for
 * tests that compare a real plugin with the evaluator.
 */
#ifndef BENCH_TESTS_DEVICE_H
#define BENCH_TESTS_DEVICE_H

#include "runtime/graph/graph.h"
#include "runtime/pjrt/pjrt.h"

/* The default runtime (or BENCH_TEST_RUNTIME) with one device. */
BN_MUST_USE bn_code device_open(rt_client **client, bn_status *st);

/*
 * Lowers GRAPH, compiles it, runs it once. The contents of its inputs are the
 * data of their variables (tg_tensor_data, doubles). OUTPUTS[i] gets a malloced
 * array for each output. A program that does not compile is written into the
 * status as far as it goes.
 */
BN_MUST_USE bn_code device_run(rt_client *client, const tg_graph *graph, double **outputs,
                               bn_status *st);

#endif
