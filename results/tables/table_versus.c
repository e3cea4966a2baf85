/* table_versus.c - two runtimes for people: identities, verdicts, the A/A control, causes of
 * changes, compile times and memory. */
#include "results/tables/versus_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A part of the ledger that did not move is left out below this share of the step. */
#define SMALL_SHARE 0.01

/* Axes of the set-up in which the cells differ from one another. */
static res_axis_set differences(const res_versus *versus)
{
    res_axis_set mask = 0;
    for (size_t i = 1; i < versus->count; i++)
        mask |= res_setup_difference(&versus->cells[0].experiment, &versus->cells[i].experiment);
    return mask & ~RES_AXIS_BIT(RES_AXIS_SETTINGS);
}

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

/* ---- sides ------------------------------------------------------------------------ */

/* Whether a later item of LIST, NAME=VALUE each, sets what item INDEX sets. */
static bool is_overridden(const json_t *list, size_t index)
{
    const char *item = json_string_value(json_array_get(list, index));
    const size_t name = strcspn(item, "=");
    bool later = false;
    for (size_t i = index + 1; i < json_array_size(list); i++) {
        const char *other = json_string_value(json_array_get(list, i));
        later = later || (strcspn(other, "=") == name && strncmp(other, item, name) == 0);
    }
    return item[name] == '=' && later;
}

static void put_list(const json_t *list, const char *before, bn_text *out)
{
    const char *between = before;
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (is_overridden(list, i))
            continue;
        bn_text_printf(out, "%s%s", between, json_string_value(json_array_get(list, i)));
        between = " ";
    }
}

/* "cpu, XLA 1.20.0, API 0.115, sha256 ad1309ac822b, label x; options ..." */
static void put_identity(const json_t *identity, bn_text *out)
{
    const json_t *version = json_object_get(identity, "api_version");
    const char *key, *label = text_of(identity, "label");
    json_t *value;
    bn_text_printf(out, "%s%s", text_of(identity, "runtime"),
                   json_is_true(json_object_get(identity, "simulated")) ? " (simulated)" : "");
    if (label[0])
        bn_text_printf(out, ", label %s", label);
    bn_text_printf(out, ", sha256 %.12s", text_of(identity, "sha256"));
    if (json_array_size(version) == 2)
        bn_text_printf(out, ", API %lld.%lld",
                       (long long)json_integer_value(json_array_get(version, 0)),
                       (long long)json_integer_value(json_array_get(version, 1)));
    bn_text_printf(out, ", platform %s", text_of(identity, "platform"));
    if (strcmp(text_of(identity, "platform"), text_of(identity, "platform_version")) != 0)
        bn_text_printf(out, " %s", text_of(identity, "platform_version"));
    json_object_foreach(json_object_get(identity, "attributes"), key, value)
    {
        const char *text = json_string_value(value);
        if (text && strlen(text) <= 32)
            bn_text_printf(out, ", %s %s", key, text);
    }
    put_list(json_object_get(identity, "options"), ", options ", out);
    put_list(json_object_get(identity, "compile_flags"), ", flags ", out);
}

/* Puts LINE, which is freed, as a line of its own. */
static void put_line(bn_text *line, res_format format, bn_text *out)
{
    if (line->length > 0)
        res_put_note(out, format, line->data);
    bn_text_free(line);
}

static void put_side(const res_versus *versus, bool of_b, res_format format, bn_text *out)
{
    const res_record *record = res_versus_example(versus, of_b);
    bn_text line = {0}, name = {0};
    if (record) {
        json_t *identity = res_runtime_identity(record);
        put_identity(identity, &line);
        json_decref(identity);
    } else {
        bn_text_puts(&line, "no process was measured");
    }
    bn_text_printf(&name, "%s  %s", of_b ? "B" : "A", line.data ? line.data : "");
    put_line(&name, format, out);
    bn_text_free(&line);
}

/* ---- verdicts --------------------------------------------------------------------- */

static res_figure share_text(double share)
{
    res_figure figure = {"-"};
    if (fabs(share) < 0.00005)
        snprintf(figure.text, sizeof figure.text, "<0.01 %%");
    else if (isfinite(share))
        snprintf(figure.text, sizeof figure.text, "%.*f %%", fabs(share) < 0.1 ? 2 : 1,
                 100 * share);
    return figure;
}

static void put_p(res_grid *grid, double p)
{
    if (p < 0.001)
        res_grid_cell(grid, "<0.001");
    else
        res_grid_cell(grid, "%.3f", p);
}

