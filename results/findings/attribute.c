/*
 * attribute.c - what a difference between two runtimes is due to.
 *
 * Did both run the same program? The text's digest says what was asked for, the digest of the
 * optimized program what the compiler made of it. Where both agree, the difference comes from the
 * execution or from the device.
 *
 * Where did the time go? Each part of the ledger, device time and overhead are compared over the
 * pairs of processes. A and B are what all tables say of such processes (pool.c), and B
 * less A is their difference; only how far it may be off is over pairs. Medians of parts need not
 * add up to that of the step.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <string.h>

#define LEVEL 0.05
/* A place is named when it holds at least so much of the step's difference. */
#define MOST  0.5

/* ---- differences -------------------------------------------------------------------- */

/* The pairs of a cell, and the pool of each side. */
typedef struct pairs {
    const res_record *side[2][RES_MOST_PAIRS];
    size_t count;
    res_pool pool[2];
    res_figures figures[2];
} pairs;

static void begin_pairs(const res_compared *cell, pairs *p)
{
    *p = (pairs){.count = cell->pairs};
    memcpy(p->side[0], cell->a, cell->pairs * sizeof *cell->a);
    memcpy(p->side[1], cell->b, cell->pairs * sizeof *cell->b);
    for (int s = 0; s < 2; s++) {
        res_pool_all(p->side[s], p->count, &p->pool[s]);
        p->figures[s] = res_pool_figures(&p->pool[s]);
    }
}

static void end_pairs(pairs *p)
{
    for (int s = 0; s < 2; s++)
        res_pool_free(&p->pool[s]);
}

/* The figure of a side, whose records have VALUES, as tables show it: DIFFERENCE as in
 * res_pool_over. */
static double over_side(const pairs *p, int side, const double *values, bool difference)
{
    const res_pool *pool = &p->pool[side];
    double ordered[RES_MOST_PAIRS] = {0};
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < p->count; k++)
            if (pool->list[i].record == p->side[side][k])
                ordered[i] = values[k];
    return res_pool_over(pool, ordered, difference).value.estimate;
}

/* Whether A and B are means of the values themselves; else of their logs. */
static bool is_plain(double (*values)[RES_MOST_PAIRS], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[0][i] > 0) || !(values[1][i] > 0))
            return true;
    return false;
}

/* B minus A as the columns of a table have it, with the interval of MEAN, which is over pairs: of B
 * less A, or, not PLAIN, of their log ratio. */
static void set_difference(res_difference *d, res_interval mean, bool plain)
{
    const double low = mean.low - mean.estimate, high = mean.high - mean.estimate;
    d->difference = (res_interval){d->b - d->a, plain ? d->b - d->a + low : d->b * exp(low) - d->a,
                                   plain ? d->b - d->a + high : d->b * exp(high) - d->a};
}

/* VALUES are those of A, then those of B. One unknown value makes all unknown. AMOUNT: parts,
 * sizes and differences, which have plain means. SIDES: what A and B are, where that is more than
 * their means; else NULL. */
static res_difference difference_of(const pairs *p, double (*values)[RES_MOST_PAIRS], bool amount,
                                    const double *sides)
{
    const double nan = (double)NAN;
    double d[RES_MOST_PAIRS];
    res_difference out = {nan, nan, {nan, nan, nan}, 1, false};
    const bool plain = amount || is_plain(values, p->count);
    for (size_t i = 0; i < p->count; i++) {
        d[i] = plain ? values[1][i] - values[0][i] : log(values[1][i] / values[0][i]);
        if (!isfinite(d[i]))
            return out;
    }
    if (p->count == 0)
        return out;
    const res_difference unknown = out;
    const res_interval mean = res_mean_difference(d, p->count, &out.p);
    out.a = sides ? sides[0] : over_side(p, 0, values[0], plain);
    out.b = sides ? sides[1] : over_side(p, 1, values[1], plain);
    if (!isfinite(out.a) || !isfinite(out.b))
        return unknown;
    set_difference(&out, mean, plain);
    return out;
}

/* The interval may include zero all the same: with interim analyses, or where it is around another
 * value than the ratio of rounds that P is of. No row says both. */
static bool moves(const res_difference *d)
{
    return d->p <= LEVEL / (BN_PART_COUNT + RES_QUANTITY_COUNT) && res_excludes(d->difference, 0);
}

