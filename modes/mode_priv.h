/*
 * mode_priv.h - the engine under all modes. From top to bottom, each file calls only those
 * below it:
 *
 *   table.c     the modes by name
 *   eager.c lazy.c capture.c   one mode each; capture_tree.c holds what a capture wrote down, and
 *               checks what it depends on
 *   host.c      ops that the host computes
 *   plan.c      a step as graphs, without a runtime
 *   plain.c recorded.c   programs that others wrote, one a step or a sequence of them;
 *               signature.c reads what they take
 *   entry.c     what a compiled program takes
 *   engine.c    a mode's life, the frame around each step, the clock
 *   donors.c    which results reuse the memory of which arguments, as the plugin reports it
 *   dispatch.c  bind, execute, commit, release, wait; the probe
 *   program.c   graph -> executable: memory cache, lowering, compiling
 *   figures.c   names and figures of executables; notifying a watcher
 *   contents.c  what variables hold on the device
 *   disk.c      executables on disk
 *   list.c      lists of handles
 *
 * "Output by a graph": a value that a graph of the step has as a result, so that later graphs
 * take it as an input.
 */
#ifndef BENCH_MODE_PRIV_H
#define BENCH_MODE_PRIV_H

#include "modes/mode.h"
#include "modes/watch.h"
#include "runtime/stablehlo/stablehlo.h"

typedef struct mode_program mode_program;

/* A row of figures; several programs share one in eager mode. */
typedef struct mode_row_figures {
    mode_execution view;
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
    char *text; /* or code in another form */
    size_t text_length;
    /* Of programs that others wrote: the form, NULL for StableHLO; their compile options and
     * further flags, borrowed. */
    const char *format;
    const void *options;
    size_t options_size;
    const char *const *flags;
    size_t flag_count;
    size_t input_count, output_count;
    int32_t *donor; /* [output] input whose memory it reuses, or -1 */
    /* [input], [output] types and layouts of a foreign program as compiled; NULL: unknown */
    mode_argument *argument_types, *result_types;
    int64_t handed_on, rearranged; /* as in mode_execution */
    /* Keeping replaced results until the end of a probe has exhausted the memory once. */
    bool probe_releases_early;
    int references;
    uint64_t used; /* tick of the last use, for LRU */
};

/* A list that grows and keeps its room. */
typedef struct mode_list {
    void **items;
    size_t count, capacity;
} mode_list;

/*
 * The functions of one mode: a row of table.c, or plain.c's own kind. The engine calls
 * these, on the mode's one thread.
 */
typedef struct mode_kind {
    const char *name;    /* as --mode and records have it; no other row has it */
    const char *summary; /* a line of `bench list modes` */
    bool cuts_graphs;    /* whether options.graphs may be other than 1 */
    bool by_op;          /* whether each op is a program of its own */
    bool windows;        /* whether options.window means anything */

    /*
     * Hangs the mode's hooks on m->trace; NULL: it has none, or sets them in each step. Called
     * once at the end of creation, when trace, options and cache are there, and again whenever
     * the engine has used the trace with other hooks (mode_time_lowering). It cannot fail and
     * makes nothing. No step runs then, so no part of the ledger is charged.
     */
    void (*set_hooks)(mode *m);

    /*
     * Runs CALL up to its last dispatch. Called once for each mode_step and mode_step_probe,
     * when the step has been counted and the feed has begun. Part OTHER is in force, and the
     * lists of the step in hand are empty, but for m->retired, where a feed may have put old
     * handles.
     *
     * It traces or replays, gets executables from program.c and submits them with
     * mode_dispatch, which probes where a probe was asked for. It awaits only values that the
     * step's function reads. Each result gets one owner: a variable, as its contents to come
     * (mode_assign_at_commit), the step's temporaries, or the mode itself. Variables keep the
     * contents they had, since the engine commits afterwards. The mode may exchange them itself,
     * with the old handles in m->retired, only where nothing of its own can fail any more. A steady
     * step makes no allocation of ours.
     *
     * On success OTHER is in force again. The engine then commits, notifies the feed, releases
     * m->retired and m->temporaries, and awaits or queues m->events. On failure, with a code
     * and its message in ST (never NULL; the engine puts the step in front), the lists stay as
     * they are: the engine drops what they hold (mode_abandon), and the mode's own data must be
     * good for another step.
     *
     * Ledger, by mode_clock: the step's function and appending nodes are TRACE; closing the
     * trace, hashing it and checking guards are HASH; gathering handles is BIND; arguments that
     * the mode itself sends are INPUT. LOOKUP, LOWER, COMPILE, DISPATCH and READ are charged by
     * the calls below. RELEASE is the engine's, but for what is released in the middle of a
     * step; WAIT is the engine's alone.
     */
    bn_code (*step)(mode *m, const mode_call *call, bn_status *st);

    /*
     * Frees m->own and all that hangs on it: programs that it retained, buffers of its own.
     * NULL: the mode keeps nothing. Called once by mode_destroy, when no step is in flight any
     * more, before the memory cache goes. Creation may have failed on the way, so m->own may
     * be NULL or half made. It cannot fail. Contents of variables are not its affair.
     */
    void (*end)(mode *m);

    /* mode_window, mode_window_end and mode_settle; NULL: the mode has no windows. */
    void (*window)(const mode *m, mode_window_choice *choice);
    size_t (*window_end)(const mode *m, size_t index);
    void (*settle)(mode *m);

    /* mode_guard_describe; NULL: the mode has no guards. */
    bool (*guard)(const mode *m, size_t capture, size_t index, mode_guard_info *info);
} mode_kind;

