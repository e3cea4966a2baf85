/*
 * examples.h - small models that each do what makes steps slow: what bench explain explains. They
 * are no reference models: no list of models has them, and nothing compares their values.
 */
#ifndef BENCH_MODELS_EXAMPLES_H
#define BENCH_MODELS_EXAMPLES_H

#include "models/nn/nn.h"

/* Row INDEX, or NULL after the last one. */
const model_row *model_example_at(size_t index);

#endif
