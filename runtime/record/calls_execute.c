/*
 * calls_execute.c - executions, waits and ends of executables. An execution's way allocates
 * nothing.
 */
#include "runtime/record/record_priv.h"

/* ---- an execution -----------------------------------------------------------------------------
 */

enum { ARGS_MOST = 256 }; /* bytes of the arguments of newer callers */

/* What the plugin is given for one execution. */
typedef struct execution {
    union {
        PJRT_LoadedExecutable_Execute_Args args;
        char bytes[ARGS_MOST];
    };
    PJRT_ExecuteOptions options;        /* where the caller's are short */
    PJRT_Event *events[RECORD_DEVICES]; /* where the caller wants none */
    uint64_t main_cpu;
    record_span span;
} execution;

/* False where the caller's struct is not to be understood. */
static bool execution_copy(execution *e, const PJRT_LoadedExecutable_Execute_Args *caller)
{
    size_t size = caller->struct_size, whole = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE;
    if (size < offsetof(PJRT_LoadedExecutable_Execute_Args, execute_device) || size > ARGS_MOST)
        return false;
    memcpy(e->bytes, caller, size);
    if (size < whole) {
        memset(e->bytes + size, 0, whole - size);
        e->args.struct_size = whole;
    }
    if (caller->options) {
        e->args.options =
            record_widen(caller->options, &e->options, PJRT_ExecuteOptions_STRUCT_SIZE);
        if (!e->args.options)
            e->args.options = caller->options;
    }
    return true;
}

/* What the plugin may have written, but for the pointers that were ours. */
static void execution_return(execution *e, PJRT_LoadedExecutable_Execute_Args *caller)
{
    e->args.options = caller->options;
    e->args.device_complete_events = caller->device_complete_events;
    record_narrow(caller, e->bytes);
}

/* ---- its event ------------------------------------------------------------------------------ */

enum { FIXED = 4, PARTS = 2 + 2 * RECORD_DEVICES };

/* The words of an execution; FIXED of them are put together here. */
typedef struct execution_words {
    uint64_t fixed[FIXED];
    struct iovec parts[PARTS];
    size_t count, bytes;
} execution_words;

static void add(execution_words *w, const void *handles, size_t count)
{
    if (count == 0)
        return;
    w->parts[w->count++] =
        (struct iovec){.iov_base = (void *)(uintptr_t)handles, .iov_len = count * sizeof(uint64_t)};
    w->bytes += count * sizeof(uint64_t);
}

static void words_of(const execution *e, uint32_t results, execution_words *w)
{
    const PJRT_LoadedExecutable_Execute_Args *a = &e->args;
    /* A size that cannot be true was not widened, and is not read. */
    const PJRT_ExecuteOptions *o =
        a->options && a->options->struct_size >= PJRT_ExecuteOptions_STRUCT_SIZE ? a->options
                                                                                 : NULL;
    size_t kept = o && o->non_donatable_input_indices ? o->num_non_donatable_input_indices : 0;
    w->count = w->bytes = 0;
    w->fixed[0] = (uint64_t)a->num_devices | (uint64_t)kept << 32;
    w->fixed[1] = (uint64_t)(uintptr_t)a->execute_device;
    w->fixed[2] = o ? (uint64_t)(int64_t)o->launch_id : 0;
    w->fixed[3] = e->main_cpu;
    add(w, w->fixed, FIXED);
    add(w, o ? o->non_donatable_input_indices : NULL, kept);
    for (size_t d = 0; d < a->num_devices; d++) {
        add(w, a->argument_lists ? a->argument_lists[d] : NULL, a->num_args);
        add(w, a->output_lists ? a->output_lists[d] : NULL, results);
    }
}

/* The handles are written as they lie in the caller's lists. */
_Static_assert(sizeof(PJRT_Buffer *) == sizeof(uint64_t), "a handle is one word");

static void execution_watch(record_plugin *p, execution *e, uint64_t number)
{
    bool ours = e->args.device_complete_events == e->events;
    for (size_t d = 0; p->has_on_ready && e->args.device_complete_events && d < e->args.num_devices;
         d++)
        if (e->args.device_complete_events[d])
            record_watch(p, e->args.device_complete_events[d], number, (unsigned)d, ours);
}

static void execution_put(record_plugin *p, execution *e, PJRT_Error *error, uint32_t results)
{
    execution_words w;
    record_place place;
    uint64_t number = record_next_number();
    record_event event = {
        .kind = RECORD_EXECUTE, .flags = record_failure(p, error), .time = e->span.begin};
    if (error || !e->args.output_lists)
        results = 0;
    event.field[0] = e->span.end;
    event.field[1] = e->span.cpu_begin;
    event.field[2] = e->span.cpu_end;
    event.field[3] = (uint64_t)(uintptr_t)e->args.executable;
    event.field[4] = number;
    event.field[5] = (uint64_t)e->args.num_args | (uint64_t)results << 32;
    words_of(e, results, &w);
    /* An end may be told at once: its place in the file is behind the execution's, and its time is
     * before the execution's words are copied. */
    bool taken = record_open(p, w.bytes, &place);
    if (!error)
        execution_watch(p, e, number);
    if (taken)
        record_close(&place, event, w.parts, w.count);
}

static PJRT_Error *execution_record(record_plugin *p, execution *e)
{
    uint32_t results = record_executable_results(p, e->args.executable);
    if (p->has_on_ready && !e->args.device_complete_events) {
        memset(e->events, 0, e->args.num_devices * sizeof *e->events);
        e->args.device_complete_events = e->events;
    }
    e->main_cpu = record_main_cpu();
    e->span = record_begin();
    PJRT_Error *error = p->api->PJRT_LoadedExecutable_Execute(&e->args);
    record_end(&e->span);
    execution_put(p, e, error, results);
    return error;
}

PJRT_Error *record_LoadedExecutable_Execute(record_plugin *p,
                                            PJRT_LoadedExecutable_Execute_Args *caller)
{
    execution e;
    if (!execution_copy(&e, caller))
        return p->api->PJRT_LoadedExecutable_Execute(caller);
    bool recorded = record_active() && e.args.num_devices <= RECORD_DEVICES;
    PJRT_Error *error =
        recorded ? execution_record(p, &e) : p->api->PJRT_LoadedExecutable_Execute(&e.args);
    execution_return(&e, caller);
    return error;
}

/* ---- ends and waits ---------------------------------------------------------------------------
 */

PJRT_Error *record_LoadedExecutable_Destroy(record_plugin *p,
                                            PJRT_LoadedExecutable_Destroy_Args *caller)
{
    record_executable_forget(caller->executable);
    RECORD_CALL(p, LoadedExecutable_Destroy, caller, args);
    record_event event = {.kind = RECORD_EXECUTABLE_END, .time = record_now()};
    event.field[0] = (uint64_t)(uintptr_t)args->executable;
    record_put(p, event, NULL, 0);
    PJRT_Error *error = p->api->PJRT_LoadedExecutable_Destroy(args);
    record_narrow(caller, args);
    return error;
}

PJRT_Error *record_Event_Await(record_plugin *p, PJRT_Event_Await_Args *caller)
{
    RECORD_CALL(p, Event_Await, caller, args);
    record_span span = record_begin();
    PJRT_Error *error = p->api->PJRT_Event_Await(args);
    record_end(&span);
    record_narrow(caller, args);
    record_event event = {
        .kind = RECORD_WAIT, .flags = record_failure(p, error), .time = span.begin};
    event.field[0] = span.end;
    event.field[1] = span.cpu_begin;
    event.field[2] = span.cpu_end;
    record_put(p, event, NULL, 0);
    return error;
}
