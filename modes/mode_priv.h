/*
 * mode_priv.h - the engine under all modes.
 *
 *   engine.c    creation, variables' contents, the step's frame, the clock
 *   program.c   graph -> executable: memory cache, lowering, compiling
 *   disk.c      executables on disk
 *   dispatch.c  bind, execute, commit, release, wait; the probe
 *   eager.c lazy.c capture.c   one mode each
 *   plain.c     a program that others wrote; signature.c reads its arguments
 */
#ifndef BENCH_MODE_PRIV_H
#define BENCH_MODE_PRIV_H

#include "modes/mode.h"

typedef struct mode_program mode_program;

/* A row of figures; several programs share one in eager mode. */
typedef struct mode_row_figures {
    mode_execution view;
    uint64_t step;               /* step that view.per_step counts */
    const mode_program *program; /* whose text it is; NULL once evicted */
    size_t programs;             /* made for this row */
    size_t digested;             /* of them, by mode_digest_programs */
    rt_program_digest digest;    /* sum of theirs */
} mode_row_figures;

/* An executable and what is needed to run it again and again. Counted: the
 * memory cache and captures refer to it. */
struct mode_program {
    tg_hash key;
    rt_executable *executable;
    mode_row_figures *row;
    char *text;
    size_t text_length;
    size_t input_count, output_count;
    int32_t *donor; /* [output] input whose memory it takes over, or -1 */
    int references;
    uint64_t used; /* tick of the last use, for LRU */
};

/* A list that grows and keeps its room. */
typedef struct mode_list {
    void **items;
    size_t count, capacity;
} mode_list;

/* What a step in flight still holds. */
typedef struct mode_flight {
    mode_list events;
} mode_flight;

typedef struct mode_capture mode_capture;
typedef struct mode_plain mode_plain;

/* The rows of table.c. BEGIN may prepare the trace; STEP runs the call up to
 * the last dispatch; END frees what the mode keeps. */
typedef struct mode_kind {
    const char *name, *summary;
    bool cuts_graphs;
    void (*begin)(mode *m);
    bn_code (*step)(mode *m, const mode_call *call, bn_status *st);
    void (*end)(mode *m);
} mode_kind;

extern const mode_kind mode_eager, mode_lazy, mode_captured;
const mode_kind *mode_kind_at(size_t index);

struct mode {
    const mode_kind *kind;
    rt_client *client;
    mode_options options;
    char *cache_dir;
    char *cache_salt; /* what executables on disk depend on besides their text */
    unsigned group_of_phase[TG_PHASE_COUNT];
    tg_trace *trace;
    int64_t counters[BN_COUNTER_COUNT];

    /* clock of the step in hand */
    bn_part part;
    uint64_t part_since;
    uint64_t part_ns[BN_PART_COUNT];

    /* memory cache: open addressing, linear probing */
    mode_program **cache;
    size_t cache_slots, cache_count;
    uint64_t tick;
    mode_list rows; /* mode_row_figures */

    /* of the step in hand */
    mode_list arguments, results; /* handles of one execution */
    mode_list targets, buffers;   /* new contents: variable, buffer, pairwise */
    mode_list temporaries;        /* buffers that die with the step */
    mode_list retired;            /* handles to give back after dispatch */
    mode_list events;             /* completions of the step */
    mode_flight *flights;         /* ring of steps not awaited */
    size_t flight_count, flight_first, flight_used;
    unsigned probe_repeat; /* 0: not probing */

    mode_capture *captures; /* capture.c */
    mode_plain *plain;      /* plain.c */
    const int64_t *keep;    /* arguments that the next execution must not consume */
    size_t keep_count;
    mode_list slots; /* results of a replay, by slot */
};

/* ---- engine.c ---------------------------------------------------------- */

/* Charges the time since the last call to the part in force and starts PART;
 * returns the part that was in force. */
static inline bn_part mode_clock(mode *m, bn_part part)
{
    bn_part before = m->part;
    uint64_t now = bn_now_ns();
    m->part_ns[before] += now - m->part_since;
    m->part_since = now;
    m->part = part;
    return before;
}

/* Room for COUNT items; BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code mode_list_reserve(mode_list *list, size_t count, bn_status *st);
BN_MUST_USE bn_code mode_list_push(mode_list *list, void *item, bn_status *st);
void mode_list_free(mode_list *list);

/* A mode of KIND without rows of the table. */
BN_MUST_USE bn_code mode_create_kind(const mode_kind *kind, rt_client *client,
                                     const mode_options *options, mode **out, bn_status *st);

