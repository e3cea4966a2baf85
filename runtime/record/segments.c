/*
 * segments.c - where slots lie: in the file "events", which keeps the beginning of a run, and
 * behind it in segments. When the limit has no room for another segment, the oldest one is retired:
 * what later events need is copied to the file "kept", and the segment is removed. So the end of a
 * run is kept, too.
 *
 * Files grow by chunks. A segment has its place in the address space until the process ends, so a
 * late writer writes where it took: behind a retirement there is memory without a file. The file
 * system reserves a chunk before it is mapped: else a disk that fills up would end the process with
 * SIGBUS. Where a reservation does not promise that, slots are written by system calls.
 */
#define _GNU_SOURCE /* O_NOFOLLOW, fallocate, MAP_* */

#include "runtime/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define LARGEST_CHUNK  ((uint64_t)1 << 20)
#define SMALLEST_CHUNK ((uint64_t)4096)
#define LEAST_LIMIT    ((uint64_t)1 << 16)
#define MOST_LIMIT     ((uint64_t)1 << 36)
enum {
    CHUNKS_NEAR = 4,       /* those further back leave the process's memory, not the file */
    KEPT_TEXTS = 1024,     /* a program may have a new thread, or an error, in each step */
    COPIED_BYTES = 1 << 16 /* at once, from and to a file */
};

record_slots_table record_slots;

/* Of the process's folder. All but HEAD is under the lock RECORD_LOCK_FILE. */
static struct {
    record_opened folder, events, segments[RECORD_SEGMENTS];
    record_file head; /* where the file is not mapped */
    uint8_t *base;    /* of "events", of which the first chunks are mapped */
    uint64_t made;    /* segments below have a file, or had one */
} files = {.folder = {.fd = -1}, .events = {.fd = -1}};

/* Under the lock RECORD_LOCK_RETIRE. */
static struct {
    record_opened file;
    record_kept head;
    uint64_t texts;
    /* Of the retirement at hand. */
    uint64_t end;
    uint8_t out[COPIED_BYTES], in[COPIED_BYTES];
    size_t waiting;            /* bytes of OUT */
    uint64_t in_from, in_have; /* slots of the segment that are in IN */
} kept = {.file = {.fd = -1}};

/* ---- sizes ---------------------------------------------------------------------------------- */

/* The number of the first segment. Numbers are those of the slots, in segments: so "events" has
 * the ones below. */
static uint64_t first_number(void)
{
    return record_slots.first >> record_slots.shift;
}

static uint64_t segment_bytes(void)
{
    return record_slots.segment * RECORD_SLOT;
}

static uint64_t chunk_bytes(void)
{
    return (uint64_t)RECORD_SLOT << record_slots.chunk_shift;
}

void record_slots_forget(void)
{
    record_slots_table *s = &record_slots;
    record_opened_close(&files.folder);
    record_opened_close(&files.events);
    record_opened_close(&kept.file);
    for (size_t i = 0; i < RECORD_SEGMENTS; i++) {
        record_opened_close(&files.segments[i]);
        atomic_store(&s->segments[i], NULL);
    }
    files.base = NULL;
    files.made = first_number();
    kept.texts = 0;
    kept.head = (record_kept){.bytes = 0};
    atomic_store(&s->begin, NULL);
    atomic_store(&s->ready, 0);
    atomic_store(&s->live, first_number());
    atomic_store(&s->used, s->first * RECORD_SLOT);
    atomic_store(&s->next, 0);
}

void record_slots_limit(uint64_t limit)
{
    record_slots_table *s = &record_slots;
    s->limit = limit < LEAST_LIMIT ? LEAST_LIMIT : limit > MOST_LIMIT ? MOST_LIMIT : limit;
    while (((uint64_t)RECORD_SLOT << (s->shift + 1)) <= s->limit / 8)
        s->shift++;
    s->segment = (uint64_t)1 << s->shift;
    uint64_t chunk = segment_bytes() / 2 < LARGEST_CHUNK ? segment_bytes() / 2 : LARGEST_CHUNK;
    for (chunk = chunk < SMALLEST_CHUNK ? SMALLEST_CHUNK : chunk; chunk_bytes() < chunk;)
        s->chunk_shift++;
    s->first = s->limit / 8 * 3 / segment_bytes() * s->segment;
    for (size_t i = 0; i < RECORD_SEGMENTS; i++)
        atomic_store(&files.segments[i].fd, -1);
    record_slots_forget();
}

