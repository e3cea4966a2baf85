/*
 * trace_fixture.h - a trace and a few variables for each test of a group.
 */
#ifndef BENCH_TESTS_TRACE_FIXTURE_H
#define BENCH_TESTS_TRACE_FIXTURE_H

#include "runtime/graph/trace_priv.h"
#include "tests/support/test_runtime.h"

#include <stdlib.h>

/* A and B are (2, 3), C is (3, 2); all f32. */
typedef struct fixture {
    tg_trace *t;
    tg_tensor *a, *b, *c;
} fixture;

static tg_tensor *variable(const char *name, tg_dtype dtype, int64_t rows, int64_t columns)
{
    tg_type type = tg_type_make(dtype, 2, TG_DIMS(rows, columns));
    tg_tensor *v = tg_variable_new(name, &type);
    assert_non_null(v);
    return v;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->t = tg_trace_new();
    assert_non_null(f->t);
    f->a = variable("a", TG_F32, 2, 3);
    f->b = variable("b", TG_F32, 2, 3);
    f->c = variable("c", TG_F32, 3, 2);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    tg_variable_free(f->a);
    tg_variable_free(f->b);
    tg_variable_free(f->c);
    tg_trace_free(f->t);
    free(f);
    return 0;
}

static void assert_sound(const tg_trace *t)
{
    bn_status st = {0};
    assert_ok(tg_trace_status(t, &st), &st);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
