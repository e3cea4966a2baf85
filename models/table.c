/*
 * table.c - the models that there are. A new one is a line here, and a row in the
 * file of its family.
 */
#include "models/model_priv.h"

static const model_row *const rows[] = {
    &model_resnet18,     &model_resnet50, &model_resnext50, /* resnet.c */
    &model_vgg16,                                           /* vgg.c */
    &model_alexnet,                                         /* alexnet.c */
    &model_mobilenet_v2,                                    /* mobilenet.c */
    &model_mnasnet,                                         /* mnasnet.c */
    &model_squeezenet,                                      /* squeezenet.c */
};

const model_row *model_row_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? rows[index] : NULL;
}

bool model_describe(size_t index, model_info *info)
{
    const model_row *row = model_row_at(index);
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
                         .pads = row->pads,
                         .varies = row->varies,
                         .has_small = row->small.learning_rate > 0};
    return true;
}
