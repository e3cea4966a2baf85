/*
 * test_newest.c - which records of a store tables are made of, and that they say the same as if all
 * were read. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include "results/tables/tables.h"

#include <unistd.h>

/* Three builds in turn, of which the newest good one counts; its processes and what failed since
 * are read. */
static const maker nights[] = {
    {"20260101T010000.000000000Z-h-1-0", "aa", "h1", 1.0, BN_OK, 1},
    {"20260101T010100.000000000Z-h-1-1", "aa", "h1", 1.1, BN_OK, 1},
    {"20260102T010000.000000000Z-h-1-2", "", "h1", 1, BN_CRASH, 1},
    {"20260103T010000.000000000Z-h-1-3", "bb", "h1", 1.5, BN_OK, 1},
    {"20260103T010100.000000000Z-h-1-4", "bb", "h1", 1.6, BN_OK, 2},
    {"20260103T010200.000000000Z-h-1-5", "bb", "h1", 1, BN_TIMEOUT, 1},
    {"20260104T010000.000000000Z-h-1-6", "", "h1", 1, BN_CRASH, 1},
};
#define NIGHTS (sizeof nights / sizeof *nights)

static void write_nights(const place *p, const char *runtime)
{
    char path[600];
    for (size_t i = 0; i < NIGHTS; i++)
        write_with(p, &nights[i], runtime, path);
}

static void read_newest(const place *p, res_experiment_filter *wanted, res_collection *all)
{
    res_index index;
    bn_status st = {.code = BN_OK};
    load_with(p, NULL, &index);
    assert_ok(res_newest_read(p->store, &index, wanted, NULL, all, &st), &st);
    res_index_free(&index);
}

static void the_newest_build_is_read(void **state)
{
    const place *p = *state;
    res_collection all;
    write_nights(p, "a.so");
    read_newest(p, NULL, &all);
    assert_int_equal(all.count, 4);
    for (size_t i = 0; i < all.count; i++)
        assert_string_equal(all.records[i]->id, nights[3 + i].id);
    assert_int_equal(all.unread_count, 1);
    assert_int_equal(all.unread[0].good, 2);
    assert_int_equal(all.unread[0].failed, 1);
    res_collection_free(&all);
}

/* Every figure, and how many records were left out. */
static void tables_say_the_same(void **state)
{
    const place *p = *state;
    static const res_format formats[] = {RES_TABLE_TEXT, RES_TABLE_JSON, RES_TABLE_CSV};
    res_collection newest, whole;
    bn_status st = {.code = BN_OK};
    write_nights(p, "a.so");
    read_newest(p, NULL, &newest);
    assert_ok(res_store_load(p->store, &whole, &st), &st);
    assert_int_equal(whole.count, NIGHTS);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bn_text a = {0}, b = {0};
        res_table("speedup", &newest, formats[i], &a);
        res_table("speedup", &whole, formats[i], &b);
        assert_string_equal(a.data, b.data);
        bn_text_free(&a);
        bn_text_free(&b);
    }
    res_collection_free(&newest);
    res_collection_free(&whole);
}

static void nothing_good_is_read_as_it_failed(void **state)
{
    const place *p = *state;
    char path[600];
    res_collection all;
    write_with(p, &nights[2], "a.so", path);
    write_with(p, &nights[5], "a.so", path);
    write_with(p, &nights[6], "a.so", path);
    read_newest(p, NULL, &all);
    assert_int_equal(all.count, 2); /* the two that never learned what they ran on */
    assert_int_equal(all.unread_count, 1);
    assert_int_equal(all.unread[0].failed, 1);
    res_collection_free(&all);
}

static bool of_b(void *context, const res_experiment *e)
{
    (void)context;
    return strcmp(e->runtime, "b.so") == 0;
}

static void what_is_not_wanted_is_not_counted(void **state)
{
    const place *p = *state;
    maker other = nights[0];
    char path[600];
    res_collection all;
    write_nights(p, "a.so");
    other.id = "20260101T010000.000000000Z-h-2-0";
    write_with(p, &other, "b.so", path);
    read_newest(p, of_b, &all);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.unread_count, 0);
    res_collection_free(&all);
}

/* A file that goes after the index was made, and one that the index knows as damaged. */
static void lost_files_are_reported(void **state)
{
    const place *p = *state;
    char path[600], bad[600];
    res_index index;
    res_collection all;
    bn_status st = {.code = BN_OK};
    write_with(p, &nights[3], "a.so", path);
    snprintf(bad, sizeof bad, "%s/bad.h5", p->store);
    assert_ok(bn_file_write_atomic(bad, "no record", 9, &st), &st);
    load_with(p, NULL, &index);
    assert_int_equal(unlink(path), 0);
    assert_ok(res_newest_read(p->store, &index, NULL, NULL, &all, &st), &st);
    res_index_free(&index);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.damaged_count, 2);
    assert_string_equal(all.damaged[0].path, path);
    assert_string_equal(all.damaged[1].path, bad);
    res_collection_free(&all);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_newest_build_is_read),          TEST(tables_say_the_same),
        TEST(nothing_good_is_read_as_it_failed), TEST(what_is_not_wanted_is_not_counted),
        TEST(lost_files_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
