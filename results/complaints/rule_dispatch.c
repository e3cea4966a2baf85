/*
 * rule_dispatch.c - the device waits while something is submitted to it.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

/* The wait of step INDEX for submitted work: with a profile, which knows when kernels ran, all of
 * that time. Else how long calls went on after the device had ended, and at most the rest of them
 * that nothing hides, as far as the program does not run in them. */
static double cost_of_dispatch(const rec_checking *c, size_t index)
{
    const rec_answer *a = &c->out->answer;
    const rec_step *step = &c->steps->list[index];
    const double after_ns = (double)step->gap_ns[REC_PART_DISPATCH];
    return after_ns + (a->dispatch_profiled
                           ? rec_kernel_free(c, step)
                           : rec_step_calls_ns(c->steps, index,
                                               a->overhead_known ? a->overhead_ns.estimate : 0));
}

/* The program whose executions most of that is of. */
static void put_slowest(const rec_checking *c, rec_finding *made)
{
    const rec_steps *s = c->steps;
    const rec_step_program *slowest = NULL;
    double most = 0;
    for (size_t i = 0; i < s->program_count; i++) {
        const rec_step_program *row = &s->programs[i];
        const double own_ns =
            c->out->answer.dispatch_profiled ? row->device_ns - row->kernels_ns : row->call_ns;
        if (own_ns * row->times > most) {
            most = own_ns * row->times;
            slowest = row;
        }
    }
    if (!slowest)
        return;
    made->program = slowest->program;
    bn_text_puts(&made->where, "most of it of ");
    rec_program_put(s->process, slowest->program, &made->where);
}

/* Of several executions, what merging them does not save. That is known by a profile only. */
static bool check(rec_checking *c)
{
    const rec_answer *a = &c->out->answer;
    if (rec_merges(c) && !a->dispatch_profiled)
        return true;
    if (rec_merges(c))
        rec_fill_savings(c);
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] = cost_of_dispatch(c, i) - (rec_merges(c) ? c->values[i] : 0);
    rec_finding *made = rec_judge(c, REC_RULE_DISPATCH, RES_DOCTOR_OVERHEAD);
    if (!made)
        return true;
    made->count = c->steps->executions_per_step;
    made->at_most = a->calls_ns > 0;
    put_slowest(c, made);
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "submitting %.4g execution%s, while the device %s,", c->count,
                   rec_plural(c->count), c->at_most ? "may wait" : "waits");
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    (void)checkup;
    bn_text_puts(out, "Give an execution more to do (a larger batch), or submit the next step "
                      "before the device finishes this one.");
    rec_put_profile_advice(c, out);
}

const rec_doctor_rule rec_rule_dispatch = {
    .name = "dispatch",
    .check = check,
    .of_completions = true,
    .subject = put_subject,
    .advice = put_advice,
};
