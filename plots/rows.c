/*
 * rows.c - which records of a store are drawn, and what they are called.
 *
 * The rows are those of the speedup table, read from its JSON: pictures and tables cannot differ. A
 * picture says once what all its rows have in common; a row's label says what else tells it from
 * the others of its model.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Members of an experiment that name its cell, in the order of the words. */
static const char *const members[] = {
    "variant", "batch", "image",  "seq",       "optimizer", "dropout",       "input",  "lengths",
    "buckets", "dtype", "layout", "in_flight", "settings",  "trace_cost_ns", "runtime"};
#define MEMBERS (sizeof members / sizeof *members)

/* The words for a cell, a text a member. */
typedef struct words {
    char text[MEMBERS][300];
} words;

static void number_words(const char *name, json_int_t n, char *text, size_t size)
{
    if (strcmp(name, "in_flight") == 0 && n <= 1)
        snprintf(text, size, "serial");
    else if (n <= 0)
        text[0] = '\0';
    else if (strcmp(name, "in_flight") == 0)
        snprintf(text, size, "%lld in flight", (long long)n);
    else if (strcmp(name, "trace_cost_ns") == 0)
        snprintf(text, size, "emulated front end of %lld ns a node", (long long)n);
    else
        snprintf(text, size, "%s %lld", name, (long long)n);
}

/* Usual values get no words. */
static void member_words(const char *name, const json_t *value, char *text, size_t size)
{
    const char *string = json_string_value(value);
    if (!string)
        number_words(name, json_integer_value(value), text, size);
    else if (!string[0] || strcmp(string, "default") == 0 || strcmp(string, "synthetic") == 0 ||
             strcmp(string, "fixed") == 0)
        text[0] = '\0';
    else if (strcmp(name, "dropout") == 0 || strcmp(name, "input") == 0 ||
             strcmp(name, "lengths") == 0)
        snprintf(text, size, "%s %s", name, string);
    else
        snprintf(text, size, "%s", string);
}

static void fill_words(const res_record *record, words *w)
{
    json_t *experiment = res_experiment_to_json(&record->experiment);
    for (size_t m = 0; m < MEMBERS; m++) {
        char *text = w->text[m];
        member_words(members[m], json_object_get(experiment, members[m]), text, sizeof w->text[m]);
        if (strcmp(members[m], "runtime") == 0 && record->simulated)
            snprintf(text, sizeof w->text[m], "%s (simulated)", record->experiment.runtime);
    }
    json_decref(experiment);
}

static bool same_words(const words *a, const words *b)
{
    for (size_t m = 0; m < MEMBERS; m++)
        if (strcmp(a->text[m], b->text[m]) != 0)
            return false;
    return true;
}

static bool same_model(const plot_row *a, const plot_row *b)
{
    const res_experiment *l = &a->record->experiment, *r = &b->record->experiment;
    return strcmp(l->model, r->model) == 0 && strcmp(l->phase, r->phase) == 0;
}

/* ---- labels ------------------------------------------------------------------------ */

/* Finds out whether member M is the same in all rows, and whether it tells two cells of one model
 * apart. */
static void classify(const plot_rows *rows, const words *w, size_t m, bool *common, bool *telling)
{
    *common = true;
    *telling = false;
    for (size_t i = 1; i < rows->count; i++) {
        *common = *common && strcmp(w[i].text[m], w[0].text[m]) == 0;
        for (size_t j = 0; j < i && !*telling; j++)
            *telling = same_model(&rows->rows[i], &rows->rows[j]) &&
                       strcmp(w[i].text[m], w[j].text[m]) != 0;
    }
    /* These two are never left out: they say which rows are of a real device and of our own front
     * end. */
    if (strcmp(members[m], "trace_cost_ns") == 0 || strcmp(members[m], "runtime") == 0)
        *telling = *telling || !*common;
}

static void add(bn_text *out, const char *text)
{
    if (text[0])
        bn_text_printf(out, "%s%s", out->length ? ", " : "", text);
}

/* Adds the build, if all rows are of one. */
static void add_build(const plot_rows *rows, bn_text *out)
{
    const char *build = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const char *its =
            json_string_value(json_object_get(rows->rows[i].figures, "plugin_sha256"));
        if (!its || !its[0] || (build && strcmp(its, build) != 0))
            return;
        build = its;
    }
    if (build)
        bn_text_printf(out, ", build %.12s", build);
}

