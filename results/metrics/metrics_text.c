/*
 * metrics_text.c - reports as text, line by line as torch/csrc/lazy/core/metrics.cpp lays them out,
 * and its figures written and read. Lines that begin with # are ours; readers of that layout skip
 * them.
 */
#include "results/metrics/metrics_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures written --------------------------------------------------------------------- */

/* 104 days, the longest time that records have. */
#define MOST_NS 9007199254740992.0

static res_metrics_figure duration(double ns)
{
    static const struct {
        const char *format;
        unsigned long long ns;
    } units[] = {{"%02llud", 86400000000000},
                 {"%02lluh", 3600000000000},
                 {"%02llum", 60000000000},
                 {"%02llus", 1000000000},
                 {"%03llums", 1000000}};
    unsigned long long left = (unsigned long long)llround(ns);
    res_metrics_figure out = {""};
    size_t used = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (used > 0 || left >= units[i].ns)
            used += (size_t)snprintf(out.text + used, sizeof out.text - used, units[i].format,
                                     left / units[i].ns);
        left %= units[i].ns;
    }
    snprintf(out.text + used, sizeof out.text - used, "%03llu.%03lluus", left / 1000, left % 1000);
    return out;
}

static res_metrics_figure size_text(double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    const size_t last = sizeof units / sizeof *units - 1;
    res_metrics_figure out;
    size_t unit = 0;
    for (; unit < last && bytes >= 1024; unit++)
        bytes /= 1024;
    snprintf(out.text, sizeof out.text, "%.2f%s", bytes, units[unit]);
    return out;
}

res_metrics_figure res_metrics_figure_of(const char *unit, double value)
{
    res_metrics_figure out;
    if (strcmp(unit, RES_METRICS_NS) == 0 && value >= 0 && value < MOST_NS)
        return duration(value);
    if (strcmp(unit, RES_METRICS_BYTES) == 0 && value >= 0 && value < 1e24)
        return size_text(value);
    /* Reports of other programs may have numbers of any length. */
    snprintf(out.text, sizeof out.text, fabs(value) < 1e15 ? "%.2f" : "%.6g", value);
    return out;
}

/* ---- figures read ------------------------------------------------------------------------- */

/* Longer names first: "m" begins "ms". */
static const struct {
    const char *name, *unit;
    double scale;
} read_units[] = {
    {"ms", RES_METRICS_NS, 1e6},
    {"us", RES_METRICS_NS, 1e3},
    {"ns", RES_METRICS_NS, 1},
    {"d", RES_METRICS_NS, 86400e9},
    {"h", RES_METRICS_NS, 3600e9},
    {"m", RES_METRICS_NS, 60e9},
    {"s", RES_METRICS_NS, 1e9},
    {"PB", RES_METRICS_BYTES, 1125899906842624.0},
    {"TB", RES_METRICS_BYTES, 1099511627776.0},
    {"GB", RES_METRICS_BYTES, 1073741824.0},
    {"MB", RES_METRICS_BYTES, 1048576.0},
    {"KB", RES_METRICS_BYTES, 1024.0},
    {"B", RES_METRICS_BYTES, 1},
};
#define READ_UNITS (sizeof read_units / sizeof *read_units)

static size_t unit_at(const char *at)
{
    size_t i = 0;
    while (i < READ_UNITS && strncmp(at, read_units[i].name, strlen(read_units[i].name)) != 0)
        i++;
    return i;
}

/* A number and its unit: "45ms". */
typedef struct figure_part {
    double number, scale;
} figure_part;
#define MOST_PARTS 8

/* The sum of COUNT PARTS. ROUNDED: where more than half of a unit follows, it was rounded up. */
static double sum_of(const figure_part *parts, size_t count, bool rounded)
{
    double sum = 0;
    while (count-- > 0) {
        const figure_part *p = &parts[count];
        const bool up = rounded && p->number >= 1 && sum > p->scale / 2;
        sum += (up ? p->number - 1 : p->number) * p->scale;
    }
    return sum;
}

bool res_metrics_figure_read(const char **at, bool rounded, double *value, const char **unit)
{
    const char *next = *at;
    figure_part parts[MOST_PARTS];
    size_t count = 0;
    *value = 0;
    *unit = "";
    while (isdigit((unsigned char)*next)) {
        char *end;
        const double number = strtod(next, &end);
        const size_t i = unit_at(end);
        const bool first = next == *at;
        next = end;
        if (i == READ_UNITS) {
            /* A number alone; behind other units it is none. */
            if (!first)
                return false;
            *value = number;
            break;
        }
        /* From the largest unit on: one that is cut off, "02s260m", would be more than it was. */
        if (count == MOST_PARTS ||
            (!first && (strcmp(*unit, read_units[i].unit) != 0 ||
                        read_units[i].scale >= parts[count - 1].scale)))
            return false;
        *unit = read_units[i].unit;
        parts[count++] = (figure_part){number, read_units[i].scale};
        next += strlen(read_units[i].name);
    }
    if (count > 0)
        *value = sum_of(parts, count, rounded);
    /* Times are written to the nanosecond. */
    if (strcmp(*unit, RES_METRICS_NS) == 0)
        *value = round(*value);
    if (next == *at || !isfinite(*value))
        return false;
    *at = next;
    return true;
}

