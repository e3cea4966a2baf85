/* table_history.c - series over nights in all formats. A row is a stretch, with the change that
 * begins it and the builds on either side. */
#include "results/tables/tables_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* At most so many blocks in the picture, and the least range that fills its height: 5 %. */
#define BLOCKS      60
#define LEAST_RANGE 0.05
#define LEVELS      8

/* ---- words ------------------------------------------------------------------------ */

/* Formats a time; UNKNOWN where there is none. */
static res_figure utc_text(double time_s, const char *format, const char *unknown)
{
    res_figure figure;
    const time_t seconds = (time_t)time_s;
    struct tm utc;
    snprintf(figure.text, sizeof figure.text, "%s", unknown);
    if (isfinite(time_s) && gmtime_r(&seconds, &utc))
        strftime(figure.text, sizeof figure.text, format, &utc);
    return figure;
}

static res_figure date_text(double time_s)
{
    return utc_text(time_s, "%Y-%m-%d", "-");
}

/* "2026-01-31T02:00:00Z" */
static res_figure time_text(double time_s)
{
    return utc_text(time_s, "%Y-%m-%dT%H:%M:%SZ", "");
}

/* A name for people: the build's label, else the start of its digest. */
static res_figure build_text(const res_origin *origin)
{
    res_figure figure = {"unknown"};
    if (origin->label[0])
        snprintf(figure.text, sizeof figure.text, "%.*s", (int)bn_utf8_fit(origin->label, 40),
                 origin->label);
    else if (origin->sha256[0])
        snprintf(figure.text, sizeof figure.text, "%.12s", origin->sha256);
    return figure;
}

/* Other changes where a stretch begins: "same build, other settings". */
static res_figure cause_text(const res_stretch *s)
{
    res_figure figure;
    const struct {
        bool is;
        const char *words;
    } others[] = {{s->other_settings, "other settings"},
                  {s->other_front_end, "other framework"},
                  {s->other_host, "other host"},
                  {s->other_source, "other source"}};
    const bool any = s->other_settings || s->other_front_end || s->other_host || s->other_source;
    const char *build = s->other_build   ? "other build"
                        : s->build_known ? "same build"
                        : any            ? ""
                                         : "build unknown";
    size_t length = (size_t)snprintf(figure.text, sizeof figure.text, "%s", build);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].is && length < sizeof figure.text)
            length += (size_t)snprintf(figure.text + length, sizeof figure.text - length, "%s%s",
                                       length > 0 ? ", " : "", others[i].words);
    return figure;
}

void res_stretch_cause(const res_stretch *stretch, bn_text *out)
{
    bn_text_puts(out, cause_text(stretch).text);
}

static bool one_setting(const res_timeline *series)
{
    for (size_t i = 1; i < series->count; i++)
        if (strcmp(series->nights[i].settings, series->nights[0].settings) != 0)
            return false;
    return true;
}

void res_timeline_title(const res_timeline *series, bn_text *out)
{
    const res_axis_set several = one_setting(series) ? 0 : RES_AXIS_BIT(RES_AXIS_SETTINGS);
    const res_experiment *e = series->experiment;
    bn_text setup = {0};
    res_experiment_name(e, out);
    res_setup_text(e, res_setup_all() & ~several, &setup);
    if (setup.length > 0)
        bn_text_printf(out, ": %s", setup.data);
    bn_text_printf(out, ", on %s%s", e->runtime, series->simulated ? " (simulated)" : "");
    bn_text_free(&setup);
}

/* ---- picture ------------------------------------------------------------------------- */

/* Fills in the median of each block; NaN for a block of gaps. Returns the number of blocks. */
static size_t block_medians(const res_timeline *series, double *medians)
{
    const size_t blocks = series->count < BLOCKS ? series->count : BLOCKS;
    double *room = bn_zalloc(series->count, sizeof *room);
    for (size_t b = 0; b < blocks; b++) {
        size_t count = 0;
        for (size_t i = b * series->count / blocks; i < (b + 1) * series->count / blocks; i++)
            if (!isnan(series->nights[i].value))
                room[count++] = series->nights[i].value;
        medians[b] = res_median(room, count);
    }
    free(room);
    return blocks;
}

/* By their logs, but by the values themselves where one of them is at or below zero. */
static double height_of(double value, double low, double high)
{
    if (low > 0)
        return log(value / low) / fmax(log(high / low), log1p(LEAST_RANGE));
    return high > low ? (value - low) / (high - low) : 0;
}