struct mode {
    const mode_kind *kind;
    rt_client *client;
    mode_options options;
    int cache_folder;  /* of executables on disk, open; -1: none */
    bn_status disk_reject; /* why the first rejected one was rejected; BN_OK: none was */
    char *cache_salt; /* settings that executables on disk depend on, besides text and plugin */
    unsigned group_of_phase[TG_PHASE_COUNT];
    tg_trace *trace;
    int64_t counters[BN_COUNTER_COUNT];
    mode_host_count *host_counts; /* of ops that the host computed */
    size_t host_op_count, host_op_room;

    /* clock of the step in hand */
    bn_part part;
    uint64_t part_since;
    uint64_t part_ns[BN_PART_COUNT];
    uint64_t wall_ns; /* of the step before */
    bn_timeline *timeline; /* NULL: nothing is noted */

    /* memory cache: open addressing, linear probing */
    mode_program **cache;
    size_t cache_slots, cache_count;
    uint64_t tick;
    mode_list rows; /* mode_row_figures */

    /* of the step in hand */
    mode_list arguments, results; /* handles of one execution */
    mode_list targets, buffers;   /* new contents: variable, buffer, pairwise */
    mode_list temporaries;        /* buffers that die with the step */
    mode_list retired;            /* handles to release after dispatch */
    mode_list events;             /* completions of the step */
    mode_list *flights;           /* ring of steps not awaited: their completions */
    size_t flight_count, flight_first, flight_used;
    unsigned probe_repeat; /* 0: not probing */
    mode_probe probe;      /* how it is repeated */
    bool chooses_layouts;  /* the graphs in hand pass values to each other in automatic layouts */
    tg_hash layout_key;    /* of those graphs, so far */
    const int64_t *keep;   /* arguments that the execution in hand must not consume */
    size_t keep_count;
    mode_watcher watcher; /* all NULL: there is none */

    void *own; /* the kind's own data, which its END frees */
};

/* ---- engine.c ---------------------------------------------------------- */

/* Charges the time since the last call to the part in force and starts PART;
 * returns the part that was in force. */
static inline bn_part mode_clock(mode *m, bn_part part)
{
    bn_part before = m->part;
    uint64_t now = bn_now_ns();
    m->part_ns[before] += now - m->part_since;
    if (m->timeline)
        bn_timeline_part(m->timeline, before, m->part_since, now);
    m->part_since = now;
    m->part = part;
    return before;
}

/* Which graph each phase belongs to, for --graphs N. */
BN_MUST_USE bn_code mode_choose_cut(unsigned graphs, unsigned group_of_phase[TG_PHASE_COUNT],
                                    bn_status *st);
/* As mode_create, for a KIND that need not be in the table. */
BN_MUST_USE bn_code mode_create_kind(const mode_kind *kind, rt_client *client,
                                     const mode_options *options, mode **out, bn_status *st);

/* ---- figures.c: a watcher ------------------------------------------------- */

