/*
 * test_sim_clients.c - entries of the simulated runtime that other clients call and
 * bench does not, through the plugin's own table: copies between devices, layouts,
 * assignments, strided host data, figures that nobody cleared before.
 */
#include "tests/runtime/sim/device/sim_api_fixture.h"

static int teardown(void **state)
{
    (void)state;
    unsetenv("PJRT_SIM");
    assert_nothing_live();
    return 0;
}

/* Initialiser of the argument struct of ENTRY. */
#define ARGS(entry, ...)                                                                           \
    {                                                                                              \
        .struct_size = PJRT_##entry##_Args_STRUCT_SIZE, __VA_ARGS__                                \
    }

/* The code of ERROR, which is destroyed, and its message in TEXT (may be NULL). */
static int take(PJRT_Error *error, char text[600])
{
    if (!error)
        return 0;
    PJRT_Error_GetCode_Args code = ARGS(Error_GetCode, .error = error);
    PJRT_Error_Message_Args message = ARGS(Error_Message, .error = error);
    PJRT_Error_Destroy_Args destroy = ARGS(Error_Destroy, .error = error);
    assert_null(api->PJRT_Error_GetCode(&code));
    api->PJRT_Error_Message(&message);
    if (text)
        snprintf(text, 600, "%.*s", (int)message.message_size, message.message);
    api->PJRT_Error_Destroy(&destroy);
    return (int)code.code;
}

static PJRT_Client *raw_client(const char *settings)
{
    PJRT_Client_Create_Args args = ARGS(Client_Create, .client = NULL);
    setenv("PJRT_SIM", settings, 1);
    assert_null(api->PJRT_Client_Create(&args));
    return args.client;
}

static void raw_client_free(PJRT_Client *client)
{
    PJRT_Client_Destroy_Args args = ARGS(Client_Destroy, .client = client);
    assert_null(api->PJRT_Client_Destroy(&args));
}

static void raw_free(PJRT_Buffer *buffer)
{
    PJRT_Buffer_Destroy_Args args = ARGS(Buffer_Destroy, .buffer = buffer);
    assert_null(api->PJRT_Buffer_Destroy(&args));
}

static PJRT_Device *device_of(PJRT_Buffer *buffer)
{
    PJRT_Buffer_Device_Args args = ARGS(Buffer_Device, .buffer = buffer);
    assert_null(api->PJRT_Buffer_Device(&args));
    return args.device;
}

/* Waits until the buffer is there; the code of its error. */
static int await_buffer(PJRT_Buffer *buffer)
{
    PJRT_Buffer_ReadyEvent_Args ready = ARGS(Buffer_ReadyEvent, .buffer = buffer);
    assert_null(api->PJRT_Buffer_ReadyEvent(&ready));
    PJRT_Event_Await_Args await = ARGS(Event_Await, .event = ready.event);
    PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = ready.event);
    int code = take(api->PJRT_Event_Await(&await), NULL);
    assert_null(api->PJRT_Event_Destroy(&destroy));
    return code;
}

/* ---- copies ----------------------------------------------------------------------------- */

static PJRT_Buffer *copy_to(PJRT_Buffer *buffer, PJRT_Device *device)
{
    PJRT_Buffer_CopyToDevice_Args args =
        ARGS(Buffer_CopyToDevice, .buffer = buffer, .dst_device = device);
    assert_int_equal(take(api->PJRT_Buffer_CopyToDevice(&args), NULL), 0);
    assert_ptr_equal(device_of(args.dst_buffer), device);
    return args.dst_buffer;
}

static void a_copy_takes_two_transfers_and_has_the_values(void **state)
{
    (void)state;
    rt_client *client = sim_client("devices=2 transfer_us=20000");
    sim_adder first = sim_adder_on(client, 0), second = sim_adder_on(client, 1);
    bn_status st = {0};
    assert_ok(rt_buffer_await(client, first.arguments[1], &st), &st);
    PJRT_Device *device = device_of((PJRT_Buffer *)second.arguments[0]);
    uint64_t begin = bn_now_ns();
    PJRT_Buffer *copy = copy_to((PJRT_Buffer *)first.arguments[1], device);
    assert_int_equal(await_buffer(copy), 0);
    uint64_t took = bn_now_ns() - begin;
    assert_true(took >= 40000000);
    assert_true(sim_first(client, (rt_buffer *)copy, 4) == 2);
    raw_free(copy);
    sim_adder_drop(&first);
    sim_adder_free(&second);
}

