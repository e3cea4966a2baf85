/*
 * memory.h - where the reader keeps what it reads: a pool whose parts are freed together,
 * and lists that grow. Neither is for several threads at a time.
 */
#ifndef BENCH_RUNTIME_SIM_PROGRAM_MEMORY_H
#define BENCH_RUNTIME_SIM_PROGRAM_MEMORY_H

#include <stddef.h>

/* Blocks that are freed together. All zero: empty. */
typedef struct sim_pool {
    struct sim_pool_block *blocks;
    size_t used, size; /* of the first block */
} sim_pool;

/* BYTES of the pool, zeroed and aligned for any type; NULL without memory. */
void *sim_pool_take(sim_pool *pool, size_t bytes);
void sim_pool_free(sim_pool *pool);

/* An array that grows. Its owner sets SIZE first and frees DATA at last. */
typedef struct sim_list {
    void *data;
    size_t count, capacity, size; /* SIZE: bytes of an element */
} sim_list;

/* COUNT more elements at the end, not set; NULL without memory. Moves the others. */
void *sim_list_add(sim_list *list, size_t count);

#endif
