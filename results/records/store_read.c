/*
 * store_read.c - an HDF5 image as a record; the layout is in store_write.c.
 *
 * Nothing in the image is trusted. The seal catches accidents; the checks here (presence, classes,
 * ranks, lengths, counts against the size of the file) are for files that another program wrote.
 *
 * Nor is HDF5: without memory it fails as it does on a damaged file, or reports members as absent
 * that are there. Its failure to answer is never taken for "no".
 */
#include "results/records/store_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file being read. The first failure sticks in CODE and turns later calls
 * into no-ops. WHERE names the group for messages. */
typedef struct reader {
    hid_t file, text, truth;
    size_t image_size;
    char where[32];
    bn_code code;
    bn_status *st;
} reader;

static void damaged(reader *r, const char *name, const char *what)
{
    if (r->code == BN_OK)
        r->code = bn_fail(r->st, BN_FORMAT, "%s/%s %s", r->where, name, what);
}

/* Whether HDF5 answered "yes" of NAME. Its failure to answer is damage, not "no". */
static bool is_yes(reader *r, htri_t answer, const char *name)
{
    if (answer < 0)
        damaged(r, name, "cannot be read");
    return answer > 0;
}

/* Opens an attribute that is a single value; below zero where there is none. */
static hid_t attribute_open(reader *r, hid_t at, const char *name)
{
    if (r->code != BN_OK)
        return H5I_INVALID_HID;
    if (!is_yes(r, H5Aexists(at, name), name)) {
        damaged(r, name, "is missing");
        return H5I_INVALID_HID;
    }
    hid_t attribute = H5Aopen(at, name, H5P_DEFAULT);
    hid_t space = attribute < 0 ? H5I_INVALID_HID : H5Aget_space(attribute);
    bool single = space >= 0 && H5Sget_simple_extent_type(space) == H5S_SCALAR;
    if (space >= 0)
        H5Sclose(space);
    if (!single) {
        damaged(r, name, "is not one value");
        if (attribute >= 0)
            H5Aclose(attribute);
        return H5I_INVALID_HID;
    }
    return attribute;
}

static bool class_is(hid_t type, H5T_class_t class)
{
    bool same = type >= 0 && H5Tget_class(type) == class;
    /* We write strings of variable length: HDF5 itself says how long they are. */
    return same && (class != H5T_STRING || H5Tis_variable_str(type) > 0);
}

static void get_value(reader *r, hid_t at, const char *name, H5T_class_t class, hid_t memory_type,
                      void *value)
{
    hid_t attribute = attribute_open(r, at, name);
    if (attribute < 0)
        return;
    hid_t type = H5Aget_type(attribute);
    if (!class_is(type, class))
        damaged(r, name, "has another type");
    else if (H5Aread(attribute, memory_type, value) < 0)
        damaged(r, name, "cannot be read");
    if (type >= 0)
        H5Tclose(type);
    H5Aclose(attribute);
}

static void get_text(reader *r, hid_t at, const char *name, char *text, size_t size)
{
    char *value = NULL;
    get_value(r, at, name, H5T_STRING, r->text, &value);
    if (r->code == BN_OK) {
        size_t length = value ? strlen(value) : 0;
        if (length >= size)
            damaged(r, name, "is too long");
        else
            memcpy(memset(text, 0, size), value ? value : "", length);
    }
    if (value)
        H5free_memory(value);
}

static void get_int(reader *r, hid_t at, const char *name, hid_t memory_type, void *value)
{
    get_value(r, at, name, H5T_INTEGER, memory_type, value);
}

static void get_real(reader *r, hid_t at, const char *name, double *value)
{
    get_value(r, at, name, H5T_FLOAT, H5T_NATIVE_DOUBLE, value);
}

static void get_bool(reader *r, hid_t at, const char *name, bool *value)
{
    int8_t truth = 0;
    get_value(r, at, name, H5T_ENUM, r->truth, &truth);
    *value = truth == 1;
}

static void get_source(reader *r, hid_t at, const char *name, bn_device_time_source *source)
{
    char text[32] = "";
    get_text(r, at, name, text, sizeof text);
    *source = res_source_from_name(text);
    if (*source == BN_DEVICE_TIME_SOURCE_COUNT)
        damaged(r, name, "is not a source that this program knows");
}

