/*
 * scopes_job.c - the worker's half of device times: steps of an experiment under the plugin's
 * profiler, and its times of ops.
 */
#include "harness/scopes/scopes.h"
#include "harness/worker/worker.h"
#include "runtime/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#define WARM_STEPS 2 /* the first compiles */

/* Contents of a profile. */
typedef struct profile {
    bn_arena *memory;
    rt_op_time *ops;
    size_t op_count;
    rt_device_span *spans; /* executions */
    size_t span_count;
} profile;

/* Fails where the plugin cannot take a profile, before a model is made. */
static bn_code try_profiler(rt_plugin *plugin, bn_status *st)
{
    rt_profiler *profiler = NULL;
    void *xspace = NULL;
    size_t size = 0;
    bn_code code = rt_profiler_start(plugin, false, &profiler, st);
    if (code == BN_OK)
        code = rt_profiler_finish(profiler, &xspace, &size, st);
    free(xspace);
    return code;
}

static bn_code run_steps(worker_session *s, int64_t steps, bn_status *st)
{
    bn_code code = BN_OK;
    for (int64_t i = 0; i < steps && code == BN_OK; i++)
        code = mode_step(s->mode, &s->call, NULL, st);
    return code == BN_OK ? mode_drain(s->mode, st) : code;
}

/* Runs STEPS under the profiler. */
static bn_code take_profile(worker_session *s, int64_t steps, profile *p, bn_status *st)
{
    rt_profiler *profiler = NULL;
    void *xspace = NULL;
    size_t size = 0;
    bn_status unused = {.code = BN_OK};
    worker_send_progress("profiling", 0, 0);
    bn_code code = rt_profiler_start(s->plugin, true, &profiler, st);
    if (code != BN_OK)
        return code;
    code = run_steps(s, steps, st);
    const bn_code finished =
        rt_profiler_finish(profiler, &xspace, &size, code == BN_OK ? st : &unused);
    code = code == BN_OK ? finished : code;
    if (code == BN_OK)
        code = rt_xspace_device_spans(xspace, size, &p->spans, &p->span_count, st);
    if (code == BN_OK)
        code = rt_xspace_op_times(xspace, size, p->memory, &p->ops, &p->op_count, st);
    free(xspace);
    return code;
}

/* CUDA graphs: XLA puts a program's kernels into one, whose instructions a profile does not name.
 */
#define GRAPHS     "xla_gpu_enable_command_buffer="
#define GRAPHS_OFF GRAPHS

/* Whether the last of E's flags turns them off. */
static bool is_off(const job_experiment *e)
{
    size_t last = 0, count = 0;
    for (; e->how.xla_flag[count]; count++)
        if (strstr(e->how.xla_flag[count], GRAPHS))
            last = count + 1;
    return last && strcmp(strstr(e->how.xla_flag[last - 1], GRAPHS), GRAPHS_OFF) == 0;
}

/* Turns CUDA graphs off on a GPU, unless the user has set the flag. */
static void turn_graphs_off(const rt_client *client, job_experiment *e)
{
    size_t count = 0;
    for (; e->how.xla_flag[count]; count++)
        if (strstr(e->how.xla_flag[count], GRAPHS))
            return;
    if (strcmp(rt_client_platform(client), "cuda") == 0 && count < CLI_MAX_REPEATS)
        e->how.xla_flag[count] = GRAPHS_OFF;
}

static json_t *profile_json(const worker_session *s, const profile *p, int64_t steps)
{
    double device_ns = 0;
    json_t *ops = json_array();
    for (size_t i = 0; i < p->span_count; i++)
        device_ns += (double)p->spans[i].busy_ns;
    for (size_t i = 0; i < p->op_count; i++)
        json_array_append_new(ops, json_pack("{so sf sI}", "name", res_json_text(p->ops[i].name),
                                             "ns", (double)p->ops[i].ps / 1e3 / (double)steps,
                                             "events", (json_int_t)p->ops[i].events));
    return json_pack("{sI sb sb sf so}", "steps", (json_int_t)steps, "simulated",
                     (int)worker_session_simulated(s), "graphs_off", is_off(s->experiment),
                     "device_ns", device_ns / (double)steps, "ops", ops);
}

/* Makes the model, compiles, and sends the profile. */
static bn_code measure(worker_session *s, bn_status *st)
{
    const worker_session_options usual = {.precision = TG_PRECISION_DEFAULT};
    const int64_t steps = s->experiment->how.steps;
    profile p = {.memory = bn_arena_new(1u << 16)};
    bn_code code = worker_session_model(s, &usual, st);
    worker_send_progress("compiling", 0, 0);
    if (code == BN_OK)
        code = run_steps(s, WARM_STEPS, st);
    if (code == BN_OK)
        code = take_profile(s, steps, &p, st);
    if (code == BN_OK)
        worker_send_result(p.op_count > 0 ? profile_json(s, &p, steps)
                                          : json_pack("{ss}", "why",
                                                      "the plugin's profile has no ops or "
                                                      "kernels of a device"));
    free(p.spans);
    bn_arena_free(p.memory);
    return code;
}

bn_code scopes_job(const json_t *request, bn_status *st)
{
    job_experiment e;
    worker_session s = {0};
    bn_status why = {.code = BN_OK};
    bn_code code = job_experiment_from_json(json_object_get(request, "experiment"), &e, st);
    if (code != BN_OK)
        return code;
    code = worker_session_begin(&s, &e, st);
    if (code == BN_OK && try_profiler(s.plugin, &why) != BN_OK) {
        worker_send_result(json_pack("{so}", "why", res_json_text(why.message)));
    } else if (code == BN_OK) {
        turn_graphs_off(s.client, &e);
        code = measure(&s, st);
        if (code == BN_OK)
            code = rt_plugin_check_file(s.plugin, st);
    }
    worker_session_end(&s);
    return code;
}
