/*
 * build_buffers.c - executions, transfers and the buffers between them.
 *
 * A handle is an address, and addresses are used again. So handles are followed in order of the
 * slots: what makes a buffer gives its handle a new number, and what destroys it takes the handle
 * away.
 */
#include "results/recordings/recordings_priv.h"

#include <string.h>

/* Words of an EXECUTE before its handles, and of a BUFFER before its dimensions. */
#define EXECUTE_WORDS 4
#define BUFFER_WORDS  3

/* Executions without any handle may name more devices than they have bytes: so many at most. */
#define MOST_BARE_DEVICES 8

/* A new buffer of HANDLE, which is 0 where it has none. */
static uint32_t buffer_new(rec_builder *b, uint64_t handle, rec_origin origin, uint32_t maker)
{
    rec_process *p = b->process;
    const uint32_t index = (uint32_t)p->buffer_count, before = rec_map_get(&b->buffers, handle);
    rec_buffer *made =
        rec_build_more(b, &p->buffers, &p->buffer_count, &b->room.buffers, sizeof *p->buffers);
    if (!made || !rec_map_put(&b->buffers, handle, index)) {
        b->failed = true;
        return REC_NONE;
    }
    if (before != REC_NONE && p->buffers[before].fate == REC_LIVES)
        p->buffers[before].fate = REC_REPLACED;
    *made = (rec_buffer){.maker = maker,
                         .result = REC_NONE,
                         .span = REC_NONE,
                         .type = REC_NONE,
                         .last_use = REC_NONE,
                         .origin = (uint8_t)origin};
    return index;
}

/* The number of an argument's HANDLE. */
static uint32_t buffer_used(rec_builder *b, uint64_t handle, uint32_t execution)
{
    if (handle == 0)
        return REC_NONE;
    uint32_t index = rec_map_get(&b->buffers, handle);
    if (index == REC_NONE)
        index = buffer_new(b, handle, REC_FROM_NOWHERE, REC_NONE);
    if (index == REC_NONE)
        return REC_NONE;
    b->process->buffers[index].last_use = execution;
    b->process->buffers[index].uses++;
    return index;
}

/* ---- executions ------------------------------------------------------------------------- */

/* The numbers that an execution's fields and words hold. */
typedef struct shape {
    uint32_t devices, kept, arguments, results;
} shape;

static bool read_shape(const rec_item *item, shape *s)
{
    const uint64_t counts = rec_word(item, 0), operands = item->event.field[5];
    const size_t words = item->size / sizeof counts;
    *s = (shape){.devices = (uint32_t)counts,
                 .kept = (uint32_t)(counts >> 32),
                 .arguments = (uint32_t)operands,
                 .results = (uint32_t)(operands >> 32)};
    if (words < EXECUTE_WORDS || item->size % sizeof counts != 0 || s->devices == 0)
        return false;
    const uint64_t each = (uint64_t)s->arguments + s->results;
    const size_t handles = words - EXECUTE_WORDS;
    if (s->kept > handles || (each == 0 && s->devices > MOST_BARE_DEVICES))
        return false;
    /* Neither factor is over 2^33, and where one is over HANDLES they do not fit. */
    return each <= handles && (each == 0 || s->devices <= handles) &&
           s->kept + each * s->devices == handles;
}

/* Appends the spans of EXECUTION, and says which devices they are on. */
static bool add_spans(rec_builder *b, rec_execution *execution, uint32_t index, uint64_t device)
{
    rec_process *p = b->process;
    const rec_executable *executable = &p->executables[execution->executable];
    execution->spans = (uint32_t)p->span_count;
    for (uint32_t d = 0; d < execution->devices; d++) {
        rec_span *span =
            rec_build_more(b, &p->spans, &p->span_count, &b->room.spans, sizeof *p->spans);
        if (!span)
            return false;
        span->execution = index;
        span->device = device && d == 0          ? rec_map_get(&b->devices, device)
                       : d < executable->devices ? p->executable_devices[executable->first + d]
                                                 : REC_NONE;
    }
    return true;
}

/* Gives result INDEX of EXECUTION, on its device DEVICE, a number; REC_NONE where it has no HANDLE.
 */
static uint32_t result_of(rec_builder *b, uint32_t execution, uint32_t device, uint32_t index,
                          uint64_t handle)
{
    rec_process *p = b->process;
    const rec_execution *e = &p->executions[execution];
    const rec_program *program = &p->programs[e->program];
    const uint32_t made =
        handle == 0 || e->failed ? REC_NONE : buffer_new(b, handle, REC_FROM_EXECUTION, execution);
    if (made == REC_NONE)
        return REC_NONE;
    p->buffers[made].result = index;
    p->buffers[made].span = e->spans + device;
    if (program->result_types && index < program->results)
        p->buffers[made].type = program->result_types[index];
    return made;
}

/* Appends the numbers of the operands, those that were made by EXECUTION included. */
static bool add_operands(rec_builder *b, const rec_item *item, uint32_t execution, const shape *s)
{
    const size_t count = item->size / sizeof(uint64_t) - EXECUTE_WORDS;
    const uint64_t each = (uint64_t)s->arguments + s->results;
    uint32_t *place = rec_build_operands(b, count);
    if (!place)
        return false;
    for (size_t at = 0; at < s->kept; at++) {
        const uint64_t kept = rec_word(item, EXECUTE_WORDS + at);
        place[at] = kept < s->arguments ? (uint32_t)kept : REC_NONE;
    }
    /* All arguments of all devices are taken before a result gets an address. */
    for (uint32_t d = 0; d < s->devices; d++)
        for (uint32_t i = 0; i < s->arguments; i++) {
            const size_t at = s->kept + d * each + i;
            place[at] = buffer_used(b, rec_word(item, EXECUTE_WORDS + at), execution);
        }
    for (uint32_t d = 0; d < s->devices; d++)
        for (uint32_t i = 0; i < s->results; i++) {
            const size_t at = s->kept + d * each + s->arguments + i;
            place[at] = result_of(b, execution, d, i, rec_word(item, EXECUTE_WORDS + at));
        }
    return !b->failed;
}

