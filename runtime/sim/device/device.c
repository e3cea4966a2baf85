/*
 * device.c - a device: its schedule, its memory's figures, its thread.
 */
#include "runtime/sim/device/sim_priv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Loops may cost this many times the limit before they are taken for endless. */
#define LOOP_FACTOR 100

/* ---- the model -------------------------------------------------------------------------- */

/* Roofline (Williams, Waterman, Patterson, CACM 52(4), 2009), group by group. */
double sim_model_us(const sim_config *config, const sim_cost *cost)
{
    const double rates[SIM_RATE_COUNT] = {
        [SIM_RATE_F64] = config->f64_gflops,
        [SIM_RATE_F32] = config->f32_gflops,
        [SIM_RATE_16] = config->f16_gflops,
        [SIM_RATE_INT] = config->int_gops,
    };
    double total = 0;
    for (size_t i = 0; i < cost->group_count; i++) {
        const sim_group *g = &cost->groups[i];
        double compute = 0; /* in units of 1e9 */
        for (int r = 0; r < SIM_RATE_COUNT; r++)
            compute += g->matrix_flops[r] / rates[r] + g->vector_flops[r] / config->vector_gflops;
        double memory = g->bytes / config->memory_gbps;
        double us = (compute > memory ? compute : memory) / 1e3 / config->efficiency;
        total += g->times * (us + config->group_us);
    }
    return total;
}

/* ---- schedule --------------------------------------------------------------------------- */

/* How long the work of DURATION_NS that begins at START_NS takes when the device pauses
 * at the beginning of each period. */
static uint64_t with_pauses(const sim_config *c, uint64_t start_ns, uint64_t duration_ns)
{
    uint64_t period = sim_us_to_ns(c->interference_period_us),
             pause = sim_us_to_ns(c->interference_us);
    if (period == 0 || pause == 0 || pause >= period)
        return duration_ns;
    uint64_t at = start_ns % period, taken = 0, left = duration_ns;
    if (at < pause) {
        taken = pause - at;
        at = pause;
    }
    while (left > period - at) {
        left -= period - at;
        taken += period - at + pause;
        at = pause;
    }
    return taken + left;
}

sim_span sim_device_schedule(PJRT_Device *device, double device_us, uint64_t launched_ns,
                             uint64_t inputs_ns)
{
    const sim_config *c = &device->client->config;
    double us = device_us * (1 + c->drift * (double)device->executions++ / 1000);
    /* One draw of each, used or not, so that settings do not shift the sequences. */
    double normal = sim_random_normal(&device->random),
           uniform = sim_random_uniform(&device->random);
    us *= exp(c->jitter * normal);
    if (uniform < c->outlier_rate)
        us *= c->outlier_factor;
    uint64_t start = launched_ns;
    if (start < device->free_ns)
        start = device->free_ns;
    if (start < inputs_ns)
        start = inputs_ns;
    device->free_ns = start + with_pauses(c, start, sim_us_to_ns(us));
    return (sim_span){start, device->free_ns};
}

uint64_t sim_transfer_schedule(PJRT_Client *client, uint64_t *free_ns, uint64_t from_ns,
                               int64_t bytes, double gbps)
{
    uint64_t start = from_ns > *free_ns ? from_ns : *free_ns;
    *free_ns = start + sim_us_to_ns(client->config.transfer_us + (double)bytes / gbps / 1e3);
    return *free_ns;
}

/* ---- values ----------------------------------------------------------------------------- */

void sim_work_free(sim_work *work)
{
    if (!work)
        return;
    for (size_t i = 0; i < work->argument_count; i++)
        sim_memory_release(work->arguments[i]);
    for (size_t i = 0; i < work->result_count; i++)
        sim_memory_release(work->results[i]);
    if (work->executable)
        sim_executable_release(work->executable);
    sim_memory_release(work->from);
    sim_done_release(work->source);
    sim_done_release(work->done);
    free(work->arguments);
    free(work->results);
    free(work);
}

