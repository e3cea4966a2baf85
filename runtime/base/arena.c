/*
 * arena.c - memory that dies together, in chunks that outlive a reset.
 *
 * Chunks form a list in the order of use. A reset moves back to the first; a
 * request that does not fit moves on to the next chunk or inserts a larger one.
 * Under AddressSanitizer the unused part of each chunk is poisoned, so a use
 * after reset is reported as a use after free would be.
 */
#include "runtime/base/base.h"

#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#define poison(address, size)   ASAN_POISON_MEMORY_REGION(address, size)
#define unpoison(address, size) ASAN_UNPOISON_MEMORY_REGION(address, size)
#else
#define poison(address, size)   ((void)(address), (void)(size))
#define unpoison(address, size) ((void)(address), (void)(size))
#endif

enum { ALIGNMENT = 16, SMALLEST_CHUNK = 256 };

struct chunk {
    struct chunk *next;
    size_t capacity, used;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct bn_arena {
    struct chunk *first, *current;
};

static struct chunk *chunk_new(size_t capacity)
{
    /* No object is larger; sanitizers report such a malloc. */
    if (capacity > PTRDIFF_MAX - sizeof(struct chunk))
        bn_out_of_memory(capacity);
    struct chunk *chunk = bn_alloc(sizeof *chunk + capacity);
    *chunk = (struct chunk){.capacity = capacity};
    poison(chunk->bytes, capacity);
    return chunk;
}

bn_arena *bn_arena_new(size_t first_chunk_bytes)
{
    bn_arena *arena = bn_alloc(sizeof *arena);
    struct chunk *first =
        chunk_new(first_chunk_bytes < SMALLEST_CHUNK ? SMALLEST_CHUNK : first_chunk_bytes);
    *arena = (bn_arena){.first = first, .current = first};
    return arena;
}

void bn_arena_free(bn_arena *arena)
{
    if (!arena)
        return;
    for (struct chunk *chunk = arena->first, *next; chunk; chunk = next) {
        next = chunk->next;
        unpoison(chunk->bytes, chunk->capacity);
        free(chunk);
    }
    free(arena);
}

void bn_arena_rewind(bn_arena *arena)
{
    /* Chunks after the current one were already emptied by the last reset. */
    for (struct chunk *chunk = arena->first; chunk != arena->current; chunk = chunk->next)
        chunk->used = 0;
    arena->current->used = 0;
    arena->current = arena->first;
}

void bn_arena_reset(bn_arena *arena)
{
    for (struct chunk *chunk = arena->first; chunk != arena->current; chunk = chunk->next)
        poison(chunk->bytes, chunk->capacity);
    poison(arena->current->bytes, arena->current->capacity);
    bn_arena_rewind(arena);
}

/* Makes a chunk with room for SIZE bytes the current one. */
static void chunk_advance(bn_arena *arena, size_t size)
{
    struct chunk *next = arena->current->next;
    if (!next || next->capacity < size) {
        size_t capacity = arena->current->capacity;
        capacity = capacity > SIZE_MAX / 2 ? capacity : capacity * 2;
        struct chunk *grown = chunk_new(capacity < size ? size : capacity);
        grown->next = next;
        arena->current->next = grown;
        next = grown;
    }
    arena->current = next;
}

void *bn_arena_alloc(bn_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT)
        bn_out_of_memory(size);
    /* An empty allocation still gets an address of its own. */
    size_t rounded = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct chunk *chunk = arena->current;
    if (chunk->capacity - chunk->used < rounded) {
        chunk_advance(arena, rounded);
        chunk = arena->current;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += rounded;
    unpoison(memory, size);
    return memory;
}

void *bn_arena_zalloc(bn_arena *arena, size_t size)
{
    return memset(bn_arena_alloc(arena, size), 0, size);
}

char *bn_arena_strdup(bn_arena *arena, const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(bn_arena_alloc(arena, size), text, size);
}