bool rec_build_execute(rec_builder *builder, const rec_item *item)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    shape s;
    if (e->field[0] < e->time || e->field[0] > REC_MOST_TIME || e->field[3] == 0 ||
        !read_shape(item, &s))
        return false;
    const uint32_t executable = rec_build_known(builder, e->field[3], s.results);
    const uint32_t index = (uint32_t)p->execution_count;
    if (executable == REC_NONE)
        return false;
    rec_execution *made = rec_build_more(builder, &p->executions, &p->execution_count,
                                         &builder->room.executions, sizeof *p->executions);
    if (!made)
        return false;
    *made = (rec_execution){.number = e->field[4],
                            .begin_ns = e->time,
                            .end_ns = e->field[0],
                            .cpu_begin_ns = e->field[1],
                            .cpu_end_ns = e->field[2],
                            .main_cpu_ns = rec_word(item, 3),
                            .launch = rec_word(item, 2),
                            .thread = rec_build_thread(builder, e->thread),
                            .executable = executable,
                            .program = p->executables[executable].program,
                            .devices = s.devices,
                            .arguments = s.arguments,
                            .results = s.results,
                            .kept = s.kept,
                            .operands = p->operand_count,
                            .failed = e->flags & RECORD_FAILED};
    p->failures += made->failed;
    p->cpu_clocks = p->cpu_clocks || e->field[1] || e->field[2];
    p->programs[made->program].executions++;
    if (!add_spans(builder, made, index, rec_word(item, 1)) ||
        !add_operands(builder, item, index, &s) ||
        !rec_map_put(&builder->number_executions, e->field[4], index))
        builder->failed = true;
    return true;
}

/* ---- other buffers ------------------------------------------------------------------------------
 */

/* The type of the buffer that ITEM made. */
static uint32_t type_of(rec_builder *b, const rec_item *item)
{
    const uint32_t type = (uint32_t)(item->event.field[4] >> 32);
    const uint32_t rank = (uint32_t)(item->size / sizeof(uint64_t)) - BUFFER_WORDS;
    /* The words of a slot need not lie as integers do. */
    int64_t *dims = rank ? bn_arena_alloc(b->memory, rank * sizeof *dims) : NULL;
    if (rank && !dims) {
        b->failed = true;
        return REC_NONE;
    }
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = (int64_t)rec_word(item, BUFFER_WORDS + i);
    return rec_build_type(b, type <= INT16_MAX ? (int)type : 0, rank, dims);
}

bool rec_build_buffer(rec_builder *builder, const rec_item *item)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    const uint32_t call_index = (uint32_t)p->call_count, how = (uint32_t)e->field[4];
    if (item->size < BUFFER_WORDS * sizeof(uint64_t) || item->size % sizeof(uint64_t) != 0 ||
        how > RECORD_ALIAS)
        return false;
    rec_call *call = rec_build_call(builder, item,
                                    how == RECORD_FROM_HOST ? REC_CALL_FROM_HOST
                                    : how == RECORD_COPY    ? REC_CALL_COPY
                                                            : REC_CALL_BUFFER);
    if (!call)
        return false;
    call->bytes = rec_word(item, 0);
    call->of = rec_map_get(&builder->buffers, rec_word(item, 1));
    call->device = rec_map_get(&builder->devices, e->field[5]);
    if (!rec_map_put(&builder->number_calls, rec_word(item, 2), call_index))
        builder->failed = true;
    if (e->field[3] == 0 || call->failed)
        return true;
    call->buffer = buffer_new(builder, e->field[3], REC_FROM_CALL, call_index);
    if (call->buffer != REC_NONE)
        p->buffers[call->buffer].type = type_of(builder, item);
    return true;
}

bool rec_build_to_host(rec_builder *builder, const rec_item *item)
{
    const record_event *e = &item->event;
    const uint32_t call_index = (uint32_t)builder->process->call_count;
    rec_call *call = rec_build_call(builder, item, REC_CALL_TO_HOST);
    if (!call)
        return false;
    call->buffer = rec_map_get(&builder->buffers, e->field[3]);
    call->bytes = e->field[4];
    if (!rec_map_put(&builder->number_calls, e->field[5], call_index))
        builder->failed = true;
    return true;
}

static void end_one(rec_builder *builder, const record_event *e, uint64_t handle)
{
    const uint32_t index = rec_map_get(&builder->buffers, handle);
    if (index == REC_NONE) {
        builder->process->strays++;
        return;
    }
    rec_buffer *buffer = &builder->process->buffers[index];
    const bool gone = e->flags & RECORD_DELETED;
    if (e->flags & RECORD_ONLY_MEMORY) {
        if (buffer->fate == REC_LIVES)
            buffer->fate = gone ? REC_DONATED : REC_DELETED;
        return;
    }
    if (buffer->fate != REC_DONATED)
        buffer->fate = gone && buffer->fate == REC_LIVES ? REC_DONATED : REC_DESTROYED;
    buffer->end_ns = e->time;
    rec_map_remove(&builder->buffers, handle);
}

bool rec_build_buffer_end(rec_builder *builder, const rec_item *item)
{
    const record_event *e = &item->event;
    end_one(builder, e, e->field[0]);
    for (size_t i = 1; i < sizeof e->field / sizeof *e->field && e->field[i]; i++)
        end_one(builder, e, e->field[i]);
    return true;
}
