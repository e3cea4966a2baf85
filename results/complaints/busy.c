/*
 * busy.c - when the device of the steps worked.
 */
#include "results/complaints/complaints_priv.h"

bool rec_busy_make(const rec_steps *steps, rec_spans *busy)
{
    const rec_process *p = steps->process;
    for (size_t i = 0; i < steps->order_count; i++) {
        const rec_execution *e = &p->executions[steps->order[i]];
        for (uint32_t d = 0; d < e->devices; d++) {
            const rec_span *span = &p->spans[e->spans + d];
            if (!rec_spans_add(busy, span->start_ns, span->complete_ns))
                return false;
        }
    }
    rec_spans_merge(busy);
    return true;
}

double rec_idle_between(const rec_spans *busy, uint64_t from, uint64_t to)
{
    return to > from ? (double)(to - from - rec_spans_covered(busy, from, to)) : 0;
}
