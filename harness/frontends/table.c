/*
 * table.c - the front ends, one row each. Another one is a folder in contrib/frontends and a row.
 */
#include "harness/frontends/frontends.h"

#include <string.h>

static const frontend_info rows[] = {
    {.name = "jax",
     .framework = "JAX",
     .modes = "capture,parts,eager",
     .trains = "parts",
     .decodes = "capture,eager",
     .summary = "jit of the whole step; gradient and update jitted apart; op by op",
     .models = "plain JAX, contrib/frontends/jax/models",
     .values = "arrays of the safetensors files, put on the device; kernels and images with the "
               "channels last"},
    {.name = "pytorch-xla",
     .framework = "PyTorch/XLA",
     .modes = "lazy,capture,dynamo,dynamo-step",
     .trains = "dynamo-step",
     .summary =
         "lazy tensors; torch_xla.compile of the step; torch.compile of the model, and of the "
         "step",
     .models = "torchvision, timm and transformers",
     .values = "the safetensors files by the modules' own names, then moved to the device"},
};
#define ROWS (sizeof rows / sizeof *rows)

const frontend_info *frontend_at(size_t index)
{
    return index < ROWS ? &rows[index] : NULL;
}

const frontend_info *frontend_named(const char *name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

bool frontend_has_mode(const frontend_info *row, const char *mode, const char *phase)
{
    const bool trains = !phase || strcmp(phase, "train") == 0;
    if (phase && strcmp(phase, "decode") == 0)
        return row->decodes && res_axis_has_word(row->decodes, mode);
    return res_axis_has_word(row->modes, mode) && (trains || !res_axis_has_word(row->trains, mode));
}
