/*
 * history.c - bench history: series of a store over nights, with their change points.
 */
#include "harness/commands/selection_priv.h"
#include "plots/plot.h"

#include <stdio.h>

/* Draws the picture that --output asks for. */
static bn_code draw(const char *file, const res_history *history, bn_status *st)
{
    plot_format format;
    plot picture = {0};
    bn_text out = {0};
    bn_code code = plot_format_parse(file, &format, st);
    if (code == BN_OK && history->count != 1)
        code = bn_fail(st, BN_INVALID,
                       "--output draws one series, but %zu are selected; select one with --model, "
                       "--mode, --phase, --graphs, --batch, --runtime",
                       history->count);
    if (code == BN_OK)
        code = plot_timeline(&history->series[0], history->metric, &picture, st);
    if (code == BN_OK)
        code = plot_render(&picture, format, &out, st);
    if (code == BN_OK)
        code = bn_file_write_atomic(file, out.data, out.length, st);
    bn_text_free(&out);
    plot_free(&picture);
    return code;
}

/* A requested history, and its data. */
typedef struct asked {
    const command_selection *selection;
    const command_series *series;
    const cli_output *output;
    const char *file; /* of the picture, or NULL */
    res_index index;
    res_history history;
} asked;

/* Why there is no series. */
static bn_code nothing_found(const asked *a, bn_status *st)
{
    bn_text misdates = {0};
    if (a->history.misdates.count == 0)
        return command_refuse_selection(a->selection, &a->index, st);
    res_put_misdates(&a->history.misdates, &misdates);
    bn_fail(st, BN_NOT_FOUND, "%s: none of the %zu records is selected; %s", a->selection->store,
            a->index.count, misdates.data);
    bn_text_free(&misdates);
    return BN_NOT_FOUND;
}

/* Fills TEXT and, on a terminal, WIDE with all columns. */
static bn_code answer(asked *a, bn_text *text, bn_text *wide, bn_status *st)
{
    res_format format;
    const res_history *history = &a->history;
    const res_index *index = &a->index;
    bn_code code = res_format_parse(cli_format(a->output), &format, st);
    if (code == BN_OK)
        code = command_index_load(a->selection->store, a->series->reindex, &a->index, NULL, st);
    if (code == BN_OK)
        code = command_history_make(a->selection, a->series, &a->index, &a->history, st);
    if (code == BN_OK) {
        job_say_damaged(index->damaged, index->damaged_count);
        if (a->output->verbose)
            command_say_index(index);
    }
    if (code == BN_OK && history->count == 0 && index->damaged_count == 0)
        code = nothing_found(a, st);
    if (code == BN_OK)
        command_say_unknown(a->selection, &a->index, NULL);
    if (code == BN_OK && a->file)
        code = draw(a->file, history, st);
    if (code != BN_OK)
        return code;
    if (format == RES_TABLE_HTML) {
        bn_text body = {0};
        res_table_history(history, format, &body);
        res_put_page(text, a->selection->store, body.data ? body.data : "");
        bn_text_free(&body);
    } else {
        res_table_history(history, format, text);
    }
    if (cli_is_narrow(a->output))
        res_table_history(history, RES_TABLE_TEXT, wide);
    return BN_OK;
}

static int show(const command_selection *selection, const command_series *series,
                const cli_output *output, const char *file)
{
    bn_status st = {.code = BN_OK};
    asked a = {.selection = selection, .series = series, .output = output, .file = file};
    bn_text text = {0}, wide = {0};
    int code;
    if (answer(&a, &text, &wide, &st) == BN_OK) {
        cli_show_either(&text, &wide);
        code = a.index.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    } else {
        code = (int)cli_complain(&st);
    }
    bn_text_free(&text);
    bn_text_free(&wide);
    res_history_free(&a.history);
    res_index_free(&a.index);
    return code;
}

typedef struct history_options {
    cli_output output;
    command_selection selection;
    command_series series;
    const char *file;
} history_options;
#define AT(member) offsetof(history_options, member)

static const cli_option rows[] = {
    {"output", "FILE", CLI_TEXT, AT(file), .also = "o",
     .text =
         "also draw the selected series: .svg, .png or .gp; an existing file is replaced, since "
         "it can be made again from the records"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose),
     .text = "also print how many records were read (-v)"},
    {"force", NULL, CLI_FLAG, AT(output.force),
     .text = "no effect: --output always replaces files"},
};

static int run(void *options, const cli_call *call)
{
    const history_options *o = options;
    (void)call;
    return show(&o->selection, &o->series, &o->output, o->file);
}

const cli_command command_history = {
    .name = "history",
    .usage = "bench history [--store DIR] [--model NAME] [--output FILE.svg]",
    .summary = "print series over nights: where their level changed, and between which builds",
    .section = JOB_SECTION_LOOK,
    .bare = "store",
    .size = sizeof(history_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = command_series_table, .offset = AT(series)},
               {.table = command_selection_table, .offset = AT(selection)},
               {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_TABLES}},
    .run = run,
};
