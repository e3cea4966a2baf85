/*
 * estimate_priv.h - what the files of harness/estimate share. From top to bottom, each file calls
 * only those below it:
 *
 *   estimate_command.c  the command: steps, topologies, layouts, one after the other
 *   estimate_step.c     a step's graphs    estimate_recorded.c  a recorded step's programs
 *   estimate_compile.c  a program, compiled in a worker unless it was compiled before, and its line
 *   estimate_sim.c      times for the simulated device
 *   estimate_picture.c  figures over the number of layers
 *   estimate_record.c   records of a store
 *   estimate_table.c    the table           estimate_notes.c  the sentences below it
 *   estimate_line.c     a graph's line, as JSON, and its figures
 *   estimate_facts.c    published clocks and times
 *   estimate_cache.c    results of earlier compilations
 *   estimate_job.c      the worker's half
 *
 * A line is a JSON object of one graph, or recorded program, on one topology:
 *   step, number, of        its step, its number in the step from 1, and how many there are
 *   experiment              the step, as in a record
 *   topology, layouts       as asked for
 *   graph, module           its label, and the program's name in its text
 *   nodes, flops, text_bytes  of ours; of recorded programs 0 and null, but for the bytes
 *   times_a_step            how often the step executes it
 *   trace_ns                of this host, to trace the whole step; null of recorded programs
 *   submitted_ns            tracing before the host can submit the graph, by TRACE_NS and the
 *                           emulated cost of a node; 0 in capture; null of recorded programs
 *   recorded                the recording, as in a request (jobs.h); or absent
 *   class, message          "ok", or why there is no estimate
 *   cached                  it was compiled before
 *   estimate                the worker's result; see estimate_job.c
 *   clock_ghz, clock_source, estimated_ms   null where the clock is unknown
 */
#ifndef BENCH_HARNESS_ESTIMATE_PRIV_H
#define BENCH_HARNESS_ESTIMATE_PRIV_H

#include "harness/estimate/estimate.h"
#include "results/tables/tables.h"
#include "runtime/hlo/hlo.h"

/* Classes of a line in addition to those of bn_code_name. */
#define ESTIMATE_OK       "ok"
#define ESTIMATE_MEMORY   "out-of-device-memory" /* too little, by the compiler */
#define ESTIMATE_TOPOLOGY "no-topology"          /* the plugin has none of that name */

#define ESTIMATE_TITLE 512 /* bytes; enough for any */

/* ---- estimate_facts.c ----------------------------------------------------------------- */

/* Gigahertz of the devices of TOPOLOGY, and its source; 0: unknown. */
double estimate_clock(const char *topology, const char **source);
/* A time that was published. */
typedef struct estimate_time {
    double ms;
    bool wall; /* of the host, which waited: the device took less; false: of the device */
    const char *source;
    const char *scope; /* the part of the model that was measured; NULL: all of it */
} estimate_time;
/* Finds that of WHAT on TOPOLOGY, of its graph LABEL, or of the whole step where LABEL is NULL.
 * False: none is known. */
bool estimate_published(const res_experiment *what, const char *topology, const char *label,
                        estimate_time *found);

/* ---- estimate_job.c -------------------------------------------------------------------- */

/* ITEMS as a list of objects (new reference). All behind the first 2000 are one item, "(rest)",
 * with their sums, their count, and how many of them lack a figure. */
json_t *estimate_items(const hlo_items *items);

/* ---- estimate_cache.c ------------------------------------------------------------------ */

/* All that a result depends on. */
typedef struct estimate_key {
    const char *sha256; /* of the plugin */
    const char *topology;
    const char *const *option, *const *flag; /* each ends with NULL */
    const char *format;                      /* of the program; NULL: "mlir" */
    const char *text;                        /* of LENGTH bytes; NULL: it has the DIGEST */
    size_t length;
    const char *digest;
} estimate_key;
/* The result for KEY in the open FOLDER (-1: none; new reference), or NULL. Reports an entry that
 * is of no use. */
