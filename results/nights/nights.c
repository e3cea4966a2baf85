/* nights.c - one night among the others: which night it is compared with, which builds
 * are the latest, and which series it belongs to. Ids alone say what is newer: a copy of a
 * record under another name is as old as the record, and what has no time is of no night. */
#include "results/nights/nights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool res_ran_on(const res_experiment *experiment, const res_runs_of *runs)
{
    return strcmp(bn_base_name(experiment->runtime), runs->runtime) == 0 &&
           res_has_own_plugin(experiment) == runs->own &&
           (!runs->settings || strcmp(experiment->settings, runs->settings) == 0);
}

/* ---- the last good night -------------------------------------------------------------- */

static bool holds(const res_collection *records, const char *id)
{
    for (size_t i = 0; records && i < records->count; i++)
        if (strcmp(records->records[i]->id, id) == 0)
            return true;
    return false;
}

/* Whether TONIGHT asks for EXPERIMENT, whatever the build. */
static bool asked(const res_night_of *tonight, const res_runs_of *runs,
                  const res_experiment *experiment)
{
    for (size_t i = 0; i < tonight->asked_count; i++)
        if (res_ran_on(tonight->asked[i], runs) && res_same_request(tonight->asked[i], experiment))
            return true;
    return false;
}

/* Whether S is a good record whose id has a time, and a right one. */
static bool has_date(const res_summary *s, double now_s)
{
    return s->status == BN_OK && !isnan(res_id_time(s->id)) && !res_misdated(s, now_s);
}

/* Ids begin with their time, all in the same figures. */
static int older_first(const void *a, const void *b)
{
    const res_summary *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Whether S is a good record of RUNS, of a night before TONIGHT. */
static bool good_before(const res_index *index, const res_summary *s, const res_night_of *tonight,
                        const res_runs_of *runs)
{
    return has_date(s, tonight->now_s) && res_ran_on(index->experiments[s->experiment], runs) &&
           (!runs->label || res_same_label(s->origin->label, runs->label)) &&
           !holds(tonight->records, s->id);
}

/* Other suites may write to the store as well, and run on the same runtime: only records of what
 * was asked for tonight count. */
static const res_summary *latest_before(const res_index *index, const res_night_of *tonight,
                                        const res_runs_of *runs)
{
    const res_summary *latest = NULL;
    for (size_t i = 0; i < index->count; i++) {
        const res_summary *s = &index->records[i];
        if ((!latest || strcmp(s->id, latest->id) > 0) && good_before(index, s, tonight, runs) &&
            asked(tonight, runs, index->experiments[s->experiment]))
            latest = s;
    }
    return latest;
}

size_t res_last_good_night(const res_index *index, const res_night_of *tonight,
                           const res_runs_of *runs, const res_summary **night)
{
    const res_summary *latest = latest_before(index, tonight, runs);
    const char *settings = latest ? index->experiments[latest->experiment]->settings : "";
    size_t count = 0;
    for (size_t i = 0; latest && i < index->count; i++) {
        const res_summary *s = &index->records[i];
        if (good_before(index, s, tonight, runs) &&
            strcmp(s->origin->sha256, latest->origin->sha256) == 0 &&
            strcmp(index->experiments[s->experiment]->settings, settings) == 0 &&
            strcmp(s->id, latest->id) <= 0 &&
            res_id_time(latest->id) - res_id_time(s->id) <= tonight->hours * 3600)
            night[count++] = s;
    }
    if (count > 1)
        qsort(night, count, sizeof *night, older_first);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(night[kept - 1]->id, night[i]->id) != 0)
            night[kept++] = night[i];
    return kept;
}

res_misdates res_misdates_of(const res_index *index, double now_s)
{
    res_misdates misdates = {0};
    for (size_t i = 0; i < index->count; i++)
        if (res_misdated(&index->records[i], now_s))
            res_misdates_add(&misdates, res_id_time(index->records[i].id));
    return misdates;
}

/* ---- builds ----------------------------------------------------------------------------- */

/* Whether S is of a build that BUILDS, with a runtime each, has; *OTHERS of them are of its
 * runtime. */
static bool listed(const res_origin *const *builds, const char *const *runtimes, size_t count,
                   const res_summary *s, const char *runtime, size_t *others)
{
    *others = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(runtimes[i], runtime) != 0)
            continue;
        ++*others;
        if (strcmp(builds[i]->sha256, s->origin->sha256) == 0)
            return true;
    }
    return false;
}

size_t res_latest_builds(const res_index *index, size_t most, double now_s,
                         const res_origin **builds)
{
    const char **runtimes = bn_zalloc(index->count, sizeof(const char *));
    const res_summary **good = bn_zalloc(index->count, sizeof(const res_summary *));
    size_t count = 0, goods = 0;
    for (size_t i = 0; i < index->count; i++) {
        const res_summary *s = &index->records[i];
        if (s->origin->sha256[0] && has_date(s, now_s) &&
            !res_has_own_plugin(index->experiments[s->experiment]))
            good[goods++] = s;
    }
    if (goods > 1)
        qsort(good, goods, sizeof *good, older_first);
    for (size_t i = goods; i-- > 0;) {
        const char *runtime = bn_base_name(index->experiments[good[i]->experiment]->runtime);
        size_t others;
        if (listed(builds, runtimes, count, good[i], runtime, &others) || others == most)
            continue;
        runtimes[count] = runtime;
        builds[count++] = good[i]->origin;
    }
    free(good);
    free(runtimes);
    return count;
}

bool res_tried_again(const res_collection *all, size_t i)
{
    char identity[BN_SHA256_TEXT], later[BN_SHA256_TEXT];
    if (!res_record_identity(all->records[i], identity))
        return false;
    for (size_t k = 0; k < all->count; k++)
        if (strcmp(all->records[k]->id, all->records[i]->id) > 0 &&
            res_record_identity(all->records[k], later) && strcmp(identity, later) == 0)
            return true;
    return false;
}

/* ---- series ------------------------------------------------------------------------------- */

bool res_timeline_takes(const res_timeline *series, const res_record *record)
{
    res_experiment own = record->experiment;
    if (record->status != BN_OK || record->simulated != series->simulated)
        return false;
    if (series->any_settings)
        memcpy(own.settings, series->experiment->settings, sizeof own.settings);
    return res_series_order(&own, series->experiment) == 0;
}

bool res_timeline_has(const res_timeline *series, const res_collection *records)
{
    for (size_t i = 0; i < records->count; i++)
        if (res_timeline_takes(series, records->records[i]))
            return true;
    return false;
}
