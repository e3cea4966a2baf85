/*
 * table_doctor.c - the doctor's findings as sentences, a grid and JSON: what costs time, how much,
 * and how to fix it.
 */
#include "results/doctor/doctor.h"
#include "results/tables/speedup_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences ------------------------------------------------------------------------------ */

/* "shape of tokens, dimension 1: 24 -> 31, at models/x.c:12 (mask)", or the location alone. */
static void put_where(const res_doctor_finding *c, bn_text *out)
{
    if (!c->why)
        return;
    if (c->of_programs)
        res_why_put(json_string_value(json_object_get(c->why, "rule")), c->why, out);
    else
        res_why_put_where(c->why, out);
    if (c->more > 0 && c->of_programs)
        bn_text_printf(out, ", and %zu more cause%s", c->more, c->more == 1 ? "" : "s");
    else if (c->more > 0)
        bn_text_printf(out, " and %zu more location%s", c->more, c->more == 1 ? "" : "s");
}

/* "takes 13.7 ms of a step [13.1, 14.2], 35 % of it". */
static void put_cost(const res_doctor_finding *c, bn_text *out)
{
    const res_interval ns = c->cost_ns;
    const res_figure range = res_time_range(ns.estimate, ns.low, ns.high);
    bn_text_printf(out, " takes %s%s%s%s", c->at_most ? "up to " : "", res_time(ns.estimate).text,
                   range.text[0] ? " " : "", range.text);
    if (isfinite(c->share))
        bn_text_printf(out, " a step, %.0f %% of it", 100 * c->share);
    else
        bn_text_puts(out, c->kept == RES_KEPT_FURTHER ? " at the first start" : " at each start");
}

/* ---- goodput ----------------------------------------------------------------------------------
 */

/* "(device 95 % [93, 97])", with the processes that it is of where others do not know it, and why
 * the bound is unknown. */
static void put_detail(const res_bound_found *found, bn_text *out)
{
    static const char *const reasons[] = {
        [RES_BOUND_KNOWN] = "",
        [RES_BOUND_NO_DEVICE] = "no device time",
        [RES_BOUND_TOO_FEW] = "needs 3 processes that know the device time",
        [RES_BOUND_WIDE] = "the interval is too wide; more --processes may decide",
        [RES_BOUND_CLOSE] = "two causes are about alike",
        [RES_BOUND_VALUES] = "values are computed on the host: --runtime-option values=none",
        [RES_BOUND_NO_CAUSE] = "no part of the host explains the wait"};
    const char *reason = reasons[found->reason];
    if (isnan(found->busy.estimate) && !reason[0])
        return;
    bn_text_putc(out, '(');
    if (isfinite(found->busy.estimate)) {
        bn_text_printf(out, "device %.0f %%", 100 * found->busy.estimate);
        if (isfinite(found->busy.low))
            bn_text_printf(out, " [%.0f, %.0f]", 100 * found->busy.low, 100 * found->busy.high);
        if (found->device_processes < found->processes)
            bn_text_printf(out, " in %zu of %zu processes", found->device_processes,
                           found->processes);
        bn_text_puts(out, reason[0] ? "; " : "");
    }
    bn_text_printf(out, "%s)", reason);
}

/* What to change in steps that are dispatch-bound, a line each change that a row of SPEEDUP wants;
 * findings name those of the other bounds. */
static void put_fixes(const res_speedup *speedup, res_format format, bn_text *out)
{
    bool said[RES_FIX_COUNT] = {false};
    for (size_t i = 0; i < speedup->count; i++) {
        const res_speedup_row *row = &speedup->rows[i];
        res_fix list[RES_FIX_COUNT];
        const bool bound = row->pool.count > 0 && res_doctor_bound(row).bound == RES_BOUND_DISPATCH;
        const size_t count = bound ? res_doctor_fixes(row, RES_BOUND_DISPATCH, list) : 0;
        for (size_t k = 0; k < count; k++) {
            bn_text text = {0};
            bn_text_printf(&text, "dispatch-bound, %s: ", res_fix_id(list[k]));
            res_fix_put(list[k], &row->record->experiment, &text);
            bn_text_puts(&text, ".");
            if (!said[list[k]])
                res_put_note(out, format, text.data);
            said[list[k]] = true;
            bn_text_free(&text);
        }
    }
}

