/*
 * selftest_host_cost.c - bench selftest host-cost, in the parent: a worker for each model and
 * runtime (host_cost.c), its figures with their limits and with published ones.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/selftest_priv.h"
#include "results/tables/tables.h"
#include "runtime/pjrt/pjrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limits are for this experiment; others are only shown. */
#define JUDGED_MODEL   "resnet50"
#define JUDGED_VARIANT "full"

/* A line of the table: a figure, the unit that it is divided by, and the Execute call that it is
 * compared with (NULL: it is one). */
typedef struct line {
    const char *name, *text, *unit, *units, *execute;
    double limit_ns; /* 0: none */
} line;

static const line lines[] = {
    {"lazy_host", "lazy: host cost of a step", "node", "nodes", "lazy_execute", 200e3},
    {"lazy_trace", "  trace", "node", "nodes", "lazy_execute", 0},
    {"lazy_hash", "  hash", "node", "nodes", "lazy_execute", 0},
    {"lazy_lookup", "  lookup", "node", "nodes", "lazy_execute", 0},
    {"lazy_bind", "  bind", "argument", "lazy_arguments", "lazy_execute", 0},
    {"replay_host", "capture: host cost of a replay", "argument", "replay_arguments",
     "replay_execute", 20e3},
    {"replay_guards", "  guards", "argument", "replay_arguments", "replay_execute", 0},
    {"replay_bind", "  bind", "argument", "replay_arguments", "replay_execute", 0},
    {"replay_other", "  other", "argument", "replay_arguments", "replay_execute", 0},
    {"lowering", "lowering to StableHLO text", "node", "nodes", "lazy_execute", 10e6},
    {"lazy_execute", "plugin: Execute, lazy", "argument", "lazy_arguments", NULL, 0},
    {"replay_execute", "plugin: Execute, capture", "argument", "replay_arguments", NULL, 0},
    {"lazy_release", "plugin: release, lazy", "result", "lazy_results", "lazy_execute", 0},
    {"replay_release", "plugin: release, capture", "result", "replay_results", "replay_execute", 0},
};
#define LINE_COUNT (sizeof lines / sizeof *lines)

static const char published[] =
    "Published by others, for comparison (their machines, not this one):\n"
    "  PyTorch/XLA 2.9, resnet50 training step, 2 cores: 17-20 ms to record it and\n"
    "  2.5 ms to hash and dispatch it; captured, 18-36 ms in 4 executions\n"
    "  JAX, call of a compiled function with 300 donated arguments: 335-358 us\n"
    "  JAX, from trace to StableHLO text: about 500 ms\n";

/* ---- figures ----------------------------------------------------------------------- */

static double figure(const json_t *result, const char *name, const char *key)
{
    return json_number_value(
        json_object_get(json_object_get(json_object_get(result, "figures"), name), key));
}

static double per(const json_t *result, const line *l)
{
    return figure(result, l->name, "median_ns") /
           json_number_value(json_object_get(result, l->units));
}

static double ratio(const json_t *result, const line *l)
{
    return figure(result, l->name, "median_ns") / figure(result, l->execute, "median_ns");
}

static bool is_judged(const job_experiment *e)
{
    return strcmp(e->what.model, JUDGED_MODEL) == 0 && strcmp(e->what.variant, JUDGED_VARIANT) == 0;
}

static bool within(const json_t *result, const line *l)
{
    /* An unmeasured figure is not within its limit. */
    double median = figure(result, l->name, "median_ns");
    return l->limit_ns == 0 || (median > 0 && median <= l->limit_ns);
}

/* ---- texts --------------------------------------------------------------------------- */

static json_t *time_text(double ns)
{
    char text[32];
    if (ns >= 1e6)
        snprintf(text, sizeof text, "%.2f ms", ns / 1e6);
    else if (ns >= 1e3)
        snprintf(text, sizeof text, "%.1f us", ns / 1e3);
    else
        snprintf(text, sizeof text, "%.1f ns", ns);
    return json_string(text);
}

