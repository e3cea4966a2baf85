/*
 * estimate_step.c - a step on a topology: its graphs are those that lazy mode and capture compile.
 *
 * With automatic layouts, the compiler chooses the layouts of values that a graph passes to the
 * next one, whose text is made once they are known. Variables keep their default layouts, in which
 * the next step's first graph finds them.
 */
#include "harness/estimate/estimate_priv.h"
#include "models/model.h"
#include "modes/mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct step {
    estimate_run *run;
    const estimate_task *task;
    res_experiment what; /* with the model's own batch and sizes */
    model *instance;
    mode_plan *plan;
    size_t count;
    json_t **found; /* [graph] its worker's result, or NULL */
    char title[ESTIMATE_TITLE];
} step;

/* ---- layouts ------------------------------------------------------------------------------- */

static bool is_automatic(const step *s)
{
    return strcmp(s->what.layouts, "auto") == 0;
}

/* The layout in which an earlier graph passes input INPUT of GRAPH; NULL: the default. */
static const char *layout_of_input(const step *s, size_t graph, size_t input)
{
    size_t from, output;
    if (!is_automatic(s) || !mode_plan_source(s->plan, graph, input, &from, &output) ||
        !mode_plan_is_temporary(s->plan, from, output))
        return NULL;
    return json_string_value(json_array_get(json_object_get(s->found[from], "layouts"), output));
}

static void lower(const step *s, size_t graph, bn_text *text)
{
    const mode_plan_graph *info = mode_plan_describe(s->plan, graph);
    const char **in = bn_zalloc(info->input_count + 1, sizeof *in);
    const char **out = bn_zalloc(info->output_count + 1, sizeof *out);
    for (size_t i = 0; i < info->input_count; i++)
        in[i] = layout_of_input(s, graph, i);
    for (size_t o = 0; o < info->output_count; o++)
        out[o] = is_automatic(s) && mode_plan_is_temporary(s->plan, graph, o) ? "auto" : NULL;
    mode_plan_lower(s->plan, graph, &(tg_layouts){in, out}, text);
    free(in);
    free(out);
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
    code = mode_plan_new(&call, &(mode_plan_cut){(unsigned)e->what.graphs, (size_t)e->what.window},
                         TG_PRECISION_DEFAULT, &s->plan, st);
    if (code != BN_OK)
        return code;
    s->count = mode_plan_count(s->plan);
    s->found = bn_zalloc(s->count + 1, sizeof *s->found);
    return BN_OK;
}

static void free_step(step *s)
{
    for (size_t i = 0; s->found && i < s->count; i++)
        json_decref(s->found[i]);
    free(s->found);
    mode_plan_free(s->plan);
    model_free(s->instance);
}

/* "resnet50 train b32 f32, adamw, capture 3, forward, on v4:1x1x1": words of the table. */
static void set_title(step *s, const char *graph)
{
    char title[ESTIMATE_TITLE];
    estimate_step_title(&s->what, title, sizeof title);
    snprintf(s->title, sizeof s->title, "%.*s, %s %d, %.*s, on %.*s%s", BN_FIT(title, 300),
             s->what.mode, s->what.window ? s->what.window : s->what.graphs, BN_FIT(graph, 60), BN_FIT(s->task->topology, 90),
             is_automatic(s) ? ", layouts auto" : "");
}

/* Tracing before the host can submit GRAPH. A captured step is not traced. */
static double submitted_ns(const step *s, const mode_plan_graph *graph)
{
    const size_t last = mode_plan_count(s->plan) - 1;
    const double nodes = (double)mode_plan_describe(s->plan, last)->end_node;
    const double node_ns =
        (double)mode_plan_trace_ns(s->plan) / nodes + s->task->experiment->what.trace_cost_ns;
    return strcmp(s->what.mode, "capture") == 0 ? 0 : node_ns * (double)graph->end_node;
}

static void do_graph(step *s, size_t graph)
{
    const mode_plan_graph *info = mode_plan_describe(s->plan, graph);
    bn_text text = {0};
    set_title(s, info->label);
    lower(s, graph, &text);
    const estimate_program program = {.what = &s->what,
                                      .title = s->title,
                                      .index = graph,
                                      .of = s->count,
                                      .graph = info->label,
                                      .module = info->module,
                                      .nodes = (int64_t)info->cost.nodes,
                                      .flops = info->cost.flops,
                                      .offloaded = info->cost.offloaded,
                                      .trace_ns = mode_plan_trace_ns(s->plan),
                                      .submitted_ns = submitted_ns(s, info),
                                      .times = 1,
                                      .format = "mlir",
                                      .text = text.data,
                                      .size = text.length};
    s->found[graph] = estimate_compile(s->run, s->task, &program);
    bn_text_free(&text);
}

bn_code estimate_step(estimate_run *run, const estimate_task *task, bn_status *st)
{
    step s = {.run = run, .task = task, .what = task->experiment->what, .count = 1};
    bn_status failure = {.code = BN_OK};
    set_title(&s, "step");
    bn_code code = begin(&s, &failure);
    if (code == BN_OK && s.what.window)
        run->of += s.count - 1;
    for (size_t i = 0; code == BN_OK && i < s.count && !job_interrupted(); i++) {
        run->number++;
        do_graph(&s, i);
    }
    if (code != BN_OK && code != BN_OUT_OF_MEMORY) {
        /* The model refuses its options, or the step reads a value. */
        const estimate_program none = {.what = &s.what,
                                       .title = s.title,
                                       .of = s.count,
                                       .graph = "step",
                                       .module = "",
                                       .times = 1};
        estimate_add_failure(run, task, &none, &failure);
        code = BN_OK;
    }
    free_step(&s);
    return code == BN_OK ? BN_OK : bn_fail(st, code, "%s", failure.message);
}
