/* page.c - a page of judged comparisons and of series over nights, for bench compare, bench nightly
 * and bench report. */
#include "plots/plot.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* With fewer pairs a picture adds nothing to the table. */
#define LEAST_DRAWN 3

/* Keeps TEXT's contents as long as the page lives. Frees TEXT. */
static const char *keep_text(plot_page *page, bn_text *text)
{
    if (!page->memory)
        page->memory = bn_arena_new(4096);
    const char *kept = bn_arena_strdup(page->memory, text->data);
    bn_text_free(text);
    return kept;
}

/* ---- comparisons --------------------------------------------------------------------- */

static const char *title_of(plot_page *page, const res_compared *cell, const char *on)
{
    const res_experiment *e = &cell->experiment;
    bn_text text = {0};
    res_experiment_name(e, &text);
    bn_text_puts(&text, ", ");
    res_setup_text(e, res_setup_brief(e), &text);
    if (on)
        bn_text_printf(&text, ", on %s", on);
    return keep_text(page, &text);
}

static const char *cause_of(plot_page *page, const res_compared *cell)
{
    const res_attribution *a = &cell->attribution;
    bn_text text = {0};
    bn_text_printf(&text, "%s%sprogram %s", res_place_name(a),
                   a->place == RES_PLACE_NONE ? "" : "; ", res_program_words(a->program));
    return keep_text(page, &text);
}

/* Draws the step times of the pairs. */
static bn_code draw_cell(const res_compared *cell, const char *title, const char *const labels[2],
                         plot *picture, bn_status *st)
{
    const uint64_t *series[2][RES_MOST_PAIRS];
    size_t counts[2][RES_MOST_PAIRS];
    double values[2][RES_MOST_PAIRS];
    for (size_t i = 0; i < cell->pairs; i++) {
        const res_record *pair[2] = {cell->a[i], cell->b[i]};
        for (int side = 0; side < 2; side++) {
            series[side][i] = pair[side]->wall_ns;
            counts[side][i] = pair[side]->step_count;
            values[side][i] = res_quantity_of(pair[side], RES_QUANTITY_WALL);
        }
    }
    const plot_side a = {series[0], counts[0], cell->pairs, values[0]};
    const plot_side b = {series[1], counts[1], cell->pairs, values[1]};
    const plot_words words = {title, "step times of the pairs",
                              plot_badge(cell->a[0]->simulated, &cell->experiment)};
    return plot_distribution(&words, labels[0], &a, labels[1], &b, picture, st);
}

/* Adds the undecided measure to a headline that is no slowdown: a device time may be faster
 * while it is open whether the wall time is slower. */
static void add_undecided(plot_page *page, const res_versus *versus, const res_compared *cell,
                          const char *on)
{
    const res_headline head = res_compared_headline(versus, cell);
    const res_measure open = res_compared_open_in(versus, cell);
    if (cell->failed || head.verdict == RES_UNDECIDED || head.verdict == RES_UNEVEN ||
        (head.verdict == RES_SLOWER && !head.little) || open == RES_MEASURE_COUNT)
        return;
    const res_comparison *c = res_compared_measure(cell, open);
    page->comparisons[page->comparison_count++] =
        (plot_comparison){.title = title_of(page, cell, on),
                          .verdict = c->verdict,
                          .measure = res_measure_words(open),
                          .ratio = c->ratio,
                          .mde = c->mde,
                          .attribution = cause_of(page, cell)};
}

static bn_code add_cell(plot_page *page, const res_versus *versus, const res_compared *cell,
                        const char *on, const char *const labels[2], bn_status *st)
{
    const res_headline head = res_compared_headline(versus, cell);
    const res_comparison *c = res_compared_measure(cell, head.measure);
    plot_comparison shown = {.title = title_of(page, cell, on),
                             .verdict = head.verdict,
                             .little = head.little,
                             .of_step = head.measure == RES_MEASURE_OVERHEAD,
                             .measure = res_measure_words(head.measure),
                             .ratio = c->ratio,
                             .mde = c->mde,
                             .attribution = cause_of(page, cell),
                             .failure_class = bn_code_name(cell->failure)};
    if (cell->failed) {
        bn_text text = {0};
        bn_text_printf(&text, "%c: %s", cell->failed, cell->message);
        shown.failure = keep_text(page, &text);
    }
    const bool drawn =
        !cell->failed && c->pairs >= LEAST_DRAWN && head.verdict != RES_EQUIVALENT;
    const bool room = page->picture_count - page->figure_count < PLOT_PAGE_FIGURES;
    page->undrawn += drawn && !room;
    if (drawn && room) {
        plot *picture = &page->pictures[page->picture_count];
        if (draw_cell(cell, shown.title, labels, picture, st) != BN_OK)
            return st->code;
        page->picture_count++;
        shown.distribution = picture;
    }
    page->comparisons[page->comparison_count++] = shown;
    return BN_OK;
}

bn_code plot_page_compared(plot_page *page, const res_versus *versus, const char *on,
                           const char *const labels[2], bn_status *st)
{
    bn_text remark = {0};
    if (on)
        bn_text_printf(&remark, "%s: ", on);
    res_versus_summary(versus, &remark);
    bn_text_printf(&remark, ".\n%s", versus->notes.data ? versus->notes.data : "");
    plot_page_remark(page, remark.data);
    bn_text_free(&remark);
    return plot_page_judged(page, versus, on, labels, st);
}

