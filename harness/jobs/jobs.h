/*
 * jobs.h - the parent's half of measuring: experiments out of lists of values, one worker
 * process for each, how it ended, and the record that is kept.
 *
 * The parent never loads a plugin: a plugin can end or hang its process. A worker gets its job
 * as one JSON object on its standard input. It answers with JSON lines on descriptor 3
 * (worker.h). The worker uses the vocabulary of experiments below, too. Prefix job_.
 */
#ifndef BENCH_HARNESS_JOBS_H
#define BENCH_HARNESS_JOBS_H

#include <jansson.h>
#include <limits.h>
#include <sys/types.h>

#include "harness/cli/cli.h"
#include "models/model.h"
#include "models/weights/weights.h"
#include "modes/mode.h"
#include "results/records/records.h"

/* ---- matrices (matrix.c) --------------------------------------------------------- */

/* Words that say how device time is measured, and where that of a recorded program is from. */
#define JOB_DEVICE_TIMES "auto, slope, none"
#define JOB_COSTS        "recorded, roofline"

/* A step of a recording (step.c). */
typedef struct job_recorded {
    const char *folder;       /* NULL: none */
    int64_t process;          /* its pid; 0: the one with most executions */
    const char *step_program; /* name or hash of a step's first program; NULL: found */
    const char *cost;         /* of JOB_COSTS; NULL stands for "recorded" */
    const char *name;         /* of the records' model; NULL: the folder's */
    const char *digest; /* how the step's begins, 8 digits at least; another step is refused; NULL:
                           any */
} job_recorded;

/* Appends the end of the manual: exit codes and environment, as roff. (manual.c) */
void job_manual_end(bn_text *out);

/* ---- options of measuring (measure.def, options.c) ---- */

/* Sections of the first help. */
#define JOB_SECTION_MEASURE "Measure"
#define JOB_SECTION_LOOK    "Look at records"
#define JOB_SECTION_WHY     "Find out why"
#define JOB_SECTION_OTHERS  "Programs of others"

/* What an option says something of (cli_given). */
enum {
    JOB_ABOUT_MODEL = 1 << 0,     /* models only */
    JOB_ABOUT_PROGRAM = 1 << 1,   /* --program only */
    JOB_ABOUT_RECORDING = 1 << 2, /* a recorded step only */
    JOB_ABOUT_WORK = 1 << 3,      /* what is run, and how: not with a suite or with stores */
    JOB_ABOUT_PAIRS = 1 << 4,     /* how pairs of processes are run: not with stores */
    /* Groups of options that commands take together (cli_group.about). */
    JOB_ABOUT_NETWORK = 1 << 5, /* which network a model is */
    JOB_ABOUT_BUILD = 1 << 6,   /* of the runtime's client and compiler */
    JOB_ABOUT_LOOP = 1 << 7,    /* how a process measures */
    JOB_ABOUT_KEPT = 1 << 8,    /* how many processes, and what is kept of them */
    JOB_ABOUT_FILES = 1 << 9    /* further files of a run */
};

#define JOB_MEMBER_TEXT(member)   const char *member;
#define JOB_MEMBER_NUMBER(member) int64_t member;
#define JOB_MEMBER_SPAN(member)   double member;
#define JOB_MEMBER_FLAG(member)   bool member;
#define JOB_MEMBER_PAIRS(member)  const char *member[CLI_MAX_REPEATS + 1];

#define MEASURE(kind, member, ...) JOB_MEMBER_##kind(member)
/* How an experiment is measured, and what is kept of it; measure.def says what each member is.
 * Texts are borrowed; lists of NAME=VALUE end with NULL. */
typedef struct job_measure {
#include "harness/jobs/measure.def"
} job_measure;
#undef MEASURE

#define MEASURE(kind, member, ...) JOB_MEASURE_##member,
typedef enum job_measure_id {
#include "harness/jobs/measure.def"
    JOB_MEASURE_COUNT
} job_measure_id;
#undef MEASURE

/* Rows of tables, for cli_group.rows and .without: of job_measure_table, of job_axis_table. */
#define JOB_MEASURE_BIT(member) (UINT64_C(1) << JOB_MEASURE_##member)
#define JOB_AXIS_BIT(id)        (UINT64_C(1) << RES_AXIS_##id)
/* Rows of job_measure's members; OFFSET of a cli_group is that of a job_measure. */
const cli_table *job_measure_table(void);
/* The member of suites that measure.def has for row ID; "": none. */
const char *job_measure_suite(job_measure_id id);
/* HOW as a worker is sent it: a member an option (new reference). Texts that are NULL are absent. */
json_t *job_measure_to_json(const job_measure *how);
/* The same back. JSON must outlive *HOW. */
BN_MUST_USE bn_code job_measure_from_json(const json_t *json, job_measure *how, bn_status *st);

