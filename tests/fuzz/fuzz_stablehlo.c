/*
 * fuzz_stablehlo.c - any bytes as a program for the simulator: whatever can be read can
 * be weighed, and what can be evaluated ends.
 */
#include "runtime/sim/cost/cost.h"
#include "runtime/sim/evaluate/evaluate.h"
#include "runtime/sim/program/program.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define MAX_BYTES      ((int64_t)1 << 20) /* of arguments and results */
#define MAX_OPERATIONS 1e5

/* Zeroes for each of VALUES; false without memory, or where that would be much. */
static bool make_buffers(const sim_program *p, const int *values, int count, void **buffers)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        int64_t bytes = sim_type_bytes(&p->types[values[i]]);
        if (bytes > MAX_BYTES || (total += bytes) > MAX_BYTES)
            return false;
        buffers[i] = calloc((size_t)bytes + 1, 1);
        if (!buffers[i])
            return false;
    }
    return true;
}

/* Constants and temporaries may be as large as their types say; only small programs run. */
static bool is_small(const sim_program *p)
{
    for (int v = 0; v < p->value_count; v++)
        if (sim_type_bytes(&p->types[v]) > MAX_BYTES)
            return false;
    return p->value_count < 4096;
}

static void evaluate(const sim_program *p)
{
    const sim_block *body = &p->main->body;
    sim_status st = {.code = SIM_OK};
    if (!is_small(p) || sim_program_can_evaluate(p, &st) != SIM_OK)
        return;
    void **arguments = calloc((size_t)body->argument_count + 1, sizeof *arguments);
    void **results = calloc((size_t)body->result_count + 1, sizeof *results);
    if (arguments && results && make_buffers(p, body->arguments, body->argument_count, arguments) &&
        make_buffers(p, body->results, body->result_count, results))
        (void)sim_program_evaluate(p, (const void *const *)arguments, results, MAX_OPERATIONS, &st);
    for (int i = 0; arguments && i < body->argument_count; i++)
        free(arguments[i]);
    for (int i = 0; results && i < body->result_count; i++)
        free(results[i]);
    free(arguments);
    free(results);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    sim_status st = {.code = SIM_OK};
    sim_program *p = NULL;
    if (sim_program_read((const char *)data, size, &p, &st) != SIM_OK) {
        assert(!p && st.code != SIM_OK && st.message[0] >= '1' && st.message[0] <= '9');
        return 0;
    }
    sim_cost cost;
    sim_program_cost(p, &cost);
    assert(cost.flops >= 0 && cost.bytes >= 0 && cost.peak_temp_bytes >= 0);
    sim_cost_free(&cost);
    evaluate(p);
    sim_program_free(p);
    return 0;
}