/* Parts add up to a step, so their means are plain, as in the table of ledgers. */
static void compare_parts(const pairs *p, res_attribution *out)
{
    for (int i = 0; i < BN_PART_COUNT; i++) {
        const bn_part part = (bn_part)i;
        double values[2][RES_MOST_PAIRS];
        for (int s = 0; s < 2; s++)
            for (size_t k = 0; k < p->count; k++)
                values[s][k] = res_part_median(p->side[s][k], &part, 1);
        out->part[i] = difference_of(p, values, true, NULL);
        out->part[i].moved = moves(&out->part[i]);
    }
}

/* Whether QUANTITY is a time, of which nothing takes none. */
static bool is_time(res_quantity quantity)
{
    return quantity <= RES_QUANTITY_COMPILE && quantity != RES_QUANTITY_OVERHEAD;
}

static res_difference compare_quantity(const pairs *p, res_quantity quantity)
{
    const double nan = (double)NAN;
    double values[2][RES_MOST_PAIRS];
    if (quantity == RES_QUANTITY_DEVICE && !res_figures_alike(&p->figures[0], &p->figures[1]))
        return (res_difference){nan, nan, {nan, nan, nan}, 1, false};
    for (int s = 0; s < 2; s++)
        for (size_t i = 0; i < p->count; i++)
            values[s][i] = res_quantity_of(p->side[s][i], quantity);
    /* As in other tables: of one source, and at most the wall time. */
    const double device[] = {p->figures[0].device.value.estimate,
                             p->figures[1].device.value.estimate};
    return difference_of(p, values, !is_time(quantity),
                         quantity == RES_QUANTITY_DEVICE ? device : NULL);
}

/* The judged measure says how sure a difference is, so that no two tables of one comparison differ.
 */
static void settle(const res_comparison *c, res_measure measure, res_difference *d)
{
    const res_interval log_ratio = {log(c->ratio.estimate), log(c->ratio.low), log(c->ratio.high)};
    if (!isfinite(d->a) || measure == RES_MEASURE_OVERHEAD)
        return;
    set_difference(d, log_ratio, false);
    res_mean_difference(c->log_ratio, c->pairs, &d->p);
}

/* The measure that QUANTITY is, or RES_MEASURE_COUNT. */
static res_measure measure_of(res_quantity quantity)
{
    int m = 0;
    while (m < RES_MEASURE_COUNT && res_measure_quantity((res_measure)m) != quantity)
        m++;
    return (res_measure)m;
}

/* Compares QUANTITY over the pairs ALL of CELL. */
static res_difference compare_one(const res_compared *cell, const pairs *all, res_quantity quantity)
{
    const res_measure measure = measure_of(quantity);
    const res_comparison *c =
        measure == RES_MEASURE_COUNT ? NULL : res_compared_measure(cell, measure);
    res_difference out = compare_quantity(all, quantity);
    if (c)
        settle(c, measure, &out);
    out.moved = moves(&out);
    return out;
}

/* ---- programs ------------------------------------------------------------------------- */

const char *res_program_name(res_program program)
{
    static const char *const names[] = {"same", "compiled otherwise", "another text", "varies",
                                        "not told"};
    return names[program];
}

const char *res_program_words(res_program program)
{
    static const char *const words[] = {"same", "compiled differently", "another text", "varies",
                                        "unknown"};
    return words[program];
}

/* Whether both were asked for the same: one graph, or in eager mode all programs of one op. */
static bool same_request(const res_execution *a, const res_execution *b)
{
    return strcmp(a->graph, b->graph) == 0 && strcmp(a->fingerprint, b->fingerprint) == 0 &&
           a->nodes == b->nodes && a->text_bytes == b->text_bytes;
}

static bool same_figures(const res_execution *a, const res_execution *b)
{
    return a->argument_bytes == b->argument_bytes && a->result_bytes == b->result_bytes &&
           a->temp_bytes == b->temp_bytes && a->code_bytes == b->code_bytes &&
           a->peak_bytes == b->peak_bytes && a->optimized_instructions == b->optimized_instructions;
}

/* The next execution of a steady step at or after FROM; NULL: there is none. */
static const res_execution *steady_from(const res_record *r, size_t *from)
{
    while (*from < r->execution_count && r->executions[*from].per_step == 0)
        ++*from;
    return *from < r->execution_count ? &r->executions[(*from)++] : NULL;
}

