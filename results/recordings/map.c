/*
 * map.c - numbers of 64 bits, such as handles, to indices: an open table with linear probing.
 *
 * Keys come from outside, so where they lie depends on a seed of this run.
 */
#include "results/recordings/recordings_priv.h"

#include <stdlib.h>

#define LEAST 64

void rec_map_free(rec_map *map)
{
    free(map->keys);
    free(map->values);
    *map = (rec_map){0};
}

/* The finalizer of splitmix64 (G. L. Steele et al., "Fast splittable pseudorandom number
 * generators", OOPSLA 2014). */
static size_t home_of(const rec_map *map, uint64_t key)
{
    uint64_t z = key ^ map->seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (size_t)(z ^ (z >> 31)) & (map->capacity - 1);
}

/* Where KEY is, or where it would be. */
static size_t place_of(const rec_map *map, uint64_t key)
{
    size_t at = home_of(map, key);
    while (map->keys[at] != 0 && map->keys[at] != key)
        at = (at + 1) & (map->capacity - 1);
    return at;
}

uint32_t rec_map_get(const rec_map *map, uint64_t key)
{
    if (key == 0 || map->count == 0)
        return REC_NONE;
    const size_t at = place_of(map, key);
    return map->keys[at] == key ? map->values[at] : REC_NONE;
}

static bool grow(rec_map *map)
{
    rec_map larger = {.capacity = map->capacity ? 2 * map->capacity : LEAST, .seed = map->seed};
    if (!larger.seed)
        larger.seed = bn_now_ns() ^ (uint64_t)(uintptr_t)map;
    larger.keys = calloc(larger.capacity, sizeof *larger.keys);
    larger.values = calloc(larger.capacity, sizeof *larger.values);
    if (!larger.keys || !larger.values) {
        rec_map_free(&larger);
        return false;
    }
    larger.count = map->count;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->keys[i] != 0) {
            const size_t at = place_of(&larger, map->keys[i]);
            larger.keys[at] = map->keys[i];
            larger.values[at] = map->values[i];
        }
    free(map->keys);
    free(map->values);
    *map = larger;
    return true;
}

bool rec_map_put(rec_map *map, uint64_t key, uint32_t value)
{
    if (key == 0)
        return true;
    if (2 * map->count >= map->capacity && !grow(map))
        return false;
    const size_t at = place_of(map, key);
    map->count += map->keys[at] == 0;
    map->keys[at] = key;
    map->values[at] = value;
    return true;
}

void rec_map_remove(rec_map *map, uint64_t key)
{
    if (key == 0 || map->count == 0)
        return;
    const size_t mask = map->capacity - 1;
    size_t hole = place_of(map, key);
    if (map->keys[hole] != key)
        return;
    map->count--;
    /* Later entries move into the hole, unless it is before their home slot. */
    for (size_t next = (hole + 1) & mask; map->keys[next] != 0; next = (next + 1) & mask) {
        const size_t home = home_of(map, map->keys[next]);
        if (((next - home) & mask) < ((next - hole) & mask))
            continue;
        map->keys[hole] = map->keys[next];
        map->values[hole] = map->values[next];
        hole = next;
    }
    map->keys[hole] = 0;
}
