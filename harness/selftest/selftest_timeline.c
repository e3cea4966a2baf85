/*
 * selftest_timeline.c - bench selftest timeline-cost, in the parent: several workers for each
 * experiment (timeline_cost.c), and over them the ratio of a step with a timeline to one without.
 */
#include "harness/jobs/jobs.h"
#include "harness/selftest/selftest_priv.h"
#include "results/stats/stats.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PROCESSES       6
#define QUICK_PROCESSES 3

typedef struct cost_state {
    const selftest_options *options;
    res_format format;
    json_t *rows;    /* texts of the table */
    json_t *figures; /* the same as numbers */
    size_t broken;
} cost_state;

/* Results of an experiment's processes. */
typedef struct cost {
    double log_ratio[PROCESSES], without_ns[PROCESSES], with_ns[PROCESSES];
    size_t count;
    json_int_t steps, spans;
} cost;

static double number(const json_t *result, const char *key)
{
    return json_number_value(json_object_get(result, key));
}

/* Processes of each experiment. */
static size_t processes_of(const cost_state *s)
{
    return s->options->quick ? QUICK_PROCESSES : PROCESSES;
}

/* Runs PROCESS of OF, of E, and adds its result to C. */
static void run_one(cost_state *s, const job_experiment *e, size_t process, size_t of, cost *c)
{
    char title[300];
    bn_status st = {.code = BN_OK};
    job_outcome outcome = {0};
    job_experiment_title(e, title, sizeof title);
    json_t *request =
        json_pack("{ss so}", "job", "timeline-cost", "experiment", job_experiment_to_json(e));
    const job_order job = {.request = request,
                           .title = title,
                           .number = process,
                           .of = of,
                           .timeout = e->how.timeout,
                           .verbose = s->options->output.verbose,
                           .more = process % processes_of(s) != 0};
    bn_code code = job_supervise(&job, &outcome, &st);
    json_decref(request);
    cli_line_clear();
    if (code == BN_OK && outcome.status == BN_OK && outcome.result) {
        c->without_ns[c->count] = number(outcome.result, "without_ns");
        c->with_ns[c->count] = number(outcome.result, "with_ns");
        c->log_ratio[c->count] = log(c->with_ns[c->count] / c->without_ns[c->count]);
        c->steps += json_integer_value(json_object_get(outcome.result, "steps"));
        c->spans = json_integer_value(json_object_get(outcome.result, "spans"));
        c->count++;
    } else if (code != BN_OK || outcome.status != BN_CANCELLED) {
        s->broken++;
        cli_say("bench: %s: %s", title, code != BN_OK ? st.message : outcome.message);
    }
    json_decref(outcome.result);
}

static double mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* The same as put_row, for JSON. */
static void put_figures(cost_state *s, const char *title, const cost *c, const res_interval *ratio)
{
    json_array_append_new(
        s->figures,
        json_pack("{ss sf sf so so so sI sI sI}", "experiment", title, "without_ns",
                  mean(c->without_ns, c->count), "with_ns", mean(c->with_ns, c->count), "ratio",
                  res_json_real(ratio->estimate), "ratio_low", res_json_real(ratio->low),
                  "ratio_high", res_json_real(ratio->high), "spans", c->spans, "steps", c->steps,
                  "processes", (json_int_t)c->count));
}

static void put_row(cost_state *s, const job_experiment *e, const cost *c)
{
    char title[300];
    double p;
    const res_interval logs = res_mean_difference(c->log_ratio, c->count, &p);
    const bool known = isfinite(logs.low);
    const res_interval ratio = {exp(logs.estimate), known ? exp(logs.low) : (double)NAN,
                                known ? exp(logs.high) : (double)NAN};
    json_t *row = json_array();
    job_experiment_title(e, title, sizeof title);
    put_figures(s, title, c, &ratio);
    json_array_append_new(row, json_string(title));
    res_sheet_put(row, "%.1f us", mean(c->without_ns, c->count) / 1e3);
    res_sheet_put(row, "%.1f us", mean(c->with_ns, c->count) / 1e3);
    res_sheet_put(row, "%.4f", ratio.estimate);
    if (known)
        res_sheet_put(row, "%.4f to %.4f", ratio.low, ratio.high);
    else
        res_sheet_put(row, "%s", "");
    res_sheet_put(row, "%lld", (long long)c->spans);
    res_sheet_put(row, "%lld", (long long)c->steps);
    res_sheet_put(row, "%zu", c->count);
    json_array_append_new(s->rows, row);
}

static void measure_one(cost_state *s, const job_experiment *e, size_t index, size_t of)
{
    const size_t processes = processes_of(s);
    cost c = {.count = 0};
    for (size_t i = 0; i < processes && !job_interrupted(); i++)
        run_one(s, e, index * processes + i + 1, of * processes, &c);
    if (c.count > 0)
        put_row(s, e, &c);
}

static void print_rows(const cost_state *s)
{
    static const res_sheet_column columns[] = {
        {"experiment", false}, {"without", true}, {"with", true},  {"ratio", true},
        {"95 %", true},        {"spans", true},   {"steps", true}, {"processes", true}};
    bn_text text = {0};
    if (s->format == RES_TABLE_JSON) {
        cli_json(s->figures);
        return;
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, s->rows, s->format, &text);
    if (text.data)
        cli_out("%s", text.data);
    bn_text_free(&text);
}

static bn_code prepare(cost_state *s, job_experiment **list, size_t *count, bn_status *st)
{
    job_matrix m = *s->options->matrix;
    bn_text notes = {0};
    m.axis[RES_AXIS_MODE].count = 2;
    m.axis[RES_AXIS_MODE].value[0].word = "lazy";
    m.axis[RES_AXIS_MODE].value[1].word = "capture";
    bn_code code = res_format_parse(cli_format(&s->options->output), &s->format, st);
    if (code == BN_OK)
        code = job_matrix_expand(&m, list, count, &notes, st);
    bn_text_free(&notes);
    return code;
}

int selftest_timeline_cost(const selftest_options *options)
{
    bn_status st = {.code = BN_OK};
    cost_state s = {.options = options, .rows = json_array(), .figures = json_array()};
    job_experiment *list = NULL;
    size_t count = 0;
    cli_exit code = CLI_EXIT_OK;
    if (prepare(&s, &list, &count, &st) != BN_OK) {
        code = cli_complain(&st);
    } else {
        job_supervise_begin();
        cli_note_plan(count * processes_of(&s), "ends it, and prints what is done",
                      "steps with a timeline and without: %zu experiment%s, %zu processes each",
                      count, count == 1 ? "" : "s", processes_of(&s));
        for (size_t i = 0; i < count && !job_interrupted(); i++)
            measure_one(&s, &list[i], i, count);
        cli_line_clear();
        print_rows(&s);
        code = job_interrupted() ? CLI_EXIT_INTERRUPTED
               : s.broken > 0    ? CLI_EXIT_FAILED
                                 : CLI_EXIT_OK;
    }
    free(list);
    json_decref(s.rows);
    json_decref(s.figures);
    return (int)code;
}
