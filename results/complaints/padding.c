/*
 * padding.c - what padding the dimension that changes to a few sizes would do.
 *
 * Two ways to pad: to the next power of two, and to as many of the sizes that came as that needs,
 * chosen so that least is added in all. The choice goes by sizes and how often they came, not by
 * times: those that looked fast by chance are not preferred. The change of the mean time is that of
 * the measured medians; between two measured sizes it is on the line between them, and beyond them
 * it is unknown. Its interval goes by the spread of single times, of all variants together.
 */
#include "results/complaints/complaints_priv.h"
#include "results/records/records.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL        0.05
/* Sizes of which the best few are looked for: the search takes the square of their number. */
#define MOST_SIZES   2048
/* Degrees of freedom of a spread that says something. */
#define LEAST_SPREAD 10
/* The variance of a median of normal values, in that of their mean. */
#define OF_MEDIAN    1.5708
/* Buckets that people are shown. */
#define MOST_SHOWN   8

/* ---- sizes ---------------------------------------------------------------------------------- */

static int64_t power_above(int64_t size)
{
    int64_t power = 1;
    while (power < size && power <= INT64_MAX / 2)
        power *= 2;
    return power;
}

/* The powers of two that V's sizes are padded to; the number of them, or of more than fit. */
static size_t list_powers(const rec_variants *v, int64_t *buckets)
{
    size_t count = 0;
    for (size_t i = 0; i < v->count; i++) {
        const int64_t power = power_above(v->list[i].value);
        if (count > 0 &&
            buckets[(count < REC_MOST_BUCKETS ? count : REC_MOST_BUCKETS) - 1] == power)
            continue;
        if (count < REC_MOST_BUCKETS)
            buckets[count] = power;
        count++;
    }
    return count;
}

/* What is added if sizes FROM..TO are all padded to the last of them. */
static double added(const double *counts, const double *sums, const rec_variants *v, size_t from,
                    size_t to)
{
    return (counts[to + 1] - counts[from]) * (double)v->list[to].value -
           (sums[to + 1] - sums[from]);
}

/* Fills BUCKETS with the WANTED sizes of V to which all are padded with least added. False without
 * memory. */
static bool choose_buckets(const rec_variants *v, size_t wanted, int64_t *buckets)
{
    const size_t n = v->count;
    double *counts = calloc(n + 1, sizeof *counts), *sums = calloc(n + 1, sizeof *sums);
    double *best = calloc(n * wanted, sizeof *best);   /* [bucket][size]: that is its last */
    uint32_t *from = calloc(n * wanted, sizeof *from); /* the first one of that bucket */
    const bool made = counts && sums && best && from;
    for (size_t i = 0; made && i < n; i++) {
        counts[i + 1] = counts[i] + v->list[i].executions;
        sums[i + 1] = sums[i] + v->list[i].executions * (double)v->list[i].value;
    }
    for (size_t i = 0; made && i < n; i++)
        best[i] = added(counts, sums, v, 0, i);
    for (size_t k = 1; made && k < wanted; k++)
        for (size_t i = k; i < n; i++) {
            best[k * n + i] = (double)INFINITY;
            for (size_t j = k; j <= i; j++) {
                const double sum = best[(k - 1) * n + j - 1] + added(counts, sums, v, j, i);
                if (sum < best[k * n + i]) {
                    best[k * n + i] = sum;
                    from[k * n + i] = (uint32_t)j;
                }
            }
        }
    for (size_t k = wanted, last = n - 1; made && k-- > 0;) {
        buckets[k] = v->list[last].value;
        last = from[k * n + last] ? from[k * n + last] - 1 : 0;
    }
    free(counts);
    free(sums);
    free(best);
    free(from);
    return made;
}

/* ---- times ---------------------------------------------------------------------------------- */

/* Adds SHARE of the time of SIZE to WEIGHTS, which V's measured times have. False: it is unknown.
 */
static bool add_time(const rec_variants *v, int64_t size, double share, double *weights)
{
    size_t below = v->count, above = v->count;
    for (size_t i = 0; i < v->count; i++) {
        if (!isfinite(v->list[i].time_ns))
            continue;
        if (v->list[i].value <= size)
            below = i;
        if (v->list[i].value >= size && above == v->count)
            above = i;
    }
    if (below == v->count || above == v->count)
        return false;
    const double width = (double)(v->list[above].value - v->list[below].value);
    const double part = width > 0 ? (double)(size - v->list[below].value) / width : 0;
    weights[below] += share * (1 - part);
    weights[above] += share * part;
    return true;
}

