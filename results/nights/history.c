/*
 * history.c - cells over time: records of an index sorted into series and nights, and
 * the change points of each.
 *
 * The unit is a process, and a night's value is what the speedup table says of its processes: by
 * the same function, of the build and conditions of the latest. A night is not a date, which would
 * cut some run in two at midnight: it begins with a record and takes in the records of the same
 * build that follow within some hours.
 *
 * Records with wrong dates are left out: one dated years ahead would be the latest night for as
 * long, and hide what the nights after it say.
 */
#include "results/findings/summaries.h"
#include "results/nights/nights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const metrics[RES_METRIC_COUNT] = {"wall", "device", "overhead", "trace",
                                                      "compile"};

const char *res_metric_name(res_metric metric)
{
    return metrics[metric];
}

bn_code res_metric_parse(const char *name, res_metric *metric, bn_status *st)
{
    for (int i = 0; i < RES_METRIC_COUNT; i++) {
        if (strcmp(metrics[i], name) == 0) {
            *metric = (res_metric)i;
            return BN_OK;
        }
    }
    return bn_fail_choice(st, "metric", name, RES_METRIC_NAMES);
}

res_history_options res_history_defaults(void)
{
    return (res_history_options){
        .night_hours = 12, .now_s = INFINITY, .change = res_change_defaults()};
}

/* ---- cells ---------------------------------------------------------------------- */

/* A record that is sorted into its series. */
typedef struct item {
    const res_summary *summary;
    const res_experiment *experiment;
    size_t cell;
    double time_s;
} item;

/* An experiment, but for its settings, to be sorted by its cell. */
typedef struct ranked {
    res_experiment experiment;
    size_t number;
} ranked;

static int ranked_order(const void *a, const void *b)
{
    return res_series_order(&((const ranked *)a)->experiment, &((const ranked *)b)->experiment);
}

/* Numbers the cells in order, into CELLS[experiment number]. Settings are no part of a cell
 * (split_settings). */
static void number_cells(const res_index *index, size_t *cells)
{
    const size_t count = index->experiment_count;
    ranked *list = bn_zalloc(count, sizeof *list);
    size_t cell = 0;
    for (size_t i = 0; i < count; i++) {
        list[i] = (ranked){*index->experiments[i], i};
        list[i].experiment.settings[0] = '\0';
    }
    qsort(list, count, sizeof *list, ranked_order);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && ranked_order(&list[i - 1], &list[i]) != 0)
            cell++;
        cells[list[i].number] = cell;
    }
    free(list);
}

/* By cell, then by time. */
static int item_order(const void *a, const void *b)
{
    const item *l = a, *r = b;
    if (l->cell != r->cell)
        return l->cell < r->cell ? -1 : 1;
    if (l->summary->simulated != r->summary->simulated)
        return l->summary->simulated ? 1 : -1;
    if (l->time_s < r->time_s || l->time_s > r->time_s)
        return l->time_s < r->time_s ? -1 : 1;
    return strcmp(l->summary->file, r->summary->file);
}

/* Lists the COUNT wanted records in order; for free. */
static item *gather(const res_index *index, const res_history_options *o, size_t *count,
                    res_history *history)
{
    size_t *cells = bn_zalloc(index->experiment_count, sizeof *cells);
    item *list = bn_zalloc(index->count, sizeof *list);
    *count = 0;
    number_cells(index, cells);
    for (size_t i = 0; i < index->count; i++) {
        const res_summary *s = &index->records[i];
        const res_experiment *e = index->experiments[s->experiment];
        const double time_s = res_id_time(s->id);
        if (o->wanted && !o->wanted(o->context, e))
            continue;
        if (isnan(time_s))
            history->timeless++;
        else if (res_misdated(s, o->now_s))
            res_misdates_add(&history->misdates, time_s);
        else
            list[(*count)++] = (item){s, e, cells[s->experiment], time_s};
    }
    qsort(list, *count, sizeof *list, item_order);
    free(cells);
    return list;
}

static bool same_series(const item *a, const item *b)
{
    return a->cell == b->cell && a->summary->simulated == b->summary->simulated;
}

/* ---- nights ----------------------------------------------------------------------- */