static void put_picture(const res_timeline *series, bn_text *out)
{
    static const char *const levels[LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double medians[BLOCKS], low = INFINITY, high = -INFINITY;
    const size_t blocks = block_medians(series, medians);
    for (size_t b = 0; b < blocks; b++) {
        low = fmin(low, medians[b]);
        high = fmax(high, medians[b]);
    }
    for (size_t b = 0; b < blocks; b++) {
        const double height = height_of(medians[b], low, high) * LEVELS;
        const int level = isnan(height) ? -1 : height >= LEVELS ? LEVELS - 1 : (int)height;
        bn_text_puts(out, level < 0 ? " " : levels[level]);
    }
}

/* ---- text and markdown -------------------------------------------------------------- */

/* A median of nights that are not above zero is no time. */
static res_figure level_text(double median_ns)
{
    return res_time_difference((res_interval){median_ns, (double)NAN, (double)NAN});
}

static void put_stretches(const res_timeline *series, res_format format, bn_text *out)
{
    res_grid grid = res_grid_make("llrrrrilll");
    res_grid_row(&grid, "from|to|nights|gaps|median|change|95 %|build before|first build|");
    for (size_t i = 0; i < series->stretch_count; i++) {
        const res_stretch *s = &series->stretches[i];
        const res_night *first = &series->nights[s->first], *last = &series->nights[s->end - 1];
        res_grid_cell(&grid, "%s", date_text(first->time_s).text);
        res_grid_cell(&grid, "%s", date_text(last->time_s).text);
        res_grid_cell(&grid, "%zu", s->nights);
        res_grid_cell(&grid, "%zu", s->gaps);
        res_grid_cell(&grid, "%s", level_text(s->median).text);
        if (i == 0) {
            res_grid_blank(&grid, 3);
        } else {
            res_grid_cell(&grid, "%s", res_change_shown(s->ratio.estimate).text);
            res_grid_cell(&grid, "%s", res_change_range(s->ratio).text);
            res_grid_cell(&grid, "%s", build_text(series->nights[s->before].origin).text);
        }
        res_grid_cell(&grid, "%s", build_text(first->origin).text);
        res_grid_cell(&grid, "%s", i > 0 ? cause_text(s).text : "");
    }
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
}

/* "7 nights without a figure: 4 timeout, 2 crash, 1 unknown" */
static void put_gaps(const res_timeline *series, res_format format, bn_text *out)
{
    size_t classes[BN_CODE_COUNT] = {0}, gaps = 0, refused = 0;
    for (size_t i = 0; i < series->count; i++) {
        if (!isnan(series->nights[i].value))
            continue;
        gaps++;
        if (series->nights[i].refused)
            refused++;
        else
            classes[series->nights[i].status]++;
    }
    if (gaps == 0)
        return;
    bn_text note = {0};
    bn_text_printf(&note, "%zu night%s without a figure:", gaps, gaps == 1 ? "" : "s");
    const char *between = " ";
    for (int c = 0; c < BN_CODE_COUNT; c++) {
        if (classes[c] == 0)
            continue;
        bn_text_printf(&note, "%s%zu %s", between, classes[c],
                       c == BN_OK ? "not measured" : bn_code_name((bn_code)c));
        between = ", ";
    }
    if (refused > 0)
        bn_text_printf(&note, "%s%zu " RES_UNKNOWN_TEXT, between, refused);
    res_put_note(out, format, note.data ? note.data : "");
    bn_text_free(&note);
}

/* Limits of the nights' figures. */
static void put_limits(const res_timeline *series, res_format format, bn_text *out)
{
    size_t left_out = 0, nights = 0;
    char text[200];
    for (size_t i = 0; i < series->count; i++) {
        left_out += series->nights[i].left_out;
        nights += series->nights[i].left_out > 0;
    }
    if (left_out > 0) {
        snprintf(text, sizeof text,
                 "%zu record%s of %zu night%s left out: conditions differ from the latest record",
                 left_out, left_out == 1 ? "" : "s", nights, nights == 1 ? "" : "s");
        res_put_note(out, format, text);
    }
    if (series->insignificant > 0) {
        snprintf(text, sizeof text, "%zu of %zu night%s indistinguishable from zero%s",
                 series->insignificant, series->count, series->count == 1 ? "" : "s",
                 series->no_ratios ? "; no search for changes, which are ratios" : "");
        res_put_note(out, format, text);
    }
}

void res_put_correlation(const res_changes *changes, bn_text *out)
{
    bn_text_printf(out, "lag-1 correlation of nights: %.2f; %zu nights are worth %.0f",
                   changes->rho, changes->nights,
                   res_nights_worth(changes->rho, (double)changes->nights));
}

static void put_latest(const res_timeline *series, res_format format, bn_text *out)
{
    const res_changes *c = &series->changes;
    if (series->last == series->count)
        return;
    const res_night *night = &series->nights[series->last];
    const res_interval value = {night->value, night->low, night->high};
    bn_text note = {0};
    bn_text_printf(&note, "latest, %s: %s", date_text(night->time_s).text,
                   res_time_difference(value).text);
    if (isnan(c->latest_p) && !series->no_ratios) {
        bn_text_puts(&note, "; too few nights since the last change to judge it");
    } else if (!isnan(c->latest_p)) {
        bn_text_printf(&note, ", %s of its level, 99 of 100 nights lie in %s %%",
                       res_change_shown(c->latest.estimate).text, res_change_range(c->latest).text);
        if (c->latest_run > 0)
            bn_text_printf(&note, ": outside for %zu night%s; a change has %d or more",
                           c->latest_run, c->latest_run == 1 ? "" : "s", RES_LEAST_NIGHTS);
    }
    res_put_note(out, format, note.data ? note.data : "");
    bn_text_clear(&note);
    if (isfinite(c->mde)) {
        bn_text_printf(&note, "smallest detectable change: %s, after %d nights",
                       res_percent(c->mde).text, RES_LEAST_NIGHTS);
        res_put_note(out, format, note.data ? note.data : "");
        bn_text_clear(&note);
    }
    if (c->nights >= 2 * RES_LEAST_NIGHTS) {
        res_put_correlation(c, &note);
        res_put_note(out, format, note.data ? note.data : "");
        bn_text_clear(&note);
    }
    if (night->looks > 1) {
        bn_text_printf(
            &note,
            "%zu runs of this build in the latest night, pooled: %zu looks, so its error "
            "is up to %zu times as likely",
            night->looks, night->looks, night->looks);
        res_put_note(out, format, note.data ? note.data : "");
    }
    bn_text_free(&note);
}

static void put_series(const res_history *history, const res_timeline *series, res_format format,
                       bn_text *out)
{
    bn_text title = {0}, line = {0};
    res_timeline_title(series, &title);
    res_put_heading(out, format, 2, title.data ? title.data : "");
    bn_text_free(&title);
    /* LaTeX's own fonts have no such blocks. */
    if (format != RES_TABLE_LATEX) {
        put_picture(series, &line);
        bn_text_puts(&line, "  ");
    }
    /* In narrow text the picture is a line of its own, whose gaps no wrapping takes away. */
    if (format == RES_TABLE_NARROW) {
        res_put_note(out, RES_TABLE_TEXT, line.data ? line.data : "");
        bn_text_clear(&line);
    }
    bn_text_printf(&line, "%s, %zu night%s", res_metric_name(history->metric), series->count,
                   series->count == 1 ? "" : "s");
    res_put_note(out, format, line.data ? line.data : "");
    bn_text_free(&line);
    bn_text_putc(out, '\n');
    put_stretches(series, format, out);
    bn_text_putc(out, '\n');
    put_gaps(series, format, out);
    put_limits(series, format, out);
    put_latest(series, format, out);
}

static void put_totals(const res_history *history, res_format format, bn_text *out)
{
    size_t slower = 0, faster = 0, out_of_line = 0;
    bn_text note = {0};
    for (size_t i = 0; i < history->count; i++) {
        const res_timeline *series = &history->series[i];
        for (size_t k = 1; k < series->stretch_count; k++) {
            const bool up = series->stretches[k].ratio.estimate > 1;
            slower += up ? 1 : 0;
            faster += up ? 0 : 1;
        }
        out_of_line += series->changes.latest_run > 0 ? 1 : 0;
    }
    bn_text_printf(&note,
                   "%zu series, %zu change point%s: %zu up, %zu down; the latest night is out of "
                   "line in %zu",
                   history->count, slower + faster, slower + faster == 1 ? "" : "s", slower, faster,
                   out_of_line);
    if (history->timeless > 0)
        bn_text_printf(&note, "; %zu records left out, their ids have no time", history->timeless);
    if (history->misdates.count > 0)
        bn_text_puts(&note, "; ");
    res_put_misdates(&history->misdates, &note);
    bn_text_putc(out, '\n');
    res_put_note(out, format, note.data ? note.data : "");
    bn_text_free(&note);
}

/* ---- JSON ------------------------------------------------------------------------------ */

static json_t *origin_json(const res_origin *origin)
{
    return json_pack("{so so so so}", "sha256", res_json_text(origin->sha256), "label",
                     res_json_text(origin->label), "version", res_json_text(origin->version),
                     "host", res_json_text(origin->host));
}

/* The place of ORIGIN in LIST, to which it is added if it is new. Nights of one build follow each
 * other, so the search goes backwards. */
static json_int_t origin_number(json_t *list, const res_origin **seen, const res_origin *origin)
{
    size_t i = json_array_size(list);
    while (i > 0 && seen[i - 1] != origin)
        i--;
    if (i > 0)
        return (json_int_t)i - 1;
    seen[json_array_size(list)] = origin;
    json_array_append_new(list, origin_json(origin));
    return (json_int_t)json_array_size(list) - 1;
}

static json_t *night_json(const res_night *night, json_int_t origin)
{
    const bool known = isfinite(night->value);
    return json_pack(
        "{ss so so so so sb sI sI sI sI ss sI so ss}", "time", time_text(night->time_s).text,
        "value_ns", res_json_real(night->value), "low_ns", res_json_real(night->low), "high_ns",
        res_json_real(night->high), "told",
        known            ? json_boolean(res_night_significant(night))
        : night->refused ? json_false()
                         : json_null(),
        "refused", (int)night->refused, "processes", (json_int_t)night->processes, "left_out",
        (json_int_t)night->left_out, "looks", (json_int_t)night->looks, "failed",
        (json_int_t)night->failed, "status", bn_code_name(night->status), "origin", origin,
        "settings", res_json_text(night->settings), "source", night->source);
}

/* The changes that cause_text names. */
static json_t *others_json(const res_stretch *s)
{
    const struct {
        bool is;
        const char *id;
    } others[] = {{s->other_build, "build"},
                  {s->other_settings, "settings"},
                  {s->other_front_end, "front_end"},
                  {s->other_host, "host"},
                  {s->other_source, "source"}};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].is)
            json_array_append_new(list, json_string(others[i].id));
    return list;
}