/* What is to be measured and how: a list of values for each axis. Command line, suite and
 * comparison fill it. All that it points to is borrowed and outlives it. */
typedef struct job_matrix {
    cli_list axis[RES_AXIS_COUNT]; /* an empty list: the axis' usual value */
    /* What is run in place of models: the file of a program, or a recorded step; at most one. */
    const char *program;
    job_recorded recorded;
    json_t *request;  /* what job_matrix_request made of them; NULL: models are run */
    cli_words types;  /* of its arguments, where it is in a form that does not tell them to us */
    cli_words inputs; /* its arguments' files; without a program at most one, the axis "input" */
    cli_words outputs, checks; /* files that its results are written to, and compared with */
    double rtol, atol;         /* of checks: |got - want| <= atol + rtol |want| */
    union {
        job_measure how;
        struct {
#define MEASURE(kind, member, ...) JOB_MEMBER_##kind(member)
#include "harness/jobs/measure.def"
#undef MEASURE
        };
    };
    json_t *echo; /* the options as given, for the records; may be NULL */
} job_matrix;

/* Rows of axes, by res_axis_id; OFFSET of a cli_group is that of a job_matrix. */
const cli_table *job_axis_table(void);
/* Rows of --program, of a job_matrix too, by these bits: what is run, and its results. */
enum {
    JOB_PROGRAM_RUN = 1 << 0 | 1 << 1,
    JOB_PROGRAM_RESULTS = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5
};
const cli_table *job_program_table(void);
/* Rows of a job_recorded, by these bits: its folder; which step; its cost. */
enum {
    JOB_RECORDED_FOLDER = 1 << 0,
    JOB_RECORDED_STEP = 1 << 1 | 1 << 2,
    JOB_RECORDED_COST = 1 << 3
};
const cli_table *job_recorded_table(void);
/* Fills MATRIX with what is run and how where no option is given; strings lie in MEMORY. */
void job_matrix_usual(job_matrix *matrix, bn_arena *memory);
/* MATRIX as the options that say it, by their names (new reference). */
json_t *job_matrix_echo(const job_matrix *matrix);
/* Whether what CALL's line gave fits what MATRIX runs: models, a program, or a recorded step.
 * Completes MATRIX: only then is it known whether --input gives a program's files or values of the
 * axis. */
BN_MUST_USE bn_code job_matrix_check(job_matrix *matrix, const cli_call *call, bn_status *st);

/* Whether AXIS of a model takes WORD. If it does not, appends to KNOWN the values that it takes. */
bool job_axis_takes(res_axis_id axis, const char *word, bn_text *known);
/* The value of AXIS that somebody may have meant who wrote WORD, into MEANT; false: none. */
bool job_axis_meant(res_axis_id axis, const char *word, char meant[RES_TEXT]);
/* The value, of any axis, that other programs call WORD; NULL: none. */
const char *job_axis_synonym(const char *word);
/* Appends the names of known runtimes, "a, b, c". */
void job_runtime_names(bn_text *out);
/* Whether AXIS says something of recorded steps, or of programs that others wrote; all others are
 * of models. */
bool job_axis_of_steps(res_axis_id axis);
bool job_axis_of_programs(res_axis_id axis);
/* Whether WORD is a mode of recorded steps. */
bool job_mode_of_steps(const char *word);
/* Makes WORD, or NUMBER, the one value of AXIS. WORD is not copied. */
void job_matrix_set(job_matrix *matrix, res_axis_id axis, const char *word);
void job_matrix_set_number(job_matrix *matrix, res_axis_id axis, int64_t number);
/* Reads what MATRIX runs in place of models, and makes of it what a worker is told: *REQUEST, a new
 * reference also after a failure; NULL where models are run. Fails where the program or the
 * recording cannot be read or run. */
BN_MUST_USE bn_code job_matrix_request(const job_matrix *matrix, json_t **request, bn_status *st);

/* Exit code of a worker without memory (bn_out_of_memory_exits). */
#define JOB_EXIT_MEMORY 71

/* ---- experiments (experiment.c) ---------------------------------------------------- */

/* How files of timelines end that workers leave for the parent (bn_timeline_read). */
#define JOB_TIMELINE_END ".timeline"

/* One experiment, ready for a worker. All that it points to is borrowed: from its matrix, or
 * from the JSON that it was read from. */
typedef struct job_experiment {
    res_experiment what;
    union {
        job_measure how;
        struct {
#define MEASURE(kind, member, ...) JOB_MEMBER_##kind(member)
#include "harness/jobs/measure.def"
#undef MEASURE
        };
    };
    bool compile_anew;        /* compile also what CACHE_DIR has, and keep it there */
    json_t *echo;             /* the options as given; or NULL */
    json_t *program;          /* what job_matrix_request made; NULL: a model is run */
    json_t *suite;            /* which suite and repetition this is, for the record; or NULL */
} job_experiment;

