/* report_summary.c - what is read first: what got slower, what got faster, what failed, what could
 * not be decided. Without comparisons: what was found against lazy, what failed, and the newest
 * results. */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST 12

typedef struct chapter {
    res_verdict verdict;
    const char *style, *title, *none;
    const char *open; /* in place of NONE, where something could not be decided, or failed */
} chapter;

static const chapter chapters[] = {
    {RES_SLOWER, "slow", "What got slower", "Nothing was found slower.",
     "Nothing that could be decided is slower."},
    {RES_FASTER, "fast", "What got faster", "Nothing was found faster.",
     "Nothing that could be decided is faster."},
    {RES_UNDECIDED, "unsure", "What could not be decided", "Everything was decided.",
     "All that could be compared was decided."},
    {RES_EQUIVALENT, "same", "What stayed the same", "Nothing was shown to be the same.", NULL},
};
#define CHAPTERS (sizeof chapters / sizeof *chapters)
#define DECIDED  2 /* chapters before the failures */

static size_t count_of(const plot_report *report, res_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < report->comparison_count; i++)
        n += !report->comparisons[i].failure && !report->comparisons[i].little &&
             report->comparisons[i].verdict == verdict;
    return n;
}

/* Told, but of less than counts. */
static size_t count_little(const plot_report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->comparison_count; i++)
        n += !report->comparisons[i].failure && report->comparisons[i].little;
    return n;
}

static size_t failed_comparisons(const plot_report *report)
{
    size_t n = 0;
    for (size_t i = 0; i < report->comparison_count; i++)
        n += report->comparisons[i].failure != NULL;
    return n;
}

static size_t failures(const plot_report *report)
{
    size_t n = failed_comparisons(report) + report->all->damaged_count;
    for (size_t i = 0; i < report->all->count; i++)
        n += report->all->records[i]->status != BN_OK;
    return n;
}

/* Whether something may be slower though nobody found it so. */
static bool is_open(const plot_report *report)
{
    return count_of(report, RES_UNDECIDED) > 0 || failed_comparisons(report) > 0;
}

/* ---- counts ------------------------------------------------------------------------ */

static void put_count(bn_text *out, const char *style, size_t n, const char *what)
{
    bn_text_printf(out, "<li class=\"%s\"><strong>%zu</strong> %s</li>\n", n ? style : "none", n,
                   what);
}

/* No slower ones are no news where others could not be decided, or failed: that zero is left out.
 */
static void put_decided(const plot_report *report, const char *style, res_verdict verdict,
                        const char *what, bn_text *out)
{
    const size_t n = count_of(report, verdict);
    if (n > 0 || !is_open(report))
        put_count(out, style, n, what);
}

static void put_counts(const plot_report *report, const plot_rows *rows, bn_text *out)
{
    bn_text_puts(out, "<ul class=\"counts\">\n");
    if (report->comparison_count > 0) {
        put_decided(report, "slow", RES_SLOWER, "slower", out);
        put_decided(report, "fast", RES_FASTER, "faster", out);
        put_count(out, "same", count_little(report), "changed by less than counts");
        put_count(out, "bad", failures(report), "failed");
        put_count(out, "unsure", count_of(report, RES_UNDECIDED), "not decided");
        put_count(out, "same", count_of(report, RES_EQUIVALENT), "the same");
    } else {
        put_count(out, "bad", failures(report), "failed");
        put_count(out, "same", report->all->count, "records");
        put_count(out, "same", rows->count, "experiments");
    }
    bn_text_puts(out, "</ul>\n");
}

/* ---- comparisons --------------------------------------------------------------------- */

/* The largest change first; ties stay in their order. */
static int larger_first(const void *a, const void *b)
{
    const plot_comparison *x = *(const plot_comparison *const *)a,
                          *y = *(const plot_comparison *const *)b;
    const double l = fabs(log(x->ratio.estimate)), r = fabs(log(y->ratio.estimate));
    if (l != r)
        return l < r ? 1 : -1;
    return (x > y) - (x < y);
}

static void comparison_row(const plot_comparison *c, bn_text *out)
{
    char text[96];
    bn_text_puts(out, "<tr>");
    plot_cell(out, c->title);
    plot_cell(out, c->measure ? c->measure : "");
    snprintf(text, sizeof text, "%+.1f %%%s", 100 * (c->ratio.estimate - 1),
             c->of_step ? " of a step" : "");
    plot_cell_number(out, c->ratio.estimate - 1, text);
    if (isfinite(c->ratio.low) && isfinite(c->ratio.high))
        snprintf(text, sizeof text, "%+.1f to %+.1f %%", 100 * (c->ratio.low - 1),
                 100 * (c->ratio.high - 1));
    else
        snprintf(text, sizeof text, "-");
    plot_cell_number(out, isfinite(c->ratio.low) ? c->ratio.low - 1 : 0, text);
    /* Where nothing could have been told, it is infinite. */
    if (isfinite(c->smallest_visible)) {
        snprintf(text, sizeof text, "%.1f %%", 100 * c->smallest_visible);
        plot_cell_number(out, c->smallest_visible, text);
    } else {
        plot_cell(out, "-");
    }
    plot_cell(out, c->attribution ? c->attribution : "");
    bn_text_puts(out, "</tr>\n");
}

