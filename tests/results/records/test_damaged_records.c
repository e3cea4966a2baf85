/*
 * test_damaged_records.c - files that are not records of ours: cut off, bits
 * flipped, or written by another program. Needs no plugin.
 */
#include "tests/support/results_fixture.h"

#include "results/records/store_priv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

static int begin(void **state)
{
    (void)state;
    res_store_begin();
    fixture_folder(folder, sizeof folder, "test_damaged");
    return 0;
}

/* ---- damage ------------------------------------------------------------------- */

static void read_damaged(const char *bytes, size_t size, const char *text)
{
    const char *path = fixture_in(folder, "damaged.h5");
    bn_status st = {0};
    res_record *record = NULL;
    assert_int_equal(bn_file_write_atomic(path, bytes, size, &st), BN_OK);
    assert_int_equal(res_store_read_foreign(path, &record, &st), BN_FORMAT);
    assert_null(record);
    assert_int_equal(st.code, BN_FORMAT);
    assert_non_null(strstr(st.message, path));
    if (!strstr(st.message, text))
        fail_msg("\"%s\" is not in \"%s\"", text, st.message);
}

static void truncated_and_flipped_files_are_reported(void **state)
{
    (void)state;
    char *image = NULL;
    size_t size = 0;
    bn_status st = {0};
    res_record *record = fixture_record(&fixture_lazy, 10);
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    for (size_t length = 0; length < size; length += length < 600 ? 29 : 997)
        read_damaged(image, length, "");
    for (size_t offset = 0; offset < size; offset += offset < 700 ? 13 : 499) {
        image[offset] = (char)(image[offset] ^ (1 << (offset % 8)));
        read_damaged(image, size, "");
        image[offset] = (char)(image[offset] ^ (1 << (offset % 8)));
    }
    /* As it was, it reads. */
    res_record *back = NULL;
    assert_int_equal(res_seal_check(image, size, &st), BN_OK);
    assert_int_equal(res_image_read(image, size, &back, &st), BN_OK);
    res_record_free(back);
    free(image);
    res_record_free(record);
}

/* A pipe without a writer, a folder, and a file larger than any memory. */
static void files_of_other_kinds_cause_no_wait(void **state)
{
    (void)state;
    const char *store = fixture_in(folder, "kinds");
    char path[500];
    bn_status st = {0};
    res_collection all;
    res_record *record = fixture_record(&fixture_lazy, 10);
    assert_int_equal(res_store_write(store, record, NULL, 0, &st), BN_OK);
    snprintf(path, sizeof path, "%s/pipe.h5", store);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/folder.h5", store);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/large.h5", store);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
    close(fd);
    assert_int_equal(res_store_load(store, &all, &st), BN_OK);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.damaged_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(all.damaged[i].status.code, BN_FORMAT);
        assert_int_equal(all.damaged[i].fault, RES_FAULT_STRANGE);
    }
    res_collection_free(&all);
    res_record_free(record);
}

/* Files of another program: sealed, but not as we write them. */
typedef void (*change)(hid_t file);

static void put_schema(hid_t file)
{
    int schema = 7;
    hid_t attribute = H5Aopen(file, "schema", H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT, &schema) >= 0);
    H5Aclose(attribute);
}

static void drop_schema(hid_t file)
{
    assert_true(H5Adelete(file, "schema") >= 0);
}

static void drop_experiment(hid_t file)
{
    assert_true(H5Ldelete(file, "experiment", H5P_DEFAULT) >= 0);
}

static void drop_model(hid_t file)
{
    assert_true(H5Adelete_by_name(file, "experiment", "model", H5P_DEFAULT) >= 0);
}

static void drop_execution(hid_t file)
{
    assert_true(H5Ldelete(file, "executions/1", H5P_DEFAULT) >= 0);
}

static void drop_parts(hid_t file)
{
    assert_true(H5Adelete_by_name(file, "steps/part_ns", "parts", H5P_DEFAULT) >= 0);
}

static void put_attribute(hid_t file, const char *where, const char *name, hid_t type,
                          const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    H5Adelete_by_name(file, where, name, H5P_DEFAULT);
    hid_t attribute =
        H5Acreate_by_name(file, where, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, value) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
}

static void put_text(hid_t file, const char *where, const char *name, const char *value)
{
    hid_t type = res_h5_text_type();
    put_attribute(file, where, name, type, &value);
    H5Tclose(type);
}

static void long_model(hid_t file)
{
    char text[200];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    put_text(file, "experiment", "model", text);
}

