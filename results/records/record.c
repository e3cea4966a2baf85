/*
 * record.c - life of a record in memory, its id, and the few sums that both
 * JSON and tables need.
 */
#include "results/records/records_priv.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool res_name_char_ok(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

void res_host_name(char host[RES_HOST_TEXT])
{
    char name[256] = "";
    if (gethostname(name, sizeof name - 1) != 0 || name[0] == '\0')
        strcpy(name, "host");
    size_t length = 0;
    for (; length + 1 < RES_HOST_TEXT && name[length] != '\0'; length++) {
        /* A dash would blur where the host ends and the process begins. */
        bool plain = res_name_char_ok(name[length]) && name[length] != '-';
        host[length] = plain ? name[length] : '_';
    }
    host[length] = '\0';
}

/* Wall clock in nanoseconds, never the same twice in one process and never
 * backwards, even where the system's clock is set back or coarse. */
static uint64_t unique_time_ns(void)
{
    static _Atomic uint64_t last_ns;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    uint64_t seen = atomic_load(&last_ns);
    uint64_t mine;
    do {
        mine = now_ns > seen ? now_ns : seen + 1;
    } while (!atomic_compare_exchange_weak(&last_ns, &seen, mine));
    return mine;
}

/* "20250131T235959.123456789Z-host-pid-counter": sorts by time as plain text. */
static void make_id(char id[RES_TEXT])
{
    static atomic_uint counter;
    uint64_t time_ns = unique_time_ns();
    time_t seconds = (time_t)(time_ns / 1000000000u);
    struct tm utc;
    char stamp[24] = "";
    char host[RES_HOST_TEXT];

    gmtime_r(&seconds, &utc);
    strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%S", &utc);
    res_host_name(host);
    snprintf(id, RES_TEXT, "%.15s.%09uZ-%s-%u-%u", stamp, (unsigned)(time_ns % 1000000000u), host,
             (unsigned)getpid(), atomic_fetch_add(&counter, 1) % 1000000u);
}

res_record *res_record_new(void)
{
    res_record *record = calloc(1, sizeof *record);
    if (!record)
        return NULL;
    record->provenance = json_object();
    if (!record->provenance) {
        free(record);
        return NULL;
    }
    record->loss = (double)NAN;
    strcpy(record->values, "computed");
    make_id(record->id);
    return record;
}

static void free_executions(res_record *record)
{
    for (size_t i = 0; i < record->execution_count; i++)
        free(record->executions[i].pjrt_ns);
    free(record->executions);
    record->executions = NULL;
    record->execution_count = 0;
}

void res_record_free(res_record *record)
{
    if (!record)
        return;
    free_executions(record);
    free(record->wall_ns);
    free(record->part_ns);
    free(record->warmup_wall_ns);
    json_decref(record->provenance);
    free(record);
}

/* calloc that gives a block for a count of zero too. */
static uint64_t *samples_new(size_t count, size_t width)
{
    if (count > SIZE_MAX / sizeof(uint64_t) / width)
        return NULL;
    return calloc(count > 0 ? count * width : 1, sizeof(uint64_t));
}

bn_code res_record_reserve_steps(res_record *record, size_t steps, size_t warmups, bn_status *st)
{
    uint64_t *wall = samples_new(steps, 1);
    uint64_t *part = samples_new(steps, BN_PART_COUNT);
    uint64_t *warmup = samples_new(warmups, 1);
    if (!wall || !part || !warmup) {
        free(wall);
        free(part);
        free(warmup);
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for samples of %zu steps", steps);
    }
    free(record->wall_ns);
    free(record->part_ns);
    free(record->warmup_wall_ns);
    record->wall_ns = wall;
    record->part_ns = part;
    record->warmup_wall_ns = warmup;
    record->step_count = steps;
    record->warmup_count = warmups;
    return BN_OK;
}

bn_code res_record_reserve_executions(res_record *record, size_t executions, bn_status *st)
{
    res_execution *rows = calloc(executions > 0 ? executions : 1, sizeof *rows);
    if (!rows)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu executions", executions);
    for (size_t i = 0; i < executions; i++) {
        res_execution *row = &rows[i];
        row->device_ns = row->device_low_ns = row->device_high_ns = (double)NAN;
        row->overhead_ns = row->overhead_low_ns = row->overhead_high_ns = (double)NAN;
        row->argument_bytes = row->result_bytes = row->temp_bytes = row->code_bytes = -1;
        row->peak_bytes = row->optimized_bytes = row->optimized_instructions = -1;
        row->compiler_flops = row->compiler_bytes = (double)NAN;
    }
    free_executions(record);
    record->executions = rows;
    record->execution_count = executions;
    return BN_OK;
}

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

double res_execution_pjrt_ns(const res_execution *execution)
{
    return res_quantile(execution->pjrt_ns, execution->pjrt_count, 0.5);
}

res_interval res_execution_overhead(const res_execution *execution)
{
    res_interval overhead = {(double)NAN, (double)NAN, (double)NAN};
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
