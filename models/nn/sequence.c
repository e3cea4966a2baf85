/*
 * sequence.c - numbered modules one after another, as PyTorch's Sequential.
 */
#include "models/nn/nn.h"

struct nn_item {
    nn_item *next;
    nn_module *forward;
    const void *layer; /* what FORWARD takes; NULL for activations */
    tg_tensor *stage;
};

/* ---- building ------------------------------------------------------------- */

void nn_sequence_begin(model *m, nn_sequence *s, const char *name, bool stages)
{
    *s = (nn_sequence){.name = name, .stages = stages};
    nn_enter(m, name);
}

/* The output of the module NAME (NULL: the enclosing one) as a stage. */
static tg_tensor *stage_of(model *m, const char *name, nn_image out)
{
    if (out.height == 0)
        return nn_plain_stage(m, name, 2, TG_DIMS(m->options.batch, out.channels));
    return nn_stage(m, name, out);
}

nn_image nn_sequence_end(model *m, nn_sequence *s, nn_image out)
{
    if (s->stages)
        s->stage = stage_of(m, NULL, out);
    nn_leave(m);
    return out;
}

const char *nn_next_name(model *m, const nn_sequence *s)
{
    return nn_index_name(m, s->count);
}

nn_image nn_append(model *m, nn_sequence *s, nn_module *forward, const void *layer, nn_image out)
{
    nn_item *item = nn_alloc(m, 1, sizeof *item);
    *item = (nn_item){.forward = forward, .layer = layer};
    if (s->stages)
        item->stage = stage_of(m, nn_next_name(m, s), out);
    *(s->last ? &s->last->next : &s->first) = item;
    s->last = item;
    s->count++;
    return out;
}

/* ---- a step ------------------------------------------------------------------- */

tg_tensor *nn_sequential(tg_trace *t, const nn_sequence *s, tg_tensor *x)
{
    tg_scope_push(t, s->name);
    for (const nn_item *item = s->first; item; item = item->next) {
        x = item->forward(t, item->layer, x);
        nn_keep(t, item->stage, x);
    }
    tg_scope_pop(t);
    return nn_keep(t, s->stage, x);
}

/* ---- the layers of nn.h as modules ---------------------------------------------- */

/* Adapters from nn_module, whose layer is untyped, to the typed functions: calling those through a
 * cast pointer is undefined in C. */

static tg_tensor *sequential(tg_trace *t, const void *layer, tg_tensor *x)
{
    return nn_sequential(t, layer, x);
}

static tg_tensor *conv2d(tg_trace *t, const void *layer, tg_tensor *x)
{
    return nn_conv2d(t, layer, x);
}

static tg_tensor *batch_norm2d(tg_trace *t, const void *layer, tg_tensor *x)
{
    return nn_batch_norm2d(t, layer, x);
}

static tg_tensor *max_pool2d(tg_trace *t, const void *layer, tg_tensor *x)
{
    return nn_max_pool2d(t, layer, x);
}

static tg_tensor *adaptive_avg_pool2d(tg_trace *t, const void *layer, tg_tensor *x)
{
    return nn_adaptive_avg_pool2d(t, layer, x);
}

static tg_tensor *linear(tg_trace *t, const void *layer, tg_tensor *x)
{
    return nn_linear(t, layer, x);
}

static tg_tensor *dropout(tg_trace *t, const void *layer, tg_tensor *x)
{
    return nn_dropout(t, layer, x);
}

static tg_tensor *relu(tg_trace *t, const void *layer, tg_tensor *x)
{
    (void)layer;
    return nn_relu(t, x);
}

static tg_tensor *relu6(tg_trace *t, const void *layer, tg_tensor *x)
{
    (void)layer;
    return nn_relu6(t, x);
}

nn_sequence *nn_sequence_begin_inner(model *m, const nn_sequence *s)
{
    nn_sequence *inner = nn_alloc(m, 1, sizeof *inner);
    nn_sequence_begin(m, inner, nn_next_name(m, s), false);
    return inner;
}

nn_image nn_append_sequence(model *m, nn_sequence *s, nn_sequence *inner, nn_image out)
{
    nn_sequence_end(m, inner, out);
    return nn_append(m, s, sequential, inner, out);
}

nn_image nn_append_conv2d(model *m, nn_sequence *s, nn_image in, nn_conv_spec spec)
{
    nn_conv *layer = nn_alloc(m, 1, sizeof *layer);
    nn_image out = nn_conv2d_new(m, layer, nn_next_name(m, s), in, spec);
    return nn_append(m, s, conv2d, layer, out);
}

nn_image nn_append_batch_norm2d(model *m, nn_sequence *s, nn_image in, nn_norm_spec spec)
{
    nn_norm *layer = nn_alloc(m, 1, sizeof *layer);
    nn_batch_norm2d_new(m, layer, nn_next_name(m, s), in, spec);
    return nn_append(m, s, batch_norm2d, layer, in);
}

nn_image nn_append_max_pool2d(model *m, nn_sequence *s, nn_image in, nn_pool_spec spec)
{
    nn_pool *layer = nn_alloc(m, 1, sizeof *layer);
    nn_image out = nn_max_pool2d_new(m, layer, nn_next_name(m, s), in, spec);
    return nn_append(m, s, max_pool2d, layer, out);
}

nn_image nn_append_adaptive_avg_pool2d(model *m, nn_sequence *s, nn_image in, int bins)
{
    nn_adaptive_pool *layer = nn_alloc(m, 1, sizeof *layer);
    nn_image out = nn_adaptive_avg_pool2d_new(m, layer, nn_next_name(m, s), in, bins);
    return nn_append(m, s, adaptive_avg_pool2d, layer, out);
}

nn_image nn_append_linear(model *m, nn_sequence *s, nn_image in, int64_t out)
{
    nn_dense *layer = nn_alloc(m, 1, sizeof *layer);
    nn_linear_new(m, layer, nn_next_name(m, s), in.channels, out, true);
    return nn_append(m, s, linear, layer, (nn_image){.channels = out});
}

nn_image nn_append_dropout(model *m, nn_sequence *s, nn_image in, double p)
{
    nn_drop *layer = nn_alloc(m, 1, sizeof *layer);
    nn_dropout_new(m, layer, p);
    return nn_append(m, s, dropout, layer, in);
}

nn_image nn_append_relu(model *m, nn_sequence *s, nn_image in)
{
    return nn_append(m, s, relu, NULL, in);
}

nn_image nn_append_relu6(model *m, nn_sequence *s, nn_image in)
{
    return nn_append(m, s, relu6, NULL, in);
}
