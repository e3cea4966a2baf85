/*
 * list.c - lists of handles that keep their room from step to step, so that a steady step
 * allocates nothing.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>

bn_code mode_list_reserve(mode_list *list, size_t count, bn_status *st)
{
    if (!bn_reserve(&list->items, count, &list->capacity, sizeof *list->items))
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a list of %zu handles", count);
    return BN_OK;
}

bn_code mode_list_push(mode_list *list, void *item, bn_status *st)
{
    bn_code code = mode_list_reserve(list, list->count + 1, st);
    if (code == BN_OK)
        list->items[list->count++] = item;
    return code;
}

void mode_list_free(mode_list *list)
{
    free(list->items);
    *list = (mode_list){0};
}
