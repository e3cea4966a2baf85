/*
 * test_npy.c - .npy files: what NumPy writes is read, what is damaged is refused, what
 * we write is read back.
 */
#define _GNU_SOURCE
#include "tests/support/test_runtime.h"

#include "runtime/pjrt/npy.h"

#include <stdlib.h>
#include <unistd.h>

/* A file of VERSION with HEADER and BYTES zero bytes of elements. */
static char *make(int version, const char *header, size_t bytes, size_t *size)
{
    const size_t length = strlen(header), start = version == 1 ? 10 : 12;
    char *file = calloc(1, start + length + bytes + 1);
    memcpy(file, "\x93NUMPY", 6);
    file[6] = (char)version;
    for (size_t i = 0; i < (version == 1 ? 2u : 4u); i++)
        file[8 + i] = (char)(length >> 8 * i & 0xFF);
    memcpy(file + start, header, length);
    *size = start + length + bytes;
    return file;
}

#define HEADER(descr, order, shape)                                                                \
    "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }\n"

static void reads_what_numpy_writes(void **state)
{
    (void)state;
    static const struct {
        int version;
        const char *header;
        size_t bytes;
        rt_dtype dtype;
        size_t rank;
        int64_t last;
    } files[] = {
        {1, HEADER("<f4", "False", "(2, 3)"), 24, BN_F32, 2, 3},
        {2, HEADER("<f8", "False", "(5,)"), 40, BN_F64, 1, 5},
        {3, HEADER("|b1", "False", "()"), 1, BN_PRED, 0, 0},
        {1, HEADER("<f2", "False", "(0, 7)"), 0, BN_F16, 2, 7},
        {1, HEADER("<c16", "False", "(1, 1, 1, 1, 1, 1, 1, 2)"), 32, BN_C128, 8, 2},
        {1, HEADER("<i8", "True", "(4,)"), 32, BN_S64, 1, 4}, /* one dimension has no order */
        {1, "{\"shape\": (3,), \"descr\": \"|u1\", \"fortran_order\": False}", 3, BN_U8, 1, 3},
        {1, HEADER("|V2", "False", "(2,)"), 4, BN_U16, 1, 2},
        /* of Python 2: */
        {1, HEADER("<f4", "False", "(3L,)"), 12, BN_F32, 1, 3},
        {2, HEADER("<f4", "False", "(2L, 3)") "   \n", 24, BN_F32, 2, 3},
        {1, HEADER("<f4", "False", "(2, 1L, 10L)"), 80, BN_F32, 3, 10},
        {1, HEADER("<f4", "False", "(0L,)"), 0, BN_F32, 1, 0},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bn_status st = {0};
        rt_npy a;
        size_t size;
        char *file = make(files[i].version, files[i].header, files[i].bytes, &size);
        assert_ok(rt_npy_parse("file", file, size, &a, &st), &st);
        assert_int_equal(a.dtype, files[i].dtype);
        assert_int_equal(a.rank, files[i].rank);
        if (a.rank)
            assert_int_equal(a.dims[a.rank - 1], files[i].last);
        assert_int_equal(a.size, files[i].bytes);
        assert_ptr_equal(a.data + a.size, file + size);
        assert_int_equal(a.void_bits, i == 7);
        free(file);
    }
}