static bool known(const res_origin *origin)
{
    return origin->sha256[0] != '\0';
}

/* Whether records of both may belong to one night: they are of one build. A failure may not know
 * its build. */
static bool may_be_one(const res_origin *a, const res_origin *b)
{
    if (known(a) && known(b))
        return strcmp(a->sha256, b->sha256) == 0 && strcmp(a->label, b->label) == 0;
    return !a->label[0] || !b->label[0] || strcmp(a->label, b->label) == 0;
}

static const char *no_source(void)
{
    return bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE);
}

/* So many nights, of builds and settings, are looked through for one that began within the span:
 * more of them in a night make more entries. */
#define MOST_AT_ONCE 256

/* The night that ITEM belongs to; a new one if there is none. */
static size_t night_of(res_timeline *series, const item *it, double span_s)
{
    const res_origin *origin = it->summary->origin;
    size_t i = series->count;
    const size_t least = i > MOST_AT_ONCE ? i - MOST_AT_ONCE : 0;
    while (i > least && it->time_s - series->nights[i - 1].time_s <= span_s) {
        res_night *night = &series->nights[--i];
        if (!may_be_one(night->origin, origin) ||
            strcmp(night->settings, it->experiment->settings) != 0)
            continue;
        if (!known(night->origin))
            night->origin = origin;
        return i;
    }
    series->nights[series->count] = (res_night){.time_s = it->time_s,
                                                .origin = origin,
                                                .settings = it->experiment->settings,
                                                .status = BN_OK,
                                                .source = no_source(),
                                                .value = (double)NAN,
                                                .low = (double)NAN,
                                                .high = (double)NAN};
    return series->count++;
}

res_over res_metric_over(const res_figures *f, res_metric metric)
{
    const res_over over[RES_METRIC_COUNT] = {f->wall, f->device, f->overhead, f->trace, f->compile};
    return over[metric];
}

/* Room for the records of one series. */
typedef struct nights_room {
    const res_summary **summaries;
    res_process *processes;
    size_t *where, *end, *order;
} nights_room;

/* Whether tables refuse METRIC of FIGURES, though processes had a value. */
static bool is_refused(const res_figures *figures, res_device_remark remark, res_metric metric)
{
    if (metric == RES_METRIC_OVERHEAD)
        return figures->refusal != RES_REFUSED_NOTHING;
    return metric == RES_METRIC_DEVICE &&
           (remark == RES_DEVICE_FAR || remark == RES_DEVICE_CONTRARY);
}

/* Fills in the figures of NIGHT from its COUNT records PLACES in ITEMS. */
static void settle_night(res_night *night, const item *items, const size_t *places, size_t count,
                         res_metric metric, const nights_room *room)
{
    res_summary_pool of;
    for (size_t i = 0; i < count; i++)
        room->summaries[i] = items[places[i]].summary;
    res_pool_summaries(room->summaries, count, items[places[0]].experiment, room->processes, &of);
    if (!of.latest)
        return;
    const res_figures figures = res_pool_figures(&of.pool);
    const res_over over = res_metric_over(&figures, metric);
    night->status = BN_OK;
    night->value = over.value.estimate;
    night->low = over.value.low;
    night->high = over.value.high;
    night->processes = isnan(over.value.estimate) ? 0 : over.processes;
    night->left_out = of.pool.other_builds + of.pool.other_conditions;
    night->looks = res_pool_looks(&of.pool, NULL);
    night->source = figures.source;
    night->remark = res_figures_remark(&figures);
    night->refused = is_refused(&figures, night->remark, metric);
    /* The axis of a step recorded elsewhere names its framework's version. */
    if (!res_is_ours(of.pool.experiment) && strcmp(of.pool.experiment->mode, "recorded") != 0)
        snprintf(night->front_end, sizeof night->front_end, "%s",
                 res_mark_front_end(of.latest->conditions));
}

/* Where the records of each of NIGHTS begin in ORDER, which lists them night by night, each in
 * order of time: END[n] is behind the last of night n. */
