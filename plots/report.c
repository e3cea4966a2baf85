/*
 * report.c - the page: its frame and its pictures. Its other parts are in report_summary.c,
 * report_tables.c and report_provenance.c.
 *
 * The page does not depend on when or where it is made: the same records give the same bytes.
 */
#include "plots/plot_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pictures -------------------------------------------------------------------------- */

typedef bn_code (*maker)(const res_collection *all, plot *p, bn_status *st);

/* A picture without records is left out. */
static bn_code put_picture(const res_collection *all, maker make, const char *caption,
                           size_t *number, bn_text *out, bn_status *st)
{
    plot p = {0};
    bn_status why = {.code = BN_OK};
    bn_code code = make(all, &p, &why);
    if (code == BN_NOT_FOUND)
        return BN_OK;
    if (code != BN_OK)
        return bn_fail(st, code, "%s", why.message);
    code = plot_html_figure(&p, caption, (*number)++, out, st);
    plot_free(&p);
    return code;
}

typedef bool (*choice)(const res_record *record, const res_record *like);

/* A view of the records of ALL that are like LIKE; its list is the caller's to free. */
static res_collection choose(const res_collection *all, choice wanted, const res_record *like)
{
    res_collection some = {.records = bn_zalloc(all->count + 1, sizeof(res_record *))};
    for (size_t i = 0; i < all->count; i++)
        if (wanted(all->records[i], like))
            some.records[some.count++] = all->records[i];
    return some;
}

static bool not_eager(const res_record *record, const res_record *like)
{
    (void)like;
    return strcmp(record->experiment.mode, "eager") != 0;
}

static bool of_model(const res_record *record, const res_record *like)
{
    return strcmp(record->experiment.model, like->experiment.model) == 0;
}

static bool seen_before(const res_collection *all, size_t i, choice same)
{
    for (size_t earlier = 0; earlier < i; earlier++)
        if (same(all->records[earlier], all->records[i]))
            return true;
    return false;
}

/* Puts a picture a model: eight panels of all models would be of little use. */
static bn_code put_steps(const res_collection *block, size_t *number, bn_text *out, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < block->count && code == BN_OK; i++) {
        if (seen_before(block, i, of_model))
            continue;
        res_collection some = choose(block, of_model, block->records[i]);
        bn_text_puts(out, "<details><summary>Step time over steps: ");
        plot_html_text(out, block->records[i]->experiment.model);
        bn_text_puts(out, "</summary>\n");
        code = put_picture(&some, plot_steps, "Wall time of each step.", number, out, st);
        bn_text_puts(out, "</details>\n");
        free(some.records);
    }
    return code;
}

/* Next to eager steps, which are much longer, the parts of others cannot be read: there are ledgers
 * with and without. */
static bn_code put_block(const res_collection *block, bool steps, size_t *number, bn_text *out,
                         bn_status *st)
{
    /* EAGER_TOO: where PLAIN is without some. */
    enum of { ALL, PLAIN, EAGER_TOO };
    static const struct {
        maker make;
        enum of of;
        const char *caption;
    } pictures[] = {
        {plot_speedup, ALL, "Speedup over lazy; whiskers are 95 % intervals over processes."},
        {plot_ledger, PLAIN, "The step by part, each model on a scale of its own."},
        {plot_ledger, EAGER_TOO, "The same with eager."},
        {plot_overhead, PLAIN, "Overhead of an execution."},
    };
    res_collection plain = choose(block, not_eager, NULL);
    bn_code code = BN_OK;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures && code == BN_OK; i++) {
        if (pictures[i].of == EAGER_TOO && plain.count == block->count)
            continue;
        code = put_picture(pictures[i].of == PLAIN ? &plain : block, pictures[i].make,
                           pictures[i].caption, number, out, st);
    }
    if (code == BN_OK && steps)
        code = put_steps(block, number, out, st);
    free(plain.records);
    return code;
}

/* Records that one picture may hold: of one runtime, real, simulated or emulated. */
static bool in_block(const res_record *record, const res_record *like)
{
    return res_same_block(record, like) &&
           (record->experiment.trace_cost_ns > 0) == (like->experiment.trace_cost_ns > 0);
}

bn_code plot_html_blocks(const res_collection *all, bool brief, size_t *number, bn_text *out,
                         bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < all->count && code == BN_OK; i++) {
        const res_record *first = all->records[i];
        const char *runtime = first->experiment.runtime;
        if (seen_before(all, i, in_block))
            continue;
        res_collection block = choose(all, in_block, first);
        bn_text_puts(out, "<h3>");
        plot_html_text(out, brief ? bn_base_name(runtime) : runtime);
        if (first->simulated)
            bn_text_puts(out, " <span class=\"badge\">SIMULATED DEVICE</span>");
        if (first->experiment.trace_cost_ns > 0)
            bn_text_puts(out, " <span class=\"badge\">EMULATED FRONT END</span>");
        bn_text_puts(out, "</h3>\n");
        code = put_block(&block, !brief, number, out, st);
        free(block.records);
    }
    return code;
}

