/*
 * npy.c - reading and writing .npy files.
 *
 * The header is a Python dictionary with the keys descr, fortran_order and shape. Only the forms
 * that NumPy itself writes are read: in Python 2, too, where a long number ends in L.
 */
#include "runtime/pjrt/npy.h"

#include <ctype.h>
#include <string.h>

#define MAGIC       "\x93NUMPY"
#define MAGIC_BYTES 6
#define ALIGNMENT   64 /* of the data, as NumPy writes it */

static const struct {
    const char *descr;
    rt_dtype dtype;
} kinds[] = {
    {"|b1", BN_PRED}, {"|i1", BN_S8},  {"<i2", BN_S16}, {"<i4", BN_S32},   {"<i8", BN_S64},
    {"|u1", BN_U8},   {"<u2", BN_U16}, {"<u4", BN_U32}, {"<u8", BN_U64},   {"<f2", BN_F16},
    {"<f4", BN_F32},  {"<f8", BN_F64}, {"<c8", BN_C64}, {"<c16", BN_C128},
};

/* ---- the header ------------------------------------------------------------------- */

typedef struct header {
    const char *at, *end;
    bool longs; /* numbers may be long ones of Python 2 */
} header;

static bool take(header *h, char c)
{
    while (h->at < h->end && isspace((unsigned char)*h->at))
        h->at++;
    if (h->at >= h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

/* A text in quotes of either kind, into WORD. */
static bool take_word(header *h, char *word, size_t size)
{
    const char quote = take(h, '\'') ? '\'' : take(h, '"') ? '"' : '\0';
    size_t n = 0;
    while (quote && h->at < h->end && *h->at != quote && n + 1 < size)
        word[n++] = *h->at++;
    word[n] = '\0';
    return quote && take(h, quote);
}

static bool take_number(header *h, int64_t *number)
{
    *number = 0;
    while (h->at < h->end && isspace((unsigned char)*h->at))
        h->at++;
    const char *start = h->at;
    for (; h->at < h->end && isdigit((unsigned char)*h->at); h->at++) {
        if (*number > INT64_MAX / 16)
            return false;
        *number = *number * 10 + (*h->at - '0');
    }
    /* No number of decimals begins with 0: in Python 2 that is an octal one. */
    const bool good = h->at == start + 1 || (h->at > start && *start != '0');
    if (good && h->longs)
        take(h, 'L');
    return good;
}

static bool take_name(header *h, const char *name)
{
    const size_t length = strlen(name);
    if (!take(h, name[0]) || (size_t)(h->end - h->at) < length - 1 ||
        memcmp(h->at, name + 1, length - 1) != 0)
        return false;
    h->at += length - 1;
    return h->at == h->end || !isalnum((unsigned char)*h->at);
}

static bool take_shape(header *h, rt_npy *a)
{
    bool comma = false;
    if (!take(h, '('))
        return false;
    while (!take(h, ')')) {
        if (a->rank == RT_MAX_RANK || !take_number(h, &a->dims[a->rank++]))
            return false;
        comma = take(h, ',');
        if (!comma && (h->at >= h->end || *h->at != ')'))
            return false;
    }
    return a->rank != 1 || comma; /* (3) is no tuple */
}

static bn_code read_descr(const char *name, const char *descr, rt_npy *a, bn_status *st)
{
    /* As NumPy writes types of others: bf16, and floats of 8 bits. */
    const bool byte = strcmp(descr, "|V1") == 0 || strcmp(descr, "<V1") == 0;
    a->void_bits = byte || strcmp(descr, "|V2") == 0 || strcmp(descr, "<V2") == 0;
    a->dtype = byte ? BN_U8 : BN_U16;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].descr, descr) == 0) {
            a->dtype = kinds[i].dtype;
            return BN_OK;
        }
    if (a->void_bits)
        return BN_OK;
    return bn_fail(st, BN_NOT_SUPPORTED,
                   "%s: elements of kind '%s'; bool, integers, floats and complex numbers in "
                   "little-endian order can be read",
                   name, descr);
}

static bn_code read_header(const char *name, header h, rt_npy *a, bn_status *st)
{
    char key[32], descr[32] = "";
    bool fortran = false, has_order = false, has_shape = false;
    bool good = take(&h, '{');
    while (good && !take(&h, '}')) {
        good = take_word(&h, key, sizeof key) && take(&h, ':');
        if (good && strcmp(key, "descr") == 0 && !descr[0]) {
            if (take(&h, '[') || take(&h, '('))
                return bn_fail(st, BN_NOT_SUPPORTED,
                               "%s: elements of several parts (a structured type); save each part "
                               "as an array",
                               name);
            good = take_word(&h, descr, sizeof descr);
        } else if (good && strcmp(key, "fortran_order") == 0 && !has_order) {
            fortran = take_name(&h, "True");
            has_order = good = fortran || take_name(&h, "False");
        } else if (good && strcmp(key, "shape") == 0 && !has_shape) {
            has_shape = good = take_shape(&h, a);
        } else {
            good = false;
        }
        if (good && !take(&h, ',') && (h.at >= h.end || *h.at != '}'))
            good = false;
    }
    while (good && h.at < h.end && isspace((unsigned char)*h.at))
        h.at++;
    if (!good || h.at < h.end || !descr[0] || !has_order || !has_shape)
        return bn_fail(st, BN_FORMAT, "%s: the header is damaged, or not one that NumPy writes",
                       name);
    if (fortran && a->rank > 1)
        return bn_fail(st, BN_NOT_SUPPORTED,
                       "%s: elements in Fortran order; save numpy.ascontiguousarray of it", name);
    return read_descr(name, descr, a, st);
}

