/*
 * night_words.c - a night in words: a slowdown is found, excluded, or the night is inconclusive.
 * Undecided experiments never count as not slower.
 */
#include "harness/campaign/compare_priv.h"
#include "harness/campaign/night_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- all sides ------------------------------------------------------------------------ */

night_sum night_add_up(const nightly *n)
{
    night_sum sum = {.detectable = (double)NAN, .hidden = (double)NAN, .first = true, .same = true};
    for (size_t i = 0; i < n->side_count; i++) {
        const res_tonight_verdict *v = &n->sides[i].verdict;
        sum.cells += v->cells;
        sum.slower += v->slower;
        sum.inconclusive += v->inconclusive;
        sum.no_baseline += v->fresh;
        sum.suspects += v->suspects;
        sum.detectable = fmax(sum.detectable, v->mde);
        sum.hidden = fmax(sum.hidden, v->hidden);
        sum.first = sum.first && v->basis == RES_BASIS_NOTHING;
        sum.same = sum.same && v->basis == RES_BASIS_SAME;
        sum.records = sum.records || v->basis == RES_BASIS_RECORDS;
    }
    return sum;
}

int night_exit(const nightly *n)
{
    const night_sum sum = night_add_up(n);
    /* A slowdown counts, also where something failed. */
    return sum.slower || n->changed         ? COMPARE_SLOWER
           : n->failed                      ? COMPARE_ERROR
           : sum.inconclusive || !sum.cells ? COMPARE_INCONCLUSIVE
                                            : COMPARE_FINE;
}

bool night_conclusive(const nightly *n)
{
    const night_sum sum = night_add_up(n);
    return sum.slower || n->changed || (sum.cells && !sum.inconclusive);
}

/* "minimum detectable slowdown (80 % power) 2.1 %" */
static void put_detectable(const night_sum *sum, double slowdown, bn_text *out)
{
    if (isfinite(slowdown))
        bn_text_printf(out, "minimum detectable slowdown (80 %% power%s) %s",
                       sum->records ? ", within two nights" : "", res_percent(slowdown).text);
    else
        bn_text_puts(out, "no slowdown was detectable");
}

static void put_undecided(const night_sum *sum, bn_text *out)
{
    bn_text_printf(out, "inconclusive for %zu of %zu experiments", sum->inconclusive, sum->cells);
    if (sum->no_baseline == sum->inconclusive) {
        bn_text_puts(out, ", which have no baseline");
    } else if (sum->suspects) {
        bn_text_printf(
            out,
            ", of which %zu are out of line: a single night cannot separate a slow build "
            "from a bad night",
            sum->suspects);
    } else {
        bn_text_puts(out, ": ");
        put_detectable(sum, sum->hidden, out);
    }
}

night_outcome night_outcome_of(const nightly *n)
{
    const night_sum sum = night_add_up(n);
    if (sum.slower || n->changed)
        return NIGHT_SLOWER;
    if (sum.cells == 0)
        return NIGHT_NO_EXPERIMENTS;
    if (sum.first)
        return night_lost(n) > 0   ? NIGHT_NONE_READ
               : n->misdates.count ? NIGHT_NONE_DATED
                                   : NIGHT_FIRST;
    if (sum.inconclusive)
        return NIGHT_UNDECIDED;
    return sum.same ? NIGHT_SAME : NIGHT_EXCLUDED;
}

const char *night_outcome_name(night_outcome outcome)
{
    static const char *const names[] = {
        [NIGHT_SLOWER] = "slower",         [NIGHT_NO_EXPERIMENTS] = "no-experiments",
        [NIGHT_FIRST] = "first-night",     [NIGHT_NONE_READ] = "none-read",
        [NIGHT_NONE_DATED] = "none-dated", [NIGHT_UNDECIDED] = "undecided",
        [NIGHT_SAME] = "same-build",       [NIGHT_EXCLUDED] = "excluded"};
    return names[outcome];
}

/* Nothing slower was found. */
static void put_nothing(const nightly *n, const night_sum *sum, bn_text *out)
{
    switch (night_outcome_of(n)) {
    case NIGHT_SLOWER:
        break;
    case NIGHT_NO_EXPERIMENTS:
        bn_text_puts(out, "inconclusive: no experiment succeeded");
        break;
    case NIGHT_FIRST:
        bn_text_puts(out, "inconclusive: this is the first good night, without a baseline");
        break;
    case NIGHT_NONE_READ:
        bn_text_puts(out, "inconclusive: no good night before this one could be read");
        break;
    case NIGHT_NONE_DATED:
        bn_text_printf(out,
                       "inconclusive: there is no good night before this one, but %zu record%s "
                       "left out for wrong dates",
                       n->misdates.count, n->misdates.count == 1 ? " was" : "s were");
        break;
    case NIGHT_UNDECIDED:
        put_undecided(sum, out);
        if (sum->inconclusive < sum->cells)
            bn_text_puts(out, "; no slowdown found in the others");
        break;
    case NIGHT_SAME:
        bn_text_puts(out, "no slowdown found: the build is that of the last good night");
        break;
    case NIGHT_EXCLUDED:
        bn_text_printf(out, "no slowdown found in %zu experiments", sum->cells);
        break;
    }
    if (sum->inconclusive < sum->cells && !isnan(sum->detectable)) {
        bn_text_puts(out, "; ");
        put_detectable(sum, sum->detectable, out);
    }
}

