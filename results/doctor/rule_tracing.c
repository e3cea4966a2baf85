/*
 * rule_tracing.c - a step is traced anew each time, though its graph stays the same.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <string.h>

static double cost(const res_process *p)
{
    const double own_ns = p->measures.trace_ns;
    return res_cost_hides(p) ? res_not_hidden(p, own_ns) : own_ns;
}

/* A captured step is traced only where its guards fail. In eager mode the calls of ops are the
 * step. A framework reports by itself how many nodes it traces in each step of a mode, if it does.
 */
static double nodes_traced(const res_speedup_row *row)
{
    const char *mode = row->record->experiment.mode;
    const bool seldom = strcmp(mode, "capture") == 0 &&
                        res_counter_a_step(row->record, BN_COUNTER_GUARD_MISSES) <= 0.5;
    return res_is_ours(&row->record->experiment) && (strcmp(mode, "eager") == 0 || seldom)
               ? 0
               : row->figures.nodes_per_step;
}

static bool may_hide(const res_speedup_row *row)
{
    return res_hides_tracing(&row->record->experiment);
}

/* Of a captured step: the value that differs. */
static bool is_cause(const res_record *record, const char *word)
{
    (void)record;
    return strcmp(word, "values") == 0;
}

/* The share of COST that steps in flight would hide behind the device, in ns; NaN where that is
 * unknown, or a framework does not take the option. */
static double hidden(const res_speedup_row *row, double cost_ns)
{
    const double device_ns = res_cost_device_of_row(row);
    const bool may = res_is_ours(&row->record->experiment) &&
                     !res_is_awaited(&row->record->experiment) &&
                     row->record->experiment.in_flight <= 1 && !res_step_alone(row);
    return may && isfinite(device_ns) ? fmin(cost_ns, device_ns) : (double)NAN;
}

static void set_hidden(const res_speedup_row *row, res_doctor_finding *finding)
{
    finding->hidden_ns = hidden(row, finding->cost_ns.estimate);
    res_scopes_further(row, finding);
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out, "tracing %.0f nodes", c->count);
}

/* A framework's capture may trace each step, too: PyTorch/XLA's does. */
static void put_advice_on_a_framework(const res_experiment *e, bn_text *out)
{
    if (strcmp(e->front_end, "pytorch-xla") == 0)
        bn_text_printf(out,
                       "Let dynamo capture the step (--mode %s, which is "
                       "torch.compile(backend=\"openxla\")): no later step traces it again.",
                       strcmp(e->phase, "train") == 0 ? "dynamo-step" : "dynamo");
    else
        bn_text_puts(out, "Let the framework capture the step, so that no later step traces it");
    if (strcmp(e->front_end, "pytorch-xla") != 0) {
        bn_text_puts(out, ": ");
        res_fix_put(RES_FIX_CAPTURE, e, out);
        bn_text_puts(out, ".");
    }
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    if (!res_is_ours(e)) {
        put_advice_on_a_framework(e, out);
        return;
    }
    bn_text_puts(out, strcmp(e->mode, "capture") == 0
                          ? "The capture's guards fail, so the step is traced again: do not read "
                            "what differs in each step, and keep types and arguments."
                          : "Capture the step (--mode capture): it then checks its guards only.");
    if (strcmp(e->mode, "capture") != 0) {
        bn_text_puts(out, " In your program, ");
        res_fix_put(RES_FIX_CAPTURE, e, out);
        bn_text_puts(out, ".");
    }
    res_scope_put(c, e, "tracing", out);
    if (isfinite(c->hidden_ns))
        bn_text_printf(out,
                       " Steps in flight (--in-flight 2) or windows (--mode fused) hide up to %s of it "
                       "behind the device.",
                       res_time(c->hidden_ns).text);
}

const res_doctor_rule res_rule_tracing = {
    .name = "tracing",
    .cost = cost,
    .count = nodes_traced,
    .least_share = RES_DOCTOR_SHARE,
    .may_hide = may_hide,
    .is_cause = is_cause,
    .further = set_hidden,
    .subject = put_subject,
    .advice = put_advice,
};