static void sort_by_night(const size_t *where, size_t count, size_t nights, size_t *end,
                          size_t *order)
{
    memset(end, 0, nights * sizeof *end);
    for (size_t i = 0; i < count; i++)
        end[where[i]]++;
    for (size_t n = 1; n < nights; n++)
        end[n] += end[n - 1];
    for (size_t i = count; i-- > 0;)
        order[--end[where[i]]] = i;
    for (size_t n = 0; n < nights; n++)
        end[n] = n + 1 < nights ? end[n + 1] : count;
}

/* Sorts ITEMS into nights. */
static void make_nights(res_timeline *series, const item *items, size_t count,
                        const res_history_options *o, nights_room *room)
{
    const double span_s = o->night_hours * 3600;
    for (size_t i = 0; i < count; i++) {
        room->where[i] = night_of(series, &items[i], span_s);
        res_night *night = &series->nights[room->where[i]];
        const bool failed = items[i].summary->status != BN_OK;
        night->failed += failed ? 1 : 0;
        if (failed)
            night->status = items[i].summary->status;
    }
    sort_by_night(room->where, count, series->count, room->end, room->order);
    for (size_t n = 0, first = 0; n < series->count; first = room->end[n++])
        settle_night(&series->nights[n], items, room->order + first, room->end[n] - first,
                     o->metric, room);
}

/* ---- stretches ------------------------------------------------------------------------ */

bool res_night_significant(const res_night *night)
{
    const res_interval value = {night->value, night->low, night->high};
    return isfinite(night->low) && isfinite(night->high) ? res_excludes(value, 0)
                                                         : night->value > 0;
}

static void fill_stretch(const res_timeline *series, res_stretch *s, double *room)
{
    for (size_t i = s->first; i < s->end; i++) {
        if (isnan(series->nights[i].value))
            s->gaps++;
        else
            room[s->nights++] = series->nights[i].value;
    }
    s->median = res_median(room, s->nights);
}

static void describe_change(const res_timeline *series, const res_change *change, res_stretch *s)
{
    s->ratio = change->ratio;
    s->p = change->p;
    s->before = change->at - 1;
    while (isnan(series->nights[s->before].value))
        s->before--;
    const res_origin *was = series->nights[s->before].origin, *is = series->nights[s->first].origin;
    s->build_known = known(was) && known(is);
    s->other_build = s->build_known && strcmp(was->sha256, is->sha256) != 0;
    s->other_settings =
        strcmp(series->nights[s->before].settings, series->nights[s->first].settings) != 0;
    s->other_front_end =
        strcmp(series->nights[s->before].front_end, series->nights[s->first].front_end) != 0;
    s->other_source = series->of_device && strcmp(series->nights[s->before].source,
                                                  series->nights[s->first].source) != 0;
    s->other_host = was->host[0] && is->host[0] && strcmp(was->host, is->host) != 0;
}

bn_code res_timeline_divide(res_timeline *series, const res_change_options *options, bn_status *st)
{
    free(series->stretches);
    res_changes_free(&series->changes);
    series->stretches = NULL;
    series->stretch_count = series->insignificant = 0;
    series->no_ratios = false;
    series->last = series->count;
    for (size_t i = 0; i < series->count; i++) {
        const res_night *night = &series->nights[i];
        if (isnan(night->value))
            continue;
        series->last = i;
        series->no_ratios = series->no_ratios || night->value <= 0;
        series->insignificant += !res_night_significant(night);
    }
    /* Without the nights at or below zero the others would lie too high. */
    double *room = bn_zalloc(series->count, sizeof *room);
    for (size_t i = 0; i < series->count; i++)
        room[i] = series->no_ratios ? (double)NAN : series->nights[i].value;
    bn_code code = res_changes_find(room, series->count, options, &series->changes, st);
    const size_t count = code == BN_OK ? series->changes.count + 1 : 0;
    series->stretches = bn_zalloc(count, sizeof *series->stretches);
    series->stretch_count = count;
    for (size_t i = 0; i < count; i++) {
        res_stretch *s = &series->stretches[i];
        const res_change *begin = i > 0 ? &series->changes.list[i - 1] : NULL;
        s->first = begin ? begin->at : 0;
        s->end = i + 1 < count ? series->changes.list[i].at : series->count;
        s->p = (double)NAN;
        s->ratio = (res_interval){(double)NAN, (double)NAN, (double)NAN};
        fill_stretch(series, s, room);
        if (begin)
            describe_change(series, begin, s);
    }
    free(room);
    return code;
}

