/*
 * measures.c - the figures of one record: sums of the ledger's parts, PJRT time, device time and
 * overhead of executions, and what a table says of a step.
 */
#include "results/records/records_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const res_interval no_interval = {(double)NAN, (double)NAN, (double)NAN};

bool res_record_good(const res_record *record)
{
    return record->status == BN_OK && record->step_count > 0;
}

/* ---- the ledger ------------------------------------------------------------------ */

void res_part_series(const res_record *record, const bn_part *parts, size_t part_count,
                     uint64_t *series)
{
    for (size_t step = 0; step < record->step_count; step++) {
        series[step] = 0;
        for (size_t i = 0; i < part_count; i++)
            series[step] += record->part_ns[step * BN_PART_COUNT + parts[i]];
    }
}

bool res_has_ledger(const res_record *record)
{
    for (size_t i = 0; i < record->step_count * BN_PART_COUNT; i++)
        if (i % BN_PART_COUNT != BN_PART_OTHER && record->part_ns[i] > 0)
            return true;
    return false;
}

static double trace_ns(const res_record *record)
{
    static const bn_part parts[] = {BN_PART_TRACE, BN_PART_HASH, BN_PART_LOOKUP};
    if (!res_has_ledger(record))
        return (double)NAN;
    uint64_t *series = calloc(record->step_count, sizeof *series);
    if (!series)
        return (double)NAN;
    res_part_series(record, parts, 3, series);
    double median = res_quantile(series, record->step_count, 0.5);
    free(series);
    return median;
}

/* ---- executions -------------------------------------------------------------------- */

double res_execution_pjrt_ns(const res_execution *execution)
{
    return res_quantile(execution->pjrt_ns, execution->pjrt_count, 0.5);
}

res_interval res_execution_overhead(const res_execution *execution)
{
    res_interval overhead = no_interval;
    if (execution->device_source == BN_DEVICE_TIME_UNAVAILABLE || !isfinite(execution->device_ns))
        return overhead;
    if (isfinite(execution->overhead_ns))
        return (res_interval){execution->overhead_ns, execution->overhead_low_ns,
                              execution->overhead_high_ns};
    /* Two independent estimates: their half-widths add in quadrature. */
    res_interval pjrt = res_median_interval(execution->pjrt_ns, execution->pjrt_count);
    double half = hypot((pjrt.high - pjrt.low) / 2,
                        (execution->device_high_ns - execution->device_low_ns) / 2);
    overhead.estimate = res_execution_pjrt_ns(execution) - execution->device_ns;
    overhead.low = overhead.estimate - half;
    overhead.high = overhead.estimate + half;
    return overhead;
}

static double executions_of(const res_record *record)
{
    double executions = 0;
    for (size_t i = 0; i < record->execution_count; i++)
        executions += record->executions[i].per_step;
    return executions;
}

double res_step_device_ns(const res_record *record)
{
    double sum = executions_of(record) > 0 ? 0 : (double)NAN;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        bool known = execution->device_source != BN_DEVICE_TIME_UNAVAILABLE;
        sum += execution->per_step * (known ? execution->device_ns : (double)NAN);
    }
    return sum;
}

/* Mean over the EXECUTIONS of a step. It is NaN when one of them is unknown: a sum of some
 * executions would mislead. */
static res_interval mean_overhead(const res_record *record, double executions)
{
    double overhead_ns = 0, half_squared = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        res_interval overhead = res_execution_overhead(execution);
        double half = execution->per_step * (overhead.high - overhead.low) / 2;
        overhead_ns += execution->per_step * overhead.estimate;
        half_squared += half * half;
    }
    double n = executions > 0 ? executions : (double)NAN;
    double half = sqrt(half_squared) / n, mean = overhead_ns / n;
    return (res_interval){mean, mean - half, mean + half};
}

static double compile_ns(const res_record *record)
{
    double sum = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        if (!execution->from_disk)
            sum += (double)execution->lower_ns + (double)execution->compile_ns;
    }
    return sum;
}

static const char *source_of(const res_record *record)
{
    const char *source = NULL;
    for (size_t i = 0; i < record->execution_count; i++) {
        const char *other = bn_device_time_source_name(record->executions[i].device_source);
        source = !source || strcmp(source, other) == 0 ? other : "mixed";
    }
    return source ? source : bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE);
}

/* ---- all of them --------------------------------------------------------------------- */

res_measures res_record_measures(const res_record *record)
{
    res_measures m = {.nodes_per_step = (double)NAN,
                      .trace_ns = (double)NAN,
                      .overhead = no_interval,
                      .device_ns = (double)NAN,
                      .executions = (double)NAN,
                      .compile_ns = (double)NAN,
                      .source = bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE),
                      .wall = no_interval};
    if (!res_record_good(record))
        return m;
    m.executions = executions_of(record);
    m.overhead = mean_overhead(record, m.executions);
    m.device_ns = res_step_device_ns(record);
    m.source = source_of(record);
    m.trace_ns = trace_ns(record);
    /* Imported records count no nodes and compile nothing. */
    if (record->execution_count > 0) {
        m.nodes_per_step =
            (double)record->step_counters[BN_COUNTER_NODES_TRACED] / (double)record->step_count;
        m.compile_ns = compile_ns(record);
    }
    m.wall = res_median_interval(record->wall_ns, record->step_count);
    return m;
}
