/*
 * judged.c - what is judged of a cell: its measures, from when a change counts, and the verdict
 * that they come to together.
 */
#include "results/findings/findings_priv.h"

#include <math.h>

/* ---- measures ------------------------------------------------------------------------ */

typedef struct measure_row {
    res_quantity quantity;
    double least; /* changes by less are no findings */
    const char *words, *more, *less;
} measure_row;

static const measure_row rows[RES_MEASURE_COUNT] = {
    [RES_MEASURE_WALL] = {RES_QUANTITY_WALL, 0, "wall time", "slower", "faster"},
    [RES_MEASURE_DEVICE] = {RES_QUANTITY_DEVICE, 0.01, "device time", "slower", "faster"},
    [RES_MEASURE_OVERHEAD] = {RES_QUANTITY_OVERHEAD, 0.01, "overhead", "of a step more",
                              "of a step less"},
    [RES_MEASURE_COMPILE] = {RES_QUANTITY_COMPILE, 0.1, "compile time", "slower", "faster"},
    [RES_MEASURE_HOST] = {RES_QUANTITY_HOST_BYTES, 0.05, "host memory", "more", "less"},
    [RES_MEASURE_PEAK] = {RES_QUANTITY_PEAK_BYTES, 0.01, "device memory", "more", "less"},
};

res_quantity res_measure_quantity(res_measure measure)
{
    return rows[measure].quantity;
}

const char *res_measure_words(res_measure measure)
{
    return rows[measure].words;
}

double res_measure_threshold(const res_versus *versus, res_measure measure)
{
    return fmax(versus->threshold, rows[measure].least);
}

/* A step's time is what a comparison is for. In equal shares, the wall time of one cell with its
 * control was one of ten figures: a difference had to be a tenth larger to be significant. */
double res_measure_weight(const res_compared *cell, res_measure measure)
{
    return res_measure_decides(cell, measure) ? RES_WEIGHT_DECIDES : 1;
}

double res_wall_family(size_t cells)
{
    /* Wall and device time, if a profiler has it, and the others. */
    const double cell = 2 * RES_WEIGHT_DECIDES + (RES_MEASURE_COUNT - 2);
    return (double)cells * cell / RES_WEIGHT_DECIDES;
}

const res_comparison *res_compared_measure(const res_compared *cell, res_measure measure)
{
    if (measure == RES_MEASURE_WALL)
        return &cell->comparison;
    const res_judged *judged = &cell->judged[measure];
    return judged->known == RES_KNOWN_JUDGED ? &judged->comparison : NULL;
}

/* Less is a share of A, too: a ratio of 0.8 is 20 % less. Of the overhead the ratio stands
 * for a share of a step, with a sign. */
void res_put_change(res_measure measure, double ratio, bn_text *out)
{
    double change = fabs(ratio - 1);
    if (measure == RES_MEASURE_OVERHEAD && ratio < 1)
        change = 1 / ratio - 1;
    if (change < 0.00005)
        bn_text_puts(out, "<0.01 %");
    else
        bn_text_printf(out, "%.*f %%", change < 0.01 ? 2 : 1, 100 * change);
    bn_text_printf(out, " %s", ratio > 1 ? rows[measure].more : rows[measure].less);
}

/* ---- one measure of a cell ------------------------------------------------------------------ */

/* Host memory comes in arenas and huge pages: like processes differ by a few of them. Measured of
 * small models: up to 5 MiB of 23 to 54. */
#define LIKE_HOST_BYTES (8 << 20)

/* Reads the values of all pairs. */
static res_known read_values(const res_compared *cell, res_quantity quantity,
                             double values[2][RES_MOST_PAIRS])
{
    const double like = quantity == RES_QUANTITY_HOST_BYTES ? LIKE_HOST_BYTES : 0;
    bool equal = true;
    for (size_t i = 0; i < cell->pairs; i++) {
        values[0][i] = res_quantity_of(cell->a[i], quantity);
        values[1][i] = res_quantity_of(cell->b[i], quantity);
        if (!isfinite(values[0][i]) || !isfinite(values[1][i]))
            return RES_KNOWN_NOT;
        /* But for the overhead, nothing takes no time and no memory. */
        if (quantity != RES_QUANTITY_OVERHEAD && !(fmin(values[0][i], values[1][i]) > 0))
            return RES_KNOWN_NOT;
        equal = equal && fabs(values[0][i] - values[1][i]) <= like;
    }
    return cell->pairs == 0 ? RES_KNOWN_NOT : equal ? RES_KNOWN_EQUAL : RES_KNOWN_JUDGED;
}

/* A's step over all pairs, as tables have it. */
static double step_of(const res_compared *cell)
{
    res_pool pool;
    res_pool_all(cell->a, cell->pairs, &pool);
    const double step = res_pool_figures(&pool).wall.value.estimate;
    res_pool_free(&pool);
    return step;
}

res_compare_options res_compared_options(const res_versus *versus, const res_compared *cell)
{
    res_compare_options options = versus->options;
    options.plan = cell->plan;
    return options;
}

bn_code res_judge_further(const res_versus *versus, res_compared *cell, bn_status *st)
{
    const double step = versus->all_measures ? step_of(cell) : 1;
    bn_code code = BN_OK;
    for (int m = 0; m < RES_MEASURE_COUNT; m++)
        cell->judged[m].known = RES_KNOWN_NOT;
    for (int m = RES_MEASURE_WALL + 1; versus->all_measures && m < RES_MEASURE_COUNT; m++) {
        double values[2][RES_MOST_PAIRS];
        res_judged *judged = &cell->judged[m];
        judged->known = read_values(cell, rows[m].quantity, values);
        if (judged->known != RES_KNOWN_JUDGED)
            continue;
        res_compare_options options = res_compared_options(versus, cell);
        options.delta = fmax(options.delta, rows[m].least);
        const res_values both = {values[0], values[1], cell->pairs,
                                 m == RES_MEASURE_OVERHEAD ? step : 0};
        code = res_compare(&both, &options, &judged->comparison, st);
        if (code != BN_OK)
            return bn_context(st, "%s", rows[m].words);
    }
    return code;
}

