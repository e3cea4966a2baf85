/*
 * build_buffers.c - executions, transfers and the buffers between them.
 *
 * A handle is an address, and addresses are used again. So handles are followed in order of the
 * slots: what makes a buffer gives its handle a new number, and what destroys it takes the handle
 * away.
 */
#include "results/recordings/recordings_priv.h"

#include <string.h>
#include <xxhash.h>

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
    rec_buffer *buffer = &b->process->buffers[index];
    /* Its memory would be gone. */
    b->process->misbelieved += buffer->taken == REC_TAKEN && buffer->last_use != execution;
    buffer->taken = REC_TAKEN_UNKNOWN;
    buffer->last_use = execution;
    buffer->uses++;
    return index;
}

/* ---- executions ------------------------------------------------------------------------- */

/* The numbers that an execution's fields and words hold. */
typedef struct shape {
    uint32_t devices, kept, arguments, results;
    size_t operands; /* words of KEPT inputs and of handles */
    size_t answers;  /* words behind them; 0: it was not asked of */
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
    if (each > handles || (each > 0 && s->devices > handles))
        return false;
    s->operands = s->kept + each * s->devices;
    if (item->event.flags & RECORD_ASKED)
        s->answers = ((uint64_t)s->arguments * s->devices + 63) / 64;
    return s->operands + s->answers == handles;
}

/* Appends the spans of EXECUTION, and says which devices they are on. ENDED: they had ended when
 * the call did. */
static bool add_spans(rec_builder *b, rec_execution *execution, uint32_t index, uint64_t device,
                      bool ended)
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
        span->complete_ns = ended ? execution->end_ns : 0;
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
    const uint64_t each = (uint64_t)s->arguments + s->results;
    uint32_t *place = rec_build_operands(b, s->operands);
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

/* ---- what it took ----------------------------------------------------------------------- */

/* The belief on EXECUTABLE; NULL without memory. */
static rec_belief *belief_of(rec_builder *b, uint32_t executable)
{
    while (b->belief_count <= executable)
        if (!rec_build_more(b, &b->beliefs, &b->belief_count, &b->room.beliefs, sizeof *b->beliefs))
            return NULL;
    return &b->beliefs[executable];
}

/* A hash of the inputs that EXECUTION must not donate, whose order means nothing. */
static uint64_t kept_hash(const rec_process *p, const rec_execution *execution)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < execution->kept; i++) {
        const uint32_t input = p->operands[execution->operands + i];
        sum += XXH3_64bits(&input, sizeof input);
    }
    return sum;
}

/* Keeps what ITEM says that was taken. ALIKE: its execution is one that was believed of; counts it
 * where that was wrong. False without memory. */
static bool learn(rec_builder *b, const rec_item *item, const shape *s, rec_belief *belief,
                  bool alike)
{
    bool differs = false;
    if (belief->words != s->answers) {
        belief->answers = bn_arena_alloc(b->memory, s->answers * sizeof *belief->answers);
        belief->words = belief->answers ? s->answers : 0;
    }
    for (size_t i = 0; i < belief->words; i++) {
        const uint64_t answer = rec_word(item, EXECUTE_WORDS + s->operands + i);
        differs = differs || (alike && belief->answers[i] != answer);
        belief->answers[i] = answer;
    }
    b->process->misbelieved += belief->followed && differs;
    return belief->words == s->answers;
}

/* Says of each argument whether EXECUTION took it, by ANSWERS. */
static void mark(rec_process *p, const rec_execution *execution, const uint64_t *answers)
{
    size_t bit = 0;
    for (uint32_t d = 0; d < execution->devices; d++)
        for (uint32_t i = 0; i < execution->arguments; i++, bit++) {
            const uint32_t buffer = rec_argument(p, execution, d, i);
            if (buffer != REC_NONE)
                p->buffers[buffer].taken =
                    answers[bit / 64] >> bit % 64 & 1 ? REC_TAKEN : REC_NOT_TAKEN;
        }
}

/* Sets which arguments EXECUTION took, as far as that is known or believed. False without memory.
 */
static bool settle(rec_builder *b, const rec_item *item, uint32_t execution, const shape *s)
{
    const rec_execution *e = &b->process->executions[execution];
    rec_belief *belief = belief_of(b, e->executable);
    if (!belief || e->failed || s->arguments == 0)
        return belief != NULL;
    const uint64_t kept = kept_hash(b->process, e);
    const bool alike = belief->words > 0 && belief->kept == kept && belief->kept_count == s->kept &&
                       belief->devices == s->devices && belief->arguments == s->arguments;
    if (s->answers == 0 && !alike)
        return true;
    if (s->answers > 0 && !learn(b, item, s, belief, alike))
        return false;
    belief->followed = s->answers == 0;
    belief->kept = kept;
    belief->kept_count = s->kept;
    belief->devices = s->devices;
    belief->arguments = s->arguments;
    mark(b->process, e, belief->answers);
    return true;
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
    const bool ended = e->flags & RECORD_ENDED && !made->failed;
    p->completions = p->completions || ended;
    if (!add_spans(builder, made, index, rec_word(item, 1), ended) ||
        !add_operands(builder, item, index, &s) || !settle(builder, item, index, &s) ||
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

bool rec_build_transfer(rec_builder *builder, const rec_item *item)
{
    const record_event *e = &item->event;
    const uint32_t call_index = (uint32_t)builder->process->call_count;
    rec_call *call = rec_build_call(builder, item,
                                    e->kind != RECORD_TO_HOST      ? REC_CALL_FROM_HOST
                                    : (e->flags & RECORD_IN_PLACE) ? REC_CALL_READ
                                                                   : REC_CALL_TO_HOST);
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
    const bool asked = !(e->flags & RECORD_UNASKED);
    const bool gone = asked ? e->flags & RECORD_DELETED : buffer->taken == REC_TAKEN;
    if (asked && buffer->fate == REC_LIVES && buffer->taken != REC_TAKEN_UNKNOWN)
        builder->process->misbelieved += gone != (buffer->taken == REC_TAKEN);
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
    const size_t fields = sizeof e->field / sizeof *e->field;
    end_one(builder, e, e->field[0]);
    size_t i = 1;
    while (i < fields && e->field[i])
        end_one(builder, e, e->field[i++]);
    for (size_t at = 0; i == fields && rec_word(item, at); at++)
        end_one(builder, e, rec_word(item, at));
    return true;
}
