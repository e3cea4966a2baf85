/*
 * build_end.c - when all events were taken: completions find their executions, executions and calls
 * are put in order of their begin, and each device's work is laid end to end.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>

static void place_completions(rec_builder *b)
{
    rec_process *p = b->process;
    for (size_t i = 0; i < b->completion_count; i++) {
        const rec_completion *c = &b->completions[i];
        const uint32_t execution = rec_map_get(&b->number_executions, c->number);
        const uint32_t call = rec_map_get(&b->number_calls, c->number);
        if (execution != REC_NONE && c->device < p->executions[execution].devices &&
            c->time >= p->executions[execution].begin_ns) {
            p->spans[p->executions[execution].spans + c->device].complete_ns = c->time;
            p->completions = true;
        } else if (execution == REC_NONE && call != REC_NONE &&
                   c->time >= p->calls[call].begin_ns) {
            p->calls[call].complete_ns = c->time;
        }
    }
}

/* ---- order -------------------------------------------------------------------------------------
 */

typedef struct rank {
    uint64_t begin;
    uint32_t index;
} rank;

static int by_begin(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Makes the array ITEMS of COUNT items of ITEM_BYTES one in the order of RANKS, and WHERE[i] the
 * new place of item i. */
static bool arrange(char *items, size_t count, size_t item_bytes, rank *ranks, uint32_t *where)
{
    char *copy = malloc(count * item_bytes + 1);
    if (!copy)
        return false;
    memcpy(copy, items, count * item_bytes);
    qsort(ranks, count, sizeof *ranks, by_begin);
    for (size_t i = 0; i < count; i++) {
        memcpy(items + i * item_bytes, copy + ranks[i].index * item_bytes, item_bytes);
        where[ranks[i].index] = (uint32_t)i;
    }
    free(copy);
    return true;
}

static uint32_t moved(const uint32_t *where, uint32_t index)
{
    return index == REC_NONE ? REC_NONE : where[index];
}

static bool order_executions(rec_process *p, rank *ranks, uint32_t *where)
{
    const size_t count = p->execution_count;
    for (size_t i = 0; i < count; i++)
        ranks[i] = (rank){p->executions[i].begin_ns, (uint32_t)i};
    if (count && !arrange((char *)p->executions, count, sizeof *p->executions, ranks, where))
        return false;
    for (size_t i = 0; i < p->span_count; i++)
        p->spans[i].execution = moved(where, p->spans[i].execution);
    for (size_t i = 0; i < p->buffer_count; i++) {
        rec_buffer *buffer = &p->buffers[i];
        buffer->last_use = moved(where, buffer->last_use);
        if (buffer->origin == REC_FROM_EXECUTION)
            buffer->maker = moved(where, buffer->maker);
    }
    return true;
}

static bool order_calls(rec_process *p, rank *ranks, uint32_t *where)
{
    const size_t count = p->call_count;
    for (size_t i = 0; i < count; i++)
        ranks[i] = (rank){p->calls[i].begin_ns, (uint32_t)i};
    if (count && !arrange((char *)p->calls, count, sizeof *p->calls, ranks, where))
        return false;
    for (size_t i = 0; i < p->buffer_count; i++)
        if (p->buffers[i].origin == REC_FROM_CALL)
            p->buffers[i].maker = moved(where, p->buffers[i].maker);
    for (size_t i = 0; i < p->executable_count; i++)
        p->executables[i].compile = moved(where, p->executables[i].compile);
    return true;
}

static bool order(rec_process *p)
{
    const size_t most = p->execution_count > p->call_count ? p->execution_count : p->call_count;
    rank *ranks = malloc((most + 1) * sizeof *ranks);
    uint32_t *where = malloc((most + 1) * sizeof *where);
    const bool done =
        ranks && where && order_executions(p, ranks, where) && order_calls(p, ranks, where);
    free(ranks);
    free(where);
    return done;
}

/* ---- work of the devices -----------------------------------------------------------------------
 */

/* An execution starts on a device when it was asked for, or when the one before it had ended there.
 */
static bool lay_spans(rec_process *p)
{
    uint64_t *last = calloc(p->device_count + 1, sizeof *last);
    if (!last)
        return false;
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *execution = &p->executions[i];
        for (uint32_t d = 0; d < execution->devices; d++) {
            rec_span *span = &p->spans[execution->spans + d];
            uint64_t *end = &last[span->device == REC_NONE ? p->device_count : span->device];
            span->start_ns = execution->begin_ns > *end ? execution->begin_ns : *end;
            if (span->complete_ns == 0)
                continue;
            /* Callbacks may come in another order than the work ended. */
            if (span->complete_ns < span->start_ns)
                span->start_ns = span->complete_ns;
            else
                *end = span->complete_ns;
        }
    }
    free(last);
    return true;
}

static void bound_times(rec_process *p)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < p->execution_count; i++) {
        const rec_execution *e = &p->executions[i];
        first = e->begin_ns < first ? e->begin_ns : first;
        last = e->end_ns > last ? e->end_ns : last;
    }
    for (size_t i = 0; i < p->call_count; i++) {
        const rec_call *c = &p->calls[i];
        first = c->begin_ns < first ? c->begin_ns : first;
        last = c->end_ns > last ? c->end_ns : last;
    }
    p->first_ns = first == UINT64_MAX ? 0 : first;
    p->last_ns = last;
}

/* Lists always end with NULL. */
static const char *const *list_of(const char *const *list)
{
    static const char *const none[] = {NULL};
    return list ? list : none;
}

void rec_build_end(rec_builder *builder, uint32_t main_number)
{
    rec_process *p = builder->process;
    place_completions(builder);
    if (!order(p) || !lay_spans(p))
        builder->failed = true;
    bound_times(p);
    p->main_thread = rec_map_get(&builder->threads, (uint64_t)main_number + 1);
    p->command = list_of(builder->command);
    p->frameworks = list_of(builder->frameworks);
    p->errors = list_of(builder->errors);
    p->framework = p->frameworks[0] ? p->frameworks[0] : "";
}
