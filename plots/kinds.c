/*
 * kinds.c - the pictures of a store by their names, a row each, on top of the rest of this room.
 */
#include "plots/plot_priv.h"

#include <string.h>

#define PLOTS(X)                                                                                   \
    X(ledger)                                                                                      \
    X(speedup)                                                                                     \
    X(overhead)                                                                                    \
    X(steps)                                                                                       \
    X(distribution)

#define X(name) extern const plot_kind plot_kind_##name;
PLOTS(X)
#undef X
#define X(name) &plot_kind_##name,
static const plot_kind *const kinds[] = {PLOTS(X)};
#undef X
#define COUNT (sizeof kinds / sizeof *kinds)

void plot_kind_names(bn_text *out)
{
    for (size_t i = 0; i < COUNT; i++)
        bn_text_printf(out, "%s%s", i ? ", " : "", kinds[i]->name);
}

bn_code plot_kind_find(const char *name, const plot_kind **kind, bn_status *st)
{
    bn_text names = {0};
    *kind = NULL;
    for (size_t i = 0; i < COUNT && !*kind; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            *kind = kinds[i];
    if (*kind)
        return BN_OK;
    plot_kind_names(&names);
    bn_fail_choice(st, "plot", name, names.data);
    bn_text_free(&names);
    return BN_INVALID;
}
