/*
 * space.c - a profile's message, and what its planes have.
 */
#include "runtime/profile/profile_priv.h"

Rt__Profile__Space *rt_xspace_unpack(const void *xspace, size_t size, bn_status *st)
{
    const uint8_t *bytes = xspace;
    Rt__Profile__Space *space = rt__profile__space__unpack(NULL, size, bytes);
    /* The last field of a message may well end in a zero: only one that cannot be read with it had
     * one too many. */
    if (!space && size > 0 && bytes[size - 1] == 0)
        space = rt__profile__space__unpack(NULL, size - 1, bytes);
    if (!space)
        bn_fail(st, BN_FORMAT, "the profile is not an XSpace message (%zu bytes)", size);
    return space;
}

bool rt_xspace_is_device(const Rt__Profile__Plane *plane)
{
    return strncmp(plane->name, "/device:", 8) == 0;
}

bool rt_xspace_has_line(const Rt__Profile__Plane *plane, const char *name)
{
    for (size_t i = 0; i < plane->n_lines; i++)
        if (strcmp(plane->lines[i]->name, name) == 0)
            return true;
    return false;
}

int64_t rt_xspace_stat_id(const Rt__Profile__Plane *plane, const char *name)
{
    for (size_t i = 0; i < plane->n_stat_names; i++)
        if (plane->stat_names[i]->value && strcmp(plane->stat_names[i]->value->name, name) == 0)
            return plane->stat_names[i]->id;
    return RT_NO_STAT;
}