/* The variance of variant I's median time. */
static double variance_of(const rec_variants *v, size_t i)
{
    const double one = v->spread * v->list[i].time_ns, count = v->list[i].timed;
    return one * one / count * (count > 2 ? OF_MEDIAN : 1);
}

static int64_t bucket_of(const rec_padding *way, int64_t size)
{
    for (size_t k = 0; k < way->count; k++)
        if (way->buckets[k] >= size)
            return way->buckets[k];
    return size;
}

/* Fills the change of WAY, which has its buckets. WEIGHTS is for a value of each variant. */
static void fill_change(const rec_variants *v, double *weights, rec_padding *way)
{
    const double nan = (double)NAN;
    double all = 0, change = 0, variance = 0;
    bool known = true;
    way->change_ns = (res_interval){nan, nan, nan};
    for (size_t i = 0; i < v->count; i++) {
        all += v->list[i].executions;
        weights[i] = 0;
    }
    for (size_t i = 0; known && i < v->count; i++) {
        const double share = v->list[i].executions / all;
        known = add_time(v, bucket_of(way, v->list[i].value), share, weights) &&
                add_time(v, v->list[i].value, -share, weights);
    }
    if (!known)
        return;
    for (size_t i = 0; i < v->count; i++)
        if (weights[i] != 0) {
            change += weights[i] * v->list[i].time_ns;
            variance += weights[i] * weights[i] * variance_of(v, i);
        }
    way->change_ns.estimate = change;
    if (v->spread_of < LEAST_SPREAD || !isfinite(v->spread))
        return;
    const double half = gsl_cdf_tdist_Qinv(LEVEL / 2, v->spread_of) * sqrt(variance);
    way->change_ns.low = change - half;
    way->change_ns.high = change + half;
}

/* Compile time that WAY saves: of a bucket that was no size it is that of the mean variant. */
static double compile_saved(const rec_variants *v, const rec_padding *way)
{
    double all = 0, kept = 0;
    for (size_t i = 0; i < v->count; i++)
        all += (double)v->list[i].compile_ns;
    for (size_t k = 0; k < way->count; k++) {
        double own = all / (double)v->count;
        for (size_t i = 0; i < v->count; i++)
            if (v->list[i].value == way->buckets[k])
                own = (double)v->list[i].compile_ns;
        kept += own;
    }
    return all - kept;
}

bool rec_padding_find(const rec_variants *v, rec_padding ways[2], size_t *count)
{
    *count = 0;
    if (v->varying != REC_VARYING_DIMENSION || v->repeated > 0 || v->count > MOST_SIZES)
        return true;
    ways[0] = (rec_padding){.to = "powers-of-two"};
    ways[1] = (rec_padding){.to = "buckets"};
    const size_t powers = list_powers(v, ways[0].buckets);
    if (powers >= v->count)
        return true;
    double *weights = malloc((v->count + 1) * sizeof *weights);
    ways[0].count = powers;
    ways[1].count = powers < REC_MOST_BUCKETS ? powers : REC_MOST_BUCKETS;
    const bool made = weights && choose_buckets(v, ways[1].count, ways[1].buckets);
    if (made && powers > REC_MOST_BUCKETS)
        ways[0] = ways[1];
    *count = powers > REC_MOST_BUCKETS ? 1 : 2;
    for (size_t i = 0; made && i < *count; i++) {
        fill_change(v, weights, &ways[i]);
        ways[i].compile_saved_ns = compile_saved(v, &ways[i]);
    }
    free(weights);
    return made;
}

/* ---- the variants of a checkup ----------------------------------------------------------------
 */

/* The program that steps are of: where nothing says, the one that takes the device longest. */
static uint32_t main_program(const rec_steps *s)
{
    const rec_step_program *best = NULL;
    for (size_t i = 0; i < s->program_count; i++)
        if (!best || s->programs[i].device_step_ns > best->device_step_ns)
            best = &s->programs[i];
    return s->mark_program < s->process->program_count ? s->mark_program
           : best                                      ? best->program
                                                       : REC_NONE;
}