static json_t *stretch_json(const res_timeline *series, size_t i)
{
    const res_stretch *s = &series->stretches[i];
    json_t *object = json_pack("{sI ss ss sI sI so}", "first", (json_int_t)s->first, "from",
                               time_text(series->nights[s->first].time_s).text, "to",
                               time_text(series->nights[s->end - 1].time_s).text, "nights",
                               (json_int_t)s->nights, "gaps", (json_int_t)s->gaps, "median_ns",
                               res_json_real(s->median));
    if (i == 0)
        return object;
    json_object_set_new(
        object, "change",
        json_pack("{so so so so ss so so so}", "ratio", res_json_real(s->ratio.estimate), "low",
                  res_json_real(s->ratio.low), "high", res_json_real(s->ratio.high), "p",
                  res_json_real(s->p), "cause", cause_text(s).text, "other", others_json(s),
                  "before", origin_json(series->nights[s->before].origin), "after",
                  origin_json(series->nights[s->first].origin)));
    return object;
}

static json_t *latest_json(const res_timeline *series)
{
    const res_changes *c = &series->changes;
    if (series->last == series->count)
        return json_null();
    return json_pack("{sI so so so so sI so so sI}", "night", (json_int_t)series->last, "ratio",
                     res_json_real(c->latest.estimate), "low", res_json_real(c->latest.low), "high",
                     res_json_real(c->latest.high), "p", res_json_real(c->latest_p), "out_of_line",
                     (json_int_t)c->latest_run, "noise", res_json_real(c->noise), "visible",
                     res_json_real(c->mde), "looks",
                     (json_int_t)series->nights[series->last].looks);
}

