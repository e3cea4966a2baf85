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
extern const model_row model_resnet18, model_resnet50, model_resnext50_32x4d;
extern const model_row model_vgg16, model_alexnet, model_mobilenet_v2, model_mnasnet1_0;
extern const model_row model_squeezenet1_1;
extern const model_row model_vit_small_patch16_224, model_vit_base_patch16_224;
extern const model_row model_bert, model_bert_pytorch, model_unit_qnli;
extern const model_row model_transformer_wmt_en_de, model_gpt2, model_llama, model_mixtral;

#endif