static json_t *row_of(const json_t *result, const line *l, bool judged)
{
    json_t *row = json_array();
    char text[64] = "";
    json_array_append_new(row, json_string(l->text));
    json_array_append_new(row, time_text(figure(result, l->name, "median_ns")));
    json_array_append_new(row, time_text(figure(result, l->name, "p10_ns")));
    json_array_append_new(row, time_text(figure(result, l->name, "p90_ns")));
    snprintf(text, sizeof text, "%.0f", figure(result, l->name, "samples"));
    json_array_append_new(row, json_string(text));
    json_array_append_new(row, time_text(per(result, l)));
    snprintf(text, sizeof text, "%s (%.0f)", l->unit,
             json_number_value(json_object_get(result, l->units)));
    json_array_append_new(row, json_string(text));
    snprintf(text, sizeof text, "%.3f", l->execute ? ratio(result, l) : 1.0);
    json_array_append_new(row, json_string(text));
    json_array_append_new(row, l->limit_ns > 0 ? time_text(l->limit_ns) : json_string(""));
    json_array_append_new(row, json_string(l->limit_ns == 0    ? ""
                                           : !judged           ? "not judged"
                                           : within(result, l) ? "PASS"
                                                               : "FAIL"));
    return row;
}

static void write_table(const json_t *result, bool judged, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"figure", false}, {"median", true}, {"p10", true},  {"p90", true},
        {"samples", true}, {"each", true},   {"per", false}, {"of Execute", true},
        {"limit", true},   {"", false}};
    json_t *rows = json_array();
    for (size_t i = 0; i < LINE_COUNT; i++)
        json_array_append_new(rows, row_of(result, &lines[i], judged));
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* RESULT's figures with units, limits and verdicts. */
static json_t *machine_json(const job_experiment *e, json_t *result)
{
    const bool judged = is_judged(e);
    bool pass = true;
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const line *l = &lines[i];
        json_t *f = json_object_get(json_object_get(result, "figures"), l->name);
        json_object_set_new(f, "per", json_string(l->unit));
        json_object_set_new(f, "each_ns", json_real(per(result, l)));
        if (l->execute)
            json_object_set_new(f, "of_execute", json_real(ratio(result, l)));
        if (l->limit_ns > 0) {
            json_object_set_new(f, "limit_ns", json_real(l->limit_ns));
            json_object_set_new(f, "within_limit", json_boolean(within(result, l)));
        }
        pass = pass && within(result, l);
    }
    json_object_set_new(result, "model", json_string(e->what.model));
    json_object_set_new(result, "variant", json_string(e->what.variant));
    json_object_set_new(result, "runtime_name", json_string(e->what.runtime));
    json_object_set_new(result, "judged", json_boolean(judged));
    json_object_set_new(result, "pass", judged ? json_boolean(pass) : json_null());
    return json_incref(result);
}

/* ---- running --------------------------------------------------------------------------- */

typedef struct selftest_state {
    const selftest_options *options;
    res_format format;
    json_t *all; /* for --format json */
    size_t judged, over, broken;
} selftest_state;

static void print_result(selftest_state *t, const job_experiment *e, json_t *result)
{
    const bool judged = is_judged(e);
    bn_text text = {0}, head = {0};
    for (size_t i = 0; judged && i < LINE_COUNT; i++)
        t->over += !within(result, &lines[i]);
    t->judged += judged;
    json_array_append_new(t->all, machine_json(e, result));
    const bool people = res_format_is_text(t->format) || t->format == RES_TABLE_MARKDOWN;
    if (t->format == RES_TABLE_JSON)
        return;
    bn_text_printf(&head,
                   "%s %s, training, batch %lld, on %s: lazy and capture steps in turns, %.0f of "
                   "each%s\n\n",
                   e->what.model, e->what.variant,
                   (long long)json_integer_value(json_object_get(result, "batch")), e->what.runtime,
                   figure(result, "lazy_host", "samples"),
                   judged ? "" : " (limits are for " JUDGED_MODEL " " JUDGED_VARIANT ")");
    if (people)
        res_put_lines(&text, t->format, head.data);
    write_table(result, judged, t->format, &text);
    if (people)
        bn_text_putc(&text, '\n');
    bn_text_free(&head);
    cli_text(&text);
}

