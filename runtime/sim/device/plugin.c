/*
 * plugin.c - the plugin's table, and the entries that a simulated device has not.
 *
 * PJRT_SIM_API is read when the plugin is loaded, and makes the table one of another time.
 * "older" ends it before the newer entries: their pointers stay set, and only the size
 * says that they do not exist. "newer" has a larger table and a higher version than
 * today's header knows.
 */
#include "runtime/sim/device/entries.h"
#include "runtime/sim/device/error.h"
#include "runtime/sim/device/profiler.h"

#include <stdlib.h>
#include <string.h>

SIM_ENTRY(Plugin_Initialize)
{
    (void)args;
    const char *age = getenv("PJRT_SIM_API");
    if (age && *age && strcmp(age, "older") != 0 && strcmp(age, "newer") != 0)
        return sim_error(SIM_INVALID_ARGUMENT, "PJRT_SIM_API=%s: wants older or newer", age);
    return NULL;
}

SIM_ENTRY(Plugin_Attributes)
{
    static const PJRT_NamedValue attributes[] = {
        {SIM_NAMED("simulated", kBool, 1), .bool_value = true},
        {SIM_NAMED("maker", kString, 5), .string_value = "bench"},
    };
    args->attributes = attributes;
    args->num_attributes = sizeof attributes / sizeof *attributes;
    return NULL;
}

/* Clients call some entries without a look at the table. So each is there, and those that no
 * simulated device has say so by name. */
#define X(entry, why)                                                                              \
    SIM_ENTRY(entry)                                                                               \
    {                                                                                              \
        (void)args;                                                                                \
        return sim_error(SIM_UNIMPLEMENTED, "a simulated device has no PJRT_" #entry ": " why);    \
    }
SIM_MISSING(X)
#undef X

__attribute__((visibility("default"))) const PJRT_Api *GetPjrtApi(void);

const PJRT_Api *GetPjrtApi(void)
{
    /* Room behind the table, for "newer": entries that nobody knows yet. */
    static struct {
        PJRT_Api api;
        void *unknown[32];
    } table;
    const char *age = getenv("PJRT_SIM_API");
    table.api = (PJRT_Api){.struct_size = PJRT_Api_STRUCT_SIZE,
                           .extension_start = sim_profiler_extension,
                           .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                                                .major_version = PJRT_API_MAJOR,
                                                .minor_version = PJRT_API_MINOR},
                           .PJRT_Error_Destroy = sim_Error_Destroy,
                           .PJRT_Error_Message = sim_Error_Message,
#define X(entry) .PJRT_##entry = sim_##entry,
                           SIM_ENTRIES(X)
#undef X
#define X(entry, why) .PJRT_##entry = sim_##entry,
                               SIM_MISSING(X)
#undef X
    };
    if (age && strcmp(age, "older") == 0) {
        table.api.struct_size = offsetof(PJRT_Api, PJRT_Executable_OutputElementTypes);
        table.api.pjrt_api_version.minor_version = 30;
    } else if (age && strcmp(age, "newer") == 0) {
        table.api.struct_size = sizeof table;
        table.api.pjrt_api_version.minor_version += 50;
    }
    return &table.api;
}
