/*
 * rows.c - examples over rows: the loss read in each step or seldom, rows chosen by an op that the
 * host computes or by a mask, batches of another dtype, training and evaluation in turns, and a
 * learning rate in the graph or as its argument.
 */
#include "models/examples/net_priv.h"

#include <math.h>
#include <stddef.h>

/* ---- a loss that is read ---------------------------------------------------------- */

/* "print(loss.item())". */
static void read_loss(tg_trace *t, tg_tensor *loss)
{
    float value;
    tg_scope_push(t, "log");
    tg_read(t, loss, &value, sizeof value);
    if (!isfinite(value))
        tg_trace_fail(t, BN_WRONG_RESULT, "the loss is no number");
    tg_scope_pop(t);
}

/* ---- an op of the host ------------------------------------------------------------- */

/* Rows of X (B, ...) at POSITIONS, zeros where these are -1. */
static tg_tensor *take_rows(tg_trace *t, tg_tensor *x, tg_tensor *positions)
{
    static const int map[] = {0};
    tg_tensor *rows = tg_gather_rows(t, x, positions);
    const tg_type type = *tg_tensor_type(rows);
    tg_tensor *is_row = tg_compare(t, positions, tg_scalar(t, TG_I32, 0.0), TG_GE);
    tg_tensor *wide = tg_broadcast(t, is_row, type.rank, type.dims, map);
    return tg_select(t, wide, rows, tg_scalar(t, type.dtype, 0.0));
}

/* Classifies the rows whose sum is positive, as "x[mask.nonzero()]" chooses them. */
static tg_tensor *host_op_forward(tg_trace *t, const void *network)
{
    const example_net *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task);
    tg_scope_push(t, "choose");
    tg_tensor *sums = tg_reduce_sum(t, net->input, 1u << 1); /* (B) */
    tg_tensor *zero = tg_scalar(t, tg_tensor_type(sums)->dtype, 0.0);
    tg_tensor *positions = /* (B) */
        tg_nonzero(t, tg_compare(t, sums, zero, TG_GT), tg_tensor_type(sums)->dims[0]);
    tg_tensor *x = take_rows(t, net->input, positions);
    targets = targets ? take_rows(t, targets, positions) : NULL;
    tg_scope_pop(t);
    return example_end(t, net, x, targets);
}

/* The same loss without positions: the rows stay where they are, and the others are zeros. */
static tg_tensor *mask_forward(tg_trace *t, const void *network)
{
    static const int map[] = {0};
    const example_net *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task);
    tg_scope_push(t, "choose");
    tg_tensor *sums = tg_reduce_sum(t, net->input, 1u << 1); /* (B) */
    tg_tensor *zero = tg_scalar(t, tg_tensor_type(sums)->dtype, 0.0);
    tg_tensor *is_chosen = tg_compare(t, sums, zero, TG_GT); /* (B) */
    const tg_type rows = *tg_tensor_type(net->input);
    tg_tensor *wide = tg_broadcast(t, is_chosen, rows.rank, rows.dims, map);
    tg_tensor *x = tg_select(t, wide, net->input, tg_scalar(t, rows.dtype, 0.0));
    if (targets) {
        const tg_type type = *tg_tensor_type(targets);
        wide = tg_broadcast(t, is_chosen, type.rank, type.dims, map);
        targets = tg_select(t, wide, targets, tg_scalar(t, type.dtype, 0.0));
    }
    tg_scope_pop(t);
    return example_end(t, net, x, targets);
}

/* ---- an input of another dtype --------------------------------------------------------- */

/* As the layers convert whatever comes in. */
static tg_tensor *dtype_forward(tg_trace *t, const void *network)
{
    const example_net *net = network;
    tg_tensor *targets = nn_classifier_targets(t, &net->task);
    tg_tensor *x = tg_convert(t, net->input, tg_tensor_type(net->hidden.weight)->dtype);
    return example_end(t, net, x, targets);
}

/* ---- the host's arguments of a step ----------------------------------------------------- */

typedef struct turn {
    int32_t training;
} turn;

static void take_turn(void *statics, uint64_t step)
{
    ((turn *)statics)->training = step % 2 == 0;
}

