/*
 * plots.c - bench plot and bench report: pictures and a page of a folder of records.
 */
#include "harness/commands/commands.h"
#include "harness/commands/selection_priv.h"
#include "plots/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- records that are asked for ----------------------------------------------------- */

/* The store's records: first those that were asked for, as many as ALL counts, then the others,
 * which are kept for freeing only. */
typedef struct selection {
    res_collection all;
    size_t loaded;
} selection;

static bn_code load(const command_selection *asked, selection *s, bn_status *st)
{
    *s = (selection){0};
    bn_code code = res_store_load(asked->store, &s->all, st);
    if (code != BN_OK)
        return code;
    res_record **list = s->all.records;
    res_record **others = calloc(s->all.count + 1, sizeof *others);
    size_t kept = 0, left = 0;
    s->loaded = s->all.count;
    if (!others)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for records");
    for (size_t i = 0; i < s->loaded; i++) {
        if (command_selected(asked, &list[i]->experiment))
            list[kept++] = list[i];
        else
            others[left++] = list[i];
    }
    memcpy(list + kept, others, left * sizeof *others);
    free(others);
    s->all.count = kept;
    /* Where all records are damaged, a page still shows that, and a plot says what it lacks. */
    if (kept == 0 && s->all.damaged_count == 0)
        return bn_fail(st, BN_NOT_FOUND, "%s: none of %zu records is of what was asked for",
                       asked->store, s->loaded);
    return BN_OK;
}

static void drop(selection *s)
{
    s->all.count = s->loaded;
    res_collection_free(&s->all);
}

static cli_exit tell_damaged(const selection *s)
{
    job_say_damaged(s->all.damaged, s->all.damaged_count);
    return s->all.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
}

/* ---- bench plot ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    bn_code (*make)(const res_collection *all, plot *p, bn_status *st);
} kinds[] = {
    {"ledger", plot_ledger},
    {"speedup", plot_speedup},
    {"overhead", plot_overhead},
    {"steps", plot_steps},
    {"distribution", plot_distribution_of_store},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static bn_code make_plot(const command_selection *asked, const char *what, const char *file,
                         selection *s, bn_text *out, bn_status *st)
{
    plot_format format;
    size_t kind = 0;
    while (kind < KINDS && strcmp(kinds[kind].name, what) != 0)
        kind++;
    if (kind == KINDS)
        return bn_fail(st, BN_INVALID,
                       "there is no plot '%s'; there is ledger, speedup, overhead, "
                       "steps, distribution; for series use bench history --output",
                       what);
    if (!file)
        return bn_fail(st, BN_INVALID, "bench plot needs --output FILE.svg, .png or .gp");
    bn_code code = plot_format_parse(file, &format, st);
    if (code == BN_OK)
        code = load(asked, s, st);
    plot p = {0};
    if (code == BN_OK)
        code = kinds[kind].make(&s->all, &p, st);
    if (code == BN_OK)
        code = plot_render(&p, format, out, st);
    plot_free(&p);
    return code;
}

static int finish(bn_code code, selection *s, const bn_status *st)
{
    const cli_exit exit_code = code == BN_OK ? tell_damaged(s) : cli_complain(st);
    drop(s);
    return (int)exit_code;
}

int command_plot(const command_selection *asked, const char *what, const char *file)
{
    bn_status st = {.code = BN_OK};
    bn_text out = {0};
    selection s = {0};
    bn_code code = make_plot(asked, what, file, &s, &out, &st);
    if (code == BN_OK)
        code = bn_file_write_atomic(file, out.data, out.length, &st);
    bn_text_free(&out);
    return finish(code, &s, &st);
}

/* ---- bench report ---------------------------------------------------------------------- */

/* Adds the history, if the store has several nights, to PAGE. */
static bn_code add_series(const command_selection *asked, const command_series *series,
                          plot_page *page, bn_status *st)
{
    command_history_data data = {0};
    bn_code code = command_history_load(asked, series, &data, st);
    if (code == BN_OK)
        code = plot_page_history(page, &data.history, st);
    command_history_free(&data);
    return code;
}

int command_report(const command_selection *asked, const command_series *series, const char *title,
                   const char *file)
{
    bn_status st = {.code = BN_OK};
    plot_page page = {0};
    selection s = {0};
    bn_code code = BN_OK;
    if (!file)
        code = bn_fail(&st, BN_INVALID, "bench report needs --output FILE.html");
    if (code == BN_OK)
        code = load(asked, &s, &st);
    if (code == BN_OK)
        code = add_series(asked, series, &page, &st);
    if (code == BN_OK) {
        const plot_report report = {.title = title, .store = asked->store, .all = &s.all};
        code = plot_page_write(&page, report, file, &st);
    }
    plot_page_free(&page);
    return finish(code, &s, &st);
}
