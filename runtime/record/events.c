/*
 * events.c - one event of a plugin's call, and before it what a reader must know: the process, the
 * thread, the plugin.
 */
#define _GNU_SOURCE /* dladdr, gettid */

#include "runtime/record/record_priv.h"

#include <dlfcn.h>
#include <unistd.h>

/* Here, because an event says whose it is. */
record_plugin record_plugins[RECORD_PLUGINS];

/* A CPU clock as it was last read, at WALL; and what was said of it last. */
typedef struct clock_read {
    uint64_t wall, cpu, said;
} clock_read;

/* The calling thread; all is of the file FILE, 0: of none. */
static _Thread_local struct {
    unsigned file;
    uint32_t number, main_thread;
    bool named;
    clock_read own, main;
    /* The BUFFER_END that this thread put last: its slot, and how many handles it has. */
    uint64_t end;
    unsigned ends;
    uint8_t end_flags;
} here;

uint32_t record_thread(void)
{
    unsigned file = record_file_number();
    if (here.file != file) {
        here.file = file;
        here.number = (uint32_t)gettid();
        here.main_thread = (uint32_t)getpid();
        here.named = false;
        here.own = here.main = (clock_read){0};
        here.ends = 0;
    }
    return here.number;
}

/* A CPU clock is a system call of half a microsecond, as long as all else that is done for a short
 * execution. So none is read twice within this time: too short for a thread to sleep in, so the
 * calling thread's is taken to have gone on with the wall. The next reading corrects that. */
#define CLOCK_REST_NS 10000

uint64_t record_cpu(uint64_t *now)
{
    clock_read *c = &here.own;
    if (!record_cpu_wanted())
        return 0;
    if (here.file != record_file_number() || *now - c->wall >= CLOCK_REST_NS) {
        record_thread();
        c->cpu = record_clock(CLOCK_THREAD_CPUTIME_ID);
        c->wall = *now = record_now();
    }
    uint64_t cpu = c->cpu + (*now - c->wall);
    /* It never goes back. */
    if (cpu > c->said)
        c->said = cpu;
    return c->said;
}

uint64_t record_main_cpu(void)
{
    clock_read *c = &here.main;
    if (!record_cpu_wanted() || record_thread() == here.main_thread)
        return 0;
    uint64_t now = record_now();
    if (now - c->wall >= CLOCK_REST_NS) {
        /* As the kernel numbers the clock of a thread by its id: bit 2 a thread's, 2 what the
         * scheduler counts. */
        c->cpu = record_clock((clockid_t)(~here.main_thread << 3 | 4 | 2));
        c->wall = now;
    }
    return c->cpu;
}

/* ---- who is speaking ------------------------------------------------------------------------- */

static void put_plugin(record_plugin *p)
{
    record_get *get = atomic_load(&p->get);
    void *address = NULL;
    Dl_info info = {0};
    memcpy(&address, &get, sizeof address);
    if (!dladdr(address, &info) || !info.dli_fname)
        info.dli_fname = "";
    struct iovec part = {.iov_base = (void *)(uintptr_t)info.dli_fname,
                         .iov_len = strlen(info.dli_fname)};
    record_event event = {.kind = RECORD_PLUGIN, .thread = record_thread(), .time = record_now()};
    event.field[0] = record_plugin_number(p);
    event.field[1] = (uint64_t)(int64_t)p->api->pjrt_api_version.major_version;
    event.field[2] = (uint64_t)(int64_t)p->api->pjrt_api_version.minor_version;
    event.field[3] = p->api->struct_size;
    record_place place;
    if (record_take(part.iov_len, &place))
        record_fill(&place, event, &part, 1);
}

bool record_ready(record_plugin *p)
{
    bool fresh;
    if (!record_file_begin(&fresh))
        return false;
    uint32_t thread = record_thread();
    if (fresh)
        record_about_process(thread);
    if (!here.named) {
        here.named = true;
        record_about_thread(thread);
    }
    unsigned file = record_file_number();
    if (atomic_load_explicit(&p->told, memory_order_relaxed) != file &&
        atomic_exchange(&p->told, file) != file)
        put_plugin(p);
    return true;
}

/* ---- events --------------------------------------------------------------------------------- */

bool record_open(record_plugin *p, size_t bytes, record_place *place)
{
    return record_ready(p) && record_take(bytes, place);
}

void record_close(const record_place *place, record_event event, const struct iovec *parts,
                  size_t count)
{
    event.thread = record_thread();
    record_fill(place, event, parts, count);
}

void record_put(record_plugin *p, record_event event, const struct iovec *parts, size_t count)
{
    record_place place;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += parts[i].iov_len;
    if (record_open(p, bytes, &place))
        record_close(&place, event, parts, count);
}

/* A third of all events were ends of one buffer each, and most of a program's buffers end beside
 * others. */
void record_put_end(record_plugin *p, uint64_t handle, uint8_t flags)
{
    record_event event = {.kind = RECORD_BUFFER_END, .flags = flags};
    record_place place;
    record_thread();
    if (here.ends > 0 && here.ends < sizeof event.field / sizeof *event.field &&
        here.end_flags == flags && record_append(here.end, here.ends, handle)) {
        here.ends++;
        return;
    }
    here.ends = 0;
    event.time = record_now();
    event.field[0] = handle;
    if (!record_open(p, 0, &place))
        return;
    record_close(&place, event, NULL, 0);
    here.end = place.first;
    here.ends = 1;
    here.end_flags = flags;
}

void record_put_text(record_plugin *p, enum record_text what, uint64_t of, const char *text,
                     size_t length)
{
    if (text && record_ready(p))
        record_text(what, of, record_thread(), text, length);
}

uint8_t record_failure(record_plugin *p, PJRT_Error *error)
{
    if (!error)
        return 0;
    RECORD_ARGS(Error_Message, args, .error = error);
    p->api->PJRT_Error_Message(&args);
    record_put_text(p, RECORD_TEXT_ERROR, record_plugin_number(p), args.message, args.message_size);
    return RECORD_FAILED;
}
