/*
 * metrics_read.c - reports read back: ours as text or JSON, and PyTorch/XLA's own. Lines that are
 * of no report are skipped, since programs print reports between others.
 */
#include "results/metrics/metrics_priv.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Longer lines are of no report, nor are longer names. */
#define MOST_LINE 4096
#define MOST_NAME 1024

/* Where the lines that follow belong; all borrowed, and NULL where nothing has begun. */
typedef struct reading {
    json_t *reports, *report;
    json_t *item;    /* the metric or counter */
    bool of_counter; /* ITEM is a counter */
    bool ours;       /* the report is */
    size_t items;
} reading;

/* What stands behind HEAD where LINE begins with it; else NULL. */
static const char *behind(const char *line, const char *head)
{
    const size_t length = strlen(head);
    return strncmp(line, head, length) == 0 ? line + length : NULL;
}

/* ---- lines ------------------------------------------------------------------------------- */

static void begin_report(reading *r, const char *title)
{
    char plain[MOST_NAME];
    bn_plain(title, plain, sizeof plain);
    r->report = json_pack("{ss s{} s{}}", "title", plain, "metrics", "counters");
    r->item = NULL;
    json_array_append_new(r->reports, r->report);
}

static void begin_item(reading *r, const char *name, bool of_counter)
{
    char plain[MOST_NAME];
    if (!r->report)
        begin_report(r, "");
    bn_plain(name, plain, sizeof plain);
    json_t *all = json_object_get(r->report, of_counter ? "counters" : "metrics");
    r->item = NULL;
    r->of_counter = of_counter;
    if (!plain[0])
        return;
    json_t *item = json_object();
    if (json_object_set_new(all, plain, item) == 0) {
        r->item = item;
        r->items++;
    }
}

/* Sets KEY of ITEM to the whole number at TEXT, if there is one. */
static void set_count(json_t *item, const char *key, const char *text)
{
    if (isdigit((unsigned char)*text))
        json_object_set_new(item, key, json_integer((json_int_t)strtoll(text, NULL, 10)));
}

/* Sets KEY of the item to the figure at TEXT, and UNIT_KEY, where it is not NULL, to its unit. */
static void set_value(const reading *r, const char *key, const char *unit_key, const char *text)
{
    const char *unit;
    double value;
    if (!res_metrics_figure_read(&text, !r->ours, &value, &unit))
        return;
    json_object_set_new(r->item, key, res_json_real(value));
    if (unit_key)
        json_object_set_new(r->item, unit_key, json_string(unit));
}

/* "1%=001.200us; 5%=..." */
static void set_percentiles(const reading *r, const char *text)
{
    json_t *object = json_object();
    const char *unit;
    double value;
    for (bool more = true; more;) {
        char name[16] = "";
        const size_t length = strspn(text, "0123456789.");
        if (length == 0 || length >= sizeof name || !behind(text + length, "%="))
            break;
        memcpy(name, text, length);
        text += length + 2;
        if (!res_metrics_figure_read(&text, !r->ours, &value, &unit))
            break;
        json_object_set_new(object, name, res_json_real(value));
        more = behind(text, "; ") != NULL;
        text += more ? 2 : 0;
    }
    json_object_set_new(r->item, "percentiles", object);
}

static void read_figure(const reading *r, const char *line)
{
    const char *rest;
    if (r->of_counter) {
        if ((rest = behind(line, "Value: ")))
            set_count(r->item, "value", rest);
        return;
    }
    if ((rest = behind(line, "TotalSamples: ")))
        set_count(r->item, "samples", rest);
    else if ((rest = behind(line, "Accumulator: ")))
        set_value(r, "sum", "unit", rest);
    else if ((rest = behind(line, "ValueRate: ")))
        set_value(r, "sum_per_second", NULL, rest);
    else if ((rest = behind(line, "Rate: ")))
        set_value(r, "samples_per_second", NULL, rest);
    else if ((rest = behind(line, "Percentiles: ")))
        set_percentiles(r, rest);
}

static void read_line(reading *r, const char *line)
{
    const char *rest;
    line += strspn(line, " \t");
    if ((rest = behind(line, "# report:"))) {
        begin_report(r, rest + strspn(rest, " "));
        r->ours = true;
    } else if ((rest = behind(line, "Metric: "))) {
        begin_item(r, rest, false);
    } else if ((rest = behind(line, "Counter: "))) {
        begin_item(r, rest, true);
    } else if (r->item) {
        read_figure(r, line);
    }
}

/* ---- whole texts ------------------------------------------------------------------------- */

static bn_code read_text(const char *text, size_t length, json_t *reports, bn_status *st)
{
    reading r = {.reports = reports};
    char line[MOST_LINE];
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        const size_t size = end ? (size_t)(end - text) - at : length - at;
        if (size < sizeof line) {
            memcpy(line, text + at, size);
            line[size] = '\0';
            line[strcspn(line, "\r")] = '\0';
            read_line(&r, line);
        }
        at += size + 1;
    }
    if (r.items > 0)
        return BN_OK;
    return bn_fail(st, BN_FORMAT,
                   "this is no metrics report: it has neither a line \"Metric: NAME\" nor a line "
                   "\"Counter: NAME\"");
}

static bn_code read_json(const char *text, size_t length, json_t **metrics, bn_status *st)
{
    bn_code code = res_json_parse(text, length, metrics, st);
    const char *kind = json_string_value(json_object_get(*metrics, "kind"));
    if (code == BN_OK && (!kind || strcmp(kind, "metrics") != 0 ||
                          !json_is_array(json_object_get(*metrics, "reports")))) {
        json_decref(*metrics);
        *metrics = NULL;
        code = bn_fail(st, BN_FORMAT, "this JSON is no metrics report of bench");
    }
    return code;
}

bn_code res_metrics_read(const char *text, size_t length, json_t **metrics, bn_status *st)
{
    size_t blank = 0;
    while (blank < length && isspace((unsigned char)text[blank]))
        blank++;
    *metrics = NULL;
    if (blank < length && text[blank] == '{')
        return read_json(text, length, metrics, st);
    json_t *reports = json_array();
    bn_code code = read_text(text, length, reports, st);
    if (code == BN_OK)
        *metrics = json_pack("{ss sO}", "kind", "metrics", "reports", reports);
    json_decref(reports);
    return code;
}