/* Makes *LIST (malloc) of all combinations of MATRIX' values. Combinations that cannot be run
 * (more graphs in a mode that does not cut) are left out, and NOTES says so, a line each. With a
 * request, only the axes of programs or of recorded steps count; a step's modes stand side by side.
 * BN_INVALID for a value that does not exist, and where nothing is left. */
BN_MUST_USE bn_code job_matrix_expand(const job_matrix *matrix, job_experiment **list,
                                      size_t *count, bn_text *notes, bn_status *st);
/* Replaces "the model's own" and "auto" in WHAT by what FILLED, a model's options, has. */
void job_experiment_fill(const model_options *filled, res_experiment *what);
/* The same without a worker, by making the model of E: WHAT becomes what E's record will say, so
 * that a failed experiment belongs to the same cell of a table as one that went well. It is as E
 * has it where there is no such model, and for programs and recorded steps. */
void job_experiment_resolve(const job_experiment *e, res_experiment *what);
/* How plugins call the form of an optimized program, and how the files of bench run --graph-report
 * end that have it. The last row, whose format is "", is for any other. */
typedef struct job_program_form {
    const char *format, *ending;
} job_program_form;
#define JOB_PROGRAM_FORMS 4
extern const job_program_form job_program_forms[JOB_PROGRAM_FORMS];
/* The name of the file with the optimized program of X, in FORM. Both digests are in it, since one
 * text becomes a program of its own on each runtime. */
#define JOB_PROGRAM_NAME 128
void job_program_name(const res_execution *x, const job_program_form *form,
                      char name[JOB_PROGRAM_NAME]);
/* "resnet50 train lazy b1 f32 on cpu" */
void job_experiment_title(const job_experiment *e, char *text, size_t size);
/* What a worker is sent (new reference), and its way back. JSON must outlive *E. */
json_t *job_experiment_to_json(const job_experiment *e);
BN_MUST_USE bn_code job_experiment_from_json(const json_t *json, job_experiment *e, bn_status *st);

/* ---- other front ends (framework.c) ---------------------------------------------------------- */

/* Whether a framework runs E's steps, and not bench. */
bool job_is_framework(const res_experiment *w);
/* Whether FRONT_END, bench or another, has the mode NAME for PHASE (NULL: for any). */
bool job_front_end_has_mode(const char *front_end, const char *name, const char *phase);
/* Value INDEX, from 0, of the axis mode or front_end, into WORD; false after the last. Modes that
 * only frameworks have come behind bench's own. */
bool job_mode_name(size_t index, char word[RES_TEXT]);
bool job_front_end_name(size_t index, char word[RES_TEXT]);
/* Why W's front end cannot run it, into TEXT; false where it can. Of bench only the mode is looked
 * at. */
bool job_framework_refuses(const job_matrix *matrix, const res_experiment *w, char *text,
                           size_t size);

/* ---- what suits a runtime (habits.c) ------------------------------------------------- */

/* PATH is the runtime's file; before that is known, its name serves as well. */

/* Whether NAME, a runtime's name or path, looks like the simulated one. A loaded plugin says so
 * itself (worker_session_simulated). */
bool job_simulated_name(const char *name);
/* The options of W's model on the runtime at PATH. */
model_options job_model_options(const res_experiment *w, const char *path);
/* Whether two processes may hold the device of RUNTIME at the same time, as far as its name tells:
 * a CPU, or a simulated one. Plugins of accelerators take the device, or its memory, for
 * themselves. */
bool job_shares_device(const char *runtime, const char *path);
/* The NAME=VALUE that the client of RUNTIME gets unless the user gave one; NULL: none. */
const char *job_usual_option(const char *runtime, const char *path);

/* ---- arrays in files (npy.c) ------------------------------------------------------------ */

/* NumPy's .npy files (NEP 1: magic, version, a header that is a Python literal, then the elements).
 * bf16, which NumPy lacks, is written as uint16 bits; two-byte void, as ml_dtypes writes it, is
 * read too. */
typedef struct job_npy {
    rt_dtype dtype; /* of the file; BN_U16 may stand for bf16 */
    bool void_bits; /* two-byte void: bf16 */
    size_t rank;
    int64_t dims[RT_MAX_RANK];
    const char *data; /* dense row-major, in the bytes that were parsed */
    size_t size;      /* bytes of it */
} job_npy;

/*
 * Reads the SIZE bytes at BYTES, the contents of the file NAME, and nothing beyond them. ARRAY
 * points into BYTES. BN_FORMAT says what is damaged; BN_NOT_SUPPORTED names a dtype or an order
 * (Fortran, big-endian) that is not read.
 */
