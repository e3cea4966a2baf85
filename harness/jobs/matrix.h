/*
 * matrix.h - lists of values for each axis, out of which experiments are made (matrix.c).
 */
#ifndef BENCH_HARNESS_JOBS_MATRIX_H
#define BENCH_HARNESS_JOBS_MATRIX_H

#include "harness/jobs/measure.h"
#include "results/records/records.h"

/* Words that say how device time is measured, and where that of a recorded program is from. */
#define JOB_DEVICE_TIMES "auto, slope, none"
#define JOB_COSTS        "recorded, roofline"

/* A step of a recording (step.c). */
typedef struct job_recorded {
    const char *folder;       /* NULL: none */
    int64_t process;          /* its pid; 0: the one with most executions */
    const char *step_program; /* name or hash of a step's first program; NULL: found */
    const char *variant; /* of a program with several: see rec_options; NULL: the most frequent */
    const char *cost;         /* of JOB_COSTS; NULL stands for "recorded" */
    const char *name;         /* of the records' model; NULL: the folder's */
    const char *digest; /* how the step's begins, 8 digits at least; another step is refused; NULL:
                           any */
} job_recorded;

/* The experiments to measure, and how: a list of values for each axis. Command line, suite and
 * comparison fill it. All that it points to is borrowed and outlives it. */
typedef struct job_matrix {
    cli_list axis[RES_AXIS_COUNT]; /* an empty list: the axis' usual value */
    /* In place of models: the file of a program, or a recorded step; at most one. */
    const char *program;
    job_recorded recorded;
    json_t *request;  /* what job_matrix_request made of them; NULL: models are run */
    cli_words types;  /* of its arguments, where it is in a form that does not tell them to us */
    cli_words inputs; /* its arguments' files; without a program at most one, the axis "input" */
    cli_words outputs, checks; /* files that its results are written to, and compared with */
    double rtol, atol;         /* of checks: |got - want| <= atol + rtol |want| */
    job_measure how;
    json_t *echo; /* the options as given, for the records; may be NULL */
} job_matrix;

/* Rows of axes, by res_axis_id; OFFSET of a cli_group is that of a job_matrix. */
const cli_table *job_axis_table(void);
/* Rows of --program, of a job_matrix too, by these bits: what is run, and its results. */
enum { JOB_PROGRAM_RUN = 1 << 0 | 1 << 1, JOB_PROGRAM_RESULTS = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 };
const cli_table *job_program_table(void);
/* Rows of a job_recorded, by these bits: its folder; which step; its cost. */
enum {
    JOB_RECORDED_FOLDER = 1 << 0,
    JOB_RECORDED_STEP = 1 << 1 | 1 << 2,
    JOB_RECORDED_COST = 1 << 3,
    JOB_RECORDED_VARIANT = 1 << 4
};
const cli_table *job_recorded_table(void);
/* Fills MATRIX with what is run and how where no option is given; strings lie in MEMORY. */
void job_matrix_usual(job_matrix *matrix, bn_arena *memory);
/* MATRIX as the options that say it, by their names (new reference). */
json_t *job_matrix_echo(const job_matrix *matrix);
/* A job_matrix in a command's struct: begins as job_matrix_usual, and when all was read, it is
 * checked that what the line gave fits what runs, models, a program or a recorded step, and it is
 * completed: only then is it known whether --input gives a program's files or values of the axis.
 */
extern const cli_part job_matrix_part;
/* BN_INVALID where CALL's line has an option of a recording, and MATRIX runs none. For commands
 * whose recording is an option. */
BN_MUST_USE bn_code job_recorded_check(const job_matrix *matrix, const cli_call *call,
                                       bn_status *st);

/* Whether AXIS of a model takes WORD. If it does not, appends to KNOWN the values that it takes. */
bool job_axis_takes(res_axis_id axis, const char *word, bn_text *known);
/* The value of AXIS that somebody may have meant who wrote WORD, into MEANT; false: none. */
bool job_axis_meant(res_axis_id axis, const char *word, char meant[RES_TEXT]);
/* The value, of any axis, that other programs call WORD; NULL: none. */
const char *job_axis_synonym(const char *word);
/* Appends the names of runtimes that bench knows, "a, b, c". */
void job_runtime_names(bn_text *out);
/* Whether AXIS applies to recorded steps, or to programs of others; the rest apply to models. */
bool job_axis_of_steps(res_axis_id axis);
bool job_axis_of_programs(res_axis_id axis);
/* Whether WORD is a mode of recorded steps. */
bool job_mode_of_steps(const char *word);
/* BN_INVALID: a value of LIST is not one that AXIS has for models; suggests another. */
BN_MUST_USE bn_code job_axis_check(res_axis_id axis, const cli_list *list, bn_status *st);
/* Makes WORD, or NUMBER, the one value of AXIS. WORD is not copied. */
void job_matrix_set(job_matrix *matrix, res_axis_id axis, const char *word);
void job_matrix_set_number(job_matrix *matrix, res_axis_id axis, int64_t number);
/* Reads the program or recording that MATRIX runs in place of models, and makes *REQUEST of it for
 * workers, a new reference also after a failure; NULL where models are run. Fails where it cannot
 * be read or run. */
BN_MUST_USE bn_code job_matrix_request(const job_matrix *matrix, json_t **request, bn_status *st);

#endif
