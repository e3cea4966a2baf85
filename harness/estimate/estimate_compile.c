/*
 * estimate_compile.c - a program of a step on a topology: it is compiled in a worker of its own,
 * unless it was compiled before, and gets a line.
 */
#include "harness/estimate/estimate_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The outcome of a compilation. */
typedef struct compiled {
    json_t *result; /* or NULL, with CODE and MESSAGE */
    bn_code code;
    char message[1024];
    bool cached;
} compiled;

/* ---- compiling -------------------------------------------------------------------------- */

/* Splits "v4:1x1x1/megacore" into NAME and OPTION, the chip's configuration; returns OPTION, or
 * NULL without one. */
static const char *split_topology(const char *topology, char name[CLI_ITEM_BYTES],
                                  char option[CLI_ITEM_BYTES + 32])
{
    const size_t length = strcspn(topology, "/");
    snprintf(name, CLI_ITEM_BYTES, "%.*s", (int)length, topology);
    option[0] = '\0';
    if (topology[length])
        snprintf(option, CLI_ITEM_BYTES + 32, "chip_config_name=%s", topology + length + 1);
    return option[0] ? option : NULL;
}

static json_t *request_of(const estimate_run *run, const estimate_task *task,
                          const estimate_program *p)
{
    char name[CLI_ITEM_BYTES], option[CLI_ITEM_BYTES + 32];
    const char *first = split_topology(task->topology, name, option);
    return json_pack("{ss so ss so so so ss so* so*}", "job", "estimate", "plugin",
                     res_json_text(run->path), "sha256", run->sha256, "topology",
                     res_json_text(name), "options", estimate_words(first, run->options->option),
                     "flags", estimate_words(NULL, task->experiment->how.xla_flag), "format",
                     p->format, "text", p->text ? res_json_text(p->text) : NULL, "file",
                     p->text ? NULL : json_pack("{ss ss}", "path", p->path, "sha256", p->digest));
}

/* Compiles P in a worker. */
static void compile(estimate_run *run, const estimate_task *task, const estimate_program *p,
                    compiled *c)
{
    job_outcome outcome = {0};
    bn_status st = {.code = BN_OK};
    json_t *request = request_of(run, task, p);
    const job_order job = {.request = request,
                           .title = p->title,
                           .number = run->number,
                           .of = run->of,
                           .timeout = task->experiment->how.timeout,
                           .verbose = run->options->output.verbose};
    c->code = job_supervise(&job, &outcome, &st);
    json_decref(request);
    const char *message = st.message;
    if (c->code == BN_OK) {
        c->code = outcome.status;
        message = outcome.message;
    }
    if (c->code == BN_OK && !estimate_sound(outcome.result)) {
        c->code = BN_CRASH;
        message = "the worker reported nothing";
    }
    if (c->code == BN_OK)
        c->result = json_incref(outcome.result);
    else
        snprintf(c->message, sizeof c->message, "%.*s", BN_FIT(message, 1000));
    json_decref(outcome.result);
}

/* compile, or the result from the cache if it has one. */
static void compile_once(estimate_run *run, const estimate_task *task, const estimate_program *p,
                         compiled *c)
{
    const estimate_key key = {.sha256 = run->sha256,
                              .topology = task->topology,
                              .option = run->options->option,
                              .flag = task->experiment->how.xla_flag,
                              .format = p->format,
                              .text = p->text,
                              .length = p->size,
                              .digest = p->digest};
    c->result = estimate_cache_get(run->cache, &key);
    c->cached = c->result != NULL;
    if (c->cached) {
        cli_line_clear();
        cli_note("[%zu/%zu] %s: compiled before", run->number, run->of, p->title);
        return;
    }
    compile(run, task, p, c);
    const char *class = res_json_get_text(c->result, "class");
    if (strcmp(class, ESTIMATE_OK) == 0 || strcmp(class, ESTIMATE_MEMORY) == 0)
        estimate_cache_put(run->cache, &key, c->result);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void add_line(estimate_run *run, const estimate_task *task, const estimate_program *p,
                     const compiled *c)
{
    const char *class = c->result ? res_json_get_text(c->result, "class") : bn_code_name(c->code);
    const char *message = c->result ? res_json_get_text(c->result, "message") : c->message;
    json_t *line = json_pack(
        "{sI sI sI so so ss so ss sI so sI sI ss so sb sO*}", "step", (json_int_t)task->index,
        "number", (json_int_t)p->index + 1, "of", (json_int_t)p->of, "experiment",
        res_experiment_to_json(p->what), "topology", res_json_text(task->topology), "layouts",
        p->what->layouts, "graph", res_json_text(p->graph), "module", p->module, "nodes",
        (json_int_t)p->nodes, "flops", isfinite(p->flops) ? json_real(p->flops) : json_null(),
        "text_bytes", (json_int_t)p->size, "times_a_step", (json_int_t)p->times, "class", class,
        "message", res_json_text(message), "cached", (int)c->cached, "recorded", p->recorded);
    json_object_set_new(line, "estimate", c->result ? json_incref(c->result) : json_null());
    json_object_set_new(line, "offload_bytes", json_integer((json_int_t)p->offloaded));
    json_object_set_new(line, "trace_ns",
                        p->trace_ns ? json_integer((json_int_t)p->trace_ns) : json_null());
    json_object_set_new(line, "submitted_ns",
                        p->trace_ns ? json_real(p->submitted_ns) : json_null());
    estimate_time_line(line);
    json_array_append_new(run->lines, line);
    if (strcmp(class, ESTIMATE_OK) != 0) {
        run->failed = true;
        cli_line_clear();
        cli_say("bench: %s: %s: %s", p->title, class, message);
    }
}

json_t *estimate_compile(estimate_run *run, const estimate_task *task, const estimate_program *p)
{
    compiled c = {.code = BN_OK};
    if (strcmp(run->refused, task->topology) == 0)
        c.result = json_pack("{ss so}", "class", ESTIMATE_TOPOLOGY, "message",
                             res_json_text(run->refusal));
    else
        compile_once(run, task, p, &c);
    if (c.code == BN_CANCELLED)
        return c.result;
    add_line(run, task, p, &c);
    /* The plugin does not have this topology: no further worker is asked. */
    if (c.result && strcmp(res_json_get_text(c.result, "class"), ESTIMATE_TOPOLOGY) == 0) {
        snprintf(run->refused, sizeof run->refused, "%s", task->topology);
        snprintf(run->refusal, sizeof run->refusal, "%s", res_json_get_text(c.result, "message"));
    }
    return c.result;
}

void estimate_add_failure(estimate_run *run, const estimate_task *task, const estimate_program *p,
                          const bn_status *why)
{
    compiled none = {.code = why->code};
    snprintf(none.message, sizeof none.message, "%.*s", BN_FIT(why->message, 1000));
    add_line(run, task, p, &none);
}
