/*
 * versus.c - two runtimes over a family of experiments: judged together, counted up.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the processes of all pairs took turns, a pair's ratio is that of rounds: fills VALUES, of
 * which A and B are room. False where they did not. */
static bool take_turns(const res_compared *cell, double *a, double *b, res_values *values)
{
    for (size_t i = 0; i < cell->pairs; i++) {
        const double ratio = res_turns_log_ratio(cell->a[i], cell->b[i]);
        if (!isfinite(ratio))
            return false;
        a[i] = res_quantity_of(cell->a[i], RES_QUANTITY_WALL);
        b[i] = a[i] * exp(ratio);
    }
    *values = (res_values){a, b, cell->pairs, 0};
    return true;
}

/* Processes count by their medians as in all tables, which are those of rounds. */
static bn_code compare_walls(const res_versus *versus, res_compared *cell, bn_status *st)
{
    const res_compare_options options = res_compared_options(versus, cell);
    double a[RES_MOST_PAIRS], b[RES_MOST_PAIRS];
    res_values values;
    cell->turns = take_turns(cell, a, b, &values);
    if (!cell->turns) {
        for (size_t i = 0; i < cell->pairs; i++) {
            a[i] = res_quantity_of(cell->a[i], RES_QUANTITY_WALL);
            b[i] = res_quantity_of(cell->b[i], RES_QUANTITY_WALL);
        }
        values = (res_values){a, b, cell->pairs, 0};
    }
    return res_compare(&values, &options, &cell->comparison, st);
}

static bn_code compare_cell(const res_versus *versus, res_compared *cell, bn_status *st)
{
    bn_code code = compare_walls(versus, cell, st);
    if (code == BN_OK)
        code = res_judge_further(versus, cell, st);
    if (code == BN_OK)
        res_attribute(cell, &cell->attribution);
    return code == BN_OK ? BN_OK
                         : bn_context(st, "%s %s %s", cell->experiment.model,
                                      cell->experiment.phase, cell->experiment.mode);
}

/* A cell without pairs claims nothing. Its wall time stays in the family, whose size was planned.
 */
static void compare_nothing(res_compared *cell)
{
    const res_interval none = {(double)NAN, (double)NAN, (double)NAN};
    const res_difference unknown = {(double)NAN, (double)NAN, none, 1, false};
    cell->turns = false;
    cell->comparison = res_compare_nothing(1);
    for (int m = 0; m < RES_MEASURE_COUNT; m++)
        cell->judged[m].known = RES_KNOWN_NOT;
    cell->attribution = (res_attribution){.program = RES_PROGRAM_UNKNOWN};
    for (int p = 0; p < BN_PART_COUNT; p++)
        cell->attribution.part[p] = unknown;
    for (int q = 0; q < RES_QUANTITY_COUNT; q++)
        cell->attribution.quantity[q] = unknown;
}

/* The most that a cell of VERSUS has of the level: so much keeps one that is absent. */
static double weight_of_absent(const res_versus *versus)
{
    double most = RES_WEIGHT_DECIDES;
    for (size_t i = 0; i < versus->count; i++) {
        double weight = 0;
        for (int m = 0; m < RES_MEASURE_COUNT && versus->cells[i].pairs > 0; m++)
            if (res_compared_measure(&versus->cells[i], (res_measure)m))
                weight += res_measure_weight(&versus->cells[i], (res_measure)m);
        most = fmax(most, weight);
    }
    return most;
}

/* Copies all comparisons that are judged to FAMILY, or back. Returns how many there are. A cell
 * without pairs has the weight of an absent one: a stored comparison does not know it apart. */
static size_t copy_family(res_versus *versus, res_comparison *family, bool back)
{
    const double absent = weight_of_absent(versus);
    size_t count = 0;
    for (size_t i = 0; i < versus->count; i++) {
        res_compared *cell = &versus->cells[i];
        for (int m = 0; m < RES_MEASURE_COUNT; m++) {
            res_comparison *c =
                m == RES_MEASURE_WALL ? &cell->comparison : &cell->judged[m].comparison;
            if (!res_compared_measure(cell, (res_measure)m))
                continue;
            if (back) {
                *c = family[count];
            } else {
                family[count] = *c;
                family[count].weight =
                    cell->pairs > 0 ? res_measure_weight(cell, (res_measure)m) : absent;
            }
            count++;
        }
    }
    return count;
}

