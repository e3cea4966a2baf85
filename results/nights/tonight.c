/*
 * tonight.c - what one night says: of a runtime against the build of its last good night, and of a
 * series against the nights before.
 */
#include "results/nights/further_priv.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the machine ---------------------------------------------------------------------- */

/* The wall time that tables give for EXPERIMENT in ALL; NaN for none. */
static double wall_of(const res_collection *all, const res_experiment *experiment)
{
    const res_record **list = bn_zalloc(all->count, sizeof *list);
    double wall_ns = (double)NAN;
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (res_record_good(all->records[i]) &&
            res_same_request(&all->records[i]->experiment, experiment))
            list[count++] = all->records[i];
    if (count > 0) {
        res_pool pool;
        res_pool_make(list, count, &pool);
        wall_ns = res_pool_figures(&pool).wall.value.estimate;
        res_pool_free(&pool);
    }
    free(list);
    return wall_ns;
}

/* Whether a record of ALL before I asked for the same. */
static bool asked_before(const res_collection *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (res_same_request(&all->records[k]->experiment, &all->records[i]->experiment))
            return true;
    return false;
}

/* Compares AGAIN, the same build tonight, with BEFORE. */
static void measure_machine(const res_collection *before, const res_collection *again,
                            res_tonight_verdict *verdict)
{
    double *logs = bn_zalloc(before->count, sizeof *logs);
    size_t count = 0;
    for (size_t i = 0; i < before->count; i++) {
        const res_experiment *e = &before->records[i]->experiment;
        if (asked_before(before, i))
            continue;
        logs[count] = log(wall_of(again, e) / wall_of(before, e));
        count += isfinite(logs[count]) ? 1 : 0;
    }
    verdict->machine = exp(res_estimate_of(logs, count).mean);
    verdict->machine_cells = count;
    free(logs);
}

/* ---- on records -------------------------------------------------------------------------- */

double *res_timeline_level(const res_timeline *series, size_t *count)
{
    const size_t first = series->stretches[series->stretch_count - 1].first;
    double *values = bn_zalloc(series->last + 1, sizeof *values);
    *count = 0;
    for (size_t i = first; i <= series->last && i < series->count; i++)
        values[(*count)++] = series->nights[i].value;
    return values;
}

static const res_timeline *series_of(const res_history *history, const res_record *record)
{
    for (size_t i = 0; history && i < history->count; i++)
        if (res_timeline_takes(&history->series[i], record))
            return &history->series[i];
    return NULL;
}

/* Gives CELL, whose sides ran in two nights, the variance between nights, which is that of KNOWN.
 * The family has COUNT cells. */
static void widen(res_compared *cell, const res_latest_nights *known,
                  const res_compare_options *options, size_t count)
{
    res_comparison *c = &cell->comparison;
    const double ratio = c->ratio.estimate;
    c->test = RES_TEST_NONE;
    c->p = c->p_holm = c->p_equivalent = c->p_equivalent_holm = 1;
    c->ratio = (res_interval){ratio, (double)NAN, (double)NAN};
    c->critical = (double)INFINITY;
    c->verdict = RES_UNDECIDED;
    c->mde = res_latest_nights_mde(known, 2, RES_DRIFT_LEVEL / (double)count);
    if (known->nights == 0)
        return;
    const double freedom = known->freedom, d = log(ratio);
    c->error = known->deviation * sqrt(2);
    const double half = c->error * gsl_cdf_tdist_Qinv(0.025, freedom);
    c->ratio = (res_interval){ratio, exp(d - half), exp(d + half)};
    c->test = RES_TEST_T;
    c->p = 2 * gsl_cdf_tdist_Q(fabs(d) / c->error, freedom);
    c->p_holm = fmin(1, c->p * (double)count);
    c->critical = c->error * gsl_cdf_tdist_Qinv(options->level / (double)count / 2, freedom);
    c->p_equivalent = gsl_cdf_tdist_Q((log1p(options->delta) - fabs(d)) / c->error, freedom);
    c->p_equivalent_holm = fmin(1, c->p_equivalent * (double)count);
    if (c->p_equivalent_holm <= options->level)
        c->verdict = RES_EQUIVALENT;
}