int record_folder(void)
{
    return record_opened_get(&files.folder);
}

/* ---- the head ------------------------------------------------------------------------------- */

static bool is_mapped(void)
{
    return atomic_load_explicit(&record_slots.mapped, memory_order_relaxed);
}

/* The first slot of a mapped file; NULL before it has begun. */
static record_file *mapped_head(void)
{
    return (record_file *)(void *)atomic_load_explicit(&record_slots.begin, memory_order_acquire);
}

/* Under the lock. 0, or an error number. */
static int write_head(void)
{
    const bool good = record_opened_write(&files.events, &files.head, sizeof files.head, 0);
    return good ? 0 : errno;
}

void record_head_tell(uint64_t lost, enum record_stop why)
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
    files.head.lost += lost;
    if (why != RECORD_GOES_ON)
        files.head.stop = why;
    (void)write_head();
    record_unlock(RECORD_LOCK_FILE);
}

void record_head_unseen(uint32_t plugins)
{
    record_file *h = is_mapped() ? mapped_head() : &files.head;
    if (h)
        __atomic_store_n(&h->unseen, plugins, __ATOMIC_RELAXED);
    if (h == &files.head)
        (void)write_head();
}

/* There is more than the file "events": readers that do not know of it must refuse it. */
static int tell_segments(void)
{
    record_file *h = is_mapped() ? mapped_head() : &files.head;
    __atomic_store_n(&h->version, RECORD_VERSION_SEGMENTS, __ATOMIC_RELAXED);
    return h == &files.head ? write_head() : 0;
}

/* ---- room ----------------------------------------------------------------------------------- */

bool record_room_take(uint64_t bytes, uint64_t wanted)
{
    uint64_t used = atomic_load(&record_slots.used);
    do
        if (used > record_slots.limit || wanted > record_slots.limit - used)
            return false;
    while (!atomic_compare_exchange_weak(&record_slots.used, &used, used + bytes));
    return true;
}

void record_room_back(uint64_t bytes)
{
    atomic_fetch_sub(&record_slots.used, bytes);
}

/* The number behind the last segment that may be retired: nobody takes slots of these any more.
 * Under the lock. */
static uint64_t retirable(void)
{
    const uint64_t taken = atomic_load(&record_slots.next) >> record_slots.shift;
    return files.made < taken ? files.made : taken;
}

bool record_room_possible(uint64_t bytes)
{
    record_lock(RECORD_LOCK_FILE);
    const uint64_t used = atomic_load(&record_slots.used), live = atomic_load(&record_slots.live);
    const uint64_t end = retirable();
    record_unlock(RECORD_LOCK_FILE);
    const uint64_t most = end > live ? (end - live) * segment_bytes() : 0;
    return used <= record_slots.limit + most && bytes <= record_slots.limit + most - used;
}

/* ---- growth --------------------------------------------------------------------------------- */

/* 0, or an error number. */
static int reserve(record_opened *of, uint64_t begin, uint64_t bytes)
{
    const int fd = record_opened_get(of);
    if (fd < 0)
        return EBADF;
    if (!record_disk_allows(begin + bytes))
        return EFBIG;
    int error;
    do
        error = posix_fallocate(fd, (off_t)begin, (off_t)bytes);
    while (error == EINTR);
    /* Some file systems keep what they could reserve, and the program may need that room. The first
     * slot stays. */
    const uint64_t from = begin > 0 || of != &files.events ? begin : sizeof files.head;
    if (error)
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                        (off_t)(begin + bytes - from));
    return error;
}

/* BYTES of addresses, of which none has memory; NULL, with errno. */
static uint8_t *addresses(uint8_t *at, uint64_t bytes, int rights)
{
    void *got = mmap(at, (size_t)bytes, rights,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0);
    return got == MAP_FAILED ? NULL : got;
}

