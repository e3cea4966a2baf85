/*
 * estimate_command.c - bench estimate, in the parent: steps out of the matrix, on each topology;
 * then the tables.
 */
#include "harness/estimate/estimate_priv.h"
#include "plots/plot.h"
#include "runtime/pjrt/pjrt.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "All figures are estimates of the runtime's compiler, and nothing is executed.\n"
    "\n"
    "  bench estimate --model resnet50 --batch 32                     on a TPU v4, as one device\n"
    "  bench estimate --model gpt2 --topology v5e:1x1,v6e:1x1         on two others\n"
    "  bench estimate --mode capture --graphs 1,5 --layouts default,auto --by-scope\n"
    "  bench estimate --model gpt2 --store DIR                        a record, called estimated\n"
    "  bench estimate --mode capture --graphs 1,5 --into-sim v4.json   then, with these times:\n"
    "  bench --mode lazy,capture --graphs 1,5 --runtime sim --runtime-option config=v4.json\n"
    "  bench estimate --recording train --topology v5e:1x1            a recorded step\n"
    "  bench estimate --model llama --depth 4,16,64 --scan off,on --output depth.svg\n"
    "\n"
    "Exit codes: 0 each step has an estimate; 1 one has none: it does not fit into the device's\n"
    "memory, the compiler refuses it or ends its process; 2 usage; 3 environment: no such plugin,\n"
    "store not writable; 130 interrupted: finished estimates are printed and kept.\n";

/* The command at work. */
typedef struct command {
    const estimate_options *options;
    res_format format;
    job_experiment *list;
    size_t count;
    json_t *request; /* the recorded step, or NULL */
    estimate_run run;
} command;

/* ---- before anything is compiled ------------------------------------------------------------ */

static bn_code check_words(const estimate_options *o, bn_status *st)
{
    for (size_t i = 0; i < o->topologies.count; i++) {
        const char *word = o->topologies.value[i].word;
        /* libtpu takes an empty name for its oldest machine. */
        const bool sized = word[0] != 'v' || !isdigit((unsigned char)word[1]) || strchr(word, ':');
        if (word[0] == '/' || word[strlen(word) - 1] == '/' || !sized)
            return bn_fail(st, BN_INVALID,
                           "--topology '%s': as v4:1x1x1, or v4:1x1x1/megacore with the chip's "
                           "configuration behind it",
                           word);
    }
    if (o->matrix.recorded.folder && o->into_sim)
        return bn_fail(st, BN_INVALID,
                       "--into-sim takes the times of a model's graphs, not of recorded programs");
    plot_format format;
    if (o->picture && plot_format_parse(o->picture, &format, st) != BN_OK)
        return bn_context(st, "--output");
    if (cli_check_new(&o->output, "--output", o->picture, st) != BN_OK ||
        cli_check_new(&o->output, "--into-sim", o->into_sim, st) != BN_OK)
        return st->code;
    const cli_list *modes = &o->matrix.axis[RES_AXIS_MODE];
    mode_info info;
    for (size_t i = 0; mode_describe(i, &info); i++)
        if (info.by_op && (cli_list_has(modes, info.name) || cli_list_has(modes, "all")))
            return bn_fail(st, BN_INVALID,
                           "--mode: estimates are of lazy, fused and capture; in %s mode each op is a "
                           "program of its own",
                           info.name);
    const cli_list *windows = &o->matrix.axis[RES_AXIS_WINDOW];
    bool automatic = windows->count == 0;
    for (size_t i = 0; i < windows->count; i++)
        automatic = automatic || windows->value[i].number == 0;
    if (automatic && (cli_list_has(modes, "fused") || cli_list_has(modes, "all")))
        return bn_fail(st, BN_INVALID,
                       "--mode fused: --window auto is found by measuring steps; an estimate needs a "
                       "number, such as --window 512");
    return BN_OK;
}

/* The simulated device knows graphs by their names alone, so it takes the times of one step. A
 * topology needs a clock, since compilers count in cycles, and a preset for all other figures. */
