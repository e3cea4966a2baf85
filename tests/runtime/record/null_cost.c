/*
 * null_cost.c - what the recorder itself costs: the time of calls through it less that of the same
 * calls without it, of a plugin whose calls do nothing.
 *
 *   null_cost [STEPS]
 *
 * A step is an execution with as many results as arguments; the arguments end behind it, as JAX
 * ends them. Prints lines: arguments; "donated" or "kept"; how the execution ended, "within" the
 * call or "later", by a callback; nanoseconds a step that the recorder takes. The least of REPEATS
 * counts: others can only slow it down.
 */
#include "tests/runtime/record/record_fixture.h"

#include <time.h>

enum { MOST = 300, REPEATS = 40, HANDLES = 4 * MOST };

/* ---- a plugin that does nothing ---------------------------------------------------------------
 */

static struct {
    uint64_t next; /* handle */
    size_t results;
    bool donates, late;
    PJRT_Event_OnReadyCallback callback;
    void *callback_argument;
} null;
static char buffers[HANDLES], an_event;

static PJRT_Error *null_execute(PJRT_LoadedExecutable_Execute_Args *args)
{
    for (size_t i = 0; i < null.results; i++)
        args->output_lists[0][i] = (PJRT_Buffer *)(void *)&buffers[null.next++ % HANDLES];
    if (args->device_complete_events)
        args->device_complete_events[0] = (PJRT_Event *)(void *)&an_event;
    return NULL;
}

static PJRT_Error *null_destroy(PJRT_Buffer_Destroy_Args *args)
{
    (void)args;
    return NULL;
}

static PJRT_Error *null_is_deleted(PJRT_Buffer_IsDeleted_Args *args)
{
    args->is_deleted = null.donates;
    return NULL;
}

static PJRT_Error *null_is_ready(PJRT_Event_IsReady_Args *args)
{
    args->is_ready = !null.late;
    return NULL;
}

static PJRT_Error *null_error(PJRT_Event_Error_Args *args)
{
    (void)args;
    return NULL;
}

static PJRT_Error *null_on_ready(PJRT_Event_OnReady_Args *args)
{
    null.callback = args->callback;
    null.callback_argument = args->user_arg;
    return NULL;
}

static PJRT_Error *null_event_destroy(PJRT_Event_Destroy_Args *args)
{
    (void)args;
    return NULL;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The mean time of a step of STEPS ones of API, of EXECUTABLE. */
static double steps_ns(const PJRT_Api *api, PJRT_LoadedExecutable *executable, size_t count,
                       size_t steps)
{
    PJRT_Buffer *lists[2][MOST], *const *arguments = lists[0];
    PJRT_Buffer **results = lists[1];
    PJRT_ExecuteOptions options = {.struct_size = PJRT_ExecuteOptions_STRUCT_SIZE};
    for (size_t i = 0; i < count; i++)
        lists[0][i] = (PJRT_Buffer *)(void *)&buffers[null.next++ % HANDLES];
    const uint64_t begin = now_ns();
    for (size_t step = 0; step < steps; step++) {
        PJRT_LoadedExecutable_Execute_Args args = {
            .struct_size = PJRT_LoadedExecutable_Execute_Args_STRUCT_SIZE,
            .executable = executable,
            .options = &options,
            .argument_lists = &arguments,
            .num_devices = 1,
            .num_args = count,
            .output_lists = &results};
        api->PJRT_LoadedExecutable_Execute(&args);
        if (null.callback) {
            null.callback(NULL, null.callback_argument);
            null.callback = NULL;
        }
        for (size_t i = 0; i < count; i++) {
            PJRT_Buffer_Destroy_Args end = {.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                            .buffer = arguments[i]};
            api->PJRT_Buffer_Destroy(&end);
        }
        PJRT_Buffer **before = (PJRT_Buffer **)(uintptr_t)arguments;
        arguments = results;
        results = before;
    }
    return (double)(now_ns() - begin) / (double)steps;
}

/* The recorder asks the executable how many results it has: COUNT, when it sees it first. */
static size_t outputs;
static PJRT_Error *null_outputs(PJRT_Executable_NumOutputs_Args *args)
{
    args->num_outputs = outputs;
    return NULL;
}
static PJRT_Error *null_get(PJRT_LoadedExecutable_GetExecutable_Args *args)
{
    args->executable = (PJRT_Executable *)(void *)&an_event;
    return NULL;
}
static PJRT_Error *null_destroy_executable(PJRT_Executable_Destroy_Args *args)
{
    (void)args;
    return NULL;
}

static void be_null(PJRT_Api *api)
{
    api->PJRT_LoadedExecutable_Execute = null_execute;
    api->PJRT_Buffer_Destroy = null_destroy;
    api->PJRT_Buffer_IsDeleted = null_is_deleted;
    api->PJRT_Event_IsReady = null_is_ready;
    api->PJRT_Event_Error = null_error;
    api->PJRT_Event_OnReady = null_on_ready;
    api->PJRT_Event_Destroy = null_event_destroy;
    api->PJRT_Executable_NumOutputs = null_outputs;
    api->PJRT_LoadedExecutable_GetExecutable = null_get;
    api->PJRT_Executable_Destroy = null_destroy_executable;
    api->PJRT_Executable_Name = NULL;
    api->PJRT_Executable_OutputElementTypes = NULL;
    api->PJRT_Executable_OutputDimensions = NULL;
    api->PJRT_Executable_GetCostAnalysis = NULL;
    api->PJRT_Executable_GetCompiledMemoryStats = NULL;
    api->PJRT_LoadedExecutable_AddressableDevices = NULL;
}

static double measure(const PJRT_Api *plain, const PJRT_Api *recorded, size_t count, size_t steps)
{
    static char executables[64][16];
    static size_t next;
    PJRT_LoadedExecutable *executable = (PJRT_LoadedExecutable *)(void *)executables[next++ % 64];
    double least[2] = {1e18, 1e18};
    null.results = outputs = count;
    for (int i = 0; i < REPEATS; i++)
        for (int side = 0; side < 2; side++) {
            const double ns = steps_ns(side ? recorded : plain, executable, count, steps);
            least[side] = ns < least[side] ? ns : least[side];
        }
    return least[1] - least[0];
}

int main(int argc, char **argv)
{
    static const size_t counts[] = {1, 20, 300};
    const size_t steps = argc > 1 ? strtoul(argv[1], NULL, 10) : 300;
    if (!getenv(RECORD_ENV_FOLDER)) {
        fprintf(stderr,
                "null_cost: set " RECORD_ENV_FOLDER ": without a folder nothing is recorded\n");
        return 2;
    }
    /* The recorder's table first: it keeps its own copy of the plugin's, and calls the changed
     * one. */
    void *library = dlopen(built("pjrt_record"), RTLD_NOW | RTLD_LOCAL);
    const PJRT_Api *(*get)(void) = NULL;
    setenv(RECORD_ENV_PLUGIN, built("pjrt_sim"), 1);
    void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
    memcpy(&get, &symbol, sizeof get);
    MUST(get);
    const PJRT_Api *recorded = get();
    PJRT_Api *plain = table_of("pjrt_sim");
    be_null(plain);
    for (int late = 0; late < 2; late++)
        for (int donated = 0; donated < 2; donated++)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                null.donates = donated;
                null.late = late;
                const double ns = measure(plain, recorded, counts[i], steps);
                printf("%zu %s %s %.1f\n", counts[i], donated ? "donated" : "kept",
                       late ? "later" : "within", ns);
            }
    return 0;
}
