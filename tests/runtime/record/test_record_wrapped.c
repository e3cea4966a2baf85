/*
 * test_record_wrapped.c - calls that few programs make: buffers that are made without bytes, views,
 * aliases, copies, parts that are read, memory that is deleted, and an execution on two devices.
 * Functions that the simulated plugin lacks are put into its table by the test.
 */
#include "tests/runtime/record/raw_fixture.h"

/* ---- what the plugin lacks --------------------------------------------------------------------
 */

/* The plugin's own client, unrecorded: what the entries below make. */
static raw bare;

static PJRT_Error *make_uninitialized(PJRT_Client_CreateUninitializedBuffer_Args *args)
{
    args->buffer = raw_floats(&bare);
    return NULL;
}

static PJRT_Error *make_view(PJRT_Client_CreateViewOfDeviceBuffer_Args *args)
{
    args->buffer = raw_floats(&bare);
    return NULL;
}

static PJRT_Error *make_alias(PJRT_Client_CreateAliasBuffer_Args *args)
{
    args->alias_buffer = raw_floats(&bare);
    return NULL;
}

static PJRT_Error *read_a_part(PJRT_Buffer_CopyRawToHost_Args *args)
{
    args->event = raw_ready(&bare, args->buffer);
    return NULL;
}

static PJRT_LoadedExecutable_Execute *execute_once;

/* The plugin executes on one device: so it does, once for each of the caller's. */
static PJRT_Error *execute_on_each(PJRT_LoadedExecutable_Execute_Args *args)
{
    for (size_t d = 0; d < args->num_devices; d++) {
        PJRT_LoadedExecutable_Execute_Args one = *args;
        one.num_devices = 1;
        one.argument_lists = args->argument_lists + d;
        one.output_lists = args->output_lists + d;
        if (args->device_complete_events)
            one.device_complete_events = args->device_complete_events + d;
        PJRT_Error *error = execute_once(&one);
        if (error)
            return error;
    }
    return NULL;
}

/* A recorded client of two simulated devices. */
static raw recorded_raw(const char *folder)
{
    void *handle;
    setenv("PJRT_SIM", "devices=2", 1);
    set_recorder(folder, "pjrt_sim");
    raw r = raw_new(entry_of(built("pjrt_record"), &handle)());
    PJRT_Api *table = table_of("pjrt_sim");
    bare = r;
    bare.api = table;
    return r;
}

static void complete_table(void)
{
    PJRT_Api *table = table_of("pjrt_sim");
    table->PJRT_Client_CreateUninitializedBuffer = make_uninitialized;
    table->PJRT_Client_CreateViewOfDeviceBuffer = make_view;
    table->PJRT_Client_CreateAliasBuffer = make_alias;
    table->PJRT_Buffer_CopyRawToHost = read_a_part;
}

/* ---- buffers ---------------------------------------------------------------------------------
 */

/* In the order of the events that the test looks at. */
enum { ARGUMENT, REFUSED, UNINITIALIZED, VIEW, ALIAS, TO_DEVICE, TO_MEMORY, BUFFERS };

static void makes_without_bytes(const raw *r)
{
    static const int64_t dims[2] = {3, 5}, seven[1] = {7};
    PJRT_Client_CreateUninitializedBuffer_Args made =
        ARGS(Client_CreateUninitializedBuffer, .client = r->client, .shape_dims = dims,
             .shape_num_dims = 2, .shape_element_type = PJRT_Buffer_Type_F32, .device = r->device);
    PJRT_Error *error = r->api->PJRT_Client_CreateUninitializedBuffer(&made);
    MUST(error);
    raw_error_free(r, error);
    complete_table();
    MUST(!r->api->PJRT_Client_CreateUninitializedBuffer(&made) && made.buffer);
    buffer_free(r, made.buffer);
    PJRT_Client_CreateViewOfDeviceBuffer_Args view =
        ARGS(Client_CreateViewOfDeviceBuffer, .client = r->client, .dims = dims, .num_dims = 1,
             .element_type = PJRT_Buffer_Type_S64, .device = r->device);
    MUST(!r->api->PJRT_Client_CreateViewOfDeviceBuffer(&view) && view.buffer);
    buffer_free(r, view.buffer);
    PJRT_Client_CreateAliasBuffer_Args alias =
        ARGS(Client_CreateAliasBuffer, .client = r->client, .shape_dims = seven,
             .shape_num_dims = 1, .shape_element_type = PJRT_Buffer_Type_PRED);
    MUST(!r->api->PJRT_Client_CreateAliasBuffer(&alias) && alias.alias_buffer);
    buffer_free(r, alias.alias_buffer);
}

