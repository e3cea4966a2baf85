/*
 * mode.h - how a step function becomes executions on a runtime.
 *
 * A mode is a row (modes/table.c), and the same step function runs under each:
 *   eager    every op is compiled once and executed at once
 *   lazy     ops append to a trace; at the end of the step the trace is hashed,
 *            looked up, compiled on a miss, dispatched
 *   fused    as lazy, but windows of the trace are dispatched while the step is
 *            being traced
 *   capture  the step is traced once, guarded, and replayed without calling
 *            the step function
 *
 * A mode works on variables (runtime/graph/graph.h): it gives them device buffers and
 * replaces those at the end of each step. The owner of a variable frees its buffer
 * (mode_clear). One thread per mode. A status must be given (not NULL). Prefix mode_.
 */
#ifndef BENCH_MODES_MODE_H
#define BENCH_MODES_MODE_H

#include "runtime/graph/graph.h"
#include "runtime/pjrt/pjrt.h"

typedef struct mode mode;

/*
 * Emits the ops of one step into TRACE, which comes empty and in phase FORWARD; CONTEXT is the
 * call's. Eager and lazy mode call it in each step, capture only where none of its captures
 * holds, so a replayed step has no other effects of the function. What it emits may depend on
 * the types of variables, on the call's statics and on values that it reads (tg_read), but on
 * nothing else that changes. It puts its errors on the trace (tg_trace_fail). Its time is the
 * ledger's `trace`.
 */
typedef void mode_function(tg_trace *trace, void *context);

/*
 * How batches come to the device. Either call may be NULL. Both get CONTEXT, may write,
 * upload, place and clear contents of variables (mode_write to mode_clear), and must not run
 * steps. Their time is the ledger's `input`. A failure is the step's: after that of BEGIN
 * variables hold what they held, after that of SUBMITTED the step's results.
 */
typedef struct mode_feed {
    void *context;
    /* Called before the step's function or replay: what the step takes in is put in place here,
     * and may be of another type than in the step before. */
    bn_code (*begin)(void *context, mode *m, bn_status *st);
    /* Called when all executions of the step have been submitted, none of them awaited, and
     * variables stand for their new contents: the time to send the next batch ahead. */
    bn_code (*submitted)(void *context, mode *m, bn_status *st);
} mode_feed;

/* The function of a step and its arguments; the mode copies what it keeps. */
typedef struct mode_call {
    mode_function *function;
    void *context;
    const void *statics;   /* arguments that the trace may depend on; capture guards the bytes */
    size_t static_bytes;   /* 0: there are none, and STATICS may be NULL */
    const mode_feed *feed; /* NULL: inputs stay as they are */
} mode_call;

typedef struct mode_options {
    unsigned graphs;        /* capture: 1, 2, 3 or 5; 0 is 1; other modes: 1 */
    int in_flight;          /* steps dispatched and not awaited; 0 and 1: serial */
    bool awaited;           /* each execution, before the host goes on; then steps are serial */
    size_t cache_entries;   /* executables kept in memory; 0: 1024 */
    const char *cache_dir;  /* folder of serialized executables, or NULL */
    bool compile_anew;      /* compile also what CACHE_DIR has, to measure it, and keep it there */
    tg_precision precision; /* of matrix products and convolutions */
    bool automatic_layouts; /* the compiler lays out values that graphs pass to each other */
    size_t window;          /* fused: nodes of a window, about; 0: it chooses (mode_window) */
    uint64_t trace_cost_ns; /* busy wait for each traced node: emulates a slower framework */
    rt_compile_options compile;
} mode_options;

/* A row of `bench list modes`; INDEX from 0 until false. */
typedef struct mode_info {
    const char *name, *summary;
    bool cuts_graphs; /* takes --graphs other than 1 */
    bool by_op;       /* each op is a program: there are no graphs to explain or estimate */
    bool windows;     /* takes --window */
} mode_info;
bool mode_describe(size_t index, mode_info *info);
/* The row called NAME; false: there is none, and *INFO is all zeros. */
bool mode_describe_named(const char *name, mode_info *info);

/* A mode called NAME on device 0 of CLIENT, which must outlive it. BN_NOT_FOUND where no mode
 * has that name, BN_INVALID where it cannot cut a step into that many graphs. */
