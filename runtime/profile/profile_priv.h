/*
 * profile_priv.h - for the files of this folder.
 */
#ifndef RUNTIME_PROFILE_PROFILE_PRIV_H
#define RUNTIME_PROFILE_PROFILE_PRIV_H

#include "runtime/profile/profile.h"
#include "runtime/wire/hlo.pb-c.h"
#include "runtime/wire/xspace.pb-c.h"

#include <string.h>

static inline uint64_t rt_xspace_unsigned(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

/* ---- space.c ---- */

/* A message that was read, and what reading it may still cost. Some foreign bytes take fifty times
 * their size in memory, and a message in many parts takes far longer to read. So all memory that is
 * ever asked for counts, also released memory. */
typedef struct rt_xspace {
    Bench__Trace__Space *space;
    ProtobufCAllocator allocator; /* its data is this struct, which must not move */
    uint64_t left;                /* bytes that may still be asked for */
    bool refused;                 /* more was asked for */
    bool no_memory;
} rt_xspace;

/* Reads SIZE bytes into X. XLA's plugins say one byte more than they wrote, a zero, which begins no
 * field (plugin_tracer_impl.cc of openxla/xla): it is left out. BN_FORMAT where the bytes are not
 * an XSpace, or take more memory than any profile of their size does; BN_OUT_OF_MEMORY. Release
 * with rt_xspace_free, also then. */
BN_MUST_USE bn_code rt_xspace_unpack(const void *xspace, size_t size, rt_xspace *x, bn_status *st);
void rt_xspace_free(rt_xspace *x);
/* A device's plane, whose name begins with "/device:". */
bool rt_xspace_is_device(const Bench__Trace__Plane *plane);
bool rt_xspace_has_line(const Bench__Trace__Plane *plane, const char *name);
/* The number of the statistic NAME on PLANE; RT_NO_STAT: it has none such. */
#define RT_NO_STAT (-1)
int64_t rt_xspace_stat_id(const Bench__Trace__Plane *plane, const char *name);

/* ---- names.c ---- */

/* A name longer than any that a compiler makes is none: to compare many such takes for ever. */
#define RT_LONGEST_NAME 4096
static inline bool rt_name_fits(const char *name)
{
    return memchr(name, '\0', RT_LONGEST_NAME + 1) != NULL;
}

typedef struct rt_name {
    int64_t id;
    const char *name;
} rt_name;

/* Names of a plane by their numbers. The texts are the message's. */
typedef struct rt_names {
    rt_name *list; /* by number */
    size_t count, room;
} rt_names;

/* The names of COUNT ENTRIES, of a plane's events or statistics, replace those in NAMES. False
 * without memory. */
BN_MUST_USE bool rt_xspace_names_make(rt_names *names, Bench__Trace__NameEntry *const *entries,
                                      size_t count);
void rt_xspace_names_free(rt_names *names);
/* "" where there is none. */
const char *rt_xspace_names_find(const rt_names *names, int64_t id);
/* The text of STAT, its own or that of the statistic's name it refers to; "" if it has none. */
const char *rt_xspace_names_text(const rt_names *stats, const Bench__Trace__Stat *stat);
/* As strcmp, at once where both are one text. */
static inline int rt_names_compare(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

/* ---- kernels.c ---- */

/* Executions of SPACE by their kernels, on device planes without a line "XLA Modules", behind what
 * the array SPANS has. */
BN_MUST_USE bn_code rt_xspace_kernel_spans(const Bench__Trace__Space *space, rt_device_span **spans,
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
    Hlo__Wire__Configured **messages; /* which the texts are of */
    size_t message_count, message_room;
} rt_places;

/* X must outlive PLACES. False without memory, or where X may take no more of it. Release with
 * rt_xspace_places_free, also then. */
BN_MUST_USE bool rt_xspace_places_make(rt_xspace *x, rt_places *places);
void rt_xspace_places_free(rt_xspace *x, rt_places *places);
/* The op of INSTRUCTION in the program MODULE with NUMBER; "" if unknown. */
const char *rt_xspace_place(const rt_places *places, const char *module, int64_t number,
                            const char *instruction);

#endif