/* The chunk of OF at BEGIN, to AT. 0, or an error number. */
static int map_chunk(record_opened *of, uint64_t begin, uint8_t *at)
{
    const size_t bytes = chunk_bytes();
    int error = reserve(of, begin, bytes);
    if (error)
        return error;
    if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, record_opened_get(of),
             (off_t)begin) == MAP_FAILED)
        return errno;
    /* All pages at once. Kernels before 5.14 bring each at its first slot. */
    if (madvise(at, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) {
        error = errno;
        (void)addresses(at, bytes, PROT_NONE);
        return error;
    }
    /* A forked process has no use for it, and would keep the disk space of one that is retired. */
    if (of != &files.events)
        (void)madvise(at, bytes, MADV_DONTFORK);
    return 0;
}

static void name_of(uint64_t number, char name[32])
{
    snprintf(name, 32, "events.%llu", (unsigned long long)(number - first_number() + 1));
}

/* Makes the file NAME of the process's folder. 0, or an error number. */
static int make_file(const char *name, record_opened *to)
{
    char path[PATH_MAX + 64];
    const int folder = record_folder();
    if (folder < 0)
        return EBADF;
    if (snprintf(path, sizeof path, "%s/%s", files.folder.path, name) >= PATH_MAX)
        return ENAMETOOLONG;
    const int fd = record_above_standard(
        openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd < 0)
        return errno;
    return record_opened_set(to, fd, path, O_RDWR) && fchmod(fd, 0600) == 0 ? 0 : errno;
}

/* 0, RECORD_NO_ROOM, or an error number. */
static int make_segment(uint64_t number)
{
    record_slots_table *s = &record_slots;
    record_opened *file = &files.segments[number % RECORD_SEGMENTS];
    char name[32];
    name_of(number, name);
    if (!record_room_take(segment_bytes(), segment_bytes()))
        return RECORD_NO_ROOM;
    uint8_t *at = NULL;
    int error = tell_segments();
    if (!error && is_mapped() && !(at = addresses(NULL, segment_bytes(), PROT_NONE)))
        error = errno;
    if (!error)
        error = make_file(name, file);
    if (error) {
        if (at)
            munmap(at, segment_bytes());
        record_room_back(segment_bytes());
        return error;
    }
    atomic_store_explicit(&s->segments[number % RECORD_SEGMENTS], at, memory_order_release);
    files.made = number + 1;
    return 0;
}

/* Slots from SLOT on. 0, RECORD_NO_ROOM, or an error number. */
static int make_chunk(uint64_t slot)
{
    record_slots_table *s = &record_slots;
    const uint64_t number = slot >> s->shift, within = slot & (s->segment - 1);
    const bool first = slot < s->first;
    if (!first && number >= files.made) {
        const int error = make_segment(number);
        if (error)
            return error;
    }
    if (!is_mapped())
        return 0;
    int error = first
                    ? map_chunk(&files.events, slot * RECORD_SLOT, files.base + slot * RECORD_SLOT)
                    : map_chunk(&files.segments[number % RECORD_SEGMENTS], within * RECORD_SLOT,
                                s->segments[number % RECORD_SEGMENTS] + within * RECORD_SLOT);
    if (error)
        return error;
    if (slot == 0)
        atomic_store_explicit(&s->begin, files.base, memory_order_release);
    const uint64_t near = (uint64_t)CHUNKS_NEAR << s->chunk_shift;
    uint8_t *behind = slot >= near ? record_slot(slot - near) : NULL;
    if (behind)
        madvise(behind, chunk_bytes(), MADV_DONTNEED);
    return 0;
}

int record_slots_grow(uint64_t last)
{
    uint64_t ready;
    int error = 0;
    while (!error && (ready = atomic_load(&record_slots.ready)) <= last) {
        error = make_chunk(ready);
        if (!error)
            atomic_store_explicit(&record_slots.ready,
                                  ready + ((uint64_t)1 << record_slots.chunk_shift),
                                  memory_order_release);
    }
    return error;
}

/* A limit of the address space is the program's: mapped segments would use it up. */
static bool may_map(void)
{
    struct rlimit most;
    return getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur == RLIM_INFINITY &&
           chunk_bytes() % (uint64_t)sysconf(_SC_PAGESIZE) == 0 &&
           record_disk_maps_safely(files.events.fd);
}

