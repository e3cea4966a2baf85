/*
 * rule_compiles.c - measured steps still compile or load programs.
 */
#include "results/doctor/doctor_priv.h"

#include <string.h>

/* The first process of a run compiles for the others, which load its programs: they know less of
 * the cost than it does. */
static bool has_compiled(const res_process *p)
{
    return !p->record || p->record->step_counters[BN_COUNTER_COMPILES] != 0;
}

static double cost(const res_process *p)
{
    static const bn_part parts[] = {BN_PART_LOWER, BN_PART_COMPILE};
    return res_cost_mean(p, parts, sizeof parts / sizeof *parts);
}

static bool is_cause(const res_record *record, const char *word)
{
    (void)record;
    return strcmp(word, "host") != 0 && strcmp(word, "read") != 0 && strcmp(word, "values") != 0;
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out, "compiling or loading programs, %.3g in 100 steps,", 100 * c->count);
}

static bool has_lengths(const res_experiment *e)
{
    return strcmp(e->lengths, res_axes[RES_AXIS_LENGTHS].usual) != 0;
}

/* By the cause, where it is known: the record's own words are somebody else's. */
static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    const char *rule = json_string_value(json_object_get(c->why, "rule"));
    const char *advice = rule ? res_remedy_for(rule) : "";
    if (*advice) {
        bn_text_puts(out, advice);
        return;
    }
    bn_text_puts(out, has_lengths(e) ? "Each length of the input is another program: pad to "
                                       "fewer lengths (--buckets)."
                                     : "The program changes from step to step: keep shapes, "
                                       "types and branches as they are.");
    if (!c->why && !has_lengths(e))
        bn_text_puts(out, res_is_ours(e)
                              ? " bench explain shows what changed, and where."
                              : " bench doctor RECORDING shows how the programs differ.");
}

const res_doctor_rule res_rule_compiles = {
    .name = "compiles",
    .cost = cost,
    .count = res_step_programs,
    .least_share = RES_DOCTOR_COMPILES,
    .of_mean_step = true,
    .knows = has_compiled,
    .is_cause = is_cause,
    .of_programs = true,
    .subject = put_subject,
    .advice = put_advice,
};
