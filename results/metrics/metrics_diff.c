/*
 * metrics_diff.c - two documents of reports: which figures differ, and by how much. It judges
 * nothing: two runs of one build differ, too.
 */
#include "results/metrics/metrics_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One pair of reports while it is compared. */
typedef struct pairing {
    json_t *figures;
    json_int_t same;
} pairing;

static const char *title_of(const json_t *report)
{
    const char *title = json_string_value(json_object_get(report, "title"));
    return title ? title : "";
}

static json_t *number_or_null(json_t *value)
{
    return json_is_number(value) ? json_incref(value) : json_null();
}

/* ---- figures ------------------------------------------------------------------------------ */

static void compare_figure(pairing *p, const char *name, const char *figure, const char *unit,
                           json_t *a, json_t *b)
{
    const bool both = json_is_number(a) && json_is_number(b);
    const bool whole = json_is_integer(a) && json_is_integer(b);
    const double x = json_number_value(a), y = json_number_value(b);
    json_int_t difference;
    if (!json_is_number(a) && !json_is_number(b))
        return;
    /* Large counters differ where their doubles do not. */
    if (whole ? json_integer_value(a) == json_integer_value(b) : both && !(x < y) && !(x > y)) {
        p->same++;
        return;
    }
    const bool exact =
        whole && !__builtin_sub_overflow(json_integer_value(b), json_integer_value(a), &difference);
    json_t *row = json_object();
    json_object_set_new(row, "name", res_json_text(name));
    json_object_set_new(row, "figure", json_string(figure));
    json_object_set_new(row, "unit", res_json_text(unit));
    json_object_set_new(row, "a", number_or_null(a));
    json_object_set_new(row, "b", number_or_null(b));
    json_object_set_new(row, "difference",
                        exact  ? json_integer(difference)
                        : both ? res_json_real(y - x)
                               : json_null());
    json_object_set_new(row, "ratio", both && fabs(x) > 0 ? res_json_real(y / x) : json_null());
    json_array_append_new(p->figures, row);
}

static const char *unit_of(const json_t *metric)
{
    const char *unit = json_string_value(json_object_get(metric, "unit"));
    return unit ? unit : "";
}

/* A and B are the metric NAME; one of them may be NULL. */
static void compare_metric(pairing *p, const char *name, const json_t *a, const json_t *b)
{
    const char *unit = unit_of(a ? a : b);
    /* Bytes are not compared with nanoseconds. Of a plain number the unit is not known. */
    if (a && b && unit[0] && unit_of(b)[0] && strcmp(unit, unit_of(b)) != 0) {
        compare_metric(p, name, a, NULL);
        compare_metric(p, name, NULL, b);
        return;
    }
    compare_figure(p, name, "samples", "", json_object_get(a, "samples"),
                   json_object_get(b, "samples"));
    compare_figure(p, name, "sum", unit, json_object_get(a, "sum"), json_object_get(b, "sum"));
    compare_figure(p, name, "50 %", unit, json_object_get(json_object_get(a, "percentiles"), "50"),
                   json_object_get(json_object_get(b, "percentiles"), "50"));
}

static void compare_counter(pairing *p, const char *name, const json_t *a, const json_t *b)
{
    compare_figure(p, name, "value", "", json_object_get(a, "value"), json_object_get(b, "value"));
}

/* Compares the members KEY of A and B: items of A, then those of B alone. */
static void compare_items(pairing *p, const char *key, const json_t *a, const json_t *b,
                          void (*compare)(pairing *, const char *, const json_t *, const json_t *))
{
    json_t *of_a = json_object_get(a, key), *of_b = json_object_get(b, key), *item;
    const char *name;
    json_object_foreach(of_a, name, item)
    {
        compare(p, name, item, json_object_get(of_b, name));
    }
    json_object_foreach(of_b, name, item)
    {
        if (!json_object_get(of_a, name))
            compare(p, name, NULL, item);
    }
}

