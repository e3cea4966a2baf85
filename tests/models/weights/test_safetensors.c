/*
 * test_safetensors.c - the file format: what is read, what is refused, what is
 * written. Blocks are of exactly the bytes that they hold, so that a sanitizer
 * sees a byte too many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "models/weights/safetensors_priv.h"

static char folder[200];

static int folder_make(void **state)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/safetensors.XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    return rmdir(folder); /* fails where a test left a file */
}

static const char *path_of(const char *name, char path[300])
{
    snprintf(path, 300, "%s/%s", folder, name);
    return path;
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (struct dirent *one; (one = readdir(all));)
        count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

/* A file of HEADER and DATA_BYTES zero bytes (malloc). */
static unsigned char *block(const char *header, size_t data_bytes, size_t *size)
{
    uint64_t length = strlen(header);
    *size = 8 + length + data_bytes;
    unsigned char *bytes = calloc(1, *size);
    assert_non_null(bytes);
    memcpy(bytes, &length, 8);
    memcpy(bytes + 8, header, length);
    return bytes;
}

/* Fails unless BYTES are refused with a message that holds TEXT. */
static void refused(const char *what, const unsigned char *bytes, size_t size, const char *text)
{
    bn_status st = {.code = BN_OK};
    model_file *file = NULL;
    bn_code code = model_file_parse(bytes, size, &file, &st);
    if (code != BN_FORMAT || !strstr(st.message, text))
        fail_msg("%s: '%s', code %s, wanted '%s'", what, st.message, bn_code_name(code), text);
    assert_null(file);
}

/* ---- reading ------------------------------------------------------------------ */

static const char good[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[6,30]},"
    "\"half\":{\"shape\":[3],\"data_offsets\":[0,6],\"dtype\":\"F16\",\"more\":[{}]},"
    "\"none\":{\"dtype\":\"F64\",\"shape\":[0,9223372036854775807],\"data_offsets\":[6,6]},"
    "\"count\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[30,38]}}  \n";

static void test_reads(void **state)
{
    bn_status st = {.code = BN_OK};
    size_t size, count, all;
    model_file *file = NULL;
    unsigned char *bytes = block(good, 38, &size);
    for (size_t i = 0; i < 38; i++)
        bytes[size - 38 + i] = (unsigned char)i;
    if (model_file_parse(bytes, size, &file, &st) != BN_OK)
        fail_msg("%s", st.message);

    const model_file_tensor *t = model_file_tensors(file, &count);
    static const char *const sorted[] = {"count", "half", "none", "w"};
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(t[i].name, sorted[i]);
        assert_ptr_equal(model_file_find(file, sorted[i]), &t[i]);
    }
    assert_null(model_file_find(file, "__metadata__"));
    assert_null(model_file_find(file, "v"));
    assert_ptr_equal(model_file_bytes(file, &all), bytes);
    assert_int_equal(all, size);

    assert_int_equal(t[0].dtype, MODEL_FILE_I64);
    assert_int_equal(t[0].rank, 0);
    assert_int_equal(t[0].bytes, 8);
    assert_int_equal(t[0].data[0], 30);
    assert_int_equal(t[1].dtype, MODEL_FILE_F16);
    assert_int_equal(t[1].data[0], 0);
    assert_int_equal(t[2].bytes, 0);
    assert_int_equal(t[3].rank, 2);
    assert_int_equal(t[3].dims[0], 2);
    assert_int_equal(t[3].dims[1], 3);
    assert_int_equal(t[3].data[23], 29);
    model_file_free(file);
    free(bytes);

    bytes = block("{}", 0, &size);
    assert_int_equal(model_file_parse(bytes, size, &file, &st), BN_OK);
    model_file_tensors(file, &count);
    assert_int_equal(count, 0);
    assert_null(model_file_find(file, "w"));
    model_file_free(file);
    free(bytes);
}

#define ONE(name, dtype, shape, offsets)                                                           \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