static void widen_all(const res_tonight *tonight, res_tonight_verdict *verdict)
{
    res_versus *versus = &verdict->versus;
    for (size_t i = 0; i < versus->count; i++) {
        res_compared *cell = &versus->cells[i];
        const res_timeline *series = cell->pairs ? series_of(tonight->history, cell->b[0]) : NULL;
        res_latest_nights known = {.p = 1};
        size_t count = 0;
        if (series) {
            double *values = res_timeline_level(series, &count);
            known = res_latest_nights_of(values, count, 1, series->changes.rho);
            free(values);
        }
        widen(cell, &known, &versus->options, versus->count);
        /* Undecided in any case; but this is not how nights of its level are. */
        verdict->suspects += cell->comparison.verdict == RES_UNDECIDED &&
                             known.p <= RES_DRIFT_LEVEL / (double)versus->count &&
                             known.ratio.estimate > 1;
    }
}

/* ---- counting ------------------------------------------------------------------------------ */

/* The slowdown that would have been seen in MEASURE of CELL; NaN where its change is known. */
static double seen_of(const res_tonight_verdict *verdict, const res_compared *cell,
                      res_measure measure)
{
    const res_comparison *c = res_compared_measure(cell, measure);
    const double mde = isnan(c->mde) ? (double)INFINITY : c->mde;
    if (c->verdict == RES_UNDECIDED || c->verdict == RES_UNEVEN)
        return fmin(mde, res_night_planned(&verdict->versus, cell, measure));
    /* Where sides are equivalent, this much is excluded. */
    return c->verdict == RES_EQUIVALENT ? fmin(mde, c->delta) : (double)NAN;
}

/* Counts CELL. That it is faster, or slower by little, in one measure decides nothing about the
 * others: each that decides is looked at. */
static void count_cell(const res_compared *cell, res_tonight_verdict *verdict)
{
    const res_versus *versus = &verdict->versus;
    const res_headline head = res_compared_headline(versus, cell);
    double known = (double)NAN, hidden = (double)NAN;
    if (head.verdict == RES_SLOWER && !head.little) {
        verdict->slower++;
        return;
    }
    for (int i = 0; i < RES_MEASURE_COUNT; i++) {
        const res_measure m = (res_measure)i;
        const res_comparison *c = res_compared_measure(cell, m);
        if (!c || !res_measure_decides(cell, m))
            continue;
        const double seen = seen_of(verdict, cell, m);
        if (c->verdict == RES_UNEVEN ||
            (c->verdict == RES_UNDECIDED && seen > res_night_wanted(versus, m)))
            hidden = fmax(hidden, seen);
        else
            known = fmax(known, seen);
    }
    verdict->inconclusive += isnan(hidden) ? 0 : 1;
    verdict->candidates += res_night_candidate(versus, cell);
    if (isnan(hidden))
        verdict->mde = fmax(verdict->mde, known);
    else
        verdict->hidden = fmax(verdict->hidden, hidden);
}

static void count_cells(const res_tonight *tonight, res_tonight_verdict *verdict)
{
    for (size_t i = 0; i < tonight->records->count; i++)
        verdict->cells += !asked_before(tonight->records, i);
    if (verdict->basis == RES_BASIS_SAME)
        return;
    for (size_t i = 0; verdict->judged && i < verdict->versus.count; i++)
        count_cell(&verdict->versus.cells[i], verdict);
    const size_t known = verdict->judged ? verdict->versus.count : 0;
    verdict->fresh = verdict->cells > known ? verdict->cells - known : 0;
    verdict->inconclusive += verdict->fresh;
    if (verdict->fresh)
        verdict->hidden = (double)INFINITY;
}

/* ---- a runtime ---------------------------------------------------------------------------------
 */

static bool any_good(const res_collection *all)
{
    for (size_t i = 0; i < all->count; i++)
        if (res_record_good(all->records[i]))
            return true;
    return false;
}