BN_MUST_USE bn_code job_npy_parse(const char *name, const char *bytes, size_t size, job_npy *array,
                                  bn_status *st);
/* Writes a version 1.0 file at PATH, which appears whole or not at all. */
BN_MUST_USE bn_code job_npy_write(const char *path, rt_dtype dtype, size_t rank,
                                  const int64_t *dims, const void *data, bn_status *st);

/* ---- programs that others wrote (program.c) ------------------------------------------- */

/* What a worker is told of MATRIX' program: see job_matrix_request. Fails also where its arguments'
 * files do not fit, in number or type, where a file is missing, and where none can be written. */
BN_MUST_USE bn_code job_program_request(const job_matrix *matrix, json_t **request, bn_status *st);
/* The program that a request names, and its arguments. */
typedef struct job_program_text {
    char *text; /* the file */
    size_t length;
    char sha256[BN_SHA256_TEXT]; /* of the file */
    mode_form form;
    rt_program program; /* its code is the file's, or a part of it */
    mode_argument *arguments;
    size_t count;
    bool told;     /* the program tells the types; else the user did */
    size_t inputs; /* arguments that come from files: all or none */
} job_program_text;
/* Reads it. BN_CHANGED where the request has a sha256, and it is not the file's. To be freed also
 * after a failure. */
BN_MUST_USE bn_code job_program_read(const json_t *request, job_program_text *program,
                                     bn_status *st);
void job_program_text_free(job_program_text *program);
/* The files that a request has for LIST, "inputs", "outputs" or "checks": which, and how many. */
const char *job_program_file(const json_t *request, const char *list, size_t index);
size_t job_program_files(const json_t *request, const char *list);
/* Reads the array in the file PATH into HOST, unless that is NULL. It must have the type of A (bf16
 * may be bits), which is number INDEX of the arguments or results, as WHAT says; else BN_INVALID.
 */
BN_MUST_USE bn_code job_program_array(const char *path, const mode_argument *a, const char *what,
                                      size_t index, void *host, bn_status *st);
/* Says in WHAT which program runs, in place of a model. */
void job_program_describe(const json_t *request, res_experiment *what);

/* ---- steps that were recorded (step.c, program.c) --------------------------------------- */

/*
 * A request for a replay (worker/recorded.c runs it) is an object with the members
 *   recording, recorded    the folder, and what is known of it, for the record
 *   name, sha256           of the step: same digest, same work
 *   cost                   of programs on a simulated device that cannot read them: "recorded",
 *                          "roofline", "estimated"
 *   topology               that the times of "estimated" are for; else absent
 *   programs               [{"name", "form", "code": {"path", "sha256"}, "options": likewise or
 *                          absent, "arguments": ["f32[2,3]", ...], "results": likewise, "aliases":
 *                          ["ARGUMENT:RESULT", ...], "device_us", "flops", "bytes": as recorded, or
 *                          null; "estimated_us" where "cost" says so}]
 *   inputs                 [{"type": "f32[2,3]", "from": the value that it is in the next step, -1:
 *                          it stays}]
 *   runs                   [{"program": index, "arguments": [values], "keep": [indices]}]
 *   host                   {"steps", "work_ns", "idle_ns", "waits", "ahead", "before": of each run
 *                          {"beside_us", "alone_us", "idle_us", "waits"}, as mode_run has them};
 *                          absent: not told
 * Values are numbers as mode_sequence has them. The digest is not of times.
 */
typedef struct job_step {
    json_t *request;
    char name[RES_TEXT], framework[RES_TEXT];
    uint32_t pid;
    size_t steady; /* steps that were recorded */
    size_t programs, executions, inputs, carried;
    double input_bytes;
    double wall_ns, device_ns; /* recorded medians; DEVICE_NS is NaN where it is not told */
    /* What the host did in a step beside its calls, and how often it waited for the device. AHEAD:
     * not before a next step, in most steps. */
    double host_ns, idle_ns;
    size_t waits;
    bool ahead;
    bool cpu_clocks; /* were recorded: else waits outside of calls count as work */
} job_step;

/* Reads RECORDED's folder and makes the request of one of its steady steps. The code of each
 * program must have the hash under which it was kept. BN_NOT_FOUND: no recording, process, step or
 * code; BN_FORMAT, BN_CHANGED: damaged or edited; BN_NOT_SUPPORTED: steps of several devices, and
 * inputs that cannot be made up. To be freed also after a failure. */
