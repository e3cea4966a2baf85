/*
 * table_published.c - published speedups of captured over lazy training steps, next to those of a
 * store.
 */
#include "results/findings/published.h"
#include "results/tables/tables_priv.h"

#include <stdlib.h>

/* Names of a figure of each column, and its heads. */
#define MEMBER_5 "published_5_graphs"
#define MEMBER_3 "published_3_graphs"
#define MEMBER_1 "published_1_graph"
static const char *const members[RES_PUBLISHED_COLUMNS] = {MEMBER_5, MEMBER_3, MEMBER_1};
#define HEAD_5 "published: 5 graphs"
#define HEAD_3 "3 graphs"
#define HEAD_1 "1 graph"

static void set_speedup(json_t *object, res_interval speedup)
{
    json_object_set_new(object, "speedup", res_json_real(speedup.estimate));
    json_object_set_new(object, "speedup_low", res_json_real(speedup.low));
    json_object_set_new(object, "speedup_high", res_json_real(speedup.high));
}

static void set_published(json_t *object, const double *speedup)
{
    for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
        json_object_set_new(object, members[c], res_json_real(speedup[c]));
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* "batch 31, not 32; image 64, not 224; cpu, not TPU v4" (new reference); null: the row differs in
 * nothing. Lazy over captured depends on all of them. */
static json_t *difference_json(const res_published_row *match)
{
    res_experiment published;
    const char *device;
    const res_axis_set set = res_published_difference(match, &published, &device);
    bn_text text = {0};
    for (int i = 0; i < RES_AXIS_COUNT; i++) {
        if (!(set & RES_AXIS_BIT(i)))
            continue;
        bn_text_puts(&text, text.length > 0 ? "; " : "");
        res_setup_text(&match->row->record->experiment, RES_AXIS_BIT(i), &text);
        bn_text_puts(&text, ", not ");
        res_axis_put(&res_axes[i], &published, &text);
    }
    if (device)
        bn_text_printf(&text, "%s%s, not " RES_PUBLISHED_DEVICE, text.length > 0 ? "; " : "",
                       device);
    json_t *json = text.data ? res_json_text(text.data) : json_null();
    bn_text_free(&text);
    return json;
}

static json_t *rows_of(const res_published_row *match)
{
    json_t *rows = json_array(), *row = res_row_of("published", match->row, rows);
    json_object_set_new(row, "executions", res_json_real(match->row->figures.executions));
    set_speedup(row, match->ratio.ratio);
    json_object_set_new(row, "published_model", json_string(match->published->published));
    json_object_set_new(row, "published_batch", json_integer(match->published->batch));
    set_published(row, match->published->speedup);
    json_object_set_new(row, "differs", difference_json(match));
    return rows;
}

static const res_column columns[] = {{"executions", "executions", RES_CELL_AMOUNT, false},
                                     {"speedup", "here", RES_CELL_RATIO, false},
                                     {"speedup", "95 %", RES_CELL_RATIOS, false},
                                     {"processes", "processes", RES_CELL_COUNT, false},
                                     {MEMBER_5, HEAD_5, RES_CELL_RATIO, false},
                                     {MEMBER_3, HEAD_3, RES_CELL_RATIO, false},
                                     {MEMBER_1, HEAD_1, RES_CELL_RATIO, false},
                                     {"published_batch", "batch", RES_CELL_COUNT, false},
                                     {"differs", "differs", RES_CELL_TEXT, false},
                                     {NULL, NULL, RES_CELL_TEXT, false}};

static const char *const notes[] = {
    "here: wall time of the lazy step over that of this row, both of the same framework.",
    "published: PyTorch/XLA's lazy step over its captured one, by how many graphs that had; "
    "batch: TorchBench's. Those steps were forward and backward passes on a TPU v4. These end in "
    "an update, and ran on the runtimes above.",
    NULL};

static const char differs_note[] =
    "differs: settings of the row that were published differently: batch, image, tokens, dtype, "
    "the "
    "device, or options of bench alone, such as remat. Tracing time does not depend on the batch, "
    "and device time does: a smaller batch raises lazy over captured, and a larger batch, larger "
    "images or longer rows lower it. The means include these rows, and count them.";

static bool any_differs(const res_published_rows *matches)
{
    res_experiment published;
    const char *device;
    for (size_t i = 0; i < matches->count; i++)
        if (res_published_difference(&matches->list[i], &published, &device) || device)
            return true;
    return false;
}

/* ---- means ----------------------------------------------------------------------------------- */

static json_t *mean_json(const res_published_mean *mean)
{
    const res_record *record = mean->example->row->record;
    const res_experiment *e = &record->experiment;
    json_t *object = json_object();
    json_object_set_new(object, "runtime", res_json_text(e->runtime));
    json_object_set_new(object, "simulated", json_boolean(record->simulated));
    json_object_set_new(object, "front_end", res_json_text(e->front_end));
    json_object_set_new(object, "mode", res_json_text(e->mode));
    json_object_set_new(object, "dispatch", json_string(e->dispatch));
    json_object_set_new(object, "graphs", json_integer(e->graphs));
    json_object_set_new(object, "rows", json_integer((json_int_t)mean->rows));
    json_object_set_new(object, "rows_differing", json_integer((json_int_t)mean->differing));
    json_object_set_new(object, "processes", json_integer((json_int_t)mean->mean.processes));
    set_speedup(object, mean->mean.ratio);
    set_published(object, mean->published);
    return object;
}

static json_t *mean_cells(const res_published_mean *mean)
{
    const res_record *record = mean->example->row->record;
    json_t *row = json_array();
    res_sheet_put(row, "%s%s", record->experiment.runtime, res_simulated_shown(record));
    res_sheet_put(row, "%s", res_way_of(&record->experiment).text);
    if (res_graphs_known(&record->experiment))
        res_sheet_put(row, "%d", record->experiment.graphs);
    else
        res_sheet_put(row, "-");
    res_sheet_put(row, "%zu", mean->rows);
    res_sheet_put(row, "%zu", mean->differing);
    res_sheet_put(row, "%s", res_ratio(mean->mean.ratio).text);
    res_sheet_put(row, "%s", res_ratio_range(mean->mean.ratio).text);
    res_sheet_put(row, mean->mean.by_process ? "%zu" : "%zu or more", mean->mean.processes);
    for (size_t c = 0; c < RES_PUBLISHED_COLUMNS; c++)
        res_sheet_put(row, "%s", res_ratio_alone(mean->published[c]).text);
    return row;
}

static void put_means(const res_published_rows *matches, res_format format, bn_text *out)
{
    static const res_sheet_column sheet[] = {
        {"runtime", false}, {"mode", false}, {"graphs", true}, {"rows", true},
        {"differ", true},   {"here", true},  {"95 %", true},   {"processes", true},
        {HEAD_5, true},     {HEAD_3, true},  {HEAD_1, true}};
    json_t *rows = json_array();
    for (size_t i = 0; i < matches->mean_count; i++)
        json_array_append_new(rows, mean_cells(&matches->means[i]));
    bn_text_putc(out, '\n');
    res_put_heading(out, format, 2, "Geometric means over the rows above");
    res_sheet_write(sheet, sizeof sheet / sizeof *sheet, rows, format, out);
    json_decref(rows);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void put_json(const res_published_rows *matches, const res_row_group *groups, bn_text *out)
{
    json_t *rows = json_array(), *means = json_array();
    for (size_t i = 0; i < matches->count; i++)
        json_array_extend(rows, groups[i].rows);
    for (size_t i = 0; i < matches->mean_count; i++)
        json_array_append_new(means, mean_json(&matches->means[i]));
    json_t *object = json_pack("{s:s, s:o, s:o, s:I}", "source", res_published_source, "rows", rows,
                               "means", means, "left_out_queued", (json_int_t)matches->queued);
    res_put_json(out, object);
    json_decref(object);
}

static void put_left_out(const res_published_rows *matches, res_format format, bn_text *out)
{
    bn_text text = {0};
    if (matches->queued == 0)
        return;
    bn_text_printf(&text,
                   "%zu captured step%s of several graphs left out, since %s executions were "
                   "queued: the published ones were awaited one by one (--dispatch awaited).",
                   matches->queued, matches->queued == 1 ? "" : "s",
                   matches->queued == 1 ? "its" : "their");
    res_put_note(out, format, text.data);
    bn_text_free(&text);
}

static void put_people(const res_published_rows *matches, const res_row_group *groups,
                       res_format format, bn_text *out)
{
    static const char title[] = "Published speedups of captured over lazy training steps";
    bn_text source = {0};
    if (matches->count == 0) {
        res_put_heading(out, format, 1, title);
        res_put_note(out, format,
                     "No row: the store has no captured training step of a published model, in "
                     "full, together with a lazy step of the same framework.");
        put_left_out(matches, format, out);
        return;
    }
    res_put_groups(title, groups, matches->count, columns, RES_MOST_ROWS, notes, format, out);
    if (any_differs(matches))
        res_put_note(out, format, differs_note);
    put_left_out(matches, format, out);
    bn_text_printf(&source, "Published: %s.", res_published_source);
    if (source.data)
        res_put_note(out, format, source.data);
    bn_text_free(&source);
    put_means(matches, format, out);
}

static void put_matches(const res_published_rows *matches, res_format format, bn_text *out)
{
    res_row_group *groups = bn_zalloc(matches->count, sizeof *groups);
    for (size_t i = 0; i < matches->count; i++)
        groups[i] = (res_row_group){matches->list[i].row->record, rows_of(&matches->list[i])};
    if (format == RES_TABLE_JSON)
        put_json(matches, groups, out);
    else if (format == RES_TABLE_CSV)
        res_put_groups("", groups, matches->count, columns, RES_MOST_ROWS, notes, format, out);
    else
        put_people(matches, groups, format, out);
    for (size_t i = 0; i < matches->count; i++)
        json_decref(groups[i].rows);
    free(groups);
}

void res_table_published(const res_collection *all, res_format format, bn_text *out)
{
    res_speedup speedup;
    res_published_rows matches;
    res_speedup_make(all, &speedup);
    res_published_rows_make(&speedup, &matches);
    put_matches(&matches, format, out);
    res_published_rows_free(&matches);
    res_speedup_free(&speedup);
}

const res_table_kind res_table_of_published = {
    "published", "captured over lazy steps, next to PyTorch/XLA's published speedups",
    res_table_published};