static res_basis basis_of(const res_tonight *t)
{
    return !any_good(t->before)   ? RES_BASIS_NOTHING
           : t->same              ? RES_BASIS_SAME
           : any_good(t->control) ? RES_BASIS_CONTROL
                                  : RES_BASIS_RECORDS;
}

/* Says how many experiments have more pairs than the others: fewer than the family needs decide
 * nothing, but they show which experiments need more. */
static void note_further(res_versus *versus)
{
    size_t fewest = RES_MOST_PAIRS, more = 0;
    for (size_t i = 0; i < versus->count; i++)
        fewest = versus->cells[i].pairs < fewest ? versus->cells[i].pairs : fewest;
    for (size_t i = 0; i < versus->count; i++)
        more += versus->cells[i].pairs > fewest;
    if (more > 0)
        res_versus_add_note(versus, RES_NOTE_FURTHER,
                            "%zu of %zu experiments seemed slower and got further pairs, up to %d.",
                            more, versus->count, (int)res_plan_last(RES_NIGHT_PLAN));
}

static bn_code compare(const res_tonight *t, res_tonight_verdict *verdict, bn_status *st)
{
    const bool control = verdict->basis == RES_BASIS_CONTROL;
    const res_choice choice[2] = {{.store = control ? "the control" : "the last good night"},
                                  {.store = "tonight"}};
    bn_status why = {.code = BN_OK};
    bn_code code = res_versus_pair(control ? t->control : t->before, t->records, choice,
                                   &verdict->versus, &why);
    if (code == BN_OUT_OF_MEMORY)
        return bn_fail(st, code, "%s", why.message);
    if (code != BN_OK) {
        bn_text_printf(&verdict->versus.notes, "Not compared: %s.\n", why.message);
        verdict->versus.count = 0;
        return BN_OK;
    }
    /* A step that takes no longer may still need more of the device, or of memory. Records of
     * another night show only the variance of wall times between nights (widen). */
    verdict->versus.all_measures = control;
    const bool interim = control && t->interim;
    for (size_t i = 0; i < verdict->versus.count; i++)
        verdict->versus.cells[i].plan = interim ? RES_NIGHT_PLAN : RES_PLAN_ONCE;
    code = res_versus_judge(&verdict->versus, st);
    if (code == BN_OK && control && verdict->versus.b_slow) {
        res_versus_put_slow(&verdict->versus, &verdict->versus.notes);
        bn_text_puts(&verdict->versus.notes, ".\n");
    }
    if (code == BN_OK && interim)
        note_further(&verdict->versus);
    else if (code == BN_OK && control)
        res_versus_note_pairs(&verdict->versus);
    if (code == BN_OK && !control)
        widen_all(t, verdict);
    verdict->judged = code == BN_OK;
    return code;
}

bn_code res_tonight_judge(const res_tonight *tonight, res_tonight_verdict *verdict, bn_status *st)
{
    bn_code code = BN_OK;
    *verdict = (res_tonight_verdict){.basis = basis_of(tonight),
                                     .mde = (double)NAN,
                                     .hidden = (double)NAN,
                                     .machine = (double)NAN};
    res_versus_begin(&verdict->versus, tonight->threshold);
    if (verdict->basis == RES_BASIS_SAME)
        measure_machine(tonight->before, tonight->records, verdict);
    if (verdict->basis == RES_BASIS_CONTROL)
        measure_machine(tonight->before, tonight->control, verdict);
    if ((verdict->basis == RES_BASIS_CONTROL || verdict->basis == RES_BASIS_RECORDS) &&
        any_good(tonight->records))
        code = compare(tonight, verdict, st);
    count_cells(tonight, verdict);
    return code;
}

const char *res_basis_name(res_basis basis)
{
    static const char *const names[] = {[RES_BASIS_NOTHING] = "nothing",
                                        [RES_BASIS_SAME] = "same-build",
                                        [RES_BASIS_CONTROL] = "control",
                                        [RES_BASIS_RECORDS] = "records"};
    return names[basis];
}

