/*
 * earlier.c - which record of a store is of the same recorded process, under the same names, and
 * whether it says more of it.
 */
#include "results/recordings/views.h"

#include <math.h>
#include <string.h>

static const json_t *told(const res_record *record, const char *name)
{
    return json_object_get(json_object_get(record->provenance, "recording"), name);
}

static bool alike(const res_record *a, const res_record *b, const char *name)
{
    const json_t *left = told(a, name), *right = told(b, name);
    return left && right && json_equal(left, right);
}

/* By its number and when it began: a folder may be called otherwise, and what was read may say
 * otherwise when the first step began, and of what. */
static bool same(const res_record *stored, const res_record *record)
{
    const res_experiment *a = &stored->experiment, *b = &record->experiment;
    return alike(stored, record, "pid") && alike(stored, record, "epoch_ns") &&
           alike(stored, record, "step_program") && strcmp(a->model, b->model) == 0 &&
           strcmp(a->phase, b->phase) == 0 && strcmp(a->mode, b->mode) == 0;
}

/* Whether a profile tells of its executions. */
static bool profiled(const res_record *record)
{
    const json_t *profile = told(record, "profile");
    return json_is_object(profile) && json_is_null(json_object_get(profile, "why"));
}

static bool richer(const res_record *stored, const res_record *record)
{
    const json_int_t skipped = json_integer_value(told(record, "skipped_slots")) -
                               json_integer_value(told(stored, "skipped_slots"));
    const int64_t executions =
        record->counters[BN_COUNTER_EXECUTIONS] - stored->counters[BN_COUNTER_EXECUTIONS];
    if (skipped != 0)
        return skipped > 0;
    return executions != 0 ? executions < 0 : profiled(stored) && !profiled(record);
}

res_source rec_record_source(const res_record *record)
{
    const json_t *phases = json_object_get(record->provenance, "phases");
    const double from_s = json_number_value(told(record, "epoch_ns")) / 1e9;
    const double ran_s = json_number_value(json_object_get(phases, "wall_ns")) / 1e9;
    return (res_source){from_s, from_s + ran_s, same, richer};
}
