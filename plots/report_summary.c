/* report_summary.c - the page's beginning: what got slower, what got faster, what failed, what
 * could not be decided. Without comparisons: findings against lazy, what failed, and the latest
 * results. */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATEST 12

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
    {RES_UNEVEN, "unsure", "Where some processes were slow", "No process was slow.",
     "No process of what could be compared was slow."},
    {RES_UNDECIDED, "unsure", "What could not be decided", "Everything was decided.",
     "All that could be compared was decided."},
    {RES_EQUIVALENT, "same", "What stayed the same", "Nothing was shown to be the same.", NULL},
};
#define CHAPTERS (sizeof chapters / sizeof *chapters)
#define DECIDED  2 /* chapters before the failures */

/* Comparisons by their outcome. */
typedef struct counts {
    size_t of[RES_UNDECIDED + 1]; /* without those that failed or are little */
    size_t little;                /* significant, but below the threshold */
    size_t failed;                /* comparisons */
    size_t failures;              /* these, and records and files */
    bool open;                    /* something may be slower although no comparison found it */
} counts;

static counts counts_of(const plot_report *report)
{
    counts n = {.failures = report->all->damaged_count};
    for (size_t i = 0; i < report->comparison_count; i++) {
        const plot_comparison *c = &report->comparisons[i];
        size_t *count = c->failure ? &n.failed : c->little ? &n.little : &n.of[c->verdict];
        *count += 1;
    }
    n.failures += n.failed;
    for (size_t i = 0; i < report->all->count; i++)
        n.failures += report->all->records[i]->status != BN_OK;
    n.open = n.of[RES_UNDECIDED] > 0 || n.of[RES_UNEVEN] > 0 || n.failed > 0;
    return n;
}

/* ---- counts ------------------------------------------------------------------------ */

static void put_count(bn_text *out, const char *style, const char *name, size_t n, const char *what)
{
    bn_text_printf(out, "<li class=\"%s\" data-%s=\"%zu\"><strong>%zu</strong> %s</li>\n",
                   n ? style : "none", name, n, n, what);
}

