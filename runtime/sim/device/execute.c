/*
 * execute.c - one execution: checks, memory, results, its place in the schedule.
 */
#include "runtime/base/base.h"
#include "runtime/sim/device/buffer.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/device.h"
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/executable.h"
#include "runtime/sim/device/profiler.h"
#include "runtime/sim/device/schedule.h"

#include <math.h>
#include <stdlib.h>

/* An execution being put together. */
typedef struct call {
    PJRT_LoadedExecutable_Execute_Args *args;
    PJRT_LoadedExecutable *loaded;
    PJRT_Executable *executable;
    const sim_function *main;
    PJRT_Buffer *const *arguments;
    const sim_fault *fault;
    uint64_t number; /* of the client's executions, from 1 */
    uint64_t begin_ns;
    uint64_t inputs_ns; /* when the last input is on the device */
    bool uncomputed;    /* an input has no values: its program was not evaluated */
} call;

static bool is_kept(const PJRT_ExecuteOptions *options, size_t argument)
{
    for (size_t i = 0; options && i < options->num_non_donatable_input_indices; i++)
        if (options->non_donatable_input_indices[i] == (int64_t)argument)
            return true;
    return false;
}

/* The result that takes over the memory of ARGUMENT, or -1. */
static int alias_of(const call *c, size_t argument)
{
    int alias = c->main->arguments[argument].alias;
    return alias >= 0 && !is_kept(c->args->options, argument) ? alias : -1;
}

/* Whether the call consumes ARGUMENT. */
static bool consumes(const call *c, size_t argument)
{
    return alias_of(c, argument) >= 0 ||
           (c->main->arguments[argument].donor && !is_kept(c->args->options, argument));
}

/* ---- checks ----------------------------------------------------------------------------- */

/* Marks the buffer of ARGUMENT as used by this call. True if it is an earlier argument, too, and
 * one of both donates it: that is an error. */
static bool mark_use(const call *c, size_t argument)
{
    PJRT_Buffer *b = c->arguments[argument];
    bool donated = consumes(c, argument);
    bool again = b->used_in == c->number && (donated || b->donated);
    b->used_in = c->number;
    b->donated = donated;
    return again;
}

/* Under the lock. If the execution that computes an argument is known to fail, this one fails at
 * once, even before that one has ended. */
static sim_code check_arguments(call *c, sim_status *st)
{
    const sim_block *body = &c->main->body;
    if (c->args->num_devices != 1)
        return sim_fail(st, SIM_UNIMPLEMENTED, "executions run on one device");
    if (c->args->num_args != (size_t)body->argument_count)
        return sim_fail(st, SIM_INVALID_ARGUMENT, "the program takes %d arguments, %zu were given",
                        body->argument_count, c->args->num_args);
    for (size_t i = 0; i < c->args->num_args; i++) {
        const PJRT_Buffer *b = c->arguments[i];
        if (!b->memory)
            return sim_fail(st, SIM_INVALID_ARGUMENT, "argument %zu has been deleted or donated",
                            i);
        if (!sim_type_equals(&b->type, &c->executable->program->types[body->arguments[i]]))
            return sim_fail(st, SIM_INVALID_ARGUMENT, "argument %zu is of another type", i);
        /* A real device would read other values. */
        if (!c->executable->opaque &&
            (c->main->arguments[i].layout.rank == b->type.rank
                 ? !sim_layout_equals(&b->layout, &c->main->arguments[i].layout)
                 : b->layout.rank != 0))
            return sim_fail(st, SIM_INVALID_ARGUMENT,
                            "argument %zu does not have the layout that the program takes", i);
        if (b->device != c->loaded->device)
            return sim_fail(st, SIM_INVALID_ARGUMENT, "argument %zu is on device %d", i,
                            b->device->description.id);
        if (mark_use(c, i))
            return sim_fail(st, SIM_INVALID_ARGUMENT,
                            "argument %zu is a donated buffer that is given twice", i);
        if (b->done->error.code != SIM_OK) {
            *st = b->done->error;
            return st->code;
        }
        if (b->done->device_ns > c->inputs_ns)
            c->inputs_ns = b->done->device_ns;
        c->uncomputed = c->uncomputed || b->memory->uncomputed;
    }
    return SIM_OK;
}

/* ---- results ---------------------------------------------------------------------------- */

