/*
 * recordings.h - recordings of PJRT calls: reading what the recording plugin wrote
 * (runtime/record/format.h), and what it says about the recorded program's steps.
 *
 * All bytes of a recording are foreign. What does not fit is skipped and counted; nothing in it is
 * believed that could lead out of an array. Texts are plain (bn_is_plain). Prefix rec_.
 */
#ifndef BENCH_RESULTS_RECORDINGS_H
#define BENCH_RESULTS_RECORDINGS_H

#include <jansson.h>

#include "results/profiles/profiles.h"
#include "results/stats/stats.h"
#include "runtime/base/base.h"
#include "runtime/record/format.h"

/* An index that leads nowhere: unknown, or none. */
#define REC_NONE UINT32_MAX

/* ---- what was recorded ------------------------------------------------------------------ */

/* A plugin that a process loaded, and what its client said of itself. */
typedef struct rec_plugin {
    const char *path, *platform, *platform_version; /* "": unknown */
    uint32_t major, minor;                          /* of its API */
    uint64_t table_bytes;
} rec_plugin;

/* A device that a client addresses. */
typedef struct rec_device {
    const char *text; /* its debug string */
    int64_t id;
    uint32_t plugin; /* index; REC_NONE: unknown */
    uint64_t client; /* handle: devices with the same number are of one client */
    uint64_t bytes;  /* of its memory; 0: unknown */
} rec_device;

/* A thread that called a plugin. */
typedef struct rec_thread {
    uint32_t number;  /* the kernel's */
    const char *name; /* "": unknown */
} rec_thread;

/* Length of NAME without a number behind a dot, as PyTorch/XLA's "SyncTensorsGraph.102" has. */
size_t rec_stem(const char *name);

/* Type and shape of a buffer. */
typedef struct rec_type {
    int type; /* a PJRT_Buffer_Type, as the plugin said it; 0: unknown */
    uint32_t rank;
    const int64_t *dims; /* [rank] */
} rec_type;

/* A program: all executables that were compiled of the same bytes with the same options. */
typedef struct rec_program {
    uint32_t process;                       /* index of its process, for rec_program_read */
    char hash[RECORD_HASH_TEXT];            /* of its code; "": it was not kept */
    char options[RECORD_HASH_TEXT];         /* of its compile options; "": not kept */
    const char *form;                       /* "mlir", "hlo", "executable"; "": unknown */
    const char *name;                       /* as the plugin calls it; "": unknown */
    uint64_t code_bytes;                    /* size of the code as it was submitted */
    uint32_t results;                       /* of an execution on one device */
    const uint32_t *result_types;           /* [results]: indices of types; NULL: unknown */
    uint32_t devices;                       /* that it runs on, at least 1 */
    double flops, bytes;                    /* of an execution; NaN: unknown */
    uint64_t temporary_bytes, kernel_bytes; /* UINT64_MAX: unknown */
    uint32_t compiles;                      /* that succeeded */
    bool deserialized;                      /* the first of them loaded a compiled executable */
    bool described;                         /* its plugin said what it is */
    uint64_t compile_ns;                    /* of all of them */
    uint32_t executions;
} rec_program;

/* A loaded executable. */
typedef struct rec_executable {
    uint32_t program;
    uint32_t compile; /* the call that made it; REC_NONE: not seen */
    uint32_t devices; /* that it runs on */
    uint32_t first;   /* their indices are at rec_process.executable_devices[first] */
} rec_executable;

/* An execution: a call of PJRT_LoadedExecutable_Execute. */
typedef struct rec_execution {
    uint64_t number; /* the recorder's */
    uint64_t begin_ns, end_ns;
    uint64_t cpu_begin_ns, cpu_end_ns; /* of the calling thread; both 0: not measured */
    uint64_t main_cpu_ns; /* of the main thread at begin; 0: it is the caller, or not measured */
    uint64_t launch;
    uint32_t thread;     /* index */
    uint32_t executable; /* index; one that was not seen before has a program without a name */
    uint32_t program;    /* its */
    uint32_t devices;    /* that it ran on: at least 1 */
    uint32_t arguments, results; /* on each of them */
    uint32_t kept;               /* arguments that it must not donate */
    uint32_t spans;              /* index of the first of DEVICES spans */
    uint64_t operands;           /* where its numbers begin, see rec_argument */
    bool failed;
} rec_execution;

/* An execution on one device. */
typedef struct rec_span {
    uint64_t start_ns;    /* the later of the call's begin and the last end on that device */
    uint64_t complete_ns; /* 0: unknown */
    uint32_t device;      /* index; REC_NONE: unknown */
    uint32_t execution;
} rec_span;

typedef enum rec_origin {
    REC_FROM_EXECUTION,
    REC_FROM_CALL,   /* a transfer, copy, view, ...: see rec_call */
    REC_FROM_NOWHERE /* first seen when it was used: its making was not recorded */
} rec_origin;

typedef enum rec_fate {
    REC_LIVES,     /* to the recording's end */
    REC_DELETED,   /* PJRT_Buffer_Delete took its memory; its handle lives to the end */
    REC_DESTROYED, /* with its memory, or deleted first */
    REC_DONATED,   /* its memory was gone without PJRT_Buffer_Delete: to its last execution */
    REC_REPLACED   /* its end was not recorded; another buffer got its address, or there was a pause
                    */
} rec_fate;