/* GRAPH, called LABEL, runs as PROGRAM. ANEW: that was made just now. */
void mode_notify_graph(const mode *m, const tg_graph *graph, const char *label,
                       const mode_program *program, bool anew);
/* VALUE of TYPE was read. BREAKS: the graph was cut for it. */
void mode_notify_read(const mode *m, const mode_where *where, const tg_type *type,
                      const void *value, bool breaks);
/* The same within a trace, of VALUE, which HOST holds. */
void mode_notify_traced_read(const mode *m, const tg_tensor *value, const void *host, bool breaks);
void mode_notify_host(const mode *m, const mode_host_event *event);
void mode_notify_miss(const mode *m, const mode_miss_event *event);
/* Where the trace is; SCOPE holds the text of it. */
mode_where mode_traced_where(const mode *m, bn_text *scope);

/* ---- host.c -------------------------------------------------------------- */

/* Computes OP of X on the host. *RESULT is one of the step's temporaries. Counts a fallback, and
 * notifies the watcher with WHERE and BREAKS. Charges read and input. */
BN_MUST_USE bn_code mode_run_host(mode *m, const tg_host_op *op, rt_buffer *x,
                                  const mode_where *where, bool breaks, rt_buffer **result,
                                  bn_status *st);
/* The same for NODE of the trace in hand, whose operand has its data; BREAKS: the trace was just
 * cut to compute it. Sets the data of NODE's result. */
BN_MUST_USE bn_code mode_run_host_node(mode *m, const tg_node *node, bool breaks, bn_status *st);
/* The buffer of VALUE: of a variable's entry the variable's contents. BN_INVALID without one. */
BN_MUST_USE bn_code mode_buffer_of(const tg_tensor *value, rt_buffer **buffer, bn_status *st);

/* ---- list.c -------------------------------------------------------------- */

/* Room for COUNT items. */
void mode_list_reserve(mode_list *list, size_t count);
void mode_list_push(mode_list *list, void *item);
/* Frees the list, not what its items point to. */
void mode_list_free(mode_list *list);

/* ---- program.c --------------------------------------------------------- */

/*
 * The executable of GRAPH: from memory, from disk, or compiled. Charges lookup,
 * lower and compile. ROW_LABEL names its row; with SHARE rows of one name are
 * one. The program stays in the cache's care: retain it to keep it.
 */
BN_MUST_USE bn_code mode_program_get(mode *m, const tg_graph *graph, const char *row_label,
                                     bool share, mode_program **program, bn_status *st);
/* An executable of PART's program, whose code is copied, as it stands. It gets a row of its
 * own, with the compiler's figures. DONOR has room for the results; the caller fills it in.
 * The caller releases the program, which borrows the options and flags. */
BN_MUST_USE bn_code mode_program_from_part(mode *m, const mode_part *part, mode_program **program,
                                           bn_status *st);
/* The program for KEY if it is in memory, else NULL. */
mode_program *mode_program_find(mode *m, tg_hash key);
mode_program *mode_program_retain(mode_program *program);
void mode_program_release(mode_program *program);
/* Frees the memory cache. */
void mode_programs_end(mode *m);

/* ---- layouts.c ------------------------------------------------------------ */

/* Layouts of a graph's inputs and outputs; all NULL: the default ones. */
typedef struct mode_layouts {
    bn_arena *arena; /* holds the lists and their texts */
    const char **inputs, **outputs;
    int64_t handed_on, rearranged; /* inputs, as in mode_execution */
} mode_layouts;
/* To be called before graphs run. With SEVERAL they pass values to each other, in automatic layouts
 * if the mode's options ask for these. */
void mode_layouts_begin(mode *m, bool several);
/* The key in memory of the executable of GRAPH, the next one to run. */
tg_hash mode_layouts_key(mode *m, tg_hash graph);
/* Fills *OF for GRAPH, whose inputs are computed. The caller frees it. BN_NOT_SUPPORTED where the
 * plugin does not report a buffer's layout. */
BN_MUST_USE bn_code mode_layouts_choose(mode *m, const tg_graph *graph, mode_layouts *of,
                                        bn_status *st);
void mode_layouts_free(mode_layouts *of);

/* ---- figures.c ----------------------------------------------------------- */

/* "step", "forward", "backward+update": what a graph of phases is called. */
void mode_graph_label(const unsigned group_of_phase[TG_PHASE_COUNT], const tg_graph *graph,
                      char label[64]);
