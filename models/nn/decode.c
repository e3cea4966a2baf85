/*
 * decode.c - steps that decode one token of each row: position, choice and caches, which stay on
 * the device from step to step.
 */
#include "models/nn/nn.h"

#include <math.h>
#include <stdio.h>

/* ---- building ------------------------------------------------------------- */

static tg_tensor *state(model *m, const char *name, tg_dtype dtype, int32_t rank,
                        const int64_t *dims)
{
    return nn_variable(m, &(model_variable){.name = name,
                                            .role = MODEL_STATE,
                                            .fill = MODEL_FILL_ZERO,
                                            .shape = tg_type_make(dtype, rank, dims)});
}

void nn_decode_new(model *m, nn_decode *decode)
{
    decode->context = m->options.context;
    decode->position = state(m, "position", TG_I32, 0, NULL);
    decode->next_token = state(m, "next_token", TG_I32, 1, TG_DIMS(m->options.batch));
}

static tg_tensor *cache_of(model *m, const char *what, int64_t heads, int64_t width)
{
    char name[2 * MODEL_PATH_BYTES];
    const int64_t *dims = TG_DIMS(m->options.batch, heads, m->options.context, width);
    snprintf(name, sizeof name, "cache/%s.%s", m->path, what);
    return state(m, name, m->options.dtype, 4, dims);
}

void nn_cache_new(model *m, nn_cache *cache, int64_t heads, int64_t width)
{
    *cache = (nn_cache){0};
    if (!m->options.decode)
        return;
    cache->keys = cache_of(m, "keys", heads, width);
    cache->values = cache_of(m, "values", heads, width);
}

/* ---- the step's token, and the next one -------------------------------------- */

tg_tensor *nn_decode_token(tg_trace *t, const nn_decode *decode, tg_tensor *prompt)
{
    const tg_type *type = tg_tensor_type(prompt); /* (B, P) */
    const int64_t batch = type->dims[0], given = type->dims[1];
    tg_scope_push(t, "token");
    tg_tensor *zero = tg_scalar(t, TG_I32, 0);
    tg_tensor *in_prompt =
        tg_compare(t, decode->position, tg_scalar(t, TG_I32, (double)given), TG_LT);
    in_prompt = tg_broadcast(t, in_prompt, 2, TG_DIMS(batch, 1), NULL);
    /* Behind the prompt the slice is its last token, which is not taken. */
    tg_tensor *token =
        tg_dynamic_slice(t, prompt, (tg_tensor *[]){zero, decode->position}, TG_DIMS(batch, 1));
    token = tg_select(t, in_prompt, token, tg_reshape(t, decode->next_token, 2, TG_DIMS(batch, 1)));
    tg_scope_pop(t);
    return token;
}

tg_tensor *nn_decode_row(tg_trace *t, const nn_decode *decode, tg_tensor *table)
{
    const int64_t width = tg_tensor_type(table)->dims[1];
    tg_tensor *const at[] = {decode->position, tg_scalar(t, TG_I32, 0)};
    return tg_dynamic_slice(t, table, at, TG_DIMS(1, width));
}

/* The index of the largest element of each row of X (B, V), i32 (B); of equal ones the first. */
static tg_tensor *largest(tg_trace *t, tg_tensor *x)
{
    static const int rows = 0;
    tg_type type = *tg_tensor_type(x);
    tg_tensor *most = tg_broadcast(t, tg_reduce_max(t, x, 1u << 1), 2, type.dims, &rows);
    tg_tensor *is_most = tg_compare(t, x, most, TG_EQ);
    type.dtype = TG_I32;
    tg_tensor *index =
        tg_select(t, is_most, tg_iota(t, &type, 1), tg_scalar(t, TG_I32, (double)type.dims[1]));
    return tg_reduce_min(t, index, 1u << 1);
}

