/*
 * executable.c - compiled programs: life, storage, figures, executions.
 *
 * A plugin has two objects for one program, the loaded executable that runs
 * and the executable that can be asked about; both live as long as ours.
 * Source: PJRT_LoadedExecutable_*, PJRT_Executable_* in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* BN_PLUGIN unless the executable has one replica of one partition on one device, which is all that
 * bench asks for. A number that the plugin does not report is not checked. */
static bn_code check_devices(const rt_executable *executable, bn_status *st)
{
    const rt_plugin *plugin = executable->plugin;
    PJRT_Executable_NumReplicas_Args replicas =
        RT_ARGS(PJRT_Executable_NumReplicas, .executable = executable->handle, .num_replicas = 1);
    PJRT_Executable_NumPartitions_Args partitions = RT_ARGS(
        PJRT_Executable_NumPartitions, .executable = executable->handle, .num_partitions = 1);
    PJRT_LoadedExecutable_AddressableDevices_Args devices =
        RT_ARGS(PJRT_LoadedExecutable_AddressableDevices, .executable = executable->loaded,
                .num_addressable_devices = 1);
    const bool has_replicas =
        RT_CALL(plugin, PJRT_Executable_NumReplicas, &replicas, RT_STAGE_OTHER, NULL) == BN_OK;
    const bool has_partitions =
        RT_CALL(plugin, PJRT_Executable_NumPartitions, &partitions, RT_STAGE_OTHER, NULL) == BN_OK;
    const bool has_devices =
        executable->loaded && RT_CALL(plugin, PJRT_LoadedExecutable_AddressableDevices, &devices,
                                      RT_STAGE_OTHER, NULL) == BN_OK;
    if ((has_replicas && replicas.num_replicas != 1) ||
        (has_partitions && partitions.num_partitions != 1) ||
        (has_devices && devices.num_addressable_devices != 1))
        return bn_fail(st, BN_PLUGIN,
                       "one replica of one partition on one device was asked for, and the plugin "
                       "compiled %zu of %zu on %zu",
                       has_replicas ? replicas.num_replicas : 1,
                       has_partitions ? partitions.num_partitions : 1,
                       has_devices ? devices.num_addressable_devices : 1);
    return BN_OK;
}

static bn_code executable_fill(rt_executable *executable, bn_status *st)
{
    const rt_plugin *plugin = executable->plugin;
    bn_code code = BN_OK;
    if (!executable->handle) {
        PJRT_LoadedExecutable_GetExecutable_Args get =
            RT_ARGS(PJRT_LoadedExecutable_GetExecutable, .loaded_executable = executable->loaded);
        code = RT_CALL(plugin, PJRT_LoadedExecutable_GetExecutable, &get, RT_STAGE_OTHER, st);
        if (code != BN_OK)
            return code;
        executable->handle = get.executable;
    }
    PJRT_Executable_NumOutputs_Args outputs =
        RT_ARGS(PJRT_Executable_NumOutputs, .executable = executable->handle);
    code = RT_CALL(plugin, PJRT_Executable_NumOutputs, &outputs, RT_STAGE_OTHER, st);
    executable->result_count = outputs.num_outputs;
    return code == BN_OK ? check_devices(executable, st) : code;
}

static void executable_close(rt_executable *executable)
{
    const rt_plugin *plugin = executable->plugin;
    bn_code code = BN_OK;
    if (executable->handle) {
        PJRT_Executable_Destroy_Args args =
            RT_ARGS(PJRT_Executable_Destroy, .executable = executable->handle);
        code = RT_CALL(plugin, PJRT_Executable_Destroy, &args, RT_STAGE_OTHER, NULL);
    }
    if (executable->loaded) {
        PJRT_LoadedExecutable_Destroy_Args args =
            RT_ARGS(PJRT_LoadedExecutable_Destroy, .executable = executable->loaded);
        bn_code second =
            RT_CALL(plugin, PJRT_LoadedExecutable_Destroy, &args, RT_STAGE_OTHER, NULL);
        code = code == BN_OK ? second : code;
    }
    if (code == BN_OK)
        rt_live_add(RT_LIVE_EXECUTABLE, -1);
}

