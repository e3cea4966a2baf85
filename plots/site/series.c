/*
 * series.c - a data file a model: each of its series over nights in all metrics, with change
 * points, in the words of bench history.
 *
 * A series has the same nights whatever the metric, so their dates and builds stand once.
 */
#include "plots/site/site_priv.h"

#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bn_code make_histories(site *s, bn_status *st)
{
    res_history_options o = res_history_defaults();
    bn_code code = BN_OK;
    o.night_hours = s->options->night_hours;
    o.now_s = s->options->now_s;
    o.change = s->options->change;
    for (int m = 0; m < RES_METRIC_COUNT && code == BN_OK; m++) {
        o.metric = (res_metric)m;
        code = res_history_make(s->index, &o, &s->history[m], st);
    }
    return code;
}

/* ---- a series ---------------------------------------------------------------------- */

static void put_real_list(const char *name, const res_timeline *t, size_t offset, bn_text *out)
{
    bool first = true, any = false;
    for (size_t i = 0; i < t->count && !any; i++)
        any = isfinite(*(const double *)(const void *)((const char *)&t->nights[i] + offset));
    if (!any)
        return;
    bn_text_printf(out, ",\"%s\":[", name);
    for (size_t i = 0; i < t->count; i++) {
        site_put_comma(out, &first);
        site_put_number(out, *(const double *)(const void *)((const char *)&t->nights[i] + offset));
    }
    bn_text_puts(out, "]");
}

/* Puts the table of bench history, of this series alone. */
static void put_words(const res_timeline *t, res_metric metric, bn_text *out)
{
    res_timeline one = *t;
    const res_history view = {.metric = metric, .series = &one, .count = 1};
    bn_text html = {0};
    res_table_history(&view, RES_TABLE_HTML, &html);
    site_put_html(out, html.data);
    out->failed = out->failed || html.failed;
    bn_text_free(&html);
}

static void put_stretches(const res_timeline *t, bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\"stretches\":[");
    for (size_t i = 0; i < t->stretch_count; i++) {
        const res_stretch *stretch = &t->stretches[i];
        site_put_comma(out, &first);
        bn_text_printf(out, "[%zu,%zu,", stretch->first, stretch->end);
        site_put_number(out, stretch->median);
        bn_text_puts(out, "]");
    }
    bn_text_puts(out, "]");
}

/* [night, words] where these stand in place of the value: an overhead that is not told from zero.
 */
static void put_said(const res_timeline *t, res_metric metric, bn_text *out)
{
    bool first = true;
    for (size_t i = 0; i < t->count; i++) {
        const res_difference_shown shows = res_night_shows(&t->nights[i], metric);
        if (shows == RES_DIFFERENCE_TOLD || shows == RES_DIFFERENCE_UNKNOWN)
            continue;
        bn_text_puts(out, first ? ",\"said\":[" : ",");
        first = false;
        bn_text_printf(out, "[%zu,", i);
        site_put_text(out, res_night_words(&t->nights[i], metric).text);
        bn_text_puts(out, "]");
    }
    if (!first)
        bn_text_puts(out, "]");
}

static void put_metric(const res_timeline *t, res_metric metric, bn_text *out)
{
    bn_text_printf(out, "\"%s\":{\"words\":", res_metric_name(metric));
    put_words(t, metric, out);
    put_stretches(t, out);
    put_real_list("value", t, offsetof(res_night, value), out);
    put_real_list("low", t, offsetof(res_night, low), out);
    put_real_list("high", t, offsetof(res_night, high), out);
    put_said(t, metric, out);
    bn_text_puts(out, "}");
}

/* [night, remark] where something must be said of its device time. */
static void put_remarks(const res_timeline *t, bn_text *out)
{
    bool first = true;
    bn_text_puts(out, ",\"remarks\":[");
    for (size_t i = 0; i < t->count; i++) {
        if (t->nights[i].remark == RES_DEVICE_PLAIN)
            continue;
        site_put_comma(out, &first);
        bn_text_printf(out, "[%zu,%d]", i, (int)t->nights[i].remark);
    }
    bn_text_puts(out, "]");
}

