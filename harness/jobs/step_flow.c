/*
 * step_flow.c - the flow of values: buffers of a recorded step become inputs and results, and by
 * the buffers in their places in the next step, results that are inputs again. The number of
 * devices, and the host's work in between.
 */
#include "harness/jobs/step_priv.h"

#include <stdlib.h>

void job_flow_free(job_flow *f)
{
    free(f->inputs);
    free(f->first_result);
    free(f->values);
    *f = (job_flow){0};
}

static const rec_execution *run_at(const job_flow *f, size_t run)
{
    return &f->process->executions[f->runs[run]];
}

/* ---- within the step -------------------------------------------------------------------- */

/* A buffer that no earlier run made is an input. Addresses and times of a recording can be edited,
 * so that a run would take what a later one makes. */
static bn_code follow_run(job_flow *f, size_t run, size_t *capacity, bn_status *st)
{
    const rec_execution *x = run_at(f, run);
    for (uint32_t a = 0; a < x->arguments; a++) {
        const uint32_t buffer = rec_argument(f->process, x, 0, a);
        if (buffer == REC_NONE || buffer >= f->process->buffer_count)
            return bn_fail(st, BN_FORMAT,
                           "the recording lacks argument %u of execution %zu of the step", a, run);
        if (f->values[buffer] == 0) {
            bn_grow(&f->inputs, f->input_count + 1, capacity, sizeof *f->inputs);
            f->inputs[f->input_count++] = (job_flow_input){buffer, run, a, JOB_FLOW_NONE};
            f->values[buffer] = (int64_t)f->input_count;
        }
    }
    f->first_result[run] = f->result_count;
    for (uint32_t i = 0; i < x->results; i++) {
        const uint32_t buffer = rec_result(f->process, x, 0, i);
        if (buffer == REC_NONE || buffer >= f->process->buffer_count)
            continue;
        if (f->values[buffer] > 0)
            return bn_fail(st, BN_FORMAT,
                           "execution %zu of the step makes a value that was taken before it", run);
        f->values[buffer] = -1 - (int64_t)(f->result_count + i);
    }
    f->result_count += x->results;
    return BN_OK;
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

/* Links inputs to the results of this step that take their places in the next one. A result becomes
 * one input; other inputs whose places it takes, too, stay as they are. */
static void link_results(job_flow *f)
{
    bool *taken = bn_zalloc(f->result_count + 1, sizeof *taken);
    for (size_t i = 0; i < f->input_count; i++) {
        job_flow_input *in = &f->inputs[i];
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
}

bn_code job_flow_make(const rec_process *process, const uint32_t *runs, size_t count, job_flow *f,
                      bn_status *st)
{
    size_t capacity = 0;
    *f = (job_flow){.process = process, .runs = runs, .count = count};
    /* bn_zalloc: the process has as many items in memory already. */
    f->values = bn_zalloc(process->buffer_count + 1, sizeof *f->values);
    f->first_result = bn_zalloc(count + 1, sizeof *f->first_result);
    bn_code code = BN_OK;
    for (size_t run = 0; run < count && code == BN_OK; run++)
        code = follow_run(f, run, &capacity, st);
    if (code == BN_OK)
        link_results(f);
    return code;
}

size_t job_flow_value(const job_flow *f, size_t run, size_t argument)
{
    const uint32_t buffer = rec_argument(f->process, run_at(f, run), 0, (uint32_t)argument);
    const int64_t value = f->values[buffer];
    return value > 0 ? (size_t)value - 1 : f->input_count + (size_t)(-1 - value);
}

/* ---- devices ------------------------------------------------------------------------------- */

/* Adds the devices of X that are of CLIENT to USED; returns how many are new. */
static size_t add_devices(const rec_process *p, const rec_execution *x, uint64_t client, bool *used)
{
    size_t found = 0;
    for (uint32_t d = 0; d < x->devices; d++) {
        const uint32_t device = p->spans[x->spans + d].device;
        if (device >= p->device_count || p->devices[device].client != client || used[device])
            continue;
        used[device] = true;
        found++;
    }
    return found;
}

size_t job_flow_devices(const rec_process *p, const uint32_t *runs, size_t count, size_t *run)
{
    const uint32_t own = p->spans[p->executions[runs[0]].spans].device;
    bool *used = bn_zalloc(p->device_count + 1, sizeof *used);
    *run = JOB_FLOW_NONE;
    /* Executions are in order of their begin: between two runs stand those of other devices. */
    size_t found = 0;
    for (uint32_t i = runs[0]; own < p->device_count && i < runs[count]; i++)
        if (!p->executions[i].failed)
            found += add_devices(p, &p->executions[i], p->devices[own].client, used);
    size_t devices = found > 1 ? found : 1;
    for (size_t i = 0; i < count; i++) {
        const size_t at_once = p->executions[runs[i]].devices;
        if (at_once > 1 && *run == JOB_FLOW_NONE)
            *run = i;
        /* Devices that the recording does not describe count, too. */
        devices = at_once > devices ? at_once : devices;
    }
    free(used);
    return devices;
}

/* ---- the host ------------------------------------------------------------------------------ */

json_t *job_step_host(const rec_steps *steps, size_t count, job_step *step)
{
    json_t *list = json_array();
    for (size_t run = 0; run < count; run++) {
        const rec_before *before = &steps->before[run];
        json_array_append_new(list,
                              json_pack("{sf sf sf sb}", "beside_us", before->overlapped_ns / 1e3,
                                        "alone_us", before->alone_ns / 1e3, "idle_us",
                                        before->idle_ns / 1e3, "waits", (int)before->waits));
        step->host_ns += before->overlapped_ns + before->alone_ns;
        step->idle_ns += before->idle_ns;
        step->waits += before->waits;
    }
    step->ahead = !steps->before[0].waits;
    return json_pack("{sI sf sf sI sb so}", "steps", (json_int_t)steps->before_steps, "work_ns",
                     step->host_ns, "idle_ns", step->idle_ns, "waits", (json_int_t)step->waits,
                     "ahead", (int)step->ahead, "before", list);
}
