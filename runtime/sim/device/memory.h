/*
 * memory.h - memory of a simulated device: its accounting, and layouts of values in it and on the
 * host.
 *
 * Addresses are those of a device that never gives the same one twice. They are
 * reported so that donation can be seen, and must not be followed.
 */
#ifndef BENCH_RUNTIME_SIM_DEVICE_MEMORY_H
#define BENCH_RUNTIME_SIM_DEVICE_MEMORY_H

#include "runtime/sim/device/api.h"
#include "runtime/sim/program/program.h"

#include <stdatomic.h>

/* The result of one transfer or execution in a device's memory. DATA is written once, by
 * the device's thread or before anyone else sees it; NULL: zeros. A result that takes
 * over a donated argument's memory is another sim_memory at the same address, so what
 * is queued still finds the argument as it was. */
typedef struct sim_memory {
    atomic_int references;
    PJRT_Device *device;
    int64_t bytes;
    bool counted;      /* in the device's bytes in use; under the lock */
    uintptr_t address; /* in the simulated device */
    unsigned char *data;
    bool uncomputed; /* its program was not evaluated: it has no values */
    bool failed;     /* evaluating it failed; of the device's thread */
} sim_memory;

/* SIM_RESOURCE_EXHAUSTED with the sizes when BYTES, with EXTRA_BYTES needed besides,
 * do not fit; WHAT they are for. Under the lock. */
sim_code sim_memory_fits(const PJRT_Device *device, int64_t bytes, int64_t extra_bytes,
                         const char *what, sim_status *st);
/* Memory at a new address, which counts at once; one reference. Under the lock. */
sim_memory *sim_memory_new(PJRT_Device *device, int64_t bytes);
/* Memory at the address of OLD. It is counted instead of OLD once sim_memory_take_over was called.
 * Under the lock. */
sim_memory *sim_memory_alias(const sim_memory *old);
void sim_memory_take_over(sim_memory *memory, sim_memory *old);
sim_memory *sim_memory_retain(sim_memory *memory);
void sim_memory_release(sim_memory *memory); /* not under the lock; NULL allowed */
/* Releases a buffer's memory. The bytes are free at once, even if queued work still refers to them,
 * so that memory figures do not depend on how fast values are computed. Not under the lock. */
void sim_memory_drop(sim_memory *memory);

/* ---- values ----------------------------------------------------------------------------- */

/* The values of FROM, which are there, into the new memory TO. */
sim_code sim_memory_copy(sim_memory *to, const sim_memory *from, sim_status *st);
/* Dense row-major values of TYPE from the host's DATA, whose elements lie STRIDES bytes
 * apart in each dimension; NULL: dense. */
void sim_host_read(unsigned char *to, const void *data, const sim_type *type,
                   const int64_t *strides);
/* The other way round: FROM, dense row-major, to the host's TO, where it lies by LAYOUT. */
void sim_host_write(void *to, const unsigned char *from, const sim_type *type,
                    const sim_layout *layout);

#endif
