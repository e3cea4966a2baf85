/*
 * rule_executions.c - a step is several executions, each with its fixed cost.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

#include <math.h>

/* Whether PROGRAM is one of the steps whose executions are short. */
static bool is_short(const rec_steps *s, uint32_t program)
{
    for (size_t i = 0; i < s->program_count; i++)
        if (s->programs[i].program == program)
            return rec_step_program_is_short(&s->programs[i]);
    return false;
}

/* Whether any is. */
static bool has_short(const rec_steps *s)
{
    for (size_t i = 0; i < s->program_count; i++)
        if (rec_step_program_is_short(&s->programs[i]))
            return true;
    return false;
}

/* The fixed cost of an execution, and what of it no earlier work hides. */
typedef struct price {
    double all_ns, exposed_ns;
} price;

/* The price of the execution at AT: FIXED_NS, or all of it where it is short. */
static price price_of(const rec_steps *s, uint32_t at, double fixed_ns)
{
    const rec_execution *e = &s->process->executions[s->order[at]];
    const rec_span *span = rec_steps_span(s, e);
    if (span->complete_ns > span->start_ns && is_short(s, e->program)) {
        const double ns = (double)(span->complete_ns - span->start_ns);
        return (price){fmax(ns, fixed_ns), ns};
    }
    const double call_ns = e->end_ns > span->start_ns ? (double)(e->end_ns - span->start_ns) : 0;
    return (price){fixed_ns, fmin(fixed_ns, call_ns)};
}

/* The program with most executions of a step. */
static void put_most(const rec_steps *s, rec_finding *made)
{
    const rec_step_program *most = NULL;
    for (size_t i = 0; i < s->program_count; i++)
        if (!most || s->programs[i].times > most->times)
            most = &s->programs[i];
    if (!most || s->program_count < 2 || most->times < 1.5)
        return;
    made->program = most->program;
    bn_text_printf(&made->where, "%.3g of them are ", most->times);
    rec_program_put(s->process, most->program, &made->where);
}

/* Whether STEP reads what it computes. */
static bool reads_its_own(const rec_steps *s, const rec_step *step, rec_cursor *at)
{
    const rec_process *p = s->process;
    bool own = false;
    for (const rec_call *call; (call = rec_next_call(p, at, step));) {
        const rec_buffer *read = rec_call_reads(call) && call->buffer < p->buffer_count
                                     ? &p->buffers[call->buffer]
                                     : NULL;
        own = own ||
              (read && read->origin == REC_FROM_EXECUTION && read->maker < p->execution_count &&
               p->executions[read->maker].begin_ns >= step->begin_ns);
    }
    return own;
}

/* The saving of one execution instead of those of STEP: all of their fixed costs that nothing
 * hides. FIXED_NS is the cheapest program's. But one execution stays. Its cost hides where the host
 * runs ahead. It does not where the step waits for the device: a read of one of several results
 * then waits for all. While kernels run, by a profile, nothing is lost. */
static double cost_of_executions(const rec_checking *c, const rec_step *step, double fixed_ns,
                                 rec_cursor *at)
{
    const rec_steps *s = c->steps;
    const bool waits = reads_its_own(s, step, at) || !step->ahead;
    double sum = 0, all = 0;
    for (uint32_t k = 0; k < step->executions; k++) {
        const price one = price_of(s, step->first + k, fixed_ns);
        sum += one.exposed_ns;
        all += one.all_ns;
    }
    const double cost = waits ? fmax(sum - fixed_ns, 0) : fmin(sum, all - fixed_ns);
    return c->out->answer.dispatch_profiled ? fmax(fmin(cost, rec_kernel_free(c, step)), 0) : cost;
}

bool rec_merges(const rec_checking *c)
{
    return c->steps->executions_per_step > 1 && c->out->answer.overhead_known;
}

void rec_fill_savings(rec_checking *c)
{
    rec_cursor at = {0};
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] =
            cost_of_executions(c, &c->steps->list[i], c->out->answer.overhead_ns.estimate, &at);
}

static bool check(rec_checking *c)
{
    if (!rec_merges(c))
        return true;
    rec_fill_savings(c);
    rec_finding *made = rec_judge(c, REC_RULE_EXECUTIONS, RES_DOCTOR_SHARE);
    if (!made)
        return true;
    made->count = c->steps->executions_per_step;
    made->at_most = has_short(c->steps) && !c->out->answer.dispatch_profiled;
    put_most(c->steps, made);
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "the fixed cost of %.4g executions in place of one", c->count);
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    (void)checkup;
    bn_text_puts(out, "Compile them into one program. Host work between them, and gains of fusion, "
                      "come on top.");
    if (c->at_most)
        bn_text_puts(out, " The cost includes what short executions compute.");
    rec_put_profile_advice(c, out);
}

const rec_doctor_rule rec_rule_executions = {
    .name = "executions",
    .check = check,
    .of_completions = true,
    .subject = put_subject,
    .advice = put_advice,
};
