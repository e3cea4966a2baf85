/* samples_index.c - samples of ops whose places are data, of the largest elements
 * and of random bits. */
#include "tests/support/samples.h"

/* ---- rows by number -------------------------------------------------------------- */

static tg_tensor *gather_rows(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_gather_rows(t, x[0], x[1]);
}

static tg_tensor *scatter_add_rows(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_scatter_add_rows(t, x[0], x[1], x[2]);
}

/* Row numbers from LOW to HIGH, some of them more than once. */
#define GATHER(x, ids, low_, high_)                                                                \
    {                                                                                              \
        .op = "gather_rows", .count = 2, .in = {{x, 0, 0, false}, {ids, low_, high_, false}},      \
        .build = gather_rows                                                                       \
    }
#define SCATTER(x, ids, low_, high_, updates, flops_)                                              \
    {                                                                                              \
        .op = "scatter_add_rows", .count = 3,                                                      \
        .in = {{x, 0, 0, false}, {ids, low_, high_, false}, {updates, 0, 0, false}},               \
        .flops = flops_, .build = scatter_add_rows                                                 \
    }

/* ---- parts with a computed start ----------------------------------------------------- */

/* list[0]: sizes */
static tg_tensor *dynamic_slice(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_dynamic_slice(t, x[0], x + 1, s->list[0]);
}

static tg_tensor *dynamic_update_slice(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_dynamic_update_slice(t, x[0], x[1], x + 2);
}

static tg_tensor *dynamic_update_slice_apart(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_dynamic_update_slice_apart(t, x[0], x[1], x + 2);
}

/* A start: the only number of its range (the middle of the default one is 0). */
#define START(dtype_, value_)                                                                      \
    {                                                                                              \
        TYPE(dtype_, 0, 0), value_, value_, false                                                  \
    }

/* ---- the largest elements ---------------------------------------------------------------- */

static tg_tensor *top_k(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    tg_tensor *indices;
    return tg_top_k(t, x[0], s->number, &indices);
}

#define TOP_K(k_, flops_, ...)                                                                     \
    {                                                                                              \
        .op = "top_k", .count = 1, .in = {{TYPE(__VA_ARGS__), 0, 0, false}}, .flops = flops_,      \
        .build = top_k, .number = k_                                                               \
    }

/* ---- random bits -------------------------------------------------------------------------- */

static tg_tensor *random_bits(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    tg_tensor *state;
    tg_random_bits(t, x[0], &s->type, &state);
    return state;
}

