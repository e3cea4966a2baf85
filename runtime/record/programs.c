/*
 * programs.c - programs, executables and compile options as files, each once, and the profile. A
 * file gets its name when it is whole: readers find no half of one.
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

/* A program in the recording. */
typedef struct program {
    record_hash hash;
    char form[32];
} program;

static struct {
    program *list;
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
        program *list = realloc(programs.list, more * sizeof *list);
        if (!list)
            return;
        programs.list = list;
        programs.capacity = more;
    }
    program *p = &programs.list[programs.count++];
    p->hash = *hash;
    snprintf(p->form, sizeof p->form, "%s", form);
}

/* 0, or an error number. */
static int write_all(int fd, const void *data, size_t size)
{
    const char *bytes = data;
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

static int begin_file(int folder, const char *temporary)
{
    unlinkat(folder, temporary, 0);
    const int fd = record_above_standard(
        openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd >= 0)
        (void)!fchmod(fd, 0600); /* whatever the program's umask is */
    return fd;
}

/* Closes FD, which is TEMPORARY, and calls it NAME. ERROR, or one of this. */
static int end_file(int folder, int fd, const char *temporary, const char *name, int error)
{
    if (close(fd) != 0 && !error)
        error = errno;
    if (!error && renameat(folder, temporary, folder, name) != 0)
        error = errno;
    if (error)
        unlinkat(folder, temporary, 0);
    return error;
}

/* The file NAME with SIZE BYTES. 0, or an error number. */
static int write_file(int folder, const char *name, const void *bytes, size_t size)
{
    /* One at a time, under the lock. */
    static const char temporary[] = "programs/unfinished";
    const int fd = begin_file(folder, temporary);
    return fd < 0 ? errno : end_file(folder, fd, temporary, name, write_all(fd, bytes, size));
}

/* As record_keep_profile. 0, or an error number. */
static int write_profile(int folder, record_profile *head, const void *bytes)
{
    /* Without the lock, under which others' programs and forks would wait for so many bytes. */
    static const char temporary[] = "programs/profile";
    const int fd = begin_file(folder, temporary);
    if (fd < 0)
        return errno;
    int error = write_all(fd, head, sizeof *head);
    if (!error && bytes) {
        error = write_all(fd, bytes, head->size);
        head->end_ns = record_now();
        if (!error && lseek(fd, 0, SEEK_SET) != 0)
            error = errno;
        if (!error)
            error = write_all(fd, head, sizeof *head);
    }
    return end_file(folder, fd, temporary, "profile", error);
}

/* Under the lock. 0, or an error number; *KEPT: whether the file is there. */
static int keep(const record_hash *hash, const char *form, const void *bytes, size_t size,
                bool *kept)
{
    char name[128];
    if (programs.file != record_file_number()) {
        programs.file = record_file_number();
        programs.count = 0;
    }
    *kept = is_known(hash, form);
    int folder = *kept ? -1 : record_folder();
    if (folder < 0 || !record_room(size, true))
        return 0;
    snprintf(name, sizeof name, "programs/%016llx%016llx.%s", (unsigned long long)hash->high,
             (unsigned long long)hash->low, form);
    int error = write_file(folder, name, bytes, size);
    *kept = error == 0;
    if (*kept)
        remember(hash, form);
    return error;
}

record_hash record_keep(const char *form, const void *bytes, size_t size)
{
    const record_hash none = {0, 0};
    bool kept = false;
    if (!bytes || size == 0)
        return none;
    XXH128_hash_t value = XXH3_128bits(bytes, size);
    record_hash hash = {.high = value.high64, .low = value.low64};
    record_lock(RECORD_LOCK_PROGRAMS);
    int error = keep(&hash, form, bytes, size, &kept);
    record_unlock(RECORD_LOCK_PROGRAMS);
    if (error)
        record_stop_for(record_stop_of(error));
    return kept ? hash : none;
}

enum record_no_profile record_keep_profile(record_profile *head, const void *bytes)
{
    /* A head alone needs no reserved room: it is much smaller than the events it is about. */
    const uint64_t size = sizeof *head + (bytes ? head->size : 0);
    const int folder = record_folder();
    if (folder < 0 || (!bytes && !record_disk_allows(size)))
        return RECORD_PROFILE_UNWRITTEN;
    if (bytes && !record_room(size, false))
        return RECORD_PROFILE_NO_ROOM;
    if (write_profile(folder, head, bytes) == 0)
        return RECORD_PROFILED;
    if (bytes)
        record_room_back(size);
    return RECORD_PROFILE_UNWRITTEN;
}

uint64_t record_name_hash(const char *name, size_t length)
{
    return length ? XXH3_64bits(name, length) : 0;
}
