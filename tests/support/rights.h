/*
 * rights.h - a process that goes on as a user without root's right to read all.
 */
#ifndef BENCH_TESTS_RIGHTS_H
#define BENCH_TESTS_RIGHTS_H

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/test_runtime.h"

/* For children of a test: WHAT is not looked at. */
static inline void give_up_rights(const void *what)
{
    (void)what;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};
    assert_int_equal(syscall(SYS_capset, &head, none), 0);
}

#endif
