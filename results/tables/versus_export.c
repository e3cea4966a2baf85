/*
 * versus_export.c - two runtimes for programs: JSON with everything, CSV with a line a cell; and
 * what it shares with the table for people: an example of each side, the cause of a change.
 */
#include "results/tables/versus_priv.h"

#include <math.h>

/* ---- for people, too ------------------------------------------------------------------------- */

const res_record *res_versus_example(const res_versus *versus, bool of_b)
{
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->pairs > 0 && !(of_b && cell->control))
            return of_b ? cell->b[0] : cell->a[0];
    }
    return NULL;
}

const char *res_versus_blame(const res_attribution *why)
{
    switch (why->program) {
    case RES_PROGRAM_SAME:
        if (why->place == RES_PLACE_DEVICE)
            return "same text, same optimized program: the runtime's execution, on the device";
        if (why->place == RES_PLACE_PART && why->place_part <= BN_PART_BIND &&
            why->place_part != BN_PART_INPUT && why->place_part != BN_PART_COMPILE)
            return "same text, same optimized program: bench's own part of the step, in which the "
                   "runtime has no code";
        return "same text, same optimized program: the runtime's execution, not the compiler";
    case RES_PROGRAM_COMPILED:
        return "same text, another optimized program: most likely the compiler";
    case RES_PROGRAM_TEXT:
        return "different texts were compiled: not a difference of the runtimes alone";
    case RES_PROGRAM_UNSTEADY:
        return "same text, but one side's compiler makes another program in each process: compiler "
               "or runtime";
    case RES_PROGRAM_UNKNOWN:
        break;
    }
    return "same text; the plugin does not show its optimized program: compiler or runtime";
}

/* ---- for programs ---------------------------------------------------------------------------- */

static json_t *interval_json(res_interval interval)
{
    return json_pack("{so so so}", "estimate", res_json_real(interval.estimate), "low",
                     res_json_real(interval.low), "high", res_json_real(interval.high));
}

static json_t *difference_json(const res_difference *d)
{
    return json_pack("{so so so so sb}", "a", res_json_real(d->a), "b", res_json_real(d->b),
                     "difference", interval_json(d->difference), "p", res_json_real(d->p), "moved",
                     (int)d->moved);
}

static const char *test_name(res_test test)
{
    static const char *const names[] = {"none", "Student's t", "constant values"};
    return names[test];
}

static json_t *ids_json(const res_record *const *records, size_t count)
{
    json_t *ids = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(ids, res_json_text(records[i]->id));
    return ids;
}

static json_t *slow_json(const res_slow *slow)
{
    return json_pack("{si so}", "count", (int)slow->count, "factor", res_json_real(slow->factor));
}

static json_t *comparison_json(const res_comparison *c)
{
    return json_pack("{ss so so si ss so so so so so so so so so so so so}", "verdict",
                     res_verdict_name(c->verdict), "ratio", interval_json(c->ratio), "median_ratio",
                     res_json_real(c->median), "pairs", (int)c->pairs, "test", test_name(c->test),
                     "p", res_json_real(c->p), "p_holm", res_json_real(c->p_holm),
                     "p_equivalent_holm", res_json_real(c->p_equivalent_holm), "level",
                     res_json_real(c->level), "share", res_json_real(c->share), "smallest_visible",
                     res_json_real(c->mde), "error", res_json_real(c->error), "slow_a",
                     slow_json(&c->slow[0]), "slow_b", slow_json(&c->slow[1]), "fast_a",
                     slow_json(&c->fast[0]), "fast_b", slow_json(&c->fast[1]), "not_excluded",
                     c->pairs >= RES_CLAIM_PAIRS && c->slow[1].count + c->fast[1].count == 0
                         ? res_json_real(res_slow_not_excluded(c->pairs))
                         : json_null());
}

static json_t *slow_processes_json(const res_versus *versus)
{
    const res_slow_counts *n = &versus->slow;
    return json_pack("{sb so sf s{si si} s{si si}}", "claimed", (int)versus->b_slow, "p",
                     res_json_real(versus->slow_p), "level", RES_SLOW_LEVEL, "a", "slow",
                     (int)n->slow[0], "of", (int)n->of[0], "b", "slow", (int)n->slow[1], "of",
                     (int)n->of[1]);
}