/* Whether an execution took a buffer's memory, as the plugin said or as others of its executable
 * make believe: see runtime/record/format.h. */
typedef enum rec_taken { REC_TAKEN_UNKNOWN, REC_NOT_TAKEN, REC_TAKEN } rec_taken;

/* A buffer. Its number is its index: addresses are used again, numbers are not. */
typedef struct rec_buffer {
    uint32_t maker;    /* index of the execution or call that made it; REC_NONE: from nowhere */
    uint32_t result;   /* of an execution: which of its results, on device SPAN */
    uint32_t span;     /* of an execution: index of its span, which says the device */
    uint32_t type;     /* index; REC_NONE: unknown */
    uint32_t last_use; /* the last execution that took it as an argument; REC_NONE: none */
    uint32_t uses;     /* by executions */
    uint8_t origin;    /* rec_origin */
    uint8_t fate;      /* rec_fate: by what the plugin said at its end, else by TAKEN */
    uint8_t taken;     /* rec_taken: by its last use */
    uint64_t end_ns;   /* when its handle was destroyed, or a little before; 0: not */
} rec_buffer;

typedef enum rec_call_kind {
    REC_CALL_COMPILE,
    REC_CALL_FROM_HOST, /* a buffer of a host's bytes, or such bytes into one that was there */
    REC_CALL_TO_HOST,
    REC_CALL_READ,   /* the host waits for a buffer, and reads it where it is */
    REC_CALL_COPY,   /* a buffer of another device's or memory's */
    REC_CALL_BUFFER, /* a view, an alias, an uninitialized buffer: no bytes move */
    REC_CALL_WAIT    /* PJRT_Event_Await */
} rec_call_kind;

/* A call other than an execution, if it takes time. */
typedef struct rec_call {
    uint64_t begin_ns, end_ns;
    uint64_t cpu_begin_ns, cpu_end_ns; /* of the calling thread; both 0: not measured */
    uint64_t complete_ns;              /* of transfers: when the bytes had arrived; 0: unknown */
    uint64_t bytes;                    /* of transfers and buffers; of a compile, of its code */
    uint32_t thread;                   /* index */
    uint32_t buffer;                   /* made or read; REC_NONE */
    uint32_t of;                       /* of a copy or view: the buffer that it is of; REC_NONE */
    uint32_t device;                   /* of buffers; REC_NONE: unknown */
    uint32_t program;                  /* of compiles; REC_NONE */
    uint8_t kind;                      /* rec_call_kind */
    bool failed;
    bool loaded; /* of compiles: it loaded an executable that was compiled before */
} rec_call;

/* How long a thread had been ready without running, by the kernel's count, at one reading. */
typedef struct rec_delay {
    uint64_t time_ns;
    uint64_t from_ns;  /* the reading before: what it grew by, it grew behind that; 0: none */
    uint64_t total_ns; /* since the thread began */
    uint32_t thread;   /* index */
} rec_delay;

/* The program said where it is: runtime/record/mark.h. */
typedef struct rec_marker {
    uint64_t time_ns;
    int64_t number;   /* the program's own */
    const char *name; /* "": none */
    uint32_t thread;  /* index */
    uint8_t what;     /* enum record_mark_kind */
} rec_marker;

/* A time in which nothing was recorded but programs and completions: the user wanted a part, or
 * the middle was dropped. */
typedef struct rec_pause {
    uint64_t from_ns, to_ns; /* UINT64_MAX: to the end */
} rec_pause;

/* Events of the middle of the run, which gave way to later ones. */
typedef struct rec_dropped {
    bool any;
    uint64_t events;
    uint64_t from_ns, to_ns; /* when the first and the last of them began */
    uint32_t pause;          /* index of the pause that they make */
} rec_dropped;

struct rec_process;
/* From when to when events are missing, in ns after the recording of PROCESS began. It has DROPPED
 * some. */
void rec_dropped_when(const struct rec_process *process, uint64_t *from_ns, uint64_t *to_ns);

/* Whether the host reads a value by CALL. */
static inline bool rec_call_reads(const rec_call *call)
{
    return call->kind == REC_CALL_TO_HOST || call->kind == REC_CALL_READ;
}

/*
 * A process. Its arrays are in order of the slots but for EXECUTIONS and CALLS, which are in order
 * of BEGIN_NS, MARKS, in order of TIME_NS, and DELAYS, in order of threads and then of TIME_NS.
 * They take about as much memory as its events do on disk, and the analysis of steps as much again;
 * a recording made to take much, of handles that are never destroyed, takes ten to twenty times
 * that. Reading needs 8 MiB more.
 */