static void put_name(res_grid *grid, const res_compared *cell, res_axis_set mask)
{
    bn_text setup = {0};
    res_setup_text(&cell->experiment, mask, &setup);
    res_grid_cell(grid, "%s", cell->experiment.model);
    res_grid_cell(grid, "%s", cell->experiment.phase);
    if (cell->experiment.graphs > 1)
        res_grid_cell(grid, "%s, %d graphs", res_way_of(&cell->experiment).text,
                      cell->experiment.graphs);
    else
        res_grid_cell(grid, "%s", res_way_of(&cell->experiment).text);
    res_grid_cell(grid, "%s", setup.data ? setup.data : "");
    bn_text_free(&setup);
}

/* Puts the reason instead of figures. */
static void put_failure(res_grid *grid, const res_compared *cell)
{
    res_grid_blank(grid, 8);
    if (cell->failed)
        res_grid_cell(grid, "%c: %s", cell->failed,
                      cell->missing ? "missing" : bn_code_name(cell->failure));
    else
        res_grid_cell(grid, "not measured");
    res_grid_blank(grid, 2);
}

/* "slower", "below threshold: slower", "device time 20.0 % slower", "undecided: device time". */
static void put_headline(res_grid *grid, const res_versus *versus, const res_compared *cell)
{
    const res_headline head = res_compared_headline(versus, cell);
    const char *words = res_measure_words(head.measure);
    bn_text text = {0};
    if (head.little)
        bn_text_puts(&text, "below threshold: ");
    if (head.measure == RES_MEASURE_WALL) {
        bn_text_puts(&text, res_verdict_name(head.verdict));
    } else if (head.verdict == RES_UNDECIDED || head.verdict == RES_UNEVEN) {
        bn_text_printf(&text, "%s: %s", res_verdict_name(head.verdict), words);
    } else {
        bn_text_printf(&text, "%s ", words);
        res_put_change(head.measure, res_compared_measure(cell, head.measure)->ratio.estimate,
                       &text);
    }
    res_grid_cell(grid, "%s", text.data ? text.data : "");
    bn_text_free(&text);
}

static void verdict_row(res_grid *grid, const res_versus *versus, const res_compared *cell,
                        res_axis_set mask)
{
    const res_comparison *c = &cell->comparison;
    const res_attribution *why = &cell->attribution;
    put_name(grid, cell, mask);
    if (cell->pairs == 0 || cell->failed) {
        put_failure(grid, cell);
        return;
    }
    res_grid_cell(grid, "%s", res_time(why->quantity[RES_QUANTITY_WALL].a).text);
    res_grid_cell(grid, "%s", res_time(why->quantity[RES_QUANTITY_WALL].b).text);
    res_grid_cell(grid, "%.4f", c->ratio.estimate);
    if (isfinite(c->ratio.low))
        res_grid_cell(grid, "[%.4f, %.4f]", c->ratio.low, c->ratio.high);
    else
        res_grid_blank(grid, 1);
    res_grid_cell(grid, "%.4f", c->median);
    if (c->test == RES_TEST_NONE)
        res_grid_cell(grid, "-");
    else
        put_p(grid, c->p_holm);
    res_grid_cell(grid, "%s", share_text(c->mde).text);
    res_grid_cell(grid, "%zu", c->pairs);
    put_headline(grid, versus, cell);
    res_grid_cell(grid, "%s", res_program_words(why->program));
    if (c->verdict != RES_SLOWER && c->verdict != RES_FASTER)
        res_grid_blank(grid, 1);
    else
        res_grid_cell(grid, "%s%s%s", res_place_name(why), why->shifted ? ", from " : "",
                      why->shifted ? bn_part_name(why->shifted_from) : "");
}

/* In which order columns are left out where the table has to be narrow, and their names. */
#define VERDICT_ALIGN "llllrrrirrrrlll"
#define VERDICT_SPARE "----gg--abdc-ef"
#define VERDICT_LEFT  "median, p, pairs, MDE, program, where, A and B"

static void put_verdicts(const res_versus *versus, bool controls, res_format format, bn_text *out)
{
    const res_axis_set mask = differences(versus);
    res_grid grid = res_grid_make(VERDICT_ALIGN);
    grid.spare = VERDICT_SPARE;
    res_grid_row(&grid, "model|phase|mode|setup|A|B|B / A|95 %|median|p|MDE|pairs|verdict|program|"
                        "where");
    size_t shown = 0;
    for (size_t i = 0; i < versus->count; i++) {
        if (versus->cells[i].control != controls)
            continue;
        verdict_row(&grid, versus, &versus->cells[i], mask);
        shown++;
    }
    if (shown > 0 && controls)
        res_put_heading(out, format, 2, "A/A control");
    if (shown > 0)
        res_grid_render(&grid, format, out);
    res_grid_free(&grid);
}