static bn_code check_into_sim(const command *c, bn_status *st)
{
    const estimate_options *o = c->options;
    bool one = o->topologies.count == 1;
    if (!o->into_sim)
        return BN_OK;
    for (size_t i = 1; i < c->count; i++)
        one = one && job_same_group(&c->list[0], &c->list[i]);
    if (!one)
        return bn_fail(st, BN_INVALID,
                       "--into-sim takes the times of one step: one model, phase, batch, topology "
                       "and kind of layouts");
    return estimate_into_sim_check(o->topologies.value[0].word, st);
}

/* The folder of earlier results; without one everything is compiled. */
static bn_code open_cache(const char *path, int *fd, bn_status *st)
{
    *fd = -1;
    if (!path[0])
        return BN_OK;
    if (bn_private_folder(path, fd, st) != BN_OK)
        return bn_context(st, "--cache-dir");
    bn_writers_sweep(*fd, "*.json");
    return BN_OK;
}

/* Makes the steps: of models, or the recorded one, whose estimate needs no mode. */
static bn_code make_list(command *c, bn_text *notes, bn_status *st)
{
    job_matrix *m = bn_alloc(sizeof *m); /* too large for a frame */
    *m = c->options->matrix;
    if (m->recorded.folder)
        job_matrix_set(m, RES_AXIS_MODE, MODE_REPLAY);
    bn_code code = job_matrix_request(m, &c->request, st);
    m->request = c->request;
    if (code == BN_OK)
        code = job_matrix_expand(m, &c->list, &c->count, notes, st);
    free(m);
    return code;
}

static bn_code prepare(command *c, bn_status *st)
{
    const estimate_options *o = c->options;
    estimate_run *run = &c->run;
    bn_text notes = {0};
    bn_code code = res_format_parse(cli_format(&o->output), &c->format, st);
    if (code == BN_OK)
        code = check_words(o, st);
    if (code == BN_OK)
        code = make_list(c, &notes, st);
    if (code == BN_OK && notes.length)
        cli_err("%s", notes.data);
    bn_text_free(&notes);
    if (code == BN_OK)
        code = check_into_sim(c, st);
    if (code == BN_OK && o->picture)
        code = estimate_picture_check(c->list, c->count, st);
    if (code == BN_OK)
        code = job_runtime_ready(c->list[0].what.runtime, run->path, sizeof run->path, st);
    if (code == BN_OK)
        code = bn_file_sha256(run->path, run->sha256, st);
    if (code == BN_OK)
        code = open_cache(o->cache_dir, &run->cache, st);
    if (code == BN_OK && o->store)
        code = job_store_ready(o->store, st);
    return code;
}

/* ---- the steps --------------------------------------------------------------- */

/* An upper bound of the graphs or recorded programs to compile. */
static size_t count_graphs(const command *c)
{
    size_t graphs = json_array_size(json_object_get(c->request, "programs"));
    for (size_t i = 0; i < c->count && !c->request; i++)
        graphs += (size_t)c->list[i].what.graphs; /* of windows one: the step adds the others */
    return graphs * c->options->topologies.count;
}

static void show_plan(const command *c)
{
    const estimate_options *o = c->options;
    const size_t programs = c->run.of, topologies = o->topologies.count;
    cli_note_plan(programs,
                  o->cache_dir[0] ? "ends it, prints what is done, and keeps the compilations"
                                  : "ends it, and prints what is done",
                  "at most %zu program%s of %zu step%s to compile for %zu topolog%s, on "
                  "runtime %s%s%s%s",
                  programs, programs == 1 ? "" : "s", c->count, c->count == 1 ? "" : "s",
                  topologies, topologies == 1 ? "y" : "ies", c->list[0].what.runtime,
                  o->cache_dir[0] ? "; programs in " : "", o->cache_dir,
                  o->cache_dir[0] ? " are not compiled again" : "");
}