typedef struct rec_process {
    const char *folder; /* its name in the recording's folder, made plain */
    uint32_t pid, parent;
    uint32_t main_thread;       /* index; REC_NONE: it made no call */
    uint64_t begin_ns;          /* when the file was made */
    uint64_t epoch_ns;          /* the same moment since 1970 */
    uint64_t first_ns, last_ns; /* of all calls; 0 without calls */
    uint64_t lost;              /* events that the recorder did not write */
    rec_dropped dropped;        /* that it wrote and removed: bench record --limit */
    uint32_t unseen;            /* plugins of which it recorded nothing */
    enum record_stop stop;      /* why it stopped */
    uint64_t slots;             /* that were read, the first one left out */
    uint64_t skipped;           /* of them: not finished, of no event, or of an event that does not
                                   fit the format */
    uint64_t bytes;             /* of the files of events */
    uint64_t strays;            /* ends of buffers and executables whose making was not recorded */
    uint64_t misbelieved;       /* times that what was believed of donation was seen to be wrong */
    const char *const *command; /* ends with NULL */
    const char *framework;      /* "jax 0.10.2"; "": unknown. The first that was reported */
    const char *const *frameworks; /* all of them; ends with NULL */
    const char *const *errors;     /* what plugins said of failures, at most 100; ends with NULL */
    const char *const *lies;       /* answers of plugins that cannot be; likewise */
    /* What the program wanted and did not get, of the recorder: "IDENTIFIER: words"; likewise. */
    const char *const *notes;
    uint64_t failures;             /* calls that failed */
    bool partial;                  /* a part of the run was asked for: see PAUSES */
    bool cpu_clocks;               /* whether any call has CPU clocks */
    bool completions;              /* whether any execution has a completion */
    rec_plugin *plugins;
    rec_device *devices;
    rec_thread *threads;
    rec_type *types;
    rec_program *programs;
    rec_executable *executables;
    uint32_t *executable_devices;
    rec_execution *executions;
    rec_span *spans;
    rec_buffer *buffers;
    rec_call *calls;
    uint32_t *operands;
    rec_delay *delays; /* of a thread without one nothing is known */
    rec_marker *marks;
    rec_pause *pauses; /* in order of time, as the file has them */
    size_t plugin_count, device_count, thread_count, type_count, program_count, executable_count,
        executable_device_count, execution_count, span_count, buffer_count, call_count,
        operand_count, delay_count, mark_count, pause_count;
    rec_profile profile; /* bench record --profile */
    void *owned;         /* of the reader */
} rec_process;

typedef struct rec_recording {
    const char *path;
    int folder;             /* the open folder */
    json_t *about;          /* recording.json, an object; NULL: absent, or cannot be read */
    bn_status about_fault;  /* why it cannot be read */
    rec_process *processes; /* in order of their beginning */
    size_t process_count;
    /* Processes whose folder, events or profile cannot be read, for whatever reason: at most 16 of
     * them are named. */
    struct rec_damaged {
        char name[64];
        bn_status why;
    } damaged[16];
    size_t damaged_count; /* all of them */
} rec_recording;

/*
 * Reads the recording in the folder PATH, or of one process in its own folder. It may still be
 * written, or have ended anyhow. *RECORDING is for rec_close. Messages begin with PATH.
 * BN_NOT_FOUND: there is no such folder, or no process's events in it; where no process can be
 * read, BN_FORMAT: the first one is damaged, BN_NOT_SUPPORTED: it is of a later version, BN_IO: the
 * system refused it. BN_OUT_OF_MEMORY.
 */
BN_MUST_USE bn_code rec_open(const char *path, rec_recording **recording, bn_status *st);
void rec_close(rec_recording *recording); /* NULL allowed */

/* Refuses, with the path and the code of rec_open, where a process of RECORDING cannot be read and
 * may be the one that is asked for: that with PID or, where that is 0, with most executions. HOW
 * says how the user names one: "with --process"; NULL: there is no way. */
BN_MUST_USE bn_code rec_check_whole(const rec_recording *recording, uint32_t pid, const char *how,
                                    bn_status *st);

/* The process with PID or, where that is 0, with most executions; NULL: none. */
const rec_process *rec_process_find(const rec_recording *recording, uint32_t pid);

/* The span of EXECUTION on DEVICE, an index or REC_NONE for an unknown one; NULL: it did not run
 * there.
 */
const rec_span *rec_span_on(const rec_process *process, const rec_execution *execution,
                            uint32_t device);

/* The number of argument or result INDEX of EXECUTION on its device DEVICE (0 is the first);
 * REC_NONE where an execution has none such, or the plugin gave none. */
uint32_t rec_argument(const rec_process *process, const rec_execution *execution, uint32_t device,
                      uint32_t index);
uint32_t rec_result(const rec_process *process, const rec_execution *execution, uint32_t device,
                    uint32_t index);
/* Whether BUFFER was donated to EXECUTION, of which it is an argument. */
bool rec_donated(const rec_process *process, uint32_t execution, uint32_t buffer);

/* "f32", "pred", ...: of a PJRT_Buffer_Type; NULL: there is none such. */
const char *rec_type_name(int type);
/* Bytes of a buffer of TYPE without padding; 0: unknown. */
uint64_t rec_type_bytes(const rec_type *type);
/* "f32[2,3]", "?" where it is unknown. */
void rec_type_put(const rec_process *process, uint32_t type, bn_text *out);

