/*
 * attention.c - attention out of products, a mask and a softmax.
 *
 * Heads stay where the projection left them, (B, T, N, E); products batch over
 * B and N wherever these stand, so that transposing is the compiler's choice.
 */
#include "models/nn/nn.h"

/* ---- heads --------------------------------------------------------------- */

tg_tensor *nn_split_heads(tg_trace *t, tg_tensor *x, int64_t heads)
{
    const tg_type *type = tg_tensor_type(x); /* (B, T, N * E) */
    return tg_reshape(t, x, 4, TG_DIMS(type->dims[0], type->dims[1], heads, type->dims[2] / heads));
}

tg_tensor *nn_join_heads(tg_trace *t, tg_tensor *x)
{
    const tg_type *type = tg_tensor_type(x); /* (B, T, N, E) */
    return tg_reshape(t, x, 3,
                      TG_DIMS(type->dims[0], type->dims[1], type->dims[2] * type->dims[3]));
}

/* ---- masks ------------------------------------------------------------------ */

tg_tensor *nn_mask_keys(tg_trace *t, tg_tensor *keys, int64_t heads, int64_t queries)
{
    static const int map[] = {0, 3};
    const tg_type *type = tg_tensor_type(keys); /* (B, S) */
    return tg_broadcast(t, keys, 4, TG_DIMS(type->dims[0], heads, queries, type->dims[1]), map);
}

tg_tensor *nn_mask_causal(tg_trace *t, int64_t batch, int64_t heads, int64_t tokens)
{
    static const int map[] = {2, 3};
    const tg_type square = tg_type_make(TG_I32, 2, TG_DIMS(tokens, tokens));
    tg_tensor *query = tg_iota(t, &square, 0), *key = tg_iota(t, &square, 1);
    tg_tensor *seen = tg_compare(t, query, key, TG_GE); /* (T, T) */
    return tg_broadcast(t, seen, 4, TG_DIMS(batch, heads, tokens, tokens), map);
}

tg_tensor *nn_token_mask(tg_trace *t, tg_tensor *tokens, int pad)
{
    return tg_compare(t, tokens, tg_scalar(t, tg_tensor_type(tokens)->dtype, pad), TG_NE);
}

/* ---- attention ----------------------------------------------------------------- */

tg_tensor *nn_attention(tg_trace *t, tg_tensor *q, tg_tensor *k, tg_tensor *v, const nn_attend *how)
{
    static const tg_dot_dims scores_of = {.batch_count = 2,
                                          .batch_a = {0, 2},
                                          .batch_b = {0, 2},
                                          .contract_count = 1,
                                          .contract_a = {3},
                                          .contract_b = {3}};
    static const tg_dot_dims values_of = {.batch_count = 2,
                                          .batch_a = {0, 1},
                                          .batch_b = {0, 2},
                                          .contract_count = 1,
                                          .contract_a = {3},
                                          .contract_b = {1}};
    const tg_dtype dtype = tg_tensor_type(q)->dtype;
    tg_scope_push(t, "attention");
    tg_tensor *scores = tg_dot(t, q, k, &scores_of); /* (B, N, T, S) */
    scores = nn_convert(t, scores, TG_F32);
    if (how->scale != 1.0)
        scores = tg_mul(t, scores, tg_scalar(t, TG_F32, how->scale));
    if (how->mask)
        scores = tg_select(t, how->mask, scores, tg_scalar(t, TG_F32, how->hidden));
    tg_tensor *weights = nn_convert(t, nn_softmax(t, scores), dtype); /* (B, N, T, S) */
    weights = nn_dropout(t, how->drop, weights);
    tg_tensor *y = tg_dot(t, weights, v, &values_of); /* (B, N, T, E) */
    y = tg_transpose(t, y, (int[]){0, 2, 1, 3});      /* (B, T, N, E) */
    tg_scope_pop(t);
    return y;
}
