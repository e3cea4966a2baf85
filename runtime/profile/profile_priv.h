/*
 * profile_priv.h - for the files of this folder.
 */
#ifndef RUNTIME_PROFILE_PROFILE_PRIV_H
#define RUNTIME_PROFILE_PROFILE_PRIV_H

#include "runtime/profile/profile.h"
#include "runtime/profile/xspace.pb-c.h"

#include <string.h>

static inline uint64_t rt_xspace_unsigned(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* A device's plane, whose name begins with "/device:". */
static inline bool rt_xspace_is_device(const Rt__Profile__Plane *plane)
{
    return strncmp(plane->name, "/device:", 8) == 0;
}

/* Executions of SPACE by their kernels, on device planes without a line "XLA Modules", behind what
 * the array SPANS has. */
BN_MUST_USE bn_code rt_xspace_kernel_spans(const Rt__Profile__Space *space, rt_device_span **spans,
                                           size_t *count, bn_status *st);

#endif
