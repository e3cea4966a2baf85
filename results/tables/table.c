/*
 * table.c - the tables of records, a row each, on top of the rest of this room.
 */
#include "results/tables/tables_priv.h"

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

static const char *name_at(size_t i)
{
    return i < COUNT ? tables[i]->name : NULL;
}

void res_table_names(bn_text *out)
{
    bn_put_names(out, name_at);
}

void res_table_summaries(bn_text *out)
{
    for (size_t i = 0; i < COUNT; i++)
        bn_text_printf(out, tables[i]->summary[0] ? "%s%s (%s)" : "%s%s", i ? "; " : "",
                       tables[i]->name, tables[i]->summary);
}

bn_code res_table_check(const char *name, bn_status *st)
{
    size_t row;
    return bn_find_name("table", name, name_at, &row, st);
}

void res_table(const char *name, const res_collection *all, res_format format, bn_text *out)
{
    size_t row;
    if (bn_find_name("table", name, name_at, &row, NULL) == BN_OK)
        tables[row]->put(all, format, out);
}