bn_code rt_executable_wrap(rt_plugin *plugin, PJRT_LoadedExecutable *loaded,
                           PJRT_Executable *handle, rt_executable **executable, bn_status *st)
{
    rt_executable shell = {.plugin = plugin, .loaded = loaded, .handle = handle};
    rt_live_add(RT_LIVE_EXECUTABLE, 1);
    bn_code code = executable_fill(&shell, st);
    if (code != BN_OK) {
        executable_close(&shell);
        return code;
    }
    *executable = bn_alloc(sizeof shell);
    **executable = shell;
    return BN_OK;
}

void rt_executable_destroy(rt_executable *executable)
{
    if (!executable)
        return;
    executable_close(executable);
    free(executable);
}

size_t rt_executable_result_count(const rt_executable *executable)
{
    return executable->result_count;
}

/* ---- storage ----------------------------------------------------------- */

static bn_code bytes_copy(const void *from, size_t size, void **bytes, bn_status *st)
{
    *bytes = malloc(size + 1);
    if (!*bytes)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    if (size > 0)
        memcpy(*bytes, from, size);
    ((char *)*bytes)[size] = '\0';
    return BN_OK;
}

bn_code rt_executable_serialize(const rt_executable *executable, void **bytes, size_t *size,
                                bn_status *st)
{
    PJRT_Executable_Serialize_Args args =
        RT_ARGS(PJRT_Executable_Serialize, .executable = executable->handle);
    bn_code code =
        RT_CALL(executable->plugin, PJRT_Executable_Serialize, &args, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    code = bytes_copy(args.serialized_bytes, args.serialized_bytes_size, bytes, st);
    *size = args.serialized_bytes_size;
    if (args.serialized_executable_deleter)
        args.serialized_executable_deleter(args.serialized_executable);
    return code;
}

bn_code rt_executable_load(rt_client *client, const void *bytes, size_t size,
                           rt_executable **executable, bn_status *st)
{
    if (size == 0)
        return bn_fail(st, BN_INVALID, "a stored executable of no bytes");
    PJRT_Executable_DeserializeAndLoad_Args args =
        RT_ARGS(PJRT_Executable_DeserializeAndLoad, .client = client->handle,
                .serialized_executable = bytes, .serialized_executable_size = size);
    bn_code code =
        RT_CALL(client->plugin, PJRT_Executable_DeserializeAndLoad, &args, RT_STAGE_COMPILE, st);
    if (code != BN_OK) {
        bn_context(st, "loading a stored executable");
        return code;
    }
    return rt_executable_wrap(client->plugin, args.loaded_executable, NULL, executable, st);
}

/* ---- figures ----------------------------------------------------------- */

static void memory_describe(const rt_executable *executable, rt_executable_stats *stats)
{
    const rt_plugin *plugin = executable->plugin;
    /* Initially -1, unknown: a plugin of an older version does not write newer members. */
    PJRT_Executable_GetCompiledMemoryStats_Args args =
        RT_ARGS(PJRT_Executable_GetCompiledMemoryStats, .executable = executable->handle,
                .generated_code_size_in_bytes = -1, .argument_size_in_bytes = -1,
                .output_size_in_bytes = -1, .alias_size_in_bytes = -1, .temp_size_in_bytes = -1,
                .host_argument_size_in_bytes = -1, .host_output_size_in_bytes = -1,
                .host_temp_size_in_bytes = -1, .peak_memory_in_bytes = -1);
    if (RT_CALL(plugin, PJRT_Executable_GetCompiledMemoryStats, &args, RT_STAGE_OTHER, NULL) ==
        BN_OK) {
        stats->code_bytes = args.generated_code_size_in_bytes;
        stats->argument_bytes = args.argument_size_in_bytes;
        stats->result_bytes = args.output_size_in_bytes;
        stats->alias_bytes = args.alias_size_in_bytes;
        stats->temp_bytes = args.temp_size_in_bytes;
        stats->peak_bytes = args.peak_memory_in_bytes;
        stats->host_argument_bytes = args.host_argument_size_in_bytes;
        stats->host_result_bytes = args.host_output_size_in_bytes;
        stats->host_temp_bytes = args.host_temp_size_in_bytes;
    }
    /* 0 means that the plugin does not report the size of the code here. */
    if (stats->code_bytes > 0)
        return;
    stats->code_bytes = -1;
    PJRT_Executable_SizeOfGeneratedCodeInBytes_Args code =
        RT_ARGS(PJRT_Executable_SizeOfGeneratedCodeInBytes, .executable = executable->handle);
    if (RT_CALL(plugin, PJRT_Executable_SizeOfGeneratedCodeInBytes, &code, RT_STAGE_OTHER, NULL) ==
            BN_OK &&
        code.size_in_bytes > 0)
        stats->code_bytes = code.size_in_bytes;
}

static bool name_is(const PJRT_NamedValue *value, const char *name)
{
    return value->name_size == strlen(name) && memcmp(value->name, name, value->name_size) == 0;
}

static double value_real(const PJRT_NamedValue *value)
{
    double real = -1;
    if (value->type == PJRT_NamedValue_kFloat)
        real = (double)value->float_value;
    else if (value->type == PJRT_NamedValue_kInt64)
        real = (double)value->int64_value;
    return isfinite(real) ? real : -1;
}

static void cost_describe(const rt_executable *executable, rt_executable_stats *stats)
{
    PJRT_Executable_GetCostAnalysis_Args args =
        RT_ARGS(PJRT_Executable_GetCostAnalysis, .executable = executable->handle);
    if (RT_CALL(executable->plugin, PJRT_Executable_GetCostAnalysis, &args, RT_STAGE_OTHER, NULL) !=
        BN_OK)
        return;
    for (size_t i = 0; i < args.num_properties; i++) {
        const PJRT_NamedValue *value = &args.properties[i];
        if (name_is(value, "flops"))
            stats->flops = value_real(value);
        else if (name_is(value, "bytes accessed"))
            stats->bytes_accessed = value_real(value);
        else if (name_is(value, "optimal_seconds"))
            stats->optimal_seconds = value_real(value);
        else if (name_is(value, "simulated values"))
            stats->simulated_values = value_real(value);
        else if (name_is(value, "simulated opaque"))
            stats->simulated_opaque = value_real(value);
    }
}

void rt_executable_describe(const rt_executable *executable, rt_executable_stats *stats)
{
    *stats = (rt_executable_stats){
        .code_bytes = -1,
        .argument_bytes = -1,
        .result_bytes = -1,
        .alias_bytes = -1,
        .temp_bytes = -1,
        .peak_bytes = -1,
        .host_argument_bytes = -1,
        .host_result_bytes = -1,
        .host_temp_bytes = -1,
        .flops = -1,
        .bytes_accessed = -1,
        .optimal_seconds = -1,
        .simulated_values = -1,
        .simulated_opaque = -1,
    };
    memory_describe(executable, stats);
    cost_describe(executable, stats);
}

/* A fingerprint may be text or bytes; bytes are written as hex digits. */
static bn_code fingerprint_print(const char *bytes, size_t size, char **text, bn_status *st)
{
    if (size == 0 || !bytes)
        return bn_fail(st, BN_NOT_SUPPORTED, "the plugin gives an empty fingerprint");
    bool printable = true;
    for (size_t i = 0; i < size; i++)
        printable = printable && isgraph((unsigned char)bytes[i]);
    bn_text out = {0};
    for (size_t i = 0; i < size; i++) {
        if (printable)
            bn_text_putc(&out, bytes[i]);
        else
            bn_text_printf(&out, "%02x", (unsigned char)bytes[i]);
    }
    *text = out.data;
    return BN_OK;
}

bn_code rt_executable_fingerprint(const rt_executable *executable, char **text, bn_status *st)
{
    const rt_plugin *plugin = executable->plugin;
    PJRT_Executable_Fingerprint_Args args =
        RT_ARGS(PJRT_Executable_Fingerprint, .executable = executable->handle);
    bn_code code = RT_CALL(plugin, PJRT_Executable_Fingerprint, &args, RT_STAGE_OTHER, st);
    if (code == BN_OK)
        return fingerprint_print(args.executable_fingerprint, args.executable_fingerprint_size,
                                 text, st);
    if (code != BN_NOT_SUPPORTED || !executable->loaded)
        return code;
    /* Older plugins have it at the loaded executable. */
    PJRT_LoadedExecutable_Fingerprint_Args old =
        RT_ARGS(PJRT_LoadedExecutable_Fingerprint, .executable = executable->loaded);
    code = RT_CALL(plugin, PJRT_LoadedExecutable_Fingerprint, &old, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    return fingerprint_print(old.executable_fingerprint, old.executable_fingerprint_size, text, st);
}

bn_code rt_executable_optimized(const rt_executable *executable, char format[32], void **bytes,
                                size_t *size, bn_status *st)
{
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE};
    PJRT_Executable_OptimizedProgram_Args args = RT_ARGS(
        PJRT_Executable_OptimizedProgram, .executable = executable->handle, .program = &program);
    /* The first call returns the size, the second one the program. */
    bn_code code =
        RT_CALL(executable->plugin, PJRT_Executable_OptimizedProgram, &args, RT_STAGE_OTHER, st);
    if (code != BN_OK)
        return code;
    char *room = malloc(program.code_size + 1);
    if (!room)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for a program of %zu bytes",
                       program.code_size);
    program.code = room;
    code = RT_CALL(executable->plugin, PJRT_Executable_OptimizedProgram, &args, RT_STAGE_OTHER, st);
    if (code != BN_OK) {
        free(room);
        return code;
    }
    room[program.code_size] = '\0';
    size_t length = program.format_size < 31 ? program.format_size : 31;
    if (length > 0)
        memcpy(format, program.format, length);
    format[length] = '\0';
    *bytes = room;
    *size = program.code_size;
    return BN_OK;
}