/*
 * The code of PROGRAM, or its compile options, into *BYTES (malloc, ended by a zero byte that *SIZE
 * does not count). The file is opened without following links, must be a regular one and have the
 * hash that its name says: BN_FORMAT where it does not, BN_NOT_FOUND where it was not kept.
 */
#define REC_MOST_PROGRAM ((size_t)1 << 31)
BN_MUST_USE bn_code rec_program_read(const rec_recording *recording, const rec_program *program,
                                     char **bytes, size_t *size, bn_status *st);
BN_MUST_USE bn_code rec_options_read(const rec_recording *recording, const rec_program *program,
                                     char **bytes, size_t *size, bn_status *st);

/* Whether A and B, serialized compile options, ask for the same: processes write the maps in them in
 * any order (options.c). Bytes that are no options are alike where they are equal. */
bool rec_options_alike(const void *a, size_t a_size, const void *b, size_t b_size);

/* ---- stretches of time (spans.c) -------------------------------------------------------- */

/* Zero-initialise; release with rec_spans_free. */
typedef struct rec_spans {
    struct rec_stretch {
        uint64_t from, to, before; /* BEFORE: the length of all spans before this one */
    } * list;
    size_t count, capacity;
} rec_spans;

/* Adds one, unless it is empty. False without memory. */
BN_MUST_USE bool rec_spans_add(rec_spans *spans, uint64_t from, uint64_t to);
/* When all are there: puts them in order, and joins those that overlap. */
void rec_spans_merge(rec_spans *spans);
/* How much of FROM to TO they cover. */
uint64_t rec_spans_covered(const rec_spans *spans, uint64_t from, uint64_t to);
void rec_spans_free(rec_spans *spans);

/* ---- its framework (framework.c) -------------------------------------------------------- */

/* The name and version of the framework, "jax 0.10.2": of the libraries that the process had
 * loaded, the one that its programs are of; "unknown". */
const char *rec_framework(const rec_process *process);
typedef enum rec_framework_kind {
    REC_OTHER_FRAMEWORK, /* or unknown */
    REC_JAX,
    REC_PYTORCH_XLA
} rec_framework_kind;
rec_framework_kind rec_framework_of(const rec_process *process);

/* ---- steps ------------------------------------------------------------------------------ */

/* Parts of a step's wall time, which they sum to. docs/steps.md says how each nanosecond is
 * assigned. A row: member, name in JSON. */
#define REC_PARTS(X)                                                                               \
    X(HOST, "host_work")     /* the framework on a CPU, outside of PJRT calls */                   \
    X(DISPATCH, "dispatch")  /* in Execute calls */                                                \
    X(TRANSFER, "transfers") /* in calls that make buffers or send bytes to the device */          \
    X(READ, "reads")         /* in calls that copy bytes from the device */                        \
    X(COMPILE, "compile")    /* in compilations */                                                 \
    X(WAIT, "waits")         /* in Event_Await or a call that reads a value where it is, or off    \
                              * the CPU while the device worked */                                 \
    X(READY, "ready")        /* ready and not run outside of calls: others had the cores */        \
    X(IDLE, "idle")          /* off the CPU while the device did not work: a loader, a sleep */
typedef enum rec_part {
#define X(member, name) REC_PART_##member,
    REC_PARTS(X)
#undef X
        REC_PART_COUNT
} rec_part;
const char *rec_part_name(rec_part part);

typedef struct rec_options {
    uint32_t pid;             /* 0: the process with most executions */
    int64_t device;           /* id; negative: the device with most executions */
    const char *step_program; /* name, beginning of the name and an asterisk, or beginning of the
                                 hash (8 digits at least), of the first program of a step; NULL:
                                 steps are looked for */
    bool keep_warmup;         /* steps with compiles and those before the steady ones count, too */
    /* Only executions whose call began from FROM_NS on and before TO_NS, of the clock of the
     * recording; both 0: all. STEPS: the program says that these are so many steps of equally many
     * executions each, one behind the other; 0: unknown. Where the number does not go into that
     * of the executions, steps are looked for. The last step has no next one to end it. */
    uint64_t from_ns, to_ns;
    uint32_t steps;
    /* Only steps of one variant of their program, where it has several: the type of the argument
     * that changes, or 8 digits of a hash or more; "": the most frequent one; NULL: all. */
    const char *variant;
} rec_options;

/* How steps were found: what says where each begins. A row: member, name in JSON. */
#define REC_FOUNDS(X)                                                                              \
    X(PERIOD, "period")   /* a sequence of programs that comes again and again */                  \
    X(STATE, "state")     /* the program that carries the state from step to step */               \
    X(NAME, "name")       /* without state: the program that most of the device's time is of */    \
    X(PROGRAM, "program") /* the one that the user named */                                        \
    X(COUNT, "count")     /* so many steps of equally many executions, as the caller says */       \
    X(MARKS, "marks")     /* the program itself */
typedef enum rec_found {
#define X(member, name) REC_FOUND_##member,
    REC_FOUNDS(X)
#undef X
        REC_FOUND_WAYS
} rec_found;
const char *rec_found_name(rec_found found);

