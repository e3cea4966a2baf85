/*
 * ready.c - checks before any worker starts: the store, the runtimes' files, and the file of
 * weights against the models that start from it.
 */
#include "harness/cores/cores.h"
#include "harness/frontends/frontends.h"
#include "harness/jobs/jobs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define MOST_FRONT_ENDS 16 /* whose versions are checked */

/* ---- the store and the runtime ---------------------------------------------------- */

bn_code job_store_ready(const char *store, bn_status *st)
{
    bn_code code = bn_make_folder(store, st);
    if (code == BN_OK && access(store, W_OK | X_OK) != 0)
        code = bn_fail(st, BN_IO, "%s cannot be written", store);
    if (code != BN_OK)
        return bn_context(st, "store");
    res_store_sweep_old(store);
    job_cache_sweep_old(store);
    job_scratch_sweep_old(store);
    return BN_OK;
}

void job_say_damaged(const res_damaged *list, size_t count)
{
    res_reported reported = {{0}};
    bn_text rest = {0};
    for (size_t i = 0; i < count; i++)
        if (res_damaged_reported(&reported, &list[i]))
            cli_say("bench: %s", list[i].status.message);
    res_put_unreported(&reported, &rest);
    if (rest.length > 0)
        cli_say("bench: %s", rest.data);
    bn_text_free(&rest);
}

bn_code job_runtime_ready(const char *runtime, char *path, size_t size, bn_status *st)
{
    bn_code code = rt_plugin_find(runtime, path, size, st);
    /* A path has not been opened yet. */
    if (code == BN_OK && rt_plugin_probe(path, st) != BN_OK)
        code = bn_context(st, "runtime %s", runtime);
    return code;
}

/* ---- weights ---------------------------------------------------------------------- */

bn_code job_weights_open(const char *file, const model *instance, model_weights **weights,
                         bn_status *st)
{
    model_weights *w = NULL;
    bn_code code = model_weights_open(file, &w, st);
    if (code == BN_OK)
        code = model_weights_fit(w, instance, st);
    if (code != BN_OK) {
        model_weights_close(w);
        return bn_context(st, "--weights");
    }
    *weights = w;
    return BN_OK;
}

/* Whether FILE fits the model of one experiment. */
static bn_code check_one(const res_experiment *what, const char *file, bn_status *st)
{
    model_options o = job_model_options(what, what->runtime);
    model *m = NULL;
    model_weights *w = NULL;
    bn_status refused = {.code = BN_OK};
    /* Options that the model refuses are the experiment's failure, not the file's. */
    if (model_new(what->model, &o, &m, &refused) != BN_OK)
        return BN_OK;
    bn_code code = job_weights_open(file, m, &w, st);
    model_weights_close(w);
    model_free(m);
    return code;
}

/* Whether --weights fits each model of LIST, as far as that is known without a runtime. */
static bn_code check_weights(const job_experiment *list, size_t count, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < count && code == BN_OK && list[i].how.weights; i++) {
        const res_experiment *a = &list[i].what, *b = i ? &list[i - 1].what : NULL;
        if (!b || a->image != b->image || !res_same_network(a, b))
            code = check_one(a, list[i].how.weights, st);
    }
    return code;
}

/* Whether executables may be kept in FOLDER, which is made where it is missing. */
static bn_code check_cache(const char *folder, bn_status *st)
{
    int fd = -1;
    bn_code code = bn_private_folder(folder, &fd, st);
    if (fd >= 0)
        close(fd);
    return code == BN_OK ? BN_OK : bn_context(st, "--cache-dir");
}

/* Warns where ROW's Python has other than the pinned versions. That is no error, but the figures
 * are of another framework than the one that this bench was made for. */
static void warn_of_versions(const frontend_info *row, const frontend_place *place)
{
    /* Once a run, however often its lists name a front end. */
    static bool asked[MOST_FRONT_ENDS];
    bn_text others = {0}, command = {0};
    size_t index = 0;
    while (frontend_at(index) && frontend_at(index) != row)
        index++;
    if (index >= MOST_FRONT_ENDS || asked[index])
        return;
    asked[index] = true;
    json_t *pinned = frontend_pinned(place), *versions = frontend_versions(place, pinned);
    (void)frontend_put_unpinned(pinned, versions, &others);
    frontend_put_pin_command(place, &command);
    if (others.length > 0)
        cli_say("bench: framework %s: %s; for the pinned versions: %s", row->name, others.data,
                command.data);
    bn_text_free(&others);
    bn_text_free(&command);
    json_decref(versions);
    json_decref(pinned);
}

/* Whether the script and the Python of E's front end are there, and the recorder. */
static bn_code check_front_end(const job_experiment *e, bn_status *st)
{
    const frontend_info *row = frontend_named(e->what.front_end);
    frontend_place place;
    char recorder[PATH_MAX];
    if (!row)
        return BN_OK;
    bn_code code = frontend_find(row, FRONTEND_RUN, &place, st);
    if (code == BN_OK)
        code = rt_recorder_find(recorder, sizeof recorder, st);
    if (code == BN_OK)
        warn_of_versions(row, &place);
    return code;
}

/* Whether the front ends in LIST have a folder for their requests. */
static bn_code check_scratch(const job_experiment *list, size_t count, bn_status *st)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < count; i++)
        if (job_is_framework(&list[i].what)) {
            const bn_code code = job_scratch_begin(list[i].how.store, path, st);
            job_scratch_end(path);
            return code;
        }
    return BN_OK;
}

/* ---- all of it -------------------------------------------------------------------- */

bn_code job_words_check(const job_experiment *e, const job_experiment *last, bn_status *st)
{
    bn_code code = BN_OK;
    if (!last || strcmp(e->what.front_end, last->what.front_end) != 0)
        code = check_front_end(e, st);
    if (code == BN_OK && (!last || strcmp(e->how.pin, last->how.pin) != 0))
        code = cores_pin_check(e->how.pin, st);
    if (code == BN_OK && (!last || strcmp(e->how.idle_cores, last->how.idle_cores) != 0))
        code = cores_idle_check(e->how.idle_cores, st);
    if (code == BN_OK && e->how.cache_dir[0] &&
        (!last || strcmp(e->how.cache_dir, last->how.cache_dir) != 0))
        code = check_cache(e->how.cache_dir, st);
    return code;
}

bn_code job_experiments_check(const job_experiment *list, size_t count, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        char path[4096];
        if (i == 0 || strcmp(list[i].what.runtime, list[i - 1].what.runtime) != 0)
            code = job_runtime_ready(list[i].what.runtime, path, sizeof path, st);
        if (code == BN_OK)
            code = job_words_check(&list[i], i ? &list[i - 1] : NULL, st);
    }
    if (code == BN_OK)
        code = check_weights(list, count, st);
    /* Last, since it is made where it is missing. */
    if (code == BN_OK)
        code = job_store_ready(list[0].how.store, st);
    return code == BN_OK ? check_scratch(list, count, st) : code;
}