/* A chain of products that takes the device's thread a while. */
#define SLOW                                                                                       \
    "module @slow {\n"                                                                             \
    "  func.func public @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {\n"                 \
    "    %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : "                       \
    "(tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>\n"                          \
    "    %1 = stablehlo.dot_general %0, %a, contracting_dims = [1] x [0] : "                       \
    "(tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>\n"                          \
    "    return %1 : tensor<256x256xf32>\n"                                                        \
    "  }\n"                                                                                        \
    "}\n"
#define TWICE                                                                                      \
    "module @twice {\n"                                                                            \
    "  func.func public @main(%a: tensor<256x256xf32>) -> tensor<256x256xf32> {\n"                 \
    "    %0 = stablehlo.add %a, %a : tensor<256x256xf32>\n"                                        \
    "    return %0 : tensor<256x256xf32>\n"                                                        \
    "  }\n"                                                                                        \
    "}\n"
enum { SIDE = 256 };

static rt_buffer *square(rt_client *client, float value)
{
    bn_status st = {0};
    const int64_t dims[2] = {SIDE, SIDE};
    rt_buffer *buffer = NULL;
    float *data = malloc(sizeof(float) * SIDE * SIDE);
    assert_non_null(data);
    for (int i = 0; i < SIDE * SIDE; i++)
        data[i] = value;
    assert_ok(rt_buffer_from_host(client, data, BN_F32, dims, 2, &buffer, &st), &st);
    free(data);
    return buffer;
}

/* The second device computes with a copy whose source the first still computes. */
static void what_is_still_computed_is_copied_in_its_turn(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("devices=2 evaluate_limit=1000000000");
    rt_executable *slow = sim_compile_on(client, SLOW, 0),
                  *twice = sim_compile_on(client, TWICE, 1);
    rt_buffer *ones = square(client, 1), *product = NULL, *sum = NULL;
    rt_client second = client_on(client, 1);
    rt_buffer *there = square(&second, 0);
    assert_ok(rt_execute(slow, &ones, 1, NULL, 0, &product, NULL, &st), &st);
    PJRT_Buffer *copy = copy_to((PJRT_Buffer *)product, device_of((PJRT_Buffer *)there));
    rt_buffer_release(client, product);
    rt_buffer *argument = (rt_buffer *)copy;
    assert_ok(rt_execute(twice, &argument, 1, NULL, 0, &sum, NULL, &st), &st);
    raw_free(copy);
    assert_true(sim_first(client, sum, SIDE * SIDE) == 2.0f * SIDE * SIDE);
    rt_buffer_release(client, sum);
    rt_buffer_release(client, there);
    rt_buffer_release(client, ones);
    rt_executable_destroy(slow);
    rt_executable_destroy(twice);
    rt_client_destroy(client);
}

static void an_error_of_the_source_is_the_copy_s(void **state)
{
    (void)state;
    bn_status st = {0};
    rt_client *client = sim_client("devices=2 faults=execute:1:event:13");
    sim_adder first = sim_adder_on(client, 0), second = sim_adder_on(client, 1);
    rt_buffer *result = NULL;
    rt_event *done = NULL;
    assert_ok(rt_execute(first.executable, first.arguments, 2, NULL, 0, &result, &done, &st), &st);
    PJRT_Buffer *copy =
        copy_to((PJRT_Buffer *)result, device_of((PJRT_Buffer *)second.arguments[0]));
    assert_int_equal(await_buffer(copy), 13);
    raw_free(copy);
    rt_buffer_release(client, result);
    rt_event_release(client, done);
    sim_adder_drop(&first);
    sim_adder_free(&second);
}