void res_tonight_free(res_tonight_verdict *verdict)
{
    res_versus_free(&verdict->versus);
    *verdict = (res_tonight_verdict){0};
}

/* ---- causes -------------------------------------------------------------------------------------
 */

const char *res_drift_cause_id(res_drift_cause cause)
{
    static const char *const ids[] = {
        [RES_DRIFT_SAME] = "same-build",   [RES_DRIFT_MACHINE] = "machine",
        [RES_DRIFT_BUILD] = "build",       [RES_DRIFT_OTHER] = "not-controlled",
        [RES_DRIFT_RECORDED] = "recorded", [RES_DRIFT_RECORDED_SAME] = "recorded-same-build",
    };
    return ids[cause];
}

const char *res_drift_cause_name(res_drift_cause cause)
{
    static const char *const names[] = {
        [RES_DRIFT_SAME] = "the build is the same, so it is the machine",
        [RES_DRIFT_MACHINE] = "the build before was as slow in those nights, so it is the machine",
        [RES_DRIFT_BUILD] = "with the build; the build before was not slower in those nights",
        [RES_DRIFT_OTHER] =
            "with the build, its settings or the framework; without a control the machine is not "
            "excluded",
        [RES_DRIFT_RECORDED] = ("with the build or its settings; without a control a change of the "
                                "recorded program or "
                                "of the machine is not excluded"),
        [RES_DRIFT_RECORDED_SAME] =
            "the build is the same, so it is the recorded program or the machine",
    };
    return names[cause];
}

bool res_drift_counts(res_drift_cause cause)
{
    return cause == RES_DRIFT_BUILD || cause == RES_DRIFT_OTHER || cause == RES_DRIFT_RECORDED;
}

static bool same_origin(const res_night *a, const res_night *b)
{
    return strcmp(a->origin->sha256, b->origin->sha256) == 0 &&
           strcmp(a->settings, b->settings) == 0 && strcmp(a->front_end, b->front_end) == 0;
}

/* Time that the build of the night BEFORE took in NIGHT, as its control; NaN: it was not measured.
 */
static double control_of(const res_timeline *series, size_t before, size_t night,
                         const res_drift_options *options)
{
    const res_night *was = &series->nights[before], *is = &series->nights[night];
    for (size_t i = 0; options->controls && i < options->controls->count; i++) {
        const res_timeline *t = &options->controls->series[i];
        if (!res_same_request(t->experiment, series->experiment) ||
            t->simulated != series->simulated)
            continue;
        for (size_t k = 0; k < t->count; k++)
            if (same_origin(&t->nights[k], was) && isfinite(t->nights[k].value) &&
                fabs(t->nights[k].time_s - is->time_s) <= options->night_hours * 3600)
                return t->nights[k].value;
    }
    return (double)NAN;
}

/* The night with a value before NIGHT; NIGHT itself: there is none. */
static size_t night_before(const res_timeline *series, size_t night)
{
    for (size_t i = night; i-- > 0;)
        if (isfinite(series->nights[i].value))
            return i;
    return night;
}

/* The cause of a change by the log ratio CHANGE in the nights from FIRST to LAST. */
static res_drift_cause cause_of(const res_timeline *series, size_t first, size_t last,
                                double change, const res_drift_options *options)
{
    double explained = 0;
    bool others = false, open = false;
    for (size_t i = first; i <= last && i < series->count; i++) {
        const size_t before = night_before(series, i);
        if (before == i || !isfinite(series->nights[i].value) ||
            same_origin(&series->nights[before], &series->nights[i]))
            continue;
        const double step = log(series->nights[i].value / control_of(series, before, i, options));
        others = true;
        open = open || isnan(step);
        explained += isnan(step) ? 0 : step;
    }
    if (strcmp(series->experiment->mode, "recorded") == 0)
        return others ? RES_DRIFT_RECORDED : RES_DRIFT_RECORDED_SAME;
    return !others                                               ? RES_DRIFT_SAME
           : explained * copysign(1, change) >= fabs(change) / 2 ? RES_DRIFT_BUILD
           : open                                                ? RES_DRIFT_OTHER
                                                                 : RES_DRIFT_MACHINE;
}