/* A line for each verdict: "device-bound: bert train lazy (device 95 % [93, 97])". */
static void put_verdicts(const res_speedup *speedup, res_format format, bn_text *out)
{
    for (int bound = 0; bound < RES_BOUND_COUNT; bound++) {
        res_named list = {.count = 0};
        bn_text text = {0};
        for (size_t i = 0; i < speedup->count; i++) {
            const res_speedup_row *row = &speedup->rows[i];
            const res_bound_found found = res_doctor_bound(row);
            bn_text detail = {0};
            if (row->pool.count == 0 || found.bound != (res_bound)bound)
                continue;
            put_detail(&found, &detail);
            res_speedup_name_row(speedup, row, &list, "%s", detail.data ? detail.data : "");
            bn_text_free(&detail);
        }
        if (list.count > 0) {
            bn_text_printf(&text, "%s: ",
                           bound == RES_BOUND_UNKNOWN ? "bound unknown"
                                                      : res_bound_name((res_bound)bound));
            res_speedup_put_named(&list, &text);
            bn_text_putc(&text, '.');
            res_put_note(out, format, text.data ? text.data : "");
        }
        bn_text_free(&text);
    }
}

static void put_health(const res_speedup *speedup, res_format format, bn_text *out)
{
    size_t unknown = 0, failed = 0;
    bn_text text = {0};
    for (size_t i = 0; i < speedup->count; i++) {
        if (speedup->rows[i].pool.count == 0)
            failed++;
        else
            unknown += res_doctor_bound(&speedup->rows[i]).bound == RES_BOUND_UNKNOWN;
    }
    if (failed < speedup->count)
        bn_text_puts(&text, unknown ? "No finding. " : "No problems found. ");
    if (failed > 0)
        bn_text_printf(&text, "%zu experiment%s failed, and %s not checked. ", failed,
                       failed == 1 ? "" : "s", failed == 1 ? "was" : "were");
    /* The last blank. */
    if (text.length > 0)
        text.data[--text.length] = '\0';
    res_put_note(out, format, text.data ? text.data : "");
    bn_text_free(&text);
}

/* ---- the forms --------------------------------------------------------------------------------
 */

/* "resnet18 train lazy: reading 1 value a step back to the host takes 13.7 ms [13.1, 14.2] a step,
 * 35 % of it, at models/x.c:12 (log)" */
static void put_sentence(const res_speedup *speedup, const res_doctor_finding *c, bn_text *out)
{
    res_speedup_name(speedup, &speedup->rows[c->row], out);
    bn_text_puts(out, ": ");
    res_doctor_subject(c, out);
    put_cost(c, out);
    if (c->why)
        bn_text_puts(out, c->of_programs ? "; " : ", at ");
    put_where(c, out);
}

static void put_sentences(const res_speedup *speedup, const res_doctor_finding *list, size_t count,
                          res_format format, bn_text *out)
{
    for (size_t i = 0; i < count; i++) {
        const res_speedup_row *row = &speedup->rows[list[i].row];
        bn_text text = {0};
        bn_text_printf(&text, "%zu. ", i + 1);
        put_sentence(speedup, &list[i], &text);
        bn_text_puts(&text, ". ");
        res_doctor_advice(&list[i], &row->record->experiment, &text);
        res_put_note(out, format, text.data ? text.data : "");
        bn_text_free(&text);
    }
}

