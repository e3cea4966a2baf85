/*
 * fake_pjrt.c - a small PJRT plugin that misbehaves on request.
 *
 * For tests of errors, life cycles, donation and event order without a real
 * runtime. A program is StableHLO text of which only the signature of @main is
 * read; an execution gives zeros of the result types after a set delay, one
 * execution after the other, as a device would. Every object is counted, so a
 * test can ask for what was not given back (FakePjrtLive). Not thread-safe, and
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
 *   never_ready                         events of executions never fire
 *   hang abort                          an execution call never returns, or
 *                                       ends the process
 *   abort_at_end                        destroying the client ends the process
 *   delay_us=N                          time an execution takes
 *   collect_at_once                     the first call to collect a profile
 *                                       hands out the bytes
 */
#include "tests/support/fake/fake_object.h"
#include "tests/support/fake/fake_profiler.h"
#include "tests/support/fake/fake_signature.h"

#include <time.h>
#include <unistd.h>

static const uint64_t never = UINT64_MAX;

/* ---- objects ------------------------------------------------------------ */

struct PJRT_Event {
    uint64_t ready_at_ns;
    PJRT_Error_Code code; /* OK, or the error it fires with */
};

struct PJRT_Client {
    PJRT_Device *devices[8];
    size_t device_count;
};

struct PJRT_DeviceDescription {
    int id;
};

struct PJRT_Memory {
    int id;
};

struct PJRT_Device {
    PJRT_DeviceDescription description;
    PJRT_Memory memory;
    PJRT_Memory *memories[1];
    int64_t bytes_in_use, peak_bytes;
};

struct PJRT_Executable {
    char *text;
    value_type *arguments, *results;
    size_t argument_count, result_count;
    PJRT_NamedValue costs[3];
};

struct PJRT_LoadedExecutable {
    PJRT_Executable *program;
    PJRT_Device *device;
};

struct PJRT_Buffer {
    value_type type;
    void *data; /* NULL once donated or deleted */
    PJRT_Device *device;
    PJRT_Event ready;
};

struct PJRT_TopologyDescription {
    PJRT_DeviceDescription descriptions[8], *list[8];
    size_t count;
};

