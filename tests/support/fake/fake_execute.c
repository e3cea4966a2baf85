/*
 * fake_execute.c - what happens on the fake's device: events, buffers, executions.
 */
#include "tests/support/fake/fake.h"

#include <time.h>
#include <unistd.h>

static const uint64_t never = UINT64_MAX;

static uint64_t fake_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- events ------------------------------------------------------------- */

static PJRT_Event *fake_event_new(uint64_t ready_at_ns, PJRT_Error_Code code)
{
    PJRT_Event *event = fake_object_new(sizeof *event);
    event->ready_at_ns = ready_at_ns;
    event->code = code;
    return event;
}

static PJRT_Error *event_error(const PJRT_Event *event)
{
    return event->code == PJRT_Error_Code_OK
               ? NULL
               : fake_error_new(event->code, "the fake device failed while it executed");
}

static void wait_until(uint64_t ready_at_ns)
{
    for (uint64_t now = fake_now_ns(); now < ready_at_ns; now = fake_now_ns()) {
        uint64_t left = ready_at_ns - now;
        struct timespec nap = {0, (long)(left < 1000000 ? left : 1000000)};
        nanosleep(&nap, NULL);
    }
}

PJRT_Error *fake_Event_Destroy(PJRT_Event_Destroy_Args *args)
{
    fake_object_free(args->event);
    return NULL;
}

PJRT_Error *fake_Event_IsReady(PJRT_Event_IsReady_Args *args)
{
    args->is_ready = fake_now_ns() >= args->event->ready_at_ns;
    return NULL;
}

PJRT_Error *fake_Event_Await(PJRT_Event_Await_Args *args)
{
    wait_until(args->event->ready_at_ns);
    return event_error(args->event);
}

/* ---- buffers ------------------------------------------------------------ */

static void bytes_account(PJRT_Device *device, int64_t change)
{
    device->bytes_in_use += change;
    if (device->bytes_in_use > device->peak_bytes)
        device->peak_bytes = device->bytes_in_use;
}

/* DATA is taken over; NULL for fresh zeros. */
static PJRT_Buffer *fake_buffer_new(const fake_type *type, void *data, PJRT_Device *device)
{
    PJRT_Buffer *buffer = fake_object_new(sizeof *buffer);
    buffer->type = *type;
    buffer->device = device;
    buffer->data = data ? data : calloc(1, type->bytes + 1);
    if (!buffer->data)
        abort();
    bytes_account(device, (int64_t)type->bytes);
    return buffer;
}

/* Takes the memory out of BUFFER; NULL when it is gone already. */
static void *fake_buffer_take(PJRT_Buffer *buffer)
{
    void *data = buffer->data;
    if (data)
        bytes_account(buffer->device, -(int64_t)buffer->type.bytes);
    buffer->data = NULL;
    return data;
}

PJRT_Error *fake_Client_BufferFromHostBuffer(PJRT_Client_BufferFromHostBuffer_Args *args)
{
    PJRT_Error *error = fake_error_if("transfer_error", "the fake device takes no data");
    if (error)
        return error;
    fake_type type = {.rank = args->num_dims, .alias = -1};
    if (args->num_dims > MAX_RANK)
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "rank");
    for (size_t i = 0; i < args->num_dims; i++)
        type.dims[i] = args->dims[i];
    if (!fake_element_set(&type, args->type, NULL))
        return fake_error_new(PJRT_Error_Code_UNIMPLEMENTED, "element type");
    args->buffer = fake_buffer_new(&type, NULL, args->device);
    memcpy(args->buffer->data, args->data, type.bytes);
    args->done_with_host_buffer = fake_event_new(0, PJRT_Error_Code_OK);
    return NULL;
}

PJRT_Error *fake_Buffer_CopyToDevice(PJRT_Buffer_CopyToDevice_Args *args)
{
    args->dst_buffer = fake_buffer_new(&args->buffer->type, NULL, args->dst_device);
    memcpy(args->dst_buffer->data, args->buffer->data, args->buffer->type.bytes);
    return NULL;
}

PJRT_Error *fake_Buffer_Destroy(PJRT_Buffer_Destroy_Args *args)
{
    free(fake_buffer_take(args->buffer));
    fake_object_free(args->buffer);
    return NULL;
}

PJRT_Error *fake_Buffer_IsDeleted(PJRT_Buffer_IsDeleted_Args *args)
{
    args->is_deleted = args->buffer->data == NULL;
    return NULL;
}

