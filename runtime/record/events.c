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

/* A CPU clock as it was last read, at WALL; for how long it is not read again; and what was said of
 * it last. */
typedef struct clock_read {
    uint64_t wall, cpu, rest, said;
} clock_read;

/* A thread that calls; all is of the file FILE, 0: of none. */
typedef struct speaker {
    unsigned file;
    uint32_t number, main_thread;
    bool named;
    clock_read own, main;
    /* The BUFFER_END that this thread put last: how many handles it has, and has room for. */
    record_place end;
    size_t ends, room;
    uint8_t end_flags;
    unsigned begun; /* BUFFER_ENDs with RECORD_UNASKED */
} speaker;
static _Thread_local speaker here;

/* The calling thread. To find a thread's own memory is a call in a library that is loaded late, so
 * whoever has found it hands it on. */
static inline speaker *speaking(void)
{
    speaker *me = &here;
    unsigned file = record_file_number();
    if (me->file != file)
        *me = (speaker){
            .file = file, .number = (uint32_t)gettid(), .main_thread = (uint32_t)getpid()};
    return me;
}

uint32_t record_thread(void)
{
    return speaking()->number;
}

/* A CPU clock is a system call of half a microsecond, as long as all else that is done for a short
 * execution. So none is read twice within CLOCK_REST_NS: too short for a thread to sleep in, so the
 * calling thread's is taken to have gone on with the wall. One that then turns out to have had the
 * CPU nearly all the time since the reading before is not read for twice as long, up to
 * CLOCK_MOST_NS. The next reading corrects what was wrong. */
enum { CLOCK_REST_NS = 10000, CLOCK_MOST_NS = 40000 };

static void clock_look(clock_read *c, uint64_t *now)
{
    uint64_t cpu = record_clock(CLOCK_THREAD_CPUTIME_ID), wall = record_now();
    uint64_t passed = wall - c->wall, ran = cpu - c->cpu;
    bool busy = c->rest > 0 && ran >= passed - passed / 8;
    c->rest = !busy ? CLOCK_REST_NS : 2 * c->rest <= CLOCK_MOST_NS ? 2 * c->rest : c->rest;
    c->cpu = cpu;
    c->wall = *now = wall;
}

uint64_t record_cpu(uint64_t *now)
{
    if (!record_cpu_wanted())
        return 0;
    clock_read *c = &speaking()->own;
    if (*now - c->wall >= c->rest)
        clock_look(c, now);
    uint64_t cpu = c->cpu + (*now - c->wall);
    /* It never goes back. */
    if (cpu > c->said)
        c->said = cpu;
    return c->said;
}

uint64_t record_main_cpu(void)
{
    if (!record_cpu_wanted())
        return 0;
    speaker *me = speaking();
    clock_read *c = &me->main;
    if (me->number == me->main_thread)
        return 0;
    uint64_t now = record_now();
    if (now - c->wall >= CLOCK_REST_NS) {
        /* As the kernel numbers the clock of a thread by its id: bit 2 a thread's, 2 what the
         * scheduler counts. */
        c->cpu = record_clock((clockid_t)(~me->main_thread << 3 | 4 | 2));
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

/* The calling thread; NULL: nothing can be written, and an event is lost. */
static speaker *ready(record_plugin *p)
{
    bool fresh;
    if (!record_file_begin(&fresh)) {
        record_lose();
        return NULL;
    }
    speaker *me = speaking();
    if (fresh)
        record_about_process(me->number);
    if (!me->named) {
        me->named = true;
        record_about_thread(me->number);
    }
    if (atomic_load_explicit(&p->described_in, memory_order_relaxed) != me->file &&
        atomic_exchange(&p->described_in, me->file) != me->file)
        put_plugin(p);
    return me;
}

bool record_ready(record_plugin *p)
{
    return ready(p) != NULL;
}

/* ---- events --------------------------------------------------------------------------------- */

bool record_open(record_plugin *p, size_t bytes, record_place *place)
{
    const speaker *me = ready(p);
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

void record_lost(record_plugin *p)
{
    if (record_active() && record_ready(p))
        record_lose();
}

/* ---- ends of buffers ------------------------------------------------------------------------ */

/*
 * A third of all events were ends of one buffer each, and most of a program's buffers end next to
 * others. So an end goes into the event before it where it can. Where that is full, it is a long
 * row, and the next event is made with room for more than a slot.
 */
enum { FIELDS = 6, WORDS = sizeof((record_more *)0)->data / sizeof(uint64_t), MORE_MOST = 8 };

/* Of one in so many events that begin with RECORD_UNASKED the plugin is asked. */
enum { ASKED_EVERY = 17 };

static bool append(speaker *me, const PJRT_Buffer *buffer, uint8_t flags)
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
static void begin_row(speaker *me, const PJRT_Buffer *buffer, uint8_t flags, uint32_t more)
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
    speaker *me = record_has_begun() ? ready(p) : NULL;
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

size_t record_bounded(record_plugin *p, const char *what, uint64_t count, uint64_t most,
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

size_t record_letters(record_plugin *p, const char *what, uint64_t count, const char *text)
{
    const size_t length = record_bounded(p, what, count, RECORD_MOST_NAME, text);
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
                    record_letters(p, "letters of an error", args.message_size, args.message));
    return RECORD_FAILED;
}