/* ---- further measures ----------------------------------------------------------------- */

/* "+20.0 %", "equivalent", "? (MDE 4.1 %)" where it is undecided, "equal", "-" where it is unknown.
 */
static void further_cell(res_grid *grid, const res_compared *cell, res_measure measure)
{
    const res_comparison *c = res_compared_measure(cell, measure);
    bn_text text = {0};
    if (!c)
        bn_text_puts(&text, cell->judged[measure].known == RES_KNOWN_EQUAL ? "equal" : "-");
    else if (c->verdict == RES_EQUIVALENT)
        bn_text_puts(&text, "equivalent");
    else if (c->verdict == RES_UNEVEN)
        bn_text_puts(&text, "uneven");
    else if (c->verdict == RES_UNDECIDED && c->mde < 1)
        bn_text_printf(&text, "? (MDE %s)", share_text(c->mde).text);
    else if (c->verdict == RES_UNDECIDED)
        bn_text_puts(&text, "?");
    else
        res_put_change(measure, c->ratio.estimate, &text);
    res_grid_cell(grid, "%s", text.data ? text.data : "");
    bn_text_free(&text);
}

/* Measures other than the wall time: a column for each that any cell knows. */
static void put_further(const res_versus *versus, bool controls, res_format format, bn_text *out)
{
    const res_axis_set mask = differences(versus);
    bool any[RES_MEASURE_COUNT] = {false};
    size_t measures = 0;
    bn_text heads = {0};
    bn_text_puts(&heads, "model|phase|mode|setup");
    for (size_t i = 0; i < versus->count; i++)
        for (int m = RES_MEASURE_WALL + 1; m < RES_MEASURE_COUNT; m++)
            if (versus->cells[i].control == controls)
                any[m] = any[m] || versus->cells[i].judged[m].known != RES_KNOWN_NOT;
    for (int m = 0; m < RES_MEASURE_COUNT; m++)
        if (any[m]) {
            bn_text_printf(&heads, "|%s", res_measure_words((res_measure)m));
            measures++;
        }
    /* As many columns as there are heads. */
    static const char align[] = "lllllllll";
    res_grid grid = res_grid_make(align + RES_MEASURE_COUNT - 1 - measures);
    grid.names = 4;
    res_grid_row(&grid, heads.data ? heads.data : "");
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control != controls || cell->pairs == 0 || cell->failed)
            continue;
        put_name(&grid, cell, mask);
        for (int m = 0; m < RES_MEASURE_COUNT; m++)
            if (any[m])
                further_cell(&grid, cell, (res_measure)m);
    }
    if (measures > 0) {
        bn_text_putc(out, '\n');
        res_grid_render(&grid, format, out);
    }
    res_grid_free(&grid);
    bn_text_free(&heads);
}

/* ---- changes ------------------------------------------------------------------------- */

static bool changed(const res_versus *versus, const res_compared *cell)
{
    const res_verdict verdict = res_compared_headline(versus, cell).verdict;
    return !cell->control && !cell->failed && cell->pairs > 0 &&
           (verdict == RES_SLOWER || verdict == RES_FASTER);
}

static void difference_row(res_grid *grid, const char *name, const res_difference *d)
{
    res_grid_cell(grid, "%s", name);
    res_grid_cell(grid, "%s", res_time(d->a).text);
    res_grid_cell(grid, "%s", res_time(d->b).text);
    res_grid_cell(grid, "%s%s", d->difference.estimate > 0 ? "+" : "",
                  res_time(d->difference.estimate).text);
    res_grid_cell(
        grid, "%s",
        res_time_range(d->difference.estimate, d->difference.low, d->difference.high).text);
    res_grid_cell(grid, "%s", d->moved ? "significant" : "");
}

