/*
 * table.c - the table of models. A new model is a row here, and a model_row in a file of its own or
 * of its family.
 */
#include "models/examples/examples.h"
#include "models/model_priv.h"

#include <string.h>

#define MODELS(X)                                                                                  \
    X(model_resnet18)                                                                              \
    X(model_resnet50)                                                                              \
    X(model_resnext50_32x4d)                                                                       \
    X(model_vgg16)                                                                                 \
    X(model_alexnet)                                                                               \
    X(model_mobilenet_v2)                                                                          \
    X(model_mnasnet1_0)                                                                            \
    X(model_squeezenet1_1)                                                                         \
    X(model_vit_small_patch16_224)                                                                 \
    X(model_vit_base_patch16_224)                                                                  \
    X(model_bert)                                                                                  \
    X(model_bert_pytorch)                                                                          \
    X(model_unit_qnli)                                                                             \
    X(model_transformer_wmt_en_de)                                                                 \
    X(model_gpt2)                                                                                  \
    X(model_llama)                                                                                 \
    X(model_mixtral)

#define X(row) extern const model_row row;
MODELS(X)
#undef X
#define X(row) &row,
static const model_row *const rows[] = {MODELS(X)};
#undef X

const model_row *model_row_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? rows[index] : NULL;
}

static bool describe(const model_row *row, model_info *info)
{
    if (!row)
        return false;
    *info = (model_info){.name = row->name,
                         .summary = row->summary,
                         .source = row->source,
                         .family = row->family,
                         .default_batch = row->batch,
                         .default_image = row->full.image,
                         .golden_batch = row->golden_batch,
                         .default_seq = row->full.seq,
                         .small_image = row->small.image,
                         .small_seq = row->small.seq,
                         .optimizer = row->optimizer,
                         .depth = row->full.depth,
                         .small_depth = row->small.depth,
                         .pads = row->pads,
                         .varies = row->varies,
                         .scans = row->scans,
                         .decodes = row->decodes,
                         .has_small = row->small.learning_rate > 0,
                         .example = row->example != NULL,
                         .always_varies = row->example && row->example->varying};
    return true;
}

bool model_describe(size_t index, model_info *info)
{
    return describe(model_row_at(index), info);
}

bool model_describe_example(size_t index, model_info *info)
{
    return describe(model_example_at(index), info);
}

const model_row *model_row_named(const char *name)
{
    const model_row *row;
    for (size_t i = 0; (row = model_row_at(i)); i++)
        if (strcmp(row->name, name) == 0)
            return row;
    for (size_t i = 0; (row = model_example_at(i)); i++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

bool model_describe_named(const char *name, model_info *info)
{
    return describe(model_row_named(name), info);
}
