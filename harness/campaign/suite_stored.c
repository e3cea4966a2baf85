/*
 * suite_stored.c - runs of a plan that the store has already. The index has the identity of each
 * record, so that in a store of many nights only the records of the plan's runs are read. A record
 * with an impossible date does not count: tables and nights leave it out, so its run is still to be
 * measured.
 */
#include "harness/campaign/suites_priv.h"
#include "results/findings/findings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A record of the index, and its run. */
typedef struct match {
    const res_summary *summary;
    suite_run *run;
} match;

typedef struct lookup {
    suite_plan *plan;
    const char *store;
    res_index index;
    suite_run **sorted; /* the plan's runs, by identity */
    match *matches;
    size_t count;
    bn_status *st;
} lookup;

/* ---- matching --------------------------------------------------------------------------- */

static int by_identity(const void *a, const void *b)
{
    const suite_run *const *left = a, *const *right = b;
    return strcmp((*left)->identity, (*right)->identity);
}

static suite_run *find(suite_run *const *sorted, size_t count, const char *identity)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (strcmp(sorted[middle]->identity, identity) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(sorted[low]->identity, identity) == 0 ? sorted[low] : NULL;
}

/* Good ones first, and of those the latest. */
static int match_order(const void *a, const void *b)
{
    const res_summary *left = ((const match *)a)->summary, *right = ((const match *)b)->summary;
    const bool good = left->status == BN_OK;
    return good != (right->status == BN_OK) ? (good ? -1 : 1) : strcmp(right->id, left->id);
}

static void find_matches(lookup *l)
{
    const double now_s = (double)time(NULL);
    for (size_t i = 0; i < l->plan->count; i++)
        l->sorted[i] = &l->plan->runs[i];
    if (l->plan->count > 1)
        qsort(l->sorted, l->plan->count, sizeof *l->sorted, by_identity);
    for (size_t i = 0; i < l->index.count; i++) {
        const res_summary *s = &l->index.records[i];
        char identity[BN_SHA256_TEXT];
        suite_run *run = res_summary_identity(&l->index, s, identity)
                             ? find(l->sorted, l->plan->count, identity)
                             : NULL;
        if (run && res_misdated(s, now_s))
            res_misdates_add(&l->plan->stored.misdates, res_id_time(s->id));
        else if (run)
            l->matches[l->count++] = (match){s, run};
    }
    if (l->count > 1)
        qsort(l->matches, l->count, sizeof *l->matches, match_order);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* Reads the record of M for its run, or reports its file as damaged. */
static bn_code read_match(lookup *l, const match *m)
{
    res_collection *all = &l->plan->stored;
    res_record *record = NULL;
    bn_code code = res_summary_take(l->store, &l->index, m->summary, &record, all, l->st);
    if (!record)
        return code;
    all->records[all->count++] = record;
    m->run->record = record;
    m->run->state = record->status == BN_OK ? SUITE_DONE : SUITE_FAILED;
    m->run->failure = record->status;
    return BN_OK;
}

/* Reads a record for each run that has one. */
static bn_code read_matches(lookup *l)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < l->count && code == BN_OK; i++)
        if (!l->matches[i].run->record)
            code = read_match(l, &l->matches[i]);
    res_store_vet_end();
    return code;
}

/* ---- the store ------------------------------------------------------------------------------ */

bn_code suite_plan_look_up(suite_plan *plan, const char *store, bn_status *st)
{
    lookup l = {.plan = plan, .store = store, .st = st};
    if (access(store, F_OK) != 0 && errno == ENOENT)
        return BN_OK;
    bn_code code = res_index_load(store, NULL, &l.index, st);
    if (code != BN_OK)
        return code;
    l.sorted = bn_zalloc(plan->count + 1, sizeof(suite_run *));
    l.matches = bn_zalloc(l.index.count + 1, sizeof *l.matches);
    res_index_take_damaged(&l.index, &plan->stored);
    find_matches(&l);
    code = read_matches(&l);
    free(l.sorted);
    free(l.matches);
    res_index_free(&l.index);
    return code;
}