/* Puts what all metrics share: dates, builds by their place in a list of this series, failures. */
static void put_nights(const site *s, const res_timeline *t, bn_text *out)
{
    bool first = true;
    size_t before = SITE_NONE;
    bn_text_puts(out, ",\"time\":[");
    for (size_t i = 0; i < t->count; i++) {
        site_put_comma(out, &first);
        bn_text_printf(out, "%.0f", t->nights[i].time_s);
    }
    /* A build is said where it begins: [night, key]. */
    bn_text_puts(out, "],\"builds\":[");
    first = true;
    for (size_t i = 0; i < t->count; i++) {
        const size_t build =
            site_build_of(s, t->experiment->runtime, t->nights[i].origin, t->simulated);
        if (i > 0 && build == before)
            continue;
        before = build;
        site_put_comma(out, &first);
        bn_text_printf(out, "[%zu,\"%s\"]", i, build == SITE_NONE ? "" : s->builds[build].key.text);
    }
    /* [night, records, class of the last where all failed]. */
    bn_text_puts(out, "],\"failed\":[");
    first = true;
    for (size_t i = 0; i < t->count; i++) {
        const res_night *night = &t->nights[i];
        if (night->failed == 0)
            continue;
        site_put_comma(out, &first);
        bn_text_printf(out, "[%zu,%zu,\"%s\"]", i, night->failed,
                       night->status == BN_OK ? "" : bn_code_name(night->status));
    }
    bn_text_puts(out, "]");
}

site_key site_series_key(const res_timeline *t)
{
    bn_text text = {0};
    site_key key = {""};
    const res_experiment *e = t->experiment;
    bn_text_printf(&text, "%s\n%s\n%s\n%d", site_cell_of(e).text, bn_base_name(e->runtime),
                   t->any_settings ? "" : e->settings, t->simulated);
    if (!text.failed)
        key = site_key_of(text.data);
    bn_text_free(&text);
    return key;
}

static bool has_values(const res_timeline *t)
{
    return t->last < t->count;
}

static void put_series(const site *s, size_t which, bn_text *out)
{
    const res_timeline *t = &s->history[RES_METRIC_WALL].series[which];
    const res_experiment *e = t->experiment;
    bn_text title = {0};
    bool first = true;
    res_timeline_title(t, &title);
    bn_text_puts(out, "{\"title\":");
    site_put_text(out, title.data ? title.data : "");
    out->failed = out->failed || title.failed;
    bn_text_printf(out, ",\"key\":\"%s\",\"phase\":", site_series_key(t).text);
    site_put_text(out, e->phase);
    bn_text_puts(out, ",\"mode\":");
    site_put_text(out, e->mode);
    bn_text_puts(out, ",\"runtime\":");
    site_put_text(out, bn_base_name(e->runtime));
    bn_text_printf(out, ",\"simulated\":%s,\"emulated\":%s", t->simulated ? "true" : "false",
                   e->trace_cost_ns > 0 ? "true" : "false");
    put_nights(s, t, out);
    put_remarks(t, out);
    bn_text_puts(out, ",\"metrics\":{");
    for (int m = 0; m < RES_METRIC_COUNT; m++) {
        if (!has_values(&s->history[m].series[which]))
            continue;
        if (!first)
            bn_text_puts(out, ",\n");
        first = false;
        put_metric(&s->history[m].series[which], (res_metric)m, out);
    }
    bn_text_puts(out, "}}");
    bn_text_free(&title);
}

/* ---- models ------------------------------------------------------------------------ */

/* Whether T has so many nights with a value that it could show a change. */
static bool is_comparable(const res_timeline *t)
{
    size_t known = 0;
    for (size_t i = 0; i < t->count; i++)
        known += isfinite(t->nights[i].value) ? 1 : 0;
    return known >= 2 * RES_LEAST_NIGHTS;
}

/* Puts the series of MODEL, and counts them. */
static void put_model(const site *s, site_model *model, bn_text *out)
{
    const res_history *h = &s->history[RES_METRIC_WALL];
    bn_text_puts(out, "{\"name\":");
    site_put_text(out, model->name);
    bn_text_puts(out, ",\"series\":[");
    model->series = model->changes = model->comparable = 0;
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->series[i].experiment->model, model->name) != 0)
            continue;
        bn_text_puts(out, model->series ? ",\n" : "\n");
        put_series(s, i, out);
        model->series++;
        model->changes += h->series[i].stretch_count - 1;
        model->comparable += is_comparable(&h->series[i]);
    }
    bn_text_puts(out, "]}");
}

/* All metrics have the same series: that a record has no device time takes it out of none. */
static bool agree(const site *s)
{
    for (int m = 1; m < RES_METRIC_COUNT; m++)
        if (s->history[m].count != s->history[0].count)
            return false;
    return true;
}

bn_code site_series_write(site *s, bn_status *st)
{
    bn_text text = {0};
    char name[SITE_NAME];
    bn_code code = make_histories(s, st);
    if (code == BN_OK && !agree(s))
        code = bn_fail(st, BN_FORMAT, "the metrics of a site have different series");
    for (size_t i = 0; i < s->model_count && code == BN_OK; i++) {
        if (s->models[i].good + s->models[i].failed == 0)
            continue;
        snprintf(name, sizeof name, "model-%s", s->models[i].key.text);
        site_begin(&text, name);
        put_model(s, &s->models[i], &text);
        site_end(&text);
        code = site_folder_data(&s->folder, name, &text, st);
    }
    bn_text_free(&text);
    return code;
}
