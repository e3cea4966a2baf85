/*
 * test_latest.c - which records of a store tables are made of, and that they say the same as if all
 * were read. Needs no plugin.
 */
#include "tests/results/store_fixture.h"

#include "results/records/estimates.h"
#include "results/tables/tables.h"

#include <unistd.h>

/* Three builds in turn, of which the latest good one counts; its processes and what failed since
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

static void read_latest(const place *p, res_experiment_filter *wanted, res_collection *all)
{
    res_index index;
    bn_status st = {.code = BN_OK};
    const res_asked asked = {wanted, NULL, (double)INFINITY};
    load_with(p, NULL, &index);
    assert_ok(res_latest_read(p->store, &index, &asked, all, &st), &st);
    res_index_free(&index);
}

static void the_latest_build_is_read(void **state)
{
    const place *p = *state;
    res_collection all;
    write_nights(p, "a.so");
    read_latest(p, NULL, &all);
    assert_int_equal(all.count, 4);
    for (size_t i = 0; i < all.count; i++)
        assert_string_equal(all.records[i]->id, nights[3 + i].id);
    assert_int_equal(all.unread_count, 1);
    assert_int_equal(all.unread[0].good, 2);
    assert_int_equal(all.unread[0].failed, 1);
    res_collection_free(&all);
}

/* Every figure, and how many of COUNT records were left out. */
static void assert_same_tables(const place *p, size_t count)
{
    static const res_format formats[] = {RES_TABLE_TEXT, RES_TABLE_JSON, RES_TABLE_CSV};
    res_collection latest, whole;
    bn_status st = {.code = BN_OK};
    read_latest(p, NULL, &latest);
    assert_ok(res_store_load(p->store, &whole, &st), &st);
    assert_int_equal(whole.count, count);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        bn_text a = {0}, b = {0};
        res_table("speedup", &latest, formats[i], &a);
        res_table("speedup", &whole, formats[i], &b);
        assert_string_equal(a.data, b.data);
        bn_text_free(&a);
        bn_text_free(&b);
    }
    res_collection_free(&latest);
    res_collection_free(&whole);
}

static void tables_say_the_same(void **state)
{
    write_nights(*state, "a.so");
    assert_same_tables(*state, NIGHTS);
}

/* Asserts the one row of a store's speedup table: its build, status and excluded records. */
static void assert_row(const place *p, const char *build, const char *status, int failed,
                       int other_builds)
{
    res_collection all;
    bn_text text = {0};
    read_latest(p, NULL, &all);
    res_table("speedup", &all, RES_TABLE_JSON, &text);
    json_t *parsed = json_loads(text.data, 0, NULL);
    const json_t *row = json_array_get(json_object_get(parsed, "rows"), 0);
    assert_int_equal(json_array_size(json_object_get(parsed, "rows")), 1);
    assert_string_equal(json_string_value(json_object_get(row, "plugin_sha256")),
                        fixture_digest(build));
    assert_string_equal(json_string_value(json_object_get(row, "status")), status);
    assert_int_equal(json_integer_value(json_object_get(row, "left_out_failed")), failed);
    assert_int_equal(json_integer_value(json_object_get(row, "left_out_other_builds")),
                     other_builds);
    json_decref(parsed);
    bn_text_free(&text);
    res_collection_free(&all);
}

/* Good records of older builds say nothing of the latest one, until one of its own is good. */
static void the_latest_build_may_fail(void **state)
{
    const place *p = *state;
    static const maker later[] = {
        {"20260105T010000.000000000Z-h-1-7", "cc", "h1", 1, BN_CRASH, 1},
        {"20260105T020000.000000000Z-h-1-8", "cc", "h1", 1, BN_OK, 1},
        {"20260105T030000.000000000Z-h-1-9", "cc", "h1", 1, BN_CRASH, 1},
        {"20260106T010000.000000000Z-h-2-0", "aa", "h1", 1, BN_TIMEOUT, 1},
    };
    static const struct {
        const char *build, *status;
        int failed, other_builds;
    } rows[] = {{"cc", "crash", 4, 4}, {"cc", "ok", 4, 4}, {"cc", "ok", 5, 4}, {"aa", "ok", 6, 3}};
    char path[600];
    write_nights(p, "a.so");
    assert_row(p, "bb", "ok", 3, 2);
    for (size_t i = 0; i < 4; i++) {
        write_with(p, &later[i], "a.so", path);
        assert_row(p, rows[i].build, rows[i].status, rows[i].failed, rows[i].other_builds);
        assert_same_tables(p, NIGHTS + i + 1);
    }
}