BN_MUST_USE bn_code job_step_read(const job_recorded *recorded, job_step *step, bn_status *st);
void job_step_free(job_step *step);
/* "step 0123456789ab": the step of REQUEST, whatever its programs cost. */
void job_step_variant(const json_t *request, char variant[RES_TEXT]);
#define JOB_MOST_TOPOLOGY 24 /* bytes of a topology's name, for variants have it */
/* Whether REQUEST, which may be NULL, is of a recorded step. */
bool job_is_step(const json_t *request);
/* Whether A and B, which have programs, are the same recorded step. */
bool job_same_step(const job_experiment *a, const job_experiment *b);
/* Says in WHAT, which has its mode, which step runs, in place of a model. */
void job_step_describe(const json_t *request, res_experiment *what);

/* ---- before any worker starts (ready.c) ------------------------------------------------ */

/* Makes the folder STORE if need be, and removes what dead workers left in it. */
BN_MUST_USE bn_code job_store_ready(const char *store, bn_status *st);
/* Names the COUNT damaged files LIST of a store on standard error. */
void job_say_damaged(const res_damaged *list, size_t count);
/* Finds the file of RUNTIME and writes its name to PATH. */
BN_MUST_USE bn_code job_runtime_ready(const char *runtime, char *path, size_t size, bn_status *st);
/* The same of the plugin that W's steps run on, which a front end may have of its own (way.c). PATH
 * is "" where that is known only once it has run: res_plugin_unforeseen. */
BN_MUST_USE bn_code job_plugin_find(const res_experiment *w, char path[PATH_MAX], bn_status *st);
/* Whether the front end, --pin, --idle-cores and --cache-dir of E can be had, unless they are those
 * of LAST, which may be NULL. Says once where a front end is not of the pinned versions. */
BN_MUST_USE bn_code job_words_check(const job_experiment *e, const job_experiment *last,
                                    bn_status *st);
/* All three for all of LIST, which has one store and is not empty; then --weights, as far as it can
 * be checked without a runtime. */
BN_MUST_USE bn_code job_experiments_check(const job_experiment *list, size_t count, bn_status *st);
/* Maps FILE and finds in it all that INSTANCE needs; used in workers, too. */
BN_MUST_USE bn_code job_weights_open(const char *file, const model *instance,
                                     model_weights **weights, bn_status *st);

/* ---- one job in one worker (supervisor.c, ending.c) ------------------------------------- */

/* What a worker is asked to do. */
typedef struct job_order {
    json_t *request;   /* borrowed: {"job": NAME, ...}, NAME a row of the table in main.c; gets the
                          member JOB_BEGUN */
    const char *title; /* for people */
    size_t number, of; /* experiment 3 of 12, for the progress line */
    double timeout;    /* seconds; 0: none */
    bool verbose;      /* pass the worker's standard error through */
    bool more;         /* further processes of the same experiments follow */
} job_order;

/* The member of a request that says when its worker was started, as bn_now_ns. */
#define JOB_BEGUN "begun_ns"

/* The stage of a worker that gives the runtime its options. */
#define JOB_LOADING "loading the runtime"

typedef struct job_outcome {
    bn_code status;     /* of the job; BN_CRASH, BN_TIMEOUT, BN_CANCELLED, ... */
    char message[1024]; /* why it failed, with the worker's last words; "" where it did not */
    pid_t pid;          /* of the worker, which is gone */
    bool usage;         /* the runtime refused what the user asked of it: no experiment was begun */
    size_t strange;     /* lines among the worker's answers that are none; standard error says it */
    json_t *result;     /* what the worker sent last, or NULL; owned by the caller */
} job_outcome;

/* Catches SIGINT and SIGTERM from here on, and ignores SIGPIPE and SIGXFSZ. To be called before
 * the first job. */
void job_supervise_begin(void);
/* True once the user asked to stop. Jobs then end with BN_CANCELLED. */
bool job_interrupted(void);
/*
 * Runs JOB in a worker process of its own process group, shows its progress, and waits for its
 * end. No process of the group outlives the call. However the worker fails (crash, kill, hang,
 * lack of memory), that is an OUTCOME; only a worker that cannot be started is an error of this
 * call, and then OUTCOME has no result.
 */
BN_MUST_USE bn_code job_supervise(const job_order *job, job_outcome *outcome, bn_status *st);

/*
 * Runs two jobs "measure" whose requests have {"turns": true} in two workers that live at the same
 * time, and of which one at most runs (duet benchmarking: L. Bulej et al., "Duet benchmarking",
 * ICPE 2020). The second starts once the first has warmed up. Then each round is a turn of both,
 * in an order that a coin, drawn with SEED, decides. Where one fails, the other is cancelled. A
 * job's timeout counts the other's turns, too.
 */
BN_MUST_USE bn_code job_supervise_pair(const job_order jobs[2], uint64_t seed,
                                       job_outcome outcomes[2], bn_status *st);