static void ledger_rows(const res_attribution *why, res_grid *grid)
{
    static const res_quantity further[] = {RES_QUANTITY_PJRT, RES_QUANTITY_DEVICE,
                                           RES_QUANTITY_OVERHEAD};
    const res_difference *wall = &why->quantity[RES_QUANTITY_WALL];
    res_grid_row(grid, "a step|A|B|B minus A|95 %|");
    for (int p = 0; p < BN_PART_COUNT; p++) {
        const res_difference *d = &why->part[p];
        if (d->moved || fmax(d->a, d->b) >= SMALL_SHARE * wall->a)
            difference_row(grid, bn_part_name((bn_part)p), d);
    }
    res_grid_rule(grid);
    difference_row(grid, "wall", wall);
    for (size_t i = 0; i < sizeof further / sizeof *further; i++)
        if (isfinite(why->quantity[further[i]].a))
            difference_row(grid, res_quantity_name(further[i]), &why->quantity[further[i]]);
}

static void put_change(const res_versus *versus, const res_compared *cell, res_axis_set mask,
                       res_format format, bn_text *out)
{
    const res_headline head = res_compared_headline(versus, cell);
    char text[1400], graphs[32] = "";
    bn_text setup = {0}, change = {0};
    res_setup_text(&cell->experiment, mask, &setup);
    res_put_change(head.measure, res_compared_measure(cell, head.measure)->ratio.estimate, &change);
    if (cell->experiment.graphs > 1)
        snprintf(graphs, sizeof graphs, ", %d graphs", cell->experiment.graphs);
    snprintf(text, sizeof text, "%s %s %s%s%s%s: %s %s", cell->experiment.model,
             cell->experiment.phase, res_way_of(&cell->experiment).text, graphs,
             setup.length ? ", " : "", setup.length ? setup.data : "",
             res_measure_words(head.measure), change.data ? change.data : "");
    bn_text_free(&setup);
    bn_text_free(&change);
    res_put_heading(out, format, 2, text);
    if (head.measure != RES_MEASURE_WALL && cell->comparison.verdict != head.verdict)
        res_put_note(out, format,
                     cell->comparison.verdict == RES_EQUIVALENT
                         ? "The step takes as long on both sides (equivalent)."
                         : "Whether the step takes longer or not is undecided.");
    snprintf(text, sizeof text, "%s.", res_versus_blame(&cell->attribution));
    text[0] = (char)(text[0] - 'a' + 'A');
    res_put_note(out, format, text);
    res_grid grid = res_grid_make("lrrril");
    ledger_rows(&cell->attribution, &grid);
    res_grid_render(&grid, format, out);
    res_grid_free(&grid);
}

/* ---- compile and memory --------------------------------------------------------------- */

/* Whether MEASURE differs significantly: as it was judged, else as MOVED. */
static bool differs(const res_compared *cell, res_measure measure, bool moved)
{
    const res_comparison *c = res_compared_measure(cell, measure);
    return c ? c->verdict == RES_SLOWER || c->verdict == RES_FASTER : moved;
}

/* "812 KiB", or "812 KiB > 790 KiB" where the sides differ significantly. */
static void both_sizes(res_grid *grid, const res_difference *d, bool differ, bool bytes)
{
    char text[2][64];
    const double sides[] = {d->a, d->b};
    for (int i = 0; i < 2; i++) {
        if (!isfinite(sides[i]))
            snprintf(text[i], sizeof text[i], "-");
        else if (bytes)
            snprintf(text[i], sizeof text[i], "%s", res_size((int64_t)sides[i]).text);
        else
            snprintf(text[i], sizeof text[i], "%.0f", sides[i]);
    }
    if (!differ || strcmp(text[0], text[1]) == 0)
        res_grid_cell(grid, "%s", text[isfinite(d->a) ? 0 : 1]);
    else
        res_grid_cell(grid, "%s > %s", text[0], text[1]);
}

static void compilation_row(res_grid *grid, const res_compared *cell)
{
    static const res_quantity amounts[] = {RES_QUANTITY_INSTRUCTIONS, RES_QUANTITY_TEMP_BYTES,
                                           RES_QUANTITY_CODE_BYTES};
    const res_difference *q = cell->attribution.quantity;
    const res_difference *d = &q[RES_QUANTITY_COMPILE];
    const res_difference *peak = &q[RES_QUANTITY_PEAK_BYTES], *host = &q[RES_QUANTITY_HOST_BYTES];
    res_grid_cell(grid, "%s", res_time(d->a).text);
    res_grid_cell(grid, "%s", res_time(d->b).text);
    res_grid_cell(grid, "%s%s", d->difference.estimate > 0 ? "+" : "",
                  res_time(d->difference.estimate).text);
    res_grid_cell(
        grid, "%s",
        res_time_range(d->difference.estimate, d->difference.low, d->difference.high).text);
    res_grid_cell(grid, "%s", differs(cell, RES_MEASURE_COMPILE, d->moved) ? "significant" : "");
    for (size_t k = 0; k < sizeof amounts / sizeof *amounts; k++)
        both_sizes(grid, &q[amounts[k]], q[amounts[k]].moved,
                   amounts[k] != RES_QUANTITY_INSTRUCTIONS);
    both_sizes(grid, peak, differs(cell, RES_MEASURE_PEAK, peak->moved), true);
    both_sizes(grid, host, differs(cell, RES_MEASURE_HOST, host->moved), true);
}