static void copies_that_cannot_be_are_refused(void **state)
{
    (void)state;
    char text[600];
    rt_client *client = sim_client("devices=2 memory_bytes=40 faults=transfer:5:fail:14");
    sim_adder first = sim_adder_on(client, 0), second = sim_adder_on(client, 1);
    PJRT_Buffer *source = (PJRT_Buffer *)first.arguments[0];
    PJRT_Device *device = device_of((PJRT_Buffer *)second.arguments[0]);
    PJRT_Buffer_CopyToDevice_Args args =
        ARGS(Buffer_CopyToDevice, .buffer = source, .dst_device = device);
    assert_int_equal(take(api->PJRT_Buffer_CopyToDevice(&args), text), 14);
    assert_non_null(strstr(text, "simulated fault"));
    assert_int_equal(take(api->PJRT_Buffer_CopyToDevice(&args), text), 8);
    assert_non_null(strstr(text, " 16 bytes"));
    args.dst_device = device_of(source);
    assert_int_equal(take(api->PJRT_Buffer_CopyToDevice(&args), text), 3);
    assert_non_null(strstr(text, "on device 0 already"));
    PJRT_Buffer_Delete_Args end = ARGS(Buffer_Delete, .buffer = source);
    assert_null(api->PJRT_Buffer_Delete(&end));
    args.dst_device = device;
    assert_int_equal(take(api->PJRT_Buffer_CopyToDevice(&args), text), 3);
    assert_non_null(strstr(text, "deleted"));
    sim_adder_drop(&first);
    sim_adder_free(&second);
}

/* ---- how bytes lie ---------------------------------------------------------------------- */

static void a_layout_is_row_major(void **state)
{
    (void)state;
    bn_status st = {0};
    const int64_t dims[3] = {2, 3, 4};
    const float data[24] = {0};
    rt_client *client = sim_client("");
    for (size_t rank = 0; rank <= 3; rank += 3) {
        rt_buffer *buffer = NULL;
        assert_ok(rt_buffer_from_host(client, data, BN_F32, dims, rank, &buffer, &st), &st);
        PJRT_Buffer_GetMemoryLayout_Args args =
            ARGS(Buffer_GetMemoryLayout, .buffer = (PJRT_Buffer *)buffer);
        assert_null(api->PJRT_Buffer_GetMemoryLayout(&args));
        assert_int_equal(args.layout.type, PJRT_Buffer_MemoryLayout_Type_Tiled);
        assert_int_equal(args.layout.tiled.minor_to_major_size, rank);
        assert_int_equal(args.layout.tiled.num_tiles, 0);
        for (size_t i = 0; i < rank; i++)
            assert_int_equal(args.layout.tiled.minor_to_major[i], rank - 1 - i);
        rt_buffer_release(client, buffer);
    }
    rt_client_destroy(client);
}

static void host_data_may_have_strides(void **state)
{
    (void)state;
    static const int16_t data[6] = {0, 1, 2, 3, 4, 5};
    static const struct {
        size_t begin;
        int64_t dims[2], strides[2];
        int16_t want[6];
    } rows[] = {
        {0, {2, 3}, {6, 2}, {0, 1, 2, 3, 4, 5}},   {0, {3, 2}, {2, 6}, {0, 3, 1, 4, 2, 5}},
        {5, {2, 3}, {-6, -2}, {5, 4, 3, 2, 1, 0}}, {1, {2, 3}, {6, 0}, {1, 1, 1, 4, 4, 4}},
        {0, {1, 3}, {77, 4}, {0, 2, 4}},
    };
    PJRT_Client *client = raw_client("preset=ideal");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PJRT_Client_BufferFromHostBuffer_Args args =
            ARGS(Client_BufferFromHostBuffer, .client = client, .data = data + rows[i].begin,
                 .type = PJRT_Buffer_Type_S16, .dims = rows[i].dims, .num_dims = 2,
                 .byte_strides = rows[i].strides, .num_byte_strides = 2);
        int16_t got[6] = {0};
        assert_null(api->PJRT_Client_BufferFromHostBuffer(&args));
        PJRT_Buffer_ToHostBuffer_Args back =
            ARGS(Buffer_ToHostBuffer, .src = args.buffer, .dst = got, .dst_size = sizeof got);
        assert_null(api->PJRT_Buffer_ToHostBuffer(&back));
        PJRT_Event *events[2] = {args.done_with_host_buffer, back.event};
        for (int e = 0; e < 2; e++) {
            PJRT_Event_Await_Args await = ARGS(Event_Await, .event = events[e]);
            PJRT_Event_Destroy_Args destroy = ARGS(Event_Destroy, .event = events[e]);
            assert_null(api->PJRT_Event_Await(&await));
            assert_null(api->PJRT_Event_Destroy(&destroy));
        }
        assert_memory_equal(got, rows[i].want, sizeof got);
        raw_free(args.buffer);
        args.num_byte_strides = 1;
        assert_int_equal(take(api->PJRT_Client_BufferFromHostBuffer(&args), NULL), 3);
    }
    raw_client_free(client);
}