static json_t *series_json(const res_history *history, const res_timeline *series)
{
    json_t *origins = json_array(), *nights = json_array(), *stretches = json_array();
    const res_origin **seen = bn_zalloc(series->count, sizeof(const res_origin *));
    for (size_t i = 0; i < series->count; i++)
        json_array_append_new(
            nights,
            night_json(&series->nights[i], origin_number(origins, seen, series->nights[i].origin)));
    for (size_t i = 0; i < series->stretch_count; i++)
        json_array_append_new(stretches, stretch_json(series, i));
    free(seen);
    const res_changes *c = &series->changes;
    return json_pack(
        "{so ss sb so so so so so so}", "experiment", res_experiment_to_json(series->experiment),
        "metric", res_metric_name(history->metric), "simulated", (int)series->simulated,
        "correlation", res_json_real(c->rho), "worth_nights",
        res_json_real(res_nights_worth(c->rho, (double)c->nights)), "stretches", stretches,
        "newest", latest_json(series), "origins", origins, "nights", nights);
}

/* A line a series: indented, they would take a megabyte. */
static void put_json(const res_history *history, bn_text *out)
{
    bn_text_puts(out, "[");
    for (size_t i = 0; i < history->count; i++) {
        json_t *object = series_json(history, &history->series[i]);
        char *text = json_dumps(object, JSON_COMPACT | RES_JSON_SHOWN);
        bn_text_puts(out, i > 0 ? ",\n" : "\n");
        bn_text_puts(out, text ? text : "null");
        free(text);
        json_decref(object);
    }
    bn_text_puts(out, "\n]\n");
}

