/*
 * report.c - bench report: a page, a picture or a site of a folder of records.
 */
#include "harness/commands/selection_priv.h"
#include "plots/plot.h"
#include "plots/site/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- a picture --------------------------------------------------------------------------- */

/* The picture WHAT of the records of SELECTION, into OUT. */
static bn_code make_plot(const command_selection *selection, const char *what, bool verbose,
                         const char *file, res_collection *all, bn_text *out, bn_status *st)
{
    plot_format format;
    res_index index = {0};
    const plot_kind *kind;
    if (strcmp(what, "series") == 0 || strcmp(what, "history") == 0)
        return bn_fail(st, BN_INVALID, "bench history --output draws series");
    if (plot_kind_find(what, &kind, st) != BN_OK)
        return st->code;
    if (!file)
        return bn_fail(st, BN_INVALID,
                       "bench report --plot needs --output FILE.svg, .png or .gp");
    bn_code code = plot_format_parse(file, &format, st);
    if (code == BN_OK)
        code = command_index_load(selection->store, false, &index, NULL, st);
    if (code == BN_OK && verbose)
        command_say_index(&index);
    if (code == BN_OK)
        code = command_records_read(selection, &index, all, st);
    res_index_free(&index);
    plot p = {0};
    if (code == BN_OK)
        code = kind->make(all, &p, st);
    if (code == BN_OK)
        code = plot_render(&p, format, out, st);
    plot_free(&p);
    return code;
}

/* Reports damaged records or the failure ST, frees ALL, and returns the exit code. */
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

static int draw(const command_selection *selection, const char *what, const cli_output *output,
                const char *file)
{
    bn_status st = {.code = BN_OK};
    bn_text out = {0};
    res_collection all = {0};
    bn_code code = make_plot(selection, what, output->verbose, file, &all, &out, &st);
    if (code == BN_OK)
        code = bn_file_write_atomic(file, out.data, out.length, &st);
    if (code == BN_OK)
        cli_note("picture: %s", file);
    bn_text_free(&out);
    return finish(code, &all, &st);
}

/* ---- a page ---------------------------------------------------------------------------- */

