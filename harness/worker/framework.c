/*
 * framework.c - in a worker: a framework's script runs a model of ours, with our weights and our
 * batch, under the recorder. The worker makes the files, starts the script, waits, and reads its
 * report. The worker loads no plugin itself.
 *
 * The script's process is in the worker's process group, so that it ends with the worker. Where a
 * signal ends the script, the worker ends by the same one: the parent then explains it as of any
 * worker, with the last words and the kernel's count of kills for memory.
 */
#define _GNU_SOURCE
#include "harness/worker/framework_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_MS        500    /* between two checks of the cores, each of 50 us */
#define MOST_RECORDINGS 100000 /* of one model, phase, front end and mode in a folder */

/* ---- files -------------------------------------------------------------------------------- */

/* Writes the model's weights or, as BATCH, its inputs to PATH. */
static bn_code write_tensors(const model *instance, const char *path, bool batch, bn_status *st)
{
    static const char *const metadata[] = {"format", "pt", "writer", "bench", NULL};
    model_export *out = NULL;
    model_export_sums sums;
    bool more = true;
    bn_code code = (batch ? model_export_batch : model_export_begin)(instance, path, metadata,
                                                                     false, &out, st);
    while (code == BN_OK && more)
        code = model_export_next(out, &more, st);
    if (code == BN_OK)
        return model_export_finish(out, &sums, st);
    model_export_abandon(out);
    return code;
}

static bn_code path_in(const worker_framework *f, const char *name, char path[PATH_MAX],
                       bn_status *st)
{
    return snprintf(path, PATH_MAX, "%s/%s", f->folder, name) < PATH_MAX
               ? BN_OK
               : bn_fail(st, BN_INVALID, "%s: its name is too long", f->folder);
}

/* Names the recording's folder. One that is kept has its own, the first free name. */
static bn_code name_recording(worker_framework *f, bn_status *st)
{
    const res_experiment *w = &f->e.what;
    char path[PATH_MAX];
    if (!f->e.how.recordings)
        return path_in(f, WORKER_RECORDING, f->recording, st);
    for (int number = 1; number <= MOST_RECORDINGS; number++) {
        if (snprintf(path, sizeof path, "%s/%s-%s-%s-%s-%d", f->e.how.recordings, w->model,
                     w->phase, w->front_end, w->mode, number) >= (int)sizeof path)
            return bn_fail(st, BN_INVALID, "--recordings: the name is too long");
        if (mkdir(path, 0700) == 0)
            return realpath(path, f->recording) ? BN_OK : bn_fail_errno(st, errno, "%s", path);
        if (errno != EEXIST)
            return bn_fail_errno(st, errno, "%s", path);
    }
    return bn_fail(st, BN_INVALID, "%s has too many recordings; name another folder",
                   f->e.how.recordings);
}

static bn_code name_files(worker_framework *f, bn_status *st)
{
    bn_code code = path_in(f, "weights.safetensors", f->weights, st);
    if (code == BN_OK)
        code = path_in(f, "inputs.safetensors", f->inputs, st);
    if (code == BN_OK)
        code = path_in(f, "REQUEST.json", f->request_path, st);
    if (code == BN_OK)
        code = path_in(f, "REPORT.json", f->report_path, st);
    return code == BN_OK ? name_recording(f, st) : code;
}

/* Makes the model of F's experiment, and fills in the model's own batch and sizes. */
static bn_code make_model(worker_framework *f, const worker_framework_options *o, bn_status *st)
{
    res_experiment *w = &f->e.what;
    char path[PATH_MAX];
    bn_code code = rt_plugin_find(w->runtime, path, sizeof path, st);
    if (code != BN_OK)
        return bn_context(st, "runtime %s", w->runtime);
    model_options network = job_model_options(w, path);
    network.no_dropout = network.no_dropout || o->values;
    network.learning_rate = o->learning_rate;
    code = model_new(w->model, &network, &f->instance, st);
    if (code == BN_OK)
        job_experiment_fill(model_get_options(f->instance), w);
    return code;
}