/* Pictures of what was not decided are folded. */
static bn_code put_distribution(const plot_comparison *c, size_t *number, bn_text *out,
                                bn_status *st)
{
    const bool folded = c->verdict == RES_UNDECIDED;
    if (folded) {
        bn_text_puts(out, "<details><summary>Step times: ");
        plot_html_text(out, c->title);
        bn_text_puts(out, "</summary>\n");
    }
    bn_code code = plot_html_figure(c->distribution, c->title, (*number)++, out, st);
    if (folded)
        bn_text_puts(out, "</details>\n");
    return code;
}

static bn_code put_chapter(const plot_report *report, const chapter *about, size_t *number,
                           bn_text *out, bn_status *st)
{
    bn_code code = BN_OK;
    size_t count = 0;
    const plot_comparison **list = calloc(report->comparison_count + 1, sizeof *list);
    if (!list)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a report");
    for (size_t i = 0; i < report->comparison_count; i++)
        if (!report->comparisons[i].failure && report->comparisons[i].verdict == about->verdict)
            list[count++] = &report->comparisons[i];
    qsort(list, count, sizeof *list, larger_first);
    bn_text_printf(out, "<h3 class=\"%s\">%s</h3>\n", count ? about->style : "none", about->title);
    if (count == 0) {
        const bool none = failed_comparisons(report) == report->comparison_count;
        bn_text_printf(out, "<p>%s</p>\n",
                       none                             ? "No comparison succeeded."
                       : about->open && is_open(report) ? about->open
                                                        : about->none);
    } else {
        plot_table_begin(out,
                         "B against A, with 95 % interval; the smallest change that would have "
                         "been told; what changed with it.",
                         "experiment|measure|#change|#interval|#smallest visible|attribution");
        for (size_t i = 0; i < count; i++)
            comparison_row(list[i], out);
        plot_table_end(out);
    }
    for (size_t i = 0; i < count && code == BN_OK; i++)
        if (list[i]->distribution && about->verdict != RES_EQUIVALENT)
            code = put_distribution(list[i], number, out, st);
    free(list);
    return code;
}

/* ---- failures and newest ----------------------------------------------------------------- */

static void title_of(const res_record *record, bn_text *out)
{
    const res_experiment *e = &record->experiment;
    res_experiment_name(e, out);
    bn_text_puts(out, ", ");
    res_setup_text(e, res_setup_brief(e), out);
    bn_text_printf(out, ", on %s%s", e->runtime, record->simulated ? " (simulated)" : "");
}

static void title_cell(const res_record *record, bn_text *out)
{
    bn_text title = {0};
    title_of(record, &title);
    plot_cell(out, title.data ? title.data : "");
    out->failed = out->failed || title.failed;
    bn_text_free(&title);
}

static void failure_row(const res_record *record, bn_text *out)
{
    bn_text_puts(out, "<tr>");
    title_cell(record, out);
    plot_cell(out, bn_code_name(record->status));
    plot_cell(out, record->message);
    plot_cell(out, record->id);
    bn_text_puts(out, "</tr>\n");
}

static void failed_comparison_row(const plot_comparison *c, bn_text *out)
{
    bn_text_puts(out, "<tr>");
    plot_cell(out, c->title);
    plot_cell(out, c->failure_class);
    plot_cell(out, c->failure);
    plot_cell(out, "");
    bn_text_puts(out, "</tr>\n");
}

static void damaged_row(const res_damaged *file, bn_text *out)
{
    bn_text_puts(out, "<tr>");
    plot_cell(out, "");
    plot_cell(out, bn_code_name(file->status.code));
    plot_cell(out, file->status.message);
    plot_cell(out, bn_base_name(file->path));
    bn_text_puts(out, "</tr>\n");
}

static void put_failures(const plot_report *report, bn_text *out)
{
    const res_collection *all = report->all;
    if (failures(report) == 0) {
        bn_text_puts(out, "<h3>What failed</h3>\n<p>Nothing failed.</p>\n");
        return;
    }
    bn_text_puts(out, "<h3 class=\"bad\">What failed</h3>\n");
    plot_table_begin(out, "Each failed experiment with its class, and files that cannot be read.",
                     "experiment|class|message|record");
    for (size_t i = 0; i < all->count; i++)
        if (all->records[i]->status != BN_OK)
            failure_row(all->records[i], out);
    for (size_t i = 0; i < report->comparison_count; i++)
        if (report->comparisons[i].failure)
            failed_comparison_row(&report->comparisons[i], out);
    res_told told = {{0}};
    for (size_t i = 0; i < all->damaged_count; i++)
        if (res_damaged_told(&told, &all->damaged[i]))
            damaged_row(&all->damaged[i], out);
    plot_table_end(out);
    bn_text rest = {0};
    res_put_untold(&told, &rest);
    if (rest.length > 0)
        bn_text_printf(out, "<p>%s.</p>\n", rest.data);
    out->failed = out->failed || rest.failed;
    bn_text_free(&rest);
}