static void put_compilation(const res_versus *versus, res_format format, bn_text *out)
{
    const res_axis_set mask = differences(versus);
    res_grid grid = res_grid_make("llllrrrilrrrrr");
    size_t shown = 0;
    res_grid_row(&grid, "model|phase|mode|setup|compile A|B|B minus A|95 %||instructions|temporary|"
                        "code|peak|process");
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control || cell->pairs == 0)
            continue;
        shown++;
        put_name(&grid, cell, mask);
        compilation_row(&grid, cell);
    }
    if (shown > 0) {
        res_put_heading(out, format, 2, "Compile time and memory, A > B");
        res_grid_render(&grid, format, out);
    }
    res_grid_free(&grid);
}

/* ---- all -------------------------------------------------------------------------------- */

/* Notes whether the ratio of a pair is of rounds. */
static void put_turns(const res_versus *versus, res_format format, bn_text *out)
{
    size_t turns = 0, cells = 0;
    for (size_t i = 0; i < versus->count; i++) {
        cells += versus->cells[i].pairs > 0;
        turns += versus->cells[i].pairs > 0 && versus->cells[i].turns;
    }
    if (turns > 0)
        res_put_note(out, format,
                     turns == cells
                         ? "The two processes of a pair ran interleaved, round by round."
                         : "The two processes of some pairs ran interleaved, round by round.");
}

/* Whether a printed ratio of MEASURE differs from that of the columns A and B. */
static bool ratios_differ(const res_versus *versus, res_measure measure)
{
    const double printed = measure == RES_MEASURE_WALL ? 0.00005 : 0.0005;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        const res_difference *d = &cell->attribution.quantity[res_measure_quantity(measure)];
        const res_comparison *c = res_compared_measure(cell, measure);
        if (cell->pairs > 0 && !cell->failed && c &&
            fabs(d->b / d->a - c->ratio.estimate) > printed)
            return true;
    }
    return false;
}

static void put_interim(const res_versus *versus, res_format format, bn_text *out)
{
    bool has[RES_PLAN_COUNT] = {false};
    bn_text text = {0};
    for (size_t i = 0; i < versus->count; i++)
        has[versus->cells[i].plan] = true;
    for (int plan = RES_PLAN_ONCE + 1; plan < RES_PLAN_COUNT; plan++)
        if (has[plan])
            bn_text_printf(&text, "%s%s", text.length ? " or " : "Interim analyses after ",
                           res_plan_name((res_plan)plan));
    if (text.length)
        bn_text_puts(&text, " pairs decided how many ran; p and intervals are corrected for them.");
    put_line(&text, format, out);
}

/* Slow processes of each cell that has any, and how many are not excluded where there was none. */
static void put_slow(const res_versus *versus, res_format format, bn_text *out)
{
    size_t fewest = RES_MOST_PAIRS + 1;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->failed || cell->pairs == 0)
            continue;
        for (int m = 0; m < RES_MEASURE_COUNT; m++) {
            bn_text slow = {0}, line = {0};
            if (res_measure_decides(cell, (res_measure)m))
                res_compared_put_slow(cell, (res_measure)m, &slow);
            if (slow.length)
                bn_text_printf(&line, "%s %s %s%s, %s: %s.", cell->experiment.model,
                               cell->experiment.phase, res_way_of(&cell->experiment).text,
                               cell->control ? " (control)" : "", res_measure_words((res_measure)m),
                               slow.data);
            put_line(&line, format, out);
            bn_text_free(&slow);
        }
        if (!cell->control && cell->comparison.verdict == RES_EQUIVALENT && cell->pairs < fewest)
            fewest = cell->pairs;
    }
    if (fewest <= RES_MOST_PAIRS) {
        bn_text line = {0};
        bn_text_printf(
            &line,
            "Equivalent, and no process was slow in this measure: slow processes in up to "
            "%.0f %% of B's are not excluded (%zu pairs).",
            100 * res_slow_not_excluded(fewest), fewest);
        put_line(&line, format, out);
    }
}