struct PJRT_SerializedExecutable {
    char *bytes;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- errors ------------------------------------------------------------- */

static void fake_Error_Destroy(PJRT_Error_Destroy_Args *args)
{
    object_free(args->error);
}

static void fake_Error_Message(PJRT_Error_Message_Args *args)
{
    args->message = args->error->message;
    args->message_size = strlen(args->error->message);
}

static PJRT_Error *fake_Error_GetCode(PJRT_Error_GetCode_Args *args)
{
    args->code = args->error->code;
    return NULL;
}

/* ---- events ------------------------------------------------------------- */

static PJRT_Event *event_new(uint64_t ready_at_ns, PJRT_Error_Code code)
{
    PJRT_Event *event = object_new(sizeof *event);
    event->ready_at_ns = ready_at_ns;
    event->code = code;
    return event;
}

static PJRT_Error *event_error(const PJRT_Event *event)
{
    return event->code == PJRT_Error_Code_OK
               ? NULL
               : error_new(event->code, "the fake device failed while it executed");
}

static void wait_until(uint64_t ready_at_ns)
{
    for (uint64_t now = now_ns(); now < ready_at_ns; now = now_ns()) {
        uint64_t left = ready_at_ns - now;
        struct timespec nap = {0, (long)(left < 1000000 ? left : 1000000)};
        nanosleep(&nap, NULL);
    }
}

static PJRT_Error *fake_Event_Destroy(PJRT_Event_Destroy_Args *args)
{
    object_free(args->event);
    return NULL;
}

static PJRT_Error *fake_Event_IsReady(PJRT_Event_IsReady_Args *args)
{
    args->is_ready = now_ns() >= args->event->ready_at_ns;
    return NULL;
}

static PJRT_Error *fake_Event_Await(PJRT_Event_Await_Args *args)
{
    wait_until(args->event->ready_at_ns);
    return event_error(args->event);
}

/* ---- plugin, client, devices -------------------------------------------- */

static PJRT_Error *fake_Plugin_Initialize(PJRT_Plugin_Initialize_Args *args)
{
    (void)args;
    return error_if("init_error", "the fake plugin does not want to start.");
}

#define NAMED(text, kind, size)                                                                    \
    .struct_size = PJRT_NamedValue_STRUCT_SIZE, .name = text, .name_size = sizeof text - 1,        \
    .type = PJRT_NamedValue_##kind, .value_size = size

static PJRT_Error *fake_Plugin_Attributes(PJRT_Plugin_Attributes_Args *args)
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

static PJRT_Error *fake_Client_Create(PJRT_Client_Create_Args *args)
{
    PJRT_Error *error = error_if("client_error", "the fake client is not available");
    int64_t devices = 1;
    for (size_t i = 0; !error && i < args->num_options; i++) {
        const PJRT_NamedValue *option = &args->create_options[i];
        if (strncmp(option->name, "devices", option->name_size) == 0 &&
            option->type == PJRT_NamedValue_kInt64)
            devices = option->int64_value;
        else
            error = error_new(PJRT_Error_Code_INVALID_ARGUMENT, "unknown client option");
    }
    if (error)
        return error;
    PJRT_Client *client = object_new(sizeof *client);
    client->device_count = devices >= 0 && devices <= 8 ? (size_t)devices : 8;
    for (size_t i = 0; i < client->device_count; i++) {
        PJRT_Device *device = object_new(sizeof *device);
        device->description.id = (int)(10 + i); /* numbers are not indices */
        device->memories[0] = &device->memory;
        client->devices[i] = device;
    }
    args->client = client;
    return NULL;
}

static PJRT_Error *fake_Client_Destroy(PJRT_Client_Destroy_Args *args)
{
    if (ordered("abort_at_end"))
        abort();
    for (size_t i = 0; i < args->client->device_count; i++)
        object_free(args->client->devices[i]);
    object_free(args->client);
    return NULL;
}

static PJRT_Error *fake_Client_PlatformName(PJRT_Client_PlatformName_Args *args)
{
    args->platform_name = "fakery"; /* longer than its size tells */
    args->platform_name_size = 4;
    return NULL;
}

static PJRT_Error *fake_Client_PlatformVersion(PJRT_Client_PlatformVersion_Args *args)
{
    args->platform_version = "fake 1";
    args->platform_version_size = 6;
    return NULL;
}

static PJRT_Error *fake_Client_AddressableDevices(PJRT_Client_AddressableDevices_Args *args)
{
    args->addressable_devices = args->client->devices;
    args->num_addressable_devices = args->client->device_count;
    return NULL;
}

static PJRT_Error *fake_Device_GetDescription(PJRT_Device_GetDescription_Args *args)
{
    args->device_description = &args->device->description;
    return NULL;
}

static PJRT_Error *fake_DeviceDescription_Id(PJRT_DeviceDescription_Id_Args *args)
{
    args->id = args->device_description->id;
    return NULL;
}

static PJRT_Error *fake_DeviceDescription_Kind(PJRT_DeviceDescription_Kind_Args *args)
{
    args->device_kind = "fake device";
    args->device_kind_size = 11;
    return NULL;
}

static PJRT_Error *fake_Device_AddressableMemories(PJRT_Device_AddressableMemories_Args *args)
{
    args->memories = args->device->memories;
    args->num_memories = 1;
    return NULL;
}

static PJRT_Error *fake_Memory_Kind(PJRT_Memory_Kind_Args *args)
{
    args->kind = "device";
    args->kind_size = 6;
    return NULL;
}

static PJRT_Error *fake_Device_MemoryStats(PJRT_Device_MemoryStats_Args *args)
{
    args->bytes_in_use = args->device->bytes_in_use;
    args->peak_bytes_in_use = args->device->peak_bytes;
    args->peak_bytes_in_use_is_set = true;
    args->bytes_limit_is_set = false;
    return NULL;
}

/* ---- programs ----------------------------------------------------------- */

static void program_free(PJRT_Executable *program)
{
    free(program->text);
    free(program->arguments);
    free(program->results);
    object_free(program);
}

static PJRT_Error *program_new(const char *text, size_t size, PJRT_Executable **program)
{
    PJRT_Executable *made = object_new(sizeof *made);
    made->text = strndup(text, size);
    made->arguments = calloc(MAX_VALUES, sizeof *made->arguments);
    made->results = calloc(MAX_VALUES, sizeof *made->results);
    if (made->text && made->arguments && made->results &&
        signature_read(made->text, made->arguments, &made->argument_count, made->results,
                       &made->result_count)) {
        *program = made;
        return NULL;
    }
    program_free(made);
    return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                     "-:1:1: error: no function @main with types the fake reads\n  ^\n");
}

