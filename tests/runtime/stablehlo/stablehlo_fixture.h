/*
 * stablehlo_fixture.h - graphs of texts that stand in tests.
 */
#ifndef BENCH_TESTS_STABLEHLO_FIXTURE_H
#define BENCH_TESTS_STABLEHLO_FIXTURE_H

#include "runtime/stablehlo/stablehlo_priv.h"
#include "tests/support/test_runtime.h"

#include <stdio.h>
#include <stdlib.h>

static inline shlo_graph *graph_of(const char *text)
{
    bn_status st = {0};
    shlo_graph *g = NULL;
    assert_ok(shlo_graph_read(text, strlen(text), &g, &st), &st);
    assert_non_null(g);
    return g;
}

static inline bool piece_is(shlo_piece piece, const char *text)
{
    return piece.length == strlen(text) &&
           (piece.length == 0 || memcmp(piece.at, text, piece.length) == 0);
}

#define assert_piece(piece_, text_)                                                                \
    do {                                                                                           \
        const shlo_piece got_ = (piece_);                                                          \
        if (!piece_is(got_, (text_)))                                                              \
            fail_msg("%s is '%.*s', not '%s'", #piece_, (int)got_.length, got_.at, (text_));       \
    } while (0)

#endif
