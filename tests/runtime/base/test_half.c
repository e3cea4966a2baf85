/*
 * test_half.c - f16 to and from double, over all 65536 values and all gaps between them.
 * Needs no plugin.
 */
#include "tests/support/test_runtime.h"

#include <math.h>

enum { INFINITE = 0x7C00, LARGEST = 0x7BFF, SIGN = 0x8000 };

static bool is_nan(uint16_t half)
{
    return (half & 0x7FFF) > INFINITE;
}

/* A half and a double are the same bit for bit: zeros have a sign, too. */
static void assert_pair(uint16_t half, double value)
{
    const double got = bn_half_to_double(half);
    if (memcmp(&got, &value, sizeof got) != 0)
        fail_msg("0x%04x is %a, not %a", half, got, value);
    if (bn_half_from_double(value) != half)
        fail_msg("%a is 0x%04x, not 0x%04x", value, bn_half_from_double(value), half);
}

/* Written down from IEEE 754-2019, table 3.5 and section 3.4. */
static void known_values_have_their_bits(void **state)
{
    (void)state;
    static const struct {
        uint16_t half;
        double value;
    } known[] = {
        {0x0000, 0},          {0x0001, 0x1p-24},
        {0x0002, 0x1p-23},    {0x03FF, 0x1.ff8p-15},
        {0x0400, 0x1p-14},    {0x0401, 0x1.004p-14},
        {0x3555, 0x1.554p-2}, {0x3800, 0.5},
        {0x3BFF, 0x1.ffcp-1}, {0x3C00, 1},
        {0x3C01, 0x1.004p0},  {0x4000, 2},
        {0x4248, 3.140625},   {0x6800, 2048},
        {0x7BFF, 65504},      {0x7C00, (double)INFINITY},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_pair(known[i].half, known[i].value);
        assert_pair(known[i].half | SIGN, -known[i].value);
    }
}

static void all_values_come_back(void **state)
{
    (void)state;
    int nans = 0;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        const uint16_t half = (uint16_t)bits;
        const double value = bn_half_to_double(half);
        nans += is_nan(half);
        assert_int_equal(isnan(value) != 0, is_nan(half));
        if (is_nan(half))
            assert_true(is_nan(bn_half_from_double(value)));
        else
            assert_pair(half, value);
    }
    assert_int_equal(nans, 2 * 1023);
}

/* Neighbours are one unit of the last place apart, which is 2^-24 up to twice the
 * smallest normal number and then doubles with each exponent. */
static void neighbours_are_one_unit_apart(void **state)
{
    (void)state;
    for (uint16_t half = 0; half < LARGEST; half++) {
        const int exponent = half >> 10 > 1 ? half >> 10 : 1;
        const double gap = bn_half_to_double((uint16_t)(half + 1)) - bn_half_to_double(half);
        assert_true(gap == ldexp(1, exponent - 25));
    }
}

static void assert_rounds(double value, uint16_t half)
{
    if (bn_half_from_double(value) != half || bn_half_from_double(-value) != (half | SIGN))
        fail_msg("%a rounds to 0x%04x, and its negative to 0x%04x; want 0x%04x", value,
                 bn_half_from_double(value), bn_half_from_double(-value), half);
}

/* In each gap: the middle goes to the even neighbour, all else to the nearer one. */
static void ties_go_to_even(void **state)
{
    (void)state;
    for (uint16_t half = 0; half <= LARGEST; half++) {
        const uint16_t next = (uint16_t)(half + 1);
        /* Behind the largest number there would be 65536, which is infinity's place. */
        const double above = half == LARGEST ? 65536 : bn_half_to_double(next);
        const double middle = (bn_half_to_double(half) + above) / 2;
        assert_rounds(nextafter(middle, 0), half);
        assert_rounds(middle, half % 2 ? next : half);
        assert_rounds(nextafter(middle, INFINITY), next);
    }
}

static void extremes_stay_what_they_are(void **state)
{
    (void)state;
    assert_rounds(0, 0);
    assert_rounds(0x1p-1074, 0);
    assert_rounds(0x1.fffffffffffffp1023, INFINITE);
    assert_rounds((double)INFINITY, INFINITE);
    assert_true(is_nan(bn_half_from_double((double)NAN)));
    assert_true(is_nan(bn_half_from_double(-(double)NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values_have_their_bits),  cmocka_unit_test(all_values_come_back),
        cmocka_unit_test(neighbours_are_one_unit_apart), cmocka_unit_test(ties_go_to_even),
        cmocka_unit_test(extremes_stay_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
