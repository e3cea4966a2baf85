/*
 * fuzz_metrics.c - metrics reports: text, also of PyTorch/XLA, and JSON. What was read is shown,
 * compared with itself and, where it was text, read again.
 */
#include "tests/fuzz/fuzz.h"

#include "results/metrics/metrics.h"

static json_t *again(const json_t *metrics, bool as_json)
{
    bn_text text = {0};
    bn_status st = {0};
    json_t *read = NULL;
    res_metrics_put(metrics, as_json, &text);
    if (text.data)
        fuzz_status(res_metrics_read(text.data, text.length, &read, &st), &st);
    bn_text_free(&text);
    return read;
}

static void show_difference(const json_t *a, const json_t *b, bool same)
{
    bn_text text = {0};
    json_t *diff = res_metrics_diff(a, b);
    const json_t *pairs = json_object_get(diff, "pairs");
    fuzz_require(json_is_array(pairs), "a comparison without pairs");
    for (size_t i = 0; same && i < json_array_size(pairs); i++)
        fuzz_require(json_array_size(json_object_get(json_array_get(pairs, i), "figures")) == 0,
                     "a report that differs from itself");
    res_metrics_diff_put(diff, RES_TABLE_NARROW, &text);
    bn_text_free(&text);
    json_decref(diff);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bn_status st = {0};
    json_t *metrics = NULL;
    const bn_code code = res_metrics_read((const char *)data, size, &metrics, &st);
    fuzz_status(code, &st);
    if (code != BN_OK)
        return 0;
    json_t *from_text = again(metrics, false), *from_json = again(metrics, true);
    show_difference(metrics, metrics, true);
    if (from_json)
        show_difference(metrics, from_json, false);
    if (from_text)
        show_difference(metrics, from_text, false);
    json_decref(from_text);
    json_decref(from_json);
    json_decref(metrics);
    return 0;
}