bn_code rt_npy_parse(const char *name, const char *bytes, size_t size, rt_npy *a, bn_status *st)
{
    const unsigned char *u = (const unsigned char *)bytes;
    *a = (rt_npy){0};
    if (size < MAGIC_BYTES + 4 || memcmp(bytes, MAGIC, MAGIC_BYTES) != 0)
        return bn_fail(st, BN_FORMAT, "%s: not a .npy file", name);
    const int version = u[MAGIC_BYTES];
    const size_t start = version == 1 ? MAGIC_BYTES + 4 : MAGIC_BYTES + 6;
    if (version < 1 || version > 3 || u[MAGIC_BYTES + 1] != 0)
        return bn_fail(st, BN_FORMAT, "%s: unknown version %d.%d of .npy", name, version,
                       u[MAGIC_BYTES + 1]);
    if (size < start)
        return bn_fail(st, BN_FORMAT, "%s: cut off in its first bytes", name);
    size_t length = (size_t)u[MAGIC_BYTES + 2] | (size_t)u[MAGIC_BYTES + 3] << 8;
    if (version > 1)
        length |= (size_t)u[MAGIC_BYTES + 4] << 16 | (size_t)u[MAGIC_BYTES + 5] << 24;
    if (length > size - start)
        return bn_fail(st, BN_FORMAT, "%s: cut off in its header", name);
    /* Version 3 is of Python 3 only. */
    const header h = {bytes + start, bytes + start + length, version < 3};
    bn_code code = read_header(name, h, a, st);
    if (code != BN_OK)
        return code;
    int64_t wanted = (int64_t)bn_dtype_bytes(a->dtype);
    bool overflow = false;
    for (size_t i = 0; i < a->rank; i++)
        overflow |= __builtin_mul_overflow(wanted, a->dims[i], &wanted);
    a->data = bytes + start + length;
    a->size = size - start - length;
    if (overflow || (uint64_t)wanted != a->size)
        return bn_fail(st, BN_FORMAT, "%s: %zu bytes of elements, its shape wants %s%lld", name,
                       a->size, overflow ? "more than " : "",
                       (long long)(overflow ? INT64_MAX : wanted));
    return BN_OK;
}

/* ---- writing ------------------------------------------------------------------------ */

static const char *descr_of(rt_dtype dtype)
{
    dtype = dtype == BN_BF16 ? BN_U16 : bn_dtype_is_f8(dtype) ? BN_U8 : dtype;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].dtype == dtype)
            return kinds[i].descr;
    return "|V1";
}

bn_code rt_npy_write(const char *path, rt_dtype dtype, size_t rank, const int64_t *dims,
                     const void *data, bn_status *st)
{
    bn_text head = {0};
    size_t bytes = bn_dtype_bytes(dtype);
    bn_text_append(&head, MAGIC "\x01\x00\0\0", MAGIC_BYTES + 4 /* its length below */);
    bn_text_printf(&head, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(dtype));
    for (size_t i = 0; i < rank; i++) {
        bn_text_printf(&head, "%s%lld%s", i ? " " : "", (long long)dims[i],
                       rank == 1 || i + 1 < rank ? "," : "");
        bytes *= (size_t)dims[i];
    }
    bn_text_puts(&head, "), }");
    while ((head.length + 1) % ALIGNMENT != 0)
        bn_text_putc(&head, ' ');
    bn_text_putc(&head, '\n');
    const size_t length = head.length - MAGIC_BYTES - 4;
    head.data[MAGIC_BYTES + 2] = (char)(length & 0xFF);
    head.data[MAGIC_BYTES + 3] = (char)(length >> 8);
    bn_writer *writer = NULL;
    bn_code code = bn_writer_begin(path, &writer, st);
    if (code == BN_OK)
        code = bn_writer_add(writer, head.data, head.length, st);
    if (code == BN_OK)
        code = bn_writer_add(writer, data, bytes, st);
    if (code == BN_OK)
        code = bn_writer_finish(writer, true, st);
    else
        bn_writer_drop(writer);
    bn_text_free(&head);
    return code;
}
