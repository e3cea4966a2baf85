/*
 * session.c - in a worker: the runtime, and on it a model in a mode with its initial contents.
 */
#include "harness/causes/causes.h"
#include "harness/worker/worker.h"

#include <stdlib.h>
#include <string.h>

#define NAMED 16 /* unused tensors that a record names; the rest is counted */

/* ---- runtime ------------------------------------------------------------------- */

/* The user's options, and the usual one unless the user gave one of that name. */
static size_t client_options(const worker_session *s, const char *list[CLI_MAX_REPEATS + 1])
{
    const char *usual = job_usual_option(s->experiment->what.runtime, s->path);
    size_t count = 0;
    for (const char *const *o = s->experiment->how.runtime_option; *o; o++) {
        if (usual && strncmp(*o, usual, strcspn(usual, "=") + 1) == 0)
            usual = NULL;
        list[count++] = *o;
    }
    if (usual)
        list[count++] = usual;
    return count;
}

static bn_code client_create(worker_session *s, bn_status *st)
{
    const char *list[CLI_MAX_REPEATS + 1];
    rt_option parsed[CLI_MAX_REPEATS + 1];
    char *copies[CLI_MAX_REPEATS + 1] = {NULL};
    size_t count = client_options(s, list);
    bn_code code = BN_OK;
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        copies[i] = bn_strdup(list[i]);
        code = rt_option_parse(copies[i], &parsed[i], st);
    }
    if (code == BN_OK)
        code = rt_client_create(s->plugin, parsed, count, &s->client, st);
    for (size_t i = 0; i < count; i++)
        free(copies[i]);
    return code;
}

bn_code worker_session_begin(worker_session *s, const job_experiment *e, bn_status *st)
{
    /* A suite is planned for one file of the runtime. */
    const char *build = json_string_value(json_object_get(e->suite, "runtime_sha256"));
    *s = (worker_session){.experiment = e};
    worker_send_progress(JOB_LOADING, 0, 0);
    s->process = job_process_describe();
    bn_code code = cores_idle_begin(e->how.idle_cores, &s->idle, st);
    if (code == BN_OK)
        code = cores_pin_begin(e->how.pin, &s->pinning, st);
    if (code == BN_OK)
        code = rt_plugin_find(e->what.runtime, s->path, sizeof s->path, st);
    s->environment = worker_environment();
    if (code == BN_OK)
        code = rt_plugin_load(s->path, build, &s->plugin, st);
    if (code == BN_OK)
        code = client_create(s, st);
    if (code == BN_OK)
        code = cores_pin_host_thread(s->pinning, st);
    const bool no_tpu = code == BN_PLUGIN && s->plugin && strcmp(e->what.runtime, "tpu") == 0;
    return code == BN_OK ? BN_OK
                         : bn_context(st, "runtime %s%s", e->what.runtime,
                                      no_tpu ? " (no TPU here? bench estimate uses its compiler, "
                                               "with --recording for a recorded step)"
                                             : "");
}

void worker_session_share(worker_session *s, const worker_session *other, const job_experiment *e)
{
    *s = (worker_session){.experiment = e,
                          .plugin = other->plugin,
                          .client = other->client,
                          .process = other->process,
                          .environment = other->environment,
                          .pinning = other->pinning,
                          .idle = other->idle,
                          .shared = true};
    memcpy(s->path, other->path, sizeof s->path);
}

void worker_session_end(worker_session *s)
{
    worker_session_drop_model(s);
    if (!s->shared) {
        rt_client_destroy(s->client);
        cores_pinning_free(s->pinning);
        cores_idle_end(s->idle);
        json_decref(s->process);
        json_decref(s->environment);
    }
    s->process = NULL;
    s->environment = NULL;
    s->idle = 0;
    s->client = NULL;
    s->pinning = NULL;
}

/* ---- model and mode --------------------------------------------------------------- */

/* V's contents before the first step: parameters and statistics from the file, if there is one;
 * all others by the model's rule. */
static bn_code initial_contents(const worker_session *s, const model_weights *weights,
                                const model_variable *v, void *host, bn_status *st)
{
    if (!weights || (v->role != MODEL_PARAMETER && v->role != MODEL_STATISTIC))
        return model_initial(v, model_get_options(s->instance)->seed, host, st);
    model_weights_load(weights, v, host);
    return BN_OK;
}

