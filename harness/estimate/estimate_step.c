/*
 * estimate_step.c - a step on a topology: its graphs are those that lazy mode and capture compile;
 * each is compiled in a worker of its own, unless it was compiled before.
 *
 * With automatic layouts, what a graph hands on leaves it as the compiler likes it, and the next
 * graph takes it so: its text is made once the layouts of the results before it are known. What
 * variables take over keeps its default layout, in which the next step's first graph finds it.
 */
#include "harness/estimate/estimate_priv.h"
#include "models/model.h"
#include "modes/mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A step in the making. */
typedef struct step {
    estimate_run *run;
    const estimate_task *task;
    res_experiment what; /* with the model's own batch and sizes */
    model *instance;
    mode_plan *plan;
    size_t count;
    json_t **found; /* [graph] what its worker found, or NULL */
    char title[ESTIMATE_TITLE];
} step;

/* What compiling a graph came to. */
typedef struct compiled {
    json_t *result; /* or NULL: CODE and MESSAGE say why */
    bn_code code;
    char message[1024];
    bool cached;
} compiled;

/* ---- one graph, compiled ---------------------------------------------------------------- */

/* "v4:1x1x1" of "v4:1x1x1/megacore"; what is behind the slash is the chip's configuration. */
static const char *topology_name(const char *topology, char name[CLI_ITEM_BYTES],
                                 char option[CLI_ITEM_BYTES + 32])
{
    const size_t length = strcspn(topology, "/");
    snprintf(name, CLI_ITEM_BYTES, "%.*s", (int)length, topology);
    option[0] = '\0';
    if (topology[length])
        snprintf(option, CLI_ITEM_BYTES + 32, "chip_config_name=%s", topology + length + 1);
    return option[0] ? option : NULL;
}

static json_t *request_of(const step *s, const bn_text *text)
{
    const estimate_run *run = s->run;
    char name[CLI_ITEM_BYTES], option[CLI_ITEM_BYTES + 32];
    const char *first = topology_name(s->task->topology, name, option);
    return json_pack("{ss so ss so so so so}", "job", "estimate", "plugin",
                     res_json_text(run->path), "sha256", run->sha256, "topology",
                     res_json_text(name), "options", estimate_words(first, run->options->option),
                     "flags", estimate_words(NULL, s->task->experiment->xla_flag), "text",
                     res_json_text(text->data));
}

/* Compiles TEXT in a worker. */
static void compile(step *s, const char *title, const bn_text *text, compiled *c)
{
    const job_experiment *e = s->task->experiment;
    job_outcome outcome = {0};
    bn_status st = {.code = BN_OK};
    json_t *request = request_of(s, text);
    const job_order job = {.request = request,
                           .title = title,
                           .number = s->run->number,
                           .of = s->run->of,
                           .timeout = e->timeout,
                           .verbose = s->run->options->output.verbose};
    c->code = request ? job_supervise(&job, &outcome, &st)
                      : bn_fail(&st, BN_OUT_OF_MEMORY, "no memory for a request");
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
        snprintf(c->message, sizeof c->message, "%.1000s", message);
    json_decref(outcome.result);
}

/* The same, from the cache if it is there. */
static void compile_once(step *s, const char *title, const bn_text *text, compiled *c)
{
    estimate_run *run = s->run;
    const estimate_key key = {.sha256 = run->sha256,
                              .topology = s->task->topology,
                              .option = run->options->option,
                              .flag = s->task->experiment->xla_flag,
                              .text = text->data,
                              .length = text->length};
    *c = (compiled){.result = estimate_cache_get(run->cache, &key)};
    c->cached = c->result != NULL;
    if (c->cached) {
        cli_line_clear();
        cli_say("[%zu/%zu] %s: compiled before", run->number, run->of, title);
        return;
    }
    compile(s, title, text, c);
    const char *class = estimate_word(c->result, "class");
    if (strcmp(class, ESTIMATE_OK) == 0 || strcmp(class, ESTIMATE_MEMORY) == 0)
        estimate_cache_put(run->cache, &key, c->result);
}

/* ---- layouts ------------------------------------------------------------------------------- */

/* The layout in which an earlier graph hands input INPUT of GRAPH on; NULL: the default. */
static const char *layout_of_input(const step *s, size_t graph, size_t input)
{
    size_t from, output;
    if (!s->task->automatic || !mode_plan_source(s->plan, graph, input, &from, &output) ||
        !mode_plan_passes(s->plan, from, output))
        return NULL;
    return json_string_value(json_array_get(json_object_get(s->found[from], "layouts"), output));
}

/* Fills IN and OUT, with room for GRAPH's inputs and outputs. */
static void choose_layouts(const step *s, size_t graph, const char **in, const char **out)
{
    const mode_plan_graph *info = mode_plan_describe(s->plan, graph);
    for (size_t i = 0; i < info->input_count; i++)
        in[i] = layout_of_input(s, graph, i);
    for (size_t o = 0; o < info->output_count; o++)
        out[o] = s->task->automatic && mode_plan_passes(s->plan, graph, o) ? "auto" : NULL;
}

