/*
 * rule_host.c - the device waits while the framework works on a CPU.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

#include <math.h>

/* The host runs ahead where at least this share of the steps is submitted before the device has
 * finished the step before: most of them. */
#define AHEAD 0.5

/* The saving of a step if the host were a step ahead; 0 where it is already. */
static double behind(const rec_checking *c)
{
    if (c->out->answer.ahead_share >= AHEAD)
        return 0;
    return fmax(0, c->wall_ns - fmax(c->busy_ns, c->host_ns));
}

static bool check(rec_checking *c)
{
    rec_fill_gaps(c, REC_PART_HOST);
    rec_finding *made = rec_judge(c, REC_RULE_HOST, RES_DOCTOR_SHARE);
    if (!made)
        return true;
    rec_put_longest_gap(c->steps, made);
    const double hidden = fmin(made->cost_ns.estimate, behind(c));
    if (hidden > 0)
        made->hidden_ns = hidden;
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    (void)c;
    bn_text_puts(out, "work of the framework on a CPU, for which the device waits,");
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    bn_text_puts(out, "Compile more of the step into one program, and trace it once.");
    rec_put_hidden(c, "Submitting the next step before the device finishes this one", out);
    if (!checkup->steps->cpu_clocks)
        bn_text_puts(out, " CPU clocks were not recorded, so it may also be sleep.");
}

const rec_doctor_rule rec_rule_host = {
    .name = "host",
    .check = check,
    .of_completions = true,
    .subject = put_subject,
    .advice = put_advice,
};
