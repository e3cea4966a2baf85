/*
 * attribute.c - what a difference between two runtimes is due to.
 *
 * Did both run the same program? The text's digest says what was asked for, the digest of the
 * optimized program what the compiler made of it. Where both agree, the difference comes from the
 * execution or from the device.
 *
 * Where did the time go? Each part of the ledger, device time and overhead are compared over the
 * pairs of processes that count, by the median of each process. Medians of parts need not add up
 * to that of the step.
 */
#include "results/findings/findings.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05
/* A place is named when it holds at least so much of the step's difference. */
#define MOST  0.5

/* ---- quantities ------------------------------------------------------------------- */

const char *res_quantity_name(res_quantity quantity)
{
    static const char *const names[] = {
#define X(upper, lower, text) #lower,
        RES_QUANTITIES(X)
#undef X
    };
    return names[quantity];
}

typedef double execution_value(const res_execution *x);

static double device_of(const res_execution *x)
{
    return x->device_source == BN_DEVICE_TIME_UNAVAILABLE ? (double)NAN
                                                          : x->per_step * x->device_ns;
}

static double overhead_of(const res_execution *x)
{
    return x->per_step * res_execution_overhead(x).estimate;
}

static double pjrt_of(const res_execution *x)
{
    return x->per_step * res_execution_pjrt_ns(x);
}

static double lower_of(const res_execution *x)
{
    return (double)x->lower_ns;
}

static double compile_of(const res_execution *x)
{
    return x->from_disk ? (double)NAN : (double)x->compile_ns;
}

static double amount(int64_t value)
{
    return value < 0 ? (double)NAN : (double)value;
}

static double instructions_of(const res_execution *x)
{
    return amount(x->optimized_instructions);
}

static double arguments_of(const res_execution *x)
{
    return amount(x->argument_bytes);
}

static double results_of(const res_execution *x)
{
    return amount(x->result_bytes);
}

static double temp_of(const res_execution *x)
{
    return amount(x->temp_bytes);
}

static double peak_of(const res_execution *x)
{
    return amount(x->peak_bytes);
}

static double code_of(const res_execution *x)
{
    return amount(x->code_bytes);
}

/* Sums VALUE over a record's executions, or takes the largest; NaN as soon as one is unknown. */
static double over_executions(const res_record *r, execution_value *value, bool largest,
                              bool steady)
{
    double all = r->execution_count > 0 ? 0 : (double)NAN;
    for (size_t i = 0; i < r->execution_count; i++) {
        const res_execution *x = &r->executions[i];
        if (steady && x->per_step == 0)
            continue;
        const double one = value(x);
        all = isnan(one) || isnan(all) ? (double)NAN : largest ? fmax(all, one) : all + one;
    }
    return all;
}

double res_quantity_of(const res_record *r, res_quantity quantity)
{
    static const struct {
        execution_value *value;
        bool largest, steady; /* STEADY: only executions of a steady step */
    } ways[RES_QUANTITY_COUNT] = {
        [RES_QUANTITY_DEVICE] = {device_of, false, true},
        [RES_QUANTITY_OVERHEAD] = {overhead_of, false, true},
        [RES_QUANTITY_PJRT] = {pjrt_of, false, true},
        [RES_QUANTITY_LOWER] = {lower_of, false, false},
        [RES_QUANTITY_COMPILE] = {compile_of, false, false},
        [RES_QUANTITY_INSTRUCTIONS] = {instructions_of, false, false},
        [RES_QUANTITY_ARGUMENT_BYTES] = {arguments_of, true, false},
        [RES_QUANTITY_RESULT_BYTES] = {results_of, true, false},
        [RES_QUANTITY_TEMP_BYTES] = {temp_of, true, false},
        [RES_QUANTITY_PEAK_BYTES] = {peak_of, true, false},
        [RES_QUANTITY_CODE_BYTES] = {code_of, false, false},
    };
    if (quantity == RES_QUANTITY_WALL)
        return res_quantile(r->wall_ns, r->step_count, 0.5);
    if (quantity == RES_QUANTITY_HOST_BYTES) {
        const json_t *memory = json_object_get(r->provenance, "memory");
        const json_t *peak = json_object_get(memory, "peak_rss_bytes");
        return json_is_integer(peak) ? amount(json_integer_value(peak)) : (double)NAN;
    }
    return over_executions(r, ways[quantity].value, ways[quantity].largest, ways[quantity].steady);
}

/* ---- differences -------------------------------------------------------------------- */

