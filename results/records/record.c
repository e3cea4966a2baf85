/*
 * record.c - life of a record in memory, and the members of an execution, one row each: files, JSON
 * and the wire write and read them by these rows, so a new member is one row. Those of an
 * experiment are axes.def's.
 */
#include "results/records/records_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

res_record *res_record_new(void)
{
    res_record *record = bn_zalloc(1, sizeof *record);
    record->provenance = json_object();
    res_experiment_old(&record->experiment);
    record->loss = (double)NAN;
    strcpy(record->values, "computed");
    res_id_make(record->id);
    return record;
}

static void free_executions(res_record *record)
{
    for (size_t i = 0; i < record->execution_count; i++) {
        free(record->executions[i].pjrt_ns);
        free(record->executions[i].probes);
    }
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
    free(record->rounds);
    json_decref(record->provenance);
    free(record);
}

/* Zeros; a block for a COUNT of zero, too. */
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

bn_code res_record_reserve_rounds(res_record *record, size_t rounds, bn_status *st)
{
    res_round *rows = calloc(rounds > 0 ? rounds : 1, sizeof *rows);
    if (!rows)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu rounds", rounds);
    free(record->rounds);
    record->rounds = rows;
    record->round_count = rounds;
    return BN_OK;
}

bn_code res_execution_reserve_probes(res_execution *execution, size_t probes, bn_status *st)
{
    res_probe *rows = calloc(probes > 0 ? probes : 1, sizeof *rows);
    if (!rows)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu probes", probes);
    free(execution->probes);
    execution->probes = rows;
    execution->probe_count = probes;
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
        row->host_temp_bytes = -1;
        row->compiler_flops = row->compiler_bytes = (double)NAN;
    }
    free_executions(record);
    record->executions = rows;
    record->execution_count = executions;
    return BN_OK;
}

/* ---- fields ------------------------------------------------------------------------ */

#define FIELD_OF(type, member, kind, later)                                                        \
    {                                                                                              \
#member, kind, offsetof(type, member), sizeof(((type *)0)->member), later                  \
    }
#define FIELD(type, member, kind)       FIELD_OF(type, member, kind, false)
#define FIELD_LATER(type, member, kind) FIELD_OF(type, member, kind, true)

const res_field res_execution_fields[] = {
    FIELD(res_execution, graph, RES_KIND_TEXT),
    FIELD(res_execution, per_step, RES_KIND_INT),
    FIELD(res_execution, device_ns, RES_KIND_REAL),
    FIELD(res_execution, device_low_ns, RES_KIND_REAL),
    FIELD(res_execution, device_high_ns, RES_KIND_REAL),
    FIELD(res_execution, overhead_ns, RES_KIND_REAL),
    FIELD(res_execution, overhead_low_ns, RES_KIND_REAL),
    FIELD(res_execution, overhead_high_ns, RES_KIND_REAL),
    {"device_time_source", RES_KIND_SOURCE, offsetof(res_execution, device_source),
     sizeof(bn_device_time_source), false},
    FIELD(res_execution, device_note, RES_KIND_TEXT),
    FIELD(res_execution, arguments, RES_KIND_INT),
    FIELD(res_execution, results, RES_KIND_INT),
    FIELD(res_execution, nodes, RES_KIND_I64),
    FIELD(res_execution, fingerprint, RES_KIND_TEXT),
    FIELD(res_execution, text_bytes, RES_KIND_I64),
    FIELD(res_execution, lower_ns, RES_KIND_U64),
    FIELD(res_execution, compile_ns, RES_KIND_U64),
    FIELD(res_execution, from_disk, RES_KIND_BOOL),
    FIELD(res_execution, flops, RES_KIND_REAL),
    FIELD(res_execution, bytes, RES_KIND_REAL),
    FIELD(res_execution, argument_bytes, RES_KIND_AMOUNT),
    FIELD(res_execution, result_bytes, RES_KIND_AMOUNT),
    FIELD(res_execution, temp_bytes, RES_KIND_AMOUNT),
    FIELD(res_execution, code_bytes, RES_KIND_AMOUNT),
    FIELD(res_execution, peak_bytes, RES_KIND_AMOUNT),
    FIELD(res_execution, compiler_flops, RES_KIND_REAL),
    FIELD(res_execution, compiler_bytes, RES_KIND_REAL),
    FIELD(res_execution, optimized, RES_KIND_TEXT),
    FIELD(res_execution, optimized_bytes, RES_KIND_AMOUNT),
    FIELD(res_execution, optimized_instructions, RES_KIND_AMOUNT),
    FIELD(res_execution, plugin_fingerprint, RES_KIND_TEXT),
    FIELD_LATER(res_execution, host_temp_bytes, RES_KIND_AMOUNT),
    FIELD_LATER(res_execution, offload_bytes, RES_KIND_I64),
    FIELD_LATER(res_execution, handed_on, RES_KIND_I64),
    FIELD_LATER(res_execution, rearranged, RES_KIND_I64),
    FIELD_LATER(res_execution, steps, RES_KIND_INT),
    {NULL, RES_KIND_TEXT, 0, 0, false},
};

bn_device_time_source res_source_from_name(const char *name)
{
    int source = 0;
    while (source < BN_DEVICE_TIME_SOURCE_COUNT &&
           strcmp(bn_device_time_source_name((bn_device_time_source)source), name) != 0)
        source++;
    return (bn_device_time_source)source;
}
