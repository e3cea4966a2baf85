/*
 * events.c - one event of a plugin's call, and before it what a reader must know: the process, the
 * thread, the plugin.
 */
#define _GNU_SOURCE /* dladdr, gettid */

#include "runtime/record/record_priv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

/* Here, because an event says whose it is. */
record_plugin record_plugins[RECORD_PLUGINS];

/* The last reading of a CPU clock. */
typedef struct clock_read {
    uint64_t wall, cpu; /* the time of the reading, and its value */
    uint64_t rest;      /* nanoseconds after WALL in which it is not read again */
    uint64_t reported;  /* the last value that record_cpu returned */
    uint64_t off;       /* off the CPU since the run delay was read */
} clock_read;

/* A thread that calls a plugin. All members are of its events in file FILE; 0: there are none. */
typedef struct caller {
    unsigned file;
    uint32_t number, main_thread;
    bool named;
    clock_read own, main;
    /* The BUFFER_END that this thread put last: how many handles it has, and has room for. */
    record_place end;
    size_t ends, room;
    uint8_t end_flags;
    unsigned begun; /* BUFFER_ENDs with RECORD_UNASKED */
} caller;
static _Thread_local caller here;

/* The calling thread. Thread-local memory of a library that dlopen loaded takes a function call, so
 * callers pass the pointer on. */
static inline caller *calling_thread(void)
{
    caller *me = &here;
    unsigned file = record_file_number();
    if (me->file != file)
        *me =
            (caller){.file = file, .number = (uint32_t)gettid(), .main_thread = (uint32_t)getpid()};
    return me;
}

uint32_t record_thread(void)
{
    return calling_thread()->number;
}

/* Reading a CPU clock is a system call of half a microsecond, as long as all other recording of a
 * short execution. So it is read once in CLOCK_REST_NS; in between, the thread is taken to run,
 * since it can hardly sleep in so short a time. If a reading shows that it did run nearly all the
 * time, the interval doubles, up to CLOCK_MOST_NS. Each reading corrects the error of the interval
 * before. */
enum { CLOCK_REST_NS = 10000, CLOCK_MOST_NS = 40000 };

/* Off the CPU for so long, a thread may have been ready and not run: then its run delay is read. */
enum { DELAY_LEAST_NS = 20000 };

/* C's clock, of THREAD, was CPU at WALL, after all that came before TIME. True where its run delay
 * was read. */
static bool note_off(clock_read *c, bool of_main, uint32_t thread, uint64_t time, uint64_t wall,
                     uint64_t cpu)
{
    const uint64_t passed = wall - c->wall, ran = cpu - c->cpu;
    if (c->wall == 0)
        c->off = DELAY_LEAST_NS; /* the first reading */
    else
        c->off += passed > ran ? passed - ran : 0;
    if (c->off < DELAY_LEAST_NS)
        return false;
    c->off = record_delay_look(of_main, thread, time) ? 0 : DELAY_LEAST_NS;
    return true;
}

static void clock_look(const caller *me, clock_read *c, uint64_t *now)
{
    uint64_t cpu = record_clock(CLOCK_THREAD_CPUTIME_ID), wall = record_now();
    uint64_t passed = wall - c->wall, ran = cpu - c->cpu;
    bool busy = c->rest > 0 && ran >= passed - passed / 8;
    bool looked = note_off(c, false, me->number, *now, wall, cpu);
    c->rest = !busy ? CLOCK_REST_NS : 2 * c->rest <= CLOCK_MOST_NS ? 2 * c->rest : c->rest;
    c->cpu = cpu;
    c->wall = wall;
    *now = looked ? record_now() : wall;
}

uint64_t record_cpu(uint64_t *now)
{
    if (!record_cpu_wanted())
        return 0;
    caller *me = calling_thread();
    clock_read *c = &me->own;
    if (*now - c->wall >= c->rest)
        clock_look(me, c, now);
    uint64_t cpu = c->cpu + (*now - c->wall);
    /* An estimate may have been ahead of the clock, which must not go back. */
    if (cpu > c->reported)
        c->reported = cpu;
    return c->reported;
}

uint64_t record_main_cpu(void)
{
    if (!record_cpu_wanted())
        return 0;
    caller *me = calling_thread();
    clock_read *c = &me->main;
    if (me->number == me->main_thread)
        return 0;
    uint64_t now = record_now();
    if (now - c->wall >= CLOCK_REST_NS) {
        /* As the kernel numbers the clock of a thread by its id: bit 2 a thread's, 2 what the
         * scheduler counts. */
        const uint64_t cpu = record_clock((clockid_t)(~me->main_thread << 3 | 4 | 2));
        note_off(c, true, me->main_thread, now, now, cpu);
        c->cpu = cpu;
        c->wall = now;
    }
    return c->cpu;
}

/* ---- descriptions of process, thread and plugin ---------------------------------------------- */

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

/* The calling thread, once process, thread and plugin P have been described in the file. NULL:
 * nothing can be written, and an event was counted as lost. */
static caller *caller_ready(record_plugin *p)
{
    bool fresh;
    if (!record_file_begin(&fresh)) {
        record_count_lost();
        return NULL;
    }
    caller *me = calling_thread();
    if (fresh) {
        record_about_process(me->number);
        record_gate_put();
    }
    if (!me->named) {
        me->named = true;
        record_about_thread(me->number);
    }
    if (p && atomic_load_explicit(&p->described_in, memory_order_relaxed) != me->file &&
        atomic_exchange(&p->described_in, me->file) != me->file)
        put_plugin(p);
    return me;
}

