/*
 * cell.c - the conditions under which two modes may be compared.
 */
#include "results/table_priv.h"

#include <string.h>

unsigned res_setup_difference(const res_experiment *a, const res_experiment *b)
{
    unsigned mask = 0;
    mask |= strcmp(a->variant, b->variant) != 0 ? RES_SETUP_VARIANT : 0;
    mask |= a->batch != b->batch ? RES_SETUP_BATCH : 0;
    mask |= a->image != b->image ? RES_SETUP_IMAGE : 0;
    mask |= strcmp(a->dtype, b->dtype) != 0 ? RES_SETUP_DTYPE : 0;
    mask |= strcmp(a->layout, b->layout) != 0 ? RES_SETUP_LAYOUT : 0;
    mask |= a->in_flight != b->in_flight ? RES_SETUP_IN_FLIGHT : 0;
    return mask;
}

static void separate(bn_text *out, size_t start)
{
    if (out->length > start)
        bn_text_puts(out, ", ");
}

void res_setup_text(const res_experiment *experiment, unsigned mask, bn_text *out)
{
    size_t start = out->length;
    if ((mask & RES_SETUP_VARIANT) && experiment->variant[0] != '\0')
        bn_text_puts(out, experiment->variant);
    if (mask & RES_SETUP_BATCH) {
        separate(out, start);
        bn_text_printf(out, "batch %d", experiment->batch);
    }
    if ((mask & RES_SETUP_IMAGE) && experiment->image > 0) {
        separate(out, start);
        bn_text_printf(out, "image %d", experiment->image);
    }
    if ((mask & RES_SETUP_DTYPE) && experiment->dtype[0] != '\0') {
        separate(out, start);
        bn_text_puts(out, experiment->dtype);
    }
    if ((mask & RES_SETUP_LAYOUT) && experiment->layout[0] != '\0') {
        separate(out, start);
        bn_text_puts(out, experiment->layout);
    }
    if (mask & RES_SETUP_IN_FLIGHT) {
        separate(out, start);
        if (experiment->in_flight <= 1)
            bn_text_puts(out, "serial");
        else
            bn_text_printf(out, "%d in flight", experiment->in_flight);
    }
}
