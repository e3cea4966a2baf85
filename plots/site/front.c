/*
 * front.c - the file that names all others, data/site.js, with lists of models, builds, nights,
 * changes and records with details; and the page itself, index.html, with its style and its script.
 */
#include "plots/site/site_priv.h"

#include "results/tables/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lists ------------------------------------------------------------------------- */

static json_t *models_json(const site *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->model_count; i++) {
        const site_model *m = &s->models[i];
        if (m->good + m->failed > 0)
            json_array_append_new(list,
                                  json_pack("[soIIoIII]", m->key.text, site_text(m->name),
                                            (json_int_t)m->good, (json_int_t)m->failed,
                                            site_seconds(m->last_s), (json_int_t)m->series,
                                            (json_int_t)m->changes, (json_int_t)m->comparable));
    }
    return list;
}

static int latest_first(const void *a, const void *b)
{
    const site_build *l = *(const site_build *const *)a, *r = *(const site_build *const *)b;
    if (l->last_s < r->last_s || l->last_s > r->last_s)
        return l->last_s > r->last_s ? -1 : 1;
    return strcmp(l->key.text, r->key.text);
}

static json_t *builds_json(const site *s)
{
    const site_build **sorted = bn_zalloc(s->build_count + 1, sizeof(const site_build *));
    json_t *list = json_array();
    for (size_t i = 0; i < s->build_count; i++)
        sorted[i] = &s->builds[i];
    if (s->build_count > 1)
        qsort(sorted, s->build_count, sizeof *sorted, latest_first);
    for (size_t i = 0; i < s->build_count; i++) {
        const site_build *b = sorted[i];
        json_array_append_new(list,
                              json_pack("[soooobooII]", b->key.text, site_text(b->runtime),
                                        site_text(b->origin->label), site_text(b->origin->sha256),
                                        site_text(b->origin->version), (int)b->simulated,
                                        site_seconds(b->first_s), site_seconds(b->last_s),
                                        (json_int_t)b->good, (json_int_t)b->failed));
    }
    free(sorted);
    return list;
}

static json_t *nights_json(const site *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->night_count; i++) {
        const site_night *n = &s->nights[i];
        json_array_append_new(list, json_pack("[sooIIb]", n->key, site_seconds(n->first_s),
                                              site_seconds(n->last_s), (json_int_t)n->good,
                                              (json_int_t)n->failed, (int)n->judged));
    }
    return list;
}

static json_t *details_json(const site *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->detail_count; i++)
        json_array_append_new(list, json_string(s->details[i].text));
    return list;
}

static json_t *damaged_json(const res_collection *lost)
{
    json_t *list = json_array();
    res_reported reported = {{0}};
    for (size_t i = 0; i < lost->damaged_count; i++)
        if (res_damaged_reported(&reported, &lost->damaged[i]))
            json_array_append_new(list,
                                  json_pack("[os]", site_text(bn_base_name(lost->damaged[i].path)),
                                            bn_code_name(lost->damaged[i].status.code)));
    return list;
}

/* ---- changes -------------------- */

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

/* All change points, the latest first; to be freed. */
static change *list_changes(const site *s, size_t *count)
{
    size_t room = 1;
    *count = 0;
    for (int m = 0; m < RES_METRIC_COUNT; m++)
        for (size_t i = 0; i < s->history[m].count; i++)
            room += s->history[m].series[i].stretch_count;
    change *list = bn_zalloc(room, sizeof *list);
    for (int m = 0; m < RES_METRIC_COUNT; m++)
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

static json_t *title_json(const res_timeline *t)
{
    bn_text title = {0};
    res_timeline_title(t, &title);
    json_t *text = site_text(title.data);
    bn_text_free(&title);
    return text;
}

static const char *build_key(const site *s, const res_timeline *t, size_t night)
{
    const size_t build =
        site_build_of(s, t->experiment->runtime, t->nights[night].origin, t->simulated);
    return build == SITE_NONE ? "" : s->builds[build].key.text;
}

static json_t *changes_json(const site *s)
{
    size_t count;
    change *changes = list_changes(s, &count);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const change *c = &changes[i];
        const res_timeline *t = c->series;
        bn_text cause = {0};
        res_stretch_cause(c->stretch, &cause);
        json_array_append_new(
            list,
            json_pack("[sssosoooooss]", res_metric_name(c->metric),
                      site_key_of(t->experiment->model).text, site_series_key(t).text,
                      title_json(t), site_cell_of(t->experiment).text, site_seconds(c->time_s),
                      res_json_real(c->stretch->ratio.estimate),
                      res_json_real(c->stretch->ratio.low), res_json_real(c->stretch->ratio.high),
                      site_text(cause.data ? cause.data : ""), build_key(s, t, c->stretch->before),
                      build_key(s, t, c->stretch->first)));
        bn_text_free(&cause);
    }
    free(changes);
    return list;
}

