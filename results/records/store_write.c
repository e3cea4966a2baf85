/*
 * store_write.c - a record as an HDF5 image in memory.
 *
 * The layout (schema 5), readable with h5dump and h5py:
 *
 *   /                  attributes schema, id, status, message, simulated,
 *                      values, loss
 *   /experiment        an attribute per member: model, variant, phase, ...
 *   /warmup            attribute stationary
 *   /warmup/wall_ns    (W) wall time of each step before the measured ones
 *   /steps/wall_ns     (N) wall time of each measured step
 *   /steps/part_ns     (N, parts) its parts; attribute "parts" names the
 *                      columns in order, and readers go by the names
 *   /rounds            (R, columns) how the steps lie in rounds; attribute "columns" names
 *                      the columns; missing where there are no rounds
 *   /executions        attribute count
 *   /executions/0 ...  an attribute per member: graph, per_step, device_ns, ...
 *   /executions/0/pjrt_ns   (K) raw samples of the PJRT time
 *   /executions/0/probes    (P, columns) awaited and queued executions; like /rounds
 *   /counters          an attribute per counter, over the whole experiment
 *   /step_counters     the same over the measured steps
 *   /provenance        one string, a JSON object
 *
 * Datasets of times carry the attribute unit = "ns"; attributes carry their
 * unit in their name. Text is UTF-8. An unknown real number is NaN, an unknown
 * count of bytes is -1. Before the HDF5 superblock stands a user block of 512
 * bytes with a seal (store_file.c).
 *
 * The file is built by HDF5's memory driver and its bytes are written
 * elsewhere with plain system calls: HDF5 does not survive a full disk well
 * (a failed close leaves the file open inside the library), plain writes do.
 */
#include "results/records/store_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file being built. The first failure sticks in CODE and turns later calls
 * into no-ops, so that the layout below reads top to bottom. */
typedef struct writer {
    hid_t file, text, truth;
    bn_code code;
    bn_status *st;
} writer;

static void writer_fail(writer *w, const char *what)
{
    if (w->code == BN_OK)
        w->code = res_h5_fail(w->st, BN_IO, what);
}

static void put_values(writer *w, hid_t at, const char *name, hid_t file_type, hid_t memory_type,
                       hid_t space, const void *values)
{
    if (w->code != BN_OK)
        return;
    hid_t attribute = H5Acreate2(at, name, file_type, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute < 0 || H5Awrite(attribute, memory_type, values) < 0)
        writer_fail(w, name);
    if (attribute >= 0)
        H5Aclose(attribute);
}

static void put_scalar(writer *w, hid_t at, const char *name, hid_t file_type, hid_t memory_type,
                       const void *value)
{
    hid_t space = H5Screate(H5S_SCALAR);
    put_values(w, at, name, file_type, memory_type, space, value);
    H5Sclose(space);
}

static void put_text(writer *w, hid_t at, const char *name, const char *text)
{
    put_scalar(w, at, name, w->text, w->text, &text);
}

static void put_bool(writer *w, hid_t at, const char *name, bool value)
{
    int8_t truth = value ? 1 : 0;
    put_scalar(w, at, name, w->truth, w->truth, &truth);
}

