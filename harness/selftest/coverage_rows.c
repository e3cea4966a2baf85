/*
 * coverage_rows.c - the rows of bench selftest coverage: verdicts, their sum, tables and JSON.
 */
#include "harness/selftest/coverage_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool row_measured(const selftest_row *row)
{
    return row->c.tables + row->c.without > 0 || row->late == 0;
}

/* Whether there is a truth for its intervals: there is none where no table has the figure. */
static bool row_known(const selftest_row *row)
{
    return row->c.tables > 0 && !(row->grand && !isfinite(row->truth));
}

/* False where the machine was too busy for the simulated device, and where the truth changes from
 * table to table. */
static bool row_judged(const selftest_row *row)
{
    return !row->drifts && row_measured(row);
}

static selftest_coverage_verdict verdict_of(const selftest_row *row)
{
    return selftest_coverage_judge(&row->c, &row->demand, row->whole);
}

static const char *row_verdict(const selftest_row *row)
{
    return row_judged(row) ? selftest_coverage_verdict_name(verdict_of(row)) : "not judged";
}

/* Half-widths are judged where there is a demand, and where most of the tables met an idle machine.
 */
static bool width_judged(const selftest_row *row)
{
    return row_judged(row) && isfinite(row->demand.half_width) &&
           row->c.tables >= SELFTEST_LEAST_WIDTHS && 2 * row->busy <= row->count;
}

static bool row_wide(const selftest_row *row)
{
    return width_judged(row) && row->c.half_width > row->demand.half_width;
}

static bool row_good(const selftest_row *row)
{
    const selftest_coverage_verdict verdict = verdict_of(row);
    return (verdict == SELFTEST_COVERAGE_HOLDS || verdict == SELFTEST_COVERAGE_NOT_REFUTED) &&
           !row_wide(row);
}

/* ---- all of them -------------------------------------------------------------------------- */

selftest_rows_sum selftest_rows_add_up(const selftest_row *rows, size_t count)
{
    selftest_rows_sum sum = {.pass = true};
    for (size_t i = 0; i < count; i++) {
        const selftest_row *row = &rows[i];
        sum.unmeasured += !row_measured(row);
        if (!row_judged(row))
            continue;
        sum.judged++;
        sum.of[verdict_of(row)]++;
        sum.wide += row_wide(row);
        sum.pass = sum.pass && row_good(row);
    }
    return sum;
}

void selftest_rows_say(const selftest_rows_sum *sum, bn_text *out)
{
    static const struct {
        selftest_coverage_verdict verdict;
        const char *words;
    } others[] = {
        {SELFTEST_COVERAGE_NOT_REFUTED, "not refuted"},
        {SELFTEST_COVERAGE_NARROW, "too narrow"},
        {SELFTEST_COVERAGE_WIDE, "too wide"},
        {SELFTEST_COVERAGE_NONE, "without an interval"},
    };
    bn_text_printf(out, "%zu of %zu rows hold the truth often enough",
                   sum->of[SELFTEST_COVERAGE_HOLDS], sum->judged);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (sum->of[others[i].verdict] > 0)
            bn_text_printf(out, ", %zu %s", sum->of[others[i].verdict], others[i].words);
    if (sum->wide > 0)
        bn_text_printf(out, ", %zu wide", sum->wide);
    if (sum->unmeasured > 0)
        bn_text_printf(out, ", %zu not judged: the machine was too busy", sum->unmeasured);
}

/* ---- the table ---------------------------------------------------------------------------- */

static void put_truth(json_t *cells, const selftest_row *row)
{
    char text[32];
    if (!isfinite(row->truth))
        snprintf(text, sizeof text, "-");
    else if (row->time)
        snprintf(text, sizeof text, "%.3f ms", row->truth / 1e6);
    else
        snprintf(text, sizeof text, "%.3fx", row->truth);
    res_sheet_put(cells, row->grand ? "(%s)" : "%s", text);
}

