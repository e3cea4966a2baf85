/*
 * model_priv.h - the table of models, and what files of models include.
 */
#ifndef BENCH_MODELS_MODEL_PRIV_H
#define BENCH_MODELS_MODEL_PRIV_H

#include "models/model.h"
#include "models/nn/nn.h"

/* Traces one step of M on T. */
typedef void model_one_step(tg_trace *t, const model *m);
/* Makes M, which is built and whose steps are ONE_STEP's, a model of several steps a call: finds what
 * its steps carry, and stacks inputs and results. BN_INVALID where the host takes part in a step
 * (loop.c). */
BN_MUST_USE bn_code model_loop_new(model *m, model_one_step *one_step, bn_status *st);
void model_loop_free(model_loop *loop); /* NULL allowed; its memory is the instance's */
/* Traces these steps on T, as one loop. */
void model_loop_step(tg_trace *t, const model *m);

/* Row INDEX, or NULL after the last one. */
const model_row *model_row_at(size_t index); /* table.c */
/* The row, or the example's, called NAME; NULL: there is none. */
const model_row *model_row_named(const char *name);

#endif