size_t res_versus_absent(const res_versus *versus)
{
    return versus->planned > versus->count ? versus->planned - versus->count : 0;
}

/* Counts the processes that are slow by what decides: their wall time, or a device time that a
 * profiler tells. */
static void count_slow(res_versus *versus)
{
    versus->slow = (res_slow_counts){{0, 0}, {0, 0}};
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        const bool device = res_measure_decides(cell, RES_MEASURE_DEVICE);
        if (!cell->failed)
            res_slow_add(&versus->slow, &cell->comparison,
                         device ? res_compared_measure(cell, RES_MEASURE_DEVICE) : NULL,
                         cell->control);
    }
    versus->slow_p = res_slow_p(&versus->slow);
    versus->b_slow = versus->slow_p <= RES_SLOW_LEVEL;
}

bn_code res_versus_judge(res_versus *versus, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < versus->count && code == BN_OK; i++) {
        if (versus->cells[i].pairs > 0)
            code = compare_cell(versus, &versus->cells[i], st);
        else
            compare_nothing(&versus->cells[i]);
    }
    const size_t most = versus->count * RES_MEASURE_COUNT + 1;
    res_comparison *family = bn_zalloc(most, sizeof *family);
    if (code == BN_OK) {
        versus->family = copy_family(versus, family, false);
        const size_t absent = res_versus_absent(versus), there = versus->family;
        family[there] = res_compare_nothing((double)absent * weight_of_absent(versus));
        res_compare_family(family, there + (absent > 0), &versus->options);
        versus->family += absent;
    }
    if (code == BN_OK) {
        copy_family(versus, family, true);
        count_slow(versus);
        /* Every cell with pairs has a wall time, and all of these the same weight. */
        versus->wall_family = 0;
        for (size_t i = versus->count; i-- > 0;)
            if (versus->cells[i].pairs > 0 || versus->wall_family == 0)
                versus->wall_family = versus->cells[i].comparison.family;
    }
    free(family);
    return code;
}

void res_versus_begin(res_versus *versus, double threshold)
{
    *versus = (res_versus){.options = res_compare_defaults(), .threshold = threshold};
    if (threshold > 0)
        versus->options.delta = threshold;
}

void res_versus_note_pairs(res_versus *versus)
{
    const bool judged = versus->family > 0;
    size_t fewest = RES_MOST_PAIRS;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        const bool open = !judged || (!cell->control && !res_compared_decided(versus, cell));
        if (!cell->failed && open && cell->pairs < fewest)
            fewest = cell->pairs;
    }
    if (fewest < RES_CLAIM_PAIRS)
        bn_text_printf(&versus->notes,
                       "%zu pair%s can claim nothing: %d are needed, and %d for "
                       "\"equivalent\".\n",
                       fewest, fewest == 1 ? "" : "s", RES_CLAIM_PAIRS, RES_EQUIVALENT_PAIRS);
}

void res_versus_free(res_versus *versus)
{
    free(versus->cells);
    bn_text_free(&versus->notes);
    *versus = (res_versus){0};
}

/* Whether any measure of a control differs significantly, however little: its sides are the same.
 */
static bool alarms(const res_compared *cell)
{
    for (int m = 0; m < RES_MEASURE_COUNT; m++) {
        const res_comparison *c = res_compared_measure(cell, (res_measure)m);
        if (c && (c->verdict == RES_SLOWER || c->verdict == RES_FASTER))
            return true;
    }
    return false;
}