BN_MUST_USE bn_code mode_create(const char *name, rt_client *client, const mode_options *options,
                                mode **out, bn_status *st);
/* Waits for all steps, frees executables. Variables' buffers stay: free each
 * with mode_clear. NULL allowed. */
void mode_destroy(mode *m);

/* Replaces VARIABLE's contents by HOST (dense row-major, of its type). */
BN_MUST_USE bn_code mode_write(mode *m, tg_tensor *variable, const void *host, bn_status *st);
/* Starts copying HOST (dense row-major, of TYPE) to a new buffer; HOST must stay
 * unchanged until *HOST_DONE (NULL allowed as an event) has fired. */
BN_MUST_USE bn_code mode_upload(mode *m, const tg_type *type, const void *host, rt_buffer **buffer,
                                rt_event **host_done, bn_status *st);
/* Makes BUFFER VARIABLE's contents; the old buffer is released once the step in
 * hand has been submitted. For feeds. */
void mode_place(mode *m, tg_tensor *variable, rt_buffer *buffer);
/* Waits for VARIABLE's contents and copies them to HOST (SIZE bytes). */
BN_MUST_USE bn_code mode_read(mode *m, const tg_tensor *variable, void *host, size_t size,
                              bn_status *st);
/* Frees VARIABLE's device buffer, if it has one. */
void mode_clear(mode *m, tg_tensor *variable);

/*
 * Runs one step. Serial: returns when its executions have completed. In flight
 * N: returns after dispatch, having waited for the step N before this one.
 * LEDGER (may be NULL) gets the parts; OTHER and WALL are from entry to return.
 * After an error variables hold what they held before the step, or, when an
 * execution had donated their memory, nothing.
 */
BN_MUST_USE bn_code mode_step(mode *m, const mode_call *call, bn_ledger *ledger, bn_status *st);
/* Records the steps from here on in TIMELINE: parts of the ledger, calls, when executions
 * completed, scopes and annotations. NULL: nothing is recorded, and steps cost one branch more for
 * each part. TIMELINE stays until the client is destroyed, since the plugin writes into it. */
void mode_set_timeline(mode *m, bn_timeline *timeline);
/* Waits for every step in flight. */
BN_MUST_USE bn_code mode_drain(mode *m, bn_status *st);

/* A size of windows that fused mode tried. */
typedef struct mode_window_try {
    size_t nodes, windows;           /* of a window, about; of a step */
    double predicted_ns, measured_ns; /* a step, by the law and by median; 0: not measured */
} mode_window_try;
enum { MODE_WINDOW_TRIES = 3 };
/* The windows of fused mode. Other modes: all zero. */
typedef struct mode_window_choice {
    bool chosen;             /* the mode chose NODES; else its options did */
    bool choosing;           /* it is not done yet */
    size_t nodes, windows;   /* 0 nodes: the whole step; of the last step; 1: one graph */
    double whole_ns, trace_ns; /* chosen: median steps of one graph, and their tracing */
    mode_window_try tried[MODE_WINDOW_TRIES];
    size_t tries;
} mode_window_choice;
mode_window_choice mode_window(const mode *m);
/* Nodes that are traced when window INDEX of the step's plan is submitted; 0: there is none. */
size_t mode_window_end(const mode *m, size_t index);
/* Ends the choice by what was measured so far: from here on steps are alike. */
void mode_settle(mode *m);

/* Counters since creation, BN_COUNTER_COUNT of them; owned by the mode. */
const int64_t *mode_counters(const mode *m);
/* An op that the host computed, and how often since creation: BN_COUNTER_HOST_FALLBACKS by op. */
typedef struct mode_host_count {
    const char *op; /* static */
    int64_t count;
} mode_host_count;
/* Their list, *COUNT long; owned by the mode, until its next step. */
const mode_host_count *mode_host_counts(const mode *m, size_t *count);
/* Why the first executable that was there on disk was not taken: "FOLDER: FILE: ..."; NULL: all
 * were. Owned by the mode. The counter DISK_REJECTS says how many they are, and how many of those
 * that were made could not be kept. */
const char *mode_disk_refusal(const mode *m);
/* Adds MORE to COUNTER. For feeds, which alone know what a batch holds. */
void mode_count(mode *m, bn_counter counter, int64_t more);

