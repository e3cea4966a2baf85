/*
 * profile.c - some executions seen by the plugin's own profiler, which tells what the device did in
 * them. PJRT itself only tells when an execution had ended.
 *
 * It begins once a plugin compiled nothing for RECORD_PROFILE_QUIET executions, so that it sees
 * steady steps, and ends after as many executions as were asked for. The thread whose execution is
 * next starts and stops it; other threads go on. A profiler slows the program down: readers leave
 * out what ran meanwhile. So the file's head says that it runs from the beginning on, whatever
 * becomes of the program.
 */
#include "runtime/record/record_priv.h"

#include "runtime/profile/abi.h"

#include <pthread.h>
#include <stdlib.h>

/* BUSY: a thread starts or stops it. OFF: nobody asked, or it is done. */
enum state { OFF, WAITING, BUSY, RUNNING };

static struct {
    _Atomic int state;
    _Atomic long left; /* executions before it ends */
    long wanted;
    const record_plugin *plugin;
    const struct rt_profiler_table *table;
    rt_plugin_profiler *session;
    record_profile head;
} profile;

/* The child of a fork has no profiler: its parent's sees the parent. */
static void in_child(void)
{
    atomic_store(&profile.state, OFF);
}

static void read_settings(void)
{
    const char *text = getenv(RECORD_ENV_PROFILE);
    profile.wanted = text ? strtol(text, NULL, 10) : 0;
    if (profile.wanted < 1 || profile.wanted > RECORD_PROFILE_MOST || !record_wanted())
        return;
    pthread_atfork(NULL, NULL, in_child);
    atomic_store(&profile.state, WAITING);
}

void record_profile_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
}

void record_profile_compiled(record_plugin *p)
{
    atomic_store_explicit(&p->quiet, 0, memory_order_relaxed);
}

/* ---- the profiler ---------------------------------------------------------------------------- */

/* Gives an error of the profiler back. Whether there was none. */
static bool good(rt_profiler_error *error)
{
    struct rt_profiler_error_destroy_args args = {.struct_size = sizeof args, .error = error};
    if (error && profile.table->error_destroy)
        profile.table->error_destroy(&args);
    return !error;
}

static bool session(rt_profiler_error *(*call)(struct rt_profiler_session_args *))
{
    struct rt_profiler_session_args args = {.struct_size = sizeof args,
                                            .profiler = profile.session};
    return good(call(&args));
}

/* Devices, and no events of the host (version 1 of ProfileOptions: device_tracer_level 1). */
static bool create(void)
{
    static const char request[] = {0x18, 1, 0x28, 1};
    struct rt_profiler_create_args args = {
        .struct_size = sizeof args, .options = request, .options_size = sizeof request};
    const bool made = good(profile.table->create(&args));
    profile.session = args.profiler;
    return made;
}

/* Keeps the head alone. */
static void keep_head(enum record_no_profile why)
{
    profile.head.why = why;
    profile.head.size = 0;
    profile.head.end_ns = why == RECORD_PROFILE_RUNS ? UINT64_MAX : record_now();
    (void)record_keep_profile(&profile.head, NULL);
}

static enum record_no_profile begin(void)
{
    if (!create())
        return RECORD_PROFILER_REFUSED;
    if (session(profile.table->start))
        return RECORD_PROFILE_RUNS;
    session(profile.table->destroy);
    return RECORD_PROFILER_REFUSED;
}

/* P's. Another plugin may have a profiler where P has none. */
static void start(record_plugin *p)
{
    profile.plugin = p;
    profile.table = rt_profiler_table_of(p->api);
    profile.head = (record_profile){.magic = RECORD_PROFILE_MAGIC,
                                    .version = RECORD_VERSION,
                                    .plugin = record_plugin_number(p),
                                    .executions = (uint32_t)profile.wanted,
                                    .begin_ns = record_now()};
    const enum record_no_profile what = profile.table ? begin() : RECORD_NO_PROFILER;
    profile.head.started_ns = record_now();
    keep_head(what);
    atomic_store(&p->no_profiler, what == RECORD_NO_PROFILER);
    atomic_store(&profile.left, profile.wanted - 1); /* the one that is next is the first */
    atomic_store(&profile.state, what == RECORD_PROFILE_RUNS  ? RUNNING
                                 : what == RECORD_NO_PROFILER ? WAITING
                                                              : OFF);
}

/* The profile's bytes into *BYTES (malloc) and its head, or why there are none. */
static enum record_no_profile collect(uint8_t **bytes)
{
    struct rt_profiler_collect_args args = {.struct_size = sizeof args,
                                            .profiler = profile.session};
    if (!good(profile.table->collect(&args)))
        return RECORD_PROFILE_LOST;
    const size_t room = args.buffer_size;
    if (room > RECORD_PROFILE_BYTES)
        return RECORD_PROFILE_NO_ROOM;
    *bytes = malloc(room + 1);
    if (!*bytes)
        return RECORD_PROFILE_LOST;
    if (args.buffer) {
        memcpy(*bytes, args.buffer, room);
    } else if (room > 0) {
        args.buffer = *bytes;
        if (!good(profile.table->collect(&args)) || args.buffer_size > room)
            return RECORD_PROFILE_LOST;
    }
    profile.head.size = args.buffer_size;
    return RECORD_PROFILED;
}

static void stop(void)
{
    uint8_t *bytes = NULL;
    profile.head.stop_ns = record_now();
    enum record_no_profile what =
        session(profile.table->stop) ? collect(&bytes) : RECORD_PROFILE_LOST;
    session(profile.table->destroy);
    profile.head.why = what;
    if (what == RECORD_PROFILED)
        what = record_keep_profile(&profile.head, bytes);
    if (what != RECORD_PROFILED)
        keep_head(what);
    free(bytes);
    atomic_store(&profile.state, OFF);
}

/* Whether P has compiled nothing for long enough. */
static bool is_time(record_plugin *p)
{
    return !atomic_load(&p->no_profiler) && atomic_fetch_add(&p->quiet, 1) >= RECORD_PROFILE_QUIET;
}

/* Apart, because most executions have none. */
__attribute__((noinline)) static void before(record_plugin *p, int state)
{
    if (state == WAITING && !record_goes_on()) {
        atomic_compare_exchange_strong(&profile.state, &state, OFF);
    } else if (state == WAITING) {
        if (is_time(p) && atomic_compare_exchange_strong(&profile.state, &state, BUSY))
            start(p);
    } else if (state == RUNNING && p == profile.plugin && atomic_fetch_sub(&profile.left, 1) == 0) {
        /* One thread alone finds none left. */
        atomic_store(&profile.state, BUSY);
        stop();
    }
}

void record_profile_before(record_plugin *p)
{
    const int state = atomic_load_explicit(&profile.state, memory_order_acquire);
    if (state != OFF)
        before(p, state);
}
