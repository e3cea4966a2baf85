/*
 * framework_priv.h - a run of a framework's script under the recorder, and the record of it.
 *
 *   framework.c         files for the script, its process, its answer
 *   framework_record.c  the job, and the record
 */
#ifndef BENCH_HARNESS_WORKER_FRAMEWORK_PRIV_H
#define BENCH_HARNESS_WORKER_FRAMEWORK_PRIV_H

#include "harness/worker/worker.h"

#define WORKER_RECORDING "recording" /* in the scratch folder, unless it is kept */

struct worker_framework {
    job_experiment e; /* with the model's own batch and sizes filled in */
    const frontend_info *row;
    frontend_place place;
    frontend_files *files; /* of the script, as they were before it started */
    job_interposer interposer;
    model *instance;
    char folder[PATH_MAX]; /* scratch */
    char weights[PATH_MAX], inputs[PATH_MAX], report_path[PATH_MAX], request_path[PATH_MAX],
        recording[PATH_MAX];
    frontend_request ask;
    frontend_report report;
    int idle; /* as cores_idle_begin set it */
    cores_nearness near;
    uint64_t begin_ns; /* of all this; of the process */
    uint64_t start_ns, end_ns;
};

#endif