static void put_notes(const res_versus *versus, res_format format, bn_text *out)
{
    char text[320];
    bn_text_putc(out, '\n');
    if (format == RES_TABLE_NARROW)
        res_put_note(out, format,
                     "Columns for which there is no room are left out, in this order: " VERDICT_LEFT
                     ". All columns: --wide.");
    res_put_note(out, format,
                 "A pair is a fresh process of each side; all pairs count. Verdicts are of means: "
                 "median is that of the pairs' ratios.");
    put_turns(versus, format, out);
    if (ratios_differ(versus, RES_MEASURE_WALL))
        res_put_note(
            out, format,
            "B / A is over pairs; of interleaved processes over their rounds. A and B are the "
            "figures of each side in other tables, and B minus A is their difference: B need not "
            "be A times B / A.");
    if (ratios_differ(versus, RES_MEASURE_DEVICE))
        res_put_note(out, format,
                     "A device time above the wall time, by noise, is cut at it in A and B, as in "
                     "other tables; the comparison uses it uncut.");
    snprintf(text, sizeof text,
             "p: of no difference, family-wise over %zu figures (Holm); significant at %.3g; slow "
             "processes of B at %.3g. MDE: smallest detectable difference (80 %% power). "
             "equivalent: within %.3g %%.",
             versus->family, versus->options.level, RES_SLOW_LEVEL, 100 * versus->options.delta);
    res_put_note(out, format, text);
    put_interim(versus, format, out);
    put_slow(versus, format, out);
    if (res_versus_absent(versus) > 0) {
        snprintf(
            text, sizeof text,
            "No records of %zu of the %zu experiments and controls of this comparison are here. "
            "They count as undecided, and as part of the family.",
            res_versus_absent(versus), versus->planned);
        res_put_note(out, format, text);
    }
    if (versus->all_measures)
        res_put_note(
            out, format,
            "Other measures: equal: in each pair; -: unknown; ?: undecided. Thresholds: 1 % "
            "of device time, overhead (of a step) and device memory, 5 % of host memory, "
            "10 % of compile time.");
    for (const char *line = versus->notes.data; line && *line;) {
        const size_t length = strcspn(line, "\n");
        bn_text whole = {0};
        bn_text_append(&whole, line, length);
        put_line(&whole, format, out);
        line += length + (line[length] == '\n');
    }
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        bn_text line = {0};
        if (!cell->failed)
            continue;
        if (cell->missing) {
            bn_text_printf(&line, "%s %s %s: %c has no record of it.", cell->experiment.model,
                           cell->experiment.phase, res_way_of(&cell->experiment).text,
                           cell->failed);
            put_line(&line, format, out);
            continue;
        }
        bn_text_printf(&line, "%s %s %s, side %c%s: %s: %s", cell->experiment.model,
                       cell->experiment.phase, res_way_of(&cell->experiment).text, cell->failed,
                       cell->control ? " (control)" : "", bn_code_name(cell->failure),
                       cell->message);
        put_line(&line, format, out);
    }
}

void res_table_judged(const res_versus *versus, res_format format, bn_text *out)
{
    bn_text line = {0};
    const res_axis_set mask = differences(versus);
    put_side(versus, false, format, out);
    put_side(versus, true, format, out);
    res_setup_text(&versus->cells[0].experiment,
                   res_setup_all() & ~mask & ~RES_AXIS_BIT(RES_AXIS_SETTINGS), &line);
    bn_text_putc(out, '\n');
    put_line(&line, format, out);
    if (format == RES_TABLE_MARKDOWN)
        bn_text_putc(out, '\n');
    for (int controls = 0; controls < 2; controls++) {
        put_verdicts(versus, controls, format, out);
        put_further(versus, controls, format, out);
    }
    put_notes(versus, format, out);
    for (size_t i = 0; i < versus->count; i++)
        if (changed(versus, &versus->cells[i]))
            put_change(versus, &versus->cells[i], mask, format, out);
    put_compilation(versus, format, out);
}

void res_table_versus(const res_versus *versus, res_format format, bn_text *out)
{
    bn_text line = {0};
    if (format == RES_TABLE_JSON || format == RES_TABLE_CSV) {
        res_versus_export(versus, format, out);
        return;
    }
    res_table_judged(versus, format, out);
    bn_text_putc(out, '\n');
    bn_text_puts(&line, "compare: ");
    res_versus_summary(versus, &line);
    put_line(&line, format, out);
}
