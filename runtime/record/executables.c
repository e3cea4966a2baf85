/*
 * executables.c - plugins' descriptions of their executables, and the number of results of each,
 * which an execution needs and PJRT's call to execute does not have.
 *
 * The table is read without a lock. It is open-addressed; a removed entry leaves a tombstone, so
 * that searches go on behind it.
 */
#include "runtime/record/record_priv.h"

#include <stdlib.h>

enum { PLACES = 1 << 16, SEARCHED = 256 };
#define EMPTY ((uintptr_t)0)
#define TOMBSTONE ((uintptr_t)1) /* no handle: they are aligned */

static struct {
    _Atomic uintptr_t handle;
    _Atomic uint64_t results; /* and in the high half the number of the file that tells of it */
    _Atomic uint64_t name;    /* its hash */
    record_donation donation;
} known[PLACES];

static size_t place_of(uintptr_t handle, size_t step)
{
    uint64_t mixed = (uint64_t)handle * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)((mixed >> 40) + step) % PLACES;
}

static bool find(uintptr_t handle, size_t *place)
{
    for (size_t step = 0; step < SEARCHED; step++) {
        *place = place_of(handle, step);
        uintptr_t there = atomic_load_explicit(&known[*place].handle, memory_order_acquire);
        if (there == handle)
            return true;
        if (there == EMPTY)
            return false;
    }
    return false;
}

/* An executable that finds no free entry stays unknown, and is described again at each use. */
static void remember(uintptr_t handle, uint32_t results, uint64_t name)
{
    size_t place;
    record_lock(RECORD_LOCK_EXECUTABLES);
    bool found = find(handle, &place);
    for (size_t step = 0; !found && step < SEARCHED; step++) {
        place = place_of(handle, step);
        uintptr_t there = atomic_load(&known[place].handle);
        found = there == EMPTY || there == TOMBSTONE;
    }
    if (found) {
        atomic_store(&known[place].donation.rest, 0);
        atomic_store(&known[place].donation.answers, 0);
        atomic_store(&known[place].name, name);
        atomic_store_explicit(&known[place].results, (uint64_t)record_file_number() << 32 | results,
                              memory_order_relaxed);
        atomic_store_explicit(&known[place].handle, handle, memory_order_release);
    }
    record_unlock(RECORD_LOCK_EXECUTABLES);
}

void record_executable_forget(const PJRT_LoadedExecutable *loaded)
{
    size_t place;
    record_lock(RECORD_LOCK_EXECUTABLES);
    if (find((uintptr_t)loaded, &place))
        atomic_store(&known[place].handle, TOMBSTONE);
    record_unlock(RECORD_LOCK_EXECUTABLES);
}

/* ---- what the plugin says ---------------------------------------------------------------------
 */

/* Growing words of an event. Without memory they end, and the event is not put. */
typedef struct words {
    uint64_t *data;
    size_t count, capacity;
    bool failed;
} words;

static void add(words *w, uint64_t value)
{
    if (w->count == w->capacity) {
        size_t more = w->capacity ? 2 * w->capacity : 256;
        uint64_t *data = realloc(w->data, more * sizeof *data);
        w->failed = w->failed || !data;
        if (!data)
            return;
        w->data = data;
        w->capacity = more;
    }
    w->data[w->count++] = value;
}

static PJRT_Executable *executable_of(record_plugin *p, PJRT_LoadedExecutable *loaded)
{
    RECORD_ARGS(LoadedExecutable_GetExecutable, args, .loaded_executable = loaded);
    if (!RECORD_HAS(p, LoadedExecutable_GetExecutable) ||
        !record_succeeded(p, p->api->PJRT_LoadedExecutable_GetExecutable(&args)))
        return NULL;
    return args.executable;
}

static void destroy_executable(record_plugin *p, PJRT_Executable *executable)
{
    RECORD_ARGS(Executable_Destroy, args, .executable = executable);
    if (executable && RECORD_HAS(p, Executable_Destroy))
        record_succeeded(p, p->api->PJRT_Executable_Destroy(&args));
}

/* The plugin's description of an executable's results. COUNT 0: none that can be used. */
typedef struct reported_results {
    size_t count;
    const PJRT_Buffer_Type *types; /* NULL: not reported */
    const size_t *ranks;           /* NULL: not reported */
    const int64_t *dims;
} reported_results;

