/*
 * traces.h - timelines as files of other tools: Chrome's trace events (Perfetto, chrome://tracing)
 * and XSpace (xprof, TensorBoard). Prefix res_trace, res_xspace.
 */
#ifndef BENCH_RESULTS_TRACES_H
#define BENCH_RESULTS_TRACES_H

#include <jansson.h>

#include "runtime/base/base.h"

/* ---- Chrome's trace event format (chrome.c) -------------------------------------------
 * Source: "Trace Event Format" (N. Duca, D. Sinclair). Times are microseconds, here with three
 * digits behind the point: nanoseconds. */

/* A trace that is being written, to a file or, without one, to TEXT alone. The first failure sticks
 * in CODE, and later calls do nothing. */
typedef struct res_trace {
    bn_writer *writer; /* NULL: TEXT keeps all */
    bn_text text;
    uint64_t from_ns; /* times count from here */
    bool some;        /* an event was written */
    /* NULL: events are written; else it gets the slices. */
    struct res_space *space;
    bn_code code;
    bn_status *st;
} res_trace;

/* Whether a timeline in PATH is an XSpace message: it ends in .pb. */
bool res_trace_is_space(const char *path);
/* Makes TRACE, before its head, an XSpace message: of events it gets the slices, without what
 * callers append to them, and of processes those that have a plane. */
void res_trace_into_space(res_trace *trace);
/* In an XSpace message the lanes of PROCESS lie in PLANE, which is static. There are eight
 * processes at most. */
void res_trace_plane(res_trace *trace, uint64_t process, const char *plane);
/* In an XSpace message the last slice is the step NUMBER. */
void res_trace_number(res_trace *trace, uint64_t number);
/* TEXT as a JSON string, for free. */
char *res_trace_quote(const char *text);
/* All before the first event. Steals OTHER, an object that describes the trace. */
void res_trace_head(res_trace *trace, json_t *other);
/* An event of KIND on LANE of PROCESS at AT_NS, but for further members and its end "}", which the
 * caller appends to TEXT. NAME is quoted. */
void res_trace_event(res_trace *trace, const char *name, char kind, uint64_t process, uint64_t lane,
                     uint64_t at_ns);
/* Adds a slice, an event with a duration (kind X). */
void res_trace_slice(res_trace *trace, const char *name, uint64_t process, uint64_t lane,
                     uint64_t begin_ns, uint64_t end_ns);
/* A flow called "dispatch" leaves the slice at AT_NS on LANE, or comes to it. Both ends have ID. */
void res_trace_flow(res_trace *trace, bool arrives, uint64_t process, uint64_t lane, uint64_t at_ns,
                    uint64_t id);
/* The name of a process, or of one of its lanes: WHAT is process_name or thread_name. */
void res_trace_name(res_trace *trace, const char *what, uint64_t process, uint64_t lane,
                    const char *name);
/* All behind the last event, and to the file. */
void res_trace_tail(res_trace *trace);
/* Releases all but the writer. */
void res_trace_free(res_trace *trace);

/* ---- timelines of runs (run_trace.c, run_xspace.c) ----------------------------------------- */

/* Spans in one file at most; it counts the rows that were left out. */
#define RES_TRACE_MOST_SPANS 2000000

/*
 * Writes the COUNT timelines ROWS to PATH, a row a process: as XSpace where PATH ends in .pb, else
 * as Chrome's trace events. Times count from the first span. A file that is there is an error
 * without REPLACE. *LEFT_OUT (may be NULL): rows without room in it.
 */
BN_MUST_USE bn_code res_trace_write_run(bn_timeline *const *rows, size_t count, const char *path,
                                        bool replace, size_t *left_out, bn_status *st);

#endif