void plot_page_remark(plot_page *page, const char *remark)
{
    bn_text_puts(&page->remarks, remark);
    if (page->remarks.length && page->remarks.data[page->remarks.length - 1] != '\n')
        bn_text_putc(&page->remarks, '\n');
}

bn_code plot_page_judged(plot_page *page, const res_versus *versus, const char *on,
                         const char *const labels[2], bn_status *st)
{
    bn_grow(&page->comparisons, page->comparison_count + 2 * versus->count,
            &page->comparison_capacity, sizeof *page->comparisons);
    res_table_judged(versus, RES_TABLE_HTML, &page->details);
    const size_t before = page->undrawn;
    bn_code code = BN_OK;
    for (size_t i = 0; i < versus->count && code == BN_OK; i++) {
        const res_compared *cell = &versus->cells[i];
        /* The remarks have the controls. */
        if (!cell->control && (cell->pairs > 0 || cell->failed))
            code = add_cell(page, versus, cell, on, labels, st);
        if (code == BN_OK && !cell->control && cell->pairs > 0)
            add_undecided(page, versus, cell, on);
    }
    const size_t undrawn = page->undrawn - before;
    if (undrawn > 0)
        bn_text_printf(&page->remarks,
                       "%zu further comparison%s no picture of step times here; the tables have "
                       "all.\n",
                       undrawn, undrawn == 1 ? " has" : "s have");
    return code;
}

/* ---- series ---------------------------------------------------------------------------- */

/* Whether SERIES has values and more than one night, one of them in NEW unless that is NULL. */
static bool worth_drawing(const res_timeline *series, const res_collection *new)
{
    return series->count > 1 && series->last < series->count &&
           (!new || res_timeline_has(series, new));
}

static bn_code add_series(plot_page *page, const res_timeline *series, res_metric metric,
                          bn_status *st)
{
    bn_text title = {0};
    plot *picture = &page->pictures[page->picture_count];
    bn_text_puts(&title, "History: ");
    res_timeline_title(series, &title);
    const char *kept = keep_text(page, &title);
    const bn_code code = plot_timeline(series, metric, picture, st);
    if (code != BN_OK)
        return code;
    page->picture_count++;
    page->figures[page->figure_count++] = (plot_figure){kept, picture};
    return BN_OK;
}

bn_code plot_page_history(plot_page *page, const res_history *history, const res_collection *new,
                          bn_status *st)
{
    bn_code code = BN_OK;
    size_t undrawn = 0;
    for (int changed = 1; changed >= 0; changed--) {
        for (size_t i = 0; i < history->count && code == BN_OK; i++) {
            const res_timeline *series = &history->series[i];
            if ((series->stretch_count > 1) != changed || !worth_drawing(series, new))
                continue;
            if (page->figure_count < PLOT_PAGE_FIGURES)
                code = add_series(page, series, history->metric, st);
            else
                undrawn++;
        }
    }
    if (undrawn > 0)
        bn_text_printf(&page->remarks,
                       "%zu further series %s no picture here; bench history shows %s.\n", undrawn,
                       undrawn == 1 ? "has" : "have", undrawn == 1 ? "it" : "them");
    return code;
}

/* ---- the page -------------------------------------------------------------------------- */

bn_code plot_page_write(const plot_page *page, plot_report report, const char *file, bn_status *st)
{
    bn_text text = {0};
    report.comparisons = page->comparisons;
    report.comparison_count = page->comparison_count;
    report.figures = page->figures;
    report.figure_count = page->figure_count;
    report.remarks = page->remarks.data;
    report.details = page->details.data;
    bn_code code = plot_report_html(&report, &text, st);
    if (code == BN_OK)
        code = bn_file_write_atomic(file, text.data, text.length, st);
    bn_text_free(&text);
    return code == BN_OK ? BN_OK : bn_context(st, "report");
}

#define INDEX "index.html"

/* Removes what programs left in FOLDER that were killed while they wrote such a page: a night
 * writes into the same folder each time. */
static void sweep(const char *folder)
{
    int fd;
    if (bn_folder_in(AT_FDCWD, folder, &fd, NULL) != BN_OK)
        return;
    bn_writers_sweep(fd, INDEX);
    close(fd);
}

bn_code plot_page_write_index(const plot_page *page, plot_report report, const char *folder,
                              bn_status *st)
{
    bn_text path = {0};
    bn_text_printf(&path, "%s/" INDEX, folder);
    bn_code code = bn_make_folder(folder, st);
    if (code == BN_OK) {
        sweep(folder);
        code = plot_page_write(page, report, path.data, st);
    } else {
        bn_context(st, "report");
    }
    bn_text_free(&path);
    return code;
}

void plot_page_free(plot_page *page)
{
    for (size_t i = 0; i < page->picture_count; i++)
        plot_free(&page->pictures[i]);
    free(page->comparisons);
    bn_text_free(&page->remarks);
    bn_text_free(&page->details);
    bn_arena_free(page->memory);
    *page = (plot_page){0};
}
