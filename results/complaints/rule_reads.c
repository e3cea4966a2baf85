/*
 * rule_reads.c - steps read values back, and the device waits for what follows.
 */
#include "results/complaints/complaints_priv.h"
#include "results/doctor/doctor.h"

#include <math.h>

/* The cost of STEP's reads: the device does nothing from the first of them to the execution
 * that comes next. As much as the host could have worked ahead, no more. */
static double cost_of_reads(const rec_checking *c, const rec_step *step, rec_cursor *at,
                            uint32_t *reads, uint32_t *read)
{
    double lost = 0;
    uint64_t done = 0;
    for (const rec_call *call; (call = rec_next_call(c->steps->process, at, step));) {
        if (!rec_call_reads(call) || call->failed)
            continue;
        const uint64_t next = rec_next_execution(c->steps, at, call->begin_ns);
        ++*reads;
        *read = call->buffer;
        lost += rec_idle_between(&c->busy, call->begin_ns > done ? call->begin_ns : done, next);
        done = next > done ? next : done;
    }
    const uint64_t *part = step->part_ns;
    /* It also sleeps. While the device works that may be a wait for it, by a lock. */
    const double host = (double)(part[REC_PART_HOST] + part[REC_PART_DISPATCH] +
                                 part[REC_PART_TRANSFER] + step->gap_ns[REC_PART_IDLE]);
    const double most = (double)step->wall_ns - fmax((double)step->busy_ns, host);
    return fmin(lost, fmax(most, 0));
}

static bool check(rec_checking *c)
{
    rec_cursor at = {0};
    uint32_t reads = 0, read = REC_NONE;
    for (size_t i = 0; i < c->steps->count; i++)
        c->values[i] = cost_of_reads(c, &c->steps->list[i], &at, &reads, &read);
    rec_finding *made = reads ? rec_judge(c, REC_RULE_READS, RES_DOCTOR_SHARE) : NULL;
    if (!made)
        return true;
    made->count = reads / (double)c->steps->count;
    const rec_process *p = c->steps->process;
    rec_buffer_put(p, read, &made->where);
    if (read < p->buffer_count && p->buffers[read].origin == REC_FROM_EXECUTION &&
        p->buffers[read].maker < p->execution_count)
        made->program = p->executions[p->buffers[read].maker].program;
    return true;
}

static void put_subject(const rec_finding *c, bn_text *out)
{
    bn_text_printf(out, "reading %.3g value%s a step back to the host", c->count,
                   rec_plural(c->count));
}

static void put_advice(const rec_checkup *checkup, const rec_finding *c, bn_text *out)
{
    (void)checkup;
    (void)c;
    bn_text_puts(out, "Read values in some steps only, and submit the next step before the read: "
                      "until then the device has nothing to do.");
}

const rec_doctor_rule rec_rule_reads = {
    .name = "reads",
    .check = check,
    .of_completions = true,
    .subject = put_subject,
    .advice = put_advice,
};
