/*
 * metrics_fixture.h - what tests of metrics reports share: reports made, read again, looked into.
 */
#ifndef BENCH_METRICS_FIXTURE_H
#define BENCH_METRICS_FIXTURE_H

#include "results/metrics/metrics_priv.h"
#include "tests/support/results_fixture.h"

static inline json_t *made_of(res_record **records, size_t count)
{
    json_t *metrics = res_metrics_make(records, count);
    assert_non_null(metrics);
    return metrics;
}

/* The reports of METRICS as text or JSON, read again. */
static inline json_t *read_again(const json_t *metrics, bool as_json)
{
    bn_text text = {0};
    bn_status st = {0};
    json_t *again = NULL;
    res_metrics_put(metrics, as_json, &text);
    if (res_metrics_read(text.data, text.length, &again, &st) != BN_OK)
        fail_msg("%s in:\n%s", st.message, text.data);
    bn_text_free(&text);
    return again;
}

static inline json_t *report_at(const json_t *metrics, size_t index)
{
    return json_array_get(json_object_get(metrics, "reports"), index);
}

static inline size_t reports_of(const json_t *metrics)
{
    return json_array_size(json_object_get(metrics, "reports"));
}

static inline json_t *metric(const json_t *metrics, const char *name)
{
    return json_object_get(json_object_get(report_at(metrics, 0), "metrics"), name);
}

static inline json_t *counter(const json_t *metrics, const char *name)
{
    return json_object_get(json_object_get(report_at(metrics, 0), "counters"), name);
}

static inline double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("%s is no number", key);
    return json_number_value(value);
}

static inline double percentile(const json_t *object, const char *key)
{
    return number(json_object_get(object, "percentiles"), key);
}

#endif
