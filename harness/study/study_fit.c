/*
 * study_fit.c - the records of a study that count, their figures, and lines through these.
 */
#include "harness/study/study_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- records that count --------- */

static const res_record *record_of_turn(const study *s, size_t turn, size_t experiment)
{
    return s->records[turn * s->count + experiment];
}

static bool is_good(const study *s, size_t turn, size_t experiment)
{
    const res_record *record = record_of_turn(s, turn, experiment);
    return record && res_record_good(record);
}

/* Whether TURN has a good record of each experiment that counts, of which there are some. */
static bool is_whole(const study *s, size_t turn)
{
    bool some = false;
    for (size_t i = 0; i < s->count; i++) {
        if (s->counts[i] && !is_good(s, turn, i))
            return false;
        some = some || s->counts[i];
    }
    return some;
}

void study_select(study *s)
{
    s->counts = bn_zalloc(s->count + 1, sizeof *s->counts);
    s->turn = bn_zalloc(s->turns + 1, sizeof *s->turn);
    s->measure = bn_zalloc(s->turns * s->count + 1, sizeof *s->measure);
    s->answers = json_object();
    s->word_ids = json_array();
    for (size_t i = 0; i < s->count; i++)
        s->counts[i] = s->turns > 0 && is_good(s, 0, i);
    for (size_t turn = 0; turn < s->turns; turn++) {
        if (!is_whole(s, turn))
            continue;
        for (size_t i = 0; i < s->count; i++)
            if (s->counts[i])
                s->measure[s->processes * s->count + i] =
                    res_record_measures(record_of_turn(s, turn, i));
        s->turn[s->processes++] = turn;
    }
}

static void free_line(study_line *line)
{
    free(line->place);
    free(line->x);
    free(line->y);
    res_line_free(&line->fit);
}

void study_free(study *s)
{
    for (size_t i = 0; s->records && i < s->room * s->count; i++)
        res_record_free(s->records[i]);
    for (size_t i = 0; i < s->line_count; i++)
        free_line(&s->lines[i]);
    free(s->records);
    free(s->list);
    free(s->counts);
    free(s->turn);
    free(s->measure);
    bn_text_free(&s->words);
    json_decref(s->answers);
    json_decref(s->word_ids);
}

/* ---- figures --------- */

static const res_record *record_of(const study *s, size_t process, size_t experiment)
{
    return record_of_turn(s, s->turn[process], experiment);
}

static const res_measures *measures_of(const study *s, size_t process, size_t experiment)
{
    return &s->measure[process * s->count + experiment];
}

double study_wall(const study *s, size_t process, size_t experiment)
{
    return measures_of(s, process, experiment)->wall_ns;
}

double study_device(const study *s, size_t process, size_t experiment)
{
    return measures_of(s, process, experiment)->device_ns;
}

double study_overhead(const study *s, size_t process, size_t experiment)
{
    return measures_of(s, process, experiment)->overhead_ns;
}

double study_trace(const study *s, size_t process, size_t experiment)
{
    return measures_of(s, process, experiment)->trace_ns;
}

double study_compile(const study *s, size_t process, size_t experiment)
{
    return measures_of(s, process, experiment)->compile_ns;
}

double study_nodes(const study *s, size_t process, size_t experiment)
{
    return measures_of(s, process, experiment)->nodes_per_step;
}

double study_executions(const study *s, size_t process, size_t experiment)
{
    return measures_of(s, process, experiment)->executions;
}

double study_host(const study *s, size_t process, size_t experiment)
{
    static const bn_part parts[] = {
        BN_PART_INPUT, BN_PART_TRACE,    BN_PART_HASH,    BN_PART_LOOKUP,  BN_PART_LOWER,
        BN_PART_BIND,  BN_PART_DISPATCH, BN_PART_COMPILE, BN_PART_RELEASE, BN_PART_OTHER};
    return res_part_median(record_of(s, process, experiment), parts, sizeof parts / sizeof *parts);
}

double study_call(const study *s, size_t process, size_t experiment)
{
    static const bn_part parts[] = {BN_PART_BIND, BN_PART_DISPATCH};
    return res_part_median(record_of(s, process, experiment), parts, sizeof parts / sizeof *parts);
}

double study_arguments(const study *s, size_t process, size_t experiment)
{
    const res_record *record = record_of(s, process, experiment);
    double sum = 0;
    for (size_t i = 0; i < record->execution_count; i++)
        sum += res_execution_times(&record->executions[i]) * record->executions[i].arguments;
    return sum;
}

double study_rows(const study *s, size_t process, size_t experiment)
{
    return record_of(s, process, experiment)->experiment.batch;
}

