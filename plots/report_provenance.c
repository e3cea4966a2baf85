/* report_provenance.c - runtimes, machines and options of the records, each once, and a list of the
 * records. */
#include "plots/plot_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members that differ between runs on one machine, or are of no use here. */
static const char *const passing[] = {"memory_available_bytes", "load_1min", "load_5min",
                                      "load_15min", "xml"};

static bool is_passing(const char *name)
{
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (strcmp(name, passing[i]) == 0)
            return true;
    return false;
}

static void strip(json_t *value)
{
    const char *key;
    json_t *member;
    void *next;
    if (!json_is_object(value))
        return;
    json_object_foreach_safe(value, next, key, member)
    {
        if (is_passing(key))
            json_object_del(value, key);
        else
            strip(member);
    }
}

/* ---- values as words -------------------------------------------------------------------- */

static void put_scalar(const json_t *value, bn_text *out)
{
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    plot_html_text(out, text ? text : json_string_value(value) ? json_string_value(value) : "");
    free(text);
}

static bool says_nothing(const json_t *value)
{
    const char *string = json_string_value(value);
    return json_is_null(value) || (string && !string[0]) ||
           (json_is_array(value) && json_array_size(value) == 0);
}

#define MOST_NAME 200 /* bytes */

void plot_flatten(const char *prefix, const json_t *object, json_t *pairs)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        bn_text name = {0};
        if (strcmp(key, "xml") == 0) /* the machine's topology, long and of no use to readers */
            continue;
        bn_text_printf(&name, "%s%s%s", prefix, prefix[0] ? " " : "", key);
        /* A key stands before all that is below it: a long one would be written as often. */
        name.data[bn_utf8_fit(name.data, MOST_NAME)] = '\0';
        if (json_is_object(value))
            plot_flatten(name.data, value, pairs);
        else
            json_array_append_new(pairs, json_pack("[oO]", res_json_text(name.data), value));
        bn_text_free(&name);
    }
}

/* Puts each value that is not empty. */
static void put_pairs(const json_t *object, bn_text *out)
{
    json_t *pairs = json_array(), *pair;
    size_t i;
    plot_flatten("", object, pairs);
    json_array_foreach(pairs, i, pair)
    {
        const json_t *value = json_array_get(pair, 1);
        if (says_nothing(value))
            continue;
        bn_text_puts(out, "<dt>");
        plot_html_text(out, json_string_value(json_array_get(pair, 0)));
        bn_text_puts(out, "</dt><dd>");
        put_scalar(value, out);
        bn_text_puts(out, "</dd>\n");
    }
    json_decref(pairs);
}

/* ---- each value once ---------------------------------------------------------------------- */

/* [{"value": ..., "count": 3}, ...] of MEMBER, in the order of the records. */
static json_t *distinct(const res_collection *all, res_provenance_id member)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++) {
        json_t *value = json_deep_copy(res_provenance(all->records[i], member));
        size_t index;
        json_t *entry, *found = NULL;
        strip(value);
        json_array_foreach(list, index, entry)
        {
            if (json_equal(json_object_get(entry, "value"), value))
                found = entry;
        }
        if (found)
            json_object_set_new(
                found, "count",
                json_integer(json_integer_value(json_object_get(found, "count")) + 1));
        else if (value)
            json_array_append_new(list, json_pack("{sO si}", "value", value, "count", 1));
        json_decref(value);
    }
    return list;
}

static void put_distinct(const plot_report *report, res_provenance_id member, const char *title,
                         bool open, bn_text *out)
{
    json_t *list = distinct(report->all, member), *entry;
    size_t index;
    json_array_foreach(list, index, entry)
    {
        const json_t *value = json_object_get(entry, "value");
        const json_int_t count = json_integer_value(json_object_get(entry, "count"));
        bn_text_printf(out, "<details%s><summary>%s", open ? " open" : "", title);
        if (json_array_size(list) > 1)
            bn_text_printf(out, " %zu of %zu", index + 1, json_array_size(list));
        bn_text_printf(out, ", of %lld record%s</summary>\n<dl>\n", (long long)count,
                       count == 1 ? "" : "s");
        if (json_is_object(value))
            put_pairs(value, out);
        else {
            bn_text_printf(out, "<dt>%s</dt><dd>", res_provenance_rows[member].path);
            put_scalar(value, out);
            bn_text_puts(out, "</dd>\n");
        }
        bn_text_puts(out, "</dl>\n</details>\n");
    }
    json_decref(list);
}

static void put_records(const plot_report *report, bn_text *out)
{
    bn_text_puts(out, "<details><summary>Records</summary>\n");
    plot_table_begin(out, PLOT_NONE, "All records of this page.",
                     "record|model|phase|mode|#graphs|runtime|status");
    for (size_t i = 0; i < report->all->count; i++) {
        const res_record *record = report->all->records[i];
        const res_experiment *e = &record->experiment;
        char graphs[16];
        snprintf(graphs, sizeof graphs, "%d", e->graphs);
        bn_text_puts(out, "<tr>");
        plot_cell(out, record->id);
        plot_cell(out, e->model);
        plot_cell(out, e->phase);
        plot_cell(out, res_way_of(e).text);
        plot_cell_number(out, e->graphs, graphs);
        plot_cell(out, e->runtime);
        plot_cell(out, bn_code_name(record->status));
        bn_text_puts(out, "</tr>\n");
    }
    plot_table_end(out);
    bn_text_puts(out, "</details>\n");
}

void plot_report_provenance(const plot_report *report, bn_text *out)
{
    bn_text_puts(
        out, "<section aria-labelledby=\"provenance\">\n<h2 id=\"provenance\">Provenance</h2>\n");
    put_distinct(report, RES_PROV_RUNTIME, "Runtime", true, out);
    put_distinct(report, RES_PROV_HOST, "Machine", true, out);
    put_distinct(report, RES_PROV_PINNING, "Pinning", false, out);
    put_distinct(report, RES_PROV_IDLE_CORES, "Idle cores", false, out);
    put_distinct(report, RES_PROV_OPTIONS, "Options", false, out);
    put_records(report, out);
    bn_text_puts(out, "</section>\n");
}