static json_t *attribution_json(const res_attribution *why)
{
    json_t *ledger = json_object(), *quantities = json_object();
    for (int p = 0; p < BN_PART_COUNT; p++)
        json_object_set_new(ledger, bn_part_name((bn_part)p), difference_json(&why->part[p]));
    for (int q = 0; q < RES_QUANTITY_COUNT; q++)
        json_object_set_new(quantities, res_quantity_name((res_quantity)q),
                            difference_json(&why->quantity[q]));
    return json_pack("{ss ss ss* ss so so}", "program", res_program_name(why->program), "where",
                     res_place_name(why), "shifted_from",
                     why->shifted ? bn_part_name(why->shifted_from) : NULL, "because",
                     res_versus_blame(why), "ledger_ns", ledger, "quantities", quantities);
}

/* The measures other than the wall time, each with its comparison. */
static json_t *measures_json(const res_compared *cell)
{
    static const char *const known[] = {"unknown", "equal", "judged"};
    json_t *measures = json_object();
    for (int m = RES_MEASURE_WALL + 1; m < RES_MEASURE_COUNT; m++) {
        const res_comparison *c = res_compared_measure(cell, (res_measure)m);
        json_object_set_new(measures, res_quantity_name(res_measure_quantity((res_measure)m)),
                            json_pack("{ss so*}", "known", known[cell->judged[m].known],
                                      "comparison", c ? comparison_json(c) : NULL));
    }
    return measures;
}

static json_t *headline_json(const res_versus *versus, const res_compared *cell)
{
    const res_headline head = res_compared_headline(versus, cell);
    const res_comparison *c = res_compared_measure(cell, head.measure);
    const bool counts = !head.little && (head.verdict == RES_SLOWER || head.verdict == RES_FASTER);
    return json_pack("{ss ss sb so}", "verdict", res_verdict_name(head.verdict), "measure",
                     res_quantity_name(res_measure_quantity(head.measure)), "counts", (int)counts,
                     "ratio", interval_json(c->ratio));
}

static json_t *cell_json(const res_versus *versus, const res_compared *cell)
{
    json_t *object = json_pack(
        "{so sb sb ss so so so so so so}", "experiment", res_experiment_to_json(&cell->experiment),
        "control", (int)cell->control, "turns", (int)cell->turns, "plan", res_plan_name(cell->plan),
        "headline", headline_json(versus, cell), "measures", measures_json(cell), "comparison",
        comparison_json(&cell->comparison), "attribution", attribution_json(&cell->attribution),
        "a_records", ids_json(cell->a, cell->pairs), "b_records", ids_json(cell->b, cell->pairs));
    json_object_set_new(object, "outcome",
                        json_string(cell->missing      ? "missing"
                                    : cell->failed     ? "failed"
                                    : cell->pairs == 0 ? "unmeasured"
                                                       : "compared"));
    if (cell->failed) {
        const char side[] = {cell->failed, '\0'};
        json_object_set_new(object, "failure",
                            json_pack("{ss ss so}", "side", side, "class",
                                      cell->missing ? "missing" : bn_code_name(cell->failure),
                                      "message", res_json_text(cell->message)));
    }
    return object;
}

static json_t *side_json(const res_versus *versus, bool of_b)
{
    const res_record *record = res_versus_example(versus, of_b);
    return record ? res_runtime_identity(record) : json_null();
}

static json_t *versus_json(const res_versus *versus)
{
    const res_versus_sum sum = res_versus_add_up(versus);
    json_t *cells = json_array();
    bn_text summary = {0};
    bool looks = false;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        looks = looks || cell->plan != RES_PLAN_ONCE;
        json_array_append_new(cells, cell_json(versus, cell));
    }
    res_versus_summary(versus, &summary);
    json_t *noted = json_array();
    for (int i = 0; i < RES_NOTE_COUNT; i++)
        if (versus->noted[i])
            json_array_append_new(
                noted, json_pack("{s:s}", "id", res_versus_note_name((res_versus_note)i)));
    json_t *object = json_pack(
        "{so so so sb si so so so so ss so so s{si si si si si si si si si si si si si si si}}",
        "a", side_json(versus, false), "b", side_json(versus, true), "level",
        res_json_real(versus->options.level), "looks", (int)looks, "family", (int)versus->family,
        "equivalence", res_json_real(versus->options.delta), "threshold",
        res_json_real(versus->threshold), "slow_processes", slow_processes_json(versus), "cells",
        cells, "summary", summary.data ? summary.data : "", "notes",
        res_json_text(versus->notes.data ? versus->notes.data : ""), "conditions_differ",
        res_json_text(versus->differing), "counts", "compared",
        (int)(versus->count - sum.controls + sum.absent - sum.failed - sum.missing -
              sum.unmeasured),
        "slower", (int)sum.slower, "little_slower", (int)sum.little, "faster", (int)sum.faster,
        "equivalent", (int)sum.equivalent, "uneven", (int)sum.uneven, "undecided",
        (int)sum.undecided, "failed", (int)sum.failed, "missing", (int)sum.missing, "unmeasured",
        (int)sum.unmeasured, "unread", (int)sum.unread, "controls", (int)sum.controls,
        "control_alarms", (int)sum.alarms, "controls_failed", (int)sum.dead_controls,
        "controls_mute", (int)sum.mute_controls);
    bn_text_free(&summary);
    json_object_set_new(object, "noted", noted);
    return object;
}

