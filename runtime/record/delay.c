/*
 * delay.c - how long a thread was ready and did not run, because others had the cores: its run
 * delay, by the kernel's schedstat.
 *
 * A reading takes half a microsecond, so callers ask for one only where a thread was off the CPU
 * for long. The delay is a sum over the thread's life: what one reading misses the next one has.
 */
#define _GNU_SOURCE /* O_CLOEXEC */

#include "runtime/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Descriptors that are kept open. Threads beyond these open the file for each reading: a program of
 * a thousand threads needs its descriptors itself. */
enum { KEPT = 64, NOT_KEPT = -1 };
static struct kept {
    _Atomic int used; /* descriptor + 1; 0: the place is free */
    dev_t device;
    ino_t inode;
} kept[KEPT];

/* A thread whose delay the calling one reads: itself, or the main one. */
typedef struct source {
    int place; /* in KEPT, or NOT_KEPT */
    bool failed;
    uint64_t read_at, delay; /* of the last reading; READ_AT 0: there was none */
} source;
static _Thread_local struct sources {
    unsigned file; /* of which the rest is; 0: of none */
    source own, main;
} here;

/* ---- descriptors ----------------------------------------------------------------------------- */

/* The program may have closed it, and have a file of its own there. */
static bool is_there(const struct kept *k, int fd)
{
    struct stat info;
    return fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == k->device && info.st_ino == k->inode;
}

static void release(int place)
{
    if (place == NOT_KEPT)
        return;
    const int fd = atomic_load(&kept[place].used) - 1;
    if (is_there(&kept[place], fd))
        close(fd);
    atomic_store(&kept[place].used, 0);
}

/* The place of FD from now on; NOT_KEPT where there is none. */
static int keep(int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return NOT_KEPT;
    for (int i = 0; i < KEPT; i++) {
        int none = 0;
        if (!atomic_compare_exchange_strong(&kept[i].used, &none, fd + 1))
            continue;
        kept[i].device = info.st_dev;
        kept[i].inode = info.st_ino;
        return i;
    }
    return NOT_KEPT;
}

/* A forked process has none of its parent's threads. */
static void in_child(void)
{
    for (int i = 0; i < KEPT; i++)
        if (atomic_load(&kept[i].used))
            release(i);
}

/* At a thread's end. Those of another file were released by the fork. */
static void thread_ends(void *of)
{
    const struct sources *s = of;
    if (s->file != record_file_number())
        return;
    release(s->own.place);
    release(s->main.place);
}

static pthread_key_t ends;
static bool has_ends;

static void make_key(void)
{
    has_ends =
        pthread_key_create(&ends, thread_ends) == 0 && pthread_atfork(NULL, NULL, in_child) == 0;
}

static struct sources *sources_of_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct sources *s = &here;
    if (s->file == record_file_number())
        return s;
    *s = (struct sources){
        .file = record_file_number(), .own.place = NOT_KEPT, .main.place = NOT_KEPT};
    pthread_once(&once, make_key);
    if (has_ends)
        (void)pthread_setspecific(ends, s);
    return s;
}

/* ---- readings ------------------------------------------------------------------------------- */

/* The second of three numbers. A kernel that does not count says 0 0 0; a thread that runs has run
 * before. */
static bool parse(const char *text, uint64_t *delay)
{
    unsigned long long number[3];
    char *end;
    for (int i = 0; i < 3; i++, text = end) {
        number[i] = strtoull(text, &end, 10);
        if (end == text)
            return false;
    }
    *delay = number[1];
    return number[2] > 0;
}

/* The file of S, open; the caller closes it where S has no place. */
static int open_source(source *s, bool of_main, uint32_t thread)
{
    char path[64];
    if (s->place != NOT_KEPT) {
        const int fd = atomic_load(&kept[s->place].used) - 1;
        if (is_there(&kept[s->place], fd))
            return fd;
        atomic_store(&kept[s->place].used, 0);
        s->place = NOT_KEPT;
    }
    if (of_main)
        snprintf(path, sizeof path, "/proc/self/task/%u/schedstat", thread);
    else
        snprintf(path, sizeof path, "/proc/thread-self/schedstat");
    const int fd = record_above_standard(open(path, O_RDONLY | O_CLOEXEC));
    if (fd >= 0 && has_ends)
        s->place = keep(fd);
    return fd;
}

static bool read_delay(source *s, bool of_main, uint32_t thread, uint64_t *delay)
{
    char text[96];
    const int fd = open_source(s, of_main, thread);
    if (fd < 0)
        return false;
    const ssize_t n = pread(fd, text, sizeof text - 1, 0);
    if (s->place == NOT_KEPT)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return parse(text, delay);
}

bool record_delay_look(bool of_main, uint32_t thread, uint64_t time)
{
    /* Nothing can be written before a call has begun the file. */
    if (!record_has_begun())
        return false;
    struct sources *all = sources_of_thread();
    source *s = of_main ? &all->main : &all->own;
    uint64_t delay;
    if (s->failed)
        return true;
    s->failed = !read_delay(s, of_main, thread, &delay);
    if (s->failed)
        return true;
    const uint64_t before = s->read_at;
    s->read_at = time;
    if (before && delay == s->delay)
        return true;
    s->delay = delay;
    record_event event = {.kind = RECORD_DELAY, .thread = thread, .time = time};
    event.field[0] = delay;
    event.field[1] = before;
    record_place place;
    if (record_take(0, &place))
        record_fill(&place, event, NULL, 0);
    return true;
}
