/*
 * table_speedup.c - the speedup table for people.
 */
#include "results/tables/speedup_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Puts the build of all rows, "several builds", or nothing when it is unknown: experiments that
 * failed early do not know theirs. */
static void put_build(const res_speedup *speedup, size_t first, size_t end, bn_text *title)
{
    const char *build = "";
    for (size_t i = first; i < end; i++) {
        const char *other = res_plugin_sha256(speedup->rows[i].record);
        if (build[0] != '\0' && other[0] != '\0' && strcmp(build, other) != 0) {
            bn_text_puts(title, ", several builds");
            return;
        }
        build = other[0] != '\0' ? other : build;
    }
    if (build[0] != '\0')
        bn_text_printf(title, ", build %.12s", build);
}

static void block_heading(const res_speedup *speedup, size_t first, size_t end, res_axis_set shared,
                          res_format format, bn_text *out)
{
    const res_record *record = speedup->rows[first].record;
    bn_text title = {0}, setup = {0};
    bn_text_printf(&title, "runtime %s%s", record->experiment.runtime, res_simulated_shown(record));
    put_build(speedup, first, end, &title);
    res_setup_text(&record->experiment, shared, &setup);
    if (setup.length > 0)
        bn_text_printf(&title, ": %s", setup.data);
    if (title.data)
        res_put_heading(out, format, 2, title.data);
    bn_text_free(&setup);
    bn_text_free(&title);
}

/* The source of all device times from FIRST to END; NULL when there are several, "" when no row has
 * a device time. */
static const char *shared_source(const res_speedup *speedup, size_t first, size_t end)
{
    const char *source = "";
    for (size_t i = first; i < end; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        if (!isfinite(row->figures.device.value.estimate))
            continue;
        if (source[0] != '\0' && strcmp(source, row->figures.source) != 0)
            return NULL;
        source = row->figures.source;
    }
    return source;
}

/* Whether a row from FIRST to END is of another framework than bench. */
static bool has_front_ends(const res_speedup *speedup, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        if (!res_is_ours(&speedup->rows[i].record->experiment))
            return true;
    return false;
}

static void put_names(res_grid *grid, const res_speedup_row *row, res_axis_set mask, bool repeat,
                      bool front_ends)
{
    const res_experiment *experiment = &row->record->experiment;
    bool named = repeat || row->first_of_cell;
    bn_text setup = {0};
    if (named)
        res_setup_text(experiment, mask, &setup);
    res_grid_cell(grid, "%s", named ? experiment->model : "");
    res_grid_cell(grid, "%s", named ? experiment->phase : "");
    res_grid_cell(grid, "%s", setup.data ? setup.data : "");
    if (front_ends)
        res_grid_cell(grid, "%s", experiment->front_end);
    /* The framework has a column of its own. */
    res_experiment own = *experiment;
    res_axis_set_value(&res_axes[RES_AXIS_FRONT_END], "", 0, &own);
    res_grid_cell(grid, "%s", res_way_of(&own).text);
    res_grid_graphs(grid, experiment);
    bn_text_free(&setup);
}

static void put_speedup(res_grid *grid, const res_speedup_row *row)
{
    const res_interval ratio = row->ratio.ratio;
    if (!row->compared) {
        const bool refused = row->other_build || row->other_conditions[0];
        res_grid_blank(grid, 1);
        res_grid_cell(grid, "%s", row->base ? "baseline" : "-");
        res_grid_blank(grid, 1);
        res_grid_cell(grid, "%s",
                      !refused           ? ""
                      : row->other_build ? "other build"
                                         : "other conditions");
        return;
    }
    res_grid_cell(grid, "%s", res_program_words(row->program));
    res_grid_cell(grid, "%s", res_ratio(ratio).text);
    res_grid_cell(grid, "%s", res_ratio_range(ratio).text);
    res_grid_cell(grid, "%s", res_speedup_verdict(row));
}

/* The first five cells are names, and the framework where there are others than bench; a failed row
 * has its class in all others. */
#define BLOCK_ALIGN "llllrrrrrrlrirlril"
#define BLOCK_HEADING                                                                              \
    "mode|graphs|processes|nodes|trace|overhead|device|source|wall|95 %|compile|program|vs lazy|"  \
    "95 %|difference"

/* In which order columns are left out where the table has to be narrow; '-': never. */
#define BLOCK_SPARE "----hdckija-fbe--g"

