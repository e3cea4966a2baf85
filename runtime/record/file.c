/*
 * file.c - the file of slots of one process: its folder, its growth, its end, and what a fork does
 * to it.
 *
 * The file grows by chunks that are mapped and never unmapped, so a slot's address stays what it
 * is, and a late writer writes where it took. The file system reserves a chunk before it is mapped:
 * else a disk that fills up would end the process with SIGBUS. Where a reservation does not promise
 * that, slots are written by system calls.
 */
#define _GNU_SOURCE /* O_NOFOLLOW, strtoull, AT_*, fallocate */

#include "runtime/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define CHUNK       ((uint64_t)1 << 20)
#define CHUNK_SLOTS (CHUNK / RECORD_SLOT)
enum {
    CHUNKS = 1 << 16,  /* 64 GiB of slots */
    CHUNKS_NEAR = 4,   /* those further back leave the process's memory, not the file */
    WRITTEN_SLOTS = 32 /* of one system call where the file is not mapped */
};
#define LIMIT_DEFAULT ((uint64_t)1 << 30)

enum state {
    FORWARDS, /* there is no folder to record into */
    READY,    /* nothing was recorded yet */
    RUNS,
    STOPPED
};

static struct {
    char parent[PATH_MAX];
    uint64_t limit;
    bool cpu, may_map;

    _Atomic int state;
    _Atomic unsigned number;
    _Atomic uint64_t next;   /* slot */
    _Atomic uint64_t others; /* bytes of programs */
    _Atomic uint64_t handed; /* numbers of executions */
    record_opened folder, events;
    uint32_t unseen; /* plugins; under the lock */
    _Atomic bool mapped;
    record_file head; /* where the file is not mapped; under the lock */
    /* Of a file that is not mapped a chunk only says that it may grow so far. */
    _Atomic(uint8_t *) chunks[CHUNKS];
} file = {.folder = {.fd = -1}, .events = {.fd = -1}};

int record_folder(void)
{
    return record_opened_get(&file.folder);
}

/* ---- locks and forks ------------------------------------------------------------------------ */

static pthread_mutex_t locks[RECORD_LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                              PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
_Static_assert(RECORD_LOCKS == 4, "an initialiser for each lock");

void record_lock(enum record_lock_name name)
{
    pthread_mutex_lock(&locks[name]);
}

void record_unlock(enum record_lock_name name)
{
    pthread_mutex_unlock(&locks[name]);
}

static void before_fork(void)
{
    for (int i = 0; i < RECORD_LOCKS; i++)
        pthread_mutex_lock(&locks[i]);
}

static void after_fork(void)
{
    for (int i = RECORD_LOCKS; i-- > 0;)
        pthread_mutex_unlock(&locks[i]);
}

/* The child has a file of its own, as soon as it needs one. What it inherited stays mapped, as
 * its parent's memory does, but it does not write there. */
static void in_child(void)
{
    int state = atomic_load(&file.state);
    if (state != FORWARDS) {
        record_ahead_forked();
        record_opened_close(&file.folder);
        record_opened_close(&file.events);
        uint64_t used = atomic_load(&file.next) / CHUNK_SLOTS + 1;
        for (uint64_t i = 0; i < CHUNKS && i <= used; i++)
            atomic_store(&file.chunks[i], NULL);
        atomic_store(&file.next, 0);
        atomic_store(&file.others, 0);
        atomic_store(&file.handed, 0);
        atomic_fetch_add(&file.number, 1);
        atomic_store(&file.state, READY);
    }
    after_fork();
}

/* ---- settings ------------------------------------------------------------------------------- */

/* The folder may be a relative one, and the program may go elsewhere. */
static bool parent_set(const char *folder)
{
    char here[PATH_MAX] = "";
    if (folder[0] != '/' && !getcwd(here, sizeof here))
        return false;
    int length =
        snprintf(file.parent, sizeof file.parent, "%s%s%s", here, *here ? "/" : "", folder);
    return length > 0 && (size_t)length < sizeof file.parent;
}

static void read_settings(void)
{
    const char *folder = getenv(RECORD_ENV_FOLDER), *limit = getenv(RECORD_ENV_LIMIT),
               *cpu = getenv(RECORD_ENV_CPU), *mapped = getenv(RECORD_ENV_MAPPED);
    char *end = NULL;
    file.cpu = !cpu || strcmp(cpu, "0") != 0;
    file.may_map = !mapped || strcmp(mapped, "0") != 0;
    file.limit = LIMIT_DEFAULT;
    if (limit && *limit) {
        errno = 0;
        unsigned long long bytes = strtoull(limit, &end, 10);
        if (errno == 0 && !*end && limit[0] != '-')
            file.limit = bytes;
    }
    if (file.limit > CHUNKS * CHUNK)
        file.limit = CHUNKS * CHUNK;
    if (file.limit < 4096)
        file.limit = 4096;
    file.limit -= file.limit % RECORD_SLOT;
    atomic_store(&file.number, 1);
    /* There are locks where nothing is recorded, too. */
    pthread_atfork(before_fork, after_fork, in_child);
    if (!folder || !*folder || !parent_set(folder))
        return;
    atomic_store(&file.state, READY);
}

void record_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
}

