/*
 * profile_priv.h - for the files of this folder.
 */
#ifndef RUNTIME_PROFILE_PROFILE_PRIV_H
#define RUNTIME_PROFILE_PROFILE_PRIV_H

#include "runtime/profile/hlo_names.pb-c.h"
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

/* ---- places.c ---- */

/* An instruction of a program that a profile carries. */
typedef struct rt_place {
    const char *program; /* with its number, "jit_step(7)" */
    const char *instruction;
    const char *op; /* what loc("...") said */
} rt_place;

typedef struct rt_places {
    rt_place *list; /* in order */
    size_t count, room;
    Rt__Profile__Program **messages; /* which the texts are of */
    size_t message_count, message_room;
} rt_places;

/* SPACE must outlive PLACES. False without memory. Release with rt_xspace_places_free, also then.
 */
BN_MUST_USE bool rt_xspace_places_make(const Rt__Profile__Space *space, rt_places *places);
void rt_xspace_places_free(rt_places *places);
/* The op of INSTRUCTION in the program MODULE with NUMBER; "" where it is not told. */
const char *rt_xspace_place(const rt_places *places, const char *module, int64_t number,
                            const char *instruction);

#endif