static void put_figures(res_grid *grid, const res_speedup_row *row, bool name_source)
{
    const res_figures *f = &row->figures;
    if (!res_record_good(row->record)) {
        char text[64];
        snprintf(text, sizeof text, "failed: %s", res_speedup_failure(row));
        res_grid_spill(grid, text, strlen(BLOCK_ALIGN) - 5);
        return;
    }
    res_grid_cell(grid, "%zu", row->pool.counted);
    if (isfinite(f->nodes_per_step))
        res_grid_cell(grid, res_is_looped(&row->record->experiment) ? "%.1f" : "%.10g",
                      f->nodes_per_step);
    else
        res_grid_cell(grid, "-");
    res_grid_cell(grid, "%s", res_figures_words(f, RES_METRIC_TRACE).text);
    res_grid_cell(grid, "%s", res_figures_words(f, RES_METRIC_OVERHEAD).text);
    res_grid_cell(grid, "%s", res_figures_words(f, RES_METRIC_DEVICE).text);
    res_grid_cell(grid, "%s",
                  !name_source                         ? ""
                  : isfinite(f->device.value.estimate) ? f->source
                                                       : "-");
    res_grid_cell(grid, "%s", res_figures_words(f, RES_METRIC_WALL).text);
    res_grid_cell(grid, "%s", res_figures_bounds(f, RES_METRIC_WALL).text);
    res_grid_cell(grid, "%s", res_figures_words(f, RES_METRIC_COMPILE).text);
    put_speedup(grid, row);
}

static void put_means(const res_speedup *speedup, const res_record *block, res_format format,
                      bn_text *out)
{
    res_grid grid = res_grid_make("llrriir");
    bool any = false;
    res_grid_row(&grid, "phase|mode|graphs|geometric mean vs lazy|95 %|cells|processes");
    for (size_t i = 0; i < speedup->mean_count; i++) {
        const res_speedup_mean *mean = &speedup->means[i];
        const res_experiment *example = &mean->example->experiment;
        if (!res_same_block(mean->example, block))
            continue;
        any = true;
        res_grid_cell(&grid, "%s", example->phase);
        res_grid_cell(&grid, "%s", res_way_of(example).text);
        res_grid_graphs(&grid, example);
        res_grid_cell(&grid, "%s", res_ratio(mean->mean.ratio).text);
        res_grid_cell(&grid, "%s", res_ratio_range(mean->mean.ratio).text);
        res_grid_cell(&grid, "(%zu of %zu)", mean->covered, mean->cells);
        res_grid_cell(&grid, mean->mean.by_process ? "%zu" : "%zu or more", mean->mean.processes);
    }
    if (any) {
        bn_text_putc(out, '\n');
        res_grid_render(&grid, format, out);
    }
    res_grid_free(&grid);
}

static const char *processes_word(const res_speedup_row *row, char room[32])
{
    snprintf(room, 32, "%zu", row->pool.counted);
    return row->pool.counted > 0 ? room : "";
}

static const char *program_word(const res_speedup_row *row, char room[32])
{
    (void)room;
    return row->compared ? res_program_words(row->program) : "";
}

/* Columns that narrow text has no room for and a reader needs, in sentences. */
static void put_unshown(const res_speedup *speedup, size_t first, size_t end, const res_grid *grid,
                        res_format format, bn_text *out)
{
    static const struct {
        const char *heading, *head;
        res_speedup_word *word;
    } columns[] = {{"processes", "Processes", processes_word},
                   {"program", "Program, compared with lazy", program_word}};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        bn_text line = {0};
        if (!res_grid_shows(grid, format, columns[i].heading))
            res_speedup_put_column(speedup, first, end, columns[i].head, columns[i].word, &line);
        if (line.length > 0 && line.data)
            res_put_note(out, format, line.data);
        bn_text_free(&line);
    }
}

static void put_block(const res_speedup *speedup, size_t first, size_t end, res_format format,
                      bn_text *out)
{
    res_axis_set mask = res_speedup_varying(speedup, first, end);
    const char *source = shared_source(speedup, first, end);
    block_heading(speedup, first, end, res_setup_all() & ~mask, format, out);
    const bool others = has_front_ends(speedup, first, end);
    res_grid grid = res_grid_make(others ? "l" BLOCK_ALIGN : BLOCK_ALIGN);
    grid.spare = others ? "-" BLOCK_SPARE : BLOCK_SPARE;
    res_grid_row(&grid, others ? "model|phase|setup|framework|" BLOCK_HEADING
                               : "model|phase|setup|" BLOCK_HEADING);
    for (size_t i = first; i < end; i++) {
        put_names(&grid, &speedup->rows[i], mask, !res_format_is_text(format), others);
        put_figures(&grid, &speedup->rows[i], source == NULL);
    }
    res_grid_render(&grid, format, out);
    bn_text notes = {0};
    if (source) {
        char text[64];
        snprintf(text, sizeof text, "Source of device times: %s.",
                 source[0] != '\0' ? source : "unavailable");
        res_put_note(&notes, format, text);
    }
    put_unshown(speedup, first, end, &grid, format, &notes);
    res_grid_free(&grid);
    if (notes.length > 0 && notes.data)
        bn_text_printf(out, "\n%s", notes.data);
    bn_text_free(&notes);
    put_means(speedup, speedup->rows[first].record, format, out);
}

