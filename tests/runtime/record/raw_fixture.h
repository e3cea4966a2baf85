/*
 * raw_fixture.h - a recorded client through the plugin's own table, for what our own client never
 * asks for.
 */
#ifndef BENCH_TESTS_RECORD_RAW_FIXTURE_H
#define BENCH_TESTS_RECORD_RAW_FIXTURE_H

#include "tests/runtime/record/record_fixture.h"

/* Arguments of the call PJRT_NAME. */
#define ARGS(name, ...)                                                                            \
    (PJRT_##name##_Args)                                                                           \
    {                                                                                              \
        .struct_size = PJRT_##name##_Args_STRUCT_SIZE, __VA_ARGS__                                 \
    }

typedef const PJRT_Api *get_api(void);

static inline get_api *entry_of(const char *library, void **handle)
{
    get_api *get = NULL;
    *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *symbol = *handle ? dlsym(*handle, "GetPjrtApi") : NULL;
    memcpy(&get, &symbol, sizeof get);
    MUST(get);
    return get;
}

/* A raw client of the fake plugin, through API. */
typedef struct raw {
    const PJRT_Api *api;
    PJRT_Client *client;
    PJRT_Device *device;
    PJRT_LoadedExecutable *executable;
    PJRT_Buffer *argument;
} raw;

static inline PJRT_Buffer *raw_floats(const raw *r)
{
    static const float data[4] = {1, 2, 3, 4};
    static const int64_t dims[1] = {4};
    PJRT_Client_BufferFromHostBuffer_Args args = {
        .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
        .client = r->client,
        .data = data,
        .type = PJRT_Buffer_Type_F32,
        .dims = dims,
        .num_dims = 1,
        .device = r->device};
    MUST(!r->api->PJRT_Client_BufferFromHostBuffer(&args));
    PJRT_Event_Destroy_Args destroy = {.struct_size = PJRT_Event_Destroy_Args_STRUCT_SIZE,
                                       .event = args.done_with_host_buffer};
    MUST(!r->api->PJRT_Event_Destroy(&destroy));
    return args.buffer;
}

/* Waits for EVENT, and gives it back. */
static inline void raw_event_end(const raw *r, PJRT_Event *event)
{
    PJRT_Event_Await_Args await = ARGS(Event_Await, .event = event);
    MUST(!r->api->PJRT_Event_Await(&await));
    PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = event);
    MUST(!r->api->PJRT_Event_Destroy(&destroy));
}

/* Of BUFFER: for raw_event_end. */
static inline PJRT_Event *raw_ready(const raw *r, PJRT_Buffer *buffer)
{
    PJRT_Buffer_ReadyEvent_Args ready = ARGS(Buffer_ReadyEvent, .buffer = buffer);
    MUST(!r->api->PJRT_Buffer_ReadyEvent(&ready));
    return ready.event;
}

static inline void buffer_free(const raw *r, PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                     .buffer = buffer};
    MUST(!r->api->PJRT_Buffer_Destroy(&args));
}

static inline void raw_error_free(const raw *r, PJRT_Error *error)
{
    PJRT_Error_Destroy_Args args = {.struct_size = PJRT_Error_Destroy_Args_STRUCT_SIZE,
                                    .error = error};
    r->api->PJRT_Error_Destroy(&args);
}

static inline raw raw_new(const PJRT_Api *api)
{
    raw r = {.api = api};
    PJRT_Client_Create_Args create = {.struct_size = PJRT_Client_Create_Args_STRUCT_SIZE};
    MUST(!api->PJRT_Client_Create(&create));
    r.client = create.client;
    PJRT_Client_AddressableDevices_Args devices = {
        .struct_size = PJRT_Client_AddressableDevices_Args_STRUCT_SIZE, .client = r.client};
    MUST(!api->PJRT_Client_AddressableDevices(&devices));
    r.device = devices.addressable_devices[0];
    char code[] = "module @m {\n  func.func public @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {\n"
                  "    return %a : tensor<4xf32>\n  }\n}\n";
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = code,
                            .code_size = sizeof code - 1,
                            .format = "mlir",
                            .format_size = 4};
    static const char options[] = {0x1a, 4, 0x20, 1, 0x28, 1};
    PJRT_Client_Compile_Args compile = {.struct_size = PJRT_Client_Compile_Args_STRUCT_SIZE,
                                        .client = r.client,
                                        .program = &program,
                                        .compile_options = options,
                                        .compile_options_size = sizeof options};
    MUST(!api->PJRT_Client_Compile(&compile));
    r.executable = compile.executable;
    r.argument = raw_floats(&r);
    return r;
}

static inline void raw_free(raw *r)
{
    PJRT_Buffer_Destroy_Args buffer = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                       .buffer = r->argument};
    PJRT_LoadedExecutable_Destroy_Args executable = {
        .struct_size = PJRT_LoadedExecutable_Destroy_Args_STRUCT_SIZE, .executable = r->executable};
    PJRT_Client_Destroy_Args client = {.struct_size = PJRT_Client_Destroy_Args_STRUCT_SIZE,
                                       .client = r->client};
    MUST(!r->api->PJRT_Buffer_Destroy(&buffer));
    MUST(!r->api->PJRT_LoadedExecutable_Destroy(&executable));
    MUST(!r->api->PJRT_Client_Destroy(&client));
}

#endif