static void nothing_good_is_read_as_it_failed(void **state)
{
    const place *p = *state;
    char path[600];
    res_collection all;
    write_with(p, &nights[2], "a.so", path);
    write_with(p, &nights[5], "a.so", path);
    write_with(p, &nights[6], "a.so", path);
    read_latest(p, NULL, &all);
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
    read_latest(p, of_b, &all);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.unread_count, 0);
    res_collection_free(&all);
}

/* A record of an estimate with this ID. */
static void write_estimate(const place *p, const char *id)
{
    bn_status st = {.code = BN_OK};
    res_record *r = res_record_new();
    assert_non_null(r);
    snprintf(r->id, sizeof r->id, "%s", id);
    snprintf(r->experiment.model, sizeof r->experiment.model, "resnet50");
    snprintf(r->experiment.runtime, sizeof r->experiment.runtime, "tpu v4:1x1x1" RES_ESTIMATED);
    json_object_set_new(r->provenance, "estimate", json_pack("{sf}", "cycles", 1e6));
    assert_ok(res_store_write(p->store, r, NULL, 0, &st), &st);
    res_record_free(r);
}

/* Estimates do not affect which measured records are read. */
static void estimates_stand_apart(void **state)
{
    const place *p = *state;
    bn_status st = {.code = BN_OK};
    const res_asked asked = {NULL, NULL, (double)INFINITY};
    res_index index, part;
    res_collection all, estimates;
    write_nights(p, "a.so");
    write_estimate(p, "20260102T020000.000000000Z-h-3-0");
    write_estimate(p, "20260105T010000.000000000Z-h-3-1");
    load_with(p, NULL, &index);
    res_index_split(&index, &part);
    assert_int_equal(index.count, NIGHTS);
    assert_int_equal(part.count, 2);
    assert_int_equal(part.experiment_count, 1);
    for (size_t i = 0; i < index.count; i++)
        assert_false(res_is_estimate(index.experiments[index.records[i].experiment]));
    for (size_t i = 0; i < index.experiment_count; i++)
        assert_false(res_is_estimate(index.experiments[i]));
    assert_true(res_is_estimate(part.experiments[part.records[1].experiment]));
    assert_ok(res_latest_read(p->store, &index, &asked, &all, &st), &st);
    assert_int_equal(all.count, 4);
    assert_int_equal(all.damaged_count, 0);
    assert_ok(res_latest_read(p->store, &part, &asked, &estimates, &st), &st);
    assert_int_equal(estimates.count, 2);
    assert_int_equal(estimates.damaged_count, 0);
    for (size_t i = 0; i < estimates.count; i++)
        assert_false(res_record_good(estimates.records[i]));
    res_collection_free(&all);
    res_collection_free(&estimates);
    res_index_free(&part);
    res_index_free(&index);
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
    const res_asked asked = {.now_s = (double)INFINITY};
    assert_ok(res_latest_read(p->store, &index, &asked, &all, &st), &st);
    res_index_free(&index);
    assert_int_equal(all.count, 0);
    assert_int_equal(all.damaged_count, 2);
    assert_string_equal(all.damaged[0].path, path);
    assert_string_equal(all.damaged[1].path, bad);
    res_collection_free(&all);
}

/* The latest build's files are gone: that before it is the latest, and what failed since stays. */
static void a_lost_build_makes_room_for_the_one_before(void **state)
{
    const place *p = *state;
    char path[600];
    res_index index;
    res_collection all;
    bn_status st = {.code = BN_OK};
    const res_asked asked = {.now_s = (double)INFINITY};
    write_nights(p, "a.so");
    load_with(p, NULL, &index);
    for (size_t i = 0; i < index.count; i++) {
        snprintf(path, sizeof path, "%s/%s", p->store, index.records[i].file);
        if (strcmp(index.records[i].origin->sha256, fixture_digest("bb")) == 0)
            assert_int_equal(unlink(path), 0);
    }
    assert_ok(res_latest_read(p->store, &index, &asked, &all, &st), &st);
    res_index_free(&index);
    assert_int_equal(all.damaged_count, 3);
    assert_int_equal(all.count, 4);
    assert_string_equal(all.records[0]->id, nights[0].id);
    assert_string_equal(all.records[1]->id, nights[1].id);
    for (size_t i = 1; i < all.count; i++)
        assert_true(strcmp(all.records[i - 1]->id, all.records[i]->id) < 0);
    assert_int_equal(all.unread_count, 0);
    res_collection_free(&all);
}

