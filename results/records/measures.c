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

bool res_computes_values(const res_record *record)
{
    return record->simulated && strcmp(record->values, "computed") == 0;
}

bool res_summary_good(const res_summary *summary)
{
    return summary->status == BN_OK && summary->steps > 0;
}

/* ---- memory on the host ----------------------------------------------------------- */

const char *res_offload_word(const res_record *record, int64_t *asked, int64_t *found)
{
    int64_t wanted = 0, there = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *x = &record->executions[i];
        if (x->offload_bytes == 0)
            continue;
        wanted += x->offload_bytes;
        there = there < 0 || x->host_temp_bytes < 0 ? -1 : there + x->host_temp_bytes;
    }
    if (asked)
        *asked = wanted;
    if (found)
        *found = there;
    return wanted == 0       ? ""
           : there < 0       ? "untold"
           : there == 0      ? "dropped"
           : there >= wanted ? "taken"
                             : "in part";
}

int64_t res_passed_in_layout(const res_record *record, int64_t *rearranged)
{
    int64_t handed_on = 0;
    *rearranged = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        handed_on += record->executions[i].handed_on;
        *rearranged += record->executions[i].rearranged;
    }
    return handed_on;
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

/* ---- steps and rounds ---------------------------------------------------------- */

size_t res_round_medians(const res_record *record, const uint64_t *series, double *medians)
{
    size_t step = 0;
    for (size_t i = 0; i < record->round_count; i++) {
        const size_t steps = (size_t)record->rounds[i].steps;
        medians[i] = res_quantile(series + step, steps, 0.5);
        step += steps;
    }
    return record->round_count;
}

void res_round_means(const res_record *record, double *means)
{
    size_t most = 0, step = 0;
    for (size_t i = 0; i < record->round_count; i++)
        most = record->rounds[i].steps > most ? (size_t)record->rounds[i].steps : most;
    double *room = bn_zalloc(most, sizeof *room);
    for (size_t i = 0; i < record->round_count; i++) {
        const size_t steps = (size_t)record->rounds[i].steps;
        for (size_t k = 0; k < steps; k++)
            room[k] = (double)record->wall_ns[step + k];
        means[i] = res_trimmed_mean(room, steps);
        step += steps;
    }
    free(room);
}

double res_step_median(const res_record *record, const uint64_t *series)
{
    if (record->round_count == 0)
        return res_quantile(series, record->step_count, 0.5);
    double *medians = bn_zalloc(record->round_count, sizeof *medians);
    size_t known = 0;
    const size_t rounds = res_round_medians(record, series, medians);
    for (size_t i = 0; i < rounds; i++)
        if (isfinite(medians[i]))
            medians[known++] = medians[i];
    const double middle = res_middle_mean(medians, known);
    free(medians);
    return middle;
}

double res_part_median(const res_record *record, const bn_part *parts, size_t part_count)
{
    uint64_t *series = bn_zalloc(record->step_count, sizeof *series);
    res_part_series(record, parts, part_count, series);
    const double median = res_step_median(record, series);
    free(series);
    return median;
}

static double trace_ns(const res_record *record)
{
    static const bn_part parts[] = {BN_PART_TRACE, BN_PART_HASH, BN_PART_LOOKUP};
    return res_has_ledger(record) ? res_part_median(record, parts, 3) : (double)NAN;
}

/* ---- executions -------------------------------------------------------------------- */

double res_execution_pjrt_ns(const res_execution *execution)
{
    return res_quantile(execution->pjrt_ns, execution->pjrt_count, 0.5);
}

res_interval res_execution_overhead(const res_execution *execution)
{
    if (execution->device_source == BN_DEVICE_TIME_UNAVAILABLE || !isfinite(execution->device_ns))
        return no_interval;
    if (isfinite(execution->overhead_ns))
        return (res_interval){execution->overhead_ns, execution->overhead_low_ns,
                              execution->overhead_high_ns};
    /* A recording takes both times from the same events, so their difference is no overhead. */
    if (execution->device_source == BN_DEVICE_TIME_EVENT)
        return no_interval;
    const double difference = res_execution_pjrt_ns(execution) - execution->device_ns;
    return (res_interval){difference, (double)NAN, (double)NAN};
}

