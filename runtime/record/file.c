/*
 * file.c - the recording of one process: its folder, its slots, its end, and what a fork does to
 * it.
 */
#define _GNU_SOURCE /* O_NOFOLLOW, strtoull, AT_* */

#include "runtime/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITTEN_SLOTS = 32 /* of one system call where the file is not mapped */ };
#define LIMIT_DEFAULT ((uint64_t)1 << 30)

enum state {
    FORWARDS, /* there is no folder to record into */
    READY,    /* nothing was recorded yet */
    RUNS,
    STOPPED
};

static struct {
    char parent[PATH_MAX];
    bool cpu, may_map;

    _Atomic int state;
    _Atomic unsigned number;
    _Atomic uint64_t handed; /* numbers of executions */
    uint32_t unseen; /* plugins; under the lock */
} file;

/* The child has a file of its own, as soon as it needs one. What it inherited stays mapped, as
 * its parent's memory does, but it does not write there. */
static void in_child(void)
{
    int state = atomic_load(&file.state);
    if (state != FORWARDS) {
        record_ahead_forked();
        record_slots_forget();
        atomic_store(&file.handed, 0);
        atomic_fetch_add(&file.number, 1);
        atomic_store(&file.state, READY);
    }
    record_unlock_all();
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
    uint64_t most = LIMIT_DEFAULT;
    if (limit && *limit) {
        errno = 0;
        unsigned long long bytes = strtoull(limit, &end, 10);
        if (errno == 0 && !*end && limit[0] != '-')
            most = bytes;
    }
    record_slots_limit(most);
    atomic_store(&file.number, 1);
    /* There are locks where nothing is recorded, too. */
    pthread_atfork(record_lock_all, record_unlock_all, in_child);
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
    return atomic_load_explicit(&record_slots.mapped, memory_order_relaxed);
}

void record_count_lost(void)
{
    record_head_tell(1, RECORD_GOES_ON);
}

void record_plugin_unseen(void)
{
    record_lock(RECORD_LOCK_FILE);
    record_head_unseen(++file.unseen);
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
    record_head_tell(0, why);
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

/* ---- room ----------------------------------------------------------------------------------- */

/* Retires the oldest segment for BYTES. Whether there may be room now. */
static bool retire(uint64_t bytes)
{
    const int error = record_retire(bytes);
    if (error && error != RECORD_NO_ROOM)
        record_stop_for(record_stop_of(error));
    return !error;
}

bool record_room(uint64_t bytes, bool whole)
{
    if (!record_disk_allows(bytes))
        return false;
    /* Whether events would find room behind is not asked: these end the recording then. */
    while (!record_room_take(bytes, whole ? bytes : 2 * bytes))
        if (!whole || !record_room_possible(bytes) || !retire(bytes))
            return false;
    return true;
}

/* Until slot LAST may be filled. 0, RECORD_NO_ROOM, ECANCELED, or an error number. */
static int grow(uint64_t last)
{
    for (;;) {
        record_lock(RECORD_LOCK_FILE);
        const int error = atomic_load(&file.state) == RUNS ? record_slots_grow(last) : ECANCELED;
        record_unlock(RECORD_LOCK_FILE);
        if (error != RECORD_NO_ROOM || !retire(record_slots.segment * RECORD_SLOT))
            return error;
    }
}

/* In the thread. What fails here is tried again by the one who needs it. In the second half of a
 * segment room is made for the next one. */
static void work_ahead(uint64_t slot)
{
    const uint64_t within = slot & (record_slots.segment - 1);
    if (grow(slot) == 0 && slot >= record_slots.first && within >= record_slots.segment / 2)
        (void)retire(record_slots.segment * RECORD_SLOT);
}

static bool is_ready(uint64_t last)
{
    if (last < atomic_load_explicit(&record_slots.ready, memory_order_acquire))
        return true;
    const int error = grow(last);
    if (error && error != ECANCELED)
        record_stop_for(error == RECORD_NO_ROOM ? RECORD_LIMIT : record_stop_of(error));
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
    memcpy(first.magic, RECORD_MAGIC, sizeof first.magic);
    char path[PATH_MAX];
    const int folder = folder_make(first.epoch_ns, path);
    int error = record_slots_begin(folder, path, &first, file.may_map);
    if (!error && !private_make(folder, "programs"))
        error = errno;
    if (!error)
        error = record_slots_grow(0);
    /* Where there is no more room than for the first slot, it says so. */
    if (error)
        record_slots_fail(record_stop_of(error));
    atomic_store(&record_slots.next, 1);
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
    if (*fresh)
        record_ahead_begin(work_ahead);
    return state == RUNS;
}

/* ---- slots ---------------------------------------------------------------------------------- */

enum { DATA = sizeof((record_more *)0)->data };

/* Whether slots FIRST to LAST lie in one file. */
static bool are_together(uint64_t first, uint64_t last)
{
    return last < record_slots.first || first >> record_slots.shift == last >> record_slots.shift;
}

bool record_take(size_t bytes, record_place *place)
{
    const uint64_t more = bytes / DATA + (bytes % DATA != 0);
    const uint64_t half = (uint64_t)1 << record_slots.chunk_shift >> 1;
    if (more > UINT16_MAX || more >= record_slots.segment ||
        atomic_load_explicit(&file.state, memory_order_relaxed) != RUNS) {
        record_count_lost();
        return false;
    }
    uint64_t first, last;
    /* What is left at a file's end stays empty. */
    do {
        first = atomic_fetch_add_explicit(&record_slots.next, more + 1, memory_order_relaxed);
        last = first + more;
    } while (!are_together(first, last));
    if (!is_ready(last)) {
        record_count_lost();
        return false;
    }
    /* In the middle of a chunk the next one is asked for. */
    if (((first + half) ^ (last + 1 + half)) >> record_slots.chunk_shift)
        record_ahead_ask(((last >> record_slots.chunk_shift) + 1) << record_slots.chunk_shift);
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

static void fill_written(const record_place *place, const record_event *event, words *w)
{
    record_more batch[WRITTEN_SLOTS];
    int error = 0;
    for (uint32_t done = 0; !error && done < place->more;) {
        uint32_t n = 0;
        memset(batch, 0, sizeof batch);
        for (; n < WRITTEN_SLOTS && done + n < place->more; n++)
            words_into(w, &batch[n], done + n + 1);
        error = record_slots_write(place->first + 1 + done, batch, n * sizeof *batch);
        done += n;
    }
    if (!error)
        error = record_slots_write(place->first, event, sizeof *event);
    if (error && error != ECANCELED)
        record_stop_for(record_stop_of(error));
    if (error)
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
    record_event *slot = record_slot(place->first);
    if (!slot) {
        record_count_lost();
        return;
    }
    for (uint32_t i = 1; i <= place->more; i++)
        words_into(&w, (record_more *)(void *)(slot + i), i);
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
        atomic_load(&record_slots.next) != place->first + place->more + 1)
        return false;
    uint64_t *slot = record_slot(place->first);
    if (!slot)
        return false;
    slot += further * (RECORD_SLOT / sizeof *slot);
    __atomic_store_n(&slot[further ? 1 + (index - 6) % 7 : 2 + index], value, __ATOMIC_RELEASE);
    return true;
}
