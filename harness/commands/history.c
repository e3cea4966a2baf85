/*
 * history.c - bench history: series of a store over nights, with their change points.
 */
#include "harness/commands/commands.h"
#include "harness/commands/stored.h"
#include "plots/plot.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool wanted(void *context, const res_experiment *e)
{
    return command_stored_wanted(context, e);
}

/* On a terminal only: a store that was read before takes no time. */
static void show_progress(void *context, size_t done, size_t of)
{
    (void)context;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rreading records: %zu of %zu ", done, of);
}

static bn_code load(const cli_options *o, res_index *index, bn_status *st)
{
    const res_index_options options = {.rebuild = o->reindex, .progress = show_progress};
    bn_code code = res_index_load(o->store, &options, index, st);
    if (code != BN_OK)
        return code;
    if (index->read > 0 && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return BN_OK;
}

static void tell(const cli_options *o, const res_index *index)
{
    for (size_t i = 0; i < index->damaged_count; i++)
        fprintf(stderr, "bench: %s\n", index->damaged[i].status.message);
    if (o->verbose)
        fprintf(stderr, "%zu records, of which %zu files were read, the others by the index\n",
                index->count, index->read);
    if (o->verbose && index->unsaved.code != BN_OK)
        fprintf(stderr, "the next call will read them again: %s\n", index->unsaved.message);
}

bn_code command_series_load(const cli_options *o, command_series *series, bn_status *st)
{
    res_history_options options = res_history_defaults();
    options.night_hours = o->night_hours;
    options.change.level = o->level;
    options.change.least_effect = o->least_change;
    options.wanted = wanted;
    options.context = (void *)(uintptr_t)o;
    bn_code code = res_metric_parse(o->metric, &options.metric, st);
    if (code == BN_OK)
        code = load(o, &series->index, st);
    if (code == BN_OK)
        code = res_history_make(&series->index, &options, &series->history, st);
    return code;
}

void command_series_free(command_series *series)
{
    res_history_free(&series->history);
    res_index_free(&series->index);
}

/* The picture that --output asks for. */
static bn_code draw(const cli_options *o, const res_history *history, bn_status *st)
{
    plot_format format;
    plot picture = {0};
    bn_text out = {0};
    bn_code code = plot_format_parse(o->output, &format, st);
    if (code == BN_OK && history->count != 1)
        code = bn_fail(st, BN_INVALID,
                       "a picture is of one series, not of %zu; choose with --model, --mode, "
                       "--phase, --graphs, --batch, --runtime",
                       history->count);
    if (code == BN_OK)
        code = plot_timeline(&history->series[0], history->metric, &picture, st);
    if (code == BN_OK)
        code = plot_render(&picture, format, &out, st);
    if (code == BN_OK)
        code = bn_file_write_atomic(o->output, out.data, out.length, st);
    bn_text_free(&out);
    plot_free(&picture);
    return code;
}

static bn_code answer(const cli_options *o, command_series *series, bn_text *text, bn_status *st)
{
    res_format format;
    const res_history *history = &series->history;
    bn_code code = res_format_parse(o->format, &format, st);
    if (code == BN_OK)
        code = command_series_load(o, series, st);
    if (code == BN_OK)
        tell(o, &series->index);
    if (code == BN_OK && history->count == 0 && series->index.damaged_count == 0)
        code = bn_fail(st, BN_NOT_FOUND, "%s: none of %zu records is of what was asked for",
                       o->store, series->index.count);
    if (code == BN_OK && o->output)
        code = draw(o, history, st);
    if (code != BN_OK)
        return code;
    if (format == RES_TABLE_HTML) {
        bn_text body = {0};
        res_table_history(history, format, &body);
        res_put_page(text, o->store, body.data ? body.data : "");
        text->failed = text->failed || body.failed;
        bn_text_free(&body);
    } else {
        res_table_history(history, format, text);
    }
    return text->failed ? bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the table") : BN_OK;
}

int command_history(const cli_options *options)
{
    bn_status st = {.code = BN_OK};
    command_series series = {0};
    bn_text text = {0};
    int code;
    if (answer(options, &series, &text, &st) == BN_OK) {
        fputs(text.data, stdout);
        code = series.index.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    } else {
        code = (int)cli_complain(&st);
    }
    bn_text_free(&text);
    command_series_free(&series);
    return code;
}