double res_execution_times(const res_execution *execution)
{
    return (double)execution->per_step / (execution->steps > 1 ? execution->steps : 1);
}

json_t *res_execution_times_json(const res_execution *execution)
{
    const double times = res_execution_times(execution);
    return times == floor(times) ? json_integer((json_int_t)times) : json_real(times);
}

double res_steps_a_sample(const res_record *record)
{
    return res_is_looped(&record->experiment) ? record->experiment.steps_per_execution : 1;
}

static double executions_of(const res_record *record)
{
    double executions = 0;
    for (size_t i = 0; i < record->execution_count; i++)
        executions += res_execution_times(&record->executions[i]);
    return executions;
}

/* Programs that only the warm-up runs are no part of a step, so their times may be unknown. */
double res_step_device_ns(const res_record *record)
{
    double sum = executions_of(record) > 0 ? 0 : (double)NAN;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *execution = &record->executions[i];
        bool known = execution->device_source != BN_DEVICE_TIME_UNAVAILABLE;
        if (execution->per_step > 0)
            sum += res_execution_times(execution) * (known ? execution->device_ns : (double)NAN);
    }
    return sum;
}

/* Mean over the EXECUTIONS of a step; NaN when one of them is unknown, since a sum of some would
 * mislead. */
static double mean_overhead(const res_record *record, double executions)
{
    double overhead_ns = 0;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *x = &record->executions[i];
        if (x->per_step > 0)
            overhead_ns += res_execution_times(x) * res_execution_overhead(x).estimate;
    }
    return executions > 0 ? overhead_ns / executions : (double)NAN;
}

/* NaN as soon as a program came from disk, since a sum of the others would mislead. */
static double compile_ns(const res_record *record)
{
    double sum = record->execution_count > 0 ? 0 : (double)NAN;
    for (size_t i = 0; i < record->execution_count; i++) {
        const res_execution *x = &record->executions[i];
        sum += x->from_disk ? (double)NAN : (double)x->lower_ns + (double)x->compile_ns;
    }
    return sum;
}

static const char mixed[] = "mixed";

const char *res_measures_source(const char *name)
{
    const bn_device_time_source source = res_source_from_name(name);
    if (source != BN_DEVICE_TIME_SOURCE_COUNT)
        return bn_device_time_source_name(source);
    return strcmp(name, mixed) == 0 ? mixed : NULL;
}

static const char *source_of(const res_record *record)
{
    const char *source = NULL;
    for (size_t i = 0; i < record->execution_count; i++) {
        if (record->executions[i].per_step == 0)
            continue;
        const char *other = bn_device_time_source_name(record->executions[i].device_source);
        source = !source || strcmp(source, other) == 0 ? other : mixed;
    }
    return source ? source : bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE);
}

/* ---- all of them --------------------------------------------------------------------- */

res_measures res_record_measures(const res_record *record)
{
    res_measures m = {.nodes_per_step = (double)NAN,
                      .trace_ns = (double)NAN,
                      .overhead_ns = (double)NAN,
                      .device_ns = (double)NAN,
                      .executions = (double)NAN,
                      .compile_ns = (double)NAN,
                      .source = bn_device_time_source_name(BN_DEVICE_TIME_UNAVAILABLE),
                      .wall_ns = (double)NAN};
    if (!res_record_good(record))
        return m;
    m.executions = executions_of(record);
    m.overhead_ns = mean_overhead(record, m.executions);
    m.device_ns = res_step_device_ns(record);
    m.source = source_of(record);
    m.trace_ns = trace_ns(record);
    m.compile_ns = compile_ns(record);
    /* Imports and recordings count no nodes; a framework that bench ran may report them. */
    if (record->execution_count > 0 &&
        (res_is_ours(&record->experiment) ||
         !isnan(res_provenance_number(record, RES_PROV_FRONT_END_NODES))))
        m.nodes_per_step = res_counter_a_step(record, BN_COUNTER_NODES_TRACED);
    m.wall_ns = res_step_median(record, record->wall_ns);
    return m;
}

double res_counter_a_step(const res_record *record, bn_counter counter)
{
    const int64_t counted = record->step_counters[BN_COUNTER_STEPS];
    const double steps = counted > 0 ? (double)counted : (double)record->step_count;
    return steps > 0 ? (double)record->step_counters[counter] / steps : 0;
}
