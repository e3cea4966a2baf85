/*
 * latest.c - the records that tables and pictures of a store are made of: pool.c takes those of the
 * latest build of each cell and way. In a store of many nights these are few, and the index knows
 * which, so that no other file is opened.
 */
#include "results/findings/findings_priv.h"

#include <stdlib.h>
#include <string.h>

/* The records of one cell and way. */
typedef struct way {
    res_latest latest;   /* its record is a summary */
    size_t tried, held;  /* records like it; those of them that were read */
    size_t good, failed; /* that are not read */
} way;

/* The fate of a record of the index. */
typedef enum fate { FATE_OPEN, FATE_READ, FATE_MISDATED, FATE_DAMAGED } fate;

typedef struct choice {
    const char *store;
    const res_index *index;
    const res_asked *asked;
    way *ways;       /* [2 * number]: measured, simulated */
    size_t *numbers; /* [experiment]: the same for experiments of one way */
    fate *fates;     /* [record] */
    bn_status *st;
} choice;

static const res_experiment *experiment_of(const choice *c, const res_summary *s)
{
    return c->index->experiments[s->experiment];
}

static bool is_wanted(const choice *c, const res_summary *s)
{
    return !c->asked->wanted || c->asked->wanted(c->asked->context, experiment_of(c, s));
}

static way *way_of(const choice *c, const res_summary *s)
{
    return &c->ways[2 * c->numbers[s->experiment] + s->simulated];
}

/* ---- ways ------------------------------------------------------------------------------ */

/* An experiment of the index, to be sorted. */
typedef struct numbered {
    const res_experiment *experiment;
    size_t number;
} numbered;

static int numbered_order(const void *a, const void *b)
{
    return res_experiment_order(((const numbered *)a)->experiment,
                                ((const numbered *)b)->experiment);
}

/* Gives experiments of one way one number. */
static void number_ways(choice *c)
{
    const size_t count = c->index->experiment_count;
    numbered *list = bn_zalloc(count, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (numbered){c->index->experiments[i], i};
    qsort(list, count, sizeof *list, numbered_order);
    for (size_t i = 0, number = 0; i < count; i++) {
        number += i > 0 && !res_same_way_asked(list[i - 1].experiment, list[i].experiment);
        c->numbers[list[i].number] = number;
    }
    free(list);
}

/* Leaves out the records that cannot be as new as they say: they would be the latest for ever. */
static void leave_misdated(choice *c, res_collection *all)
{
    for (size_t i = 0; i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        if (!res_misdated(s, c->asked->now_s))
            continue;
        c->fates[i] = FATE_MISDATED;
        if (is_wanted(c, s))
            res_misdates_add(&all->misdates, res_id_time(s->id));
    }
}

static bool is_lost(const choice *c, size_t record)
{
    return c->fates[record] == FATE_MISDATED || c->fates[record] == FATE_DAMAGED;
}

static void find_latest(choice *c)
{
    memset(c->ways, 0, 2 * c->index->experiment_count * sizeof *c->ways);
    for (size_t i = 0; i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        if (!is_lost(c, i))
            res_latest_build(&way_of(c, s)->latest, s->id, s->origin->sha256);
    }
    for (size_t i = 0; i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        res_latest *latest = &way_of(c, s)->latest;
        if (!is_lost(c, i) && res_latest_has(latest, s->origin->sha256))
            res_latest_record(latest, s, s->id, res_summary_good(s));
    }
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Whether S may be in its way's pool. A failure that came after the latest good record is news. */
static bool is_needed(const res_summary *s, const res_summary *latest)
{
    return strcmp(s->origin->sha256, latest->origin->sha256) == 0 ||
           (!res_summary_good(s) && res_summary_good(latest) &&
            res_id_order(s->id, latest->id) > 0);
}

/* Reads what is needed and was not read yet; RECORDS has a place for each record of the index. */
static bn_code read_needed(choice *c, res_record **records, res_collection *all)
{
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        way *w = way_of(c, s);
        if (is_lost(c, i) || !is_wanted(c, s))
            continue;
        const bool needed = is_needed(s, w->latest.record);
        const bool like = needed && res_summary_good(s) == w->latest.good;
        w->tried += like;
        if (needed && c->fates[i] == FATE_OPEN) {
            code = res_summary_take(c->store, c->index, s, &records[i], all, c->st);
            c->fates[i] = records[i] ? FATE_READ : FATE_DAMAGED;
        }
        if (c->fates[i] == FATE_READ)
            w->held += like;
        else if (c->fates[i] == FATE_OPEN)
            *(res_summary_good(s) ? &w->good : &w->failed) += 1;
    }
    return code;
}

/* Whether a way's latest build turned out to have no file that can be read. */
static bool lost_a_build(const choice *c)
{
    for (size_t i = 0; i < 2 * c->index->experiment_count; i++)
        if (c->ways[i].tried > 0 && c->ways[i].held == 0)
            return true;
    return false;
}

/* Reads the latest build of each way, and where its files are damaged the one before it. */
static bn_code read_builds(choice *c, res_record **records, res_collection *all)
{
    bn_code code = BN_OK;
    do {
        find_latest(c);
        code = read_needed(c, records, all);
    } while (code == BN_OK && lost_a_build(c));
    res_store_vet_end();
    return code;
}

static void count_unread(const choice *c, res_collection *all)
{
    for (size_t i = 0; i < 2 * c->index->experiment_count; i++) {
        const way *w = &c->ways[i];
        const res_summary *s = w->latest.record;
        if (w->good + w->failed > 0)
            all->unread[all->unread_count++] =
                (res_unread){*experiment_of(c, s), s->simulated, w->good, w->failed};
    }
}

bn_code res_latest_read(const char *store, const res_index *index, const res_asked *asked,
                        res_collection *all, bn_status *st)
{
    const size_t ways = 2 * index->experiment_count;
    choice c = {.store = store,
                .index = index,
                .asked = asked,
                .ways = bn_zalloc(ways, sizeof *c.ways),
                .numbers = bn_zalloc(index->experiment_count, sizeof *c.numbers),
                .fates = bn_zalloc(index->count, sizeof *c.fates),
                .st = st};
    *all = (res_collection){.records = bn_zalloc(index->count, sizeof(res_record *)),
                            .unread = bn_zalloc(ways, sizeof *all->unread)};
    number_ways(&c);
    leave_misdated(&c, all);
    bn_code code = read_builds(&c, all->records, all);
    for (size_t i = 0; i < index->count; i++)
        if (all->records[i])
            all->records[all->count++] = all->records[i];
    count_unread(&c, all);
    if (code == BN_OK)
        res_index_take_damaged(index, all);
    free(c.ways);
    free(c.numbers);
    free(c.fates);
    if (code != BN_OK)
        res_collection_free(all);
    return code;
}
