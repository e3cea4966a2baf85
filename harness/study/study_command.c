/*
 * study_command.c - bench study: the table of studies, and how one is run.
 */
#include "harness/study/study_priv.h"
#include "plots/plot.h"

#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Each study sweeps one axis. A turn is one process at each value. Each turn draws a line, and\n"
    "intervals come from the differences between turns. Other axes have one value.\n"
    "\n"
    "  bench study graphs --model resnet50              the cost of one more execution of a step\n"
    "  bench study in-flight --model bert --in-flight 1,2,4\n"
    "                                                   how many steps in flight are enough\n"
    "  bench study batch --model resnet50 --phase infer --batch 1,2,4,8\n"
    "                                                   from which batch on little is fixed\n"
    "  bench study arguments --model gpt2 --variant small --phase infer\n"
    "                                                   the cost of an execution's arguments\n"
    "  bench study buckets --model bert --phase infer --seq 32,64,128\n"
    "                                                   the best number of padded lengths\n"
    "  bench study depth --model gpt2 --variant small --depth 1,2,4,8\n"
    "                                                   the cost of a layer of a step\n"
    "  bench study trace-cost --model resnet18 --trace-cost-ns 0,1000,5000,20000\n"
    "                                                   the cost from which tracing is the bound\n"
    "\n"
    "Exit codes: 0 all went well; 1 an experiment failed, or nothing could be concluded; 2 usage;\n"
    "3 environment: no such plugin, store not writable, disk full; 130 interrupted (records\n"
    "written so far are kept).\n";

static const study_kind kinds[] = {
    {"graphs",
     RES_AXIS_GRAPHS,
     {1, 2, 3, 5, -1},
     false,
     "step = base + cost * executions",
     "execution",
     "executions of a step",
     study_graphs},
    {"in-flight",
     RES_AXIS_IN_FLIGHT,
     {1, 2, 4, -1},
     false,
     "step = base with several in flight, base + hidden with one",
     "serial step",
     "1: one step in flight; 0: several",
     study_in_flight},
    {"batch",
     RES_AXIS_BATCH,
     {1, 2, 4, 8, -1},
     false,
     "step = fixed + item * batch",
     "item",
     "batch",
     study_batch},
    {"arguments",
     RES_AXIS_DEPTH,
     {1, 2, 4, 8, -1},
     false,
     "call = fixed + argument * arguments",
     "argument",
     "arguments of a step's executions",
     study_arguments_of},
    {"buckets",
     RES_AXIS_SEQ,
     {16, 32, 64, 128, -1},
     true,
     "step = fixed + token * length, compilation likewise",
     "token",
     "tokens of a row",
     study_buckets},
    {"depth",
     RES_AXIS_DEPTH,
     {1, 2, 4, 8, -1},
     true,
     "figure = base + layer * depth",
     "layer",
     "layers",
     study_depth},
    {"trace-cost",
     RES_AXIS_TRACE_COST,
     {0, 1000, 5000, 20000, -1},
     false,
     "step = base + nodes * cost",
     "ns a node",
     "cost of a node (ns)",
     study_trace_cost},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- the experiments --------- */

/* Gives the swept axis of KIND its values, unless the user gave some. */
static bn_code set_values(const study_kind *kind, job_matrix *m, bn_status *st)
{
    cli_list *list = &m->axis[kind->axis];
    const res_axis *axis = &res_axes[kind->axis];
    if (list->count == 0 ||
        (list->count == 1 && axis->usual && list->value[0].number == atoll(axis->usual))) {
        list->count = 0;
        for (size_t i = 0; kind->values[i] >= 0; i++)
            list->value[list->count++] = (cli_value){.number = kind->values[i]};
    }
    bool one = false, none = false;
    for (size_t i = 0; i < list->count; i++) {
        one = one || list->value[i].number == 1;
        none = none || list->value[i].number == 0;
        for (size_t k = 0; k < i; k++)
            if (list->value[k].number == list->value[i].number)
                return bn_fail(st, BN_INVALID, "--%s has %lld twice", axis->option,
                               (long long)list->value[i].number);
    }
    if (list->count < 2)
        return bn_fail(st, BN_INVALID, "a study takes at least two values of --%s", axis->option);
    if (kind->axis == RES_AXIS_DEPTH && none)
        return bn_fail(st, BN_INVALID, "a study takes depths of 1 or more, not --depth 0");
    if (kind->axis == RES_AXIS_SEQ && none)
        return bn_fail(st, BN_INVALID, "a study takes lengths of 1 or more, not --seq 0");
    if (kind->axis == RES_AXIS_IN_FLIGHT && !one)
        return bn_fail(st, BN_INVALID, "the study in-flight needs 1 among the values of --%s",
                       axis->option);
    return BN_OK;
}

/* Completes the matrix M for KIND. */
static bn_code complete_matrix(const study_kind *kind, job_matrix *m, bn_status *st)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        const cli_list *list = &m->axis[i];
        const char *word = list->count == 1 ? list->value[0].word : NULL;
        if (i == (int)kind->axis || i == RES_AXIS_MODE)
            continue;
        if (list->count > 1 || (res_axes[i].all && word && strcmp(word, "all") == 0))
            return bn_fail(st, BN_INVALID, "the study %s sweeps --%s, so --%s takes one value",
                           kind->name, res_axes[kind->axis].option, res_axes[i].option);
    }
    m->axis[RES_AXIS_MODE] =
        (cli_list){.count = 2, .value = {{.word = "lazy"}, {.word = "capture"}}};
    return set_values(kind, m, st);
}

