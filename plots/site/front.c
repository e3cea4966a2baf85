/*
 * front.c - what names all other files: data/site.js with lists of models, builds, nights, changes
 * and records with details; and the page itself, index.html, with its style and its script.
 */
#include "plots/site/site_priv.h"

#include "results/tables/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ------------------------------------------------------------------------- */

static void put_models(const site *s, bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\n\"models\":[");
    for (size_t i = 0; i < s->model_count; i++) {
        const site_model *m = &s->models[i];
        if (m->good + m->failed == 0)
            continue;
        site_put_comma(out, &first);
        bn_text_printf(out, "\n[\"%s\",", m->key.text);
        site_put_text(out, m->name);
        bn_text_printf(out, ",%zu,%zu,%.0f,%zu,%zu,%zu]", m->good, m->failed, m->last_s, m->series,
                       m->changes, m->comparable);
    }
    bn_text_puts(out, "]");
}

static int newest_first(const void *a, const void *b)
{
    const site_build *l = *(const site_build *const *)a, *r = *(const site_build *const *)b;
    if (l->last_s < r->last_s || l->last_s > r->last_s)
        return l->last_s > r->last_s ? -1 : 1;
    return strcmp(l->key.text, r->key.text);
}

static void put_build(const site_build *b, bn_text *out)
{
    bn_text_printf(out, "\n[\"%s\",", b->key.text);
    site_put_text(out, b->runtime);
    bn_text_puts(out, ",");
    site_put_text(out, b->origin->label);
    bn_text_puts(out, ",");
    site_put_text(out, b->origin->sha256);
    bn_text_puts(out, ",");
    site_put_text(out, b->origin->version);
    bn_text_printf(out, ",%s,%.0f,%.0f,%zu,%zu]", b->simulated ? "true" : "false", b->first_s,
                   b->last_s, b->good, b->failed);
}

static void put_builds(const site *s, bn_text *out)
{
    const site_build **list = calloc(s->build_count + 1, sizeof(const site_build *));
    bool first = true;
    out->failed = out->failed || !list;
    for (size_t i = 0; list && i < s->build_count; i++)
        list[i] = &s->builds[i];
    if (list && s->build_count > 1)
        qsort(list, s->build_count, sizeof *list, newest_first);
    bn_text_puts(out, ",\n\"builds\":[");
    for (size_t i = 0; list && i < s->build_count; i++) {
        site_put_comma(out, &first);
        put_build(list[i], out);
    }
    bn_text_puts(out, "]");
    free(list);
}

static void put_nights(const site *s, bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\n\"nights\":[");
    for (size_t i = 0; i < s->night_count; i++) {
        const site_night *n = &s->nights[i];
        site_put_comma(out, &first);
        bn_text_printf(out, "\n[\"%s\",%.0f,%.0f,%zu,%zu,%s]", n->key, n->first_s, n->last_s,
                       n->good, n->failed, n->judged ? "true" : "false");
    }
    bn_text_puts(out, "]");
}

static void put_details(const site *s, bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\n\"details\":[");
    for (size_t i = 0; i < s->detail_count; i++) {
        site_put_comma(out, &first);
        bn_text_printf(out, "\"%s\"", s->details[i]);
    }
    bn_text_puts(out, "]");
}

static void put_damaged(const site *s, bn_text *out)
{
    const res_collection *lost = &s->made->lost;
    bool first = true;
    res_told told = {{0}};
    bn_text_printf(out, ",\n\"damaged_count\":%zu,\"damaged\":[", lost->damaged_count);
    for (size_t i = 0; i < lost->damaged_count; i++) {
        if (!res_damaged_told(&told, &lost->damaged[i]))
            continue;
        site_put_comma(out, &first);
        bn_text_puts(out, "\n[");
        site_put_text(out, bn_base_name(lost->damaged[i].path));
        bn_text_printf(out, ",\"%s\"]", bn_code_name(lost->damaged[i].status.code));
    }
    bn_text_puts(out, "]");
}

/* ---- what was found -------------------- */

/* A change point. */
typedef struct change {
    const res_timeline *series;
    const res_stretch *stretch;
    res_metric metric;
    double time_s;
} change;

static int change_order(const void *a, const void *b)
{
    const change *l = a, *r = b;
    if (l->time_s < r->time_s || l->time_s > r->time_s)
        return l->time_s > r->time_s ? -1 : 1;
    if (l->metric != r->metric)
        return l->metric < r->metric ? -1 : 1;
    return res_series_order(l->series->experiment, r->series->experiment);
}