static bn_code write_request(const worker_framework *f, bn_status *st)
{
    json_t *json = frontend_request_to_json(&f->ask);
    char *text = json ? json_dumps(json, JSON_ENSURE_ASCII | JSON_INDENT(1)) : NULL;
    bn_code code = text ? bn_file_write_own(f->request_path, text, strlen(text), st)
                        : bn_fail(st, BN_INVALID, "a request that is not JSON");
    free(text);
    json_decref(json);
    return code;
}

static bn_code write_files(worker_framework *f, const worker_framework_options *o, bn_status *st)
{
    worker_send_progress("weights and inputs", 0, 0);
    bn_code code = name_files(f, st);
    if (code == BN_OK)
        code = make_model(f, o, st);
    if (code == BN_OK)
        code = write_tensors(f->instance, f->weights, false, st);
    if (code == BN_OK)
        code = write_tensors(f->instance, f->inputs, true, st);
    if (code != BN_OK)
        return code;
    const model_options *m = model_get_options(f->instance);
    f->ask = (frontend_request){.what = &f->e.what,
                                .optimizer = m->optimizer == MODEL_ADAMW ? "adamw" : "sgd",
                                .learning_rate = m->learning_rate,
                                /* A model that drops nothing out has no generator. */
                                .dropout = model_find(f->instance, "generator") != NULL,
                                /* A step ends with the next one's begin. */
                                .steps = f->e.how.steps + 1,
                                .warmup = f->e.how.warmup,
                                .min_time = f->e.how.min_time,
                                .values = o->values,
                                .weights = f->weights,
                                .inputs = f->inputs,
                                .report = f->report_path};
    return write_request(f, st);
}

/* ---- the recorder ---------------------------------------------------------------------------- */

/* A suite is planned for one file of the plugin, and no other is run. */
static bn_code check_planned(const worker_framework *f, bn_status *st)
{
    const char *planned = json_string_value(json_object_get(f->e.suite, "runtime_sha256"));
    const char *found = f->interposer.file ? rt_plugin_file_sha256(f->interposer.file) : NULL;
    if (!planned || !found || strcmp(planned, found) == 0)
        return BN_OK;
    return bn_fail(st, BN_CHANGED,
                   "%s: the plugin's file was replaced: sha256 %.12s, where %.12s was planned",
                   f->interposer.plugin, found, planned);
}

/* Puts the recorder before the runtime. Variables of the user that prevent it are refused: a run
 * that is not recorded measures nothing. */
static bn_code insert_recorder(worker_framework *f, bn_status *st)
{
    int folder = -1;
    bn_code code = bn_private_folder(f->recording, &folder, st);
    if (folder >= 0)
        close(folder);
    if (code == BN_OK)
        code = job_interposer_make(f->e.what.runtime, f->place.python, f->recording, &f->interposer,
                                   st);
    if (code == BN_OK && f->interposer.blocked[0])
        return bn_fail(st, BN_INVALID, "%s: it would run unrecorded: %s", f->row->name,
                       f->interposer.blocked);
    return code == BN_OK ? check_planned(f, st) : code;
}

/* ---- the process ----------------------------------------------------------------- */

/* The script's side of fork; it never returns. The worker has no other thread. */
static void run_script(const worker_framework *f, pid_t parent)
{
    const char *words[] = {f->place.python, f->place.script, f->request_path, NULL};
    const char *name;
    json_t *value;
    prctl(PR_SET_PDEATHSIG, (long)SIGKILL, 0L, 0L, 0L);
    if (getppid() != parent)
        _exit(127);
    json_object_foreach(f->interposer.variables, name, value)
    {
        if (setenv(name, json_string_value(value), 1) != 0)
            _exit(127);
    }
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
        _exit(127);
    /* The wire to the parent is the worker's. */
    close_range(3, ~0u, 0);
    /* The next process runs Python's compiled files, so nobody else may write them. */
    umask(umask(0) | S_IWGRP | S_IWOTH);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(words[0], (char *const *)words);
    cli_say("error: %s: %s", words[0], strerror(errno));
    _exit(127);
}

/* Whether the script, which ended with STATUS, has left a report. Where it did not, this process
 * ends as the script did. */
