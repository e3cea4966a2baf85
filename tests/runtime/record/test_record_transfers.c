/*
 * test_record_transfers.c - bytes of the host for buffers that were made without them, which a
 * manager of asynchronous transfers sends. What the simulated plugin lacks is put into a copy of
 * its table by the test, also behind the end of the header's.
 */
#include "tests/runtime/record/raw_fixture.h"

/* ---- calls of later headers ------------------------------------------------------------------ */

enum { LITERAL_OFFSET = 992 }; /* in tables since 0.83 */

typedef struct literal_args {
    size_t struct_size;
    PJRT_Extension_Base *extension_start;
    PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
    int buffer_index;
    const void *data;
    const int64_t *shape_dims;
    size_t shape_num_dims;
    PJRT_Buffer_Type shape_element_type;
    PJRT_Buffer_MemoryLayout *shape_layout;
    PJRT_Event *done_with_h2d_transfer;
} literal_args;
typedef PJRT_Error *literal_call(literal_args *args);

/* ---- what the plugin lacks --------------------------------------------------------------------
 */

static raw bare; /* the plugin's own, unrecorded */
static char manager[8];

static PJRT_Error *make_manager(PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *args)
{
    args->transfer_manager = (PJRT_AsyncHostToDeviceTransferManager *)(void *)manager;
    return NULL;
}

static bool buffers_are_on_host;

static PJRT_Error *is_on_cpu(PJRT_Buffer_IsOnCpu_Args *args)
{
    args->is_on_cpu = buffers_are_on_host;
    return NULL;
}

static PJRT_Error *hold(PJRT_Buffer_IncreaseExternalReferenceCount_Args *args)
{
    MUST(args->buffer);
    return NULL;
}

static PJRT_Error *retrieve(PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *args)
{
    MUST((void *)args->transfer_manager == manager);
    args->buffer_out = raw_floats(&bare);
    return NULL;
}

/* Refuses more than a hundred bytes. */
static PJRT_Error *send_data(PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *args)
{
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args refuses =
        ARGS(AsyncHostToDeviceTransferManager_SetBufferError,
             .transfer_manager = args->transfer_manager);
    MUST((void *)args->transfer_manager == manager && args->data);
    if (args->transfer_size > 100)
        return bare.api->PJRT_AsyncHostToDeviceTransferManager_SetBufferError(&refuses);
    args->done_with_h2d_transfer = raw_ready(&bare, bare.argument);
    return NULL;
}

static PJRT_Error *send_literal(literal_args *args)
{
    MUST((void *)args->transfer_manager == manager && args->data);
    args->done_with_h2d_transfer = raw_ready(&bare, bare.argument);
    return NULL;
}

/* The table of the plugin that is recorded, before the recorder has seen it. It stays as it is
 * changed here. */
static PJRT_Api *plugin_table(const char *folder)
{
    void *handle;
    literal_call *literal = send_literal;
    set_recorder(folder, "pjrt_slow");
    setenv("SLOW_PJRT_PLUGIN", built("pjrt_sim"), 1);
    setenv("SLOW_PJRT_NS", "0", 1);
    setenv("PJRT_SIM_API", "newer", 1);
    PJRT_Api *table = (PJRT_Api *)(uintptr_t)entry_of(built("pjrt_slow"), &handle)();
    table->PJRT_Client_CreateBuffersForAsyncHostToDevice = make_manager;
    table->PJRT_Buffer_IsOnCpu = is_on_cpu;
    table->PJRT_Buffer_IncreaseExternalReferenceCount = hold;
    table->PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer = retrieve;
    table->PJRT_AsyncHostToDeviceTransferManager_TransferData = send_data;
    memcpy((char *)table + LITERAL_OFFSET, &literal, sizeof literal);
    return table;
}

static raw recorded_raw(const char *folder)
{
    void *handle;
    PJRT_Api *table = plugin_table(folder);
    raw r = raw_new(entry_of(built("pjrt_record"), &handle)());
    bare = r;
    bare.api = table;
    return r;
}

/* ---- a caller -------------------------------------------------------------------------------- */

static const char bytes[1000];

