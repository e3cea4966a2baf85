/*
 * plots.c - bench plot, bench report and bench publish: pictures, a page and a site of a folder of
 * records.
 */
#include "harness/commands/commands.h"
#include "harness/commands/selection_priv.h"
#include "plots/plot.h"
#include "plots/site/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* The records that ASKED asks for. */
static bn_code load(const command_selection *asked, bool verbose, res_collection *all,
                    bn_status *st)
{
    res_index index = {0};
    bn_code code = command_index_load(asked->store, false, &index, NULL, st);
    if (code == BN_OK && verbose)
        command_say_index(&index);
    if (code == BN_OK)
        code = command_records_read(asked, &index, all, st);
    res_index_free(&index);
    return code;
}

static bn_code make_plot(const command_selection *asked, const char *what, bool verbose,
                         const char *file, res_collection *all, bn_text *out, bn_status *st)
{
    plot_format format;
    size_t kind = 0;
    while (kind < KINDS && strcmp(kinds[kind].name, what) != 0)
        kind++;
    if (kind == KINDS)
        return strcmp(what, "series") == 0 || strcmp(what, "history") == 0
                   ? bn_fail(st, BN_INVALID, "for series use bench history --output")
                   : bn_fail_choice(st, "plot", what,
                                    "ledger, speedup, overhead, steps, distribution");
    if (!file)
        return bn_fail(st, BN_INVALID, "bench plot needs --output FILE.svg, .png or .gp");
    bn_code code = plot_format_parse(file, &format, st);
    if (code == BN_OK)
        code = load(asked, verbose, all, st);
    plot p = {0};
    if (code == BN_OK)
        code = kinds[kind].make(all, &p, st);
    if (code == BN_OK)
        code = plot_render(&p, format, out, st);
    plot_free(&p);
    return code;
}

/* Says how it ended, and frees ALL. */
static int finish(bn_code code, res_collection *all, const bn_status *st)
{
    cli_exit exit_code = all->damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (code == BN_OK)
        job_say_damaged(all->damaged, all->damaged_count);
    else
        exit_code = cli_complain(st);
    res_collection_free(all);
    return (int)exit_code;
}

int command_plot(const command_selection *asked, const char *what, const cli_output *output,
                 const char *file)
{
    bn_status st = {.code = BN_OK};
    bn_text out = {0};
    res_collection all = {0};
    bn_code code = make_plot(asked, what, output->verbose, file, &all, &out, &st);
    if (code == BN_OK)
        code = bn_file_write_atomic(file, out.data, out.length, &st);
    bn_text_free(&out);
    return finish(code, &all, &st);
}

/* ---- bench report ---------------------------------------------------------------------- */

/* The page of the series of INDEX that ASKED asks for. */
static bn_code make_page(const command_selection *asked, const command_series *series,
                         const res_index *index, plot_page *page, bn_status *st)
{
    res_history history = {0};
    bn_code code = command_history_make(asked, series, index, &history, st);
    if (code == BN_OK)
        code = plot_page_history(page, &history, NULL, st);
    res_history_free(&history);
    return code;
}

int command_report(const command_selection *asked, const command_series *series, const char *title,
                   const cli_output *output, const char *file)
{
    bn_status st = {.code = BN_OK};
    plot_page page = {0};
    res_index index = {0}, part = {0};
    res_collection all = {0}, estimates = {0};
    bn_code code = BN_OK;
    if (!file)
        code = bn_fail(&st, BN_INVALID, "bench report needs --output FILE.html");
    if (code == BN_OK)
        code = command_index_load(asked->store, false, &index, &part, &st);
    if (code == BN_OK && output->verbose)
        command_say_index(&index);
    if (code == BN_OK)
        code = command_both_read(asked, &index, &part, &all, &estimates, &st);
    if (code == BN_OK)
        code = make_page(asked, series, &index, &page, &st);
    if (code == BN_OK) {
        const plot_report report = {
            .title = title, .store = asked->store, .all = &all, .estimates = &estimates};
        code = plot_page_write(&page, report, file, &st);
    }
    plot_page_free(&page);
    res_index_free(&part);
    res_index_free(&index);
    job_say_damaged(estimates.damaged, estimates.damaged_count);
    const bool damaged = estimates.damaged_count > 0;
    res_collection_free(&estimates);
    const int exit_code = finish(code, &all, &st);
    return exit_code == CLI_EXIT_OK && damaged ? CLI_EXIT_FAILED : exit_code;
}

/* ---- bench publish --------------------------------------------------------------------- */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void tell_site(const command_publishing *own, const site_made *made)
{
    cli_tell("%zu record%s of %zu night%s and %zu build%s; %zu file%s written, %zu unchanged, %zu "
             "removed; %s/index.html",
             made->records, plural(made->records), made->nights, plural(made->nights), made->builds,
             plural(made->builds), made->written, plural(made->written), made->unchanged,
             made->removed, own->folder);
    if (made->no_pictures)
        cli_say(
            "bench: the site has no pictures: there is no gnuplot; apt-get install gnuplot-nox");
}

int command_publish(const command_publishing *own, const command_series *series)
{
    bn_status st = {.code = BN_OK};
    res_index index = {0};
    site_made made = {0};
    site_options options = {.store = own->store,
                            .folder = own->folder,
                            .title = own->title,
                            .night_hours = series->night_hours,
                            .now_s = (double)time(NULL),
                            .change = res_history_defaults().change,
                            .asked = own->asked,
                            .asked_count = own->asked_count};
    bn_code code = BN_OK;
    if (!own->folder)
        code = bn_fail(&st, BN_INVALID, "bench publish needs --output DIR");
    if (code == BN_OK)
        code = command_index_load(own->store, series->reindex, &index, NULL, &st);
    if (code == BN_OK && own->verbose)
        command_say_index(&index);
    if (code == BN_OK)
        code = site_publish(&options, &index, &made, &st);
    int exit_code = made.lost.damaged_count ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (code == BN_OK) {
        job_say_damaged(made.lost.damaged, made.lost.damaged_count);
        tell_site(own, &made);
    } else {
        exit_code = (int)cli_complain(&st);
    }
    res_collection_free(&made.lost);
    res_index_free(&index);
    return exit_code;
}