/* ---- CSV ------------------------------------------------------------------------------- */

static const char csv_heads[] =
    "series|metric|simulated|from|to|nights|gaps|median_ns|ratio|low|high|p|cause|sha256_before|"
    "label_before|version_before|sha256|label|version|correlation";

static void csv_real(res_grid *grid, double value)
{
    if (isfinite(value))
        res_grid_cell(grid, "%.10g", value);
    else
        res_grid_blank(grid, 1);
}

static void csv_row(res_grid *grid, const char *title, const res_history *history,
                    const res_timeline *series, size_t i)
{
    const res_stretch *s = &series->stretches[i];
    const res_origin none = {"", "", "", ""};
    const res_origin *was = i > 0 ? series->nights[s->before].origin : &none;
    const res_origin *is = series->nights[s->first].origin;
    res_grid_cell(grid, "%s", title);
    res_grid_cell(grid, "%s", res_metric_name(history->metric));
    res_grid_cell(grid, "%d", series->simulated);
    res_grid_cell(grid, "%s", time_text(series->nights[s->first].time_s).text);
    res_grid_cell(grid, "%s", time_text(series->nights[s->end - 1].time_s).text);
    res_grid_cell(grid, "%zu", s->nights);
    res_grid_cell(grid, "%zu", s->gaps);
    csv_real(grid, s->median);
    csv_real(grid, s->ratio.estimate);
    csv_real(grid, s->ratio.low);
    csv_real(grid, s->ratio.high);
    csv_real(grid, s->p);
    res_grid_cell(grid, "%s", i > 0 ? cause_text(s).text : "");
    res_grid_cell(grid, "%s", was->sha256);
    res_grid_cell(grid, "%s", was->label);
    res_grid_cell(grid, "%s", was->version);
    res_grid_cell(grid, "%s", is->sha256);
    res_grid_cell(grid, "%s", is->label);
    res_grid_cell(grid, "%s", is->version);
    csv_real(grid, series->changes.rho);
}

static void put_csv(const res_history *history, bn_text *out)
{
    res_grid grid = res_grid_make("llllllllllllllllllll");
    res_grid_row(&grid, csv_heads);
    for (size_t i = 0; i < history->count; i++) {
        bn_text title = {0};
        res_timeline_title(&history->series[i], &title);
        for (size_t k = 0; k < history->series[i].stretch_count; k++)
            csv_row(&grid, title.data ? title.data : "", history, &history->series[i], k);
        bn_text_free(&title);
    }
    res_grid_render(&grid, RES_TABLE_CSV, out);
    res_grid_free(&grid);
}

void res_table_history(const res_history *history, res_format format, bn_text *out)
{
    if (format == RES_TABLE_JSON) {
        put_json(history, out);
    } else if (format == RES_TABLE_CSV) {
        put_csv(history, out);
    } else {
        for (size_t i = 0; i < history->count; i++)
            put_series(history, &history->series[i], format, out);
        put_totals(history, format, out);
    }
}
