/*
 * test_foreign_records.c - records that somebody made on purpose: fields that would harm whoever
 * prints them or names a file by them, and sealed files that libhdf5 does not survive. Needs no
 * plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/records/store_priv.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[256];

static int begin(void **state)
{
    res_store_begin();
    fixture_folder(folder, sizeof folder, "test_foreign");
    return 0;
}

/* RECORD as a sealed file is refused, and the message has TEXT. */
static void refused(const res_record *record, const char *text)
{
    char *image = NULL;
    size_t size = 0;
    bn_status st = {.code = BN_OK};
    res_record *back = NULL;
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    assert_int_equal(res_image_read(image, size, &back, &st), BN_FORMAT);
    if (!strstr(st.message, text))
        fail_msg("\"%s\" is not in \"%s\"", text, st.message);
    assert_null(back);
    free(image);
}

static void ids_are_no_paths(void **state)
{
    static const char *const ids[] = {"../../elsewhere", "/etc/passwd", ".hidden",    "a/b", "",
                                      "two\nlines",      "a\x1b[31m",   "caf\xc3\xa9"};
    res_record *record = fixture_record(&fixture_lazy, 5);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        snprintf(record->id, sizeof record->id, "%s", ids[i]);
        refused(record, "id");
    }
    res_record_free(record);
}

static void fields_are_in_range(void **state)
{
    res_record *r = fixture_record(&fixture_lazy, 5);
    const res_record good = *r;
    const res_experiment usual = r->experiment;
    snprintf(r->experiment.model, sizeof r->experiment.model, "resnet\x1b[2J");
    refused(r, "model");
    r->experiment = usual;
    r->experiment.batch = -4;
    refused(r, "batch");
    r->experiment = usual;
    r->wall_ns[2] = UINT64_MAX;
    refused(r, "104 days");
    r->wall_ns[2] = 1000;
    res_execution *x = &r->executions[0];
    const res_execution whole = *x;
    x->per_step = -1;
    refused(r, "per_step");
    *x = whole;
    x->device_ns = INFINITY;
    refused(r, "device_ns");
    *x = whole;
    x->text_bytes = INT64_MIN;
    refused(r, "text_bytes");
    *x = whole;
    assert_int_equal(res_record_check(r, NULL), BN_OK);
    assert_string_equal(r->id, good.id);
    res_record_free(r);
}

static size_t children(void)
{
    char path[64];
    size_t count = 0;
    long pid;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *f = fopen(path, "r");
    while (f && fscanf(f, "%ld", &pid) == 1)
        count++;
    if (f)
        fclose(f);
    return count;
}

/* One to four bytes of a record changed and the seal made anew: libhdf5 1.10.8 crashed on 13 of 300
 * and did not come back from one. Whoever loads a store with such files gets its good records, and
 * the names of the others. */
static void sealed_damage_kills_no_reader(void **state)
{
    enum { FILES = 300 };
    char store[300], path[400];
    char *image = NULL, *copy = NULL;
    size_t size = 0, killed = 0;
    uint64_t seed = 5;
    bn_status st = {.code = BN_OK};
    res_collection all;
    res_record *record = fixture_record(&fixture_lazy, 10);
    snprintf(store, sizeof store, "%s/sealed", folder);
    assert_int_equal(bn_make_folder(store, &st), BN_OK);
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    copy = malloc(size);
    assert_non_null(copy);
    for (int i = 0; i < FILES; i++) {
        memcpy(copy, image, size);
        for (int change = 0; change <= i % 4; change++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            copy[RES_SEAL_BYTES + (seed >> 16) % (size - RES_SEAL_BYTES)] ^=
                (char)(1 + (seed >> 56) % 255);
        }
        res_seal(copy, size);
        snprintf(path, sizeof path, "%s/%03d.h5", store, i);
        assert_int_equal(bn_file_write_atomic(path, copy, size, &st), BN_OK);
    }
    snprintf(path, sizeof path, "%s/good.h5", store);
    assert_int_equal(bn_file_write_atomic(path, image, size, &st), BN_OK);
    assert_int_equal(res_store_load(store, &all, &st), BN_OK);
    assert_int_equal(all.count + all.damaged_count, FILES + 1);
    assert_true(all.count > 0);
    for (size_t i = 0; i < all.damaged_count; i++) {
        const char *message = all.damaged[i].status.message;
        assert_non_null(strstr(message, ".h5"));
        killed += strstr(message, "the child that tried") || strstr(message, "took longer");
    }
    print_message("# %zu of %d files were damaged, %zu ended a child\n", all.damaged_count, FILES,
                  killed);
    assert_int_equal(children(), 0);
    res_collection_free(&all);
    free(copy);
    free(image);
    res_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_no_paths),
        cmocka_unit_test(fields_are_in_range),
        cmocka_unit_test(sealed_damage_kills_no_reader),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
