/*
 * scopes_command.c - bench study scopes: traces a step, asks for device times, prints and draws.
 */
#include "harness/scopes/scopes_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Nodes, tracing time and FLOPs come from tracing, which needs no runtime. Device time is\n"
    "estimated by the simulated device, and measured where the plugin's profiler reports ops.\n"
    "\n"
    "  bench study scopes --model resnet50 --batch 32                  a tree of modules\n"
    "  bench study scopes --model gpt2 --levels 0 --least 0            all of it\n"
    "  bench study scopes --model bert --preset tpu-v4 --output bert.svg --output bert.folded\n"
    "                                                            a flame graph, and its stacks\n"
    "  bench study scopes --model resnet18 --weight trace --output trace.svg\n"
    "\n"
    "Exit codes: 0 all went well; 1 the step failed, on the runtime or the simulated device; 2\n"
    "usage; 3 environment: no such plugin, a file that cannot be written; 130 interrupted.\n";

/* ---- before the work ---------------------------------------------------------------- */

/* Expands the matrix to its one experiment. */
static bn_code expand(scopes_report *r, bn_status *st)
{
    job_matrix *m = bn_alloc(sizeof *m); /* too large for a frame */
    job_experiment *list = NULL;
    size_t count = 0;
    bn_text notes = {0};
    *m = r->options->matrix;
    job_matrix_set(m, RES_AXIS_MODE, "lazy");
    bn_code code = job_matrix_expand(m, &list, &count, &notes, st);
    if (code == BN_OK && count != 1)
        code = bn_fail(st, BN_INVALID,
                       "bench study scopes takes one experiment: one value for each option, and not "
                       "--model or --runtime all");
    if (code == BN_OK)
        r->e = list[0];
    free(list);
    free(m);
    bn_text_free(&notes);
    return code;
}

static bn_code check_runtimes(const scopes_report *r, bn_status *st)
{
    char path[4096];
    bn_code code = job_runtime_ready(r->e.what.runtime, path, sizeof path, st);
    if (code == BN_OK && strcmp(r->options->preset, "none") != 0)
        code = job_runtime_ready("sim", path, sizeof path, st);
    return code;
}

static bn_code check(scopes_report *r, bn_status *st)
{
    const scopes_options *o = r->options;
    const char *word = o->weight;
    bn_code code = res_format_parse(cli_format(&o->output), &r->format, st);
    for (size_t i = 0; i < o->files.count && code == BN_OK; i++) {
        code = scopes_file_check(o->files.list[i], st);
        if (code == BN_OK)
            code = cli_check_new(&o->output, "--output", o->files.list[i], st);
    }
    for (int f = 0; word && f < SCOPES_FIGURES; f++)
        word = strcmp(word, scopes_figure_words[f]) == 0 ? NULL : word;
    if (code == BN_OK && word)
        code = bn_fail_choice(st, "--weight", word, SCOPES_WEIGHTS);
    if (code == BN_OK)
        code = expand(r, st);
    return code == BN_OK ? check_runtimes(r, st) : code;
}

/* ---- the work ----------------------------------------------------------------------- */

static bn_code trace(scopes_report *r, bn_status *st)
{
    const model_options network = job_model_options(&r->e.what, r->e.what.runtime);
    model *instance = NULL;
    bn_code code = model_new(r->e.what.model, &network, &instance, st);
    if (code != BN_OK)
        return code;
    job_experiment_resolve(&r->e, &r->e.what);
    code = scopes_trace(instance, &r->table, &r->tracing, st);
    model_free(instance);
    return code;
}

/* Makes E the experiment on the simulated device with the model's costs alone: PRESET, no values,
 * and no time to compile. SETTINGS is room for an option. */
static void simulate(job_experiment *e, const char *preset, char *settings, size_t size)
{
    snprintf(e->what.runtime, sizeof e->what.runtime, "sim");
    snprintf(settings, size, "preset=%s", preset);
    memset(e->how.runtime_option, 0, sizeof e->how.runtime_option);
    memset(e->how.xla_flag, 0, sizeof e->how.xla_flag);
    e->how.runtime_option[0] = settings;
    e->how.runtime_option[1] = "values=none";
    e->how.runtime_option[2] = "compile_us=0";
    e->how.runtime_option[3] = "compile_op_us=0";
    e->how.steps = 1; /* the model's times do not vary */
}

static bn_code estimate(scopes_report *r, const job_order *order, bn_status *st)
{
    char settings[200];
    job_experiment e = r->e;
    simulate(&e, r->options->preset, settings, sizeof settings);
    snprintf(r->estimated.on, sizeof r->estimated.on, "preset %.*s",
             BN_FIT(r->options->preset, 100));
    return scopes_ask(&e, order, SCOPES_ESTIMATED, &r->table, &r->estimated, st);
}

/* The simulated device's own times are estimates already. */
static bool is_simulated(const scopes_report *r)
{
    return job_simulated_name(r->e.what.runtime);
}

/* Device times of the runtime itself. */
static bn_code ask_own(scopes_report *r, const job_order *order, bn_status *st)
{
    const bool simulated = is_simulated(r);
    scopes_device *own = simulated ? &r->estimated : &r->measured;
    snprintf(own->on, sizeof own->on, "%.*s", BN_FIT(r->e.what.runtime, 150));
    return scopes_ask(&r->e, order, simulated ? SCOPES_ESTIMATED : SCOPES_MEASURED, &r->table, own,
                      st);
}

