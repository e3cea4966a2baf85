/*
 * rows.c - which records of a store are drawn, and their labels.
 *
 * The rows are those of the speedup table, read from its JSON: pictures and tables cannot differ. A
 * picture says once what all its rows have in common; a row's label has what else distinguishes it
 * from the others of its model.
 */
#include "plots/plot_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words for a cell, one text an axis; those of joined axes stand with the axis before. */
typedef struct words {
    char text[RES_AXIS_COUNT][300];
} words;

static void fill_words(const res_record *record, words *w)
{
    for (int a = 0; a < RES_AXIS_COUNT; a++) {
        bn_text text = {0};
        if (a == RES_AXIS_RUNTIME)
            bn_text_printf(&text, "%s%s", record->experiment.runtime,
                           record->simulated ? " (simulated)" : "");
        else
            res_setup_text(&record->experiment, RES_AXIS_BIT(a), &text);
        snprintf(w->text[a], sizeof w->text[a], "%s", text.data ? text.data : "");
        bn_text_free(&text);
    }
}

static bool same_words(const words *a, const words *b)
{
    for (int axis = 0; axis < RES_AXIS_COUNT; axis++)
        if (strcmp(a->text[axis], b->text[axis]) != 0)
            return false;
    return true;
}

static bool same_model(const plot_row *a, const plot_row *b)
{
    const res_experiment *l = &a->record->experiment, *r = &b->record->experiment;
    return strcmp(l->model, r->model) == 0 && strcmp(l->phase, r->phase) == 0;
}

/* ---- labels ------------------------------------------------------------------------ */

/* Whether AXIS is the same in all rows, and whether it distinguishes two cells of one model. */
static void classify(const plot_rows *rows, const words *w, int axis, bool *common,
                     bool *distinguishing)
{
    *common = true;
    *distinguishing = false;
    for (size_t i = 1; i < rows->count; i++) {
        *common = *common && strcmp(w[i].text[axis], w[0].text[axis]) == 0;
        for (size_t j = 0; j < i && !*distinguishing; j++)
            *distinguishing = same_model(&rows->rows[i], &rows->rows[j]) &&
                              strcmp(w[i].text[axis], w[j].text[axis]) != 0;
    }
    /* These two are never left out: they distinguish real devices and our own front end. */
    if (axis == RES_AXIS_TRACE_COST || axis == RES_AXIS_RUNTIME)
        *distinguishing = *distinguishing || !*common;
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

static void make_labels(plot_rows *rows, const words *w)
{
    bool common[RES_AXIS_COUNT], distinguishing[RES_AXIS_COUNT];
    bn_text text = {0};
    for (int axis = 0; axis < RES_AXIS_COUNT; axis++)
        classify(rows, w, axis, &common[axis], &distinguishing[axis]);
    /* The runtime first. */
    if (common[RES_AXIS_RUNTIME])
        add(&text, w[0].text[RES_AXIS_RUNTIME]);
    if (text.length)
        add_build(rows, &text);
    for (int axis = 0; axis < RES_AXIS_COUNT; axis++)
        if (common[axis] && axis != RES_AXIS_RUNTIME)
            add(&text, w[0].text[axis]);
    rows->common = text.data ? text.data : bn_strdup("");
    for (size_t i = 0; i < rows->count; i++) {
        const res_experiment *e = &rows->rows[i].record->experiment;
        text = (bn_text){0};
        bn_text_printf(&text, "%s %s", e->model, e->phase);
        for (int axis = 0; axis < RES_AXIS_COUNT; axis++)
            if (distinguishing[axis] && axis != RES_AXIS_RUNTIME)
                add(&text, w[i].text[axis]);
        if (distinguishing[RES_AXIS_RUNTIME])
            add(&text, w[i].text[RES_AXIS_RUNTIME]);
        rows->rows[i].label = text.data;
    }
}

/* ---- rows ---------------------------------------------------------------------------- */

void plot_mean_strategy(const json_t *mean, char text[PLOT_STRATEGY_BYTES])
{
    const char *front_end = json_string_value(json_object_get(mean, "front_end"));
    const char *mode = json_string_value(json_object_get(mean, "mode"));
    const char *dispatch = json_string_value(json_object_get(mean, "dispatch"));
    res_experiment e;
    res_experiment_usual(&e);
    res_axis_set_value(&res_axes[RES_AXIS_MODE], mode ? mode : "", 0, &e);
    if (front_end)
        res_axis_set_value(&res_axes[RES_AXIS_FRONT_END], front_end, 0, &e);
    if (dispatch)
        res_axis_set_value(&res_axes[RES_AXIS_DISPATCH], dispatch, 0, &e);
    const json_t *steps = json_object_get(mean, "steps_per_execution");
    if (json_is_integer(steps))
        res_axis_set_value(&res_axes[RES_AXIS_STEPS_PER_EXECUTION], "", json_integer_value(steps),
                           &e);
    snprintf(text, PLOT_STRATEGY_BYTES, "%s", res_way_of(&e).text);
}

static const res_record *record_of(const res_collection *all, const char *id)
{
    for (size_t i = 0; id && i < all->count; i++)
        if (strcmp(all->records[i]->id, id) == 0)
            return all->records[i];
    return NULL;
}

static void add_rows(const res_collection *all, plot_rows *rows)
{
    json_t *list = json_object_get(rows->table, "rows"), *object;
    size_t index;
    rows->means = json_object_get(rows->table, "geometric_means");
    rows->rows = bn_zalloc(json_array_size(list) + 1, sizeof *rows->rows);
    json_array_foreach(list, index, object)
    {
        plot_row *row = &rows->rows[rows->count];
        row->record = record_of(all, json_string_value(json_object_get(object, "id")));
        if (!row->record)
            continue;
        row->figures = object;
        const res_experiment *e = &row->record->experiment;
        snprintf(row->way, sizeof row->way, e->graphs > 1 ? "%s, %d graphs" : "%s",
                 res_way_of(e).text, e->graphs);
        rows->count++;
    }
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

static json_t *table_of(const res_collection *all, const char *name)
{
    bn_text text = {0};
    res_table(name, all, RES_TABLE_JSON, &text);
    json_t *table = json_loads(text.data, 0, NULL);
    bn_text_free(&text);
    return table;
}

void plot_rows_make(const res_collection *all, plot_rows *rows)
{
    *rows = (plot_rows){.all = all, .table = table_of(all, "speedup")};
    add_rows(all, rows);
    words *w = bn_zalloc(rows->count + 1, sizeof *w);
    for (size_t i = 0; i < rows->count; i++)
        fill_words(rows->rows[i].record, &w[i]);
    number_cells(rows, w);
    make_labels(rows, w);
    free(w);
}

void plot_rows_free(plot_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
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

json_t *plot_rows_list(const plot_rows *rows, const char *name)
{
    json_t *table = table_of(rows->all, name);
    json_t *list = json_incref(json_object_get(table, "rows"));
    json_decref(table);
    return list;
}

bool plot_is_of(const json_t *object, const plot_row *row)
{
    const char *id = json_string_value(json_object_get(object, "id"));
    return id && strcmp(id, row->record->id) == 0;
}

double plot_real(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

double plot_row_real(const plot_row *row, const char *name)
{
    return plot_real(row->figures, name);
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
