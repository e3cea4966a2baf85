/*
 * fields.c - the members of an execution, one row each: files and JSON read and write
 * them by these rows, so a new member is one row. Those of an experiment are axes.def's.
 */
#include "results/records/records_priv.h"

#include <string.h>

#define FIELD(type, member, kind)                                                                  \
    {                                                                                              \
#member, kind, offsetof(type, member), sizeof(((type *)0)->member), false                  \
    }

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