bool record_wanted(void)
{
    return atomic_load_explicit(&file.state, memory_order_relaxed) != FORWARDS;
}

bool record_has_begun(void)
{
    return atomic_load_explicit(&file.state, memory_order_relaxed) != READY;
}

bool record_cpu_wanted(void)
{
    return file.cpu;
}

unsigned record_file_number(void)
{
    return atomic_load_explicit(&file.number, memory_order_relaxed);
}

uint64_t record_next_number(void)
{
    return atomic_fetch_add_explicit(&file.handed, 1, memory_order_relaxed) + 1;
}

/* ---- the end, and what is lost --------------------------------------------------------------- */

static bool is_mapped(void)
{
    return atomic_load_explicit(&file.mapped, memory_order_relaxed);
}

/* The first slot of a mapped file; NULL before it has begun. */
static record_file *mapped_head(void)
{
    return (record_file *)(void *)atomic_load_explicit(&file.chunks[0], memory_order_acquire);
}

/* Under the lock. 0, or an error number. */
static int write_head(void)
{
    const bool good = record_opened_write(&file.events, &file.head, sizeof file.head, 0);
    return good ? 0 : errno;
}

/* Adds LOST to the count in the first slot, and says there why the recording has stopped. */
static void tell_head(uint64_t lost, enum record_stop why)
{
    if (is_mapped()) {
        record_file *h = mapped_head();
        if (h && lost)
            __atomic_fetch_add(&h->lost, lost, __ATOMIC_RELAXED);
        if (h && why != RECORD_GOES_ON)
            __atomic_store_n(&h->stop, (uint32_t)why, __ATOMIC_RELAXED);
        return;
    }
    record_lock(RECORD_LOCK_FILE);
    file.head.lost += lost;
    if (why != RECORD_GOES_ON)
        file.head.stop = why;
    (void)write_head();
    record_unlock(RECORD_LOCK_FILE);
}

void record_count_lost(void)
{
    tell_head(1, RECORD_GOES_ON);
}

void record_plugin_unseen(void)
{
    record_lock(RECORD_LOCK_FILE);
    file.unseen++;
    record_file *h = is_mapped() ? mapped_head() : &file.head;
    if (h)
        __atomic_store_n(&h->unseen, file.unseen, __ATOMIC_RELAXED);
    if (h == &file.head)
        (void)write_head();
    record_unlock(RECORD_LOCK_FILE);
}

enum record_stop record_stop_of(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? RECORD_DISK_FULL : RECORD_ERROR;
}

void record_stop_for(enum record_stop why)
{
    int running = RUNS;
    if (!atomic_compare_exchange_strong(&file.state, &running, STOPPED))
        return;
    tell_head(0, why);
}

