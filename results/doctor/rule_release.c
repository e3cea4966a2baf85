/*
 * rule_release.c - the plugin takes long to take handles back.
 */
#include "results/doctor/doctor_priv.h"

static double cost(const res_process *p)
{
    static const bn_part part = BN_PART_RELEASE;
    return res_cost_behind_executions(p, part, res_cost_mean(p, &part, 1));
}

static double slow_releases(const res_speedup_row *row)
{
    return res_counter_a_step(row->record, BN_COUNTER_SLOW_RELEASES);
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    (void)c;
    bn_text_puts(out, "releasing handles of the plugin");
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    (void)c;
    (void)e;
    bn_text_puts(out, "Keep fewer buffers, or release them while the device works.");
}

const res_doctor_rule res_rule_release = {
    .name = "release",
    .cost = cost,
    .count = slow_releases,
    .least_share = RES_DOCTOR_SHARE,
    .may_hide = res_always_hides,
    .subject = put_subject,
    .advice = put_advice,
};