/* ---- program.c --------------------------------------------------------- */

/*
 * The executable of GRAPH: from memory, from disk, or compiled. Charges lookup,
 * lower and compile. ROW_LABEL names its row; with SHARE rows of one name are
 * one. The program stays in the cache's care: retain it to keep it.
 */
BN_MUST_USE bn_code mode_program_get(mode *m, const tg_graph *graph, const char *row_label,
                                     bool share, mode_program **program, bn_status *st);
/* An executable of TEXT (copied) as it stands, with a row of its own: INPUTS
 * arguments, the compiler's figures. DONOR (result count unknown before) stays empty.
 * The caller releases it. */
BN_MUST_USE bn_code mode_program_from_text(mode *m, const char *label, const char *text,
                                           size_t length, size_t inputs, mode_program **program,
                                           bn_status *st);
/* The program for KEY if it is in memory, else NULL. */
mode_program *mode_program_find(mode *m, tg_hash key);
mode_program *mode_program_retain(mode_program *program);
void mode_program_release(mode_program *program);
/* Frees the memory cache. */
void mode_programs_end(mode *m);
/* "step", "forward", "backward+update": what a graph of phases is called. */
void mode_graph_label(const mode *m, const tg_graph *graph, char label[64]);
/* "bench_forward": a module's name in the text. */
void mode_module_name(const char *label, char name[80]);

/* ---- disk.c ------------------------------------------------------------- */

/* The executable stored for TEXT, or NULL: a damaged or foreign file counts as
 * a reject and is as good as none. */
rt_executable *mode_disk_load(mode *m, const char *text, size_t length);
/* Stores it; failure only costs a later compile, so it is not an error. */
void mode_disk_store(mode *m, const char *text, size_t length, const rt_executable *executable);

/* ---- dispatch.c ----------------------------------------------------------- */

/* Makes room for the arguments and results of PROGRAM. */
BN_MUST_USE bn_code mode_dispatch_reserve(mode *m, const mode_program *program, bn_status *st);
/* Submits PROGRAM with m->arguments; fills m->results. Charges dispatch. */
BN_MUST_USE bn_code mode_dispatch(mode *m, mode_program *program, bn_status *st);
/* Binds, dispatches and keeps the results of a graph of the current trace. */
BN_MUST_USE bn_code mode_run_graph(mode *m, const tg_graph *graph, mode_program *program,
                                   bn_status *st);
/* Cuts the trace (at STOP_AT, or at the end), compiles and dispatches its
 * graphs. With RAN, calls it after each. */
typedef bn_code mode_ran(void *context, const tg_graph *graph, mode_program *program,
                         bn_status *st);
BN_MUST_USE bn_code mode_run_trace(mode *m, tg_tensor *stop_at, mode_ran *ran, void *context,
                                   bn_status *st);
/* Notes that a dispatched BUFFER becomes VARIABLE's contents at commit. */
BN_MUST_USE bn_code mode_pend(mode *m, tg_tensor *variable, rt_buffer *buffer, bn_status *st);
/* Takes BUFFER out of the step's temporaries for VARIABLE. */
BN_MUST_USE bn_code mode_adopt(mode *m, tg_tensor *variable, rt_buffer *buffer, bn_status *st);
/* Whether VALUE, which the trace assigned to VARIABLE, was put out as a temporary
 * and has yet to be taken over. */
bool mode_wants_adoption(const mode *m, const tg_tensor *variable, const tg_tensor *value);
/* Values that the trace assigned after they were put out as temporaries. */
BN_MUST_USE bn_code mode_adopt_assigned(mode *m, bn_status *st);
/* Copies a computed value to the host and charges read. */
BN_MUST_USE bn_code mode_read_buffer(mode *m, rt_buffer *buffer, void *host, size_t size,
                                     bn_status *st);
/* The step's new contents take their places; old handles are retired. */
BN_MUST_USE bn_code mode_commit(mode *m, bn_status *st);
/* Gives back retired handles and temporaries. Charges release. */
void mode_release_retired(mode *m);
/* Awaits or queues the step's completions. Charges wait. */
BN_MUST_USE bn_code mode_complete(mode *m, bn_status *st);
BN_MUST_USE bn_code mode_await_events(mode *m, mode_list *events, bn_status *st);
/* After a failure: drops what the step made. */
void mode_abandon(mode *m);

#endif