void res_timeline_free(res_timeline *series)
{
    free(series->nights);
    free(series->stretches);
    res_changes_free(&series->changes);
    *series = (res_timeline){0};
}

/* ---- all series --------------------------------------------------------------------------- */

/* Whether one build ran with several settings in one night: a suite asks for each of them, and they
 * are no change. ITEMS are in order of time. Of a row of records with like settings, none need be
 * looked at but those before it. */
static bool share_a_night(const item *items, size_t count, double span_s)
{
    size_t others = 0; /* that end where the row of like settings begins */
    for (size_t i = 1; i < count; i++) {
        if (items[i].experiment != items[i - 1].experiment &&
            strcmp(items[i].experiment->settings, items[i - 1].experiment->settings) != 0)
            others = i;
        const size_t least = others > MOST_AT_ONCE ? others - MOST_AT_ONCE : 0;
        for (size_t k = others; k-- > least && items[i].time_s - items[k].time_s <= span_s;)
            if (items[i].experiment != items[k].experiment &&
                strcmp(items[i].experiment->settings, items[k].experiment->settings) != 0 &&
                may_be_one(items[i].summary->origin, items[k].summary->origin))
                return true;
    }
    return false;
}

/* By settings, then by time. */
static int settings_order(const void *a, const void *b)
{
    const int order =
        strcmp(((const item *)a)->experiment->settings, ((const item *)b)->experiment->settings);
    return order ? order : item_order(a, b);
}

static bn_code make_series(res_timeline *series, const item *items, size_t count,
                           const res_history_options *o, bn_status *st)
{
    nights_room room = {bn_zalloc(count, sizeof(const res_summary *)),
                        bn_zalloc(count, sizeof *room.processes), bn_zalloc(count, sizeof(size_t)),
                        bn_zalloc(count, sizeof(size_t)), bn_zalloc(count, sizeof(size_t))};
    *series = (res_timeline){.experiment = items[0].experiment,
                             .simulated = items[0].summary->simulated,
                             .of_device = o->metric == RES_METRIC_DEVICE ||
                                          o->metric == RES_METRIC_OVERHEAD};
    series->nights = bn_zalloc(count, sizeof *series->nights);
    make_nights(series, items, count, o, &room);
    const bn_code code = res_timeline_divide(series, &o->change, st);
    free(room.summaries);
    free(room.processes);
    free(room.where);
    free(room.end);
    free(room.order);
    return code;
}

/* Makes the series of the COUNT records ITEMS of one cell: one, or one for each of its settings. */
static bn_code make_cell(item *items, size_t count, const res_history_options *o,
                         res_history *history, bn_status *st)
{
    const bool split = share_a_night(items, count, o->night_hours * 3600);
    bn_code code = BN_OK;
    if (split)
        qsort(items, count, sizeof *items, settings_order);
    for (size_t first = 0, end; code == BN_OK && first < count; first = end) {
        res_timeline *series = &history->series[history->count++];
        end = first + 1;
        while (end < count && (!split || strcmp(items[first].experiment->settings,
                                                items[end].experiment->settings) == 0))
            end++;
        code = make_series(series, items + first, end - first, o, st);
        series->any_settings = !split;
    }
    return code;
}

bn_code res_history_make(const res_index *index, const res_history_options *options,
                         res_history *history, bn_status *st)
{
    bn_code code = BN_OK;
    size_t count;
    *history = (res_history){.metric = options->metric};
    item *items = gather(index, options, &count, history);
    history->series = bn_zalloc(count, sizeof *history->series);
    for (size_t first = 0, end; code == BN_OK && first < count; first = end) {
        end = first + 1;
        while (end < count && same_series(&items[first], &items[end]))
            end++;
        code = make_cell(items + first, end - first, options, history, st);
    }
    free(items);
    if (code != BN_OK)
        res_history_free(history);
    return code;
}

void res_history_free(res_history *history)
{
    for (size_t i = 0; i < history->count; i++)
        res_timeline_free(&history->series[i]);
    free(history->series);
    *history = (res_history){0};
}
