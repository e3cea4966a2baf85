/*
 * rerun_flow.c - which value goes where: buffers of a recorded step become inputs and results, and
 * by what stands in their places in the next step, results that are inputs again.
 */
#include "harness/replay/rerun_priv.h"

#include <stdlib.h>

void rerun_flow_free(rerun_flow *f)
{
    free(f->inputs);
    free(f->first_result);
    free(f->values);
    *f = (rerun_flow){0};
}

static const rec_execution *run_at(const rerun_flow *f, size_t run)
{
    return &f->process->executions[f->runs[run]];
}

/* ---- within the step -------------------------------------------------------------------- */

static bn_code add_input(rerun_flow *f, uint32_t buffer, size_t run, size_t argument,
                         size_t *capacity, bn_status *st)
{
    if (!bn_reserve(&f->inputs, f->input_count + 1, capacity, sizeof *f->inputs))
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu inputs", f->input_count + 1);
    f->inputs[f->input_count++] = (rerun_input){buffer, run, argument, RERUN_NONE};
    f->values[buffer] = (int64_t)f->input_count;
    return BN_OK;
}

/* What is not known yet when run RUN takes it is an input. */
static bn_code follow_run(rerun_flow *f, size_t run, size_t *capacity, bn_status *st)
{
    const rec_execution *x = run_at(f, run);
    bn_code code = BN_OK;
    if (x->devices != 1)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "execution %zu of the step ran on %u devices; steps of one device are "
                       "replayed",
                       run, x->devices);
    for (uint32_t a = 0; a < x->arguments && code == BN_OK; a++) {
        const uint32_t buffer = rec_argument(f->process, x, 0, a);
        if (buffer == REC_NONE || buffer >= f->process->buffer_count)
            return bn_fail(st, BN_FORMAT,
                           "the recording does not tell argument %u of execution %zu of the step",
                           a, run);
        if (f->values[buffer] == 0)
            code = add_input(f, buffer, run, a, capacity, st);
    }
    f->first_result[run] = f->result_count;
    for (uint32_t i = 0; i < x->results && code == BN_OK; i++) {
        const uint32_t buffer = rec_result(f->process, x, 0, i);
        if (buffer != REC_NONE && buffer < f->process->buffer_count)
            f->values[buffer] = -1 - (int64_t)(f->result_count + i);
    }
    f->result_count += x->results;
    return code;
}

/* ---- into the next one ----------------------------------------------------------------------- */

static bool same_type(const rec_process *p, uint32_t left, uint32_t right)
{
    const uint32_t a = p->buffers[left].type, b = p->buffers[right].type;
    if (a >= p->type_count || b >= p->type_count)
        return false;
    const rec_type *x = &p->types[a], *y = &p->types[b];
    bool same = x->type == y->type && x->rank == y->rank;
    for (uint32_t i = 0; same && i < x->rank; i++)
        same = x->dims[i] == y->dims[i];
    return same;
}

/* What an input's place holds in the next step says what it becomes: a result of this step, or
 * nothing of it. A result becomes one input; others in whose places it stands, too, stay. */
static bn_code find_heirs(rerun_flow *f, bn_status *st)
{
    bool *taken = calloc(f->result_count + 1, sizeof *taken);
    if (!taken)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu results", f->result_count);
    for (size_t i = 0; i < f->input_count; i++) {
        rerun_input *in = &f->inputs[i];
        const rec_execution *next = run_at(f, f->count + in->run);
        const uint32_t buffer = in->argument < next->arguments
                                    ? rec_argument(f->process, next, 0, (uint32_t)in->argument)
                                    : REC_NONE;
        if (buffer == REC_NONE || buffer >= f->process->buffer_count || f->values[buffer] >= 0)
            continue;
        const size_t result = (size_t)(-1 - f->values[buffer]);
        if (taken[result] || !same_type(f->process, in->buffer, buffer))
            continue;
        in->from = result;
        taken[result] = true;
    }
    free(taken);
    return BN_OK;
}

bn_code rerun_flow_make(const rec_process *process, const uint32_t *runs, size_t count,
                        rerun_flow *f, bn_status *st)
{
    size_t capacity = 0;
    *f = (rerun_flow){.process = process, .runs = runs, .count = count};
    f->values = calloc(process->buffer_count + 1, sizeof *f->values);
    f->first_result = calloc(count + 1, sizeof *f->first_result);
    if (!f->values || !f->first_result)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a step of %zu executions", count);
    bn_code code = BN_OK;
    for (size_t run = 0; run < count && code == BN_OK; run++)
        code = follow_run(f, run, &capacity, st);
    return code == BN_OK ? find_heirs(f, st) : code;
}

size_t rerun_flow_value(const rerun_flow *f, size_t run, size_t argument)
{
    const uint32_t buffer = rec_argument(f->process, run_at(f, run), 0, (uint32_t)argument);
    const int64_t value = f->values[buffer];
    return value > 0 ? (size_t)value - 1 : f->input_count + (size_t)(-1 - value);
}
