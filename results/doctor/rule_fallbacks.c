/*
 * rule_fallbacks.c - the host computes ops of a step.
 */
#include "results/doctor/doctor_priv.h"

#include <string.h>

/* An op of the host is a break that is read, and sent in INPUT. */
static double cost(const res_process *p)
{
    static const bn_part input = BN_PART_INPUT;
    return res_cost_share_of_ops(p, BN_COUNTER_TRANSFERS_TO_HOST) * res_cost_breaks(p) +
           res_cost_share_of_ops(p, BN_COUNTER_TRANSFERS_TO_DEVICE) * res_cost_median(p, &input, 1);
}

static bool is_cause(const res_record *record, const char *word)
{
    (void)record;
    return strcmp(word, "host") == 0;
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out, "computing %.3g op%s a step on the host", c->count,
                   c->count > 1 ? "s" : "");
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    (void)e;
    bn_text_puts(out, "Compute it with ops that the device has, such as a mask instead of "
                      "positions.");
    bn_text_puts(out, c->why ? "" : " bench explain names the op and its line.");
}

const res_doctor_rule res_rule_fallbacks = {
    .name = "fallbacks",
    .cost = cost,
    .count = res_step_host_ops,
    .least_share = RES_DOCTOR_SHARE,
    .may_hide = res_always_hides, /* as a read does */
    .is_cause = is_cause,
    .subject = put_subject,
    .advice = put_advice,
};
