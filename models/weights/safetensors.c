/*
 * safetensors.c - reading of safetensors files.
 *
 * The whole header is checked before anything is looked up. Afterwards each tensor's
 * bytes are known to lie in the file, and to be as many as its shape and type need.
 * Jansson reads the JSON, within the length that the file states.
 */
#include "models/weights/safetensors_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LENGTH_BYTES     8
#define MAX_HEADER_BYTES 100000000u /* the reference's limit */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file's numbers are taken as ours");

struct model_file {
    const unsigned char *bytes;
    size_t size;
    const unsigned char *data; /* after the header */
    size_t data_size;
    bool mapped;
    json_t *header;  /* holds the names */
    bn_arena *arena; /* tensors and their dimensions */
    model_file_tensor *tensors;
    size_t count;
};

static const struct {
    const char *name;
    unsigned bits;
} dtypes[MODEL_FILE_DTYPE_COUNT] = {
#define X(name, bits) {#name, bits},
    MODEL_FILE_DTYPES(X)
#undef X
};

const char *model_file_dtype_name(model_file_dtype dtype)
{
    return dtypes[dtype].name;
}

const char *model_file_word(const char *name, char word[MODEL_FILE_WORD])
{
    size_t length = 0;
    for (; length < MODEL_FILE_WORD - 4 && name[length]; length++)
        word[length] = name[length] < ' ' || name[length] > '~' ? '?' : name[length];
    strcpy(word + length, name[length] ? "..." : "");
    return word;
}

/* ---- one tensor's entry ------------------------------------------------------ */

static bn_code bad_entry(const char *name, const char *what, bn_status *st)
{
    char word[MODEL_FILE_WORD];
    return bn_fail(st, BN_FORMAT, "damaged: tensor %s %s", model_file_word(name, word), what);
}

static model_file_dtype dtype_called(const char *name)
{
    int i = 0;
    while (i < MODEL_FILE_DTYPE_COUNT && (!name || strcmp(dtypes[i].name, name) != 0))
        i++;
    return (model_file_dtype)i;
}

/* Reads the dimensions of T; *BYTES is what a tensor of that shape and type needs. */
static bn_code read_shape(model_file *f, model_file_tensor *t, const json_t *shape, size_t *bytes,
                          bn_status *st)
{
    size_t bits;
    if (!json_is_array(shape))
        return bad_entry(t->name, "has no shape", st);
    t->rank = json_array_size(shape);
    int64_t *dims = bn_arena_alloc(f->arena, (t->rank + 1) * sizeof *dims);
    t->dims = dims;
    *bytes = 1; /* elements, until all are counted */
    for (size_t i = 0; i < t->rank; i++) {
        const json_t *value = json_array_get(shape, i);
        dims[i] = json_integer_value(value);
        if (!json_is_integer(value) || dims[i] < 0)
            return bad_entry(t->name, "has a dimension that is no whole number", st);
        if (__builtin_mul_overflow(*bytes, (size_t)dims[i], bytes))
            return bad_entry(t->name, "has a shape that no memory can hold", st);
    }
    if (__builtin_mul_overflow(*bytes, dtypes[t->dtype].bits, &bits))
        return bad_entry(t->name, "has a shape that no memory can hold", st);
    if (bits % 8 != 0)
        return bad_entry(t->name, "does not end with a whole byte", st);
    *bytes = bits / 8;
    return BN_OK;
}

static bn_code read_entry(model_file *f, model_file_tensor *t, const char *name,
                          const json_t *entry, bn_status *st)
{
    const json_t *offsets = json_object_get(entry, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    size_t needed = 0;
    t->name = name;
    if (!json_is_object(entry))
        return bad_entry(name, "is described by no object", st);
    t->dtype = dtype_called(json_string_value(json_object_get(entry, "dtype")));
    if (t->dtype == MODEL_FILE_DTYPE_COUNT)
        return bad_entry(name, "has no dtype of the format", st);
    bn_code code = read_shape(f, t, json_object_get(entry, "shape"), &needed, st);
    if (code != BN_OK)
        return code;
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end))
        return bad_entry(name, "has no data_offsets of two whole numbers", st);
    json_int_t first = json_integer_value(begin), last = json_integer_value(end);
    if (first < 0 || last < first || (uint64_t)last > f->data_size)
        return bad_entry(name, "lies outside of the data", st);
    t->data = f->data + first;
    t->bytes = (size_t)(last - first);
    if (t->bytes != needed)
        return bad_entry(name, "has data_offsets that do not fit its shape and dtype", st);
    return BN_OK;
}

/* ---- the header ----------------------------------------------------------------- */

static bn_code check_metadata(const json_t *metadata, bn_status *st)
{
    const char *key;
    json_t *value;
    if (!json_is_object(metadata) && !json_is_null(metadata))
        return bn_fail(st, BN_FORMAT, "damaged: __metadata__ is no object");
    json_object_foreach((json_t *)(uintptr_t)metadata, key, value)
    {
        if (!json_is_string(value))
            return bn_fail(st, BN_FORMAT, "damaged: __metadata__ has a value that is no text");
    }
    return BN_OK;
}