/* ---- where the time went (spent.c) --------------------------------------------------------- */

/* Seconds of workers by phase. What is in none of them: the process' own start and end, records,
 * and all of a worker that died. */
typedef struct job_spent {
    size_t processes;
    double start_s;   /* plugin, client, model and weights */
    double compile_s; /* the plugin's compile calls, or loads, of the warm-up */
    double warmup_s;  /* the rest of the warm-up */
    double rounds_s;  /* rounds and the probes of executions */
    double all_s;
} job_spent;
/* Adds a worker that took SECONDS and told the phases TOLD: {"start_s": 1.5, ...}, or NULL. */
void job_spent_add_worker(job_spent *spent, const json_t *told, double seconds);
void job_spent_add(job_spent *spent, const job_spent *other);
/* "8 processes in 21.0 s: start 6.1 s, compile 3.0 s, warm-up 1.2 s, rounds 9.9 s, rest 0.8 s" */
void job_spent_words(const job_spent *spent, bn_text *text);

/* What one process spent, in ns. */
typedef struct job_spending {
    bool known;
    double own_ns, shared_ns; /* for the experiment; for all experiments of the process */
} job_spending;
/* The same experiment before. */
typedef struct job_before {
    job_spending first, further; /* a process that compiles, and one behind it */
    bool is_short;               /* its steps, in the first */
} job_before;
/* Experiment number INDEX of those that CONTEXT has. */
typedef const job_experiment *job_experiment_at(const void *context, size_t index);
/* [i]: what experiment number i of COUNT spent before, by the newest records of this machine in
 * STORE, measured under the same options; from malloc, NULL: no memory. It takes a second or little
 * more, and looks for no more than the first hundred. */
job_before *job_spent_before(const char *store, job_experiment_at *at, const void *context,
                             size_t count);

/* ---- experiments in workers (group.c, keep.c) --------------------------------------------- */

#define JOB_MOST_MEMBERS 16 /* of a group: modes, numbers of graphs and front ends are fewer */
/*
 * A group: experiments that a table sets side by side, and that are therefore measured in the same
 * processes, in turns. Where they cannot be (memory, or their common process died), each has
 * processes of its own from then on, in an order that is drawn anew for each turn. Other front ends
 * always have: they run next to bench's process.
 */
typedef struct job_group {
    char id[RES_TEXT]; /* unique, for the records */
    int processes;     /* that are planned */
    bool usual;        /* nobody has asked for a number of processes */
    uint64_t seed;     /* of orders; 0: the clock's */
    bool separate;     /* each experiment has processes of its own */
    bool apart;        /* the last process had its cores apart all the time (cores_watch) */
    char why[512];     /* it is separate; "" */
    job_spent spent;   /* by its processes so far */
} job_group;
#define JOB_USUAL_PROCESSES 4
#define JOB_SHORT_PROCESSES 16
#define JOB_SHORT_SHARE     8 /* part of the time of each process but the first */
/* A new group of PROCESSES processes with a name of its own; 0: JOB_USUAL_PROCESSES, until
 * job_group_learn. */
void job_group_begin(job_group *group, int processes, uint64_t seed);
/* Whether A and B, which are resolved, belong into one group: they differ in mode, graphs and front
 * end only, and both are of models. Frameworks have processes of their own in it. */
bool job_same_group(const job_experiment *a, const job_experiment *b);

/* Brings the experiments of each group together, else keeps their order; returns how many groups
 * there are. */
size_t job_groups_arrange(job_experiment *list, size_t count);
/* The end of the group that begins at FIRST in LIST, which was arranged. */
size_t job_group_end(const job_experiment *list, size_t count, size_t first);

/* Measures E in a worker of its own. JOB says how; its request is not looked at. Reads the record
 * that the worker wrote; *RECORD is the caller's. The worker's failure becomes the status, and a
 * record of it is kept, unless the user stopped it. BN_IO where the store takes none. */
BN_MUST_USE bn_code job_measure_in_worker(const job_experiment *e, const job_order *job,
                                          res_record **record, bn_status *st);

/* The same for A and B, which take turns in two processes that live at the same time. Where either
 * fails RECORDS has neither. FAULT, of the failure: 0 is A's, 1 is B's. */
BN_MUST_USE bn_code job_measure_in_turns(const job_experiment *const pair[2],
                                         const job_order jobs[2], uint64_t seed,
                                         res_record *records[2], int *fault, bn_status *st);

