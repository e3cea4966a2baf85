/*
 * llama.c - llama (Touvron et al., LLaMA, 2023), as Hugging Face transformers builds
 * it, in sizes of its own: the published ones are too large for a reference on a
 * host.
 */
#include "models/decoder_priv.h"

typedef struct llama_mlp {
    nn_dense gate_proj, up_proj, down_proj;
} llama_mlp;

static void *build_mlp(model *m, const decoder_config *c)
{
    llama_mlp *mlp = nn_alloc(m, 1, sizeof *mlp);
    nn_enter(m, "mlp");
    nn_linear_new(m, &mlp->gate_proj, "gate_proj", c->width, c->feed, false);
    nn_linear_new(m, &mlp->up_proj, "up_proj", c->width, c->feed, false);
    nn_linear_new(m, &mlp->down_proj, "down_proj", c->feed, c->width, false);
    nn_leave(m);
    return mlp;
}

static tg_tensor *mlp_step(tg_trace *t, const void *layer, tg_tensor *x)
{
    const llama_mlp *mlp = layer;
    tg_scope_push(t, "mlp");
    x = model_decoder_swiglu(t, &mlp->gate_proj, &mlp->up_proj, &mlp->down_proj, x);
    tg_scope_pop(t);
    return x; /* (B, T, D) */
}

static void llama_build(model *m)
{
    static const decoder_feed feed = {build_mlp, mlp_step};
    model_decoder_build(m, &feed);
}

static const decoder_config published = {.vocabulary = 4096,
                                         .width = 256,
                                         .heads = 8,
                                         .key_heads = 4,
                                         .feed = 688,
                                         .epsilon = 1e-6,
                                         .theta = 1e4};
static const decoder_config reduced = {.vocabulary = 512,
                                       .width = 64,
                                       .heads = 4,
                                       .key_heads = 2,
                                       .feed = 176,
                                       .epsilon = 1e-6,
                                       .theta = 1e4};

const model_row model_llama = {
    .name = "llama",
    .summary = "llama in a small size: grouped heads, rotary embedding, SwiGLU",
    .source = "transformers.LlamaForCausalLM",
    .family = "transformer",
    .batch = 1,
    .golden_batch = 2,
    .optimizer = MODEL_ADAMW,
    .weights = MODEL_FILL_W3,
    .scans = true,
    .decodes = true,
    .full = {.seq = 64, .depth = 4, .learning_rate = 1e-4, .config = &published},
    .small = {.seq = 16, .depth = 2, .learning_rate = 1e-4, .config = &reduced},
    .build = llama_build,
    .forward = model_decoder_forward,
};
