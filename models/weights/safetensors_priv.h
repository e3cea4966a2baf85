/*
 * safetensors_priv.h - the safetensors file format, read and written.
 *
 * A file is 8 bytes of header length (little-endian), a JSON header
 * {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...,
 * "__metadata__": {"KEY": "VALUE"}}, and the tensors' bytes, row-major and
 * little-endian, which cover the rest without overlap or hole.
 *
 * Knows the format and nothing of models; weights.c brings the two together.
 * Source: github.com/huggingface/safetensors, README.md and tensor.rs.
 */
#ifndef BENCH_MODELS_SAFETENSORS_PRIV_H
#define BENCH_MODELS_SAFETENSORS_PRIV_H

#include "runtime/base/base.h"

/* Element types: bits of one. Widest first, the order in which we write them. */
#define MODEL_FILE_DTYPES(X)                                                                       \
    X(C64, 64)                                                                                     \
    X(F64, 64)                                                                                     \
    X(I64, 64)                                                                                     \
    X(U64, 64)                                                                                     \
    X(F32, 32)                                                                                     \
    X(I32, 32)                                                                                     \
    X(U32, 32)                                                                                     \
    X(BF16, 16)                                                                                    \
    X(F16, 16)                                                                                     \
    X(I16, 16)                                                                                     \
    X(U16, 16)                                                                                     \
    X(F8_E5M2, 8)                                                                                  \
    X(F8_E4M3, 8)                                                                                  \
    X(F8_E8M0, 8)                                                                                  \
    X(F8_E5M2FNUZ, 8)                                                                              \
    X(F8_E4M3FNUZ, 8)                                                                              \
    X(I8, 8)                                                                                       \
    X(U8, 8)                                                                                       \
    X(BOOL, 8)                                                                                     \
    X(F6_E2M3, 6)                                                                                  \
    X(F6_E3M2, 6)                                                                                  \
    X(F4, 4)

typedef enum model_file_dtype {
#define X(name, bits) MODEL_FILE_##name,
    MODEL_FILE_DTYPES(X)
#undef X
        MODEL_FILE_DTYPE_COUNT
} model_file_dtype;

const char *model_file_dtype_name(model_file_dtype dtype); /* "F32" */

/* A tensor of a file. */
typedef struct model_file_tensor {
    const char *name;
    model_file_dtype dtype;
    size_t rank;
    const int64_t *dims;
    const unsigned char *data; /* at no alignment; NULL when writing */
    size_t bytes;
} model_file_tensor;

/* ---- reading (safetensors.c) ------------------------------------------------ */

typedef struct model_file model_file;

/*
 * Reads the file in the SIZE bytes at BYTES, which must outlive *FILE: no byte is copied,
 * and none outside of them is looked at. BN_FORMAT says what is damaged. Refused is what
 * the reference implementation refuses, and also duplicate names and names with a zero
 * byte.
 */
BN_MUST_USE bn_code model_file_parse(const void *bytes, size_t size, model_file **file,
                                     bn_status *st);
/* Maps the file at PATH and reads it. BN_NOT_FOUND, BN_IO, or errors as above; messages
 * begin with the path. */
BN_MUST_USE bn_code model_file_open(const char *path, model_file **file, bn_status *st);
void model_file_free(model_file *file); /* NULL allowed; unmaps */

/* All tensors, sorted by name. */
const model_file_tensor *model_file_tensors(const model_file *file, size_t *count);
/* The tensor called NAME, or NULL. */
const model_file_tensor *model_file_find(const model_file *file, const char *name);
/* All bytes of the file. */
const void *model_file_bytes(const model_file *file, size_t *size);

/* ---- writing (safetensors_write.c) ------------------------------------------- */

typedef struct model_file_writer model_file_writer;

/*
 * Starts a file for COUNT tensors, whose data follow in this order; METADATA has
 * keys and values in turn and ends with NULL. The file gets its name at the end:
 * until then, and when anything fails, there is none. A file called PATH is an
 * error and is kept, unless REPLACE.
 */
BN_MUST_USE bn_code model_file_create(const char *path, const model_file_tensor *tensors,
                                      size_t count, const char *const *metadata, bool replace,
                                      model_file_writer **writer, bn_status *st);
/* Writes the next tensor, all of its bytes at once. */
BN_MUST_USE bn_code model_file_write(model_file_writer *writer, const void *data, size_t size,
                                     bn_status *st);
/* Ends the file after the last tensor, and gives it its name. *SIZE (NULL allowed) is the
 * file's. Frees WRITER, also when it fails. */
BN_MUST_USE bn_code model_file_finish(model_file_writer *writer, size_t *size, bn_status *st);
/* Removes what was written and frees WRITER; NULL allowed. */
void model_file_abandon(model_file_writer *writer);

/* Puts NAME, which may hold anything and be of any length, into WORD as it can stand in a
 * message: shortened, and printable. Returns WORD. */
#define MODEL_FILE_WORD 100
const char *model_file_word(const char *name, char word[MODEL_FILE_WORD]);

#endif
