/*
 * net.c - the two small networks that the examples share.
 */
#include "models/examples/net_priv.h"

/* The layers behind what is embedded or given. */
static void build_layers(model *m, example_net *net)
{
    nn_linear_new(m, &net->hidden, "hidden", EXAMPLE_WIDTH, EXAMPLE_WIDTH, true);
    nn_linear_new(m, &net->classifier, "classifier", EXAMPLE_WIDTH, EXAMPLE_CLASSES, true);
}

void example_rows_build(model *m)
{
    example_net *net = m->network = nn_alloc(m, 1, sizeof *net);
    const int64_t batch = m->options.batch;
    net->input =
        nn_variable(m, &(model_variable){.name = "input",
                                         .role = MODEL_INPUT,
                                         .fill = MODEL_FILL_UNIT,
                                         .shape = tg_type_make(m->options.dtype, 2,
                                                               TG_DIMS(batch, EXAMPLE_WIDTH))});
    nn_row_classifier_new(m, &net->task, EXAMPLE_CLASSES);
    build_layers(m, net);
}

void example_sentences_build(model *m)
{
    example_net *net = m->network = nn_alloc(m, 1, sizeof *net);
    const model_variable ids = {.name = "tokens",
                                .fill = MODEL_FILL_IDS,
                                .fill_high = EXAMPLE_TOKENS,
                                .length = MODEL_LENGTH_SOURCE};
    net->tokens = nn_tokens(m, &ids, false);
    nn_row_classifier_new(m, &net->task, EXAMPLE_CLASSES);
    nn_embedding_new(m, &net->embedding, "embedding", EXAMPLE_TOKENS, EXAMPLE_WIDTH);
    build_layers(m, net);
}

tg_tensor *example_end(tg_trace *t, const example_net *net, tg_tensor *x, tg_tensor *targets)
{
    x = nn_relu(t, nn_linear(t, &net->hidden, x));
    return nn_classifier_end(t, &net->task, nn_linear(t, &net->classifier, x), targets);
}

tg_tensor *example_rows_forward(tg_trace *t, const void *network)
{
    const example_net *net = network;
    return example_end(t, net, net->input, nn_classifier_targets(t, &net->task));
}

tg_tensor *example_mean(tg_trace *t, tg_tensor *x)
{
    const tg_type type = *tg_tensor_type(x);
    tg_tensor *share = tg_scalar(t, type.dtype, 1.0 / (double)type.dims[1]);
    return tg_mul(t, tg_reduce_sum(t, x, 1u << 1), share);
}
