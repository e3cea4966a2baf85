/*
 * weights.c - a model's parameters and statistics out of a safetensors file:
 * which tensor is whose, and elements in the device's order and type.
 */
#include "models/weights/weights.h"
#include "models/weights/safetensors_priv.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(MODEL_WEIGHTS_NAME >= MODEL_FILE_WORD, "a name fits as it is shortened");

struct model_weights {
    char *path;
    model_file *file;
    const model *instance;        /* that fits; NULL so far */
    const model_file_tensor **of; /* [variable of the instance], NULL: not from the file */
    bool *used;                   /* [tensor of the file] */
    size_t used_count;
};

bn_code model_weights_open(const char *path, model_weights **weights, bn_status *st)
{
    size_t count;
    model_file *file;
    bn_code code = model_file_open(path, &file, st);
    if (code != BN_OK)
        return code;
    model_weights *w = bn_zalloc(1, sizeof *w);
    model_file_tensors(file, &count);
    w->file = file;
    w->path = bn_strdup(path);
    w->used = bn_zalloc(count, sizeof *w->used);
    *weights = w;
    return BN_OK;
}

void model_weights_close(model_weights *w)
{
    if (!w)
        return;
    model_file_free(w->file);
    free(w->path);
    free(w->of);
    free(w->used);
    free(w);
}

/* ---- names ------------------------------------------------------------------------ */

/* How much two names differ: the length, in both, of the one stretch that differs. A
 * stretch that only one of them has, such as a prefix, counts half. */
static size_t difference(const char *a, const char *b)
{
    size_t x = strlen(a), y = strlen(b), least = x < y ? x : y, front = 0, back = 0;
    while (front < least && a[front] == b[front])
        front++;
    while (back < least - front && a[x - 1 - back] == b[y - 1 - back])
        back++;
    size_t stretch = x + y - 2 * (front + back);
    return front + back == least ? stretch / 2 : stretch;
}

#define NEAR 3

/* The names in the file that differ least from NAME, as "; nearest are a, b, c". */
static void write_near(const model_weights *w, const char *name, bn_text *out)
{
    const char *near[NEAR] = {NULL};
    size_t how[NEAR], count, found = 0;
    const model_file_tensor *t = model_file_tensors(w->file, &count);
    for (size_t i = 0; i < count; i++) {
        size_t d = difference(name, t[i].name);
        if (found == NEAR && d >= how[NEAR - 1])
            continue;
        size_t at = found < NEAR ? found++ : NEAR - 1;
        for (; at > 0 && d < how[at - 1]; at--) {
            near[at] = near[at - 1];
            how[at] = how[at - 1];
        }
        near[at] = t[i].name;
        how[at] = d;
    }
    char word[MODEL_FILE_WORD];
    bn_text_puts(out, found == 0 ? "; it has no tensors" : "; nearest are ");
    for (size_t i = 0; i < found; i++)
        bn_text_printf(out, "%s%s", i ? ", " : "", model_file_word(near[i], word));
}

static bn_code missing(const model_weights *w, const char *name, size_t others, bn_status *st)
{
    bn_text text = {0};
    if (others > 0)
        bn_text_printf(&text, ", nor are %zu more of the model's tensors", others);
    write_near(w, name, &text);
    bn_fail(st, BN_INVALID, "%s is not in the file%s", name, text.data);
    bn_text_free(&text);
    return BN_INVALID;
}

static bool same(const model_file_tensor *a, const model_file_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && a->bytes == b->bytes &&
           memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0 &&
           memcmp(a->data, b->data, a->bytes) == 0;
}

static void use(model_weights *w, const model_file_tensor *t)
{
    size_t count, index = (size_t)(t - model_file_tensors(w->file, &count));
    w->used_count += !w->used[index];
    w->used[index] = true;
}

/* Looks up the tensor of the variable NAME; *FOUND is NULL where there is none. A tied
 * tensor may be there twice, but only with the same contents: the model has but one. */
static bn_code find(model_weights *w, const char *name, const model_file_tensor **found,
                    bn_status *st)
{
    const char *alias;
    const model_file_tensor *t = model_file_find(w->file, name);
    if (t)
        use(w, t);
    for (size_t i = 0; (alias = model_alias(w->instance, name, i)); i++) {
        const model_file_tensor *other = model_file_find(w->file, alias);
        if (!other)
            continue;
        if (t && !same(t, other))
            return bn_fail(st, BN_INVALID,
                           "%s and %s differ in the file; in the model they are one tensor",
                           t->name, other->name);
        use(w, other);
        t = t ? t : other;
    }
    *found = t;
    return BN_OK;
}

/* ---- types and shapes ----------------------------------------------------------------- */

/* "64x3x7x7", "scalar" */
static void write_dims(const int64_t *dims, size_t rank, bn_text *out)
{
    if (rank == 0)
        bn_text_puts(out, "scalar");
    for (size_t i = 0; i < rank && i < 2 * TG_MAX_RANK; i++)
        bn_text_printf(out, "%s%lld", i ? "x" : "", (long long)dims[i]);
    if (rank > 2 * TG_MAX_RANK)
        bn_text_printf(out, "x... of %zu dimensions", rank);
}

