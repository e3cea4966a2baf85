/*
 * explain_command.c - bench explain, in the parent: one experiment, a worker for its first steps,
 * and its answer.
 */
#include "harness/explain/explain_priv.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "One model, in lazy or capture mode. Examples that each do one thing that makes steps slow:\n"
    "example_scalar, example_shapes, example_branch, example_equal, example_train_eval,\n"
    "example_loss_read, example_host_op, example_dtype. Their twins do the same without it:\n"
    "example_argument; example_shapes with --buckets 1; example_select, example_identity,\n"
    "example_train, example_loss_logged, example_mask, example_one_dtype.\n"
    "\n"
    "  bench explain --model resnet50 --mode capture --phase train\n"
    "  bench explain --model example_branch --mode capture\n"
    "  bench explain --model transformer_wmt_en_de --variant small --lengths varying\n"
    "\n"
    "Exit codes: 0 the steps ran, with or without findings; 1 they failed; 2 usage; 3 "
    "environment:\n"
    "no such plugin; 130 interrupted.\n";

/* Expands MATRIX to its one experiment. */
static bn_code expand(const job_matrix *matrix, job_experiment *e, bn_status *st)
{
    job_experiment *list = NULL;
    size_t count = 0;
    bn_text notes = {0};
    char path[4096];
    bn_code code = job_matrix_expand(matrix, &list, &count, &notes, st);
    if (code == BN_OK && count != 1)
        code =
            bn_fail(st, BN_INVALID,
                    "explain takes one model in one mode: %zu experiments were asked for", count);
    if (code == BN_OK)
        *e = list[0];
    free(list);
    bn_text_free(&notes);
    if (code != BN_OK)
        return code;
    if (job_is_framework(&e->what))
        return bn_fail(st, BN_NOT_SUPPORTED, "explain looks into bench's own modes, not into %s",
                       e->what.front_end);
    if (job_mode_by_op(e->what.mode))
        return bn_fail(st, BN_INVALID,
                       "%s mode compiles ops, not graphs: explain takes lazy or capture",
                       e->what.mode);
    code = job_runtime_ready(e->what.runtime, path, sizeof path, st);
    return code == BN_OK ? job_words_check(e, NULL, st) : code;
}

static void print(const json_t *explanation, const char *title, res_format format,
                  const cli_output *output)
{
    bn_text text = {0}, wide = {0};
    if (format == RES_TABLE_JSON) {
        cli_json(explanation);
        return;
    }
    explain_put(explanation, title, output->verbose, format, &text);
    if (cli_is_narrow(output))
        explain_put(explanation, title, output->verbose, RES_TABLE_TEXT, &wide);
    cli_show_either(&text, &wide);
}

/* The worker is another process, in which a plugin runs: its answer is checked. */
static bool is_explanation(const json_t *json)
{
    return json_is_integer(json_object_get(json, "bench_explain")) &&
           json_is_array(json_object_get(json, "graphs")) &&
           json_is_array(json_object_get(json, "complaints"));
}

/* Runs E in a worker. *EXPLANATION (new reference) is its answer; *USAGE: the runtime refused E's
 * options. */
static bn_code ask(const job_experiment *e, const job_order *order, json_t **explanation,
                   bool *usage, bn_status *st)
{
    job_outcome outcome = {0};
    job_order job = *order;
    job.request = json_pack("{ss so}", "job", "explain", "experiment", job_experiment_to_json(e));
    bn_code code = job_supervise(&job, &outcome, st);
    json_decref(job.request);
    *usage = code == BN_OK && outcome.usage;
    if (code == BN_OK && outcome.status != BN_OK)
        code = bn_fail(st, outcome.status, "%s", outcome.message);
    else if (code == BN_OK && !is_explanation(outcome.result))
        code = bn_fail(st, BN_CRASH, "the worker's answer is no explanation");
    *explanation = code == BN_OK ? json_incref(outcome.result) : NULL;
    json_decref(outcome.result);
    return code;
}

/* E's title in records. */
static void put_title(const job_experiment *e, char *title, size_t size)
{
    job_experiment named = *e;
    job_experiment_resolve(e, &named.what);
    job_experiment_title(&named, title, size);
}

/* Runs E in a worker and prints its answer. */
static cli_exit run(const job_experiment *e, res_format format, const cli_output *output)
{
    bn_status st = {.code = BN_OK};
    char title[256];
    bool usage = false;
    json_t *explanation = NULL;
    put_title(e, title, sizeof title);
    const job_order job = {NULL, title, 1, 1, e->how.timeout, output->verbose, false};
    job_supervise_begin();
    cli_note_plan(1, "ends it, and nothing is printed", "%s: the first %lld steps, in one process",
                  title, (long long)e->how.steps);
    bn_code code = ask(e, &job, &explanation, &usage, &st);
    cli_line_clear();
    if (code == BN_OK)
        print(explanation, title, format, output);
    json_decref(explanation);
    if (code == BN_OK || job_interrupted())
        return code == BN_OK ? CLI_EXIT_OK : CLI_EXIT_INTERRUPTED;
    (void)cli_complain(&st);
    return usage ? CLI_EXIT_USAGE : CLI_EXIT_FAILED;
}

bn_code explain_report(const job_experiment *e, const job_order *order, bn_text *out, bn_status *st)
{
    char title[256];
    bool usage;
    json_t *explanation = NULL;
    bn_code code = ask(e, order, &explanation, &usage, st);
    put_title(e, title, sizeof title);
    if (code == BN_OK)
        explain_put(explanation, title, false, RES_TABLE_TEXT, out);
    json_decref(explanation);
    return code;
}

static int explain(explain_options *options)
{
    bn_status st = {.code = BN_OK};
    job_experiment e;
    res_format format;
    bn_code code = res_format_parse(cli_format(&options->output), &format, &st);
    if (code == BN_OK)
        code = expand(&options->matrix, &e, &st);
    return code == BN_OK ? (int)run(&e, format, &options->output) : (int)cli_complain(&st);
}

#define AT(member) offsetof(explain_options, member)

static const cli_option rows[] = {
    {"steps", "N", CLI_NUMBER, AT(matrix.how.steps), .fallback = "10", .least = 1, .most = 10000,
     .also = "epochs, iterations, iters", .text = "steps that are run and explained"},
    CLI_FORMAT_ROW(AT(output.format), "text, json, narrow",
                   "text, json, or narrow: text in 80 columns"),
};

static int run_line(void *options, const cli_call *call)
{
    (void)call;
    return explain(options);
}

const cli_command explain_command = {
    .name = "explain",
    .usage = "bench explain --model NAME --mode lazy|capture [OPTIONS]",
    .summary = "what the first steps compile, why they are compiled or captured again, and where",
    .section = JOB_SECTION_WHY,
    .bare = "model",
    .size = sizeof(explain_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .rows = UINT64_MAX,
                .without = JOB_AXIS_BIT(IN_FLIGHT) | JOB_AXIS_BIT(TRACE_COST) |
                           JOB_AXIS_BIT(STEPS_PER_EXECUTION)},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD,
                .rows = JOB_MEASURE_BIT(timeout)},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_EVERY | CLI_OUT_WIDE | CLI_OUT_VERBOSE}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run_line,
    .help = help,
};