/* The meaning of figures of other frameworks, which bench cannot look into. */
static void put_front_ends(const res_speedup *speedup, res_format format, bn_text *out)
{
    static const char *const lines[] = {
        "framework: frameworks run in processes of their own, between those of bench, under the "
        "recorder. trace: all host time outside of PJRT calls, an upper bound of tracing; nodes: "
        "traced in each step, by the framework's own count.",
        "device: of frameworks the time between completions, which includes the start of an "
        "execution (source: event). Arrays have the framework's layout.",
        "Without a lazy row of bench a cell's baseline is its first row that succeeded, marked "
        "baseline; geometric means leave such cells out.",
    };
    if (!has_front_ends(speedup, 0, speedup->count))
        return;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        res_put_note(out, format, lines[i]);
}

static void put_legend(const res_speedup *speedup, res_format format, bn_text *out)
{
    static const char *const lines[] = {
        "processes: that measured the row. Each gives one value; intervals (95 %, Student's t) are "
        "over these values, or over the means of runs where there are several (they are named). "
        "Those of ratios borrow variance from the other rows where there are four or more, and "
        "include the standard deviation between runs (tau) where a note names one.",
        "nodes: traced in a step.  trace: trace, hash and lookup of a step.",
        "overhead: PJRT time minus device time of one execution; \"<\": indistinguishable from "
        "zero.",
        "device: device time of a step.",
        "wall: median step of a round, averaged over the middle half of the rounds.",
        res_times_note,
        "compile: lowering and compile calls, of the processes that compiled; \"-\": the programs "
        "came from the cache.",
        "program: the device's program, compared with lazy.",
        "vs lazy: mean step of bench's lazy with the fewest graphs over that of this row, by round "
        "and process, trimmed by a tenth of a round's steps at each end.",
        "difference: of the typical process; significance at 5 % family-wise over the table "
        "(Holm). "
        "Rare slow processes may not show.",
        "Geometric means: (cells with a value, of all cells of the phase); by process first, or by "
        "cell where cells have different numbers of processes (\"or more\"). They are not tested "
        "for significance.",
    };
    bn_text_putc(out, '\n');
    if (format == RES_TABLE_NARROW) {
        res_put_note(out, format,
                     "All columns and their meaning: bench table --wide [--store DIR].");
        return;
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        res_put_note(out, format, lines[i]);
    put_front_ends(speedup, format, out);
}

/* A paragraph of the sentences of LIST's objects; releases LIST. */
static void put_sentences(json_t *list, res_format format, bn_text *out)
{
    size_t index;
    json_t *one;
    json_array_foreach(list, index, one)
    {
        res_put_note(out, format, json_string_value(json_object_get(one, "sentence")));
    }
    json_decref(list);
}

static void put_notes(const res_speedup *speedup, res_format format, bn_text *out)
{
    json_t *notes = res_speedup_notes(speedup);
    if (json_array_size(notes) > 0)
        bn_text_putc(out, '\n');
    res_put_notes(out, format, notes);
    json_decref(notes);
}

static void put_blocks(const res_speedup *speedup, res_format format, bn_text *out)
{
    bn_text busy = {0};
    res_put_heading(out, format, 1, "Speedup over lazy tracing");
    if (speedup->count == 0) {
        res_put_note(out, format, "No records.");
        return;
    }
    res_speedup_busy(speedup, &busy);
    if (busy.data && busy.length > 0) {
        res_put_note(out, format, busy.data);
        bn_text_putc(out, '\n');
    }
    bn_text_free(&busy);
    for (size_t first = 0, end; first < speedup->count; first = end) {
        end = first + 1;
        while (end < speedup->count && !speedup->rows[end].first_of_block)
            end++;
        put_block(speedup, first, end, format, out);
    }
    put_notes(speedup, format, out);
    put_legend(speedup, format, out);
    res_put_heading(out, format, 2, "Findings");
    put_sentences(res_speedup_findings(speedup), format, out);
}

void res_table_speedup(const res_collection *all, res_format format, bn_text *out)
{
    res_speedup speedup;
    res_speedup_make(all, &speedup);
    if (format == RES_TABLE_CSV || format == RES_TABLE_JSON)
        res_speedup_export(&speedup, format, out);
    else
        put_blocks(&speedup, format, out);
    res_speedup_free(&speedup);
}

const res_table_kind res_table_of_speedup = {"speedup", "", res_table_speedup};
