/*
 * metrics_read.c - reports read back: ours as text or JSON, and PyTorch/XLA's own, of which a text
 * may have several.
 */
#include "results/metrics/metrics_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- borders of reports ------------------------------------------------------------------- */

static const char *kind_of(const res_metrics_entry *e)
{
    return e->of_counter ? "counters" : "metrics";
}

/* Whether B may stand right behind A in a report: its metrics are sorted, as are the counters that
 * follow them. */
static bool is_next(const res_metrics_entry *a, const res_metrics_entry *b)
{
    return a->of_counter == b->of_counter ? strcmp(a->name, b->name) < 0 : b->of_counter;
}

/* A report has each metric and each counter once. So before LAST, where the entry stands again that
 * stood at FIRST, another report has begun: where the order of the entries before LAST breaks. */
static size_t border_between(const res_metrics_entry *entries, size_t first, size_t last)
{
    while (last > first + 1 && is_next(&entries[last - 1], &entries[last]))
        last--;
    return last;
}

/* The places of the entries from START on, before END, by their names (new reference). */
static json_t *places_of(const res_metrics_entry *entries, size_t start, size_t end)
{
    json_t *seen = json_pack("{s{} s{}}", "metrics", "counters");
    for (size_t i = start; i < end; i++)
        json_object_set_new(json_object_get(seen, kind_of(&entries[i])), entries[i].name,
                            json_integer((json_int_t)i));
    return seen;
}

/* Marks the entries that begin a report. */
static void find_borders(res_metrics_entry *entries, size_t count)
{
    json_t *seen = NULL;
    for (size_t i = 0; i < count; i++) {
        const json_t *before =
            json_object_get(json_object_get(seen, kind_of(&entries[i])), entries[i].name);
        size_t border = i;
        if (before && !entries[i].titled)
            border = border_between(entries, (size_t)json_integer_value(before), i);
        if (before || entries[i].titled || i == 0) {
            entries[border].titled = true;
            json_decref(seen);
            seen = places_of(entries, border, i);
        }
        json_object_set_new(json_object_get(seen, kind_of(&entries[i])), entries[i].name,
                            json_integer((json_int_t)i));
    }
    json_decref(seen);
}

static json_t *reports_of(const res_metrics_lines *lines)
{
    json_t *reports = json_array(), *report = NULL;
    for (size_t i = 0; i < lines->count; i++) {
        const res_metrics_entry *e = &lines->entries[i];
        if (e->titled) {
            report = json_pack("{ss s{} s{} sI}", "title", e->title, "metrics", "counters", "line",
                               (json_int_t)e->line);
            json_array_append_new(reports, report);
        }
        json_object_set(json_object_get(report, kind_of(e)), e->name, e->object);
    }
    return reports;
}

/* Reports are found by their titles, so the second of one title gets a number. */
static void make_titles_unique(json_t *reports)
{
    json_t *seen = json_object(), *report;
    size_t i;
    json_array_foreach(reports, i, report)
    {
        const char *title = json_string_value(json_object_get(report, "title"));
        bn_text own = {0};
        title = title ? title : "";
        bn_text_puts(&own, title);
        for (size_t k = 2; json_object_get(seen, own.data); k++) {
            bn_text_clear(&own);
            bn_text_printf(&own, "%s%sreport %zu", title, title[0] ? ", " : "", k);
        }
        json_object_set_new(seen, own.data, json_true());
        json_object_set_new(report, "title", json_string(own.data));
        bn_text_free(&own);
    }
    json_decref(seen);
}

/* ---- texts --------------------------------------------------------------------------------- */

static json_t *left_json(const res_metrics_left *left)
{
    return json_pack("{sI so}", "count", (json_int_t)left->count, "first_line",
                     left->count > 0 ? json_integer((json_int_t)left->first) : json_null());
}

static json_t *reading_json(const res_metrics_lines *lines)
{
    return json_pack("{so so so so}", "skipped", left_json(&lines->skipped), "unknown",
                     left_json(&lines->unknown), "incomplete", left_json(&lines->incomplete),
                     "unended_line",
                     lines->unended ? json_integer((json_int_t)lines->unended) : json_null());
}

static bn_code no_entries(const res_metrics_lines *lines, bn_status *st)
{
    if (lines->behind > 0)
        return bn_fail(
            st, BN_FORMAT,
            "line %zu has a metric or a counter behind other words: remove the prefix of "
            "each line",
            lines->behind);
    return bn_fail(st, BN_FORMAT,
                   "this is no metrics report: no line begins with \"Metric: NAME\" or "
                   "\"Counter: NAME\" and has figures below it");
}

