/*
 * scopes_device.c - the parent's half of device times: asks a worker, and adds each op's time to
 * the scope of its name.
 */
#include "harness/scopes/scopes_priv.h"

#include <stdio.h>
#include <string.h>

/* Limits of an op's time in a step (31 years) and of its events in all steps: more is damage,
 * and its sums would overflow. */
#define MOST_NS     1e18
#define MOST_EVENTS (INT64_C(1) << 40)

/* The worker is another process: its answer is checked. */
static bool is_profile(const json_t *result)
{
    return json_is_integer(json_object_get(result, "steps")) &&
           json_is_number(json_object_get(result, "device_ns")) &&
           json_is_array(json_object_get(result, "ops"));
}

static void add_op(const json_t *op, scopes_figure figure, scopes_table *table,
                   scopes_device *device)
{
    const char *name = json_string_value(json_object_get(op, "name"));
    const double ns = json_number_value(json_object_get(op, "ns"));
    const json_int_t events = json_integer_value(json_object_get(op, "events"));
    if (!name || !(ns >= 0 && ns <= MOST_NS))
        return;
    if (!name[0] && device->steps > 0 && events > 0 && events <= MOST_EVENTS)
        device->unplaced += events / device->steps;
    scopes_find_location(table, name)->figure[figure] += ns;
}

void scopes_take(const json_t *result, scopes_figure figure, scopes_table *table,
                 scopes_device *device)
{
    const json_t *ops = json_object_get(result, "ops");
    const char *why = json_string_value(json_object_get(result, "why"));
    if (!is_profile(result)) {
        snprintf(device->why, sizeof device->why, "%s", why ? why : "the worker reported nothing");
        return;
    }
    device->known = true;
    device->simulated = json_is_true(json_object_get(result, "simulated"));
    device->graphs_off = json_is_true(json_object_get(result, "graphs_off"));
    device->steps = json_integer_value(json_object_get(result, "steps"));
    device->step_ns = json_number_value(json_object_get(result, "device_ns"));
    for (size_t i = 0; i < json_array_size(ops); i++)
        add_op(json_array_get(ops, i), figure, table, device);
}

bn_code scopes_ask(const job_experiment *e, const job_order *order, scopes_figure figure,
                   scopes_table *table, scopes_device *device, bn_status *st)
{
    job_order job = *order;
    job_outcome outcome = {0};
    device->asked = true;
    job.request = json_pack("{ss so}", "job", "scopes", "experiment", job_experiment_to_json(e));
    bn_code code = job_supervise(&job, &outcome, st);
    json_decref(job.request);
    device->refused = code == BN_OK && outcome.usage;
    if (code == BN_OK && outcome.status != BN_OK)
        code = bn_fail(st, outcome.status, "%s", outcome.message);
    if (code == BN_OK)
        scopes_take(outcome.result, figure, table, device);
    json_decref(outcome.result);
    return code;
}

bool scopes_has(const scopes_report *r, scopes_figure figure)
{
    return figure == SCOPES_ESTIMATED  ? r->estimated.known
           : figure == SCOPES_MEASURED ? r->measured.known
                                       : true;
}