static void get_fields(reader *r, hid_t at, const res_field *fields, void *base)
{
    for (const res_field *field = fields; field->name; field++) {
        void *value = (char *)base + field->offset;
        if (field->later && r->code == BN_OK && !is_yes(r, H5Aexists(at, field->name), field->name))
            continue;
        switch (field->kind) {
        case RES_KIND_TEXT:
            get_text(r, at, field->name, value, field->size);
            break;
        case RES_KIND_INT:
            get_int(r, at, field->name, H5T_NATIVE_INT, value);
            break;
        case RES_KIND_I64:
        case RES_KIND_AMOUNT:
            get_int(r, at, field->name, H5T_NATIVE_INT64, value);
            break;
        case RES_KIND_U64:
            get_int(r, at, field->name, H5T_NATIVE_UINT64, value);
            break;
        case RES_KIND_REAL:
            get_real(r, at, field->name, value);
            break;
        case RES_KIND_BOOL:
            get_bool(r, at, field->name, value);
            break;
        case RES_KIND_SOURCE:
            get_source(r, at, field->name, value);
            break;
        }
    }
}

/* Whether AT has NAME. A link to another place or another file is none of ours, and refused. */
static bool present(reader *r, hid_t at, const char *name)
{
    H5L_info_t info;
    if (r->code != BN_OK || !is_yes(r, H5Lexists(at, name, H5P_DEFAULT), name))
        return false;
    if (H5Lget_info(at, name, &info, H5P_DEFAULT) < 0)
        damaged(r, name, "cannot be read");
    else if (info.type != H5L_TYPE_HARD)
        damaged(r, name, "is a link to elsewhere, which is not followed");
    return r->code == BN_OK;
}

/* Opens group PATH for reading its attributes; close with H5Gclose unless it is
 * below zero. */
static hid_t group_open(reader *r, const char *path)
{
    if (r->code != BN_OK)
        return H5I_INVALID_HID;
    r->where[0] = '\0';
    hid_t group =
        present(r, r->file, path) ? H5Gopen2(r->file, path, H5P_DEFAULT) : H5I_INVALID_HID;
    if (group < 0)
        damaged(r, path, "is missing");
    snprintf(r->where, sizeof r->where, "/%s", path);
    return group;
}

static void group_close(hid_t group)
{
    if (group >= 0)
        H5Gclose(group);
}

/* Refuses an open dataset NAME that does not lie in one piece in the file itself, as ours do. HDF5
 * would open whatever other files this one names, secret ones or pipes, and load code to unpack
 * pieces. */
static void layout_check(reader *r, hid_t data, const char *name)
{
    const hid_t how = H5Dget_create_plist(data);
    const H5D_layout_t layout = how < 0 ? H5D_LAYOUT_ERROR : H5Pget_layout(how);
    if (layout == H5D_VIRTUAL || (layout >= 0 && H5Pget_external_count(how) != 0))
        damaged(r, name, "has its values in other files, which are not read");
    else if (layout != H5D_CONTIGUOUS && layout != H5D_COMPACT)
        damaged(r, name, "does not lie in one piece");
    if (how >= 0)
        H5Pclose(how);
}

/* Opens dataset NAME; below zero where there is none that may be read. Its extent must not be asked
 * for before its layout is known, since HDF5 looks into other files for that, too. */
static hid_t dataset_open(reader *r, hid_t at, const char *name)
{
    hid_t data = present(r, at, name) ? H5Dopen2(at, name, H5P_DEFAULT) : H5I_INVALID_HID;
    if (data < 0) {
        damaged(r, name, "is missing");
        return data;
    }
    layout_check(r, data, name);
    if (r->code == BN_OK)
        return data;
    H5Dclose(data);
    return H5I_INVALID_HID;
}

/* Opens dataset NAME of RANK whole numbers and reads its extent into DIMS. Our datasets are not
 * compressed, so none has more values than the file has room for. */
static hid_t times_open(reader *r, hid_t at, const char *name, int rank, hsize_t dims[2])
{
    hid_t data = dataset_open(r, at, name);
    if (data < 0)
        return data;
    hid_t space = H5Dget_space(data);
    hid_t type = H5Dget_type(data);
    hsize_t room = r->image_size / sizeof(uint64_t);
    dims[0] = 0;
    dims[1] = 1;
    if (space < 0 || H5Sget_simple_extent_ndims(space) != rank ||
        H5Sget_simple_extent_dims(space, dims, NULL) != rank)
        damaged(r, name, "has another rank");
    else if (!class_is(type, H5T_INTEGER))
        damaged(r, name, "has another type");
    else if (dims[0] > room || dims[1] > room || dims[0] * dims[1] > room)
        damaged(r, name, "claims more values than the file holds");
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    return data;
}

