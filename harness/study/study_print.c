/*
 * study_print.c - a study as tables and sentences, and as JSON.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

res_interval study_point(const study_line *line, size_t i)
{
    double room[RES_MOST_REPETITIONS];
    for (size_t p = 0; p < line->fit.processes; p++)
        room[p] = line->y[p * line->fit.points + i];
    const res_estimate estimate = res_estimate_of(room, line->fit.processes);
    return res_estimate_interval(&estimate);
}

/* A point above the line is positive, also where the line is below zero. */
double study_off(const study_line *line, size_t i)
{
    const double fitted = res_line_at(&line->fit, line->x[i]);
    return (study_point(line, i).estimate - fitted) / fabs(fitted);
}

/* The swept axis' value at point I of LINE. */
static double value_of(const study *s, const study_line *line, size_t i)
{
    return study_swept(s, 0, line->place[i]);
}

/* ---- JSON --------- */

static json_t *points_json(const study *s, const study_line *line)
{
    json_t *list = json_array();
    for (size_t i = 0; i < line->fit.points; i++) {
        json_t *one = study_json(study_point(line, i));
        json_object_set_new(one, res_axes[s->kind->axis].field.name,
                            json_real(value_of(s, line, i)));
        json_object_set_new(one, "x", json_real(line->x[i]));
        json_object_set_new(one, "line", res_json_real(res_line_at(&line->fit, line->x[i])));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *line_json(const study *s, const study_line *line)
{
    return json_pack(
        "{ss ss ss so so ss so sf si so}", "what", line->what, "mode", line->mode, "unit",
        line->time ? "ns" : "", "base", study_json(res_estimate_interval(&line->fit.base)), "slope",
        study_json(res_estimate_interval(&line->fit.slope)), "law", res_fit_name(line->fit.verdict),
        "off", res_json_real(line->fit.off), "p", line->fit.p, "processes",
        (int)line->fit.processes, "points", points_json(s, line));
}

static json_t *words_json(const bn_text *words)
{
    json_t *list = json_array();
    for (const char *at = words->data; at && *at;) {
        const size_t length = strcspn(at, "\n");
        json_array_append_new(list, json_stringn(at, length));
        at += length + (at[length] == '\n');
    }
    return list;
}

static void print_json(const study *s, const res_record *any)
{
    json_t *lines = json_array();
    for (size_t i = 0; i < s->line_count; i++)
        json_array_append_new(lines, line_json(s, &s->lines[i]));
    json_t *all =
        json_pack("{ss ss ss ss sb si si so sO so sO}", "study", s->kind->name, "law",
                  s->kind->equation, "model", any->experiment.model, "runtime",
                  any->experiment.runtime, "simulated", (int)any->simulated, "processes",
                  (int)s->processes, "left_out", (int)(s->turns - s->processes), "lines", lines,
                  "answers", s->answers, "words", words_json(&s->words), "word_ids", s->word_ids);
    cli_json(all);
    json_decref(all);
}

/* ---- tables --------- */

static void put_bounds(json_t *row, res_interval interval, bool time)
{
    res_sheet_put(row, "%s", study_number(interval.estimate, time).text);
    if (isfinite(interval.low) && isfinite(interval.high))
        res_sheet_put(row, "%s to %s", study_number(interval.low, time).text,
                      study_number(interval.high, time).text);
    else
        res_sheet_put(row, "%s", "");
}

static void put_points(const study *s, res_format format, bn_text *out)
{
    const res_sheet_column columns[] = {
        {"what", false},    {"mode", false}, {res_axes[s->kind->axis].field.name, true},
        {"measured", true}, {"95 %", true},  {"fitted", true},
        {"off", true}};
    json_t *rows = json_array();
    for (size_t k = 0; k < s->line_count; k++) {
        const study_line *line = &s->lines[k];
        for (size_t i = 0; i < line->fit.points; i++) {
            json_t *row = json_array();
            res_sheet_put(row, "%s", line->what);
            res_sheet_put(row, "%s", line->mode);
            res_sheet_put(row, "%.0f", value_of(s, line, i));
            put_bounds(row, study_point(line, i), line->time);
            res_sheet_put(row, "%s",
                          study_number(res_line_at(&line->fit, line->x[i]), line->time).text);
            res_sheet_put(row, "%s", study_percent(study_off(line, i)).text);
            json_array_append_new(rows, row);
        }
    }
    res_sheet_write_named(columns, sizeof columns / sizeof *columns, 3, rows, format, out);
    json_decref(rows);
}

static void put_lines(const study *s, res_format format, bn_text *out)
{
    char slope[RES_TEXT + 4];
    snprintf(slope, sizeof slope, "each %s", s->kind->unit);
    const res_sheet_column columns[] = {{"what", false}, {"mode", false}, {"base", true},
                                        {"95 %", true},  {slope, true},   {"95 %", true},
                                        {"fit", false}};
    json_t *rows = json_array();
    for (size_t k = 0; k < s->line_count; k++) {
        const study_line *line = &s->lines[k];
        json_t *row = json_array();
        res_sheet_put(row, "%s", line->what);
        res_sheet_put(row, "%s", line->mode);
        put_bounds(row, res_estimate_interval(&line->fit.base), line->time);
        put_bounds(row, res_estimate_interval(&line->fit.slope), line->time);
        res_sheet_put(row, "%s", res_fit_name(line->fit.verdict));
        json_array_append_new(rows, row);
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, rows, format, out);
    json_decref(rows);
}

/* ---- sentences --------- */

void study_say_fits(study *s)
{
    size_t unknown = 0;
    for (size_t k = 0; k < s->line_count; k++) {
        const study_line *line = &s->lines[k];
        const double off = study_off(line, line->fit.off_at);
        unknown += line->fit.verdict == RES_FIT_UNKNOWN;
        if (line->fit.verdict == RES_FIT_FAILS)
            study_say(
                s, line->mode, "misfit",
                "The line does not fit the %s of %s: at %s %.0f it is %s %s the line, more than "
                "processes differ.",
                line->what, line->mode, res_axes[s->kind->axis].field.name,
                value_of(s, line, line->fit.off_at), study_percent(fabs(off)).text,
                off > 0 ? "above" : "below");
    }
    if (unknown > 0)
        study_say(s, "", "fit_unknown",
                  "Unknown whether the fit holds for %zu line%s: that takes three points and %d "
                  "processes.",
                  unknown, unknown == 1 ? "" : "s", RES_LEAST_PROCESSES);
}

static void say_processes(study *s)
{
    if (s->processes < RES_LEAST_PROCESSES)
        study_say(s, "", "no_intervals", "No intervals: %zu process%s of %d.", s->processes,
                  s->processes == 1 ? "" : "es", RES_LEAST_PROCESSES);
    if (s->processes < s->turns)
        study_say(s, "", "left_out",
                  "%zu of %zu turns are left out: not all of their experiments were measured.",
                  s->turns - s->processes, s->turns);
}

static void put_all(const study *s, const res_record *any, res_format format, bn_text *out)
{
    const bool people = res_format_is_text(format) || format == RES_TABLE_MARKDOWN;
    bn_text head = {0}, words = {0};
    bn_text_printf(&head, "Study %s: %s %s on %s%s, %zu process%s. Fit: %s.\n\n", s->kind->name,
                   any->experiment.model, any->experiment.phase, any->experiment.runtime,
                   any->simulated ? " (simulated)" : "", s->processes,
                   s->processes == 1 ? "" : "es", s->kind->equation);
    bn_text_printf(&words, "\n%s%s\n", s->words.data ? s->words.data : "", res_times_note);
    if (people)
        res_put_lines(out, format, head.data);
    put_points(s, format, out);
    if (people)
        bn_text_putc(out, '\n');
    put_lines(s, format, out);
    if (people)
        res_put_lines(out, format, words.data);
    bn_text_free(&head);
    bn_text_free(&words);
}

void study_print(study *s, res_format format, const cli_output *output)
{
    bn_text out = {0}, wide = {0};
    const res_record *any = NULL;
    for (size_t i = 0; !any && i < s->turns * s->count; i++)
        if (s->records[i] && res_record_good(s->records[i]))
            any = s->records[i];
    if (!any)
        return;
    study_say_fits(s);
    say_processes(s);
    if (format == RES_TABLE_JSON) {
        print_json(s, any);
        return;
    }
    put_all(s, any, format, &out);
    if (cli_is_narrow(output))
        put_all(s, any, RES_TABLE_TEXT, &wide);
    cli_show_either(&out, &wide);
}
