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

/* ---- space.c ---- */

/* For rt__profile__space__free_unpacked; NULL where the bytes are not an XSpace. XLA's plugins say
 * one byte more than they wrote, a zero, which begins no field (plugin_tracer_impl.cc of
 * openxla/xla): it is left out. */
Rt__Profile__Space *rt_xspace_unpack(const void *xspace, size_t size, bn_status *st);
/* A device's plane, whose name begins with "/device:". */
bool rt_xspace_is_device(const Rt__Profile__Plane *plane);
bool rt_xspace_has_line(const Rt__Profile__Plane *plane, const char *name);
/* The number of the statistic NAME on PLANE; RT_NO_STAT: it has none such. */
#define RT_NO_STAT (-1)
int64_t rt_xspace_stat_id(const Rt__Profile__Plane *plane, const char *name);

/* ---- kernels.c ---- */

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
