/*
 * programs.c - programs, executables and compile options as files, each once. A file gets its name
 * when it is whole: readers find no half of one.
 */
#define _GNU_SOURCE /* O_NOFOLLOW */

#include "runtime/record/record_priv.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What was kept. */
typedef struct kept {
    record_hash hash;
    char form[32];
} kept;

static struct {
    kept *list;
    size_t count, capacity;
    unsigned file; /* of which file they are */
} programs;

static bool is_known(const record_hash *hash, const char *form)
{
    for (size_t i = 0; i < programs.count; i++)
        if (programs.list[i].hash.high == hash->high && programs.list[i].hash.low == hash->low &&
            strcmp(programs.list[i].form, form) == 0)
            return true;
    return false;
}

/* Without memory a program is written again. */
static void remember(const record_hash *hash, const char *form)
{
    if (programs.count == programs.capacity) {
        size_t more = programs.capacity ? 2 * programs.capacity : 64;
        kept *list = realloc(programs.list, more * sizeof *list);
        if (!list)
            return;
        programs.list = list;
        programs.capacity = more;
    }
    kept *k = &programs.list[programs.count++];
    k->hash = *hash;
    snprintf(k->form, sizeof k->form, "%s", form);
}

/* 0, or an error number. */
static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        bytes += n;
        size -= (size_t)n;
    }
    return 0;
}

static int write_file(int folder, const char *name, const void *bytes, size_t size)
{
    /* One at a time, under the lock. */
    static const char temporary[] = "programs/unfinished";
    unlinkat(folder, temporary, 0);
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return errno;
    int error = write_all(fd, bytes, size);
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error && renameat(folder, temporary, folder, name) != 0)
        error = errno;
    if (error)
        unlinkat(folder, temporary, 0);
    return error;
}

/* Under the lock. */
static bool keep(const record_hash *hash, const char *form, const void *bytes, size_t size)
{
    char name[128];
    if (programs.file != record_file_number()) {
        programs.file = record_file_number();
        programs.count = 0;
    }
    if (is_known(hash, form))
        return true;
    int folder = record_folder();
    if (folder < 0 || !record_room(size))
        return false;
    snprintf(name, sizeof name, "programs/%016llx%016llx.%s", (unsigned long long)hash->high,
             (unsigned long long)hash->low, form);
    int error = write_file(folder, name, bytes, size);
    if (error) {
        record_stop_for(record_stop_of(error));
        return false;
    }
    remember(hash, form);
    return true;
}

record_hash record_keep(const char *form, const void *bytes, size_t size)
{
    record_hash hash = {0, 0};
    bool fresh;
    /* The folder is made with the file. */
    if (!bytes || size == 0 || !record_file_begin(&fresh))
        return hash;
    XXH128_hash_t value = XXH3_128bits(bytes, size);
    hash = (record_hash){.high = value.high64, .low = value.low64};
    record_lock(RECORD_LOCK_PROGRAMS);
    bool good = keep(&hash, form, bytes, size);
    record_unlock(RECORD_LOCK_PROGRAMS);
    return good ? hash : (record_hash){0, 0};
}
