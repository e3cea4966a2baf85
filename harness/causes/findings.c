/*
 * findings.c - observations that cost time repeatedly, with advice.
 */
#include "harness/causes/causes_priv.h"
#include "results/doctor/doctor.h"

#include <string.h>

static void add_finding(json_t *list, const char *rule, int64_t count, const json_t *first,
                        const char *advice)
{
    json_t *one =
        json_pack("{ss sI ss}", "rule", rule, "count", (json_int_t)count, "advice", advice);
    static const char *const kept[] = {"others", "subject", "dimension", "from",   "to",
                                       "place",  "scope",   "op",        "reason", "words"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_object_set(one, kept[i], json_object_get(first, kept[i]));
    json_array_append_new(list, one);
}

/* A finding for each cause that recompiles have, with the first of them as its example. */
static void of_recompiles(const json_t *recompiles, json_t *list)
{
    const res_remedy *known;
    for (size_t k = 0; (known = res_remedy_at(k)); k++) {
        const json_t *recompile, *first = NULL;
        int64_t count = 0;
        size_t i;
        json_array_foreach(recompiles, i, recompile)
        {
            const char *cause = json_string_value(json_object_get(recompile, "cause"));
            if (strcmp(cause, known->cause) != 0)
                continue;
            first = first ? first : recompile;
            count++;
        }
        if (first)
            add_finding(list, known->cause, count, first, known->advice);
    }
}

/* A finding for each item of ITEMS that at least LEAST steps have. */
static void of_items(const json_t *items, int64_t least, const char *rule, const char *advice,
                     json_t *list)
{
    const json_t *item;
    size_t i;
    json_array_foreach(items, i, item)
    {
        const int64_t of = json_integer_value(json_object_get(item, "steps"));
        if (of >= least)
            add_finding(list, rule, of, item, advice);
    }
}

/* Captures whose read has a new value again and again: more than one branch was missing. */
static void of_misses(const json_t *misses, json_t *list)
{
    const json_t *miss, *first = NULL;
    int64_t count = 0;
    size_t i;
    json_array_foreach(
        misses, i,
        miss) if (strcmp(json_string_value(json_object_get(miss, "guard")), "value") == 0)
    {
        first = first ? first : miss;
        count++;
    }
    if (count > 1)
        add_finding(list, "values", count, first,
                    "A capture has a branch for each value that was read, and a new value traces "
                    "the step again: do not read values that differ in each step.");
}

json_t *cause_findings(const json_t *e, bool seldom)
{
    json_t *list = json_array();
    const int64_t steps = json_integer_value(json_object_get(e, "steps"));
    const int64_t least = seldom ? 1 : steps / 2 + 1;
    of_recompiles(json_object_get(e, "recompiles"), list);
    of_items(json_object_get(e, "host_ops"), least, "host",
             "The host computes this op, between two transfers: use ops that StableHLO has.", list);
    of_items(json_object_get(e, "reads"), least, "read",
             "The host waits for the device here: read every N steps, after the step.", list);
    of_misses(json_object_get(e, "guard_misses"), list);
    return list;
}
