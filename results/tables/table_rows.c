/* table_rows.c - tables that list what records hold. One list of JSON objects makes the JSON, the
 * CSV and, column by column, the table for people. */
#include "results/tables/tables_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names before the figures: runtime, model, phase, setup, mode, graphs. */
#define NAMES        6
#define NAMES_ALIGN  "lllllr"
#define MOST_COLUMNS 48

bool res_graphs_known(const res_experiment *e)
{
    return e->graphs > 0 && res_is_ours(e);
}

void res_grid_graphs(res_grid *grid, const res_experiment *e)
{
    if (res_graphs_known(e))
        res_grid_cell(grid, "%d", e->graphs);
    else
        res_grid_cell(grid, "-");
}

/* ---- executions ------------------------------------------------------------------- */

double res_step_pjrt_ns(const res_execution *execution)
{
    double pjrt_ns = res_execution_pjrt_ns(execution);
    return isfinite(pjrt_ns) ? pjrt_ns * res_execution_times(execution) : 0;
}

/* Executions that cost the same stay in the order of the step. */
static int costlier_first(const void *a, const void *b)
{
    const res_execution *const *left = a, *const *right = b;
    double l = res_step_pjrt_ns(*left), r = res_step_pjrt_ns(*right);
    return l != r ? (l < r) - (l > r) : (*left > *right) - (*left < *right);
}

const res_execution **res_rank_executions(const res_record *record)
{
    const res_execution **list = bn_zalloc(record->execution_count, sizeof(const res_execution *));
    for (size_t i = 0; i < record->execution_count; i++)
        list[i] = &record->executions[i];
    if (record->execution_count > RES_MOST_ROWS)
        qsort(list, record->execution_count, sizeof(const res_execution *), costlier_first);
    return list;
}

/* ---- rows ---------------------------------------------------------------------------- */

void res_json_interval(json_t *object, const char *key, res_interval ns)
{
    char name[64];
    snprintf(name, sizeof name, "%s_ns", key);
    json_object_set_new(object, name, res_json_real(ns.estimate));
    snprintf(name, sizeof name, "%s_low_ns", key);
    json_object_set_new(object, name, res_json_real(ns.low));
    snprintf(name, sizeof name, "%s_high_ns", key);
    json_object_set_new(object, name, res_json_real(ns.high));
}

