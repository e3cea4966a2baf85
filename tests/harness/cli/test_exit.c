/* test_exit.c - failures have exit codes. */
#include "harness/cli/cli.h"
#include "tests/support/test_runtime.h"

static void failures_have_exit_codes(void **state)
{
    (void)state;
    assert_int_equal(cli_exit_for(BN_OK), 0);
    assert_int_equal(cli_exit_for(BN_INVALID), 2);
    assert_int_equal(cli_exit_for(BN_IO), 3);
    assert_int_equal(cli_exit_for(BN_PLUGIN), 3);
    assert_int_equal(cli_exit_for(BN_CRASH), 1);
    assert_int_equal(cli_exit_for(BN_CANCELLED), 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_have_exit_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
