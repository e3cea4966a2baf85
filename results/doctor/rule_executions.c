/*
 * rule_executions.c - a step is several executions, each with its overhead.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <string.h>

/* The saving of one execution instead of all: the overheads of the others, as far as the device
 * waits for them. */
static double cost(const res_process *p)
{
    const double overhead_ns = p->measures.overhead_ns;
    return res_cost_lesser((p->measures.executions - 1) * overhead_ns,
                           res_cost_exposed(p, BN_PART_WAIT) - overhead_ns);
}

/* A figure that tables refuse is no finding either. */
static double executions_run(const res_speedup_row *row)
{
    const bool known =
        isfinite(row->figures.overhead.value.estimate) && !res_computes_values(row->record);
    return known && row->figures.executions > 1 ? row->figures.executions : 0;
}

/* Of a broken step. If breaks have added no execution, the read stands behind the last one. */
static bool is_cause(const res_record *record, const char *word)
{
    return (strcmp(word, "host") == 0 || strcmp(word, "read") == 0) &&
           res_executions_added(record) > 0;
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out, "the overhead of %.3g executions in place of one", c->count);
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    const bool eager = strcmp(e->mode, "eager") == 0;
    bn_text_puts(out, eager ? "Trace the step into one graph (--mode lazy or capture): "
                            : "Merge the graphs (--graphs 1), and remove what breaks them: ");
    res_fix_put(eager ? RES_FIX_CAPTURE : RES_FIX_MERGE, e, out);
    bn_text_puts(out, ".");
    if (eager)
        res_scope_put(c, e, "executions", out);
    if (!res_is_awaited(e))
        return;
    bn_text_puts(out, " Or submit them one behind the other (--dispatch queued): ");
    res_fix_put(RES_FIX_QUEUE, e, out);
    bn_text_puts(out, ".");
}

const res_doctor_rule res_rule_executions = {
    .name = "executions",
    .cost = cost,
    .count = executions_run,
    .least_share = RES_DOCTOR_SHARE,
    .is_cause = is_cause,
    .further = res_scopes_further,
    .subject = put_subject,
    .advice = put_advice,
};