/* KEY with SUFFIX of ROW as a number, NaN where it is unknown. */
static double number(const json_t *row, const char *key, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", key, suffix);
    const json_t *value = json_object_get(row, name);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

/* Whether KEY was left out because it contradicts the rest of ROW. */
static bool refused(const json_t *row, const char *key)
{
    char name[64];
    snprintf(name, sizeof name, "%s_refused", key);
    return json_is_true(json_object_get(row, name));
}

/* Of a whole that is unknown, the first column says so. */
static void put_loss(res_grid *grid, double share)
{
    if (isnan(share))
        res_grid_cell(grid, "-");
    else
        res_grid_cell(grid, "%s", share > 0 ? res_percent(share).text : "");
}

/* Shares and ratios of ROW. */
static void put_proportion(res_grid *grid, res_cell_kind kind, const json_t *row, const char *key)
{
    const res_interval share = {number(row, key, "_share"), number(row, key, "_low_share"),
                                number(row, key, "_high_share")};
    const res_interval ratio = {number(row, key, ""), number(row, key, "_low"),
                                number(row, key, "_high")};
    if (kind == RES_CELL_SHARE)
        res_grid_cell(grid, "%s", res_share(share).text);
    else if (kind == RES_CELL_PERCENT)
        res_grid_cell(grid, "%s", res_percent(share.estimate).text);
    else if (kind == RES_CELL_LOSS)
        put_loss(grid, share.estimate);
    else if (kind == RES_CELL_PERCENTS)
        res_grid_cell(grid, "%s", res_percent_range(share.low, share.high).text);
    else if (kind == RES_CELL_RATIO)
        res_grid_cell(grid, "%s", res_ratio(ratio).text);
    else
        res_grid_cell(grid, "%s", res_ratio_range(ratio).text);
}

static void put_cell(res_grid *grid, const res_column *column, const json_t *row)
{
    const char *key = column->key;
    const res_interval ns = {number(row, key, "_ns"), number(row, key, "_low_ns"),
                             number(row, key, "_high_ns")};
    const double bytes = number(row, key, "_bytes");
    switch (column->kind) {
    case RES_CELL_TEXT:
    case RES_CELL_COUNT:
        res_grid_json(grid, json_object_get(row, key));
        break;
    case RES_CELL_TIME:
        res_grid_cell(grid, "%s", res_time(ns.estimate).text);
        break;
    case RES_CELL_PART:
        res_grid_cell(grid, "%s", ns.estimate != 0 ? res_time(ns.estimate).text : "");
        break;
    case RES_CELL_RANGE:
        res_grid_cell(grid, "%s", res_time_range(ns.estimate, ns.low, ns.high).text);
        break;
    case RES_CELL_DIFFERENCE:
        res_grid_cell(grid, "%s",
                      refused(row, key) ? RES_UNKNOWN_TEXT : res_time_difference(ns).text);
        break;
    case RES_CELL_BOUNDS:
        res_grid_cell(grid, "%s", res_time_difference_range(ns).text);
        break;
    case RES_CELL_SIZE:
        res_grid_cell(grid, "%s", res_size(isfinite(bytes) ? (int64_t)bytes : -1).text);
        break;
    case RES_CELL_AMOUNT:
        res_grid_cell(grid, "%s", res_amount(number(row, key, "")).text);
        break;
    default:
        put_proportion(grid, column->kind, row, key);
    }
}

/* Puts the names of RECORD. With SAME, names that the row above has, too, are left out. */
static void put_names(res_grid *grid, const res_record *record, res_axis_set mask, bool same)
{
    const res_experiment *e = &record->experiment;
    bn_text setup = {0};
    if (!same)
        res_setup_text(e, mask, &setup);
    res_grid_cell(grid, "%s%s", same ? "" : e->runtime, same ? "" : res_simulated_shown(record));
    res_grid_cell(grid, "%s", same ? "" : e->model);
    res_grid_cell(grid, "%s", same ? "" : e->phase);
    res_grid_cell(grid, "%s", setup.data ? setup.data : "");
    res_grid_cell(grid, "%s", res_way_of(e).text);
    res_grid_graphs(grid, e);
    bn_text_free(&setup);
}

static void put_group(res_grid *grid, const res_row_group *group, const res_column *columns,
                      size_t column_count, size_t most)
{
    const size_t rows = json_array_size(group->rows);
    char text[64];
    if (rows == 0) {
        snprintf(text, sizeof text, "%s%s",
                 group->record->status != BN_OK ? "failed: " : "no figures",
                 group->record->status != BN_OK ? bn_code_name(group->record->status) : "");
        res_grid_spill(grid, text, column_count);
        return;
    }
    const size_t shown = rows > most ? most : rows;
    for (size_t i = 0; i < shown; i++) {
        if (i > 0)
            res_grid_blank(grid, NAMES);
        for (size_t c = 0; c < column_count; c++) {
            if (i > 0 && columns[c].once)
                res_grid_blank(grid, 1);
            else
                put_cell(grid, &columns[c], json_array_get(group->rows, i));
        }
    }
    if (shown < rows) {
        snprintf(text, sizeof text, "and %zu more: see --format csv", rows - shown);
        res_grid_blank(grid, NAMES);
        res_grid_spill(grid, text, column_count);
    }
}

static char align_of(res_cell_kind kind)
{
    switch (kind) {
    case RES_CELL_TEXT:
        return 'l';
    case RES_CELL_RANGE:
    case RES_CELL_BOUNDS:
    case RES_CELL_PERCENTS:
    case RES_CELL_RATIOS:
        return 'i';
    default:
        return 'r';
    }
}

static void put_people(const res_row_group *groups, size_t count, const res_column *columns,
                       size_t most, res_format format, bn_text *out)
{
    char align[MOST_COLUMNS + 1] = NAMES_ALIGN;
    res_axis_set mask = 0;
    size_t column_count = 0;
    for (; columns[column_count].key && NAMES + column_count < MOST_COLUMNS; column_count++)
        align[NAMES + column_count] = align_of(columns[column_count].kind);
    res_grid grid = res_grid_make(align);
    res_grid_row(&grid, "runtime|model|phase|setup|mode|graphs");
    /* The heading of the names fills a whole row: the heads of the figures go into its empty
     * end. */
    grid.count = NAMES;
    for (size_t c = 0; c < column_count; c++)
        res_grid_cell(&grid, "%s", columns[c].head);
    for (size_t i = 1; i < count; i++)
        mask |= res_setup_difference(&groups[0].record->experiment, &groups[i].record->experiment);
    for (size_t i = 0; i < count; i++) {
        const res_record *before =
            i > 0 && res_format_is_text(format) ? groups[i - 1].record : NULL;
        put_names(&grid, groups[i].record, mask, before && res_same_cell(before, groups[i].record));
        put_group(&grid, &groups[i], columns, column_count, most);
    }
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);

    bn_text shared = {0};
    bn_text_puts(&shared, "All rows: ");
    const size_t before = shared.length;
    res_setup_text(&groups[0].record->experiment, res_setup_all() & ~mask, &shared);
    bn_text_putc(out, '\n');
    /* Recordings do not say what their setup was. */
    if (shared.data && shared.length > before)
        res_put_note(out, format, shared.data);
    bn_text_free(&shared);
}

