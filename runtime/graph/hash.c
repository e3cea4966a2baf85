/*
 * hash.c - the structural hash of a trace and of single nodes.
 *
 * Each node leaves a record: its op's name, attributes and operands' numbers, which say
 * everything about the node that a program can depend on. Records are gathered on a page,
 * and pages are chained through XXH3 (128 bits).
 */
#define XXH_INLINE_ALL
#include "runtime/graph/trace_priv.h"

#include <string.h>
#include <xxhash.h>

#define RECORD_BYTES 512

tg_hash tg_hash_absorb(tg_hash hash, const void *bytes, size_t size)
{
    char record[RECORD_BYTES];
    const char *next = bytes;
    do {
        size_t room = sizeof record - sizeof hash;
        size_t take = size < room ? size : room;
        memcpy(record, &hash, sizeof hash);
        memcpy(record + sizeof hash, next, take);
        XXH128_hash_t h = XXH3_128bits(record, sizeof hash + take);
        hash = (tg_hash){h.low64, h.high64};
        next += take;
        size -= take;
    } while (size > 0);
    return hash;
}

/* ---- of a trace ----------------------------------------------------------------- */

/* A page starts with the hash of all pages before it. */
static void page_begin(tg_trace *t, tg_hash hash)
{
    t->hash = hash;
    memcpy(t->record, &hash, sizeof hash);
    t->record_used = sizeof hash;
}

void tg_hash_begin(tg_trace *t)
{
    page_begin(t, (tg_hash){0, 0});
}

tg_hash tg_trace_hash(const tg_trace *t)
{
    if (t->record_used == sizeof t->hash)
        return t->hash;
    XXH128_hash_t h = XXH3_128bits(t->record, t->record_used);
    return (tg_hash){h.low64, h.high64};
}

/* Room for SIZE bytes on the page. Where they do not fit, the page is hashed and a new one
 * begun. NULL where no page has room for them. */
static char *page_room(tg_trace *t, size_t size)
{
    if (t->record_used + size > sizeof t->record)
        page_begin(t, tg_trace_hash(t));
    if (t->record_used + size > sizeof t->record)
        return NULL;
    char *at = t->record + t->record_used;
    t->record_used += size;
    return at;
}

void tg_hash_mark(tg_trace *t, uint32_t mark)
{
    memcpy(page_room(t, sizeof mark), &mark, sizeof mark);
}

void tg_hash_node(tg_trace *t, const tg_node *node)
{
    const tg_op *op = node->op;
    uint32_t count = node->operand_count;
    size_t size = sizeof op->name + sizeof count + op->attribute_bytes + count * sizeof(uint32_t);
    char *at = page_room(t, size), *large = NULL;
    if (!at)
        at = large = bn_arena_alloc(t->arena, size);
    memcpy(at, op->name, sizeof op->name);
    at += sizeof op->name;
    memcpy(at, &count, sizeof count);
    at += sizeof count;
    if (op->attribute_bytes)
        memcpy(at, node->attributes, op->attribute_bytes);
    at += op->attribute_bytes;
    for (uint32_t i = 0; i < count; i++, at += sizeof(uint32_t))
        memcpy(at, &node->operands[i]->id, sizeof(uint32_t));
    if (large)
        page_begin(t, tg_hash_absorb(t->hash, large, size));
}

/* ---- of a node alone -------------------------------------------------------------- */

tg_hash tg_node_key(const tg_node *node)
{
    /* Types instead of numbers: equal ops of different steps share a program. Which
     * operands are the same value matters, since a program takes each once. */
    tg_hash h = tg_hash_absorb((tg_hash){0, 0}, node->op->name, sizeof node->op->name);
    if (node->op->attribute_bytes)
        h = tg_hash_absorb(h, node->attributes, node->op->attribute_bytes);
    for (size_t i = 0; i < node->operand_count; i++) {
        int32_t same = 0;
        while (node->operands[same] != node->operands[i])
            same++;
        h = tg_hash_absorb(h, &node->operands[i]->type, sizeof(tg_type));
        h = tg_hash_absorb(h, &same, sizeof same);
    }
    return h;
}
