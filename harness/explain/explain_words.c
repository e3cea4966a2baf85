/*
 * explain_words.c - an explanation as text.
 */
#include "harness/explain/explain_priv.h"
#include "results/doctor/doctor.h"

#include <math.h>
#include <string.h>

#define MOST_LINES 8 /* of a list, unless all are asked for */

static long long number_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

/* ---- lists -------------------------------------------------------------------------------------
 */

static void put_graphs(const json_t *e, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"graph", true},   {"part", false},        {"ops", true},        {"inputs", true},
        {"outputs", true}, {"compile (ms)", true}, {"first step", true}, {"steps", true}};
    const json_t *graphs = json_object_get(e, "graphs"), *g;
    json_t *rows = json_array();
    size_t i;
    bn_text_printf(out, "Graphs: %zu\n", json_array_size(graphs));
    json_array_foreach(graphs, i, g)
    {
        json_t *row = json_array();
        res_sheet_put(row, "%lld", number_of(g, "number"));
        res_sheet_put(row, "%s", res_json_get_text(g, "part"));
        res_sheet_put(row, "%lld", number_of(g, "ops"));
        res_sheet_put(row, "%lld", number_of(g, "inputs"));
        res_sheet_put(row, "%lld", number_of(g, "outputs"));
        res_sheet_put(row, "%.1f", json_number_value(json_object_get(g, "compile_ns")) / 1e6);
        res_sheet_put(row, "%lld", number_of(g, "step"));
        res_sheet_put(row, "%lld", number_of(g, "steps"));
        json_array_append_new(rows, row);
    }
    if (json_array_size(rows) > 0)
        res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

static void put_guard(const json_t *g, bn_text *out)
{
    const char *kind = res_json_get_text(g, "guard");
    bn_text_puts(out, "  ");
    if (strcmp(kind, "call") == 0)
        bn_text_puts(out, res_json_get_text(g, "subject"));
    else if (strcmp(kind, "argument") == 0)
        bn_text_printf(out, "argument %s", res_json_get_text(g, "subject"));
    else if (strcmp(kind, "type") == 0)
        bn_text_printf(out, "type of %s: %s", res_json_get_text(g, "subject"),
                       res_json_get_text(g, "type"));
    else
        bn_text_printf(out, "value of %s, %lld branch%s", res_json_get_text(g, "type"),
                       number_of(g, "branches"), number_of(g, "branches") == 1 ? "" : "es");
    res_why_put_at(g, out);
    bn_text_putc(out, '\n');
}

static void put_guards(const json_t *e, bool all, bn_text *out)
{
    const json_t *guards = json_object_get(e, "guards"), *g;
    size_t i, types = 0;
    if (strcmp(res_json_get_text(e, "mode"), "capture") != 0) {
        bn_text_puts(out, "\nGuards: none; each step is traced, and its hash finds the graphs\n");
        return;
    }
    bn_text_printf(out, "\nGuards: %zu of the latest capture; captures: %lld\n",
                   json_array_size(guards), number_of(e, "captures"));
    json_array_foreach(guards, i, g)
    {
        const bool is_type = strcmp(res_json_get_text(g, "guard"), "type") == 0;
        types += is_type;
        if (!is_type || all || types <= 3)
            put_guard(g, out);
    }
    if (!all && types > 3)
        bn_text_printf(out, "  and types of %zu more variables (--verbose)\n", types - 3);
}

/* A line for each of the first MOST_LINES items of list KEY, or with ALL of all. */
static void put_list(const json_t *e, const char *key, const char *title,
                     void (*put)(const json_t *item, bn_text *out), bool all, bn_text *out)
{
    const json_t *list = json_object_get(e, key), *item;
    const size_t count = json_array_size(list);
    size_t i;
    bn_text_printf(out, "\n%s: ", title);
    if (count == 0)
        bn_text_puts(out, "none\n");
    else
        bn_text_printf(out, "%zu\n", count);
    json_array_foreach(list, i, item)
    {
        if (i == MOST_LINES && !all)
            break;
        bn_text_puts(out, "  ");
        put(item, out);
        bn_text_putc(out, '\n');
    }
    if (count > MOST_LINES && !all)
        bn_text_printf(out, "  and %zu more (--verbose)\n", count - MOST_LINES);
}

static void put_break(const json_t *o, bn_text *out)
{
    bn_text_printf(out, "%s, in %lld steps", res_json_get_text(o, "reason"), number_of(o, "steps"));
    res_why_put_at(o, out);
}

