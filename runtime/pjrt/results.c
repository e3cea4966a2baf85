/*
 * results.c - what a program gives: types and shapes of its results, and the memory that each lies
 * in.
 *
 * A plugin reports all shapes as one list of dimensions, and of each result how many of them are
 * its own. Source: PJRT_Executable_Output* in pjrt_c_api.h.
 */
#include "runtime/pjrt/pjrt_priv.h"

#include <stdlib.h>
#include <string.h>

static bn_code misfit(const char *what, bn_status *st)
{
    return bn_fail(st, BN_PLUGIN, "the plugin reports %s of the results that do not fit each other",
                   what);
}

/* Types and dimensions. */
static bn_code read_types(const rt_executable *executable, rt_result *list, bn_status *st)
{
    const size_t count = executable->result_count;
    PJRT_Executable_OutputElementTypes_Args types =
        RT_ARGS(PJRT_Executable_OutputElementTypes, .executable = executable->handle);
    PJRT_Executable_OutputDimensions_Args dims =
        RT_ARGS(PJRT_Executable_OutputDimensions, .executable = executable->handle);
    bn_code code =
        RT_CALL(executable->plugin, PJRT_Executable_OutputElementTypes, &types, RT_STAGE_OTHER, st);
    if (code == BN_OK)
        code = RT_CALL(executable->plugin, PJRT_Executable_OutputDimensions, &dims, RT_STAGE_OTHER,
                       st);
    if (code != BN_OK)
        return code;
    if (types.num_output_types != count || dims.num_outputs != count)
        return misfit("numbers", st);
    const int64_t *next = dims.dims;
    for (size_t i = 0; i < count; i++) {
        rt_result *r = &list[i];
        r->dtype = bn_dtype_numbered((int64_t)types.output_types[i], false, RT_DTYPE_COUNT);
        r->rank = dims.dim_sizes[i];
        if (r->rank > RT_MAX_RANK)
            return misfit("ranks", st);
        r->bytes = r->dtype == RT_DTYPE_COUNT ? -1 : (int64_t)bn_dtype_bytes(r->dtype);
        for (size_t d = 0; d < r->rank; d++) {
            r->dims[d] = *next++;
            if (r->dims[d] < 0)
                return misfit("dimensions", st);
            if (r->bytes >= 0 && __builtin_mul_overflow(r->bytes, r->dims[d], &r->bytes))
                return misfit("sizes", st);
        }
    }
    return BN_OK;
}

/* Which memory; a plugin need not report it. */
static void read_memories(const rt_executable *executable, rt_result *list)
{
    const size_t count = executable->result_count, most = sizeof list->memory - 1;
    PJRT_Executable_OutputMemoryKinds_Args kinds =
        RT_ARGS(PJRT_Executable_OutputMemoryKinds, .executable = executable->handle);
    if (RT_CALL(executable->plugin, PJRT_Executable_OutputMemoryKinds, &kinds, RT_STAGE_OTHER,
                NULL) != BN_OK ||
        kinds.num_outputs != count)
        return;
    for (size_t i = 0; i < count; i++) {
        const size_t size = kinds.memory_kind_sizes[i] < most ? kinds.memory_kind_sizes[i] : most;
        if (size > 0)
            memcpy(list[i].memory, kinds.memory_kinds[i], size);
    }
}

bn_code rt_executable_results(const rt_executable *executable, rt_result **list, bn_status *st)
{
    rt_result *read = calloc(executable->result_count + 1, sizeof *read);
    if (!read)
        return bn_fail(st, BN_OUT_OF_MEMORY, "no memory for %zu results", executable->result_count);
    bn_code code = read_types(executable, read, st);
    if (code != BN_OK) {
        free(read);
        return code;
    }
    read_memories(executable, read);
    *list = read;
    return BN_OK;
}