static bn_code check(const model_variable *v, const model_file_tensor *t, bn_status *st)
{
    if (t->dtype != MODEL_FILE_F64 && t->dtype != MODEL_FILE_F32 && t->dtype != MODEL_FILE_F16 &&
        t->dtype != MODEL_FILE_BF16)
        return bn_fail(st, BN_INVALID,
                       "%s is %s in the file, the model wants F64, F32, F16 or BF16", t->name,
                       model_file_dtype_name(t->dtype));
    size_t rank = (size_t)v->shape.rank;
    if (t->rank == rank && memcmp(t->dims, v->shape.dims, rank * sizeof *t->dims) == 0)
        return BN_OK;
    bn_text text = {0};
    write_dims(t->dims, t->rank, &text);
    bn_text_puts(&text, " in the file, the model wants ");
    write_dims(v->shape.dims, rank, &text);
    bn_fail(st, BN_INVALID, "%s is %s", t->name, text.data);
    bn_text_free(&text);
    return BN_INVALID;
}

/* Finds every variable's tensor. A tensor of another shape is reported before a missing
 * one, because it says more about which model the file is of. */
static bn_code fit(model_weights *w, const model_variable *v, size_t count, bn_status *st)
{
    const char *absent = NULL;
    size_t absent_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (v[i].role != MODEL_PARAMETER && v[i].role != MODEL_STATISTIC)
            continue;
        bn_code code = find(w, v[i].name, &w->of[i], st);
        if (code == BN_OK && w->of[i])
            code = check(&v[i], w->of[i], st);
        if (code != BN_OK)
            return code;
        if (!w->of[i] && absent_count++ == 0)
            absent = v[i].name;
    }
    return absent ? missing(w, absent, absent_count - 1, st) : BN_OK;
}

bn_code model_weights_fit(model_weights *w, const model *instance, bn_status *st)
{
    size_t count, tensors;
    const model_variable *v = model_variables(instance, &count);
    model_file_tensors(w->file, &tensors);
    memset(w->used, 0, tensors * sizeof *w->used);
    w->used_count = 0;
    w->instance = instance;
    free(w->of);
    w->of = bn_zalloc(count, sizeof *w->of);
    bn_code code = fit(w, v, count, st);
    return code == BN_OK ? BN_OK : bn_context(st, "%s", w->path);
}

/* ---- elements -------------------------------------------------------------------------- */

/* The element at AT, which need not be aligned; exact in every type. */
static inline double element(model_file_dtype dtype, const unsigned char *at)
{
    uint16_t half;
    float single;
    double value;
    switch (dtype) {
    case MODEL_FILE_F64:
        memcpy(&value, at, sizeof value);
        return value;
    case MODEL_FILE_F32:
        memcpy(&single, at, sizeof single);
        return (double)single;
    case MODEL_FILE_F16:
        memcpy(&half, at, sizeof half);
        return bn_half_to_double(half);
    default: /* BF16: the upper half of an F32 */
        memcpy(&half, at, sizeof half);
        return (double)bn_from_bf16(half);
    }
}

/* COUNT elements from index FIRST in steps of STRIDE, to HOST from element AT. */
static void load_run(const model_file_tensor *t, size_t width, tg_dtype dtype, void *host,
                     int64_t at, int64_t first, int64_t stride, int64_t count)
{
    const unsigned char *from = t->data + (size_t)first * width;
    for (int64_t i = 0; i < count; i++, from += (size_t)stride * width) {
        double value = element(t->dtype, from);
        if (dtype == TG_BF16)
            ((uint16_t *)host)[at + i] = bn_to_bf16(bn_to_odd(value));
        else
            ((float *)host)[at + i] = (float)value;
    }
}

void model_weights_load(const model_weights *w, const model_variable *v, void *host)
{
    size_t count;
    const model_file_tensor *t = w->of[v - model_variables(w->instance, &count)];
    const model_order o = model_order_of(v);
    const int64_t run = o.dims[o.rank - 1], stride = o.strides[o.rank - 1];
    int64_t at[TG_MAX_RANK] = {0}, first = 0;
    assert(t && (v->shape.dtype == TG_F32 || v->shape.dtype == TG_BF16));
    if (o.elements == 0)
        return;
    const size_t width = t->bytes / (size_t)o.elements;
    for (int64_t done = 0; done < o.elements; done += run) {
        load_run(t, width, v->shape.dtype, host, done, first, stride, run);
        first = model_order_next(&o, at, first);
    }
}

/* ---- provenance ---------------------------------------------------------------------------- */

void model_weights_describe(const model_weights *w, model_weights_info *info)
{
    *info = (model_weights_info){.used = w->used_count};
    const void *bytes = model_file_bytes(w->file, &info->bytes);
    model_file_tensors(w->file, &info->tensors);
    bn_sha256(bytes, info->bytes, info->sha256);
}

size_t model_weights_unused(const model_weights *w, char (*names)[MODEL_WEIGHTS_NAME], size_t most)
{
    size_t count, copied = 0;
    const model_file_tensor *t = model_file_tensors(w->file, &count);
    for (size_t i = 0; i < count && copied < most; i++)
        if (!w->used[i])
            model_file_word(t[i].name, names[copied++]);
    return copied;
}