/* Gives all ROWS the members of the one that has most, null where they lack them: what failed has
 * names, and no figures. Returns that row. */
static const json_t *fill_up(json_t *rows)
{
    const json_t *fullest = NULL;
    const char *key;
    json_t *row, *value;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (!fullest || json_object_size(row) > json_object_size(fullest))
            fullest = row;
    }
    json_array_foreach(rows, i, row)
    {
        json_object_foreach((json_t *)(uintptr_t)fullest, key, value)
        {
            if (!json_object_get(row, key))
                json_object_set_new(row, key, json_null());
        }
    }
    return fullest;
}

/* The members of FULLEST are the columns of all. */
static void put_csv(const json_t *rows, const json_t *fullest, bn_text *out)
{
    const char *key;
    json_t *value;
    char align[MOST_COLUMNS * 2 + 1];
    size_t columns = json_object_size(fullest);
    if (columns == 0 || columns >= sizeof align)
        return;
    memset(align, 'l', columns);
    align[columns] = '\0';
    res_grid grid = res_grid_make(align);
    json_object_foreach((json_t *)(uintptr_t)fullest, key, value)
    {
        res_grid_cell(&grid, "%s", key);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_object_foreach((json_t *)(uintptr_t)fullest, key, value)
        {
            res_grid_json(&grid, json_object_get(json_array_get(rows, i), key));
        }
    }
    res_grid_render(&grid, RES_TABLE_CSV, out);
    res_grid_free(&grid);
}

void res_put_groups(const char *title, const res_row_group *groups, size_t count,
                    const res_column *columns, size_t most, const char *const *notes,
                    res_format format, bn_text *out)
{
    if (format == RES_TABLE_JSON || format == RES_TABLE_CSV) {
        json_t *rows = json_array();
        for (size_t i = 0; i < count; i++)
            json_array_extend(rows, groups[i].rows);
        const json_t *fullest = fill_up(rows);
        if (format == RES_TABLE_CSV) {
            put_csv(rows, fullest, out);
            json_decref(rows);
        } else {
            json_t *object = json_pack("{s:o}", "rows", rows);
            res_put_json(out, object);
            json_decref(object);
        }
        return;
    }
    res_put_heading(out, format, 1, title);
    if (count == 0) {
        res_put_note(out, format, "No records.");
        return;
    }
    put_people(groups, count, columns, most, format, out);
    for (; *notes; notes++)
        res_put_note(out, format, *notes);
}