static bool make_labels(plot_rows *rows, const words *w)
{
    bool common[MEMBERS], telling[MEMBERS], failed = false;
    bn_text text = {0};
    for (size_t m = 0; m < MEMBERS; m++)
        classify(rows, w, m, &common[m], &telling[m]);
    /* The runtime first. */
    for (size_t m = MEMBERS; m-- > 0;)
        if (common[m] && m == MEMBERS - 1)
            add(&text, w[0].text[m]);
    if (text.length)
        add_build(rows, &text);
    for (size_t m = 0; m + 1 < MEMBERS; m++)
        if (common[m])
            add(&text, w[0].text[m]);
    rows->common = text.data ? text.data : strdup("");
    failed = text.failed || !rows->common;
    for (size_t i = 0; i < rows->count; i++) {
        const res_experiment *e = &rows->rows[i].record->experiment;
        text = (bn_text){0};
        bn_text_printf(&text, "%s %s", e->model, e->phase);
        for (size_t m = 0; m < MEMBERS; m++)
            if (telling[m])
                add(&text, w[i].text[m]);
        rows->rows[i].label = text.data;
        failed = failed || text.failed;
    }
    return !failed;
}

/* ---- rows ---------------------------------------------------------------------------- */

static const res_record *record_of(const res_collection *all, const char *id)
{
    for (size_t i = 0; id && i < all->count; i++)
        if (strcmp(all->records[i]->id, id) == 0)
            return all->records[i];
    return NULL;
}

static bool take_rows(const res_collection *all, plot_rows *rows)
{
    json_t *list = json_object_get(rows->table, "rows"), *object;
    size_t index;
    rows->means = json_object_get(rows->table, "geometric_means");
    rows->rows = calloc(json_array_size(list) + 1, sizeof *rows->rows);
    if (!rows->rows)
        return false;
    json_array_foreach(list, index, object)
    {
        plot_row *row = &rows->rows[rows->count];
        row->record = record_of(all, json_string_value(json_object_get(object, "id")));
        if (!row->record)
            continue;
        row->figures = object;
        const res_experiment *e = &row->record->experiment;
        snprintf(row->way, sizeof row->way, e->graphs > 1 ? "%s, %d graphs" : "%s", e->mode,
                 e->graphs);
        rows->count++;
    }
    return true;
}

static void number_cells(plot_rows *rows, const words *w)
{
    size_t simulated = 0, emulated = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const bool next = i > 0 && !(same_model(&rows->rows[i], &rows->rows[i - 1]) &&
                                     same_words(&w[i], &w[i - 1]));
        rows->rows[i].cell = i == 0 ? 0 : rows->rows[i - 1].cell + next;
        simulated += rows->rows[i].record->simulated;
        emulated += rows->rows[i].record->experiment.trace_cost_ns > 0;
    }
    rows->cells = rows->count ? rows->rows[rows->count - 1].cell + 1 : 0;
    const bool mixed = (simulated && simulated < rows->count) ||
                       (!simulated && emulated && emulated < rows->count);
    if (simulated)
        rows->badge = mixed ? "PARTLY SIMULATED" : "SIMULATED DEVICE";
    else if (emulated)
        rows->badge = mixed ? "PARTLY EMULATED" : "EMULATED FRONT END";
}

bn_code plot_rows_make(const res_collection *all, plot_rows *rows, bn_status *st)
{
    bn_text text = {0};
    *rows = (plot_rows){0};
    res_table_speedup(all, RES_TABLE_JSON, &text);
    rows->table = text.failed || !text.data ? NULL : json_loads(text.data, 0, NULL);
    bn_text_free(&text);
    words *w = NULL;
    bool made = rows->table && take_rows(all, rows);
    if (made)
        made = (w = calloc(rows->count + 1, sizeof *w)) != NULL;
    for (size_t i = 0; made && i < rows->count; i++)
        fill_words(rows->rows[i].record, &w[i]);
    if (made) {
        number_cells(rows, w);
        made = make_labels(rows, w);
    }
    free(w);
    if (made)
        return BN_OK;
    plot_rows_free(rows);
    return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for the rows of a plot");
}

void plot_rows_free(plot_rows *rows)
{
    for (size_t i = 0; rows->rows && i < rows->count; i++)
        free(rows->rows[i].label);
    free(rows->rows);
    free(rows->common);
    json_decref(rows->table);
    *rows = (plot_rows){0};
}

double plot_labels_width(const plot_rows *rows)
{
    double width = 0;
    for (size_t i = 0; i < rows->count; i++)
        width = fmax(width, plot_text_width(rows->rows[i].label, 12) * 1.08);
    return width;
}

double plot_row_real(const plot_row *row, const char *name)
{
    const json_t *value = json_object_get(row->figures, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

bool plot_row_good(const plot_row *row)
{
    return res_record_good(row->record);
}

const char *plot_badge(bool simulated, const res_experiment *experiment)
{
    return simulated                       ? "SIMULATED DEVICE"
           : experiment->trace_cost_ns > 0 ? "EMULATED FRONT END"
                                           : NULL;
}

size_t plot_rows_good(const plot_rows *rows)
{
    size_t good = 0;
    for (size_t i = 0; i < rows->count; i++)
        good += plot_row_good(&rows->rows[i]);
    return good;
}

void plot_row_title(const plot_row *row, bn_text *out)
{
    bn_text_printf(out, "%s, %s", row->label, row->way);
}