static int write_page(const command_selection *selection, const command_series *series,
                      const char *title, const cli_output *output, const char *file)
{
    bn_status st = {.code = BN_OK};
    plot_page page = {0};
    res_index index = {0}, part = {0};
    res_collection all = {0}, estimates = {0};
    res_history history = {0};
    bn_code code = BN_OK;
    if (!file)
        code = bn_fail(&st, BN_INVALID, "bench report needs --output FILE.html, or --site DIR");
    if (code == BN_OK)
        code = command_index_load(selection->store, false, &index, &part, &st);
    if (code == BN_OK && output->verbose)
        command_say_index(&index);
    if (code == BN_OK)
        code = command_both_read(selection, &index, &part, &all, &estimates, &st);
    if (code == BN_OK)
        code = command_history_make(selection, series, &index, &history, &st);
    if (code == BN_OK)
        code = plot_page_history(&page, &history, NULL, &st);
    res_history_free(&history);
    if (code == BN_OK) {
        const plot_report report = {
            .title = title, .store = selection->store, .all = &all, .estimates = &estimates};
        code = plot_page_write(&page, report, file, &st);
        if (code == BN_OK)
            cli_note("page: %s", file);
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

/* ---- a site ---------------------------------------------------------------------------- */

typedef struct report_options {
    cli_output output;
    command_selection selection;
    command_series series;
    const char *plot, *file, *site; /* a kind of picture; a page or picture; folder of a site */
    const char *title;
    cli_words detailed; /* ids of records with a page of their own in the site */
} report_options;

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static void tell_site(const report_options *own, const site_made *made)
{
    cli_tell("%zu record%s of %zu night%s and %zu build%s; %zu file%s written, %zu unchanged, %zu "
             "removed; %s/index.html",
             made->records, plural(made->records), made->nights, plural(made->nights), made->builds,
             plural(made->builds), made->written, plural(made->written), made->unchanged,
             made->removed, own->site);
    if (made->no_pictures)
        cli_say("bench: the site has no pictures without gnuplot; apt-get install gnuplot-nox");
}

static int write_site(const report_options *own)
{
    bn_status st = {.code = BN_OK};
    res_index index = {0};
    site_made made = {0};
    site_options options = {.store = own->selection.store,
                            .folder = own->site,
                            .title = own->title ? own->title : "Benchmark results",
                            .night_hours = own->series.night_hours,
                            .now_s = (double)time(NULL),
                            .change = res_history_defaults().change,
                            .asked = own->detailed.list,
                            .asked_count = own->detailed.count};
    bn_code code =
        command_index_load(own->selection.store, own->series.reindex, &index, NULL, &st);
    if (code == BN_OK && own->output.verbose)
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

/* ---- the command ----------------------------------------------------------------------- */

#define AT(member) offsetof(report_options, member)

static const cli_option rows[] = {
    {"output", "FILE", CLI_TEXT, AT(file), .also = "o",
     .text = "file of the page, .html, or of the picture, .svg, .png or .gp; an existing file is "
             "replaced, since it can be made again from the records"},
    {"plot", "NAME", CLI_TEXT, AT(plot), .apart = true, .values = plot_kind_names, .more = plot_kind_names,
     .text = "one picture in place of the page: "},
    {"site", "DIR", CLI_TEXT, AT(site), .apart = true,
     .text = "a site in place of the page, DIR/index.html with all its files: latest results, "
             "models, builds, nights, comparisons. DIR is new, empty, or a site to update"},
    {"record", "ID", CLI_WORDS, AT(detailed), .about = COMMAND_ABOUT_SITE,
     .text = "of a site: also keep a page of this record, with ledger, timeline, steps and "
             "provenance, as the latest records have; can be repeated"},
    {"title", "TEXT", CLI_TEXT, AT(title), .text = "title of the page or of the site"},
    {"verbose", NULL, CLI_FLAG, AT(output.verbose),
     .text = "also print how many records were read (-v)"},
    {"force", NULL, CLI_FLAG, AT(output.force), .text = "no effect: files are always replaced"},
};

static bn_code check(void *options, const cli_call *call, bn_status *st)
{
    report_options *o = options;
    const char *selecting = cli_given(call, COMMAND_ABOUT_AXES);
    const char *of_site = cli_given(call, COMMAND_ABOUT_SITE);
    const bool has_site = cli_was_given(call, "site"), has_plot = cli_was_given(call, "plot");
    const bool has_output = cli_was_given(call, "output");
    if (has_site && (has_output || has_plot))
        return bn_fail(st, BN_INVALID, "give --site or --%s, not both",
                       has_output ? "output" : "plot");
    /* A default gives way to what the line has. */
    if (has_site)
        o->file = o->plot = NULL;
    if (has_output || has_plot)
        o->site = NULL;
    if (o->site && selecting)
        return bn_fail(st, BN_INVALID, "--site has the whole store, so it takes no --%s",
                       selecting);
    if (!o->site && of_site)
        return bn_fail(st, BN_INVALID, "--%s goes with --site DIR", of_site);
    if (o->plot && cli_was_given(call, "title"))
        return bn_fail(st, BN_INVALID, "--title is of a page or a site, not of --plot");
    return BN_OK;
}

static int run(void *options, const cli_call *call)
{
    const report_options *o = options;
    (void)call;
    if (o->site)
        return write_site(o);
    if (o->plot)
        return draw(&o->selection, o->plot, &o->output, o->file);
    const res_history_options usual = res_history_defaults();
    const command_series series = {.metric = "wall",
                                   .night_hours = usual.night_hours,
                                   .level = usual.change.level,
                                   .least_change = usual.change.least_effect};
    return write_page(&o->selection, &series, o->title ? o->title : "Benchmark report",
                      &o->output, o->file);
}

const cli_command command_report = {
    .name = "report",
    .usage = "bench report --output FILE.html, bench report --plot NAME --output FILE.svg,\n"
             "bench report --site DIR",
    .summary = "write a page of records in one file; --plot: one picture; --site: many pages",
    .section = JOB_SECTION_LOOK,
    .bare = "store",
    .size = sizeof(report_options),
    .output = AT(output),
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .groups = {{.table = command_series_table,
                .offset = AT(series),
                .rows = COMMAND_SERIES_NIGHTS | COMMAND_SERIES_REINDEX},
               {.table = command_selection_table, .offset = AT(selection)},
               {.table = cli_output_table, .offset = AT(output), .rows = CLI_OUT_EVERY}},
    .check = check,
    .run = run,
};