/* ---- executions ----------------------------------------------------------- */

/* One executable of a step and its figures; a row for each graph, in order of
 * first execution. Eager: a row for each op name, figures added up. */
typedef struct mode_execution {
    char label[64];  /* "step", "forward", ...; the op in eager mode */
    char module[80]; /* name of the module in the text, which profilers show */
    char fingerprint[33];
    int64_t per_step;  /* executions in the last step */
    int64_t last_step; /* number of the step that ran it last, from 1; 0: none did */
    size_t argument_count, result_count;
    int64_t nodes, text_bytes;
    uint64_t lower_ns, compile_ns;
    bool from_disk;
    double flops, bytes;
    double offloaded;   /* bytes that the text asks into the host's memory */
    int64_t handed_on;  /* arguments that earlier graphs of the step put out, taken as these lie */
    int64_t rearranged; /* of them, those whose last dimension is not the most minor one */
    rt_executable_stats stats;
    /* The figures of mode_digest_programs, of the program that the compiler made
     * (rt_program_digest); "" and -1 where the plugin does not report them. */
    char optimized[33];
    int64_t optimized_bytes, optimized_instructions;
    char plugin_fingerprint[64]; /* the plugin's own, of the row's first program */
    /* Of the last mode_step_probe: nanoseconds summed over the row's executions
     * of that step. */
    uint64_t submit_ns; /* in the plugin's execute calls */
    uint64_t pjrt_ns;   /* first submit to last completion */
    uint64_t first_ns;  /* of that, the first half of the repetitions, where each was awaited */
} mode_execution;
size_t mode_execution_count(const mode *m);
const mode_execution *mode_execution_at(const mode *m, size_t index);

/* Asks the plugin for the optimized program of each execution and fills in its digest,
 * which for a row of several programs (eager) is their sum. Takes milliseconds a program:
 * not for timed parts. */
void mode_digest_programs(mode *m);

/* How mode_step_probe repeats executions. */
typedef enum mode_probe {
    MODE_PROBE_QUEUED, /* submitted one behind the other, and awaited at the end */
    MODE_PROBE_AWAITED /* each is awaited before the next is submitted */
} mode_probe;
/*
 * Runs one step in which every execution runs REPEAT times, in the way PROBE, before the next one
 * is submitted, behind one more that is not timed if REPEAT is above 1; fills submit_ns, pjrt_ns
 * and first_ns. Donated inputs are fed from the outputs that
 * took their memory, so with REPEAT above 1 variables have been updated that often: for measuring
 * only. What REPEAT queued executions take less than REPEAT awaited ones is the fixed cost of
 * REPEAT - 1, unless the host takes longer to submit than the device to execute.
 */
BN_MUST_USE bn_code mode_step_probe(mode *m, const mode_call *call, unsigned repeat,
                                    mode_probe probe, bn_status *st);

/* StableHLO text of execution row INDEX's program as it was compiled (owned by
 * the mode), for reports and tests. */
const char *mode_execution_text(const mode *m, size_t index, size_t *length);

/* The program that the compiler made of that text (malloc), in the plugin's own FORMAT.
 * BN_NOT_FOUND where it left the memory's cache, BN_NOT_SUPPORTED where the plugin has none. */
BN_MUST_USE bn_code mode_execution_optimized(const mode *m, size_t index, char format[32],
                                             void **bytes, size_t *size, bn_status *st);

/*
 * The host's own cost of one lazy step's pieces, for selftests: traces CALL and
 * lowers it REPEATS times without executing; the nanoseconds of each lowering go to
 * LOWER_NS[REPEATS]. *TEXT_BYTES may be NULL.
 */
BN_MUST_USE bn_code mode_time_lowering(mode *m, const mode_call *call, size_t repeats,
                                       uint64_t *lower_ns, size_t *text_bytes, bn_status *st);

/* ---- a step as graphs, without a runtime (plan.c) --------------------------------- */

/* The graphs that lazy mode (one graph), fused mode and capture compile of a step, in order of
 * execution. */
typedef struct mode_plan mode_plan;
typedef struct mode_plan_graph {
    char label[64], module[80]; /* as mode_execution has them */
    size_t input_count, output_count;
    size_t end_node; /* of the trace: the host can submit it when so many nodes are traced */
    tg_graph_cost cost;
} mode_plan_graph;

