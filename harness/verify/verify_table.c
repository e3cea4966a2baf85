/* verify_table.c - comparisons with golden values, as tables. */
#include "harness/verify/verify_table_priv.h"
#include "results/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool passed(const json_t *line)
{
    return json_is_true(json_object_get(line, "pass"));
}

/* The share of its tolerance that a line's difference uses; infinite for a failed worker. */
static double used(const json_t *line)
{
    const json_t *difference = json_object_get(line, "difference");
    const double tolerance = json_number_value(json_object_get(line, "tolerance"));
    if (!json_is_number(difference))
        return (double)INFINITY;
    const double value = json_number_value(difference);
    return tolerance > 0 ? value / tolerance : value;
}

static bool same_text(const json_t *a, const json_t *b, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(res_json_get_text(a, keys[i]), res_json_get_text(b, keys[i])) != 0)
            return false;
    return true;
}

/* The end of the lines of one worker, which begin with line BEGIN. They stand together, so that the
 * search for the worst of them is short. */
static size_t worker_end(const json_t *lines, size_t begin)
{
    static const char *const keys[] = {"runtime", "model", "variant", "mode"};
    size_t end = begin + 1;
    while (end < json_array_size(lines) &&
           same_text(json_array_get(lines, begin), json_array_get(lines, end), keys, 4))
        end++;
    return end;
}

/* Whether line INDEX is the worst of its group among its worker's from BEGIN to END; of equals the
 * first counts. */
static bool is_worst(const json_t *lines, size_t index, size_t begin, size_t end)
{
    static const char *const group[] = {"group"};
    const json_t *line = json_array_get(lines, index);
    const double own = used(line);
    for (size_t i = begin; i < end; i++) {
        const json_t *other = json_array_get(lines, i);
        bool worse = i < index ? used(other) >= own : used(other) > own;
        if (i != index && worse && same_text(other, line, group, 1))
            return false;
    }
    return true;
}

static json_t *cell(const json_t *line, const char *key, const char *format)
{
    const json_t *value = json_object_get(line, key);
    char text[64];
    if (json_is_string(value))
        return json_string(json_string_value(value));
    if (json_is_null(value))
        return json_string("not finite");
    if (!json_is_number(value))
        return json_string("");
    snprintf(text, sizeof text, format, json_number_value(value));
    return json_string(text);
}

static json_t *cells(const json_t *line, bool runtime)
{
    json_t *row = json_array();
    if (runtime)
        json_array_append_new(row, cell(line, "runtime", ""));
    json_array_append_new(row, cell(line, "model", ""));
    json_array_append_new(row, cell(line, "variant", ""));
    json_array_append_new(row, cell(line, "mode", ""));
    json_array_append_new(row, cell(line, "quantity", ""));
    json_array_append_new(row, cell(line, "got", "%.9g"));
    json_array_append_new(row, cell(line, "want", "%.9g"));
    json_array_append_new(row, cell(line, "difference", "%.2g"));
    json_array_append_new(row, cell(line, "tolerance", "%.1g"));
    json_array_append_new(row,
                          json_string(!passed(line)                                     ? "NO"
                                      : res_json_get_text(line, "deviation")[0] != '\0' ? "named"
                                                                                        : "yes"));
    return row;
}

/* Whether lines differ in the runtime, which then is a column. */
static bool several_runtimes(const json_t *lines)
{
    for (size_t i = 1; i < json_array_size(lines); i++)
        if (strcmp(res_json_get_text(json_array_get(lines, i), "runtime"),
                   res_json_get_text(json_array_get(lines, 0), "runtime")) != 0)
            return true;
    return false;
}

void verify_table(const json_t *lines, res_format format, bool all, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"runtime", false},  {"model", false}, {"variant", false}, {"mode", false},
        {"quantity", false}, {"got", true},    {"want", true},     {"difference", true},
        {"tolerance", true}, {"pass", false}};
    if (format == RES_TABLE_JSON) {
        char *text = json_dumps(lines, JSON_INDENT(1) | RES_JSON_SHOWN);
        bn_text_puts(out, text);
        bn_text_putc(out, '\n');
        free(text);
        return;
    }
    const bool runtime = format == RES_TABLE_CSV || several_runtimes(lines);
    json_t *rows = json_array();
    for (size_t i = 0, begin = 0, end = 0; i < json_array_size(lines); i++) {
        const json_t *line = json_array_get(lines, i);
        if (i == end) {
            begin = i;
            end = worker_end(lines, i);
        }
        if (all || format == RES_TABLE_CSV || !passed(line) || is_worst(lines, i, begin, end))
            json_array_append_new(rows, cells(line, runtime));
    }
    res_sheet_write(columns + !runtime, sizeof columns / sizeof *columns - !runtime, rows, format,
                    out);
    json_decref(rows);
}

size_t verify_failures(const json_t *lines)
{
    size_t failed = 0;
    for (size_t i = 0; i < json_array_size(lines); i++)
        failed += !passed(json_array_get(lines, i));
    return failed;
}

/* Each quantity that a framework computes differently by its own word, with the number of lines. */
static void put_deviations(const json_t *lines, bn_text *out)
{
    json_t *counts = json_object(), *count;
    const char *text;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        text = res_json_get_text(json_array_get(lines, i), "deviation");
        if (text[0] != '\0')
            json_object_set_new(
                counts, text, json_integer(json_integer_value(json_object_get(counts, text)) + 1));
    }
    json_object_foreach(counts, text, count)
        bn_text_printf(out, "%" JSON_INTEGER_FORMAT " not judged (\"named\"): %s\n",
                       json_integer_value(count), text);
    json_decref(counts);
}

void verify_summary(const json_t *lines, bn_text *out)
{
    put_deviations(lines, out);
    bn_text_printf(out, "%zu comparisons, %zu failed\n", json_array_size(lines),
                   verify_failures(lines));
}