bool record_active(void)
{
    int state = atomic_load_explicit(&file.state, memory_order_relaxed);
    if (state == STOPPED)
        record_count_lost();
    return state == READY || state == RUNS;
}

bool record_goes_on(void)
{
    const int state = atomic_load_explicit(&file.state, memory_order_relaxed);
    return state == READY || state == RUNS;
}

bool record_room(uint64_t bytes, bool whole)
{
    if (!record_disk_allows(bytes))
        return false;
    const uint64_t slots = atomic_load(&file.next) * RECORD_SLOT;
    uint64_t others = atomic_load(&file.others);
    /* Only what fits is ever added: events of other threads end the recording beyond the limit. */
    do
        if (slots + others + bytes + (whole ? 0 : bytes) > file.limit)
            return false;
    while (!atomic_compare_exchange_weak(&file.others, &others, others + bytes));
    return true;
}

void record_room_back(uint64_t bytes)
{
    atomic_fetch_sub(&file.others, bytes);
}

/* ---- growth --------------------------------------------------------------------------------- */

/* 0, or an error number. */
static int reserve(int fd, uint64_t begin, uint64_t bytes)
{
    /* Each write is asked for by itself. */
    if (!is_mapped())
        return 0;
    if (!record_disk_allows(begin + bytes))
        return EFBIG;
    int error;
    do
        error = posix_fallocate(fd, (off_t)begin, (off_t)bytes);
    while (error == EINTR);
    /* Some file systems keep what they could reserve, and the program may need that room. The first
     * slot stays. */
    const uint64_t from = begin > 0 ? begin : sizeof file.head;
    if (error)
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                        (off_t)(begin + bytes - from));
    return error;
}

/* Under the lock. */
static int chunk_make(uint64_t index)
{
    uint64_t begin = index * CHUNK;
    uint64_t bytes = file.limit - begin < CHUNK ? file.limit - begin : CHUNK;
    int fd = record_opened_get(&file.events);
    if (fd < 0)
        return EBADF;
    int error = reserve(fd, begin, bytes);
    if (error)
        return error;
    void *at = &file.head;
    if (is_mapped())
        at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)begin);
    if (at == MAP_FAILED)
        return errno;
    /* All pages at once. Kernels before 5.14 bring each at its first slot. */
    if (is_mapped() && madvise(at, (size_t)bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
        error = errno;
        munmap(at, (size_t)bytes);
        return error;
    }
    atomic_store_explicit(&file.chunks[index], at, memory_order_release);
    if (is_mapped() && index >= CHUNKS_NEAR)
        madvise(atomic_load(&file.chunks[index - CHUNKS_NEAR]), CHUNK, MADV_DONTNEED);
    return 0;
}

/* In the thread. What fails here is tried again by the one who needs it. */
static void chunk_ahead(uint64_t index)
{
    record_lock(RECORD_LOCK_FILE);
    if (index < CHUNKS && index * CHUNK < file.limit && atomic_load(&file.state) == RUNS &&
        !atomic_load(&file.chunks[index]))
        (void)!chunk_make(index);
    record_unlock(RECORD_LOCK_FILE);
}

static bool chunk_is_there(uint64_t index)
{
    if (index >= CHUNKS)
        return false;
    if (atomic_load_explicit(&file.chunks[index], memory_order_acquire))
        return true;
    int error = 0;
    record_lock(RECORD_LOCK_FILE);
    if (!atomic_load(&file.chunks[index]))
        error = atomic_load(&file.state) == RUNS ? chunk_make(index) : ECANCELED;
    record_unlock(RECORD_LOCK_FILE);
    if (error && error != ECANCELED)
        record_stop_for(record_stop_of(error));
    return error == 0;
}

/* ---- the beginning -------------------------------------------------------------------------- */

/* Makes the folder NAME of PARENT, the user's alone. The program's umask may take the user's own
 * rights, too. */
