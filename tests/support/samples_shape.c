/* samples_shape.c - samples of ops that move data, of reductions and windows. */
#include "tests/support/samples.h"

static void to_ints(const int64_t *list, int *out)
{
    for (int i = 0; i < TG_MAX_RANK; i++)
        out[i] = (int)list[i];
}

/* ---- movement of data -------------------------------------------------------------- */

static tg_tensor *reshape(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_reshape(t, x[0], s->type.rank, s->type.dims);
}

/* list[0]: the permutation */
static tg_tensor *transpose(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    int permutation[TG_MAX_RANK];
    to_ints(s->list[0], permutation);
    return tg_transpose(t, x[0], permutation);
}

/* list[0]: the mapping */
static tg_tensor *broadcast(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    int map[TG_MAX_RANK];
    to_ints(s->list[0], map);
    return tg_broadcast(t, x[0], s->type.rank, s->type.dims, map);
}

static tg_tensor *reverse(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_reverse(t, x[0], s->axes);
}

/* list: start, limit, stride */
static tg_tensor *slice(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_slice(t, x[0], s->list[0], s->list[1], s->list[2]);
}

/* list: low, high, interior */
static tg_tensor *pad(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_pad(t, x[0], x[1], s->list[0], s->list[1], s->list[2]);
}

static tg_tensor *concatenate(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_concatenate(t, x, s->count, s->number);
}

/* Operands of default range. */
#define ONE(...) .count = 1, .in = {{TYPE(__VA_ARGS__), 0, 0, false}}
#define PADDED(type_, dtype_)                                                                      \
    .count = 2, .in = {{type_, 0, 0, false}, {TYPE(dtype_, 0, 0), 0, 0, false}}
#define TWO(a, b) .count = 2, .in = {{a, 0, 0, false}, {b, 0, 0, false}}

/* ---- reductions ---------------------------------------------------------------------- */

static tg_tensor *reduce(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return s->reduction(t, x[0], s->axes);
}

#define REDUCE(op_, dtype_, axes_)                                                                 \
    {                                                                                              \
        .op = #op_, ONE(dtype_, 3, 3, 4, 2), .flops = 24, .build = reduce, .reduction = tg_##op_,  \
        .axes = axes_                                                                              \
    }

/* ---- windows ------------------------------------------------------------------------- */

static tg_tensor *windowed(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return s->windowed(t, x[0], &s->window);
}

static tg_tensor *cumsum(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_cumsum(t, x[0], s->number);
}

static tg_tensor *scatter(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    return tg_select_and_scatter(t, x[0], x[1], &s->window);
}

/* Overlapping windows of 3 x 3 at every second place of an (N, H, W, C) image,
 * unevenly padded: 7 x 6 to 4 x 3. */
#define OVERLAPPING                                                                                \
    {                                                                                              \
        .size = {1, 3, 3, 1}, .stride = {1, 2, 2, 1}, .pad_low = {0, 1, 1, 0}, .pad_high = {       \
            0,                                                                                     \
            1,                                                                                     \
            0,                                                                                     \
            0                                                                                      \
        }                                                                                          \
    }
/* Windows side by side in an (N, C, H, W) image; the last row does not fill one:
 * 5 x 4 to 2 x 2. */
#define SEPARATE                                                                                   \
    {                                                                                              \
        .size = {1, 1, 2, 2}, .stride = { 1, 1, 2, 2 }                                             \
    }
#define WINDOW_OVERLAPPING(op_, dtype_)                                                            \
    {                                                                                              \
        .op = #op_, ONE(dtype_, 4, 2, 7, 6, 2), .flops = 2 * 4 * 3 * 2 * 9, .build = windowed,     \
        .windowed = tg_##op_, .window = OVERLAPPING                                                \
    }
#define WINDOW_SEPARATE(op_, dtype_)                                                               \
    {                                                                                              \
        .op = #op_, ONE(dtype_, 4, 1, 2, 5, 4), .flops = 2 * 2 * 2 * 4, .build = windowed,         \
        .windowed = tg_##op_, .window = SEPARATE                                                   \
    }