static void put_grid(const res_speedup *speedup, const res_doctor_finding *list, size_t count,
                     res_format format, bn_text *out)
{
    res_grid grid = res_grid_make("lllrrll");
    bn_text text = {0};
    res_grid_row(&grid, "experiment|rule|what takes time|cost|of the step|where|what to do");
    for (size_t i = 0; i < count; i++) {
        const res_doctor_finding *c = &list[i];
        const res_speedup_row *row = &speedup->rows[c->row];
        res_speedup_name(speedup, row, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        res_grid_cell(&grid, "%s", res_rule_name(c->rule));
        bn_text_clear(&text);
        res_doctor_subject(c, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        res_grid_cell(&grid, "%s", res_time(c->cost_ns.estimate).text);
        if (isfinite(c->share))
            res_grid_cell(&grid, "%.0f %%", 100 * c->share);
        else
            res_grid_blank(&grid, 1);
        bn_text_clear(&text);
        put_where(c, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        bn_text_clear(&text);
        res_doctor_advice(c, &row->record->experiment, &text);
        res_grid_cell(&grid, "%s", text.data ? text.data : "");
        bn_text_clear(&text);
    }
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
    bn_text_free(&text);
}

static json_t *finding_json(const res_speedup *speedup, const res_doctor_finding *c)
{
    const res_speedup_row *row = &speedup->rows[c->row];
    bn_text subject = {0}, where = {0}, advice = {0};
    json_t *object = json_object();
    res_doctor_subject(c, &subject);
    put_where(c, &where);
    res_doctor_advice(c, &row->record->experiment, &advice);
    res_json_identity(object, "complaint", row->record);
    json_object_set_new(object, "rule", json_string(res_rule_name(c->rule)));
    json_object_set_new(object, "subject", res_json_text(subject.data ? subject.data : ""));
    json_object_set_new(object, "where", res_json_text(where.data ? where.data : ""));
    json_object_set_new(object, "why", c->why ? json_deep_copy(c->why) : json_null());
    json_object_set_new(object, "advice", res_json_text(advice.data ? advice.data : ""));
    json_object_set_new(object, "cost_ns", res_json_real(c->cost_ns.estimate));
    json_object_set_new(object, "cost_low_ns", res_json_real(c->cost_ns.low));
    json_object_set_new(object, "cost_high_ns", res_json_real(c->cost_ns.high));
    json_object_set_new(object, "at_most", json_boolean(c->at_most));
    json_object_set_new(object, "share", res_json_real(c->share));
    json_object_set_new(object, "count", res_json_real(c->count));
    json_object_set_new(object, "hidden_ns", res_json_real(c->hidden_ns));
    json_object_set_new(object, "scope",
                        c->scope.name && c->scope.name[0]
                            ? json_pack("{so so so}", "name", res_json_text(c->scope.name), "share",
                                        res_json_real(c->scope.share), "times",
                                        res_json_real(c->scope.times))
                            : json_null());
    json_object_set_new(object, "batches", c->batches ? json_deep_copy(c->batches) : json_null());
    bn_text_free(&subject);
    bn_text_free(&where);
    bn_text_free(&advice);
    return object;
}

/* [{"id", "text"}] (new reference). */
static json_t *fixes_json(const res_speedup_row *row, res_bound bound)
{
    res_fix list[RES_FIX_COUNT];
    json_t *array = json_array();
    const size_t count = row->pool.count > 0 ? res_doctor_fixes(row, bound, list) : 0;
    for (size_t i = 0; i < count; i++) {
        bn_text text = {0};
        res_fix_put(list[i], &row->record->experiment, &text);
        json_array_append_new(array, json_pack("{ss so}", "id", res_fix_id(list[i]), "text",
                                               res_json_text(text.data ? text.data : "")));
        bn_text_free(&text);
    }
    return array;
}

static void put_json(const res_speedup *speedup, const res_doctor_finding *list, size_t count,
                     bn_text *out)
{
    json_t *complaints = json_array(), *goodputs = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(complaints, finding_json(speedup, &list[i]));
    for (size_t i = 0; i < speedup->count; i++) {
        json_t *object = json_object();
        res_json_identity(object, "goodput", speedup->rows[i].record);
        const res_bound_found found = res_doctor_bound(&speedup->rows[i]);
        json_object_set_new(object, "goodput", res_json_real(found.busy.estimate));
        json_object_set_new(object, "goodput_low", res_json_real(found.busy.low));
        json_object_set_new(object, "goodput_high", res_json_real(found.busy.high));
        json_object_set_new(object, "device_processes",
                            json_integer((json_int_t)found.device_processes));
        json_object_set_new(object, "processes", json_integer((json_int_t)found.processes));
        json_object_set_new(object, "verdict", json_string(res_bound_name(found.bound)));
        json_object_set_new(object, "verdict_reason",
                            json_string(res_bound_reason_name(found.reason)));
        json_object_set_new(object, "fixes", fixes_json(&speedup->rows[i], found.bound));
        json_array_append_new(goodputs, object);
    }
    json_t *all = json_pack("{so so}", "complaints", complaints, "goodput", goodputs);
    res_put_json(out, all);
    json_decref(all);
}

void res_table_doctor(const res_collection *all, res_format format, bn_text *out, size_t *count)
{
    res_speedup speedup;
    res_speedup_make(all, &speedup);
    res_doctor_finding *list = res_doctor(&speedup, count);
    if (format == RES_TABLE_JSON)
        put_json(&speedup, list, *count, out);
    else if (*count == 0 && format != RES_TABLE_CSV)
        put_health(&speedup, format, out);
    else if (res_format_is_text(format))
        put_sentences(&speedup, list, *count, format, out);
    else
        put_grid(&speedup, list, *count, format, out);
    if (format != RES_TABLE_JSON && format != RES_TABLE_CSV)
        put_verdicts(&speedup, format, out);
    if (format != RES_TABLE_JSON && format != RES_TABLE_CSV)
        put_fixes(&speedup, format, out);
    free(list);
    res_speedup_free(&speedup);
}

void res_put_first_finding(const res_collection *all, bn_text *out)
{
    res_speedup speedup;
    size_t count;
    res_speedup_make(all, &speedup);
    res_doctor_finding *list = res_doctor(&speedup, &count);
    if (count > 0)
        put_sentence(&speedup, &list[0], out);
    if (count > 1)
        bn_text_printf(out, "; %zu more finding%s", count - 1, count == 2 ? "" : "s");
    free(list);
    res_speedup_free(&speedup);
}
