/*
 * versus.c - two runtimes over a family of experiments: judged together, counted up.
 */
#include "results/findings/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bn_code compare_cell(res_compared *cell, const res_compare_options *options, bn_status *st)
{
    const uint64_t *series[2][RES_MOST_PAIRS];
    size_t counts[2][RES_MOST_PAIRS];
    for (size_t i = 0; i < cell->pairs; i++) {
        series[0][i] = cell->a[i]->wall_ns;
        series[1][i] = cell->b[i]->wall_ns;
        counts[0][i] = cell->a[i]->step_count;
        counts[1][i] = cell->b[i]->step_count;
    }
    const res_side a = {series[0], counts[0], cell->pairs}, b = {series[1], counts[1], cell->pairs};
    bn_code code = res_compare(&a, &b, options, &cell->comparison, st);
    if (code == BN_OK)
        code = res_attribute(cell->a, cell->b, cell->comparison.kept, cell->comparison.pairs,
                             &cell->attribution, st);
    return code == BN_OK ? BN_OK
                         : bn_context(st, "%s %s %s", cell->experiment.model,
                                      cell->experiment.phase, cell->experiment.mode);
}

/* A cell without pairs claims nothing. It stays in the family, whose size was planned. */
static void compare_nothing(res_compared *cell)
{
    const res_interval none = {(double)NAN, (double)NAN, (double)NAN};
    cell->comparison = (res_comparison){
        .ratio = none, .bootstrap = none, .error = (double)NAN, .p_flip = 1, .p_t = 1};
    /* This cannot fail: without pairs no memory is taken. */
    bn_code code = res_attribute(NULL, NULL, NULL, 0, &cell->attribution, NULL);
    (void)code;
}

bn_code res_versus_judge(res_versus *versus, bn_status *st)
{
    bn_code code = BN_OK;
    for (size_t i = 0; i < versus->count && code == BN_OK; i++) {
        if (versus->cells[i].pairs > 0)
            code = compare_cell(&versus->cells[i], &versus->options, st);
        else
            compare_nothing(&versus->cells[i]);
    }
    res_comparison *family = code == BN_OK ? calloc(versus->count + 1, sizeof *family) : NULL;
    if (code == BN_OK && !family)
        code = bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu comparisons", versus->count);
    for (size_t i = 0; code == BN_OK && i < versus->count; i++)
        family[i] = versus->cells[i].comparison;
    if (code == BN_OK)
        code = res_compare_family(family, versus->count, &versus->options, st);
    for (size_t i = 0; code == BN_OK && i < versus->count; i++)
        versus->cells[i].comparison = family[i];
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
    const size_t least = res_least_pairs(versus->options.level, versus->count);
    size_t fewest = RES_MOST_PAIRS;
    for (size_t i = 0; i < versus->count; i++)
        if (!versus->cells[i].failed && versus->cells[i].pairs < fewest)
            fewest = versus->cells[i].pairs;
    if (fewest < least)
        bn_text_printf(&versus->notes,
                       "With %zu pair%s nothing can be claimed in a family of %zu: it takes %zu.\n",
                       fewest, fewest == 1 ? "" : "s", versus->count, least);
}

void res_versus_free(res_versus *versus)
{
    free(versus->cells);
    bn_text_free(&versus->notes);
    *versus = (res_versus){0};
}

static void add_control(const res_compared *cell, res_versus_sum *sum)
{
    const res_verdict verdict = cell->comparison.verdict;
    sum->controls++;
    sum->alarms += verdict == RES_SLOWER || verdict == RES_FASTER;
    sum->dead_controls += cell->failed != 0;
}

res_versus_sum res_versus_add_up(const res_versus *versus)
{
    res_versus_sum sum = {0};
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        const res_comparison *c = &cell->comparison;
        if (cell->control) {
            add_control(cell, &sum);
            continue;
        }
        if (cell->failed) {
            sum.failed++;
            continue;
        }
        sum.faster += c->verdict == RES_FASTER;
        sum.equivalent += c->verdict == RES_EQUIVALENT;
        if (c->verdict == RES_SLOWER && c->ratio.estimate > 1 + versus->threshold)
            sum.slower++;
        else if (c->verdict == RES_SLOWER)
            sum.little++;
        if (c->verdict == RES_UNDECIDED) {
            sum.undecided++;
            sum.open = sum.open || !(c->ratio.high < 1 + versus->threshold);
        }
    }
    return sum;
}

static const res_compared *worst_of(const res_versus *versus)
{
    const res_compared *worst = NULL;
    for (size_t i = 0; i < versus->count; i++) {
        const res_compared *cell = &versus->cells[i];
        if (cell->control || cell->failed || cell->comparison.verdict != RES_SLOWER)
            continue;
        if (!worst || cell->comparison.ratio.estimate > worst->comparison.ratio.estimate)
            worst = cell;
    }
    return worst;
}

static void put_count(bn_text *out, size_t count, const char *what)
{
    if (count > 0)
        bn_text_printf(out, ", %zu %s", count, what);
}

void res_versus_summary(const res_versus *versus, bn_text *out)
{
    const res_versus_sum sum = res_versus_add_up(versus);
    const size_t cells = versus->count - sum.controls;
    bn_text_printf(out, "%zu of %zu slower", sum.slower, cells);
    const res_compared *worst = sum.slower ? worst_of(versus) : NULL;
    if (worst)
        bn_text_printf(out, " (%s%s %s %s: %s, %.1f %%)", sum.slower > 1 ? "worst: " : "",
                       worst->experiment.model, worst->experiment.phase, worst->experiment.mode,
                       res_place_name(&worst->attribution)[0] ? res_place_name(&worst->attribution)
                                                              : "no single part",
                       100 * (worst->comparison.ratio.estimate - 1));
    if (sum.little)
        bn_text_printf(out, ", %zu slower by no more than %.3g %%", sum.little,
                       100 * versus->threshold);
    put_count(out, sum.faster, "faster");
    put_count(out, sum.equivalent, "equivalent");
    put_count(out, sum.undecided, "undecided");
    put_count(out, sum.failed, "failed");
    if (sum.controls == 0)
        bn_text_puts(out, "; no control");
    else if (sum.dead_controls)
        bn_text_puts(out, "; a control failed");
    else if (sum.alarms)
        bn_text_printf(out, "; the control ALARMS: nothing of this can be trusted");
    else
        bn_text_puts(out, "; control: no alarm");
}
