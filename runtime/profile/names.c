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

bool rt_xspace_names_make(rt_names *names, Bench__Trace__NameEntry *const *entries, size_t count)
{
    names->count = 0;
    if (!bn_reserve(&names->list, count, &names->room, sizeof *names->list))
        return false;
    for (size_t i = 0; i < count; i++) {
        const Bench__Trace__Name *value = entries[i]->value;
        if (value)
            names->list[names->count++] =
                (rt_name){entries[i]->id, rt_name_fits(value->name) ? value->name : ""};
    }
    if (names->count > 0)
        qsort(names->list, names->count, sizeof *names->list, by_id);
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

const char *rt_xspace_names_text(const rt_names *stats, const Bench__Trace__Stat *stat)
{
    if (stat->text[0])
        return rt_name_fits(stat->text) ? stat->text : "";
    return rt_xspace_names_find(stats, (int64_t)stat->ref);
}
