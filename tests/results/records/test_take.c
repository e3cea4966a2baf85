/*
 * test_take.c - what is read a second time: the store keeps one record of it, that of the last
 * reading, unless an earlier one says more. Needs no plugin.
 */
#define _GNU_SOURCE
#include "tests/results/store_fixture.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/rights.h"

static const double noon_s = 1767268800; /* 2026-01-01T12:00:00Z */

/* A record of the source NUMBER, with so many STEPS. */
static res_record *record_of(const char *id, int number, size_t steps)
{
    res_record *r = fixture_record(&fixture_lazy, steps);
    snprintf(r->id, sizeof r->id, "%s", id);
    json_object_set_new(r->provenance, "number", json_integer(number));
    return r;
}

static bool same_number(const res_record *stored, const res_record *record)
{
    return json_equal(json_object_get(stored->provenance, "number"),
                      json_object_get(record->provenance, "number"));
}

static bool more_steps(const res_record *stored, const res_record *record)
{
    return stored->step_count > record->step_count;
}

static const res_source source = {
    .from_s = 1767268800, .to_s = 1767268800 + 60, .same = same_number, .richer = more_steps};

/* Takes such a record; what became of it, or the code of the failure below zero. */
static int take(const place *p, const res_source *of, const char *id, int number, size_t steps,
                char path[600])
{
    bn_status st = {0};
    res_taken taken;
    res_record *r = record_of(id, number, steps);
    const bn_code code = res_store_take(p->store, r, of, path, 600, &taken, &st);
    assert_int_equal(code, st.code);
    assert_true(code == BN_OK || strstr(st.message, p->store));
    res_record_free(r);
    return code == BN_OK ? (int)taken : -(int)code;
}

/* The store has COUNT records, and among them one with this ID and so many STEPS. */
static void assert_has(const place *p, size_t count, const char *id, size_t steps)
{
    bn_status st = {0};
    res_collection all = {0};
    size_t found = 0;
    assert_ok(res_store_load(p->store, &all, &st), &st);
    assert_int_equal(all.count, count);
    assert_int_equal(all.damaged_count, 0);
    for (size_t i = 0; i < all.count; i++)
        found += strcmp(all.records[i]->id, id) == 0 && all.records[i]->step_count == steps;
    assert_int_equal(found, 1);
    res_collection_free(&all);
}

#define FIRST  "20260101T120000.000000000Z-recording-1"
#define SECOND "20260101T120030.000000000Z-recording-2"
#define OTHER  "20260101T120200.000000000Z-recording-3"

static void contents_decide(void **state)
{
    const place *p = *state;
    char path[600];
    for (int i = 0; i < 2; i++) {
        const res_source *of = i ? &source : NULL;
        const char *id = i ? FIRST : OTHER;
        assert_int_equal(take(p, of, id, i, 20, path), RES_TAKEN_NEW);
        assert_int_equal(take(p, of, id, i, 20, path), RES_TAKEN_KNOWN);
        assert_int_equal(access(path, F_OK), 0);
        assert_int_equal(take(p, of, id, i, 30, path), RES_TAKEN_INSTEAD);
        assert_int_equal(take(p, of, id, i, 30, path), RES_TAKEN_KNOWN);
        assert_has(p, (size_t)i + 1, id, 30);
    }
    /* Nobody asks whether the old one of a line was richer: lines have no less. */
    assert_int_equal(take(p, NULL, OTHER, 0, 10, path), RES_TAKEN_INSTEAD);
    assert_has(p, 2, OTHER, 10);
    assert_int_equal(take(p, &source, FIRST, 1, 10, path), -(int)BN_CHANGED);
    assert_has(p, 2, FIRST, 30);
}

static void another_id_hides_nothing(void **state)
{
    const place *p = *state;
    char path[600];
    assert_int_equal(take(p, &source, FIRST, 1, 20, path), RES_TAKEN_NEW);
    assert_int_equal(take(p, &source, SECOND, 2, 20, path), RES_TAKEN_NEW);
    assert_has(p, 2, FIRST, 20);
    /* Of the first source, with the id that its steps have now. */
    assert_int_equal(take(p, &source, OTHER, 1, 30, path), RES_TAKEN_INSTEAD);
    assert_has(p, 2, OTHER, 30);
    assert_has(p, 2, SECOND, 20);
    assert_int_equal(take(p, &source, FIRST, 2, 10, path), -(int)BN_CHANGED);
    assert_has(p, 2, SECOND, 20);
    /* Another date is another time. */
    const res_source later = {noon_s + 3600, noon_s + 7200, same_number, more_steps};
    assert_int_equal(take(p, &later, FIRST, 2, 10, path), RES_TAKEN_NEW);
    assert_has(p, 3, FIRST, 10);
}

static void put_byte(const char *path, long at)
{
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    assert_int_equal(fputc('?', f), '?');
    assert_int_equal(fclose(f), 0);
}

static void damage_is_replaced(void **state)
{
    const place *p = *state;
    char path[600];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(take(p, i ? &source : NULL, FIRST, 1, 20, path),
                         i ? RES_TAKEN_KNOWN : RES_TAKEN_NEW);
        put_byte(path, i ? 0 : 4000); /* no record at all, and one that is damaged */
        assert_int_equal(take(p, i ? &source : NULL, FIRST, 1, 20, path), RES_TAKEN_INSTEAD);
        assert_has(p, 1, FIRST, 20);
    }
    assert_int_equal(truncate(path, 700), 0);
    assert_int_equal(take(p, NULL, FIRST, 1, 20, path), RES_TAKEN_INSTEAD);
    assert_has(p, 1, FIRST, 20);
    /* That it was there already is not known of what is no file. */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(take(p, NULL, FIRST, 1, 20, path) < 0);
    assert_int_equal(rmdir(path), 0);
}

/* Nobody knows whether it is of the same source. */
static void what_cannot_be_read_stays(void **state)
{
    const place *p = *state;
    char path[600], taken[600];
    assert_int_equal(take(p, &source, FIRST, 1, 20, path), RES_TAKEN_NEW);
    for (int i = 0; i < 3; i++) {
        int status = -1;
        assert_int_equal(chmod(path, 0), 0);
        fflush(NULL);
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            give_up_rights(NULL);
            _exit(take(p, i == 2 ? NULL : &source, i ? SECOND : FIRST, 1, 30, taken) ==
                  (i == 2 ? (int)RES_TAKEN_NEW : -(int)BN_IO));
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
        assert_int_equal(chmod(path, 0644), 0);
        assert_has(p, i == 2 ? 2 : 1, FIRST, 20);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(contents_decide),
        TEST(another_id_hides_nothing),
        TEST(damage_is_replaced),
        TEST(what_cannot_be_read_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
