/*
 * looks.c - which of the planned looks a cell of a comparison has.
 */
#include "results/findings/findings_priv.h"

/* Twice RES_SHORT_STEP_NS: at 1.2 ms a step (the small mobilenet_v2) twelve pairs of the whole
 * --min-time took 74 s, and twelve of which all but the first take a quarter 41 s. */
#define SHORT_NS (2 * RES_SHORT_STEP_NS)

res_looks res_compared_looks(const res_versus *versus, const res_compared *cell)
{
    if (versus->options.looks != RES_LOOKS_SHORT)
        return versus->options.looks;
    for (int side = 0; side < 2 && cell->pairs > 0; side++) {
        const res_record *first = side ? cell->b[0] : cell->a[0];
        if (!(res_step_median(first, first->wall_ns) < SHORT_NS))
            return RES_LOOKS_USUAL;
    }
    return cell->pairs > 0 ? RES_LOOKS_SHORT : RES_LOOKS_USUAL;
}

res_compare_options res_compared_options(const res_versus *versus, const res_compared *cell)
{
    res_compare_options options = versus->options;
    options.looks = res_compared_looks(versus, cell);
    return options;
}