/* The series whose latest nights are out of line, and are no change yet. */
static json_t *watched_json(const site *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->history[RES_METRIC_WALL].count; i++) {
        const res_timeline *t = &s->history[RES_METRIC_WALL].series[i];
        if (t->changes.latest_run > 0 && t->last < t->count)
            json_array_append_new(list,
                                  json_pack("[ssoooI]", site_key_of(t->experiment->model).text,
                                            site_series_key(t).text, title_json(t),
                                            site_seconds(t->nights[t->last].time_s),
                                            res_json_real(t->changes.latest.estimate),
                                            (json_int_t)t->changes.latest_run));
    }
    return list;
}

/* Remarks on device times, by the numbers that other files have. */
static json_t *remarks_json(void)
{
    json_t *list = json_array();
    for (int i = 0; i < RES_DEVICE_REMARK_COUNT; i++)
        json_array_append_new(list, site_text(res_device_remark_words((res_device_remark)i)));
    return list;
}

static json_t *site_json(const site *s)
{
    size_t failed = 0, series = 0, comparable = 0;
    bn_text misdates = {0};
    res_put_misdates(&s->misdates, &misdates);
    for (size_t i = 0; i < s->night_count; i++)
        failed += s->nights[i].failed;
    for (size_t i = 0; i < s->model_count; i++) {
        series += s->models[i].series;
        comparable += s->models[i].comparable;
    }
    const res_collection *lost = &s->made->lost;
    json_t *object = json_pack(
        "{si so sI sI sI so so si sb sI sI so so so so so so so sI so}", "version", SITE_VERSION,
        "title", site_text(s->options->title), "records", (json_int_t)s->count, "failed",
        (json_int_t)failed, "timeless", (json_int_t)s->timeless, "misdates",
        site_text(misdates.data ? misdates.data : ""), "night_hours",
        res_json_real(s->options->night_hours), "least_nights", RES_LEAST_NIGHTS, "no_pictures",
        (int)s->made->no_pictures, "series", (json_int_t)series, "comparable",
        (json_int_t)comparable, "remarks", remarks_json(), "models", models_json(s), "builds",
        builds_json(s), "nights", nights_json(s), "changes", changes_json(s), "watched",
        watched_json(s), "details", details_json(s), "damaged_count",
        (json_int_t)lost->damaged_count, "damaged", damaged_json(lost));
    bn_text_free(&misdates);
    return object;
}

/* ---- the page -------------------- */

static void put_lines(const char *const *lines, bn_text *out)
{
    for (; *lines; lines++)
        bn_text_puts(out, *lines);
}

/* STATE follows the names of all files that the page loads, so that a browser with older ones in
 * its cache loads them anew. */
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
                      "<li><a href=\"#/\">Latest</a></li>\n"
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
    bn_text_printf(&all, "%s%s%s", lists->data, script->data, style->data);
    const site_key key = site_key_of(all.data);
    bn_text_free(&all);
    return key;
}

bn_code site_front_write(site *s, bn_status *st)
{
    bn_text lists = site_data("site", site_json(s)), script = {0}, style = {0}, page = {0};
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
        code = site_folder_file(&s->folder, "data/site.js", &lists, st);
    if (code == BN_OK)
        code = site_folder_file(&s->folder, "index.html", &page, st);
    bn_text_free(&lists);
    bn_text_free(&script);
    bn_text_free(&style);
    bn_text_free(&page);
    return code;
}