/* ---- executables ------------------------------------------------------------------------ */

static PJRT_Error *compile(PJRT_Client *client, const char *options, size_t size,
                           PJRT_LoadedExecutable **loaded)
{
    char text[] = SIM_ADD("add");
    PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                            .code = text,
                            .code_size = sizeof text - 1,
                            .format = "mlir",
                            .format_size = 4};
    PJRT_Client_Compile_Args args = ARGS(Client_Compile, .client = client, .program = &program,
                                         .compile_options = options, .compile_options_size = size);
    PJRT_Error *error = api->PJRT_Client_Compile(&args);
    *loaded = args.executable;
    return error;
}

/* Build options with an assignment of one computation to device 2. */
static const char on_device_2[] = {3 << 3 | 2, 6, 9 << 3 | 2, 4, 3 << 3 | 2, 2, 1 << 3, 2};

static const char no_wishes[] = {3 << 3 | 2, 0};

static void an_executable_reports_its_device(void **state)
{
    (void)state;
    static const char want[] = {1 << 3, 1, 2 << 3, 1, 3 << 3 | 2, 2, 1 << 3, 2};
    PJRT_Client *client = raw_client("devices=3");
    PJRT_LoadedExecutable *loaded = NULL;
    assert_null(compile(client, on_device_2, sizeof on_device_2, &loaded));
    PJRT_LoadedExecutable_GetDeviceAssignment_Args args =
        ARGS(LoadedExecutable_GetDeviceAssignment, .executable = loaded);
    assert_null(api->PJRT_LoadedExecutable_GetDeviceAssignment(&args));
    assert_int_equal(args.serialized_bytes_size, sizeof want);
    assert_memory_equal(args.serialized_bytes, want, sizeof want);
    args.serialized_device_assignment_deleter(args.serialized_device_assignment);
    PJRT_LoadedExecutable_Destroy_Args destroy =
        ARGS(LoadedExecutable_Destroy, .executable = loaded);
    assert_null(api->PJRT_LoadedExecutable_Destroy(&destroy));
    raw_client_free(client);
}

static void replicas_and_options_are_refused(void **state)
{
    (void)state;
    static const char replicas[] = {3 << 3 | 2, 2, 4 << 3, 2},
                      partitions[] = {3 << 3 | 2, 2, 5 << 3, 4}, flags[] = {7 << 3 | 2, 0};
    static const struct {
        const char *options;
        size_t size;
        int code;
    } rows[] = {{replicas, sizeof replicas, 12},
                {partitions, sizeof partitions, 12},
                {flags, sizeof flags, 3},
                /* cut off */
                {on_device_2, sizeof on_device_2 - 1, 3},
                {no_wishes, sizeof no_wishes - 1, 3}};
    PJRT_Client *client = raw_client("preset=ideal");
    PJRT_Client_TopologyDescription_Args topology =
        ARGS(Client_TopologyDescription, .client = client);
    assert_null(api->PJRT_Client_TopologyDescription(&topology));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PJRT_LoadedExecutable *loaded = NULL;
        char text[] = SIM_ADD("add");
        PJRT_Program program = {.struct_size = PJRT_Program_STRUCT_SIZE,
                                .code = text,
                                .code_size = sizeof text - 1,
                                .format = "mlir",
                                .format_size = 4};
        PJRT_Compile_Args args =
            ARGS(Compile, .topology = topology.topology, .program = &program,
                 .compile_options = rows[i].options, .compile_options_size = rows[i].size);
        assert_int_equal(take(compile(client, rows[i].options, rows[i].size, &loaded), NULL),
                         rows[i].code);
        assert_int_equal(take(api->PJRT_Compile(&args), NULL), rows[i].code);
    }
    raw_client_free(client);
}

