/*
 * study_priv.h - a study: its experiments (study_command.c, study_run.c), lines through them
 * (study_fit.c), conclusions (study_graphs.c, study_overlap.c, study_sizes.c, study_arguments.c,
 * study_buckets.c, study_words.c), and output (study_print.c, study_picture.c).
 */
#ifndef BENCH_HARNESS_STUDY_PRIV_H
#define BENCH_HARNESS_STUDY_PRIV_H

#include "harness/study/study.h"
#include "results/studies/studies.h"
#include "results/tables/tables.h"

typedef struct study study;

typedef struct study_kind {
    const char *name;
    res_axis_id axis;           /* that is swept */
    int64_t values[8];          /* of it, where none are given; the list ends with -1 */
    bool anew;                  /* each process compiles, since compile time is studied */
    const char *equation;       /* of the fit */
    const char *unit;           /* of a line's slope: "execution" */
    const char *across;         /* a line's x: "executions of a step" */
    void (*conclude)(study *s); /* fits the lines and adds the sentences */
} study_kind;

/* A line through values of one mode; its arrays are owned. */
typedef struct study_line {
    const char *what; /* "step", "device", "nodes", "tracing", "compilation" */
    const char *mode;
    bool time;     /* values are ns; else they are numbers */
    size_t *place; /* [point]: the experiment */
    double *x, *y; /* [point]; [process][point] */
    res_line fit;
} study_line;
#define STUDY_MOST_LINES 8

struct study {
    const study_kind *kind;
    /* Measurements. A turn is a process of each group. */
    job_experiment *list; /* in groups */
    size_t count, capacity;
    res_record **records; /* [turn][experiment]; NULL: none. Owned */
    size_t room, turns;   /* that RECORDS has place for; that were begun */
    /* Counted: experiments whose first process succeeded, and turns that have all of these. */
    bool *counts;          /* [experiment] */
    size_t *turn;          /* [process] */
    res_measures *measure; /* [process][experiment] */
    size_t processes;
    /* Results. */
    study_line lines[STUDY_MOST_LINES];
    size_t line_count;
    bn_text words;              /* sentences, one a line */
    json_t *answers, *word_ids; /* the latter of the sentences, in their order */
};

/* ---- measuring (study_run.c) --------- */

/* Measures S' list, PROCESSES of each group (0: the usual number) in turns. Reports failures, the
 * store and the time spent on standard error. Returns the exit code, but for that of an
 * interruption.
 */
cli_exit study_measure(study *s, int processes, const cli_output *output);

/* ---- lines (study_fit.c) --------- */

/* Finds the experiments and turns that count. */
void study_select(study *s);
void study_free(study *s);

/* A figure of EXPERIMENT in PROCESS, both of those that count; NaN: unknown. */
typedef double study_value(const study *s, size_t process, size_t experiment);
study_value study_wall, study_device, study_trace, study_compile, study_nodes, study_executions;
study_value study_overhead;              /* the mean over a step's executions */
study_value study_host;                  /* all of a step but waits */
study_value study_call;                  /* buffers bound and Execute called, in a step */
study_value study_arguments, study_rows; /* of a step's executions; of a batch */
study_value study_swept; /* the value of the swept axis, with the model's own filled in */
study_value study_serial; /* 1 where one step is in flight, 0 where there are several */

/* Fits a line to Y of the mode over X, of the processes that know Y at each point. NULL, and no
 * line, where none does, and where X does not change. */
const study_line *study_fit(study *s, const char *what, bool time, const char *mode_name,
                            study_value *x, study_value *y);
/* The experiment of the mode that counts and has the least (or the greatest) value of the axis;
 * SIZE_MAX: there is none. */
size_t study_extreme(const study *s, const char *mode_name, bool greatest);
/* VALUE of EXPERIMENT over the processes that know it: exp of the mean log where all are above
 * zero, else the mean, with a 95 % interval. */
res_interval study_mean(const study *s, size_t experiment, study_value *value);
/* VALUE of experiment A over that of B: exp of the mean log of each process's ratio. */
res_interval study_ratio(const study *s, size_t a, size_t b, study_value *value);
/* Whether ESTIMATE has an interval, and this includes zero. */
bool study_insignificant(const res_estimate *estimate);
/* Where U[p] + V[p] x = 0, over all processes. */
res_interval study_zero_of(const study *s, const double *u, const double *v);

/* ---- words (study_words.c) --------- */

/* "13.71 ms", or of numbers "812.5". */
typedef struct study_text {
    char text[96];
} study_text;
study_text study_number(double value, bool time);
/* study_number with its interval: "13.71 ms (13.60 ms to 13.82 ms)". */
study_text study_interval(res_interval interval, bool time);
study_text study_percent(double share);
/* Adds a sentence to S' words. Its identifier in JSON is ID, or "OF.ID" for a mode or figure OF. */
void study_say(study *s, const char *of, const char *id, const char *format, ...) BN_PRINTF(4, 5);
/* {"estimate", "low", "high"}, null where unknown (new reference). */
json_t *study_json(res_interval interval);
/* Adds VALUE (stolen) to S' answers. */
void study_answer(study *s, const char *name, json_t *value);

/* ---- the studies (study_graphs.c, study_overlap.c, study_sizes.c, ...) --------- */

void study_graphs(study *s);
void study_in_flight(study *s);
void study_batch(study *s);
void study_arguments_of(study *s);
void study_buckets(study *s);
void study_depth(study *s);
void study_trace_cost(study *s);

/* ---- output (study_print.c) --------- */

/* Prints tables and sentences as OUTPUT asks for. FORMAT is that of cli_format. */
void study_print(study *s, res_format format, const cli_output *output);
/* The mean of point I of LINE over its processes, with its interval. */
res_interval study_point(const study_line *line, size_t i);
/* The distance of that mean above the line, as a share of the line's value. */
double study_off(const study_line *line, size_t i);
/* Adds sentences on the lines that do not fit, or of which that is unknown. */
void study_say_fits(study *s);

/* ---- the picture (study_picture.c) --------------------------------------------------- */

/* Draws the times of a step that S has lines of, and writes them to FILE. */
BN_MUST_USE bn_code study_picture(const study *s, const char *file, bn_status *st);

#endif
