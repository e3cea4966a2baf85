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

/* Makes the list of NAMES anew of COUNT entries. TAKE gives one of them; false: it has no name. */
static bool fill(rt_names *names, const Rt__Profile__Plane *plane, size_t count,
                 bool (*take)(const Rt__Profile__Plane *, size_t, rt_name *))
{
    names->count = 0;
    if (!bn_reserve(&names->list, count, &names->room, sizeof *names->list))
        return false;
    for (size_t i = 0; i < count; i++) {
        rt_name *name = &names->list[names->count];
        if (!take(plane, i, name))
            continue;
        if (!rt_name_fits(name->name))
            name->name = "";
        names->count++;
    }
    if (names->count > 0)
        qsort(names->list, names->count, sizeof *names->list, by_id);
    return true;
}

static bool take_event(const Rt__Profile__Plane *plane, size_t at, rt_name *out)
{
    const Rt__Profile__EventNameEntry *entry = plane->event_names[at];
    if (entry->value)
        *out = (rt_name){entry->id, entry->value->name};
    return entry->value != NULL;
}

static bool take_stat(const Rt__Profile__Plane *plane, size_t at, rt_name *out)
{
    const Rt__Profile__StatNameEntry *entry = plane->stat_names[at];
    if (entry->value)
        *out = (rt_name){entry->id, entry->value->name};
    return entry->value != NULL;
}

bool rt_xspace_names_of_events(rt_names *names, const Rt__Profile__Plane *plane)
{
    return fill(names, plane, plane->n_event_names, take_event);
}

bool rt_xspace_names_of_stats(rt_names *names, const Rt__Profile__Plane *plane)
{
    return fill(names, plane, plane->n_stat_names, take_stat);
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
    if (stat->text[0])
        return rt_name_fits(stat->text) ? stat->text : "";
    return rt_xspace_names_find(stats, (int64_t)stat->ref);
}
