/*
 * safetensors_write.c - writing of safetensors files: header first, then one
 * tensor after the other, so that no more than one of them is in memory.
 */
#include "models/weights/safetensors_priv.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct model_file_writer {
    bn_writer *out;
    char *path;
    size_t header_bytes, data_bytes; /* of data: written so far */
    size_t announced_bytes;          /* of data, by the header */
    bool replace;
};

/* ---- header -------------------------------------------------------------------- */

static json_t *entry_json(const model_file_tensor *t, size_t begin)
{
    json_t *shape = json_array();
    for (size_t i = 0; i < t->rank; i++)
        json_array_append_new(shape, json_integer(t->dims[i]));
    return json_pack("{ss so s[II]}", "dtype", model_file_dtype_name(t->dtype), "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)(begin + t->bytes));
}

static json_t *metadata_json(const char *const *metadata)
{
    json_t *object = json_object();
    for (; metadata && metadata[0]; metadata += 2)
        json_object_set_new(object, metadata[0], json_string(metadata[1]));
    return object;
}

/* Appends length and header to OUT; *BYTES is the size of all tensors' data. */
static void make_header(const model_file_tensor *tensors, size_t count, const char *const *metadata,
                        bn_text *out, size_t *bytes)
{
    json_t *header = json_object();
    json_object_set_new(header, "__metadata__", metadata_json(metadata));
    *bytes = 0;
    for (size_t i = 0; i < count; i++) {
        json_object_set_new(header, tensors[i].name, entry_json(&tensors[i], *bytes));
        *bytes += tensors[i].bytes;
    }
    char *text = json_dumps(header, JSON_COMPACT);
    /* Spaces at the end keep the data aligned to the widest type. */
    uint64_t used = strlen(text), length = (used + 7) / 8 * 8;
    bn_text_append(out, (const char *)&length, sizeof length);
    bn_text_append(out, text, used);
    bn_text_append(out, "        ", length - used);
    free(text);
    json_decref(header);
}

/* ---- file --------------------------------------------------------------------------- */

static bn_code refuse_existing(const char *path, bn_status *st)
{
    return bn_fail(st, BN_IO,
                   "%s is there already and is not overwritten: choose another name, or --force",
                   path);
}

bn_code model_file_create(const char *path, const model_file_tensor *tensors, size_t count,
                          const char *const *metadata, bool replace, model_file_writer **writer,
                          bn_status *st)
{
    struct stat info;
    bn_text header = {0};
    /* Refused now rather than after gigabytes; the renaming at the end is what counts. */
    if (!replace && lstat(path, &info) == 0)
        return refuse_existing(path, st);
    model_file_writer *w = bn_zalloc(1, sizeof *w);
    w->path = bn_strdup(path);
    w->replace = replace;
    make_header(tensors, count, metadata, &header, &w->announced_bytes);
    bn_code code = bn_writer_begin(path, &w->out, st);
    if (code == BN_OK) {
        w->header_bytes = header.length;
        code = bn_writer_add(w->out, header.data, header.length, st);
    }
    bn_text_free(&header);
    if (code != BN_OK)
        model_file_abandon(w);
    else
        *writer = w;
    return code;
}

bn_code model_file_write(model_file_writer *w, const void *data, size_t size, bn_status *st)
{
    w->data_bytes += size;
    return bn_writer_add(w->out, data, size, st);
}

bn_code model_file_finish(model_file_writer *w, size_t *size, bn_status *st)
{
    struct stat info;
    assert(w->data_bytes == w->announced_bytes);
    bn_status why = {.code = BN_OK};
    bn_code code = bn_writer_finish(w->out, w->replace, &why);
    w->out = NULL;
    if (code == BN_OK && size)
        *size = w->header_bytes + w->data_bytes;
    else if (code != BN_OK && !w->replace && lstat(w->path, &info) == 0)
        refuse_existing(w->path, st);
    else if (code != BN_OK)
        bn_fail(st, code, "%s", why.message);
    model_file_abandon(w);
    return code;
}

void model_file_abandon(model_file_writer *w)
{
    if (!w)
        return;
    bn_writer_drop(w->out);
    free(w->path);
    free(w);
}
