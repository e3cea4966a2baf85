/* test_dtypes.c - the table of element types. Its PJRT numbers are compared with the header where
 * that may be included (runtime/pjrt/buffer.c). */
#include "tests/support/test_runtime.h"

static void names_and_numbers_are_of_one_type_each(void **state)
{
    for (bn_dtype d = 0; d < BN_DTYPE_COUNT; d++) {
        const bn_dtype_row *row = &bn_dtypes[d];
        assert_int_equal(bn_dtype_named(row->text, strlen(row->text), false, BN_DTYPE_COUNT), d);
        assert_int_equal(bn_dtype_named(row->hlo, strlen(row->hlo), true, BN_DTYPE_COUNT), d);
        assert_int_equal(bn_dtype_numbered(row->pjrt, false, BN_DTYPE_COUNT), d);
        assert_int_equal(bn_dtype_numbered(row->xla, true, BN_DTYPE_COUNT), d);
    }
}

static void what_is_not_among_the_first_is_not_found(void **state)
{
    assert_int_equal(bn_dtype_named("f64", 3, false, BN_DTYPES_OF_TRACES), BN_DTYPES_OF_TRACES);
    assert_int_equal(bn_dtype_named("f32x", 3, false, BN_DTYPES_OF_TRACES), BN_F32);
    assert_int_equal(bn_dtype_named("f", 1, false, BN_DTYPE_COUNT), BN_DTYPE_COUNT);
    assert_int_equal(bn_dtype_numbered(21, false, BN_DTYPES_OF_BUFFERS), BN_DTYPES_OF_BUFFERS);
    assert_int_equal(bn_dtype_numbered(INT64_MIN, true, BN_DTYPE_COUNT), BN_DTYPE_COUNT);
    assert_string_equal(bn_dtype_text(BN_DTYPE_COUNT), "?");
}

static void buffers_have_types_of_whole_bytes(void **state)
{
    for (bn_dtype d = 0; d < BN_DTYPE_COUNT; d++)
        assert_int_equal(bn_dtypes[d].bits % 8 == 0, d < BN_DTYPES_OF_BUFFERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_are_of_one_type_each),
        cmocka_unit_test(what_is_not_among_the_first_is_not_found),
        cmocka_unit_test(buffers_have_types_of_whole_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