/* ---- reports ------------------------------------------------------------------------------- */

/* A line of HEAD and NAME, which may be of others. */
static void put_line(const char *head, const char *name, bn_text *out)
{
    bn_text_puts(out, head);
    bn_text_plain(out, name);
    bn_text_putc(out, '\n');
}

static void put_value(const char *head, const char *unit, const json_t *value, const char *tail,
                      bn_text *out)
{
    if (json_is_number(value))
        bn_text_printf(out, "  %s: %s%s\n", head,
                       res_metrics_figure_of(unit, json_number_value(value)).text, tail);
}

static void put_percentiles(const char *unit, const json_t *percentiles, bn_text *out)
{
    const char *name, *head = "  Percentiles: ";
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)percentiles, name, value)
    {
        if (!json_is_number(value))
            continue;
        bn_text_puts(out, head);
        bn_text_plain(out, name);
        bn_text_printf(out, "%%=%s", res_metrics_figure_of(unit, json_number_value(value)).text);
        head = "; ";
    }
    if (head[0] == ';')
        bn_text_putc(out, '\n');
}

static void put_metric(const char *name, const json_t *metric, bn_text *out)
{
    const char *unit = json_string_value(json_object_get(metric, "unit"));
    const json_t *samples = json_object_get(metric, "samples");
    const json_t *rate = json_object_get(metric, "samples_per_second");
    unit = unit ? unit : "";
    put_line("Metric: ", name, out);
    if (json_is_integer(samples))
        bn_text_printf(out, "  TotalSamples: %lld\n", (long long)json_integer_value(samples));
    put_value("Accumulator", unit, json_object_get(metric, "sum"), "", out);
    put_value("ValueRate", unit, json_object_get(metric, "sum_per_second"), " / second", out);
    put_value("Mean", unit, json_object_get(metric, "mean"), "", out);
    put_value("StdDev", unit, json_object_get(metric, "deviation"), "", out);
    if (json_is_number(rate))
        bn_text_printf(out, "  Rate: %.6g / second\n", json_number_value(rate));
    put_percentiles(unit, json_object_get(metric, "percentiles"), out);
}

static void put_head(const json_t *report, bn_text *out)
{
    const char *title = json_string_value(json_object_get(report, "title"));
    const json_t *processes = json_object_get(report, "processes");
    /* By this line readers know that the figures are ours. */
    put_line("# report: ", title ? title : "", out);
    if (json_is_integer(processes))
        bn_text_printf(
            out, "# processes: %lld; measured steps: %lld%s\n",
            (long long)json_integer_value(processes),
            (long long)json_integer_value(json_object_get(report, "steps")),
            json_is_true(json_object_get(report, "simulated")) ? "; the device is simulated" : "");
}

static void put_report(const json_t *report, bn_text *out)
{
    const char *name;
    json_t *item;
    put_head(report, out);
    json_object_foreach(json_object_get(report, "metrics"), name, item)
    {
        put_metric(name, item, out);
    }
    json_object_foreach(json_object_get(report, "counters"), name, item)
    {
        const json_t *value = json_object_get(item, "value");
        if (!json_is_integer(value))
            continue;
        put_line("Counter: ", name, out);
        bn_text_printf(out, "  Value: %lld\n", (long long)json_integer_value(value));
    }
}

void res_metrics_left_put(const json_t *reading, const char *head, bn_text *out)
{
    static const struct {
        const char *key, *one, *many;
    } rows[] = {
        {"skipped", "line is of no report", "lines are of no report"},
        {"unknown", "line among figures is not known", "lines among figures are not known"},
        {"incomplete", "metric or counter has only some of its figures",
         "metrics and counters have only some of their figures"},
    };
    const json_t *unended = json_object_get(reading, "unended_line");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *left = json_object_get(reading, rows[i].key);
        const long long count = (long long)json_integer_value(json_object_get(left, "count"));
        const long long first = (long long)json_integer_value(json_object_get(left, "first_line"));
        if (count > 0)
            bn_text_printf(out, "%s%lld %s (%sline %lld)\n", head, count,
                           count == 1 ? rows[i].one : rows[i].many,
                           count == 1 ? "" : "the first: ", first);
    }
    if (json_is_integer(unended))
        bn_text_printf(out, "%sthe last line, %lld, has no end: its figure may be cut off\n", head,
                       (long long)json_integer_value(unended));
}

static void put_json(const json_t *metrics, bn_text *out)
{
    char *text = json_dumps(metrics, JSON_INDENT(1) | RES_JSON_SHOWN);
    bn_text_puts(out, text);
    bn_text_putc(out, '\n');
    free(text);
}

void res_metrics_put(const json_t *metrics, bool as_json, bn_text *out)
{
    const json_t *reports = json_object_get(metrics, "reports");
    if (as_json) {
        put_json(metrics, out);
        return;
    }
    for (size_t i = 0; i < json_array_size(reports); i++) {
        if (i > 0)
            bn_text_putc(out, '\n');
        put_report(json_array_get(reports, i), out);
    }
    if (json_array_size(reports) == 0)
        bn_text_puts(out, "# no report: no process has succeeded\n");
    res_metrics_left_put(json_object_get(metrics, "reading"), "# left out: ", out);
}
