/*
 * table.c - the modes, one row each, on top of all else in this room: making one by its name.
 */
#include "modes/mode_priv.h"

#include <string.h>

#define MODES(X) X(mode_eager) X(mode_lazy) X(mode_fused) X(mode_captured)

#define X(kind) extern const mode_kind kind;
MODES(X)
#undef X
#define X(kind) &kind,
static const mode_kind *const kinds[] = {MODES(X)};
#undef X
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

bool mode_describe(size_t index, mode_info *info)
{
    if (index >= KIND_COUNT)
        return false;
    *info = (mode_info){kinds[index]->name, kinds[index]->summary, kinds[index]->cuts_graphs,
                        kinds[index]->by_op, kinds[index]->windows};
    return true;
}

bool mode_describe_named(const char *name, mode_info *info)
{
    for (size_t i = 0; mode_describe(i, info); i++)
        if (strcmp(info->name, name) == 0)
            return true;
    *info = (mode_info){0};
    return false;
}

static bn_code name_unknown(const char *name, bn_status *st)
{
    bn_text names = {0};
    for (size_t i = 0; i < KIND_COUNT; i++)
        bn_text_printf(&names, "%s%s", i > 0 ? ", " : "", kinds[i]->name);
    bn_code code =
        bn_fail(st, BN_NOT_FOUND, "no mode is called %s (%s)", name, names.data ? names.data : "");
    bn_text_free(&names);
    return code;
}

bn_code mode_create(const char *name, rt_client *client, const mode_options *options, mode **out,
                    bn_status *st)
{
    const unsigned graphs = options->graphs ? options->graphs : 1;
    size_t i = 0;
    while (i < KIND_COUNT && strcmp(kinds[i]->name, name) != 0)
        i++;
    if (i == KIND_COUNT)
        return name_unknown(name, st);
    if (graphs != 1 && !kinds[i]->cuts_graphs)
        return bn_fail(st, BN_INVALID,
                       "%s mode runs a step as it comes; only capture cuts it "
                       "into %u graphs",
                       name, graphs);
    return mode_create_kind(kinds[i], client, options, out, st);
}