/* What became of an experiment that was run to be kept. */
typedef struct job_kept {
    res_record *record; /* as it is in the store, also that of a failure; NULL: there is none.
                           Owned by the caller */
    bn_status failure;  /* BN_CANCELLED: the user stopped it, and there is no record */
    bn_status store;    /* why the store takes no records any more, or BN_OK */
    bool usage;         /* FAILURE is the user's, as job_outcome.usage: there is no record of it */
} job_kept;
/* Process PROCESS (from 1; 0: it has no partner in GROUP) of GROUP: measures the COUNT experiments
 * LIST, and fills KEPT[i] for each. Keeps a record of each failure as well. GROUP learns whether
 * its experiments have to be separate. JOB says how; its request is not looked at, its timeout is
 * that of one experiment, and further workers of this process have the numbers behind JOB's. Prints
 * nothing but progress. */
void job_measure_and_keep(job_group *group, int process, const job_experiment *list, size_t count,
                          const job_order *job, job_kept *kept);
/* After the first process of GROUP: where nobody has asked for a number of processes and the steps
 * of all COUNT experiments LIST took less than RES_SHORT_STEP_NS, plans JOB_SHORT_PROCESSES, and
 * divides LIST's times by JOB_SHORT_SHARE for the further ones. It looks at how long steps take and
 * never at how they vary: stopping by the spread would make intervals too narrow. */
void job_group_learn(job_group *group, job_experiment *list, size_t count, const job_kept *kept);
/* How many processes GROUP of COUNT experiments will have: JOB_SHORT_PROCESSES where
 * job_group_learn would plan them by what stands in BEFORE, which may be NULL: nothing is known. */
int job_group_foreseen(const job_group *group, const job_before *before, size_t count);
/* Seconds that PROCESSES processes of GROUP with the COUNT experiments LIST take, by BEFORE. Where
 * that does not say, *TOLD becomes false, and it is what they measure at least. */
double job_group_seconds(const job_group *group, int processes, const job_experiment *list,
                         const job_before *before, size_t count, bool *told);
/* In how many workers a process of a group of the COUNT experiments LIST is measured: one for all
 * that bench runs itself, and one for each of a framework. */
size_t job_group_workers(const job_experiment *list, size_t count);
/* "resnet50 train lazy, capture b1 f32 on cpu": what the COUNT experiments LIST of a group are. */
void job_group_title(const job_experiment *list, size_t count, char *text, size_t size);

/* ---- executables of a run (cache.c) -------------------------------------------------------- */

/* A run has a folder of executables for itself, for experiments without a cache_dir: the first
 * process compiles anew, further ones load. */
#define JOB_CACHE_PATH 4200
typedef struct job_cache {
    char path[JOB_CACHE_PATH]; /* "": there is none */
    int lock;                  /* the folder, open and locked, where there is one */
} job_cache;
/* Makes the folder in STORE, which exists, for this process and its user alone. Where the file
 * system cannot keep others out, or all names for it are taken, says so on standard error, and the
 * path is empty: each process compiles. End it also after a failure. */
BN_MUST_USE bn_code job_cache_begin(const char *store, job_cache *cache, bn_status *st);
/* Gives CACHE, if there is one, to those of the COUNT members LIST of a process that have no
 * cache_dir. ANEW: the process compiles what is in it already; programs that members share, only
 * the first of them does. */
void job_cache_lend(const job_cache *cache, job_experiment *list, size_t count, bool anew);
/* Removes it, if there is one. */
void job_cache_end(job_cache *cache);
/* Removes what processes of this machine that are gone left in STORE. What a process has locked
 * stays, whether we see the process or not. */
void job_cache_sweep_old(const char *store);

/* ---- the recorder before a program's runtime (way.c) ---------------------------------------- */

/* How the recorder gets between a program and a runtime. */
typedef struct job_way {
    char runtime[PATH_MAX];  /* a name or path; never "auto" */
    char recorder[PATH_MAX]; /* libpjrt_record.so */
    char plugin[PATH_MAX];   /* that it stands before; "": those that the program finds itself */
    /* PLUGIN's, NULL where there is none, and the recorder's, as they were before the program
     * starts; owned. */
    rt_plugin_file *file, *recorder_file;
    uint64_t made_ns;  /* when this was made, in ns since 1970 */
    json_t *variables; /* {NAME: TEXT}: what the program's environment gets; owned */
    bn_text conflicts; /* a line each: what the user has set, and what follows of it */
    char blocked[400]; /* the first of them that keeps a framework from the recorder; "": none */
} job_way;

/* Makes WAY for RUNTIME, "auto" or a name or path, and PROGRAM, as it was given. FOLDER, a whole
 * path, is of the recording. To be freed also after a failure. */
BN_MUST_USE bn_code job_way_make(const char *runtime, const char *program, const char *folder,
                                 job_way *way, bn_status *st);
/* After the program has ended: the digest of the plugin, or of the recorder, at PATH, which it had
 * loaded. BN_CHANGED where the file was replaced or changed since WAY was made, as nobody knows
 * then which one ran. */
