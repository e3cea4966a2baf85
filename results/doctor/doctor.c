/*
 * doctor.c - what keeps a step from being as fast as its device: the rules, held against each
 * row.
 *
 * A rule is violated where its cost is significantly above a share of the step: where there is an
 * interval, by its lower bound. The costs of two rules may overlap: steps in flight hide what a
 * capture would save.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <stdlib.h>

#define X(NAME, name) [RES_RULE_##NAME] = &res_rule_##name,
static const res_doctor_rule *const rules[RES_RULE_COUNT] = {RES_DOCTOR_RULES(X)};
#undef X

const char *res_rule_name(res_rule rule)
{
    return rule < RES_RULE_COUNT ? rules[rule]->name : "";
}

const json_t *res_why(const res_record *record, res_rule rule, size_t *more)
{
    *more = 0;
    return rules[rule]->is_cause ? res_cause_of(record, rules[rule]->is_cause, more) : NULL;
}

void res_doctor_subject(const res_doctor_finding *finding, bn_text *out)
{
    rules[finding->rule]->subject(finding, out);
}

void res_doctor_advice(const res_doctor_finding *finding, const res_experiment *experiment,
                       bn_text *out)
{
    rules[finding->rule]->advice(finding, experiment, out);
}

/* ---- findings ---------------------------------------------------------------------------------
 */

/* The cost of rule CONTEXT. */
static double cost_to(const res_process *p, const void *context)
{
    const res_doctor_rule *rule = context;
    return rule->cost(p);
}

/* The same, and the mean step, where P knows the cost. */
static double known_cost_to(const res_process *p, const void *context)
{
    const res_doctor_rule *rule = context;
    return rule->knows(p) ? rule->cost(p) : (double)NAN;
}

static double known_mean_wall(const res_process *p, const void *context)
{
    const res_doctor_rule *rule = context;
    return rule->knows(p) ? res_cost_mean_wall(p) : (double)NAN;
}

static double mean_wall(const res_process *p, const void *context)
{
    (void)context;
    return res_cost_mean_wall(p);
}

/* The cost of RULE to the processes of ROW; *WHOLE_NS gets the step that it is a part of. */
static res_estimate cost_of(const res_speedup_row *row, const res_doctor_rule *rule,
                            double *whole_ns)
{
    const res_pool *pool = &row->pool;
    const res_estimate own = res_pool_estimate(pool, rule->knows ? known_cost_to : cost_to, rule);
    const bool known = rule->knows && isfinite(own.mean);
    *whole_ns = rule->of_mean_step
                    ? res_pool_estimate(pool, known ? known_mean_wall : mean_wall, rule).mean
                    : row->figures.wall.value.estimate;
    return known || !rule->knows ? own : res_pool_estimate(pool, cost_to, rule);
}

/* Whether row INDEX violates rule NUMBER; then *OUT is the finding. */
static bool is_violated(const res_speedup *speedup, size_t index, res_rule number,
                        res_doctor_finding *out)
{
    const res_speedup_row *row = &speedup->rows[index];
    const res_doctor_rule *rule = rules[number];
    const double count = rule->count(row);
    double whole_ns = 0;
    if (!(count > 0))
        return false;
    const res_estimate cost = cost_of(row, rule, &whole_ns);
    const res_interval ns = res_estimate_interval(&cost);
    const double surely = isfinite(ns.low) ? ns.low : ns.estimate;
    const double on_top_ns = rule->of_further ? ns.estimate : 0;
    if (!(whole_ns > 0) || !(surely > 0) || surely < rule->least_share * (whole_ns + on_top_ns) ||
        surely < rule->least_ns)
        return false;
    *out = (res_doctor_finding){
        .rule = number,
        .row = index,
        .cost_ns = ns,
        .share = rule->of_start ? (double)NAN : ns.estimate / (whole_ns + on_top_ns),
        .count = count,
        .at_most = rule->may_hide && rule->may_hide(row) && !isfinite(res_cost_device_of_row(row)),
        .alone = res_step_alone(row),
        .hidden_ns = (double)NAN,
        .of_programs = rule->of_programs};
    if (rule->is_cause)
        out->why = res_pool_cause(&row->pool, rule->is_cause, &out->more);
    if (rule->further)
        rule->further(row, out);
    return true;
}

/* The most costly first; what starts cost, last. */
static int order(const void *a, const void *b)
{
    const res_doctor_finding *left = a, *right = b;
    const bool l = rules[left->rule]->of_start, r = rules[right->rule]->of_start;
    if (l != r)
        return l - r;
    return (left->cost_ns.estimate < right->cost_ns.estimate) -
           (left->cost_ns.estimate > right->cost_ns.estimate);
}

res_doctor_finding *res_doctor(const res_speedup *speedup, size_t *count)
{
    res_doctor_finding *all = bn_zalloc(speedup->count * RES_RULE_COUNT, sizeof *all);
    *count = 0;
    for (size_t i = 0; i < speedup->count; i++)
        for (int r = 0; r < RES_RULE_COUNT && speedup->rows[i].pool.count > 0; r++)
            *count += is_violated(speedup, i, (res_rule)r, &all[*count]);
    qsort(all, *count, sizeof *all, order);
    return all;
}
