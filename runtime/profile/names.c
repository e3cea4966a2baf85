/*
 * names.c - the names that the numbers of a plane stand for.
 */
#include "runtime/profile/profile_priv.h"

#include <stdlib.h>

static int by_id(const void *left, const void *right)
{
    const rt_name *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static const char *short_enough(const char *name)
{
    return rt_name_fits(name) ? name : "";
}

static bool make_room(rt_names *names, size_t count)
{
    names->count = 0;
    return bn_reserve(&names->list, count, &names->room, sizeof *names->list);
}

static void sort(rt_names *names)
{
    if (names->count > 0)
        qsort(names->list, names->count, sizeof *names->list, by_id);
}

bool rt_xspace_names_of_events(rt_names *names, const Rt__Profile__Plane *plane)
{
    if (!make_room(names, plane->n_event_names))
        return false;
    for (size_t i = 0; i < plane->n_event_names; i++) {
        const Rt__Profile__EventNameEntry *entry = plane->event_names[i];
        if (entry->value)
            names->list[names->count++] = (rt_name){entry->id, short_enough(entry->value->name)};
    }
    sort(names);
    return true;
}

bool rt_xspace_names_of_stats(rt_names *names, const Rt__Profile__Plane *plane)
{
    if (!make_room(names, plane->n_stat_names))
        return false;
    for (size_t i = 0; i < plane->n_stat_names; i++) {
        const Rt__Profile__StatNameEntry *entry = plane->stat_names[i];
        if (entry->value)
            names->list[names->count++] = (rt_name){entry->id, short_enough(entry->value->name)};
    }
    sort(names);
    return true;
}

void rt_xspace_names_free(rt_names *names)
{
    free(names->list);
    *names = (rt_names){0};
}

const char *rt_xspace_names_find(const rt_names *names, int64_t id)
{
    const rt_name key = {.id = id};
    const rt_name *found =
        names->count ? bsearch(&key, names->list, names->count, sizeof key, by_id) : NULL;
    return found ? found->name : "";
}

const char *rt_xspace_names_text(const rt_names *stats, const Rt__Profile__Stat *stat)
{
    return stat->text[0] ? short_enough(stat->text)
                         : rt_xspace_names_find(stats, (int64_t)stat->ref);
}