/* What a caller must not forget: real plugins abort on empty options. */
static PJRT_Error *compile_check(const PJRT_Program *program, size_t options_size)
{
    if (options_size == 0 || program->format_size != 4 || memcmp(program->format, "mlir", 4) != 0)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no options, or not mlir");
    return error_if("compile_error", "-:3:7: error: the fake compiler\n\trefuses\n");
}

static PJRT_Error *load(PJRT_Client *client, const char *text, size_t size,
                        PJRT_LoadedExecutable **executable)
{
    PJRT_Executable *program = NULL;
    PJRT_Error *error = program_new(text, size, &program);
    if (error)
        return error;
    *executable = object_new(sizeof **executable);
    (*executable)->program = program;
    (*executable)->device = client->devices[0];
    return NULL;
}

static PJRT_Error *fake_Client_Compile(PJRT_Client_Compile_Args *args)
{
    PJRT_Error *error = compile_check(args->program, args->compile_options_size);
    return error ? error
                 : load(args->client, args->program->code, args->program->code_size,
                        &args->executable);
}

static PJRT_Error *fake_Compile(PJRT_Compile_Args *args)
{
    PJRT_Error *error = compile_check(args->program, args->compile_options_size);
    return error ? error
                 : program_new(args->program->code, args->program->code_size, &args->executable);
}

static PJRT_Error *fake_Executable_Destroy(PJRT_Executable_Destroy_Args *args)
{
    program_free(args->executable);
    return NULL;
}

static PJRT_Error *fake_LoadedExecutable_Destroy(PJRT_LoadedExecutable_Destroy_Args *args)
{
    program_free(args->executable->program);
    object_free(args->executable);
    return NULL;
}

static PJRT_Error *
fake_LoadedExecutable_GetExecutable(PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    const char *text = args->loaded_executable->program->text;
    return program_new(text, strlen(text), &args->executable);
}

static PJRT_Error *fake_Executable_NumOutputs(PJRT_Executable_NumOutputs_Args *args)
{
    args->num_outputs = args->executable->result_count;
    return NULL;
}

static void serialized_free(PJRT_SerializedExecutable *serialized)
{
    free(serialized->bytes);
    object_free(serialized);
}

static const char stored_mark[] = "FAKE";
enum { MARK_SIZE = sizeof stored_mark - 1 };

static PJRT_Error *fake_Executable_Serialize(PJRT_Executable_Serialize_Args *args)
{
    PJRT_SerializedExecutable *serialized = object_new(sizeof *serialized);
    size_t size = MARK_SIZE + strlen(args->executable->text);
    serialized->bytes = malloc(size + 1);
    if (!serialized->bytes)
        abort();
    snprintf(serialized->bytes, size + 1, "%s%s", stored_mark, args->executable->text);
    args->serialized_bytes = serialized->bytes;
    args->serialized_bytes_size = size;
    args->serialized_executable = serialized;
    args->serialized_executable_deleter = serialized_free;
    return NULL;
}

static PJRT_Error *fake_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args *args)
{
    if (args->serialized_executable_size < MARK_SIZE ||
        memcmp(args->serialized_executable, stored_mark, MARK_SIZE) != 0)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "not an executable of the fake");
    return load(args->client, args->serialized_executable + MARK_SIZE,
                args->serialized_executable_size - MARK_SIZE, &args->loaded_executable);
}

static PJRT_Error *fake_Executable_Fingerprint(PJRT_Executable_Fingerprint_Args *args)
{
    static const char bytes[] = {0x00, 0x7f, 0x10};
    args->executable_fingerprint = bytes;
    args->executable_fingerprint_size = sizeof bytes;
    return NULL;
}

static PJRT_Error *fake_LoadedExecutable_Fingerprint(PJRT_LoadedExecutable_Fingerprint_Args *args)
{
    args->executable_fingerprint = "old-style";
    args->executable_fingerprint_size = 9;
    return NULL;
}