json_t *estimate_cache_get(int folder, const estimate_key *key);
/* Keeps RESULT. A failure costs a later compilation, and is no error. */
void estimate_cache_put(int folder, const estimate_key *key, const json_t *result);

/* ---- estimate_line.c -------------------------------------------------------------------- */

/* Member NAME, or PART.NAME, of LINE's estimate; -1: unknown. */
double estimate_figure(const json_t *line, const char *part, const char *name);
/* Items of LINE's list NAME; of them those without a known figure LACKING, "cycles" or "times",
 * unless it is NULL. */
size_t estimate_count(const json_t *line, const char *name, const char *lacking);
bool estimate_is_ok(const json_t *line);
/* Whether RESULT, from a worker or a file, has the form of estimate_job.c. */
bool estimate_sound(const json_t *result);
/* Adds clock and time to LINE. */
void estimate_time_line(json_t *line);
/* The end of the lines of the step that begins at FIRST. */
size_t estimate_step_end(const json_t *lines, size_t first);
/* How often its step executes LINE's program; 1 by default. */
double estimate_times(const json_t *line);
/* Sum over the lines from FIRST to END; -1 where one is unknown. */
double estimate_sum(const json_t *lines, size_t first, size_t end, const char *part,
                    const char *name);
/* estimate_sum of a whole step: each line counts as often as the step executes it. */
double estimate_sum_of_step(const json_t *lines, size_t first, size_t end, const char *name);
/* The largest of the lines from FIRST to END; -1 where one is unknown, which may be the largest. */
double estimate_largest(const json_t *lines, size_t first, size_t end, const char *part,
                        const char *name);
/* Whether WHAT is a recorded step. */
bool estimate_is_recorded(const res_experiment *what);
/* LINE's time in milliseconds, and the sum over a step, in which each line counts as often as the
 * step executes it; -1: one is unknown. */
double estimate_ms(const json_t *line);
double estimate_sum_ms(const json_t *lines, size_t first, size_t end);
/* When the device has done the step of LINES from FIRST to END, in ms since the host began to trace it:
 * it works on each graph once that is traced and the one before is done. -1: unknown. What a call and
 * the start of an execution take is not in it. */
double estimate_wall_ms(const json_t *lines, size_t first, size_t end);
/* The class of the first of the lines from FIRST to END that has no estimate; else ESTIMATE_OK. */
const char *estimate_class(const json_t *lines, size_t first, size_t end);
/* FIRST, unless it is NULL, and LIST, which ends with NULL, as an array (new reference). */
json_t *estimate_words(const char *first, const char *const *list);
/* The experiment of LINE's step. False where it cannot be read. */
bool estimate_what(const json_t *line, res_experiment *what);
/* Appends "seq 512, adamw": sizes and training of WHAT, and MORE of its axes, where they are not
 * the usual ones. */
void estimate_put_setup(const res_experiment *what, res_axis_set more, bn_text *out);
/* "resnet50 train b32 f32", "llama train b1 f32, seq 512, sgd, scan on", for people: all in which
 * steps of a call may differ, but for topology, mode and layouts. The model's own sizes are left
 * out.
 */
void estimate_step_title(const res_experiment *what, char *text, size_t size);
/* estimate_step_title of LINE's step. */
void estimate_title(const json_t *line, char *text, size_t size);
/* "12.3 M", "1.05 G": three digits, and UNIT; "-" where unknown. */
void estimate_put_amount(bn_text *out, double amount, const char *unit);

/* ---- estimate_table.c, estimate_notes.c --------------------------------------------------- */

/* Appends the table of LINES, in any format. */
void estimate_table(const json_t *lines, res_format format, bn_text *out);
/* Appends a table of where the cycles go, for each graph. */
void estimate_scopes(const json_t *lines, res_format format, bn_text *out);
/* Appends estimated times with the published ones. */
void estimate_with_published(const json_t *lines, res_format format, bn_text *out);
/* Appends notes on LINES, a sentence a line. */
void estimate_notes(const json_t *lines, bn_text *out);

/* ---- estimate_sim.c ---------------------------------------------------------- */