/* Fails where experiments that cannot run were left out, and captured steps no longer have two
 * values of the swept axis. */
static bn_code check_list(const study *s, bn_status *st)
{
    size_t captured = 0;
    for (size_t i = 0; i < s->count; i++)
        captured += strcmp(s->list[i].what.mode, "capture") == 0;
    return captured >= 2
               ? BN_OK
               : bn_fail(st, BN_INVALID, "only training steps are cut into several graphs");
}

/* Adds the experiments of M in one mode to S' list. */
static bn_code add_mode(study *s, job_matrix *m, const char *mode_name, bn_text *notes,
                        bn_status *st)
{
    const cli_list modes = m->axis[RES_AXIS_MODE];
    job_experiment *more = NULL;
    size_t count = 0;
    m->axis[RES_AXIS_MODE] = (cli_list){.count = 1, .value = {{.word = mode_name}}};
    bn_code code = job_matrix_expand(m, &more, &count, notes, st);
    m->axis[RES_AXIS_MODE] = modes;
    if (code == BN_OK) {
        bn_grow(&s->list, s->count + count, &s->capacity, sizeof *s->list);
        memcpy(&s->list[s->count], more, count * sizeof *more);
        s->count += count;
    }
    free(more);
    return code;
}

/* Adds both modes. Only captured steps are cut; the lazy ones stay whole. */
static bn_code add_modes(study *s, job_matrix *m, bn_text *notes, bn_status *st)
{
    const cli_list graphs = m->axis[RES_AXIS_GRAPHS];
    m->axis[RES_AXIS_GRAPHS] = (cli_list){.count = 1, .value = {{.number = 1}}};
    bn_code code = add_mode(s, m, "lazy", notes, st);
    m->axis[RES_AXIS_GRAPHS] = graphs;
    return code == BN_OK ? add_mode(s, m, "capture", notes, st) : code;
}

/* Makes the experiments of OWN's matrix, and reports which were left out. */
static bn_code make_list(study_options *own, study *s, bn_status *st)
{
    bn_text notes = {0};
    bn_code code = complete_matrix(s->kind, &own->matrix, st);
    if (code == BN_OK) {
        own->matrix.echo = job_matrix_echo(&own->matrix);
        code = add_modes(s, &own->matrix, &notes, st);
    }
    if (code == BN_OK)
        code = check_list(s, st);
    if (code == BN_OK)
        code = job_experiments_check(s->list, s->count, st);
    if (code == BN_OK && notes.length > 0)
        cli_err("%s", notes.data);
    bn_text_free(&notes);
    return code;
}

/* ---- the command --------- */

/* Fits, prints and draws the measured study; returns the exit code, at least CODE, that of
 * measuring. */
