/*
 * interim.c - which of the planned interim analyses a cell of a comparison has.
 */
#include "results/findings/findings_priv.h"

/* Twice RES_SHORT_STEP_NS: at 1.2 ms a step (the small mobilenet_v2) twelve pairs of the whole
 * --min-time took 74 s, and twelve of which all but the first take a quarter 41 s. */
#define SHORT_NS (2 * RES_SHORT_STEP_NS)

res_interim res_compared_interim(const res_versus *versus, const res_compared *cell)
{
    if (versus->options.interim != RES_INTERIM_SHORT)
        return versus->options.interim;
    for (int side = 0; side < 2 && cell->pairs > 0; side++) {
        const res_record *first = side ? cell->b[0] : cell->a[0];
        if (!(res_step_median(first, first->wall_ns) < SHORT_NS))
            return RES_INTERIM_USUAL;
    }
    return cell->pairs > 0 ? RES_INTERIM_SHORT : RES_INTERIM_USUAL;
}

res_compare_options res_compared_options(const res_versus *versus, const res_compared *cell)
{
    res_compare_options options = versus->options;
    options.interim = res_compared_interim(versus, cell);
    return options;
}
