/*
 * fuzz_store.c - record files. What begins like a record is a file as it lies in a
 * store, damaged by whatever happens to files: the seal must tell. Anything else is a
 * list of edits to a good record, done with HDF5 and sealed: the well-formed file of
 * another program, of which our reader must believe nothing. What such a file names elsewhere is a
 * pipe that nobody writes: whoever opens it takes too long.
 *
 * HDF5's own parsing of damaged bytes is not tried here, but by fuzz_foreign.c: this reads in our
 * own process, so that a fuzzer sees which ways the reader went.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "results/records/store_priv.h"
#include "results/tables/tables.h"

#define MOST_EDITS    8
#define MOST_ELEMENTS 512
#define VALUE_BYTES   (MOST_ELEMENTS * 32)

/* ---- reading ------------------------------------------------------------------------ */

/* A record that was read is written and read again: the same JSON. */
static void check(const res_record *record)
{
    bn_status st = {0};
    char *image = NULL;
    size_t size = 0;
    res_record *back = NULL;
    fuzz_require(res_image_write(record, &image, &size, &st) == BN_OK, "it cannot be written");
    fuzz_require(res_seal_check(image, size, &st) == BN_OK, "it is written without its seal");
    fuzz_require(res_image_read(image, size, &back, &st) == BN_OK, "it cannot be read again");
    json_t *first = res_record_to_json(record), *second = res_record_to_json(back);
    char *a = json_dumps(first, JSON_SORT_KEYS), *b = json_dumps(second, JSON_SORT_KEYS);
    fuzz_require(a && b && strcmp(a, b) == 0, "it reads otherwise when written again");
    bn_text table = {0};
    res_table_record(record, RES_TABLE_TEXT, &table);
    bn_text_free(&table);
    free(a);
    free(b);
    json_decref(first);
    json_decref(second);
    res_record_free(back);
    free(image);
}

static void read_file(const uint8_t *data, size_t size)
{
    char path[32];
    bn_status st = {0};
    res_record *record = NULL;
    int fd = fuzz_file(data, size, path);
    char *image = NULL;
    size_t length = 0;
    res_proof proof;
    bn_code code = res_file_image(path, SIZE_MAX, &image, &length, &proof, &st);
    fuzz_require(proof.proven == (code == BN_FORMAT), "what was read proves nothing, or too much");
    if (code == BN_OK)
        code = res_image_read(image, length, &record, &st);
    /* HDF5 keeps what its callers forget to close reachable, so no sanitizer tells. */
    fuzz_require(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) == 0, "an object left open");
    free(image);
    fuzz_status(code, &st);
    fuzz_require((code == BN_OK) == (record != NULL), "a record of a damaged file");
    if (record)
        check(record);
    res_record_free(record);
    close(fd);
}

/* ---- a good record ------------------------------------------------------------------- */

static char *good_image(size_t *size)
{
    bn_status st = {0};
    char *image = NULL;
    res_record *record = res_record_new();
    fuzz_require(record && res_record_reserve_steps(record, 3, 2, &st) == BN_OK &&
                     res_record_reserve_executions(record, 2, &st) == BN_OK,
                 "no memory");
    strcpy(record->id, "20240101T000000Z-host-1-0");
    strcpy(record->experiment.model, "resnet18");
    for (size_t i = 0; i < 3; i++)
        record->wall_ns[i] = record->part_ns[i * BN_PART_COUNT] = 1000 + i;
    fuzz_require(res_image_write(record, &image, size, &st) == BN_OK, "no good record");
    res_record_free(record);
    return image;
}

/* ---- edits ------------------------------------------------------------------------------ */

/* The bytes that say what is done; zeros after their end. */
typedef struct script {
    const uint8_t *at, *end;
} script;

static unsigned next(script *s)
{
    return s->at < s->end ? *s->at++ : 0;
}

static const char *place(script *s)
{
    static const char *const places[] = {
        "experiment",           "warmup",         "steps",         "executions",
        "executions/0",         "executions/1",   "counters",      "step_counters",
        "steps/wall_ns",        "steps/part_ns",  "provenance",    "warmup/wall_ns",
        "executions/0/pjrt_ns", "executions/1/x", "steps/nowhere", "."};
    return places[next(s) % (sizeof places / sizeof *places)];
}

