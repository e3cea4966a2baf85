/*
 * scopes_print.c - a step by scope: the tree, or all lines, and notes on the figures.
 */
#include "harness/scopes/scopes_priv.h"

#include <string.h>

/* ---- the tree ----------------------------------------------------------------------- */

/* A column of figures and its unit, one for all rows, so that they can be compared. */
typedef struct column {
    scopes_figure figure;
    const char *head, *unit;
    double scale;
} column;

/* The tree being written. */
typedef struct listing {
    const scopes_report *report;
    const scopes_node *root;
    column columns[SCOPES_FIGURES];
    size_t count;
    json_t *rows;
} listing;

static void set_unit(column *c, double most)
{
    static const char *const flops[] = {"", " k", " M", " G"}, *const times[] = {" ns", " us",
                                                                                 " ms", " s"};
    const int size = most < 1e4 ? 0 : most < 1e7 ? 1 : most < 1e10 ? 2 : 3;
    c->unit = c->figure == SCOPES_FLOPS ? flops[size] : times[size];
    c->scale = size == 0 ? 1 : size == 1 ? 1e3 : size == 2 ? 1e6 : 1e9;
}

static void add_column(listing *l, scopes_figure figure)
{
    static const char *const heads[SCOPES_FIGURES] = {"nodes", "tracing", "FLOPs", "estimated",
                                                      "measured"};
    column *c = &l->columns[l->count++];
    *c = (column){.figure = figure, .head = heads[figure], .unit = "", .scale = 1};
    if (figure != SCOPES_NODES)
        set_unit(c, l->root->sum[figure]);
}

/* Whether NODE has less than the least share of every figure that is shown. */
static bool is_small(const listing *l, const scopes_node *node)
{
    for (size_t i = 0; i < l->count; i++) {
        const scopes_figure f = l->columns[i].figure;
        if (node->sum[f] > 0 && node->sum[f] >= l->report->options->least * l->root->sum[f])
            return false;
    }
    return true;
}

static void add_row(listing *l, const char *name, const double *sum, int64_t level)
{
    json_t *row = json_array();
    res_sheet_put(row, "%*s%.*s", (int)(2 * level), "", BN_FIT(name, 150));
    for (size_t i = 0; i < l->count; i++) {
        const column *c = &l->columns[i];
        const double value = sum[c->figure], whole = l->root->sum[c->figure];
        const double shown = value / c->scale;
        res_sheet_put(row, "%.*f%s",
                      c->figure == SCOPES_NODES ? 0
                      : shown < 100             ? 2
                                                : 1,
                      shown, c->unit);
        if (whole > 0)
            res_sheet_put(row, "%.1f %%", 100 * value / whole);
        else
            res_sheet_put(row, "-");
    }
    json_array_append_new(l->rows, row);
}

/* Adds the rows of NODE's children, which are on LEVEL; small ones share a row. */
static void add_children(listing *l, const scopes_node *node, int64_t level)
{
    const int64_t most = l->report->options->levels;
    const scopes_node *only = NULL;
    double rest[SCOPES_FIGURES] = {0};
    size_t small = 0;
    if (most > 0 && level > most)
        return;
    for (const scopes_node *c = node->first; c; c = c->next) {
        if (!is_small(l, c)) {
            add_row(l, c->name, c->sum, level);
            add_children(l, c, level + 1);
            continue;
        }
        only = c;
        small++;
        for (int f = 0; f < SCOPES_FIGURES; f++)
            rest[f] += c->sum[f];
    }
    char name[40];
    snprintf(name, sizeof name, "(%zu smaller)", small);
    if (small > 0)
        add_row(l, small == 1 ? only->name : name, rest, level);
}

static void put_tree(const scopes_report *r, res_format format, bn_text *out)
{
    bn_arena *memory = bn_arena_new(1u << 14);
    listing l = {.report = r, .rows = json_array()};
    char title[200];
    snprintf(title, sizeof title, "%.*s %s", BN_FIT(r->e.what.model, 60), r->e.what.phase);
    l.root = scopes_tree(&r->table, title, false, memory);
    res_sheet_column heads[1 + 2 * SCOPES_FIGURES] = {{"scope", false}};
    size_t count = 1;
    for (int f = 0; f < SCOPES_FIGURES; f++) {
        if (!scopes_has(r, (scopes_figure)f))
            continue;
        add_column(&l, (scopes_figure)f);
        heads[count++] = (res_sheet_column){l.columns[l.count - 1].head, true};
        heads[count++] = (res_sheet_column){"share", true};
    }
    add_row(&l, title, l.root->sum, 0);
    add_children(&l, l.root, 1);
    res_sheet_write(heads, count, l.rows, format, out);
    json_decref(l.rows);
    bn_arena_free(memory);
}

/* ---- sentences ---------------------------------------------------------------------- */

static void put_tracing(const scopes_report *r, bn_text *out)
{
    const scopes_tracing *t = &r->tracing;
    bn_text_printf(
        out,
        "\nNodes: all that a step traces, one iteration of a loop. FLOPs: of all that the "
        "step's results need, all iterations.\n"
        "Tracing: the median of %zu traces for each scope, with warm caches: %.1f us; "
        "without the clock %.1f us. Timing scopes costs %+.1f %% (10th to 90th "
        "percentile of neighbours: %+.1f to %+.1f %%).\n",
        t->rounds, t->timed_ns / 1e3, t->plain_ns / 1e3, 100 * (t->ratio - 1),
        100 * (t->ratio_low - 1), 100 * (t->ratio_high - 1));
}