static const struct {
    const char *what, *header;
    size_t data;
    const char *text;
} damages[] = {
    {"no header", "", 0, "no JSON"},
    {"a list", "[]", 0, "no JSON"},
    {"a space in front", " {}", 0, "no JSON"},
    {"JSON cut short", "{\"a\":", 0, "the header, at byte"},
    {"more after the object", "{}x", 0, "end of file expected"},
    {"not UTF-8", "{\"\xff\":1}", 0, "the header, at byte"},
    {"an entry that is a list", "{\"a\":[1]}", 0, "tensor a is described by no object"},
    {"no dtype", "{\"a\":{\"shape\":[],\"data_offsets\":[0,4]}}", 4, "no dtype of the format"},
    {"a dtype that is none", "{" ONE("a", "F33", "[]", "[0,4]") "}", 4, "no dtype of the format"},
    {"a dtype in small letters", "{" ONE("a", "f32", "[]", "[0,4]") "}", 4, "no dtype"},
    {"a dtype that is a number", "{\"a\":{\"dtype\":32,\"shape\":[],\"data_offsets\":[0,4]}}", 4,
     "no dtype"},
    {"no shape", "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "has no shape"},
    {"a shape that is a number", "{" ONE("a", "F32", "1", "[0,4]") "}", 4, "has no shape"},
    {"a negative dimension", "{" ONE("a", "F32", "[-1]", "[0,4]") "}", 4, "no whole number"},
    {"a broken dimension", "{" ONE("a", "F32", "[1.0]", "[0,4]") "}", 4, "no whole number"},
    {"a dimension as text", "{" ONE("a", "F32", "[\"1\"]", "[0,4]") "}", 4, "no whole number"},
    {"a dimension of 65 bits", "{" ONE("a", "F32", "[18446744073709551616]", "[0,4]") "}", 4,
     "too big integer"},
    {"a product of 2^64", "{" ONE("a", "F32", "[4294967296,4294967296]", "[0,0]") "}", 0,
     "no memory can hold"},
    {"a product of 2^64, then 0", "{" ONE("a", "F32", "[4294967296,4294967296,0]", "[0,0]") "}", 0,
     "no memory can hold"},
    {"2^64 bits", "{" ONE("a", "F32", "[576460752303423488]", "[0,0]") "}", 0,
     "no memory can hold"},
    {"half a byte", "{" ONE("a", "F4", "[3]", "[0,2]") "}", 2, "whole byte"},
    {"no offsets", "{\"a\":{\"dtype\":\"F32\",\"shape\":[]}}", 4, "no data_offsets"},
    {"one offset", "{" ONE("a", "F32", "[]", "[0]") "}", 4, "no data_offsets"},
    {"three offsets", "{" ONE("a", "F32", "[]", "[0,4,4]") "}", 4, "no data_offsets"},
    {"an offset as text", "{" ONE("a", "F32", "[]", "[0,\"4\"]") "}", 4, "no data_offsets"},
    {"a negative offset", "{" ONE("a", "F32", "[]", "[-4,0]") "}", 4, "outside of the data"},
    {"the end before the begin", "{" ONE("a", "F32", "[]", "[4,0]") "}", 4, "outside of the data"},
    {"an end after the data", "{" ONE("a", "F32", "[]", "[0,4]") "}", 3, "outside of the data"},
    {"an end far after the data",
     "{" ONE("a", "U8", "[9223372036854775807]", "[0,9223372036854775807]") "}", 3,
     "no memory can hold"},
    {"too few bytes", "{" ONE("a", "F32", "[2]", "[0,4]") "}", 4, "do not fit"},
    {"too many bytes", "{" ONE("a", "F32", "[]", "[0,8]") "}", 8, "do not fit"},
    {"a hole", "{" ONE("a", "F32", "[]", "[0,4]") "," ONE("b", "F32", "[]", "[8,12]") "}", 12,
     "tensor b comes after bytes of no tensor"},
    {"a hole in front", "{" ONE("a", "F32", "[]", "[4,8]") "}", 8, "bytes of no tensor"},
    {"a hole at the end", "{" ONE("a", "F32", "[]", "[0,4]") "}", 5,
     "the last 1 bytes belong to no tensor"},
    {"only a hole", "{}", 1, "the last 1 bytes"},
    {"an overlap", "{" ONE("a", "F32", "[2]", "[0,8]") "," ONE("b", "F32", "[]", "[4,8]") "}", 8,
     "tensor b overlaps"},
    {"twice the same bytes",
     "{" ONE("a", "F32", "[]", "[0,4]") "," ONE("b", "F32", "[]", "[0,4]") "}", 4, "overlaps"},
    {"a name twice", "{" ONE("a", "F32", "[0]", "[0,0]") "," ONE("a", "F32", "[0]", "[0,0]") "}", 0,
     "duplicate"},
    {"a key twice", "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0, "duplicate"},
    {"metadata that is text", "{\"__metadata__\":\"pt\"}", 0, "__metadata__ is no object"},
    {"metadata with a number", "{\"__metadata__\":{\"a\":1}}", 0, "value that is no text"},
    {"a name that would write on the terminal", "{\"a\\u001b[2J\\n\":1}", 0, "tensor a?[2J? is"},
};

static void test_damage(void **state)
{
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        size_t size;
        unsigned char *bytes = block(damages[i].header, damages[i].data, &size);
        refused(damages[i].what, bytes, size, damages[i].text);
        free(bytes);
    }
}

/* A reader of JSON takes a stack frame a level: what is too deep is not given to it. */
static void test_depth(void **state)
{
    bn_text header = {0};
    size_t size;
    bn_status st = {.code = BN_OK};
    model_file *file = NULL;
    for (int levels = BN_JSON_DEPTH - 2; levels <= BN_JSON_DEPTH - 1; levels++) {
        bn_text_clear(&header);
        bn_text_puts(&header, "{\"w\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0],"
                              "\"more\":");
        for (int i = 0; i < levels; i++)
            bn_text_putc(&header, '[');
        for (int i = 0; i < levels; i++)
            bn_text_putc(&header, ']');
        bn_text_puts(&header, "}}");
        unsigned char *bytes = block(header.data, 0, &size);
        if (levels + 2 > BN_JSON_DEPTH)
            refused("depth", bytes, size, "more than 64 levels deep");
        else if (model_file_parse(bytes, size, &file, &st) != BN_OK)
            fail_msg("%s", st.message);
        else
            model_file_free(file);
        free(bytes);
    }
    bn_text_free(&header);
}

static void test_lengths(void **state)
{
    static const struct {
        uint64_t length;
        const char *text;
    } lengths[] = {{3, "may be cut short"},      {UINT64_MAX, "the format allows 100000000"},
                   {1ull << 63, "allows"},       {UINT64_MAX - 7, "allows"},
                   {100000001, "allows"},        {100000000, "may be cut short"},
                   {1, "the header, at byte 1"}, {0, "no JSON"}};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t size;
        unsigned char *bytes = block("{}", 0, &size);
        memcpy(bytes, &lengths[i].length, 8);
        refused("a wrong length", bytes, size, lengths[i].text);
        free(bytes);
    }
    refused("no bytes", NULL, 0, "too few");
}