static void fixed_text(hid_t file)
{
    /* No terminator, as Fortran writes text. */
    hid_t type = H5Tcopy(H5T_FORTRAN_S1);
    H5Tset_size(type, 4);
    put_attribute(file, "experiment", "dtype", type, "bf16");
    H5Tclose(type);
}

static void number_for_text(hid_t file)
{
    int64_t number = 3;
    put_attribute(file, "experiment", "mode", H5T_NATIVE_INT64, &number);
}

static void odd_status(hid_t file)
{
    put_text(file, ".", "status", "splendid");
}

static void odd_source(hid_t file)
{
    put_text(file, "executions/0", "device_time_source", "guess");
}

static void huge_count(hid_t file)
{
    int64_t count = INT64_MAX;
    put_attribute(file, "executions", "count", H5T_NATIVE_INT64, &count);
}

static void replace_dataset(hid_t file, const char *path, hid_t type, int rank, const hsize_t *dims)
{
    hid_t space = H5Screate_simple(rank, dims, NULL);
    H5Ldelete(file, path, H5P_DEFAULT);
    hid_t data = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(data >= 0);
    H5Dclose(data);
    H5Sclose(space);
}

static void huge_times(hid_t file)
{
    /* Never written, so it takes no room in the file. */
    hsize_t dims = (hsize_t)1 << 40;
    replace_dataset(file, "steps/wall_ns", H5T_STD_U64LE, 1, &dims);
}

static void real_times(hid_t file)
{
    hsize_t dims = 10;
    replace_dataset(file, "steps/wall_ns", H5T_IEEE_F64LE, 1, &dims);
}

static void short_parts(hid_t file)
{
    const char *names[BN_PART_COUNT];
    hsize_t dims[] = {9, BN_PART_COUNT}, columns = BN_PART_COUNT;
    replace_dataset(file, "steps/part_ns", H5T_STD_U64LE, 2, dims);
    for (int p = 0; p < BN_PART_COUNT; p++)
        names[p] = bn_part_name((bn_part)p);
    hid_t type = res_h5_text_type(), space = H5Screate_simple(1, &columns, NULL);
    hid_t attribute = H5Acreate_by_name(file, "steps/part_ns", "parts", type, space, H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, names) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

static void flat_parts(hid_t file)
{
    hsize_t dims = 10;
    replace_dataset(file, "steps/part_ns", H5T_STD_U64LE, 1, &dims);
}

static void put_provenance(hid_t file, const char *value)
{
    hid_t type = res_h5_text_type();
    hid_t data = H5Dopen2(file, "provenance", H5P_DEFAULT);
    assert_true(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) >= 0);
    H5Dclose(data);
    H5Tclose(type);
}

static void list_provenance(hid_t file)
{
    put_provenance(file, "[1]");
}

static void cut_provenance(hid_t file)
{
    put_provenance(file, "{\"plugin\": ");
}

/* Calls the columns of a table otherwise. */
static void put_heads(hid_t file, const char *table, const char *head, const char *const *names)
{
    hid_t type = res_h5_text_type();
    hid_t data = H5Dopen2(file, table, H5P_DEFAULT);
    hid_t attribute = H5Aopen(data, head, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, names) >= 0);
    H5Aclose(attribute);
    H5Dclose(data);
    H5Tclose(type);
}

static void rename_part(hid_t file)
{
    const char *names[BN_PART_COUNT];
    for (int p = 0; p < BN_PART_COUNT; p++)
        names[p] = p == 3 ? "siesta" : bn_part_name((bn_part)p);
    put_heads(file, "steps/part_ns", "parts", names);
}

/* ---- rounds and probes ---- */

/* A record of ten steps in rounds of 4 and 6, and three probes of its first execution. */
static res_record *with_rounds(void)
{
    res_record *record = fixture_record(&fixture_lazy, 10);
    assert_int_equal(res_record_reserve_rounds(record, 2, NULL), BN_OK);
    record->rounds[0] = (res_round){4, 1, 110, 3, RES_UNKNOWN, 7};
    record->rounds[1] = (res_round){6, 0, 170, 0, 12, RES_UNKNOWN};
    assert_int_equal(res_execution_reserve_probes(&record->executions[0], 3, NULL), BN_OK);
    for (uint64_t i = 0; i < 3; i++)
        record->executions[0].probes[i] = (res_probe){i, 6, 600 + i, 300, 500 + i, RES_UNKNOWN};
    return record;
}

static void write_steps(hid_t file, uint64_t first, uint64_t second)
{
    const uint64_t rows[2][6] = {{first}, {second}};
    hid_t data = H5Dopen2(file, "rounds", H5P_DEFAULT);
    assert_true(H5Dwrite(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) >= 0);
    H5Dclose(data);
}