static PJRT_Error *fake_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *args)
{
    PJRT_Program *program = args->program;
    size_t size = strlen(args->executable->text);
    if (program->code)
        memcpy(program->code, args->executable->text, size);
    program->code_size = size;
    program->format = "mlirish"; /* again longer than its size */
    program->format_size = 4;
    return NULL;
}

static PJRT_Error *fake_Executable_GetCostAnalysis(PJRT_Executable_GetCostAnalysis_Args *args)
{
    PJRT_NamedValue costs[] = {
        {NAMED("flops", kFloat, 1), .float_value = 1000},
        {NAMED("bytes accessed", kFloat, 1), .float_value = __builtin_nanf("")},
        {NAMED("utilization", kFloat, 1), .float_value = 3}};
    memcpy(args->executable->costs, costs, sizeof costs);
    args->properties = args->executable->costs;
    args->num_properties = 3;
    return NULL;
}

static PJRT_Error *
fake_Executable_GetCompiledMemoryStats(PJRT_Executable_GetCompiledMemoryStats_Args *args)
{
    args->generated_code_size_in_bytes = 77;
    args->argument_size_in_bytes = args->output_size_in_bytes = 0;
    for (size_t i = 0; i < args->executable->argument_count; i++)
        args->argument_size_in_bytes += (int64_t)args->executable->arguments[i].bytes;
    for (size_t i = 0; i < args->executable->result_count; i++)
        args->output_size_in_bytes += (int64_t)args->executable->results[i].bytes;
    args->alias_size_in_bytes = args->temp_size_in_bytes = 0;
    return NULL; /* and no peak, as an older plugin would */
}

/* ---- buffers ------------------------------------------------------------ */

static void bytes_account(PJRT_Device *device, int64_t change)
{
    device->bytes_in_use += change;
    if (device->bytes_in_use > device->peak_bytes)
        device->peak_bytes = device->bytes_in_use;
}

/* DATA is taken over; NULL for fresh zeros. */
static PJRT_Buffer *buffer_new(const value_type *type, void *data, PJRT_Device *device)
{
    PJRT_Buffer *buffer = object_new(sizeof *buffer);
    buffer->type = *type;
    buffer->device = device;
    buffer->data = data ? data : calloc(1, type->bytes + 1);
    if (!buffer->data)
        abort();
    bytes_account(device, (int64_t)type->bytes);
    return buffer;
}

/* Takes the memory out of BUFFER; NULL when it is gone already. */
static void *buffer_take(PJRT_Buffer *buffer)
{
    void *data = buffer->data;
    if (data)
        bytes_account(buffer->device, -(int64_t)buffer->type.bytes);
    buffer->data = NULL;
    return data;
}

static PJRT_Error *fake_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    PJRT_Error *error = error_if("transfer_error", "the fake device takes no data");
    if (error)
        return error;
    value_type type = {.rank = args->num_dims, .alias = -1};
    if (args->num_dims > MAX_RANK)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "rank");
    for (size_t i = 0; i < args->num_dims; i++)
        type.dims[i] = args->dims[i];
    if (!element_set(&type, args->type, NULL))
        return error_new(PJRT_Error_Code_UNIMPLEMENTED, "element type");
    args->buffer = buffer_new(&type, NULL, args->device);
    memcpy(args->buffer->data, args->data, type.bytes);
    args->done_with_host_buffer = event_new(0, PJRT_Error_Code_OK);
    return NULL;
}

static PJRT_Error *fake_Buffer_Destroy(PJRT_Buffer_Destroy_Args *args)
{
    free(buffer_take(args->buffer));
    object_free(args->buffer);
    return NULL;
}

static PJRT_Error *fake_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args)
{
    args->is_deleted = args->buffer->data == NULL;
    return NULL;
}

static PJRT_Error *fake_Buffer_ElementType(PJRT_Buffer_ElementType_Args *args)
{
    args->type = args->buffer->type.type;
    return NULL;
}

static PJRT_Error *fake_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args)
{
    args->dims = args->buffer->type.dims;
    args->num_dims = args->buffer->type.rank;
    return NULL;
}