/* ---- all measures of a cell ---------------------------------------------------------------- */

static bool by_profiler(const res_record *r)
{
    for (size_t i = 0; i < r->execution_count; i++)
        if (r->executions[i].per_step > 0 &&
            r->executions[i].device_source != BN_DEVICE_TIME_PROFILER)
            return false;
    return r->execution_count > 0;
}

/* Device times by the slope of the host's clock vary too much to decide anything. */
bool res_measure_decides(const res_compared *cell, res_measure measure)
{
    return measure == RES_MEASURE_WALL || (measure == RES_MEASURE_DEVICE && cell->pairs > 0 &&
                                           by_profiler(cell->a[0]) && by_profiler(cell->b[0]));
}

static bool is_significant(const res_comparison *c)
{
    return c && (c->verdict == RES_SLOWER || c->verdict == RES_FASTER);
}

/* The size of a change, whichever its direction. */
static double size_of(const res_comparison *c)
{
    return expm1(fabs(log(c->ratio.estimate)));
}

/* Whether a change of MEASURE can be the headline of CELL. That B is worse can be by any measure.
 * But a side that saves memory is not faster, and a small change is worth a headline only where it
 * decides.
 */
static bool leads(const res_compared *cell, res_measure measure, res_verdict verdict, bool little)
{
    if (little)
        return res_measure_decides(cell, measure);
    return verdict == RES_SLOWER || measure == RES_MEASURE_WALL || measure == RES_MEASURE_DEVICE;
}

/* The measure with this VERDICT that comes first: the wall time, else the largest change. LITTLE:
 * of the changes that do not count. RES_MEASURE_COUNT: there is none. */
static res_measure find(const res_versus *versus, const res_compared *cell, res_verdict verdict,
                        bool little)
{
    res_measure found = RES_MEASURE_COUNT;
    for (int i = 0; i < RES_MEASURE_COUNT && found != RES_MEASURE_WALL; i++) {
        const res_measure m = (res_measure)i;
        const res_comparison *c = res_compared_measure(cell, m);
        if (!is_significant(c) || c->verdict != verdict)
            continue;
        if ((size_of(c) > res_measure_threshold(versus, m)) == little)
            continue;
        if (!leads(cell, m, verdict, little))
            continue;
        if (found == RES_MEASURE_COUNT || size_of(c) > size_of(res_compared_measure(cell, found)))
            found = m;
    }
    return found;
}

/* The first measure that is to be decided and has this VERDICT; RES_MEASURE_COUNT: there is none.
 */
static res_measure deciding(const res_compared *cell, res_verdict verdict)
{
    for (int m = 0; m < RES_MEASURE_COUNT; m++) {
        const res_comparison *c = res_compared_measure(cell, (res_measure)m);
        if (c && c->verdict == verdict && res_measure_decides(cell, (res_measure)m))
            return (res_measure)m;
    }
    return RES_MEASURE_COUNT;
}

static bool is_open(const res_compared *cell)
{
    return deciding(cell, RES_UNEVEN) != RES_MEASURE_COUNT ||
           deciding(cell, RES_UNDECIDED) != RES_MEASURE_COUNT;
}

res_headline res_compared_headline(const res_versus *versus, const res_compared *cell)
{
    for (int little = 0; little < 2; little++)
        for (int faster = 0; faster < 2; faster++) {
            const res_verdict verdict = faster ? RES_FASTER : RES_SLOWER;
            const res_measure m = find(versus, cell, verdict, little);
            if (m != RES_MEASURE_COUNT)
                return (res_headline){verdict, m, little};
        }
    for (int v = RES_UNEVEN; v <= RES_UNDECIDED; v++) {
        const res_measure open = deciding(cell, (res_verdict)v);
        if (open != RES_MEASURE_COUNT)
            return (res_headline){(res_verdict)v, open, false};
    }
    return (res_headline){RES_EQUIVALENT, RES_MEASURE_WALL, false};
}

bool res_compared_decided(const res_versus *versus, const res_compared *cell)
{
    const res_headline head = res_compared_headline(versus, cell);
    return (head.verdict == RES_SLOWER && !head.little) ||
           (!is_open(cell) && !res_compared_open(versus, cell));
}

res_measure res_compared_open_in(const res_versus *versus, const res_compared *cell)
{
    for (int i = 0; i < RES_MEASURE_COUNT; i++) {
        const res_measure m = (res_measure)i;
        const res_comparison *c = res_compared_measure(cell, m);
        if (!c || !res_measure_decides(cell, m))
            continue;
        /* A difference that was found to be small may be one that counts. */
        const double least = 1 + res_measure_threshold(versus, m);
        if (c->verdict == RES_UNEVEN ||
            ((c->verdict == RES_UNDECIDED ||
              (c->verdict == RES_SLOWER && c->ratio.estimate <= least)) &&
             !(c->ratio.high < least)))
            return m;
    }
    return RES_MEASURE_COUNT;
}

bool res_compared_open(const res_versus *versus, const res_compared *cell)
{
    return res_compared_open_in(versus, cell) != RES_MEASURE_COUNT;
}
