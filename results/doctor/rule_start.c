/*
 * rule_start.c - compiling takes long at each start.
 */
#include "results/doctor/doctor_priv.h"

static double cost(const res_process *p)
{
    return p->measures.compile_ns;
}

static double is_compiled(const res_speedup_row *row)
{
    return row->figures.compile.processes > 0;
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    (void)c;
    bn_text_puts(out, "compiling");
}

const res_doctor_rule res_rule_start = {
    .name = "start",
    .cost = cost,
    .count = is_compiled,
    .least_ns = RES_DOCTOR_START_NS,
    .of_start = true,
    .further = res_starts_further,
    .subject = put_subject,
    .advice = res_starts_advice,
};