static void run_one(selftest_state *t, const job_experiment *e, size_t number, size_t of)
{
    char title[256];
    bn_status st = {.code = BN_OK};
    job_outcome outcome = {0};
    snprintf(title, sizeof title, "selftest %s.%s", e->what.model, e->what.variant);
    json_t *request =
        json_pack("{ss so}", "job", "selftest", "experiment", job_experiment_to_json(e));
    job_order job = {request, title, number, of, e->how.timeout, t->options->output.verbose, false};
    bn_code code = job_supervise(&job, &outcome, &st);
    json_decref(request);
    cli_line_clear();
    if (code == BN_OK && outcome.status == BN_OK && outcome.result) {
        print_result(t, e, outcome.result);
    } else if (code != BN_OK || outcome.status != BN_CANCELLED) {
        t->broken++;
        cli_say("bench: %s: %s", title,
                code != BN_OK             ? st.message
                : outcome.status != BN_OK ? outcome.message
                                          : "the worker reported nothing");
    }
    json_decref(outcome.result);
}

static cli_exit finish(const selftest_state *t)
{
    const bool good = t->over == 0 && t->broken == 0;
    const bool people = res_format_is_text(t->format) || t->format == RES_TABLE_MARKDOWN;
    if (t->format == RES_TABLE_JSON)
        cli_json(t->all);
    if (people)
        cli_out("%s\n", published);
    (people ? cli_tell : cli_say)("host-cost: %s", !good ? "FAIL"
                                                   : t->judged == 0
                                                       ? "not judged: limits are for " JUDGED_MODEL
                                                         " " JUDGED_VARIANT
                                                       : "PASS");
    return good ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

static bn_code prepare(selftest_state *t, job_experiment **list, size_t *count, bn_status *st)
{
    job_matrix *m = bn_alloc(sizeof *m); /* too large for the stack */
    bn_text notes = {0};
    *m = *t->options->matrix;
    job_matrix_set(m, RES_AXIS_MODE, "lazy");
    job_matrix_set(m, RES_AXIS_PHASE, "train");
    bn_code code = res_format_parse(cli_format(&t->options->output), &t->format, st);
    if (code == BN_OK)
        code = job_matrix_expand(m, list, count, &notes, st);
    for (size_t i = 0; code == BN_OK && i < *count; i++) {
        char path[4096];
        code = rt_plugin_find((*list)[i].what.runtime, path, sizeof path, st);
    }
    bn_text_free(&notes);
    free(m);
    return code;
}

int selftest_host_cost(const selftest_options *options)
{
    bn_status st = {.code = BN_OK};
    selftest_state t = {.options = options, .all = json_array()};
    job_experiment *list = NULL;
    size_t count = 0;
    cli_exit code;
    if (prepare(&t, &list, &count, &st) != BN_OK) {
        code = cli_complain(&st);
    } else {
        job_supervise_begin();
        cli_note_plan(count, "ends it, and nothing more is printed",
                      "lazy and capture steps in turns: %zu experiment%s, a process each", count,
                      count == 1 ? "" : "s");
        for (size_t i = 0; i < count && !job_interrupted(); i++)
            run_one(&t, &list[i], i + 1, count);
        cli_line_clear();
        code = job_interrupted() ? CLI_EXIT_INTERRUPTED : finish(&t);
    }
    free(list);
    json_decref(t.all);
    return (int)code;
}
