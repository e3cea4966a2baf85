/*
 * framework_record.c - the job "framework": the record of a framework's steps, out of the recording
 * of its process, comparable with those of bench's own steps.
 *
 * The recording has the framework's calls of the runtime with their times; the script reports when
 * it began and ended to measure, the number of steps, and figures that no recorder sees (nodes,
 * tracing).
 */
#include "harness/worker/framework_priv.h"
#include "results/recordings/views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* The recording and the measured steps in it. */
typedef struct measured {
    rec_recording *recording;
    rec_steps *steps;
} measured;

/* ---- the steps ------------------------------------------------------------------------------- */

static bn_code check_whole(const rec_process *p, bn_status *st)
{
    const bool whole = !p->dropped.any;
    if (p->stop == RECORD_GOES_ON && p->lost == 0 && whole)
        return BN_OK;
    return bn_fail(st, BN_IO,
                   "the recording of its process is incomplete (%s): measure fewer steps, or for a "
                   "shorter time",
                   p->stop == RECORD_LIMIT || !whole ? "it reached its limit"
                   : p->stop == RECORD_DISK_FULL     ? "the disk was full"
                                                     : "events were lost");
}

static bn_code ran_unrecorded(const worker_framework *f, bn_status *st)
{
    const char *runtime = f->e.what.runtime;
    return bn_fail(st, BN_NOT_FOUND,
                   "it ran unrecorded: nothing was executed on runtime %s; check %sJAX_PLATFORMS, "
                   "PJRT_DEVICE and jax.config",
                   runtime,
                   strcmp(runtime, "cuda") == 0 ? "that its Python has a CUDA plugin, " : "");
}

/* Opens the recording. BN_NOT_FOUND: the script ran without the recorder, and the message says what
 * to check; its framework may have loaded it, and yet executed elsewhere. */
static bn_code open_recording(const worker_framework *f, rec_recording **recording, bn_status *st)
{
    bn_code code = rec_open(f->recording, recording, st);
    if (code == BN_NOT_FOUND)
        return ran_unrecorded(f, st);
    if (code == BN_OK)
        code = rec_check_whole(*recording, 0, NULL, st);
    const rec_process *most = code == BN_OK ? rec_process_find(*recording, 0) : NULL;
    if (!most || most->execution_count > 0)
        return code;
    code = check_whole(most, st);
    return code == BN_OK ? ran_unrecorded(f, st) : code;
}

/* Checks that there are as many steps as the script reports, minus the last, which no next one
 * ends. */
static bn_code check_count(const rec_steps *steps, const frontend_report *report, bn_status *st)
{
    const double found = (double)steps->found, reported = (double)report->steps - 1;
    if (fabs(found - reported) <= fmax(1, reported / 50))
        return BN_OK;
    return bn_fail(st, BN_FORMAT,
                   "its recording has %.0f steps of %u executions where the script ran %zu: its "
                   "executions differ from step to step",
                   found, steps->executions_per_step, report->steps);
}

static bn_code find_steps(const worker_framework *f, measured *m, bn_status *st)
{
    const frontend_report *report = &f->report;
    /* The call may return after its steps' last execution was submitted, never before. */
    const rec_options options = {.device = -1,
                                 .keep_warmup = true,
                                 .from_ns = report->first_start_ns,
                                 .to_ns = report->last_end_ns,
                                 .steps = (uint32_t)report->steps};
    bn_code code = open_recording(f, &m->recording, st);
    if (code == BN_OK)
        code = rec_steps_find(m->recording, &options, &m->steps, st);
    if (code == BN_OK)
        code = check_whole(m->steps->process, st);
    if (code == BN_OK)
        code = check_count(m->steps, report, st);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", f->row->name);
}

/* ---- provenance ------------------------------------------------------------------ */

/* Like worker_session_describe: the recorder passes the same options as bench's own client. */
static void set_conditions(const worker_framework *f, json_t *runtime)
{
    const char *usual = job_usual_option(f->e.what.runtime, f->interposer.plugin);
    json_t *options = json_array();
    if (usual)
        json_array_append_new(options, json_string(usual));
    json_object_set_new(runtime, "options", options);
    json_object_set_new(runtime, "compile_flags", json_array());
    json_object_set_new(runtime, "environment", worker_environment());
    json_object_set_new(runtime, "label", res_json_text(f->e.how.label));
}

/* The digest of the plugin's file, which the process has loaded. BN_CHANGED where it was replaced
 * meanwhile, or is another one than a suite was made for. */
static bn_code set_digest(const worker_framework *f, json_t *runtime, bn_status *st)
{
    const char *planned = json_string_value(json_object_get(f->e.suite, "runtime_sha256"));
    const char *path = json_string_value(json_object_get(runtime, "path"));
    char digest[BN_SHA256_TEXT];
    if (!path || !path[0])
        return bn_fail(st, BN_FORMAT, "%s: the plugin that it loaded is unknown", f->row->name);
    if (job_interposer_digest(&f->interposer, path, digest, st) != BN_OK)
        return st->code;
    if (planned && strcmp(planned, digest) != 0)
        return bn_fail(st, BN_CHANGED,
                       "%s: the plugin's file was replaced: sha256 %.12s, where %.12s was planned",
                       path, digest, planned);
    json_object_set_new(runtime, "sha256", json_string(digest));
    return BN_OK;
}