static void add_cell(const res_versus *versus, const res_compared *cell, res_versus_sum *sum)
{
    sum->unmeasured += cell->pairs == 0;
    const res_headline head = res_compared_headline(versus, cell);
    sum->slower += head.verdict == RES_SLOWER && !head.little;
    sum->little += head.verdict == RES_SLOWER && head.little;
    sum->faster += head.verdict == RES_FASTER;
    sum->equivalent += head.verdict == RES_EQUIVALENT;
    sum->uneven += head.verdict == RES_UNEVEN;
    sum->undecided += head.verdict == RES_UNDECIDED;
    const bool open = res_compared_open(versus, cell);
    const bool found = head.verdict == RES_SLOWER && !head.little;
    sum->inconclusive += open && !found;
    sum->closed += head.verdict == RES_UNDECIDED && !open;
    sum->open = sum->open || open;
}

/* Counts the experiments of a stored comparison of which there is no cell: one side lacked them, or
 * the comparison ended before. */
static void add_absent(const res_versus *versus, res_versus_sum *sum)
{
    const size_t there = versus->count - sum->controls;
    const size_t planned = versus->planned - versus->planned_controls;
    const size_t absent = planned > there ? planned - there : 0;
    const size_t missing = versus->planned_missing < absent ? versus->planned_missing : absent;
    sum->missing += missing;
    sum->absent = absent;
    sum->unmeasured += absent - missing;
    sum->undecided += absent - missing;
    sum->inconclusive += absent - missing;
    sum->open = sum->open || absent > missing;
}

res_versus_sum res_versus_add_up(const res_versus *versus)
{
    res_versus_sum sum = {.unread = versus->unread[0] + versus->unread[1]};
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control) {
            sum.controls++;
            sum.alarms += alarms(cell);
            sum.dead_controls += cell->failed != 0;
            sum.mute_controls += !cell->failed && cell->pairs < RES_CLAIM_PAIRS;
        } else if (cell->failed) {
            sum.missing += cell->missing;
            sum.failed += !cell->missing;
        } else {
            add_cell(versus, cell, &sum);
        }
    }
    add_absent(versus, &sum);
    return sum;
}

/* The cell with the largest change among those that are slower by what counts. */
static const res_compared *worst_of(const res_versus *versus)
{
    const res_compared *worst = NULL;
    double most = 0;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control || cell->failed)
            continue;
        const res_headline head = res_compared_headline(versus, cell);
        if (head.verdict != RES_SLOWER || head.little)
            continue;
        const double change = res_compared_measure(cell, head.measure)->ratio.estimate;
        if (change > most) {
            worst = cell;
            most = change;
        }
    }
    return worst;
}

static void put_one(const res_versus *versus, const res_compared *cell, bn_text *out)
{
    const res_headline head = res_compared_headline(versus, cell);
    const char *place = res_place_name(&cell->attribution);
    bn_text_printf(out, "%s %s %s: %s ", cell->experiment.model, cell->experiment.phase,
                   cell->experiment.mode, res_measure_words(head.measure));
    res_put_change(head.measure, res_compared_measure(cell, head.measure)->ratio.estimate, out);
    if (head.measure == RES_MEASURE_WALL)
        bn_text_printf(out, ", from %s%s", place[0] ? "its " : "no single component", place);
}

bool res_versus_put_worst(const res_versus *versus, bn_text *out)
{
    const res_compared *worst = worst_of(versus);
    if (worst)
        put_one(versus, worst, out);
    return worst != NULL;
}

static void put_count(bn_text *out, size_t count, const char *what)
{
    if (count > 0)
        bn_text_printf(out, ", %zu %s", count, what);
}

/* It is unknown of what is undecided, failed, missing or unread that it is not slower: "0 slower"
 * stands only where there is none of them. What failed or is missing is no part of what was judged.
 */
static void put_slower(const res_versus *versus, const res_versus_sum *sum, bn_text *out)
{
    const size_t cells = versus->count - sum->controls + sum->absent,
                 judged = cells - sum->failed - sum->missing;
    const bool inconclusive = sum->slower == 0 && sum->inconclusive > 0;
    if (inconclusive)
        bn_text_printf(out, "undecided: %zu of %zu", sum->inconclusive, judged);
    else if (sum->slower == 0 && sum->failed > 0)
        bn_text_printf(out, "%zu of %zu failed", sum->failed, cells);
    else if (sum->slower == 0 && sum->missing > 0)
        bn_text_printf(out, "%zu of %zu missing on one side", sum->missing, cells);
    else if (sum->slower == 0 && sum->unread > 0)
        bn_text_printf(out, "%zu compared", judged);
    else
        bn_text_printf(out, "%zu of %zu slower", sum->slower, judged);
}