/* A step: from the begin of its first execution to that of the next step's; with
 * rec_steps.by_completion from the end of the work before it to that of its own. */
typedef struct rec_step {
    uint32_t number;            /* among all marks: see rec_steps.marks */
    uint32_t first, executions; /* rec_steps.order[first] is its first execution */
    uint64_t begin_ns, wall_ns;
    uint64_t complete_ns;             /* when all its work had ended on the devices; 0: unknown */
    uint64_t part_ns[REC_PART_COUNT]; /* sum to WALL_NS */
    uint64_t gap_ns[REC_PART_COUNT];  /* of them, while the device did not work: sum to WALL_NS less
                                         BUSY_NS */
    uint64_t busy_ns;                 /* a device of the steps worked */
    uint64_t ready_ns; /* the ledger's thread was ready and not run: REC_PART_READY, and what of its
                          calls was */
    bool ahead; /* the next step's first execution began before this one's last had ended */
} rec_step;

/* A program of the steps. Times are medians over its executions in the steady steps. Programs that
 * take turns from step to step, and whose names and numbers of arguments and results are alike, are
 * variants of one: its shapes change. */
typedef struct rec_step_program {
    uint32_t program;                       /* index; of variants the most frequent one */
    uint32_t variants;                      /* 1: it is alone */
    double least_device_ns, most_device_ns; /* of variants: the shortest and longest median; NaN */
    double times;          /* a step, on average */
    uint32_t executions;   /* in all steady steps */
    double device_ns;      /* from start to completion; NaN: unknown */
    double device_step_ns; /* all of a step together, on average */
    double device_share_ns; /* of an execution: what those of a step take together, over their
                               number; NaN: unknown */
    double kernels_ns;    /* of an execution, while kernels ran, as the plugin's profiler says; NaN:
                             unknown */
    double call_ns;       /* of Execute */
    double overhead_ns;   /* DEVICE_NS minus KERNELS_NS, 0 at least: the call, the launch, gaps
                             between kernels and the way back; NaN: unknown */
    double behind_ns;     /* the device had ended so long after the call's return; 0: before it;
                             NaN: unknown */
    double gap_before_ns; /* the device did not work before it started */
    double host_before_ns; /* from the end of the last Execute to its begin */
    /* Host time by part while no device of the steps worked, before the program began: the mean of
     * a step, so that the programs' sum to the mean of the steps' gap_ns. What follows a step's
     * last execution comes before the first one. */
    double gap_ns[REC_PART_COUNT];
    uint32_t arguments, results, donated; /* of its first execution there, on one device */
} rec_step_program;

/* Host work before an execution of a usual step, besides its calls: means over the steps
 * that take neither long nor short. Of the first one, behind the last one of the step before. */
typedef struct rec_before {
    double overlapped_ns; /* host work while the device worked */
    double alone_ns;  /* while it did not */
    double idle_ns;   /* REC_PART_IDLE */
    bool waits;       /* in most of these steps, for all that had been submitted */
} rec_before;

/* Device time of an execution: by the plugin's profiler where that saw it, else its share between
 * completions; NaN: unknown. */
double rec_step_program_device_ns(const rec_step_program *program);
/* Whether its executions end within 100 us and within five times their calls, but not within their
 * calls, by the medians: then nearly all of them is the fixed cost of an execution. False where no
 * device time is known. */
bool rec_step_program_is_short(const rec_step_program *program);

/* A figure over all steady steps; one value is the mean of rec_steps.cycle steps in a row. NaN:
 * unknown. */
typedef struct rec_figure {
    double median_ns, p10_ns, p90_ns;
    double mean_ns; /* of all steps: means of the parts sum to that of the wall */
} rec_figure;

/* Time of a thread in a step, by part. Threads work at the same time, so theirs does not sum to the
 * wall. Where calls nest, the outer one counts; a call is of the step in which it began. */
typedef struct rec_step_thread {
    uint32_t thread;      /* index */
    double executions;    /* a step, on average, on any device */
    rec_figure host_work; /* on a CPU outside of its calls: tracing. NaN: no clock of it is known */
    rec_figure dispatch;  /* in Execute calls */
    rec_figure calls;     /* in its other calls, waits included */
} rec_step_thread;
#define REC_MOST_THREADS 64 /* of which this is known: those with most executions, then calls */

/* Parts of a process's whole run. A row: member, name in JSON. */
#define REC_RUN_PARTS(X)                                                                           \
    X(START, "start")     /* until the first step begins */                                        \
    X(COMPILE, "compile") /* in compile calls, at any time */                                      \
    X(STEPS, "steps")                                                                              \
    X(EVALUATION, "evaluation") /* between steps, with other programs than theirs */               \
    X(CHECKPOINT, "checkpoint") /* between steps: half of the state or more is read */             \
    X(OTHER, "other")           /* between steps, of which nothing is known */                     \
    X(UNRECORDED, "unrecorded") /* at any time, in pauses of the recording, without compiles */    \
    X(END, "end")               /* after the last step */
typedef enum rec_run_part {
#define X(member, name) REC_RUN_##member,
    REC_RUN_PARTS(X)
#undef X
        REC_RUN_PART_COUNT
} rec_run_part;
const char *rec_run_name(rec_run_part part);

