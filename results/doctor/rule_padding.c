/*
 * rule_padding.c - the device computes positions that hold no token.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>

/* As if an execution took as long as it has positions. With steps in flight the device works for
 * the whole step, and the host waits for as long as its own work is shorter. So a step without
 * padding is shorter by the padding's share, and by no more than the wait; or, where a plugin
 * executes within its call, by the share of that. */
static double cost(const res_process *p)
{
    static const bn_part parts[] = {BN_PART_WAIT, BN_PART_DISPATCH};
    if (!p->record)
        return (double)NAN;
    const int64_t *counters = p->record->step_counters;
    const double share =
        (double)counters[BN_COUNTER_POSITIONS_PADDED] / (double)counters[BN_COUNTER_POSITIONS];
    const double alone_ns = share * res_cost_mean(p, parts, sizeof parts / sizeof *parts);
    return res_cost_in_flight(p) ? res_cost_lesser(share * res_cost_mean_wall(p),
                                                   fmax(res_cost_mean(p, parts, 1), alone_ns))
                                 : alone_ns;
}

static double padded_share(const res_speedup_row *row)
{
    const int64_t *counters = row->record->step_counters;
    return counters[BN_COUNTER_POSITIONS] > 0 ? (double)counters[BN_COUNTER_POSITIONS_PADDED] /
                                                    (double)counters[BN_COUNTER_POSITIONS]
                                              : 0;
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out, "padding, %.0f %% of all positions,", 100 * c->count);
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    (void)c;
    (void)e;
    bn_text_puts(out, "Put rows of similar length into a batch, or pad to more lengths "
                      "(--buckets); bench study buckets finds the best number.");
}

const res_doctor_rule res_rule_padding = {
    .name = "padding",
    .cost = cost,
    .count = padded_share,
    .least_share = RES_DOCTOR_SHARE,
    .subject = put_subject,
    .advice = put_advice,
};
