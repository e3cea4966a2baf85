/*
 * table_record.c - one record for people: what ran, its wall time, the ledger,
 * the executions, what compiling them cost, and the counters.
 */
#include "results/tables/tables_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of more than RES_MOST_ROWS executions so many are shown. */
#define ROWS_SHOWN 10

#define LABEL 10 /* columns of a line's name in text */

/* In narrow text further lines of VALUE stand below its first one. */
static void put_narrow_line(bn_text *out, const char *name, const char *value)
{
    bn_text plain = {0}, lines = {0};
    bn_text_plain(&plain, value);
    bn_text_wrap(&lines, plain.data ? plain.data : "", res_narrow() - LABEL);
    if (lines.length == 0)
        bn_text_printf(out, "%s\n", name);
    for (const char *at = lines.data; at && *at;) {
        const size_t length = strcspn(at, "\n");
        bn_text_printf(out, "%-*s%.*s\n", LABEL, at == lines.data ? name : "", (int)length, at);
        at += length + (at[length] == '\n');
    }
    bn_text_free(&plain);
    bn_text_free(&lines);
}

static void put_line(bn_text *out, res_format format, const char *name, const char *value)
{
    if (format == RES_TABLE_NARROW) {
        put_narrow_line(out, name, value);
        return;
    }
    bn_text_printf(out,
                   format == RES_TABLE_TEXT       ? "%-9s "
                   : format == RES_TABLE_MARKDOWN ? "- **%s**: "
                   : format == RES_TABLE_HTML     ? "<p><b>%s</b>: "
                                                  : "\\textbf{%s}: ",
                   name);
    res_put_escaped(out, format, value);
    bn_text_puts(out, format == RES_TABLE_HTML    ? "</p>\n"
                      : format == RES_TABLE_LATEX ? "\n\n"
                                                  : "\n");
}

/* res_middle_mean of so many is their median. */
#define MOST_OF_MEDIAN 6
#define STEP_WORDS     120

/* The steps that res_step_median took: "median of 5 steps", "median of 3 rounds' medians, 15
 * steps", "mean of the middle half of 20 rounds' medians, 400 steps". */
static void step_words(const res_record *record, char text[STEP_WORDS])
{
    const size_t rounds = record->round_count, steps = record->step_count;
    if (rounds == 0)
        snprintf(text, STEP_WORDS, "median of %zu steps", steps);
    else
        snprintf(text, STEP_WORDS, "%s of %zu round%s, %zu steps",
                 rounds > MOST_OF_MEDIAN ? "mean of the middle half" : "median", rounds,
                 rounds == 1 ? "'s median" : "s' medians", steps);
}

/* One process: how far its steps lie apart says nothing about the next process. */
static void put_wall(const res_record *record, res_format format, bn_text *out)
{
    char text[200 + STEP_WORDS], words[STEP_WORDS];
    if (record->step_count > 0) {
        step_words(record, words);
        const double median = res_step_median(record, record->wall_ns);
        snprintf(text, sizeof text, "%s a step: %s, p10 to p90 %s; one process has no interval",
                 res_time(median).text, words,
                 res_time_range(median, res_quantile(record->wall_ns, record->step_count, 0.1),
                                res_quantile(record->wall_ns, record->step_count, 0.9))
                     .text);
        put_line(out, format, "wall", text);
    }
    if (record->status != BN_OK && record->warmup_count == 0)
        return; /* it failed before the first step */
    snprintf(text, sizeof text, "%zu steps, %s", record->warmup_count,
             record->warmup_stationary ? "until the step time was stationary"
                                       : "ended by its limit: the step time was not stationary");
    put_line(out, format, "warm-up", text);
}

static void put_group(const res_record *record, res_format format, bn_text *out)
{
    const char *how = res_provenance_text(record, RES_PROV_GROUP_HOW);
    char text[256];
    if (res_group_process(record) == 0)
        return;
    snprintf(text, sizeof text, "process %d of %lld of %s%s%s", res_group_process(record),
             (long long)res_provenance_integer(record, RES_PROV_GROUP_PROCESSES, 0),
             res_group_id(record), how[0] ? ", " : "", how);
    put_line(out, format, "group", text);
}