/* Reads a store whose index, which is a file, says of record 3 what CHANGE makes of it. */
static void read_with_lie(const place *p, void (*change)(res_index *index), res_collection *all)
{
    res_index index;
    bn_status st = {.code = BN_OK};
    const res_asked asked = {.now_s = (double)INFINITY};
    load_with(p, NULL, &index);
    change(&index);
    assert_ok(res_latest_read(p->store, &index, &asked, all, &st), &st);
    res_index_free(&index);
}

static void say_other_build(res_index *index)
{
    index->records[0].origin = index->records[3].origin;
}

static void say_other_id(res_index *index)
{
    index->records[3].id[7]++;
}

static void say_simulated(res_index *index)
{
    index->records[3].simulated = true;
}

static void say_failed(res_index *index)
{
    index->records[3].status = BN_CRASH;
}

/* Of the two experiments, which differ in their seeds. */
static void say_other_way(res_index *index)
{
    res_experiment *other = bn_arena_zalloc(index->memory, sizeof *other);
    assert_non_null(other);
    *other = *index->experiments[index->records[4].experiment];
    strcpy(other->mode, "eager");
    index->experiments[index->records[4].experiment] = other;
}

static void what_the_index_says_is_checked(void **state)
{
    const place *p = *state;
    void (*const lies[])(res_index *) = {say_other_build, say_other_id, say_simulated, say_failed,
                                         say_other_way};
    write_nights(p, "a.so");
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        res_collection all;
        read_with_lie(p, lies[i], &all);
        assert_int_equal(all.damaged_count, 1);
        assert_non_null(strstr(all.damaged[0].status.message,
                               ".h5: not the record that the store's index describes; bench "
                               "history --reindex makes the index anew"));
        res_collection_free(&all);
    }
}

/* A record of the future, and one whose id has no time, are not the latest. */
static void wrong_dates_are_never_the_latest(void **state)
{
    const place *p = *state;
    const maker future = {"29990101T020000.000000000Z-h-1-0", "cc", "h1", 9, BN_OK, 1},
                timeless = {"imported-7", "dd", "h1", 9, BN_OK, 1};
    char path[600];
    res_collection all;
    bn_text table = {0};
    write_nights(p, "a.so");
    write_with(p, &future, "a.so", path);
    write_with(p, &timeless, "a.so", path);
    read_latest(p, NULL, &all);
    assert_int_equal(all.count, 4);
    for (size_t i = 0; i < all.count; i++)
        assert_string_equal(all.records[i]->id, nights[3 + i].id);
    assert_int_equal(all.misdates.count, 1);
    assert_int_equal(all.unread[0].good, 3);
    res_table_speedup(&all, RES_TABLE_TEXT, &table);
    assert_non_null(strstr(table.data, " 2999-01-01 02:00 UTC"));
    bn_text_free(&table);
    res_collection_free(&all);
    /* Records outside the selection are not reported. */
    read_latest(p, of_b, &all);
    assert_int_equal(all.misdates.count, 0);
    res_collection_free(&all);
}

/* In a pool, too, a record without a time is older than others. */
static void a_pool_is_in_order_of_time(void **state)
{
    (void)state;
    assert_true(res_id_order("imported-7", nights[0].id) < 0);
    assert_true(res_id_order(nights[0].id, "imported-7") > 0);
    assert_true(res_id_order(nights[0].id, nights[1].id) < 0);
    assert_true(res_id_order("a", "b") < 0);
    assert_int_equal(res_id_order(nights[0].id, nights[0].id), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(estimates_stand_apart),
        TEST(the_latest_build_is_read),
        TEST(tables_say_the_same),
        TEST(the_latest_build_may_fail),
        TEST(nothing_good_is_read_as_it_failed),
        TEST(what_is_not_wanted_is_not_counted),
        TEST(lost_files_are_reported),
        TEST(a_lost_build_makes_room_for_the_one_before),
        TEST(what_the_index_says_is_checked),
        TEST(wrong_dates_are_never_the_latest),
        TEST(a_pool_is_in_order_of_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