static sim_code check_room(const call *c, int64_t fresh, sim_status *st)
{
    PJRT_Device *device = c->loaded->device;
    int64_t temporaries = c->executable->cost.peak_temp_bytes;
    if (c->fault && c->fault->kind == SIM_FAULT_OOM)
        return sim_fail(st, SIM_RESOURCE_EXHAUSTED,
                        "simulated fault: out of device memory: results of %lld bytes, %lld of "
                        "%lld bytes are in use",
                        (long long)fresh, (long long)device->bytes_in_use,
                        (long long)device->client->config.memory_bytes);
    if (sim_memory_fits(device, fresh, temporaries, "results", st) != SIM_OK)
        return st->code;
    if (device->bytes_in_use + fresh + temporaries > device->peak_bytes)
        device->peak_bytes = device->bytes_in_use + fresh + temporaries;
    return SIM_OK;
}

/* Memory of each result: a donated argument's, or new. Under the lock. */
static sim_code assign_memory(call *c, sim_memory **memory, sim_status *st)
{
    const sim_block *body = &c->main->body;
    int64_t fresh = 0;
    for (size_t i = 0; i < c->args->num_args; i++)
        if (alias_of(c, i) >= 0)
            memory[alias_of(c, i)] = sim_memory_alias(c->arguments[i]->memory);
    for (int i = 0; i < body->result_count; i++)
        if (!memory[i])
            fresh += sim_type_bytes(&c->executable->program->types[body->results[i]]);
    if (check_room(c, fresh, st) != SIM_OK)
        return st->code;
    for (int i = 0; i < body->result_count; i++) {
        const sim_type *type = &c->executable->program->types[body->results[i]];
        if (!memory[i])
            memory[i] = sim_memory_new(c->loaded->device, sim_type_bytes(type));
        memory[i]->uncomputed = !c->executable->evaluates || c->uncomputed;
    }
    return SIM_OK;
}

/* One of the three overheads of an execution: call, launch and completion. An overhead that is
 * stated for the program is divided equally among them; else each is as configured. */
static double overhead_us_of(const call *c, double configured_us)
{
    return c->executable->overhead_us >= 0 ? c->executable->overhead_us / 3 : configured_us;
}

/* The execution's time and what fires at its end. Under the lock. */
static sim_done *schedule(call *c, uint64_t submit_ns)
{
    PJRT_Device *device = c->loaded->device;
    const sim_config *config = &device->client->config;
    sim_span span = sim_device_schedule(
        device, c->executable->device_us,
        submit_ns + sim_us_to_ns(overhead_us_of(c, config->launch_us)), c->inputs_ns);
    uint64_t ready_ns = span.end_ns + sim_us_to_ns(overhead_us_of(c, config->completion_us));
    if (c->fault && c->fault->kind == SIM_FAULT_NEVER)
        ready_ns = SIM_NEVER;
    sim_done *done = sim_done_new(device->client, span.end_ns, ready_ns);
    if (c->fault && c->fault->kind == SIM_FAULT_EVENT)
        sim_fail(&done->error, c->fault->code, "simulated fault: the execution fails");
    sim_profile_note(device, c->executable, span);
    return done;
}

/* Submits the evaluation to the device's thread. An execution without one is settled at once. Under
 * the lock. */
static void submit_values(call *c, sim_memory **memory, sim_done *done)
{
    size_t results = (size_t)c->main->body.result_count, n = c->args->num_args;
    bool wrong = c->fault && c->fault->kind == SIM_FAULT_WRONG;
    bool compute = c->executable->evaluates && !c->uncomputed;
    if (!wrong && !compute) {
        atomic_store_explicit(&done->settled, true, memory_order_release);
        return;
    }
    sim_work *work = bn_zalloc(1, sizeof *work);
    work->arguments = bn_zalloc(n, sizeof(sim_memory *));
    work->results = bn_zalloc(results, sizeof(sim_memory *));
    for (; work->argument_count < n; work->argument_count++)
        work->arguments[work->argument_count] =
            sim_memory_retain(c->arguments[work->argument_count]->memory);
    for (; work->result_count < results; work->result_count++)
        work->results[work->result_count] = sim_memory_retain(memory[work->result_count]);
    work->executable = sim_executable_retain(c->executable);
    work->compute = compute;
    work->wrong = wrong;
    work->done = sim_done_retain(done);
    sim_device_submit(c->loaded->device, work);
}