double study_swept(const study *s, size_t process, size_t experiment)
{
    const res_axis *axis = &res_axes[s->kind->axis];
    /* A record has 0 for the model's own depth, and an experiment for its own batch. */
    const int64_t asked = res_axis_number(axis, &s->list[experiment].what);
    return (double)(asked ? asked
                          : res_axis_number(axis, &record_of(s, process, experiment)->experiment));
}

double study_serial(const study *s, size_t process, size_t experiment)
{
    return record_of(s, process, experiment)->experiment.in_flight == 1 ? 1 : 0;
}

/* ---- lines --------- */

static bool is_of(const study *s, size_t experiment, const char *mode_name)
{
    return s->counts[experiment] && strcmp(s->list[experiment].what.mode, mode_name) == 0;
}

/* The points of LINE, in the order of the swept axis. */
static size_t sort_points(const study *s, const char *mode_name, study_line *line)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (!is_of(s, i, mode_name))
            continue;
        size_t at = count++;
        for (; at > 0 && study_swept(s, 0, line->place[at - 1]) > study_swept(s, 0, i); at--)
            line->place[at] = line->place[at - 1];
        line->place[at] = i;
    }
    return count;
}

/* Adds the Y of PROCESS behind those of COUNT processes; false where one is unknown. */
static bool add_process(const study *s, study_line *line, size_t points, size_t process,
                        size_t count, study_value *y)
{
    bool known = true;
    for (size_t i = 0; i < points; i++) {
        const double value = y(s, process, line->place[i]);
        line->y[count * points + i] = value;
        known = known && isfinite(value);
    }
    return known;
}

const study_line *study_fit(study *s, const char *what, bool time, const char *mode_name,
                            study_value *x, study_value *y)
{
    bn_status st = {.code = BN_OK};
    if (s->processes == 0 || s->line_count == STUDY_MOST_LINES)
        return NULL;
    study_line line = {.what = what,
                       .mode = mode_name,
                       .time = time,
                       .place = bn_zalloc(s->count + 1, sizeof *line.place),
                       .x = bn_zalloc(s->count + 1, sizeof *line.x),
                       .y = bn_zalloc((s->processes + 1) * (s->count + 1), sizeof *line.y)};
    size_t known = 0;
    const size_t points = sort_points(s, mode_name, &line);
    for (size_t i = 0; i < points; i++)
        line.x[i] = x(s, 0, line.place[i]);
    for (size_t p = 0; p < s->processes; p++)
        known += add_process(s, &line, points, p, known, y);
    const res_sweep sweep = {line.x, line.y, points, known};
    if (res_line_fit(&sweep, &line.fit, &st) != BN_OK) {
        free_line(&line);
        return NULL;
    }
    s->lines[s->line_count] = line;
    return &s->lines[s->line_count++];
}

/* ---- figures over processes --------- */

size_t study_extreme(const study *s, const char *mode_name, bool greatest)
{
    size_t end = SIZE_MAX;
    for (size_t i = 0; s->processes > 0 && i < s->count; i++) {
        if (!is_of(s, i, mode_name))
            continue;
        const double value = study_swept(s, 0, i);
        const double best = end == SIZE_MAX ? value : study_swept(s, 0, end);
        if (end == SIZE_MAX || (greatest ? value > best : value < best))
            end = i;
    }
    return end;
}

/* Over those of COUNT VALUES that are known; changes VALUES. */
static res_interval over(double *values, size_t count)
{
    size_t known = 0;
    bool positive = true;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) {
            positive = positive && values[i] > 0;
            values[known++] = values[i];
        }
    for (size_t i = 0; positive && i < known; i++)
        values[i] = log(values[i]);
    const res_estimate estimate = res_estimate_of(values, known);
    return positive ? res_estimate_ratio(&estimate) : res_estimate_interval(&estimate);
}

/* VALUE of A, over that of B unless it is SIZE_MAX. */
static res_interval over_processes(const study *s, size_t a, size_t b, study_value *value)
{
    double *room = bn_zalloc(s->processes + 1, sizeof *room);
    for (size_t p = 0; p < s->processes; p++)
        room[p] = value(s, p, a) / (b == SIZE_MAX ? 1 : value(s, p, b));
    const res_interval out = over(room, s->processes);
    free(room);
    return out;
}

res_interval study_mean(const study *s, size_t experiment, study_value *value)
{
    return over_processes(s, experiment, SIZE_MAX, value);
}

res_interval study_ratio(const study *s, size_t a, size_t b, study_value *value)
{
    return over_processes(s, a, b, value);
}

bool study_insignificant(const res_estimate *estimate)
{
    const res_interval interval = res_estimate_interval(estimate);
    return isfinite(interval.low) && !res_excludes(interval, 0);
}

res_interval study_zero_of(const study *s, const double *u, const double *v)
{
    return res_crossing(u, v, s->processes);
}