static cli_exit conclude(const study_options *own, study *s, res_format format, cli_exit code)
{
    bn_status st = {.code = BN_OK};
    /* An interrupted first turn is no study. */
    if (s->turns > 1 || !job_interrupted())
        study_select(s);
    if (s->processes > 0)
        s->kind->conclude(s);
    if (s->line_count > 0) {
        /* A pager waits for its reader, and the picture shall be there by then. */
        if (own->picture && study_picture(s, own->picture, &st) != BN_OK) {
            const cli_exit worse = cli_complain(&st);
            code = worse > code ? worse : code;
        }
        study_print(s, format, &own->output);
    }
    if (job_interrupted()) {
        cli_say("bench: interrupted; records that are done are kept in %s", s->list[0].how.store);
        return CLI_EXIT_INTERRUPTED;
    }
    if (s->line_count == 0 && code == CLI_EXIT_OK) {
        cli_say("bench: too few experiments succeeded to fit a line");
        return CLI_EXIT_FAILED;
    }
    return code;
}

/* The last name is that of a command of its own, for messages and suggestions. */
static const char *name_at(size_t i)
{
    return i < KINDS ? kinds[i].name : i == KINDS ? "scopes" : NULL;
}

static const study_kind *find(const char *what, bn_status *st)
{
    size_t row;
    if (bn_find_name("study", what, name_at, &row, st) != BN_OK)
        return NULL;
    if (row < KINDS)
        return &kinds[row];
    bn_fail(st, BN_INVALID, "scopes stands right behind study: bench study scopes [OPTIONS]");
    return NULL;
}

static int run_study(study_options *own, const char *what)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    plot_format picture;
    study s = {.kind = find(what, &st)};
    cli_exit code;
    if (!s.kind || res_format_parse(cli_format(&own->output), &format, &st) != BN_OK ||
        (own->picture && plot_format_parse(own->picture, &picture, &st) != BN_OK) ||
        cli_check_new(&own->output, "--output", own->picture, &st) != BN_OK ||
        make_list(own, &s, &st) != BN_OK)
        code = cli_complain(&st);
    else
        code = conclude(own, &s, format,
                        study_measure(&s, (int)own->matrix.how.processes, &own->output));
    study_free(&s);
    json_decref(own->matrix.echo);
    return (int)code;
}

#define AT(member) offsetof(study_options, member)

static const cli_option rows[] = {
    {"trace-cost-ns", "N,...", CLI_NUMBERS,
     AT(matrix.axis) + RES_AXIS_TRACE_COST * sizeof(cli_list), .fallback = "0", .most = INT_MAX,
     .text = "busy wait for each traced node; the study trace-cost sweeps it"},
    {"output", "FILE", CLI_TEXT, AT(picture), .also = "o",
     .text = "also draw points and lines: .svg, .png or .gp. FILE must not exist; --force replaces "
             "it"},
};

static int run(void *options, const cli_call *call)
{
    return run_study(options, call->words[0]);
}

const cli_command study_command = {
    .name = "study",
    .usage = "bench study " STUDY_NAMES " --model NAME [OPTIONS],\n"
             "bench study scopes --model NAME [OPTIONS]",
    .summary =
        "sweep one axis: costs of an item, a layer, a node; study scopes: of each part of a model",
    .section = JOB_SECTION_WHY,
    .words = STUDY_NAMES,
    .most_words = 1,
    .bare = "model",
    .size = sizeof(study_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = job_axis_table,
                .offset = AT(matrix),
                .rows = UINT64_MAX,
                .without = JOB_AXIS_BIT(MODE) | JOB_AXIS_BIT(FRONT_END)},
               {.table = job_measure_table,
                .offset = AT(matrix.how),
                .about = JOB_ABOUT_BUILD | JOB_ABOUT_LOOP | JOB_ABOUT_KEPT,
                .rows = JOB_MEASURE_BIT(weights),
                .without = JOB_MEASURE_BIT(separate)},
               {.table = cli_output_table,
                .offset = AT(output),
                .rows = CLI_OUT_TABLES | CLI_OUT_FORCE}},
    .part = &job_matrix_part,
    .part_at = AT(matrix),
    .run = run,
    .help = help,
};