/* Changes that the plugin made in the process that measured it. */
static void put_surroundings(const res_record *record, res_format format, bn_text *out)
{
    const json_t *list = res_provenance(record, RES_PROV_SURROUNDINGS);
    bn_text line = {0};
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *what, *when, *detail;
        int left;
        if (json_unpack(json_array_get(list, i), "{ss ss ss sb}", "what", &what, "when", &when,
                        "detail", &detail, "left", &left) != 0)
            continue;
        bn_text_printf(&line, "%s%s%s%s%s (%s%s)", line.length > 0 ? "; " : "", what,
                       *detail ? " (" : "", detail, *detail ? ")" : "", when,
                       left ? ", not put back" : "");
    }
    if (line.length > 0)
        put_line(out, format, "the plugin changed", line.data);
    bn_text_free(&line);
}

/* Whether the parameters that were to lie in the host's memory do. */
static void put_offload(const res_record *record, res_format format, bn_text *out)
{
    char text[256];
    int64_t asked, found;
    const char *word = res_offload_word(record, &asked, &found);
    if (!word[0])
        return;
    snprintf(text, sizeof text, "%s: %s asked into the host's memory, temporaries there: %s", word,
             res_size(asked).text, found < 0 ? "unknown" : res_size(found).text);
    put_line(out, format, "offload", text);
}

/* The compiler's layouts of values between graphs. */
static void put_layouts(const res_record *record, res_format format, bn_text *out)
{
    char text[128];
    int64_t rearranged;
    const int64_t passed = res_passed_in_layout(record, &rearranged);
    if (passed == 0)
        return;
    snprintf(text, sizeof text,
             "the compiler lays out %lld of %lld values between graphs other than row-major",
             (long long)rearranged, (long long)passed);
    put_line(out, format, "layouts", text);
}

/* A loss near zero is no fault where each step has the same batch. */
static void put_loss(const res_record *record, res_format format, bn_text *out)
{
    const res_experiment *e = &record->experiment;
    const bool same = strcmp(e->phase, "train") == 0 &&
                      res_axis_is_usual(&res_axes[RES_AXIS_INPUT], e) &&
                      res_axis_is_usual(&res_axes[RES_AXIS_LENGTHS], e);
    char text[128];
    if (!isfinite(record->loss))
        return;
    snprintf(text, sizeof text, "%.6g after the first round%s", record->loss,
             same ? "; training on one batch brings it near zero" : "");
    put_line(out, format, "loss", text);
}

static void put_summary(const res_record *record, res_format format, bn_text *out)
{
    const res_experiment *experiment = &record->experiment;
    bn_text line = {0};
    bn_text_printf(&line, "%s, %s, %s, %d %s", experiment->model, experiment->phase,
                   res_way_of(experiment).text, experiment->graphs,
                   experiment->graphs == 1 ? "graph" : "graphs");
    if (line.data)
        res_put_heading(out, format, 1, line.data);

    bn_text_clear(&line);
    const char *sha256 = res_plugin_sha256(record);
    bn_text_printf(&line, "%s%s", experiment->runtime, res_simulated_shown(record));
    if (sha256[0] != '\0')
        bn_text_printf(&line, ", sha256 %.12s", sha256);
    if (strcmp(record->values, "none") == 0)
        bn_text_puts(&line, ", values: none (results are zeros)");
    if (strcmp(record->values, "opaque") == 0)
        bn_text_puts(&line,
                     ", values: none (programs that it cannot read, at stated costs; results "
                     "are zeros)");
    if (line.data)
        put_line(out, format, "runtime", line.data);

    bn_text_clear(&line);
    res_setup_text(experiment, res_setup_all(), &line);
    if (line.data)
        put_line(out, format, "setup", line.data);
    if (res_provenance(record, RES_PROV_IDLE_CORES))
        put_line(out, format, "cores", "idle ones were kept awake");
    put_surroundings(record, format, out);
    put_line(out, format, "record", record->id);
    put_group(record, format, out);
    put_offload(record, format, out);
    put_layouts(record, format, out);

    bn_text_clear(&line);
    bn_text_puts(&line, bn_code_name(record->status));
    if (record->status != BN_OK)
        bn_text_printf(&line, ": %s", record->message);
    if (line.data)
        put_line(out, format, "status", line.data);
    put_wall(record, format, out);
    put_loss(record, format, out);
    bn_text_free(&line);
}

/* ---- ledger ----------------------------------------------------------------- */

typedef struct ledger_scale {
    double median_ns, mean_ns; /* of the wall time */
} ledger_scale;