bool rec_shapes_find(const rec_steps *steps, rec_shapes *shapes)
{
    bn_status ignored = {.code = BN_OK};
    rec_requests requests;
    *shapes = (rec_shapes){.program = main_program(steps)};
    bool made = rec_requests_make(steps, &requests, &ignored) == BN_OK;
    if (made && shapes->program != REC_NONE)
        made = rec_variants_make(steps, shapes->program, requests.count ? &requests : NULL,
                                 &shapes->variants, &ignored) == BN_OK &&
               rec_padding_find(&shapes->variants, shapes->ways, &shapes->way_count);
    rec_requests_free(&requests);
    return made;
}

void rec_shapes_free(rec_shapes *shapes)
{
    if (shapes)
        rec_variants_free(&shapes->variants);
    free(shapes);
}

size_t rec_variants_late(const rec_steps *steps, const rec_variants *v)
{
    const rec_process *p = steps->process;
    bool *is_late = calloc(p->program_count + 1, sizeof *is_late);
    size_t count = 0;
    for (size_t i = steps->order_count / 2; is_late && i < steps->order_count; i++)
        is_late[p->executions[steps->order[i]].program] = true;
    for (size_t i = 0; is_late && i < v->count; i++)
        count += is_late[v->list[i].program];
    free(is_late);
    return count;
}

double rec_variants_cost(const rec_process *p, const rec_variants *v, uint64_t from_ns,
                         uint64_t to_ns, uint32_t *compiles)
{
    bool *is_variant = calloc(p->program_count + 1, sizeof *is_variant);
    uint64_t done = 0;
    double sum = 0;
    rec_walk at = {0};
    *compiles = 0;
    for (size_t i = 0; is_variant && i < v->count; i++)
        is_variant[v->list[i].program] = true;
    for (size_t i = 0; is_variant && i < p->call_count; i++) {
        const rec_call *call = &p->calls[i];
        if (call->kind != REC_CALL_COMPILE || call->failed || call->begin_ns < from_ns ||
            call->begin_ns >= to_ns || call->program >= p->program_count ||
            !is_variant[call->program])
            continue;
        ++*compiles;
        sum += rec_work_before(p, &at, call) + rec_ns_after(call, &done);
    }
    free(is_variant);
    return sum;
}

static double compile_ns(const rec_variants *v)
{
    double sum = 0;
    for (size_t i = 0; i < v->count; i++)
        sum += (double)v->list[i].compile_ns;
    return sum;
}

static uint32_t executions_of(const rec_variants *v)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < v->count; i++)
        sum += v->list[i].executions;
    return sum;
}

void rec_shapes_put(const rec_steps *steps, const rec_shapes *shapes, bn_text *out)
{
    const rec_variants *v = &shapes->variants;
    /* Of others the rule says already how they differ. */
    if (v->count < 2 || v->varying == REC_VARYING_CODE || v->varying == REC_VARYING_UNKNOWN)
        return;
    bn_text_puts(out, out->length ? "; " : "");
    const char *name = steps->process->programs[v->list[0].program].name;
    bn_text_printf(out, "%.*s has %zu variants, each executed %.3g times on average, compiled for ",
                   (int)rec_stem(name), name, v->count,
                   (double)executions_of(v) / (double)v->count);
    rec_time_put(out, compile_ns(v));
    bn_text_printf(out, "; argument %u is ", v->argument);
    rec_variant_put(steps, v, 0, out);
    bn_text_puts(out, " to ");
    rec_variant_put(steps, v, v->count - 1, out);
    if (v->varying == REC_VARYING_DIMENSION)
        bn_text_printf(out, ": dimension %u changes, from %lld to %lld", v->dimension,
                       (long long)v->list[0].value, (long long)v->list[v->count - 1].value);
    else if (v->varying == REC_VARYING_SEVERAL)
        bn_text_printf(out,
                       ", and more changes than dimension %u of it, in %u further argument%s: no "
                       "single dimension explains the variants",
                       v->dimension, v->others, v->others == 1 ? "" : "s");
}

/* ---- advice -----------------------------------------------------------------------------------
 */

static void put_sizes(const rec_padding *way, bn_text *out)
{
    bn_text_puts(out, " (");
    for (size_t k = 0; k < way->count && k < MOST_SHOWN; k++)
        bn_text_printf(out, "%s%lld", k ? ", " : "", (long long)way->buckets[k]);
    bn_text_puts(out, way->count > MOST_SHOWN ? ", ...)" : ")");
}

