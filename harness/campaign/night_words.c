/*
 * night_words.c - what a night says in words. It says "found", "nothing found" or "could not tell":
 * what could not be decided is never counted as not slower.
 */
#include "harness/campaign/compare_priv.h"
#include "harness/campaign/night_priv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- all sides ------------------------------------------------------------------------ */

night_sum night_add_up(const nightly *n)
{
    night_sum sum = {.visible = (double)NAN, .hidden = (double)NAN, .first = true, .same = true};
    for (size_t i = 0; i < n->side_count; i++) {
        const res_tonight_verdict *v = &n->sides[i].verdict;
        sum.cells += v->cells;
        sum.slower += v->slower;
        sum.untold += v->untold;
        sum.fresh += v->fresh;
        sum.suspects += v->suspects;
        sum.visible = fmax(sum.visible, v->visible);
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
    /* A slowdown was measured, whatever failed beside it. */
    return sum.slower || n->changed   ? COMPARE_SLOWER
           : n->failed                ? COMPARE_ERROR
           : sum.untold || !sum.cells ? COMPARE_UNTOLD
                                      : COMPARE_FINE;
}

bool night_told(const nightly *n)
{
    const night_sum sum = night_add_up(n);
    return sum.slower || n->changed || (sum.cells && !sum.untold);
}

/* "a slowdown of 2.1 % would have been seen in 4 of 5 cases" */
static void put_visible(const night_sum *sum, double visible, bn_text *out)
{
    if (isfinite(visible))
        bn_text_printf(out, "a slowdown of %.*f %% would have been seen%s in 4 of 5 cases",
                       visible < 0.1 ? 1 : 0, 100 * visible,
                       sum->records ? " within two nights" : "");
    else
        bn_text_puts(out, "no slowdown could have been told from chance");
}

static void put_untold(const night_sum *sum, bn_text *out)
{
    bn_text_printf(out, "could not tell for %zu of %zu experiments", sum->untold, sum->cells);
    if (sum->fresh == sum->untold)
        bn_text_puts(out, ", which have nothing to be compared with");
    else if (sum->suspects)
        bn_text_printf(out,
                       ", of which %zu are out of line: one night alone cannot tell a build "
                       "from a bad night",
                       sum->suspects);
    else
        bn_text_puts(out, isfinite(sum->hidden) ? ": there " : ": ");
    if (sum->fresh != sum->untold && !sum->suspects)
        put_visible(sum, sum->hidden, out);
}

/* No side has a good night before. */
static void put_first(const nightly *n, bn_text *out)
{
    bn_text_puts(out, "could not tell: ");
    if (night_lost(n) > 0)
        bn_text_puts(out, "no good night before this one could be read");
    else if (n->misdates.count == 0)
        bn_text_puts(out, "this is the first good night, there is nothing to compare it with");
    else
        bn_text_printf(out,
                       "there is no good night before this one, but %zu record%s left out, because "
                       "of wrong dates",
                       n->misdates.count, n->misdates.count == 1 ? " was" : "s were");
}

/* Nothing slower was found. */
static void put_nothing(const nightly *n, const night_sum *sum, bn_text *out)
{
    if (sum->cells == 0) {
        bn_text_puts(out, "could not tell: no experiment ended well");
    } else if (sum->first) {
        put_first(n, out);
    } else if (sum->untold) {
        put_untold(sum, out);
        if (sum->untold < sum->cells)
            bn_text_puts(out, "; nothing slower was found in the others");
    } else if (sum->same) {
        bn_text_puts(out, "nothing slower was found: the build is that of the last good night");
    } else {
        bn_text_printf(out, "nothing slower was found in %zu experiments", sum->cells);
    }
    if (sum->untold < sum->cells && !isnan(sum->visible)) {
        bn_text_puts(out, "; ");
        put_visible(sum, sum->visible, out);
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
    else if (sum.untold) {
        bn_text_puts(out, "; ");
        put_untold(&sum, out);
    }
}

/* Whether a record of ALL before I is of a failure of the same experiment that counts. Experiments
 * are compared first: res_tried_again makes the identity of every record. */
static bool named_before(const res_collection *all, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!res_record_good(all->records[k]) &&
            res_same_experiment(&all->records[k]->experiment, &all->records[i]->experiment) &&
            !res_tried_again(all, k))
            return true;
    return false;
}

/* Appends a line for each experiment of ALL that failed, and returns how many there are. */
static size_t put_failures(const res_collection *all, const char *what, bn_text *out)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) {
        const res_record *r = all->records[i];
        if (res_record_good(r) || res_tried_again(all, i) || named_before(all, i))
            continue;
        count++;
        bn_text_printf(out, "%s: ", what);
        res_experiment_title(&r->experiment, out);
        bn_text_printf(out, ": %s: ", bn_code_name(r->status));
        bn_text_plain(out, r->message);
        bn_text_putc(out, '\n');
    }
    return count;
}

void night_put_failures(nightly *n)
{
    n->failed_experiments = put_failures(&n->tonight, "failed", &n->words);
    (void)put_failures(&n->controls, "failed on the build of the last good night", &n->words);
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
        bn_text_puts(out, "no experiment ended well tonight");
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
    } counts[] = {{sum.little, "slower by little"},
                  {sum.faster, "faster"},
                  {sum.equivalent, "equivalent"},
                  {sum.undecided, "undecided"},
                  {v->fresh, "with nothing to be compared with"}};
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