/* A whole run: its parts sum to its length. */
typedef struct rec_run {
    uint64_t begin_ns, end_ns; /* of the process, as far as anybody can tell */
    double part_ns[REC_RUN_PART_COUNT];
} rec_run;

typedef struct rec_steps {
    const rec_process *process;
    uint32_t device;       /* index of the device that was chosen; REC_NONE: unknown */
    const uint32_t *order; /* executions on it that did not fail, by begin */
    size_t order_count;
    rec_step *list; /* the steady steps, in order of time */
    size_t count;
    uint32_t executions_per_step; /* of most steps */
    rec_found how;
    size_t marks;          /* steps that began, the last one included, whose end nothing tells */
    const char *mark_name; /* with REC_FOUND_MARKS: of the program's marks; else "" */
    uint32_t mark_program; /* with REC_FOUND_STATE, _NAME: index; else REC_NONE */
    uint64_t state_bytes;  /* with REC_FOUND_STATE */
    /* A program that may be the step as well, once in UNCLEAR_EVERY steps (index); REC_NONE: the
     * steps are clear. */
    uint32_t unclear;
    double unclear_every;
    /* The host runs ahead of the device: steps are from completion to completion, and figures are
     * means of CYCLE steps in a row, since single completions may be told late. CYCLE is 1 where
     * it does not, and else a thirtieth of the steps, so where completions are unknown. */
    bool by_completion;
    uint32_t cycle;
    bool kept; /* what compiles or warms up is in the list, too: KEEP_WARMUP */
    /* With rec_options.variant: the one (index of the program) that all steps of the list have, of
     * how many (0: none was chosen), and the steady steps of the others. */
    uint32_t variant, variants;
    size_t of_others;
    rec_run run;
    uint32_t *begins;   /* [marks]: positions at which steps begin; order_count: behind the last */
    uint64_t *times_ns; /* [marks]: when they begin */
    bool *plain;      /* [marks]: a step like most, without compiles; of warm-up or not */
    /* [program of the process]: its name is executed between steps, before or after them, and in no
     * step that is like most: an evaluation. */
    bool *outside;
    /* The steps before warm-up was cut: their number and their mean. */
    size_t whole_count;
    double whole_ns;
    /* Steps that were found and left out. */
    size_t found, with_compiles, profiled, warming, unlike;
    size_t paused;                /* likewise: they hold a pause of the recording */
    uint64_t compile_ns;          /* in those with compiles */
    bool cpu_clocks, completions; /* where not, host work, waits and idle cannot be separated */
    bool delays;                  /* where not, READY is part of waits and idle */
    uint32_t dispatch_thread;     /* index of the thread with most executions */
    uint32_t main_thread;         /* that the ledger is of, index */
    rec_step_program *programs;   /* in the order of a step */
    size_t program_count;
    uint32_t *row_of;    /* [program of the process]: its row in PROGRAMS; REC_NONE: none */
    rec_before *before;  /* [executions_per_step]: of the steps that have so many */
    size_t before_steps; /* of which it is known; 0: none */
    /* The one that the ledger is of, then those that called in the steady steps. */
    rec_step_thread *threads;
    size_t thread_count;
    size_t threads_unlisted; /* beyond REC_MOST_THREADS */
    /* While kernels ran in a step, by the plugin's profiler: sums over its programs of medians and
     * their 95 % intervals. NaN where it does not tell one of them, or too long ones. */
    res_interval kernels_ns;
    bool kernels_too_long; /* longer than the step */
    struct rec_sequence *sequence; /* owned; of this room only */
} rec_steps;

/* Programs that PROCESS compiled or loaded in the later half of its executions. */
typedef struct rec_late_compiles {
    uint32_t executions; /* that the half has */
    uint32_t compiles;
    const rec_program *program; /* that took longest */
} rec_late_compiles;
/* Whether it did so again and again, and did not only warm up for long: a program that compiles in
 * each step has no steady ones, and one that does so now and then has more time than they say. */
bool rec_compiles_late(const rec_process *process, rec_late_compiles *late);
/* Why PROCESS, of RECORDING, then has no steady steps, as JSON (new reference; docs/steps.md). */
json_t *rec_compiles_late_json(const rec_recording *recording, const rec_process *process,
                               const rec_late_compiles *late);

/*
 * Finds the steps of one device of one process, and accounts for the steady ones. PROCESS must
 * outlive *STEPS, which is for rec_steps_free. BN_NOT_FOUND, and what to try: no such process,
 * device or program, no executions, or nothing in them comes again and again.
 */
BN_MUST_USE bn_code rec_steps_find(const rec_recording *recording, const rec_options *options,
                                   rec_steps **steps, bn_status *st);
void rec_steps_free(rec_steps *steps); /* NULL allowed */

/* The span of EXECUTION, one of the steps, on their device. It may have run on others at once. Of
 * an execution that did not run there it is the first span. */
const rec_span *rec_steps_span(const rec_steps *steps, const rec_execution *execution);

/* How many samples there are of a step: means of rec_steps.cycle steps in a row. What is left over
 * at the end is in none. */
