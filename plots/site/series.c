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

/* Sets NAME of OBJECT to the numbers at OFFSET of all nights, unless none is known. */
static void set_numbers(json_t *object, const char *name, const res_timeline *t, size_t offset)
{
    bool any = false;
    json_t *list = json_array();
    for (size_t i = 0; i < t->count; i++) {
        const double value = *(const double *)(const void *)((const char *)&t->nights[i] + offset);
        any = any || isfinite(value);
        json_array_append_new(list, res_json_real(value));
    }
    if (any)
        json_object_set(object, name, list);
    json_decref(list);
}

static json_t *metric_json(const res_timeline *t, res_metric metric)
{
    res_timeline one = *t;
    const res_history view = {.metric = metric, .series = &one, .count = 1};
    bn_text table = {0};
    json_t *stretches = json_array(), *said = json_array();
    res_table_history(&view, RES_TABLE_HTML, &table);
    for (size_t i = 0; i < t->stretch_count; i++)
        json_array_append_new(stretches, json_pack("[IIo]", (json_int_t)t->stretches[i].first,
                                                   (json_int_t)t->stretches[i].end,
                                                   res_json_real(t->stretches[i].median)));
    json_t *object = json_pack("{so so}", "words", site_taken(&table), "stretches", stretches);
    set_numbers(object, "value", t, offsetof(res_night, value));
    set_numbers(object, "low", t, offsetof(res_night, low));
    set_numbers(object, "high", t, offsetof(res_night, high));
    /* [night, words] in place of the value: an overhead indistinguishable from zero. */
    for (size_t i = 0; i < t->count; i++) {
        const res_difference_shown shows = res_night_shows(&t->nights[i], metric);
        if (shows != RES_DIFFERENCE_SIGNIFICANT && shows != RES_DIFFERENCE_UNKNOWN)
            json_array_append_new(
                said, json_pack("[Io]", (json_int_t)i,
                                site_text(res_night_words(&t->nights[i], metric).text)));
    }
    if (json_array_size(said) > 0)
        json_object_set(object, "said", said);
    json_decref(said);
    return object;
}

/* Sets what all metrics share: the dates of the nights; [night, key] where a build begins; [night,
 * records, class of the last one if all failed]; [night, remark on its device time]. */
static void set_nights(const site *s, const res_timeline *t, json_t *series)
{
    size_t before = SITE_NONE;
    json_t *times = json_array(), *builds = json_array(), *failed = json_array(),
           *remarks = json_array();
    for (size_t i = 0; i < t->count; i++) {
        const res_night *night = &t->nights[i];
        const json_int_t at = (json_int_t)i;
        const size_t build = site_build_of(s, t->experiment->runtime, night->origin, t->simulated);
        json_array_append_new(times, site_seconds(night->time_s));
        if (i == 0 || build != before)
            json_array_append_new(
                builds, json_pack("[Is]", at, build == SITE_NONE ? "" : s->builds[build].key.text));
        before = build;
        if (night->failed > 0)
            json_array_append_new(
                failed, json_pack("[IIs]", at, (json_int_t)night->failed,
                                  night->status == BN_OK ? "" : bn_code_name(night->status)));
        if (night->remark != RES_DEVICE_PLAIN)
            json_array_append_new(remarks, json_pack("[Ii]", at, (int)night->remark));
    }
    json_object_set_new(series, "time", times);
    json_object_set_new(series, "builds", builds);
    json_object_set_new(series, "failed", failed);
    json_object_set_new(series, "remarks", remarks);
}

site_key site_series_key(const res_timeline *t)
{
    bn_text text = {0};
    const res_experiment *e = t->experiment;
    bn_text_printf(&text, "%s\n%s\n%s\n%d", site_cell_of(e).text, bn_base_name(e->runtime),
                   t->any_settings ? "" : e->settings, t->simulated);
    const site_key key = site_key_of(text.data);
    bn_text_free(&text);
    return key;
}

static json_t *series_json(const site *s, size_t which)
{
    const res_timeline *t = &s->history[RES_METRIC_WALL].series[which];
    const res_experiment *e = t->experiment;
    bn_text title = {0};
    json_t *metrics = json_object();
    res_timeline_title(t, &title);
    json_t *series = json_pack("{so ss so so so sb sb}", "title", site_text(title.data), "key",
                               site_series_key(t).text, "phase", site_text(e->phase), "mode",
                               site_text(e->mode), "runtime", site_text(bn_base_name(e->runtime)),
                               "simulated", (int)t->simulated, "emulated", e->trace_cost_ns > 0);
    bn_text_free(&title);
    set_nights(s, t, series);
    for (int m = 0; m < RES_METRIC_COUNT; m++) {
        const res_timeline *one = &s->history[m].series[which];
        if (one->last < one->count)
            json_object_set_new(metrics, res_metric_name((res_metric)m),
                                metric_json(one, (res_metric)m));
    }
    json_object_set_new(series, "metrics", metrics);
    return series;
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

/* The series of MODEL, which are counted, too. */
static json_t *model_json(const site *s, site_model *model)
{
    const res_history *h = &s->history[RES_METRIC_WALL];
    json_t *list = json_array();
    model->series = model->changes = model->comparable = 0;
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->series[i].experiment->model, model->name) != 0)
            continue;
        json_array_append_new(list, series_json(s, i));
        model->series++;
        model->changes += h->series[i].stretch_count - 1;
        model->comparable += is_comparable(&h->series[i]);
    }
    return json_pack("{so so}", "name", site_text(model->name), "series", list);
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
    char name[SITE_NAME];
    bn_code code = make_histories(s, st);
    if (code == BN_OK && !agree(s))
        code = bn_fail(st, BN_FORMAT, "the metrics of a site have different series");
    for (size_t i = 0; i < s->model_count && code == BN_OK; i++) {
        if (s->models[i].good + s->models[i].failed == 0)
            continue;
        snprintf(name, sizeof name, "model-%s", s->models[i].key.text);
        code = site_folder_data(&s->folder, name, model_json(s, &s->models[i]), st);
    }
    return code;
}
