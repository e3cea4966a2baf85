/*
 * json.c - a record as the documented JSON object.
 *
 * Times are nanoseconds; whatever is unknown is null, never a sentinel, and no
 * number is NaN or infinite.
 */
#include "results/records/records_priv.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *res_json_text(const char *text)
{
    json_t *value = json_string(text);
    if (value)
        return value;
    char *plain = bn_strdup(text); /* TEXT is not UTF-8 */
    for (char *c = plain; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    }
    value = json_string(plain);
    free(plain);
    return value;
}

bn_code res_json_parse(const char *text, size_t length, json_t **value, bn_status *st)
{
    json_error_t error = {.line = 0};
    *value = NULL;
    if (bn_json_depth(text, length) > BN_JSON_DEPTH)
        return bn_fail(st, BN_FORMAT, "JSON that is more than %d levels deep", BN_JSON_DEPTH);
    *value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    return *value ? BN_OK : bn_fail(st, BN_FORMAT, "not JSON: %s", error.text);
}

json_t *res_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

const char *res_json_get_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* A value beyond JSON's usual 63 bits is kept whole, as text. */
static json_t *unsigned_json(uint64_t value)
{
    if (value <= INT64_MAX)
        return json_integer((json_int_t)value);
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_string(digits);
}

static json_t *field_json(const res_field *field, const void *base)
{
    const char *at = (const char *)base + field->offset;
    switch (field->kind) {
    case RES_KIND_TEXT:
        return res_json_text(at);
    case RES_KIND_INT:
        return json_integer(*(const int *)(const void *)at);
    case RES_KIND_I64:
        return json_integer(*(const int64_t *)(const void *)at);
    case RES_KIND_AMOUNT: {
        int64_t amount = *(const int64_t *)(const void *)at;
        return amount < 0 ? json_null() : json_integer(amount);
    }
    case RES_KIND_U64:
        return unsigned_json(*(const uint64_t *)(const void *)at);
    case RES_KIND_REAL:
        return res_json_real(*(const double *)(const void *)at);
    case RES_KIND_BOOL:
        return json_boolean(*(const bool *)(const void *)at);
    case RES_KIND_SOURCE:
        return json_string(
            bn_device_time_source_name(*(const bn_device_time_source *)(const void *)at));
    }
    return json_null();
}

json_t *res_axis_to_json(const res_axis *axis, const res_experiment *experiment)
{
    return field_json(&axis->field, experiment);
}

static json_t *fields_json(const res_field *fields, const void *base)
{
    json_t *object = json_object();
    for (const res_field *field = fields; field->name; field++)
        json_object_set_new(object, field->name, field_json(field, base));
    return object;
}

json_t *res_experiment_to_json(const res_experiment *experiment)
{
    return fields_json(res_experiment_fields, experiment);
}

/* A number of 64 bits, or digits that are one. */
static bool unsigned_from(const json_t *value, uint64_t *number)
{
    const char *text = json_string_value(value);
    char *end = NULL;
    if (!text) {
        *number = (uint64_t)json_integer_value(value);
        return json_is_integer(value) && json_integer_value(value) >= 0;
    }
    errno = 0;
    *number = strtoull(text, &end, 10);
    /* strtoull takes a sign and blanks, too. */
    return isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0;
}

/* Texts, whole numbers and seeds: the kinds that an experiment has. */
static bool field_from(const res_field *field, const json_t *value, void *base)
{
    char *at = (char *)base + field->offset;
    const char *text = json_string_value(value);
    const json_int_t number = json_integer_value(value);
    if (field->kind == RES_KIND_TEXT && text && strlen(text) < field->size) {
        /* No rest of the usual value: experiments are compared as bytes, too. */
        memset(at, 0, field->size);
        memcpy(at, text, strlen(text));
        return true;
    }
    if (field->kind == RES_KIND_INT && json_is_integer(value) && number >= INT_MIN &&
        number <= INT_MAX) {
        *(int *)(void *)at = (int)number;
        return true;
    }
    return field->kind == RES_KIND_U64 && unsigned_from(value, (uint64_t *)(void *)at);
}

/* An axis of a newer bench may well set apart what is one experiment here. */
static bn_code check_axes(const json_t *json, bn_status *st)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)json, name, value)
    {
        const res_field *field = res_experiment_fields;
        while (field->name && strcmp(field->name, name) != 0)
            field++;
        if (!field->name)
            return bn_fail(st, BN_FORMAT, "experiment: this bench knows no %s", name);
    }
    return BN_OK;
}

bn_code res_experiment_from_json(const json_t *json, res_experiment *experiment, bn_status *st)
{
    res_experiment_old(experiment);
    if (check_axes(json, st) != BN_OK)
        return st ? st->code : BN_FORMAT;
    for (const res_field *field = res_experiment_fields; field->name; field++) {
        const json_t *value = json_object_get(json, field->name);
        if (!value && field->later)
            continue;
        if (!field_from(field, value, experiment))
            return bn_fail(st, BN_FORMAT, "experiment: %s is missing or does not fit", field->name);
    }
    return BN_OK;
}

