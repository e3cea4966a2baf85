/*
 * calls_execute.c - executions, waits and ends of executables. Recording an execution allocates
 * nothing.
 */
#include "runtime/record/record_priv.h"

/* ---- an execution -----------------------------------------------------------------------------
 */

enum { ARGS_MOST = 256 }; /* bytes of the arguments of newer callers */

/* The arguments passed to the plugin for one execution. */
typedef struct execution {
    union {
        PJRT_LoadedExecutable_Execute_Args args;
        char bytes[ARGS_MOST];
    };
    PJRT_ExecuteOptions options;        /* where the caller's are short */
    PJRT_Event *events[RECORD_DEVICES]; /* where the caller wants none */
    uint32_t results;                   /* on each device */
    record_donation *donation;          /* NULL: there is no room for one */
    uint64_t main_cpu;
    record_span span;
} execution;

/* False where the caller's struct has a size that no version of the header has. */
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

/* Copies what the plugin may have written to the caller, except the pointers that were replaced. */
static void execution_copy_back(execution *e, PJRT_LoadedExecutable_Execute_Args *caller)
{
    e->args.options = caller->options;
    e->args.device_complete_events = caller->device_complete_events;
    record_narrow(caller, e->bytes);
}

/* The caller's options; NULL where their size is too small to be true, so that they must not be
 * read. */
static const PJRT_ExecuteOptions *options_of(const execution *e)
{
    const PJRT_ExecuteOptions *o = e->args.options;
    return o && o->struct_size >= PJRT_ExecuteOptions_STRUCT_SIZE ? o : NULL;
}

/* The inputs that may not be donated; how many. */
static size_t kept_of(const execution *e, const int64_t **kept)
{
    const PJRT_ExecuteOptions *o = options_of(e);
    *kept = o ? o->non_donatable_input_indices : NULL;
    return *kept ? o->num_non_donatable_input_indices : 0;
}

/* ---- consumed arguments --------------------------------------------------------------
 */

enum { ANSWERS = 1024 }; /* words of bits; executions of more arguments are not asked for */

static size_t answer_words(const execution *e)
{
    return (e->args.num_args * e->args.num_devices + 63) / 64;
}

static uint32_t key_of(const execution *e)
{
    const int64_t *kept;
    const size_t count = kept_of(e, &kept);
    return record_donation_key(kept, count, e->args.num_devices);
}

/* Whether the plugin is to be asked. */
static bool must_ask(const record_plugin *p, const execution *e)
{
    const size_t arguments = e->args.num_args;
    if (arguments == 0 || arguments > ANSWERS * 64 || answer_words(e) > ANSWERS ||
        !RECORD_HAS(p, Buffer_IsDeleted))
        return false;
    return !e->donation || record_donation_due(e->donation, key_of(e));
}

/* The arguments live: they are the caller's, who has not returned from its call. */
static void ask(const record_plugin *p, const execution *e, uint64_t *answers)
{
    size_t bit = 0;
    memset(answers, 0, answer_words(e) * sizeof *answers);
    for (size_t d = 0; d < e->args.num_devices; d++)
        for (size_t i = 0; i < e->args.num_args; i++, bit++) {
            PJRT_Buffer *buffer = e->args.argument_lists[d][i];
            if (buffer && record_is_deleted(p, buffer))
                answers[bit / 64] |= (uint64_t)1 << bit % 64;
        }
    if (e->donation)
        record_donation_learn(e->donation, key_of(e), answers, answer_words(e));
}

/* ---- its event ------------------------------------------------------------------------------ */

enum { FIXED = 4, PARTS = 3 + 2 * RECORD_DEVICES };

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
    const PJRT_ExecuteOptions *o = options_of(e);
    const int64_t *kept;
    const size_t kept_count = kept_of(e, &kept);
    w->count = w->bytes = 0;
    w->fixed[0] = (uint64_t)a->num_devices | (uint64_t)kept_count << 32;
    w->fixed[1] = (uint64_t)(uintptr_t)a->execute_device;
    w->fixed[2] = o ? (uint64_t)(int64_t)o->launch_id : 0;
    w->fixed[3] = e->main_cpu;
    add(w, w->fixed, FIXED);
    add(w, kept, kept_count);
    for (size_t d = 0; d < a->num_devices; d++) {
        add(w, a->argument_lists ? a->argument_lists[d] : NULL, a->num_args);
        add(w, a->output_lists ? a->output_lists[d] : NULL, results);
    }
}

/* The handles are written as they lie in the caller's lists. */
_Static_assert(sizeof(PJRT_Buffer *) == sizeof(uint64_t), "a handle is one word");

/* Whether all devices had ended when the call returned: some plugins run small programs within it.
 * Then no callback is needed, and events of ours are destroyed. */
