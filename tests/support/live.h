/*
 * live.h - whether a test judges how long things take at most. make check does not: it runs tests
 * next to others. make check-full runs the tests that ask for this one by one (tests/run.sh), like
 * `live` of cli.sh.
 */
#ifndef BENCH_TESTS_LIVE_H
#define BENCH_TESTS_LIVE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool judges_times(void)
{
    const char *live = getenv("BENCH_TEST_LIVE");
    return live && strcmp(live, "yes") == 0;
}

#endif
