/*
 * test_npy.c - .npy files: what NumPy writes is read, what is damaged is told, what
 * we write is read back; elements as numbers.
 */
#define _GNU_SOURCE
#include "tests/support/test_runtime.h"

#include "harness/worker/npy_priv.h"

#include <float.h>
#include <math.h>
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
        {1, HEADER("<f4", "False", "(2, 3)"), 24, RT_F32, 2, 3},
        {2, HEADER("<f8", "False", "(5,)"), 40, RT_F64, 1, 5},
        {3, HEADER("|b1", "False", "()"), 1, RT_BOOL, 0, 0},
        {1, HEADER("<f2", "False", "(0, 7)"), 0, RT_F16, 2, 7},
        {1, HEADER("<c16", "False", "(1, 1, 1, 1, 1, 1, 1, 2)"), 32, RT_C128, 8, 2},
        {1, HEADER("<i8", "True", "(4,)"), 32, RT_S64, 1, 4}, /* one dimension has no order */
        {1, "{\"shape\": (3,), \"descr\": \"|u1\", \"fortran_order\": False}", 3, RT_U8, 1, 3},
        {1, HEADER("|V2", "False", "(2,)"), 4, RT_U16, 1, 2},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bn_status st = {0};
        worker_npy a;
        size_t size;
        char *file = make(files[i].version, files[i].header, files[i].bytes, &size);
        assert_ok(worker_npy_parse("file", file, size, &a, &st), &st);
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

static void tells_what_is_damaged(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t bytes;
        bn_code code;
        const char *text;
    } files[] = {
        {HEADER("<f4", "False", "(2, 3)"), 23, BN_FORMAT, "23 bytes of elements"},
        {HEADER("<f4", "False", "(2, 3)"), 25, BN_FORMAT, "wants 24"},
        {HEADER("<f4", "False", "(4611686018427387904, 4)"), 8, BN_FORMAT, ""},
        {HEADER("<f4", "False", "(99999999999, 99999999999)"), 8, BN_FORMAT, "more than"},
        {HEADER("<f4", "False", "(-1,)"), 8, BN_FORMAT, "header"},
        {HEADER("<f4", "True", "(2, 3)"), 24, BN_NOT_SUPPORTED, "Fortran"},
        {HEADER(">f4", "False", "(2,)"), 8, BN_NOT_SUPPORTED, "'>f4'"},
        {HEADER("|O", "False", "(2,)"), 16, BN_NOT_SUPPORTED, "'|O'"},
        {HEADER("<f4", "Maybe", "(2,)"), 8, BN_FORMAT, "header"},
        {"{'descr': '<f4', 'shape': (2,)}", 8, BN_FORMAT, "header"},
        {"{'descr': '<f4', 'fortran_order': False}", 8, BN_FORMAT, "header"},
        {"{'shape': (2,), 'shape': (2,), 'descr': '<f4', 'fortran_order': False}", 8, BN_FORMAT,
         "header"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", 8, BN_FORMAT,
         "header"},
        {"[1, 2]", 8, BN_FORMAT, "header"},
        {"", 8, BN_FORMAT, "header"},
        {"{'descr': '<f4", 8, BN_FORMAT, "header"},
    };
    bn_status st = {0};
    worker_npy a;
    size_t size;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char *file = make(1, files[i].header, files[i].bytes, &size);
        assert_fails(worker_npy_parse("file", file, size, &a, &st), files[i].code, files[i].text,
                     &st);
        free(file);
    }
    char *file = make(1, HEADER("<f4", "False", "(2,)"), 8, &size);
    for (size_t cut = 0; cut < size; cut++) { /* in a block of its own, for sanitizers */
        char *part = malloc(cut + 1);
        memcpy(part, file, cut);
        st = (bn_status){0};
        assert_int_equal(worker_npy_parse("file", part, cut, &a, &st), BN_FORMAT);
        free(part);
    }
    file[6] = 4;
    assert_fails(worker_npy_parse("file", file, size, &a, &st), BN_FORMAT, "version 4", &st);
    file[0] = 'N';
    assert_fails(worker_npy_parse("file", file, size, &a, &st), BN_FORMAT, "not a .npy file", &st);
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
            size_t bytes = rt_dtype_bytes((rt_dtype)dtype), size;
            bn_status st = {0};
            worker_npy a;
            char data[16 * 12], *file;
            for (size_t i = 0; i < rank; i++)
                bytes *= (size_t)dims[i];
            for (size_t i = 0; i < bytes; i++)
                data[i] = (char)(i * 7 + 1);
            assert_ok(worker_npy_write(path, (rt_dtype)dtype, rank, dims, data, &st), &st);
            assert_ok(bn_regular_read(path, &file, &size, &st), &st);
            assert_ok(worker_npy_parse(path, file, size, &a, &st), &st);
            assert_int_equal(a.dtype, dtype == RT_BF16 ? RT_U16 : dtype);
            assert_int_equal(a.rank, rank);
            assert_memory_equal(a.dims, dims, rank * sizeof *dims);
            assert_int_equal(a.size, bytes);
            assert_memory_equal(a.data, data, bytes);
            assert_int_equal((a.data - file) % 64, 0);
            free(file);
        }
    unlink(path);
    bn_status st = {0};
    assert_fails(worker_npy_write("/nowhere/a.npy", RT_F32, 0, NULL, "abcd", &st), BN_NOT_FOUND,
                 "/nowhere", &st);
}

