/*
 * pools_fixture.h - records of processes for the tests of pools and claims.
 */
#ifndef BENCH_TESTS_POOLS_FIXTURE_H
#define BENCH_TESTS_POOLS_FIXTURE_H

#include "results/findings/findings.h"
#include "tests/support/results_fixture.h"

#define MOST 200

/* Records of a test, which frees them. */
typedef struct store {
    res_record *records[MOST];
    size_t count;
} store;

static inline res_record *add(store *s, const char *model, const char *mode, const double *round_ns,
                              size_t rounds)
{
    const fixture_case c = {"cpu", model, "infer", mode, 1, 1, 1000, 1000000, (double)NAN, 10};
    res_record *record = fixture_record(&c, rounds);
    assert_true(s->count < MOST);
    for (size_t i = 0; i < rounds; i++)
        record->wall_ns[i] = (uint64_t)llround(round_ns[i]);
    s->records[s->count++] = record;
    return record;
}

/* The same in rounds of one step, as PROCESS of a group; none for PROCESS 0. */
static inline res_record *add_rounds(store *s, const char *model, const char *mode,
                                     const double *round_ns, size_t rounds, int process)
{
    res_record *record = add(s, model, mode, round_ns, rounds);
    assert_int_equal(res_record_reserve_rounds(record, rounds, NULL), BN_OK);
    for (size_t i = 0; i < rounds; i++)
        record->rounds[i] = (res_round){.steps = 1, .wall_ns = record->wall_ns[i]};
    if (process > 0)
        fixture_group(record, model, process);
    return record;
}

static inline res_speedup made(store *s)
{
    const res_collection all = {.records = s->records, .count = s->count};
    res_speedup table;
    res_speedup_make(&all, &table);
    return table;
}

static inline void clear(store *s)
{
    for (size_t i = 0; i < s->count; i++)
        res_record_free(s->records[i]);
    s->count = 0;
}

/* Row of MODE of the cell MODEL. */
static inline const res_speedup_row *row_of(const res_speedup *table, const char *model,
                                            const char *mode)
{
    for (size_t i = 0; i < table->count; i++) {
        const res_experiment *e = &table->rows[i].record->experiment;
        if (strcmp(e->model, model) == 0 && strcmp(e->mode, mode) == 0)
            return &table->rows[i];
    }
    fail_msg("no row %s %s", model, mode);
    return NULL;
}

#endif