/* Checks that the simulated device can stand for TOPOLOGY: a clock turns its cycles into times, and
 * a preset has all other figures. Else BN_INVALID, and the message names generations that have
 * both. */
BN_MUST_USE bn_code estimate_into_sim_check(const char *topology, bn_status *st);
/* Writes the times of LINES, which are of one step, to PATH, a file of settings of the simulated
 * device. BN_NOT_SUPPORTED where one has no time; BN_INVALID where there are none, or graphs of one
 * name have different times. */
BN_MUST_USE bn_code estimate_into_sim(const json_t *lines, const char *path, bn_status *st);

/* ---- estimate_picture.c ------------------------------------------------------ */

/* Checks that the COUNT steps of LIST have two numbers of layers to draw over; else BN_INVALID. */
BN_MUST_USE bn_code estimate_picture_check(const job_experiment *list, size_t count, bn_status *st);
/* Draws LINES over the number of layers into PATH, which ends in .svg, .png or .gp: a series for
 * each setup. BN_NOT_FOUND where the number does not change, or gnuplot is not here. */
BN_MUST_USE bn_code estimate_picture(const json_t *lines, const char *path, bn_status *st);

/* ---- estimate_compile.c ---------------------------------------------------------------------- */

/* One run of the command. */
typedef struct estimate_run {
    const estimate_options *options;
    char path[4096]; /* of the plugin */
    char sha256[BN_SHA256_TEXT];
    int cache; /* the open folder, or -1 */
    json_t *lines;
    size_t number, of;            /* graphs, for the progress line */
    size_t kept;                  /* records */
    char refused[CLI_ITEM_BYTES]; /* the topology that the plugin does not have, and its message */
    char refusal[1024];
    bool failed;
} estimate_run;
/* A step on a topology. */
typedef struct estimate_task {
    size_t index;
    const job_experiment *experiment;
    const char *topology;
} estimate_task;
/* A program of a task's step. */
typedef struct estimate_program {
    const res_experiment *what; /* the step */
    const char *title;          /* for messages */
    size_t index, of;           /* among the step's programs, from 0; how many there are */
    const char *graph, *module; /* its label, and its name in its text */
    int64_t nodes;
    double flops;       /* as bench counts them; NaN: unknown */
    double offloaded;   /* bytes that the text offloads to the host's memory */
    uint64_t trace_ns;  /* of this host, to trace the whole step; 0: it was not traced */
    double submitted_ns; /* tracing before the host can submit it; 0 in captured steps */
    int64_t times;      /* executions a step */
    const char *format; /* "mlir", "hlo" */
    const char *text;   /* NULL: it is in the file PATH, which has the DIGEST */
    size_t size;        /* bytes */
    const char *path, *digest;
    const json_t *recorded; /* its recording; NULL: none */
} estimate_program;
/* Compiles PROGRAM, unless it was compiled before or the plugin does not have the topology, and
 * adds a line to RUN, unless the user stopped it. Returns the worker's result (new reference), or
 * NULL. */
json_t *estimate_compile(estimate_run *run, const estimate_task *task,
                         const estimate_program *program);
/* Adds the line of PROGRAM, which cannot be compiled because of WHY. */
void estimate_add_failure(estimate_run *run, const estimate_task *task,
                          const estimate_program *program, const bn_status *why);

/* ---- estimate_step.c, estimate_recorded.c ---------------------------------------------------- */

/* Estimates TASK's graphs and adds a line for each to RUN. A failure is a line, too; only lack of
 * memory is an error. */
BN_MUST_USE bn_code estimate_step(estimate_run *run, const estimate_task *task, bn_status *st);
/* Estimates TASK's recorded step: a line for each of its programs. */
void estimate_recorded(estimate_run *run, const estimate_task *task);

/* ---- estimate_record.c ---------------------------------------------------------------------- */

/* Writes the record of TASK's step, whose lines are those of RUN from FIRST on, into --store. Does
 * nothing without one, where the user stopped the step, and where there is no such topology. */
BN_MUST_USE bn_code estimate_keep(estimate_run *run, const estimate_task *task, size_t first,
                                  bn_status *st);

#endif
