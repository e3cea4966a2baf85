/*
 * quantity.c - what is compared between processes of two sides: a value of each record.
 */
#include "results/findings/findings_priv.h"

#include <math.h>
#include <string.h>

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
                                                          : res_execution_times(x) * x->device_ns;
}

static double overhead_of(const res_execution *x)
{
    return res_execution_times(x) * res_execution_overhead(x).estimate;
}

static double pjrt_of(const res_execution *x)
{
    return res_execution_times(x) * res_execution_pjrt_ns(x);
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

/* The peak without pages of files. How many of a plugin's pages a process holds is up to the page
 * cache: of two copies of one file, 8 of 118 MB. Older records lack them. */
static double host_of(const res_record *r)
{
    const int64_t peak = res_provenance_integer(r, RES_PROV_MEMORY_PEAK, 0);
    const int64_t files = res_provenance_integer(r, RES_PROV_MEMORY_FILES, 0);
    const int64_t left = peak - (files > 0 ? files : 0);
    return left > 0 ? amount(left) : (double)NAN;
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
        return res_step_median(r, r->wall_ns);
    if (quantity == RES_QUANTITY_HOST_BYTES)
        return host_of(r);
    return over_executions(r, ways[quantity].value, ways[quantity].largest, ways[quantity].steady);
}

bool res_figures_alike(const res_figures *a, const res_figures *b)
{
    const char *event = bn_device_time_source_name(BN_DEVICE_TIME_EVENT);
    return (strcmp(a->source, event) == 0) == (strcmp(b->source, event) == 0);
}
