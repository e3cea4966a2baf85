/*
 * build_parts.c - what all events have in common: words, texts, threads, types, calls, and room for
 * them in the arrays of a process.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

uint64_t rec_word(const rec_item *item, size_t index)
{
    uint64_t word = 0;
    if (index < item->size / sizeof word)
        memcpy(&word, item->words + index * sizeof word, sizeof word);
    return word;
}

void *rec_build_more(rec_builder *builder, void *items, size_t *count, size_t *capacity,
                     size_t item_bytes)
{
    char *array;
    if (*count >= REC_NONE - 1 || !bn_reserve(items, *count + 1, capacity, item_bytes)) {
        builder->failed = true;
        return NULL;
    }
    memcpy(&array, items, sizeof array);
    array += (*count)++ * item_bytes;
    memset(array, 0, item_bytes);
    return array;
}

uint32_t *rec_build_operands(rec_builder *builder, size_t count)
{
    rec_process *p = builder->process;
    if (!bn_reserve(&p->operands, p->operand_count + count + 1, &builder->room.operands,
                    sizeof *p->operands)) {
        builder->failed = true;
        return NULL;
    }
    p->operand_count += count;
    return p->operands + p->operand_count - count;
}

const char *rec_build_text(rec_builder *builder, const uint8_t *bytes, size_t size)
{
    bn_text raw = {0}, plain = {0};
    const char *kept = "";
    bn_text_append(&raw, (const char *)bytes, size);
    if (raw.data)
        bn_text_plain(&plain, raw.data);
    if (plain.data && plain.length)
        kept = bn_arena_strdup(builder->memory, plain.data);
    bn_text_free(&raw);
    bn_text_free(&plain);
    return kept;
}

uint32_t rec_build_thread(rec_builder *builder, uint32_t number)
{
    rec_process *p = builder->process;
    const uint64_t key = (uint64_t)number + 1;
    const uint32_t known = rec_map_get(&builder->threads, key);
    if (known != REC_NONE)
        return known;
    const uint32_t index = (uint32_t)p->thread_count;
    rec_thread *thread = rec_build_more(builder, &p->threads, &p->thread_count,
                                        &builder->room.threads, sizeof *p->threads);
    if (!thread || !rec_map_put(&builder->threads, key, index)) {
        builder->failed = true;
        return REC_NONE;
    }
    *thread = (rec_thread){number, ""};
    return index;
}

static bool same_type(const rec_type *a, int type, uint32_t rank, const int64_t *dims)
{
    return a->type == type && a->rank == rank &&
           (rank == 0 || memcmp(a->dims, dims, rank * sizeof *dims) == 0);
}

uint32_t rec_build_type(rec_builder *builder, int type, uint32_t rank, const int64_t *dims)
{
    rec_process *p = builder->process;
    const XXH64_hash_t content =
        rank ? XXH3_64bits_withSeed(dims, rank * sizeof *dims, builder->seed) : 0;
    uint64_t key = (content ^ ((uint64_t)(uint32_t)type << 32) ^ rank) | 1;
    uint32_t known;
    while ((known = rec_map_get(&builder->types, key)) != REC_NONE) {
        if (same_type(&p->types[known], type, rank, dims))
            return known;
        key += 2;
    }
    const uint32_t index = (uint32_t)p->type_count;
    int64_t *own = rank ? bn_arena_alloc(builder->memory, rank * sizeof *own) : NULL;
    rec_type *made =
        rec_build_more(builder, &p->types, &p->type_count, &builder->room.types, sizeof *p->types);
    if (!made || !rec_map_put(&builder->types, key, index)) {
        builder->failed = true;
        return REC_NONE;
    }
    if (rank)
        memcpy(own, dims, rank * sizeof *own);
    *made = (rec_type){type, rank, own};
    return index;
}

rec_call *rec_build_call(rec_builder *builder, const rec_item *item, rec_call_kind kind)
{
    rec_process *p = builder->process;
    const record_event *e = &item->event;
    if (e->field[0] < e->time || e->field[0] > REC_MOST_TIME)
        return NULL;
    const uint32_t thread = rec_build_thread(builder, e->thread);
    rec_call *call =
        rec_build_more(builder, &p->calls, &p->call_count, &builder->room.calls, sizeof *p->calls);
    if (!call)
        return NULL;
    call->begin_ns = e->time;
    call->end_ns = e->field[0];
    call->cpu_begin_ns = e->field[1];
    call->cpu_end_ns = e->field[2];
    call->thread = thread;
    call->buffer = call->of = call->device = call->program = REC_NONE;
    call->kind = (uint8_t)kind;
    call->failed = e->flags & RECORD_FAILED;
    p->failures += call->failed;
    p->cpu_clocks = p->cpu_clocks || e->field[1] || e->field[2];
    return call;
}