static int by_place(const void *a, const void *b)
{
    const model_file_tensor *x = a, *y = b;
    if (x->data != y->data)
        return x->data < y->data ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_name(const void *a, const void *b)
{
    const model_file_tensor *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Checks that each byte of the data belongs to exactly one tensor. */
static bn_code check_places(model_file *f, bn_status *st)
{
    const unsigned char *at = f->data;
    if (f->count > 0)
        qsort(f->tensors, f->count, sizeof *f->tensors, by_place);
    for (size_t i = 0; i < f->count; i++) {
        if (f->tensors[i].data != at)
            return bad_entry(f->tensors[i].name,
                             f->tensors[i].data < at ? "overlaps another one"
                                                     : "comes after bytes of no tensor",
                             st);
        at += f->tensors[i].bytes;
    }
    if (at != f->data + f->data_size)
        return bn_fail(st, BN_FORMAT, "damaged: the last %zu bytes belong to no tensor",
                       (size_t)(f->data + f->data_size - at));
    if (f->count > 0)
        qsort(f->tensors, f->count, sizeof *f->tensors, by_name);
    return BN_OK;
}

static bn_code read_entries(model_file *f, bn_status *st)
{
    const char *name;
    json_t *entry;
    size_t most = json_object_size(f->header);
    f->arena = bn_arena_new(1u << 14);
    f->tensors = bn_arena_alloc(f->arena, (most + 1) * sizeof *f->tensors);
    json_object_foreach(f->header, name, entry)
    {
        bn_code code = strcmp(name, "__metadata__") == 0
                           ? check_metadata(entry, st)
                           : read_entry(f, &f->tensors[f->count++], name, entry, st);
        if (code != BN_OK)
            return code;
    }
    return check_places(f, st);
}

static bn_code read_header(model_file *f, bn_status *st)
{
    json_error_t error;
    uint64_t length;
    if (f->size < LENGTH_BYTES)
        return bn_fail(st, BN_FORMAT, "damaged: %zu bytes are too few for a safetensors file",
                       f->size);
    memcpy(&length, f->bytes, sizeof length);
    if (length > MAX_HEADER_BYTES)
        return bn_fail(st, BN_FORMAT,
                       "no safetensors file, or damaged: a header of %llu bytes; the format allows "
                       "%u",
                       (unsigned long long)length, MAX_HEADER_BYTES);
    if (length > f->size - LENGTH_BYTES)
        return bn_fail(st, BN_FORMAT,
                       "damaged: a header of %llu bytes in a file of %zu; it may be cut short",
                       (unsigned long long)length, f->size);
    f->data = f->bytes + LENGTH_BYTES + length;
    f->data_size = f->size - LENGTH_BYTES - (size_t)length;
    const char *text = (const char *)f->bytes + LENGTH_BYTES;
    if (length == 0 || text[0] != '{')
        return bn_fail(st, BN_FORMAT, "no safetensors file, or damaged: the header is no JSON");
    if (bn_json_depth(text, (size_t)length) > BN_JSON_DEPTH)
        return bn_fail(st, BN_FORMAT, "damaged: the header is more than %d levels deep",
                       BN_JSON_DEPTH);
    f->header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!f->header) {
        char word[MODEL_FILE_WORD];
        return bn_fail(
            st, json_error_code(&error) == json_error_out_of_memory ? BN_OUT_OF_MEMORY : BN_FORMAT,
            "damaged: the header, at byte %d: %s", error.position,
            model_file_word(error.text, word));
    }
    return read_entries(f, st);
}

/* ---- files ------------------------------------------------------------------------- */

static bn_code parse(model_file *f, bn_status *st)
{
    bn_code code = read_header(f, st);
    if (code != BN_OK)
        model_file_free(f);
    return code;
}

bn_code model_file_parse(const void *bytes, size_t size, model_file **file, bn_status *st)
{
    model_file *f = bn_zalloc(1, sizeof *f);
    f->bytes = bytes;
    f->size = size;
    bn_code code = parse(f, st);
    if (code == BN_OK)
        *file = f;
    return code;
}

/* Maps PATH into F; an empty file has nothing to map. */
static bn_code map(const char *path, model_file *f, bn_status *st)
{
    struct stat info;
    int fd;
    bn_code code = bn_open_at(AT_FDCWD, path, 0, &fd, &info, st);
    if (code != BN_OK)
        return code;
    if (!S_ISREG(info.st_mode))
        code = bn_fail(st, BN_IO, "%s: not a regular file", path);
    else if (info.st_size > 0) {
        f->size = (size_t)info.st_size;
        void *at = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
        f->mapped = at != MAP_FAILED;
        f->bytes = f->mapped ? at : NULL;
        if (!f->mapped)
            code = bn_fail_errno(st, errno, "%s", path);
    }
    close(fd);
    return code;
}

bn_code model_file_open(const char *path, model_file **file, bn_status *st)
{
    model_file *f = bn_zalloc(1, sizeof *f);
    bn_code code = map(path, f, st);
    if (code != BN_OK) {
        free(f);
        return code;
    }
    code = parse(f, st);
    if (code != BN_OK)
        return bn_context(st, "%s", path);
    *file = f;
    return BN_OK;
}

void model_file_free(model_file *f)
{
    if (!f)
        return;
    json_decref(f->header);
    bn_arena_free(f->arena);
    if (f->mapped)
        munmap((void *)(uintptr_t)f->bytes, f->size);
    free(f);
}

const model_file_tensor *model_file_tensors(const model_file *f, size_t *count)
{
    *count = f->count;
    return f->tensors;
}

const model_file_tensor *model_file_find(const model_file *f, const char *name)
{
    model_file_tensor key = {.name = name};
    return f->count ? bsearch(&key, f->tensors, f->count, sizeof key, by_name) : NULL;
}

const void *model_file_bytes(const model_file *f, size_t *size)
{
    *size = f->size;
    return f->bytes;
}
