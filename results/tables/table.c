/*
 * table.c - the tables of records, a row each, on top of the rest of this room.
 */
#include "results/tables/tables_priv.h"

#include <string.h>

/* In the order in which help lists them. */
#define TABLES(X)                                                                                  \
    X(speedup)                                                                                     \
    X(executions)                                                                                  \
    X(ledger)                                                                                      \
    X(goodput)                                                                                     \
    X(compile)                                                                                     \
    X(memory)                                                                                      \
    X(costs)                                                                                       \
    X(published)                                                                                   \
    X(estimates)

#define X(name) extern const res_table_kind res_table_of_##name;
TABLES(X)
#undef X
#define X(name) &res_table_of_##name,
static const res_table_kind *const tables[] = {TABLES(X)};
#undef X
#define COUNT (sizeof tables / sizeof *tables)

void res_table_names(bn_text *out)
{
    for (size_t i = 0; i < COUNT; i++)
        bn_text_printf(out, "%s%s", i ? ", " : "", tables[i]->name);
}

void res_table_summaries(bn_text *out)
{
    for (size_t i = 0; i < COUNT; i++)
        bn_text_printf(out, tables[i]->summary[0] ? "%s%s (%s)" : "%s%s", i ? "; " : "",
                       tables[i]->name, tables[i]->summary);
}

static const res_table_kind *kind_of(const char *name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(tables[i]->name, name) == 0)
            return tables[i];
    return NULL;
}

bn_code res_table_check(const char *name, bn_status *st)
{
    bn_text names = {0};
    if (kind_of(name))
        return BN_OK;
    res_table_names(&names);
    bn_fail_choice(st, "table", name, names.data);
    bn_text_free(&names);
    return BN_INVALID;
}

void res_table(const char *name, const res_collection *all, res_format format, bn_text *out)
{
    const res_table_kind *kind = kind_of(name);
    if (kind)
        kind->put(all, format, out);
}