/* Another number than the right one, whatever the type. */
static void spoil(const sim_type *type, unsigned char *data)
{
    double d;
    float f;
    switch (type->dtype) {
    case SIM_F32:
    case SIM_C64:
        memcpy(&f, data, sizeof f);
        f = isfinite(f) ? f + 1 + fabsf(f) : 0;
        memcpy(data, &f, sizeof f);
        break;
    case SIM_F64:
    case SIM_C128:
        memcpy(&d, data, sizeof d);
        d = isfinite(d) ? d + 1 + fabs(d) : 0;
        memcpy(data, &d, sizeof d);
        break;
    case SIM_F16:
    case SIM_BF16:
        data[1] ^= 0xbf;
        break;
    default:
        data[0] ^= 1;
    }
}

/* The values of all arguments; false where one could not be computed. */
static bool gather(const sim_work *work, const void **inputs)
{
    bool good = true;
    for (size_t i = 0; i < work->argument_count; i++) {
        inputs[i] = work->arguments[i]->data;
        good = good && !work->arguments[i]->failed;
    }
    return good;
}

static void evaluate(sim_work *work, sim_status *st)
{
    const PJRT_Executable *x = work->executable;
    const sim_block *body = &x->program->main->body;
    const void *inputs[work->argument_count + 1];
    void *outputs[work->result_count + 1];
    bool room = true, good = gather(work, inputs);
    for (size_t i = 0; i < work->result_count; i++) {
        outputs[i] = calloc(1, (size_t)work->results[i]->bytes + 1);
        room = room && outputs[i];
    }
    if (!room)
        sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory on the host for values");
    else if (work->compute && !good)
        sim_fail(st, SIM_INTERNAL, "an argument's values could not be computed");
    else if (work->compute)
        sim_program_evaluate(x->program, inputs, outputs,
                             (double)work->done->client->config.evaluate_limit * LOOP_FACTOR, st);
    const sim_type *first = work->result_count ? &x->program->types[body->results[0]] : NULL;
    if (work->wrong && first && sim_type_elements(first) > 0 && outputs[0])
        spoil(first, outputs[0]);
    for (size_t i = 0; i < work->result_count; i++) {
        work->results[i]->data = outputs[i];
        work->results[i]->failed = st->code != SIM_OK;
    }
}

/* A source that another device computes is waited for: it was queued there before. */
static void copy_out(sim_work *work, sim_status *st)
{
    PJRT_Client *client = work->done->client;
    pthread_mutex_lock(&client->lock);
    while (!atomic_load(&work->source->settled))
        pthread_cond_wait(&client->settled, &client->lock);
    pthread_mutex_unlock(&client->lock);
    *st = work->source->error;
    if (work->result_count > 0)
        sim_memory_copy(work->results[0], work->from, st);
    else if (work->from->data)
        memcpy(work->to, work->from->data, (size_t)work->from->bytes);
    else
        memset(work->to, 0, (size_t)work->from->bytes);
}

/* Without the lock. */
static void perform(sim_work *work)
{
    sim_status st = {.code = SIM_OK};
    if (work->executable)
        evaluate(work, &st);
    else
        copy_out(work, &st);
    PJRT_Client *client = work->done->client;
    pthread_mutex_lock(&client->lock);
    uint64_t now = sim_now_ns();
    if (work->done->ready_ns < now) {
        work->done->ready_ns = now;
        client->late_values++;
    }
    if (work->done->error.code == SIM_OK)
        work->done->error = st;
    atomic_store_explicit(&work->done->settled, true, memory_order_release);
    pthread_cond_broadcast(&client->settled);
    pthread_mutex_unlock(&client->lock);
    sim_work_free(work);
}

/* ---- the thread ------------------------------------------------------------------------- */

void sim_device_submit(PJRT_Device *device, sim_work *work)
{
    work->next = NULL;
    if (device->last)
        device->last->next = work;
    else
        device->first = work;
    device->last = work;
    pthread_cond_signal(&device->wake);
}

void sim_device_call_back(PJRT_Device *device, sim_callback *callback)
{
    sim_callback **at = &device->callbacks;
    while (*at && (*at)->done->ready_ns <= callback->done->ready_ns)
        at = &(*at)->next;
    callback->next = *at;
    *at = callback;
    pthread_cond_signal(&device->wake);
}

