/*
 * options_fixture.h - command lines parsed in tests.
 */
#ifndef BENCH_OPTIONS_FIXTURE_H
#define BENCH_OPTIONS_FIXTURE_H

#include "harness/options.h"
#include "tests/support/test_runtime.h"

/* Of all that is parsed in one test. */
static bn_arena *memory;

static inline int begin(void **state)
{
    memory = bn_arena_new(4096);
    return memory ? 0 : -1;
}

static inline int end(void **state)
{
    bn_arena_free(memory);
    return 0;
}

static inline options parse(unsigned command, char **argv, int argc)
{
    options o;
    bn_status st = {0};
    const char *word[1];
    int words;
    assert_ok(options_parse(command, argc, argv, memory, &o, word, 1, &words, &st), &st);
    return o;
}

#endif