/* A change with its sign and interval. */
static void put_change(const rec_shapes *shapes, const rec_padding *way, bn_text *out)
{
    const double change = way->change_ns.estimate;
    const char *of = shapes->variants.of_requests ? "request" : "execution";
    if (!isfinite(change)) {
        bn_text_printf(out,
                       "; what it adds to the mean %s is unknown, since larger sizes were "
                       "not measured",
                       of);
        return;
    }
    const double sides[] = {change, way->change_ns.low, way->change_ns.high};
    bn_text_printf(out, "; the mean %s changes by ", of);
    for (int i = 0; i < (isfinite(sides[1]) ? 3 : 1); i++) {
        bn_text_puts(out, i == 1 ? " [" : i == 2 ? ", " : "");
        bn_text_putc(out, sides[i] < 0 ? '-' : '+');
        rec_time_put(out, fabs(sides[i]));
    }
    bn_text_puts(out, isfinite(sides[1]) ? "]" : "");
}

void rec_padding_put(const rec_shapes *shapes, bn_text *out)
{
    for (size_t i = 0; i < shapes->way_count; i++) {
        const rec_padding *way = &shapes->ways[i];
        bn_text_printf(out, "%s%zu %s", i ? " To " : " Padded to ", way->count,
                       strcmp(way->to, "buckets") == 0 ? "buckets of least padding"
                                                       : "powers of two");
        put_sizes(way, out);
        bn_text_printf(out, " it has %zu variants in place of %zu, and compiles ", way->count,
                       shapes->variants.count);
        rec_time_put(out, way->compile_saved_ns);
        bn_text_puts(out, " less");
        put_change(shapes, way, out);
        bn_text_putc(out, '.');
    }
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static json_t *ways_json(const rec_shapes *shapes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < shapes->way_count; i++) {
        const rec_padding *way = &shapes->ways[i];
        json_t *buckets = json_array();
        for (size_t k = 0; k < way->count; k++)
            json_array_append_new(buckets, json_integer(way->buckets[k]));
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "to", way->to, "buckets", buckets,
                            "compile_saved_ns", res_json_real(way->compile_saved_ns), "change_ns",
                            res_json_real(way->change_ns.estimate), "change_low_ns",
                            res_json_real(way->change_ns.low), "change_high_ns",
                            res_json_real(way->change_ns.high)));
    }
    return list;
}

static json_t *variants_json(const rec_steps *steps, const rec_variants *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->count; i++) {
        bn_text type = {0};
        rec_variant_put(steps, v, i, &type);
        json_array_append_new(
            list, json_pack("{s:s?, s:s, s:o, s:I, s:I, s:o}", "type", type.data, "hash",
                            steps->process->programs[v->list[i].program].hash, "value",
                            v->list[i].value < 0 ? json_null() : json_integer(v->list[i].value),
                            "executions", (json_int_t)v->list[i].executions, "compile_ns",
                            (json_int_t)v->list[i].compile_ns, "time_ns",
                            res_json_real(v->list[i].time_ns)));
        bn_text_free(&type);
    }
    return list;
}

static json_t *index_json(uint32_t index)
{
    return index == REC_NONE ? json_null() : json_integer(index);
}

json_t *rec_shapes_json(const rec_steps *steps, const rec_shapes *shapes)
{
    const rec_variants *v = &shapes->variants;
    if (v->count < 2)
        return json_null();
    const char *name = steps->process->programs[v->list[0].program].name;
    return json_pack(
        "{s:s%, s:s, s:o, s:o, s:I, s:I, s:o, s:o, s:s, s:o, s:o}", "program", name, rec_stem(name),
        "varies", rec_varying_name(v->varying), "argument", index_json(v->argument), "dimension",
        index_json(v->varying == REC_VARYING_TYPE ? REC_NONE : v->dimension), "following",
        (json_int_t)v->following, "repeated", (json_int_t)v->repeated, "least",
        v->list[0].value < 0 ? json_null() : json_integer(v->list[0].value), "most",
        v->list[0].value < 0 ? json_null() : json_integer(v->list[v->count - 1].value), "time_of",
        v->of_requests ? "request" : "execution", "variants", variants_json(steps, v), "padding",
        ways_json(shapes));
}