int record_slots_begin(int folder, const char *path, const record_file *head, bool mapped)
{
    if (!record_opened_set(&files.folder, folder, path, O_RDONLY | O_DIRECTORY))
        return EBADF;
    int error = make_file("events", &files.events);
    if (error)
        return error;
    files.head = *head;
    atomic_store(&record_slots.mapped, mapped && may_map());
    /* First of all: the chunk takes a while, and whoever is killed meanwhile leaves a file that can
     * be read. */
    error = write_head();
    if (!error && is_mapped() &&
        !(files.base = addresses(NULL, record_slots.first * RECORD_SLOT, PROT_NONE)))
        error = errno;
    return error;
}

void record_slots_fail(enum record_stop why)
{
    atomic_store(&record_slots.mapped, false);
    files.head.stop = why;
    (void)write_head();
}

int record_slots_write(uint64_t slot, const void *data, size_t size)
{
    const record_slots_table *s = &record_slots;
    const uint64_t number = slot >> s->shift;
    bool good = true, there = true;
    record_lock(RECORD_LOCK_FILE);
    if (slot < s->first)
        good = record_opened_write(&files.events, data, size, slot * RECORD_SLOT);
    else if ((there = number >= atomic_load(&s->live)))
        good = record_opened_write(&files.segments[number % RECORD_SEGMENTS], data, size,
                                   (slot & (s->segment - 1)) * RECORD_SLOT);
    const int error = good ? 0 : errno;
    record_unlock(RECORD_LOCK_FILE);
    return there ? error : ECANCELED;
}

/* ---- retirement ----------------------------------------------------------------------------- */

/* Slot INDEX of segment NUMBER, until the next call; NULL, with errno. */
static const uint8_t *slot_of(uint64_t number, uint64_t index)
{
    if (is_mapped())
        return atomic_load(&record_slots.segments[number % RECORD_SEGMENTS]) + index * RECORD_SLOT;
    if (index < kept.in_from || index >= kept.in_from + kept.in_have) {
        const int fd = record_opened_get(&files.segments[number % RECORD_SEGMENTS]);
        ssize_t n;
        do
            n = pread(fd, kept.in, sizeof kept.in, (off_t)(index * RECORD_SLOT));
        while (n < 0 && errno == EINTR);
        if (n < 0)
            return NULL;
        /* What is behind the file's end was never written. */
        memset(kept.in + n, 0, sizeof kept.in - (size_t)n);
        kept.in_from = index;
        kept.in_have = sizeof kept.in / RECORD_SLOT;
    }
    return kept.in + (index - kept.in_from) * RECORD_SLOT;
}

/* Whether readers of later events need this one. */
static bool is_needed(const record_event *e)
{
    switch (e->kind) {
    case RECORD_TEXT:
        return kept.texts < KEPT_TEXTS;
    case RECORD_PLUGIN:
    case RECORD_DEVICE:
    case RECORD_COMPILE:
    case RECORD_EXECUTABLE:
    case RECORD_EXECUTABLE_END:
    case RECORD_PART:
        return true;
    default:
        return false;
    }
}

/* 0, or an error number. */
static int flush(void)
{
    if (!record_opened_write(&kept.file, kept.out, kept.waiting, kept.end))
        return errno;
    kept.end += kept.waiting;
    kept.waiting = 0;
    return 0;
}

/* Copies COUNT slots from slot INDEX on. */
static int copy(uint64_t number, uint64_t index, uint64_t count)
{
    for (uint64_t i = index; i < index + count; i++) {
        const uint8_t *slot = slot_of(number, i);
        if (!slot)
            return errno;
        memcpy(kept.out + kept.waiting, slot, RECORD_SLOT);
        kept.waiting += RECORD_SLOT;
        const int error = kept.waiting == sizeof kept.out ? flush() : 0;
        if (error)
            return error;
    }
    return 0;
}

/* A walk takes longer than others need to fill a chunk. */
static void grow_meanwhile(void)
{
    record_lock(RECORD_LOCK_FILE);
    const uint64_t ready = atomic_load(&record_slots.ready), next = atomic_load(&record_slots.next);
    const uint64_t half = (uint64_t)1 << record_slots.chunk_shift >> 1;
    if (next + half >= ready && (ready & (record_slots.segment - 1)) != 0)
        (void)record_slots_grow(ready);
    record_unlock(RECORD_LOCK_FILE);
}