void nn_decode_end(tg_trace *t, const nn_decode *decode, tg_tensor *prompt, tg_tensor *logits)
{
    const tg_type *type = tg_tensor_type(logits); /* (B, 1, V) */
    const int64_t given = tg_tensor_type(prompt)->dims[1];
    tg_scope_push(t, "choice");
    logits = tg_reshape(t, logits, 2, TG_DIMS(type->dims[0], type->dims[2]));
    tg_assign(t, decode->next_token, largest(t, logits));
    tg_tensor *next = tg_add(t, decode->position, tg_scalar(t, TG_I32, 1));
    tg_tensor *room = tg_compare(t, next, tg_scalar(t, TG_I32, (double)decode->context), TG_LT);
    tg_assign(t, decode->position, tg_select(t, room, next, tg_scalar(t, TG_I32, (double)given)));
    tg_scope_pop(t);
}

/* ---- attention --------------------------------------------------------------- */

tg_tensor *nn_decode_seen(tg_trace *t, const nn_decode *decode, int64_t batch, int64_t heads,
                          int64_t served)
{
    static const int map = 3;
    const tg_type line = tg_type_make(TG_I32, 1, &decode->context);
    tg_tensor *seen = tg_compare(t, tg_iota(t, &line, 0), decode->position, TG_LE); /* (S) */
    return tg_broadcast(t, seen, 4, TG_DIMS(batch, heads, served, decode->context), &map);
}

/* Puts X (B, 1, K, E), of the step's token, into CACHE and returns all of it, (B, K, S, E). */
static tg_tensor *put(tg_trace *t, tg_tensor *cache, const nn_decode *decode, tg_tensor *x)
{
    const int64_t *d = tg_tensor_type(x)->dims;
    tg_tensor *zero = tg_scalar(t, TG_I32, 0);
    x = tg_reshape(t, x, 4, TG_DIMS(d[0], d[2], 1, d[3]));
    x = tg_dynamic_update_slice_apart(t, cache, x,
                                      (tg_tensor *[]){zero, zero, decode->position, zero});
    tg_assign(t, cache, x);
    return x;
}

tg_tensor *nn_attention_cached(tg_trace *t, tg_tensor *q, tg_tensor *k, tg_tensor *v,
                               const nn_cache *cache, const nn_decode *decode, tg_tensor *seen,
                               double scale)
{
    static const tg_dot_dims scores_of = {.batch_count = 2,
                                          .batch_a = {0, 1},
                                          .batch_b = {0, 1},
                                          .contract_count = 1,
                                          .contract_a = {3},
                                          .contract_b = {3}};
    static const tg_dot_dims values_of = {.batch_count = 2,
                                          .batch_a = {0, 1},
                                          .batch_b = {0, 1},
                                          .contract_count = 1,
                                          .contract_a = {3},
                                          .contract_b = {2}};
    const tg_type type = *tg_tensor_type(q); /* (B, 1, N, E) */
    const int64_t *d = type.dims, heads = tg_tensor_type(cache->keys)->dims[1];
    tg_scope_push(t, "attention");
    tg_tensor *keys = put(t, cache->keys, decode, k), *values = put(t, cache->values, decode, v);
    q = tg_reshape(t, q, 4, TG_DIMS(d[0], heads, d[2] / heads, d[3]));         /* (B, K, G, E) */
    tg_tensor *scores = nn_convert(t, tg_dot(t, q, keys, &scores_of), TG_F32); /* (B, K, G, S) */
    scores = tg_mul(t, scores, tg_scalar(t, TG_F32, scale));
    scores = tg_select(t, seen, scores, tg_scalar(t, TG_F32, (double)-INFINITY));
    tg_tensor *weights = nn_convert(t, nn_softmax(t, scores), type.dtype);
    tg_tensor *y = tg_dot(t, weights, values, &values_of); /* (B, K, G, E) */
    y = tg_reshape(t, y, 4, d);                            /* (B, 1, N, E) */
    tg_scope_pop(t);
    return y;
}