static void few_rounds(hid_t file)
{
    write_steps(file, 4, 5);
}

static void many_rounds(hid_t file)
{
    write_steps(file, 4, 7);
}

/* 4 + this is 10 again, in 64 bits. */
static void huge_round(hid_t file)
{
    write_steps(file, UINT64_MAX - 5, 16);
}

static void nameless_rounds(hid_t file)
{
    assert_true(H5Adelete_by_name(file, "rounds", "columns", H5P_DEFAULT) >= 0);
}

static void foreign_rounds(hid_t file)
{
    static const char *const names[] = {"steps",    "position", "wall_ns",
                                        "switches", "siesta",   "stolen_ns"};
    put_heads(file, "rounds", "columns", names);
}

static void wide_rounds(hid_t file)
{
    hsize_t dims[] = {2, 7};
    replace_dataset(file, "rounds", H5T_STD_U64LE, 2, dims);
}

static void real_rounds(hid_t file)
{
    hsize_t dims[] = {2, 6};
    replace_dataset(file, "rounds", H5T_IEEE_F64LE, 2, dims);
}

static void flat_probes(hid_t file)
{
    hsize_t dims = 18;
    replace_dataset(file, "executions/0/probes", H5T_STD_U64LE, 1, &dims);
}

static void nameless_probes(hid_t file)
{
    assert_true(H5Adelete_by_name(file, "executions/0/probes", "columns", H5P_DEFAULT) >= 0);
}

/* Applies EDIT to the HDF5 file in IMAGE and gives the new, sealed bytes. */
static char *edited(const char *image, size_t *size, change edit)
{
    const char *path = fixture_in(folder, "edited.h5");
    bn_status st = {0};
    char *bytes = NULL;
    assert_int_equal(bn_file_write_atomic(path, image, *size, &st), BN_OK);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0);
    edit(file);
    assert_true(H5Fclose(file) >= 0);
    assert_int_equal(bn_regular_read(path, &bytes, size, &st), BN_OK);
    res_seal(bytes, *size);
    return bytes;
}

static void foreign_files_are_reported(void **state)
{
    (void)state;
    static const struct {
        change edit;
        const char *text;
    } cases[] = {
        {put_schema, "schema 7"},
        {drop_schema, "/schema"},
        {drop_experiment, "/experiment"},
        {drop_model, "/experiment/model"},
        {drop_execution, "/executions/1"},
        {drop_parts, "/steps/part_ns"},
        {rename_part, "/steps/part_ns"},
        {long_model, "/experiment/model"},
        {fixed_text, "/experiment/dtype"},
        {number_for_text, "/experiment/mode"},
        {odd_status, "\"splendid\""},
        {odd_source, "/executions/0/device_time_source"},
        {huge_count, "/executions/count"},
        {huge_times, "/steps/wall_ns"},
        {real_times, "/steps/wall_ns"},
        {short_parts, "/steps/part_ns"},
        {flat_parts, "/steps/part_ns"},
        {few_rounds, "rounds"},
        {many_rounds, "rounds"},
        {huge_round, "rounds"},
        {nameless_rounds, "/rounds"},
        {foreign_rounds, "/rounds"},
        {wide_rounds, "/rounds"},
        {real_rounds, "/rounds"},
        {flat_probes, "/executions/0/probes"},
        {nameless_probes, "/executions/0/probes"},
        {list_provenance, "/provenance"},
        {cut_provenance, "provenance"},
    };
    char *image = NULL;
    size_t size = 0;
    bn_status st = {0};
    res_record *record = with_rounds();
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = size;
        char *bytes = edited(image, &length, cases[i].edit);
        read_damaged(bytes, length, cases[i].text);
        free(bytes);
    }
    char nothing[RES_SEAL_BYTES + 100] = "";
    res_seal(nothing, sizeof nothing);
    read_damaged(nothing, sizeof nothing, "hdf5");
    free(image);
    res_record_free(record);
}

/* A file of before the later axes. */
static void drop_later_axes(hid_t file)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (res_axes[i].field.later)
            assert_true(
                H5Adelete_by_name(file, "experiment", res_axes[i].field.name, H5P_DEFAULT) >= 0);
}

static void expect_schema(const res_record *record, int wanted)
{
    char *image = NULL;
    size_t size = 0;
    int schema = 0;
    bn_status st = {0};
    const char *path = fixture_in(folder, "schema.h5");
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    assert_int_equal(bn_file_write_atomic(path, image, size, &st), BN_OK);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, "schema", H5P_DEFAULT);
    assert_true(H5Aread(attribute, H5T_NATIVE_INT, &schema) >= 0);
    assert_int_equal(schema, wanted);
    H5Aclose(attribute);
    H5Fclose(file);
    free(image);
}

