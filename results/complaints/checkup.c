/*
 * checkup.c - the rules on a recording, held against its steps.
 */
#include "results/complaints/complaints_priv.h"

#include <stdlib.h>

#define X(NAME, name) [REC_RULE_##NAME] = &rec_rule_##name,
static const rec_doctor_rule *const rules[REC_RULE_COUNT] = {REC_RULES(X)};
#undef X

const char *rec_rule_name(rec_rule rule)
{
    return rule < REC_RULE_COUNT ? rules[rule]->name : "";
}

const rec_doctor_rule *rec_rule_of(const rec_finding *finding)
{
    return rules[finding->rule];
}

/* Costs of a step by their size, then memory, then the start. */
static int by_cost(const void *a, const void *b)
{
    const rec_finding *x = a, *y = b;
    const rec_rank of_x = rules[x->rule]->rank, of_y = rules[y->rule]->rank;
    if (of_x != of_y)
        return (int)of_x - (int)of_y;
    return (x->cost_ns.estimate < y->cost_ns.estimate) -
           (x->cost_ns.estimate > y->cost_ns.estimate);
}

bn_code rec_check(const rec_steps *steps, rec_checkup *checkup, bn_status *st)
{
    *checkup = (rec_checkup){.steps = steps, .answer = rec_answer_make(steps)};
    rec_checking c = {.steps = steps,
                      .out = checkup,
                      .values = malloc((steps->count + 1) * sizeof *c.values),
                      .wall_ns = checkup->answer.wall_ns.estimate,
                      .busy_ns = checkup->answer.no_gaps_ns.estimate,
                      .host_ns = checkup->answer.host_only_ns.estimate};
    bool made = c.values && steps->count > 0 && rec_busy_make(steps, &c.busy);
    for (int i = 0; i < REC_RULE_COUNT && made; i++)
        made = (rules[i]->of_completions && !steps->completions) || rules[i]->check(&c);
    qsort(checkup->list, checkup->count, sizeof *checkup->list, by_cost);
    rec_spans_free(&c.busy);
    free(c.values);
    return made ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu steps", steps->count);
}

void rec_checkup_free(rec_checkup *checkup)
{
    for (size_t i = 0; i < checkup->count; i++)
        bn_text_free(&checkup->list[i].where);
    rec_shapes_free(checkup->shapes);
    *checkup = (rec_checkup){0};
}