bool record_ready(record_plugin *p)
{
    return caller_ready(p) != NULL;
}

/* ---- events --------------------------------------------------------------------------------- */

bool record_open(record_plugin *p, size_t bytes, record_place *place)
{
    const caller *me = caller_ready(p);
    if (!me || !record_take(bytes, place))
        return false;
    place->thread = me->number;
    return true;
}

void record_close(const record_place *place, record_event event, const struct iovec *parts,
                  size_t count)
{
    event.thread = place->thread;
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

void record_lost_call(record_plugin *p)
{
    if (record_active() && record_ready(p))
        record_count_lost();
}

/* ---- ends of buffers ------------------------------------------------------------------------ */

/*
 * Buffers end one after the other, and each end as an event of its own would be a third of all
 * events. So an end is appended to the thread's last event where that is a BUFFER_END with the same
 * flags and has room. If it is full, the next one is made with room for more.
 */
enum {
    FIELDS = 6,                                                /* of an event */
    WORDS = sizeof((record_more *)0)->data / sizeof(uint64_t), /* of a further slot */
    MORE_MOST = 8                                              /* further slots of an event */
};

/* For one in so many events with RECORD_UNASKED the plugin is asked whether memory was gone. */
enum { ASKED_EVERY = 17 };

static bool append(caller *me, const PJRT_Buffer *buffer, uint8_t flags)
{
    if (me->ends == 0 || me->ends == me->room || me->end_flags != flags ||
        !record_append(me->file, &me->end, me->ends, (uint64_t)(uintptr_t)buffer))
        return false;
    me->ends++;
    return true;
}

bool record_put_end_again(const PJRT_Buffer *buffer)
{
    return append(&here, buffer, RECORD_UNASKED);
}

/* Begins an event for BUFFER, with MORE slots for further ones. */
static void begin_row(caller *me, const PJRT_Buffer *buffer, uint8_t flags, uint32_t more)
{
    static const uint64_t none[MORE_MOST * WORDS];
    const struct iovec part = {.iov_base = (void *)(uintptr_t)none,
                               .iov_len = more * WORDS * sizeof *none};
    record_event event = {
        .kind = RECORD_BUFFER_END, .flags = flags, .thread = me->number, .time = record_now()};
    event.field[0] = (uint64_t)(uintptr_t)buffer;
    me->ends = 0;
    if (!record_take(part.iov_len, &me->end))
        return;
    record_fill(&me->end, event, &part, 1);
    me->ends = 1;
    me->room = FIELDS + more * WORDS;
    me->end_flags = flags;
}

void record_put_end(record_plugin *p, PJRT_Buffer *buffer, uint8_t flags)
{
    caller *me = record_has_begun() ? caller_ready(p) : NULL;
    if (!me || append(me, buffer, flags))
        return;
    bool full = me->ends > 0 && me->ends == me->room && me->end_flags == flags;
    uint32_t more = full ? 2 * me->end.more + 1 : 0;
    if (flags == RECORD_UNASKED && ++me->begun % ASKED_EVERY == 0 &&
        RECORD_HAS(p, Buffer_IsDeleted)) {
        flags = record_is_deleted(p, buffer) ? RECORD_DELETED : 0;
        more = 0;
    }
    begin_row(me, buffer, flags, more < MORE_MOST ? more : MORE_MOST);
}

void record_put_text(record_plugin *p, enum record_text what, uint64_t of, const char *text,
                     size_t length)
{
    if (text && record_ready(p))
        record_text(what, of, record_thread(), text, length);
}

size_t record_list_length(record_plugin *p, const char *what, uint64_t count, uint64_t most,
                          const void *at)
{
    if (count <= most && (at || count == 0))
        return (size_t)count;
    char text[160];
    const int length =
        snprintf(text, sizeof text, "the plugin says %llu %s%s", (unsigned long long)count, what,
                 count > most ? ", which cannot be" : ", and gives none");
    record_put_text(p, RECORD_TEXT_LIE, record_plugin_number(p), text, (size_t)length);
    return 0;
}

void record_contradiction(record_plugin *p, const char *what, uint64_t found, uint64_t wanted)
{
    char text[160];
    const int length = snprintf(text, sizeof text, "the plugin says %llu %s, and elsewhere %llu",
                                (unsigned long long)found, what, (unsigned long long)wanted);
    record_put_text(p, RECORD_TEXT_LIE, record_plugin_number(p), text, (size_t)length);
}

size_t record_text_length(record_plugin *p, const char *what, uint64_t count, const char *text)
{
    const size_t length = record_list_length(p, what, count, RECORD_MOST_NAME, text);
    const char *zero = length ? memchr(text, '\0', length) : NULL;
    if (!zero)
        return length;
    record_contradiction(p, what, count, (uint64_t)(zero - text));
    return (size_t)(zero - text);
}

uint8_t record_failure(record_plugin *p, PJRT_Error *error)
{
    if (!error)
        return 0;
    RECORD_ARGS(Error_Message, args, .error = error);
    p->api->PJRT_Error_Message(&args);
    record_put_text(p, RECORD_TEXT_ERROR, record_plugin_number(p), args.message,
                    record_text_length(p, "letters of an error", args.message_size, args.message));
    return RECORD_FAILED;
}
