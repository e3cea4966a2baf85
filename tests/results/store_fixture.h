/*
 * store_fixture.h - a store of a test's own, with records whose times and builds it chooses.
 */
#ifndef BENCH_TESTS_STORE_FIXTURE_H
#define BENCH_TESTS_STORE_FIXTURE_H

#include "tests/support/results_fixture.h"

#include "results/records/records_priv.h"
#include "tests/support/test_runtime.h"

typedef struct place {
    char store[300], index[400];
} place;

static inline int begin(void **state)
{
    place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    res_store_begin();
    fixture_folder(p->store, sizeof p->store, "index");
    snprintf(p->index, sizeof p->index, "%s/%s", p->store, RES_INDEX_FILE);
    *state = p;
    return 0;
}

static inline int end(void **state)
{
    free(*state);
    return 0;
}

/* The members that differ between the records of a test. */
typedef struct maker {
    const char *id, *sha256 /* as fixture_digest takes it */, *host;
    double factor; /* on the step time */
    bn_code status;
    uint64_t seed;
} maker;

static inline res_record *made_by(const maker *m, const char *runtime)
{
    fixture_case c = fixture_lazy;
    bn_status st = {0};
    c.runtime = runtime;
    c.wall_ns = (uint64_t)(25e6 * m->factor);
    res_record *r = fixture_record(&c, 20);
    snprintf(r->id, sizeof r->id, "%s", m->id);
    r->experiment.seed = m->seed;
    r->status = m->status;
    json_decref(r->provenance);
    r->provenance =
        json_pack("{s{ss ss ss} s{ss}}", "runtime", "sha256", fixture_digest(m->sha256), "label",
                  "tab\t, line\n, \\ and \"", "platform_version", "", "host", "hostname", m->host);
    if (m->status != BN_OK)
        assert_ok(res_record_reserve_steps(r, 0, 0, &st), &st);
    return r;
}

static inline void write_with(const place *p, const maker *m, const char *runtime, char path[600])
{
    bn_status st = {0};
    res_record *r = made_by(m, runtime);
    assert_ok(res_store_write(p->store, r, path, 600, &st), &st);
    res_record_free(r);
}

static inline void load_with(const place *p, const res_index_options *o, res_index *index)
{
    bn_status st = {0};
    assert_ok(res_index_load(p->store, o, index, &st), &st);
    assert_int_equal(index->unsaved.code, BN_OK);
}

#endif
