/*
 * map.c - hashes of names to numbers.
 */
#define XXH_INLINE_ALL
#include "runtime/stablehlo/stablehlo_priv.h"

#include <stdlib.h>
#include <xxhash.h>

uint64_t shlo_hash(const char *bytes, size_t length)
{
    return XXH3_64bits(bytes, length);
}

/* Zero says that an entry is free. */
static uint64_t usable(uint64_t key)
{
    return key ? key : 1;
}

/* The entry of KEY in ENTRIES, SIZE of which some are free: its own, or where it would stand. */
static shlo_entry *entry_of(shlo_entry *entries, size_t size, uint64_t key)
{
    size_t at = (size_t)(key ^ key >> 32) & (size - 1);
    while (entries[at].key && entries[at].key != key)
        at = (at + 1) & (size - 1);
    return &entries[at];
}

static void grow(shlo_map *map)
{
    const size_t size = map->size ? 2 * map->size : 64;
    shlo_entry *entries = bn_zalloc(size, sizeof *entries);
    for (size_t i = 0; i < map->size; i++)
        if (map->entries[i].key)
            *entry_of(entries, size, map->entries[i].key) = map->entries[i];
    free(map->entries);
    map->entries = entries;
    map->size = size;
}

uint32_t *shlo_map_find(const shlo_map *map, uint64_t key)
{
    if (!map->size)
        return NULL;
    shlo_entry *entry = entry_of(map->entries, map->size, usable(key));
    return entry->key ? &entry->value : NULL;
}

uint32_t *shlo_map_at(shlo_map *map, uint64_t key)
{
    if (map->count >= map->size / 2)
        grow(map);
    shlo_entry *entry = entry_of(map->entries, map->size, usable(key));
    if (!entry->key) {
        *entry = (shlo_entry){usable(key), SHLO_NONE};
        map->count++;
    }
    return &entry->value;
}

void shlo_map_free(shlo_map *map)
{
    free(map->entries);
    *map = (shlo_map){0};
}
