/* table.c - the modes, one row each. */
#include "modes/mode_priv.h"

static const mode_kind *const kinds[] = {&mode_eager, &mode_lazy, &mode_captured, NULL};

const mode_kind *mode_kind_at(size_t index)
{
    return index < sizeof kinds / sizeof *kinds ? kinds[index] : NULL;
}

bool mode_describe(size_t index, mode_info *info)
{
    const mode_kind *kind = mode_kind_at(index);
    if (!kind)
        return false;
    *info = (mode_info){kind->name, kind->summary, kind->cuts_graphs};
    return true;
}
