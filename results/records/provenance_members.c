/*
 * provenance_members.c - the table of members of a provenance, and access to them.
 */
#include "results/records/records_priv.h"

#include <math.h>
#include <string.h>

const res_provenance_row res_provenance_rows[RES_PROV_COUNT] = {
#define PROVENANCE(id, path, kind, most) [RES_PROV_##id] = {path, RES_PROV_KIND_##kind, most},
#include "results/records/provenance.def"
};

/* The object that has the last name of MEMBER's path, which *NAME gets; NULL: there is none. */
static json_t *holder_of(const res_record *record, res_provenance_id member, const char **name)
{
    const char *at = res_provenance_rows[member].path, *dot;
    json_t *object = record->provenance;
    for (; (dot = strchr(at, '.')); at = dot + 1)
        object = json_object_getn(object, at, (size_t)(dot - at));
    *name = at;
    return object;
}

json_t *res_provenance(const res_record *record, res_provenance_id member)
{
    const char *name;
    const json_t *object = holder_of(record, member, &name);
    return json_object_get(object, name);
}

const char *res_provenance_text(const res_record *record, res_provenance_id member)
{
    const char *text = json_string_value(res_provenance(record, member));
    return text ? text : "";
}

int64_t res_provenance_integer(const res_record *record, res_provenance_id member, int64_t unknown)
{
    const json_t *value = res_provenance(record, member);
    return json_is_integer(value) ? json_integer_value(value) : unknown;
}

double res_provenance_number(const res_record *record, res_provenance_id member)
{
    const json_t *value = res_provenance(record, member);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

void res_provenance_set(res_record *record, res_provenance_id member, json_t *value)
{
    const char *name;
    json_t *object = holder_of(record, member, &name);
    json_object_set_new(object, name, value);
}