void night_put_headline(const nightly *n, bn_text *out)
{
    const night_sum sum = night_add_up(n);
    if (n->failed)
        bn_text_printf(out, "%zu failed; ", n->failed);
    if (night_lost(n))
        bn_text_printf(out, "%zu not read; ", night_lost(n));
    if (sum.slower)
        bn_text_printf(out, "found slower: %zu of %zu experiments", sum.slower, sum.cells);
    if (n->changed)
        bn_text_printf(out, "%s%zu series changed for the worse",
                       sum.slower ? "; " : "found slower: ", n->changed);
    if (!sum.slower && !n->changed)
        put_nothing(n, &sum, out);
    else if (sum.inconclusive) {
        bn_text_puts(out, "; ");
        put_undecided(&sum, out);
    }
}

/* Failures of experiments, and of their records. */
typedef struct failures {
    size_t experiments, records;
} failures;

/* Appends a line for each experiment of tonight, or of its CONTROLs, that failed. */
static failures put_failures(nightly *n, bool control)
{
    failures f = {0};
    const res_collection *all = control ? &n->controls : &n->tonight;
    bn_text *out = &n->words;
    bool *counts = bn_zalloc(all->count + 1, sizeof *counts);
    for (size_t i = 0; i < all->count; i++) {
        const res_record *r = all->records[i];
        bool named = false;
        counts[i] = !res_record_good(r) && !res_tried_again(all, i);
        f.records += counts[i] && r->status != BN_OK;
        for (size_t k = 0; counts[i] && !named && k < i; k++)
            named = counts[k] && res_same_experiment(&all->records[k]->experiment, &r->experiment);
        if (!counts[i] || named)
            continue;
        f.experiments++;
        night_json_failed(n, r, control);
        bn_text_printf(out,
                       "%s: ", control ? "failed on the build of the last good night" : "failed");
        res_experiment_title(&r->experiment, out);
        bn_text_printf(out, ": %s: ", bn_code_name(r->status));
        bn_text_plain(out, r->message);
        bn_text_putc(out, '\n');
    }
    free(counts);
    return f;
}

void night_put_failures(nightly *n)
{
    const failures f = put_failures(n, false);
    n->failed += f.records;
    n->failed_experiments = f.experiments;
    (void)put_failures(n, true);
}

/* ---- one side ------------------------------------------------------------------------------ */

void night_side_name(const night_side *side, bn_text *out)
{
    bn_text_puts(out, side->runtime);
    if (side->own)
        bn_text_puts(out, " of frameworks");
    if (side->by_label)
        bn_text_printf(out, " [%s]", side->label);
    if (side->by_settings && side->settings[0])
        bn_text_printf(out, " with %s", side->settings);
}

static void put_verdict(const res_tonight_verdict *v, bn_text *out)
{
    if (v->cells == 0)
        bn_text_puts(out, "no experiment succeeded tonight");
    const res_versus_sum sum = res_versus_add_up(&v->versus);
    const char *between = "";
    if (v->slower > 0) {
        bn_text_printf(out, "%zu of %zu slower (%s", v->slower, v->cells,
                       v->slower > 1 ? "worst: " : "");
        res_versus_put_worst(&v->versus, out);
        bn_text_puts(out, ")");
        between = ", ";
    }
    const struct {
        size_t count;
        const char *what;
    } counts[] = {{sum.little, "slower by little"}, {sum.faster, "faster"},
                  {sum.equivalent, "equivalent"},   {sum.uneven, "uneven"},
                  {sum.undecided, "undecided"},     {v->fresh, "without a baseline"}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (counts[i].count)
            bn_text_printf(out, "%s%zu %s", between, counts[i].count, counts[i].what);
        between = counts[i].count ? ", " : between;
    }
}

/* "the machine: that build takes 3.1 % more now (mean of 8 experiments)" */
static void put_machine(const night_side *side, bn_text *out)
{
    const res_tonight_verdict *v = &side->verdict;
    if (v->machine_cells > 0)
        bn_text_printf(out,
                       "the machine: that build takes %.1f %% %s now (mean of %zu experiment%s)",
                       100 * fabs(v->machine - 1), v->machine < 1 ? "less" : "more",
                       v->machine_cells, v->machine_cells == 1 ? "" : "s");
}

void night_put_side(const night_side *side, bn_text *out)
{
    const res_tonight_verdict *v = &side->verdict;
    const time_t seconds = isnan(side->before_s) ? 0 : (time_t)side->before_s;
    struct tm utc;
    char date[32] = "";
    if (gmtime_r(&seconds, &utc))
        strftime(date, sizeof date, "%Y-%m-%d", &utc);
    night_side_name(side, out);
    switch (v->basis) {
    case RES_BASIS_NOTHING:
        bn_text_puts(out, side->lost ? ": no good night before this one could be read"
                                     : ": no good night before this one");
        break;
    case RES_BASIS_SAME:
        bn_text_printf(out, ": the build of the last good night, %s; ", date);
        put_machine(side, out);
        break;
    case RES_BASIS_CONTROL:
        bn_text_printf(
            out, " against the build of its last good night, %s, measured again tonight: ", date);
        put_verdict(v, out);
        bn_text_puts(out, "; ");
        put_machine(side, out);
        break;
    case RES_BASIS_RECORDS:
        bn_text_printf(out, " against the records of its last good night, %s: ", date);
        put_verdict(v, out);
        bn_text_printf(out, "; that night's build was not measured again: %s", side->why);
        break;
    }
    bn_text_printf(out, "\n%s", v->versus.notes.data ? v->versus.notes.data : "");
    if (out->length && out->data[out->length - 1] != '\n')
        bn_text_putc(out, '\n');
}