/* Callers need not clear what they pass. */
static void figures_are_written_into_uncleared_structs(void **state)
{
    (void)state;
    sim_adder a = sim_adder_new("");
    PJRT_LoadedExecutable *loaded = NULL;
    PJRT_Client *client = raw_client("preset=ideal");
    assert_null(compile(client, no_wishes, sizeof no_wishes, &loaded));
    PJRT_LoadedExecutable_GetExecutable_Args get =
        ARGS(LoadedExecutable_GetExecutable, .loaded_executable = loaded);
    assert_null(api->PJRT_LoadedExecutable_GetExecutable(&get));
    PJRT_Executable_GetCompiledMemoryStats_Args args;
    memset(&args, 0x55, sizeof args);
    args.executable = get.executable;
    args.struct_size = offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, peak_memory_in_bytes);
    assert_null(api->PJRT_Executable_GetCompiledMemoryStats(&args));
    assert_int_equal(args.host_temp_size_in_bytes, 0);
    assert_int_equal(args.host_argument_size_in_bytes, 0);
    assert_int_equal(args.peak_memory_in_bytes, 0x5555555555555555); /* not there then */
    args.struct_size = PJRT_Executable_GetCompiledMemoryStats_Args_STRUCT_SIZE;
    assert_null(api->PJRT_Executable_GetCompiledMemoryStats(&args));
    assert_int_equal(args.peak_memory_in_bytes, 3 * 16 + args.temp_size_in_bytes);

    PJRT_Device_MemoryStats_Args stats;
    memset(&stats, 0x55, sizeof stats);
    stats.device = device_of((PJRT_Buffer *)a.arguments[0]);
    stats.struct_size = offsetof(PJRT_Device_MemoryStats_Args, pool_bytes);
    assert_null(api->PJRT_Device_MemoryStats(&stats));
    assert_int_equal(stats.bytes_in_use, 32);
    assert_false(stats.num_allocs_is_set);
    assert_int_equal(((unsigned char *)&stats.pool_bytes_is_set)[0], 0x55);

    PJRT_Executable_Destroy_Args end = ARGS(Executable_Destroy, .executable = get.executable);
    PJRT_LoadedExecutable_Destroy_Args destroy =
        ARGS(LoadedExecutable_Destroy, .executable = loaded);
    assert_null(api->PJRT_Executable_Destroy(&end));
    assert_null(api->PJRT_LoadedExecutable_Destroy(&destroy));
    raw_client_free(client);
    sim_adder_free(&a);
}

static void what_is_missing_says_so_by_name(void **state)
{
    (void)state;
    char text[600];
    const size_t begin = offsetof(PJRT_Api, PJRT_Error_Destroy);
    for (size_t at = begin; at < api->struct_size; at += sizeof(void *)) {
        void *entry;
        memcpy(&entry, (const char *)api + at, sizeof entry);
        assert_non_null(entry);
    }
    PJRT_Client_DmaMap_Args map = ARGS(Client_DmaMap, .client = NULL);
    PJRT_ExecuteContext_Create_Args context = ARGS(ExecuteContext_Create, .context = NULL);
    assert_int_equal(take(api->PJRT_Client_DmaMap(&map), text), 12);
    assert_non_null(strstr(text, "PJRT_Client_DmaMap"));
    assert_int_equal(take(api->PJRT_ExecuteContext_Create(&context), text), 12);
    assert_non_null(strstr(text, "PJRT_ExecuteContext_Create"));
}

int main(void)
{
#define T(test) cmocka_unit_test_teardown(test, teardown)
    const struct CMUnitTest tests[] = {
        T(a_copy_takes_two_transfers_and_has_the_values),
        T(what_is_still_computed_is_copied_in_its_turn),
        T(an_error_of_the_source_is_the_copy_s),
        T(copies_that_cannot_be_are_refused),
        T(a_layout_is_row_major),
        T(host_data_may_have_strides),
        T(an_executable_reports_its_device),
        T(replicas_and_options_are_refused),
        T(figures_are_written_into_uncleared_structs),
        T(what_is_missing_says_so_by_name),
    };
    return cmocka_run_group_tests(tests, sim_api_setup, NULL);
}