static bn_code estimate_all(command *c, bn_status *st)
{
    const estimate_options *o = c->options;
    size_t index = 0;
    bn_code code = BN_OK;
    c->run.of = count_graphs(c);
    show_plan(c);
    for (size_t t = 0; t < o->topologies.count; t++)
        for (size_t i = 0; i < c->count; i++) {
            const estimate_task task = {.index = index++,
                                        .experiment = &c->list[i],
                                        .topology = o->topologies.value[t].word};
            if (code != BN_OK || job_interrupted())
                continue;
            const size_t first = json_array_size(c->run.lines);
            if (c->request)
                estimate_recorded(&c->run, &task);
            else
                code = estimate_step(&c->run, &task, st);
            if (code == BN_OK)
                code = estimate_keep(&c->run, &task, first, st);
        }
    return code;
}

/* ---- output ------------------------------------------------------------------ */

/* The tables in FORMAT, and NOTES; of CSV one table. */
static void put_tables(const command *c, res_format format, const char *notes, bn_text *out)
{
    const estimate_options *o = c->options;
    const json_t *lines = c->run.lines;
    if (format == RES_TABLE_CSV) {
        (o->by_scope          ? estimate_scopes
         : o->check_published ? estimate_with_published
                              : estimate_table)(lines, format, out);
        return;
    }
    estimate_table(lines, format, out);
    if (o->by_scope)
        estimate_scopes(lines, format, out);
    if (o->check_published)
        estimate_with_published(lines, format, out);
    bn_text_putc(out, '\n');
    res_put_lines(out, format, notes);
}

/* Tables go to standard output; of CSV the sentences to standard error. */
static void print(const command *c)
{
    bn_text tables = {0}, wide = {0}, words = {0};
    if (c->format == RES_TABLE_JSON) {
        cli_json(c->run.lines);
        return;
    }
    estimate_notes(c->run.lines, &words);
    const char *notes = words.data ? words.data : ""; /* of no lines */
    put_tables(c, c->format, notes, &tables);
    if (cli_is_narrow(&c->options->output))
        put_tables(c, RES_TABLE_TEXT, notes, &wide);
    cli_show_either(&tables, &wide);
    if (c->format == RES_TABLE_CSV)
        cli_err("%s", notes);
    bn_text_free(&words);
}

/* Writes --into-sim and --output; CODE is the exit code so far. */
static cli_exit write_files(const command *c, cli_exit code)
{
    const estimate_options *o = c->options;
    bn_status st = {.code = BN_OK};
    if (code != CLI_EXIT_OK || job_interrupted())
        return code;
    if (o->into_sim && estimate_into_sim(c->run.lines, o->into_sim, &st) != BN_OK)
        code = cli_complain(&st);
    if (o->picture && estimate_picture(c->run.lines, o->picture, &st) != BN_OK)
        code = cli_complain(&st);
    return code;
}

static int estimate(const estimate_options *options)
{
    bn_status st = {.code = BN_OK};
    command c = {.options = options, .run = {.options = options, .cache = -1}};
    cli_exit code = CLI_EXIT_OK;
    c.run.lines = json_array();
    if (prepare(&c, &st) != BN_OK) {
        code = cli_complain(&st);
    } else {
        job_supervise_begin();
        if (estimate_all(&c, &st) != BN_OK)
            code = cli_complain(&st);
        cli_line_clear();
        /* A pager waits for its reader, and the files shall be there by then. */
        code = write_files(&c, code);
        print(&c);
        if (c.run.kept > 0)
            cli_note("[%zu/%zu] %zu record%s: %s; next: bench table --table estimates --store %s",
                     c.run.number, c.run.of, c.run.kept, c.run.kept == 1 ? "" : "s", options->store,
                     options->store);
        code = job_interrupted()     ? CLI_EXIT_INTERRUPTED
               : code != CLI_EXIT_OK ? code
               : c.run.failed        ? CLI_EXIT_FAILED
                                     : CLI_EXIT_OK;
    }
    if (c.run.cache >= 0)
        close(c.run.cache);
    free(c.list);
    json_decref(c.request);
    json_decref(c.run.lines);
    return (int)code;
}

#define AT(member) offsetof(estimate_options, member)

