/*
 * rule_input.c - the device waits while the host sleeps.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

#include <math.h>

static bool check(rec_checking *c)
{
    if (!c->steps->cpu_clocks)
        return true;
    rec_fill_gaps(c, REC_PART_IDLE);
    rec_finding *made = rec_judge(c, REC_RULE_INPUT, RES_DOCTOR_SHARE);
    if (!made)
        return true;
    rec_put_longest_gap(c->steps, made);
    made->hidden_ns = fmin(made->cost_ns.estimate, c->wall_ns - made->cost_ns.estimate);
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    (void)c;
    bn_text_puts(out, "a sleeping host, for which the device waits,");
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    bn_text_puts(out, "Prepare batches in other threads, some steps ahead.");
    rec_put_hidden(c, "That", out);
    if (!checkup->steps->delays)
        bn_text_puts(out, " Run delays were not recorded: it may also be that another program had "
                          "the core.");
}

const rec_doctor_rule rec_rule_input = {
    .name = "input",
    .check = check,
    .of_completions = true,
    .subject = put_subject,
    .advice = put_advice,
};