/* Contents of variable NUMBER's tensor: where equal layers share it, those of each. */
static bn_code fill_tensor(const worker_session *s, const model_weights *weights, size_t number,
                           char *host, bn_status *st)
{
    size_t count;
    const model_variable *v = model_variables(s->instance, &count);
    const size_t part = (size_t)tg_type_bytes(&v[number].shape);
    bn_code code = BN_OK;
    for (size_t i = number; i < count && code == BN_OK; i++)
        if (v[i].tensor == v[number].tensor)
            code = initial_contents(s, weights, &v[i], host + (size_t)v[i].layer * part, st);
    /* One batch, which each step takes, as it does where it is a program of its own. */
    const size_t slice = part * (size_t)(v[number].layers ? v[number].layers : 1);
    for (int k = 1; k < v[number].steps; k++)
        memcpy(host + (size_t)k * slice, host, slice);
    return code;
}

static bn_code write_variables(worker_session *s, const model_weights *weights, bn_status *st)
{
    size_t count;
    const model_variable *v = model_variables(s->instance, &count);
    void *host = NULL;
    int64_t room = 0;
    bn_code code = BN_OK;
    for (size_t i = 0; i < count && code == BN_OK; i++) {
        int64_t size = tg_type_bytes(tg_tensor_type(v[i].tensor));
        if (v[i].role == MODEL_RESULT || v[i].layer > 0)
            continue;
        if (size > room) {
            free(host);
            host = malloc((size_t)size);
            room = size;
        }
        if (!host)
            code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %lld bytes of %s", (long long)size,
                           v[i].name);
        if (code == BN_OK)
            code = fill_tensor(s, weights, i, host, st);
        if (code == BN_OK)
            code = mode_write(s->mode, v[i].tensor, host, st);
    }
    free(host);
    return code;
}

/* {"path": ..., "sha256": ..., ...}: FILE, opened as WEIGHTS, for the record (new reference). */
static json_t *weights_json(const char *file, const model_weights *weights)
{
    model_weights_info info;
    char names[NAMED][MODEL_WEIGHTS_NAME];
    json_t *unused = json_array();
    size_t count = model_weights_unused(weights, names, NAMED);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(unused, json_string(names[i]));
    model_weights_describe(weights, &info);
    return json_pack("{ss ss sI sI sI sI so}", "path", file, "sha256", info.sha256, "bytes",
                     (json_int_t)info.bytes, "tensors", (json_int_t)info.tensors, "used",
                     (json_int_t)info.used, "unused", (json_int_t)(info.tensors - info.used),
                     "unused_names", unused);
}

static bn_code write_initial(worker_session *s, bn_status *st)
{
    const char *file = s->experiment->how.weights;
    model_weights *weights = NULL;
    if (!file)
        return write_variables(s, NULL, st);
    worker_send_progress("reading weights", 0, 0);
    bn_code code = job_weights_open(file, s->instance, &weights, st);
    if (code == BN_OK)
        code = write_variables(s, weights, st);
    if (code == BN_OK)
        s->weights = weights_json(file, weights);
    model_weights_close(weights);
    return code;
}

bn_code worker_session_model(worker_session *s, const worker_session_options *o, bn_status *st)
{
    const job_experiment *e = s->experiment;
    const res_experiment *w = &e->what;
    model_options network = job_model_options(w, s->path);
    network.no_dropout = network.no_dropout || o->no_dropout;
    network.keep_gradients = o->keep_gradients;
    network.keep_stages = o->keep_stages;
    mode_options options = worker_mode_options(e);
    options.graphs = (unsigned)w->graphs;
    options.window = (size_t)w->window;
    options.precision = o->precision;
    options.trace_cost_ns = (uint64_t)w->trace_cost_ns;
    worker_send_progress("preparing", 0, 0);
    bn_code code = model_new(w->model, &network, &s->instance, st);
    if (code == BN_OK)
        code = mode_create(w->mode, s->client, &options, &s->mode, st);
    if (code == BN_OK)
        code = write_initial(s, st);
    if (code == BN_OK)
        code = worker_feed_new(s, &s->feed, st);
    s->call = (mode_call){
        .function = model_step, .context = s->instance, .feed = worker_feed_hooks(s->feed)};
    if (code == BN_OK)
        s->call.statics = model_statics(s->instance, &s->call.static_bytes);
    return code;
}