static void put_share(res_grid *grid, double part, double whole)
{
    if (isfinite(part) && whole > 0)
        res_grid_cell(grid, "%.1f", 100 * part / whole);
    else
        res_grid_cell(grid, "-");
}

static void ledger_row(res_grid *grid, const char *name, const res_record *record,
                       const uint64_t *values, ledger_scale wall)
{
    const size_t count = record->step_count;
    double median = res_step_median(record, values), mean = res_mean(values, count);
    res_grid_cell(grid, "%s", name);
    res_grid_cell(grid, "%s", res_time_aligned(median, wall.median_ns).text);
    res_grid_cell(grid, "%s",
                  res_time_aligned(res_quantile(values, count, 0.1), wall.median_ns).text);
    res_grid_cell(grid, "%s",
                  res_time_aligned(res_quantile(values, count, 0.9), wall.median_ns).text);
    put_share(grid, median, wall.median_ns);
    res_grid_cell(grid, "%s", res_time_aligned(mean, wall.median_ns).text);
    put_share(grid, mean, wall.mean_ns);
}

/* Nanoseconds by which the sum of the parts over all steps differs from the wall time. In whole
 * numbers, so 0 is exact. */
static int64_t ledger_gap_ns(const res_record *record)
{
    uint64_t parts = 0, wall = 0;
    for (size_t i = 0; i < record->step_count * BN_PART_COUNT; i++)
        parts += record->part_ns[i];
    for (size_t i = 0; i < record->step_count; i++)
        wall += record->wall_ns[i];
    return (int64_t)(parts - wall);
}

static void ledger_rows(const res_record *record, res_grid *grid, uint64_t *series)
{
    const ledger_scale wall = {res_step_median(record, record->wall_ns),
                               res_mean(record->wall_ns, record->step_count)};
    bn_part all[BN_PART_COUNT];
    res_grid_row(grid, "part|median|p10|p90|% of median|mean|% of mean");
    for (int p = 0; p < BN_PART_COUNT; p++) {
        all[p] = (bn_part)p;
        res_part_series(record, &all[p], 1, series);
        ledger_row(grid, bn_part_name(all[p]), record, series, wall);
    }
    res_grid_rule(grid);
    res_part_series(record, all, BN_PART_COUNT, series);
    double mean = res_mean(series, record->step_count);
    res_grid_cell(grid, "sum of parts");
    res_grid_blank(grid, 4);
    res_grid_cell(grid, "%s", res_time_aligned(mean, wall.median_ns).text);
    put_share(grid, mean, wall.mean_ns);
    ledger_row(grid, "wall", record, record->wall_ns, wall);
}

static void put_ledger(const res_record *record, res_format format, bn_text *out)
{
    if (record->step_count == 0)
        return;
    char text[160];
    uint64_t *series = bn_zalloc(record->step_count, sizeof *series);
    double wall_ns = res_step_median(record, record->wall_ns);
    snprintf(text, sizeof text, "Ledger of a step, %s", res_time_aligned_unit(wall_ns));
    res_put_heading(out, format, 2, text);
    res_grid grid = res_grid_make("lrrrrrr");
    ledger_rows(record, &grid, series);
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
    free(series);

    bn_text_putc(out, '\n');
    res_put_note(out, format,
                 "Each nanosecond is in exactly one part: means add up, medians need not.");
    if (record->round_count > 0)
        res_put_note(out, format,
                     record->round_count > MOST_OF_MEDIAN
                         ? "Medians are the mean of the middle half of the rounds' medians, as in "
                           "all tables; p10, p90 and mean are of all steps."
                         : "Medians are those of the rounds' medians, as in all tables; p10, p90 "
                           "and mean are of all steps.");
    snprintf(text, sizeof text,
             "Over all %zu steps the parts differ from the wall time by %lld ns.",
             record->step_count, (long long)ledger_gap_ns(record));
    res_put_note(out, format, text);
}

/* ---- executions --------------------------------------------------------------- */