/* A type, to be closed. */
static hid_t make_type(script *s)
{
    hsize_t dims[1] = {1 + next(s) % 4};
    hid_t type;
    switch (next(s) % 14) {
    case 0:
        return res_h5_text_type();
    case 1:
        return res_h5_bool_type();
    case 2:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, 1 + next(s) % 16);
        return type;
    case 3:
        return H5Tarray_create2(H5T_NATIVE_INT64, 1, dims);
    case 4:
        return H5Tvlen_create(H5T_NATIVE_INT);
    case 5:
        return H5Tcreate(H5T_OPAQUE, (size_t)dims[0]);
    case 6:
        type = H5Tcreate(H5T_COMPOUND, 16);
        H5Tinsert(type, "a", 0, H5T_NATIVE_INT64);
        H5Tinsert(type, "b", 8, H5T_NATIVE_DOUBLE);
        return type;
    case 7: /* of odd width */
        type = H5Tcopy(H5T_STD_U64BE);
        H5Tset_precision(type, 1 + next(s) % 63);
        return type;
    case 8:
        return H5Tcopy(H5T_STD_I8LE);
    case 9:
        return H5Tcopy(H5T_IEEE_F32BE);
    case 10:
        return H5Tcopy(H5T_STD_B32LE);
    case 11:
        return H5Tcopy(H5T_STD_REF_OBJ);
    case 12:
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    default:
        return H5Tcopy(H5T_STD_U64LE);
    }
}

/* An extent, to be closed; *COUNT is how many elements may be written, 0 for none. */
static hid_t make_space(script *s, size_t *count)
{
    hsize_t dims[3];
    const unsigned kind = next(s) % 8;
    const int rank = kind < 5 ? 1 : kind < 7 ? 2 : 3;
    *count = 1;
    if (kind == 0)
        return H5Screate(H5S_SCALAR);
    if (kind == 1)
        return H5Screate(H5S_NULL);
    for (int i = 0; i < rank; i++) {
        const unsigned size = next(s);
        dims[i] = size < 200 ? size % 24 : (hsize_t)1 << (size - 200) % 64;
        *count *= dims[i] > MOST_ELEMENTS ? 0 : (size_t)dims[i];
    }
    *count = *count > MOST_ELEMENTS ? 0 : *count;
    return H5Screate_simple(rank, dims, NULL);
}

/* Elements of TYPE in VALUES, as the script has them. */
static void make_values(script *s, hid_t type, uint8_t *values, size_t count, char *text)
{
    const size_t bytes = H5Tget_size(type);
    memset(values, 0, VALUE_BYTES);
    if (H5Tis_variable_str(type) > 0) {
        size_t length = next(s) % 64;
        for (size_t i = 0; i < length; i++)
            text[i] = (char)next(s);
        text[length] = '\0';
        for (size_t i = 0; i < count; i++)
            memcpy(values + i * bytes, &text, sizeof text);
    } else if (H5Tget_class(type) != H5T_VLEN && H5Tget_class(type) != H5T_REFERENCE) {
        for (size_t i = 0; i < count * bytes && i < 64; i++)
            values[i] = (uint8_t)next(s);
    }
}