/* ---- CSV ------------------------------------------------------------------------------ */

static void csv_real(res_grid *grid, double value)
{
    if (isfinite(value))
        res_grid_cell(grid, "%.15g", value);
    else
        res_grid_blank(grid, 1);
}

/* The headline and the figures of its measure. */
static void csv_headline(res_grid *grid, const res_versus *versus, const res_compared *cell)
{
    const res_headline head = res_compared_headline(versus, cell);
    const res_comparison *c = res_compared_measure(cell, head.measure);
    res_grid_cell(grid, "%s",
                  cell->missing  ? "missing"
                  : cell->failed ? bn_code_name(cell->failure)
                                 : res_verdict_name(head.verdict));
    res_grid_cell(grid, "%s", res_quantity_name(res_measure_quantity(head.measure)));
    res_grid_cell(grid, "%d", !cell->failed && head.verdict == RES_SLOWER && !head.little);
    csv_real(grid, c->ratio.estimate);
    csv_real(grid, c->ratio.low);
    csv_real(grid, c->ratio.high);
    csv_real(grid, c->p_holm);
    csv_real(grid, c->mde);
    res_grid_cell(grid, "%zu", c->pairs);
    csv_real(grid, c->median);
    res_grid_cell(grid, "%zu", c->slow[0].count);
    res_grid_cell(grid, "%zu", c->slow[1].count);
}

static void csv_cell(res_grid *grid, const res_versus *versus, const res_compared *cell)
{
    static const res_quantity quantities[] = {RES_QUANTITY_WALL,       RES_QUANTITY_DEVICE,
                                              RES_QUANTITY_OVERHEAD,   RES_QUANTITY_COMPILE,
                                              RES_QUANTITY_TEMP_BYTES, RES_QUANTITY_PEAK_BYTES,
                                              RES_QUANTITY_HOST_BYTES};
    bn_text setup = {0};
    res_setup_text(&cell->experiment, res_setup_all() & ~RES_AXIS_BIT(RES_AXIS_SETTINGS), &setup);
    res_grid_cell(grid, "%s", cell->control ? "control" : "");
    res_grid_cell(grid, "%s", cell->experiment.model);
    res_grid_cell(grid, "%s", cell->experiment.phase);
    res_grid_cell(grid, "%s", res_way_of(&cell->experiment).text);
    res_grid_cell(grid, "%d", cell->experiment.graphs);
    res_grid_cell(grid, "%s", setup.data ? setup.data : "");
    bn_text_free(&setup);
    csv_headline(grid, versus, cell);
    res_grid_cell(grid, "%s", res_program_name(cell->attribution.program));
    res_grid_cell(grid, "%s", res_place_name(&cell->attribution));
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        csv_real(grid, cell->attribution.quantity[quantities[i]].a);
        csv_real(grid, cell->attribution.quantity[quantities[i]].b);
    }
}

void res_versus_export(const res_versus *versus, res_format format, bn_text *out)
{
    if (format == RES_TABLE_JSON) {
        json_t *object = versus_json(versus);
        res_put_json(out, object);
        json_decref(object);
        return;
    }
    res_grid grid = res_grid_make("llllllllllllllllllllllllllllllllll");
    res_grid_row(
        &grid,
        "control|model|phase|mode|graphs|setup|verdict|measure|counts|ratio|ratio_low|ratio_high|"
        "p_holm|smallest_visible|pairs|median_ratio|slow_a|slow_b|program|where|wall_a_ns|wall_b_"
        "ns|"
        "device_a_ns|device_b_ns|overhead_a_ns|overhead_b_ns|compile_a_ns|compile_b_ns|"
        "temp_a_bytes|temp_b_bytes|peak_a_bytes|peak_b_bytes|host_peak_a_bytes|"
        "host_peak_b_bytes");
    for (size_t i = 0; i < versus->count; i++)
        csv_cell(&grid, versus, &versus->cells[i]);
    res_grid_render(&grid, RES_TABLE_CSV, out);
    res_grid_free(&grid);
}