static bool private_make(int parent, const char *name)
{
    return mkdirat(parent, name, 0700) == 0 && fchmodat(parent, name, 0700, 0) == 0;
}

/* Its path, to PATH. */
static int folder_make(uint64_t epoch_ns, char path[PATH_MAX])
{
    char name[64];
    snprintf(name, sizeof name, "%ld-%llu", (long)getpid(), (unsigned long long)epoch_ns);
    if (snprintf(path, PATH_MAX, "%s/%s", file.parent, name) >= PATH_MAX)
        return -1;
    if (mkdir(file.parent, 0700) != 0 && errno != EEXIST)
        return -1;
    int parent = open(file.parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder = -1;
    if (parent >= 0 && private_make(parent, name))
        folder = record_above_standard(
            openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (parent >= 0)
        close(parent);
    return folder;
}

/* Under the lock. */
static bool file_make(void)
{
    record_file first = {.version = RECORD_VERSION,
                         .slot = RECORD_SLOT,
                         .pid = (uint32_t)getpid(),
                         .parent = (uint32_t)getppid(),
                         .main_thread = (uint32_t)getpid(),
                         .unseen = file.unseen};
    first.epoch_ns = record_clock(CLOCK_REALTIME);
    first.begin_ns = record_now();
    char path[PATH_MAX], events[PATH_MAX + 8];
    const int folder = folder_make(first.epoch_ns, path);
    if (!record_opened_set(&file.folder, folder, path, O_RDONLY | O_DIRECTORY))
        return false;
    snprintf(events, sizeof events, "%s/events", path);
    if (!record_opened_set(
            &file.events,
            record_above_standard(
                openat(folder, "events", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)),
            events, O_RDWR))
        return false;
    memcpy(first.magic, RECORD_MAGIC, sizeof first.magic);
    file.head = first;
    atomic_store(&file.mapped, file.may_map && record_disk_maps_safely(file.events.fd));
    /* First of all: the chunk takes a while, and whoever is killed meanwhile leaves a file that can
     * be read. */
    int error = write_head();
    if (!error && (fchmod(file.events.fd, 0600) != 0 || !private_make(folder, "programs")))
        error = errno;
    if (!error)
        error = chunk_make(0);
    /* Where there is no more room than for the first slot, it says so. */
    if (error) {
        atomic_store(&file.mapped, false);
        file.head.stop = record_stop_of(error);
        (void)write_head();
    }
    atomic_store(&file.next, 1);
    return !error;
}

bool record_file_begin(bool *fresh)
{
    *fresh = false;
    int state = atomic_load_explicit(&file.state, memory_order_acquire);
    if (state != READY)
        return state == RUNS;
    record_lock(RECORD_LOCK_FILE);
    if (atomic_load(&file.state) == READY) {
        *fresh = file_make();
        atomic_store_explicit(&file.state, *fresh ? RUNS : STOPPED, memory_order_release);
    }
    state = atomic_load(&file.state);
    record_unlock(RECORD_LOCK_FILE);
    if (*fresh && is_mapped())
        record_ahead_begin(chunk_ahead);
    return state == RUNS;
}

/* ---- slots ---------------------------------------------------------------------------------- */

enum { DATA = sizeof((record_more *)0)->data };

bool record_take(size_t bytes, record_place *place)
{
    size_t more = bytes / DATA + (bytes % DATA != 0);
    if (more > UINT16_MAX || atomic_load_explicit(&file.state, memory_order_relaxed) != RUNS) {
        record_count_lost();
        return false;
    }
    uint64_t first = atomic_fetch_add_explicit(&file.next, more + 1, memory_order_relaxed);
    uint64_t last = first + more;
    if ((last + 1) * RECORD_SLOT + atomic_load_explicit(&file.others, memory_order_relaxed) >
        file.limit) {
        record_stop_for(RECORD_LIMIT);
        record_count_lost();
        return false;
    }
    for (uint64_t chunk = first / CHUNK_SLOTS; chunk <= last / CHUNK_SLOTS; chunk++)
        if (!chunk_is_there(chunk)) {
            record_count_lost();
            return false;
        }
    /* In the middle of a chunk the next one is asked for. */
    if ((first + CHUNK_SLOTS / 2) / CHUNK_SLOTS != (last + 1 + CHUNK_SLOTS / 2) / CHUNK_SLOTS)
        record_ahead_ask(last / CHUNK_SLOTS + 1);
    *place = (record_place){.first = first, .more = (uint32_t)more};
    return true;
}

/* Words that are still to be written. */
typedef struct words {
    const struct iovec *part;
    size_t parts, done; /* bytes of the first part */
} words;

/* The next ones, at most DATA bytes, into a slot. */
static void words_into(words *w, record_more *more, size_t index)
{
    size_t used = 0;
    while (w->parts > 0 && used < DATA) {
        size_t n = w->part->iov_len - w->done;
        if (n > DATA - used)
            n = DATA - used;
        if (n > 0)
            memcpy(more->data + used, (const uint8_t *)w->part->iov_base + w->done, n);
        used += n;
        w->done += n;
        if (w->done == w->part->iov_len) {
            w->part++;
            w->parts--;
            w->done = 0;
        }
    }
    more->unused = 0;
    more->index = (uint16_t)index;
    more->bytes = (uint32_t)used;
    more->kind = RECORD_MORE;
}

static void *slot_at(uint64_t slot)
{
    uint8_t *chunk = atomic_load_explicit(&file.chunks[slot / CHUNK_SLOTS], memory_order_acquire);
    return chunk + slot % CHUNK_SLOTS * RECORD_SLOT;
}

static void fill_written(const record_place *place, const record_event *event, words *w)
{
    record_more batch[WRITTEN_SLOTS];
    bool good = true;
    for (uint32_t done = 0; good && done < place->more;) {
        uint32_t n = 0;
        memset(batch, 0, sizeof batch);
        for (; n < WRITTEN_SLOTS && done + n < place->more; n++)
            words_into(w, &batch[n], done + n + 1);
        good = record_opened_write(&file.events, batch, n * sizeof *batch,
                                   (place->first + 1 + done) * RECORD_SLOT);
        done += n;
    }
    if (good && record_opened_write(&file.events, event, sizeof *event, place->first * RECORD_SLOT))
        return;
    record_stop_for(record_stop_of(errno));
    record_count_lost();
}

void record_fill(const record_place *place, record_event event, const struct iovec *parts,
                 size_t count)
{
    words w = {.part = parts, .parts = count};
    event.more = (uint16_t)place->more;
    if (!is_mapped()) {
        fill_written(place, &event, &w);
        return;
    }
    for (uint32_t i = 1; i <= place->more; i++)
        words_into(&w, slot_at(place->first + i), i);
    record_event *slot = slot_at(place->first);
    slot->time = event.time;
    memcpy(slot->field, event.field, sizeof slot->field);
    /* Now it is an event. */
    uint64_t begin;
    memcpy(&begin, &event, sizeof begin);
    __atomic_store_n((uint64_t *)(void *)slot, begin, __ATOMIC_RELEASE);
}

/* Fields and words lie in a slot as its numbers 2 to 7, or 1 to 7. */
_Static_assert(offsetof(record_event, field) == 16 && offsetof(record_more, data) == 8, "");

bool record_append(unsigned number, const record_place *place, size_t index, uint64_t value)
{
    const size_t further = index < 6 ? 0 : 1 + (index - 6) / 7;
    if (number != record_file_number() || !is_mapped() ||
        atomic_load(&file.next) != place->first + place->more + 1)
        return false;
    uint64_t *slot = slot_at(place->first + further);
    __atomic_store_n(&slot[further ? 1 + (index - 6) % 7 : 2 + index], value, __ATOMIC_RELEASE);
    return true;
}