static void put_recompile(const json_t *o, bn_text *out)
{
    bn_text_printf(out, "step %lld, graph %lld (%s): ", number_of(o, "step"), number_of(o, "graph"),
                   res_json_get_text(o, "part"));
    res_why_put(res_json_get_text(o, "cause"), o, out);
}

static void put_miss(const json_t *o, bn_text *out)
{
    const char *guard = res_json_get_text(o, "guard");
    bn_text_printf(out, "step %lld: ", number_of(o, "step"));
    if (strcmp(guard, "value") == 0)
        bn_text_printf(out, "no branch of %lld for value %s", number_of(o, "branches"),
                       res_json_get_text(o, "to"));
    else if (strcmp(guard, "call") == 0)
        bn_text_puts(out, "another function or context");
    else
        bn_text_printf(out, "%s %s: %s -> %s", strcmp(guard, "type") == 0 ? "type of" : "argument",
                       res_json_get_text(o, "subject"), res_json_get_text(o, "from"),
                       res_json_get_text(o, "to"));
    res_why_put_at(o, out);
}

static void put_read(const json_t *o, bn_text *out)
{
    bn_text_printf(out, "%s, in %lld steps, %lld times, from %s to %s",
                   res_json_get_text(o, "type"), number_of(o, "steps"), number_of(o, "count"),
                   res_json_get_text(o, "first"), res_json_get_text(o, "last"));
    res_why_put_at(o, out);
}

static void put_host_op(const json_t *o, bn_text *out)
{
    const double times = fmax(1, (double)number_of(o, "count"));
    bn_text_printf(out,
                   "%s, in %lld steps, %s to %s; each time read %.1f, compute %.1f, send %.1f us",
                   res_json_get_text(o, "op"), number_of(o, "steps"), res_json_get_text(o, "in"),
                   res_json_get_text(o, "out"), (double)number_of(o, "read_ns") / times / 1e3,
                   (double)number_of(o, "compute_ns") / times / 1e3,
                   (double)number_of(o, "send_ns") / times / 1e3);
    res_why_put_at(o, out);
}

/* ---- findings ----------------------------------------------------------------------------------
 */

static void put_finding(const json_t *o, long long steps, bn_text *out)
{
    const char *rule = res_json_get_text(o, "rule");
    const long long count = number_of(o, "count");
    bool placed = true;
    if (strcmp(rule, "host") == 0)
        bn_text_printf(out, "%s on the host, in %lld of %lld steps", res_json_get_text(o, "op"),
                       count, steps);
    else if (strcmp(rule, "read") == 0)
        bn_text_printf(out, "the host reads a value in %lld of %lld steps", count, steps);
    else if (strcmp(rule, "values") == 0)
        bn_text_printf(out, "%lld times the step was traced again for a new value", count);
    else
        placed = false;
    if (placed) {
        res_why_put_at(o, out);
    } else {
        bn_text_printf(out, "compiled again, %lld time%s: ", count, count == 1 ? "" : "s");
        res_why_put(rule, o, out);
    }
    bn_text_printf(out, "\n    %s\n", res_json_get_text(o, "advice"));
}

static void put_findings(const json_t *e, bn_text *out)
{
    const json_t *list = json_object_get(e, "complaints"), *one;
    size_t i;
    bn_text_printf(out, "\n%s\n", json_array_size(list) > 0 ? "Findings:" : "No problems found.");
    json_array_foreach(list, i, one)
    {
        bn_text_puts(out, "  ");
        put_finding(one, number_of(e, "steps"), out);
    }
}

static void put_all(const json_t *e, const char *title, bool all, res_format format, bn_text *out)
{
    bn_text_printf(out, "%s, %lld steps\n\n", title, number_of(e, "steps"));
    put_graphs(e, format, out);
    put_guards(e, all, out);
    if (json_array_size(json_object_get(e, "guard_misses")) > 0)
        put_list(e, "guard_misses", "Guards that failed", put_miss, all, out);
    put_list(e, "breaks", "Breaks", put_break, all, out);
    put_list(e, "recompiles", "Compiled after the first step", put_recompile, all, out);
    put_list(e, "reads", "Reads to the host", put_read, all, out);
    put_list(e, "host_ops", "Ops that the host computed", put_host_op, all, out);
    put_findings(e, out);
}

void explain_put(const json_t *e, const char *title, bool all, res_format format, bn_text *out)
{
    bn_text text = {0};
    put_all(e, title, all, format, &text);
    res_put_set_in(out, format, text.data);
    bn_text_free(&text);
}