PJRT_Error *fake_Buffer_ElementType(PJRT_Buffer_ElementType_Args *args)
{
    args->type = args->buffer->type.type;
    return NULL;
}

PJRT_Error *fake_Buffer_Dimensions(PJRT_Buffer_Dimensions_Args *args)
{
    args->dims = args->buffer->type.dims;
    args->num_dims = fake_order_number("lie_dims", args->buffer->type.rank);
    return NULL;
}

PJRT_Error *fake_Buffer_ToHostBuffer(PJRT_Buffer_ToHostBuffer_Args *args)
{
    const PJRT_Buffer *buffer = args->src;
    if (!buffer->data || args->dst_size < buffer->type.bytes)
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "no data, or no room for it");
    if (buffer->ready.ready_at_ns != never && buffer->type.bytes > 0)
        memcpy(args->dst, buffer->data, buffer->type.bytes);
    args->event = fake_event_new(buffer->ready.ready_at_ns, buffer->ready.code);
    return NULL;
}

PJRT_Error *fake_Buffer_ReadyEvent(PJRT_Buffer_ReadyEvent_Args *args)
{
    if (!args->buffer->data)
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                              "buffer has been deleted or donated");
    args->event = fake_event_new(args->buffer->ready.ready_at_ns, args->buffer->ready.code);
    return NULL;
}

PJRT_Error *fake_Buffer_UnsafePointer(PJRT_Buffer_UnsafePointer_Args *args)
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
        return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "wrong number of arguments");
    for (size_t i = 0; i < count; i++) {
        if (!arguments[i]->data)
            return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT,
                                  "an argument has been deleted or donated");
        if (arguments[i]->type.bytes != program->arguments[i].bytes)
            return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "an argument has another size");
    }
    return NULL;
}

static PJRT_Error *execute_orders(void)
{
    if (fake_ordered("abort"))
        abort();
    while (fake_ordered("hang"))
        pause();
    if (fake_ordered("oom"))
        return fake_error_new(PJRT_Error_Code_RESOURCE_EXHAUSTED,
                              "out of memory allocating 123 bytes");
    return fake_error_if("execute_error", "the fake device refuses to execute");
}

/* The point in time, and the error, at which an execution starting now is done. */
static PJRT_Event execution_schedule(void)
{
    uint64_t now = fake_now_ns(), delay = fake_order_number("delay_us", 0) * 1000;
    uint64_t start = device_free_at_ns > now ? device_free_at_ns : now;
    if (fake_ordered("never_ready"))
        return (PJRT_Event){.ready_at_ns = never};
    device_free_at_ns = start + delay;
    fake_profile_record(start, delay);
    return (PJRT_Event){.ready_at_ns = device_free_at_ns,
                        .code =
                            fake_ordered("event_error") ? fake_ordered_code() : PJRT_Error_Code_OK};
}

/* As XLA's plugins check what callers of another age give them. */
static PJRT_Error *sizes_check(const PJRT_LoadedExecutable_Execute_Args *args)
{
    if (!fake_ordered("strict") ||
        (args->struct_size >= PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE &&
         args->options->struct_size >= PJRT_ExecuteOptions_STRUCT_SIZE))
        return NULL;
    return fake_error_new(PJRT_Error_Code_INVALID_ARGUMENT, "unexpected size of a struct");
}

PJRT_Error *fake_LoadedExecutable_Execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    const PJRT_Executable *program = args->executable->program;
    PJRT_Buffer *const *arguments = args->argument_lists[0];
    PJRT_Error *error = execute_orders();
    if (!error)
        error = sizes_check(args);
    if (!error)
        error = arguments_check(program, arguments, args->num_args);
    if (error)
        return error;

    void *memory[MAX_VALUES] = {NULL}; /* of each result: donated, or NULL */
    for (size_t i = 0; i < args->num_args; i++) {
        int alias = program->arguments[i].alias;
        if (alias < 0 || (size_t)alias >= program->result_count || kept(args->options, i))
            continue;
        memory[alias] = fake_buffer_take(arguments[i]);
        if (memory[alias])
            memset(memory[alias], 0, program->arguments[i].bytes);
    }
    PJRT_Event done = execution_schedule();
    fake_change("execute");
    for (size_t i = 0; i < program->result_count; i++) {
        PJRT_Buffer *result =
            fake_buffer_new(&program->results[i], memory[i], args->executable->device);
        result->ready = done;
        args->output_lists[0][i] = result;
    }
    if (args->device_complete_events)
        args->device_complete_events[0] = fake_event_new(done.ready_at_ns, done.code);
    return NULL;
}
