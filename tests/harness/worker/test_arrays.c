/*
 * test_arrays.c - elements of arrays as numbers: what differs, and by how much.
 */
#include "tests/support/test_runtime.h"

#include "harness/worker/arrays_priv.h"

#include <float.h>
#include <math.h>

#define DIFFERENCE(dtype, got, want, rtol, atol)                                                   \
    worker_arrays_compare(dtype, got, want, sizeof(got), rtol, atol)

static void compares_floats_with_tolerance(void **state)
{
    (void)state;
    const float want[] = {1, -100, 0, NAN, INFINITY, 5};
    const float near[] = {1.00001f, -100.001f, 1e-9f, NAN, INFINITY, 5};
    const float far[] = {1.1f, -100, 0, 0, -INFINITY, NAN};
    worker_array_difference d = DIFFERENCE(BN_F32, near, want, 1e-4, 1e-8);
    assert_int_equal(d.count, 0);
    assert_int_equal(d.of, 6);
    d = DIFFERENCE(BN_F32, near, want, 0, 1e-8);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.worst, 1);
    d = DIFFERENCE(BN_F32, far, want, 1e-4, 1e-8);
    assert_int_equal(d.count, 4);
    const uint16_t bf16[] = {0x3F80, 0x4000}, bf16_off[] = {0x3F80, 0x4001}; /* 1, 2, 2.015625 */
    d = DIFFERENCE(BN_BF16, bf16_off, bf16, 0, 0.01);
    assert_int_equal(d.count, 1);
    assert_true(d.got == 2.015625 && d.want == 2.0 && d.worst == 1);
    assert_int_equal(DIFFERENCE(BN_BF16, bf16_off, bf16, 0, 0.02).count, 0);
    const uint16_t half[] = {0x3C00, 0x0001, 0x7BFF}, half_off[] = {0x3C01, 0x0000, 0x7BFF};
    d = DIFFERENCE(BN_F16, half_off, half, 0, 1e-4);
    assert_int_equal(d.count, 1);
    assert_true(d.want == 1.0 && d.got == 1.0009765625);
    const double complex_want[] = {1, 2, 3, 4}, complex_got[] = {1, 2, 3.5, 5};
    d = DIFFERENCE(BN_C128, complex_got, complex_want, 0, 0.1);
    assert_int_equal(d.count, 1); /* both parts of one number */
    assert_int_equal(d.of, 2);
    assert_int_equal(d.worst, 1);
    assert_true(d.want == 4);
}

static void compares_integers_exactly(void **state)
{
    (void)state;
    const int64_t a[] = {INT64_MAX, -1, 0}, b[] = {INT64_MAX - 1, -1, 0};
    worker_array_difference d = DIFFERENCE(BN_S64, a, b, 1, 1e9);
    assert_int_equal(d.count, 1);
    assert_int_equal(d.worst, 0);
    const int8_t c[] = {-128, 5}, e[] = {-127, 5};
    d = DIFFERENCE(BN_S8, c, e, 1, 1);
    assert_true(d.count == 1 && d.got == -128 && d.want == -127);
    const uint8_t t[] = {1, 0}, f[] = {1, 1};
    assert_int_equal(DIFFERENCE(BN_PRED, t, f, 1, 1).count, 1);
    assert_int_equal(DIFFERENCE(BN_PRED, t, t, 0, 0).count, 0);
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
        cmocka_unit_test(compares_floats_with_tolerance),
        cmocka_unit_test(compares_integers_exactly),
        cmocka_unit_test(halves_round_to_nearest_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