/* How a step is cut: into GRAPHS by phases (0: 1), or into windows of about WINDOW nodes, unless that
 * is 0. */
typedef struct mode_plan_cut {
    unsigned graphs;
    size_t window;
} mode_plan_cut;

/* Traces CALL, of which only the function and its context are used, and cuts it as CUT says.
 * The variables that it works on need no contents; they must outlive the plan. A step that reads a
 * value cannot be planned, since what it does then depends on the value: BN_NOT_SUPPORTED. */
BN_MUST_USE bn_code mode_plan_new(const mode_call *call, const mode_plan_cut *cut, tg_precision precision,
                                  mode_plan **plan, bn_status *st);
void mode_plan_free(mode_plan *plan); /* NULL allowed */
size_t mode_plan_count(const mode_plan *plan);
/* Nanoseconds of this host to trace the step, hashes included: the median of a few traces. */
uint64_t mode_plan_trace_ns(const mode_plan *plan);
const mode_plan_graph *mode_plan_describe(const mode_plan *plan, size_t graph);
/* Whether input INPUT of GRAPH is output *OUTPUT of the earlier graph *FROM. */
bool mode_plan_source(const mode_plan *plan, size_t graph, size_t input, size_t *from,
                      size_t *output);
/* Whether output OUTPUT of GRAPH is assigned to no variable: only later graphs use it. */
bool mode_plan_is_temporary(const mode_plan *plan, size_t graph, size_t output);
/* Appends GRAPH as StableHLO text to OUT, with LAYOUTS (NULL: the default ones). */
void mode_plan_lower(const mode_plan *plan, size_t graph, const tg_layouts *layouts, bn_text *out);

/* ---- programs that others wrote ------------------------------------------------ */

typedef struct mode_argument {
    rt_dtype dtype;
    size_t rank;
    int64_t dims[RT_MAX_RANK];
    int32_t result; /* that takes over its memory (tf.aliasing_output), or -1 */
    bool donated;   /* given away without saying to which result (jax.buffer_donor) */
    bool laid_out;  /* its layout is ORDER, most minor dimension first; else row-major */
    int64_t order[RT_MAX_RANK];
    char tiles[32];    /* "T(8,128)": its layout's tiles, which only the plugin can make; "" */
    char constant[32]; /* jax.global_constant: a value that only the exporter's caller knows; "" */
} mode_argument;

/* Reads "f32[2,3]", "pred[]" or "f32[2,3]{0,1}": types and layouts as HLO writes them. *ARGUMENT is
 * not donated. BN_INVALID where TEXT is no such type. */
BN_MUST_USE bn_code mode_type_parse(const char *text, mode_argument *argument, bn_status *st);
void mode_type_write(const mode_argument *argument, bn_text *out);
int64_t mode_argument_bytes(const mode_argument *argument);

/* The forms of a program. */
typedef enum mode_form {
    MODE_FORM_TEXT,     /* StableHLO in MLIR's text form, or what is taken for it */
    MODE_FORM_BYTECODE, /* StableHLO as MLIR byte code (portable artifacts) */
    MODE_FORM_HLO       /* a serialized HloModuleProto */
} mode_form;
/* The form of the *SIZE bytes at *CODE. Of an HloProto, as XLA dumps it, *CODE and *SIZE become
 * those of the module in it. */
mode_form mode_form_find(const char **code, size_t *size);
/* The plugin's name of it: "mlir" or "hlo". */
const char *mode_form_name(mode_form form);

/*
 * The arguments of the entry function of PROGRAM, in *LIST (malloc), as it declares them. BN_FORMAT
 * says where the program cannot be read, BN_NOT_SUPPORTED what of it cannot be done: an argument
 * whose type or memory cannot be passed (a dynamic shape, a tuple, an element type that rt_dtype
 * lacks), and a program for more than one device: partitions, replicas, meshes, shardings, and
 * collectives that name others. The same of results and their layouts. Of byte code that
 * bench cannot read *LIST is NULL, *TOLD false, and the code BN_OK: who knows the types must say
 * them.
 */
BN_MUST_USE bn_code mode_signature_read(const rt_program *program, mode_argument **list,
                                        size_t *count, bool *readable, bn_status *st);

/* Whether A and B are of one type; layouts are not compared. */
bool mode_same_type(const mode_argument *a, const mode_argument *b);

