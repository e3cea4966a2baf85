/*
 * client_fixture.h - a client of the default runtime for all tests of a program.
 */
#ifndef BENCH_CLIENT_FIXTURE_H
#define BENCH_CLIENT_FIXTURE_H

#include "tests/support/test_runtime.h"

static rt_client *client;

static inline int group_setup(void **state)
{
    (void)state;
    client = default_client();
    return 0;
}

static inline int group_teardown(void **state)
{
    (void)state;
    rt_client_destroy(client);
    assert_nothing_live();
    return 0;
}

#endif
