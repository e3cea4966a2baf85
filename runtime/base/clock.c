/*
 * clock.c - the one clock of every measurement.
 *
 * CLOCK_MONOTONIC rather than CLOCK_MONOTONIC_RAW: the former is read without
 * a system call on every kernel we support, and its rate is the one that
 * profilers and other processes report in.
 */
#include "runtime/base/base.h"

#include <time.h>

uint64_t bn_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

void bn_wait_busily(uint64_t ns)
{
    for (uint64_t end = bn_now_ns() + ns; bn_now_ns() < end;)
        continue;
}