/* A file cut anywhere is refused, and a changed byte does no harm: it is refused,
 * or changes what the file says. */
static void test_every_cut_and_change(void **state)
{
    size_t size;
    unsigned char *bytes = block(good, 38, &size);
    for (size_t cut = 0; cut < size; cut++) {
        unsigned char *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        refused("a cut", part, cut, "");
        free(part);
    }
    size_t accepted = 0;
    for (size_t at = 0; at < size - 38; at++) {
        static const char others[] = "0 9-.e\"{}[],:\xff\\";
        for (size_t i = 0; i < sizeof others; i++) {
            bn_status st = {.code = BN_OK};
            model_file *file = NULL;
            unsigned char before = bytes[at];
            bytes[at] = (unsigned char)others[i];
            bn_code code = model_file_parse(bytes, size, &file, &st);
            assert_true(code == BN_OK || code == BN_FORMAT);
            size_t count = 0, sum = 0;
            const model_file_tensor *t = file ? model_file_tensors(file, &count) : NULL;
            for (size_t k = 0; k < count; k++) {
                assert_true(t[k].data >= bytes && t[k].data + t[k].bytes <= bytes + size);
                sum += t[k].bytes;
            }
            assert_true(!file || sum == 38);
            accepted += file != NULL;
            model_file_free(file);
            bytes[at] = before;
        }
    }
    assert_true(accepted > 0);
    free(bytes);
}

static void test_open(void **state)
{
    bn_status st = {.code = BN_OK};
    char path[300];
    model_file *file = NULL;
    path_of("none", path);
    assert_int_equal(model_file_open(path, &file, &st), BN_NOT_FOUND);
    assert_ptr_equal(strstr(st.message, path), st.message);
    assert_int_equal(model_file_open(folder, &file, &st), BN_IO);
    assert_ptr_equal(strstr(st.message, folder), st.message);
    assert_int_equal(bn_file_write_atomic(path, "", 0, &st), BN_OK);
    assert_int_equal(model_file_open(path, &file, &st), BN_FORMAT);
    assert_ptr_equal(strstr(st.message, path), st.message);
    size_t size;
    unsigned char *bytes = block(good, 38, &size);
    assert_int_equal(bn_file_write_atomic(path, bytes, size, &st), BN_OK);
    assert_int_equal(model_file_open(path, &file, &st), BN_OK);
    assert_non_null(model_file_find(file, "w"));
    model_file_free(file);
    unlink(path);
    free(bytes);
}