/* The first callback whose event has fired, taken out; else *WHEN is when to look
 * again. */
static sim_callback *callback_due(PJRT_Device *device, uint64_t *when)
{
    *when = SIM_NEVER;
    uint64_t now = sim_now_ns();
    for (sim_callback **at = &device->callbacks; *at; at = &(*at)->next) {
        sim_callback *callback = *at;
        bool settled = atomic_load(&callback->done->settled);
        if (settled && callback->done->ready_ns <= now) {
            *at = callback->next;
            return callback;
        }
        uint64_t then = settled ? callback->done->ready_ns : now + 1000000;
        if (then < *when)
            *when = then;
    }
    return NULL;
}

static void wait_for_work(PJRT_Device *device, uint64_t when)
{
    struct timespec at = {(time_t)(when / UINT64_C(1000000000)),
                          (long)(when % UINT64_C(1000000000))};
    if (when == SIM_NEVER)
        pthread_cond_wait(&device->wake, &device->client->lock);
    else
        pthread_cond_timedwait(&device->wake, &device->client->lock, &at);
}

static void *run(void *argument)
{
    PJRT_Device *device = argument;
    PJRT_Client *client = device->client;
    pthread_mutex_lock(&client->lock);
    while (true) {
        uint64_t when = SIM_NEVER;
        sim_callback *callback = callback_due(device, &when);
        sim_work *work = callback ? NULL : device->first;
        if (work) {
            device->first = work->next;
            device->last = work->next ? device->last : NULL;
            pthread_mutex_unlock(&client->lock);
            perform(work);
            pthread_mutex_lock(&client->lock);
        } else if (callback) {
            pthread_mutex_unlock(&client->lock);
            callback->call(sim_error_new(&callback->done->error), callback->argument);
            sim_done_release(callback->done);
            free(callback);
            pthread_mutex_lock(&client->lock);
        } else if (device->stop && when == SIM_NEVER) {
            break;
        } else {
            wait_for_work(device, when);
        }
    }
    pthread_mutex_unlock(&client->lock);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------- */

void sim_description_fill(PJRT_DeviceDescription *d, const sim_config *config, int id)
{
    d->id = id;
    snprintf(d->kind, sizeof d->kind, "%s", config->kind);
    snprintf(d->text, sizeof d->text, "%s %d", d->kind, id);
    /* JAX knows no truth values here. */
    d->attributes[0] = (PJRT_NamedValue){SIM_NAMED("simulated", kInt64, 1), .int64_value = 1};
    d->attributes[1] = (PJRT_NamedValue){SIM_NAMED("preset", kString, strlen(config->preset)),
                                         .string_value = config->preset};
    d->attributes[2] = (PJRT_NamedValue){SIM_NAMED("memory_bytes", kInt64, 1),
                                         .int64_value = config->memory_bytes};
}

bool sim_device_start(PJRT_Device *device, PJRT_Client *client, int id)
{
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&device->wake, &clock);
    pthread_condattr_destroy(&clock);
    device->client = client;
    device->memory.id = id;
    device->memory.device = device;
    device->memories[0] = &device->memory;
    device->random.state = (uint64_t)client->config.seed * 1000003u + (uint64_t)id;
    device->host_random.state = ~device->random.state;
    device->next_address = 0x100000000u;
    sim_description_fill(&device->description, &client->config, id);
    snprintf(device->memory.text, sizeof device->memory.text, "memory of device %d", id);
    device->started = pthread_create(&device->thread, NULL, run, device) == 0;
    return device->started;
}

/* What is queued is finished first; callbacks of events that never fire are dropped. */
void sim_device_stop(PJRT_Device *device)
{
    if (!device->started)
        return;
    pthread_mutex_lock(&device->client->lock);
    device->stop = true;
    pthread_cond_signal(&device->wake);
    pthread_mutex_unlock(&device->client->lock);
    pthread_join(device->thread, NULL);
    while (device->callbacks) {
        sim_callback *callback = device->callbacks;
        device->callbacks = callback->next;
        sim_done_release(callback->done);
        free(callback);
    }
    pthread_cond_destroy(&device->wake);
}