static res_program program_of(const res_record *a, const res_record *b)
{
    bool any = false, shown = true, alike = true, figures = true;
    for (size_t i = 0, j = 0;; any = true) {
        const res_execution *x = steady_from(a, &i), *y = steady_from(b, &j);
        if (!x && !y)
            break;
        if (!x || !y || !same_request(x, y))
            return RES_PROGRAM_TEXT;
        shown = shown && x->optimized[0] && y->optimized[0];
        alike = alike && strcmp(x->optimized, y->optimized) == 0;
        figures = figures && same_figures(x, y);
    }
    if (shown && any)
        return alike ? RES_PROGRAM_SAME : RES_PROGRAM_COMPILED;
    return figures ? RES_PROGRAM_UNKNOWN : RES_PROGRAM_COMPILED;
}

/* Whether the processes of a side agree with its first: SAME, or how they do not. */
static res_program agree(const res_record *const *side, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const res_program of = program_of(side[0], side[i]);
        if (of == RES_PROGRAM_TEXT)
            return of;
        if (of == RES_PROGRAM_COMPILED)
            return RES_PROGRAM_UNSTEADY;
    }
    return RES_PROGRAM_SAME;
}

res_program res_compare_programs(const res_record *const *a, size_t a_count,
                                 const res_record *const *b, size_t b_count)
{
    if (a_count == 0 || b_count == 0)
        return RES_PROGRAM_UNKNOWN;
    const res_program of_a = agree(a, a_count), of_b = agree(b, b_count);
    if (of_a == RES_PROGRAM_TEXT || of_b == RES_PROGRAM_TEXT)
        return RES_PROGRAM_TEXT;
    if (of_a == RES_PROGRAM_UNSTEADY || of_b == RES_PROGRAM_UNSTEADY)
        return RES_PROGRAM_UNSTEADY;
    return program_of(a[0], b[0]);
}

/* ---- places ------------------------------------------------------------------------------ */

const char *res_place_name(const res_attribution *attribution)
{
    switch (attribution->place) {
    case RES_PLACE_DEVICE:
        return "device time";
    case RES_PLACE_OVERHEAD:
        return "overhead";
    case RES_PLACE_PART:
        return bn_part_name(attribution->place_part);
    case RES_PLACE_NONE:
        break;
    }
    return "";
}

/* How much of the difference WHOLE lies in PART; 0 where PART did not move. */
static double share_of(const res_difference *part, const res_difference *whole)
{
    const double share = (part->b - part->a) / (whole->b - whole->a);
    return part->moved && isfinite(share) ? share : 0;
}

/* Device time and overhead come first: they say more than the ledger's parts, which only see the
 * host. */
static void find_place(res_attribution *out)
{
    const res_difference *wall = &out->quantity[RES_QUANTITY_WALL];
    const double device = share_of(&out->quantity[RES_QUANTITY_DEVICE], wall);
    const double overhead = share_of(&out->quantity[RES_QUANTITY_OVERHEAD], wall);
    double most = 0;
    out->place = RES_PLACE_NONE;
    if (fmax(device, overhead) >= MOST) {
        out->place = device >= overhead ? RES_PLACE_DEVICE : RES_PLACE_OVERHEAD;
        return;
    }
    for (int p = 0; p < BN_PART_COUNT; p++) {
        const double share = share_of(&out->part[p], wall);
        if (share <= most)
            continue;
        most = share;
        out->place = RES_PLACE_PART;
        out->place_part = (bn_part)p;
    }
    for (int p = 0; p < BN_PART_COUNT; p++)
        if (most > 0 && share_of(&out->part[p], wall) <= -MOST * most) {
            out->shifted = true;
            out->shifted_from = (bn_part)p;
        }
}

void res_attribute(const res_compared *cell, res_attribution *out)
{
    pairs all;
    begin_pairs(cell, &all);
    *out = (res_attribution){
        .program = res_compare_programs(all.side[0], all.count, all.side[1], all.count)};
    compare_parts(&all, out);
    for (int q = 0; q < RES_QUANTITY_COUNT; q++)
        out->quantity[q] = compare_one(cell, &all, (res_quantity)q);
    find_place(out);
    end_pairs(&all);
}
