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
    const res_summary *newest; /* good, if one is */
    size_t good, failed;       /* that are not read */
} way;

typedef struct choice {
    const char *store;
    const res_index *index;
    way *ways;
    size_t way_count;
    size_t *way_of; /* of an experiment, twice: measured, simulated; SIZE_MAX: not known yet */
    bn_status *st;
} choice;

static bool is_good(const res_summary *s)
{
    return s->status == BN_OK && s->steps > 0;
}

static const res_experiment *experiment_of(const choice *c, const res_summary *s)
{
    return c->index->experiments[s->experiment];
}

static way *way_of(const choice *c, const res_summary *s)
{
    size_t *known = &c->way_of[2 * s->experiment + s->simulated];
    for (size_t i = 0; *known == SIZE_MAX && i < c->way_count; i++) {
        const res_summary *other = c->ways[i].newest;
        if (other->simulated == s->simulated &&
            res_same_way_asked(experiment_of(c, other), experiment_of(c, s)))
            *known = i;
    }
    return *known == SIZE_MAX ? NULL : &c->ways[*known];
}

/* As pool.c has it: the newest record, but a good one if there is any. */
static bool is_newer(const res_summary *s, const res_summary *than)
{
    return is_good(s) == is_good(than) ? strcmp(s->id, than->id) > 0 : is_good(s);
}

static void find_ways(choice *c)
{
    for (size_t i = 0; i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        way *w = way_of(c, s);
        if (!w) {
            c->way_of[2 * s->experiment + s->simulated] = c->way_count;
            w = &c->ways[c->way_count++];
            w->newest = s;
        }
        if (is_newer(s, w->newest))
            w->newest = s;
    }
}

/* Whether S may be in its way's pool. A failure that came after the newest good record is news. */
static bool is_needed(const res_summary *s, const res_summary *newest)
{
    return strcmp(s->origin->sha256, newest->origin->sha256) == 0 ||
           (!is_good(s) && is_good(newest) && strcmp(s->id, newest->id) > 0);
}

/* Reads the file of S into ALL, which has room, or reports it as damaged. */
static bn_code read_record(choice *c, const res_summary *s, res_collection *all)
{
    bn_text path = {0};
    bn_status why = {.code = BN_OK};
    bn_text_printf(&path, "%s/%s", c->store, s->file);
    bn_code code = path.failed ? bn_fail(&why, BN_OUT_OF_MEMORY, "no memory for a file name")
                               : res_store_read_foreign(path.data, &all->records[all->count], &why);
    if (code == BN_OK) {
        all->count++;
    } else if (code != BN_OUT_OF_MEMORY) {
        all->damaged[all->damaged_count++] = (res_damaged){path.data, why};
        return BN_OK;
    } else {
        *c->st = why;
    }
    bn_text_free(&path);
    return code;
}

static bn_code read_needed(choice *c, res_experiment_filter *wanted, void *context,
                           res_collection *all)
{
    bn_code code = BN_OK;
    for (size_t i = 0; code == BN_OK && i < c->index->count; i++) {
        const res_summary *s = &c->index->records[i];
        if (wanted && !wanted(context, experiment_of(c, s)))
            continue;
        way *w = way_of(c, s);
        if (is_needed(s, w->newest))
            code = read_record(c, s, all);
        else
            *(is_good(s) ? &w->good : &w->failed) += 1;
    }
    res_store_vet_end();
    return code;
}

static void count_unread(const choice *c, res_collection *all)
{
    for (size_t i = 0; i < c->way_count; i++) {
        const way *w = &c->ways[i];
        if (w->good + w->failed > 0)
            all->unread[all->unread_count++] = (res_unread){
                *experiment_of(c, w->newest), w->newest->simulated, w->good, w->failed};
    }
}

/* Appends the files that the index cannot describe, after those that were found just now. */
static bn_code take_damaged(const res_index *index, res_collection *all, bn_status *st)
{
    for (size_t i = 0; i < index->damaged_count; i++) {
        char *path = strdup(index->damaged[i].path);
        if (!path)
            return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a file name");
        all->damaged[all->damaged_count++] = (res_damaged){path, index->damaged[i].status};
    }
    return BN_OK;
}

static bool make_room(choice *c, res_collection *all)
{
    const res_index *index = c->index;
    const size_t keys = 2 * index->experiment_count;
    c->ways = calloc(keys + 1, sizeof *c->ways);
    c->way_of = malloc((keys + 1) * sizeof *c->way_of);
    all->records = calloc(index->count + 1, sizeof(res_record *));
    all->damaged = calloc(index->count + index->damaged_count + 1, sizeof *all->damaged);
    all->unread = calloc(keys + 1, sizeof *all->unread);
    if (c->way_of)
        memset(c->way_of, 0xff, (keys + 1) * sizeof *c->way_of);
    return c->ways && c->way_of && all->records && all->damaged && all->unread;
}

bn_code res_newest_read(const char *store, const res_index *index, res_experiment_filter *wanted,
                        void *context, res_collection *all, bn_status *st)
{
    choice c = {.store = store, .index = index, .st = st};
    *all = (res_collection){0};
    bn_code code = BN_OK;
    if (make_room(&c, all)) {
        find_ways(&c);
        code = read_needed(&c, wanted, context, all);
        count_unread(&c, all);
    } else {
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu records", index->count);
    }
    if (code == BN_OK)
        code = take_damaged(index, all, st);
    free(c.ways);
    free(c.way_of);
    if (code != BN_OK)
        res_collection_free(all);
    return code;
}