/* The values of an open dataset into a new block of COUNT. */
static uint64_t *times_take(reader *r, hid_t data, const char *name, size_t count)
{
    if (r->code != BN_OK)
        return NULL;
    uint64_t *values = calloc(count > 0 ? count : 1, sizeof *values);
    if (!values)
        r->code = bn_fail(r->st, BN_OUT_OF_MEMORY, "no memory for %zu values", count);
    else if (count > 0 &&
             H5Dread(data, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        damaged(r, name, "cannot be read");
    return values;
}

/* One-dimensional times, replacing *VALUES. */
static void get_times(reader *r, hid_t at, const char *name, uint64_t **values, size_t *count)
{
    hsize_t dims[2] = {0, 0};
    hid_t data = times_open(r, at, name, 1, dims);
    uint64_t *taken = times_take(r, data, name, (size_t)dims[0]);
    if (r->code == BN_OK) {
        free(*values);
        *values = taken;
        *count = (size_t)dims[0];
    } else {
        free(taken);
    }
    if (data >= 0)
        H5Dclose(data);
}

#define MOST_COLUMNS 32
/* The names of a table's COLUMNS, at most MOST_COLUMNS, from its attribute HEAD: a name that is
 * none of the COUNT KNOWN ones is an error. PLACE[column] is its index among them. */
static void get_column_names(reader *r, hid_t data, const char *name, const char *head,
                             size_t columns, const char *const *known, size_t count, size_t *place)
{
    hid_t attribute =
        H5Aexists(data, head) > 0 ? H5Aopen(data, head, H5P_DEFAULT) : H5I_INVALID_HID;
    if (attribute < 0) {
        damaged(r, name, "does not name its columns");
        return;
    }
    char *names[MOST_COLUMNS] = {NULL};
    hid_t space = H5Aget_space(attribute);
    hid_t type = H5Aget_type(attribute);
    if (!class_is(type, H5T_STRING) || H5Sget_simple_extent_npoints(space) != (hssize_t)columns ||
        H5Aread(attribute, r->text, names) < 0)
        damaged(r, name, "does not name its columns");
    for (size_t column = 0; r->code == BN_OK && column < columns; column++) {
        size_t i = 0;
        while (i < count && names[column] && strcmp(known[i], names[column]) != 0)
            i++;
        if (!names[column] || i == count)
            damaged(r, name, "has a column that this program does not know");
        place[column] = i;
    }
    for (size_t column = 0; column < MOST_COLUMNS; column++) {
        if (names[column])
            H5free_memory(names[column]);
    }
    H5Tclose(type);
    H5Sclose(space);
    H5Aclose(attribute);
}

/* Table NAME into rows of COUNT numbers (*ROWS of them, malloc), by the names of its columns. A
 * column that the file does not have stays zero. NULL after a failure. */
static uint64_t *get_table(reader *r, hid_t at, const char *name, const char *head,
                           const char *const *known, size_t count, size_t *rows)
{
    hsize_t dims[2] = {0, 0};
    size_t place[MOST_COLUMNS] = {0};
    hid_t data = times_open(r, at, name, 2, dims);
    if (r->code == BN_OK && dims[1] > count)
        damaged(r, name, "has columns that this program does not know");
    const size_t columns = (size_t)dims[1];
    if (r->code == BN_OK)
        get_column_names(r, data, name, head, columns, known, count, place);
    uint64_t *values = times_take(r, data, name, (size_t)dims[0] * columns);
    uint64_t *table = r->code == BN_OK ? calloc((size_t)dims[0] * count + 1, sizeof *table) : NULL;
    if (r->code == BN_OK && !table)
        r->code = bn_fail(r->st, BN_OUT_OF_MEMORY, "no memory for a table");
    for (size_t i = 0; r->code == BN_OK && i < (size_t)dims[0] * columns; i++)
        table[i / columns * count + place[i % columns]] = values[i];
    *rows = (size_t)dims[0];
    free(values);
    if (data >= 0)
        H5Dclose(data);
    return table;
}

/* A part that the file does not have stays zero. */
static void get_parts(reader *r, hid_t at, res_record *record)
{
    const char *names[BN_PART_COUNT];
    size_t rows = 0;
    for (int p = 0; p < BN_PART_COUNT; p++)
        names[p] = bn_part_name((bn_part)p);
    uint64_t *table = get_table(r, at, "part_ns", "parts", names, BN_PART_COUNT, &rows);
    if (r->code == BN_OK && rows != record->step_count)
        damaged(r, "part_ns", "does not fit the number of steps");
    if (r->code == BN_OK)
        memcpy(record->part_ns, table, rows * BN_PART_COUNT * sizeof *table);
    free(table);
}

/* Rounds are a part of newer files. */
static void get_rounds(reader *r, res_record *record)
{
    const char *const names[] = {
#define X(name) #name,
        RES_ROUND_COLUMNS(X)
#undef X
    };
    size_t rows = 0;
    r->where[0] = '\0';
    if (!present(r, r->file, "rounds"))
        return;
    uint64_t *table =
        get_table(r, r->file, "rounds", "columns", names, sizeof names / sizeof *names, &rows);
    if (r->code == BN_OK)
        r->code = res_record_reserve_rounds(record, rows, r->st);
    if (r->code == BN_OK)
        memcpy(record->rounds, table, rows * sizeof *record->rounds);
    free(table);
}

static void get_probes(reader *r, hid_t at, res_execution *execution)
{
    const char *const names[] = {
#define X(name) #name,
        RES_PROBE_COLUMNS(X)
#undef X
    };
    size_t rows = 0;
    if (!present(r, at, "probes"))
        return;
    uint64_t *table =
        get_table(r, at, "probes", "columns", names, sizeof names / sizeof *names, &rows);
    if (r->code == BN_OK)
        r->code = res_execution_reserve_probes(execution, rows, r->st);
    if (r->code == BN_OK)
        memcpy(execution->probes, table, rows * sizeof *execution->probes);
    free(table);
}

static void get_samples(reader *r, res_record *record)
{
    uint64_t *wall = NULL, *warmup = NULL;
    size_t steps = 0, warmups = 0;
    hid_t group = group_open(r, "warmup");
    get_bool(r, group, "stationary", &record->warmup_stationary);
    get_times(r, group, "wall_ns", &warmup, &warmups);
    group_close(group);

    group = group_open(r, "steps");
    get_times(r, group, "wall_ns", &wall, &steps);
    if (r->code == BN_OK)
        r->code = res_record_reserve_steps(record, steps, warmups, r->st);
    if (r->code == BN_OK) {
        memcpy(record->wall_ns, wall, steps * sizeof *wall);
        memcpy(record->warmup_wall_ns, warmup, warmups * sizeof *warmup);
    }
    get_parts(r, group, record);
    group_close(group);
    get_rounds(r, record);
    free(wall);
    free(warmup);
}

static void get_executions(reader *r, res_record *record)
{
    int64_t count = 0;
    hid_t all = group_open(r, "executions");
    get_int(r, all, "count", H5T_NATIVE_INT64, &count);
    group_close(all);
    /* A group with its attributes takes more bytes than this in a file. */
    if (r->code == BN_OK && (count < 0 || (uint64_t)count > r->image_size / 256))
        damaged(r, "count", "is more than the file holds");
    if (r->code == BN_OK)
        r->code = res_record_reserve_executions(record, (size_t)count, r->st);
    for (size_t i = 0; r->code == BN_OK && i < record->execution_count; i++) {
        res_execution *execution = &record->executions[i];
        char path[32];
        snprintf(path, sizeof path, "executions/%zu", i);
        hid_t group = group_open(r, path);
        get_fields(r, group, res_execution_fields, execution);
        get_times(r, group, "pjrt_ns", &execution->pjrt_ns, &execution->pjrt_count);
        get_probes(r, group, execution);
        group_close(group);
    }
}

/* Counters younger than the file are zero; counters that only it knows are
 * left out. */
static void get_counters(reader *r, const char *name, int64_t counters[BN_COUNTER_COUNT])
{
    hid_t group = group_open(r, name);
    for (int c = 0; r->code == BN_OK && c < BN_COUNTER_COUNT; c++) {
        const char *counter = bn_counter_name((bn_counter)c);
        if (is_yes(r, H5Aexists(group, counter), counter))
            get_int(r, group, counter, H5T_NATIVE_INT64, &counters[c]);
    }
    group_close(group);
}

static void get_provenance(reader *r, res_record *record)
{
    if (r->code != BN_OK)
        return;
    r->where[0] = '\0';
    char *text = NULL;
    hid_t data = dataset_open(r, r->file, "provenance");
    hid_t type = data < 0 ? H5I_INVALID_HID : H5Dget_type(data);
    hid_t space = data < 0 ? H5I_INVALID_HID : H5Dget_space(data);
    if (!class_is(type, H5T_STRING) || space < 0 || H5Sget_simple_extent_npoints(space) != 1 ||
        H5Dread(data, r->text, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text) < 0 || !text) {
        damaged(r, "provenance", "is missing");
    } else {
        json_t *provenance = NULL;
        r->code = res_json_parse(text, strlen(text), &provenance, r->st);
        if (r->code != BN_OK) {
            bn_context(r->st, "provenance");
        } else if (!json_is_object(provenance)) {
            damaged(r, "provenance", "is not a JSON object");
            json_decref(provenance);
        } else {
            json_decref(record->provenance);
            record->provenance = provenance;
        }
    }
    if (text)
        H5free_memory(text);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (data >= 0)
        H5Dclose(data);
}

static void get_root(reader *r, res_record *record)
{
    int schema = 0;
    char status[64] = "";
    get_int(r, r->file, "schema", H5T_NATIVE_INT, &schema);
    if (r->code == BN_OK && (schema < 1 || schema > RES_SCHEMA_VERSION)) {
        r->code = bn_fail(r->st, BN_FORMAT, "schema %d is unknown, this program reads up to %d",
                          schema, RES_SCHEMA_VERSION);
        return;
    }
    get_text(r, r->file, "id", record->id, sizeof record->id);
    get_text(r, r->file, "status", status, sizeof status);
    get_text(r, r->file, "message", record->message, sizeof record->message);
    get_bool(r, r->file, "simulated", &record->simulated);
    get_text(r, r->file, "values", record->values, sizeof record->values);
    get_real(r, r->file, "loss", &record->loss);
    record->status = bn_code_from_name(status);
    if (r->code == BN_OK && record->status == BN_CODE_COUNT)
        r->code = bn_fail(r->st, BN_FORMAT, "status \"%s\" is unknown", status);
    hid_t group = group_open(r, "experiment");
    res_experiment_old(&record->experiment);
    get_fields(r, group, res_experiment_fields, &record->experiment);
    group_close(group);
}

/* Opens the bytes in memory: the file on disk is read once, so that HDF5 reads the same bytes that
 * were checked. */
static hid_t image_open(const char *image, size_t size)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    hid_t file = H5I_INVALID_HID;
    /* HDF5 copies the bytes; its parameter merely lacks the const. */
    union {
        const void *read_only;
        void *plain;
    } bytes = {.read_only = image};
    if (access >= 0 && H5Pset_fapl_core(access, 1 << 18, false) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_image(access, bytes.plain, size) >= 0)
        file = H5Fopen("record", H5F_ACC_RDONLY, access);
    if (access >= 0)
        H5Pclose(access);
    return file;
}

bn_code res_image_read(const char *image, size_t size, res_record **record, bn_status *st)
{
    res_record *fresh = res_record_new();
    reader r = {.file = image_open(image, size),
                .text = res_h5_text_type(),
                .truth = res_h5_bool_type(),
                .image_size = size,
                .st = st};
    if (r.file < 0 || r.text < 0 || r.truth < 0)
        r.code = res_h5_fail(st, BN_FORMAT, "not an HDF5 file");
    get_root(&r, fresh);
    get_samples(&r, fresh);
    get_executions(&r, fresh);
    get_counters(&r, "counters", fresh->counters);
    get_counters(&r, "step_counters", fresh->step_counters);
    get_provenance(&r, fresh);
    if (r.truth >= 0)
        H5Tclose(r.truth);
    if (r.text >= 0)
        H5Tclose(r.text);
    if (r.file >= 0)
        H5Fclose(r.file);
    if (r.code == BN_OK)
        r.code = res_record_check(fresh, st);
    if (r.code == BN_OK)
        *record = fresh;
    else
        res_record_free(fresh);
    return r.code;
}