static reported_results results_of(record_plugin *p, PJRT_Executable *executable)
{
    reported_results r = {0};
    RECORD_ARGS(Executable_NumOutputs, outputs, .executable = executable);
    RECORD_ARGS(Executable_OutputElementTypes, types, .executable = executable);
    RECORD_ARGS(Executable_OutputDimensions, dims, .executable = executable);
    if (!executable || !RECORD_HAS(p, Executable_NumOutputs) ||
        !record_succeeded(p, p->api->PJRT_Executable_NumOutputs(&outputs)))
        return r;
    const bool has_types =
        RECORD_HAS(p, Executable_OutputElementTypes) &&
        record_succeeded(p, p->api->PJRT_Executable_OutputElementTypes(&types)) &&
        types.output_types;
    dims.num_outputs = outputs.num_outputs;
    const bool has_dims = RECORD_HAS(p, Executable_OutputDimensions) &&
                           record_succeeded(p, p->api->PJRT_Executable_OutputDimensions(&dims)) &&
                           dims.dim_sizes;
    /* The number is that of handles in the caller's lists, which are read after each execution:
     * where two answers differ, none are. */
    if (has_types && types.num_output_types != outputs.num_outputs) {
        record_contradiction(p, "results of a program", outputs.num_outputs,
                             types.num_output_types);
        return r;
    }
    if (has_dims && dims.num_outputs != outputs.num_outputs) {
        record_contradiction(p, "results of a program", outputs.num_outputs, dims.num_outputs);
        return r;
    }
    r.count = record_list_length(p, "results of a program", outputs.num_outputs, RECORD_MOST_LISTED,
                                 &outputs);
    r.types = has_types ? types.output_types : NULL;
    r.ranks = has_dims ? dims.dim_sizes : NULL;
    r.dims = dims.dims;
    for (size_t i = 0; r.ranks && i < r.count; i++)
        if (r.ranks[i] && record_list_length(p, "dimensions of a result", r.ranks[i],
                                             RECORD_MOST_RANK, dims.dims) == 0)
            r.ranks = NULL; /* of the next ones nobody knows where they begin */
    return r;
}

static void add_devices(record_plugin *p, PJRT_LoadedExecutable *loaded, words *w)
{
    RECORD_ARGS(LoadedExecutable_AddressableDevices, args, .executable = loaded);
    if (!RECORD_HAS(p, LoadedExecutable_AddressableDevices) ||
        !record_succeeded(p, p->api->PJRT_LoadedExecutable_AddressableDevices(&args)))
        args.num_addressable_devices = 0;
    const size_t count = record_list_length(p, "devices of a program", args.num_addressable_devices,
                                            RECORD_MOST_LISTED, args.addressable_devices);
    add(w, count);
    for (size_t i = 0; i < count; i++)
        add(w, (uint64_t)(uintptr_t)args.addressable_devices[i]);
}

/* Type, rank and dimensions of each result; type 0 and rank 0 if not reported. */
static void add_results(const reported_results *r, words *w)
{
    const int64_t *next = r->dims;
    for (size_t i = 0; i < r->count; i++) {
        const size_t rank = r->ranks ? r->ranks[i] : 0;
        add(w, r->types ? (uint64_t)r->types[i] : 0);
        add(w, rank);
        for (size_t d = 0; d < rank; d++)
            add(w, (uint64_t)*next++);
    }
}