/* "window 3": what the window INDEX, from 0, is called. */
void mode_window_label(size_t index, char label[64]);
/* "bench_forward": a module's name in the text. */
void mode_module_name(const char *label, char name[80]);
/* A row called LABEL; with SHARE the one of that name, where there is one. Owned by the mode. */
mode_row_figures *mode_row_new(mode *m, const char *label, bool share);
/* Adds what is known of PROGRAM, made of GRAPH, to its row. */
void mode_row_add(mode_row_figures *row, const mode_program *program, const tg_graph *graph,
                  uint64_t lower_ns, uint64_t compile_ns, bool from_disk);
/* Fills in the row of PROGRAM, which others wrote. */
void mode_row_add_part(mode_row_figures *row, const mode_program *program, uint64_t compile_ns,
                       bool from_disk);

/* ---- disk.c ------------------------------------------------------------- */

/* Glob pattern of the cache's file names: a SHA-256 and ".exe". */
#define MODE_HEX_4      "[0-9a-f][0-9a-f][0-9a-f][0-9a-f]"
#define MODE_HEX_16     MODE_HEX_4 MODE_HEX_4 MODE_HEX_4 MODE_HEX_4
#define MODE_DISK_NAMES MODE_HEX_16 MODE_HEX_16 MODE_HEX_16 MODE_HEX_16 ".exe"

/* The executable stored for TEXT: the program with its own compile options. NULL where there is no
 * file, or where it is rejected: damaged, or not safe to run. A reject is counted, and the mode
 * keeps the reason of the first. */
rt_executable *mode_disk_load(mode *m, const char *text, size_t length);
/* Stores EXECUTABLE, if the plugin can serialize it. A failed write is counted as a reject and not
 * returned: it only costs a later compile. */
void mode_disk_store(mode *m, const char *text, size_t length, const rt_executable *executable);
/* Where the payload begins in the SIZE bytes of DATA, if they are a whole entry that begins with
 * HEAD; else 0. */
size_t mode_disk_payload(const char *head, const char *data, size_t size);

/* ---- donors.c -------------------------------------------------------------- */

/* Device addresses of the buffers LIST into ADDRESSES; 0 where the plugin does not report one. To
 * be called before an execution: a consumed buffer has no address. */
void mode_addresses(mode *m, rt_buffer *const *list, size_t count, uintptr_t *addresses);
/*
 * To be called after an execution of PROGRAM on ARGUMENTS, which were at ADDRESSES before it.
 * Fills in those of PROGRAM's donors that are unknown: a consumed argument at whose address a
 * result of its type is now. CONSUMED[i]: argument i was consumed.
 */
void mode_learn_donors(mode *m, mode_program *program, rt_buffer *const *arguments,
                       const uintptr_t *addresses, rt_buffer *const *results, bool *consumed);
/* Whether BUFFER has the layout of TYPE; true where the plugin does not report it. */
bool mode_buffer_has_layout(mode *m, rt_buffer *buffer, const mode_argument *type);
/* Whether BUFFER is of TYPE. */
bool mode_buffer_has_type(mode *m, rt_buffer *buffer, const mode_argument *type);

/* ---- signature.c, entry.c ---------------------------------------------------- */

/* *OUT (malloc) gets types and layouts of the COUNT values of LIST. Errors as of
 * mode_signature_read. */
BN_MUST_USE bn_code mode_arguments_from_values(const shlo_value *list, size_t count,
                                               mode_argument **out, bn_status *st);
/* The layout that V declares for result INDEX: A's rank, order and tiles. Errors as of
 * mode_signature_read. */
BN_MUST_USE bn_code mode_result_layout(const shlo_value *v, size_t index, mode_argument *a,
                                       bn_status *st);
/* The declarations of PROGRAM, for shlo_declared_free, after errors, too; *TOLD as
 * mode_signature_read has it. */
BN_MUST_USE bn_code mode_declared_read(const rt_program *program, shlo_declared *declared,
                                       bool *told, bn_status *st);
/* Whether ORDER, most minor dimension first, is the one that A states; A's default is row-major. */
bool mode_order_matches(const mode_argument *a, const int64_t *order);
/* Fills PROGRAM's argument_types and result_types, where the plugin reports them. BN_INVALID where
 * the compiled program takes another number of arguments; else BN_OUT_OF_MEMORY is the only error.
 */
