/*
 * sim_compare.h - runs a StableHLO text by the simulator's evaluator, and on the
 * default runtime, and compares all results.
 */
#ifndef BENCH_TESTS_SIM_COMPARE_H
#define BENCH_TESTS_SIM_COMPARE_H

#include "runtime/pjrt/pjrt.h"
#include "runtime/sim/evaluate/evaluate.h"
#include "runtime/sim/program/program.h"

/* Element operations that no program of a test comes near. */
#define SIM_COMPARE_LIMIT 1e10

/* A line of text: NAME is a constant. */
#define DENSE(name, list, type) name " = stablehlo.constant dense<" list "> : tensor<" type ">\n"

/* Reads TEXT or fails the test. */
sim_program *sim_compare_read(const char *name, const char *text, size_t length);

/* Memory for COUNT values of the program: VALUES numbers its types. Freed by sim_compare_free. */
void **sim_compare_rooms(const sim_program *p, const int *values, int count);
void sim_compare_free(void **rooms, int count);

/* Evaluates into RESULTS, or fails the test. */
void sim_compare_evaluate(const char *name, const sim_program *p, void *const *arguments,
                          void *const *results);

/* Elements as doubles (complex numbers: two of them); COUNT of them are written. */
int64_t sim_compare_decode(const sim_type *type, const void *bytes, double *out);

/*
 * Compares result after result: integers and booleans exactly, floats within FACTOR
 * times a few units in the last place, of the element or of 1. ARGUMENTS are those of
 * @main, dense.
 */
void sim_compare_run(rt_client *client, const char *name, const char *text, size_t length,
                     void *const *arguments, double factor);

#endif