/* Lists all change points, newest first; to be freed, NULL without memory. */
static change *list_changes(const site *s, size_t *count)
{
    size_t room = 1;
    *count = 0;
    for (int m = 0; m < RES_METRIC_COUNT; m++)
        for (size_t i = 0; i < s->history[m].count; i++)
            room += s->history[m].series[i].stretch_count;
    change *list = calloc(room, sizeof *list);
    for (int m = 0; list && m < RES_METRIC_COUNT; m++)
        for (size_t i = 0; i < s->history[m].count; i++) {
            const res_timeline *t = &s->history[m].series[i];
            for (size_t k = 1; k < t->stretch_count; k++)
                list[(*count)++] = (change){t, &t->stretches[k], (res_metric)m,
                                            t->nights[t->stretches[k].first].time_s};
        }
    if (*count > 1)
        qsort(list, *count, sizeof *list, change_order);
    return list;
}

/* Puts model, series and title of T: where its page is, and what a link to it says. */
static void put_place(const res_timeline *t, bn_text *out)
{
    bn_text title = {0};
    res_timeline_title(t, &title);
    bn_text_printf(out, "\"%s\",\"%s\",", site_key_of(t->experiment->model).text,
                   site_series_key(t).text);
    site_put_text(out, title.data ? title.data : "");
    out->failed = out->failed || title.failed;
    bn_text_free(&title);
}

static void put_build_of(const site *s, const res_timeline *t, size_t night, bn_text *out)
{
    const size_t build =
        site_build_of(s, t->experiment->runtime, t->nights[night].origin, t->simulated);
    bn_text_printf(out, ",\"%s\"", build == SITE_NONE ? "" : s->builds[build].key.text);
}

static void put_change(const site *s, const change *c, bn_text *out)
{
    bn_text cause = {0};
    res_stretch_cause(c->stretch, &cause);
    bn_text_printf(out, "\n[\"%s\",", res_metric_name(c->metric));
    put_place(c->series, out);
    bn_text_printf(out, ",\"%s\",%.0f,", site_cell_of(c->series->experiment).text, c->time_s);
    site_put_number(out, c->stretch->ratio.estimate);
    bn_text_puts(out, ",");
    site_put_number(out, c->stretch->ratio.low);
    bn_text_puts(out, ",");
    site_put_number(out, c->stretch->ratio.high);
    bn_text_puts(out, ",");
    site_put_text(out, cause.data ? cause.data : "");
    put_build_of(s, c->series, c->stretch->before, out);
    put_build_of(s, c->series, c->stretch->first, out);
    bn_text_puts(out, "]");
    out->failed = out->failed || cause.failed;
    bn_text_free(&cause);
}

static void put_changes(const site *s, bn_text *out)
{
    size_t count;
    bool first = true;
    change *list = list_changes(s, &count);
    out->failed = out->failed || !list;
    bn_text_puts(out, ",\n\"changes\":[");
    for (size_t i = 0; list && i < count; i++) {
        site_put_comma(out, &first);
        put_change(s, &list[i], out);
    }
    bn_text_puts(out, "]");
    free(list);
}

/* Puts the series whose newest nights are out of line, and are no change yet. */
static void put_watched(const site *s, bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\n\"watched\":[");
    for (size_t i = 0; i < s->history[RES_METRIC_WALL].count; i++) {
        const res_timeline *t = &s->history[RES_METRIC_WALL].series[i];
        if (t->changes.newest_run == 0 || t->last >= t->count)
            continue;
        site_put_comma(out, &first);
        bn_text_puts(out, "\n[");
        put_place(t, out);
        bn_text_printf(out, ",%.0f,", t->nights[t->last].time_s);
        site_put_number(out, t->changes.newest.estimate);
        bn_text_printf(out, ",%zu]", t->changes.newest_run);
    }
    bn_text_puts(out, "]");
}

/* Puts how many series there are, and in how many of them a change could be told by now. */
static void put_series(const site *s, bn_text *out)
{
    size_t series = 0, comparable = 0;
    for (size_t i = 0; i < s->model_count; i++) {
        series += s->models[i].series;
        comparable += s->models[i].comparable;
    }
    bn_text_printf(out, ",\"series\":%zu,\"comparable\":%zu", series, comparable);
}

/* What must be said of device times, by the numbers that stand for it in other files. */
static void put_remarks(bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\n\"remarks\":[");
    for (int i = 0; i < RES_DEVICE_REMARK_COUNT; i++) {
        site_put_comma(out, &first);
        site_put_text(out, res_device_remark_words((res_device_remark)i));
    }
    bn_text_puts(out, "]");
}