static void put_counts(const plot_report *report, const counts *n, const plot_rows *rows,
                       bn_text *out)
{
    bn_text_puts(out, "<ul class=\"counts\">\n");
    if (report->comparison_count > 0) {
        /* A zero would mislead where others could not be decided, or failed. */
        if (n->of[RES_SLOWER] > 0 || !n->open)
            put_count(out, "slow", "slower", n->of[RES_SLOWER], "slower");
        if (n->of[RES_FASTER] > 0 || !n->open)
            put_count(out, "fast", "faster", n->of[RES_FASTER], "faster");
        put_count(out, "same", "below", n->little, "changed below the threshold");
        put_count(out, "bad", "failed", n->failures, "failed");
        put_count(out, "unsure", "uneven", n->of[RES_UNEVEN], "uneven");
        put_count(out, "unsure", "undecided", n->of[RES_UNDECIDED], "not decided");
        put_count(out, "same", "equivalent", n->of[RES_EQUIVALENT], "the same");
    } else {
        put_count(out, "bad", "failed", n->failures, "failed");
        put_count(out, "same", "records", report->all->count, "records");
        put_count(out, "same", "experiments", rows->count, "experiments");
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
    /* Infinite where no effect could have been detected. */
    if (isfinite(c->mde)) {
        snprintf(text, sizeof text, "%.1f %%", 100 * c->mde);
        plot_cell_number(out, c->mde, text);
    } else {
        plot_cell(out, "-");
    }
    plot_cell(out, c->attribution ? c->attribution : "");
    bn_text_puts(out, "</tr>\n");
}

/* Pictures of undecided comparisons are folded. */
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

static bn_code put_chapter(const plot_report *report, const counts *n, const chapter *about,
                           size_t *number, bn_text *out, bn_status *st)
{
    bn_code code = BN_OK;
    size_t count = 0;
    const plot_comparison **list = bn_zalloc(report->comparison_count + 1, sizeof *list);
    for (size_t i = 0; i < report->comparison_count; i++)
        if (!report->comparisons[i].failure && report->comparisons[i].verdict == about->verdict)
            list[count++] = &report->comparisons[i];
    qsort(list, count, sizeof *list, larger_first);
    bn_text_printf(out, "<h3 class=\"%s\" data-part=\"%s\">%s</h3>\n",
                   count ? about->style : "none", res_verdict_name(about->verdict), about->title);
    if (count == 0) {
        if (n->failed == report->comparison_count)
            bn_text_puts(out, "<p data-note=\"failed\">No comparison succeeded.</p>\n");
        else if (about->open && n->open)
            bn_text_printf(out, "<p data-note=\"open\">%s</p>\n", about->open);
        else
            bn_text_printf(out, "<p data-note=\"none\">%s</p>\n", about->none);
    } else {
        plot_table_begin(out, PLOT_NONE,
                         "B against A, with 95 % interval; the minimum detectable effect (MDE); "
                         "what changed with it.",
                         "experiment|measure|#change|#interval|#MDE|attribution");
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

/* ---- failures and latest ----------------------------------------------------------------- */

static void title_cell(const res_record *record, bn_text *out)
{
    const res_experiment *e = &record->experiment;
    bn_text title = {0};
    res_experiment_name(e, &title);
    bn_text_puts(&title, ", ");
    res_setup_text(e, res_setup_brief(e), &title);
    bn_text_printf(&title, ", on %s%s", e->runtime, record->simulated ? " (simulated)" : "");
    plot_cell(out, title.data);
    bn_text_free(&title);
}

/* The cells of a failure behind the first, and the end of its row. */
static void failure_cells(const char *class, const char *message, const char *record, bn_text *out)
{
    plot_cell(out, class);
    plot_cell(out, message);
    plot_cell(out, record);
    bn_text_puts(out, "</tr>\n");
}

static void put_failures(const plot_report *report, const counts *n, bn_text *out)
{
    const res_collection *all = report->all;
    if (n->failures == 0) {
        bn_text_puts(out, "<h3 data-part=\"failed\">What failed</h3>\n<p>Nothing failed.</p>\n");
        return;
    }
    bn_text_puts(out, "<h3 class=\"bad\" data-part=\"failed\">What failed</h3>\n");
    plot_table_begin(out, PLOT_NONE,
                     "Each failed experiment with its class, and files that cannot be read.",
                     "experiment|class|message|record");
    for (size_t i = 0; i < all->count; i++) {
        const res_record *record = all->records[i];
        if (record->status == BN_OK)
            continue;
        bn_text_puts(out, "<tr>");
        title_cell(record, out);
        failure_cells(bn_code_name(record->status), record->message, record->id, out);
    }
    for (size_t i = 0; i < report->comparison_count; i++) {
        const plot_comparison *c = &report->comparisons[i];
        if (!c->failure)
            continue;
        bn_text_puts(out, "<tr>");
        plot_cell(out, c->title);
        failure_cells(c->failure_class, c->failure, "", out);
    }
    res_reported reported = {{0}};
    for (size_t i = 0; i < all->damaged_count; i++) {
        const res_damaged *file = &all->damaged[i];
        if (!res_damaged_reported(&reported, file))
            continue;
        bn_text_puts(out, "<tr>");
        plot_cell(out, "");
        failure_cells(bn_code_name(file->status.code), file->status.message,
                      bn_base_name(file->path), out);
    }
    plot_table_end(out);
    bn_text rest = {0};
    res_put_unreported(&reported, &rest);
    if (rest.length > 0)
        bn_text_printf(out, "<p>%s.</p>\n", rest.data);
    bn_text_free(&rest);
}

static int latest_first(const void *a, const void *b)
{
    const res_record *x = *(const res_record *const *)a, *y = *(const res_record *const *)b;
    return strcmp(y->id, x->id);
}

static void put_latest(const plot_report *report, bn_text *out)
{
    size_t count = 0;
    const res_record **list = bn_zalloc(report->all->count + 1, sizeof *list);
    for (size_t i = 0; i < report->all->count; i++)
        if (res_record_good(report->all->records[i]))
            list[count++] = report->all->records[i];
    qsort(list, count, sizeof *list, latest_first);
    bn_text_puts(out, "<h3 data-part=\"latest\">Latest results</h3>\n");
    if (count == 0)
        bn_text_puts(out, "<p>No experiment succeeded.</p>\n");
    else
        plot_table_begin(out, PLOT_MEDIANS, "The step of one process each, the latest first.",
                         "experiment|#median step|#steps|time (UTC)");
    for (size_t i = 0; i < count && i < LATEST; i++) {
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
    if (count > LATEST)
        bn_text_printf(out,
                       "<p class=\"soft\" data-note=\"more\">The latest %d of %zu "
                       "processes.</p>\n",
                       LATEST, count);
    free(list);
}

/* The verdict on all of it, in the colour of its class. */
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

static void put_remarks(const plot_report *report, bn_text *out)
{
    for (const char *line = report->remarks; line && *line;) {
        const size_t length = strcspn(line, "\n");
        bn_text text = {0};
        bn_text_append(&text, line, length);
        bn_text_puts(out, "<p>");
        plot_html_text(out, text.data ? text.data : "");
        bn_text_puts(out, "</p>\n");
        bn_text_free(&text);
        line += length + (line[length] == '\n');
    }
}

bn_code plot_report_summary(const plot_report *report, const plot_rows *rows, size_t *number,
                            bn_text *out, bn_status *st)
{
    const counts n = counts_of(report);
    bn_code code = BN_OK;
    bn_text_puts(out, "<section aria-labelledby=\"summary\">\n<h2 id=\"summary\">Summary</h2>\n");
    put_headline(report, out);
    if (report->comparison_count == 0)
        plot_report_found(rows, out);
    put_remarks(report, out);
    put_counts(report, &n, rows, out);
    if (report->comparison_count > 0 && (report->side_a || report->side_b)) {
        bn_text_puts(out, "<dl><dt>A</dt><dd>");
        plot_html_text(out, report->side_a ? report->side_a : "");
        bn_text_puts(out, "</dd><dt>B</dt><dd>");
        plot_html_text(out, report->side_b ? report->side_b : "");
        bn_text_puts(out, "</dd></dl>\n");
    }
    if (report->comparison_count == 0 && !report->headline)
        bn_text_puts(out, "<p data-note=\"alone\">These records were not compared with others, so "
                          "the page has figures and no verdicts.</p>\n");
    for (size_t i = 0; i < CHAPTERS && code == BN_OK; i++) {
        if (i == DECIDED || report->comparison_count == 0)
            put_failures(report, &n, out);
        if (report->comparison_count == 0)
            break;
        code = put_chapter(report, &n, &chapters[i], number, out, st);
    }
    if (report->comparison_count == 0)
        put_latest(report, out);
    bn_text_puts(out, "</section>\n");
    return code;
}
