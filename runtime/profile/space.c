/*
 * space.c - a profile's message, and what its planes have.
 */
#include "runtime/profile/profile_priv.h"

#include <stdlib.h>

/* A message of 12 bytes, an event of a device, takes 80 bytes of memory and the place of a pointer,
 * and a list that grows is asked for twice over. Programs within profiles are read, too. */
#define COST_OF_A_BYTE 48
#define COST_OF_ANY    ((uint64_t)16 << 20)
#define MOST_COST      ((uint64_t)8 << 30)

static void *give(void *data, size_t size)
{
    rt_xspace *x = data;
    if (size > x->left) {
        x->refused = true;
        return NULL;
    }
    x->left -= size;
    void *memory = malloc(size);
    x->no_memory = x->no_memory || !memory;
    return memory;
}

static void take_back(void *data, void *memory)
{
    (void)data;
    free(memory);
}

bn_code rt_xspace_unpack(const void *xspace, size_t size, rt_xspace *x, bn_status *st)
{
    const uint8_t *bytes = xspace;
    *x = (rt_xspace){.allocator = {give, take_back, x}, .left = MOST_COST};
    if (size < (MOST_COST - COST_OF_ANY) / COST_OF_A_BYTE)
        x->left = COST_OF_ANY + COST_OF_A_BYTE * size;
    x->space = bench__trace__space__unpack(&x->allocator, size, bytes);
    /* The last field of a message may well end in a zero: only one that cannot be read with it had
     * one too many. */
    if (!x->space && !x->refused && !x->no_memory && size > 0 && bytes[size - 1] == 0)
        x->space = bench__trace__space__unpack(&x->allocator, size - 1, bytes);
    if (x->space)
        return BN_OK;
    if (x->no_memory)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a profile of %zu bytes", size);
    return bn_fail(st, BN_FORMAT,
                   x->refused ? "a profile of %zu bytes that takes too much memory"
                              : "the profile is not an XSpace message (%zu bytes)",
                   size);
}

void rt_xspace_free(rt_xspace *x)
{
    if (x->space)
        bench__trace__space__free_unpacked(x->space, &x->allocator);
    x->space = NULL;
}

bool rt_xspace_is_device(const Bench__Trace__Plane *plane)
{
    return strncmp(plane->name, "/device:", 8) == 0;
}

bool rt_xspace_has_line(const Bench__Trace__Plane *plane, const char *name)
{
    for (size_t i = 0; i < plane->n_lines; i++)
        if (strcmp(plane->lines[i]->name, name) == 0)
            return true;
    return false;
}

int64_t rt_xspace_stat_id(const Bench__Trace__Plane *plane, const char *name)
{
    for (size_t i = 0; i < plane->n_stat_names; i++)
        if (plane->stat_names[i]->value && strcmp(plane->stat_names[i]->value->name, name) == 0)
            return plane->stat_names[i]->id;
    return RT_NO_STAT;
}