size_t rec_steps_samples(const rec_steps *steps);
/* Sample INDEX: the first of its steps, but for the times, which are means over all of them. The
 * parts still sum to the wall. */
rec_step rec_steps_sample(const rec_steps *steps, size_t index);

rec_figure rec_steps_wall(const rec_steps *steps);
rec_figure rec_steps_busy(const rec_steps *steps);
rec_figure rec_steps_ready(const rec_steps *steps); /* ready_ns; where DELAYS */
rec_figure rec_steps_part(const rec_steps *steps, rec_part part);
rec_figure rec_steps_gap(const rec_steps *steps, rec_part part);

/* The median of VALUES, one of each steady step, with the interval of the answer, below; with
 * rec_steps.by_completion, or without completions, their mean. */
res_interval rec_steps_interval(const rec_steps *steps, const double *values);
/* The mean of VALUES, whose error is that of the means of the same batches: for differences. */
res_estimate rec_steps_mean(const rec_steps *steps, const double *values);

/* ---- variants of a program (variants.c) --------------------------------------------------- */

/* What differs between the variants of a program. A row: member, name in JSON. */
#define REC_VARYINGS(X)                                                                            \
    X(CODE, "code")           /* arguments have the same types, so the code differs */             \
    X(DIMENSION, "dimension") /* one dimension of an argument, and those that follow from it */    \
    X(SEVERAL, "several")     /* dimensions that do not follow from one */                         \
    X(TYPE, "type")           /* the type of elements, or the number of dimensions */              \
    X(UNKNOWN, "unknown")     /* the recording lacks types */
typedef enum rec_varying {
#define X(member, name) REC_VARYING_##member,
    REC_VARYINGS(X)
#undef X
        REC_VARYING_COUNT
} rec_varying;
const char *rec_varying_name(rec_varying varying);

typedef struct rec_variant {
    uint32_t program;
    int64_t value; /* of the dimension that changes; -1: several do, or none */
    uint32_t executions;
    uint64_t compile_ns; /* all of its compilations */
    double time_ns;      /* of an execution, or a request: the median; NaN: unknown */
    uint32_t timed;      /* of which that is */
} rec_variant;

/* The programs of one name with as many arguments and results, that were executed on the steps'
 * device. */
typedef struct rec_variants {
    rec_variant *list; /* by value, then in the order in which they came first */
    size_t count;
    rec_varying varying;
    /* Of the first argument that changes; REC_NONE: none, or of DIMENSION that there is none. */
    uint32_t argument, dimension;
    uint32_t following; /* further dimensions that follow from it */
    uint32_t others;    /* further arguments that change, of SEVERAL and TYPE */
    uint32_t repeated;  /* variants with the types of another one: their code differs, too */
    bool of_requests; /* TIME_NS is of requests that compile nothing; else of device times, without
                       * the first execution of each variant */
    double spread;    /* standard deviation of one of these times, as a share of its median; NaN:
                       * unknown */
    uint32_t spread_of; /* degrees of freedom of it */
    uint32_t *first;    /* [count]: a first execution of each, as LIST is ordered */
} rec_variants;

struct rec_requests;
/* The variants of PROGRAM; with REC_NONE of the programs that were compiled for longest. Times are
 * those of REQUESTS, unless that is NULL or requests overlap. For rec_variants_free, also after a
 * failure. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code rec_variants_make(const rec_steps *steps, uint32_t program,
                                      const struct rec_requests *requests, rec_variants *variants,
                                      bn_status *st);
void rec_variants_free(rec_variants *variants);
/* Appends the type of the argument that changes, as it is in variant INDEX; nothing where none is
 * known to. */
void rec_variant_put(const rec_steps *steps, const rec_variants *variants, size_t index,
                     bn_text *out);

/* Appends which variant STEPS were chosen to have: "f32[17,512] (hash 0123abcd), one of 32";
 * nothing where none was. */
void rec_chosen_put(const rec_steps *steps, bn_text *out);
/* Appends its name for tables: the type that changes, else its hash. */
void rec_chosen_name(const rec_steps *steps, bn_text *out);

/* ---- requests (requests.c) ---------------------------------------------------------------- */

/* A request: from its first call to the end of what it answers. */
typedef struct rec_request {
    uint64_t begin_ns, end_ns; /* END_NS 0: unknown */
    uint32_t program;          /* that it is a run of */
    bool compiles;
    bool queued; /* it had not ended when its thread began the next one */
} rec_request;

/* NaN: unknown, as the 99th percentile of fewer than 100 requests, the 90th of fewer than 10. */
typedef struct rec_latency {
    size_t count;
    double p50_ns, p90_ns, p99_ns, mean_ns;
    size_t behind_p99; /* requests that took as long or longer */
} rec_latency;

typedef struct rec_requests {
    rec_request *list; /* all of them, in order; none is left out */
    size_t count;
    size_t compiling, queued, unended;
    size_t told_late;    /* completions that were told after the next request's begin, which is then
                          * the end */
    uint64_t compile_ns; /* in requests */
    uint32_t at_once;    /* requests in flight, at most */
    rec_latency latency; /* of those whose end is known */
    double window_ns;    /* from the first one's begin to the last end, without pauses of the
                          * recording */
    double between_ns;   /* from the end of one to the first call of the next one, where they do not
                          * overlap: the median; NaN: unknown */
    rec_variants variants;
    rec_latency *shapes; /* [variants.count] */
} rec_requests;

