/*
 * device_fixture.h - a group's one client on the default runtime: for
 * cmocka_run_group_tests.
 */
#ifndef BENCH_TESTS_DEVICE_FIXTURE_H
#define BENCH_TESTS_DEVICE_FIXTURE_H

#include "tests/support/device.h"
#include "tests/support/test_runtime.h"

static rt_client *client;

static int group_setup(void **state)
{
    bn_status st = {0};
    if (device_open(&client, &st) == BN_OK)
        return 0;
    print_error("%s\n", st.message);
    return -1;
}

static int group_teardown(void **state)
{
    rt_client_destroy(client);
    assert_nothing_live();
    return 0;
}

#endif