static void put_totals(const site *s, bn_text *out)
{
    size_t failed = 0;
    bn_text misdates = {0};
    bn_text_puts(&misdates, "");
    res_put_misdates(&s->misdates, &misdates);
    for (size_t i = 0; i < s->night_count; i++)
        failed += s->nights[i].failed;
    bn_text_printf(out, "{\"version\":%d,\"title\":", SITE_VERSION);
    site_put_text(out, s->options->title);
    bn_text_printf(out, ",\"records\":%zu,\"failed\":%zu,\"timeless\":%zu,\"misdates\":", s->count,
                   failed, s->timeless);
    site_put_text(out, misdates.data ? misdates.data : "");
    bn_text_puts(out, ",\"night_hours\":");
    site_put_number(out, s->options->night_hours);
    bn_text_printf(out, ",\"least_nights\":%d,\"no_pictures\":%s", RES_LEAST_NIGHTS,
                   s->made->no_pictures ? "true" : "false");
    put_series(s, out);
    put_remarks(out);
    out->failed = out->failed || misdates.failed;
    bn_text_free(&misdates);
}

static void put_site(const site *s, bn_text *out)
{
    site_begin(out, "site");
    put_totals(s, out);
    put_models(s, out);
    put_builds(s, out);
    put_nights(s, out);
    put_changes(s, out);
    put_watched(s, out);
    put_details(s, out);
    put_damaged(s, out);
    bn_text_puts(out, "}");
    site_end(out);
}

/* ---- the page -------------------- */

static void put_lines(const char *const *lines, bn_text *out)
{
    for (; *lines; lines++)
        bn_text_puts(out, *lines);
}

/* STATE stands behind the names of all files that the page loads, so that a browser that kept older
 * ones loads them anew. */
static void put_page(const site *s, const char *state, bn_text *out)
{
    bn_text_printf(out,
                   "<!DOCTYPE html>\n<html lang=\"en\" data-state=\"%s\">\n<head>\n"
                   "<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
                   state);
    plot_html_text(out, s->options->title);
    bn_text_printf(out,
                   "</title>\n<link rel=\"stylesheet\" href=\"site.css?%s\">\n"
                   "<script src=\"page.js?%s\" defer></script>\n</head>\n<body>\n"
                   "<a class=\"skip\" id=\"skip\" href=\"#main\">To the contents</a>\n"
                   "<header>\n<div>\n<h1>",
                   state, state);
    plot_html_text(out, s->options->title);
    bn_text_puts(out, "</h1>\n<p class=\"soft\" id=\"about\"></p>\n</div>\n"
                      "<button id=\"theme\" hidden>Dark theme</button>\n</header>\n"
                      "<nav aria-label=\"Pages\"><ul>\n"
                      "<li><a href=\"#/\">Newest</a></li>\n"
                      "<li><a href=\"#/models\">Models</a></li>\n"
                      "<li><a href=\"#/changes\">Changes</a></li>\n"
                      "<li><a href=\"#/builds\">Builds</a></li>\n"
                      "<li><a href=\"#/nights\">Nights</a></li>\n</ul></nav>\n"
                      "<main id=\"main\" tabindex=\"-1\">\n"
                      "<noscript><p>These pages need JavaScript. Without it, bench report makes a "
                      "page of the same store.</p></noscript>\n</main>\n"
                      "<p id=\"status\" class=\"soft\" role=\"status\"></p>\n"
                      "<footer><p class=\"soft\">Made by bench report --site from the store's records "
                      "alone.</p></footer>\n</body>\n</html>\n");
}

/* Digits that change with the lists, the script or the style. */
static site_key state_of(const bn_text *lists, const bn_text *script, const bn_text *style)
{
    bn_text all = {0};
    site_key key = {""};
    bn_text_printf(&all, "%s%s", lists->data ? lists->data : "", script->data ? script->data : "");
    bn_text_puts(&all, style->data ? style->data : "");
    if (!all.failed)
        key = site_key_of(all.data);
    bn_text_free(&all);
    return key;
}

bn_code site_front_write(site *s, bn_status *st)
{
    bn_text lists = {0}, script = {0}, style = {0}, page = {0};
    put_site(s, &lists);
    put_lines(site_page_js, &script);
    put_lines(site_compare_js, &script);
    put_lines(site_timeline_js, &script);
    put_lines(site_views_js, &script);
    bn_text_puts(&style, plot_report_colours);
    bn_text_puts(&style, plot_report_style);
    put_lines(site_page_css, &style);
    put_page(s, state_of(&lists, &script, &style).text, &page);
    bn_code code = site_folder_file(&s->folder, "site.css", &style, st);
    if (code == BN_OK)
        code = site_folder_file(&s->folder, "page.js", &script, st);
    if (code == BN_OK)
        code = site_folder_data(&s->folder, "site", &lists, st);
    if (code == BN_OK)
        code = site_folder_file(&s->folder, "index.html", &page, st);
    bn_text_free(&lists);
    bn_text_free(&script);
    bn_text_free(&style);
    bn_text_free(&page);
    return code;
}
