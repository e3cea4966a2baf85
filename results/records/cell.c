/*
 * cell.c - the conditions under which two modes may be compared.
 */
#include "results/records/records_priv.h"

#include <string.h>

unsigned res_setup_difference(const res_experiment *a, const res_experiment *b)
{
    unsigned mask = 0;
    mask |= strcmp(a->variant, b->variant) != 0 ? RES_SETUP_VARIANT : 0;
    mask |= a->batch != b->batch ? RES_SETUP_BATCH : 0;
    mask |= a->image != b->image ? RES_SETUP_IMAGE : 0;
    mask |= a->seq != b->seq ? RES_SETUP_SEQ : 0;
    mask |= strcmp(a->optimizer, b->optimizer) != 0 ? RES_SETUP_OPTIMIZER : 0;
    mask |= strcmp(a->dropout, b->dropout) != 0 ? RES_SETUP_DROPOUT : 0;
    mask |= strcmp(a->input, b->input) != 0 ? RES_SETUP_INPUT : 0;
    mask |= strcmp(a->lengths, b->lengths) != 0 || a->buckets != b->buckets ? RES_SETUP_LENGTHS : 0;
    mask |= strcmp(a->dtype, b->dtype) != 0 ? RES_SETUP_DTYPE : 0;
    mask |= strcmp(a->layout, b->layout) != 0 ? RES_SETUP_LAYOUT : 0;
    mask |= a->in_flight != b->in_flight ? RES_SETUP_IN_FLIGHT : 0;
    mask |= strcmp(a->settings, b->settings) != 0 ? RES_SETUP_SETTINGS : 0;
    mask |= a->trace_cost_ns != b->trace_cost_ns ? RES_SETUP_TRACE_COST : 0;
    return mask;
}

static void separate(bn_text *out, size_t start)
{
    if (out->length > start)
        bn_text_puts(out, ", ");
}

/* Members that are worth a word where they are not as usual. */
static void put_unusual(const res_experiment *e, unsigned mask, size_t start, bn_text *out)
{
    const struct {
        unsigned bit;
        const char *text, *usual, *before, *after;
    } members[] = {
        {RES_SETUP_OPTIMIZER, e->optimizer, "default", "", ""},
        {RES_SETUP_DROPOUT, e->dropout, "default", "dropout ", ""},
        {RES_SETUP_INPUT, e->input, "synthetic", "input ", ""},
        {RES_SETUP_LENGTHS, e->lengths, "fixed", "", " lengths"},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!(mask & members[i].bit) || !members[i].text[0] ||
            strcmp(members[i].text, members[i].usual) == 0)
            continue;
        separate(out, start);
        bn_text_puts(out, members[i].before);
        bn_text_puts(out, members[i].text);
        bn_text_puts(out, members[i].after);
    }
    if ((mask & RES_SETUP_LENGTHS) && e->buckets > 0)
        bn_text_printf(out, " in %d bucket%s", e->buckets, e->buckets == 1 ? "" : "s");
}

void res_setup_text(const res_experiment *experiment, unsigned mask, bn_text *out)
{
    size_t start = out->length;
    if ((mask & RES_SETUP_VARIANT) && experiment->variant[0] != '\0')
        bn_text_puts(out, experiment->variant);
    if ((mask & RES_SETUP_BATCH) && experiment->batch > 0) {
        separate(out, start);
        bn_text_printf(out, "batch %d", experiment->batch);
    }
    if ((mask & RES_SETUP_IMAGE) && experiment->image > 0) {
        separate(out, start);
        bn_text_printf(out, "image %d", experiment->image);
    }
    if ((mask & RES_SETUP_SEQ) && experiment->seq > 0) {
        separate(out, start);
        bn_text_printf(out, "seq %d", experiment->seq);
    }
    put_unusual(experiment, mask, start, out);
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
    if ((mask & RES_SETUP_SETTINGS) && experiment->settings[0] != '\0') {
        separate(out, start);
        bn_text_puts(out, experiment->settings);
    }
    if ((mask & RES_SETUP_TRACE_COST) && experiment->trace_cost_ns > 0) {
        separate(out, start);
        bn_text_printf(out, "emulated front end of %d ns a node", experiment->trace_cost_ns);
    }
}
