/* nights.c - one night among the others: which night it is compared with, and what it is the first
 * to show. */
#include "results/findings/findings.h"

#include <stdlib.h>
#include <string.h>

bool res_ran_on(const res_experiment *experiment, const res_runs_of *runs)
{
    return strcmp(bn_base_name(experiment->runtime), runs->runtime) == 0 &&
           (!runs->settings || strcmp(experiment->settings, runs->settings) == 0);
}

/* ---- the last good night -------------------------------------------------------------- */

static bool holds(const res_collection *records, const char *id)
{
    for (size_t i = 0; i < records->count; i++)
        if (strcmp(records->records[i]->id, id) == 0)
            return true;
    return false;
}

/* Whether a good record of TONIGHT's RUNS asked for EXPERIMENT. */
static bool asked_tonight(const res_collection *tonight, const res_runs_of *runs,
                          const res_experiment *experiment)
{
    for (size_t i = 0; i < tonight->count; i++) {
        const res_record *r = tonight->records[i];
        if (r->status == BN_OK && res_ran_on(&r->experiment, runs) &&
            res_same_request(&r->experiment, experiment))
            return true;
    }
    return false;
}

/* Whether S is a good record of RUNS, and not TONIGHT's. */
static bool good_before(const res_index *index, const res_summary *s, const res_collection *tonight,
                        const res_runs_of *runs)
{
    return s->status == BN_OK && res_ran_on(index->experiments[s->experiment], runs) &&
           !holds(tonight, s->id);
}

/* Other suites may write to the store as well, and run on the same runtime: only records of what
 * was asked for tonight count. */
static const res_summary *newest_before(const res_index *index, const res_collection *tonight,
                                        const res_runs_of *runs)
{
    for (size_t i = index->count; i-- > 0;) {
        const res_summary *s = &index->records[i];
        if (good_before(index, s, tonight, runs) &&
            asked_tonight(tonight, runs, index->experiments[s->experiment]))
            return s;
    }
    return NULL;
}

size_t res_last_good_night(const res_index *index, const res_collection *tonight,
                           const res_runs_of *runs, double hours, const res_summary **night)
{
    const res_summary *newest = newest_before(index, tonight, runs);
    size_t count = 0;
    for (size_t i = 0; newest && i < index->count; i++) {
        const res_summary *s = &index->records[i];
        if (good_before(index, s, tonight, runs) &&
            strcmp(s->origin->sha256, newest->origin->sha256) == 0 &&
            res_id_time(newest->id) - res_id_time(s->id) <= hours * 3600)
            night[count++] = s;
    }
    return count;
}

bool res_tried_again(const res_collection *all, size_t i)
{
    char identity[BN_SHA256_TEXT], later[BN_SHA256_TEXT];
    if (!res_record_identity(all->records[i], identity))
        return false;
    for (size_t k = i + 1; k < all->count; k++)
        if (res_record_identity(all->records[k], later) && strcmp(identity, later) == 0)
            return true;
    return false;
}

/* ---- what is new ------------------------------------------------------------------------ */

bool res_timeline_has(const res_timeline *series, const res_collection *records)
{
    for (size_t i = 0; i < records->count; i++) {
        const res_record *r = records->records[i];
        if (r->status == BN_OK && r->simulated == series->simulated &&
            res_series_order(&r->experiment, series->experiment) == 0)
            return true;
    }
    return false;
}

bn_code res_change_was_known(const res_timeline *series, const res_stretch *stretch,
                             const res_change_options *options, bool *known, bn_status *st)
{
    res_changes found = {0};
    double *values = calloc(series->last + 1, sizeof *values);
    *known = false;
    if (!values)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a series");
    for (size_t i = 0; i < series->last; i++)
        values[i] = series->nights[i].value;
    bn_code code = res_changes_find(values, series->last, options, &found, st);
    for (size_t i = 0; code == BN_OK && i < found.count; i++) {
        const size_t at = found.list[i].at;
        const size_t off = at > stretch->first ? at - stretch->first : stretch->first - at;
        *known = *known || off < RES_LEAST_NIGHTS;
    }
    res_changes_free(&found);
    free(values);
    return code;
}
