/*
 * array.c - arrays that grow.
 */
#include "runtime/base/base.h"

#include <stdlib.h>
#include <string.h>

bool bn_reserve(void *items, size_t needed, size_t *capacity, size_t item_bytes)
{
    if (needed <= *capacity)
        return true;
    size_t larger = *capacity ? *capacity : 16;
    while (larger < needed && larger <= SIZE_MAX / 2)
        larger *= 2;
    /* No object is larger than PTRDIFF_MAX; sanitizers end the process on such a realloc. */
    if (larger < needed || larger > PTRDIFF_MAX / item_bytes)
        return false;
    /* ITEMS points to a pointer of the caller's type, which is read and written as bytes. */
    void *old, *grown;
    memcpy(&old, items, sizeof old);
    grown = realloc(old, larger * item_bytes);
    if (!grown)
        return false;
    memcpy(items, &grown, sizeof grown);
    *capacity = larger;
    return true;
}