/* ---- a series
 * ------------------------------------------------------------------------------------- */

/* Whether two nights, the last of the COUNT nights VALUES of SERIES, show what one more did not. */
static bool two_show(const res_timeline *series, const double *values, size_t count,
                     const res_drift_options *options, res_latest_nights *latest)
{
    *latest = res_latest_nights_of(values, count, 2, series->changes.rho);
    return latest->each && latest->p <= RES_DRIFT_LEVEL / (double)options->family &&
           fabs(log(latest->ratio.estimate)) >= log1p(options->change.least_effect);
}

static bool same_way(res_interval a, res_interval b)
{
    return (a.estimate > 1) == (b.estimate > 1);
}

/* Sets *KNOWN to whether SERIES had shown the change that begins STRETCH without its latest night:
 * as a change point, or by two nights. */
static bn_code was_known(const res_timeline *series, const res_stretch *stretch,
                         const res_drift_options *options, bool *known, bn_status *st)
{
    const size_t begin = series->stretch_count > 2 ? stretch[-1].first : 0;
    res_changes found = {0};
    res_latest_nights latest;
    double *values = bn_zalloc(series->last, sizeof *values);
    *known = false;
    for (size_t i = 0; i < series->last; i++)
        values[i] = series->nights[i].value;
    bn_code code = res_changes_find(values, series->last, &options->change, &found, st);
    for (size_t i = 0; code == BN_OK && i < found.count; i++) {
        const size_t at = found.list[i].at;
        const size_t off = at > stretch->first ? at - stretch->first : stretch->first - at;
        *known = *known || off < RES_LEAST_NIGHTS;
    }
    for (size_t end = stretch->first + 1; code == BN_OK && end <= series->last; end++)
        *known = *known || (two_show(series, values + begin, end - begin, options, &latest) &&
                            same_way(latest.ratio, stretch->ratio));
    res_changes_free(&found);
    free(values);
    return code;
}

/* The change point that begins the last stretch, if it is new. */
static bn_code new_change(const res_timeline *series, const res_drift_options *options,
                          res_drift *drift, bn_status *st)
{
    const res_stretch *s = &series->stretches[series->stretch_count - 1];
    const size_t off = RES_LEAST_NIGHTS - 1;
    bool known = true;
    bn_code code = was_known(series, s, options, &known, st);
    if (code == BN_OK && !known)
        *drift = (res_drift){.found = true,
                             .ratio = s->ratio,
                             .cause = cause_of(series, s->first > off ? s->first - off : 1,
                                               s->first + off, log(s->ratio.estimate), options)};
    return code;
}

/* The latest two nights, if they show what the night before them did not. */
static void new_nights(const res_timeline *series, const res_drift_options *options,
                       res_drift *drift)
{
    const size_t first = series->stretches[series->stretch_count - 1].first;
    const size_t before = night_before(series, series->last);
    size_t count = 0;
    res_latest_nights latest, yesterday;
    double *values = res_timeline_level(series, &count);
    if (before > first && two_show(series, values, count, options, &latest) &&
        !(two_show(series, values, before - first + 1, options, &yesterday) &&
          same_way(yesterday.ratio, latest.ratio)))
        *drift = (res_drift){
            .found = true,
            .two = true,
            .ratio = latest.ratio,
            .cause = cause_of(series, before, series->last, log(latest.ratio.estimate), options)};
    free(values);
}

bn_code res_series_tonight(const res_timeline *series, const res_drift_options *options,
                           res_drift *drift, bn_status *st)
{
    const double nan = (double)NAN;
    bn_code code = BN_OK;
    *drift = (res_drift){.ratio = {nan, nan, nan}};
    if (series->last == series->count)
        return BN_OK;
    if (series->stretch_count > 1)
        code = new_change(series, options, drift, st);
    if (code == BN_OK && !drift->found)
        new_nights(series, options, drift);
    return code;
}
