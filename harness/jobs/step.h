/*
 * step.h - programs of others and recorded steps, which are run in place of models.
 */
#ifndef BENCH_HARNESS_JOBS_STEP_H
#define BENCH_HARNESS_JOBS_STEP_H

#include "harness/jobs/experiment.h"
#include "modes/mode.h"

/* ---- programs that others wrote (program.c) ------------------------------------------- */

/* The request for MATRIX' program: see job_matrix_request. Fails also where its arguments' files do
 * not fit, in number or type, where a file is missing, and where an output cannot be written. */
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
    bool declared; /* the program declares the types; else the user did */
    size_t inputs; /* arguments that come from files: all or none */
} job_program_text;
/* Reads it. BN_CHANGED where the request has a sha256, and it is not the file's. To be freed also
 * after a failure. */
BN_MUST_USE bn_code job_program_read(const json_t *request, job_program_text *program,
                                     bn_status *st);
void job_program_text_free(job_program_text *program);
/* File INDEX of a request's LIST, "inputs", "outputs" or "checks", and their number. */
const char *job_program_file(const json_t *request, const char *list, size_t index);
size_t job_program_files(const json_t *request, const char *list);
/* Reads the array in the file PATH into HOST, unless that is NULL. It must have the type of A (bf16
 * may be bits), which is number INDEX of the arguments or results, by WHAT; else BN_INVALID. */
BN_MUST_USE bn_code job_program_array(const char *path, const mode_argument *a, const char *what,
                                      size_t index, void *host, bn_status *st);
/* Sets the program of REQUEST in WHAT, in place of a model. */
void job_program_describe(const json_t *request, res_experiment *what);

/* ---- steps that were recorded (step.c, program.c) --------------------------------------- */

/*
 * A request for a replay (worker/recorded.c runs it) is an object with the members
 *   recording, recorded    the folder, and its description, for the record
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
 *                          absent: unknown
 * Values are numbered as in mode_sequence. The digest does not depend on times.
 */
typedef struct job_step {
    json_t *request;
    char name[RES_TEXT], framework[RES_TEXT];
    uint32_t pid;
    size_t steady; /* steps that were recorded */
    size_t programs, executions, inputs, carried;
    double input_bytes;
    double wall_ns, device_ns; /* recorded medians; DEVICE_NS is NaN where it is unknown */
    /* The host's time in a step outside its calls, and how often it waited for the device. AHEAD:
     * not before the next step, in most steps. */
    double host_ns, idle_ns;
    size_t waits;
    bool ahead;
    char variant[RES_TEXT]; /* which of its variants it is, of how many; "": it has one */
    bool cpu_clocks; /* were recorded; else waits outside of calls count as work */
} job_step;

/* Reads RECORDED's folder and makes the request of one of its steady steps. The code of each
 * program must have the hash under which it was kept. BN_NOT_FOUND: no recording, process, step or
 * code; BN_FORMAT, BN_CHANGED: damaged or edited; BN_NOT_SUPPORTED: steps of several devices, and
 * inputs that cannot be made up. To be freed also after a failure. */
BN_MUST_USE bn_code job_step_read(const job_recorded *recorded, job_step *step, bn_status *st);
void job_step_free(job_step *step);
/* "step 0123456789ab": the step of REQUEST, for any cost of its programs. */
void job_step_variant(const json_t *request, char variant[RES_TEXT]);
#define JOB_MOST_TOPOLOGY 24 /* bytes of a topology's name, for variants have it */
/* Whether REQUEST, which may be NULL, is of a recorded step. */
bool job_is_step(const json_t *request);
/* Whether A and B, which have programs, are the same recorded step. */
bool job_same_step(const job_experiment *a, const job_experiment *b);
/* Sets the step of REQUEST in WHAT, which has its mode, in place of a model. */
void job_step_describe(const json_t *request, res_experiment *what);

#endif
