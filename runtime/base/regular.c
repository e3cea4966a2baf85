/*
 * regular.c - files that others may have put there, opened once and without waiting.
 *
 * A pipe would make whoever opens it wait until somebody writes, and a name may stand for another
 * file a moment later. So the file is opened first, without blocking, and all that is asked about
 * it is asked of what was opened.
 */
#define _GNU_SOURCE
#include "runtime/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool bn_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool bn_same_contents(const struct stat *a, const struct stat *b)
{
    return bn_same_file(a, b) && a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim);
}

bool bn_untouched(const struct stat *a, const struct stat *b)
{
    return bn_same_contents(a, b) && same_time(a->st_ctim, b->st_ctim);
}

bn_code bn_open_at(int folder, const char *path, int flags, int *fd, struct stat *info,
                   bn_status *st)
{
    *fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    if (*fd < 0 && errno == ELOOP && (flags & O_NOFOLLOW))
        return bn_fail(st, BN_INVALID, "%s: a link, which is not followed", path);
    if (*fd < 0)
        return bn_fail_errno(st, errno, "%s", path);
    if (fstat(*fd, info) == 0)
        return BN_OK;
    bn_code code = bn_fail_errno(st, errno, "%s", path);
    close(*fd);
    *fd = -1;
    return code;
}

bn_code bn_regular_open(const char *path, int *fd, size_t *size, bn_status *st)
{
    struct stat info;
    bn_code code = bn_open_at(AT_FDCWD, path, 0, fd, &info, st);
    if (code != BN_OK)
        return code;
    *size = (size_t)info.st_size;
    if (S_ISREG(info.st_mode))
        return BN_OK;
    close(*fd);
    *fd = -1;
    return bn_fail(st, BN_INVALID, "%s: not a regular file", path);
}

bn_code bn_regular_rest(int fd, const char *path, void *data, size_t size, bn_status *st)
{
    char *bytes = data;
    while (size > 0) {
        const ssize_t got = read(fd, bytes, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return bn_fail_errno(st, errno, "%s", path);
        if (got == 0)
            return bn_fail(st, BN_IO, "%s: it was cut while it was read", path);
        bytes += got;
        size -= (size_t)got;
    }
    return BN_OK;
}

bn_code bn_regular_all(int fd, const char *path, size_t size, char **data, bn_status *st)
{
    char *bytes = malloc(size + 1);
    if (!bytes)
        return bn_fail_errno(st, ENOMEM, "%s", path);
    bn_code code = bn_regular_rest(fd, path, bytes, size, st);
    if (code != BN_OK) {
        free(bytes);
        return code;
    }
    bytes[size] = '\0';
    *data = bytes;
    return BN_OK;
}

bn_code bn_regular_read(const char *path, char **data, size_t *size, bn_status *st)
{
    int fd;
    bn_code code = bn_regular_open(path, &fd, size, st);
    if (code != BN_OK)
        return code;
    code = bn_regular_all(fd, path, *size, data, st);
    close(fd);
    return code;
}