/* The requests of STEPS, which carry no state (REC_FOUND_NAME); else none. For rec_requests_free,
 * also after a failure. BN_OUT_OF_MEMORY. */
BN_MUST_USE bn_code rec_requests_make(const rec_steps *steps, rec_requests *requests,
                                      bn_status *st);
void rec_requests_free(rec_requests *requests);
/* Appends what the figures of REQUESTS are, in sentences. */
void rec_requests_put(const rec_requests *requests, bn_text *out);
/* {"count", "p50_ns", ...} as docs/steps.md says (new reference); null where there are none. */
json_t *rec_requests_json(const rec_steps *steps);

/* ---- the answer ------------------------------------------------------------------------- */

typedef enum rec_verdict {
    REC_UNKNOWN,       /* completions were not recorded */
    REC_DEVICE_BOUND,  /* the device works nearly all the time */
    REC_HOST_BOUND,    /* it waits, mostly while nothing is submitted to it */
    REC_DISPATCH_BOUND /* it waits, mostly while something is; without a profile: calls that
                          nothing hides are a third of the step */
} rec_verdict;
const char *rec_verdict_name(rec_verdict verdict); /* "device-bound", ... */

/* All times are of a step, with 95 % intervals of batches of successive steps (docs/steps.md); the
 * bounds are NaN where there are too few steps. */
typedef struct rec_answer {
    rec_verdict verdict;
    double busy_share;       /* of the wall time, by KERNELS_NS where that is known; NaN: unknown */
    res_interval kernels_ns; /* as in rec_steps */
    rec_part gap_part;       /* the largest part of the device's gaps between completions */
    /* Time of the mean step in which the device does not work: HOST while nothing is submitted to
     * it, DISPATCH while something is. NaN without completions. With DISPATCH_PROFILED a profile
     * shows all of it, including the way back to the host. Without a profile it may be CALLS_NS
     * more: Execute calls that no device work hides; 0 with a profile. */
    double host_gap_ns, dispatch_gap_ns, calls_ns;
    bool dispatch_profiled;
    double ahead_share; /* of the steps: the host was in the next one while the device worked */
    res_interval wall_ns;
    res_interval no_gaps_ns;   /* without host gaps: the device's own time */
    res_interval host_only_ns; /* what the host needs by itself: host work, dispatch, transfers,
                                 reads */
    res_interval overhead_ns;  /* fixed cost of an execution, at most: the cheapest program's */
    res_interval fused_ns;     /* one execution instead of N; NaN where N is 1 */
    uint32_t executions;       /* N */
    bool overhead_known;       /* whether OVERHEAD_NS is known at all */
    bool fixed_whole;          /* it is a short program's whole execution; else a call */
} rec_answer;
rec_answer rec_answer_make(const rec_steps *steps);

/* How long step INDEX is in Execute calls while nothing that was submitted before keeps the
 * device busy, in ns. Of a call that had not returned when its execution ended, WITHIN_NS at most:
 * the program may have run in it. Completions do not show when in a call the device begins. */
double rec_step_calls_ns(const rec_steps *steps, size_t index, double within_ns);
/* All of these calls in the mean step where they are a tenth of it, and no profile says whether
 * the device works in them; else 0. */
double rec_unattributed_calls_ns(const rec_steps *steps, const rec_answer *answer);

/* What the plugin's profile tells of the steps. */
typedef enum rec_profile_state {
    REC_PROFILE_UNASKED,
    REC_PROFILE_NONE,     /* there is none, or it cannot be read */
    REC_PROFILE_TOO_LONG, /* kernels run for longer than a step takes */
    REC_PROFILE_PARTIAL,  /* not all programs of a step are in it, or two share a name */
    REC_PROFILE_TAKEN     /* the device's times of the answer are of it */
} rec_profile_state;
rec_profile_state rec_steps_profile(const rec_steps *steps);
const char *rec_profile_state_name(rec_profile_state state); /* "too-long", ... */

/* Appends the answer in sentences, a line each, with their assumptions. */
void rec_answer_put(const rec_steps *steps, const rec_answer *answer, bn_text *out);

/* Appends a time with three digits, "12.3 ms"; with its bounds, "12.3 ms [12.1 ms, 12.6 ms]". */
void rec_time_put(bn_text *out, double ns);
void rec_interval_put(bn_text *out, res_interval ns);

/* Executions of a step, on average; and in words: "3 executions", "1 execution in most, 12 on
 * average" where steps differ much. */
double rec_executions_mean(const rec_steps *steps);
void rec_executions_put(const rec_steps *steps, bn_text *out);

/* {"steps", "executions_per_step", "ledger", "programs", "verdict", ...} as docs/steps.md says (new
 * reference); NULL without memory. */
json_t *rec_steps_json(const rec_recording *recording, const rec_steps *steps,
                       const rec_answer *answer);

#endif