static const cli_option rows[] = {
    {"topology", "NAME,...", CLI_NAMES, AT(topologies), .fallback = "v4:1x1x1/megacore",
     .text = "devices to compile for, by the plugin's names; libtpu has v2:2x2, v3:2x2, v4:1x1x1, "
             "v5e:1x1, v5p:1x1x1, v6e:1x1, tpu7x:1x1x1 and larger ones. Behind a slash stands the "
             "chip's configuration: megacore makes one device of the two cores of a v4"},
    {"topology-option", "NAME=VALUE", CLI_PAIRS, AT(option),
     .text = "option for all topologies; may be repeated"},
    {"by-scope", NULL, CLI_FLAG, AT(by_scope),
     .text = "also a table of the cycles of each part of the model"},
    {"check-published", NULL, CLI_FLAG, AT(check_published),
     .text = "also a table of published times, with their source, next to the estimates"},
    {"into-sim", "FILE", CLI_TEXT, AT(into_sim),
     .text =
         "also write a file of settings for the simulated device with the estimated times of one "
         "step's graphs: bench --runtime sim --runtime-option config=FILE. FILE must not exist; "
         "--force replaces it"},
    {"output", "FILE", CLI_TEXT, AT(picture), .also = "o",
     .text = "also draw compilation, text, tracing, memory and cycles over several values of "
             "--depth: .svg, .png or .gp. FILE must not exist; --force replaces it"},
    {"store", "DIR", CLI_TEXT, AT(store), .also = "results",
     .text = "also keep a record of each step in this folder of records, where it is always called "
             "estimated"},
    {"runtime", "NAME", CLI_NAMES, AT(matrix.axis) + RES_AXIS_RUNTIME * sizeof(cli_list),
     .fallback = "tpu", .apart = true, .single = true, .values = job_runtime_names, .open = true,
     .text = "whose compiler to ask: a name (bench list runtimes) or the path of a plugin"},
    {"cache-dir", "DIR", CLI_TEXT, AT(cache_dir), .fallback = "bench-results/estimates",
     .text =
         "keep what the compiler said in DIR, and do not compile it again; empty: keep nothing"},
    CLI_FORMAT_ROW(AT(output.format), "text, md, csv, json, narrow",
                   "text, md, csv, json, or narrow: text in 80 columns"),
};

static bn_code check(void *options, const cli_call *call, bn_status *st)
{
    return job_recorded_check(&((estimate_options *)options)->matrix, call, st);
}

static int run(void *options, const cli_call *call)
{
    (void)call;
    return estimate(options);
}

const cli_command estimate_command = {
    .name = "estimate",
    .usage = "bench estimate --model NAME --topology NAME,... [OPTIONS]",
    .summary = "what a TPU's compiler expects a step to take, and to need of memory, without a TPU",
    .section = JOB_SECTION_WHY,
    .bare = "model",
    .size = sizeof(estimate_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .about = JOB_ABOUT_NETWORK,
                .rows = JOB_AXIS_BIT(PHASE) | JOB_AXIS_BIT(BATCH) | JOB_AXIS_BIT(IMAGE) |
                        JOB_AXIS_BIT(SEQ) | JOB_AXIS_BIT(OPTIMIZER) | JOB_AXIS_BIT(DROPOUT) |
                        JOB_AXIS_BIT(DTYPE) | JOB_AXIS_BIT(LAYOUT) | JOB_AXIS_BIT(SCAN) |
                        JOB_AXIS_BIT(MODE) | JOB_AXIS_BIT(GRAPHS) | JOB_AXIS_BIT(REMAT) |
                        JOB_AXIS_BIT(OFFLOAD) | JOB_AXIS_BIT(LAYOUTS) | JOB_AXIS_BIT(WINDOW) |
                        JOB_AXIS_BIT(TRACE_COST)},
               {.table = job_recorded_table,
                .offset = AT(matrix.recorded),
                .rows = JOB_RECORDED_FOLDER | JOB_RECORDED_STEP},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .rows = JOB_MEASURE_BIT(xla_flag) | JOB_MEASURE_BIT(timeout)},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_EVERY | CLI_OUT_WIDE | CLI_OUT_VERBOSE | CLI_OUT_FORCE}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .check = check,
    .run = run,
    .help = help,
};