static void execution_row(res_grid *grid, const res_execution *execution, const res_figures *step,
                          bool ranked)
{
    const res_execution_shown shown = res_record_execution(step, execution);
    res_grid_cell(grid, "%s", execution->graph);
    res_grid_cell(grid, "%.4g", res_execution_times(execution));
    res_grid_cell(grid, "%lld", (long long)execution->nodes);
    res_grid_cell(grid, "%d", execution->arguments);
    res_grid_cell(grid, "%d", execution->results);
    res_grid_cell(grid, "%s", res_time(res_execution_pjrt_ns(execution)).text);
    res_grid_cell(grid, "%s", ranked ? res_time(res_step_pjrt_ns(execution)).text : "");
    res_grid_cell(grid, "%s", res_time(shown.device.estimate).text);
    res_grid_cell(grid, "%s",
                  res_time_range(shown.device.estimate, shown.device.low, shown.device.high).text);
    res_grid_cell(grid, "%s",
                  res_time_refusable(shown.overhead, shown.refusal != RES_REFUSED_NOTHING).text);
    res_grid_cell(
        grid, "%s",
        execution->probe_count > 0
            ? res_share(res_probes_estimate(execution->probes, execution->probe_count).null).text
            : "");
    res_grid_cell(grid, "%s", bn_device_time_source_name(execution->device_source));
}

static void compile_row(res_grid *grid, const res_execution *execution)
{
    res_grid_cell(grid, "%s", execution->graph);
    res_grid_cell(grid, "%s",
                  execution->from_disk ? "from disk" : res_time((double)execution->lower_ns).text);
    res_grid_cell(grid, "%s",
                  execution->from_disk ? "from disk"
                                       : res_time((double)execution->compile_ns).text);
    res_grid_cell(grid, "%s",
                  res_size(execution->text_bytes > 0 ? execution->text_bytes : -1).text);
    res_grid_cell(grid, "%s", res_amount(execution->flops).text);
    res_grid_cell(grid, "%s", res_size(execution->argument_bytes).text);
    res_grid_cell(grid, "%s", res_size(execution->result_bytes).text);
    res_grid_cell(grid, "%s", res_size(execution->temp_bytes).text);
    res_grid_cell(grid, "%s", res_size(execution->code_bytes).text);
    res_grid_cell(grid, "%.8s", execution->fingerprint);
}

/* Adds one line for the executions that are not shown. */
static void rest_rows(const res_execution *const *rows, size_t count, res_grid *run,
                      res_grid *compile)
{
    double executions = 0;
    double step_ns = 0, lower_ns = 0, compile_ns = 0;
    for (size_t i = 0; i < count; i++) {
        const res_execution *execution = rows[i];
        executions += res_execution_times(execution);
        step_ns += res_step_pjrt_ns(execution);
        lower_ns += execution->from_disk ? 0 : (double)execution->lower_ns;
        compile_ns += execution->from_disk ? 0 : (double)execution->compile_ns;
    }
    res_grid_cell(run, "%zu others", count);
    res_grid_cell(run, "%.10g", executions);
    res_grid_blank(run, 4);
    res_grid_cell(run, "%s", res_time(step_ns).text);
    res_grid_blank(run, 5);
    res_grid_cell(compile, "%zu others", count);
    res_grid_cell(compile, "%s", res_time(lower_ns).text);
    res_grid_cell(compile, "%s", res_time(compile_ns).text);
    res_grid_blank(compile, 7);
}

/* Says why device times are missing or limited, each reason once. */
static void put_device_notes(const res_record *record, const res_figures *step, res_format format,
                             bn_text *out)
{
    const res_device_remark remark = res_figures_remark(step);
    if (remark != RES_DEVICE_PLAIN) {
        char said[256];
        snprintf(said, sizeof said, "%s.", res_device_remark_words(remark));
        res_put_note(out, format, said);
    }
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        size_t earlier = 0, same = 1;
        while (earlier < i &&
               strcmp(record->executions[earlier].device_note, execution->device_note) != 0)
            earlier++;
        if (earlier < i || execution->device_note[0] == '\0')
            continue;
        for (size_t later = i + 1; later < record->execution_count; later++)
            same += strcmp(record->executions[later].device_note, execution->device_note) == 0;
        char text[256];
        if (same > 1)
            snprintf(text, sizeof text, "Device time of %s and %zu more: %s.", execution->graph,
                     same - 1, execution->device_note);
        else
            snprintf(text, sizeof text, "Device time of %s: %s.", execution->graph,
                     execution->device_note);
        res_put_note(out, format, text);
    }
}

