/*
 * list.c - lists of handles that keep their room from step to step, so that a steady step
 * allocates nothing.
 */
#include "modes/mode_priv.h"

#include <stdlib.h>

void mode_list_reserve(mode_list *list, size_t count)
{
    bn_grow(&list->items, count, &list->capacity, sizeof *list->items);
}

void mode_list_push(mode_list *list, void *item)
{
    mode_list_reserve(list, list->count + 1);
    list->items[list->count++] = item;
}

void mode_list_free(mode_list *list)
{
    free(list->items);
    *list = (mode_list){0};
}