static bn_code put_pictures(const plot_report *report, size_t *number, bn_text *out, bn_status *st)
{
    bn_code code = BN_OK;
    bn_text_puts(out, "<section aria-labelledby=\"plots\">\n<h2 id=\"plots\">Plots</h2>\n");
    for (size_t i = 0; i < report->figure_count && code == BN_OK; i++)
        code = plot_html_figure(report->figures[i].picture, report->figures[i].title, (*number)++,
                                out, st);
    if (code == BN_OK)
        code = plot_html_blocks(report->all, false, number, out, st);
    bn_text_puts(out, "</section>\n");
    return code;
}

/* ---- estimates -------------------------------------------------------------------------- */

static bool has_estimates(const plot_report *report)
{
    return report->estimates && report->estimates->count > 0;
}

/* Estimates of compilers stand apart from all measured figures, and have no picture. */
static void put_estimates(const plot_report *report, bn_text *out)
{
    static const char heading_end[] = "</h1>";
    bn_text table = {0};
    if (!has_estimates(report))
        return;
    res_table_estimates(report->estimates, RES_TABLE_HTML, &table);
    /* The page has another first heading. */
    const char *body = strstr(table.data, heading_end);
    bn_text_puts(out, "<section aria-labelledby=\"estimates\">\n<h2 id=\"estimates\">Estimated, "
                      "not measured</h2>\n<div class=\"scroll\" tabindex=\"0\">\n");
    bn_text_puts(out, body ? body + sizeof heading_end - 1 : "");
    bn_text_puts(out, "</div>\n</section>\n");
    bn_text_free(&table);
}

/* ---- the frame ------------------------------------------------------------------------------ */

static void put_head(const plot_report *report, const char *badge, bn_text *out)
{
    const res_collection *all = report->all;
    bn_text_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<title>");
    plot_html_text(out, report->title ? report->title : "Benchmark report");
    bn_text_puts(out, "</title>\n<style>\n");
    bn_text_puts(out, plot_report_colours);
    bn_text_puts(out, plot_report_style);
    bn_text_puts(out, "</style>\n</head>\n<body>\n<header>\n<div>\n<h1>");
    plot_html_text(out, report->title ? report->title : "Benchmark report");
    size_t unread = 0;
    for (size_t i = 0; i < all->unread_count; i++)
        unread += all->unread[i].good + all->unread[i].failed;
    bn_text_puts(out, "</h1>\n<p class=\"soft\">");
    plot_html_text(out, report->store ? report->store : "");
    bn_text_printf(out, ": %zu record%s", all->count, all->count == 1 ? "" : "s");
    if (all->count > 0)
        plot_html_printf(out, ", %s to %s UTC", plot_id_time(all->records[0]->id).text,
                         plot_id_time(all->records[all->count - 1]->id).text);
    if (unread > 0)
        bn_text_printf(out, ". %zu of older builds are in the history only", unread);
    if (badge)
        bn_text_printf(out, " <span class=\"badge\">%s</span>", badge);
    bn_text_puts(out, "</p>\n</div>\n<button id=\"theme\" hidden>Dark theme</button>\n</header>\n"
                      "<nav aria-label=\"Sections\"><ul><li><a href=\"#summary\">Summary</a></li>");
    if (report->details)
        bn_text_puts(out, "<li><a href=\"#comparison\">Comparison</a></li>");
    bn_text_puts(out, "<li><a href=\"#tables\">Tables</a></li>");
    if (has_estimates(report))
        bn_text_puts(out, "<li><a href=\"#estimates\">Estimates</a></li>");
    bn_text_puts(out, "<li><a href=\"#plots\">Plots</a></li>"
                      "<li><a href=\"#provenance\">Provenance</a></li></ul></nav>\n<main>\n");
}

bn_code plot_report_html(const plot_report *report, bn_text *out, bn_status *st)
{
    plot_rows rows;
    size_t number = 1;
    plot_rows_make(report->all, &rows);
    put_head(report, rows.badge, out);
    bn_code code = plot_report_summary(report, &rows, &number, out, st);
    if (code == BN_OK) {
        if (report->details) {
            bn_text_puts(out, "<section aria-labelledby=\"comparison\">\n<h2 id=\"comparison\">"
                              "Comparison</h2>\n<div class=\"scroll\" tabindex=\"0\">\n");
            bn_text_puts(out, report->details);
            bn_text_puts(out, "</div>\n</section>\n");
        }
        plot_report_tables(&rows, report->comparison_count > 0, out);
        put_estimates(report, out);
        code = put_pictures(report, &number, out, st);
    }
    plot_report_provenance(report, out);
    bn_text_puts(out, "</main>\n<footer><p class=\"soft\">Made by bench from the records "
                      "alone.</p></footer>\n<script>\n");
    bn_text_puts(out, plot_report_script);
    bn_text_puts(out, "</script>\n</body>\n</html>\n");
    plot_rows_free(&rows);
    return code;
}
