/*
 * fake_pjrt.c - a small PJRT plugin that misbehaves on request: plugin, client, devices, and
 * the table of all entries.
 *
 * For tests of errors, life cycles, donation and event order without a real
 * runtime. A program is StableHLO text of which only the signature of @main is
 * read; an execution gives zeros of the result types after a set delay, one
 * execution after the other, as a device would. Every object is counted, so a
 * test can ask for what was not released (FakePjrtLive). Not thread-safe, and
 * without threads: an event is a point in time. Links to nothing of ours.
 * Source of the ABI: pjrt_c_api.h of openxla/xla.
 *
 * Steered by the environment variable FAKE_PJRT, a comma list, read at each
 * call (the marked ones when the plugin is loaded):
 *   wrong_major old_minor no_profiler   (load) another version, a short
 *                                       function table, no profiler
 *   init_error client_error compile_error execute_error event_error
 *   transfer_error profiler_error       that call, or event, fails ...
 *   code=N                              ... with this status code
 *   oom                                 an execution finds no memory
 *   device_oom device_oom_used          a compilation finds that the device has too little, and
 *                                       says it in either way
 *   device_oom_vmem                     the same of a kernel's own memory
 *   compile_hang compile_abort          a compilation never returns, or ends the process
 *   hlo                                 optimized programs are HLO modules with estimates
 *   strict                              an execution refuses structs that are shorter than
 *                                       this header's
 *   never_ready                         events of executions never fire
 *   hang abort                          an execution call never returns, or
 *                                       ends the process
 *   abort_at_end                        destroying the client ends the process
 *   steer                               making a client prints what steers a terminal
 *   delay_us=N                          time an execution takes
 *   collect_at_once                     the first call to collect a profile
 *                                       hands out the bytes
 *   collect_one_more                    and says one more than it wrote, as XLA's does
 *   collect_grows                       the second call says more than the first
 *   cpu                                 (load) its platform is a CPU, which takes foreign functions
 *   WHAT_at_MOMENT                      changes what all code of the process shares
 *                                       (fake_surroundings.c)
 */
#include "tests/support/fake/fake.h"

/* ---- plugin, client, devices -------------------------------------------- */

PJRT_Error *fake_Plugin_Initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return fake_error_if("init_error", "the fake plugin does not want to start.");
}

PJRT_Error *fake_Plugin_Attributes(PJRT_Plugin_Attributes_Args *args)
{
    static const int64_t version[] = {1, 2, 3};
    static const PJRT_NamedValue values[] = {
        {NAMED("maker", kString, 5), .string_value = "bench and more"},
        {NAMED("level", kInt64, 1), .int64_value = -7},
        {NAMED("stablehlo_current_version", kInt64List, 3), .int64_array_value = version},
        {NAMED("weight", kFloat, 1), .float_value = 0.5f},
        {NAMED("fake", kBool, 1), .bool_value = true},
    };
    args->attributes = values;
    args->num_attributes = sizeof values / sizeof values[0];
    return NULL;
}

PJRT_Error *fake_Client_Create(PJRT_Client_Create_Args *args)
{
    PJRT_Error *error = fake_error_if("client_error", "the fake client is not available");
    int64_t devices = 1;
    for (size_t i = 0; !error && i < args->num_options; i++) {
        const PJRT_NamedValue *option = &args->create_options[i];
        const char *count = fake_ordered("cpu") ? "cpu_device_count" : "devices";
        if (strncmp(option->name, count, option->name_size) == 0 &&
            option->type == PJRT_NamedValue_kInt64)
            devices = option->int64_value;
        else
            error = fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "unknown client option");
    }
    if (error)
        return error;
    if (fake_ordered("steer"))
        fputs("ev\x1b[31mi\x1b]0;l\x07\xc2\x9b"
              "31m\xe2\x80\xae\xe2\x80\x8b\xff\r\n",
              stderr);
    fake_change("client");
    PJRT_Client *client = fake_object_new(sizeof *client);
    client->device_count = devices >= 0 && devices <= 8 ? (size_t)devices : 8;
    for (size_t i = 0; i < client->device_count; i++) {
        PJRT_Device *device = fake_object_new(sizeof *device);
        device->description.id = (int)(10 + i); /* numbers are not indices */
        device->memories[0] = &device->memory;
        client->devices[i] = device;
    }
    args->client = client;
    return NULL;
}

