/*
 * rule_turns.c - an argument of the host, such as training or evaluation, alternates, and each of
 * its values has programs of its own.
 */
#include "results/doctor/doctor_priv.h"

#include <math.h>
#include <string.h>

/* Of each start. A choice (docs/doctor.md): less is seldom worth a loop for each value. */
#define LEAST_NS 1e9

/* The programs of a step of one turn are compiled for it alone, as far as is known, and so are the
 * others for the other turn: the lesser of both. A step with breaks runs several programs. */
static double cost(const res_process *p)
{
    const res_record *r = p->record;
    double run_ns = 0, rest_ns = 0;
    for (size_t i = 0; r && i < r->execution_count; i++) {
        const res_execution *x = &r->executions[i];
        if (x->from_disk)
            return (double)NAN;
        *(x->per_step > 0 ? &run_ns : &rest_ns) += (double)(x->lower_ns + x->compile_ns);
    }
    return r ? fmin(run_ns, rest_ns) : (double)NAN;
}

static bool is_cause(const res_record *record, const char *word)
{
    (void)record;
    return strcmp(word, "argument") == 0;
}

/* All programs, of steps that compile no further; 0 where the last step ran all of them. */
static double programs_in_turns(const res_speedup_row *row)
{
    const res_record *r = row->record;
    size_t more;
    if (res_step_programs(row) > 0 || !res_pool_cause(&row->pool, is_cause, &more))
        return 0;
    for (size_t i = 0; i < r->execution_count; i++)
        if (r->executions[i].per_step == 0)
            return (double)r->execution_count;
    return 0;
}

static void put_subject(const res_doctor_finding *c, bn_text *out)
{
    bn_text_printf(out, "compiling %.0f programs for alternating steps", c->count);
}

static void put_advice(const res_doctor_finding *c, const res_experiment *e, bn_text *out)
{
    bn_text_puts(out, "Each value of the argument has its own programs: run each value in its "
                      "own loop. ");
    res_starts_advice(c, e, out);
}

const res_doctor_rule res_rule_turns = {
    .name = "turns",
    .cost = cost,
    .count = programs_in_turns,
    .least_ns = LEAST_NS,
    .of_start = true,
    .is_cause = is_cause,
    .of_programs = true,
    .further = res_starts_further,
    .subject = put_subject,
    .advice = put_advice,
};