BN_MUST_USE bn_code mode_entry_read(mode_program *program, bn_status *st);
/*
 * Checks the COUNT ARGUMENTS against PROGRAM's argument_types, where these are known, and copies
 * the compiled layouts to those that state none. BN_INVALID where a type or layout differs, or the
 * layout of a result differs from the one declared.
 */
BN_MUST_USE bn_code mode_entry_check(mode_program *program, mode_argument *arguments, size_t count,
                                     bn_status *st);
/* BN_NOT_SUPPORTED where BUFFER, which WHAT ("argument") and INDEX name, does not have WANTED's
 * tiles. */
BN_MUST_USE bn_code mode_check_tiles(mode *m, rt_buffer *buffer, const mode_argument *wanted,
                                     const char *what, size_t index, bn_status *st);
/* Sends HOST, dense row-major, to a buffer of TYPE's layout. */
BN_MUST_USE bn_code mode_send(mode *m, const void *host, const mode_argument *type,
                              rt_buffer **buffer, bn_status *st);

/* ---- contents.c ----------------------------------------------------------- */

/* Copies a computed value to the host and charges read. */
BN_MUST_USE bn_code mode_read_buffer(mode *m, rt_buffer *buffer, void *host, size_t size,
                                     bn_status *st);

/* ---- dispatch.c ----------------------------------------------------------- */

/* Makes room for the arguments and results of PROGRAM, and for its completion. */
void mode_dispatch_reserve(mode *m, const mode_program *program);
/* Bytes of an execution's results that need new memory; INT64_MAX: unknown. */
int64_t mode_result_bytes(const mode_program *program);
/* Whether the device has room for BYTES of results besides its present contents and the temporaries
 * of executions. */
bool mode_has_room(mode *m, int64_t bytes);
/* Submits PROGRAM with m->arguments; fills m->results. Charges dispatch. */
BN_MUST_USE bn_code mode_dispatch(mode *m, mode_program *program, bn_status *st);
/* Binds, dispatches and keeps the results of a graph of the current trace. */
BN_MUST_USE bn_code mode_run_graph(mode *m, const tg_graph *graph, mode_program *program,
                                   bn_status *st);
/* Called after GRAPH has been dispatched as PROGRAM, with its results kept. It copies what it needs
 * of GRAPH, which dies with the trace, and retains PROGRAM to keep it. Its time is charged to the
 * part in force. A failure ends the step. */
typedef bn_code mode_graph_hook(void *context, const tg_graph *graph, mode_program *program,
                                bn_status *st);
/* Cuts the trace (at STOP_AT, or at the end where it is NULL), compiles and dispatches its
 * graphs, and calls ON_GRAPH after each, unless it is NULL. Charges hash, and what the calls do. */
BN_MUST_USE bn_code mode_run_trace(mode *m, tg_tensor *stop_at, mode_graph_hook *on_graph,
                                   void *context, bn_status *st);
/* A dispatched BUFFER becomes VARIABLE's contents at commit. */
void mode_assign_at_commit(mode *m, tg_tensor *variable, rt_buffer *buffer);
/* Takes BUFFER out of the step's temporaries and makes it VARIABLE's contents at commit. */
BN_MUST_USE bn_code mode_adopt(mode *m, tg_tensor *variable, rt_buffer *buffer, bn_status *st);
/* Whether VALUE, which the trace assigned to VARIABLE, is still one of the step's temporaries,
 * since a cut of the trace output it before it was assigned. */
bool mode_wants_adoption(const mode *m, const tg_tensor *variable, const tg_tensor *value);
/* Adopts all values that mode_wants_adoption names. */
BN_MUST_USE bn_code mode_adopt_assigned(mode *m, bn_status *st);
/* Makes the step's results the contents of their variables, and retires the old handles. */
void mode_commit(mode *m);
/* Releases retired handles and temporaries. Charges release. */
void mode_release_retired(mode *m);
/* Awaits or queues the step's completions. Charges wait. */
BN_MUST_USE bn_code mode_complete(mode *m, bn_status *st);
/* Awaits and releases all EVENTS, and empties the list; the first error is reported. */
BN_MUST_USE bn_code mode_await_events(mode *m, mode_list *events, bn_status *st);
/* After a failure: drops what the step made. */
void mode_abandon(mode *m);

#endif
