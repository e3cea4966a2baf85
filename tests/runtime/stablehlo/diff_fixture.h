/*
 * diff_fixture.h - two graphs and what differs between them, for tests.
 */
#ifndef BENCH_TESTS_DIFF_FIXTURE_H
#define BENCH_TESTS_DIFF_FIXTURE_H

#include "tests/runtime/stablehlo/stablehlo_fixture.h"
#include "tests/support/sanitized.h"

#include <time.h>

typedef struct two {
    shlo_graph *a, *b;
    shlo_diff *d;
} two;

static inline two compare(const char *a, const char *b)
{
    bn_status st = {0};
    two t = {graph_of(a), graph_of(b), NULL};
    assert_ok(shlo_diff_make(t.a, t.b, &t.d, &st), &st);
    return t;
}

static inline void drop(two *t)
{
    shlo_diff_free(t->d);
    shlo_graph_free(t->a);
    shlo_graph_free(t->b);
}

static inline void assert_counts(const two *t, size_t changed, size_t added, size_t removed,
                                 size_t moved)
{
    const shlo_diff *d = t->d;
    if (d->changed != changed || d->added != added || d->removed != removed || d->moved != moved)
        fail_msg("%zu changed, %zu added, %zu removed, %zu moved; want %zu, %zu, %zu, %zu",
                 d->changed, d->added, d->removed, d->moved, changed, added, removed, moved);
    assert_int_equal(d->count, changed + added + removed);
}

#define HEAD(types)                                                                                \
    "module @a {\n  func.func public @main(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> "    \
    "(" types ") {\n"
#define TAIL "  }\n}\n"
#define F    "tensor<2x3xf32>"

/* TEXT with the first FROM replaced by TO; the caller frees it. */
static inline char *with(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char *made = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(at);
    assert_non_null(made);
    sprintf(made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return made;
}

/* Processor time, and the shortest of several: whatever else the machine does counts little. */
static inline double least_ms(const char *a, const char *b)
{
    double least = 1e9;
    for (int i = 0; i < 7; i++) {
        struct timespec before, after;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        two t = compare(a, b);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        drop(&t);
        const double ms = 1e3 * (double)(after.tv_sec - before.tv_sec) +
                          1e-6 * (double)(after.tv_nsec - before.tv_nsec);
        least = ms < least ? ms : least;
    }
    return least;
}

/* Reading both texts counts, too. */
#define MOST_MS (SLOWED ? 2000 : 100)

#endif
