/*
 * kinds.c - the pictures of a store by their names, a row each, on top of the rest of this room.
 */
#include "plots/plot_priv.h"

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

static const char *name_at(size_t i)
{
    return i < COUNT ? kinds[i]->name : NULL;
}

void plot_kind_names(bn_text *out)
{
    bn_put_names(out, name_at);
}

bn_code plot_kind_find(const char *name, const plot_kind **kind, bn_status *st)
{
    size_t row = 0;
    const bn_code code = bn_find_name("plot", name, name_at, &row, st);
    *kind = code == BN_OK ? kinds[row] : NULL;
    return code;
}