static void put_attribute(script *s, hid_t file, const char *at, const char *name)
{
    static uint8_t values[VALUE_BYTES];
    char text[64];
    size_t count;
    hid_t type = make_type(s), space = make_space(s, &count);
    hid_t attribute =
        H5Acreate_by_name(file, at, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        make_values(s, type, values, count, text);
        if (count)
            H5Awrite(attribute, type, values);
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
}

/* A pipe that nobody writes, in a folder that is gone when this process is. */
static char pipe_folder[256], pipe_path[288];

static void pipe_remove(void)
{
    unlink(pipe_path);
    rmdir(pipe_folder);
}

static void pipe_make(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(pipe_folder, sizeof pipe_folder, "%.200s/fuzz.XXXXXX", parent ? parent : P_tmpdir);
    fuzz_require(mkdtemp(pipe_folder) != NULL, "no folder");
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", pipe_folder);
    fuzz_require(mkfifo(pipe_path, 0600) == 0 && atexit(pipe_remove) == 0, "no pipe");
}

/* How a dataset lies in the file: in one piece, in pieces, which a filter that only a plugin has
 * may pack, or in other files. */
static hid_t make_layout(script *s, hid_t space)
{
    static const hsize_t chunk[3] = {4, 4, 4};
    const int rank = H5Sget_simple_extent_ndims(space);
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    const unsigned kind = next(s) % 8;
    if (kind % 2 && rank > 0)
        H5Pset_chunk(layout, rank, chunk);
    if (kind == 3)
        H5Pset_filter(layout, 32015, H5Z_FLAG_OPTIONAL, 0, NULL);
    else if (kind == 4)
        H5Pset_external(layout, pipe_path, 0, H5F_UNLIMITED);
    else if (kind == 6)
        H5Pset_virtual(layout, space, pipe_path, "x", space);
    return layout;
}

static void put_dataset(script *s, hid_t file, const char *at)
{
    static uint8_t values[VALUE_BYTES];
    char text[64];
    size_t count;
    hid_t type = make_type(s), space = make_space(s, &count);
    hid_t layout = make_layout(s, space);
    const H5D_layout_t kind = H5Pget_layout(layout);
    const bool here = kind != H5D_VIRTUAL && H5Pget_external_count(layout) == 0;
    hid_t data = H5Dcreate2(file, at, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    if (data >= 0) {
        make_values(s, type, values, count, text);
        if (count && here)
            H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
        H5Dclose(data);
    }
    H5Pclose(layout);
    H5Sclose(space);
    H5Tclose(type);
}

static hid_t nowhere(const char *name, hid_t at, const void *data, size_t size, hid_t access,
                     hid_t transfer)
{
    (void)name;
    (void)at;
    (void)data;
    (void)size;
    (void)access;
    (void)transfer;
    return H5I_INVALID_HID;
}

/* A link as H5Lcreate_external makes it. It cannot be called: bench unregisters such links. */
static void put_external_link(hid_t file, const char *to, const char *at)
{
    char target[160] = {0}; /* a version and flags, two terminated texts */
    const int length = snprintf(target + 1, sizeof target - 1, "%s%c%s", pipe_path, '\0', to);
    const H5L_class_t links = {
        .version = H5L_LINK_CLASS_T_VERS, .id = H5L_TYPE_EXTERNAL, .trav_func = nowhere};
    H5Lregister(&links);
    H5Lcreate_ud(file, at, H5L_TYPE_EXTERNAL, target, (size_t)length + 2, H5P_DEFAULT, H5P_DEFAULT);
    H5Lunregister(H5L_TYPE_EXTERNAL);
}

static void edit(script *s, hid_t file)
{
    char name[64] = "";
    const unsigned what = next(s) % 6;
    const char *at = place(s);
    if (what < 2) {
        H5Aget_name_by_idx(file, at, H5_INDEX_NAME, H5_ITER_INC, next(s) % 32, name, sizeof name,
                           H5P_DEFAULT);
        H5Adelete_by_name(file, at, name, H5P_DEFAULT);
        if (what == 1)
            put_attribute(s, file, at, name);
    } else {
        H5Ldelete(file, at, H5P_DEFAULT);
        if (what == 3)
            put_dataset(s, file, at);
        else if (what == 4)
            H5Lcreate_soft(place(s), file, at, H5P_DEFAULT, H5P_DEFAULT);
        else if (what == 5)
            put_external_link(file, place(s), at);
    }
}

/* The HDF5 file in IMAGE, open for changes in memory. */
static hid_t open_image(char *image, size_t size)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, false);
    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
    H5Pset_file_image(access, image, size);
    hid_t file = H5Fopen("record", H5F_ACC_RDWR, access);
    H5Pclose(access);
    fuzz_require(file >= 0, "a good record does not open");
    return file;
}

/* Writes the record GOOD with the edits of DATA, sealed, to descriptor TO. */
static void write_edited(char *good, size_t good_size, const uint8_t *data, size_t size, int to)
{
    script s = {data, data + size};
    hid_t file = open_image(good, good_size);
    for (int i = 0; i < MOST_EDITS && s.at < s.end; i++)
        edit(&s, file);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t inner = H5Fget_file_image(file, NULL, 0);
    fuzz_require(inner > 0, "no image");
    const size_t whole = RES_SEAL_BYTES + (size_t)inner;
    char *image = malloc(whole);
    fuzz_require(image != NULL, "no memory");
    H5Fget_file_image(file, image + RES_SEAL_BYTES, (size_t)inner);
    res_seal(image, whole);
    fuzz_require(write(to, image, whole) == (ssize_t)whole, "writing a file in memory");
}

/* The edits are made by a child: libhdf5 refuses some half-way, and crashes later over what it then
 * holds. One that crashes at once, or takes too long, has made no file to be read. */
static void read_edited(const uint8_t *data, size_t size)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    static char *good; /* kept as long as this program runs */
    static size_t good_size;
    int status = 0, fd = memfd_create("edited", MFD_CLOEXEC);
    if (!good)
        good = good_image(&good_size);
    fuzz_require(fd >= 0, "no file in memory");
    const pid_t child = fork();
    fuzz_require(child >= 0, "no process");
    if (child == 0) {
        for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
            signal(fatal[i], SIG_DFL);
        alarm(5);
        write_edited(good, good_size, data, size, fd);
        _exit(0);
    }
    pid_t ended;
    do /* libFuzzer's timer interrupts it */
        ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
    fuzz_require(ended == child, "a child that is not there");
    const off_t length = lseek(fd, 0, SEEK_END);
    uint8_t *image = mmap(NULL, (size_t)length + 1, PROT_READ, MAP_PRIVATE, fd, 0);
    fuzz_require(image != MAP_FAILED, "no memory");
    if (status == 0)
        read_file(image, (size_t)length);
    munmap(image, (size_t)length + 1);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    static const char seal[] = "bench-rec";
    if (!begun) {
        pipe_make();
        res_store_begin();
    }
    begun = true;
    if (size >= sizeof seal - 1 && memcmp(data, seal, sizeof seal - 1) == 0)
        read_file(data, size);
    else
        read_edited(data, size);
    return 0;
}
