/*
 * fuzz_front_end.c - the report of a front end's script. The first byte says what was asked for.
 */
#include "tests/fuzz/fuzz.h"

#include "harness/frontends/frontends.h"

#include <math.h>

static void check_report(const frontend_report *r, bool values)
{
    fuzz_require(r->loss_count <= FRONTEND_LOSSES, "more losses than there is room for");
    for (size_t i = 0; i < r->loss_count; i++)
        fuzz_require(isfinite(r->losses[i]), "a loss that is no number");
    fuzz_require(r->what && r->framework, "a text that is missing");
    fuzz_require(isnan(r->nodes_per_step) || r->nodes_per_step >= 0, "nodes below zero");
    json_t *kept = frontend_report_provenance(r);
    fuzz_require(json_is_object(kept), "nothing to keep");
    json_decref(kept);
    if (values)
        return;
    fuzz_require(r->steps > 0 && r->last_end_ns > r->first_start_ns, "steps that took no time");
    fuzz_require(r->own_median_ns > 0 &&
                     r->own_median_ns <= 1.01 * (double)(r->last_end_ns - r->first_start_ns),
                 "a step that is longer than all of them");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    res_experiment what;
    bn_status st = {0};
    frontend_report report;
    const bool values = data[0] & 1;
    res_experiment_usual(&what);
    snprintf(what.model, sizeof what.model, "resnet18");
    snprintf(what.mode, sizeof what.mode, "capture");
    snprintf(what.phase, sizeof what.phase, data[0] & 2 ? "infer" : "train");
    const frontend_request request = {.what = &what, .values = values, .dropout = data[0] & 4};
    bn_code code = frontend_report_parse((const char *)data + 1, size - 1, frontend_named("jax"),
                                         &request, &report, &st);
    fuzz_status(code, &st);
    if (code == BN_OK)
        check_report(&report, values);
    frontend_report_free(&report);
    return 0;
}
