/*
 * model_priv.h - the table of models, and what files of models include.
 */
#ifndef BENCH_MODELS_MODEL_PRIV_H
#define BENCH_MODELS_MODEL_PRIV_H

#include "models/model.h"
#include "models/nn/nn.h"

/* Row INDEX, or NULL after the last one. */
const model_row *model_row_at(size_t index); /* table.c */
/* The row, or the example's, called NAME; NULL: there is none. */
const model_row *model_row_named(const char *name);

#endif