static bn_code check_report(const worker_framework *f, int status, bn_status *st)
{
    if (WIFSIGNALED(status)) {
        /* One core file is enough. */
        prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
        return bn_fail(st, BN_CRASH, "%s was killed by signal %d", f->row->name, WTERMSIG(status));
    }
    if (access(f->report_path, F_OK) == 0)
        return BN_OK;
    /* The parent has its last words. */
    if (WEXITSTATUS(status) != 0)
        _exit(WEXITSTATUS(status));
    return bn_fail(st, BN_CRASH, "%s ended without a report", f->row->name);
}

/* Waits for the script's process PID, and checks now and then whether the cores are apart. Its
 * rounds cannot be run again. */
static bn_code await_script(worker_framework *f, pid_t pid, int *status, bn_status *st)
{
    struct pollfd ends = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    cores_nearness_begin(&f->near, NULL, f->idle, 0, 0);
    while (ends.fd >= 0 && f->near.watch && poll(&ends, 1, CHECK_MS) == 0)
        (void)!cores_nearness_repeats(&f->near, 0);
    cores_nearness_end(&f->near);
    if (ends.fd >= 0)
        close(ends.fd);
    while (waitpid(pid, status, 0) < 0)
        if (errno != EINTR)
            return bn_fail_errno(st, errno, "waiting for %s", f->row->name);
    return BN_OK;
}

static bn_code run_process(worker_framework *f, bn_status *st)
{
    int status = 0;
    const pid_t parent = getpid();
    char stage[RES_TEXT + 16];
    snprintf(stage, sizeof stage, "running %s", f->row->name);
    worker_send_progress(stage, 0, 0);
    f->start_ns = bn_now_ns();
    const pid_t pid = fork();
    if (pid < 0)
        return bn_fail_errno(st, errno, "starting %s", f->place.python);
    if (pid == 0)
        run_script(f, parent);
    if (await_script(f, pid, &status, st) != BN_OK)
        return st->code;
    f->end_ns = bn_now_ns();
    if (check_report(f, status, st) != BN_OK)
        return st->code;
    bn_code code = frontend_report_read(f->report_path, f->row, &f->ask, &f->report, st);
    if (code == BN_OK && WEXITSTATUS(status) != 0)
        code = bn_fail(st, BN_CRASH, "%s ended with code %d after its report", f->row->name,
                       WEXITSTATUS(status));
    /* The report counts only if it is of the files that were hashed. */
    if (code == BN_OK)
        code = job_interposer_check(&f->interposer, st);
    return code == BN_OK ? frontend_files_check(f->files, st) : code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bn_code run_framework(worker_framework *f, const worker_framework_options *o, bn_status *st)
{
    f->row = frontend_named(f->e.what.front_end);
    if (!f->row)
        return bn_fail(st, BN_INVALID, "there is no framework %s", f->e.what.front_end);
    if ((size_t)snprintf(f->folder, sizeof f->folder, "%s", o->scratch) >= sizeof f->folder)
        return bn_fail(st, BN_INVALID, "the scratch folder's name is too long");
    bn_code code = frontend_find(f->row, FRONTEND_RUN, &f->place, st);
    if (code == BN_OK)
        code = write_files(f, o, st);
    if (code != BN_OK)
        return code;
    /* From here on a refusal is a usage error. */
    worker_send_progress(JOB_LOADING, 0, 0);
    code = frontend_files_hash(&f->place, &f->files, st);
    if (code == BN_OK)
        code = insert_recorder(f, st);
    return code == BN_OK ? run_process(f, st) : code;
}

bn_code worker_framework_run(const job_experiment *e, const worker_framework_options *options,
                             worker_framework **framework, bn_status *st)
{
    worker_framework *f = *framework = bn_zalloc(1, sizeof *f);
    f->e = *e;
    f->begin_ns = bn_now_ns();
    bn_code code = cores_idle_begin(e->how.idle_cores, &f->idle, st);
    return code == BN_OK ? run_framework(f, options, st) : code;
}

const frontend_report *worker_framework_report(const worker_framework *framework)
{
    return &framework->report;
}

void worker_framework_free(worker_framework *f)
{
    if (!f)
        return;
    cores_idle_end(f->idle);
    frontend_report_free(&f->report);
    frontend_files_free(f->files);
    job_interposer_free(&f->interposer);
    model_free(f->instance);
    free(f);
}