static json_t *pair_json(const json_t *a, const json_t *b)
{
    pairing p = {.figures = json_array()};
    compare_items(&p, "metrics", a, b, compare_metric);
    compare_items(&p, "counters", a, b, compare_counter);
    json_t *pair = json_object();
    json_object_set_new(pair, "a", json_string(title_of(a)));
    json_object_set_new(pair, "b", json_string(title_of(b)));
    json_object_set_new(pair, "figures", p.figures);
    json_object_set_new(pair, "same", json_integer(p.same));
    return pair;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

/* {TITLE: report} (new reference); res_metrics_read and res_metrics_make give each its own title.
 */
static json_t *by_title(const json_t *reports)
{
    json_t *object = json_object();
    for (size_t i = 0; i < json_array_size(reports); i++) {
        json_t *report = json_array_get(reports, i);
        json_object_set(object, title_of(report), report);
    }
    return object;
}

json_t *res_metrics_diff(const json_t *a, const json_t *b)
{
    json_t *all_a = by_title(json_object_get(a, "reports"));
    json_t *all_b = by_title(json_object_get(b, "reports"));
    json_t *pairs = json_array(), *only_a = json_array(), *only_b = json_array(), *report;
    const char *title;
    if (json_object_size(all_a) == 1 && json_object_size(all_b) == 1) {
        json_array_append_new(pairs, pair_json(json_object_iter_value(json_object_iter(all_a)),
                                               json_object_iter_value(json_object_iter(all_b))));
        json_object_clear(all_a);
        json_object_clear(all_b);
    }
    json_object_foreach(all_a, title, report)
    {
        json_t *other = json_object_get(all_b, title);
        if (other)
            json_array_append_new(pairs, pair_json(report, other));
        else
            json_array_append_new(only_a, json_string(title));
    }
    json_object_foreach(all_b, title, report)
    {
        if (!json_object_get(all_a, title))
            json_array_append_new(only_b, json_string(title));
    }
    json_decref(all_a);
    json_decref(all_b);
    return json_pack("{ss so so so sO? sO?}", "kind", "metrics-diff", "pairs", pairs, "only_a",
                     only_a, "only_b", only_b, "reading_a", json_object_get(a, "reading"),
                     "reading_b", json_object_get(b, "reading"));
}

/* ---- as text ----------------------------------------------------------------------------------
 */

/* NAME, which may be foreign, in few letters. */
static void put_name(json_t *row, const char *name)
{
    char plain[48];
    bn_plain(name ? name : "", plain, sizeof plain);
    res_sheet_put(row, "%s", plain);
}

/* VALUE, with PLUS before it if it is not negative; "-" where there is none. */
static void put_cell(json_t *row, const char *plus, const char *unit, const json_t *value)
{
    const double number = json_number_value(value);
    const char *sign = number < 0 ? "-" : plus;
    if (!json_is_number(value))
        res_sheet_put(row, "-");
    else if (unit[0])
        res_sheet_put(row, "%s%s", sign, res_metrics_figure_of(unit, fabs(number)).text);
    else if (json_is_integer(value))
        res_sheet_put(row, "%s%" JSON_INTEGER_FORMAT, number < 0 ? "" : plus,
                      json_integer_value(value));
    else
        res_sheet_put(row, "%s%.15g", sign, fabs(number));
}

static void put_row(const json_t *figure, json_t *rows)
{
    const char *unit = json_string_value(json_object_get(figure, "unit"));
    const json_t *difference = json_object_get(figure, "difference");
    const json_t *ratio = json_object_get(figure, "ratio");
    json_t *row = json_array();
    unit = unit ? unit : "";
    put_name(row, json_string_value(json_object_get(figure, "name")));
    put_name(row, json_string_value(json_object_get(figure, "figure")));
    put_cell(row, "", unit, json_object_get(figure, "a"));
    put_cell(row, "", unit, json_object_get(figure, "b"));
    put_cell(row, "+", unit, difference);
    if (json_is_number(ratio))
        res_sheet_put(row, "%.3f", json_number_value(ratio));
    else
        res_sheet_put(row, "-");
    json_array_append_new(rows, row);
}

/* A line: a title may hold whatever its file had. */
static void put_title(const char *before, const char *title, bn_text *out)
{
    bn_text_puts(out, before);
    bn_text_plain(out, title[0] ? title : "(a report without a title)");
    bn_text_putc(out, '\n');
}

static void put_pair(const json_t *pair, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {{"name", false}, {"figure", false}, {"A", true},
                                               {"B", true},     {"B - A", true},   {"B / A", true}};
    const json_t *figures = json_object_get(pair, "figures");
    const char *a = json_string_value(json_object_get(pair, "a"));
    const char *b = json_string_value(json_object_get(pair, "b"));
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(figures); i++)
        put_row(json_array_get(figures, i), rows);
    if (strcmp(a, b) != 0) {
        put_title("A: ", a, out);
        put_title("B: ", b, out);
    } else if (a[0]) {
        put_title("", a, out);
    }
    if (json_array_size(rows) > 0)
        res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    bn_text_printf(out, "the same: %lld of %lld figures\n",
                   (long long)json_integer_value(json_object_get(pair, "same")),
                   (long long)json_integer_value(json_object_get(pair, "same")) +
                       (long long)json_array_size(figures));
    json_decref(rows);
}

static void put_only(const char *which, const json_t *titles, bn_text *out)
{
    for (size_t i = 0; i < json_array_size(titles); i++)
        put_title(which, json_string_value(json_array_get(titles, i)), out);
}

void res_metrics_diff_put(const json_t *diff, res_format format, bn_text *out)
{
    const json_t *pairs = json_object_get(diff, "pairs");
    bn_text text = {0};
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        if (i > 0)
            bn_text_putc(&text, '\n');
        put_pair(json_array_get(pairs, i), format, &text);
    }
    put_only("only in A: ", json_object_get(diff, "only_a"), &text);
    put_only("only in B: ", json_object_get(diff, "only_b"), &text);
    res_metrics_left_put(json_object_get(diff, "reading_a"), "left out of A: ", &text);
    res_metrics_left_put(json_object_get(diff, "reading_b"), "left out of B: ", &text);
    res_put_set_in(out, format, text.data ? text.data : "");
    bn_text_free(&text);
}