static bool is_training(const void *statics)
{
    return ((const turn *)statics)->training;
}

typedef struct schedule {
    float learning_rate;
} schedule;

/* A rate that falls in each step, as schedules have it. */
static double rate_at(uint64_t step)
{
    return 0.01 / (1.0 + 0.1 * (double)step);
}

static void take_rate(void *statics, uint64_t step)
{
    ((schedule *)statics)->learning_rate = (float)rate_at(step);
}

static tg_tensor *baked_rate(tg_trace *t, const void *statics)
{
    return tg_scalar(t, TG_F32, (double)((const schedule *)statics)->learning_rate);
}

/* ---- rows --------------------------------------------------------------------------- */

#define ROWS_MODEL                                                                                 \
    .source = "bench", .family = "example", .batch = 8, .golden_batch = 8, .optimizer = MODEL_SGD, \
    .weights = MODEL_FILL_W3, .full = {.learning_rate = 1e-2}

const model_row example_loss_read = {
    ROWS_MODEL,
    .name = "example_loss_read",
    .summary = "the loss is read in each step",
    .build = example_rows_build,
    .forward = example_rows_forward,
    .example = &(const model_example){.after = read_loss},
};

const model_row example_loss_logged = {
    ROWS_MODEL,
    .name = "example_loss_logged",
    .summary = "the loss is read in every tenth step",
    .build = example_rows_build,
    .forward = example_rows_forward,
    /* "if step % 10 == 0: print(loss.item())", of a step that is done: no graph breaks. */
    .example = &(const model_example){.log_every = 10},
};

const model_row example_host_op = {
    ROWS_MODEL,
    .name = "example_host_op",
    .summary = "an op that only the host computes: nonzero",
    .build = example_rows_build,
    .forward = host_op_forward,
    .example = &(const model_example){.batches_differ = true},
};

const model_row example_dtype = {
    ROWS_MODEL,
    .name = "example_dtype",
    .summary = "every tenth batch comes in another dtype",
    .build = example_rows_build,
    .forward = dtype_forward,
    .example = &(const model_example){.batches_differ = true, .other_dtype_every = 10},
};

const model_row example_one_dtype = {
    ROWS_MODEL,
    .name = "example_one_dtype",
    .summary = "batches that are converted before the step",
    .build = example_rows_build,
    .forward = dtype_forward,
    .example = &(const model_example){.batches_differ = true},
};

const model_row example_mask = {
    ROWS_MODEL,
    .name = "example_mask",
    .summary = "the same rows chosen by a mask on the device",
    .build = example_rows_build,
    .forward = mask_forward,
    .example = &(const model_example){.batches_differ = true},
};

const model_row example_train_eval = {
    ROWS_MODEL,
    .name = "example_train_eval",
    .summary = "training and evaluation in turns",
    .build = example_rows_build,
    .forward = example_rows_forward,
    .example = &(const model_example){.statics = (const model_static[]){{"training", 0, false},
                                                                        {NULL, 0, false}},
                                      .static_bytes = sizeof(turn),
                                      .advance = take_turn,
                                      .trains = is_training},
};

const model_row example_train = {
    ROWS_MODEL,
    .name = "example_train",
    .summary = "the same training, with evaluation elsewhere",
    .build = example_rows_build,
    .forward = example_rows_forward,
    .example = &(const model_example){.log_every = 0},
};

const model_row example_scalar = {
    ROWS_MODEL,
    .name = "example_scalar",
    .summary = "a changing learning rate that is a constant of the graph",
    .build = example_rows_build,
    .forward = example_rows_forward,
    .example = &(const model_example){.statics = (const model_static[]){{"learning_rate", 0, true},
                                                                        {NULL, 0, false}},
                                      .static_bytes = sizeof(schedule),
                                      .advance = take_rate,
                                      .rate = baked_rate},
};

const model_row example_argument = {
    ROWS_MODEL,
    .name = "example_argument",
    .summary = "the same learning rate as an argument of the graph",
    .build = example_rows_build,
    .forward = example_rows_forward,
    .example = &(const model_example){.rate_at = rate_at},
};
