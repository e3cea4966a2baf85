/*
 * rule_reads.c - steps read values back to the host.
 */
#include "results/doctor/doctor_priv.h"

#include <string.h>

static double cost(const res_process *p)
{
    return (1 - res_cost_share_of_ops(p, BN_COUNTER_TRANSFERS_TO_HOST)) * res_cost_breaks(p);
}

static bool is_cause(const res_record *record, const char *word)
{
    (void)record;
    return strcmp(word, "read") == 0;
}

static void set_branches(const res_speedup_row *row, res_doctor_finding *finding)
{
    finding->branches = res_pool_branches(&row->pool, finding->why);
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out, "reading %.3g value%s a step back to the host", c->count,
                   c->count > 1 ? "s" : "");
}

/* A value that chooses a branch is needed in each step, as long as the host has the branch. */
static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    if (c->branches)
        bn_text_puts(out, res_remedy_for("branch"));
    if (c->branches && c->more == 0)
        return;
    bn_text_printf(out,
                   "%s values in some steps only: after a read the device waits until the host "
                   "submits the next step.",
                   c->branches ? " Read other" : "Read");
    bn_text_puts(out, c->why           ? ""
                      : res_is_ours(e) ? " bench explain shows where."
                                       : " bench doctor RECORDING shows which value.");
}

const res_doctor_rule res_rule_reads = {
    .name = "reads",
    .cost = cost,
    .count = res_step_reads,
    .least_share = RES_DOCTOR_SHARE,
    .may_hide = res_always_hides, /* the device works on what was submitted before */
    .is_cause = is_cause,
    .further = set_branches,
    .subject = put_subject,
    .advice = put_advice,
};