static bn_code read_text(const char *text, size_t length, json_t **metrics, bn_status *st)
{
    res_metrics_lines lines;
    bn_code code = res_metrics_lines_read(text, length, &lines, st);
    if (code == BN_OK && lines.count == 0)
        code = no_entries(&lines, st);
    if (code != BN_OK) {
        res_metrics_lines_free(&lines);
        return code;
    }
    find_borders(lines.entries, lines.count);
    json_t *reports = reports_of(&lines);
    make_titles_unique(reports);
    *metrics = json_pack("{ss so so}", "kind", "metrics", "reports", reports, "reading",
                         reading_json(&lines));
    res_metrics_lines_free(&lines);
    return BN_OK;
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static bool is_figure(const json_t *value)
{
    return !value || json_is_null(value) || json_is_number(value);
}

/* Whether each member of ITEM is among the COUNT KEYS: unknown members could not be compared. */
static bool has_only(json_t *item, const char *const *keys, size_t count)
{
    const char *name;
    json_t *value;
    bool good = json_is_object(item);
    json_object_foreach(item, name, value)
    {
        size_t i = 0;
        while (i < count && strcmp(keys[i], name) != 0)
            i++;
        good = good && i < count;
    }
    return good;
}

static bool is_counter(json_t *item)
{
    static const char *const keys[] = {"value", "measured_steps"};
    return has_only(item, keys, sizeof keys / sizeof *keys) &&
           is_figure(json_object_get(item, "value"));
}

static bool is_metric(json_t *item)
{
    /* The first two are no figures. */
    static const char *const keys[] = {"unit", "percentiles",    "samples",
                                       "sum",  "sum_per_second", "samples_per_second",
                                       "mean", "deviation"};
    const size_t count = sizeof keys / sizeof *keys;
    json_t *unit = json_object_get(item, "unit"), *value;
    json_t *percentiles = json_object_get(item, "percentiles");
    const char *name;
    bool good = has_only(item, keys, count) && (!unit || json_is_string(unit)) &&
                (!percentiles || json_is_object(percentiles));
    for (size_t i = 2; i < count; i++)
        good = good && is_figure(json_object_get(item, keys[i]));
    json_object_foreach(percentiles, name, value)
    {
        good = good && is_figure(value);
    }
    return good;
}

/* Whether the members of REPORT are as docs/metrics.md has them; all of them may be missing. */
static bn_code check_report(json_t *report, size_t index, bn_status *st)
{
    static const struct {
        const char *key;
        bool (*is)(json_t *item);
    } kinds[] = {{"metrics", is_metric}, {"counters", is_counter}};
    json_t *title = json_object_get(report, "title");
    if (!json_is_object(report) || (title && !json_is_string(title)))
        return bn_fail(st, BN_FORMAT, "reports[%zu] is no report with a title", index);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_t *all = json_object_get(report, kinds[i].key), *item;
        const char *name;
        if (all && !json_is_object(all))
            return bn_fail(st, BN_FORMAT, "reports[%zu].%s is no object", index, kinds[i].key);
        json_object_foreach(all, name, item)
        {
            char plain[100];
            bn_plain(name, plain, sizeof plain);
            if (!kinds[i].is(item))
                return bn_fail(
                    st, BN_FORMAT,
                    "reports[%zu].%s: \"%s\" lacks a figure, or has one that is no number", index,
                    kinds[i].key, plain);
        }
    }
    return BN_OK;
}

static bn_code read_json(const char *text, size_t length, json_t **metrics, bn_status *st)
{
    bn_code code = res_json_parse(text, length, metrics, st);
    const char *kind = json_string_value(json_object_get(*metrics, "kind"));
    json_t *reports = json_object_get(*metrics, "reports");
    if (code == BN_OK && (!kind || strcmp(kind, "metrics") != 0 || !json_is_array(reports)))
        code = bn_fail(st, BN_FORMAT, "this JSON is no metrics report of bench");
    for (size_t i = 0; i < json_array_size(reports) && code == BN_OK; i++)
        code = check_report(json_array_get(reports, i), i, st);
    if (code == BN_OK) {
        make_titles_unique(reports);
        return BN_OK;
    }
    json_decref(*metrics);
    *metrics = NULL;
    return code;
}

bn_code res_metrics_read(const char *text, size_t length, json_t **metrics, bn_status *st)
{
    static const char mark[] = "\xef\xbb\xbf"; /* which editors put before UTF-8 */
    size_t blank = 0;
    *metrics = NULL;
    if (length >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0) {
        text += sizeof mark - 1;
        length -= sizeof mark - 1;
    }
    while (blank < length && isspace((unsigned char)text[blank]))
        blank++;
    return blank < length && text[blank] == '{' ? read_json(text, length, metrics, st)
                                                : read_text(text, length, metrics, st);
}