static PJRT_Error *fake_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args)
{
    const PJRT_Buffer *buffer = args->src;
    if (!buffer->data || args->dst_size < buffer->type.bytes)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no data, or no room for it");
    if (buffer->ready.ready_at_ns != never && buffer->type.bytes > 0)
        memcpy(args->dst, buffer->data, buffer->type.bytes);
    args->event = event_new(buffer->ready.ready_at_ns, buffer->ready.code);
    return NULL;
}

static PJRT_Error *fake_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args)
{
    if (!args->buffer->data)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "buffer has been deleted or donated");
    args->event = event_new(args->buffer->ready.ready_at_ns, args->buffer->ready.code);
    return NULL;
}

static PJRT_Error *fake_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args)
{
    args->buffer_pointer = (uintptr_t)args->buffer->data;
    return NULL;
}

/* ---- executions --------------------------------------------------------- */

/* The device does one thing after the other. */
static uint64_t device_free_at_ns;

static bool kept(const PJRT_ExecuteOptions *options, size_t argument)
{
    for (size_t i = 0; i < options->num_non_donatable_input_indices; i++) {
        if (options->non_donatable_input_indices[i] == (int64_t)argument)
            return true;
    }
    return false;
}

static PJRT_Error *arguments_check(const PJRT_Executable *program, PJRT_Buffer *const *arguments,
                                   size_t count)
{
    if (count != program->argument_count)
        return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "wrong number of arguments");
    for (size_t i = 0; i < count; i++) {
        if (!arguments[i]->data)
            return error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                             "an argument has been deleted or donated");
        if (arguments[i]->type.bytes != program->arguments[i].bytes)
            return error_new(PJRT_Error_Code_INVALID_ARGUMENT, "an argument has another size");
    }
    return NULL;
}

static PJRT_Error *execute_orders(void)
{
    if (ordered("abort"))
        abort();
    while (ordered("hang"))
        pause();
    if (ordered("oom"))
        return error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED, "out of memory allocating 123 bytes");
    return error_if("execute_error", "the fake device refuses to execute");
}

/* The point in time, and the error, at which an execution starting now is done. */
static PJRT_Event execution_schedule(void)
{
    uint64_t now = now_ns(), delay = order_number("delay_us", 0) * 1000;
    uint64_t start = device_free_at_ns > now ? device_free_at_ns : now;
    if (ordered("never_ready"))
        return (PJRT_Event){.ready_at_ns = never};
    device_free_at_ns = start + delay;
    profile_record(start, delay);
    return (PJRT_Event){.ready_at_ns = device_free_at_ns,
                        .code = ordered("event_error") ? ordered_code() : PJRT_Error_Code_OK};
}

static PJRT_Error *fake_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    const PJRT_Executable *program = args->executable->program;
    PJRT_Buffer *const *arguments = args->argument_lists[0];
    PJRT_Error *error = execute_orders();
    if (!error)
        error = arguments_check(program, arguments, args->num_args);
    if (error)
        return error;

    void *memory[MAX_VALUES] = {NULL}; /* of each result: donated, or NULL */
    for (size_t i = 0; i < args->num_args; i++) {
        int alias = program->arguments[i].alias;
        if (alias < 0 || (size_t)alias >= program->result_count || kept(args->options, i))
            continue;
        memory[alias] = buffer_take(arguments[i]);
        if (memory[alias])
            memset(memory[alias], 0, program->arguments[i].bytes);
    }
    PJRT_Event done = execution_schedule();
    for (size_t i = 0; i < program->result_count; i++) {
        PJRT_Buffer *result = buffer_new(&program->results[i], memory[i], args->executable->device);
        result->ready = done;
        args->output_lists[0][i] = result;
    }
    if (args->device_complete_events)
        args->device_complete_events[0] = event_new(done.ready_at_ns, done.code);
    return NULL;
}

/* ---- topology: "fake:N" has N devices ----------------------------------- */

static PJRT_Error *fake_TopologyDescription_Create(PJRT_TopologyDescription_Create_Args *args)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)args->topology_name_size, args->topology_name);
    unsigned count = 0;
    if (sscanf(name, "fake:%u", &count) != 1 || count == 0 || count > 8)
        return error_new(PJRT_Error_Code_NOT_FOUND, "no such topology");
    PJRT_TopologyDescription *topology = object_new(sizeof *topology);
    topology->count = count;
    for (size_t i = 0; i < count; i++)
        topology->list[i] = &topology->descriptions[i];
    args->topology = topology;
    return NULL;
}

