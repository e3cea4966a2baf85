/*
 * profile.c - some executions seen by the plugin's own profiler, which tells what the device did in
 * them. PJRT itself only tells when an execution had ended.
 *
 * It begins once nothing was compiled for RECORD_PROFILE_QUIET executions, so that it sees steady
 * steps, and ends after as many executions as were asked for. The thread whose execution is next
 * starts and stops it; other threads go on. A profiler slows the program down: readers leave out
 * what ran meanwhile.
 */
#include "runtime/record/record_priv.h"

#include "runtime/profile/abi.h"

#include <pthread.h>
#include <stdlib.h>

/* BUSY: a thread starts or stops it. OFF: nobody asked, or it is done. */
enum state { OFF, WAITING, BUSY, RUNNING };

static struct {
    _Atomic int state;
    _Atomic unsigned quiet; /* executions since something was compiled */
    _Atomic long left;      /* executions before it ends */
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

void record_profile_compiled(void)
{
    atomic_store_explicit(&profile.quiet, 0, memory_order_relaxed);
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

static void give_up(enum record_no_profile why)
{
    profile.head.why = why;
    profile.head.end_ns = record_now();
    record_keep_profile(&profile.head, NULL);
    atomic_store(&profile.state, OFF);
}

static void start(const record_plugin *p)
{
    profile.plugin = p;
    profile.table = rt_profiler_table_of(p->api);
    profile.head = (record_profile){.magic = RECORD_PROFILE_MAGIC,
                                    .version = RECORD_VERSION,
                                    .plugin = record_plugin_number(p),
                                    .begin_ns = record_now()};
    if (!profile.table) {
        give_up(RECORD_NO_PROFILER);
    } else if (!create()) {
        give_up(RECORD_PROFILER_REFUSED);
    } else if (!session(profile.table->start)) {
        session(profile.table->destroy);
        give_up(RECORD_PROFILER_REFUSED);
    } else {
        profile.head.started_ns = record_now();
        atomic_store(&profile.left, profile.wanted - 1); /* the one that is next is the first */
        atomic_store(&profile.state, RUNNING);
    }
}

/* The profile's bytes into *BYTES (malloc). */
static bool collect(uint8_t **bytes, size_t *size)
{
    struct rt_profiler_collect_args args = {.struct_size = sizeof args,
                                            .profiler = profile.session};
    *bytes = NULL;
    if (!good(profile.table->collect(&args)))
        return false;
    *size = args.buffer_size;
    *bytes = malloc(*size + 1);
    if (!*bytes)
        return false;
    if (args.buffer) {
        memcpy(*bytes, args.buffer, *size);
        return true;
    }
    args.buffer = *bytes;
    return *size == 0 || good(profile.table->collect(&args));
}

static void stop(void)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    profile.head.stop_ns = record_now();
    const bool whole = session(profile.table->stop) && collect(&bytes, &size);
    session(profile.table->destroy);
    if (whole) {
        profile.head.size = size;
        profile.head.executions = (uint32_t)profile.wanted;
        profile.head.end_ns = record_now();
        record_keep_profile(&profile.head, bytes);
        atomic_store(&profile.state, OFF);
    } else {
        give_up(RECORD_PROFILE_LOST);
    }
    free(bytes);
}

/* Apart, because most executions have none. */
__attribute__((noinline)) static void before(const record_plugin *p, int state)
{
    if (state == WAITING) {
        const unsigned quiet = atomic_fetch_add(&profile.quiet, 1);
        if (quiet >= RECORD_PROFILE_QUIET &&
            atomic_compare_exchange_strong(&profile.state, &state, BUSY))
            start(p);
    } else if (state == RUNNING && p == profile.plugin && atomic_fetch_sub(&profile.left, 1) == 0) {
        /* One thread alone finds none left. */
        atomic_store(&profile.state, BUSY);
        stop();
    }
}

void record_profile_before(const record_plugin *p)
{
    const int state = atomic_load_explicit(&profile.state, memory_order_acquire);
    if (state != OFF)
        before(p, state);
}