static void copies(const raw *r)
{
    PJRT_Client_AddressableDevices_Args devices =
        ARGS(Client_AddressableDevices, .client = r->client);
    MUST(!r->api->PJRT_Client_AddressableDevices(&devices));
    MUST(devices.num_addressable_devices == 2);
    PJRT_Device *second = devices.addressable_devices[1];
    PJRT_Buffer_CopyToDevice_Args to_device =
        ARGS(Buffer_CopyToDevice, .buffer = r->argument, .dst_device = second);
    MUST(!r->api->PJRT_Buffer_CopyToDevice(&to_device) && to_device.dst_buffer);
    PJRT_Device_AddressableMemories_Args memories =
        ARGS(Device_AddressableMemories, .device = second);
    MUST(!r->api->PJRT_Device_AddressableMemories(&memories) && memories.num_memories > 0);
    PJRT_Buffer_CopyToMemory_Args to_memory =
        ARGS(Buffer_CopyToMemory, .buffer = r->argument, .dst_memory = memories.memories[0]);
    MUST(!r->api->PJRT_Buffer_CopyToMemory(&to_memory) && to_memory.dst_buffer);
    /* Its memory goes first, then its handle. */
    PJRT_Buffer_Delete_Args end = ARGS(Buffer_Delete, .buffer = to_device.dst_buffer);
    MUST(!r->api->PJRT_Buffer_Delete(&end));
    MUST(!r->api->PJRT_Buffer_Delete(&end));
    buffer_free(r, to_device.dst_buffer);
    buffer_free(r, to_memory.dst_buffer);
}

static void reads_a_part(const raw *r)
{
    float room[2];
    PJRT_Buffer_CopyRawToHost_Args part = ARGS(Buffer_CopyRawToHost, .buffer = r->argument,
                                               .dst = room, .offset = 4, .transfer_size = 8);
    MUST(!r->api->PJRT_Buffer_CopyRawToHost(&part) && part.event);
    raw_event_end(r, part.event);
}

static void makes_buffers(const char *folder)
{
    raw r = recorded_raw(folder);
    makes_without_bytes(&r);
    copies(&r);
    reads_a_part(&r);
    raw_free(&r);
}

/* Buffer INDEX is made in way HOW with TYPE, BYTES and COUNT dimensions DIMS. */
static logged assert_made(const recording *r, size_t index, enum record_buffer how, int type,
                          uint64_t bytes, const uint64_t *dims, size_t count)
{
    logged t;
    recording_get(r, RECORD_BUFFER, index, &t);
    assert_int_equal(t.event.flags, 0);
    assert_true(t.event.field[0] >= t.event.time && t.event.field[3] != 0);
    assert_int_equal(t.event.field[4], (uint64_t)how | (uint64_t)type << 32);
    assert_int_equal(t.words[0], bytes);
    assert_int_equal(t.bytes, (3 + count) * sizeof *t.words);
    assert_memory_equal(t.words + 3, dims, count * sizeof *dims);
    return t;
}

static void ways_to_make_a_buffer_are_recorded(void **state)
{
    (void)state;
    static const uint64_t dims[2] = {3, 5}, seven[1] = {7}, four[1] = {4};
    const char *folder = new_folder();
    logged t, argument, device[2];
    in_child(makes_buffers, folder);
    in_child(makes_buffers, NULL);
    recording r = recording_in(folder);
    for (size_t i = 0; i < 2; i++)
        recording_get(&r, RECORD_DEVICE, i, &device[i]);
    assert_int_equal(recording_count(&r, RECORD_BUFFER), BUFFERS);
    recording_get(&r, RECORD_BUFFER, ARGUMENT, &argument);
    recording_get(&r, RECORD_BUFFER, REFUSED, &t);
    assert_int_equal(t.event.flags, RECORD_FAILED);
    assert_int_equal(t.event.field[3], 0);
    t = assert_made(&r, UNINITIALIZED, RECORD_UNINITIALIZED, PJRT_Buffer_Type_F32, 60, dims, 2);
    assert_int_equal(t.event.field[5], device[0].event.field[0]);
    t = assert_made(&r, VIEW, RECORD_VIEW, PJRT_Buffer_Type_S64, 24, dims, 1);
    assert_int_equal(t.event.field[5], device[0].event.field[0]);
    /* The plugin is asked for anything that the call does not state. */
    t = assert_made(&r, ALIAS, RECORD_ALIAS, PJRT_Buffer_Type_PRED, 7, seven, 1);
    assert_int_equal(t.event.field[5], device[0].event.field[0]);
    for (size_t i = TO_DEVICE; i <= TO_MEMORY; i++) {
        t = assert_made(&r, i, RECORD_COPY, PJRT_Buffer_Type_F32, 16, four, 1);
        assert_int_equal(t.words[1], argument.event.field[3]);
        assert_int_equal(t.event.field[5], device[1].event.field[0]);
    }
    recording_free(&r);
}

