/*
 * plan.c - a step as the graphs that lazy mode and capture compile, without a runtime: for callers
 * that only compile them.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>

#define TRACES 5 /* odd, for a median: the first trace runs with cold caches */

struct mode_plan {
    tg_trace *trace; /* the graphs live in it */
    tg_graph *const *graphs;
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

static bn_code trace_and_cut(mode_plan *p, const mode_call *call, unsigned graphs, bn_status *st)
{
    unsigned group_of_phase[TG_PHASE_COUNT];
    bn_code code = mode_choose_cut(graphs, group_of_phase, st);
    if (code != BN_OK)
        return code;
    p->trace_ns = median_trace_ns(p->trace, call);
    code = tg_trace_cut(p->trace, group_of_phase, NULL, &p->graphs, &p->count, st);
    if (code != BN_OK)
        return code;
    p->info = bn_zalloc(p->count, sizeof *p->info);
    for (size_t i = 0; i < p->count; i++) {
        mode_plan_graph *info = &p->info[i];
        mode_graph_label(group_of_phase, p->graphs[i], info->label);
        mode_module_name(info->label, info->module);
        info->input_count = p->graphs[i]->input_count;
        info->output_count = p->graphs[i]->output_count;
        tg_graph_measure(p->graphs[i], &info->cost);
    }
    return BN_OK;
}

bn_code mode_plan_new(const mode_call *call, unsigned graphs, tg_precision precision,
                      mode_plan **plan, bn_status *st)
{
    mode_plan *p = bn_zalloc(1, sizeof *p);
    *plan = NULL;
    p->trace = tg_trace_new();
    tg_trace_set_precision(p->trace, precision);
    bn_code code = trace_and_cut(p, call, graphs ? graphs : 1, st);
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