/*
 * A mode that runs PROGRAM (its code is copied) as it stands on COUNT arguments whose
 * contents are HOST[i], dense row-major; they must outlive the mode. Its steps call
 * no function: mode_step, mode_step_probe and the rest take an empty mode_call.
 *
 * Arguments are sent in the layouts that the compiled program takes. BN_INVALID where it takes
 * other types than ARGUMENTS, or other layouts than those state.
 *
 * Donation is honoured. An argument whose memory a result reuses is replaced by that result in the
 * next step: the program iterates. Any other consumed argument gets its first contents again before
 * the next step, which the ledger's `input` shows; mode_step_probe keeps it from being consumed.
 */
BN_MUST_USE bn_code mode_create_program(rt_client *client, const mode_options *options,
                                        const rt_program *program, const mode_argument *arguments,
                                        size_t count, const void *const *host, mode **out,
                                        bn_status *st);
/* Whether the plugin reported the compiled program's arguments, so that number, types and layouts
 * were checked against them. Else arguments are sent as they are declared. */
bool mode_program_checked(const mode *m);
/* Results of the last step: how many, and each one's buffer (owned by the mode). */
size_t mode_program_result_count(const mode *m);
rt_buffer *mode_program_result(const mode *m, size_t index);

/* ---- steps of several programs ---------------------------------------------------- */

/* A program of a sequence. */
typedef struct mode_part {
    const char *label; /* of its row of figures, and what profilers call it */
    rt_program program;
    const char *const *flags; /* for its compilation, behind those of the mode; or NULL */
    size_t flag_count;
    size_t argument_count, result_count;
} mode_part;

/* An execution of a sequence. */
typedef struct mode_run {
    size_t part;
    const size_t *arguments; /* values, [argument_count of the part] */
    const int64_t *keep;     /* indices of arguments that are not donated, ascending */
    size_t keep_count;
    /* With MODE_PACED, before it: a host that works so long while the device may work, waits for
     * all that was submitted or does not, then works and then rests so long. */
    uint64_t overlapped_ns, alone_ns, idle_ns;
    bool waits;
} mode_run;

/* A value that is there before the step. */
typedef struct mode_input {
    mode_argument type;
    const void *host; /* its first contents, dense row-major */
    size_t heir_of;   /* the result that it is in the next step; MODE_NO_VALUE: it stays as it is */
} mode_input;
#define MODE_NO_VALUE SIZE_MAX

/*
 * A step as executions and the flow of values between them. Values are numbers: first the inputs,
 * then the results of each run, in order. All that it points to outlives the mode.
 */
typedef struct mode_sequence {
    const mode_part *parts;
    size_t part_count;
    const mode_input *inputs;
    size_t input_count;
    const mode_run *runs;
    size_t run_count;
} mode_sequence;

typedef enum mode_pace {
    MODE_QUEUED,  /* executions are submitted one behind the other */
    MODE_AWAITED, /* each is awaited before the next is submitted */
    MODE_PACED    /* before each, the host does what its run says; probes leave that out */
} mode_pace;

/*
 * A mode whose steps are SEQUENCE, and are awaited at their ends. Its executions come at PACE. What
 * MODE_PACED has before the first run it does behind the last one, up to the wait, which is that at
 * the end of the step; the rest is the next step's. The host is busy all that time: its work is the
 * ledger's `trace`, its rest `other`. Programs donate as they
 * say. An input that is consumed and no result's heir gets its first contents again before the next
 * step, which the ledger's `input` shows. Steps take an empty mode_call. BN_INVALID where the
 * values do not fit each other, BN_PLUGIN where a program has another number of results.
 */
BN_MUST_USE bn_code mode_create_sequence(rt_client *client, const mode_options *options,
                                         const mode_sequence *sequence, mode_pace pace, mode **out,
                                         bn_status *st);
/* The contents of input INDEX in the next step, owned by the mode; NULL: it is to be sent. */
rt_buffer *mode_sequence_input(const mode *m, size_t index);
/* The names of the modes that mode_create_sequence makes, for records. */
#define MODE_REPLAY         "replay"
#define MODE_REPLAY_AWAITED "replay-awaited"
#define MODE_REPLAY_PACED   "replay-paced"

#endif