/* Copies what is needed of segment NUMBER, and counts the rest in HEAD. 0, or an error number. */
static int walk(uint64_t number, record_kept *head)
{
    const uint64_t count = record_slots.segment;
    uint64_t looked = 0;
    int error = 0;
    for (uint64_t i = 0, size; !error && i < count; i += size) {
        record_event e;
        const uint8_t *slot = slot_of(number, i);
        size = 1;
        if (!slot)
            return errno;
        if (i >> record_slots.chunk_shift != looked) {
            looked = i >> record_slots.chunk_shift;
            grow_meanwhile();
        }
        /* A slot that is written at this moment is no event yet. */
        const uint64_t begin =
            __atomic_load_n((const uint64_t *)(const void *)slot, __ATOMIC_ACQUIRE);
        memcpy(&e, &begin, sizeof begin);
        if (e.kind <= RECORD_MORE || i + 1 + e.more > count)
            continue;
        memcpy(&e.time, slot + offsetof(record_event, time), sizeof e.time);
        size = 1 + (uint64_t)e.more;
        if (is_needed(&e)) {
            kept.texts += e.kind == RECORD_TEXT;
            error = copy(number, i, size);
            continue;
        }
        if (head->dropped++ == 0)
            head->from_ns = e.time;
        head->to_ns = e.time > head->to_ns ? e.time : head->to_ns;
    }
    return error ? error : flush();
}

/* 0, or an error number. */
static int begin_kept(void)
{
    const record_kept head = {.magic = RECORD_KEPT_MAGIC,
                              .version = RECORD_VERSION_SEGMENTS,
                              .slot = RECORD_SLOT,
                              .bytes = sizeof head,
                              .first = 1};
    if (kept.head.bytes)
        return 0;
    const int error = atomic_load(&kept.file.fd) < 0 ? make_file("kept", &kept.file) : 0;
    if (error)
        return error;
    if (!record_opened_write(&kept.file, &head, sizeof head, 0))
        return errno;
    kept.head = head;
    atomic_fetch_add(&record_slots.used, sizeof head);
    return 0;
}

/* Removes segment NUMBER, of which everything is in "kept". */
static void remove_segment(uint64_t number)
{
    record_slots_table *s = &record_slots;
    const int folder = record_folder();
    char name[32];
    name_of(number, name);
    record_lock(RECORD_LOCK_FILE);
    if (folder >= 0)
        (void)unlinkat(folder, name, 0);
    uint8_t *at = atomic_load(&s->segments[number % RECORD_SEGMENTS]);
    /* Late writers may still have the addresses. */
    if (at)
        (void)addresses(at, segment_bytes(), PROT_READ | PROT_WRITE);
    record_opened_close(&files.segments[number % RECORD_SEGMENTS]);
    record_unlock(RECORD_LOCK_FILE);
    record_room_back(segment_bytes());
}

/* Takes the oldest segment from writers: its number; UINT64_MAX where none may be retired. */
static uint64_t close_oldest(void)
{
    record_lock(RECORD_LOCK_FILE);
    const uint64_t number = atomic_load(&record_slots.live);
    const bool may = number < retirable();
    if (may)
        atomic_store(&record_slots.live, number + 1);
    record_unlock(RECORD_LOCK_FILE);
    return may ? number : UINT64_MAX;
}

static int retire_oldest(void)
{
    const uint64_t texts = kept.texts, number = close_oldest();
    if (number == UINT64_MAX)
        return RECORD_NO_ROOM;
    int error = begin_kept();
    record_kept head = kept.head;
    kept.end = head.bytes;
    kept.waiting = kept.in_from = kept.in_have = 0;
    if (!error)
        error = walk(number, &head);
    const uint64_t more = kept.end - head.bytes;
    head.bytes = kept.end;
    head.first = number - first_number() + 2;
    if (!error && !record_opened_write(&kept.file, &head, sizeof head, 0))
        error = errno;
    if (error) {
        kept.texts = texts;
        atomic_store(&record_slots.live, number);
        return error;
    }
    kept.head = head;
    atomic_fetch_add(&record_slots.used, more);
    remove_segment(number);
    return 0;
}

int record_retire(uint64_t bytes)
{
    record_lock(RECORD_LOCK_RETIRE);
    const uint64_t used = atomic_load(&record_slots.used);
    /* Another thread may have made it. */
    const bool there = used <= record_slots.limit && bytes <= record_slots.limit - used;
    const int error = there ? 0 : retire_oldest();
    record_unlock(RECORD_LOCK_RETIRE);
    return error;
}
