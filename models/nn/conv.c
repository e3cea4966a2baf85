/*
 * conv.c - two-dimensional convolution, square kernels.
 *
 * Frameworks keep a weight as (out, in/groups, kh, kw). With images in NHWC the
 * device keeps it as (kh, kw, in/groups, out), the order in which the innermost
 * dimension runs over what is contiguous in the output.
 */
#include "models/nn/nn.h"

#include <string.h>

/* Elements along one side of the output; 0 or less: the input is too small. */
static int64_t extent(int64_t in, const nn_conv_spec *s)
{
    int64_t room = in + 2 * (int64_t)s->padding - (int64_t)s->dilation * (s->kernel - 1) - 1;
    return room < 0 ? 0 : room / s->stride + 1;
}

static tg_conv_dims conv_dims(model_layout layout, const nn_conv_spec *s)
{
    static const tg_conv_dims nhwc = {
        .lhs = {0, 3, 1, 2}, .rhs = {2, 3, 0, 1}, .out = {0, 3, 1, 2}};
    static const tg_conv_dims nchw = {
        .lhs = {0, 1, 2, 3}, .rhs = {1, 0, 2, 3}, .out = {0, 1, 2, 3}};
    tg_conv_dims dims = layout == MODEL_NHWC ? nhwc : nchw;
    for (int side = 0; side < 2; side++) {
        dims.stride[side] = s->stride;
        dims.pad_low[side] = dims.pad_high[side] = s->padding;
        dims.lhs_dilation[side] = 1;
        dims.rhs_dilation[side] = s->dilation;
    }
    dims.groups = s->groups;
    dims.batch_groups = 1;
    return dims;
}

nn_image nn_conv2d_new(model *m, nn_conv *layer, const char *name, nn_image in, nn_conv_spec s)
{
    s.stride = s.stride ? s.stride : 1;
    s.dilation = s.dilation ? s.dilation : 1;
    s.groups = s.groups ? s.groups : 1;
    nn_image out = {s.out, extent(in.height, &s), extent(in.width, &s)};

    nn_enter(m, name);
    if (out.height < 1 || out.width < 1)
        nn_fail(m, BN_INVALID,
                "option image: %d is too small: a kernel of %d gets an image of %lldx%lld",
                m->options.image, s.kernel, (long long)in.height, (long long)in.width);
    if (in.channels % s.groups || s.out % s.groups)
        nn_fail(m, BN_INVALID, "%lld channels in and %d out do not divide into %d groups",
                (long long)in.channels, s.out, s.groups);

    model_variable weight = {
        .name = "weight",
        .role = MODEL_PARAMETER,
        .fill = m->row->weights,
        .shape = tg_type_make(m->options.dtype, 4,
                              TG_DIMS(s.out, in.channels / s.groups, s.kernel, s.kernel))};
    if (m->options.layout == MODEL_NHWC)
        memcpy(weight.permutation, (int[]){2, 3, 1, 0}, 4 * sizeof(int));
    layer->name = name;
    layer->weight = nn_variable(m, &weight);
    layer->bias = s.bias ? nn_parameter(m, "bias", MODEL_FILL_BIAS, 1, TG_DIMS(s.out)) : NULL;
    layer->dims = conv_dims(m->options.layout, &s);
    nn_leave(m);
    return out;
}

tg_tensor *nn_conv2d(tg_trace *t, const nn_conv *layer, tg_tensor *x)
{
    tg_scope_push(t, layer->name);
    x = tg_convolution(t, x, layer->weight, &layer->dims); /* (B, H', W', out) */
    if (layer->bias) {
        const tg_type *type = tg_tensor_type(x);
        const int feature = layer->dims.out[1];
        x = tg_add(t, x, tg_broadcast(t, layer->bias, type->rank, type->dims, &feature));
    }
    tg_scope_pop(t);
    return x;
}
