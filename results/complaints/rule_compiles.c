/*
 * rule_compiles.c - programs are still compiled in the later half of the recording.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

static bool check(rec_checking *c)
{
    bn_text where = {0};
    rec_late late;
    if (!rec_late_find(c->steps, &late, &where)) {
        bn_text_free(&where);
        return false;
    }
    const double mean_ns = late.steps > 0 ? late.wall_ns / late.steps : 0;
    if (late.compiles < 2 || !rec_is_above(late.ns, RES_DOCTOR_COMPILES, mean_ns)) {
        bn_text_free(&where);
        return true;
    }
    rec_finding *made = rec_add(c, REC_RULE_COMPILES, late.ns, mean_ns);
    made->count = late.compiles / late.steps;
    made->program = late.example;
    made->where = where;
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "compiling or loading programs, %.3g in 100 steps to the end,",
                   100 * c->count);
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    (void)checkup;
    (void)c;
    bn_text_puts(out, "Keep shapes, types, branches and baked-in values as they are: pad to a few "
                      "lengths, and make values that change arguments. bench diff RECORDING shows "
                      "what differs.");
}

const rec_doctor_rule rec_rule_compiles = {
    .name = "compiles",
    .check = check,
    .subject = put_subject,
    .advice = put_advice,
};