static PJRT_Error *fake_TopologyDescription_Destroy(PJRT_TopologyDescription_Destroy_Args *args)
{
    object_free(args->topology);
    return NULL;
}

static PJRT_Error *
fake_TopologyDescription_PlatformName(PJRT_TopologyDescription_PlatformName_Args *args)
{
    args->platform_name = "fakery";
    args->platform_name_size = 4;
    return NULL;
}

static PJRT_Error *fake_TopologyDescription_GetDeviceDescriptions(
    PJRT_TopologyDescription_GetDeviceDescriptions_Args *args)
{
    args->descriptions = args->topology->list;
    args->num_descriptions = args->topology->count;
    return NULL;
}

/* ---- the table ---------------------------------------------------------- */

#define ENTRIES(X)                                                                                 \
    X(Error_Destroy)                                                                               \
    X(Error_Message)                                                                               \
    X(Error_GetCode)                                                                               \
    X(Plugin_Initialize)                                                                           \
    X(Plugin_Attributes)                                                                           \
    X(Event_Destroy)                                                                               \
    X(Event_IsReady)                                                                               \
    X(Event_Await)                                                                                 \
    X(Client_Create)                                                                               \
    X(Client_Destroy)                                                                              \
    X(Client_PlatformName)                                                                         \
    X(Client_PlatformVersion)                                                                      \
    X(Client_AddressableDevices)                                                                   \
    X(Client_Compile)                                                                              \
    X(Client_BufferFromHostBuffer)                                                                 \
    X(DeviceDescription_Id)                                                                        \
    X(DeviceDescription_Kind)                                                                      \
    X(Device_GetDescription)                                                                       \
    X(Device_AddressableMemories)                                                                  \
    X(Device_MemoryStats)                                                                          \
    X(Memory_Kind)                                                                                 \
    X(Executable_Destroy)                                                                          \
    X(Executable_NumOutputs)                                                                       \
    X(Executable_GetCostAnalysis)                                                                  \
    X(Executable_OptimizedProgram)                                                                 \
    X(Executable_Serialize)                                                                        \
    X(LoadedExecutable_Destroy)                                                                    \
    X(LoadedExecutable_GetExecutable)                                                              \
    X(LoadedExecutable_Execute)                                                                    \
    X(Executable_DeserializeAndLoad)                                                               \
    X(LoadedExecutable_Fingerprint)                                                                \
    X(Buffer_Destroy)                                                                              \
    X(Buffer_ElementType)                                                                          \
    X(Buffer_Dimensions)                                                                           \
    X(Buffer_IsDeleted)                                                                            \
    X(Buffer_ToHostBuffer)                                                                         \
    X(Buffer_ReadyEvent)                                                                           \
    X(Buffer_UnsafePointer)                                                                        \
    X(TopologyDescription_Create)                                                                  \
    X(TopologyDescription_Destroy)                                                                 \
    X(TopologyDescription_PlatformName)                                                            \
    X(TopologyDescription_GetDeviceDescriptions)                                                   \
    X(Compile)                                                                                     \
    X(Executable_Fingerprint)                                                                      \
    X(Executable_GetCompiledMemoryStats)

EXPORT const PJRT_Api *GetPjrtApi(void);
const PJRT_Api *GetPjrtApi(void)
{
    static PJRT_Api api;
    api = (PJRT_Api){
        .struct_size = PJRT_Api_STRUCT_SIZE,
        .pjrt_api_version = {.struct_size = PJRT_Api_Version_STRUCT_SIZE,
                             .major_version = PJRT_API_MAJOR + (ordered("wrong_major") ? 1 : 0),
                             .minor_version = PJRT_API_MINOR},
#define X(entry) .PJRT_##entry = fake_##entry,
        ENTRIES(X)
#undef X
    };
    if (!ordered("no_profiler"))
        api.extension_start = &first_extension;
    if (ordered("old_minor")) {
        /* The entries behind stay set: only the size says they do not exist. */
        api.struct_size = offsetof(PJRT_Api, PJRT_Executable_Fingerprint);
        api.pjrt_api_version.minor_version = 40;
    }
    return &api;
}
