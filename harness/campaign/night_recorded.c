/*
 * night_recorded.c - steps of other programs that were recorded this night, and whose records bench
 * import has put into the store. Only their programs could run them again, so they have no
 * controls: a night judges their series by the history alone.
 */
#include "harness/campaign/night_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The beginning of the night: one that was killed and continued has earlier records. */
static double begin_of(const nightly *n)
{
    double begin_s = n->now_s;
    for (size_t i = 0; i < n->tonight.count; i++)
        begin_s = fmin(begin_s, res_id_time(n->tonight.records[i]->id));
    return begin_s;
}

/* Whether S is of a step that was recorded in the hours before a night that began at BEGIN_S, or
 * since then. */
static bool is_tonights(const nightly *n, const res_summary *s, double begin_s)
{
    const res_experiment *e = n->index.experiments[s->experiment];
    return strcmp(e->mode, "recorded") == 0 && res_summary_good(s) && !res_misdated(s, n->now_s) &&
           res_id_time(s->id) >= begin_s - n->options->night_hours * 3600;
}

void night_recorded_find(nightly *n)
{
    const double begin_s = begin_of(n);
    bool *known = bn_zalloc(n->index.experiment_count + 1, sizeof *known);
    n->recorded = bn_zalloc(n->index.count + 1, sizeof(const res_summary *));
    for (size_t i = 0; i < n->index.count; i++) {
        const res_summary *s = &n->index.records[i];
        if (!is_tonights(n, s, begin_s))
            continue;
        n->asked += !known[s->experiment];
        n->recorded_experiments += !known[s->experiment];
        known[s->experiment] = true;
        n->recorded[n->recorded_count++] = s;
    }
    free(known);
}

static int by_id(const void *a, const void *b)
{
    const res_record *const *x = a, *const *y = b;
    return strcmp((*x)->id, (*y)->id);
}

/* Adds the record of S to tonight's, which have room. One that cannot be read is reported. */
static bn_code add_record(nightly *n, const res_summary *s, bn_status *st)
{
    bn_status why = {.code = BN_OK};
    const bn_code code = res_summary_read(n->options->suites->store, &n->index, s,
                                          &n->tonight.records[n->tonight.count], &why);
    if (code == BN_OK)
        n->tonight.count++;
    else if (code == BN_OUT_OF_MEMORY)
        return bn_fail(st, code, "%s", why.message);
    else {
        night_note_add(n, NIGHT_NOTE_NOT_JUDGED, "not judged: %s", why.message);
        n->unread++;
    }
    return BN_OK;
}

bn_code night_recorded_add(nightly *n, bn_status *st)
{
    bn_code code = BN_OK;
    if (n->recorded_count == 0)
        return BN_OK;
    size_t capacity = n->tonight.count;
    bn_grow(&n->tonight.records, n->tonight.count + n->recorded_count, &capacity,
            sizeof(res_record *));
    for (size_t i = 0; i < n->recorded_count && code == BN_OK; i++)
        code = add_record(n, n->recorded[i], st);
    res_store_vet_end();
    qsort(n->tonight.records, n->tonight.count, sizeof(res_record *), by_id);
    bn_text_printf(&n->words,
                   "recorded: %zu experiment%s of other programs tonight, judged by the history "
                   "alone\n",
                   n->recorded_experiments, n->recorded_experiments == 1 ? "" : "s");
    return code;
}
