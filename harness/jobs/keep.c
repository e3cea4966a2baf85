/*
 * keep.c - an experiment measured in its worker and kept: the worker's record, or one of its
 * failure; and what can be told before any worker starts.
 */
#include "harness/jobs/jobs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A worker that could not write its record: the parent writes one, for the same cell of
 * a table as a good one. */
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
    /* Whoever runs a suite has looked at the runtime's file. */
    const char *sha256 = json_string_value(json_object_get(e->suite, "runtime_sha256"));
    r->provenance =
        json_pack("{so sO* sO* s{ss ss*}}", "host", job_host_describe(), "options", e->echo,
                  "suite", e->suite, "runtime", "label", e->label, "sha256", sha256);
    return r;
}

bn_code job_measure_in_worker(const job_experiment *e, const job_order *job, res_record **record,
                              bn_status *st)
{
    job_order own = *job;
    job_outcome outcome = {0};
    own.request = json_pack("{ss so}", "job", "measure", "experiment", job_experiment_to_json(e));
    bn_code code = job_supervise(&own, &outcome, st);
    json_decref(own.request);
    if (code == BN_OK)
        res_store_sweep(e->store, (long)outcome.pid);
    if (code == BN_OK && outcome.status != BN_OK)
        code = bn_fail(st, outcome.status, "%s", outcome.message);
    if (code == BN_OK)
        code = res_store_read(json_string_value(json_object_get(outcome.result, "record")), record,
                              st);
    json_decref(outcome.result);
    return code;
}

/* The parent's record of a failure. A full disk fails worker and parent alike: then it
 * is said once. */
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
    job_order own = *job;
    job_outcome outcome = {0};
    *kept = (job_kept){0};
    own.request = json_pack("{ss so}", "job", "measure", "experiment", job_experiment_to_json(e));
    bn_code code = job_supervise(&own, &outcome, &kept->failure);
    json_decref(own.request);
    if (code != BN_OK)
        return;
    res_store_sweep(e->store, (long)outcome.pid);
    const char *path = json_string_value(json_object_get(outcome.result, "record"));
    if (!path) {
        keep_failure(e, &outcome, kept);
    } else if (res_store_read(path, &kept->record, &kept->failure) == BN_OK &&
               outcome.status != BN_OK) {
        /* What was written stands, however its worker ended afterwards: the
         * libraries of some plugins break when their process exits. */
        bn_fail(&kept->failure, outcome.status, "%s", outcome.message);
    }
    json_decref(outcome.result);
}

bn_code job_store_ready(const char *store, bn_status *st)
{
    bn_code code = bn_make_folder(store, st);
    if (code == BN_OK && access(store, W_OK | X_OK) != 0)
        code = bn_fail(st, BN_IO, "%s cannot be written", store);
    if (code != BN_OK)
        return bn_context(st, "store");
    res_store_sweep_old(store);
    return BN_OK;
}

bn_code job_runtime_ready(const char *runtime, char *path, size_t size, bn_status *st)
{
    bn_code code = rt_plugin_find(runtime, path, size, st);
    /* Variables of the environment are taken at their word. */
    if (code == BN_OK && access(path, R_OK) != 0)
        code = bn_fail_errno(st, errno, "runtime %s: %s", runtime, path);
    return code;
}

bn_code job_experiments_check(const job_experiment *list, size_t count, bn_status *st)
{
    bn_code code = job_store_ready(list[0].store, st);
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        char path[4096];
        if (i == 0 || strcmp(list[i].what.runtime, list[i - 1].what.runtime) != 0)
            code = job_runtime_ready(list[i].what.runtime, path, sizeof path, st);
    }
    return code == BN_OK ? job_weights_check(list, count, st) : code;
}
