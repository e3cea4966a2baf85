/*
 * schedule.c - when things run: how long a program takes by the model, and its place behind
 * what is queued before it.
 */
#include "runtime/sim/device/schedule.h"

#include "runtime/sim/device/client.h"
#include "runtime/sim/device/clock.h"
#include "runtime/sim/device/device.h"

#include <math.h>

/* ---- the model -------------------------------------------------------------------------- */

/* Roofline (Williams, Waterman, Patterson, CACM 52(4), 2009). */
double sim_group_us(const sim_config *config, const sim_group *g)
{
    const double rates[SIM_RATE_COUNT] = {
        [SIM_RATE_F64] = config->f64_gflops,
        [SIM_RATE_F32] = config->f32_gflops,
        [SIM_RATE_16] = config->f16_gflops,
        [SIM_RATE_INT] = config->int_gops,
    };
    double compute = 0; /* in units of 1e9 */
    for (int r = 0; r < SIM_RATE_COUNT; r++)
        compute += g->matrix_flops[r] / rates[r] + g->vector_flops[r] / config->vector_gflops;
    double memory = g->bytes / config->memory_gbps;
    double us = (compute > memory ? compute : memory) / 1e3 / config->efficiency;
    return g->times * (us + config->group_us);
}

double sim_model_us(const sim_config *config, const sim_cost *cost)
{
    double total = 0;
    for (size_t i = 0; i < cost->group_count; i++)
        total += sim_group_us(config, &cost->groups[i]);
    return total;
}

/* ---- schedule --------------------------------------------------------------------------- */

/* Duration of DURATION_NS of work from START_NS on, where the device pauses at the beginning of
 * each period. */
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

/* Device work, in nanoseconds, until the next burst: bursts are a Poisson process. */
static uint64_t draw_burst(PJRT_Device *device)
{
    const double gap = sim_random_exponential(&device->random[SIM_STREAM_BURSTS]);
    return sim_us_to_ns(gap * 1e6 / device->client->config.burst_rate);
}

/* Duration of DURATION_NS of work with the bursts that interrupt it. A scheduler preempts threads
 * that have used the core for long, so the rate of bursts is one of the work done, not of elapsed
 * time. */
static uint64_t with_bursts(PJRT_Device *device, uint64_t duration_ns)
{
    const sim_config *c = &device->client->config;
    uint64_t taken = duration_ns, left = duration_ns;
    if (c->burst_rate <= 0)
        return duration_ns;
    while (left > device->until_burst_ns) {
        left -= device->until_burst_ns;
        taken += sim_us_to_ns(c->burst_us);
        device->until_burst_ns = draw_burst(device);
    }
    device->until_burst_ns -= left;
    return taken;
}

/* Logarithm of the factor that wanders: an autoregressive process of first order, whose deviation
 * is wander_sd from its first value on. */
static double draw_wander(PJRT_Device *device)
{
    const sim_config *c = &device->client->config;
    const double kept = exp(-1 / c->wander_executions);
    const double fresh = sim_random_normal(&device->random[SIM_STREAM_WANDER]);
    device->wander = kept * device->wander + c->wander_sd * sqrt(1 - kept * kept) * fresh;
    return device->wander;
}

void sim_schedule_begin(PJRT_Device *device)
{
    const sim_config *c = &device->client->config;
    device->wander = c->wander_sd * sim_random_normal(&device->random[SIM_STREAM_WANDER]);
    if (c->burst_rate > 0)
        device->until_burst_ns = draw_burst(device);
}

sim_span sim_device_schedule(PJRT_Device *device, double device_us, uint64_t launched_ns,
                             uint64_t inputs_ns)
{
    const sim_config *c = &device->client->config;
    double us = device_us * (1 + c->drift * (double)device->executions++ / 1000);
    /* One draw of each, used or not, so that settings do not shift the sequences. */
    double normal = sim_random_normal(&device->random[SIM_STREAM_TIMES]),
           uniform = sim_random_uniform(&device->random[SIM_STREAM_TIMES]);
    us *= device->client->process_factor * exp(draw_wander(device) + c->jitter * normal);
    if (uniform < c->outlier_rate)
        us *= c->outlier_factor;
    uint64_t start = launched_ns;
    if (start < device->free_ns)
        start = device->free_ns;
    if (start < inputs_ns)
        start = inputs_ns;
    device->free_ns = start + with_pauses(c, start, with_bursts(device, sim_us_to_ns(us)));
    return (sim_span){start, device->free_ns};
}

uint64_t sim_transfer_schedule(PJRT_Client *client, uint64_t *free_ns, uint64_t from_ns,
                               int64_t bytes, double gbps)
{
    uint64_t start = from_ns > *free_ns ? from_ns : *free_ns;
    *free_ns = start + sim_us_to_ns(client->config.transfer_us + (double)bytes / gbps / 1e3);
    return *free_ns;
}