static json_t *summary_json(const uint64_t *values, size_t count, double median_ns)
{
    json_t *object = json_object();
    json_object_set_new(object, "median_ns", res_json_real(median_ns));
    json_object_set_new(object, "p10_ns", res_json_real(res_quantile(values, count, 0.1)));
    json_object_set_new(object, "p90_ns", res_json_real(res_quantile(values, count, 0.9)));
    return object;
}

static json_t *ledger_json(const res_record *record)
{
    json_t *ledger = json_object();
    uint64_t *series = bn_zalloc(record->step_count, sizeof *series);
    for (int p = 0; p < BN_PART_COUNT; p++) {
        bn_part part = (bn_part)p;
        res_part_series(record, &part, 1, series);
        json_object_set_new(
            ledger, bn_part_name(part),
            summary_json(series, record->step_count, res_step_median(record, series)));
    }
    json_object_set_new(ledger, "wall",
                        summary_json(record->wall_ns, record->step_count,
                                     res_step_median(record, record->wall_ns)));
    free(series);
    return ledger;
}

/* The sum over the rounds of the member at OFFSET; null where all of them have RES_UNKNOWN. */
static json_t *round_sum(const res_record *record, size_t offset)
{
    uint64_t sum = 0;
    bool known = false;
    for (size_t i = 0; i < record->round_count; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&record->rounds[i] + offset, sizeof value);
        known = known || value != RES_UNKNOWN;
        sum += value != RES_UNKNOWN ? value : 0;
    }
    return known ? res_json_real((double)sum) : json_null();
}

/* How many rounds, how far their medians lie apart, and sums over them. */
static json_t *rounds_json(const res_record *record)
{
    json_t *object = json_object();
    double *medians = bn_zalloc(record->round_count, sizeof *medians);
    uint64_t *whole = bn_zalloc(record->round_count, sizeof *whole);
    size_t count = res_round_medians(record, record->wall_ns, medians), known = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(medians[i]))
            whole[known++] = (uint64_t)llround(medians[i]);
    json_object_set_new(object, "count", json_integer((json_int_t)record->round_count));
    json_object_set_new(object, "step",
                        summary_json(whole, known, res_step_median(record, record->wall_ns)));
    free(whole);
    free(medians);
    json_object_set_new(object, "wall_ns", round_sum(record, offsetof(res_round, wall_ns)));
    json_object_set_new(object, "switches", round_sum(record, offsetof(res_round, switches)));
    json_object_set_new(object, "stalled_ns", round_sum(record, offsetof(res_round, stalled_ns)));
    json_object_set_new(object, "stolen_ns", round_sum(record, offsetof(res_round, stolen_ns)));
    return object;
}

static json_t *executions_json(const res_record *record)
{
    json_t *list = json_array();
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        json_t *row = fields_json(res_execution_fields, execution);
        json_object_set_new(row, "pjrt_ns", res_json_real(res_execution_pjrt_ns(execution)));
        json_object_set_new(row, "probes", json_integer((json_int_t)execution->probe_count));
        json_object_set_new(
            row, "null_share",
            res_json_real(res_probes_null(execution->probes, execution->probe_count)));
        res_interval overhead = res_execution_overhead(execution);
        json_object_set_new(row, "overhead_ns", res_json_real(overhead.estimate));
        json_object_set_new(row, "overhead_low_ns", res_json_real(overhead.low));
        json_object_set_new(row, "overhead_high_ns", res_json_real(overhead.high));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *counters_json(const int64_t counters[BN_COUNTER_COUNT])
{
    json_t *object = json_object();
    for (int c = 0; c < BN_COUNTER_COUNT; c++)
        json_object_set_new(object, bn_counter_name((bn_counter)c), json_integer(counters[c]));
    return object;
}

json_t *res_record_to_json(const res_record *record)
{
    json_t *object = json_object();
    json_object_set_new(object, "experiment",
                        fields_json(res_experiment_fields, &record->experiment));
    json_object_set_new(object, "id", res_json_text(record->id));
    json_object_set_new(object, "status", json_string(bn_code_name(record->status)));
    if (record->status != BN_OK)
        json_object_set_new(object, "message", res_json_text(record->message));
    json_object_set_new(object, "simulated", json_boolean(record->simulated));
    json_object_set_new(object, "values", json_string(record->values));
    json_object_set_new(object, "steps", json_integer((json_int_t)record->step_count));
    json_object_set_new(object, "warmup",
                        json_pack("{s:I, s:b}", "steps", (json_int_t)record->warmup_count,
                                  "stationary", (int)record->warmup_stationary));
    if (record->round_count > 0)
        json_object_set_new(object, "rounds", rounds_json(record));
    json_object_set_new(object, "ledger", ledger_json(record));
    json_object_set_new(object, "executions", executions_json(record));
    const char *offload = res_offload_word(record, NULL, NULL);
    if (offload[0])
        json_object_set_new(object, "offload", json_string(offload));
    json_object_set_new(object, "counters", counters_json(record->counters));
    json_object_set_new(object, "step_counters", counters_json(record->step_counters));
    json_object_set_new(object, "loss", res_json_real(record->loss));
    json_object_set_new(object, "provenance",
                        record->provenance ? json_deep_copy(record->provenance) : json_object());
    return object;
}
