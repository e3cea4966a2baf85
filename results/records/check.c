/*
 * check.c - what a record may hold, whoever wrote it. A record is foreign until this has looked at
 * it: a file of the store, a line of the index, an import. What passes can be printed, counted,
 * added up and used in the name of a file.
 */
#include "results/records/records_priv.h"

#include <math.h>
#include <string.h>

/* No time of ours is longer: 2^53 ns are 104 days, and exact in a double. */
#define MOST_NS (UINT64_C(1) << 53)

/* UTF-8 without control characters. */
static bool is_plain(const char *text)
{
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return false;
    json_t *value = json_string(text);
    json_decref(value);
    return value != NULL;
}

static bool axis_fits(const res_axis *axis, const res_experiment *e)
{
    if (axis->field.kind == RES_KIND_TEXT)
        return is_plain(res_axis_text(axis, e));
    /* A seed may be any number, and wraps to below zero here. */
    return axis->field.kind == RES_KIND_U64 || res_axis_number(axis, e) >= 0;
}

bn_code res_experiment_check(const res_experiment *e, bn_status *st)
{
    for (int i = 0; i < RES_AXIS_COUNT; i++)
        if (!axis_fits(&res_axes[i], e))
            return bn_fail(st, BN_FORMAT, "the experiment's %s is out of range",
                           res_axes[i].field.name);
    return BN_OK;
}

static bool times_fit(const uint64_t *ns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ns[i] > MOST_NS)
            return false;
    return true;
}

/* A field of an execution: counts are not negative, sizes at least -1, reals finite or unknown. */
static bool field_fits(const res_field *field, const void *base)
{
    const void *at = (const char *)base + field->offset;
    switch (field->kind) {
    case RES_KIND_TEXT:
        return is_plain(at);
    case RES_KIND_INT:
        return *(const int *)at >= 0;
    case RES_KIND_I64:
        return *(const int64_t *)at >= 0;
    case RES_KIND_AMOUNT:
        return *(const int64_t *)at >= -1;
    case RES_KIND_U64:
        return *(const uint64_t *)at <= MOST_NS;
    case RES_KIND_REAL:
        return !isinf(*(const double *)at) && !(fabs(*(const double *)at) > 1e30);
    case RES_KIND_BOOL:
    case RES_KIND_SOURCE:
        break;
    }
    return true;
}

static bn_code check_execution(const res_execution *x, bn_status *st)
{
    for (const res_field *field = res_execution_fields; field->name; field++)
        if (!field_fits(field, x))
            return bn_fail(st, BN_FORMAT, "an execution's %s is out of range", field->name);
    if (!times_fit(x->pjrt_ns, x->pjrt_count))
        return bn_fail(st, BN_FORMAT, "an execution took longer than 104 days");
    return BN_OK;
}

bn_code res_record_check(const res_record *r, bn_status *st)
{
    bn_code code = BN_OK;
    if (!res_id_names_a_file(r->id))
        return bn_fail(st, BN_FORMAT, "its id cannot be the name of a file");
    if (!is_plain(r->values))
        return bn_fail(st, BN_FORMAT, "its values are no plain text");
    if (!times_fit(r->wall_ns, r->step_count) || !times_fit(r->warmup_wall_ns, r->warmup_count))
        return bn_fail(st, BN_FORMAT, "a step took longer than 104 days");
    code = res_experiment_check(&r->experiment, st);
    for (size_t i = 0; i < r->execution_count && code == BN_OK; i++)
        code = check_execution(&r->executions[i], st);
    return code;
}