static void refuses_what_is_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t bytes;
        bn_code code;
        const char *text;
    } files[] = {
        {HEADER("<f4", "False", "(2, 3)"), 23, BN_FORMAT, "23 bytes"},
        {HEADER("<f4", "False", "(2, 3)"), 25, BN_FORMAT, "24"},
        {HEADER("<f4", "False", "(4611686018427387904, 4)"), 8, BN_FORMAT, ""},
        {HEADER("<f4", "False", "(99999999999, 99999999999)"), 8, BN_FORMAT, "9223372036854775807"},
        {HEADER("<f4", "False", "(-1,)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "False", "(2LL,)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "False", "(L,)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "False", "(2l,)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "False", "(02,)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "False", "(2)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "Fals", "(2,)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "Falsehood", "(2,)"), 8, BN_FORMAT, "file"},
        {HEADER("<f4", "False", "(2,)") "x", 8, BN_FORMAT, "file"},
        {HEADER("<f4", "False", "(2,)") "{}", 8, BN_FORMAT, "file"},
        {HEADER("<f4", "True", "(2, 3)"), 24, BN_NOT_SUPPORTED, "Fortran"},
        {HEADER(">f4", "False", "(2,)"), 8, BN_NOT_SUPPORTED, "'>f4'"},
        {HEADER("|O", "False", "(2,)"), 16, BN_NOT_SUPPORTED, "'|O'"},
        {HEADER("<f4", "Maybe", "(2,)"), 8, BN_FORMAT, "file"},
        {"{'descr': '<f4', 'shape': (2,)}", 8, BN_FORMAT, "file"},
        {"{'descr': '<f4', 'fortran_order': False}", 8, BN_FORMAT, "file"},
        {"{'shape': (2,), 'shape': (2,), 'descr': '<f4', 'fortran_order': False}", 8, BN_FORMAT,
         "file"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", 8, BN_FORMAT,
         "file"},
        {"{'descr': '<i4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8, BN_FORMAT,
         "file"},
        {"{'descr': '<f4', 'fortran_order': True, 'fortran_order': False, 'shape': (2,)}", 8,
         BN_FORMAT, "file"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", 8, BN_NOT_SUPPORTED,
         "file"},
        {"{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,)}", 8, BN_NOT_SUPPORTED,
         "file"},
        {"[1, 2]", 8, BN_FORMAT, "file"},
        {"", 8, BN_FORMAT, "file"},
        {"{'descr': '<f4", 8, BN_FORMAT, "file"},
    };
    bn_status st = {0};
    rt_npy a;
    size_t size;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *file = make(1, files[i].header, files[i].bytes, &size);
        assert_fails(rt_npy_parse("file", file, size, &a, &st), files[i].code, files[i].text, &st);
        free(file);
    }
    char *file = make(1, HEADER("<f4", "False", "(2,)"), 8, &size);
    for (size_t cut = 0; cut < size; cut++) { /* in a block of its own, for sanitizers */
        char *part = malloc(cut + 1);
        memcpy(part, file, cut);
        st = (bn_status){0};
        assert_int_equal(rt_npy_parse("file", part, cut, &a, &st), BN_FORMAT);
        free(part);
    }
    file[7] = 1;
    assert_fails(rt_npy_parse("file", file, size, &a, &st), BN_FORMAT, "1.1", &st);
    file[7] = 0;
    free(file);
    file = make(3, HEADER("<f4", "False", "(2L,)"), 8, &size);
    assert_fails(rt_npy_parse("file", file, size, &a, &st), BN_FORMAT, "file", &st);
    file[6] = 4;
    assert_fails(rt_npy_parse("file", file, size, &a, &st), BN_FORMAT, "4.0", &st);
    file[0] = 'N';
    assert_fails(rt_npy_parse("file", file, size, &a, &st), BN_FORMAT, ".npy", &st);
    free(file);
}

static void writes_what_it_reads(void **state)
{
    (void)state;
    char path[] = "/tmp/bench-npy.XXXXXX";
    close(mkstemp(path));
    for (int dtype = 0; dtype < RT_DTYPE_COUNT; dtype++)
        for (size_t rank = 0; rank <= 9; rank += 3) {
            int64_t dims[9] = {2, 1, 3, 1, 1, 2, 1, 1, 1};
            size_t bytes = bn_dtype_bytes((rt_dtype)dtype), size;
            bn_status st = {0};
            rt_npy a;
            char data[16 * 12], *file;
            for (size_t i = 0; i < rank; i++)
                bytes *= (size_t)dims[i];
            for (size_t i = 0; i < bytes; i++)
                data[i] = (char)(i * 7 + 1);
            assert_ok(rt_npy_write(path, (rt_dtype)dtype, rank, dims, data, &st), &st);
            assert_ok(bn_regular_read(path, &file, &size, &st), &st);
            assert_ok(rt_npy_parse(path, file, size, &a, &st), &st);
            assert_int_equal(a.dtype, dtype == BN_BF16                  ? BN_U16
                                      : bn_dtype_is_f8((rt_dtype)dtype) ? BN_U8
                                                                        : dtype);
            assert_int_equal(a.rank, rank);
            assert_memory_equal(a.dims, dims, rank * sizeof *dims);
            assert_int_equal(a.size, bytes);
            assert_memory_equal(a.data, data, bytes);
            assert_int_equal((a.data - file) % 64, 0);
            free(file);
        }
    unlink(path);
    bn_status st = {0};
    assert_fails(rt_npy_write("/nowhere/a.npy", BN_F32, 0, NULL, "abcd", &st), BN_NOT_FOUND,
                 "/nowhere", &st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_numpy_writes),
        cmocka_unit_test(refuses_what_is_damaged),
        cmocka_unit_test(writes_what_it_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
