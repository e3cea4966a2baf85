/*
 * build_marks.c - what says where a program was, and how long its threads were kept from running.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

bool rec_build_delay(rec_builder *builder, const rec_item *item)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    if (e->time > REC_MOST_TIME || e->field[0] > REC_MOST_TIME || e->field[1] > e->time)
        return false;
    const uint32_t thread = rec_build_thread(builder, e->thread);
    rec_delay *made =
        rec_build_more(builder, &p->delays, &p->delay_count, &builder->room.delays, sizeof *made);
    if (made)
        *made = (rec_delay){e->time, e->field[1], e->field[0], thread};
    return made != NULL;
}

/* The name of ITEM: marks come again and again, so equal names are kept once. */
static const char *name_of(rec_builder *b, const rec_item *item, uint32_t index)
{
    const size_t size = item->size < RECORD_MARK_MOST ? item->size : RECORD_MARK_MOST;
    if (size == 0)
        return "";
    const uint64_t key = XXH3_64bits_withSeed(item->words, size, b->seed) | 1;
    const uint32_t known = rec_map_get(&b->mark_names, key);
    const char *name = known == REC_NONE ? "" : b->process->marks[known].name;
    if (strlen(name) == size && memcmp(name, item->words, size) == 0)
        return name;
    if (!rec_map_put(&b->mark_names, key, index))
        b->failed = true;
    return rec_build_text(b, item->words, size);
}

bool rec_build_mark(rec_builder *builder, const rec_item *item)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    const uint32_t index = (uint32_t)p->mark_count;
    if (e->time > REC_MOST_TIME || e->field[0] > RECORD_PHASE_ENDS)
        return false;
    const uint32_t thread = rec_build_thread(builder, e->thread);
    rec_marker *made =
        rec_build_more(builder, &p->marks, &p->mark_count, &builder->room.marks, sizeof *made);
    if (!made)
        return false;
    *made = (rec_marker){.time_ns = e->time,
                         .number = (int64_t)e->field[1],
                         .name = "",
                         .thread = thread,
                         .what = (uint8_t)e->field[0]};
    made->name = name_of(builder, item, index);
    return true;
}

/* What the handles of buffers stand for is unknown from here on. */
static void forget_buffers(rec_builder *b)
{
    rec_process *p = b->process;
    for (; b->forgotten < p->buffer_count; b->forgotten++)
        if (p->buffers[b->forgotten].fate == REC_LIVES)
            p->buffers[b->forgotten].fate = REC_REPLACED;
    rec_map_free(&b->buffers);
}

bool rec_build_part(rec_builder *builder, const rec_item *item)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    rec_pause *last = p->pause_count ? &p->pauses[p->pause_count - 1] : NULL;
    const bool paused = last && last->to_ns == UINT64_MAX, opens = e->field[0] == 1;
    if (e->field[0] > 1 || e->time > REC_MOST_TIME || (last && e->time < last->from_ns))
        return false;
    p->partial = true;
    if (builder->in_seam) {
        builder->gate_shut = !opens;
        return true;
    }
    if (opens && paused) {
        last->to_ns = e->time;
        forget_buffers(builder);
    }
    if (opens || paused)
        return true;
    last =
        rec_build_more(builder, &p->pauses, &p->pause_count, &builder->room.pauses, sizeof *last);
    if (last)
        *last = (rec_pause){e->time, UINT64_MAX};
    return last != NULL;
}

void rec_build_seam_begins(rec_builder *builder)
{
    rec_process *p = builder->process;
    rec_pause *last = p->pause_count ? &p->pauses[p->pause_count - 1] : NULL;
    builder->in_seam = true;
    builder->gate_shut = last && last->to_ns == UINT64_MAX;
    builder->seam_executions = p->execution_count;
    builder->seam_completions = builder->completion_count;
    if (!builder->gate_shut) {
        last = rec_build_more(builder, &p->pauses, &p->pause_count, &builder->room.pauses,
                              sizeof *last);
        if (!last)
            return;
        *last = (rec_pause){builder->latest_ns, UINT64_MAX};
    }
    p->dropped.any = true;
    p->dropped.pause = (uint32_t)(p->pause_count - 1);
    forget_buffers(builder);
}

void rec_build_seam_ends(rec_builder *builder, uint64_t time)
{
    rec_process *p = builder->process;
    builder->in_seam = false;
    if (builder->gate_shut || !p->dropped.any || time > REC_MOST_TIME)
        return;
    rec_pause *pause = &p->pauses[p->dropped.pause];
    pause->to_ns = time > pause->from_ns ? time : pause->from_ns;
}

void rec_dropped_when(const rec_process *process, uint64_t *from_ns, uint64_t *to_ns)
{
    const rec_process *p = process;
    const rec_pause *pause = &p->pauses[p->dropped.pause];
    /* Without an event behind it, nothing but the last one that was dropped ends it. */
    const uint64_t end = pause->to_ns == UINT64_MAX ? p->dropped.to_ns : pause->to_ns;
    *from_ns = pause->from_ns > p->begin_ns ? pause->from_ns - p->begin_ns : 0;
    *to_ns = end > p->begin_ns ? end - p->begin_ns : 0;
    *to_ns = *to_ns > *from_ns ? *to_ns : *from_ns;
}

/* Whether a completion of EXECUTION is missing. */
static bool is_open(const rec_process *p, const rec_execution *execution)
{
    for (uint32_t d = 0; d < execution->devices; d++)
        if (p->spans[execution->spans + d].complete_ns == 0)
            return true;
    return false;
}

void rec_build_seam_widen(rec_builder *builder)
{
    rec_process *p = builder->process;
    if (!p->dropped.any)
        return;
    rec_pause *pause = &p->pauses[p->dropped.pause];
    uint64_t first = UINT64_MAX;
    for (size_t i = builder->seam_executions; p->completions && i-- > 0;) {
        const rec_execution *e = &p->executions[i];
        if (!e->failed && !is_open(p, e))
            break;
        pause->from_ns = e->begin_ns < pause->from_ns ? e->begin_ns : pause->from_ns;
    }
    for (size_t i = builder->seam_executions; i < p->execution_count; i++)
        first = p->executions[i].number < first ? p->executions[i].number : first;
    /* Numbers grow: lower ones that nobody knows are of executions that were dropped. */
    for (size_t i = builder->seam_completions; i < builder->completion_count; i++) {
        const rec_completion *c = &builder->completions[i];
        if (c->number < first && c->time > pause->to_ns &&
            rec_map_get(&builder->number_executions, c->number) == REC_NONE)
            pause->to_ns = c->time;
    }
}

static int by_thread(const void *a, const void *b)
{
    const rec_delay *x = a, *y = b;
    const int order = rec_order(x->thread, y->thread, x->time_ns, y->time_ns);
    return order ? order : rec_order(x->total_ns, y->total_ns, 0, 0);
}

void rec_build_order_delays(rec_process *process)
{
    if (process->delay_count)
        qsort(process->delays, process->delay_count, sizeof *process->delays, by_thread);
}
