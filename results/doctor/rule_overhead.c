/*
 * rule_overhead.c - the overhead of one execution is long compared with its computation.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>

static double cost(const res_process *p)
{
    return res_cost_lesser(p->measures.overhead_ns, res_cost_exposed(p, BN_PART_WAIT));
}

/* Steps in flight hide it. */
static double is_awaited(const res_speedup_row *row)
{
    return !res_computes_values(row->record) && isfinite(row->figures.overhead.value.estimate) &&
           !res_hides_tracing(&row->record->experiment);
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    (void)c;
    bn_text_puts(out, "the overhead of one execution");
}

/* A framework takes no --in-flight, and a step that waits for a value runs alone. */
static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    const bool ours = res_is_ours(e);
    bn_text_printf(out, "Give an execution more to do (%s)%s", ours ? "--batch" : "a larger batch",
                   res_is_awaited(e) ? ", or queue executions (--dispatch queued)."
                   : c->alone
                       ? ". Steps in flight would hide nothing of it: in most steps the host "
                         "waits for a value."
                   : ours ? ", or keep steps in flight (--in-flight 2)."
                          : ", or submit the next step before the device finishes this one.");
    bn_text_puts(out, " In your program, ");
    res_fix_put(c->alone ? RES_FIX_AHEAD : RES_FIX_LARGER, e, out);
    bn_text_puts(out, ".");
}

const res_doctor_rule res_rule_overhead = {
    .name = "overhead",
    .cost = cost,
    .count = is_awaited,
    .least_share = RES_DOCTOR_OVERHEAD,
    .subject = put_subject,
    .advice = put_advice,
};