static void put_of(bn_text *out, size_t count, size_t of)
{
    if (count == 0)
        bn_text_printf(out, "none of %zu", of);
    else
        bn_text_printf(out, "%zu of %zu", count, of);
}

void res_versus_put_slow(const res_versus *versus, bn_text *out)
{
    bn_text_puts(out, "B has slow processes: ");
    put_of(out, versus->slow.slow[1], versus->slow.of[1]);
    bn_text_puts(out, ", ");
    put_of(out, versus->slow.slow[0], versus->slow.of[0]);
    if (versus->slow_p < 0.001)
        bn_text_puts(out, " of A (p < 0.001)");
    else
        bn_text_printf(out, " of A (p = %.3f)", versus->slow_p);
}

/* Adds how many processes of SIDE took how many times as long as its others. */
static void put_speed(const res_slow *of, size_t pairs, char side, bn_text *out)
{
    if (of->count == 0)
        return;
    bn_text_printf(out, "%s%zu of %zu processes of %c took %.2g times as long",
                   out->length ? ", " : "", of->count, pairs, side, of->factor);
}

void res_compared_put_slow(const res_compared *cell, res_measure measure, bn_text *out)
{
    const res_comparison *c = res_compared_measure(cell, measure);
    bn_text list = {0};
    for (int side = 1; c && side >= 0; side--) {
        put_speed(&c->slow[side], c->pairs, side ? 'B' : 'A', &list);
        put_speed(&c->fast[side], c->pairs, side ? 'B' : 'A', &list);
    }
    if (list.length == 0) {
        bn_text_free(&list);
        return;
    }
    bn_text_puts(out, list.data);
    bn_text_free(&list);
    for (int side = 1; side >= 0; side--)
        if (c->slow[side].count + c->fast[side].count == 0)
            bn_text_printf(out, ", none of %c", side ? 'B' : 'A');
    bn_text_printf(out, "; mean %+.1f %%, median %+.1f %%", 100 * (c->ratio.estimate - 1),
                   100 * (c->median - 1));
}

void res_versus_summary(const res_versus *versus, bn_text *out)
{
    const res_versus_sum sum = res_versus_add_up(versus);
    if (versus->b_slow) {
        res_versus_put_slow(versus, out);
        bn_text_puts(out, "; ");
    }
    put_slower(versus, &sum, out);
    if (sum.slower > 0) {
        bn_text_printf(out, " (%s", sum.slower > 1 ? "worst: " : "");
        res_versus_put_worst(versus, out);
        bn_text_puts(out, ")");
    }
    if (sum.little)
        bn_text_printf(out, ", %zu slower by no more than %.3g %%", sum.little,
                       100 * versus->threshold);
    put_count(out, sum.faster, sum.inconclusive > 0 ? "faster by a measure" : "faster");
    put_count(out, sum.equivalent, "equivalent");
    put_count(out, sum.uneven, "uneven");
    if (sum.slower > 0)
        put_count(out, sum.undecided, "undecided");
    else
        put_count(out, sum.closed, "undecided but not slower");
    if (sum.slower > 0 || sum.inconclusive > 0)
        put_count(out, sum.failed, "failed");
    if (sum.slower > 0 || sum.inconclusive > 0 || sum.failed > 0)
        put_count(out, sum.missing, "missing on one side");
    put_count(out, sum.unread, sum.unread == 1 ? "record unread" : "records unread");
    if (sum.controls == 0)
        bn_text_puts(out, "; no A/A control");
    else if (sum.dead_controls)
        bn_text_puts(out, "; A/A control not measured");
    else if (sum.alarms)
        bn_text_puts(out, "; A/A control failed: these results cannot be trusted");
    else if (sum.mute_controls == sum.controls)
        bn_text_printf(out, "; A/A control shows nothing: fewer than %d pairs", RES_CLAIM_PAIRS);
    else
        bn_text_puts(out, "; A/A control passed");
}