BN_MUST_USE bn_code job_way_digest(const job_way *way, const char *path,
                                   char sha256[BN_SHA256_TEXT], bn_status *st);
/* BN_CHANGED where the file of WAY's plugin, if it has one, or of its recorder was. */
BN_MUST_USE bn_code job_way_check(const job_way *way, bn_status *st);
void job_way_free(job_way *way);

/* ---- folders that go away (scratch.c) -------------------------------------------- */

/* Makes a folder for the user alone, in PARENT or, where that is NULL or others may write it or a
 * folder above it, in $TMPDIR or /tmp, and writes its whole path to PATH. BN_INVALID where others
 * may do so there, too: a framework reads what to do in it. */
BN_MUST_USE bn_code job_scratch_begin(const char *parent, char path[PATH_MAX], bn_status *st);
/* Removes it with all that is in it, unless PATH is empty, and empties PATH. */
void job_scratch_end(char path[PATH_MAX]);
/* Removes those of STORE, and of $TMPDIR or /tmp, whose process on this machine is gone. */
void job_scratch_sweep_old(const char *store);
/* Calls REMOVE_ONE for each folder of STORE, open as PARENT, that is called PREFIX, a process of
 * this machine that is gone, "-", the machine's name, and then one of the COUNT characters AFTER
 * ('\0': the end). Links are no folders. */
void job_folders_sweep(const char *store, const char *prefix, const char *after, size_t count,
                       void (*remove_one)(int parent, const char *name));

/* ---- progress (progress.c) --------------------------------------------------------------- */

/* job_supervise calls these; a command that works without a worker calls them itself. */
void job_progress_begin(const job_order *job);
/* JOB is at STAGE, DONE OF so many; OF 0: the stage has no count. */
void job_progress_stage(const job_order *job, const char *stage, int64_t done, int64_t of);
/* The line of JOB, which has ended: "ok" or the class of its first failure, how long it took, and
 * how long is left. One before more has none unless it failed, is verbose, or a minute had none. */
void job_progress_end(const job_order *job, const job_outcome *outcome);
/* To be called before a job: how long it and all jobs after it will take, in seconds, for the
 * time left that is shown. A negative JOB_S: not known. Holds for that job only. */
void job_progress_expect(double job_s, double after_s);
/* What the processes of one group take. The first of them compiles, and the others load. */
typedef struct job_pace {
    int processes, ended;                /* that are still to come, and that have ended */
    size_t workers;                      /* of each */
    double first_s, further_s;           /* by earlier records; negative: they do not say */
    double first_took_s, further_took_s; /* by those that have ended: the first, all others */
} job_pace;
/* Says before the first of OF jobs how long all take: SECONDS, and where TOLD is false at least so
 * long; that Ctrl-C keeps what is done; whether cores sleep meanwhile, by what cores_idle_begin
 * makes of IDLE_CORES; and where this machine is busy, that it is. */
void job_progress_plan(size_t of, double seconds, bool told, const char *idle_cores);
/* The same before the COUNT experiments LIST, which were arranged, and each of whose groups will be
 * as PLAN is. Behind WHAT, "" or "replay of train: ", it also says how many they are, in how many
 * processes, on which runtime, and where their records go. Their store, which it reads for a second
 * or little more, tells how long the same took. PACES, unless NULL, gets one for each group. */
void job_progress_tell(const char *what, const job_group *plan, const job_experiment *list,
                       size_t count, job_pace *paces);
/* As job_progress_expect, of all workers of the next process, which is of group WHICH of COUNT.
 * What earlier records do not say, the processes that have ended do. */
void job_pace_expect(const job_pace *paces, size_t count, size_t which);
/* A process of the group ended after SECONDS, and PROCESSES more will come. */
void job_pace_ended(job_pace *pace, double seconds, int processes);

/* ---- the machine (host.c) ------------------------------------------------------------------ */

/* What records say of bench itself; before, they say "unknown". VERSION is static. */
void job_set_version(const char *version);
/* Hostname, kernel, processor, cores, governor, memory, load, hwloc topology (summary and XML),
 * compiler, bench version (new reference). What cannot be read is null. */
json_t *job_host_describe(void);
/* What whoever started this process left it, where that is less or other than usual, for the
 * record (new reference): its cores, its priority. NULL: nothing is. */
json_t *job_process_describe(void);
/* The share of the last ten seconds in which something on this machine waited for a core; -1:
 * unknown. */
double job_host_stalled(void);
/* Bytes of memory that the machine can still give out; -1: unknown. */
int64_t job_host_memory_left(void);
/* Bytes of memory that this process uses now, used at most, and has of files now; -1: unknown. */
typedef struct job_memory {
    int64_t now, peak, of_files;
} job_memory;
job_memory job_host_memory(void);

#endif