PJRT_Error *fake_Client_Destroy(PJRT_Client_Destroy_Args *args)
{
    if (fake_ordered("abort_at_end"))
        abort();
    fake_change("destroy");
    for (size_t i = 0; i < args->client->device_count; i++)
        fake_object_free(args->client->devices[i]);
    fake_object_free(args->client);
    return NULL;
}

PJRT_Error *fake_Client_PlatformName(PJRT_Client_PlatformName_Args *args)
{
    if (fake_ordered("cpu")) {
        args->platform_name = "cpu";
        args->platform_name_size = 3;
        return NULL;
    }
    args->platform_name = "fakery"; /* longer than its size tells */
    args->platform_name_size = fake_order_number("lie_platform", 4);
    return NULL;
}

PJRT_Error *fake_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args)
{
    args->platform_version = "fake 1";
    args->platform_version_size = fake_order_number("lie_version", 6);
    return NULL;
}

PJRT_Error *fake_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args *args)
{
    args->addressable_devices = args->client->devices;
    args->num_addressable_devices = fake_order_number("lie_devices", args->client->device_count);
    return NULL;
}

PJRT_Error *fake_DeviceDescription_DebugString(PJRT_DeviceDescription_DebugString_Args *args)
{
    args->debug_string = "a device";
    args->debug_string_size = fake_order_number("lie_description", 8);
    return NULL;
}

PJRT_Error *fake_Device_GetDescription(PJRT_Device_GetDescription_Args *args)
{
    args->device_description = &args->device->description;
    return NULL;
}

PJRT_Error *fake_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args)
{
    args->id = args->device_description->id;
    return NULL;
}

PJRT_Error *fake_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args)
{
    args->device_kind = "fake device";
    args->device_kind_size = 11;
    return NULL;
}

PJRT_Error *fake_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args *args)
{
    args->memories = args->device->memories;
    args->num_memories = 1;
    return NULL;
}

PJRT_Error *fake_Memory_Kind(PJRT_Memory_Kind_Args *args)
{
    args->kind = "device";
    args->kind_size = 6;
    return NULL;
}

PJRT_Error *fake_Device_MemoryStats(PJRT_Device_MemoryStats_Args *args)
{
    args->bytes_in_use = args->device->bytes_in_use;
    args->peak_bytes_in_use = args->device->peak_bytes;
    args->peak_bytes_in_use_is_set = true;
    args->bytes_limit_is_set = false;
    return NULL;
}

/* ---- the table ---------------------------------------------------------- */

EXPORT const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
    static PJRT_Api api;
    fake_change("load");
    api = (PJRT_Api){.struct_size = PJRT_Api_STRUCT_SIZE,
                     .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                                          .major_version = PJRT_API_MAJOR +
                                                           (fake_ordered("wrong_major") ? 1 : 0),
                                          .minor_version = PJRT_API_MINOR},
                     .PJRT_Error_Destroy = fake_Error_Destroy,
                     .PJRT_Error_Message = fake_Error_Message,
#define X(entry) .PJRT_##entry = fake_##entry,
                     FAKE_ENTRIES(X)
#undef X
    };
    if (!fake_ordered("no_profiler"))
        api.extension_start = &fake_first_extension;
    if (fake_ordered("cpu"))
        api.extension_start = fake_ffi_extension(api.extension_start);
#define X(entry, order) api.PJRT_##entry = fake_ordered(order) ? fake_##entry : NULL;
    FAKE_LIARS(X)
#undef X
    if (fake_ordered("old_minor")) {
        /* The entries behind stay set: only the size says they do not exist. */
        api.struct_size = offsetof(PJRT_Api, PJRT_Executable_Fingerprint);
        api.pjrt_api_version.minor_version = 40;
    }
    return &api;
}
