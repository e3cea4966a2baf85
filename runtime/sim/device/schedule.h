/* schedule.h - how long programs take by the model, and when a device runs what. */
#ifndef BENCH_RUNTIME_SIM_SCHEDULE_H
#define BENCH_RUNTIME_SIM_SCHEDULE_H

#include "runtime/sim/cost/cost.h"
#include "runtime/sim/device/api.h"
#include "runtime/sim/device/config.h"

/* Microseconds that the roofline of CONFIG gives COST: a group takes the longer of its
 * arithmetic and its memory traffic, and GROUP_US. */
double sim_model_us(const sim_config *config, const sim_cost *cost);
/* GROUP's part of it, all of its runs. */
double sim_group_us(const sim_config *config, const sim_group *group);

typedef struct sim_span {
    uint64_t start_ns, end_ns;
} sim_span;

/* Draws where DEVICE's disturbances begin. Before any execution. */
void sim_schedule_begin(PJRT_Device *device);
/* Puts an execution of DEVICE_US usual microseconds into the device's schedule. The device
 * can begin at LAUNCHED_NS, once it is free, and once its inputs are there at INPUTS_NS.
 * Returns start and end, with the disturbances of the configuration. Under the lock. */
sim_span sim_device_schedule(PJRT_Device *device, double device_us, uint64_t launched_ns,
                             uint64_t inputs_ns);
/* The same for a transfer of BYTES that can begin at FROM_NS; *FREE_NS is when the
 * direction is free. Returns its end. Under the lock. */
uint64_t sim_transfer_schedule(PJRT_Client *client, uint64_t *free_ns, uint64_t from_ns,
                               int64_t bytes, double gbps);

#endif