/* ---- writing -------------------------------------------------------------------- */

static const int64_t pair[] = {1, 2};
static const model_file_tensor written[] = {
    {.name = "first", .dtype = MODEL_FILE_F32, .rank = 2, .dims = pair, .bytes = 8},
    {.name = "odd \"name\"", .dtype = MODEL_FILE_BF16, .rank = 1, .dims = pair, .bytes = 2},
    {.name = "scalar", .dtype = MODEL_FILE_U8, .rank = 0, .dims = pair, .bytes = 1},
};
static const char *const metadata[] = {"format", "pt", NULL};

static void test_writes(void **state)
{
    bn_status st = {.code = BN_OK};
    char path[300];
    size_t size = 0, all;
    model_file_writer *w = NULL;
    model_file *file = NULL;
    path_of("written", path);
    assert_int_equal(model_file_create(path, written, 3, metadata, false, &w, &st), BN_OK);
    assert_int_equal(access(path, F_OK), -1); /* no half file under this name */
    assert_int_equal(model_file_write(w, "01234567", 8, &st), BN_OK);
    assert_int_equal(model_file_write(w, "89", 2, &st), BN_OK);
    assert_int_equal(model_file_write(w, "A", 1, &st), BN_OK);
    assert_int_equal(model_file_finish(w, &size, &st), BN_OK);

    assert_int_equal(model_file_open(path, &file, &st), BN_OK);
    const unsigned char *bytes = model_file_bytes(file, &all);
    assert_int_equal(all, size);
    for (size_t i = 0; i < 3; i++) {
        const model_file_tensor *t = model_file_find(file, written[i].name);
        assert_non_null(t);
        assert_int_equal(t->dtype, written[i].dtype);
        assert_int_equal(t->rank, written[i].rank);
        assert_memory_equal(t->dims, pair, t->rank * sizeof *pair);
        assert_int_equal(t->bytes, written[i].bytes);
    }
    assert_memory_equal(model_file_find(file, "first")->data, "0123456789A", 11);
    /* Data start at a multiple of 8, wherever the names end. */
    assert_int_equal((model_file_find(file, "first")->data - bytes) % 8, 0);
    assert_non_null(strstr((const char *)bytes + 8, "{\"__metadata__\":{\"format\":\"pt\"}"));
    model_file_free(file);

    w = NULL;
    assert_int_equal(model_file_create(path, written, 3, NULL, false, &w, &st), BN_IO);
    assert_non_null(strstr(st.message, "there already"));
    assert_null(w);
    unlink(path);
}

static void test_writes_leave_nothing(void **state)
{
    bn_status st = {.code = BN_OK};
    char path[300], *kept = NULL;
    size_t size;
    model_file_writer *w = NULL;
    path_of("abandoned", path);
    assert_int_equal(model_file_create(path, written, 3, NULL, false, &w, &st), BN_OK);
    assert_int_equal(model_file_write(w, "01234567", 8, &st), BN_OK);
    assert_int_equal(files_in_folder(), 1);
    model_file_abandon(w);
    assert_int_equal(files_in_folder(), 0);

    /* Somebody else takes the name meanwhile: theirs stays. */
    assert_int_equal(model_file_create(path, written, 3, NULL, false, &w, &st), BN_OK);
    assert_int_equal(model_file_write(w, "0123456789A", 11, &st), BN_OK);
    assert_int_equal(bn_file_write_atomic(path, "theirs", 6, &st), BN_OK);
    assert_int_equal(model_file_finish(w, NULL, &st), BN_IO);
    assert_non_null(strstr(st.message, "there already"));
    assert_int_equal(bn_regular_read(path, &kept, &size, &st), BN_OK);
    assert_string_equal(kept, "theirs");
    free(kept);
    unlink(path);
    assert_int_equal(files_in_folder(), 0);

    struct rlimit before, small = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    bn_code code = model_file_create(path, written, 3, NULL, false, &w, &st);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, BN_IO);
    assert_non_null(strstr(st.message, "File too large"));
    assert_int_equal(files_in_folder(), 0);

    path_of("none/file", path);
    assert_int_equal(model_file_create(path, written, 3, NULL, false, &w, &st), BN_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_every_cut_and_change),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_writes),
        cmocka_unit_test(test_writes_leave_nothing),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
