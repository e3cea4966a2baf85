/*
 * plan.c - a step as the graphs that lazy mode and capture compile, without a runtime: for callers
 * that only compile them.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>

#define TRACES 5 /* odd, for a median: the first trace runs with cold caches */

struct mode_plan {
    tg_trace *trace; /* the graphs live in it */
    const tg_graph *const *graphs;
    tg_windows *windows; /* NULL: it is not cut into windows */
    const tg_graph **owned; /* GRAPHS, if it is */
    mode_plan_graph *info; /* [count] */
    size_t count;
    uint64_t trace_ns;
};

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Traces CALL, the same each time; returns the nanoseconds of the median. */
static uint64_t median_trace_ns(tg_trace *t, const mode_call *call)
{
    uint64_t ns[TRACES];
    for (size_t i = 0; i < TRACES; i++) {
        const uint64_t start = bn_now_ns();
        tg_trace_begin(t);
        call->function(t, call->context);
        ns[i] = bn_now_ns() - start;
    }
    qsort(ns, TRACES, sizeof *ns, by_size);
    return ns[TRACES / 2];
}

/* The windows of the trace that make anything. */
static bn_code cut_windows(mode_plan *p, size_t window, bn_status *st)
{
    const bn_code code = tg_trace_status(p->trace, st);
    if (code != BN_OK)
        return code;
    p->windows = tg_windows_new(p->trace, window, NULL, 0);
    const tg_graph **list = bn_zalloc(tg_windows_count(p->windows), sizeof *list);
    for (size_t i = 0; i < tg_windows_count(p->windows); i++) {
        const tg_graph *graph = tg_windows_graph(p->trace, p->windows, i);
        if (graph->output_count > 0)
            list[p->count++] = graph;
    }
    p->graphs = list;
    p->owned = list;
    return BN_OK;
}

static bn_code cut_phases(mode_plan *p, const unsigned group_of_phase[TG_PHASE_COUNT], bn_status *st)
{
    tg_graph *const *graphs;
    bn_code code = tg_trace_cut(p->trace, group_of_phase, NULL, &graphs, &p->count, st);
    if (code == BN_OK)
        p->graphs = (const tg_graph *const *)graphs;
    return code;
}

static bn_code trace_and_cut(mode_plan *p, const mode_call *call, const mode_plan_cut *cut,
                             bn_status *st)
{
    unsigned group_of_phase[TG_PHASE_COUNT];
    bn_code code = mode_choose_cut(cut->graphs ? cut->graphs : 1, group_of_phase, st);
    if (code != BN_OK)
        return code;
    p->trace_ns = median_trace_ns(p->trace, call);
    code = cut->window ? cut_windows(p, cut->window, st) : cut_phases(p, group_of_phase, st);
    if (code != BN_OK)
        return code;
    p->info = bn_zalloc(p->count, sizeof *p->info);
    for (size_t i = 0; i < p->count; i++) {
        mode_plan_graph *info = &p->info[i];
        if (cut->window)
            mode_window_label(p->graphs[i]->group, info->label);
        else
            mode_graph_label(group_of_phase, p->graphs[i], info->label);
        info->end_node = cut->window ? tg_windows_at(p->windows, p->graphs[i]->group)->end_node
                                     : tg_trace_node_count(p->trace);
        mode_module_name(info->label, info->module);
        info->input_count = p->graphs[i]->input_count;
        info->output_count = p->graphs[i]->output_count;
        tg_graph_measure(p->graphs[i], &info->cost);
    }
    return BN_OK;
}

bn_code mode_plan_new(const mode_call *call, const mode_plan_cut *cut, tg_precision precision,
                      mode_plan **plan, bn_status *st)
{
    mode_plan *p = bn_zalloc(1, sizeof *p);
    *plan = NULL;
    p->trace = tg_trace_new();
    tg_trace_set_precision(p->trace, precision);
    bn_code code = trace_and_cut(p, call, cut, st);
    if (code != BN_OK) {
        mode_plan_free(p);
        return bn_context(st, "planning the step");
    }
    *plan = p;
    return BN_OK;
}

void mode_plan_free(mode_plan *plan)
{
    if (!plan)
        return;
    tg_trace_free(plan->trace);
    tg_windows_free(plan->windows);
    free(plan->owned);
    free(plan->info);
    free(plan);
}

size_t mode_plan_count(const mode_plan *plan)
{
    return plan->count;
}

uint64_t mode_plan_trace_ns(const mode_plan *plan)
{
    return plan->trace_ns;
}

const mode_plan_graph *mode_plan_describe(const mode_plan *plan, size_t graph)
{
    return &plan->info[graph];
}

bool mode_plan_source(const mode_plan *plan, size_t graph, size_t input, size_t *from,
                      size_t *output)
{
    const tg_tensor *value = plan->graphs[graph]->inputs[input];
    if (tg_input_variable(value))
        return false;
    /* Two variables with one value have an output each; any of them will do. */
    for (*from = 0; *from < graph; ++*from)
        for (*output = 0; *output < plan->graphs[*from]->output_count; ++*output)
            if (plan->graphs[*from]->outputs[*output] == value)
                return true;
    return false;
}

bool mode_plan_is_temporary(const mode_plan *plan, size_t graph, size_t output)
{
    return !plan->graphs[graph]->target[output];
}

void mode_plan_lower(const mode_plan *plan, size_t graph, const tg_layouts *layouts, bn_text *out)
{
    tg_graph_lower_laid_out(plan->graphs[graph], plan->info[graph].module, layouts, out);
}
