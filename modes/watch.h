/*
 * watch.h - notifications of what steps do, as it happens: graphs that traces were cut into, values
 * that were read, guards that failed, ops that the host computed. And the guards of what was
 * captured. For explanations: notifying takes time, so steps that are measured are not watched.
 */
#ifndef BENCH_MODES_WATCH_H
#define BENCH_MODES_WATCH_H

#include "modes/mode.h"
#include "runtime/graph/scopes.h"

/* A graph of a traced step. Replays notify of none. */
typedef struct mode_graph_event {
    const tg_graph *graph; /* until the step's end */
    const char *label;     /* as mode_execution has it */
    const char *text;      /* as it was lowered, also if an earlier trace was */
    size_t length;         /* of TEXT */
    bool anew;             /* compiled, or loaded from disk; else it was in memory */
    bool from_disk;
    uint64_t compile_ns;
} mode_graph_event;

/* Where something of a step happened. Strings live until the call returns, FILE forever. */
typedef struct mode_where {
    tg_place place;
    const char *scope; /* "": outside of all */
} mode_where;

typedef struct mode_read_event {
    mode_where where;
    tg_type type;
    const void *value; /* dense row-major */
    bool breaks;       /* it cut the graph: what was read had to be computed first */
} mode_read_event;

/* An op that the host computed. */
typedef struct mode_host_event {
    mode_where where;
    const char *op; /* static */
    tg_type in, out;
    uint64_t read_ns, compute_ns, send_ns; /* READ_NS includes the wait for what computes it */
    bool breaks;
} mode_host_event;

/* Why captures could not be replayed: the first guard that failed of the latest one. */
typedef enum mode_miss {
    MODE_MISS_CALL,    /* another function or context */
    MODE_MISS_STATICS, /* arguments of the host */
    MODE_MISS_TYPE,    /* of a variable */
    MODE_MISS_VALUE    /* a value was read that no branch is for */
} mode_miss;

typedef struct mode_miss_event {
    mode_miss miss;
    size_t guards;           /* that were checked, and held, before it */
    size_t offset;           /* STATICS: the first byte that differs */
    const void *was, *now;   /* STATICS: all bytes, as captured, as called */
    size_t was_bytes, bytes; /* of them */
    const tg_tensor *variable;
    tg_type type;                      /* TYPE: as captured */
    const struct mode_read_event *read; /* VALUE */
    size_t branches;                   /* VALUE: that the read had before */
} mode_miss_event;

/* Any may be NULL. They are called on the mode's thread, within its steps, and must not use the
 * mode. */
typedef struct mode_watcher {
    void *context;
    void (*graph)(void *context, const mode_graph_event *event);
    void (*read)(void *context, const mode_read_event *event);
    void (*host)(void *context, const mode_host_event *event);
    void (*miss)(void *context, const mode_miss_event *event);
} mode_watcher;

/* Notifies WATCHER, copied, from now on; NULL: nobody. Traces keep places while somebody watches
 * (tg_trace_keep_places), so their texts have them. */
void mode_watch(mode *m, const mode_watcher *watcher);

/* ---- guards ------------------------------------------------------------------------ */

/* Kinds of guards, in the order in which replays check them. */
typedef enum mode_guard_kind {
    MODE_GUARD_CALL,    /* the step's function and context */
    MODE_GUARD_STATICS, /* BYTES of arguments of the host; absent where there are none */
    MODE_GUARD_TYPE,    /* shape and dtype of a variable */
    MODE_GUARD_VALUE    /* what is read at a break, for which each value has a branch */
} mode_guard_kind;

typedef struct mode_guard_info {
    mode_guard_kind kind;
    size_t bytes;              /* STATICS, VALUE */
    const tg_tensor *variable; /* TYPE */
    tg_type type;              /* TYPE, VALUE */
    mode_where where;          /* VALUE; lives as long as the capture */
    size_t branches;           /* VALUE */
} mode_guard_info;

/* Guard INDEX of capture CAPTURE, the latest one first; false where there is none. */
bool mode_guard_describe(const mode *m, size_t capture, size_t index, mode_guard_info *info);

#endif