static PJRT_AsyncHostToDeviceTransferManager *new_manager(const raw *r)
{
    static const int64_t dims[2] = {3, 5}, seven[1] = {7};
    PJRT_ShapeSpec shapes[2] = {{.struct_size = PJRT_ShapeSpec_STRUCT_SIZE,
                                 .dims = dims,
                                 .num_dims = 2,
                                 .element_type = PJRT_Buffer_Type_F32},
                                {.struct_size = PJRT_ShapeSpec_STRUCT_SIZE,
                                 .dims = seven,
                                 .num_dims = 1,
                                 .element_type = PJRT_Buffer_Type_S64}};
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args args =
        ARGS(Client_CreateBuffersForAsyncHostToDevice, .client = r->client, .shape_specs = shapes,
             .num_shape_specs = 2);
    MUST(!r->api->PJRT_Client_CreateBuffersForAsyncHostToDevice(&args));
    return args.transfer_manager;
}

static void sends_data(const raw *r, PJRT_AsyncHostToDeviceTransferManager *to, int64_t size)
{
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args args =
        ARGS(AsyncHostToDeviceTransferManager_TransferData, .transfer_manager = to, .data = bytes,
             .transfer_size = size);
    PJRT_Error *error = r->api->PJRT_AsyncHostToDeviceTransferManager_TransferData(&args);
    MUST((error != NULL) == (size > 100));
    if (error)
        raw_error_free(r, error);
    else
        raw_event_end(r, args.done_with_h2d_transfer);
}

static void sends_literal(const raw *r, PJRT_AsyncHostToDeviceTransferManager *to, size_t size)
{
    static const int64_t dims[2] = {3, 5};
    literal_call *call;
    memcpy(&call, (const char *)r->api + LITERAL_OFFSET, sizeof call);
    literal_args args = {.struct_size = size,
                         .transfer_manager = to,
                         .data = bytes,
                         .shape_dims = dims,
                         .shape_num_dims = 2,
                         .shape_element_type = PJRT_Buffer_Type_U4};
    MUST(!call(&args));
    raw_event_end(r, args.done_with_h2d_transfer);
}

static void transfers(const char *folder)
{
    raw r = recorded_raw(folder);
    PJRT_AsyncHostToDeviceTransferManager *to = new_manager(&r);
    sends_data(&r, to, 8);
    sends_data(&r, to, 52);
    sends_data(&r, to, 1000);
    sends_literal(&r, to, sizeof(literal_args));
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args got =
        ARGS(AsyncHostToDeviceTransferManager_RetrieveBuffer, .transfer_manager = to);
    MUST(!r.api->PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer(&got) && got.buffer_out);
    buffer_free(&r, got.buffer_out);
    /* No size that could be true: the entry above does not look at it. */
    sends_literal(&r, to, sizeof(literal_args) - 1);
    raw_free(&r);
}

/* ---- recorded events ------------------------------------------------------------------------- */

static bool has_ended(const recording *r, const logged *transfer)
{
    logged t;
    for (size_t i = 0; recording_find(r, RECORD_COMPLETE, i, &t); i++)
        if (t.event.field[0] == transfer->event.field[5] && t.event.time >= transfer->event.time)
            return true;
    return false;
}

/* Transfer INDEX is of SIZE bytes. */
static void assert_sent(const recording *r, size_t index, uint64_t size)
{
    logged t;
    const bool fails = size > 100;
    recording_get(r, RECORD_TO_DEVICE, index, &t);
    assert_int_equal(t.event.flags, fails ? RECORD_FAILED : 0);
    assert_int_equal(t.event.thread, r->head.main_thread);
    assert_true(t.event.field[0] >= t.event.time && t.event.time >= r->head.begin_ns);
    assert_true(t.event.field[2] >= t.event.field[1] && t.event.field[1] > 0);
    assert_int_equal(t.event.field[3], 0);
    assert_int_equal(t.event.field[4], size);
    assert_int_equal(t.event.field[5] != 0, !fails);
    assert_true(fails || has_ended(r, &t));
}

static void reads_by_address(const char *folder)
{
    raw r = recorded_raw(folder);
    PJRT_Buffer_IncreaseExternalReferenceCount_Args args =
        ARGS(Buffer_IncreaseExternalReferenceCount, .buffer = r.argument);
    /* To hand memory of a device to another framework is no read. */
    for (int i = 0; i < 2; i++) {
        buffers_are_on_host = i == 1;
        MUST(!r.api->PJRT_Buffer_IncreaseExternalReferenceCount(&args));
    }
    raw_free(&r);
}