/* VALUES are those of A, then those of B. One unknown value makes all unknown. */
static res_difference difference_of(double (*values)[RES_MOST_PAIRS], size_t count)
{
    const double nan = (double)NAN;
    double d[RES_MOST_PAIRS];
    res_difference out = {nan, nan, {nan, nan, nan}, 1, false};
    for (size_t i = 0; i < count; i++) {
        d[i] = values[1][i] - values[0][i];
        if (!isfinite(d[i]))
            return out;
    }
    if (count == 0)
        return out;
    out.difference = res_mean_difference(d, count, &out.p);
    out.moved = out.p <= LEVEL / (BN_PART_COUNT + RES_QUANTITY_COUNT);
    /* Means, as the difference is: the columns of a table add up. */
    out.a = gsl_stats_mean(values[0], 1, count);
    out.b = gsl_stats_mean(values[1], 1, count);
    return out;
}

static bn_code part_medians(const res_record *r, double medians[BN_PART_COUNT], bn_status *st)
{
    uint64_t *series = calloc(r->step_count + 1, sizeof *series);
    if (!series)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu steps", r->step_count);
    for (int p = 0; p < BN_PART_COUNT; p++) {
        const bn_part part = (bn_part)p;
        res_part_series(r, &part, 1, series);
        medians[p] = res_quantile(series, r->step_count, 0.5);
    }
    free(series);
    return BN_OK;
}

static bn_code compare_parts(const res_record *const *a, const res_record *const *b,
                             const size_t *kept, size_t count, res_attribution *out, bn_status *st)
{
    double(*medians)[BN_PART_COUNT] = calloc(2 * RES_MOST_PAIRS, sizeof *medians);
    bn_code code = medians ? BN_OK : bn_fail(st, BN_OUT_OF_MEMORY, "no memory for medians");
    for (size_t i = 0; code == BN_OK && i < count; i++) {
        code = part_medians(a[kept[i]], medians[i], st);
        if (code == BN_OK)
            code = part_medians(b[kept[i]], medians[RES_MOST_PAIRS + i], st);
    }
    for (int p = 0; code == BN_OK && p < BN_PART_COUNT; p++) {
        double values[2][RES_MOST_PAIRS];
        for (size_t i = 0; i < count; i++) {
            values[0][i] = medians[i][p];
            values[1][i] = medians[RES_MOST_PAIRS + i][p];
        }
        out->part[p] = difference_of(values, count);
    }
    free(medians);
    return code;
}

/* ---- programs ------------------------------------------------------------------------- */

const char *res_program_name(res_program program)
{
    static const char *const names[] = {"same", "compiled otherwise", "another text", "varies",
                                        "not told"};
    return names[program];
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
    bool any = false, told = true, alike = true, figures = true;
    for (size_t i = 0, j = 0;; any = true) {
        const res_execution *x = steady_from(a, &i), *y = steady_from(b, &j);
        if (!x && !y)
            break;
        if (!x || !y || !same_request(x, y))
            return RES_PROGRAM_TEXT;
        told = told && x->optimized[0] && y->optimized[0];
        alike = alike && strcmp(x->optimized, y->optimized) == 0;
        figures = figures && same_figures(x, y);
    }
    if (told && any)
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

/* The programs of the pairs that are KEPT. */
static res_program compare_programs(const res_record *const *a, const res_record *const *b,
                                    const size_t *kept, size_t count)
{
    const res_record *of_a[RES_MOST_PAIRS] = {NULL}, *of_b[RES_MOST_PAIRS] = {NULL};
    for (size_t i = 0; i < count; i++) {
        of_a[i] = a[kept[i]];
        of_b[i] = b[kept[i]];
    }
    return res_compare_programs(of_a, count, of_b, count);
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

/* How much of the difference WHOLE lies in PART; 0 where PART did not move. It is taken from
 * medians, which a pair that was disturbed does not change. */
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

bn_code res_attribute(const res_record *const *a, const res_record *const *b, const size_t *kept,
                      size_t count, res_attribution *out, bn_status *st)
{
    *out = (res_attribution){.program = compare_programs(a, b, kept, count)};
    bn_code code = compare_parts(a, b, kept, count, out, st);
    for (int q = 0; code == BN_OK && q < RES_QUANTITY_COUNT; q++) {
        double values[2][RES_MOST_PAIRS];
        for (size_t i = 0; i < count; i++) {
            values[0][i] = res_quantity_of(a[kept[i]], (res_quantity)q);
            values[1][i] = res_quantity_of(b[kept[i]], (res_quantity)q);
        }
        out->quantity[q] = difference_of(values, count);
    }
    if (code == BN_OK)
        find_place(out);
    return code;
}
