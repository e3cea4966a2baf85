/* memory.c - arrays that grow, and pools; see program.h and memory.h. */
#include "runtime/sim/program/memory.h"

#include "runtime/sim/program/program.h"

#include <stdlib.h>

/* ---- arrays ----------------------------------------------------------------------------- */

#define FIRST_CAPACITY 64

void *sim_grow(void *array, size_t *capacity, size_t count, size_t size)
{
    size_t room = *capacity ? *capacity : FIRST_CAPACITY;
    size_t bytes;
    while (room < count)
        if (__builtin_mul_overflow(room, 2, &room))
            return NULL;
    if (array && room == *capacity)
        return array;
    if (__builtin_mul_overflow(room, size, &bytes))
        return NULL;
    void *grown = realloc(array, bytes);
    if (grown)
        *capacity = room;
    return grown;
}

void *sim_list_add(sim_list *list, size_t count)
{
    void *data = sim_grow(list->data, &list->capacity, list->count + count, list->size);
    if (!data)
        return NULL;
    list->data = data;
    list->count += count;
    return (char *)data + (list->count - count) * list->size;
}

/* ---- pool ------------------------------------------------------------------------------- */

#define BLOCK_BYTES ((size_t)64 << 10)

typedef struct sim_pool_block {
    struct sim_pool_block *next;
    _Alignas(16) char data[];
} sim_pool_block;

void *sim_pool_take(sim_pool *pool, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (!pool->blocks || pool->size - pool->used < bytes) {
        size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        sim_pool_block *block = calloc(1, sizeof *block + size);
        if (!block)
            return NULL;
        /* What needs a block for itself leaves the one being filled in front. */
        if (bytes > BLOCK_BYTES && pool->blocks) {
            block->next = pool->blocks->next;
            pool->blocks->next = block;
            return block->data;
        }
        block->next = pool->blocks;
        *pool = (sim_pool){block, 0, size};
    }
    void *data = pool->blocks->data + pool->used;
    pool->used += bytes;
    return data;
}

void sim_pool_free(sim_pool *pool)
{
    for (sim_pool_block *block = pool->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *pool = (sim_pool){0};
}
