/*
 * weights.h - parameters and running statistics from and to safetensors files,
 * under the framework's names and in its shapes.
 *
 * Prefix model_.
 */
#ifndef BENCH_MODELS_WEIGHTS_H
#define BENCH_MODELS_WEIGHTS_H

#include "models/model.h"

/* ---- from a file (weights.c) --------------------------------------------------- */

typedef struct model_weights model_weights;

/* Opens the file at PATH; it is mapped, not read. BN_NOT_FOUND or BN_IO when it cannot
 * be opened, BN_FORMAT when it is damaged; messages begin with the path. */
BN_MUST_USE bn_code model_weights_open(const char *path, model_weights **weights, bn_status *st);
void model_weights_close(model_weights *weights); /* NULL allowed */

/*
 * Finds every parameter and statistic of INSTANCE in the file: by name, or by another
 * name that the framework has for the same tensor. INSTANCE must outlive the next
 * calls. The file may have F64, F32, F16 or BF16 for any of them, and more
 * tensors than the model wants. BN_INVALID names the first that is missing, has
 * another shape or holds no floating-point numbers.
 */
BN_MUST_USE bn_code model_weights_fit(model_weights *weights, const model *instance, bn_status *st);
/* Puts the contents of VARIABLE, a parameter or statistic of the instance that fits, into
 * HOST, which has room as for model_initial: in the device's shape and dtype, rounded to
 * nearest even where that is narrower. */
void model_weights_load(const model_weights *weights, const model_variable *variable, void *host);

typedef struct model_weights_info {
    size_t bytes;                /* of the file */
    size_t tensors, used;        /* in the file; of these by the model */
    char sha256[BN_SHA256_TEXT]; /* of the file */
} model_weights_info;
/* Describes the file; reads all of it, for its digest. */
void model_weights_describe(const model_weights *weights, model_weights_info *info);
/* Copies the names of tensors that the model does not use, in the order of their
 * names, at most MOST, each shortened to fit; returns how many it copied. */
#define MODEL_WEIGHTS_NAME 100
size_t model_weights_unused(const model_weights *weights, char (*names)[MODEL_WEIGHTS_NAME],
                            size_t most);

/* ---- to a file (export.c) ------------------------------------------------- */

typedef struct model_export model_export;

/*
 * Starts a file at PATH with what model_initial gives each parameter and statistic
 * of INSTANCE, in the framework's shape and order and in the variable's dtype.
 * METADATA has keys and values in turn and ends with NULL. A file that is there
 * is BN_IO and stays, unless REPLACE; model_export_finish then replaces it.
 */
BN_MUST_USE bn_code model_export_begin(const model *instance, const char *path,
                                       const char *const *metadata, bool replace,
                                       model_export **out, bn_status *st);
/* The same for INSTANCE's inputs, under their names: images in the model's dtype, tokens and labels
 * as I32. */
BN_MUST_USE bn_code model_export_batch(const model *instance, const char *path,
                                       const char *const *metadata, bool replace,
                                       model_export **out, bn_status *st);
/* Writes one more tensor; *MORE is false where none was left. */
BN_MUST_USE bn_code model_export_next(model_export *out, bool *more, bn_status *st);

typedef struct model_export_sums {
    size_t tensors, bytes; /* of the file */
    int64_t elements;
} model_export_sums;
/* Ends the file after the last tensor, and gives it its name. Frees OUT, also when it
 * fails. */
BN_MUST_USE bn_code model_export_finish(model_export *out, model_export_sums *sums, bn_status *st);
void model_export_abandon(model_export *out); /* NULL allowed; leaves no file */

#endif