static void put_executions(const res_record *record, res_format format, bn_text *out)
{
    size_t count = record->execution_count;
    if (count == 0)
        return;
    const res_execution **rows = res_rank_executions(record);
    const res_figures step = res_record_figures(record);
    size_t shown = count > RES_MOST_ROWS ? ROWS_SHOWN : count;
    res_grid run = res_grid_make("lrrrrrrrirrl"), compile = res_grid_make("lrrrrrrrrl");
    res_grid_row(&run, "graph|a step|graph nodes|args|results|PJRT|all of a step|device|within "
                       "this process|overhead|"
                       "null test|source");
    res_grid_row(
        &compile,
        "graph|lowering|compile|program|FLOP|arguments|results|temporary|code|fingerprint");
    for (size_t i = 0; i < shown; i++) {
        execution_row(&run, rows[i], &step, shown < count);
        compile_row(&compile, rows[i]);
    }
    if (shown < count)
        rest_rows(rows + shown, count - shown, &run, &compile);

    res_put_heading(out, format, 2,
                    shown < count ? "Executions, the ten that cost a step most first"
                                  : "Executions");
    res_grid_render(&run, format, out);
    bn_text_putc(out, '\n');
    res_put_note(out, format,
                 "PJRT time runs from submit to ready, one execution alone (median); "
                 "overhead is PJRT minus device, round by round (median): medians need not add up. "
                 "\"<\": an overhead that is indistinguishable from zero. Intervals are over the "
                 "rounds of this process; processes differ by more.");
    put_device_notes(record, &step, format, out);
    res_put_heading(out, format, 2, "Compilation");
    res_grid_render(&compile, format, out);
    res_grid_free(&compile);
    res_grid_free(&run);
    free(rows);
}

static void put_counters(const res_record *record, res_format format, bn_text *out)
{
    res_grid grid = res_grid_make("lrrr");
    size_t shown = 0;
    res_grid_row(&grid, "counter|a step|measured steps|whole experiment");
    for (int c = 0; c < BN_COUNTER_COUNT; c++) {
        if (record->counters[c] == 0 && record->step_counters[c] == 0)
            continue;
        shown++;
        res_grid_cell(&grid, "%s", bn_counter_name((bn_counter)c));
        if (record->step_count > 0)
            res_grid_cell(&grid, "%.10g", res_counter_a_step(record, (bn_counter)c));
        else
            res_grid_cell(&grid, "-");
        res_grid_cell(&grid, "%lld", (long long)record->step_counters[c]);
        res_grid_cell(&grid, "%lld", (long long)record->counters[c]);
    }
    if (shown > 0) {
        res_put_heading(out, format, 2, "Counters");
        res_grid_render(&grid, format, out);
    }
    res_grid_free(&grid);
}

/* ---- CSV ------------------------------------------------------------------------ */

static void csv_value(res_grid *grid, const char *section, const char *item, const char *quantity,
                      const json_t *value)
{
    res_grid_cell(grid, "%s", section);
    res_grid_cell(grid, "%s", item);
    res_grid_cell(grid, "%s", quantity);
    res_grid_json(grid, value);
}

static void csv_object(res_grid *grid, const char *section, const char *item, json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        const char *inner;
        json_t *figure;
        if (!json_is_object(value) || item[0] != '\0') {
            csv_value(grid, section, item, key, value);
            continue;
        }
        json_object_foreach(value, inner, figure)
        {
            csv_value(grid, section, key, inner, figure);
        }
    }
}

/* The JSON record with a line a figure: it has all there is, in nanoseconds. */
static void put_csv(json_t *record, bn_text *out)
{
    res_grid grid = res_grid_make("llll");
    const char *key;
    json_t *value, *row;
    size_t index;
    res_grid_row(&grid, "section|item|quantity|value");
    json_object_foreach(record, key, value)
    {
        if (json_is_object(value)) {
            csv_object(&grid, key, "", value);
        } else if (json_is_array(value)) {
            json_array_foreach(value, index, row)
            {
                char item[24];
                snprintf(item, sizeof item, "%zu", index);
                csv_object(&grid, key, item, row);
            }
        } else {
            csv_value(&grid, "record", "", key, value);
        }
    }
    res_grid_render(&grid, RES_TABLE_CSV, out);
    res_grid_free(&grid);
}

void res_table_record(const res_record *record, res_format format, bn_text *out)
{
    if (format == RES_TABLE_CSV || format == RES_TABLE_JSON) {
        json_t *object = res_record_to_json(record);
        if (format == RES_TABLE_JSON)
            res_put_json(out, object);
        else
            put_csv(object, out);
        json_decref(object);
        return;
    }
    put_summary(record, format, out);
    put_ledger(record, format, out);
    put_executions(record, format, out);
    put_counters(record, format, out);
}