static int newer_first(const void *a, const void *b)
{
    const res_record *x = *(const res_record *const *)a, *y = *(const res_record *const *)b;
    return strcmp(y->id, x->id);
}

static void put_newest(const plot_report *report, bn_text *out)
{
    size_t count = 0;
    const res_record **list = calloc(report->all->count + 1, sizeof *list);
    out->failed = out->failed || !list;
    for (size_t i = 0; list && i < report->all->count; i++)
        if (res_record_good(report->all->records[i]))
            list[count++] = report->all->records[i];
    if (list)
        qsort(list, count, sizeof *list, newer_first);
    bn_text_puts(out, "<h3>Newest results</h3>\n");
    if (count == 0)
        bn_text_puts(out, "<p>No experiment succeeded.</p>\n");
    else
        plot_table_begin(out, "Median step of one process each, the newest first.",
                         "experiment|#median step|#steps|time (UTC)");
    for (size_t i = 0; i < count && i < NEWEST; i++) {
        const double median = res_record_measures(list[i]).wall_ns;
        char steps[32];
        snprintf(steps, sizeof steps, "%zu", list[i]->step_count);
        bn_text_puts(out, "<tr>");
        title_cell(list[i], out);
        plot_cell_number(out, median, plot_time_text(median).text);
        plot_cell_number(out, (double)list[i]->step_count, steps);
        plot_cell(out, plot_id_time(list[i]->id).text);
        bn_text_puts(out, "</tr>\n");
    }
    if (count > 0)
        plot_table_end(out);
    if (count > NEWEST)
        bn_text_printf(out, "<p class=\"soft\">The newest %d of %zu processes.</p>\n", NEWEST,
                       count);
    free(list);
}

/* What all of it comes to, in the colour of what it is like. */
static void put_headline(const plot_report *report, bn_text *out)
{
    const char *style = "same";
    if (!report->headline)
        return;
    for (size_t i = 0; i < CHAPTERS; i++)
        if (chapters[i].verdict == report->headline_verdict)
            style = chapters[i].style;
    bn_text_printf(out, "<h3 class=\"%s\">", style);
    plot_html_text(out, report->headline);
    bn_text_puts(out, "</h3>\n");
}

/* Puts what was compared. */
static void put_sides(const plot_report *report, bn_text *out)
{
    if (report->comparison_count > 0 && (report->side_a || report->side_b)) {
        bn_text_puts(out, "<dl><dt>A</dt><dd>");
        plot_html_text(out, report->side_a ? report->side_a : "");
        bn_text_puts(out, "</dd><dt>B</dt><dd>");
        plot_html_text(out, report->side_b ? report->side_b : "");
        bn_text_puts(out, "</dd></dl>\n");
    }
}

static void put_remarks(const plot_report *report, bn_text *out)
{
    for (const char *line = report->remarks; line && *line;) {
        const size_t length = strcspn(line, "\n");
        bn_text text = {0};
        bn_text_append(&text, line, length);
        bn_text_puts(out, "<p>");
        plot_html_text(out, text.data ? text.data : "");
        bn_text_puts(out, "</p>\n");
        out->failed = out->failed || text.failed;
        bn_text_free(&text);
        line += length + (line[length] == '\n');
    }
}

bn_code plot_report_summary(const plot_report *report, const plot_rows *rows, size_t *number,
                            bn_text *out, bn_status *st)
{
    bn_code code = BN_OK;
    bn_text_puts(out, "<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n");
    put_headline(report, out);
    if (report->comparison_count == 0)
        plot_report_found(rows, out);
    put_remarks(report, out);
    put_counts(report, rows, out);
    put_sides(report, out);
    if (report->comparison_count == 0 && !report->headline)
        bn_text_puts(out, "<p>These records were not compared with others: this page says what "
                          "they are, not whether they changed.</p>\n");
    for (size_t i = 0; i < CHAPTERS && code == BN_OK; i++) {
        if (i == DECIDED || report->comparison_count == 0)
            put_failures(report, out);
        if (report->comparison_count == 0)
            break;
        code = put_chapter(report, &chapters[i], number, out, st);
    }
    if (report->comparison_count == 0)
        put_newest(report, out);
    bn_text_puts(out, "</section>\n");
    return code;
}
