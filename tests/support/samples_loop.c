/* samples_loop.c - samples of loops: carried values, stacks that they read and fill,
 * values that they capture, both directions. */
#include "tests/support/samples.h"

/* A value that the body captures, and the kind of loop. */
typedef struct loop_of {
    tg_tensor *captured;
    int kind;
} loop_of;

enum { HANDS_ON, FILLS, COUNTS };

/* x' = tanh(x * w_i) + c, and of FILLS the stack of x' * w_i; COUNTS hands an integer on, too. */
static void round_of(tg_trace *round, void *context, tg_tensor *const *carried,
                     tg_tensor *const *slices, tg_tensor **next, tg_tensor **out)
{
    const loop_of *l = context;
    if (l->kind == FILLS) {
        out[0] = tg_mul(round, tg_exp(round, slices[0]), l->captured);
        return;
    }
    tg_tensor *scaled = tg_mul(round, carried[0], slices[0]);
    next[0] = tg_add(round, tg_tanh(round, scaled), l->captured);
    out[0] = tg_mul(round, next[0], slices[0]);
    if (l->kind == COUNTS)
        next[1] = tg_add(round, carried[1], tg_scalar(round, TG_I32, 1.0));
}

/* X: what is carried, COUNT of them, a stack, what is captured. */
static tg_tensor *loop(tg_trace *t, tg_tensor *const *x, const sample *s)
{
    const size_t carried = s->count - 2;
    tg_tensor *results[3];
    loop_of l = {.captured = x[s->count - 1], .kind = (int)s->list[0][0]};
    const tg_loop how = {.length = tg_tensor_type(x[carried])->dims[0],
                         .reverse = s->number != 0,
                         .carried = x,
                         .stacked = x + carried,
                         .carried_count = carried,
                         .stacked_count = 1,
                         .outs = 1,
                         .body = round_of,
                         .context = &l};
    tg_scan(t, &how, results);
    return results[0];
}

/* ROUNDS iterations, REVERSED or not. Four operations an element in each iteration. */
#define SCAN(rounds_, reversed_)                                                                   \
    {                                                                                              \
        .op = "scan", .count = 3,                                                                  \
        .in = {{TYPE(TG_F32, 1, 3), 0, 0, false},                                                  \
               {TYPE(TG_F32, 2, rounds_, 3), 0, 0, false},                                         \
               {TYPE(TG_F32, 1, 3), 0, 0, false}},                                                 \
        .flops = 4.0 * 3 * (rounds_), .build = loop, .number = reversed_, .list = {                \
            {HANDS_ON}                                                                             \
        }                                                                                          \
    }

const sample samples_loop[] = {
    SCAN(4, 0),
    SCAN(4, 1),
    SCAN(1, 0),
    /* Nothing is carried; parts are scalars. */
    {.op = "scan",
     .count = 2,
     .in = {{TYPE(TG_F32, 1, 5), 0, 0, false}, {TYPE(TG_F32, 0, 0), 0.5, 0.75, false}},
     .flops = 2.0 * 5,
     .build = loop,
     .list = {{FILLS}}},
    /* An integer is carried, which has no gradient. */
    {.op = "scan",
     .count = 4,
     .in = {{TYPE(TG_F32, 2, 2, 3), 0, 0, false},
            {TYPE(TG_I32, 0, 0), 5, 5, false},
            {TYPE(TG_F32, 3, 4, 2, 3), 0, 0, false},
            {TYPE(TG_F32, 2, 2, 3), 0, 0, false}},
     .flops = 4.0 * (4 * 6) + 4.0,
     .build = loop,
     .number = 1,
     .list = {{COUNTS}}},
    {.op = NULL},
};
