/*
 * exports_fixture.h - records to be exported, and ways to look at what was made of them.
 */
#ifndef BENCH_TESTS_EXPORTS_FIXTURE_H
#define BENCH_TESTS_EXPORTS_FIXTURE_H

#include "tests/support/results_fixture.h"

#include "results/exports/exports_priv.h"

#define STEPS 20

/* A good record, the same of a simulated and emulated device, and one that failed. */
static inline res_collection sample(void)
{
    static res_record *records[3];
    records[0] = fixture_record(&fixture_lazy, STEPS);
    records[1] = fixture_record(&fixture_lazy, STEPS);
    records[1]->simulated = true;
    records[1]->experiment.trace_cost_ns = 17000;
    records[2] = fixture_record(&fixture_lazy, 0);
    strcpy(records[2]->experiment.mode, "capture");
    records[2]->status = BN_OUT_OF_MEMORY;
    strcpy(records[2]->message, "no \"room\", none");
    json_object_set_new(json_object_get(records[0]->provenance, "runtime"), "label",
                        json_string("0123abcd"));
    return (res_collection){.records = records, .count = 3};
}

static inline void drop(res_collection *all)
{
    for (size_t i = 0; i < all->count; i++)
        res_record_free(all->records[i]);
}

static inline res_export made(const res_collection *all, const char *format)
{
    res_export export;
    bn_status st = {0};
    assert_int_equal(res_export_make(all, format, &export, &st), BN_OK);
    assert_true(export.count > 0);
    return export;
}

static const bn_text *file_with(const res_export *export, const char *end)
{
    for (size_t i = 0; i < export->count; i++) {
        const char *path = export->files[i].path;
        if (strlen(path) >= strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0)
            return &export->files[i].bytes;
    }
    fail_msg("no file %s", end);
    return NULL;
}

static inline json_t *json_of(const bn_text *bytes)
{
    json_error_t error;
    json_t *json = json_loadb(bytes->data, bytes->length, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("not JSON: %s at %d", error.text, error.position);
    return json;
}

static inline size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

#endif
