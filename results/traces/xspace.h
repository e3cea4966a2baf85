/*
 * xspace.h - an XSpace message (xspace.proto), built piece by piece in an arena. A line's times are
 * offsets in picoseconds, in which a time of day since 1970 overflows: so lines begin at zero.
 */
#ifndef BENCH_RESULTS_XSPACE_H
#define BENCH_RESULTS_XSPACE_H

#include "runtime/base/base.h"
#include "runtime/wire/xspace.pb-c.h"

/* The memory of a message being built. */
typedef struct res_xspace {
    bn_arena *memory;
} res_xspace;

/* Zeros for COUNT items. */
void *res_xspace_take(res_xspace *b, size_t count, size_t size);
/* Adds ID with NAME to the COUNT entries of a plane's map, which has room. */
void res_xspace_add_name(res_xspace *b, Bench__Trace__NameEntry **entries, size_t *count,
                         int64_t id, const char *name);
/* A stat without a value. */
Bench__Trace__Stat *res_xspace_make_stat(res_xspace *b, int64_t name);
/* A plane with room for so many lines, names of events and stats. */
Bench__Trace__Plane *res_xspace_make_plane(res_xspace *b, int64_t id, const char *name,
                                           size_t lines, size_t events, size_t stats);
/* Adds a line to the plane, with room for MOST events. */
Bench__Trace__Line *res_xspace_add_line(res_xspace *b, Bench__Trace__Plane *plane, const char *name,
                                        size_t most);
/* Adds an event, without stats. */
Bench__Trace__Event *res_xspace_add_event(res_xspace *b, Bench__Trace__Line *line, size_t name,
                                          uint64_t start_ns, uint64_t duration_ns);
/* Gives EVENT the one stat NAME with VALUE. */
void res_xspace_set_stat(res_xspace *b, Bench__Trace__Event *event, int64_t name, int64_t value);
/* Appends the message's bytes to OUT. */
void res_xspace_pack(const Bench__Trace__Space *space, bn_text *out);

#endif