/* Older programs must not take a record of five layers for one of the model's own number. */
static void what_older_programs_would_mix_up_they_refuse(void **state)
{
    (void)state;
    res_record *record = fixture_record(&fixture_lazy, 10);
    expect_schema(record, RES_SCHEMA_OLDER);
    record->experiment.depth = 5;
    expect_schema(record, RES_SCHEMA_AXES);
    res_record_free(record);
    record = with_rounds();
    expect_schema(record, RES_SCHEMA_VERSION);
    res_record_free(record);
}

static void records_before_an_axis_have_its_usual_value(void **state)
{
    (void)state;
    char *image = NULL, before[BN_SHA256_TEXT], now[BN_SHA256_TEXT];
    size_t size = 0;
    bn_status st = {0};
    res_record *record = fixture_record(&fixture_lazy, 10), *back = NULL;
    record->experiment.depth = 5;
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    char *bytes = edited(image, &size, drop_later_axes);
    assert_int_equal(res_image_read(bytes, size, &back, &st), BN_OK);
    assert_int_equal(back->experiment.depth, 0);
    record->experiment.depth = 0;
    assert_memory_equal(&back->experiment, &record->experiment, sizeof back->experiment);
    res_identity(&back->experiment, "ab", 1, before);
    res_identity(&record->experiment, "ab", 1, now);
    assert_string_equal(before, now);
    free(bytes);
    free(image);
    res_record_free(back);
    res_record_free(record);
}

/* An older program's file: parts in another order and fewer, a counter less. */
static void reorder(hid_t file)
{
    static const char *const names[] = {"wait", "trace"};
    static const uint64_t values[][2] = {{11, 22}, {33, 44}}, walls[] = {33, 77};
    hsize_t dims[] = {2, 2}, two = 2;
    replace_dataset(file, "steps/wall_ns", H5T_STD_U64LE, 1, dims);
    replace_dataset(file, "steps/part_ns", H5T_STD_U32LE, 2, dims);
    hid_t type = res_h5_text_type(), space = H5Screate_simple(1, &two, NULL);
    hid_t wall = H5Dopen2(file, "steps/wall_ns", H5P_DEFAULT);
    assert_true(H5Dwrite(wall, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, walls) >= 0);
    H5Dclose(wall);
    hid_t data = H5Dopen2(file, "steps/part_ns", H5P_DEFAULT);
    hid_t attribute = H5Acreate2(data, "parts", type, space, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(H5Awrite(attribute, type, names) >= 0);
    assert_true(H5Dwrite(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Aclose(attribute);
    H5Dclose(data);
    H5Sclose(space);
    H5Tclose(type);
    assert_true(H5Adelete_by_name(file, "counters", "nodes_traced", H5P_DEFAULT) >= 0);
}

static void parts_and_counters_go_by_name(void **state)
{
    (void)state;
    char *image = NULL;
    size_t size = 0;
    bn_status st = {0};
    res_record *record = fixture_record(&fixture_lazy, 10), *back = NULL;
    assert_int_equal(res_image_write(record, &image, &size, &st), BN_OK);
    char *bytes = edited(image, &size, reorder);
    assert_int_equal(res_image_read(bytes, size, &back, &st), BN_OK);
    assert_int_equal(back->step_count, 2);
    assert_int_equal(back->part_ns[BN_PART_WAIT], 11);
    assert_int_equal(back->part_ns[BN_PART_TRACE], 22);
    assert_int_equal(back->part_ns[BN_PART_COUNT + BN_PART_WAIT], 33);
    assert_int_equal(back->part_ns[BN_PART_COUNT + BN_PART_INPUT], 0);
    assert_int_equal(back->counters[BN_COUNTER_NODES_TRACED], 0);
    assert_int_equal(back->step_counters[BN_COUNTER_NODES_TRACED], 13090);
    res_record_free(back);
    res_record_free(record);
    free(bytes);
    free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncated_and_flipped_files_are_reported),
        cmocka_unit_test(files_of_other_kinds_cause_no_wait),
        cmocka_unit_test(foreign_files_are_reported),
        cmocka_unit_test(what_older_programs_would_mix_up_they_refuse),
        cmocka_unit_test(records_before_an_axis_have_its_usual_value),
        cmocka_unit_test(parts_and_counters_go_by_name),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
