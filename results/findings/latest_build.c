/*
 * latest_build.c - the rule by which figures are of one build.
 */
#include "results/findings/findings_priv.h"

#include <string.h>

void res_latest_build(res_latest *l, const char *id, const char *build)
{
    if (!build[0] || (l->build && res_id_order(id, l->build_id) <= 0))
        return;
    l->build = build;
    l->build_id = id;
}

bool res_latest_has(const res_latest *l, const char *build)
{
    return !build[0] || !l->build || strcmp(build, l->build) == 0;
}

void res_latest_record(res_latest *l, const void *record, const char *id, bool good)
{
    if (l->record && (good != l->good ? l->good : res_id_order(id, l->record_id) <= 0))
        return;
    l->record = record;
    l->record_id = id;
    l->good = good;
}