/* ---- elements ------------------------------------------------------------------------ */

#define DIFFERENCE(dtype, got, want, rtol, atol)                                                   \
    worker_arrays_compare(dtype, got, want, sizeof(got), rtol, atol)

static void compares_floats_with_tolerance(void **state)
{
    (void)state;
    const float want[] = {1, -100, 0, NAN, INFINITY, 5};
    const float near[] = {1.00001f, -100.001f, 1e-9f, NAN, INFINITY, 5};
    const float far[] = {1.1f, -100, 0, 0, -INFINITY, NAN};
    worker_array_difference d = DIFFERENCE(RT_F32, near, want, 1e-4, 1e-8);
    assert_int_equal(d.count, 0);
    assert_int_equal(d.of, 6);
    d = DIFFERENCE(RT_F32, near, want, 0, 1e-8);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.worst, 1);
    d = DIFFERENCE(RT_F32, far, want, 1e-4, 1e-8);
    assert_int_equal(d.count, 4);
    const uint16_t bf16[] = {0x3F80, 0x4000}, bf16_off[] = {0x3F80, 0x4001}; /* 1, 2, 2.015625 */
    d = DIFFERENCE(RT_BF16, bf16_off, bf16, 0, 0.01);
    assert_int_equal(d.count, 1);
    assert_true(d.got == 2.015625 && d.want == 2.0 && d.worst == 1);
    assert_int_equal(DIFFERENCE(RT_BF16, bf16_off, bf16, 0, 0.02).count, 0);
    const uint16_t half[] = {0x3C00, 0x0001, 0x7BFF}, half_off[] = {0x3C01, 0x0000, 0x7BFF};
    d = DIFFERENCE(RT_F16, half_off, half, 0, 1e-4);
    assert_int_equal(d.count, 1);
    assert_true(d.want == 1.0 && d.got == 1.0009765625);
    const double complex_want[] = {1, 2, 3, 4}, complex_got[] = {1, 2, 3.5, 5};
    d = DIFFERENCE(RT_C128, complex_got, complex_want, 0, 0.1);
    assert_int_equal(d.count, 1); /* both parts of one number */
    assert_int_equal(d.of, 2);
    assert_int_equal(d.worst, 1);
    assert_true(d.want == 4);
}

static void compares_integers_exactly(void **state)
{
    (void)state;
    const int64_t a[] = {INT64_MAX, -1, 0}, b[] = {INT64_MAX - 1, -1, 0};
    worker_array_difference d = DIFFERENCE(RT_S64, a, b, 1, 1e9);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.worst, 0);
    const int8_t c[] = {-128, 5}, e[] = {-127, 5};
    d = DIFFERENCE(RT_S8, c, e, 1, 1);
    assert_true(d.count == 1 && d.got == -128 && d.want == -127);
    const uint8_t t[] = {1, 0}, f[] = {1, 1};
    assert_int_equal(DIFFERENCE(RT_BOOL, t, f, 1, 1).count, 1);
    assert_int_equal(DIFFERENCE(RT_BOOL, t, t, 0, 0).count, 0);
}

static void halves_round_to_nearest_even(void **state)
{
    (void)state;
    static const struct {
        double value;
        uint16_t bits;
    } known[] = {{0, 0x0000},           {-0.0, 0x8000},        {1, 0x3C00},
                 {-2, 0xC000},          {65504, 0x7BFF},       {65520, 0x7C00},
                 {1e9, 0x7C00},         {0x1p-14, 0x0400},     {0x1p-24, 0x0001},
                 {0x1p-25, 0x0000},     {0x1.8p-24, 0x0002},   {1 + 0x1p-11, 0x3C00},
                 {1 + 0x3p-11, 0x3C02}, {0x1.ff8p-15, 0x03FF}, {0.1, 0x2E66}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (bn_half_from_double(known[i].value) != known[i].bits)
            fail_msg("%a is %04x, not %04x", known[i].value, bn_half_from_double(known[i].value),
                     known[i].bits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_numpy_writes),
        cmocka_unit_test(tells_what_is_damaged),
        cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(compares_floats_with_tolerance),
        cmocka_unit_test(compares_integers_exactly),
        cmocka_unit_test(halves_round_to_nearest_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
