/*
 * test_store.c - records of a store that are read by the names of their files, the latest first.
 * Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include <unistd.h>

/* The visited records. */
typedef struct visits {
    size_t count, stop; /* STOP: the number of the last one; 0: all */
    char ids[8][RES_TEXT];
    size_t which[8];
} visits;

static bool visit(void *context, size_t which, const res_record *record)
{
    visits *v = context;
    assert_true(v->count < 8);
    v->which[v->count] = which;
    snprintf(v->ids[v->count++], RES_TEXT, "%s", record->id);
    return v->count != v->stop;
}

/* Five records of one experiment, a day apart. */
static void write_five(const place *p)
{
    for (int i = 0; i < 5; i++) {
        char id[64], path[600];
        snprintf(id, sizeof id, "2026010%dT020000.000000000Z-host-1-0", i + 1);
        const maker m = {id, "aa", "h1", 1, BN_OK, 1};
        write_with(p, &m, "cpu", path);
    }
}

static res_experiment asked(void)
{
    res_record *r = fixture_record(&fixture_lazy, 1);
    const res_experiment e = r->experiment;
    res_record_free(r);
    return e;
}

static void the_latest_come_first_and_no_more_than_asked(void **state)
{
    const place *p = *state;
    const res_experiment e = asked();
    visits all = {0}, two = {0}, until = {.stop = 3};
    write_five(p);
    res_store_visit_latest(p->store, &e, 1, 100, visit, &all);
    assert_int_equal(all.count, 5);
    assert_string_equal(all.ids[0], "20260105T020000.000000000Z-host-1-0");
    assert_string_equal(all.ids[4], "20260101T020000.000000000Z-host-1-0");
    res_store_visit_latest(p->store, &e, 1, 2, visit, &two);
    assert_int_equal(two.count, 2);
    res_store_visit_latest(p->store, &e, 1, 100, visit, &until);
    assert_int_equal(until.count, 3);
    /* It leaves no index behind. */
    assert_int_equal(access(p->index, F_OK), -1);
}

static void other_experiments_and_damaged_files_are_passed_over(void **state)
{
    const place *p = *state;
    char path[600];
    res_experiment e = asked();
    visits none = {0}, rest = {0};
    write_five(p);
    strcpy(e.mode, "eager");
    res_store_visit_latest(p->store, &e, 1, 100, visit, &none);
    assert_int_equal(none.count, 0);
    e = asked();
    snprintf(path, sizeof path, "%s/20260109T020000.000000000Z-host-1-0-%s-%s-%s.h5", p->store,
             e.model, e.phase, e.mode);
    bn_status st = {0};
    assert_ok(bn_file_write_atomic(path, "no record", 9, &st), &st);
    res_store_visit_latest(p->store, &e, 1, 3, visit, &rest);
    assert_int_equal(rest.count, 2); /* the damaged one is the first of the three */
}

static void several_experiments_are_found_in_one_listing(void **state)
{
    const place *p = *state;
    const res_experiment e = asked();
    res_experiment list[] = {e, e, e};
    visits all = {0}, until = {.stop = 2};
    strcpy(list[1].mode, "eager");
    write_five(p);
    res_store_visit_latest(p->store, list, 3, 2, visit, &all);
    assert_int_equal(all.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(all.which[i], i < 2 ? 0 : 2);
        assert_string_equal(all.ids[i], i % 2 ? "20260104T020000.000000000Z-host-1-0"
                                              : "20260105T020000.000000000Z-host-1-0");
    }
    /* Enough of one is not enough of the next. */
    res_store_visit_latest(p->store, list, 3, 3, visit, &until);
    assert_int_equal(until.count, 5);
    assert_int_equal(until.which[1], 0);
    assert_int_equal(until.which[2], 2);
}

static void a_store_that_is_not_there_has_none(void **state)
{
    const place *p = *state;
    char nowhere[400];
    const res_experiment e = asked();
    visits v = {0};
    snprintf(nowhere, sizeof nowhere, "%s/nowhere", p->store);
    res_store_visit_latest(nowhere, &e, 1, 100, visit, &v);
    assert_int_equal(v.count, 0);
    assert_int_equal(access(nowhere, F_OK), -1);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        T(the_latest_come_first_and_no_more_than_asked),
        T(other_experiments_and_damaged_files_are_passed_over),
        T(several_experiments_are_found_in_one_listing),
        T(a_store_that_is_not_there_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