/* Makes the result buffers and the event, and moves the memory of donated arguments into TAKEN. */
static void make_results(call *c, sim_memory **memory, sim_done *done, sim_memory **taken)
{
    const sim_block *body = &c->main->body;
    PJRT_Buffer **out = c->args->output_lists[0];
    for (int i = 0; i < body->result_count; i++) {
        const sim_type *type = &c->executable->program->types[body->results[i]];
        out[i] = sim_buffer_new(type, &c->main->results[i], c->loaded->device, memory[i], done);
    }
    if (c->args->device_complete_events)
        c->args->device_complete_events[0] = sim_event_new(done);
    for (size_t i = 0; i < c->args->num_args; i++) {
        if (!consumes(c, i))
            continue;
        taken[i] = c->arguments[i]->memory;
        if (alias_of(c, i) >= 0)
            sim_memory_take_over(memory[alias_of(c, i)], taken[i]);
        c->arguments[i]->memory = NULL;
    }
}

/* Host time of the call, by the configuration. */
static double call_us(const call *c)
{
    PJRT_Device *device = c->loaded->device;
    const sim_config *config = &device->client->config;
    double us =
        overhead_us_of(c, config->execute_us + config->argument_us * (double)c->args->num_args +
                              config->result_us * (double)c->main->body.result_count);
    if (config->host_jitter > 0)
        us *= exp(config->host_jitter * sim_random_normal(&device->random[SIM_STREAM_CALLS]));
    return us;
}

/* Waits until the call is to return: for its host time, and with `blocking` for the execution. */
static void wait_for_return(call *c, uint64_t submit_ns, sim_done *done)
{
    PJRT_Client *client = c->loaded->device->client;
    uint64_t late_ns = sim_wait_until(submit_ns) - submit_ns;
    if (client->execute_late.ns) {
        pthread_mutex_lock(&client->lock);
        sim_lateness_add(&client->execute_late, late_ns);
        pthread_mutex_unlock(&client->lock);
    }
    if (client->config.blocking)
        sim_done_await(done);
}

static sim_code execute(call *c, sim_status *st)
{
    PJRT_Client *client = c->loaded->device->client;
    size_t results = (size_t)c->main->body.result_count, n = c->args->num_args;
    sim_memory **memory = bn_zalloc(results, sizeof(sim_memory *));
    sim_memory **taken = bn_zalloc(n, sizeof(sim_memory *));
    sim_done *done = NULL;
    uint64_t submit_ns = 0;
    for (size_t i = 0; i < results; i++)
        c->args->output_lists[0][i] = NULL;
    pthread_mutex_lock(&client->lock);
    c->number = ++client->executions;
    sim_code code = check_arguments(c, st);
    if (code == SIM_OK)
        code = assign_memory(c, memory, st);
    if (code == SIM_OK) {
        submit_ns = c->begin_ns + sim_us_to_ns(call_us(c));
        done = schedule(c, submit_ns);
        submit_values(c, memory, done);
        make_results(c, memory, done, taken);
    }
    pthread_mutex_unlock(&client->lock);
    for (size_t i = 0; i < results; i++)
        sim_memory_release(memory[i]);
    free(memory);
    /* Bytes of donated arguments are counted with the results now, or are free. */
    for (size_t i = 0; i < n; i++)
        sim_memory_drop(taken[i]);
    free(taken);
    if (code == SIM_OK)
        wait_for_return(c, submit_ns, done);
    sim_done_release(done);
    return code;
}

SIM_ENTRY(LoadedExecutable_Execute)
{
    sim_status st = {.code = SIM_OK};
    call c = {.args = args,
              .loaded = args->executable,
              .executable = args->executable->executable,
              .main = args->executable->executable->program->main,
              .arguments = args->num_args ? args->argument_lists[0] : NULL,
              .begin_ns = sim_now_ns()};
    if (args->executable->deleted)
        return sim_error(SIM_FAILED_PRECONDITION, "the executable has been deleted");
    c.fault = sim_fault_meet(c.loaded->device->client, SIM_AT_EXECUTE);
    if (c.fault && c.fault->kind == SIM_FAULT_FAIL)
        return sim_error(c.fault->code, "simulated fault: the call to execute fails");
    execute(&c, &st);
    return sim_error_new(&st);
}
