/*
 * newest.c - the records that tables and pictures of a store are made of: pool.c takes those of the
 * newest build of each cell and way. In a store of many nights these are few, and the index knows
 * which, so that no other file is opened.
 */
#include "results/findings/findings.h"

#include <stdlib.h>
#include <string.h>

/* The records of one cell and way. */
typedef struct way {
    const res_summary *told;   /* the newest that tells its build; NULL: none does */
    const res_summary *newest; /* of that build: good, if one is; NULL: there is none */
    size_t tried, held;        /* records like NEWEST; those of them that were read */
    size_t good, failed;       /* that are not read */
} way;

/* What became of a record of the index. */
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
static bool number_ways(choice *c)
{
    const size_t count = c->index->experiment_count;
    numbered *list = calloc(count + 1, sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < count; i++)
        list[i] = (numbered){c->index->experiments[i], i};
    qsort(list, count, sizeof *list, numbered_order);
    for (size_t i = 0, number = 0; i < count; i++) {
        number += i > 0 && !res_same_way_asked(list[i - 1].experiment, list[i].experiment);
        c->numbers[list[i].number] = number;
    }
    free(list);
    return true;
}

/* Leaves out the records that cannot be as new as they say: they would be the newest for ever. */
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

/* As pool.c has it: the newest record of the newest build, but a good one if there is any. */
static bool is_newer(const res_summary *s, const res_summary *than)
{
    return res_summary_good(s) == res_summary_good(than) ? res_id_order(s->id, than->id) > 0
                                                         : res_summary_good(s);
}

static bool is_lost(const choice *c, size_t record)
{
    return c->fates[record] == FATE_MISDATED || c->fates[record] == FATE_DAMAGED;
}

static void find_newest(choice *c)
{
    memset(c->ways, 0, 2 * c->index->experiment_count * sizeof *c->ways);
    for (size_t i = 0; i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        way *w = way_of(c, s);
        if (!is_lost(c, i) && s->origin->sha256[0] &&
            (!w->told || res_id_order(s->id, w->told->id) > 0))
            w->told = s;
    }
    for (size_t i = 0; i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        way *w = way_of(c, s);
        if (is_lost(c, i) || (s->origin->sha256[0] && w->told &&
                              strcmp(s->origin->sha256, w->told->origin->sha256) != 0))
            continue;
        if (!w->newest || is_newer(s, w->newest))
            w->newest = s;
    }
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Whether S may be in its way's pool. A failure that came after the newest good record is news. */
static bool is_needed(const res_summary *s, const res_summary *newest)
{
    return strcmp(s->origin->sha256, newest->origin->sha256) == 0 ||
           (!res_summary_good(s) && res_summary_good(newest) &&
            res_id_order(s->id, newest->id) > 0);
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
        const bool needed = is_needed(s, w->newest);
        const bool like = needed && res_summary_good(s) == res_summary_good(w->newest);
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

/* Whether a way's newest build turned out to have no file that can be read. */
static bool lost_a_build(const choice *c)
{
    for (size_t i = 0; i < 2 * c->index->experiment_count; i++)
        if (c->ways[i].tried > 0 && c->ways[i].held == 0)
            return true;
    return false;
}

/* Reads the newest build of each way, and where its files are damaged the one before it. */
static bn_code read_builds(choice *c, res_record **records, res_collection *all)
{
    bn_code code = BN_OK;
    do {
        find_newest(c);
        code = read_needed(c, records, all);
    } while (code == BN_OK && lost_a_build(c));
    res_store_vet_end();
    return code;
}

static void count_unread(const choice *c, res_collection *all)
{
    for (size_t i = 0; i < 2 * c->index->experiment_count; i++) {
        const way *w = &c->ways[i];
        if (w->good + w->failed > 0)
            all->unread[all->unread_count++] = (res_unread){
                *experiment_of(c, w->newest), w->newest->simulated, w->good, w->failed};
    }
}

static bool make_room(choice *c, res_collection *all)
{
    const res_index *index = c->index;
    const size_t ways = 2 * index->experiment_count;
    c->ways = calloc(ways + 1, sizeof *c->ways);
    c->numbers = calloc(index->experiment_count + 1, sizeof *c->numbers);
    c->fates = calloc(index->count + 1, sizeof *c->fates);
    all->records = calloc(index->count + 1, sizeof(res_record *));
    all->unread = calloc(ways + 1, sizeof *all->unread);
    return c->ways && c->numbers && c->fates && all->records && all->unread;
}

bn_code res_newest_read(const char *store, const res_index *index, const res_asked *asked,
                        res_collection *all, bn_status *st)
{
    choice c = {.store = store, .index = index, .asked = asked, .st = st};
    *all = (res_collection){0};
    bn_code code = BN_OK;
    if (make_room(&c, all) && number_ways(&c)) {
        leave_misdated(&c, all);
        code = read_builds(&c, all->records, all);
        for (size_t i = 0; i < index->count; i++)
            if (all->records[i])
                all->records[all->count++] = all->records[i];
        count_unread(&c, all);
    } else {
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu records", index->count);
    }
    if (code == BN_OK)
        res_index_take_damaged(index, all);
    free(c.ways);
    free(c.numbers);
    free(c.fates);
    if (code != BN_OK)
        res_collection_free(all);
    return code;
}