static void show_plan(const scopes_report *r, const char *title, bool estimates)
{
    char also[160] = "";
    if (estimates)
        snprintf(also, sizeof also, ", and estimates of preset %.*s",
                 BN_FIT(r->options->preset, 100));
    cli_note_plan(1 + (size_t)estimates, "ends it, and nothing is printed",
                  "%s: device times of %lld steps on the runtime itself%s", title,
                  (long long)r->e.how.steps, also);
}

/* Device times: measured; estimated, unless the runtime is the simulated one. */
static bn_code ask(scopes_report *r, bn_status *st)
{
    const bool estimates = !is_simulated(r) && strcmp(r->options->preset, "none") != 0;
    char title[256];
    job_experiment_title(&r->e, title, sizeof title);
    job_order order = {.title = title,
                       .number = 1,
                       .of = 1 + (size_t)estimates,
                       .timeout = r->e.how.timeout,
                       .verbose = r->options->output.verbose};
    show_plan(r, title, estimates);
    bn_code code = ask_own(r, &order, st);
    if (code != BN_OK || !estimates)
        return code;
    order.number = 2;
    return estimate(r, &order, st);
}

static bn_code write_files(const scopes_report *r, bn_status *st)
{
    scopes_figure figure;
    const cli_words *files = &r->options->files;
    if (files->count == 0)
        return BN_OK;
    bn_code code = scopes_weight(r, &figure, st);
    for (size_t i = 0; i < files->count && code == BN_OK; i++)
        code = scopes_write(r, figure, files->list[i], st);
    return code;
}

bn_code scopes_report_put(const job_experiment *e, const job_order *order, bn_text *out,
                          bn_status *st)
{
    static const scopes_options options = {.preset = "none", .levels = 3, .least = 0.01};
    scopes_report r = {.options = &options, .e = *e};
    scopes_table_begin(&r.table);
    bn_code code = trace(&r, st);
    if (code == BN_OK)
        code = ask_own(&r, order, st);
    if (code == BN_OK)
        scopes_put(&r, RES_TABLE_TEXT, out);
    scopes_table_free(&r.table);
    return code;
}

static int scopes(const scopes_options *options)
{
    bn_status st = {.code = BN_OK};
    scopes_report r = {.options = options};
    int exit_code = CLI_EXIT_OK;
    scopes_table_begin(&r.table);
    bn_code code = check(&r, &st);
    if (code == BN_OK)
        code = trace(&r, &st);
    if (code != BN_OK) {
        exit_code = (int)cli_complain(&st);
    } else {
        char title[256];
        job_supervise_begin();
        code = ask(&r, &st);
        cli_line_clear();
        job_experiment_title(&r.e, title, sizeof title);
        if (job_interrupted())
            exit_code = CLI_EXIT_INTERRUPTED;
        else if (r.estimated.refused || r.measured.refused)
            exit_code = (int)cli_complain(&st);
        else if (code != BN_OK)
            exit_code = (int)cli_complain_of(title, &st);
        else
            scopes_print(&r);
        if (exit_code == CLI_EXIT_OK && write_files(&r, &st) != BN_OK)
            exit_code = (int)cli_complain(&st);
    }
    scopes_table_free(&r.table);
    return exit_code;
}

#define AT(member) offsetof(scopes_options, member)

static const cli_option rows[] = {
    {"preset", "NAME", CLI_TEXT, AT(preset), .fallback = "cpu-2", .choices = SCOPES_PRESETS,
     .text =
         "of the simulated device whose model estimates device times: cpu-2, h100, tpu-v4, ...; "
         "none: no estimate"},
    {"levels", "N", CLI_NUMBER, AT(levels), .fallback = "3", .text = "levels of the tree; 0: all"},
    {"least", "SHARE", CLI_SHARE, AT(least), .fallback = "1%",
     .text = "branches with a smaller share of every figure stand together"},
    {"weight", "FIGURE", CLI_TEXT, AT(weight), .choices = SCOPES_WEIGHTS,
     .text = "what --output shows: " SCOPES_WEIGHTS "; without it measured device time, else "
             "estimated, else trace"},
    {"output", "FILE", CLI_WORDS, AT(files), .also = "o",
     .text = "also write a flame graph (.svg, .png, .gp) or its folded stacks (.folded); may be "
             "repeated. FILE must not exist; --force replaces it"},
    {"steps", "N", CLI_NUMBER, AT(matrix.how.steps), .fallback = "5", .least = 1,
     .text = "steps that run under the plugin's profiler"},
};

static int run(void *options, const cli_call *call)
{
    (void)call;
    return scopes(options);
}

const cli_command scopes_command = {
    .name = "study scopes",
    .usage = "bench study scopes --model NAME [--output FILE.svg]",
    .summary = "what each part of a model adds to a step: nodes, tracing, FLOPs, device time; a "
               "flame graph",
    .also = "profile, by-scope",
    .bare = "model",
    .size = sizeof(scopes_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .about = JOB_ABOUT_NETWORK,
                .rows = JOB_AXIS_BIT(PHASE) | JOB_AXIS_BIT(BATCH) | JOB_AXIS_BIT(IMAGE) |
                        JOB_AXIS_BIT(SEQ) | JOB_AXIS_BIT(OPTIMIZER) | JOB_AXIS_BIT(DROPOUT) |
                        JOB_AXIS_BIT(DTYPE) | JOB_AXIS_BIT(LAYOUT) | JOB_AXIS_BIT(SCAN) |
                        JOB_AXIS_BIT(RUNTIME)},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD,
                .rows = JOB_MEASURE_BIT(timeout)},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_TABLES | CLI_OUT_FORCE}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run,
    .help = help,
};