/* The number of the property NAME as the bits of a double; those of -1 if not reported. */
static uint64_t cost_bits(const PJRT_Executable_GetCostAnalysis_Args *costs, const char *name)
{
    double value = -1;
    uint64_t bits;
    for (size_t i = 0; i < costs->num_properties; i++) {
        const PJRT_NamedValue *v = &costs->properties[i];
        if (!v->name || v->name_size != strlen(name) || memcmp(v->name, name, v->name_size) != 0)
            continue;
        if (v->type == PJRT_NamedValue_kFloat)
            value = (double)v->float_value;
        else if (v->type == PJRT_NamedValue_kInt64)
            value = (double)v->int64_value;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void set_costs(record_plugin *p, PJRT_Executable *executable, record_event *event)
{
    RECORD_ARGS(Executable_GetCostAnalysis, costs, .executable = executable);
    RECORD_ARGS(Executable_GetCompiledMemoryStats, memory, .executable = executable);
    if (!executable || !RECORD_HAS(p, Executable_GetCostAnalysis) ||
        !record_succeeded(p, p->api->PJRT_Executable_GetCostAnalysis(&costs)))
        costs.num_properties = 0;
    costs.num_properties = record_list_length(p, "costs of a program", costs.num_properties,
                                              RECORD_MOST_LISTED, costs.properties);
    event->field[2] = cost_bits(&costs, "flops");
    event->field[3] = cost_bits(&costs, "bytes accessed");
    event->field[4] = event->field[5] = UINT64_MAX;
    if (!executable || !RECORD_HAS(p, Executable_GetCompiledMemoryStats) ||
        !record_succeeded(p, p->api->PJRT_Executable_GetCompiledMemoryStats(&memory)))
        return;
    event->field[4] = (uint64_t)memory.temp_size_in_bytes;
    event->field[5] = (uint64_t)memory.generated_code_size_in_bytes;
}

uint32_t record_executable_about(record_plugin *p, PJRT_LoadedExecutable *loaded)
{
    words w = {0};
    PJRT_Executable *executable = executable_of(p, loaded);
    const reported_results r = results_of(p, executable);
    RECORD_ARGS(Executable_Name, name, .executable = executable);
    if (!executable || !RECORD_HAS(p, Executable_Name) ||
        !record_succeeded(p, p->api->PJRT_Executable_Name(&name)))
        name.executable_name_size = 0;
    name.executable_name_size = record_text_length(p, "letters of a program's name",
                                                   name.executable_name_size, name.executable_name);
    record_event event = {.kind = RECORD_EXECUTABLE, .time = record_now()};
    event.field[0] = (uint64_t)(uintptr_t)loaded;
    event.field[1] = r.count;
    set_costs(p, executable, &event);
    add_devices(p, loaded, &w);
    add_results(&r, &w);
    add(&w, name.executable_name_size);
    const struct iovec parts[2] = {
        {.iov_base = w.data, .iov_len = w.count * sizeof *w.data},
        {.iov_base = (void *)(uintptr_t)name.executable_name, .iov_len = name.executable_name_size},
    };
    if (!w.failed)
        record_put(p, event, parts, 2);
    remember((uintptr_t)loaded, (uint32_t)r.count,
             record_name_hash(name.executable_name, name.executable_name_size));
    destroy_executable(p, executable);
    free(w.data);
    return (uint32_t)r.count;
}

/* Whether the file tells of LOADED. Where it has a place, *DONATION is there. */
static bool is_known(const PJRT_LoadedExecutable *loaded, uint32_t *results,
                     record_donation **donation)
{
    size_t place;
    *donation = NULL;
    if (!find((uintptr_t)loaded, &place))
        return false;
    uint64_t value = atomic_load_explicit(&known[place].results, memory_order_relaxed);
    *results = (uint32_t)value;
    *donation = &known[place].donation;
    return value >> 32 == record_file_number();
}

uint32_t record_executable_results(record_plugin *p, PJRT_LoadedExecutable *loaded,
                                   record_donation **donation)
{
    uint32_t results = 0;
    if (!is_known(loaded, &results, donation)) {
        results = record_executable_about(p, loaded);
        uint32_t same;
        (void)is_known(loaded, &same, donation);
    }
    return results;
}

uint64_t record_executable_name(record_plugin *p, PJRT_LoadedExecutable *loaded)
{
    record_donation *donation;
    size_t place;
    (void)record_executable_results(p, loaded, &donation);
    return find((uintptr_t)loaded, &place)
               ? atomic_load_explicit(&known[place].name, memory_order_relaxed)
               : 0;
}

/* ---- donation -------------------------------------------------------------------------------- */

/* So many answers in a row must be the same. Then one in ASK_EVERY executions is asked of: a prime,
 * so that whatever comes every so many executions is met. */
enum { AGREE = 4, ASK_EVERY = 61 };

/* A hash of numbers in any order: callers may keep them in a set without one. */
static uint32_t hash_of(const uint64_t *numbers, size_t count, bool ordered)
{
    uint64_t sum = count;
    for (size_t i = 0; i < count; i++) {
        uint64_t factor = UINT64_C(0x9E3779B97F4A7C15) + (ordered ? 2 * i : 0);
        uint64_t mixed = (numbers[i] + 1) * factor;
        sum += (mixed ^ mixed >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
    }
    return (uint32_t)(sum >> 32);
}

uint32_t record_donation_key(const int64_t *kept, size_t count, size_t devices)
{
    return hash_of((const uint64_t *)kept, count, false) ^ (uint32_t)devices;
}

bool record_donation_due(record_donation *donation, uint32_t key)
{
    uint64_t rest = atomic_load_explicit(&donation->rest, memory_order_relaxed);
    if ((uint32_t)rest == 0 || rest >> 32 != key)
        return true;
    atomic_store_explicit(&donation->rest, rest - 1, memory_order_relaxed);
    return false;
}

void record_donation_learn(record_donation *donation, uint32_t key, const uint64_t *answers,
                           size_t count)
{
    uint64_t before = atomic_load_explicit(&donation->answers, memory_order_relaxed);
    uint64_t rest = atomic_load_explicit(&donation->rest, memory_order_relaxed);
    uint64_t hash = hash_of(answers, count, true), agreed = 1;
    if (before >> 32 == hash && rest >> 32 == key)
        agreed = (uint32_t)before < AGREE ? (uint32_t)before + 1 : AGREE;
    atomic_store_explicit(&donation->answers, hash << 32 | agreed, memory_order_relaxed);
    rest = (uint64_t)key << 32 | (agreed == AGREE ? ASK_EVERY - 1 : 0);
    atomic_store_explicit(&donation->rest, rest, memory_order_relaxed);
}