/* Time between ops, and ops without a scope. */
static void put_rest(const scopes_report *r, const scopes_device *d, scopes_figure figure,
                     bn_text *out)
{
    const double ops = scopes_sum(&r->table, figure);
    if (d->step_ns > ops * 1.001)
        bn_text_printf(out, " %.1f %% of the executions' time lies between ops.",
                       100 * (1 - ops / d->step_ns));
    if (d->unplaced > 0)
        bn_text_puts(out, " Ops that the profile does not place count as " SCOPES_NOWHERE ".");
    bn_text_putc(out, '\n');
}

static void put_device(const scopes_report *r, bn_text *out)
{
    const scopes_device *e = &r->estimated, *m = &r->measured;
    if (e->known) {
        bn_text_printf(out,
                       "Estimated, not measured: the simulated device (%s). Its model fuses ops "
                       "and gives each fused group its roofline time; all of it counts for the "
                       "scope of the op that the group is built around.",
                       e->on);
        put_rest(r, e, SCOPES_ESTIMATED, out);
    } else if (e->asked) {
        bn_text_printf(out, "Estimated device time unknown: %s.\n", e->why);
    }
    if (m->known) {
        bn_text_printf(out,
                       "Measured on %s by the plugin's profiler: the mean of %lld steps. All of a "
                       "fusion's time counts for the scope of the op whose name the compiler kept.",
                       m->on, (long long)m->steps);
        put_rest(r, m, SCOPES_MEASURED, out);
        if (m->graphs_off)
            bn_text_puts(out,
                         "CUDA graphs were off, since a profile does not name the ops in them. "
                         "bench run leaves them on.\n");
    } else if (m->asked) {
        bn_text_printf(out, "Measured device time on %s unknown: %s.\n", m->on, m->why);
    }
}

/* ---- lines -------------------------------------------------------------------------- */

static void put_lines(const scopes_report *r, bn_text *out)
{
    static const res_sheet_column heads[] = {
        {"scope", false}, {"phase", false}, {"nodes", true},        {"trace_ns", true},
        {"flops", true},  {"bytes", true},  {"estimated_ns", true}, {"measured_ns", true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < r->table.count; i++) {
        const scopes_line *line = &r->table.list[i];
        json_t *row = json_array();
        json_array_append_new(row, res_json_text(line->path));
        json_array_append_new(row, json_string(scopes_phase_name(line->phase)));
        for (int f = 0; f < SCOPES_FIGURES; f++) {
            if (f == SCOPES_ESTIMATED)
                res_sheet_put(row, "%.15g", line->bytes);
            if (scopes_has(r, (scopes_figure)f))
                res_sheet_put(row, "%.15g", line->figure[f]);
            else
                res_sheet_put(row, "%s", "");
        }
        json_array_append_new(rows, row);
    }
    res_sheet_write(heads, sizeof heads / sizeof *heads, rows, RES_TABLE_CSV, out);
    json_decref(rows);
}

static json_t *device_json(const scopes_device *d)
{
    if (!d->asked)
        return json_null();
    if (!d->known)
        return json_pack("{so so}", "on", res_json_text(d->on), "why", res_json_text(d->why));
    return json_pack("{so sb sI sf sI}", "on", res_json_text(d->on), "simulated", (int)d->simulated,
                     "steps", (json_int_t)d->steps, "step_ns", d->step_ns, "ops_without_place",
                     (json_int_t)d->unplaced);
}

static json_t *line_json(const scopes_report *r, const scopes_line *line)
{
    const double *f = line->figure;
    return json_pack(
        "{so ss sI sf sf sf so so}", "scope", res_json_text(line->path), "phase",
        scopes_phase_name(line->phase), "nodes", (json_int_t)f[SCOPES_NODES], "trace_ns",
        f[SCOPES_TRACE], "flops", f[SCOPES_FLOPS], "bytes", line->bytes, "estimated_ns",
        r->estimated.known ? json_real(f[SCOPES_ESTIMATED]) : json_null(), "measured_ns",
        r->measured.known ? json_real(f[SCOPES_MEASURED]) : json_null());
}

static void put_json(const scopes_report *r)
{
    const scopes_tracing *t = &r->tracing;
    json_t *lines = json_array();
    for (size_t i = 0; i < r->table.count; i++)
        json_array_append_new(lines, line_json(r, &r->table.list[i]));
    json_t *all =
        json_pack("{so s{sI sf sf sf sf sf} so so so}", "experiment",
                  res_experiment_to_json(&r->e.what), "tracing", "traces", (json_int_t)t->rounds,
                  "plain_ns", t->plain_ns, "timed_ns", t->timed_ns, "ratio", t->ratio, "ratio_p10",
                  t->ratio_low, "ratio_p90", t->ratio_high, "estimated", device_json(&r->estimated),
                  "measured", device_json(&r->measured), "scopes", lines);
    cli_json(all);
    json_decref(all);
}

void scopes_put(const scopes_report *r, res_format format, bn_text *out)
{
    bn_text words = {0};
    put_tracing(r, &words);
    put_device(r, &words);
    put_tree(r, format, out);
    res_put_lines(out, format, words.data);
    bn_text_free(&words);
}

void scopes_print(const scopes_report *r)
{
    bn_text out = {0}, wide = {0};
    if (r->format == RES_TABLE_JSON) {
        put_json(r);
        return;
    }
    if (r->format == RES_TABLE_CSV)
        put_lines(r, &out);
    else
        scopes_put(r, r->format, &out);
    if (cli_is_narrow(&r->options->output))
        scopes_put(r, RES_TABLE_TEXT, &wide);
    cli_show_either(&out, &wide);
}