const sample samples_shape[] = {
    {.op = "reshape", ONE(TG_F32, 3, 2, 3, 4), .build = reshape, .type = TYPE(TG_F32, 2, 6, 4)},
    {.op = "reshape", ONE(TG_F32, 2, 1, 1), .build = reshape, .type = TYPE(TG_F32, 0, 0)},
    {.op = "reshape", ONE(TG_I32, 0, 0), .build = reshape, .type = TYPE(TG_I32, 2, 1, 1)},
    {.op = "reshape", ONE(TG_BOOL, 1, 6), .build = reshape, .type = TYPE(TG_BOOL, 2, 3, 2)},
    {.op = "transpose", ONE(TG_F32, 2, 3, 4), .build = transpose, .list = {{1, 0}}},
    {.op = "transpose", ONE(TG_F32, 4, 2, 3, 4, 5), .build = transpose, .list = {{2, 0, 3, 1}}},
    {.op = "transpose", ONE(TG_BF16, 3, 2, 3, 4), .build = transpose, .list = {{2, 0, 1}}},
    {.op = "transpose",
     ONE(TG_F16, 6, 2, 1, 3, 2, 1, 2),
     .build = transpose,
     .list = {{5, 3, 1, 0, 2, 4}}},
    {.op = "broadcast", ONE(TG_F32, 0, 0), .build = broadcast, .type = TYPE(TG_F32, 2, 2, 3)},
    {.op = "broadcast",
     ONE(TG_F32, 1, 3),
     .build = broadcast,
     .type = TYPE(TG_F32, 3, 2, 3, 4),
     .list = {{1}}},
    {.op = "broadcast",
     ONE(TG_F32, 3, 2, 1, 3),
     .build = broadcast,
     .type = TYPE(TG_F32, 4, 5, 2, 4, 3),
     .list = {{1, 2, 3}}},
    {.op = "broadcast",
     ONE(TG_F32, 2, 1, 1),
     .build = broadcast,
     .type = TYPE(TG_F32, 2, 1, 3),
     .list = {{0, 1}}},
    /* Attention, (B, H, T, S): a mask for every batch and head; a row's maximum. */
    {.op = "broadcast",
     ONE(TG_F32, 2, 4, 5),
     .build = broadcast,
     .type = TYPE(TG_F32, 4, 2, 3, 4, 5),
     .list = {{2, 3}}},
    {.op = "broadcast",
     ONE(TG_F32, 3, 2, 3, 4),
     .build = broadcast,
     .type = TYPE(TG_F32, 4, 2, 3, 4, 5),
     .list = {{0, 1, 2}}},
    {.op = "broadcast",
     ONE(TG_U8, 1, 3),
     .build = broadcast,
     .type = TYPE(TG_U8, 2, 3, 2),
     .list = {{0}}},
    {.op = "reverse", ONE(TG_F32, 3, 2, 3, 4), .build = reverse, .axes = 6},
    {.op = "reverse", ONE(TG_I64, 2, 3, 4), .build = reverse, .axes = 1},
    {.op = "reverse", ONE(TG_F32, 1, 4), .build = reverse, .axes = 0},

    {.op = "slice", ONE(TG_F32, 2, 5, 6), .build = slice, .list = {{1, 0}, {4, 6}, {1, 1}}},
    {.op = "slice", ONE(TG_F32, 2, 7, 6), .build = slice, .list = {{1, 2}, {7, 5}, {2, 3}}},
    {.op = "slice", ONE(TG_F32, 2, 3, 4), .build = slice, .list = {{1, 2}, {1, 4}, {1, 1}}},
    {.op = "slice", ONE(TG_F32, 0, 0), .build = slice},
    {.op = "slice", ONE(TG_BOOL, 1, 9), .build = slice, .list = {{1}, {9}, {4}}},
    {.op = "pad",
     PADDED(TYPE(TG_F32, 2, 3, 4), TG_F32),
     .build = pad,
     .list = {{1, 0}, {0, 2}, {0, 0}}},
    {.op = "pad",
     PADDED(TYPE(TG_F32, 2, 3, 4), TG_F32),
     .build = pad,
     .list = {{2, 1}, {1, 0}, {1, 2}}},
    {.op = "pad",
     PADDED(TYPE(TG_F32, 2, 5, 4), TG_F32),
     .build = pad,
     .list = {{-2, 3}, {1, -2}, {0, 1}}},
    {.op = "pad", PADDED(TYPE(TG_BF16, 1, 4), TG_BF16), .build = pad, .list = {{-1}, {-1}, {2}}},
    {.op = "pad",
     PADDED(TYPE(TG_I32, 2, 2, 2), TG_I32),
     .build = pad,
     .list = {{1, 1}, {1, 1}, {0, 1}}},
    {.op = "concatenate",
     TWO(TYPE(TG_F32, 2, 2, 3), TYPE(TG_F32, 2, 2, 4)),
     .build = concatenate,
     .number = 1},
    {.op = "concatenate",
     .count = 3,
     .in = {{TYPE(TG_F32, 2, 1, 3), 0, 0, false},
            {TYPE(TG_F32, 2, 0, 3), 0, 0, false},
            {TYPE(TG_F32, 2, 2, 3), 0, 0, false}},
     .build = concatenate},
    {.op = "concatenate", TWO(TYPE(TG_I32, 1, 2), TYPE(TG_I32, 1, 3)), .build = concatenate},
    {.op = "concatenate", ONE(TG_F16, 1, 2), .build = concatenate},

    REDUCE(reduce_sum, TG_F32, 5),
    REDUCE(reduce_sum, TG_F32, 7),
    REDUCE(reduce_sum, TG_F32, 0),
    REDUCE(reduce_sum, TG_BF16, 1),
    REDUCE(reduce_sum, TG_F16, 6),
    REDUCE(reduce_sum, TG_I32, 2),
    REDUCE(reduce_sum, TG_I64, 3),
    {.op = "reduce_sum",
     ONE(TG_F32, 4, 2, 3, 2, 5),
     .flops = 60,
     .build = reduce,
     .reduction = tg_reduce_sum_apart,
     .axes = 6},
    REDUCE(reduce_max, TG_F32, 5),
    REDUCE(reduce_max, TG_F32, 7),
    REDUCE(reduce_max, TG_F32, 2),
    REDUCE(reduce_max, TG_F32, 0),
    REDUCE(reduce_max, TG_BF16, 4),
    REDUCE(reduce_max, TG_F16, 4),
    {.op = "reduce_max",
     ONE(TG_F32, 4, 2, 3, 4, 5),
     .flops = 120,
     .build = reduce,
     .reduction = tg_reduce_max,
     .axes = 8},
    REDUCE(reduce_max, TG_I32, 3),
    REDUCE(reduce_max, TG_U8, 3),
    REDUCE(reduce_min, TG_F32, 6),
    REDUCE(reduce_min, TG_F32, 7),
    REDUCE(reduce_min, TG_BF16, 1),
    REDUCE(reduce_min, TG_I64, 7),
    REDUCE(reduce_min, TG_I8, 5),
    REDUCE(reduce_min, TG_U32, 1),
    REDUCE(reduce_max, TG_U64, 1),
    /* Nothing to reduce: the neutral element itself. */
    {.op = "reduce_sum",
     ONE(TG_F32, 2, 0, 2),
     .build = reduce,
     .reduction = tg_reduce_sum,
     .axes = 1},
    {.op = "reduce_max",
     ONE(TG_F32, 2, 0, 2),
     .build = reduce,
     .reduction = tg_reduce_max,
     .axes = 1},
    {.op = "reduce_max",
     ONE(TG_BF16, 2, 0, 2),
     .build = reduce,
     .reduction = tg_reduce_max,
     .axes = 1},
    {.op = "reduce_min",
     ONE(TG_F16, 2, 0, 2),
     .build = reduce,
     .reduction = tg_reduce_min,
     .axes = 1},
    {.op = "reduce_min",
     ONE(TG_U32, 2, 0, 2),
     .build = reduce,
     .reduction = tg_reduce_min,
     .axes = 1},
    {.op = "reduce_max",
     ONE(TG_I32, 2, 0, 2),
     .build = reduce,
     .reduction = tg_reduce_max,
     .axes = 1},

    WINDOW_OVERLAPPING(window_max, TG_F32),
    WINDOW_OVERLAPPING(window_max, TG_BF16),
    WINDOW_SEPARATE(window_max, TG_F32),
    WINDOW_SEPARATE(window_max, TG_F16),
    WINDOW_SEPARATE(window_max, TG_I32),
    {.op = "window_max",
     ONE(TG_F32, 1, 9),
     .flops = 7 * 3,
     .build = windowed,
     .windowed = tg_window_max,
     .window = {.size = {3}, .stride = {1}}},
    WINDOW_OVERLAPPING(window_sum, TG_F32),
    WINDOW_OVERLAPPING(window_sum, TG_F16),
    WINDOW_SEPARATE(window_sum, TG_F32),
    WINDOW_SEPARATE(window_sum, TG_BF16),
    WINDOW_SEPARATE(window_sum, TG_I32),
    /* Windows apart, and some wholly in the padding. */
    {.op = "window_sum",
     ONE(TG_F32, 2, 8, 3),
     .flops = 3 * 7 * 4,
     .build = windowed,
     .windowed = tg_window_sum,
     .window = {.size = {2, 2}, .stride = {3, 1}, .pad_low = {0, 3}, .pad_high = {1, 2}}},
    /* None fits. */
    {.op = "window_sum",
     ONE(TG_F32, 1, 2),
     .flops = 0,
     .build = windowed,
     .windowed = tg_window_sum,
     .window = {.size = {3}, .stride = {1}}},
    /* Running sums: an operation an element. */
    {.op = "window_sum", ONE(TG_F32, 3, 2, 5, 3), .flops = 30, .build = cumsum, .number = 1},
    {.op = "window_sum",
     .count = 1, /* all of one sign: nothing cancels */
     .in = {{TYPE(TG_F32, 1, 300), 0.1, 1, false}},
     .flops = 300,
     .build = cumsum},
    {.op = "window_sum", ONE(TG_BF16, 2, 2, 5), .flops = 10, .build = cumsum, .number = 1},
    {.op = "window_sum", ONE(TG_I32, 2, 5, 3), .flops = 15, .build = cumsum},
    {.op = "window_sum", ONE(TG_F32, 2, 0, 3), .build = cumsum},
    {.op = "select_and_scatter",
     TWO(TYPE(TG_F32, 4, 2, 7, 6, 2), TYPE(TG_F32, 4, 2, 4, 3, 2)),
     .flops = 2 * 4 * 3 * 2 * 9,
     .build = scatter,
     .window = OVERLAPPING},
    /* The first of equals, also where the padding comes first. */
    {.op = "select_and_scatter",
     .count = 2,
     .in = {{TYPE(TG_F32, 4, 2, 7, 6, 2), -1, 1, true}, {TYPE(TG_F32, 4, 2, 4, 3, 2), 0, 0, false}},
     .flops = 2 * 4 * 3 * 2 * 9,
     .build = scatter,
     .window = OVERLAPPING},
    {.op = "select_and_scatter",
     TWO(TYPE(TG_BF16, 4, 1, 2, 5, 4), TYPE(TG_BF16, 4, 1, 2, 2, 2)),
     .flops = 2 * 2 * 2 * 4,
     .build = scatter,
     .window = SEPARATE},
    {.op = NULL},
};
