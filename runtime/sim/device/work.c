/* work.c - what a device's thread does: it computes values, or copies them. */
#include "runtime/sim/device/work.h"

#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/evaluate/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Loops may cost this many times the limit before they are taken for endless. */
#define LOOP_FACTOR 100

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

/* Changes the first number, whatever its type. */
static void spoil(const sim_type *type, unsigned char *data)
{
    double d;
    float f;
    switch (type->dtype) {
    case BN_F32:
    case BN_C64:
        memcpy(&f, data, sizeof f);
        f = isfinite(f) ? f + 1 + fabsf(f) : 0;
        memcpy(data, &f, sizeof f);
        break;
    case BN_F64:
    case BN_C128:
        memcpy(&d, data, sizeof d);
        d = isfinite(d) ? d + 1 + fabs(d) : 0;
        memcpy(data, &d, sizeof d);
        break;
    case BN_F16:
    case BN_BF16:
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

/* Waits for the source, which another device may compute. It was queued there before, so it
 * ends. */
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
        sim_host_write(work->to, work->from->data, &work->type, &work->layout);
    else
        memset(work->to, 0, (size_t)work->from->bytes);
}

void sim_work_perform(sim_work *work)
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