const sample samples_index[] = {
    GATHER(TYPE(TG_F32, 2, 5, 3), TYPE(TG_I32, 2, 2, 4), 0, 4),
    /* Some before the first row, some after the last. */
    GATHER(TYPE(TG_F32, 2, 5, 3), TYPE(TG_I32, 1, 7), -3, 8),
    GATHER(TYPE(TG_F32, 3, 4, 2, 3), TYPE(TG_U32, 1, 5), 0, 9),
    GATHER(TYPE(TG_F32, 1, 6), TYPE(TG_I64, 2, 2, 3), 0, 5),
    GATHER(TYPE(TG_F32, 2, 5, 3), TYPE(TG_I32, 0, 0), 2, 2),
    GATHER(TYPE(TG_F32, 1, 5), TYPE(TG_I32, 0, 0), 2, 2),
    GATHER(TYPE(TG_BF16, 2, 5, 3), TYPE(TG_I32, 1, 7), 0, 4),
    GATHER(TYPE(TG_I32, 2, 5, 3), TYPE(TG_U64, 1, 4), 0, 4),
    GATHER(TYPE(TG_BOOL, 2, 5, 3), TYPE(TG_I32, 1, 4), 0, 4),
    GATHER(TYPE(TG_F32, 2, 5, 3), TYPE(TG_I32, 1, 0), 0, 4),
    SCATTER(TYPE(TG_F32, 2, 5, 3), TYPE(TG_I32, 2, 2, 4), 0, 4, TYPE(TG_F32, 3, 2, 4, 3), 24),
    SCATTER(TYPE(TG_F32, 2, 5, 3), TYPE(TG_I32, 1, 7), -3, 8, TYPE(TG_F32, 2, 7, 3), 21),
    SCATTER(TYPE(TG_F32, 3, 4, 2, 3), TYPE(TG_U32, 1, 5), 0, 9, TYPE(TG_F32, 3, 5, 2, 3), 30),
    SCATTER(TYPE(TG_F32, 1, 6), TYPE(TG_I64, 2, 2, 3), 0, 5, TYPE(TG_F32, 2, 2, 3), 6),
    SCATTER(TYPE(TG_F32, 2, 5, 3), TYPE(TG_I32, 0, 0), 2, 2, TYPE(TG_F32, 1, 3), 3),
    SCATTER(TYPE(TG_BF16, 2, 5, 3), TYPE(TG_I32, 1, 4), 0, 4, TYPE(TG_BF16, 2, 4, 3), 12),
    SCATTER(TYPE(TG_I32, 2, 5, 3), TYPE(TG_I32, 1, 7), 0, 4, TYPE(TG_I32, 2, 7, 3), 21),

    {.op = "dynamic_slice",
     .count = 3,
     .in = {{TYPE(TG_F32, 2, 5, 6), 0, 0, false}, START(TG_I32, 1), START(TG_I32, 3)},
     .build = dynamic_slice,
     .list = {{2, 3}}},
    /* Moved inside at both ends. */
    {.op = "dynamic_slice",
     .count = 4,
     .in = {{TYPE(TG_F32, 3, 5, 6, 2), 0, 0, false},
            START(TG_I64, -2),
            START(TG_I64, 5),
            START(TG_I64, 0)},
     .build = dynamic_slice,
     .list = {{2, 3, 2}}},
    {.op = "dynamic_slice",
     .count = 2,
     .in = {{TYPE(TG_I32, 1, 9), 0, 0, false}, START(TG_U32, 4)},
     .build = dynamic_slice,
     .list = {{1}}},
    {.op = "dynamic_update_slice",
     .count = 4,
     .in = {{TYPE(TG_F32, 2, 5, 6), 0, 0, false},
            {TYPE(TG_F32, 2, 2, 3), 0, 0, false},
            START(TG_I32, 1),
            START(TG_I32, 3)},
     .build = dynamic_update_slice},
    {.op = "dynamic_update_slice",
     .count = 5,
     .in = {{TYPE(TG_F32, 3, 5, 6, 2), 0, 0, false},
            {TYPE(TG_F32, 3, 2, 3, 2), 0, 0, false},
            START(TG_I64, -2),
            START(TG_I64, 5),
            START(TG_I64, 0)},
     .build = dynamic_update_slice},
    {.op = "dynamic_update_slice",
     .count = 3,
     .in = {{TYPE(TG_BF16, 1, 9), 0, 0, false},
            {TYPE(TG_BF16, 1, 4), 0, 0, false},
            START(TG_I32, 2)},
     .build = dynamic_update_slice},
    {.op = "dynamic_update_slice",
     .count = 5,
     .in = {{TYPE(TG_F32, 3, 2, 5, 3), 0, 0, false},
            {TYPE(TG_F32, 3, 2, 1, 3), 0, 0, false},
            START(TG_I32, 0),
            START(TG_I32, 3),
            START(TG_I32, 0)},
     .build = dynamic_update_slice_apart},

    TOP_K(2, 30, TG_F32, 2, 5, 6),
    TOP_K(4, 24, TG_F32, 3, 2, 3, 4),
    TOP_K(1, 9, TG_F32, 1, 9),
    TOP_K(3, 70, TG_BF16, 2, 7, 10),
    TOP_K(3, 33, TG_F16, 2, 3, 11),
    TOP_K(0, 6, TG_F32, 1, 6),
    /* Many equal, zeros of both signs among them. */
    {.op = "top_k",
     .count = 1,
     .in = {{TYPE(TG_F32, 2, 3, 40), -1, 1, true}},
     .flops = 120,
     .build = top_k,
     .number = 25},
    TOP_K(5, 60, TG_I32, 2, 3, 20),
    TOP_K(5, 60, TG_U8, 2, 3, 20),

    {.op = "random_bits",
     .count = 1,
     .in = {{TYPE(TG_U64, 1, 2), 0, 0, false}},
     .judged_by = "test_random",
     .build = random_bits,
     .type = TYPE(TG_U32, 2, 3, 4)},
    {.op = NULL},
};
