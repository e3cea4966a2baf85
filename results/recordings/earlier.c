/*
 * earlier.c - which record of a store is of the same recorded process, under the same names, and
 * whether it says more of it.
 */
#include "results/recordings/views.h"

#include <math.h>
#include <string.h>

static bool alike(const res_record *a, const res_record *b, res_provenance_id member)
{
    const json_t *left = res_provenance(a, member), *right = res_provenance(b, member);
    return left && right && json_equal(left, right);
}

/* Whether both are of one variant, or of all: records of before have no such member. */
static bool same_variant(const res_record *a, const res_record *b)
{
    const json_t *left = res_provenance(a, RES_PROV_RECORDING_VARIANT);
    const json_t *right = res_provenance(b, RES_PROV_RECORDING_VARIANT);
    const bool none = !left || json_is_null(left);
    return none ? !right || json_is_null(right) : right && json_equal(left, right);
}

/* By its number and when it began: a folder may be called otherwise, and what was read may say
 * otherwise when the first step began, and of what. */
static bool same(const res_record *stored, const res_record *record)
{
    const res_experiment *a = &stored->experiment, *b = &record->experiment;
    return alike(stored, record, RES_PROV_RECORDING_PID) &&
           alike(stored, record, RES_PROV_RECORDING_EPOCH) &&
           alike(stored, record, RES_PROV_RECORDING_PROGRAM) && same_variant(stored, record) &&
           strcmp(a->model, b->model) == 0 && strcmp(a->phase, b->phase) == 0 &&
           strcmp(a->mode, b->mode) == 0;
}

/* Whether a profile tells of its executions. */
static bool profiled(const res_record *record)
{
    return json_is_null(res_provenance(record, RES_PROV_RECORDING_PROFILE_WHY));
}

static bool richer(const res_record *stored, const res_record *record)
{
    const int64_t skipped = res_provenance_integer(record, RES_PROV_RECORDING_SKIPPED, 0) -
                            res_provenance_integer(stored, RES_PROV_RECORDING_SKIPPED, 0);
    const int64_t executions =
        record->counters[BN_COUNTER_EXECUTIONS] - stored->counters[BN_COUNTER_EXECUTIONS];
    if (skipped != 0)
        return skipped > 0;
    return executions != 0 ? executions < 0 : profiled(stored) && !profiled(record);
}

res_source rec_record_source(const res_record *record)
{
    const double from_s = res_provenance_number(record, RES_PROV_RECORDING_EPOCH) / 1e9;
    const double ran_s = res_provenance_number(record, RES_PROV_PHASES_WALL) / 1e9;
    return (res_source){from_s, from_s + ran_s, same, richer};
}