static void partial_reads_and_deleted_memory_are_recorded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged t, made, argument, complete;
    buffer_end ends[16];
    in_child(makes_buffers, folder);
    recording r = recording_in(folder);
    recording_get(&r, RECORD_BUFFER, ARGUMENT, &argument);
    recording_get(&r, RECORD_TO_HOST, 0, &t);
    assert_int_equal(recording_count(&r, RECORD_TO_HOST), 1);
    assert_int_equal(t.event.field[3], argument.event.field[3]);
    assert_int_equal(t.event.field[4], 8);
    bool ended = false;
    for (size_t i = 0; recording_find(&r, RECORD_COMPLETE, i, &complete); i++)
        ended = ended || complete.event.field[0] == t.event.field[5];
    assert_true(ended && t.event.field[5] != 0);

    /* Three of the ways to make one, then the deleted one twice, and the handles of both copies. */
    recording_get(&r, RECORD_BUFFER, TO_DEVICE, &made);
    assert_int_equal(recording_ends(&r, ends, 16), 8);
    assert_int_equal(ends[3].handle, made.event.field[3]);
    assert_int_equal(ends[3].flags, RECORD_ONLY_MEMORY);
    assert_int_equal(ends[4].handle, made.event.field[3]);
    assert_int_equal(ends[4].flags, RECORD_ONLY_MEMORY | RECORD_DELETED);
    assert_int_equal(ends[5].handle, made.event.field[3]);
    assert_int_equal(ends[5].flags & RECORD_ONLY_MEMORY, 0);
    recording_free(&r);
}

/* ---- two devices ------------------------------------------------------------------------------
 */

static void executes_on_two(const char *folder)
{
    raw r = recorded_raw(folder);
    PJRT_Api *table = table_of("pjrt_sim");
    execute_once = table->PJRT_LoadedExecutable_Execute;
    table->PJRT_LoadedExecutable_Execute = execute_on_each;
    PJRT_Buffer *other = raw_floats(&r), *const list[2] = {r.argument, other};
    PJRT_Buffer *const *const lists[2] = {&list[0], &list[1]};
    PJRT_Buffer *results[2] = {NULL, NULL}, **const result_lists[2] = {&results[0], &results[1]};
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    PJRT_LoadedExecutable_Execute_Args args = ARGS(
        LoadedExecutable_Execute, .executable = r.executable, .options = &options,
        .argument_lists = lists, .num_devices = 2, .num_args = 1, .output_lists = result_lists);
    MUST(!r.api->PJRT_LoadedExecutable_Execute(&args) && results[0] && results[1]);
    MUST(!args.device_complete_events);
    for (size_t i = 0; i < 2; i++) {
        raw_event_end(&r, raw_ready(&r, results[i]));
        buffer_free(&r, results[i]);
    }
    buffer_free(&r, other);
    raw_free(&r);
}

static void an_execution_on_two_devices_lists_both(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged run, a, b, complete;
    buffer_end ends[4];
    int ended[2] = {0, 0};
    in_child(executes_on_two, folder);
    recording r = recording_in(folder);
    recording_get(&r, RECORD_BUFFER, 0, &a);
    recording_get(&r, RECORD_BUFFER, 1, &b);
    recording_get(&r, RECORD_EXECUTE, 0, &run);
    assert_int_equal(recording_count(&r, RECORD_EXECUTE), 1);
    assert_true(run.event.flags & RECORD_ASKED);
    assert_int_equal(run.event.field[5], 1 | (uint64_t)1 << 32);
    /* Of each device its argument and its result; then that neither argument was taken. */
    assert_int_equal(run.words[0], 2);
    assert_int_equal(run.words[4], a.event.field[3]);
    assert_int_equal(run.words[6], b.event.field[3]);
    assert_int_equal(run.words[8], 0);
    assert_int_equal(run.bytes, 9 * sizeof *run.words);
    assert_int_equal(recording_ends(&r, ends, 4), 4);
    assert_int_equal(ends[0].handle, run.words[5]);
    assert_int_equal(ends[1].handle, run.words[7]);
    /* Both ends, unless all was over when the call returned. */
    for (size_t i = 0; recording_find(&r, RECORD_COMPLETE, i, &complete); i++)
        if (complete.event.field[0] == run.event.field[4]) {
            assert_in_range(complete.event.field[1], 0, 1);
            ended[complete.event.field[1]]++;
        }
    const int each = run.event.flags & RECORD_ENDED ? 0 : 1;
    assert_int_equal(ended[0], each);
    assert_int_equal(ended[1], each);
    recording_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_to_make_a_buffer_are_recorded),
        cmocka_unit_test(partial_reads_and_deleted_memory_are_recorded),
        cmocka_unit_test(an_execution_on_two_devices_lists_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
