/*
 * history.c - bench history: series of a store over nights, with their change points.
 */
#include "harness/harness.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether NAME is in LIST, words with commas between; NULL has all. */
static bool listed(const char *list, const char *name)
{
    for (const char *word = list; word && *word; word += strcspn(word, ",")) {
        word += *word == ',';
        if (strcspn(word, ",") == strlen(name) && strncmp(word, name, strlen(name)) == 0)
            return true;
    }
    return !list;
}

static bool wanted(void *context, const res_experiment *e)
{
    const hn_options *o = context;
    const char *slash = strrchr(e->runtime, '/');
    char graphs[16], batch[16];
    snprintf(graphs, sizeof graphs, "%d", e->graphs);
    snprintf(batch, sizeof batch, "%d", e->batch);
    return listed(o->only_model, e->model) && listed(o->only_mode, e->mode) &&
           listed(o->only_phase, e->phase) &&
           (listed(o->only_runtime, e->runtime) || (slash && listed(o->only_runtime, slash + 1))) &&
           listed(o->only_graphs, graphs) && listed(o->only_batch, batch);
}

/* On a terminal only: a store that was read before takes no time. */
static void show_progress(void *context, size_t done, size_t of)
{
    (void)context;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rreading records: %zu of %zu ", done, of);
}

static bn_code load(const hn_options *o, res_index *index, bn_status *st)
{
    const res_index_options options = {.rebuild = o->reindex, .progress = show_progress};
    bn_code code = res_index_load(o->store, &options, index, st);
    if (code != BN_OK)
        return code;
    if (index->read > 0 && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    for (size_t i = 0; i < index->damaged_count; i++)
        fprintf(stderr, "bench: %s\n", index->damaged[i].status.message);
    if (o->verbose)
        fprintf(stderr, "%zu records, of which %zu files were read, the others by the index\n",
                index->count, index->read);
    if (o->verbose && index->unsaved.code != BN_OK)
        fprintf(stderr, "the next call will read them again: %s\n", index->unsaved.message);
    return BN_OK;
}

static bn_code make(const hn_options *o, res_index *index, res_history *history, bn_status *st)
{
    res_history_options options = res_history_defaults();
    options.night_hours = o->night_hours;
    options.change.level = o->level;
    options.change.least_effect = o->least_change;
    options.wanted = wanted;
    options.context = (void *)(uintptr_t)o;
    bn_code code = res_metric_parse(o->metric, &options.metric, st);
    if (code == BN_OK)
        code = load(o, index, st);
    if (code == BN_OK)
        code = res_history_make(index, &options, history, st);
    if (code == BN_OK && history->count == 0 && index->damaged_count == 0)
        code = bn_fail(st, BN_NOT_FOUND, "%s: none of %zu records is of what was asked for",
                       o->store, index->count);
    return code;
}

int hn_command_history(const hn_options *options)
{
    bn_status st = {.code = BN_OK};
    res_format format;
    res_index index = {0};
    res_history history = {0};
    bn_text text = {0};
    int code;
    if (res_format_parse(options->format, &format, &st) != BN_OK ||
        make(options, &index, &history, &st) != BN_OK) {
        code = (int)hn_complain(&st);
        goto out;
    }
    res_table_history(&history, format, &text);
    if (text.failed) {
        bn_fail(&st, BN_OUT_OF_MEMORY, "no memory for the table");
        code = (int)hn_complain(&st);
        goto out;
    }
    fputs(text.data, stdout);
    code = index.damaged_count ? HN_EXIT_FAILED : HN_EXIT_OK;
out:
    bn_text_free(&text);
    res_history_free(&history);
    res_index_free(&index);
    return code;
}