static void a_read_without_a_copy_is_recorded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged t, buffer;
    in_child(reads_by_address, folder);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_TO_HOST), 1);
    recording_get(&r, RECORD_TO_HOST, 0, &t);
    recording_get(&r, RECORD_BUFFER, 0, &buffer);
    assert_int_equal(t.event.flags, RECORD_IN_PLACE);
    assert_true(t.event.field[0] >= t.event.time && t.event.time >= r.head.begin_ns);
    assert_int_equal(t.event.field[3], buffer.event.field[3]);
    assert_int_equal(t.event.field[4], 0);
    assert_int_equal(t.event.field[5], 0);
    recording_free(&r);
}

static void transfers_to_the_device_are_recorded(void **state)
{
    (void)state;
    const char *folder = new_folder();
    logged t;
    in_child(transfers, folder);
    in_child(transfers, NULL);
    recording r = recording_in(folder);
    assert_int_equal(recording_count(&r, RECORD_TO_DEVICE), 4);
    assert_sent(&r, 0, 8);
    assert_sent(&r, 1, 52);
    assert_sent(&r, 2, 1000);
    assert_sent(&r, 3, 8); /* 15 elements of half a byte */
    assert_int_equal(r.head.lost, 1);

    /* Buffers that a manager makes have their bytes from those alone. */
    assert_int_equal(recording_count(&r, RECORD_BUFFER), 3);
    recording_get(&r, RECORD_BUFFER, 1, &t);
    assert_int_equal(t.event.field[3], 0);
    assert_int_equal(t.event.field[4], RECORD_UNINITIALIZED);
    assert_int_equal(t.words[0], 3 * 5 * 4 + 7 * 8);
    recording_get(&r, RECORD_BUFFER, 2, &t);
    assert_true(t.event.field[3] != 0 && t.event.field[5] != 0);
    assert_int_equal(t.event.field[4], RECORD_UNINITIALIZED | (uint64_t)PJRT_Buffer_Type_F32 << 32);
    assert_int_equal(t.words[0], 16);
    assert_int_equal(t.words[3], 4);
    recording_free(&r);
}

/* ---- tables of other ages
 * ------------------------------------------------------------------------
 */

/* Whether the recorder's table has another function at OFFSET than the plugin's. */
static bool is_replaced(const PJRT_Api *ours, const PJRT_Api *table, size_t offset)
{
    return memcmp((const char *)ours + offset, (const char *)table + offset, sizeof(void *)) != 0;
}

/* The table is long enough, but in its version, 0.MINOR, the places may have had no such meaning.
 */
static void looks_at_a_table(const char *minor)
{
    void *handle;
    PJRT_Api *table = plugin_table(NULL);
    table->pjrt_api_version.minor_version = atoi(minor);
    const PJRT_Api *ours = entry_of(built("pjrt_record"), &handle)();
    MUST(ours != table && ours->struct_size == table->struct_size);
    MUST(is_replaced(ours, table, LITERAL_OFFSET) == (atoi(minor) >= 83));
}

static void calls_are_replaced_from_their_version_on(void **state)
{
    (void)state;
    static const char *const minors[] = {"82", "83", "115"};
    for (size_t i = 0; i < sizeof minors / sizeof *minors; i++)
        in_child(looks_at_a_table, minors[i]);
}

/* XLA's plugins name the call whose struct is too short. */
static void names_the_call(const char *plugin)
{
    void *handle;
    literal_call *call;
    literal_args args = {.struct_size = 1};
    const PJRT_Api *api = entry_of(plugin, &handle)();
    if (api->pjrt_api_version.minor_version < 83)
        return;
    memcpy(&call, (const char *)api + LITERAL_OFFSET, sizeof call);
    PJRT_Error_Message_Args message = ARGS(Error_Message, .error = call(&args));
    MUST(message.error);
    api->PJRT_Error_Message(&message);
    MUST(strstr(message.message, "AsyncHostToDeviceTransferManager_TransferLiteral_Args"));
}

static void real_plugins_have_them_there(void **state)
{
    (void)state;
    static const char *const names[] = {"cpu", "cpu-xla"};
    size_t found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bn_status st = {0};
        char path[4096];
        if (rt_plugin_find(names[i], path, sizeof path, &st) != BN_OK)
            continue;
        in_child(names_the_call, path);
        found++;
    }
    if (found == 0) {
        print_message("no runtime is installed\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_without_a_copy_is_recorded),
        cmocka_unit_test(transfers_to_the_device_are_recorded),
        cmocka_unit_test(calls_are_replaced_from_their_version_on),
        cmocka_unit_test(real_plugins_have_them_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
