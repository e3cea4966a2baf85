/*
 * judge.c - what the rules on a recording share: whether a cost is above its threshold, gaps of the
 * device, walks over calls, words.
 *
 * Gaps of the device are those of the ledger (results/recordings/ledger.c). A cost is the median
 * over the steady steps, with the interval of `bench steps`; that of compilations is a mean.
 */
#include "results/complaints/complaints_priv.h"

#include <math.h>

rec_finding *rec_add(rec_checking *c, rec_rule rule, res_interval cost_ns, double whole_ns)
{
    rec_finding *made = &c->out->list[c->out->count++];
    *made = (rec_finding){.rule = rule,
                          .cost_ns = cost_ns,
                          .share = cost_ns.estimate / whole_ns,
                          .count = 1,
                          .program = REC_NONE,
                          .bytes = (double)NAN,
                          .hidden_ns = (double)NAN,
                          .before_ns = (double)NAN};
    return made;
}

bool rec_is_above(res_interval cost_ns, double share, double whole_ns)
{
    const double surely = isfinite(cost_ns.low) ? cost_ns.low : cost_ns.estimate;
    return surely > 0 && surely >= share * whole_ns;
}

rec_finding *rec_judge(rec_checking *c, rec_rule rule, double share)
{
    const res_interval cost_ns = rec_steps_interval(c->steps, c->values);
    return rec_is_above(cost_ns, share, c->wall_ns) ? rec_add(c, rule, cost_ns, c->wall_ns) : NULL;
}

/* ---- gaps of the device -------------------------------------------------------------------------
 */

void rec_fill_gaps(rec_checking *c, rec_part part)
{
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] = (double)c->steps->list[i].gap_ns[part];
}

void rec_put_longest_gap(const rec_steps *s, rec_finding *made)
{
    const rec_step_program *longest = NULL;
    for (size_t i = 0; i < s->program_count; i++) {
        const rec_step_program *row = &s->programs[i];
        const double gap = row->gap_before_ns * row->times;
        if (gap > 0 && (!longest || gap > longest->gap_before_ns * longest->times))
            longest = row;
    }
    if (!longest)
        return;
    made->program = longest->program;
    bn_text_puts(&made->where, "most of its gaps are before ");
    rec_program_put(s->process, longest->program, &made->where);
}

double rec_kernel_free(const rec_checking *c, const rec_step *step)
{
    return (double)step->busy_ns - c->out->answer.kernels_ns.estimate;
}

/* ---- calls --------------------------------------------------------------------------------------
 */

uint64_t rec_next_execution(const rec_steps *s, rec_cursor *at, uint64_t time)
{
    while (at->execution < s->order_count &&
           s->process->executions[s->order[at->execution]].begin_ns < time)
        at->execution++;
    return at->execution < s->order_count ? s->process->executions[s->order[at->execution]].begin_ns
                                          : 0;
}

const rec_call *rec_next_call(const rec_process *p, rec_cursor *at, const rec_step *step)
{
    const uint64_t end = step->begin_ns + step->wall_ns;
    while (at->call < p->call_count && p->calls[at->call].begin_ns < step->begin_ns)
        at->call++;
    return at->call < p->call_count && p->calls[at->call].begin_ns < end ? &p->calls[at->call++]
                                                                         : NULL;
}

/* ---- words --------------------------------------------------------------------------------------
 */

const char *rec_plural(double count)
{
    return count > 1 ? "s" : "";
}

double rec_mib(double bytes)
{
    return bytes / 1048576;
}

void rec_buffer_put(const rec_process *p, uint32_t index, bn_text *out)
{
    const rec_buffer *b = index < p->buffer_count ? &p->buffers[index] : NULL;
    if (!b)
        return;
    rec_type_put(p, b->type, out);
    if (b->origin != REC_FROM_EXECUTION || b->maker >= p->execution_count)
        return;
    bn_text_printf(out, ", result %u of ", b->result);
    rec_program_put(p, p->executions[b->maker].program, out);
}

void rec_put_hidden(const rec_finding *c, const char *how, bn_text *out)
{
    if (!isfinite(c->hidden_ns))
        return;
    bn_text_printf(out, " %s hides up to ", how);
    rec_time_put(out, c->hidden_ns);
    bn_text_puts(out, " of it.");
}

void rec_put_profile_advice(const rec_finding *c, bn_text *out)
{
    if (c->at_most)
        bn_text_puts(out, " On an accelerator a profile shows whether it works meanwhile (bench "
                          "record --profile).");
}