static bn_code set_provenance(const worker_framework *f, const json_t *group, res_record *r,
                              bn_status *st)
{
    json_t *runtime = res_provenance(r, RES_PROV_RUNTIME);
    json_t *recording = res_provenance(r, RES_PROV_RECORDING);
    json_t *front_end = frontend_report_provenance(&f->report);
    json_object_set_new(front_end, "script_sha256", json_string(frontend_files_sha256(f->files)));
    /* Memory of the script's process, which has ended. */
    struct rusage used = {0};
    json_t *memory = getrusage(RUSAGE_CHILDREN, &used) != 0
                         ? json_null()
                         : json_pack("{sI}", "peak_rss_bytes", (json_int_t)used.ru_maxrss * 1024);
    char digest[BN_SHA256_TEXT];
    json_t *own = json_pack("{so so so* so* so* so so sO* sO* sO* sO*}", "host",
                            job_host_describe(), "pinning", cores_pinning_to_json(NULL), "process",
                            job_process_describe(), "idle_cores", cores_idle_to_json(f->idle),
                            "nearness", cores_nearness_to_json(&f->near), "memory", memory,
                            "front_end", front_end, "options", f->e.echo, "suite", f->e.suite,
                            "comparison", f->e.comparison, "group", group);
    json_object_update_new(r->provenance, own);
    set_conditions(f, runtime);
    if (job_interposer_digest(&f->interposer, f->interposer.recorder, digest, st) != BN_OK)
        return st->code;
    json_object_set_new(recording, "recorder_sha256", json_string(digest));
    if (f->e.how.recordings)
        json_object_set_new(recording, "path", res_json_text(f->recording));
    if (set_digest(f, runtime, st) != BN_OK)
        return st->code;
    res_provenance_set(r, RES_PROV_CALIBRATION,
                       res_calibration_summary(f->e.how.store, res_plugin_sha256(r),
                                               res_provenance_text(r, RES_PROV_HOST_NAME)));
    return BN_OK;
}

/* ---- the record ------------------------------------------------------------------ */

static void fill_record(const worker_framework *f, res_record *r)
{
    const frontend_report *report = &f->report;
    const char *sim = getenv("PJRT_SIM");
    r->experiment = f->e.what;
    r->warmup_stationary = report->warmup_steps < f->e.how.warmup;
    const double nodes = report->nodes_per_step * (double)r->step_counters[BN_COUNTER_STEPS];
    if (nodes <= 0x1p53)
        r->step_counters[BN_COUNTER_NODES_TRACED] = (int64_t)llround(nodes);
    if (r->simulated && sim && strstr(sim, "values=none"))
        strcpy(r->values, "none");
}

static bn_code make_record(const worker_framework *f, const json_t *group, const measured *m,
                           res_record **record, bn_status *st)
{
    const rec_naming naming = {.model = f->e.what.model,
                               .phase = f->e.what.phase,
                               .mode = f->e.what.mode,
                               .begun_ns = f->start_ns,
                               .ended_ns = f->end_ns};
    bn_code code = rec_record_make(m->recording, m->steps, &naming, record, st);
    if (code == BN_OK) {
        fill_record(f, *record);
        code = set_provenance(f, group, *record, st);
    }
    return code == BN_OK ? res_record_check(*record, st) : code;
}

/* Time by phase, for job_spent_add_worker (new reference). */
static json_t *spent_json(const worker_framework *f, const measured *m)
{
    const rec_process *p = m->steps->process;
    uint64_t compile = 0;
    for (size_t i = 0; i < p->call_count; i++)
        if (p->calls[i].kind == REC_CALL_COMPILE && p->calls[i].end_ns < f->report.first_start_ns)
            compile += p->calls[i].end_ns - p->calls[i].begin_ns;
    const double before = (double)f->report.first_start_ns - (double)f->begin_ns;
    return json_pack("{sf sf sf sf}", "start_s", fmax(0, before - (double)compile) / 1e9,
                     "compile_s", (double)compile / 1e9, "warmup_s", 0.0, "rounds_s",
                     (double)(f->report.last_end_ns - f->report.first_start_ns) / 1e9);
}

/* ---- the job --------------------------------------------------------------------------------- */

/* Writes the record, and sends its path. */
static bn_code keep_record(const worker_framework *f, const json_t *group, const measured *m,
                           bn_status *st)
{
    res_record *record = NULL;
    char path[4096];
    bn_code code = make_record(f, group, m, &record, st);
    if (code == BN_OK)
        code = res_store_write(f->e.how.store, record, path, sizeof path, st);
    if (code == BN_OK)
        worker_send_result(
            json_pack("{s[{ss}] so}", "members", "record", path, "spent", spent_json(f, m)));
    res_record_free(record);
    return code;
}

bn_code worker_job_framework(const json_t *request, bn_status *st)
{
    const json_t *list = json_object_get(request, "experiments");
    const json_t *group = json_object_get(request, "group");
    const char *scratch = json_string_value(json_object_get(request, "scratch"));
    const worker_framework_options options = {.scratch = scratch};
    job_experiment e;
    worker_framework *f = NULL;
    measured m = {NULL, NULL};
    if (json_array_size(list) != 1 || !scratch || !scratch[0])
        return bn_fail(st, BN_FORMAT, "the worker's request is not of one framework");
    bn_code code = job_experiment_from_json(json_array_get(list, 0), &e, st);
    if (code == BN_OK)
        code = worker_framework_run(&e, &options, &f, st);
    if (code == BN_OK) {
        worker_send_progress("reading the recording", 0, 0);
        code = find_steps(f, &m, st);
    }
    if (code == BN_OK)
        code = keep_record(f, group, &m, st);
    rec_steps_free(m.steps);
    rec_close(m.recording);
    worker_framework_free(f);
    return code;
}
