/*
 * scopes_trace.c - nodes, FLOPs and tracing time of each scope, from traces of a step.
 *
 * Tracing needs no runtime. The step is traced over and over with nothing between, so that caches
 * are warm. Traces without the clock stand between those with it, and show its cost.
 */
#include "harness/scopes/scopes_priv.h"
#include "runtime/graph/scopes.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

#define MOST_ROUNDS  100 /* of each half */
#define LEAST_ROUNDS 5
#define LONG_NS      1e9 /* for all traces, about */
#define WARM         3

/* Tracing at work. */
typedef struct tracer {
    model *instance;
    scopes_table *table;
    tg_trace *traces[2]; /* each is timed in one half: where its memory lies favours neither */
    size_t rounds;       /* of a half */
    size_t done;
    size_t lines;                   /* before the rounds */
    double *samples;                /* [line * 2 rounds + round] */
    double *plain, *timed, *ratios; /* [2 rounds] */
} tracer;

/* ---- nodes and FLOPs -------------------------------------------------------------- */

static scopes_line *line_of(scopes_table *table, const tg_scope *scope, tg_phase phase)
{
    bn_text path = {0};
    tg_scope_write(scope, &path);
    scopes_line *line = scopes_find(table, path.data ? path.data : "", phase);
    bn_text_free(&path);
    return line;
}

static void count_node(void *context, const tg_node *node)
{
    line_of(context, tg_node_scope(node), tg_node_phase(node))->figure[SCOPES_NODES]++;
}

static void count_cost(void *context, const tg_node *node, const tg_graph_cost *cost)
{
    scopes_line *line = line_of(context, tg_node_scope(node), tg_node_phase(node));
    line->figure[SCOPES_FLOPS] += cost->flops;
    line->bytes += cost->bytes;
}

/* Counts nodes and costs of the trace T, which holds a step. */
static bn_code count(scopes_table *table, tg_trace *t, bn_status *st)
{
    static const unsigned one_group[TG_PHASE_COUNT];
    tg_graph *const *graphs;
    size_t graph_count = 0;
    bn_code code = tg_trace_cut(t, one_group, NULL, &graphs, &graph_count, st);
    if (code != BN_OK)
        return code;
    tg_trace_visit(t, count_node, table);
    for (size_t i = 0; i < graph_count; i++)
        tg_graph_visit(graphs[i], count_cost, table);
    return BN_OK;
}

/* ---- time ------------------------------------------------------------------------- */

/* Traces a step; returns the nanoseconds. */
static double trace_once(const tracer *w, tg_trace *t)
{
    const uint64_t start = bn_now_ns();
    tg_trace_begin(t);
    model_step(t, w->instance);
    return (double)(bn_now_ns() - start);
}

/* Puts the stretches of T, which was timed, into the samples of the round in hand; or, before there
 * are samples, only makes their lines. */
static void keep_stretches(tracer *w, tg_trace *t)
{
    const tg_stretch *list;
    const size_t n = tg_trace_stretches(t, &list);
    for (size_t i = 0; i < n; i++) {
        const scopes_line *line = line_of(w->table, list[i].scope, list[i].phase);
        const size_t number = (size_t)(line - w->table->list);
        if (w->samples && number < w->lines)
            w->samples[number * 2 * w->rounds + w->done] += (double)list[i].duration_ns;
    }
}

/* A trace of each kind, in an order that changes. */
static void run_round(tracer *w, tg_trace *plain, tg_trace *timed)
{
    for (int turn = 0; turn < 2; turn++) {
        if ((w->done + (size_t)turn) % 2 == 0) {
            w->plain[w->done] = trace_once(w, plain);
        } else {
            w->timed[w->done] = trace_once(w, timed);
            keep_stretches(w, timed);
        }
    }
    w->ratios[w->done] = w->timed[w->done] / w->plain[w->done];
    w->done++;
}

static bn_code run_half(tracer *w, int half, bn_status *st)
{
    tg_trace *plain = w->traces[half], *timed = w->traces[!half];
    tg_trace_time_scopes(timed, true);
    for (int i = 0; i < WARM; i++) {
        trace_once(w, plain);
        trace_once(w, timed);
    }
    for (size_t i = 0; i < w->rounds; i++)
        run_round(w, plain, timed);
    bn_code code = tg_trace_status(timed, st);
    tg_trace_time_scopes(timed, false);
    return code;
}

/* ---- all -------------------------------------------------------------------------- */

/* Traces once, makes all lines, and plans the rounds. */
static bn_code prepare(tracer *w, bn_status *st)
{
    w->traces[0] = tg_trace_new();
    w->traces[1] = tg_trace_new();
    tg_trace_time_scopes(w->traces[0], true);
    double ns = trace_once(w, w->traces[0]);
    ns = fmin(ns, trace_once(w, w->traces[0]));
    keep_stretches(w, w->traces[0]);
    bn_code code = count(w->table, w->traces[0], st);
    if (code != BN_OK)
        return bn_context(st, "tracing the step");
    tg_trace_time_scopes(w->traces[0], false);
    const double most = fmin(MOST_ROUNDS, LONG_NS / (4 * ns));
    w->rounds = most < LEAST_ROUNDS ? LEAST_ROUNDS : (size_t)most;
    w->lines = w->table->count;
    w->samples = bn_zalloc(w->lines * 2 * w->rounds + 1, sizeof *w->samples);
    w->plain = bn_zalloc(6 * w->rounds, sizeof *w->plain);
    w->timed = w->plain + 2 * w->rounds;
    w->ratios = w->timed + 2 * w->rounds;
    return BN_OK;
}

static double quantile(double *values, size_t n, double q)
{
    gsl_sort(values, 1, n);
    return gsl_stats_quantile_from_sorted_data(values, 1, n, q);
}

static void conclude(tracer *w, scopes_tracing *tracing)
{
    const size_t n = 2 * w->rounds;
    for (size_t i = 0; i < w->lines; i++)
        w->table->list[i].figure[SCOPES_TRACE] = quantile(w->samples + i * n, n, 0.5);
    *tracing = (scopes_tracing){.rounds = n,
                                .plain_ns = quantile(w->plain, n, 0.5),
                                .timed_ns = quantile(w->timed, n, 0.5),
                                .ratio = quantile(w->ratios, n, 0.5),
                                .ratio_low = quantile(w->ratios, n, 0.1),
                                .ratio_high = quantile(w->ratios, n, 0.9)};
}

bn_code scopes_trace(model *instance, scopes_table *table, scopes_tracing *tracing, bn_status *st)
{
    tracer w = {.instance = instance, .table = table};
    bn_code code = prepare(&w, st);
    for (int half = 0; half < 2 && code == BN_OK; half++)
        code = run_half(&w, half, st);
    if (code == BN_OK)
        conclude(&w, tracing);
    tg_trace_free(w.traces[0]);
    tg_trace_free(w.traces[1]);
    free(w.samples);
    free(w.plain);
    return code;
}