static void put_i64(writer *w, hid_t at, const char *name, int64_t value)
{
    put_scalar(w, at, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

static void put_field(writer *w, hid_t at, const res_field *field, const void *base)
{
    const void *value = (const char *)base + field->offset;
    switch (field->kind) {
    case RES_KIND_TEXT:
        put_text(w, at, field->name, value);
        break;
    case RES_KIND_INT:
        put_scalar(w, at, field->name, H5T_STD_I32LE, H5T_NATIVE_INT, value);
        break;
    case RES_KIND_I64:
    case RES_KIND_AMOUNT:
        put_i64(w, at, field->name, *(const int64_t *)value);
        break;
    case RES_KIND_U64:
        put_scalar(w, at, field->name, H5T_STD_U64LE, H5T_NATIVE_UINT64, value);
        break;
    case RES_KIND_REAL:
        put_scalar(w, at, field->name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, value);
        break;
    case RES_KIND_BOOL:
        put_bool(w, at, field->name, *(const bool *)value);
        break;
    case RES_KIND_SOURCE:
        put_text(w, at, field->name,
                 bn_device_time_source_name(*(const bn_device_time_source *)value));
        break;
    }
}

static void put_fields(writer *w, hid_t at, const res_field *fields, const void *base)
{
    for (const res_field *field = fields; field->name; field++)
        put_field(w, at, field, base);
}

/* Opens a new group; below zero after a failure. Close it with group_end. */
static hid_t group_begin(writer *w, hid_t at, const char *name)
{
    if (w->code != BN_OK)
        return H5I_INVALID_HID;
    hid_t group = H5Gcreate2(at, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        writer_fail(w, name);
    return group;
}

static void group_end(hid_t group)
{
    if (group >= 0)
        H5Gclose(group);
}

/* Writes whole numbers as a dataset; WIDTH 0 makes it one-dimensional. LABELS, if any, name the
 * columns in an attribute called HEAD. UNIT may be NULL. */
static void put_numbers(writer *w, hid_t at, const char *name, const uint64_t *values, size_t count,
                        size_t width, const char *unit, const char *head, const char *const *labels)
{
    if (w->code != BN_OK)
        return;
    hsize_t dims[2] = {count, width};
    hsize_t columns = width;
    hid_t space = H5Screate_simple(width > 0 ? 2 : 1, dims, NULL);
    hid_t label_space = H5Screate_simple(1, &columns, NULL);
    hid_t data = H5Dcreate2(at, name, H5T_STD_U64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data < 0 ||
        (count > 0 && H5Dwrite(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0))
        writer_fail(w, name);
    if (unit)
        put_text(w, data, "unit", unit);
    if (labels)
        put_values(w, data, head, w->text, w->text, label_space, labels);
    if (data >= 0)
        H5Dclose(data);
    H5Sclose(label_space);
    H5Sclose(space);
}

/* One-dimensional times. */
static void put_times(writer *w, hid_t at, const char *name, const uint64_t *values, size_t count)
{
    put_numbers(w, at, name, values, count, 0, "ns", NULL, NULL);
}

static void put_rounds(writer *w, const res_record *record)
{
    const char *const columns[] = {
#define X(name) #name,
        RES_ROUND_COLUMNS(X)
#undef X
    };
    if (record->round_count > 0)
        put_numbers(w, w->file, "rounds", (const uint64_t *)record->rounds, record->round_count,
                    sizeof columns / sizeof *columns, NULL, "columns", columns);
}

static void put_probes(writer *w, hid_t at, const res_execution *execution)
{
    const char *const columns[] = {
#define X(name) #name,
        RES_PROBE_COLUMNS(X)
#undef X
    };
    if (execution->probe_count > 0)
        put_numbers(w, at, "probes", (const uint64_t *)execution->probes, execution->probe_count,
                    sizeof columns / sizeof *columns, NULL, "columns", columns);
}

/* The oldest schema that says all of RECORD. */
static int schema_of(const res_record *record)
{
    bool rounds = record->round_count > 0;
    for (size_t i = 0; i < record->execution_count; i++)
        rounds = rounds || record->executions[i].probe_count > 0;
    return rounds                                       ? RES_SCHEMA_VERSION
           : res_experiment_is_old(&record->experiment) ? RES_SCHEMA_OLDER
                                                        : RES_SCHEMA_AXES;
}

static void put_root(writer *w, const res_record *record)
{
    const int schema = schema_of(record);
    put_scalar(w, w->file, "schema", H5T_STD_I32LE, H5T_NATIVE_INT, &schema);
    put_text(w, w->file, "id", record->id);
    put_text(w, w->file, "status", bn_code_name(record->status));
    put_text(w, w->file, "message", record->message);
    put_bool(w, w->file, "simulated", record->simulated);
    put_text(w, w->file, "values", record->values);
    put_scalar(w, w->file, "loss", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &record->loss);
    hid_t group = group_begin(w, w->file, "experiment");
    put_fields(w, group, res_experiment_fields, &record->experiment);
    group_end(group);
}

static void put_samples(writer *w, const res_record *record)
{
    hid_t warmup = group_begin(w, w->file, "warmup");
    put_bool(w, warmup, "stationary", record->warmup_stationary);
    put_times(w, warmup, "wall_ns", record->warmup_wall_ns, record->warmup_count);
    group_end(warmup);

    const char *parts[BN_PART_COUNT];
    for (int p = 0; p < BN_PART_COUNT; p++)
        parts[p] = bn_part_name((bn_part)p);
    hid_t steps = group_begin(w, w->file, "steps");
    put_times(w, steps, "wall_ns", record->wall_ns, record->step_count);
    put_numbers(w, steps, "part_ns", record->part_ns, record->step_count, BN_PART_COUNT, "ns",
                "parts", parts);
    group_end(steps);
    put_rounds(w, record);
}

static void put_executions(writer *w, const res_record *record)
{
    hid_t all = group_begin(w, w->file, "executions");
    put_i64(w, all, "count", (int64_t)record->execution_count);
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        char name[24];
        snprintf(name, sizeof name, "%zu", i);
        hid_t group = group_begin(w, all, name);
        put_fields(w, group, res_execution_fields, execution);
        put_times(w, group, "pjrt_ns", execution->pjrt_ns, execution->pjrt_count);
        put_probes(w, group, execution);
        group_end(group);
    }
    group_end(all);
}

static void put_counters(writer *w, const char *name, const int64_t counters[BN_COUNTER_COUNT])
{
    hid_t group = group_begin(w, w->file, name);
    for (int c = 0; c < BN_COUNTER_COUNT; c++)
        put_i64(w, group, bn_counter_name((bn_counter)c), counters[c]);
    group_end(group);
}

static void put_provenance(writer *w, const json_t *provenance)
{
    if (w->code != BN_OK)
        return;
    char *text = provenance ? json_dumps(provenance, JSON_INDENT(2)) : bn_strdup("{}");
    const char *value = text;
    hid_t space = H5Screate(H5S_SCALAR);
    hid_t data =
        H5Dcreate2(w->file, "provenance", w->text, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data < 0 || H5Dwrite(data, w->text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0)
        writer_fail(w, "provenance");
    if (data >= 0)
        H5Dclose(data);
    H5Sclose(space);
    free(text);
}

/* A file in memory alone. Closing it closes all that is in it. */
static hid_t memory_file(void)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t creation = H5Pcreate(H5P_FILE_CREATE);
    hid_t file = H5I_INVALID_HID;
    if (access >= 0 && creation >= 0 && H5Pset_fapl_core(access, 1 << 18, false) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_userblock(creation, RES_SEAL_BYTES) >= 0)
        file = H5Fcreate("record", H5F_ACC_TRUNC, creation, access);
    if (creation >= 0)
        H5Pclose(creation);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

/* HDF5 leaves the user block out of its image, so ours is put before it. */
static void take_image(writer *w, char **image, size_t *size)
{
    if (w->code != BN_OK)
        return;
    ssize_t inner =
        H5Fflush(w->file, H5F_SCOPE_GLOBAL) < 0 ? -1 : H5Fget_file_image(w->file, NULL, 0);
    if (inner < 0) {
        writer_fail(w, "image");
        return;
    }
    *size = RES_SEAL_BYTES + (size_t)inner;
    *image = malloc(*size);
    if (!*image)
        w->code = bn_fail(w->st, BN_OUT_OF_MEMORY, "no memory for %zu bytes", *size);
    else if (H5Fget_file_image(w->file, *image + RES_SEAL_BYTES, (size_t)inner) != inner)
        writer_fail(w, "image");
    else
        res_seal(*image, *size);
}

bn_code res_image_write(const res_record *record, char **image, size_t *size, bn_status *st)
{
    writer w = {
        .file = memory_file(), .text = res_h5_text_type(), .truth = res_h5_bool_type(), .st = st};
    *image = NULL;
    *size = 0;
    if (w.file < 0 || w.text < 0 || w.truth < 0)
        writer_fail(&w, "file in memory");
    put_root(&w, record);
    put_samples(&w, record);
    put_executions(&w, record);
    put_counters(&w, "counters", record->counters);
    put_counters(&w, "step_counters", record->step_counters);
    put_provenance(&w, record->provenance);
    take_image(&w, image, size);
    if (w.code != BN_OK) {
        free(*image);
        *image = NULL;
        bn_context(st, "record as HDF5");
    }
    if (w.truth >= 0)
        H5Tclose(w.truth);
    if (w.text >= 0)
        H5Tclose(w.text);
    if (w.file >= 0)
        H5Fclose(w.file);
    return w.code;
}