static bn_code lower(const step *s, size_t graph, bn_text *text, bn_status *st)
{
    const mode_plan_graph *info = mode_plan_describe(s->plan, graph);
    const char **in = calloc(info->input_count + 1, sizeof *in);
    const char **out = calloc(info->output_count + 1, sizeof *out);
    bn_code code = in && out ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for layouts");
    if (code == BN_OK) {
        choose_layouts(s, graph, in, out);
        code = mode_plan_lower(s->plan, graph, &(tg_layouts){in, out}, text, st);
    }
    free(in);
    free(out);
    return code;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Adds the line of graph GRAPH; INFO is NULL where the step has no graphs. */
static void add_line(step *s, size_t graph, const mode_plan_graph *info, size_t text_bytes,
                     compiled *c)
{
    const char *class = c->result ? estimate_word(c->result, "class") : bn_code_name(c->code);
    const char *message = c->result ? estimate_word(c->result, "message") : c->message;
    json_t *line = json_pack(
        "{sI sI sI so so ss ss ss sI sf sI ss so sb}", "step", (json_int_t)s->task->index, "number",
        (json_int_t)graph + 1, "of", (json_int_t)s->count, "experiment",
        res_experiment_to_json(&s->what), "topology", res_json_text(s->task->topology), "layouts",
        s->task->automatic ? "auto" : "default", "graph", info ? info->label : "step", "module",
        info ? info->module : "", "nodes", (json_int_t)(info ? info->cost.nodes : 0), "flops",
        info ? info->cost.flops : 0.0, "text_bytes", (json_int_t)text_bytes, "class", class,
        "message", res_json_text(message), "cached", (int)c->cached);
    json_object_set_new(line, "estimate", c->result ? json_incref(c->result) : json_null());
    estimate_time_line(line);
    json_array_append_new(s->run->lines, line);
    if (strcmp(class, ESTIMATE_OK) != 0) {
        s->run->failed = true;
        cli_line_clear();
        cli_say("bench: %s: %s: %s", s->title, class, message);
    }
}

/* The topology is one that the plugin does not have: no further worker is asked. */
static void note_refusal(step *s, const compiled *c)
{
    if (!c->result || strcmp(estimate_word(c->result, "class"), ESTIMATE_TOPOLOGY) != 0)
        return;
    snprintf(s->run->refused, sizeof s->run->refused, "%s", s->task->topology);
    snprintf(s->run->refusal, sizeof s->run->refusal, "%s", estimate_word(c->result, "message"));
}

/* ---- the step ---------------------------------------------------------------- */

/* Makes model and plan. */
static bn_code begin(step *s, bn_status *st)
{
    const job_experiment *e = s->task->experiment;
    const model_options network = job_model_options(&e->what, s->run->path);
    bn_code code = model_new(e->what.model, &network, &s->instance, st);
    if (code != BN_OK)
        return code;
    const mode_call call = {.function = model_step, .context = s->instance};
    job_experiment_fill(model_get_options(s->instance), &s->what);
    code = mode_plan_new(&call, (unsigned)e->what.graphs, TG_PRECISION_DEFAULT, &s->plan, st);
    if (code != BN_OK)
        return code;
    s->count = mode_plan_count(s->plan);
    s->found = calloc(s->count + 1, sizeof *s->found);
    return s->found ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a step");
}

static void end(step *s)
{
    for (size_t i = 0; s->found && i < s->count; i++)
        json_decref(s->found[i]);
    free(s->found);
    mode_plan_free(s->plan);
    model_free(s->instance);
}

static void set_title(step *s, const char *graph)
{
    const res_experiment *w = &s->what;
    snprintf(s->title, sizeof s->title, "%s %s b%d %s %s, %s, on %.100s%s", w->model, w->phase,
             w->batch, w->dtype, w->mode, graph, s->task->topology,
             s->task->automatic ? ", layouts auto" : "");
}

static bn_code do_graph(step *s, size_t graph, bn_status *st)
{
    const mode_plan_graph *info = mode_plan_describe(s->plan, graph);
    bn_text text = {0};
    compiled c = {.code = BN_OK};
    set_title(s, info->label);
    bn_code code = lower(s, graph, &text, st);
    if (code == BN_OK && strcmp(s->run->refused, s->task->topology) == 0) {
        c.result = json_pack("{ss so}", "class", ESTIMATE_TOPOLOGY, "message",
                             res_json_text(s->run->refusal));
    } else if (code == BN_OK) {
        compile_once(s, s->title, &text, &c);
    }
    /* What the user stopped is no line. */
    if (code == BN_OK && c.code != BN_CANCELLED) {
        add_line(s, graph, info, text.length, &c);
        note_refusal(s, &c);
        s->found[graph] = json_incref(c.result);
    }
    json_decref(c.result);
    bn_text_free(&text);
    return code;
}

bn_code estimate_step(estimate_run *run, const estimate_task *task, bn_status *st)
{
    step s = {.run = run, .task = task, .what = task->experiment->what, .count = 1};
    bn_status failure = {.code = BN_OK};
    set_title(&s, "step");
    bn_code code = begin(&s, &failure);
    for (size_t i = 0; code == BN_OK && i < s.count && !job_interrupted(); i++) {
        run->number++;
        code = do_graph(&s, i, &failure);
    }
    if (code != BN_OK && code != BN_OUT_OF_MEMORY) {
        /* The model refuses its options, or the step reads a value. */
        compiled none = {.code = code};
        snprintf(none.message, sizeof none.message, "%s", failure.message);
        add_line(&s, 0, NULL, 0, &none);
        code = BN_OK;
    }
    end(&s);
    return code == BN_OK ? BN_OK : bn_fail(st, code, "%s", failure.message);
}