static bool execution_ended(record_plugin *p, execution *e)
{
    PJRT_Event **events = e->args.device_complete_events;
    if (!p->has_on_ready || !events)
        return false;
    for (size_t d = 0; d < e->args.num_devices; d++)
        if (!events[d] || !record_has_fired(p, events[d]))
            return false;
    for (size_t d = 0; events == e->events && d < e->args.num_devices; d++)
        record_event_destroy(p, events[d]);
    return true;
}

static void execution_watch(record_plugin *p, execution *e, uint64_t number)
{
    bool ours = e->args.device_complete_events == e->events;
    for (size_t d = 0; p->has_on_ready && e->args.device_complete_events && d < e->args.num_devices;
         d++)
        if (e->args.device_complete_events[d])
            record_watch(p, e->args.device_complete_events[d], number, (unsigned)d, ours);
}

/* With room for ANSWERS the plugin is asked what the execution took. */
static void execution_put(record_plugin *p, execution *e, PJRT_Error *error, uint64_t *answers)
{
    execution_words w;
    record_place place;
    uint64_t number = record_next_number();
    uint32_t results = error || !e->args.output_lists ? 0 : e->results;
    bool ended = !error && execution_ended(p, e);
    record_event event = {
        .kind = RECORD_EXECUTE, .flags = record_failure(p, error), .time = e->span.begin};
    event.flags |= (uint8_t)((ended ? RECORD_ENDED : 0) | (answers ? RECORD_ASKED : 0));
    event.field[0] = e->span.end;
    event.field[1] = e->span.cpu_begin;
    event.field[2] = e->span.cpu_end;
    event.field[3] = (uint64_t)(uintptr_t)e->args.executable;
    event.field[4] = number;
    event.field[5] = (uint64_t)e->args.num_args | (uint64_t)results << 32;
    words_of(e, results, &w);
    if (answers)
        add(&w, answers, answer_words(e));
    /* An end may be reported at once: its slot in the file is behind the execution's, and its time
     * is before the execution's words are copied. */
    bool taken = record_open(p, w.bytes, &place);
    if (!error && !ended)
        execution_watch(p, e, number);
    if (taken && answers)
        ask(p, e, answers);
    if (taken)
        record_close(&place, event, w.parts, w.count);
}

/* A function of its own, so that other executions do not touch the stack that ANSWERS takes. */
__attribute__((noinline)) static void execution_put_asked(record_plugin *p, execution *e)
{
    uint64_t answers[ANSWERS];
    execution_put(p, e, NULL, answers);
}

static PJRT_Error *execution_record(record_plugin *p, execution *e)
{
    e->results = record_executable_results(p, e->args.executable, &e->donation);
    if (p->has_on_ready && !e->args.device_complete_events) {
        memset(e->events, 0, e->args.num_devices * sizeof *e->events);
        e->args.device_complete_events = e->events;
    }
    e->main_cpu = record_main_cpu();
    e->span = record_begin();
    PJRT_Error *error = record_execute(p, &e->args);
    record_end(&e->span);
    if (!error && must_ask(p, e))
        execution_put_asked(p, e);
    else
        execution_put(p, e, error, NULL);
    return error;
}

PJRT_Error *record_LoadedExecutable_Execute(record_plugin *p,
                                            PJRT_LoadedExecutable_Execute_Args *caller)
{
    execution e;
    /* Also when the recording has stopped: a running profiler must still be stopped. */
    record_profile_before(p);
    if (!execution_copy(&e, caller)) {
        record_lost_call(p);
        return p->api->PJRT_LoadedExecutable_Execute(caller);
    }
    bool too_many = e.args.num_devices > RECORD_DEVICES;
    if (too_many)
        record_lost_call(p);
    if (record_gate_is_asked()) {
        record_gate_look();
        record_gate_execution(record_gate_names() ? record_executable_name(p, e.args.executable)
                                                  : 0);
    }
    bool recorded = !too_many && record_gate_open() && record_active();
    PJRT_Error *error =
        recorded ? execution_record(p, &e) : record_execute(p, &e.args);
    execution_copy_back(&e, caller);
    return error;
}

/* ---- ends and waits ---------------------------------------------------------------------------
 */

PJRT_Error *record_LoadedExecutable_Destroy(record_plugin *p,
                                            PJRT_LoadedExecutable_Destroy_Args *caller)
{
    RECORD_CALL_KEPT(p, LoadedExecutable_Destroy, caller, args);
    /* The plugin may reuse its address for another one. */
    record_executable_forget(args->executable);
    record_event event = {.kind = RECORD_EXECUTABLE_END, .time = record_now()};
    event.field[0] = (uint64_t)(uintptr_t)args->executable;
    if (record_has_begun())
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
    record_event event = record_span_event(RECORD_WAIT, &span);
    event.flags = record_failure(p, error);
    record_put(p, event, NULL, 0);
    return error;
}
