/* buffer.h - buffers: typed values in a device's memory. */
#ifndef BENCH_RUNTIME_SIM_BUFFER_H
#define BENCH_RUNTIME_SIM_BUFFER_H

#include "runtime/sim/device/event.h"
#include "runtime/sim/device/memory.h"

struct PJRT_Buffer {
    sim_type type;
    sim_layout layout;           /* as it was asked for; the values are kept by rows all the same */
    int64_t order[SIM_MAX_RANK]; /* as PJRT has it */
    PJRT_Device *device;
    sim_memory *memory; /* NULL once donated or deleted */
    sim_done *done;     /* its contents are there */
    uint64_t used_in;   /* the last execution that took it, and whether it is donated there */
    bool donated;
};

/* A buffer with references of its own to MEMORY and DONE; NULL without memory. */
PJRT_Buffer *sim_buffer_new(const sim_type *type, const sim_layout *layout, PJRT_Device *device,
                            sim_memory *memory, sim_done *done);
void sim_buffer_free(PJRT_Buffer *buffer); /* not under the lock; NULL allowed */

#endif