/* ---- executions -------------------------------------------------------- */

bn_code rt_execute(rt_executable *executable, rt_buffer *const *arguments, size_t count,
                   const int64_t *keep, size_t keep_count, rt_buffer **results, rt_event **done,
                   bn_status *st)
{
    if (!executable->loaded)
        return bn_fail(st, BN_INVALID, "a program compiled for a topology cannot be executed");
    PJRT_ExecuteOptions options = {
        .struct_size = PJRT_ExecuteOptions_STRUCT_SIZE,
        .non_donatable_input_indices = keep,
        .num_non_donatable_input_indices = keep_count,
    };
    PJRT_Buffer *const *argument_lists[1] = {(PJRT_Buffer *const *)arguments};
    PJRT_Buffer **result_lists[1] = {(PJRT_Buffer **)results};
    PJRT_Event *events[1] = {NULL};
    PJRT_LoadedExecutable_Execute_Args args = RT_ARGS(
        PJRT_LoadedExecutable_Execute, .executable = executable->loaded, .options = &options,
        .argument_lists = argument_lists, .num_devices = 1, .num_args = count,
        .output_lists = result_lists, .device_complete_events = done ? events : NULL);
    bn_code code =
        RT_CALL(executable->plugin, PJRT_LoadedExecutable_Execute, &args, RT_STAGE_EXECUTE, st);
    if (code != BN_OK) {
        for (size_t i = 0; i < executable->result_count; i++)
            results[i] = NULL;
        return code;
    }
    rt_live_add(RT_LIVE_BUFFER, (int64_t)executable->result_count);
    if (done) {
        *done = (rt_event *)events[0];
        rt_live_add(RT_LIVE_EVENT, 1);
    }
    return BN_OK;
}