static void put_held(json_t *cells, const selftest_row *row)
{
    const res_interval share = row->c.share;
    if (row_known(row))
        res_sheet_put(cells, "%.1f [%.1f, %.1f]", 100 * share.estimate, 100 * share.low,
                      100 * share.high);
    else
        res_sheet_put(cells, "-");
    if (row->drifts)
        res_sheet_put(cells, "-");
    else if (row->demand.most < 1)
        res_sheet_put(cells, "%.0f to %.0f", 100 * row->demand.least, 100 * row->demand.most);
    else
        res_sheet_put(cells, "%.0f", 100 * row->demand.least);
    res_sheet_put(cells, "%s", row_verdict(row));
}

static void put_half_width(json_t *cells, const selftest_row *row)
{
    if (row->c.tables > 0)
        res_sheet_put(cells, "%.2f %%", 100 * row->c.half_width);
    else
        res_sheet_put(cells, "-");
    if (!isfinite(row->demand.half_width)) {
        res_sheet_put(cells, "%s", "");
        res_sheet_put(cells, "%s", "");
        return;
    }
    res_sheet_put(cells, "%.0f %%", 100 * row->demand.half_width);
    res_sheet_put(cells, "%s", !width_judged(row) ? "not judged" : row_wide(row) ? "wide" : "");
}

void selftest_rows_table(const selftest_row *rows, size_t count, res_format format, bn_text *out)
{
    static const res_sheet_column columns[] = {
        {"case", false},   {"figure", false},  {"truth", true},    {"tables", true},
        {"held", true},    {"demanded", true}, {"verdict", false}, {"half-width", true},
        {"at most", true}, {"", false}};
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *cells = json_array();
        res_sheet_put(cells, "%s", rows[i].name);
        res_sheet_put(cells, "%s", rows[i].figure);
        put_truth(cells, &rows[i]);
        res_sheet_put(cells, "%zu", rows[i].c.tables);
        put_held(cells, &rows[i]);
        put_half_width(cells, &rows[i]);
        json_array_append_new(list, cells);
    }
    res_sheet_write(columns, sizeof columns / sizeof *columns, list, format, out);
    json_decref(list);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void set_demand(json_t *object, const selftest_row *row)
{
    const bool any = row->drifts;
    json_object_set_new(object, "demanded_least", any ? json_null() : json_real(row->demand.least));
    json_object_set_new(object, "demanded_most",
                        any || !(row->demand.most < 1) ? json_null() : json_real(row->demand.most));
    json_object_set_new(object, "half_width_at_most", res_json_real(row->demand.half_width));
    json_object_set_new(object, "half_width_verdict",
                        json_string(!width_judged(row) ? "not judged"
                                    : row_wide(row)    ? "wide"
                                                       : "as demanded"));
    json_object_set_new(object, "busy", json_integer((json_int_t)row->busy));
}

json_t *selftest_row_json(const selftest_row *row)
{
    const selftest_coverage *c = &row->c;
    json_t *object = json_pack(
        "{ss ss so ss si si si si so sf sf so ss sb sb}", "case", row->name, "figure", row->figure,
        "truth", res_json_real(row->truth), "truth_is",
        row->grand          ? "grand"
        : isnan(row->truth) ? "each"
                            : "set",
        "tables", (int)c->tables, "without", (int)c->without, "late", (int)row->late, "held",
        (int)c->covered, "share", res_json_real(row_known(row) ? c->share.estimate : (double)NAN),
        "share_low", c->share.low, "share_high", c->share.high, "half_width",
        res_json_real(c->half_width), "verdict", row_verdict(row), "judged", (int)row_judged(row),
        "pass", (int)row_good(row));
    set_demand(object, row);
    return object;
}

json_t *selftest_rows_json(const selftest_row *rows, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, selftest_row_json(&rows[i]));
    return list;
}