bn_code worker_session_explain(worker_session *s, int64_t steps, double seconds, json_t **lists,
                               bn_status *st)
{
    const uint64_t start = bn_now_ns();
    cause_state *state = cause_begin(s->mode, s->instance, &s->call);
    bn_code code = BN_OK;
    for (int64_t i = 0; code == BN_OK && i < steps; i++) {
        if (i >= 2 && (double)(bn_now_ns() - start) > seconds * 1e9)
            break;
        worker_send_progress("explaining", i, steps);
        cause_step_begin(state);
        code = mode_step(s->mode, &s->call, NULL, st);
        if (code == BN_OK)
            cause_step_end(state);
    }
    if (code == BN_OK)
        code = mode_drain(s->mode, st);
    if (code == BN_OK)
        *lists = cause_lists(state);
    cause_end(state);
    return code;
}

/* Tells the user why an executable on disk could not be used, if there was one. */
static void send_disk_refusal(const worker_session *s)
{
    const char *why = s->mode ? mode_disk_refusal(s->mode) : NULL;
    bn_text text = {0};
    if (!why)
        return;
    bn_text_printf(&text, "executables on disk: %s", why);
    worker_send_notice(text.data);
    bn_text_free(&text);
}

void worker_session_drop_model(worker_session *s)
{
    size_t count = 0;
    const model_variable *v = s->instance ? model_variables(s->instance, &count) : NULL;
    bn_status ignored = {.code = BN_OK};
    send_disk_refusal(s);
    if (s->mode && mode_drain(s->mode, &ignored) != BN_OK)
        ignored.code = BN_OK; /* the step has reported the failure */
    worker_feed_free(s->feed);
    s->feed = NULL;
    for (size_t i = 0; s->mode && i < count; i++)
        mode_clear(s->mode, v[i].tensor);
    mode_destroy(s->mode);
    model_free(s->instance);
    worker_program_free(s->program); /* after the mode, which reads its arguments */
    s->program = NULL;
    worker_recorded_free(s->recorded);
    s->recorded = NULL;
    json_decref(s->weights);
    s->weights = NULL;
    s->mode = NULL;
    s->instance = NULL;
}

/* ---- provenance ----------------------------------------------------------------------- */

static json_t *attributes_json(const rt_attribute *attributes, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(object, attributes[i].name, res_json_text(attributes[i].text));
    return object;
}

/* The variables that plugins read, and those that change a plugin's speed by other means: settings
 * of the C library's allocator, preloaded libraries, and variables of libraries inside a plugin. */
json_t *worker_environment(void)
{
    static const char *const others[] = {"MALLOC_", "GLIBC_TUNABLES=", "LD_PRELOAD=", NULL};
    json_t *object = json_object();
    const char *name, *value;
    for (size_t i = 0; rt_environment(i, &name, &value); i++)
        if (value && *value)
            json_object_set_new(object, name, res_json_text(value));
    res_environment_add(object, others);
    res_environment_add_framework(object);
    return object;
}

json_t *worker_session_describe(const worker_session *s)
{
    const rt_plugin_info *p = rt_plugin_describe(s->plugin);
    const rt_device_info *d = rt_client_device(s->client, 0);
    const job_experiment *e = s->experiment;
    const char *list[CLI_MAX_REPEATS + 1];
    json_t *options = json_array(), *flags = json_array();
    for (size_t i = 0, count = client_options(s, list); i < count; i++)
        json_array_append_new(options, json_string(list[i]));
    for (const char *const *f = e->how.xla_flag; *f; f++)
        json_array_append_new(flags, json_string(*f));
    return json_pack("{so ss so s[ii] sI sb so so so si s{so so so} so so sO}", "path",
                     res_json_text(p->path), "sha256", p->sha256, "label",
                     res_json_text(e->how.label), "api_version", p->api_major, p->api_minor,
                     "api_bytes", (json_int_t)p->api_bytes, "profiler", p->has_profiler,
                     "attributes", attributes_json(p->attributes, p->attribute_count), "platform",
                     res_json_text(rt_client_platform(s->client)), "platform_version",
                     res_json_text(rt_client_platform_version(s->client)), "devices",
                     (int)rt_client_device_count(s->client), "device", "kind",
                     res_json_text(d->kind), "description", res_json_text(d->description),
                     "attributes", attributes_json(d->attributes, d->attribute_count), "options",
                     options, "compile_flags", flags, "environment", s->environment);
}
