/* memory.c - accounting of a device's memory, and layouts of values there and on the host. */
#include "runtime/sim/device/memory.h"

#include "runtime/base/base.h"
#include "runtime/sim/device/client.h"
#include "runtime/sim/device/device.h"

#include <stdlib.h>
#include <string.h>

/* Addresses are rounded to this. */
#define ALIGNMENT 512

/* ---- accounts --------------------------------------------------------------------------- */

sim_code sim_memory_fits(const PJRT_Device *device, int64_t bytes, int64_t extra_bytes,
                         const char *what, sim_status *st)
{
    int64_t limit = device->client->config.memory_bytes;
    if (bytes <= limit - device->bytes_in_use - extra_bytes)
        return SIM_OK;
    return sim_fail(st, SIM_RESOURCE_EXHAUSTED,
                    "out of device memory: %s of %lld bytes and %lld bytes of temporaries do not "
                    "fit, %lld of %lld bytes are in use",
                    what, (long long)bytes, (long long)extra_bytes, (long long)device->bytes_in_use,
                    (long long)limit);
}

sim_memory *sim_memory_new(PJRT_Device *device, int64_t bytes)
{
    sim_memory *memory = bn_zalloc(1, sizeof *memory);
    atomic_init(&memory->references, 1);
    memory->device = device;
    memory->bytes = bytes;
    memory->counted = true;
    memory->address = device->next_address;
    device->next_address += ((uintptr_t)bytes / ALIGNMENT + 1) * ALIGNMENT;
    device->bytes_in_use += bytes;
    if (device->bytes_in_use > device->peak_bytes)
        device->peak_bytes = device->bytes_in_use;
    return memory;
}

sim_memory *sim_memory_alias(const sim_memory *old)
{
    sim_memory *memory = bn_zalloc(1, sizeof *memory);
    atomic_init(&memory->references, 1);
    memory->device = old->device;
    memory->bytes = old->bytes;
    memory->address = old->address;
    return memory;
}

void sim_memory_take_over(sim_memory *memory, sim_memory *old)
{
    old->counted = false;
    memory->counted = true;
}

sim_memory *sim_memory_retain(sim_memory *memory)
{
    atomic_fetch_add(&memory->references, 1);
    return memory;
}

static void uncount(sim_memory *memory)
{
    pthread_mutex_lock(&memory->device->client->lock);
    memory->device->bytes_in_use -= memory->counted ? memory->bytes : 0;
    memory->counted = false;
    pthread_mutex_unlock(&memory->device->client->lock);
}

void sim_memory_release(sim_memory *memory)
{
    if (!memory || atomic_fetch_sub(&memory->references, 1) != 1)
        return;
    uncount(memory);
    free(memory->data);
    free(memory);
}

void sim_memory_drop(sim_memory *memory)
{
    if (memory)
        uncount(memory);
    sim_memory_release(memory);
}

/* ---- values ----------------------------------------------------------------------------- */

sim_code sim_memory_copy(sim_memory *to, const sim_memory *from, sim_status *st)
{
    to->failed = from->failed;
    if (!from->data)
        return SIM_OK;
    to->data = malloc((size_t)from->bytes + 1);
    if (!to->data) {
        to->failed = true;
        return sim_fail(st, SIM_RESOURCE_EXHAUSTED, "no memory on the host for a copy");
    }
    memcpy(to->data, from->data, (size_t)from->bytes);
    return SIM_OK;
}

static bool is_dense(const sim_type *type, const int64_t *strides)
{
    int64_t dense = (int64_t)bn_dtype_bytes(type->dtype);
    for (int d = type->rank - 1; d >= 0; d--) {
        if (type->dims[d] > 1 && strides[d] != dense)
            return false;
        dense *= type->dims[d];
    }
    return true;
}

void sim_host_read(unsigned char *to, const void *data, const sim_type *type,
                   const int64_t *strides)
{
    const unsigned char *from = data;
    size_t size = bn_dtype_bytes(type->dtype);
    int64_t at[SIM_MAX_RANK] = {0}, elements = sim_type_elements(type);
    if (!strides || elements == 0 || is_dense(type, strides)) {
        memcpy(to, from, (size_t)elements * size);
        return;
    }
    for (int64_t i = 0; i < elements; i++, to += size) {
        memcpy(to, from, size);
        /* To the next element, as an odometer counts. */
        for (int d = type->rank - 1; d >= 0; d--) {
            from += strides[d];
            if (++at[d] < type->dims[d])
                break;
            from -= strides[d] * at[d];
            at[d] = 0;
        }
    }
}

void sim_host_write(void *to, const unsigned char *from, const sim_type *type,
                    const sim_layout *layout)
{
    size_t size = bn_dtype_bytes(type->dtype), offset = 0;
    int64_t strides[SIM_MAX_RANK], at[SIM_MAX_RANK] = {0}, elements = sim_type_elements(type);
    int64_t stride = 1;
    for (int i = 0; i < layout->rank; i++) {
        strides[layout->order[i]] = stride;
        stride *= type->dims[layout->order[i]];
    }
    if (layout->rank == 0 || elements == 0) {
        memcpy(to, from, (size_t)elements * size);
        return;
    }
    for (int64_t i = 0; i < elements; i++, from += size) {
        memcpy((unsigned char *)to + offset * size, from, size);
        for (int d = type->rank - 1; d >= 0; d--) {
            offset += (size_t)strides[d];
            if (++at[d] < type->dims[d])
                break;
            offset -= (size_t)(strides[d] * at[d]);
            at[d] = 0;
        }
    }
}
