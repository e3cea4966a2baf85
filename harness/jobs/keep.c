/*
 * keep.c - an experiment is measured in a worker, and a record of it is kept: the worker's own,
 * or one that the parent writes of its failure.
 */
#include "harness/jobs/jobs.h"

#include <stdio.h>
#include <string.h>

/* The record of a worker that wrote none. It belongs to the same cell of a table as a good one. */
static res_record *failure_record(const job_experiment *e, const job_outcome *outcome)
{
    res_record *r = res_record_new();
    if (!r)
        return NULL;
    r->experiment = e->what;
    if (!e->program)
        job_experiment_resolve(&r->experiment);
    r->status = outcome->status;
    snprintf(r->message, sizeof r->message, "%s", outcome->message);
    r->simulated = job_simulated_name(e->what.runtime);
    json_decref(r->provenance);
    /* A suite has read the runtime's file before. */
    const char *sha256 = json_string_value(json_object_get(e->suite, "runtime_sha256"));
    r->provenance =
        json_pack("{so sO* sO* s{ss ss*}}", "host", job_host_describe(), "options", e->echo,
                  "suite", e->suite, "runtime", "label", e->label, "sha256", sha256);
    return r;
}

/* The job "measure" of E in a worker, and its temporary files swept away. The caller frees
 * OUTCOME's result. */
static bn_code run_worker(const job_experiment *e, const job_order *job, job_outcome *outcome,
                          bn_status *st)
{
    job_order own = *job;
    own.request = json_pack("{ss so}", "job", "measure", "experiment", job_experiment_to_json(e));
    bn_code code = job_supervise(&own, outcome, st);
    json_decref(own.request);
    if (code == BN_OK)
        res_store_sweep(e->store, (long)outcome->pid);
    return code;
}

bn_code job_measure_in_worker(const job_experiment *e, const job_order *job, res_record **record,
                              bn_status *st)
{
    job_outcome outcome = {0};
    bn_code code = run_worker(e, job, &outcome, st);
    if (code == BN_OK && outcome.status != BN_OK)
        code = bn_fail(st, outcome.status, "%s", outcome.message);
    if (code == BN_OK)
        code = res_store_read(json_string_value(json_object_get(outcome.result, "record")), record,
                              st);
    json_decref(outcome.result);
    return code;
}

/* Writes the parent's record of a failure. A full disk fails worker and parent alike: the user
 * is then told once. */
static void keep_failure(const job_experiment *e, const job_outcome *outcome, job_kept *kept)
{
    bn_fail(&kept->failure, outcome->status == BN_OK ? BN_CRASH : outcome->status, "%s",
            outcome->message);
    if (outcome->status == BN_CANCELLED)
        return;
    kept->record = failure_record(e, outcome);
    if (!kept->record || res_store_write(e->store, kept->record, NULL, 0, &kept->store) == BN_OK)
        return;
    if (kept->failure.code == BN_IO || kept->failure.code == kept->store.code)
        kept->failure = kept->store;
}

void job_measure_and_keep(const job_experiment *e, const job_order *job, job_kept *kept)
{
    job_outcome outcome = {0};
    *kept = (job_kept){0};
    if (run_worker(e, job, &outcome, &kept->failure) != BN_OK)
        return;
    const char *path = json_string_value(json_object_get(outcome.result, "record"));
    if (!path) {
        keep_failure(e, &outcome, kept);
    } else if (res_store_read(path, &kept->record, &kept->failure) == BN_OK &&
               outcome.status != BN_OK) {
        /* A written record stands, however its worker ended afterwards: the libraries of some
         * plugins break when their process exits. */
        bn_fail(&kept->failure, outcome.status, "%s", outcome.message);
    }
    json_decref(outcome.result);
}
