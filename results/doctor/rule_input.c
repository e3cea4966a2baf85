/*
 * rule_input.c - steps wait for their batch.
 */
#include "results/doctor/doctor_priv.h"

static double cost(const res_process *p)
{
    static const bn_part part = BN_PART_INPUT;
    const double own_ns = (1 - res_cost_share_of_ops(p, BN_COUNTER_TRANSFERS_TO_DEVICE)) *
                          res_cost_median(p, &part, 1);
    return res_cost_in_flight(p) || (p->record && res_step_sends_ahead(p->record))
               ? res_cost_behind_executions(p, part, own_ns)
               : own_ns;
}

/* Ops of the host send, too, in the same part. */
static double sends_batches(const res_speedup_row *row)
{
    const double ops = res_step_host_ops(row);
    return !(ops > 0) || res_counter_a_step(row->record, BN_COUNTER_TRANSFERS_TO_DEVICE) > ops;
}

static bool may_hide(const res_speedup_row *row)
{
    return res_step_sends_ahead(row->record) || row->record->experiment.in_flight > 1;
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    (void)c;
    bn_text_puts(out, "preparing and sending the batch");
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    (void)c;
    (void)e;
    bn_text_puts(out, "Prepare and send the next batch while the device works on this one.");
}

const res_doctor_rule res_rule_input = {
    .name = "input",
    .cost = cost,
    .count = sends_batches,
    .least_share = RES_DOCTOR_SHARE,
    .may_hide = may_hide,
    .subject = put_subject,
    .advice = put_advice,
};
